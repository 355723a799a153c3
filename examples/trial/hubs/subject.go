// SPDX-License-Identifier: Apache-2.0

package hubs

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
)

// Subject is an engine that is put on trial: what runs on a hub, and what runs on the coordinator hub. Each is one process, from its start
// until the context ends, and returns soon after. Another one follows.
type Subject struct {
	Hub         func(context.Context, *Process) error
	Coordinator func(context.Context, *Process) error
	// Abort is the annotation of a set by which a person asks that its version is taken back. It has the set's generation.
	Abort string
	// Annotation is the one of a set that has the names of the hubs, with commas between them.
	Annotation string
}

// Process is one process.
type Process struct {
	// Config is for the API server of its own hub, and Coordinator for the one of the coordinator hub, which may be cut off.
	Config, Coordinator *rest.Config
	// Set is the one that is rolled out. It is on each hub, and on the coordinator hub. There are sets of other rollouts beside it, in other
	// namespaces.
	Set types.NamespacedName
	// Hub is the hub's name, and that of its namespace on the coordinator hub.
	Hub string
	// Now is the clock of the process, which differs from others by up to ClockError.
	Now func() time.Time
	// Revisions says that it keeps revisions, and takes them back.
	Revisions bool
	// Ignored is the duty that is to be left out, if any.
	Ignored Duty
}

// The times that a subject may count on.
const (
	Lease        = 6 * time.Second
	ClockError   = 200 * time.Millisecond
	SlowestWrite = 2 * time.Second
	Every        = 200 * time.Millisecond
)

// Duty is one of an engine. Without it the limits over all hubs do not hold.
type Duty string

const (
	// On a hub.
	DutyAccount Duty = "start nothing without shares"
	DutyShown   Duty = "start nothing by a report that the account does not show"
	DutyExpiry  Duty = "start nothing once the shares have expired"
	DutyInTime  Duty = "start nothing by an old plan"
	DutyBegin   Duty = "wait for the writes of the process before"
	DutyCount   Duty = "keep the shares of clusters in flight"
	DutyBurnt   Duty = "keep the shares of failures"
	// On the coordinator hub.
	DutyTaken     Duty = "count what is taken"
	DutySent      Duty = "remember what was sent"
	DutyFence     Duty = "begin with a write to each account"
	DutyFinalizer Duty = "keep an account that holds shares"
)

// Duties are all that an observer of the limits can find.
func Duties() []Duty {
	return []Duty{
		DutyAccount, DutyShown, DutyExpiry, DutyInTime, DutyBegin, DutyCount, DutyBurnt, DutyTaken, DutySent, DutyFence, DutyFinalizer,
	}
}
