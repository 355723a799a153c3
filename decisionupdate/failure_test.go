// SPDX-License-Identifier: Apache-2.0

package decisionupdate_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	"github.com/cohort-ocm/cohort/decisionupdate"
	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/internal/exhaustive"
	groupplace "github.com/cohort-ocm/cohort/internal/place"
)

// placer is a placement controller that does what the documentation of the two packages says, and remembers nothing.
type placer struct {
	*server
	placement *clusterv1beta1.Placement
	limit     int // how many clusters an object may have while an update is under way, so that small ones are full
}

// newPlacer has a placement with the groups canary and eu, of so many clusters each.
func newPlacer(size int) *placer {
	p := &clusterv1beta1.Placement{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "web", UID: "u"}}
	strategy := &p.Spec.DecisionStrategy.GroupStrategy
	strategy.ClustersPerDecisionGroup = intstr.FromInt(size)
	for _, name := range []string{"canary", "eu"} {
		group := clusterv1beta1.DecisionGroup{GroupName: name}
		group.ClusterSelector.LabelSelector.MatchLabels = map[string]string{"in": name}
		strategy.DecisionGroups = append(strategy.DecisionGroups, group)
	}
	return &placer{newServer(), p, grouping.MaxDecisions}
}

// copied is the same placement controller with a copy of all that is stored.
func (p *placer) copied() *placer {
	objects := p.list()
	s := newServer()
	for _, o := range objects {
		s.objects[o.Name] = o
	}
	s.version = p.version
	return &placer{s, p.placement.DeepCopy(), p.limit}
}

// fleet has clusters by name: "a" is in no named group, "b/canary" in canary.
func fleet(names ...string) []*clusterv1.ManagedCluster {
	var clusters []*clusterv1.ManagedCluster
	for _, name := range names {
		name, group, _ := strings.Cut(name, "/")
		clusters = append(clusters, &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"in": group}}})
	}
	return clusters
}

// plan is what one look at what is stored leads to.
func (p *placer) plan(t testing.TB, clusters []*clusterv1.ManagedCluster) (update decisionupdate.Update, desired []*pd) {
	t.Helper()
	stored := p.list()
	previous, err := grouping.Read(p.placement, stored)
	if err != nil {
		t.Fatal(err)
	}
	groups, err := grouping.Divide(p.placement, clusters, grouping.Options{Previous: previous})
	if err != nil {
		t.Fatal(err)
	}
	if desired, err = groups.Decisions(p.placement, stored...); err != nil {
		t.Fatal(err)
	}
	update, err = decisionupdate.DiffUpTo(stored, desired, rolling, p.limit)
	if err != nil {
		t.Fatal(err)
	}
	return update, desired
}

// reconcile plans, writes, and sets the status unless a request has failed.
func (p *placer) reconcile(t testing.TB, clusters []*clusterv1.ManagedCluster) error {
	t.Helper()
	update, desired := p.plan(t, clusters)
	if _, err := (decisionupdate.Applier{Client: p}).Apply(context.Background(), update); err != nil {
		return err
	}
	status, err := grouping.Status(desired)
	if err != nil {
		t.Fatal(err)
	}
	p.placement.Status = status
	return nil
}

// settle reconciles until nothing fails, and gives the groups.
func (p *placer) settle(t testing.TB, clusters []*clusterv1.ManagedCluster) string {
	t.Helper()
	p.before = nil
	if err := p.reconcile(t, clusters); err != nil {
		t.Fatal(err)
	}
	if update, _ := p.plan(t, clusters); update.Writes() > 0 {
		t.Fatalf("not settled:\n%s", update)
	}
	groups, err := grouping.Read(p.placement, p.list())
	if err != nil || groups.Incomplete() != "" {
		t.Fatalf("%v, %s", err, groups.Incomplete())
	}
	return sizesOf(groups)
}

// sizesOf writes groups as 0 canary[a b], long ones by their number.
func sizesOf(groups *grouping.Groups) string {
	var all []string
	for i := range groups.Len() {
		var members []string
		for d := range groups.Clusters(i) {
			members = append(members, d.ClusterName)
		}
		slices.Sort(members)
		all = append(all, strings.TrimSpace(fmt.Sprint(groups.Key(i).Index, " ", groups.Key(i).Name))+fmt.Sprint(members))
	}
	return strings.Join(all, " ")
}

var errFailed = errors.New("no answer")

// failOnce lets one request fail, by its number, and all after it if the writer dies there.
func (p *placer) failOnce(at int, dies bool) (reached *bool) {
	n, reached := 0, new(bool)
	p.before = func(string, string) error {
		if n++; n-1 == at || dies && n > at {
			*reached = true
			return errFailed
		}
		return nil
	}
	return reached
}

// wantSameGroups fails each request of the way from what is stored to a fleet, one at a time, and wants the groups that there are without
// a failure. It gives the number of requests.
func (p *placer) wantSameGroups(t testing.TB, clusters []*clusterv1.ManagedCluster) int {
	t.Helper()
	want := p.copied().settle(t, clusters)
	for at := 0; ; at++ {
		for _, dies := range []bool{false, true} {
			q := p.copied()
			reached := q.failOnce(at, dies)
			if err := q.reconcile(t, clusters); *reached != (err != nil) {
				t.Fatalf("failed %v, error %v", *reached, err)
			}
			midway := q.list()
			if got := q.settle(t, clusters); got != want {
				was, _ := grouping.Read(nil, p.list())
				t.Fatalf("request %d fails (dies %v)\nbefore\n%s\nstored midway\n%sends as\n%s\nwithout the failure\n%s", at, dies, sizesOf(was), stateOf(midway), got, want)
			}
			if !*reached {
				return at
			}
		}
	}
}

func stateOf(objects []*pd) string {
	slices.SortFunc(objects, func(a, b *pd) int { return strings.Compare(a.Name, b.Name) })
	var b strings.Builder
	for _, o := range objects {
		fmt.Fprintf(&b, "  %s(%s) %v\n", o.Name, groupOf(o), clustersIn(o))
	}
	return b.String()
}

// drawSmallFleet draws up to n clusters of the names a, b, c and so on.
func drawSmallFleet(rng *rand.Rand, n int) []*clusterv1.ManagedCluster {
	var names []string
	for i := range n {
		if rng.IntN(4) > 0 {
			names = append(names, string(rune('a'+i))+[]string{"", "", "/canary", "/eu"}[rng.IntN(4)])
		}
	}
	return fleet(names...)
}

// resize changes the size of the groups. Objects of that many clusters are full.
func (p *placer) resize(size int) {
	p.placement.Spec.DecisionStrategy.GroupStrategy.ClustersPerDecisionGroup = intstr.FromInt(size)
	p.limit = size
}

// G6, D8: one failed request, at any place, moves no cluster: random small fleets, sizes and orders of the named groups change, and each
// change ends in the same groups as without the failure. Half of them begin with objects of a scheduler that stores no places (D19).
func TestAFailedRequestMovesNoCluster(t *testing.T) {
	requests := 0
	for seed := range uint64(exhaustive.Of(15, 100, 500)) {
		rng := rand.New(rand.NewPCG(seed, 33))
		p := newPlacer(1 + rng.IntN(3))
		for range 4 {
			clusters := drawSmallFleet(rng, 9)
			p.resize(1 + rng.IntN(3))
			if strategy := &p.placement.Spec.DecisionStrategy.GroupStrategy; rng.IntN(3) == 0 {
				slices.Reverse(strategy.DecisionGroups)
				strategy.ClustersPerDecisionGroup, p.limit = intstr.FromString("34%"), grouping.MaxDecisions
			}
			requests += p.wantSameGroups(t, clusters)
			p.settle(t, clusters)
			if seed%2 == 0 {
				p.withoutPlaces()
			}
		}
	}
	t.Logf("%d requests failed", requests)
}

// D19: objects of a scheduler that stores no places get them before the first one gets another index.
func TestPlacesAreStoredBeforeAnIndexChanges(t *testing.T) {
	p := newPlacer(1)
	p.settle(t, fleet("a", "b"))
	p.withoutPlaces()
	update, _ := p.plan(t, fleet("a", "b", "x/canary"))
	want := "step 1: update PlacementDecision web-decision-1 (labels)\nstep 1: update PlacementDecision web-decision-2 (labels)\n" +
		"step 2: update PlacementDecision web-decision-1 (labels)\nstep 2: update PlacementDecision web-decision-2 (labels)\nstep 2: create PlacementDecision web-decision-3 (labels, status): add x\n"
	if update.String() != want {
		t.Fatalf("update\n%s\nwant\n%s", update, want)
	}
	for i, index := range []string{"0", "1"} {
		if got := update.Steps[0][i].To; groupOf(got).Index != index || got.Annotations[groupplace.Annotation] != fmt.Sprintf("%d of %s/", i, index) {
			t.Errorf("first %v %v", got.Labels, got.Annotations)
		}
		if got := update.Steps[1][i]; got.From != update.Steps[0][i].To {
			t.Errorf("%s does not go on from what the first step writes", got)
		}
	}
	p.settle(t, fleet("a", "b", "x/canary"))
	if update, _ = p.plan(t, fleet("a", "b", "x/canary", "y/canary")); len(update.Steps) != 1 {
		t.Errorf("places are stored, yet\n%s", update)
	}
}

// withoutPlaces takes the places off the objects, as if another scheduler had written them.
func (p *placer) withoutPlaces() {
	for _, o := range p.objects {
		o.Annotations = nil
	}
}

// G6, D8: every small world. Three clusters, each in no named group, in canary, in eu or not selected, become any other such fleet.
func TestAFailedRequestMovesNoClusterInAnySmallWorld(t *testing.T) {
	const kinds = 4
	world := func(n int) []*clusterv1.ManagedCluster {
		var names []string
		for _, name := range []string{"a", "b", "c"} {
			if kind := n % kinds; kind > 0 {
				names = append(names, name+[]string{"", "", "/canary", "/eu"}[kind])
			}
			n /= kinds
		}
		return fleet(names...)
	}
	requests, worlds, every := 0, kinds*kinds*kinds, exhaustive.Of(61, 7, 1)
	for size := 1; size <= 2; size++ {
		for n := range worlds * worlds {
			if n%every != 0 {
				continue
			}
			p := newPlacer(size)
			p.settle(t, world(n%worlds))
			requests += p.wantSameGroups(t, world(n/worlds))
		}
	}
	t.Logf("%d requests failed", requests)
}

// G6, D8: a placement controller that crashes again and again, while canaries come and go, moves none of the others, and makes no more
// groups than without the crashes.
func TestACrashLoopMovesNoCluster(t *testing.T) {
	for seed := range uint64(exhaustive.Of(20, 150, 1000)) {
		rng := rand.New(rand.NewPCG(seed, 34))
		p := newPlacer(1 + rng.IntN(3))
		others := []string{"o1", "o2", "o3", "o4", "o5", "o6", "o7", "p1/eu", "p2/eu", "p3/eu"}
		want := p.settle(t, fleet(others...))
		for range 30 {
			p.failOnce(rng.IntN(12), rng.IntN(2) > 0)
			_ = p.reconcile(t, fleet(append(numbered(rng.IntN(5), "c", "/canary"), others...)...))
		}
		if got := p.settle(t, fleet(others...)); got != want {
			t.Fatalf("seed %d: before the crashes\n%s\nafter them\n%s", seed, want, got)
		}
	}
}

// loadOf says how many requests and decisions an update takes, and its steps.
func loadOf(update decisionupdate.Update) (requests, decisions, steps int) {
	for _, step := range update.Steps {
		for _, w := range step {
			requests += max(1, len(w.Parts))
			if slices.Contains(w.Parts, decisionupdate.PartStatus) {
				decisions += len(w.To.Status.Decisions)
			}
		}
	}
	return requests, decisions, len(update.Steps)
}

func numbered(n int, prefix, suffix string) []string {
	names := make([]string, n)
	for i := range names {
		names[i] = fmt.Sprintf("%s%05d%s", prefix, i, suffix)
	}
	return names
}

// G6, D8: groups of more than one object, of which a request reaches one: an earlier name gains a group, or loses one.
func TestAFailedRequestMovesNoClusterOfGroupsOfSeveralObjects(t *testing.T) {
	few, many := numbered(150, "c", "/canary"), numbered(600, "o", "")
	for _, test := range []struct {
		why         string
		before, now []string
	}{
		{"one joins", slices.Concat(few, many), slices.Concat(few, many, []string{"x/canary"})},
		{"one leaves", slices.Concat(few, many, []string{"x/canary"}), slices.Concat(few, many)},
	} {
		p := newPlacer(150)
		p.settle(t, fleet(test.before...))
		t.Logf("%s: %d requests failed", test.why, p.wantSameGroups(t, fleet(test.now...)))
	}
}

// G8: where the indexes shift, whole objects get other labels. Each is written once, and no cluster.
func TestShiftedIndexesTakeOneRequestAnObject(t *testing.T) {
	p := newPlacer(100)
	others := numbered(10000, "o", "")
	p.settle(t, fleet(others...))
	update, _ := p.plan(t, fleet(append(numbered(100, "c", "/canary"), others...)...))
	requests, decisions, steps := loadOf(update)
	if requests != 102 || decisions != 100 || steps != 1 {
		t.Errorf("%d requests with %d decisions in %d steps, want 102, 100, 1", requests, decisions, steps)
	}
}
