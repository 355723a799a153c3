// SPDX-License-Identifier: Apache-2.0

package mirror_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/cohort-ocm/cohort/decisionupdate"
	"github.com/cohort-ocm/cohort/decisionupdate/mirror"
	"github.com/cohort-ocm/cohort/internal/exhaustive"
)

var runs = flag.Int("runs", exhaustive.Of(4, 50, 400), "how often each change runs through the mirrors")

// gated carries an update out step by step, with a mirror that copies object by object meanwhile. With gate the source waits.
// It returns how often it waited.
func gated(t *testing.T, update decisionupdate.Update, source *site, mirrors []*follower, gate bool, rng *rand.Rand) {
	t.Helper()
	copyOne := func() bool {
		for _, i := range rng.Perm(len(mirrors)) {
			if mirrors[i].copy() {
				return true
			}
		}
		return false
	}
	for _, step := range update.Steps {
		for gate {
			last := mirrors[len(mirrors)-1].to
			objects, clusters, err := mirror.Behind(step, source.list(), last.list())
			if err != nil {
				t.Fatal(err)
			}
			if len(objects) == 0 {
				if len(clusters) > 0 {
					t.Fatalf("D17: nothing is behind, yet %v", clusters)
				}
				break
			}
			if !copyOne() {
				t.Fatalf("D17: the mirror has copied everything, yet %v are behind", objects)
			}
		}
		for _, r := range requests(step, rng) {
			source.do(r)
			for rng.IntN(3) > 0 && copyOne() {
				continue
			}
		}
	}
	for copyOne() {
		continue
	}
}

// D17: the measured changes, through one mirror that copies object by object and through two in a row. The source waits for the
// last. Without that, the same mirrors lose clusters, or this would prove nothing.
func TestSourceThatWaitsLosesNoCluster(t *testing.T) {
	rng := rand.New(rand.NewPCG(1552, 17))
	for _, c := range changes(rng) {
		update, stays := mustDiff(t, c.stored, c.desired), stayOf(c.stored, c.desired)
		for _, gate := range []bool{true, false} {
			runs, lost, refused := *runs, 0, 0
			if !gate {
				runs = min(runs, 100)
			}
			for run := range runs {
				source := newSite(c.stored, stays)
				mirrors := []*follower{newFollower(source, rng)}
				if run%2 == 1 {
					mirrors = append(mirrors, newFollower(mirrors[0].to, rng))
				}
				gated(t, update, source, mirrors, gate, rng)
				for _, m := range mirrors {
					if refused += m.to.refused; len(m.to.absent) > 0 {
						lost++
						break
					}
				}
			}
			t.Logf("%s: the source waits: %v: clusters absent in %d of %d runs, %d writes refused", c.name, gate, lost, runs, refused)
			if gate == (lost > 0) || refused > 0 {
				t.Errorf("D17: %s: the source waits: %v: clusters absent in %d of %d runs, %d writes refused", c.name, gate, lost, runs, refused)
			}
		}
	}
}

// planning is a mirror that plans with Diff. It looks at a state of its source now and then, and carries a part of its update out.
type planning struct {
	source *site
	site   *site
	left   []request
	states [][]*pd // of the source, those that it has not looked at yet
	seen   []*pd   // the one that it looked at last
}

// look takes a state that the mirror has not skipped.
func (m *planning) look(t *testing.T, rng *rand.Rand) bool {
	if len(m.states) == 0 {
		return false
	}
	skip := rng.IntN(len(m.states))
	m.seen, m.states = m.states[skip], m.states[skip+1:]
	m.plan(t, rng)
	return true
}

func (m *planning) plan(t *testing.T, rng *rand.Rand) {
	t.Helper()
	update, err := mirror.Diff(m.site.list(), m.seen, rolling)
	if err != nil {
		t.Fatal(err)
	}
	m.left = nil
	for _, step := range update.Steps {
		m.left = append(m.left, requests(step, rng)...)
	}
}

// act makes the next request, or looks at the source, and reports whether it did anything.
func (m *planning) act(t *testing.T, rng *rand.Rand) bool {
	switch {
	case len(m.left) > 0 && rng.IntN(20) == 0: // a restart
		m.plan(t, rng)
	case len(m.left) > 0 && rng.IntN(3) > 0:
		m.site.do(m.left[0])
		m.left = m.left[1:]
	case !m.look(t, rng):
		if len(m.left) == 0 {
			return false
		}
		m.site.do(m.left[0])
		m.left = m.left[1:]
	}
	return true
}

// D16: the measured changes, through one mirror that plans and through two in a row. The source never waits. Every second one
// surges in place, beyond 100 clusters, as this library did once.
func TestMirrorThatPlansLosesNoCluster(t *testing.T) {
	rng := rand.New(rand.NewPCG(1552, 16))
	for _, c := range changes(rng) {
		update, stays, unions := mustDiff(t, c.stored, c.desired), stayOf(c.stored, c.desired), inPlace(c.stored, c.desired)
		runs, lost, refused := *runs, 0, 0
		for run := range runs {
			source := newSite(c.stored, stays)
			first := &planning{source: source, site: newSite(c.stored, stays)}
			second := &planning{source: first.site, site: newSite(c.stored, stays)}
			others := []*planning{first, second}[:1+run%2]
			acts := func(n int) {
				for ; n != 0; n-- {
					i := rng.IntN(len(others))
					before := first.site.list()
					acted := others[i].act(t, rng)
					if i == 0 && len(others) > 1 && acted {
						second.states = append(second.states, before, first.site.list())
					}
					if !acted && (i > 0 || len(others) == 1 || !second.act(t, rng)) && n < 0 {
						return
					}
				}
			}
			write := func(put func()) {
				put()
				first.states = append(first.states, source.list())
				acts(rng.IntN(4))
			}
			if run%4 < 2 {
				for _, step := range update.Steps {
					for _, r := range requests(step, rng) {
						write(func() { source.do(r) })
					}
				}
			} else {
				for _, phase := range unions {
					for _, i := range rng.Perm(len(c.desired)) {
						write(func() { source.put(c.desired[i].Name, phase[c.desired[i].Name]) })
					}
				}
			}
			for range 100_000 {
				if !others[0].act(t, rng) {
					break
				}
				if len(others) > 1 {
					second.states = append(second.states, first.site.list())
					second.act(t, rng)
				}
			}
			for len(others) > 1 && second.act(t, rng) {
				continue
			}
			for _, m := range others {
				if len(m.site.absent) > 0 {
					lost++
				}
				refused += m.site.refused
				if update, err := decisionupdate.Diff(m.site.list(), c.desired, rolling); err != nil || len(update.Steps) > 0 {
					t.Fatalf("D16: %s, run %d: the mirror is not as the source: %v\n%s", c.name, run, err, update)
				}
			}
		}
		t.Logf("%s: clusters absent in %d of %d runs, %d writes refused", c.name, lost, runs, refused)
		if lost > 0 || refused > 0 {
			t.Errorf("D16: %s: clusters absent in %d of %d runs, %d writes refused", c.name, lost, runs, refused)
		}
	}
}

// D17: after its bound the source goes on, and every cluster that the mirror then drops was named.
func TestClustersThatMayBeDroppedAreNamed(t *testing.T) {
	rng := rand.New(rand.NewPCG(1552, 18))
	dropped, named := 0, 0
	for _, c := range changes(rng) {
		update, stays := mustDiff(t, c.stored, c.desired), stayOf(c.stored, c.desired)
		for range exhaustive.Of(6, 100, 1000) {
			source := newSite(c.stored, stays)
			m := newFollower(source, rng)
			told := map[string]bool{}
			for _, step := range update.Steps {
				_, clusters, err := mirror.Behind(step, source.list(), m.to.list())
				if err != nil {
					t.Fatal(err)
				}
				for _, cluster := range clusters {
					told[cluster] = true
				}
				for _, r := range requests(step, rng) {
					source.do(r)
					for rng.IntN(2) > 0 && m.copy() {
						continue
					}
				}
			}
			for m.copy() {
				continue
			}
			for _, cluster := range m.to.absent {
				if dropped++; !told[cluster] {
					t.Fatalf("D17: %s: %s was dropped and not named", c.name, cluster)
				}
			}
			named += len(told)
		}
	}
	t.Logf("%d named, %d of them dropped", named, dropped)
	if dropped == 0 {
		t.Error("no cluster was dropped, so this proves nothing")
	}
}

// D17: bad input has errors with a path.
func TestBehindNamesItsFaults(t *testing.T) {
	for _, test := range []struct {
		stored, shown []*pd
		want          string
	}{
		{[]*pd{nil}, nil, "stored[0]: Required value: must not be nil"},
		{nil, []*pd{object("a", "0"), object("a", "0")}, `shown[a].metadata.name: Duplicate value: "a"`},
	} {
		if _, _, err := mirror.Behind(nil, test.stored, test.shown); err == nil || err.Error() != test.want {
			t.Errorf("got %v, want %s", err, test.want)
		}
	}
	if _, err := mirror.Diff(nil, []*pd{nil}, rolling); err == nil {
		t.Error("D16: nil is no object")
	}
}

// D17: what the mirror has and the source has not is behind, too, and so is another group. No group at all is not.
func TestBehind(t *testing.T) {
	objects, clusters, err := mirror.Behind(nil,
		[]*pd{object("a", "0", "x"), object("b", "1", "y"), object("c", "2", "z")},
		[]*pd{object("a", "0", "x"), object("b", "2", "y"), object("d", "0")})
	if err != nil || !slices.Equal(objects, []string{"b", "c", "d"}) || len(clusters) > 0 {
		t.Errorf("got %v %v %v", objects, clusters, err)
	}
	ungrouped := object("b", "1", "y") // in an API without groups
	ungrouped.Labels = nil
	objects, _, err = mirror.Behind(nil, []*pd{object("a", "0", "x"), object("b", "1", "y")}, []*pd{object("a", "0", "z"), ungrouped})
	if err != nil || !slices.Equal(objects, []string{"a"}) {
		t.Errorf("D17: without groups: got %v %v", objects, err)
	}
	stored, desired := []*pd{object("a", "0", "x", "y"), object("b", "1")}, []*pd{object("a", "0", "y"), object("b", "1", "x")}
	for _, test := range []struct {
		strategy decisionupdate.UpdateStrategy
		want     []string
	}{{rolling, nil}, {decisionupdate.UpdateStrategy{}, []string{"x"}}} {
		update, err := decisionupdate.Diff(stored, desired, test.strategy)
		if err != nil {
			t.Fatal(err)
		}
		source := newSite(stored, nil)
		for i, step := range update.Steps {
			objects, clusters, err = mirror.Behind(step, source.list(), source.list())
			if err != nil || len(objects) > 0 || !slices.Equal(clusters, test.want) {
				t.Errorf("D17: step %d, nothing is behind: got %v %v %v, want %v:\n%s", i+1, objects, clusters, err, test.want, update)
			}
			for _, r := range requests(step, rand.New(rand.NewPCG(1552, 20))) {
				source.do(r)
			}
		}
	}
}

// D16: in the midst of an update of the source, a cluster in two objects stays where the mirror has it, and in an object of the surge
// only if no other has it that lasts. Those that an object has no room for are others than it has.
func TestClustersStayWhereTheMirrorHasThem(t *testing.T) {
	extra := object("a-surge", "0", "x", "y", "z")
	extra.Annotations = map[string]string{"cohort.open-cluster-management.io/surge": "true"}
	dying := object("a", "0", "x")
	dying.DeletionTimestamp = &metav1.Time{Time: time.Unix(1, 0)}
	var many []string
	for i := range 250 {
		many = append(many, fmt.Sprintf("c%03d", i))
	}
	all := many[:101] // one more than an object may have
	for _, test := range []struct {
		why            string
		stored, source []*pd
		want           string
	}{
		{"x is in b here", []*pd{object("a", "0", "y"), object("b", "1", "x")}, []*pd{object("a", "0", "y", "x"), object("b", "1", "x")}, ""},
		{"x has left b", []*pd{object("a", "0", "y"), object("b", "1", "x")}, []*pd{object("a", "0", "y", "x"), object("b", "1")},
			"step 1: update PlacementDecision a (status): add x\nstep 2: update PlacementDecision b (status): remove x\n"},
		{"x is new, and comes into the lower group", []*pd{object("a", "0"), object("b", "1")}, []*pd{object("b", "1", "x"), object("a", "0", "x")},
			"step 1: update PlacementDecision a (status): add x\n"},
		{"a is being deleted in the source", nil, []*pd{dying, object("b", "1", "x")}, "step 1: create PlacementDecision b (labels, status): add x\n"},
		{"an object of the surge has x, too", nil, []*pd{dying, extra}, "step 1: create PlacementDecision a-surge (labels, status): add x, y, z\n"},
		{"a has no room for c099", []*pd{object("a", "0", "c100")}, []*pd{object("a", "0", all...)},
			"step 1: update PlacementDecision a (status): add c000, c001, c002, c003, c004 and 94 more\nstep 1: create PlacementDecision a-surge (labels, status): add c099\n"},
		{"two objects of the surge beside a, where a name is taken", nil, []*pd{object("a", "0", many...), object("a-surge-2", "0")},
			"step 1: create PlacementDecision a (labels, status): add c000, c001, c002, c003, c004 and 95 more\nstep 1: create PlacementDecision a-surge (labels, status): add c100, c101, c102, c103, c104 and 95 more\n" +
				"step 1: create PlacementDecision a-surge-2 (labels)\nstep 1: create PlacementDecision a-surge-3 (labels, status): add c200, c201, c202, c203, c204 and 45 more\n"},
		{"only the object of the surge has z", []*pd{object("a", "0", "x"), object("b", "0", "y", "z")}, []*pd{object("a", "0", "x"), object("b", "0", "y"), extra},
			"step 1: create PlacementDecision a-surge (labels, status): add z\nstep 2: update PlacementDecision b (status): remove z\n"},
	} {
		update, err := mirror.Diff(test.stored, test.source, rolling)
		if err != nil || update.String() != test.want {
			t.Errorf("D16: %s: %v\n%swant\n%s", test.why, err, update, test.want)
		}
	}
}
