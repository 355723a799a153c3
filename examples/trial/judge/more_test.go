// SPDX-License-Identifier: Apache-2.0

package judge

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

var testOptions = Options{Lag: time.Second, Patience: 10 * time.Second, RemoveAfter: 5 * time.Second, Began: []time.Time{time.Unix(0, 0)}}

// An excerpt is a recording by itself: read alone it shows the finding again, and nothing can be left out of a small one.
func TestExcerpts(t *testing.T) {
	for _, b := range breaks {
		if len(b.want) == 0 {
			continue
		}
		s := begin()
		b.tell(s)
		r := s.read(t)
		report := Judge(r, testOptions)
		Excerpts(r, report, testOptions)
		for _, f := range report.Findings {
			var text bytes.Buffer
			if err := Lines(&text, bytes.NewReader(s.Bytes()), r, f.Excerpt); err != nil {
				t.Fatal(err)
			}
			alone, err := Read(bytes.NewReader(text.Bytes()))
			if err != nil {
				t.Errorf("%s: the excerpt %v: %v", b.why, f.Excerpt, err)
				continue
			}
			again := Judge(alone, testOptions)
			if !slices.ContainsFunc(again.Findings, func(x Finding) bool { return x.Kind == f.Kind && x.Grade == f.Grade && x.Cluster == f.Cluster }) {
				t.Errorf("%s: lines %v of %d show %v", b.why, f.Excerpt, len(r.events), again.Findings)
			}
			if len(f.Excerpt) > len(r.events) || len(f.Excerpt) < 3 {
				t.Errorf("%s: lines %v of %d", b.why, f.Excerpt, len(r.events))
			}
		}
	}
}

// What does not matter is left out of an excerpt: other owners' objects, and clusters that hold nothing up.
func TestExcerptsAreSmall(t *testing.T) {
	s := begin()
	s.set("1", progressive("1", "0", ""))
	var all []string
	for i := range 300 {
		all = append(all, fmt.Sprintf("c%03d", i))
	}
	s.fleet(all...)
	for i := range 200 {
		s.at(float64(5*i)).works("1", "", all[i]).at(float64(5*i+2)).works("1", "ok", all[i])
	}
	s.at(1005).works("1", "", all[200]).at(1009).works("1", "", all[201])
	r := s.read(t)
	report := Judge(r, testOptions)
	Excerpts(r, report, testOptions)
	i := slices.IndexFunc(report.Findings, func(f Finding) bool { return f.Kind == Concurrency })
	if i < 0 {
		t.Fatal(said(report))
	}
	if n := len(report.Findings[i].Excerpt); n != 7 { // begin, listed, set, decision, placement, two works
		t.Errorf("%d lines: %v", n, report.Findings[i].Excerpt)
	}
}

// A recording without names says the same.
func TestAnonymised(t *testing.T) {
	for _, b := range breaks {
		s := begin()
		b.tell(s)
		r := s.read(t)
		var text bytes.Buffer
		if err := Anonymise(&text, r, []byte("salt")); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"web", "fleet", "canary", `"a"`, `{"v":`} {
			if strings.Contains(text.String(), name) {
				t.Errorf("%s: it still says %s:\n%s", b.why, name, text.String())
			}
		}
		again, err := Read(&text)
		if err != nil {
			t.Fatal(err)
		}
		want, got := Judge(r, testOptions), Judge(again, testOptions)
		for i := range want.Findings {
			w := &want.Findings[i]
			if i >= len(got.Findings) || got.Findings[i].Kind != w.Kind || got.Findings[i].Grade != w.Grade || got.Findings[i].Line != w.Line {
				t.Errorf("%s: got %v, want %v", b.why, got.Findings, want.Findings)
				break
			}
		}
		if len(got.Findings) != len(want.Findings) {
			t.Errorf("%s: got %v, want %v", b.why, got.Findings, want.Findings)
		}
	}
}

// What happens in a hole, or so soon after it that views reach into it, is not judged. What is listed afterwards counts.
func TestHoles(t *testing.T) {
	tell := func(hole func(*fixture), start float64) *fixture {
		s := begin()
		s.set("1", progressive("1", "0", "")).fleet("a", "b").at(5).works("1", "", "a")
		if hole != nil {
			hole(s.at(6))
		}
		s.at(start).works("1", "", "b")
		return s
	}
	lost := func(relist bool) func(*fixture) {
		return func(s *fixture) {
			s.write(Line{Type: "HOLE", Kind: "ManifestWork", Reason: "compacted"})
			if s.at(8); relist {
				s.works("1", "", "a")
			}
			s.control("LISTED", "ManifestWork")
		}
	}
	for _, tt := range []struct {
		why   string
		s     *fixture
		want  []string
		holes int
	}{
		{"it is whole", tell(nil, 9.5), []string{"broken concurrency b"}, 0},
		{"after the hole", tell(lost(true), 9.5), []string{"broken concurrency b"}, 1},
		{"views reach into the hole", tell(lost(true), 8.5), nil, 1},
		{"a is gone after the hole", tell(lost(false), 9.5), nil, 1},
		{"in a hole that never ends", tell(func(s *fixture) { s.write(Line{Type: "HOLE", Kind: "Placement", Reason: "compacted"}) }, 9.5), nil, 1},
		{"the recording begins again", tell(func(s *fixture) {
			s.control("BEGIN", "")
			s.set("1", progressive("1", "0", "")).fleet("a", "b").works("1", "", "a").control("LISTED", "")
		}, 9.5), []string{"broken concurrency b"}, 1},
	} {
		r := tt.s.judge(t)
		if got := said(r); !slices.Equal(got, tt.want) || len(r.Holes) != tt.holes {
			t.Errorf("%s: got %q, holes %v", tt.why, got, r.Holes)
		}
	}
}

// What cannot be read is said with its line, what was found and what was expected.
func TestBadInput(t *testing.T) {
	good := `{"type":"BEGIN","at":"2026-01-01T00:00:00Z"}` + "\n"
	for text, want := range map[string]string{
		"":                  "the recording is empty",
		"\n":                "line 1: expected a JSON object",
		"{}\n":              "line 1: at is",
		good + "nonsense\n": "line 2: expected a JSON object",
		good + `{"type":"ADDED","at":"2026-01-01T00:00:00Z"`:                                                                                         "line 2: expected a JSON object with type, at and object: the line ends in the middle",
		good + `{"type":"ADDED","at":"2026-01-01T00:00:00Z"}`:                                                                                        "line 2: a line of type ADDED has no object",
		good + `{"type":"GONE","at":"2026-01-01T00:00:00Z"}`:                                                                                         `line 2: the type is "GONE", expected BEGIN`,
		good + `{"type":"ERROR","at":"2026-01-01T00:00:00Z","object":{}}`:                                                                            "line 2: the type is ERROR",
		good + `{"type":"BOOKMARK","at":"1800-01-01T00:00:00Z"}`:                                                                                     "line 2: at is 1800",
		good + `{"type":"BOOKMARK","at":"2026-01-01T00:00:00Z"} {}`:                                                                                  "line 2: expected a JSON object with type, at and object: more follows",
		good + `{"type":"BOOKMARK","at":"2026-01-01T00:00:00Z","colour":1}`:                                                                          `line 2: expected a JSON object with type, at and object: json: unknown field "colour"`,
		good + `{"type":"HOLE","at":"2026-01-01T00:00:00Z"}`:                                                                                         "line 2: a line of type HOLE has no kind",
		good + `{"type":"LISTED","at":"2026-01-01T00:00:00Z","kind":"ManifestWork"}`:                                                                 "line 2: LISTED ManifestWork ends no list",
		good + `{"type":"ADDED","at":"2026-01-01T00:00:00Z","object":{"kind":"Placement","metadata":{"name":"a","resourceVersion":"x"}}}`:            `line 2: Placement a: metadata.resourceVersion is "x"`,
		good + `{"type":"ADDED","at":"2026-01-01T00:00:00Z","object":{"kind":"Placement","metadata":{"name":"a","resourceVersion":"1"},"status":7}}`: "line 2: Placement a: status:",
		good + `{"type":"ADDED","at":"2026-01-01T00:00:00Z","object":{"kind":"PlacementDecision","metadata":{"name":"a","resourceVersion":"1","labels":{"cluster.open-cluster-management.io/decision-group-index":"x"}}}}`: `decision-group-index is "x", expected a number`,
		`{"type":"BOOKMARK","at":"2026-01-01T00:00:00Z"}`: "line 1: the type is BOOKMARK, expected BEGIN",
	} {
		_, err := Read(strings.NewReader(text))
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: got %v, want %q", text, err, want)
		}
	}
	if _, err := Read(failing{}); err == nil || !strings.Contains(err.Error(), "line 1: the disk burns") {
		t.Errorf("got %v", err)
	}
}

type failing struct{}

func (failing) Read([]byte) (int, error) { return 0, errors.New("the disk burns") }

// Objects of other kinds, and strategies that cannot be read, are said.
func TestNothingIsDroppedSilently(t *testing.T) {
	s := begin()
	s.object("ADDED", fmt.Sprintf(`{"kind":"Secret",%s}`, s.meta("w", "x", "")))
	s.set("1", progressive(`"many"`, "0", "")).fleet("a").works("1", "", "a").until(5)
	r := s.judge(t)
	var text strings.Builder
	if err := r.Print(&text); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"not judged: 1 Secret", `ManifestWorkReplicaSet w/web is not judged: its maxConcurrency is "many"`, "broken: 0", "1 BEGIN"} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("%q is not in\n%s", want, text.String())
		}
	}
}

// The lag that is shown is the least that explains all suspicious starts, and a broken one says what would.
func TestLagIsShown(t *testing.T) {
	s := begin()
	s.set("1", progressive("1", "0", "")).fleet("a", "b").at(5).works("1", "", "a").at(7.4).works("1", "", "b")
	r := s.judge(t)
	if len(r.Findings) != 1 || r.Findings[0].Explained.String() != "2.41s" || r.Findings[0].Grade != Broken {
		t.Errorf("got %v", r.Findings)
	}
	if r := Judge(s.read(t), Options{Lag: 3 * time.Second}); len(r.Findings) != 1 || r.Explained.String() != "2.41s" || r.Findings[0].Grade != Suspicious {
		t.Errorf("got %v, shown %v", r.Findings, r.Explained)
	}
}

// Add-ons have their configurations as versions, with the hash that the owner's status knows, or any where it knows none yet. What they have
// beside is not compared.
func TestAddOns(t *testing.T) {
	for _, tt := range []struct {
		second, hash string
		want         []string
	}{
		{"", "h", []string{"broken concurrency b"}}, {"applied", "h", nil},
		{"", "", []string{"broken concurrency b"}}, {"applied", "", nil},
		{"applied", "other", []string{"broken version a", "broken version b"}},
	} {
		second, want := tt.second, tt.want
		s := begin()
		s.object("ADDED", fmt.Sprintf(`{"kind":"ClusterManagementAddOn",%s,"spec":{"installStrategy":{"type":"Placements","placements":[{"namespace":"w","name":"fleet",`+
			`"configs":[{"group":"g","resource":"configs","namespace":"d","name":"v1"}],"rolloutStrategy":%s}]}},"status":{"installProgressions":[{"namespace":"w","name":"fleet",`+
			`"configReferences":[{"group":"g","resource":"configs","desiredConfig":{"namespace":"d","name":"v1","specHash":%q}}]}]}}`, s.meta("", "addon", ""), progressive("1", "0", ""), tt.hash))
		s.fleet("a", "b")
		on := func(cluster, applied string) {
			desired := `{"namespace":"d","name":"v1","specHash":"h"}`
			if applied != "" {
				applied = `,"lastAppliedConfig":` + desired
			}
			other := `{"group":"g","resource":"others","desiredConfig":{"name":"x"},"lastAppliedConfig":{"name":"x"}}`
			s.object("MODIFIED", fmt.Sprintf(`{"kind":"ManagedClusterAddOn",%s,"status":{"configReferences":[%s,{"group":"g","resource":"configs","desiredConfig":%s%s}]}}`, s.meta(cluster, "addon", ""), other, desired, applied))
		}
		s.at(5)
		on("a", "")
		s.at(6)
		on("a", second)
		s.at(9)
		on("b", "")
		if got := said(s.judge(t)); !slices.Equal(got, want) {
			t.Errorf("the first %q, the hash %q: got %q, want %q", second, tt.hash, got, want)
		}
	}
}

// Where an annotation names ignored clusters, a deselected cluster with the version counts until then, and so does a failed one.
func TestIgnoredClusters(t *testing.T) {
	for given, want := range map[string][]string{"": {"broken deselected b", "broken concurrency c"}, "a": {"broken concurrency c"}, "x, a ,b": nil} {
		s := begin()
		s.set("1", progressive("1", "0", "")).fleet("a", "b", "c").at(5).works("1", "failed", "a").at(9).fleet("b", "c")
		if given != "" {
			s.at(10).object("MODIFIED", strings.Replace(setText(s, "1", progressive("1", "0", "")), `"resourceVersion"`, fmt.Sprintf(`"annotations":{"ignore":%q},"resourceVersion"`, given), 1))
		}
		s.at(14).works("1", "", "b").at(18).works("1", "failed", "b").at(22).works("1", "", "c")
		o := testOptions
		o.IgnoreAnnotation = "ignore"
		r := Judge(s.read(t), o)
		if got := said(r); !slices.Equal(got, want) {
			t.Errorf("%q ignored: got %q, want %q\n%v", given, got, want, r.Findings)
		}
	}
}

// FuzzRead shows that no input is too bad to be read or refused, and that what is read can be judged and written anew.
func FuzzRead(f *testing.F) {
	for _, b := range breaks {
		s := begin()
		b.tell(s)
		f.Add(s.Bytes())
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		r, err := Read(bytes.NewReader(text))
		if err != nil {
			if strings.Contains(err.Error(), "\n") {
				t.Errorf("several lines: %q", err)
			}
			return
		}
		report := Judge(r, testOptions)
		Excerpts(r, report, testOptions)
		var out bytes.Buffer
		if err := errors.Join(report.Print(&out), Anonymise(&out, r, nil)); err != nil {
			t.Error(err)
		}
	})
}
