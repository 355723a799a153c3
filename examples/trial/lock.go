// SPDX-License-Identifier: Apache-2.0

package trial

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
)

// Times of the leader's lease. They are shorter than on a real hub, so that a rollout sees several leaders.
const (
	LeaseDuration = 2500 * time.Millisecond
	RenewDeadline = 1500 * time.Millisecond
	RetryPeriod   = 250 * time.Millisecond
)

// lease is what replicas contend for. The API server has none.
type lease struct {
	mu      sync.Mutex
	record  *resourcelock.LeaderElectionRecord
	version int
}

// lock is a replica's way to a lease. It can be cut.
type lock struct {
	lease    *lease
	identity string
	seen     int         // version of the lease
	cut      atomic.Bool // from the lease
	asked    atomic.Bool // the process that runs has asked for the lease
}

var leases = schema.GroupResource{Group: "coordination.k8s.io", Resource: "leases"}

func (l *lock) reach() error {
	if l.cut.Load() {
		return errors.New("injected: no way to the lease")
	}
	return nil
}

func (l *lock) Get(context.Context) (*resourcelock.LeaderElectionRecord, []byte, error) {
	l.asked.Store(true)
	if err := l.reach(); err != nil {
		return nil, nil, err
	}
	l.lease.mu.Lock()
	defer l.lease.mu.Unlock()
	if l.lease.record == nil {
		return nil, nil, apierrors.NewNotFound(leases, "leader")
	}
	l.seen = l.lease.version
	record := *l.lease.record
	raw, err := json.Marshal(record)
	return &record, raw, err
}

func (l *lock) Create(_ context.Context, record resourcelock.LeaderElectionRecord) error {
	return l.put(record, 0, apierrors.NewAlreadyExists(leases, "leader"))
}

func (l *lock) Update(_ context.Context, record resourcelock.LeaderElectionRecord) error {
	return l.put(record, l.seen, apierrors.NewConflict(leases, "leader", nil))
}

func (l *lock) put(record resourcelock.LeaderElectionRecord, version int, otherwise error) error {
	if err := l.reach(); err != nil {
		return err
	}
	l.lease.mu.Lock()
	defer l.lease.mu.Unlock()
	if l.lease.version != version {
		return otherwise
	}
	l.lease.record, l.lease.version = &record, version+1
	l.seen = l.lease.version
	return nil
}

func (l *lock) RecordEvent(string) {}
func (l *lock) Identity() string   { return l.identity }
func (l *lock) Describe() string   { return "leader" }

// leads says whether the lease is this one's.
func (l *lock) leads() bool {
	l.lease.mu.Lock()
	defer l.lease.mu.Unlock()
	return l.lease.record != nil && l.lease.record.HolderIdentity == l.identity
}
