// SPDX-License-Identifier: Apache-2.0

package search

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/cohort-ocm/cohort/internal/exhaustive"
	"github.com/cohort-ocm/cohort/status"
	"github.com/cohort-ocm/cohort/status/policyv1"
)

// policyFinding is a state that breaks a promise, and what happened until then.
type policyFinding struct {
	broken  string
	history []string
}

func (f *policyFinding) String() string {
	return f.broken + "\n  " + strings.Join(f.history, "\n  ")
}

// searchPolicies goes through the nearest states of a world, up to a number, and gives the first that breaks a promise.
func (w *policyWorld) search(most int) (states int, found *policyFinding, err error) {
	type node struct {
		state *policyState
		from  int
		event string
	}
	exposes, err := w.exposes()
	if err != nil {
		return 0, nil, err
	}
	begin, err := w.begin()
	if err != nil {
		return 0, nil, err
	}
	nodes := []node{{begin, -1, "the policy is created"}}
	known := map[string]bool{begin.key(): true}
	history := func(at int) (all []string) {
		for ; at >= 0; at = nodes[at].from {
			all = append(all, nodes[at].event)
		}
		slices.Reverse(all)
		return all
	}
	for at := 0; at < len(nodes) && at < most; at++ {
		state := nodes[at].state
		broken := w.broken(state, exposes)
		if broken == "" && at%32 == 0 {
			if broken, err = w.ends(state); err != nil {
				return at, nil, err
			}
		}
		if broken != "" {
			return at, &policyFinding{broken, history(at)}, nil
		}
		for _, event := range w.events(state) {
			then, err := w.settle(event.then)
			if err != nil {
				return at, nil, err
			}
			if key := then.key(); !known[key] {
				known[key] = true
				nodes = append(nodes, node{then, at, event.name})
			}
		}
		nodes[at].state = nil
	}
	return min(len(nodes), most), nil, nil
}

// broken says which promise the state breaks.
func (w *policyWorld) broken(s *policyState, exposes int) string {
	var exposed []string
	for _, i := range w.enforced(s) {
		c := &s.clusters[i]
		if !w.isDone(s, i) {
			exposed = append(exposed, clusterName(i))
			if c.hub.RolloutStatus == string(status.Succeeded) {
				return clusterName(i) + " is Succeeded, and is not done"
			}
		}
		if failed := c.hub.RolloutStatus; w.good(s.version) && w.deadline == "None" && (failed == string(status.Failed) || failed == string(status.TimeOut)) {
			return fmt.Sprintf("%s is %s with a good version", clusterName(i), failed)
		}
	}
	if len(exposed) > exposes {
		return fmt.Sprintf("%v are exposed, at most %d should be", exposed, exposes)
	}
	done, comply := true, true
	for i := range s.clusters {
		done, comply = done && w.isDone(s, i), comply && w.complies(s, i)
	}
	switch {
	case s.root.RolloutStatus == string(status.Succeeded) && !done:
		return "the root is Succeeded, and a cluster is not done"
	case s.root.ComplianceState == policyv1.Compliant && !comply:
		return "the root is Compliant, and a cluster does not comply"
	case s.root.RolloutStatus == string(status.Failed) && w.good(s.version) && w.deadline == "None":
		return "the root is Failed with a good version"
	}
	return ""
}

// ends says what is wrong in the end, if nothing more is edited and every agent answers: a good version is done on each cluster, a bad
// one is on as many as may be exposed, and the root says so.
func (w *policyWorld) ends(s *policyState) (string, error) {
	s, err := w.run(s, 10)
	if err != nil {
		return "", err
	}
	for i := range s.clusters {
		if w.good(s.version) && !w.isDone(s, i) {
			return fmt.Sprintf("%s is not done in the end, the root is %s", clusterName(i), s.root.RolloutStatus), nil
		}
	}
	want := status.Succeeded
	if !w.good(s.version) {
		want = status.Progressing
		if w.deadline != "None" {
			want = status.Failed
		}
	}
	if got := s.root.RolloutStatus; got != string(want) {
		return fmt.Sprintf("in the end the root is %s, expected %s", got, want), nil
	}
	if enforced := w.enforced(s); !w.good(s.version) && len(enforced) != 1 {
		return fmt.Sprintf("in the end a bad version is on %d clusters, expected 1", len(enforced)), nil
	}
	return "", nil
}

// policyWorlds are policies of one to five templates, and what happens to them.
func policyWorlds() []*policyWorld {
	a, b, c := policyTemplate{name: "a", content: 1}, policyTemplate{name: "b", content: 1}, policyTemplate{name: "c", content: 1}
	with := func(p policyTemplate, content int, bad bool) policyTemplate {
		p.content, p.bad = content, bad
		return p
	}
	g := policyTemplate{name: "g", content: 1, isConstraint: true}
	five := []policyTemplate{a, b, c, {name: "d", content: 1}, {name: "e", content: 1}}
	fiveBad := slices.Clone(five)
	fiveBad[4] = with(five[4], 2, true)
	return []*policyWorld{
		{name: "one template", clusters: 2, versions: [][]policyTemplate{{a}, {with(a, 2, false)}}, deadline: "None", ticks: 2},
		{name: "an old answer is on its way", clusters: 1, versions: [][]policyTemplate{{a, b}, {with(a, 2, false), b}, {with(a, 3, false), b}}, deadline: "None", ticks: 1},
		{name: "two templates", clusters: 2, versions: [][]policyTemplate{{a, b}}, deadline: "None", ticks: 2},
		{name: "the second is bad", clusters: 2, versions: [][]policyTemplate{{a, with(b, 1, true)}}, deadline: "20m", ticks: 2},
		{name: "the second is edited alone, and bad", clusters: 2, versions: [][]policyTemplate{{a, b}, {a, with(b, 2, true)}}, deadline: "None", ticks: 1},
		{name: "the first is edited alone, and then good again", clusters: 2, versions: [][]policyTemplate{{with(a, 1, true), b}, {with(a, 2, false), b}}, deadline: "None", ticks: 1},
		{name: "a template is added", clusters: 2, versions: [][]policyTemplate{{a}, {a, b}}, deadline: "None", ticks: 2},
		{name: "a bad template is added", clusters: 2, versions: [][]policyTemplate{{a}, {a, with(b, 1, true)}}, deadline: "20m", ticks: 1},
		{name: "a template is removed", clusters: 2, versions: [][]policyTemplate{{a, b}, {b}}, deadline: "None", ticks: 1},
		{name: "a template is renamed", clusters: 2, versions: [][]policyTemplate{{a, b}, {a, c}}, deadline: "None", ticks: 1},
		{name: "templates are reordered", clusters: 2, versions: [][]policyTemplate{{a, b}, {b, a}}, deadline: "None", ticks: 1},
		{name: "one says only what is new", clusters: 2, versions: [][]policyTemplate{{a, g}, {with(a, 2, false), with(g, 2, false)}}, deadline: "None", ticks: 3, prompt: true},
		{name: "five templates", clusters: 2, versions: [][]policyTemplate{five, fiveBad}, deadline: "20m", ticks: 1, prompt: true},
	}
}

// S3, O17: whichever template answers first, and however late the others do, a version goes no further than package exposure says, a
// cluster is done only once each template that it needs has answered, and no good version fails.
func TestPoliciesOfSeveralTemplates(t *testing.T) {
	total := 0
	for _, w := range policyWorlds() {
		most := exhaustive.Of(80, 3_000, 60_000)
		states, found, err := w.search(most)
		if err != nil {
			t.Fatal(err)
		}
		if found != nil {
			t.Errorf("%s: %s", w.name, found)
		}
		if total += states; testing.Verbose() {
			t.Logf("%s, %d templates: %d states", w.name, w.templates(), states)
		}
	}
	t.Log(total, "states")
}

// Each way to read or write templates carelessly is found, in some world.
func TestCarelessPropagatorsAreFound(t *testing.T) {
	worlds := map[careless]string{readsCompliant: "a template is added", notesNothing: "one template", stampsEarlier: "an old answer is on its way"}
	for careless, name := range worlds {
		all := policyWorlds()
		w := all[slices.IndexFunc(all, func(w *policyWorld) bool { return w.name == name })]
		w.careless = careless
		states, found, err := w.search(5_000)
		if err != nil {
			t.Fatal(err)
		}
		if found == nil {
			t.Errorf("it %s: not found in %d states", careless, states)
			continue
		}
		t.Logf("it %s: found after %d states in %q: %s", careless, states, name, found)
	}
}
