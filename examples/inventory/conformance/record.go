// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
	watchtools "k8s.io/client-go/tools/watch"
	sig "sigs.k8s.io/cluster-inventory-api/apis/v1alpha1"
	sigclient "sigs.k8s.io/cluster-inventory-api/client/clientset/versioned/typed/apis/v1alpha1"

	"github.com/cohort-ocm/cohort/examples/inventory/conformance/requirements"
)

// recorder records the slices of a namespace, one event after the other.
type recorder struct {
	mu      sync.Mutex
	history []requirements.Event
	last    time.Time // of the last event
	err     error
}

// record lists what is stored, and then watches until the context ends.
func record(ctx context.Context, client sigclient.PlacementDecisionInterface, selector string) (*recorder, error) {
	list, err := client.List(ctx, metav1.ListOptions{LabelSelector: selector})
	if err != nil {
		return nil, err
	}
	r := &recorder{last: time.Now()}
	for i := range list.Items {
		r.take(watch.Added, &list.Items[i])
	}
	w, err := watchtools.NewRetryWatcherWithContext(ctx, list.ResourceVersion, &cache.ListWatch{
		WatchFuncWithContext: func(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
			options.LabelSelector = selector
			return client.Watch(ctx, options)
		},
	})
	if err != nil {
		return nil, err
	}
	go func() {
		defer w.Stop()
		for event := range w.ResultChan() {
			r.take(event.Type, event.Object)
		}
	}()
	return r, nil
}

func (r *recorder) take(kind watch.EventType, object any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.last = time.Now()
	switch o := object.(type) {
	case *sig.PlacementDecision:
		switch {
		case o.Name == stranger:
			r.history = append(r.history, requirements.Event{Stranger: o.Name})
		case kind == watch.Deleted:
			r.history = append(r.history, requirements.Event{Gone: o.Name})
		default:
			r.history = append(r.history, requirements.Event{Slice: o})
		}
	case *metav1.Status:
		r.err = fmt.Errorf("the watch broke, so events may be missing: %w", apierrors.FromObject(o))
	}
}

// mark records an event other than a slice's.
func (r *recorder) mark(event requirements.Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.history = append(r.history, event)
}

func (r *recorder) recorded() ([]requirements.Event, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.history), r.err
}

// quiet is the time since the last event.
func (r *recorder) quiet() time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	return time.Since(r.last)
}
