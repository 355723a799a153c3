package main

import (
	"context"
	"errors"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	toolscache "k8s.io/client-go/tools/cache"
	workv1 "open-cluster-management.io/api/work/v1"
	workv1alpha1 "open-cluster-management.io/api/work/v1alpha1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// written has the writes of a set's works that the cache does not show yet. Until it does, nothing is planned for the
// set: a plan would not see the clusters that were just started, and start others in their place. Each write is an
// event when it arrives, so that nobody has to wait longer than the cache. The zero value is ready to use.
type written struct {
	marks map[types.NamespacedName]mark
	set   string // the resourceVersion of the set itself, as it was written last
}

// mark is what the cache has to show.
type mark struct {
	resourceVersion string    // of the answer, or a later one
	gone            types.UID // the object with this UID gone, or going; any if it is "*"
	unheard         bool      // there was no answer, or one that shows that the cache is behind: nobody knows
	since           time.Time
}

// patience is how long a cache may take before the API server is asked what has become of a write. The object may have
// been deleted by someone else between two looks of the cache, which then never shows it.
const patience = 10 * time.Second

// wrote notes the answer to a create or an update. It returns err.
func (w *written) wrote(work *workv1.ManifestWork, err error, now time.Time) error {
	switch {
	case err == nil:
		w.note(client.ObjectKeyFromObject(work), mark{resourceVersion: work.ResourceVersion, since: now})
	case !refused(err):
		w.note(client.ObjectKeyFromObject(work), mark{unheard: true, since: now})
	}
	return err
}

// deleted notes the answer to a delete. It returns err, unless it says that the work was gone before.
func (w *written) deleted(work *workv1.ManifestWork, err error, now time.Time) error {
	if err = client.IgnoreNotFound(err); err == nil {
		w.note(client.ObjectKeyFromObject(work), mark{gone: work.UID, since: now})
	} else if !refused(err) {
		w.note(client.ObjectKeyFromObject(work), mark{unheard: true, since: now})
	}
	return err
}

func (w *written) note(key types.NamespacedName, m mark) {
	if w.marks == nil {
		w.marks = make(map[types.NamespacedName]mark)
	}
	w.marks[key] = m
}

// missing says when to look again if the caches do not show all writes yet; 0 if they do.
func (w *written) missing(ctx context.Context, set *workv1alpha1.ManifestWorkReplicaSet, works toolscache.Indexer, live client.Reader, now time.Time) (time.Duration, error) {
	if w.set != "" && older(set.ResourceVersion, w.set) {
		return gather, nil // no event comes of it, since its spec is the same
	}
	for key, m := range w.marks {
		if m.unheard || now.Sub(m.since) >= patience {
			var err error
			if m, err = ask(ctx, live, key, now); err != nil {
				return 0, err
			}
			w.marks[key] = m
		}
		if m.shown(get[workv1.ManifestWork](works, key.Namespace, key.Name)) {
			delete(w.marks, key)
		}
	}
	if len(w.marks) > 0 {
		return patience, nil
	}
	return 0, nil
}

// ask asks the API server itself how a work stands.
func ask(ctx context.Context, live client.Reader, key types.NamespacedName, now time.Time) (mark, error) {
	work := &metav1.PartialObjectMetadata{}
	work.SetGroupVersionKind(workKind)
	switch err := live.Get(ctx, key, work); {
	case err == nil:
		return mark{resourceVersion: work.ResourceVersion, since: now}, nil
	case apierrors.IsNotFound(err):
		return mark{gone: "*", since: now}, nil
	default:
		return mark{}, err
	}
}

// shown says whether the cache has come as far, given the work that it has.
func (m mark) shown(work *workv1.ManifestWork) bool {
	switch {
	case m.gone != "":
		return work == nil || work.DeletionTimestamp != nil || m.gone != "*" && work.UID != m.gone
	case work == nil:
		return false
	default:
		return !older(work.ResourceVersion, m.resourceVersion)
	}
}

func older(a, b string) bool {
	order, err := resourceversion.CompareResourceVersion(a, b)
	return err == nil && order < 0
}

// refused says that a write was certainly not made, and that not because the cache is behind.
func refused(err error) bool {
	var answer apierrors.APIStatus
	if !errors.As(err, &answer) || apierrors.IsConflict(err) || apierrors.IsAlreadyExists(err) {
		return false
	}
	code := answer.Status().Code
	return code >= 400 && code < 500
}
