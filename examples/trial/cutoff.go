// SPDX-License-Identifier: Apache-2.0

package trial

import (
	"context"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"
)

// cutOff is how the versions of a world cut clusters off.
type cutOff struct {
	shares []float64     // of the clusters that a version cuts off, in turn by its number
	after  time.Duration // how long after it came it does so, at most: some agents have answered by then
	back   time.Duration // how long it takes at most until an agent lives again; 0 for never
	lease  time.Duration // after which the scheduler drops a cluster that is cut off
}

// What happens where clusters are cut off.
const (
	ignores   = "ignore"  // an operator ignores the clusters that are cut off, in the set
	deletes   = "delete"  // an operator ignores a cluster and deletes it, and with it its namespace
	mends     = "mend"    // a person mends all that is cut off
	swaps     = "swap"    // the scheduler has other clusters for a moment
	regroups  = "regroup" // a cluster comes to another group
	awaitsCut = "await"   // until some cluster is cut off and dropped
)

// A stroke is what a version does to a cluster.
type stroke struct {
	cut         bool
	after, back time.Duration // back is 0 for never
	next        bool          // it is mended with the next version
}

// strokeOf draws what a version does to a cluster. A version does a thing once to a cluster, however often it comes.
func (p *player) strokeOf(cluster, version string) (s stroke) {
	hash := fnv.New64a()
	fmt.Fprint(hash, short(cluster), version)
	rng := rand.New(rand.NewPCG(p.seed, hash.Sum64()))
	s.cut = rng.Float64() < p.cut.shares[numberOf(version)%len(p.cut.shares)]
	s.after = time.Duration(rng.Int64N(int64(p.cut.after)))
	switch n := rng.IntN(4); {
	case n == 0 && p.cut.back > 0:
		s.back = p.cut.back/4 + time.Duration(rng.Int64N(int64(p.cut.back)))
	case n == 1 && p.cut.back > 0:
		s.next = true
	}
	return s
}

// takes has a version do to a cluster what it does.
func (p *player) takes(work *manifestWork) {
	if p.cut == nil {
		return
	}
	cluster, version := work.Namespace, versionIn(work)
	s := p.strokeOf(cluster, version)
	p.mu.Lock()
	again := p.struck[cluster+version] || p.calm
	p.struck[cluster+version] = true
	p.mu.Unlock()
	if !s.cut || again {
		return
	}
	p.agents.running.Go(func() {
		if !sleep(p.agents.ctx, s.after) {
			return
		}
		p.lines.sever(cluster)
		p.mu.Lock()
		p.mendNext[cluster] = s.next
		p.mu.Unlock()
		if s.back > 0 && sleep(p.agents.ctx, s.back) {
			p.lines.mend(cluster)
		}
	})
}

// sleep waits, and says whether the context lasted as long.
func sleep(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}

// withNext are the clusters that are mended with the next version.
func (p *player) withNext() (clusters []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for c, is := range p.mendNext {
		if is {
			clusters = append(clusters, c)
		}
	}
	slices.Sort(clusters)
	return clusters
}

// drop has the schedulers leave out the clusters that are unreachable, and take back those that are not any more.
func (p *player) drop(ctx context.Context, unreachable []string) error {
	p.placing.Lock()
	defer p.placing.Unlock()
	p.unreachable = unreachable
	for _, f := range p.placed {
		if f.asked != nil {
			if err := p.place(ctx, f); err != nil {
				return err
			}
		}
	}
	return nil
}

// cutOff plays a word of the script about clusters that are cut off.
func (p *player) cutOff(ctx context.Context, what string, f *placed) error {
	switch what {
	case awaitsCut:
		for start := time.Now(); time.Since(start) < 8*time.Second && len(p.lines.severed(p.cut.lease)) == 0 && sleep(ctx, 50*time.Millisecond); {
		}
		return ctx.Err()
	case mends:
		p.lines.mend(p.lines.severed(0)...)
		return nil
	case ignores:
		return p.ignore(ctx, p.lines.severed(0)...)
	case deletes:
		if gone := slices.DeleteFunc(p.lines.severed(0), p.isDeleted); len(gone) > 0 {
			return p.deleteCluster(ctx, gone[p.rng.IntN(len(gone))])
		}
		return nil
	case regroups:
		if len(f.named) == 0 || len(f.selected) == 0 {
			return nil
		}
		p.placing.Lock()
		f.groupOf[short(pick(p.rng, f.selected...))] = pick(p.rng, append([]string{""}, f.named...)...)
		p.placing.Unlock()
		return p.schedule(ctx, f)
	}
	// swaps
	before := slices.Clone(f.selected)
	p.rng.Shuffle(len(f.selected), func(i, k int) { f.selected[i], f.selected[k] = f.selected[k], f.selected[i] })
	f.selected = f.selected[:max(1, len(f.selected)-1-p.rng.IntN(3))]
	for _, c := range p.clusters(p.pool) {
		if len(f.selected) < len(before) && !slices.Contains(before, c) && !p.isDeleted(c) {
			f.selected = append(f.selected, c)
		}
	}
	if err := p.schedule(ctx, f); err != nil {
		return err
	}
	sleep(ctx, time.Duration(100+p.rng.IntN(800))*time.Millisecond)
	f.selected = before
	return p.schedule(ctx, f)
}

// ignore has an operator ignore clusters, in an annotation that the controller reads.
func (p *player) ignore(ctx context.Context, clusters ...string) error {
	p.ignoredClusters = append(p.ignoredClusters, clusters...)
	slices.Sort(p.ignoredClusters)
	p.ignoredClusters = slices.Compact(p.ignoredClusters)
	patch := fmt.Sprintf(`{"metadata": {"annotations": {%q: %q}}}`, p.subject.IgnoreAnnotation, strings.Join(p.ignoredClusters, ","))
	_, err := p.user.work.WorkV1alpha1().ManifestWorkReplicaSets(p.name).Patch(ctx, setName, types.MergePatchType, []byte(patch), metav1.PatchOptions{})
	return err
}

// isDeleted says whether a person has deleted a cluster.
func (p *player) isDeleted(cluster string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	_, is := p.deleted[cluster]
	return is
}

// deleteCluster has a person delete a cluster: no placement selects it any more, and what is in its namespace vanishes.
func (p *player) deleteCluster(ctx context.Context, cluster string) error {
	p.mu.Lock()
	p.deleted[cluster] = time.Now()
	p.mu.Unlock()
	p.unregister(ctx, cluster)
	for _, f := range p.placed {
		if i := slices.Index(f.selected, cluster); i >= 0 {
			f.selected = slices.Delete(f.selected, i, i+1)
			if err := p.schedule(ctx, f); err != nil {
				return err
			}
		}
	}
	api := p.user.work.WorkV1().ManifestWorks(cluster)
	works, err := api.List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	for _, work := range works.Items {
		if _, err := api.Patch(ctx, work.Name, types.MergePatchType, []byte(unhold), metav1.PatchOptions{}); err != nil && !apierrors.IsNotFound(err) {
			return err
		}
		if err := api.Delete(ctx, work.Name, metav1.DeleteOptions{}); err != nil && !apierrors.IsNotFound(err) {
			return err
		}
	}
	return nil
}

// drawCut makes a world in which versions cut clusters off. Agents that answer keep to what they said.
func drawCut(seed uint64, subject *Subject, ignored Duty) *world {
	w := draw(seed, subject, "")
	rng := rand.New(rand.NewPCG(seed, 8))
	chance := func(p float64) bool { return rng.Float64() < p }
	ms := func(from, to int) time.Duration { return time.Duration(from+rng.IntN(to-from)) * time.Millisecond }
	w.ignored, w.foreign = ignored, false // without a status no bound of exposure is known
	for _, c := range w.pool {
		w.holds[c] = true // an agent has its finalizer on a work before it applies anything
		w.agentMode[c] = pick(rng, []agentMode{quick}, []agentMode{quick}, []agentMode{slow}, []agentMode{tardy}, []agentMode{broken}, []agentMode{recovering}, []agentMode{silent}, []agentMode{hanging})
	}
	var longest time.Duration
	for _, f := range w.fleets() {
		config, _, _, limit := parts(&f.strategy)
		config.ProgressDeadline = pick(rng, "2s", "3s", "4s", "4s", "None")
		config.MaxFailures = pick(rng, intstr.FromInt32(0), intstr.FromInt32(0), intstr.FromInt32(1), intstr.FromInt32(2))
		if limit != nil && limit.Type == intstr.String {
			*limit = intstr.FromInt32(2)
		}
		deadline, _ := time.ParseDuration(config.ProgressDeadline)
		longest = max(longest, deadline)
	}
	w.cut = &cutOff{
		shares: []float64{pick(rng, 0, 0.3, 0.6, 1), pick(rng, 0.3, 0.6, 1, 1)}, // v1 has the second
		after:  pick[time.Duration](rng, 1, 300, 1500) * time.Millisecond,
		back:   pick[time.Duration](rng, 0, 2000, 4000) * time.Millisecond,
		// As 5 minutes are to 10, or to 3.
		lease: pick(rng, max(time.Second, longest/2), max(time.Second, longest/2), longest+time.Second),
	}
	happens := []string{joins, leaves, leaves, returns, swaps, swaps, regroups, deletes, mends, ignores, newTemplate, crashes, crashes}
	if w.elects {
		happens = append(happens, cuts, cuts)
	}
	if len(w.others) > 0 {
		happens = append(happens, moves, moves)
	}
	w.script = []change{{ms(1, 1500), awaitsCut}}
	for range 2 + rng.IntN(5) {
		w.script = append(w.script, change{ms(100, 2500), pick(rng, happens...)})
	}
	if chance(0.5) {
		w.script = append(w.script, change{ms(1000, 4000), pick(rng, ignores, ignores, mends)})
	}
	w.focusCut(rng)
	return w
}

// drawDisaster makes the smallest case of all: a version cuts off each cluster that gets it, one at a time, and no failure is
// tolerated. The lease is to the deadline as OCM's five minutes are to ten.
func drawDisaster(seed uint64, subject *Subject) *world {
	w := drawCut(seed, subject, DutyLeft)
	w.ignored = ""
	return w
}

// The duties of a controller with deselected clusters, besides the duties of any controller.
const (
	DutyLeft     Duty = "report clusters that are not selected, too"
	DutyDeleting Duty = "report objects that are being deleted, too"
	DutyIgnored  Duty = "hear a user that ignores a cluster"
	DutyComplete Duty = "sum up with deselected clusters"
	DutyPromptly Duty = "delete the workload of those removed also while it is stopped"
	DutyBefore   Duty = "give Plan the result before, and not none"
	DutyRecord   Duty = "store the record of deselected clusters"
)

// cutOffDuties are those, with the invariants that are broken without them.
var cutOffDuties = map[Duty][]Invariant{
	DutyLeft:     {invLeavers, invExposed},
	DutyDeleting: {invLeavers, invExposed},
	DutyIgnored:  {invLate, invLeft},
	DutyComplete: {invDone},
	DutyPromptly: {invRemoved, invLeft},
	DutyBefore:   {invRemoved, invLeft},
	DutyRecord:   {invLeavers, invRemoved, invLeft},
}

// focusCut bends a world towards where an ignored duty matters.
func (w *world) focusCut(rng *rand.Rand) {
	if w.ignored == "" {
		return
	}
	w.alone(1)
	for i := range 20 {
		c := fmt.Sprintf("c%02d", i)
		w.pool, w.initial, w.holds[c], w.agentMode[c] = append(w.pool[:i:i], c), append(w.initial[:i:i], c), true, []agentMode{slow}
	}
	w.others, w.named, w.groupOf, w.size, w.heals, w.breaks = nil, nil, map[string]string{}, 0, false, 0
	w.often, w.worst, w.pause, w.writers, w.slow = 0.1, 50*time.Millisecond, 0, 1, time.Millisecond
	progressive := func(limit int32, deadline string) {
		w.strategy = clusterv1alpha1.RolloutStrategy{Type: clusterv1alpha1.Progressive, Progressive: &clusterv1alpha1.RolloutProgressive{
			RolloutConfig: clusterv1alpha1.RolloutConfig{ProgressDeadline: deadline}, MaxConcurrency: intstr.FromInt32(limit)}}
	}
	w.cut = &cutOff{shares: []float64{1}, after: time.Millisecond, lease: 2 * time.Second}
	progressive(1, "4s")
	w.script = []change{{time.Millisecond, awaitsCut}}
	some := func(n int, what string) {
		for range n {
			w.script = append(w.script, change{time.Duration(200+rng.IntN(1500)) * time.Millisecond, what})
		}
	}
	switch w.ignored {
	case DutyIgnored:
		some(1, ignores)
	case DutyDeleting:
		progressive(1, "20s") // it leaves, and its work is deleted, long before it times out
		w.cut.lease = time.Second
	case DutyComplete:
		progressive(20, "None")
		w.strategy.Progressive.MinSuccessTime.Duration = 6 * time.Second // until long after the decisions changed: no late view has them partially observed
		w.cut.shares = []float64{0.4}
	case DutyPromptly, DutyBefore:
		for c := range w.agentMode {
			w.agentMode[c] = []agentMode{broken}
		}
		w.cut.shares, w.script, w.initial = []float64{0}, nil, w.initial[:6] // so that deselected clusters have something
		progressive(5, "None")
		some(4, leaves)
	case DutyRecord:
		for c := range w.agentMode {
			w.agentMode[c] = []agentMode{broken}
		}
		w.cut.shares, w.script, w.initial = []float64{0}, nil, w.initial[:4]
		some(3, leaves)
		for range 3 { // a failed cluster hardly ever leaves last, and then another one waits
			some(1, joins)
			some(1, leaves)
		}
		w.script = append(w.script, change{3 * time.Second, joins})
	}
}
