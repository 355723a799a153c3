package hubs

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
)

// Subject is an engine that is put on trial: what runs on a hub, and what runs on the hub of hubs. Each is one process, from its start
// until the context ends, and returns soon after. Another one follows. Processes of many rollouts run at a time.
type Subject struct {
	Hub       func(context.Context, *Process) error
	HubOfHubs func(context.Context, *Process) error
	// Annotation is the one of a set that has the names of the hubs, with commas between them.
	Annotation string
}

// Process is one process.
type Process struct {
	// Config is for the API server of its own hub, and HubOfHubs for the one of the hub of hubs, which may be cut off.
	Config, HubOfHubs *rest.Config
	// Set is the one that is rolled out. It is on each hub, and on the hub of hubs. There are sets of other rollouts beside it, in other
	// namespaces.
	Set types.NamespacedName
	// Hub is the hub's name, and that of its namespace on the hub of hubs.
	Hub string
	// Now is the clock of the process, which differs from others by up to ClockError.
	Now func() time.Time
	// Ignored is the duty that is to be ignored, if any.
	Ignored Duty
}

// The times that a subject may count on.
const (
	Lease        = 6 * time.Second
	ClockError   = 200 * time.Millisecond
	SlowestWrite = 2 * time.Second
	Every        = 200 * time.Millisecond
)

// Duty is one of an engine.
type Duty string

// DutyAccount is the one that an observer from outside finds within some rollouts. The search of rollout/rights leaves out the others.
const DutyAccount Duty = "start nothing without rights"
