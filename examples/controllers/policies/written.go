package main

import (
	"context"
	"errors"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	"k8s.io/client-go/dynamic"
)

// written has the writes of a root policy's replicas that the cache does not show yet, by cluster. Until it does, nothing
// is propagated: a cluster that was just started would be seen as one that waits, and another one would start in its
// place. client-go's mutation cache would lay the written objects over the cached ones, but keeps only a hundred. Each
// write is an event when it arrives. The zero value is ready to use.
type written map[string]mark

// mark is what the cache has to show.
type mark struct {
	resourceVersion string    // of the answer, or a later one
	gone            types.UID // the object with this UID gone, or going; any if it is "*"
	unheard         bool      // there was no answer, or one that shows that the cache is behind: nobody knows
	since           time.Time
}

// patience is how long the cache may take before the API server is asked what has become of a write.
const patience = 10 * time.Second

// wrote notes the answer to a write. Object is what the API server returned.
func (w written) wrote(cluster string, object metav1.Object, err error, now time.Time) {
	if m := w[cluster]; m.wrote(object, err, now) {
		w[cluster] = m
	}
}

// wrote notes the answer to a write, and says whether anything may have been written.
func (m *mark) wrote(object metav1.Object, err error, now time.Time) bool {
	switch {
	case err == nil:
		*m = mark{resourceVersion: object.GetResourceVersion(), since: now}
	case !refused(err):
		*m = mark{unheard: true, since: now}
	default:
		return false
	}
	return true
}

// deleted notes the answer to a delete of an object with that UID.
func (w written) deleted(cluster string, uid types.UID, err error, now time.Time) {
	switch {
	case err == nil || apierrors.IsNotFound(err):
		w[cluster] = mark{gone: uid, since: now}
	case !refused(err):
		w[cluster] = mark{unheard: true, since: now}
	}
}

// missing says when to look again if the cache does not show all writes yet; 0 if it does. Name is the name of all
// replicas.
func (w written) missing(ctx context.Context, name string, replica func(cluster string) *policy, live dynamic.NamespaceableResourceInterface, now time.Time) (time.Duration, error) {
	for cluster, m := range w {
		if m.unheard || now.Sub(m.since) >= patience {
			var err error
			if m, err = ask(ctx, live.Namespace(cluster), name, now); err != nil {
				return 0, err
			}
			w[cluster] = m
		}
		if m.shown(replica(cluster)) {
			delete(w, cluster)
		}
	}
	if len(w) > 0 {
		return patience, nil
	}
	return 0, nil
}

// ask asks the API server itself how a replicated policy stands.
func ask(ctx context.Context, live dynamic.ResourceInterface, name string, now time.Time) (mark, error) {
	switch object, err := live.Get(ctx, name, metav1.GetOptions{}); {
	case err == nil:
		return mark{resourceVersion: object.GetResourceVersion(), since: now}, nil
	case apierrors.IsNotFound(err):
		return mark{gone: "*", since: now}, nil
	default:
		return mark{}, err
	}
}

// shown says whether the cache has come as far, given the replica that it has.
func (m mark) shown(replica *policy) bool {
	switch {
	case m.gone != "":
		return replica == nil || replica.DeletionTimestamp != nil || m.gone != "*" && replica.UID != m.gone
	case replica == nil:
		return false
	default:
		return !older(replica.ResourceVersion, m.resourceVersion)
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
