package judge

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// ofOCM are recordings of OCM's own ManifestWorkReplicaSet controller, by the class of what differs: what each shows. OCM.md says how they
// were made.
var ofOCM = map[string]struct {
	grade Grade
	kind  Kind
}{
	"over-concurrency":                     {Suspicious, Concurrency}, // right in a view 750 ms behind
	"group-size-unread":                    {Broken, Concurrency},
	"breach-unseen":                        {Broken, Budget},
	"breached-group-started":               {Broken, Budget},
	"mandatory-overtaken":                  {Broken, Mandatory},
	"next-group-too-early":                 {Broken, Order},
	"generous-budget-read-as-none":         {Suspicious, Stuck}, // a cluster moved, and may have counted where it was
	"time-out-holds-the-rest":              {Broken, Stuck},
	"left-uncounted":                       {Broken, Leavers},
	"outdated-work-of-a-cluster-that-left": {Broken, Left},
	"decisions-incomplete":                 {Broken, HalfWritten},
	"works-lost":                           {Broken, Kept},
	"counted-twice":                        {Broken, Once},
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
		report := Judge(r, Options{Lag: 2 * time.Second, Patience: 5 * time.Second, GivenUp: "hub.test/given-up"})
		if !slices.ContainsFunc(report.Findings, func(f Finding) bool {
			return f.Grade == want.grade && (f.Kind == want.kind || slices.Contains(f.Also, want.kind))
		}) {
			t.Errorf("%s: got %q, want %s %s", name, said(report), want.grade, want.kind)
		}
		if !strings.Contains(string(page), name) {
			t.Errorf("OCM.md does not name %s", name)
		}
	}
}
