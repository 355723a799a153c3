// SPDX-License-Identifier: Apache-2.0

package requirements_test

import (
	"fmt"
	"strings"
	"testing"

	sig "sigs.k8s.io/cluster-inventory-api/apis/v1alpha1"

	"github.com/cohort-ocm/cohort/examples/inventory/conformance/requirements"
)

func refs(clusters string) (all []requirements.Ref) {
	for _, c := range strings.Fields(clusters) {
		all = append(all, requirements.Ref{Namespace: "fleet", Name: c})
	}
	return all
}

// history reads lines: "step NAME: clusters | clusters" with the selected by group ("step NAME" where they are unknown, "restart NAME: …",
// "delete"), "rest", "gone SLICE", "other SLICE", and "SLICE label=value…: clusters" for a slice with the key web. Labels are without the
// API's prefix.
func history(lines ...string) (events []requirements.Event) {
	for _, line := range lines {
		head, clusters, known := strings.Cut(line, ":")
		words := strings.Fields(head)
		switch words[0] {
		case "step", "restart":
			s := &requirements.Step{Name: words[1], Restart: words[0] == "restart"}
			for group := range strings.SplitSeq(clusters, "|") {
				if known {
					s.Selected = append(s.Selected, refs(group))
				}
			}
			events = append(events, requirements.Event{Step: s})
		case "delete":
			events = append(events, requirements.Event{Step: &requirements.Step{Name: "delete", Delete: true}})
		case "rest":
			events = append(events, requirements.Event{Rest: true})
		case "gone":
			events = append(events, requirements.Event{Gone: words[1]})
		case "other":
			events = append(events, requirements.Event{Stranger: words[1]})
		default:
			s := &sig.PlacementDecision{}
			s.Namespace, s.Name, s.Labels = "apps", words[0], map[string]string{sig.DecisionKeyLabel: "web"}
			for _, label := range words[1:] {
				key, value, _ := strings.Cut(label, "=")
				if s.Labels["multicluster.x-k8s.io/"+key] = value; value == "none" {
					delete(s.Labels, "multicluster.x-k8s.io/"+key)
				}
			}
			for _, ref := range refs(clusters) {
				s.Decisions = append(s.Decisions, sig.ClusterDecision{ClusterProfileRef: ref})
			}
			events = append(events, requirements.Event{Slice: s})
		}
	}
	return events
}

func many(first, last int) string {
	var b strings.Builder
	for i := first; i <= last; i++ {
		fmt.Fprintf(&b, " c%d", i)
	}
	return b.String()
}

// Each finding has a smallest history, and a similar history that passes.
func TestFindings(t *testing.T) {
	good := []string{"step create: a b | c", "w-0 decision-index=0: a b", "w-1 decision-index=1: c", "rest"}
	for _, test := range []struct {
		why      string
		lines    []string
		of, want string
	}{
		{"nothing is wrong", good, "", ""},
		{"over 100", []string{"w-0:" + many(1, 101)}, "slice-size", "w-0 has 101 clusters"},
		{"just 100", []string{"w-0:" + many(1, 100)}, "", ""},
		{"a source of over 100 that the mirror cannot write", []string{"step big:" + many(1, 101), "w-0:" + many(1, 100), "rest"},
			"slicing", "big: 101 clusters are selected, and 1 slices have 100 of them"},
		{"two keys", []string{"w-0:a", "w-1 decision-key=db:b"}, "decision-key", `w-0 has the key "web", and w-1 has "db"`},
		{"no key", []string{"w-0 decision-key=none:a", "w-1 decision-key=none:b"}, "decision-key", `w-0 has the key "", and w-1 has ""`},
		{"one slice needs no key", []string{"w-0 decision-key=none:a"}, "", ""},
		{"a placement key on one of two", []string{"w-0 placement-key=x:a", "w-1:b", "rest"}, "placement-key", `w-1 has "", and w-0 has "x"`},
		{"two revisions at rest", []string{"w-0 decision-revision=1:a", "w-1 decision-revision=2:b", "rest"}, "revision", `w-0 has "1", and w-1 has "2"`},
		{"no number", []string{"w-0 decision-index=-1:a"}, "index-value", `w-0 has the index "-1"`},
		{"the index of the group instead of the slice", []string{"w-0 decision-index=0:a", "w-1 decision-index=0:b", "rest"},
			"decision-index", "w-0 and w-1 both have the index 0"},
		{"the same in the midst of a change", []string{"w-0 decision-index=0:a", "w-1 decision-index=0:b"}, "", ""},
		{"from 1", []string{"w-0 decision-index=1:a", "rest"}, "decision-index", "1 slices, and none has the index 0"},
		{"an index is missing", []string{"w-0 decision-index=0:a", "w-1:b", "rest"}, "decision-index", "w-1 has no index, and others have one"},
		{"the second group first", []string{"step s: a | b", "w-0 decision-index=1:a", "w-1 decision-index=0:b", "rest"},
			"order", "s: fleet/a of group 0 is in w-0, which comes after w-1 with group 1"},
		{"neither key nor number", []string{"w-0 decision-key=none:a", "w-x decision-key=none:b", "rest"}, "names", "w-0 and w-x have no key in common, and w-x is not BASE-INDEX"},
		{"an unknown cluster", []string{"step s: a", "w-0: x", "rest"}, "references", "s: w-0 has fleet/x, and there is no such ClusterProfile"},
		{"twice at rest", []string{"w-0:a", "w-1:a", "rest"}, "one-to-one", "fleet/a is in 2 slices"},
		{"twice on the way", []string{"w-0:a", "w-1:a"}, "", ""},
		{"too few", []string{"step s: a b", "w-0:a", "rest"}, "selected", "s: fleet/b is selected and in no slice"},
		{"too many", []string{"step s: a", "w-0:a b", "rest"}, "selected", "s: fleet/b is in a slice and not selected"},
		{"the object that loses is copied first", []string{"step create: a", "w-0:a", "step move: a", "w-0:", "w-1:a"},
			"never-absent", "move: fleet/a is in no slice: w-0 loses it in event 4, w-1 gains it in event 5"},
		{"the object that gains is copied first", []string{"step create: a", "w-0:a", "step move: a", "w-1:a", "w-0:"}, "", ""},
		{"nothing gains it", []string{"step create: a", "w-0:a", "gone w-0", "rest"}, "selected", "create: fleet/a is selected and in no slice"},
		{"it is selected no more", []string{"step create: a b", "w-0:a b", "step shrink: b", "w-0:b", "rest"}, "", ""},
		{"of a scheduler, it comes back", []string{"w-0:a", "w-0:", "w-0:a"}, "never-absent", "fleet/a is in no slice: w-0 loses it in event 2, w-0 gains it in event 3"},
		{"of a scheduler, it stays away", []string{"w-0:a b", "w-0:b", "rest"}, "", ""},
		{"lost while the writer restarts", []string{"restart r: a", "w-0:a", "w-0:", "w-1:a", "rest"}, "restart", "r: fleet/a is in no slice: w-0 loses it in event 3, w-1 gains it in event 4"},
		{"a slice is left", []string{"step create: a", "w-0:a", "delete", "rest"}, "delete", "delete: w-0 is left"},
		{"another writer's slice is written", []string{"other s", "other s"}, "ownership", "s was written by another writer"},
	} {
		known := map[requirements.Ref]bool{}
		for _, ref := range refs("a b c" + many(1, 101)) {
			known[ref] = true
		}
		got := map[string]string{}
		for _, r := range requirements.Check(history(test.lines...), known) {
			if r.Outcome == requirements.OutcomeFail {
				got[r.Name] = r.Why
			}
		}
		if got[test.of] != test.want || test.of == "" && len(got) > 0 {
			t.Errorf("%s: %s: got %q, want %q", test.why, test.of, got, test.want)
		}
	}
}

// A requirement that the history cannot show is not tested, with the reason. A good history passes all others.
func TestNotTested(t *testing.T) {
	var got []string
	for _, r := range requirements.Check(history("other s", "step create: a b | c", "w-0 decision-index=0: a b", "w-1 decision-index=1: c", "rest"), nil) {
		if r.Outcome != requirements.OutcomePass {
			got = append(got, r.Name)
		}
		if (r.Outcome == requirements.OutcomeNotTested) != (r.Why != "") {
			t.Errorf("%s", r)
		}
	}
	if want := "[slicing placement-key revision references restart delete read-only consumers webhook no-change reasons]"; fmt.Sprint(got) != want {
		t.Errorf("got %v, want %s", got, want)
	}
	if got := requirements.Check(nil, nil)[2].String(); got != "not tested decision-key      several slices have the same decision-key (Slicing): there were never two slices" {
		t.Error(got)
	}
}

// A writer is awaited as long as there would be a finding at rest.
func TestPending(t *testing.T) {
	lines := []string{"step create: a b", "w-0 decision-index=0:a", "w-1 decision-index=0:b", "w-1 decision-index=1:b"}
	for n, want := range []bool{false, true, true, true, false} {
		if got := requirements.Pending(history(lines[:n]...)); got != want {
			t.Errorf("after %d events: %v", n, got)
		}
	}
}
