package fleet

import (
	"time"

	"github.com/cohort-ocm/cohort/rollout/internal/stages"
)

// Roster says which clusters count in a rollout, where, and how what is reported of them counts. It follows from the groups, the strategy
// and the options alone, and never changes once it is made.
type Roster struct {
	Members // with the deselected clusters that still count
	FormerMembers
	Exceptions
	Freezes  Freezes
	Graph    stages.Graph
	Phases   Phases
	Timeless Kinds // whose time is not needed
}

// StageOf gives the stage of the cluster at a position.
func (r *Roster) StageOf(position Position) stages.Stage { return r.Graph.Of(r.GroupOf(position)) }

// StateAt gives the state of the cluster at a position, by a report. A deselected cluster never waits for its turn.
func (r *Roster) StateAt(position Position, report Report, now time.Time) State {
	is := r.Phases.StateOf(&report, now)
	switch {
	case !is.IsWaiting():
		return is
	case r.IsDeselected(position):
		return Skipped
	case r.Freezes.Any():
		return r.Freezes.StateOf(position, is, now)
	default:
		return is
	}
}
