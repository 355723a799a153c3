package rollout

import (
	"fmt"
	"time"

	"github.com/cohort-ocm/cohort/grouping"
)

// RemedyType is the kind of a [Remedy].
type RemedyType string

const (
	// RemedyWait says that time alone ends the wait.
	RemedyWait RemedyType = "Wait"
	// RemedyAnswer says that the clusters that are waited for have to succeed; nobody else has to do anything.
	RemedyAnswer RemedyType = "Answer"
	// RemedyResume says that whoever paused the rollout can go on with it.
	RemedyResume RemedyType = "Resume"
	// RemedyOpenGate says that someone can open the gate.
	RemedyOpenGate RemedyType = "OpenGate"
	// RemedyMend says that failed clusters have to be mended.
	RemedyMend RemedyType = "Mend"
	// RemedyRaiseMaxFailures says that someone can raise maxFailures.
	RemedyRaiseMaxFailures RemedyType = "RaiseMaxFailures"
	// RemedySetProgressDeadline says that someone can set a progressDeadline, after which clusters count as timed out.
	RemedySetProgressDeadline RemedyType = "SetProgressDeadline"
	// RemedyCompleteGroups says that the PlacementDecisions have to be written, or a cache has to be filled.
	RemedyCompleteGroups RemedyType = "CompleteGroups"
)

// Remedy is a way in which a wait ends. Remedies are comparable; fields that the type does not name are zero.
type Remedy struct {
	Type RemedyType `json:"type"`
	// At says when (RemedyWait).
	At time.Time `json:"at,omitzero"`
	// Group is the group with the gate (RemedyOpenGate).
	Group grouping.Key `json:"group,omitzero"`
	// Gate is the gate's name, if it has one (RemedyOpenGate).
	Gate string `json:"gate,omitempty"`
	// Count is how many of the clusters it takes, Of is how many there are (RemedyAnswer, RemedyMend). Count is also what to
	// set (RemedyRaiseMaxFailures).
	Count int `json:"count,omitempty"`
	Of    int `json:"of,omitempty"`
	// Clusters names the first of them: "a, b, c and 2 more" (RemedyAnswer, RemedyMend).
	Clusters string `json:"clusters,omitempty"`
}

// String says what to do: `mend 1 of a, b`, or `mend a` where it takes all of them.
func (r Remedy) String() string {
	switch r.Type {
	case RemedyWait:
		return "wait until " + inUTC(r.At)
	case RemedyAnswer:
		return "wait for " + r.some() + " to succeed"
	case RemedyResume:
		return "resume the rollout"
	case RemedyOpenGate:
		return fmt.Sprintf("open the %s before %v", Gate{Name: r.Gate}, r.Group)
	case RemedyMend:
		return "mend " + r.some()
	case RemedyRaiseMaxFailures:
		return fmt.Sprintf("raise maxFailures to %d", r.Count)
	case RemedySetProgressDeadline:
		return "set a progressDeadline"
	case RemedyCompleteGroups:
		return "wait until the PlacementDecisions are written"
	default:
		return string(r.Type)
	}
}

// some names the clusters, and says how many it takes unless it takes all.
func (r Remedy) some() string {
	if r.Count == r.Of {
		return r.Clusters
	}
	return fmt.Sprintf("%d of %s", r.Count, r.Clusters)
}

// remedies says how the breach ends.
func (b *Breach) remedies() []Remedy {
	ways := []Remedy{{Type: RemedyMend, Count: b.Failures - b.MaxFailures, Of: b.Failures, Clusters: listed(b.Clusters, b.Failures)}}
	if !b.Mandatory { // which tolerates none, whatever the strategy says
		ways = append(ways, Remedy{Type: RemedyRaiseMaxFailures, Count: b.Failures})
	}
	return ways
}

// slotRemedies says how a slot of an active stage comes free.
func (r *Result) slotRemedies(f *front) (ways []Remedy) {
	excess := f.excess
	if !f.frees.IsZero() {
		ways = append(ways, Remedy{Type: RemedyWait, At: f.frees})
	}
	ways = append(ways, Remedy{Type: RemedyAnswer, Count: f.needed, Of: f.first.n, Clusters: f.first.names()})
	if r.schedule.options.freeFailed {
		return ways
	}
	if c := &f.crowds[failed]; c.n >= f.needed {
		ways = append(ways, Remedy{Type: RemedyMend, Count: f.needed, Of: c.n, Clusters: listed(c.names, c.n)})
	}
	return append(ways, r.deadlineRemedy(f, excess, f.crowds[failed].n)...)
}

// groupRemedies says how an active stage becomes complete.
func (r *Result) groupRemedies(f *front) (ways []Remedy) {
	if n := len(f.last.blockers); n > 0 && f.starting == 0 && !f.last.blockers[0].Until.IsZero() {
		ways = append(ways, Remedy{Type: RemedyWait, At: f.last.blockers[0].Until})
	}
	ways = append(ways, Remedy{Type: RemedyAnswer, Count: f.last.n, Of: f.last.n, Clusters: f.last.names()})
	return append(ways, r.deadlineRemedy(f, f.last.n, 0)...)
}

// deadlineRemedy proposes a deadline, where there is none and one would end the wait for n clusters. The failed clusters
// are those whose slots are waited for, as they keep them until the deadline.
func (r *Result) deadlineRemedy(f *front, n, failed int) []Remedy {
	endless := f.crowds[silent].n + f.crowds[progressing].n + failed
	if r.schedule.rules.deadline != nil || f.unknown > 0 || f.earlier > 0 || endless == 0 || endless < n {
		return nil
	}
	return []Remedy{{Type: RemedySetProgressDeadline}}
}

// names joins the names of the first few, and counts the others.
func (f *few) names() string {
	names := make([]string, len(f.blockers))
	for i := range f.blockers {
		names[i] = f.blockers[i].Name
	}
	return listed(names, f.n)
}
