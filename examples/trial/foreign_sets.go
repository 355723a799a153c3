package trial

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"
	workv1 "open-cluster-management.io/api/work/v1"
	workv1alpha1 "open-cluster-management.io/api/work/v1alpha1"
)

// ofSets are worlds of ManifestWorkReplicaSets.
var ofSets = foreignKind{
	probe: func(ctx context.Context, hub *realHub) (object, func() (object, error), error) {
		api := hub.clients("user").work.WorkV1alpha1().ManifestWorkReplicaSets("probe")
		probe := &replicaSet{ObjectMeta: metav1.ObjectMeta{Namespace: "probe", Name: "probe"}}
		probe.Spec.PlacementRefs = []workv1alpha1.LocalPlacementReference{{Name: "none", RolloutStrategy: clusterv1alpha1.RolloutStrategy{Type: clusterv1alpha1.All}}}
		probe.Spec.ManifestWorkTemplate.Workload.Manifests = []workv1.Manifest{{RawExtension: runtime.RawExtension{Raw: []byte(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"probe"}}`)}}}
		written, err := api.Create(ctx, probe, metav1.CreateOptions{})
		return written, func() (object, error) { return api.Get(ctx, "probe", metav1.GetOptions{}) }, err
	},
	idle: idle(nil), own: subject,
	play: func(ctx context.Context, hub *realHub, subject *Subject, i int, seed uint64) *foreignOutcome {
		w := foreignWorld(i, seed, subject)
		o := w.record(ctx, hub.site, subject, worldName())
		return &foreignOutcome{o.world, o.world.class, seed, o.history, o.err}
	},
}

// foreignWorld is one of all kinds in turn: any, one in which a duty matters, and one in which versions cut clusters off.
func foreignWorld(i int, seed uint64, subject *Subject) *world {
	matters := slices.Concat(slices.Sorted(maps.Keys(Duties)), slices.Sorted(maps.Keys(StrategyDuties)))
	of := slices.Sorted(maps.Keys(classes))
	if *flagClass != "" {
		i, of = 3, []string{*flagClass}
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
	front    bool // a cluster that joins is in that group, too
	still    bool // no cluster joins
}{
	"over concurrency":               {strategy: atATime(intstr.FromInt32(1), intstr.FromString("100%"), ""), tempers: []agentMode{silent}},
	"group size unread":              {strategy: atATime(intstr.FromInt32(0), intstr.FromString("100%"), ""), size: 2, tempers: []agentMode{silent}},
	"generous budget read as none":   {strategy: atATime(intstr.FromInt32(1), intstr.FromInt32(50), "2s"), tempers: []agentMode{broken}},
	"breach unseen":                  {strategy: atATime(intstr.FromInt32(1), intstr.FromInt32(0), "2s"), tempers: []agentMode{broken}},
	"breach behind":                  {strategy: groupByGroup("2s", intstr.FromInt32(0)), group: "canary", front: true, tempers: []agentMode{quick, quick, broken, broken, broken, broken, broken}},
	"silent agent":                   {strategy: atATime(intstr.FromInt32(1), intstr.FromString("100%"), "2s"), still: true, tempers: []agentMode{silent}},
	"group half started":             {strategy: groupByGroup("None", intstr.FromInt32(0)), group: "canary", tempers: []agentMode{quick, quick, hanging, hanging, hanging, hanging, hanging}},
	"next group too early":           {strategy: groupByGroup("None", intstr.FromString("100%")), size: 2, tempers: []agentMode{broken, silent}},
	"breached group started":         {strategy: groupByGroup("2s", intstr.FromInt32(0)), size: 3, tempers: []agentMode{broken, quick, quick}},
	"mandatory overtaken":            {strategy: behind(atATime(intstr.FromInt32(2), intstr.FromString("100%"), "2s")), group: "canary", tempers: []agentMode{broken, quick}},
	"time-out holds the rest":        {strategy: behind(atATime(intstr.FromInt32(1), intstr.FromString("100%"), "2s")), group: "canary", tempers: []agentMode{quick, quick, silent}},
	"behind mandatory groups, waves": {strategy: behind(atATime(intstr.FromInt32(2), intstr.FromString("100%"), "None")), group: "canary", tempers: []agentMode{quick, quick, quick, silent}},
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
	for _, name := range w.pool[:len(w.pool)-7] {
		if c.front {
			w.groupOf[name] = c.group
		}
	}
	if w.script = []change{{5 * time.Second, joins}, {5 * time.Second, joins}}; c.still {
		w.script = nil
	}
}

// record runs a world to its end, without a process with observed caches.
func (w *world) record(ctx context.Context, at *site, subject *Subject, name string) *observation {
	w.name = name
	p := w.newPlayer(at, subject)
	o := &observation{world: w}
	o.err = p.run(ctx)
	p.clear(ctx)
	if o.err == nil {
		p.mu.Lock()
		defer p.mu.Unlock()
		o.history = p.judged()
	}
	return o
}

// clear deletes what is left of a rollout, since worlds share the API server.
func (p *player) clear(ctx context.Context) {
	for _, c := range p.clusters(p.pool) {
		p.unregister(ctx, c)
	}
	p.mu.Lock()
	last := map[id]event{}
	for _, e := range p.events {
		if e.rv > last[e.id].rv {
			last[e.id] = e
		}
	}
	p.mu.Unlock()
	for _, i := range slices.SortedFunc(maps.Keys(last), id.compare) {
		e := last[i]
		namespace, name := e.object.GetNamespace(), e.object.GetName()
		switch {
		case e.gone:
		case i.kind == Works:
			api := p.user.work.WorkV1().ManifestWorks(namespace)
			_, _ = api.Patch(ctx, name, types.MergePatchType, []byte(unhold), metav1.PatchOptions{}) // it may be gone
			_ = api.Delete(ctx, name, metav1.DeleteOptions{})
		case i.kind == ReplicaSets:
			api := p.user.work.WorkV1alpha1().ManifestWorkReplicaSets(namespace)
			_, _ = api.Patch(ctx, name, types.MergePatchType, []byte(unhold), metav1.PatchOptions{})
			_ = api.Delete(ctx, name, metav1.DeleteOptions{})
		}
	}
}
