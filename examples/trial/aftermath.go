// SPDX-License-Identifier: Apache-2.0

package trial

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"
)

// Of what happens to each owner sooner or later.
const (
	invGone   Invariant = "a cluster without a ManagedCluster blocks no other"
	invOwner  Invariant = "the works of an owner go when it is deleted"
	invOthers Invariant = "nothing of another one is touched"
	invTold   Invariant = "people are told what is wrong"
)

// hasAftermath says whether a world has one: one process acts at a time, no version is taken back, and no user decides.
func (w *world) hasAftermath() bool { return w.ignored == "" && w.long == nil && w.traceable() }

// The times of the aftermath. A queue's own pauses are longer than a minute after four minutes of errors.
const (
	forbiddenFor = 4 * time.Minute
	awayFor      = 5 * time.Minute
	longestPause = time.Minute // until what failed is tried again
)

// aftermath plays what happens to each owner sooner or later, when the acts of a world are over: another client writes next to the controller,
// an admission forbids a write, the API server is away, a cluster fails and is deleted, and so is the owner. All agents are well.
func (p *player) aftermath(ctx context.Context) error {
	p.mu.Lock()
	p.calm = true
	p.mu.Unlock()
	if !p.heals {
		close(p.agents.healed)
	}
	for _, r := range p.replicas {
		r.net.mend()
	}
	for range 2 { // what cuts a cluster off may be on its way
		sleep(ctx, 3*time.Second)
		p.lines.mend(p.lines.severed(0)...)
	}
	sleep(ctx, 3*time.Second)
	for _, act := range []func(context.Context) error{p.writeBeside, p.forbidOne, p.leaveAlone, p.loseCluster, p.deleteOwner} {
		if err := act(ctx); err != nil || ctx.Err() != nil {
			return err
		}
	}
	return nil
}

// blame notes what is broken now.
func (p *player) blame(i Invariant, format string, args ...any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.faults = append(p.faults, violation{invariant: i, rv: p.events[len(p.events)-1].rv, text: fmt.Sprintf(format, args...)})
}

// clock is a time as messages have it.
func clock(at time.Time) string { return at.UTC().Format("15:04:05.000") }

// awaits looks now and then whether something is so, for as long as a time, and says whether it was.
func (p *player) awaits(ctx context.Context, longest time.Duration, so func(*scene) bool) bool {
	for start := time.Now(); ctx.Err() == nil; sleep(ctx, 500*time.Millisecond) {
		s := p.present()
		if so(s) {
			return true
		}
		if time.Since(start) > longest {
			return false
		}
	}
	return true // the world ends
}

// present is the world as it stands.
func (p *player) present() *scene {
	p.mu.Lock()
	defer p.mu.Unlock()
	return newHistory(p.events, nil, nil).truth(1 << 62)
}

// lacking are the selected clusters that do not have the version that is wanted, but for those that an operator ignores.
func (p *player) lacking(s *scene) (clusters []string) {
	if s.set == nil {
		return []string{"no owner"}
	}
	for c := range s.selected() {
		if !slices.Contains(p.ignoredClusters, c) && !hasVersion(s, c, s.wanted(c)) {
			clusters = append(clusters, c)
		}
	}
	slices.Sort(clusters)
	return clusters
}

func hasVersion(s *scene, cluster, version string) bool {
	return slices.ContainsFunc(s.works[cluster], func(w seenWork) bool { return w.DeletionTimestamp == nil && w.version == version })
}

// awaitsAll waits until all have the version that is wanted and the status says so. The longest is for one cluster at a time, each after its soak.
func (p *player) awaitsAll(ctx context.Context, since string) {
	longest := longestPause + p.patience() + time.Duration(len(p.pool))*(12*time.Second+p.slow)
	if p.awaits(ctx, longest, func(s *scene) bool {
		return len(p.lacking(s)) == 0 && p.subject.Says(s.set).Current && p.subject.Says(s.set).Over
	}) {
		return
	}
	s := p.present()
	says := Saying{}
	if s.set != nil {
		says = p.subject.Says(s.set)
	}
	p.blame(invLeft, "%s, and after %v %v do not have the version, and it says %q; %s", since, longest, p.lacking(s), says.Message, p.lastLook())
}

// lastLook says how the last look ended.
func (p *player) lastLook() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.reconciles) == 0 {
		return "no process has looked"
	}
	return p.reconciles[len(p.reconciles)-1].ending()
}

// ending says how a look ended.
func (r *reconcile) ending() string {
	switch {
	case r.ended.IsZero():
		return fmt.Sprintf("the last look began at %s, and has not ended", clock(r.began))
	case r.err != nil:
		return fmt.Sprintf("the last look ended at %s with an error: %v", clock(r.ended), r.err)
	case r.after == 0:
		return fmt.Sprintf("the last look ended at %s, and asked for no other", clock(r.ended))
	default:
		return fmt.Sprintf("the last look ended at %s, and asked for the next one %v later", clock(r.ended), r.after)
	}
}

// What others write beside the controller.
const (
	audited      = "example.com/Audited"   // a condition
	noted        = "hub.test/note"         // an annotation of the set
	anothers     = "hub.test/another-kind" // a label of works that are no set's
	anothersName = "another"
)

// oneAtATime tolerates no failure.
func oneAtATime() clusterv1alpha1.RolloutStrategy {
	return clusterv1alpha1.RolloutStrategy{Type: clusterv1alpha1.Progressive, Progressive: &clusterv1alpha1.RolloutProgressive{MaxConcurrency: intstr.FromInt32(1)}}
}

// loseCluster has the first cluster that gets the next version fail, be cut off, and deselected. No other cluster may get the version, until a user
// deletes the ManagedCluster. Ignored clusters are none of these: they get the version whatever happens.
func (p *player) loseCluster(ctx context.Context) error {
	f := p.placed[0]
	counting := slices.DeleteFunc(slices.Clone(f.selected), func(c string) bool { return slices.Contains(p.ignoredClusters, c) })
	if len(p.placed) > 1 || len(counting) < 3 {
		return nil
	}
	p.mu.Lock()
	p.sick, p.sickens = "", fmt.Sprintf("v%d", p.version+1)
	p.mu.Unlock()
	if err := p.templateUnder(ctx, oneAtATime()); err != nil {
		return err
	}
	var sick string
	failed := p.awaits(ctx, longestPause, func(s *scene) bool {
		p.mu.Lock()
		sick = p.sick
		p.mu.Unlock()
		at, _, _ := s.stands(sick, s.wanted(sick), oneAtATime().Progressive.RolloutConfig, time.Now(), leniency{})
		return at == failed
	})
	if !failed {
		p.blame(invLeft, "no cluster got a new version within %v; %s", longestPause, p.lastLook())
		return nil
	}
	since := time.Now()
	sleep(ctx, 3*time.Second) // the controller sees it
	p.lines.sever(sick)
	f.selected = slices.DeleteFunc(f.selected, func(c string) bool { return c == sick })
	if err := p.schedule(ctx, f); err != nil {
		return err
	}
	sleep(ctx, p.subject.RemoveAfter+p.patience()+5*time.Second)
	if starts := p.having(sick); len(starts) > 0 {
		p.blame(invLeavers, "%s failed at %s and left, no failure is tolerated, and %v got the version; %s", sick, clock(since), starts, p.recordOf(sick))
		return nil
	}
	deleted := time.Now()
	if err := p.deleteCluster(ctx, sick); err != nil {
		return err
	}
	// OCM watches no ManagedCluster for a controller, so something else has to happen.
	if err := p.write(ctx, "", func(set *replicaSet) { set.Annotations[noted] = "is another's, and has changed" }); err != nil {
		return err
	}
	if longest := longestPause + p.patience(); !p.awaits(ctx, longest, func(*scene) bool { return len(p.having(sick)) > 0 }) {
		p.blame(invGone, "%s failed at %s and left, its ManagedCluster was deleted at %s, and no cluster got the version within %v: no process asked whether there is a ManagedCluster %s",
			sick, clock(since), clock(deleted), longest, sick)
		return nil
	}
	p.awaitsAll(ctx, fmt.Sprintf("the ManagedCluster %s was deleted at %s", sick, clock(deleted)))
	return nil
}

// having are the clusters that have the version that is wanted, but for one and the ignored ones.
func (p *player) having(but string) (clusters []string) {
	s := p.present()
	for c := range s.works {
		if c != but && !slices.Contains(p.ignoredClusters, c) && hasVersion(s, c, s.wanted(c)) {
			clusters = append(clusters, c)
		}
	}
	slices.Sort(clusters)
	return clusters
}

// recordOf says whether the owner tells of a cluster that left.
func (p *player) recordOf(cluster string) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return newHistory(p.events, nil, nil).recordOf(cluster, 1<<62)
}

// deleteOwner deletes the set. In half of the worlds it comes again at once, with another UID, and caches show that late. In a half the
// process dies meanwhile.
func (p *player) deleteOwner(ctx context.Context) error {
	sets := p.user.work.WorkV1alpha1().ManifestWorkReplicaSets(p.name)
	how := drawn(p.seed, "aftermath", p.bent).IntN(4)
	again := how%2 == 0
	if again {
		for _, r := range p.replicas {
			r.caches.slowDown(ReplicaSets, 3*time.Second)
		}
	}
	if how > 1 {
		p.crash()
	}
	deleted := time.Now()
	if err := sets.Delete(ctx, setName, metav1.DeleteOptions{}); err != nil {
		return err
	}
	longest := longestPause + p.patience() + p.dying
	if !p.awaits(ctx, longest, func(s *scene) bool { return s.set == nil }) {
		s := p.present()
		p.blame(invOwner, "the owner was deleted at %s, and is still there %v later, with the finalizers %q and works in %v; %s", clock(deleted), longest, s.set.Finalizers, namespaces(s), p.lastLook())
		return nil
	}
	p.checkOrder()
	if again {
		return p.comeAgain(ctx)
	}
	if !p.awaits(ctx, longest, func(s *scene) bool { return len(s.works) == 0 }) {
		s := p.present()
		p.blame(invOwner, "the owner was deleted at %s%s, and its works in %v are there %v later: no process deletes them", clock(deleted), p.finalizers(), namespaces(s), longest)
	}
	return nil
}

// checkOrder judges that a finalizer holds the owner until its works go, too.
func (p *player) checkOrder() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, e := range slices.Backward(p.events) {
		if e.id.kind != ReplicaSets || !e.gone {
			continue
		}
		var stay []string
		for c, works := range newHistory(p.events, nil, nil).truth(e.rv - 1).works {
			if slices.ContainsFunc(works, func(w seenWork) bool { return w.DeletionTimestamp == nil }) {
				stay = append(stay, c)
			}
		}
		if slices.Sort(stay); len(stay) > 0 && len(e.object.GetFinalizers()) > 0 {
			p.faults = append(p.faults, violation{invariant: invOwner, rv: e.rv, text: fmt.Sprintf(
				"the finalizer was taken off the owner at %s, and no process had deleted the works in %v: a process that dies now leaves them", clock(e.at), stay)})
		}
		return
	}
}

// finalizers says which the owner had at last.
func (p *player) finalizers() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	var gone time.Time
	for _, e := range slices.Backward(p.events) {
		switch {
		case e.id.kind != ReplicaSets:
		case e.gone:
			gone = e.at
		case len(e.object.GetFinalizers()) == 0 && e.object.GetDeletionTimestamp() == nil:
			return " and was gone at once, as it had no finalizer"
		default:
			return fmt.Sprintf(", its finalizer was taken off at %s", clock(gone))
		}
	}
	return ""
}

func namespaces(s *scene) (all []string) {
	for c := range s.works {
		all = append(all, c)
	}
	slices.Sort(all)
	return all
}

// comeAgain creates the set anew, with a mandatory group that no placement has.
func (p *player) comeAgain(ctx context.Context) error {
	made := time.Now()
	strategy := oneAtATime()
	strategy.Progressive.MaxConcurrency = intstr.FromString("100%")
	strategy.Progressive.MandatoryDecisionGroups.MandatoryDecisionGroups = []clusterv1alpha1.MandatoryDecisionGroup{{GroupName: missingGroup}}
	p.version++
	if err := p.create(ctx, strategy); err != nil {
		return err
	}
	p.awaitsAll(ctx, fmt.Sprintf("the owner came again at %s", clock(made)))
	sleep(ctx, 2*time.Second)
	p.mu.Lock()
	defer p.mu.Unlock()
	s := newHistory(p.events, nil, nil).truth(1 << 62)
	for i := range p.writes {
		w := &p.writes[i]
		r := p.reconciles[w.reconcile]
		if cluster, _, _ := strings.Cut(w.key, "/"); w.kind == Works && w.verb == "DELETE" && w.done && r.began.After(made) && s.selects(cluster) {
			p.faults = append(p.faults, violation{invariant: invKept, rv: p.events[len(p.events)-1].rv, text: fmt.Sprintf(
				"%s lost its work at %s, in a look that began at %s, and its owner had come again at %s: it did not ask the API server whether the owner is gone, only a cache",
				cluster, clock(w.sent), clock(r.began), clock(made))})
			break
		}
	}
	died := false // a recorder sends Events later, and they die with the process
	for _, at := range p.died {
		died = died || at.After(made)
	}
	if p.subject.Events && !died && !slices.ContainsFunc(p.told, func(e event) bool { return e.at.After(made) && strings.Contains(string(e.stored), missingGroup) }) {
		p.faults = append(p.faults, violation{invariant: invTold, rv: p.events[len(p.events)-1].rv, text: fmt.Sprintf(
			"the owner that came at %s has a mandatory group %q that is nowhere, and no Event says so: what the first look finds is not told", clock(made), missingGroup)})
	}
	return nil
}
