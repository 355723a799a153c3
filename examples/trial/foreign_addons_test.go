// SPDX-License-Identifier: Apache-2.0

package trial

import (
	"context"
	"maps"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	addonv1beta1 "open-cluster-management.io/api/addon/v1beta1"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"
)

// ofTheAddOns are worlds of ClusterManagementAddOns.
var ofTheAddOns = foreignKind{
	probe: func(ctx context.Context, hub *realHub) (object, func() (object, error), error) {
		api := hub.clients("user").addOn.AddonV1beta1().ClusterManagementAddOns()
		probe := &addonv1beta1.ClusterManagementAddOn{ObjectMeta: metav1.ObjectMeta{Name: "probe"}}
		probe.Spec.InstallStrategy = addonv1beta1.InstallStrategy{Type: addonv1beta1.AddonInstallStrategyPlacements, Placements: []addonv1beta1.PlacementStrategy{{
			PlacementRef: addonv1beta1.PlacementRef{Namespace: "probe", Name: "none"}, Configs: []addonv1beta1.AddOnConfig{configOf("v1")},
			RolloutStrategy: clusterv1alpha1.RolloutStrategy{Type: clusterv1alpha1.All},
		}}}
		written, err := api.Create(ctx, probe, metav1.CreateOptions{})
		return written, func() (object, error) { return api.Get(ctx, "probe", metav1.GetOptions{}) }, err
	},
	idle: idle(OfAddOns()), own: ofAddOns,
	play: func(ctx context.Context, hub *realHub, subject *Subject, i int, seed uint64) *foreignOutcome {
		return foreignTrial(i, seed).record(ctx, hub.site, subject, worldName())
	},
}

// trialClasses are worlds of add-ons in which a difference matters that the page of migration from sdk-go's helper has: the strategy, a group
// of the first two clusters if it has a name, the size of the groups, and what versions do to the clusters, in turn. Two clusters join, the
// first by name, when the others are in flight.
var trialClasses = map[string]struct {
	strategy clusterv1alpha1.RolloutStrategy
	group    string
	size     int
	effects  []string // of the first version
	blinks   bool     // clusters are deselected for a moment
	still    bool     // no cluster joins
	front    bool     // a cluster that joins is in the first group, too
}{
	"over concurrency":               {strategy: atATime(intstr.FromInt32(1), intstr.FromString("100%"), ""), effects: []string{silences}},
	"breach unseen":                  {strategy: atATime(intstr.FromInt32(1), intstr.FromInt32(0), "2s"), effects: []string{failsOn}},
	"generous budget read as none":   {strategy: atATime(intstr.FromInt32(1), intstr.FromInt32(50), "2s"), effects: []string{failsOn}, still: true},
	"breach behind":                  {strategy: groupByGroup("2s", intstr.FromInt32(0)), group: "canary", front: true, effects: []string{"", "", failsOn, failsOn, failsOn, failsOn, failsOn, failsOn, failsOn, failsOn}},
	"group half started":             {strategy: groupByGroup("None", intstr.FromInt32(0)), group: "canary", effects: []string{"", "", silences, silences, silences, silences, silences, silences, silences, silences}},
	"next group too early":           {strategy: withSoak(groupByGroup("2s", intstr.FromInt32(1)), 5*time.Second), size: 2, effects: []string{failsOn, ""}, still: true},
	"breached group started":         {strategy: groupByGroup("2s", intstr.FromInt32(0)), size: 3, effects: []string{failsOn, "", ""}},
	"mandatory overtaken":            {strategy: behind(atATime(intstr.FromInt32(2), intstr.FromInt32(1), "2s")), group: "canary", effects: []string{failsOn, ""}},
	"group size unread":              {strategy: atATime(intstr.FromInt32(0), intstr.FromString("100%"), ""), size: 2, effects: []string{silences}},
	"time-out holds the rest":        {strategy: behind(atATime(intstr.FromInt32(1), intstr.FromString("100%"), "2s")), group: "canary", effects: []string{"", "", silences}, still: true},
	"behind mandatory groups, waves": {strategy: behind(atATime(intstr.FromInt32(2), intstr.FromString("100%"), "None")), group: "canary", effects: []string{"", "", "", silences}, still: true},
	"deselected not counted":         {strategy: atATime(intstr.FromInt32(1), intstr.FromInt32(0), "4s"), effects: []string{failsAndCuts}},
	"clusters lost":                  {strategy: atATime(intstr.FromInt32(2), intstr.FromString("100%"), "None"), size: 2, effects: []string{""}, blinks: true},
}

// withSoak has a success soak.
func withSoak(s clusterv1alpha1.RolloutStrategy, soak time.Duration) clusterv1alpha1.RolloutStrategy {
	s.ProgressivePerGroup.MinSuccessTime.Duration = soak
	return s
}

// foreignTrial is any, or one in which a difference matters. Only the program deletes add-ons.
func foreignTrial(i int, seed uint64) *trial {
	t := drawTrial(seed, "")
	t.atOnce, t.told = true, true
	t.acts = slices.DeleteFunc(t.acts, func(a act) bool { return a.what == restarts || a.what == stops || a.what == deletesOne })
	names := slices.Sorted(maps.Keys(trialClasses))
	if *flagClass != "" {
		i, names = 1, []string{*flagClass}
	}
	if i%3 > 0 {
		t.bend(names[(i/3*2+i%3-1)%len(names)])
	}
	return t
}

func (t *trial) bend(class string) {
	c := trialClasses[class]
	t.class, t.strategy, t.size, t.worst, t.named, t.groupOf = class, c.strategy, c.size, 50*time.Millisecond, nil, map[string]string{}
	t.heals, t.gives, t.first, t.drops, t.lease = false, false, false, true, 500*time.Millisecond
	t.initial = t.pool[2:]
	t.on = map[string][]string{}
	for i, name := range t.pool {
		if t.on[name] = []string{c.effects[max(0, i-2)%len(c.effects)]}; c.group != "" && (2 <= i || c.front) && i < 4 {
			t.named, t.groupOf[name] = []string{c.group}, c.group
		}
	}
	if t.atOnce = true; slices.Contains(c.effects, failsAndCuts) { // a finalizer keeps the add-on of a dead agent, and one leaves after the other, later than the lag
		t.atOnce, t.lease = false, 3*time.Second
	}
	t.acts = []act{{5 * time.Second, selectsOne}, {5 * time.Second, selectsOne}, {5 * time.Second, waits}}
	if c.still {
		t.acts = []act{{15 * time.Second, waits}}
	}
	if c.blinks {
		t.pause, t.writers = 150*time.Millisecond, 1
		t.acts = []act{{4 * time.Second, selectsOne}, {time.Second, blinks}, {time.Second, dropsOne}, {time.Second, selectsOne}, {time.Second, dropsOne}, {time.Second, selectsOne}}
	}
}

// record runs a trial to its end, without a process with observed caches.
func (t *trial) record(ctx context.Context, at *site, subject *Subject, name string) *foreignOutcome {
	r := t.newRunner(at, subject)
	t.name = name
	o := &foreignOutcome{world: t, class: t.class, seed: t.seed, err: r.run(ctx)}
	r.mu.Lock()
	if o.err == nil {
		o.history = newHistory(r.events[:r.endedWith], nil, nil)
		o.history.until = r.ended
	}
	r.mu.Unlock()
	r.clean(ctx)
	return o
}

// clean deletes what is left of a trial.
func (r *runner) clean(ctx context.Context) {
	t := r.subject.Delivery
	for _, c := range r.clusters(r.pool) {
		r.unregister(ctx, c)
	}
	r.mu.Lock()
	last := map[id]event{}
	for _, e := range r.events {
		if e.rv > last[e.id].rv {
			last[e.id] = e
		}
	}
	r.mu.Unlock()
	for _, i := range slices.SortedFunc(maps.Keys(last), id.compare) {
		e := last[i]
		if !e.gone && (i.kind == t.owner || i.kind == t.object) {
			_ = t.patch(ctx, r.user, i.kind, e.object, patchOf(nil, map[string]any{"metadata": map[string]any{"finalizers": nil}})) // it may be gone
			_ = t.remove(ctx, r.user, i.kind, e.object)
		}
	}
}
