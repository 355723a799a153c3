// SPDX-License-Identifier: Apache-2.0

package placer

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	workv1 "open-cluster-management.io/api/work/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cohort-ocm/cohort/rollout/writes"
	"github.com/cohort-ocm/cohort/status"
)

// errMoved says that the owner changed since the plan.
var errMoved = errors.New("the owner changed or is gone")

// carryOut makes the writes of a plan in their order, as long as the owner wants the same. A rejected write does not stop
// the writes of other clusters. The error joins those of all clusters.
func (r *reconciler) carryOut(ctx context.Context, state *ownerState, planned *situation) error {
	planned.progress.Refused = make(map[string]error)
	var failed error
	done := func(cluster string, err error) {
		state.refusals.Wrote(cluster, err)
		if writes.Refused(err) {
			planned.progress.Refused[cluster] = err
		}
		if err != nil {
			failed = errors.Join(failed, fmt.Errorf("cluster %s: %w", cluster, err))
		}
	}
	stepped := make(map[types.NamespacedName]bool)
	for step := range planned.steps.While(r.same(ctx, planned)) {
		stepped[types.NamespacedName{Namespace: step.Cluster.Name, Name: step.Name}] = true
		done(step.Cluster.Name, r.carryOutStep(ctx, state, planned, step))
	}
	for _, work := range planned.unnoted {
		if !planned.steps.Moved() && !stepped[client.ObjectKeyFromObject(work)] {
			done(work.Namespace, r.noteAnswer(ctx, state, work))
		}
	}
	return failed
}

// noteAnswer records the time of a first answer on a ManifestWork for which there is no step: its cluster is settled. Soaks
// and waits run from that time.
func (r *reconciler) noteAnswer(ctx context.Context, state *ownerState, work *workv1.ManifestWork) error {
	next, stamp := work.DeepCopy(), status.StampOf(work)
	stamp.NoteOn(next, stamp.Version, stamp.Attempt, r.now())
	return r.update(ctx, state, work, next)
}

// update updates a ManifestWork, and records the answer. NotFound means that the object was deleted, and the cache is
// stale.
func (r *reconciler) update(ctx context.Context, state *ownerState, stored, next *workv1.ManifestWork) error {
	err := r.client.Update(ctx, next)
	if apierrors.IsNotFound(err) {
		return state.written.Deleted(stored, err, r.now())
	}
	return state.written.Wrote(next, err, r.now())
}

// same reads the owner from the cache. It returns an error if the owner wants something else than at the time of the plan.
func (r *reconciler) same(ctx context.Context, planned *situation) func() (metav1.Object, error) {
	return func() (metav1.Object, error) {
		now, err := r.cachedOwner(ctx, client.ObjectKeyFromObject(planned.object))
		if err != nil {
			return nil, err
		}
		if now == nil || !wantsSame(now, planned.object) {
			return nil, errMoved
		}
		return now, nil
	}
}

// wantsSame says whether two states of an owner want the same, apart from the spec: Steps.While compares the generation.
// Labels and annotations may say what an owner wants, and annotations have the approvals. The record is left out, since
// this package writes it.
func wantsSame(now, planned client.Object) bool {
	if now.GetResourceVersion() == planned.GetResourceVersion() {
		return true
	}
	return now.GetDeletionTimestamp().IsZero() &&
		maps.Equal(now.GetLabels(), planned.GetLabels()) &&
		maps.Equal(withoutRecord(now), withoutRecord(planned))
}

func withoutRecord(owner client.Object) map[string]string {
	meta := &metav1.ObjectMeta{Annotations: owner.GetAnnotations()}
	if _, err := (status.Records{}).Note(meta); err != nil {
		return owner.GetAnnotations()
	}
	return meta.Annotations
}

func (r *reconciler) carryOutStep(ctx context.Context, state *ownerState, planned *situation, step writes.Step[*workv1.ManifestWork]) error {
	if step.Verb == writes.VerbDelete {
		return r.delete(ctx, state, step.Object)
	}
	wanted, version, err := planned.work(step)
	if err != nil {
		return err
	}
	next, changed := writes.Work(step.Object, wanted, version, step.Cluster.Attempt, r.now())
	if !changed || !step.Start && !planned.wanted.needsAnswers() && onlyAnswered(step.Object, next) {
		return nil
	}
	if step.Verb == writes.VerbUpdate {
		return r.update(ctx, state, step.Object, next)
	}
	err = r.client.Create(ctx, next)
	return state.written.Wrote(next, err, r.now())
}

// work is what a cluster gets, and its version. If For fails, the error is returned, and the cluster keeps its spec.
func (s *situation) work(step writes.Step[*workv1.ManifestWork]) (*workv1.ManifestWork, string, error) {
	own := s.wanted.of(step.Cluster.Name)
	if own.err != nil {
		return nil, "", own.err
	}
	wanted := &workv1.ManifestWork{
		ObjectMeta: metav1.ObjectMeta{
			Namespace:   step.Cluster.Name,
			Name:        step.Name,
			Labels:      withoutOurs(s.wanted.Labels),
			Annotations: withoutOurs(s.wanted.Annotations),
		},
		Spec: own.spec,
	}
	if step.Object != nil {
		wanted.Spec = withDefaults(own.spec, step.Object.Spec)
	}
	s.owner.NoteOn(wanted)
	return wanted, own.version, nil
}

// ownPrefix is the prefix of this library's labels and annotations: on an owner those of approvals and the record, and others on
// ManifestWorks.
const ownPrefix = "cohort.open-cluster-management.io/"

func withoutOurs(all map[string]string) map[string]string {
	all = maps.Clone(all)
	maps.DeleteFunc(all, func(key, _ string) bool { return strings.HasPrefix(key, ownPrefix) })
	return all
}

// onlyAnswered says that a write would change nothing but the time of the first answer.
func onlyAnswered(stored, next *workv1.ManifestWork) bool {
	if stored == nil || status.StampOf(stored).Answered.Equal(status.StampOf(next).Answered) {
		return false
	}
	before, after := maps.Clone(stored.Annotations), maps.Clone(next.Annotations)
	delete(before, answeredAnnotation)
	delete(after, answeredAnnotation)
	return maps.Equal(before, after) && maps.Equal(stored.Labels, next.Labels) && equality.Semantic.DeepEqual(stored.Spec, next.Spec)
}

// answeredAnnotation is where package status records the time of the first answer.
const answeredAnnotation = "cohort.open-cluster-management.io/answered"

func (r *reconciler) delete(ctx context.Context, state *ownerState, work *workv1.ManifestWork) error {
	err := r.client.Delete(ctx, work, client.Preconditions{UID: &work.UID})
	return state.written.Deleted(work, err, r.now())
}
