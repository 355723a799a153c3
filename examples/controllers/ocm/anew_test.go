// SPDX-License-Identifier: Apache-2.0

package main

import (
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/rollout/exposure"
	"github.com/cohort-ocm/cohort/status"
)

var (
	divided = flag.Int("divided", 100, "how many rollouts OCM's scheduler divides")
	first   = flag.Uint64("first", 1, "the seed of the first of these rollouts; the others follow")
)

// fleet is a rollout to clusters that OCM's scheduler divides into groups, by one placement or two.
type fleet struct {
	t         testing.TB
	rng       *rand.Rand
	scheduler *scheduler
	clusters  []*cluster
	targets   []*target
	strategy  clusterv1alpha1.RolloutStrategy
	options   rollout.Options
	soak      time.Duration
	atOnce    bool // an object is gone as soon as it is deleted
	forgets   bool // the controller passes neither its last result nor its record
	now       time.Time

	starts, looks, half int
	divisions           map[string]bool
	story               []string
	fault               string
}

// target is a placement, and what the controller knows of it.
type target struct {
	placement *clusterv1beta1.Placement
	last      *rollout.Result
	record    status.Record
	most      int // clusters that its groups exposed, at any time
}

func newFleet(t testing.TB, seed uint64) *fleet {
	rng := rand.New(rand.NewPCG(seed, 33))
	f := &fleet{t: t, rng: rng, scheduler: newScheduler(t), now: time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC), divisions: map[string]bool{}}
	kills, fails := pick(rng, 0.2, 0.6, 1, 1), pick(rng, 0, 0.1, 0.5)
	for i := range 4 + rng.IntN(17) {
		c := &cluster{name: fmt.Sprintf("c%02d", i), in: rng.IntN(8) > 0, stage: pick(rng, "canary", "production", "production"), site: pick(rng, "east", "west", "west"),
			takes: time.Duration(1+rng.IntN(8)) * time.Minute, comes: status.Succeeded}
		switch x := rng.Float64(); {
		case x < kills:
			c.comes = status.ToApply
		case x < kills+fails:
			c.comes = status.Failed
		}
		f.clusters = append(f.clusters, c)
	}
	for _, name := range pick(rng, []string{"all"}, []string{"all"}, []string{"east", "all"}) {
		f.targets = append(f.targets, &target{placement: f.placement(name)})
	}
	f.draw()
	return f
}

// placement is one that selects all clusters or those of a site, and divides them by size, and perhaps by label before.
func (f *fleet) placement(name string) *clusterv1beta1.Placement {
	p := &clusterv1beta1.Placement{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
	labelled := func(label, value string) metav1.LabelSelector {
		return metav1.LabelSelector{MatchLabels: map[string]string{label: value}}
	}
	if name != "all" {
		p.Spec.Predicates = []clusterv1beta1.ClusterPredicate{{RequiredClusterSelector: clusterv1beta1.ClusterSelector{LabelSelector: labelled("site", name)}}}
	}
	divides := &p.Spec.DecisionStrategy.GroupStrategy
	divides.ClustersPerDecisionGroup = pick(f.rng, intstr.FromInt32(1), intstr.FromInt32(2), intstr.FromInt32(3), intstr.FromInt32(5), intstr.FromString("20%"), intstr.FromString("34%"), intstr.FromString("100%"))
	if f.rng.IntN(2) == 0 {
		divides.DecisionGroups = []clusterv1beta1.DecisionGroup{{GroupName: "canary", ClusterSelector: clusterv1beta1.GroupClusterSelector{LabelSelector: labelled("stage", "canary")}}}
	}
	return p
}

// draw draws random strategies and options.
func (f *fleet) draw() {
	rng := f.rng
	f.soak = pick(rng, 0, 0, 5*time.Minute)
	config := clusterv1alpha1.RolloutConfig{MinSuccessTime: metav1.Duration{Duration: f.soak}, ProgressDeadline: pick(rng, "", "", "10m", "30m", "1h"),
		MaxFailures: pick(rng, intstr.FromInt32(0), intstr.FromInt32(0), intstr.FromInt32(1), intstr.FromInt32(2), intstr.FromString("25%"))}
	mandatory := clusterv1alpha1.MandatoryDecisionGroups{MandatoryDecisionGroups: pick(rng, nil,
		[]clusterv1alpha1.MandatoryDecisionGroup{{GroupName: "canary"}}, []clusterv1alpha1.MandatoryDecisionGroup{{GroupIndex: 0}})}
	if rng.IntN(2) == 0 {
		f.strategy = clusterv1alpha1.RolloutStrategy{Type: clusterv1alpha1.Progressive, Progressive: &clusterv1alpha1.RolloutProgressive{RolloutConfig: config, MandatoryDecisionGroups: mandatory,
			MaxConcurrency: pick(rng, intstr.FromInt32(1), intstr.FromInt32(2), intstr.FromInt32(4), intstr.FromString("25%"), intstr.IntOrString{})}}
	} else {
		f.strategy = clusterv1alpha1.RolloutStrategy{Type: clusterv1alpha1.ProgressivePerGroup,
			ProgressivePerGroup: &clusterv1alpha1.RolloutProgressivePerGroup{RolloutConfig: config, MandatoryDecisionGroups: mandatory}}
		f.options.GroupOrder = pick(rng, nil, nil, rollout.GroupOrder{"": {"canary"}})
	}
	f.options.MaxConcurrencyPerGroup = pick(rng, intstr.IntOrString{}, intstr.IntOrString{}, intstr.FromInt32(2))
	f.options.RemoveAfter.Duration = pick(rng, 0, time.Minute, 10*time.Minute)
	f.atOnce = rng.IntN(3) == 0
}

// play plays four hours. Reconciles may happen between the scheduler's writes, and the controller restarts now and then.
func (f *fleet) play() {
	for step := 0; step < 480 && f.fault == ""; step++ {
		if step == 0 || f.rng.IntN(4) > 0 {
			f.schedule(step > 0)
		}
		if f.rng.IntN(40) == 0 {
			f.story = append(f.story, "the controller begins anew")
			for _, target := range f.targets {
				target.last = nil
			}
		}
		if f.rng.IntN(5) > 0 {
			f.look()
		}
		f.now = f.now.Add(30 * time.Second)
		for _, c := range f.clusters {
			c.finished = c.has && (c.finished || f.isDone(c))
			c.live(f.rng, f.now)
		}
		if f.rng.IntN(150) == 0 { // a user changes the size of groups
			pick(f.rng, f.targets...).placement.Spec.DecisionStrategy.GroupStrategy.ClustersPerDecisionGroup = intstr.FromInt32(int32(1 + f.rng.IntN(5)))
		}
	}
}

// schedule has OCM's scheduler divide the clusters of each placement.
func (f *fleet) schedule(looks bool) {
	managed := make([]*clusterv1.ManagedCluster, len(f.clusters))
	for i, c := range f.clusters {
		managed[i] = c.managed()
	}
	if looks {
		f.scheduler.before = func() {
			if f.rng.IntN(4) == 0 {
				f.look()
			}
		}
	}
	for _, target := range f.targets {
		f.scheduler.schedule(f.t.Context(), managed, target.placement)
	}
	f.scheduler.before = func() {}
	for _, target := range f.targets {
		f.compare(target, managed)
	}
}

// compare reports an error if grouping.Divide divides the selected clusters differently than OCM's scheduler did.
func (f *fleet) compare(target *target, managed []*clusterv1.ManagedCluster) {
	stored, err := grouping.Read(f.scheduler.stored(target.placement.Name))
	if err != nil {
		f.t.Fatal(err)
	}
	var selected []*clusterv1.ManagedCluster
	for _, m := range managed {
		if _, is := stored.Position(m.Name); is {
			selected = append(selected, m)
		}
	}
	divided, err := grouping.Divide(target.placement, selected, grouping.Options{})
	if err != nil {
		f.t.Fatal(err)
	}
	if got, want := placesIn(divided), placesIn(stored); stored.Incomplete() != "" || !maps.Equal(got, want) {
		f.t.Fatalf("OCM's scheduler divides into %v (%s), and grouping.Divide into %v", want, stored.Incomplete(), got)
	}
}

// placesIn are the groups of all clusters, by name.
func placesIn(groups *grouping.Groups) map[string]grouping.Key {
	places := map[string]grouping.Key{}
	for position := range groups.NumClusters() {
		places[groups.Cluster(position)] = groups.Key(groups.GroupAt(position))
	}
	return places
}

// groups are those of each placement, as far as the scheduler has written them.
func (f *fleet) groups() []*grouping.Groups {
	parts := make([]grouping.PlacementGroups, len(f.targets))
	for i, target := range f.targets {
		groups, err := grouping.Read(f.scheduler.stored(target.placement.Name))
		if err != nil {
			f.t.Fatal(err)
		}
		parts[i] = grouping.PlacementGroups{Placement: target.placement.Name, Groups: groups}
	}
	apart, err := grouping.Apart(parts...)
	if err != nil {
		f.t.Fatal(err)
	}
	return apart
}

// look is a reconcile of the rollout's controller, which stores its records before it acts.
func (f *fleet) look() {
	f.looks++
	var reports []status.Report
	for _, c := range f.clusters {
		if c.work {
			reports = append(reports, c.report())
		}
	}
	var results []*rollout.Result
	for i, groups := range f.groups() {
		target := f.targets[i]
		if groups.Incomplete() != "" {
			f.half++
		} else {
			e, err := exposure.Of(f.strategy, groups, exposure.Span{}, f.now, f.options)
			if err != nil {
				f.t.Fatal(err)
			}
			target.most = max(target.most, e.Exposed)
			f.divisions[groups.String()] = true
		}
		options := f.options
		if !f.forgets {
			options.Previous, options.StoredRecord = target.last, &rollout.StoredRecord{Version: "v2", Record: target.record, AtOnce: f.atOnce}
		}
		r, err := rollout.Plan(f.strategy, groups, reports, f.now, options)
		if err != nil {
			f.t.Fatal(err)
		}
		f.story = append(f.story, fmt.Sprintf("%s %s, %d exposed, at most %d: %v: %v", f.now.Format(time.TimeOnly), target.placement.Name, len(f.exposed()), target.most, groups, r))
		target.last, target.record = r, r.Record
		results = append(results, r)
	}
	for _, r := range results {
		f.carryOut(r)
	}
}

// carryOut makes the writes of a result, and reports an error if more clusters are exposed than allowed.
func (f *fleet) carryOut(r *rollout.Result) {
	before := f.exposed()
	for _, c := range r.Start {
		f.starts++
		f.named(c.Name).start(f.now)
	}
	most := 0
	for _, target := range f.targets {
		most += target.most
	}
	if exposed := f.exposed(); len(r.Start) > 0 && len(exposed) > most && f.fault == "" {
		f.fault = fmt.Sprintf("%d are exposed after %d, at most %d may be: %v after %v", len(exposed), len(before), most, exposed, before)
	}
	for _, name := range r.Removed {
		c := f.named(name)
		c.work, c.deleting = !f.atOnce, !f.atOnce
	}
}

func (f *fleet) named(name string) *cluster {
	return f.clusters[slices.IndexFunc(f.clusters, func(c *cluster) bool { return c.name == name })]
}

// isDone says whether a cluster succeeded and soaked, as far as the hub knows.
func (f *fleet) isDone(c *cluster) bool {
	return c.says == status.Succeeded && f.now.Sub(c.since) >= f.soak
}

// exposed are the clusters that have the version and are not done with it, whether the hub knows of them or not.
func (f *fleet) exposed() (names []string) {
	for _, c := range f.clusters {
		if c.has && !c.finished && !f.isDone(c) {
			names = append(names, c.name)
		}
	}
	return names
}

// String is the strategy with the end of the history.
func (f *fleet) String() string {
	return fmt.Sprintf("%+v %+v %+v, at once %v\n%s", f.strategy.Progressive, f.strategy.ProgressivePerGroup, f.options, f.atOnce, strings.Join(f.story[max(0, len(f.story)-25):], "\n"))
}

// R65, R66: OCM's own scheduler divides the clusters again and again, by size and label. Meanwhile versions cut clusters
// off, and clusters are tainted, dropped, join, are deselected and selected again. No more are exposed than package
// exposure says for some groups in the history. Package grouping divides as the scheduler does.
func TestExposureHoldsWhereOCMsSchedulerDivides(t *testing.T) {
	n := *divided
	if testing.Short() {
		n = min(n, 10)
	}
	starts, looks, half, divisions := 0, 0, 0, 0
	for seed := range uint64(n) {
		f := newFleet(t, *first+seed)
		f.play()
		starts, looks, half, divisions = starts+f.starts, looks+f.looks, half+f.half, divisions+len(f.divisions)
		if f.fault != "" {
			t.Errorf("seed %d: %s\n%v", *first+seed, f.fault, f)
		}
	}
	t.Logf("%d rollouts, %d starts, %d looks, %d of them at partially observed decisions, %d divisions", n, starts, looks, half, divisions)
	if starts < 3*n || divisions < 3*n {
		t.Errorf("%d starts and %d divisions in %d rollouts say nothing", starts, divisions, n)
	}
}

// The same rollouts expose more clusters if a controller passes neither its last result nor a record.
func TestTheRolloutsFindAControllerThatForgets(t *testing.T) {
	for seed := range uint64(30) {
		f := newFleet(t, *first+seed)
		f.forgets = true
		if f.play(); f.fault != "" {
			t.Logf("seed %d: %s", *first+seed, f.fault)
			return
		}
	}
	t.Error("30 rollouts find nothing")
}
