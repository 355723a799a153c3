// SPDX-License-Identifier: Apache-2.0

package apiserver_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	"github.com/cohort-ocm/cohort/decisionupdate"
)

// faults is a client through which a writer meets what writers meet: another client's writes, refusals, answers
// that are lost, slow requests, and its own end.
type faults struct {
	decisionupdate.Client
	counts *counts

	mu    sync.Mutex
	rng   *rand.Rand
	left  int // requests until the writer crashes; negative is never
	often int // one request in so many meets each kind of fault; 0 is never
}

// counts are of all writers together.
type counts struct {
	requests, conflicts, refused, lost, slow, crashes atomic.Int64
}

func (c *counts) String() string {
	return fmt.Sprintf("%d requests; injected: %d conflicts, %d refusals, %d lost answers, %d slow writes, %d crashes",
		c.requests.Load(), c.conflicts.Load(), c.refused.Load(), c.lost.Load(), c.slow.Load(), c.crashes.Load())
}

var errCrashed = errors.New("the writer has crashed")

// crashed reports whether the writer is dead. Requests that it has under way when it dies are carried out.
func (f *faults) crashed() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.left > 0 {
		f.left--
		if f.left == 0 {
			f.counts.crashes.Add(1)
		}
		return false
	}
	return f.left == 0
}

func (f *faults) roll() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.often > 0 && f.rng.IntN(f.often) == 0
}

// meet makes one request and perhaps a fault of each kind.
func (f *faults) meet(ctx context.Context, name string, request func() error) error {
	if f.crashed() {
		return errCrashed
	}
	f.counts.requests.Add(1)
	if f.roll() && f.touch(ctx, name) == nil {
		f.counts.conflicts.Add(1)
	}
	if f.roll() {
		f.counts.slow.Add(1)
		time.Sleep(3 * time.Millisecond)
	}
	if f.roll() {
		f.counts.refused.Add(1)
		return apierrors.NewInternalError(errors.New("injected: refused"))
	}
	err := request()
	if err == nil && f.roll() {
		f.counts.lost.Add(1)
		return apierrors.NewTimeoutError("injected: it was done, but the answer was lost", 0)
	}
	return err
}

// touch annotates an object as another client would, so that the writer's version of it is old.
func (f *faults) touch(ctx context.Context, name string) error {
	o, err := f.Client.Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return err
	}
	o.Annotations = map[string]string{"touched": o.ResourceVersion}
	_, err = f.Client.Update(ctx, o, metav1.UpdateOptions{})
	return err
}

type decision = clusterv1beta1.PlacementDecision

func (f *faults) Create(ctx context.Context, pd *decision, opts metav1.CreateOptions) (stored *decision, err error) {
	err = f.meet(ctx, pd.Name, func() error { stored, err = f.Client.Create(ctx, pd, opts); return err })
	return stored, err
}

func (f *faults) Update(ctx context.Context, pd *decision, opts metav1.UpdateOptions) (stored *decision, err error) {
	err = f.meet(ctx, pd.Name, func() error { stored, err = f.Client.Update(ctx, pd, opts); return err })
	return stored, err
}

func (f *faults) UpdateStatus(ctx context.Context, pd *decision, opts metav1.UpdateOptions) (stored *decision, err error) {
	err = f.meet(ctx, pd.Name, func() error { stored, err = f.Client.UpdateStatus(ctx, pd, opts); return err })
	return stored, err
}

func (f *faults) Delete(ctx context.Context, name string, opts metav1.DeleteOptions) error {
	return f.meet(ctx, name, func() error { return f.Client.Delete(ctx, name, opts) })
}
