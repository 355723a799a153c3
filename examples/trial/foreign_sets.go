// SPDX-License-Identifier: Apache-2.0

package trial

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/util/intstr"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"
)

// foreignWorld is one of all kinds in turn: any, one in which a duty matters, and one in which versions cut clusters off.
func foreignWorld(i int, seed uint64, subject *Subject, class string) *world {
	matters := slices.Concat(slices.Sorted(maps.Keys(Duties)), slices.Sorted(maps.Keys(StrategyDuties)))
	of := slices.Sorted(maps.Keys(classes))
	if class != "" {
		i, of = 3, []string{class}
	}
	switch i % 4 {
	case 0:
		return draw(seed, subject, "")
	case 1:
		return draw(seed, subject, matters[i/4%len(matters)])
	case 2:
		return drawCut(seed, subject, "")
	default:
		w := draw(seed, subject, "")
		w.others, w.foreign, w.heals, w.named, w.groupOf, w.size = nil, false, false, nil, map[string]string{}, 0
		w.bend(of[i/4%len(of)])
		return w
	}
}

// classes are worlds in which a difference matters that the page of migration from sdk-go's helper has, by its test's name: the strategy, a group
// of the first two clusters if it has a name, the size of the groups, and the tempers, in turn. Two clusters join, the first by name, when the others are in flight.
var classes = map[string]struct {
	strategy clusterv1alpha1.RolloutStrategy
	group    string
	size     int
	tempers  []agentMode
	front    bool     // a cluster that joins is in that group, too
	still    bool     // no cluster joins
	holds    bool     // agents have finalizers, and take long to remove what is deleted
	script   []change // what happens instead
}{
	"over concurrency":             {strategy: atATime(intstr.FromInt32(1), intstr.FromString("100%"), ""), tempers: []agentMode{silent}},
	"group size unread":            {strategy: atATime(intstr.FromInt32(0), intstr.FromString("100%"), ""), size: 2, tempers: []agentMode{silent}},
	"generous budget read as none": {strategy: atATime(intstr.FromInt32(1), intstr.FromInt32(50), "2s"), tempers: []agentMode{broken}},
	"breach unseen":                {strategy: atATime(intstr.FromInt32(1), intstr.FromInt32(0), "2s"), tempers: []agentMode{broken}},
	"breach behind":                {strategy: groupByGroup("2s", intstr.FromInt32(0)), group: "canary", front: true, tempers: []agentMode{quick, quick, broken, broken, broken, broken, broken}},
	"silent agent":                 {strategy: atATime(intstr.FromInt32(1), intstr.FromString("100%"), "2s"), still: true, tempers: []agentMode{silent}},
	"group half started":           {strategy: groupByGroup("None", intstr.FromInt32(0)), group: "canary", tempers: []agentMode{quick, quick, hanging, hanging, hanging, hanging, hanging}},
	"next group too early":         {strategy: groupByGroup("None", intstr.FromString("100%")), size: 2, tempers: []agentMode{broken, silent}},
	"breached group started":       {strategy: groupByGroup("2s", intstr.FromInt32(0)), size: 3, tempers: []agentMode{broken, quick, quick}},
	"mandatory overtaken":          {strategy: behind(atATime(intstr.FromInt32(2), intstr.FromString("100%"), "2s")), group: "canary", tempers: []agentMode{broken, quick}},
	"time-out holds the rest":      {strategy: behind(atATime(intstr.FromInt32(1), intstr.FromString("100%"), "2s")), group: "canary", tempers: []agentMode{quick, quick, silent}},
	"deselected not counted": {strategy: atATime(intstr.FromInt32(6), intstr.FromInt32(0), ""), tempers: []agentMode{hanging}, holds: true,
		script: []change{{5 * time.Second, leaves}, {time.Second, leaves}, {4 * time.Second, joins}}},
	"an outdated work of a cluster that left": {strategy: soaks(atATime(intstr.FromInt32(1), intstr.FromInt32(0), "")), tempers: []agentMode{quick},
		script: []change{{15 * time.Second, newTemplate}, {20 * time.Millisecond, leaves}}},
	"behind mandatory groups, waves": {strategy: behind(atATime(intstr.FromInt32(2), intstr.FromString("100%"), "None")), group: "canary", tempers: []agentMode{quick, quick, quick, hanging}},
}

func atATime(limit, failures intstr.IntOrString, deadline string) clusterv1alpha1.RolloutStrategy {
	return clusterv1alpha1.RolloutStrategy{Type: clusterv1alpha1.Progressive, Progressive: &clusterv1alpha1.RolloutProgressive{
		MaxConcurrency: limit, RolloutConfig: clusterv1alpha1.RolloutConfig{MaxFailures: failures, ProgressDeadline: cmp.Or(deadline, "None")}}}
}

func groupByGroup(deadline string, failures intstr.IntOrString) clusterv1alpha1.RolloutStrategy {
	return clusterv1alpha1.RolloutStrategy{Type: clusterv1alpha1.ProgressivePerGroup, ProgressivePerGroup: &clusterv1alpha1.RolloutProgressivePerGroup{
		RolloutConfig: clusterv1alpha1.RolloutConfig{MaxFailures: failures, ProgressDeadline: deadline}}}
}

// behind has the canary group go first.
func behind(s clusterv1alpha1.RolloutStrategy) clusterv1alpha1.RolloutStrategy {
	s.Progressive.MandatoryDecisionGroups.MandatoryDecisionGroups = []clusterv1alpha1.MandatoryDecisionGroup{{GroupName: "canary"}}
	return s
}

// soaks has a success soak for a second.
func soaks(s clusterv1alpha1.RolloutStrategy) clusterv1alpha1.RolloutStrategy {
	s.Progressive.MinSuccessTime.Duration = time.Second
	return s
}

func (w *world) bend(class string) {
	c := classes[class]
	w.class = class
	w.strategy, w.size, w.backwards, w.worst = c.strategy, c.size, true, 50*time.Millisecond
	w.initial = w.pool[len(w.pool)-7:]
	for i, name := range w.initial {
		if w.agentMode[name] = []agentMode{c.tempers[i%len(c.tempers)]}; c.group != "" && i < 2 {
			w.named, w.groupOf[name] = []string{c.group}, c.group
		}
	}
	for _, name := range w.pool {
		w.holds[name] = w.holds[name] || c.holds
	}
	if c.holds {
		w.dying = 30 * time.Second
	}
	for _, name := range w.pool[:len(w.pool)-7] {
		if c.front {
			w.groupOf[name] = c.group
		}
	}
	switch {
	case c.script != nil:
		w.script = c.script
	case c.still:
		w.script = nil
	default:
		w.script = []change{{5 * time.Second, joins}, {5 * time.Second, joins}}
	}
}

// record runs a world to its end, without a process with observed caches.
func (p *player) record(ctx context.Context) *foreignOutcome {
	o := &foreignOutcome{world: p.world, class: p.class, seed: p.seed, err: p.run(ctx)}
	if o.err == nil {
		p.mu.Lock()
		defer p.mu.Unlock()
		o.history = p.judged()
	}
	return o
}
