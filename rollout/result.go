package rollout

import (
	"fmt"
	"iter"
	"time"

	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/status"
)

// Cluster is a selected cluster in a [Result].
type Cluster struct {
	// Name is that of the ManagedCluster.
	Name string `json:"name"`
	// Group is the decision group that it is in.
	Group grouping.Key `json:"group"`
	// Status is the reported one but for what time has changed (R4); ToApply where none was reported. An
	// unknown status is Progressing, and Succeeded among those in flight means soaking.
	Status status.RolloutStatus `json:"status"`
}

// Result is what may happen now (R19 to R21). Every selected cluster is in exactly one of InFlight, Start
// and TimedOut, or is settled or held, which Settled and Held list. The slices are the caller's; the
// methods are safe for concurrent use. Its JSON is for people and their tools: it has durations as "5m0s"
// and can't be read back.
type Result struct {
	// InFlight are the clusters that have the workload and may yet change by themselves: Progressing, Failed
	// or soaking (R3). Changes to the workload must reach them. In the order of their names.
	InFlight []Cluster `json:"inFlight,omitempty"`
	// Start are the waiting clusters to give the workload to now, in the order of R8.
	Start []Cluster `json:"start,omitempty"`
	// TimedOut are the clusters whose progress deadline has passed and that were not reported TimeOut (R4). In the order
	// of their names.
	TimedOut []Cluster `json:"timedOut,omitempty"`
	// Removed are the names of the clusters that were reported and are not selected (R7), in order.
	Removed []string `json:"removed,omitempty"`

	// Breach says which budget more clusters failed than it allows, so that nothing starts; nil if none.
	Breach *Reason `json:"breach,omitempty"`
	// Warnings name the parts of the strategy that have no effect.
	Warnings []Warning `json:"warnings,omitempty"`
	// RecheckAfter is the time after which something changes by time alone: the end of a deadline or a
	// soak, or the opening of a gate. 0 if nothing does. Fit for RequeueAfter.
	RecheckAfter time.Duration `json:"recheckAfter,omitempty"`
	// Schedule is the strategy that took effect.
	Schedule Schedule `json:"schedule"`

	// The fields above are the caller's to change, so that no method but String looks at them.
	schedule *schedule // nil where no Plan made the result
	choice   choice
	removed  int
	states   []state // of each position
	tallies  []tally // of each group
	started  []int32 // of each group: how many of its clusters are in Start; nil if none is
}

// Disposition is what a result says of a selected cluster.
type Disposition string

const (
	// InFlight: in Result.InFlight.
	InFlight Disposition = "InFlight"
	// Starting: in Result.Start.
	Starting Disposition = "Starting"
	// TimedOut: in Result.TimedOut.
	TimedOut Disposition = "TimedOut"
	// Settled: succeeded and soaked, skipped, or reported TimeOut (R6).
	Settled Disposition = "Settled"
	// Held: waiting, for the reason that Result.Held and Result.Find give.
	Held Disposition = "Held"
)

// Find says where the named cluster is, with the reason if it is held; false if it is not selected. It
// takes constant time.
func (r *Result) Find(cluster string) (Disposition, Reason, bool) {
	if r.schedule == nil {
		return "", Reason{}, false
	}
	position, ok := r.schedule.groups.Position(cluster)
	if !ok {
		return "", Reason{}, false
	}
	d := r.states[position].disposition()
	if d != Held {
		return d, Reason{}, true
	}
	return Held, r.schedule.reason(&r.choice, r.schedule.groups.GroupAt(position)), true
}

// Held yields the waiting clusters that do not start, in the order of their names, each with the reason.
func (r *Result) Held() iter.Seq2[Cluster, Reason] {
	return func(yield func(Cluster, Reason) bool) {
		for position, s := range r.states {
			if s.disposition() != Held {
				continue
			}
			if !yield(r.cluster(position), r.schedule.reason(&r.choice, r.schedule.groups.GroupAt(position))) {
				return
			}
		}
	}
}

// Settled yields the clusters that need nothing more, in the order of their names.
func (r *Result) Settled() iter.Seq[Cluster] {
	return func(yield func(Cluster) bool) {
		for position, s := range r.states {
			if s.disposition() == Settled && !yield(r.cluster(position)) {
				return
			}
		}
	}
}

// Waiting is a reason with the number of clusters that it holds.
type Waiting struct {
	Reason   Reason `json:"reason"`
	Clusters int    `json:"clusters"`
}

// String is `3 held: waiting for group 1 "canary"`.
func (w Waiting) String() string { return fmt.Sprintf("%d held: %v", w.Clusters, w.Reason) }

// Waiting gives the reasons of all held clusters, in the order of the groups that they hold. It takes time
// linear in the groups.
func (r *Result) Waiting() []Waiting {
	var all []Waiting
	at := make(map[Reason]int)
	for group := range r.tallies {
		n := r.held(group)
		if n == 0 {
			continue
		}
		reason := r.schedule.reason(&r.choice, group)
		i, known := at[reason]
		if !known {
			i = len(all)
			at[reason] = i
			all = append(all, Waiting{Reason: reason})
		}
		all[i].Clusters += n
	}
	return all
}

// Summary counts the clusters, in total and per group, and gives the reasons of Waiting in words. It takes time linear in the groups.
func (r *Result) Summary() status.Summary {
	s := status.Summary{
		Groups:  make([]status.GroupCounts, len(r.tallies)),
		Removed: r.removed,
	}
	if r.choice.breach != nil {
		s.Breach = r.choice.breach.String()
	}
	for group := range r.tallies {
		counts := r.tallies[group].counts(r.held(group))
		s.Groups[group] = status.GroupCounts{Group: r.schedule.groups.Key(group), Counts: counts}
		s.Counts = s.Counts.Add(counts)
	}
	for _, w := range r.Waiting() {
		s.Waiting = append(s.Waiting, w.Reason.String())
	}
	return s
}

// held is the number of a group's waiting clusters that do not start.
func (r *Result) held(group int) int {
	n := r.tallies[group].waiting()
	if r.started != nil {
		n -= int(r.started[group])
	}
	return n
}

func (r *Result) cluster(position int) Cluster {
	return r.schedule.cluster(position, r.states[position])
}

func (s state) disposition() Disposition {
	switch {
	case s&starting != 0:
		return Starting
	case s.waiting():
		return Held
	case s.inFlight():
		return InFlight
	case s == timedOutNow:
		return TimedOut
	default:
		return Settled
	}
}
