// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/types"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/cohort-ocm/cohort/examples/controllers/hubshares"
	"github.com/cohort-ocm/cohort/examples/trial/hubs"
	"github.com/cohort-ocm/cohort/rollout/shares"
)

// The controllers have no switches. A duty is left out from outside: by a clock, a client or a store.

// lackOnHub makes a hub leave out a duty.
func lackOnHub(ctx context.Context, c *controller, duty hubs.Duty) {
	switch h := c.shares; duty {
	case hubs.DutyAccount:
		c.shares = nil
	case hubs.DutyBegin:
		_ = c.begun.Do(func() error { return c.takeOver(ctx) })
	case hubs.DutyExpiry:
		now := h.Now
		h.Now = func() time.Time { return now().Add(-time.Hour) }
	case hubs.DutyInTime: // reads the clock when it plans, and not when it starts
		clock := &stopped{Reader: h.Sets, now: h.Now}
		h.Sets, h.Now = clock, clock.Now
	case hubs.DutyShown, hubs.DutyCount, hubs.DutyBurnt:
		l := &liar{Indexer: h.Store, duty: duty, meant: map[string]shares.Report{}}
		h.Client, h.Store = reporter{h.Client, l}, l
	}
}

// stopped is a clock that stands still until the next plan. A plan begins when the set is read.
type stopped struct {
	client.Reader
	now  func() time.Time
	last atomic.Pointer[time.Time]
}

func (s *stopped) Get(ctx context.Context, key client.ObjectKey, o client.Object, options ...client.GetOption) error {
	if now := s.now(); ctx.Done() == nil {
		s.last.Store(&now)
	}
	return s.Reader.Get(ctx, key, o, options...)
}

func (s *stopped) Now() time.Time {
	if last := s.last.Load(); last != nil {
		return *last
	}
	return s.now()
}

// liar shows a hub its share object with the report that it meant to write.
type liar struct {
	toolscache.Indexer
	duty  hubs.Duty
	mu    sync.Mutex
	meant map[string]shares.Report
}

func (l *liar) GetByKey(key string) (any, bool, error) {
	o, is, err := l.Indexer.GetByKey(key)
	if !is || err != nil {
		return o, is, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	a := *o.(*hubshares.Account)
	if meant, sent := l.meant[a.Name]; sent && (l.duty == hubs.DutyShown || meant.Number == a.Status.Number) {
		a.Status = meant
	}
	return &a, is, err
}

// reporter writes that a hub holds smaller shares than it needs.
type reporter struct {
	client.Client
	liar *liar
}

func (r reporter) Status() client.SubResourceWriter { return lying{r.Client.Status(), r.liar} }

type lying struct {
	client.SubResourceWriter
	liar *liar
}

func (l lying) Update(ctx context.Context, o client.Object, options ...client.SubResourceUpdateOption) error {
	a := o.(*hubshares.Account)
	l.liar.mu.Lock()
	l.liar.meant[a.Name] = a.Status
	l.liar.mu.Unlock()
	switch s := &a.Status; l.liar.duty {
	case hubs.DutyCount:
		s.Taken.Concurrency, s.InFlight = max(0, s.Taken.Concurrency-s.InFlight), 0
	case hubs.DutyBurnt:
		s.Taken.Concurrency, s.Taken.Failures = s.Taken.Concurrency-max(0, s.TimedOut-s.Taken.Failures), 0
		s.Failed, s.TimedOut = 0, 0
	}
	return l.SubResourceWriter.Update(ctx, a, options...)
}

// lackOnCoordinator makes the divider of the coordinator hub leave out a duty.
func lackOnCoordinator(d *hubshares.Divider, duty hubs.Duty) reconcile.Reconciler {
	switch duty {
	case hubs.DutyTaken, hubs.DutyFinalizer, hubs.DutyFence:
		d.Client = newForgetful(d.Client, duty)
	case hubs.DutySent: // a new divider has no memory, and begins without a write to each share object
		return reconcile.Func(func(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
			one := &hubshares.Divider{Client: newForgetful(d.Client, duty), Timing: d.Timing, Now: d.Now}
			return one.Reconcile(ctx, request)
		})
	}
	return d
}

// forgetful reads and writes something else than the divider means to.
type forgetful struct {
	client.Client
	duty   hubs.Duty
	mu     sync.Mutex
	listed map[types.NamespacedName]shares.Grant
	feigns map[types.NamespacedName]shares.Grant // grants that were not stored
}

func newForgetful(c client.Client, duty hubs.Duty) *forgetful {
	return &forgetful{
		Client: c, duty: duty, listed: map[types.NamespacedName]shares.Grant{}, feigns: map[types.NamespacedName]shares.Grant{},
	}
}

func (f *forgetful) List(ctx context.Context, list client.ObjectList, options ...client.ListOption) error {
	err := f.Client.List(ctx, list, options...)
	all, is := list.(*hubshares.AccountList)
	if !is {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for i := range all.Items {
		a := &all.Items[i]
		if f.duty == hubs.DutyTaken {
			a.Status.Taken.Concurrency = 0
		}
		key := client.ObjectKeyFromObject(a)
		if g := f.feigns[key]; g.Number > a.Spec.Grant.Number {
			feign(a, g)
		}
		f.listed[key] = a.Spec.Grant
	}
	return err
}

func (f *forgetful) Create(ctx context.Context, o client.Object, options ...client.CreateOption) error {
	if a, is := o.(*hubshares.Account); is && f.duty == hubs.DutyFinalizer {
		a.Finalizers = nil
	}
	return f.Client.Create(ctx, o, options...)
}

func (f *forgetful) Update(ctx context.Context, o client.Object, options ...client.UpdateOption) error {
	a, is := o.(*hubshares.Account)
	if !is || !slices.Contains([]hubs.Duty{hubs.DutyFence, hubs.DutySent}, f.duty) {
		return f.Client.Update(ctx, o, options...)
	}
	f.mu.Lock()
	key, now := client.ObjectKeyFromObject(a), a.Spec.Grant
	there := f.listed[key]
	again := there.Number > 0 && now.Number == there.Number+1 && now.Shares == there.Shares && now.Expires.Equal(&there.Expires) &&
		now.Stopped == there.Stopped
	if again {
		f.feigns[key], a.Spec.Grant = now, there
		feign(a, now)
	}
	f.mu.Unlock()
	if again {
		return nil
	}
	return f.Client.Update(ctx, o, options...)
}

// feign makes a share object show a grant that was not stored. If the hub has confirmed the stored one, it confirms the
// feigned one, too.
func feign(a *hubshares.Account, g shares.Grant) {
	if a.Status.Grant == a.Spec.Grant.Number {
		a.Status.Grant = g.Number
	}
	a.Spec.Grant = g
}
