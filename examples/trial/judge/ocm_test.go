// SPDX-License-Identifier: Apache-2.0

package judge

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// ofOCM are recordings of OCM's own controllers, by the class of what differs: what each shows. Those of its add-on manager begin with addon-, those
// of its placement controller with placement-, the others are of its ManifestWorkReplicaSet controller. OCM.md says how they were made.
var ofOCM = map[string]struct {
	grade Grade
	kind  Kind
}{
	"group-size-unread":                    {Broken, Concurrency},
	"breached-group-started":               {Broken, Budget},
	"next-group-too-early":                 {Broken, Order},
	"generous-budget-read-as-none":         {Broken, Stuck},
	"time-out-holds-the-rest":              {Broken, Stuck},
	"deselected-not-counted":               {Broken, Leavers},
	"outdated-work-of-a-cluster-that-left": {Broken, Left},
	"decisions-incomplete":                 {Broken, PartiallyObserved},
	"works-lost":                           {Broken, Kept},
	"counted-twice":                        {Broken, Once},
	"works-without-end":                    {Broken, Once},

	"breach-behind":                          {Broken, Budget},
	"group-half-started":                     {Broken, Stuck},
	"silent-agent":                           {Broken, Stuck},
	"waves-behind-mandatory-groups":          {Broken, Stuck},
	"addon-breach-behind":                    {Broken, Budget},
	"addon-group-half-started":               {Broken, Stuck},
	"addon-over-concurrency":                 {Broken, Concurrency},
	"addon-breach-unseen":                    {Broken, Budget},
	"addon-breached-group-started":           {Broken, Budget},
	"addon-next-group-too-early":             {Broken, Soak}, // one of the group before still soaks
	"addon-generous-budget-read-as-none":     {Broken, Stuck},
	"addon-time-out-holds-the-rest":          {Broken, Stuck},
	"addon-waves-behind-mandatory-groups":    {Broken, Stuck},
	"addon-deselected-not-counted":           {Broken, Leavers},
	"addon-decisions-incomplete":             {Broken, PartiallyObserved},
	"addon-removed-while-partially-observed": {Broken, Kept},

	"placement-vanished":                            {Broken, Vanished},
	"placement-misnamed":                            {Broken, Misnamed},
	"placement-vanished-while-it-looked-complete":   {Suspicious, Vanished},
	"placement-misnamed-while-it-looked-complete":   {Suspicious, Misnamed},
	"placement-vanished-between-two-full-decisions": {Suspicious, Vanished},
}

// ownerOf is the kind of what a recording is about.
func ownerOf(name string) string {
	switch {
	case strings.HasPrefix(name, "addon-"):
		return "ClusterManagementAddOn "
	case strings.HasPrefix(name, "placement-"):
		return "Placement "
	default:
		return "ManifestWorkReplicaSet "
	}
}

// A recording replays to its verdict, and has at most 200 lines.
func TestRecordingsOfOCM(t *testing.T) {
	files, err := filepath.Glob("testdata/ocm/*.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	if len(files) != len(ofOCM) {
		t.Errorf("%d recordings, expected %d", len(files), len(ofOCM))
	}
	page, err := os.ReadFile("OCM.md")
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range ofOCM {
		text, err := os.ReadFile(filepath.Join("testdata", "ocm", name+".jsonl"))
		if err != nil {
			t.Error(err)
			continue
		}
		if n := bytes.Count(text, []byte("\n")); n > 200 {
			t.Errorf("%s has %d lines", name, n)
		}
		r, err := Read(bytes.NewReader(text))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		report := Judge(r, Options{Lag: 2 * time.Second, Patience: 5 * time.Second, IgnoreAnnotation: "hub.test/ignore"})
		if !slices.ContainsFunc(report.Findings, func(f Finding) bool {
			return strings.HasPrefix(f.Owner, ownerOf(name)) && f.Grade == want.grade && (f.Kind == want.kind || slices.Contains(f.Also, want.kind))
		}) {
			t.Errorf("%s: got %q, want %s %s", name, said(report), want.grade, want.kind)
		}
		if !strings.Contains(string(page), " "+name) {
			t.Errorf("OCM.md does not name %s", name)
		}
	}
}

// The page says of each class of the page of migration what shows it, or why nothing does, for each of the two rollout controllers.
func TestEachDifferenceHasItsPlace(t *testing.T) {
	page, err := os.ReadFile("OCM.md")
	if err != nil {
		t.Fatal(err)
	}
	migration, err := os.ReadFile("../../../internal/compare/MIGRATION.md")
	if err != nil {
		t.Fatal(err)
	}
	says := map[string][]string{} // by class: the cells of its row
	for line := range strings.Lines(string(page)) {
		if cells := strings.Split(strings.Trim(line, "| \n"), " | "); len(cells) == 3 || len(cells) == 4 { // the fourth is the sentence
			for class := range strings.SplitSeq(cells[0], ", ") {
				says[class] = cells[1:]
			}
		}
	}
	classes := regexp.MustCompile("`TestDifferences/([^`]*)`").FindAllStringSubmatch(string(migration), -1)
	if len(classes) < 20 {
		t.Errorf("%d classes on the page of migration", len(classes))
	}
	for _, c := range classes {
		for i, prefix := range []string{"", "addon-"} {
			cells := says[c[1]]
			if cells == nil {
				t.Errorf("OCM.md says nothing of %q", c[1])
				break
			}
			cell := cells[i]
			name, _, _ := strings.Cut(cell, ",")
			_, recorded := ofOCM[name]
			reason := slices.ContainsFunc([]string{"not here: ", "the same", "nothing in a trace", "judged as it stands", "works-lost: "}, func(p string) bool { return strings.HasPrefix(cell, p) })
			if recorded == reason || recorded && !strings.HasPrefix(name, prefix) {
				t.Errorf("%q: %q has neither a recording nor a reason", c[1], cell)
			}
		}
	}
}
