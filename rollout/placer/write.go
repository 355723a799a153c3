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

// errMoved says that somebody decided otherwise since the plan.
var errMoved = errors.New("the owner is gone, or somebody decided otherwise")

// carryOut makes the writes of a plan in their order, as long as the owner wants the same. A cluster that refuses holds up no others.
// The error joins those of all clusters.
func (r *reconciler) carryOut(ctx context.Context, kept *memory, s *situation) error {
	s.progress.Refused = make(map[string]error)
	var failed error
	done := func(cluster string, err error) {
		if writes.Refused(err) {
			s.progress.Refused[cluster] = err
		}
		if err != nil {
			failed = errors.Join(failed, fmt.Errorf("cluster %s: %w", cluster, err))
		}
	}
	stepped := make(map[types.NamespacedName]bool)
	for step := range s.steps.While(r.same(ctx, s)) {
		stepped[types.NamespacedName{Namespace: step.Cluster.Name, Name: step.Name}] = true
		done(step.Cluster.Name, r.carryOutStep(ctx, kept, s, step))
	}
	for _, work := range s.unnoted {
		if !s.steps.Moved() && !stepped[client.ObjectKeyFromObject(work)] {
			done(work.Namespace, r.noteAnswer(ctx, kept, work))
		}
	}
	return failed
}

// noteAnswer notes that a cluster has answered for which there is no step: it is settled. Waits run from then.
func (r *reconciler) noteAnswer(ctx context.Context, kept *memory, work *workv1.ManifestWork) error {
	next, stamp := work.DeepCopy(), status.StampOf(work)
	stamp.NoteOn(next, stamp.Version, stamp.Attempt, r.now())
	return r.update(ctx, kept, work, next)
}

// update updates a ManifestWork, and notes the answer. One that is not there was deleted, and the cache is late.
func (r *reconciler) update(ctx context.Context, kept *memory, stored, next *workv1.ManifestWork) error {
	err := r.client.Update(ctx, next)
	if apierrors.IsNotFound(err) {
		return kept.written.Deleted(stored, err, r.now())
	}
	return kept.written.Wrote(next, err, r.now())
}

// same gives the owner as the cache has it now, and an error where somebody decided otherwise.
func (r *reconciler) same(ctx context.Context, s *situation) func() (metav1.Object, error) {
	return func() (metav1.Object, error) {
		now, err := r.cachedOwner(ctx, client.ObjectKeyFromObject(s.object))
		if err != nil {
			return nil, err
		}
		if now == nil || !wantsSame(now, s.object) {
			return nil, errMoved
		}
		return now, nil
	}
}

// wantsSame says whether two states of an owner want the same, beside the spec, whose generation tells. What an owner wants may stand in
// its labels and annotations, and so do approvals. The record is this package's own.
func wantsSame(now, planned client.Object) bool {
	if now.GetResourceVersion() == planned.GetResourceVersion() {
		return true
	}
	return now.GetDeletionTimestamp().IsZero() &&
		maps.Equal(now.GetLabels(), planned.GetLabels()) &&
		maps.Equal(withoutRecord(now), withoutRecord(planned))
}

// withoutRecord are the annotations of an owner without the record.
func withoutRecord(owner client.Object) map[string]string {
	meta := &metav1.ObjectMeta{Annotations: owner.GetAnnotations()}
	if _, err := (status.Records{}).Note(meta); err != nil {
		return owner.GetAnnotations()
	}
	return meta.Annotations
}

// carryOutStep makes one write, and notes the answer.
func (r *reconciler) carryOutStep(ctx context.Context, kept *memory, s *situation, step writes.Step[*workv1.ManifestWork]) error {
	if step.Verb == writes.VerbDelete {
		return r.delete(ctx, kept, step.Object)
	}
	wanted, version, err := s.work(step)
	if err != nil {
		return err
	}
	next, changed := writes.Work(step.Object, wanted, version, step.Cluster.Attempt, r.now())
	if !changed || !step.Start && !s.wanted.needsAnswers() && onlyAnswered(step.Object, next) {
		return nil
	}
	if step.Verb == writes.VerbUpdate {
		return r.update(ctx, kept, step.Object, next)
	}
	err = r.client.Create(ctx, next)
	return kept.written.Wrote(next, err, r.now())
}

// work is what a cluster gets, and in which version. One whose own spec nobody can make keeps the spec that it has.
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

// ours is with what the labels and annotations of this library begin. On an owner they are approvals and the record, and on ManifestWorks
// others are.
const ours = "cohort.open-cluster-management.io/"

// withoutOurs is a copy of labels or annotations without those of this library.
func withoutOurs(all map[string]string) map[string]string {
	all = maps.Clone(all)
	maps.DeleteFunc(all, func(key, _ string) bool { return strings.HasPrefix(key, ours) })
	return all
}

// onlyAnswered says that a write would note the first answer of a cluster alone.
func onlyAnswered(stored, next *workv1.ManifestWork) bool {
	if stored == nil || status.StampOf(stored).Answered.Equal(status.StampOf(next).Answered) {
		return false
	}
	before, after := maps.Clone(stored.Annotations), maps.Clone(next.Annotations)
	delete(before, answeredAnnotation)
	delete(after, answeredAnnotation)
	return maps.Equal(before, after) && maps.Equal(stored.Labels, next.Labels) && equality.Semantic.DeepEqual(stored.Spec, next.Spec)
}

// answeredAnnotation is where package status notes the first answer of a cluster.
const answeredAnnotation = "cohort.open-cluster-management.io/answered"

// delete deletes a ManifestWork, and notes the answer.
func (r *reconciler) delete(ctx context.Context, kept *memory, work *workv1.ManifestWork) error {
	err := r.client.Delete(ctx, work, client.Preconditions{UID: &work.UID})
	return kept.written.Deleted(work, err, r.now())
}
