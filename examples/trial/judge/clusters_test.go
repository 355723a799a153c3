// SPDX-License-Identifier: Apache-2.0

package judge

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// managed has ManagedClusters be there, with more of their metadata.
func (s *fixture) managed(more string, clusters ...string) *fixture {
	for _, c := range clusters {
		s.object("MODIFIED", fmt.Sprintf(`{"kind":"ManagedCluster",%s}`, s.meta("", c, more)))
	}
	return s
}

func (s *fixture) unmanaged(cluster string) *fixture {
	s.object("DELETED", fmt.Sprintf(`{"kind":"ManagedCluster",%s}`, s.meta("", cluster, "")))
	return s
}

const dying = `,"deletionTimestamp":"2026-01-01T00:00:00Z"`

// ofLeavers are stories in which a failed at 6 and left at 9, and its object went at 15. B starts at 20. They say when no user can have ignored a by
// deleting it.
var ofLeavers = map[string]struct {
	before, after func(s *fixture) // the object goes
	surely        bool
}{
	"no ManagedCluster is recorded":         {},
	"it stayed":                             {before: func(s *fixture) { s.at(4).managed("", "a") }, surely: true},
	"it stayed, and another one is deleted": {before: func(s *fixture) { s.at(4).managed("", "a", "b") }, after: func(s *fixture) { s.unmanaged("b") }, surely: true},
	"only others have one":                  {before: func(s *fixture) { s.at(4).managed("", "b") }},
	"it is deleted":                         {before: func(s *fixture) { s.at(4).managed("", "a") }, after: func(s *fixture) { s.unmanaged("a") }},
	"it is being deleted":                   {before: func(s *fixture) { s.at(4).managed("", "a") }, after: func(s *fixture) { s.managed(dying, "a") }},
	"it is deleted, and made again":         {before: func(s *fixture) { s.at(4).managed("", "a") }, after: func(s *fixture) { s.unmanaged("a").at(16).managed("", "a") }},
	"it was deleted a moment ago":           {before: func(s *fixture) { s.at(4).managed("", "a") }, after: func(s *fixture) { s.at(19.9).unmanaged("a") }},
	"it was made when it had left":          {after: func(s *fixture) { s.managed("", "a") }},
	"its watch was lost, and it is there": {before: func(s *fixture) { s.at(4).managed("", "a") }, after: func(s *fixture) {
		s.control("HOLE", "ManagedCluster")
		s.managed("", "a").control("LISTED", "ManagedCluster")
	}},
	"its watch was lost before it left": {before: func(s *fixture) {
		s.at(4).managed("", "a").control("HOLE", "ManagedCluster")
		s.at(5).managed("", "a").control("LISTED", "ManagedCluster")
	}, surely: true},
	"its watch was lost, and it was gone": {before: func(s *fixture) {
		s.at(4).managed("", "a").control("HOLE", "ManagedCluster")
		s.at(5).control("LISTED", "ManagedCluster")
	}},
	"its watch is lost": {before: func(s *fixture) { s.at(4).managed("", "a") }, after: func(s *fixture) { s.control("HOLE", "ManagedCluster") }},
}

func ofLeaver(before, after func(s *fixture), placements ...string) *fixture {
	s := begin().set("v1", progressive("1", "0", ""), placements...).fleet("a", "b").decideOf("edge", 0, "", "c").placeOf("edge", "=1")
	if before != nil {
		before(s)
	}
	s.at(5).works("v1", "", "a").at(6).works("v1", "failed", "a").at(9).fleet("b").at(15).remove("a", "v1")
	if after != nil {
		after(s)
	}
	return s
}

// forLeavers are the options with which deselected clusters are judged.
var forLeavers = Options{Lag: time.Second, Patience: time.Hour, RemoveAfter: 5 * time.Second, IgnoreAnnotation: "ignore"}

// A failed, deselected cluster counts for certain when its object is gone, as long as its ManagedCluster is known to have stayed.
func TestAFailureLastsForCertainWhileTheClusterStays(t *testing.T) {
	for why, c := range ofLeavers {
		for _, what := range []string{"deselected b", "called complete a"} {
			s := ofLeaver(c.before, c.after)
			if s.at(20); what == "deselected b" {
				s.works("v1", "", "b")
			} else {
				s.works("v1", "ok", "b").at(29).claims("v1", progressive("1", "0", ""), "Succeeded", 2, 2)
			}
			want := map[bool]string{true: "broken ", false: "suspicious "}[c.surely] + what
			if got := said(Judge(s.read(t), forLeavers)); !slices.Contains(got, want) {
				t.Errorf("%s: got %q, want %q", why, got, want)
			}
		}
	}
}

// It is not certain where no annotation names ignored clusters, at several placements, for ignored clusters, and where another client took the object
// as soon as the cluster left, so that no cache need have shown both.
func TestWhatStaysUncertainOfDeselectedClusters(t *testing.T) {
	stays := func(s *fixture) { s.at(4).managed("", "a") }
	nowhere := forLeavers
	nowhere.IgnoreAnnotation = ""
	atOnce := begin().set("v1", progressive("1", "0", "")).fleet("a", "b").at(4).managed("", "a").at(5).works("v1", "", "a")
	atOnce.at(6).works("v1", "failed", "a").at(14).fleet("b").at(14.5).remove("a", "v1")
	for why, c := range map[string]struct {
		fixture *fixture
		options Options
		want    []string
	}{
		"nothing says so":    {ofLeaver(stays, nil), nowhere, []string{"suspicious deselected b"}},
		"several placements": {ofLeaver(stays, nil, "fleet", "edge"), forLeavers, []string{"suspicious deselected b"}},
		"it is ignored":      {ofLeaver(stays, func(s *fixture) { s.at(16).ignore("a", progressive("1", "0", "")) }), forLeavers, nil},
		"it went at once":    {atOnce, Options{Lag: time.Second, Patience: time.Hour, IgnoreAnnotation: "ignore"}, []string{"suspicious deselected b"}},
	} {
		if got := said(Judge(c.fixture.at(20).works("v1", "", "b").read(t), c.options)); !slices.Equal(got, c.want) {
			t.Errorf("%s: got %q, want %q", why, got, c.want)
		}
	}
}

// Audit logs say it, too. A ManagedCluster of which nothing tells since when it was there says nothing, and hides nothing else.
func TestManagedClustersOfAuditLogs(t *testing.T) {
	for why, c := range ofLeavers {
		if strings.Contains(why, "watch") || strings.Contains(why, "being") {
			continue
		}
		lines := asAudit(t, ofLeaver(c.before, c.after).at(20).works("v1", "", "b").Bytes())
		want := map[bool]string{true: "broken deselected b", false: "suspicious deselected b"}[c.surely]
		if got := said(Judge(readAudit(t, textOf(lines)), forLeavers)); !slices.Equal(got, []string{want}) {
			t.Errorf("%s: got %q, want %q", why, got, want)
		}
		unlisted := slices.DeleteFunc(slices.Clone(lines), func(l auditLine) bool {
			return l["verb"] == "list" && l["objectRef"].(auditLine)["resource"] == "managedclusters"
		})
		if got := said(Judge(readAudit(t, textOf(unlisted)), forLeavers)); !slices.Equal(got, []string{"suspicious deselected b"}) {
			t.Errorf("%s, without a list: got %q", why, got)
		}
	}
}

// A deletion with an answer that has no resourceVersion may have come before all that was written while it lasted.
func TestADeletionInAnAuditLogIsAsEarlyAsItMayBe(t *testing.T) {
	s := ofLeaver(func(s *fixture) { s.at(4).managed("", "a") }, nil).at(20).works("v1", "", "b").at(22).fleet("b").at(25).unmanaged("a")
	lines := asAudit(t, s.Bytes())
	lines[len(lines)-1]["requestReceivedTimestamp"] = s.time(119).Format(time.RFC3339Nano)
	if got := said(Judge(readAudit(t, textOf(lines)), forLeavers)); !slices.Equal(got, []string{"suspicious deselected b"}) {
		t.Errorf("got %q", got)
	}
}

// A hole of ManagedClusters is none of what is judged.
func TestAHoleOfManagedClustersHidesNoOthers(t *testing.T) {
	s := begin().set("v1", progressive("1", "0", "")).fleet("a", "b").at(4).managed("", "a").at(5).works("v1", "", "a")
	s.at(5.5).control("HOLE", "ManagedCluster")
	s.at(6).managed("", "a").control("LISTED", "ManagedCluster")
	s.at(6.5).control("HOLE", "ManagedCluster")
	s.at(6.9).works("v1", "", "b")
	if r := Judge(s.read(t), forLeavers); !slices.Equal(said(r), []string{"broken concurrency b"}) || len(r.Holes) > 0 {
		t.Errorf("got %q, holes %v", said(r), r.Holes)
	}
}

// Hashed, a recording says the same of deselected clusters, and so does the excerpt, which has the one ManagedCluster that matters.
func TestManagedClustersAreKept(t *testing.T) {
	all := func(s *fixture) { s.at(4).managed("", "a", "b", "c", "d") }
	for grade, after := range map[Grade]func(s *fixture){Broken: nil, Suspicious: func(s *fixture) { s.managed(dying, "a") }} {
		var hashed bytes.Buffer
		if err := Anonymise(&hashed, ofLeaver(all, after).at(20).works("v1", "", "b").read(t), []byte("salt")); err != nil {
			t.Fatal(err)
		}
		again, err := Read(bytes.NewReader(hashed.Bytes()))
		if err != nil {
			t.Fatal(err)
		}
		if got := Judge(again, forLeavers); len(got.Findings) != 1 || got.Findings[0].Grade != grade || strings.Contains(hashed.String(), `"name":"a"`) {
			t.Errorf("hashed: %q\n%s", said(got), hashed.String())
		}
	}
	s := ofLeaver(all, nil).at(20).works("v1", "", "b")
	r := s.read(t)
	report := Judge(r, forLeavers)
	Excerpt(r, report, 0, forLeavers, nil)
	file := filepath.Join(t.TempDir(), "hub.jsonl")
	if err := os.WriteFile(file, s.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	in, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	var part bytes.Buffer
	if err := Lines(&part, in, r, report.Findings[0].Excerpt); err != nil {
		t.Fatal(err)
	}
	alone, err := Read(bytes.NewReader(part.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	if got := said(Judge(alone, forLeavers)); !slices.Equal(got, []string{"broken deselected b"}) || strings.Count(part.String(), `"ManagedCluster"`) != 1 {
		t.Errorf("the excerpt: %q\n%s", got, part.String())
	}
}
