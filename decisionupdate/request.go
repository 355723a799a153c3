// SPDX-License-Identifier: Apache-2.0

package decisionupdate

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/internal/place"
	"github.com/cohort-ocm/cohort/internal/seal"
)

// attempts is how often a request is made at most if another writer keeps writing to the same object.
const attempts = 5

// write makes the requests of one write, one after the other, and notes what was written.
func (r *run) write(ctx context.Context, w *Written) error {
	planned, parts := w.From, w.Parts
	switch w.Verb {
	case VerbCreate:
		created, err := r.create(ctx, w)
		if err != nil {
			return err
		}
		w.Done = parts[:1:1]
		planned, parts = created, parts[1:]
	case VerbDelete:
		if w.From.UID == "" { // an object that this update has created: say which one is gone
			w.From = r.last(w.From)
		}
		if err := r.delete(ctx, w); err != nil {
			return err
		}
	}
	for _, part := range parts {
		if err := r.update(ctx, planned, w, part); err != nil {
			return err
		}
		w.Done = append(w.Done, part)
		planned = written(planned, planned, w.To, part)
	}
	w.Complete = true
	return nil
}

// create returns what is stored after it: the object without its status.
func (r *run) create(ctx context.Context, written *Written) (*clusterv1beta1.PlacementDecision, error) {
	created, err := answer(r.client.Create(ctx, written.To.DeepCopy(), metav1.CreateOptions{}))
	if apierrors.IsAlreadyExists(err) {
		return nil, r.exists(ctx, written.To, err)
	}
	if err != nil {
		written.Unknown = unanswered(err)
		return nil, err
	}
	r.remember(created)
	return created, nil
}

// exists says what an object that was to be created has met. The error is stale: the list that the update was made from lacks the object.
func (r *run) exists(ctx context.Context, to *clusterv1beta1.PlacementDecision, err error) *StaleError {
	stale := &StaleError{Object: to.Name, Found: "it exists already", Err: err}
	if fresh, unread := answer(r.client.Get(ctx, to.Name, metav1.GetOptions{})); unread == nil && !grouping.Owns(placementOf(to), fresh) {
		stale.Taken, stale.Found = fresh, "it exists already, and is not of the Placement "+placementOf(to).Name
	}
	return stale
}

// update writes one part of an object that is stored as planned.
func (r *run) update(ctx context.Context, planned *clusterv1beta1.PlacementDecision, w *Written, part Part) error {
	send := r.client.Update
	if part == PartStatus {
		send = r.client.UpdateStatus
	}
	err := r.whileUnchanged(ctx, planned, w, func(current *clusterv1beta1.PlacementDecision) error {
		updated, err := answer(send(ctx, written(current, planned, w.To, part).DeepCopy(), metav1.UpdateOptions{}))
		if err == nil {
			r.remember(updated)
		}
		return err
	})
	if apierrors.IsNotFound(err) {
		return &StaleError{Object: planned.Name, Found: "it is gone", Err: err}
	}
	return err
}

// delete removes an object that is stored as planned. If it is gone already, all is well.
func (r *run) delete(ctx context.Context, written *Written) error {
	err := r.whileUnchanged(ctx, written.From, written, func(current *clusterv1beta1.PlacementDecision) error {
		return r.client.Delete(ctx, written.Name(), metav1.DeleteOptions{Preconditions: identity(current)})
	})
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

// whileUnchanged makes a request for an object as the API server returned it last. After a conflict it reads
// the object and, if it is still as planned in all that the update depends on, repeats the request (D10).
func (r *run) whileUnchanged(ctx context.Context, planned *clusterv1beta1.PlacementDecision, written *Written,
	request func(current *clusterv1beta1.PlacementDecision) error) error {
	current := r.last(planned)
	if planned.UID == "" {
		created := *planned
		created.UID = current.UID
		planned = &created
	}
	for attempt := 1; ; attempt++ {
		if err := ctx.Err(); err != nil {
			return err
		}
		conflict := request(current)
		if !apierrors.IsConflict(conflict) || attempt == attempts {
			written.Unknown = unanswered(conflict)
			return conflict
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		fresh, err := answer(r.client.Get(ctx, planned.Name, metav1.GetOptions{}))
		if err != nil {
			return err
		}
		if found := difference(planned, written.To, fresh); found != "" {
			return &StaleError{Object: planned.Name, Found: found, Err: conflict}
		}
		r.retry()
		current = fresh
	}
}

// answer turns an answer that is neither an object nor an error into an error. No client should give one.
func answer(pd *clusterv1beta1.PlacementDecision, err error) (*clusterv1beta1.PlacementDecision, error) {
	if pd == nil && err == nil {
		return nil, errors.New("the Client must return an object or an error, and returned neither")
	}
	return pd, err
}

// unanswered reports whether an error leaves open if the request was carried out. All errors do, except an API server's
// answer that the request was wrong.
func unanswered(err error) bool {
	if err == nil {
		return false
	}
	var status apierrors.APIStatus
	if !errors.As(err, &status) {
		return true
	}
	code := status.Status().Code
	return code < 400 || code >= 500 || code == http.StatusRequestTimeout
}

// last returns the object as the API server returned it last, or as planned if it hasn't been written yet.
func (r *run) last(planned *clusterv1beta1.PlacementDecision) *clusterv1beta1.PlacementDecision {
	r.mu.Lock()
	defer r.mu.Unlock()
	if pd, ok := r.current[planned.Name]; ok {
		return pd
	}
	return planned
}

// remember keeps an object as the API server returned it.
func (r *run) remember(pd *clusterv1beta1.PlacementDecision) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.current[pd.Name] = pd
}

// retry counts a request that is repeated.
func (r *run) retry() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.outcome.Retried++
}

// written returns the current object with the new content of one part. It touches only the labels that the update
// changes, the annotations of this library, and the controller of an object that has none.
func written(current, planned, to *clusterv1beta1.PlacementDecision, part Part) *clusterv1beta1.PlacementDecision {
	pd := *current
	if part == PartStatus {
		pd.Status.Decisions = to.Status.Decisions
		return &pd
	}
	pd.Labels = maps.Clone(current.Labels)
	if pd.Labels == nil {
		pd.Labels = make(map[string]string)
	}
	for _, key := range [...]string{seal.Annotation, place.Annotation} {
		if value, ok := to.Annotations[key]; ok {
			pd.Annotations = with(pd.Annotations, key, value)
		}
	}
	if owner := adopter(current, to); owner != nil {
		pd.OwnerReferences = adopted(current, *owner)
	}
	for _, key := range changedLabels(planned.Labels, to.Labels) {
		if value, ok := to.Labels[key]; ok {
			pd.Labels[key] = value
		} else {
			delete(pd.Labels, key)
		}
	}
	return &pd
}

// changedLabels returns the keys of the labels that are not the same in both, in no order.
func changedLabels(from, to map[string]string) []string {
	var keys []string
	for key := range from {
		if _, ok := to[key]; !ok {
			keys = append(keys, key)
		}
	}
	for key, value := range to {
		if was, ok := from[key]; !ok || was != value {
			keys = append(keys, key)
		}
	}
	return keys
}

// difference says what change of an object makes the update invalid; empty if there is none. To is nil if the object is
// to be deleted.
func difference(planned, to, fresh *clusterv1beta1.PlacementDecision) string {
	if fresh.UID != planned.UID {
		return fmt.Sprintf("its UID is %q, not %q: it was deleted and created again", fresh.UID, planned.UID)
	}
	if !fresh.DeletionTimestamp.IsZero() && planned.DeletionTimestamp.IsZero() {
		return "it is being deleted"
	}
	if was, is := controllerUID(planned), controllerUID(fresh); was != is {
		return fmt.Sprintf("its controller has the UID %q, not %q", is, was)
	}
	if !slices.Equal(fresh.Status.Decisions, planned.Status.Decisions) {
		return "its status.decisions have changed"
	}
	matter := groupLabels()
	keys := matter[:]
	if to != nil {
		keys = append(keys, changedLabels(planned.Labels, to.Labels)...)
	}
	for _, key := range slices.Sorted(slices.Values(keys)) {
		if fresh.Labels[key] != planned.Labels[key] {
			return fmt.Sprintf("its label %s is %q, not %q", key, fresh.Labels[key], planned.Labels[key])
		}
	}
	return ""
}

// identity asks for a delete of just this version of an object.
func identity(pd *clusterv1beta1.PlacementDecision) *metav1.Preconditions {
	uid, version := pd.UID, pd.ResourceVersion
	return &metav1.Preconditions{UID: &uid, ResourceVersion: &version}
}

// controllerUID returns the UID of an object's controller, or nothing.
func controllerUID(pd *clusterv1beta1.PlacementDecision) types.UID {
	if ref := metav1.GetControllerOfNoCopy(pd); ref != nil {
		return ref.UID
	}
	return ""
}
