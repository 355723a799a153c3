// SPDX-License-Identifier: Apache-2.0

package trial

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	workv1alpha1 "open-cluster-management.io/api/work/v1alpha1"
)

// writeBeside has others write: a condition and an annotation of the set, and works beside those of the set.
func (p *player) writeBeside(ctx context.Context) error {
	sets := p.user.work.WorkV1alpha1().ManifestWorkReplicaSets(p.name)
	if _, err := sets.Patch(ctx, setName, types.MergePatchType, fmt.Appendf(nil, `{"metadata": {"annotations": {%q: "is another's"}}}`, noted), metav1.PatchOptions{}); err != nil {
		return err
	}
	if err := p.write(ctx, "status", func(set *replicaSet) {
		meta.SetStatusCondition(&set.Status.Conditions, metav1.Condition{Type: audited, Status: metav1.ConditionFalse, Reason: "Another", ObservedGeneration: set.Generation})
		if set.Status.PlacementsSummary == nil {
			set.Status.PlacementsSummary = []workv1alpha1.PlacementSummary{} // the API demands the field
		}
	}); err != nil {
		return err
	}
	p.mu.Lock()
	p.beside = p.events[len(p.events)-1].rv
	p.mu.Unlock()
	for _, cluster := range p.clusters(p.pool) {
		if p.isDeleted(cluster) {
			continue
		}
		work := &manifestWork{ObjectMeta: metav1.ObjectMeta{Namespace: cluster, Name: anothersName, Labels: map[string]string{anothers: "true"}}}
		if _, err := p.user.work.WorkV1().ManifestWorks(cluster).Create(ctx, work, metav1.CreateOptions{}); err != nil {
			return err
		}
	}
	return nil
}

// isAnothers says whether a work is of another one.
func isAnothers(o object) bool { return o.GetLabels()[anothers] != "" }

// forbidOne forbids the works of whichever cluster gets the next version first.
func (p *player) forbidOne(ctx context.Context) error {
	p.serverFaults.deny(true, p.ignoredClusters...)
	since := time.Now()
	if err := p.template(ctx); err != nil {
		return err
	}
	sleep(ctx, forbiddenFor)
	where, s := p.serverFaults.denied(), p.present()
	p.serverFaults.deny(false)
	if where == "" {
		p.awaitsAll(ctx, fmt.Sprintf("a new version is wanted since %s", clock(since)))
		return nil
	}
	switch says := p.subject.Says(s.set); {
	case !says.Current:
		p.blame(invStatus, "works in %s have been forbidden since %s, and the status says %q, of an earlier generation: it is not written where another write fails", where, clock(since), says.Message)
	case says.Complete:
		p.blame(invDone, "works in %s have been forbidden since %s, and it says %q", where, clock(since), says.Message)
	case !strings.Contains(says.Message, where):
		p.blame(invStuck, "works in %s have been forbidden since %s, and it says %q", where, clock(since), says.Message)
	}
	until := time.Now()
	if longest := longestPause + p.patience(); !p.awaits(ctx, longest, func(s *scene) bool { return hasVersion(s, where, s.wanted(where)) }) {
		p.blame(invLate, "works in %s were forbidden from %s to %s, and it does not have the version %v later; %s", where, clock(since), clock(until), longest, p.lastLook())
	}
	p.awaitsAll(ctx, fmt.Sprintf("works in %s have been allowed again since %s", where, clock(until)))
	return nil
}

// leaveAlone has the API server be away for minutes, when a new version has just come.
func (p *player) leaveAlone(ctx context.Context) error {
	if err := p.template(ctx); err != nil {
		return err
	}
	sleep(ctx, 100*time.Millisecond)
	p.serverFaults.leave(true)
	since := time.Now()
	sleep(ctx, awayFor)
	p.serverFaults.leave(false)
	p.awaitsAll(ctx, fmt.Sprintf("the API server was away from %s to %s", clock(since), clock(time.Now())))
	return nil
}

// missingGroup is a group that no placement has.
const missingGroup = "group-of-no-placement"

// isSick has the first cluster that gets a new version fail.
func (p *player) isSick(work *manifestWork) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.sickens != "" && p.sickens == versionIn(work) && !slices.Contains(p.ignoredClusters, work.Namespace) {
		p.sickens, p.sick = "", work.Namespace
		return true
	}
	return false
}

// checkBeside finds what others wrote and is not there any more. The player is locked.
func (p *player) checkBeside() (broken []violation) {
	for _, e := range p.strange {
		if e.rv > p.beside && (e.gone || e.object.GetGeneration() > 1 || len(e.object.GetAnnotations()) > 0) && p.deleted[e.object.GetNamespace()].IsZero() {
			broken = append(broken, violation{invariant: invOthers, rv: e.rv, text: fmt.Sprintf(
				"the work %s of another one, without the label of the set, was changed or deleted at %s: %s", e.id.key, clock(e.at), p.whoWrote(e))})
			break
		}
	}
	for _, e := range p.events {
		set, is := e.object.(*replicaSet)
		if !is || p.beside == 0 || e.rv <= p.beside {
			continue
		}
		if e.gone || set.DeletionTimestamp != nil {
			break
		}
		what := ""
		if meta.FindStatusCondition(set.Status.Conditions, audited) == nil {
			what = "condition " + audited
		} else if set.Annotations[noted] == "" {
			what = "annotation " + noted
		}
		if what != "" {
			return append(broken, violation{invariant: invOthers, rv: e.rv, text: fmt.Sprintf(
				"the owner lost the %s of another one at %s: %s has only the fields that the controller knows", what, clock(e.at), p.whoWrote(e))})
		}
	}
	return broken
}

// whoWrote names the write that an event comes of.
func (p *player) whoWrote(e event) string {
	for i := range slices.Backward(p.writes) {
		w := &p.writes[i]
		if w.rv == e.rv || e.gone && w.verb == "DELETE" && w.done && strings.HasPrefix(e.id.key, w.key) && !w.sent.After(e.at) {
			return fmt.Sprintf("the %s of %s", w.name(), clock(w.sent))
		}
	}
	return "an unknown write"
}
