// SPDX-License-Identifier: Apache-2.0

package fleet

import "time"

// Freeze keeps a cluster from starting (R59).
type Freeze struct {
	Cluster, Reason string
	Until           time.Time // zero where that is unknown
	Blocks          bool      // others wait for the cluster
}

// IsActive says whether the freeze lasts.
func (freeze *Freeze) IsActive(now time.Time) bool {
	return freeze.Until.IsZero() || now.Before(freeze.Until)
}

// Freezes has the members that are frozen: by a Freeze, or because an allowlist lacks them (R59, R60). The zero value is for a rollout in
// which none is.
type Freezes struct {
	byPosition map[Position]*Freeze // nil if none has a freeze
	notAllowed []bool               // of each position; nil without an allowlist
}

// NewFreezes finds the frozen clusters among the members. There is at most one freeze for a cluster. Without an allowlist, isAllowed is nil.
func NewFreezes(members Members, freezes []Freeze, isAllowed func(cluster string) bool) (compiled Freezes) {
	for i := range freezes {
		if position, is := members.Position(freezes[i].Cluster); is {
			if compiled.byPosition == nil {
				compiled.byPosition = make(map[Position]*Freeze, len(freezes))
			}
			compiled.byPosition[position] = &freezes[i]
		}
	}
	if isAllowed != nil {
		compiled.notAllowed = make([]bool, members.NumClusters())
		for position := range compiled.notAllowed {
			compiled.notAllowed[position] = !isAllowed(members.Cluster(Position(position)))
		}
	}
	return compiled
}

// Any says whether a cluster may be frozen.
func (freezes *Freezes) Any() bool { return freezes.byPosition != nil || freezes.notAllowed != nil }

// At gives the freeze of a position that lasts; nil if there is none.
func (freezes *Freezes) At(position Position, now time.Time) *Freeze {
	if freeze := freezes.byPosition[position]; freeze != nil && freeze.IsActive(now) {
		return freeze
	}
	return nil
}

// StateOf gives the state of a cluster that waits, with regard to its freezes.
func (freezes *Freezes) StateOf(position Position, waits State, now time.Time) State {
	switch freeze := freezes.At(position, now); {
	case freeze != nil:
		return waits.Frozen(freeze.Blocks)
	case at(freezes.notAllowed, position):
		return waits.Frozen(false)
	default:
		return waits
	}
}

// End says when the freeze of a position ends; zero if it has none or time alone does not end it.
func (freezes *Freezes) End(position Position) time.Time {
	if freeze := freezes.byPosition[position]; freeze != nil {
		return freeze.Until
	}
	return time.Time{}
}

// UntilUnfrozen gives the time from now until the freeze of a position ends; 0 if time alone does not end it.
func (freezes *Freezes) UntilUnfrozen(position Position, now time.Time) time.Duration {
	until := freezes.End(position)
	if until.IsZero() || !now.Before(until) {
		return 0
	}
	return until.Sub(now)
}
