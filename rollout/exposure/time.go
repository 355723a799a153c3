// SPDX-License-Identifier: Apache-2.0

package exposure

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/rollout/internal/stages"
)

// Span is how long something takes at least and at most.
type Span struct {
	Shortest time.Duration
	// Longest is math.MaxInt64, the longest Duration, where it is unknown.
	Longest time.Duration
}

// unknownEnd is an unknown length of time. Sums stop at it.
const unknownEnd time.Duration = math.MaxInt64

// String is `10m0s to 30m0s`, `10m0s` where both are the same, or `10m0s or more`.
func (span Span) String() string {
	switch {
	case span.Shortest == unknownEnd:
		return "more than 292 years"
	case span.Longest == span.Shortest:
		return span.Shortest.String()
	case span.Longest == unknownEnd:
		return span.Shortest.String() + " or more"
	default:
		return fmt.Sprintf("%v to %v", span.Shortest, span.Longest)
	}
}

// MarshalJSON writes durations as the Kubernetes API does, and leaves out an unknown one.
func (span Span) MarshalJSON() ([]byte, error) {
	out := struct {
		Shortest metav1.Duration  `json:"shortest"`
		Longest  *metav1.Duration `json:"longest,omitempty"`
	}{Shortest: metav1.Duration{Duration: span.Shortest}}
	if span.Longest != unknownEnd {
		out.Longest = &metav1.Duration{Duration: span.Longest}
	}
	return json.Marshal(out)
}

// errs gives what is wrong with the time that a cluster takes.
func (span Span) errs() (errs field.ErrorList) {
	path := field.NewPath("life")
	if span.Shortest < 0 {
		errs = append(errs, field.Invalid(path.Child("shortest"), span.Shortest.String(), "must not be negative"))
	}
	if span.Longest < span.Shortest {
		errs = append(errs, field.Invalid(path.Child("longest"), span.Longest.String(), "must be at least shortest, "+span.Shortest.String()))
	}
	return errs
}

// finish computes how long it takes until each stage is complete (R41).
func (p *prospect) finish(life Span, now time.Time) []Span {
	shortest := p.ends(plus(life.Shortest, p.MinSuccessTime), now, 0)
	longest := p.ends(plus(life.Longest, p.MinSuccessTime), now, unknownEnd)
	all := make([]Span, len(p.Stages))
	for i := range all {
		all[i] = Span{shortest[i].end, longest[i].end}
	}
	return all
}

// opening says how long a gate blocks the clusters behind it.
type opening struct {
	until    time.Duration
	stage    int // of the group
	clusters int // of the group
	barrier  bool
}

// openings gives the gates that are closed at the time now, in the order of their stages, and within a stage in the order in
// which they open. A gate that opens at an unknown time opens after the time unknown.
func (p *prospect) openings(now time.Time, unknown time.Duration) []opening {
	var openings []opening
	for at, gate := range p.closedGates(now) {
		group := int(at)
		opening := opening{until: unknown, stage: p.stageOf[group], clusters: p.groups.Size(group) - p.ignoredIn(group)}
		if opening.barrier = p.isOneGroup(opening.stage); !gate.Opens.IsZero() {
			opening.until = gate.UntilOpen(now)
		}
		openings = append(openings, opening)
	}
	slices.SortFunc(openings, func(a, b opening) int { return cmp.Or(cmp.Compare(a.stage, b.stage), cmp.Compare(a.until, b.until)) })
	return openings
}

// milestones are times, counted from the beginning, that a stage passes on to the stages after it.
type milestones struct {
	end     time.Duration // when all clusters of it, and of all that it comes after, are done
	barrier time.Duration // when all gates before it, and before all that it comes after, are open
	wait    time.Duration // when the wait is over after the last success of it, and of all that it comes after (R34)
	// The least number of clusters that have started by the end of this stage: its own, and those on the path of stages to it that
	// has the most.
	started int
}

// ends gives for each stage how long it takes until it is complete, where takes is how long each cluster takes until it
// has soaked. A pause, the wait for groups to be completed, and all else of unknown length end after the time unknown.
func (p *prospect) ends(takes time.Duration, now time.Time, unknown time.Duration) []milestones {
	var held time.Duration
	if p.options.Paused || p.groups.Incomplete() != "" {
		held = unknown
	}
	openings, pace, all := p.openings(now, unknown), p.newPaced(), make([]milestones, len(p.Stages))
	for i := range all {
		reached := milestones{barrier: held}
		for _, before := range stages.DirectlyBefore(p.After, i) {
			earlier := &all[before]
			reached = milestones{max(reached.end, earlier.end), max(reached.barrier, earlier.barrier), max(reached.wait, earlier.wait), max(reached.started, earlier.started)}
		}
		var own []opening
		for len(openings) > 0 && openings[0].stage == i {
			if own = append(own, openings[0]); own[0].barrier {
				reached.barrier, own = max(reached.barrier, openings[0].until), nil
			}
			openings = openings[1:]
		}
		if n := p.counted(i); n > 0 {
			reached.started += n
			begin := max(reached.end, reached.barrier, reached.wait)
			lastStart := max(plus(begin, p.startsTake(n)), p.startsTake(reached.started)) // at the earliest
			reached.end = p.endOf(i, from(begin, n, own), lastStart, pace, takes, unknown)
			reached.wait = max(reached.wait, plus(reached.end-p.MinSuccessTime, p.options.WaitBetweenGroups.Duration))
		}
		all[i] = reached
	}
	return all
}

// startsTake gives the least time from the first to the last start of n ≥ 1 clusters, by MaxStarts.
func (p *prospect) startsTake(n int) time.Duration {
	if starts := p.options.MaxStarts; starts != nil {
		return times((n-1)/starts.Count, starts.Per.Duration)
	}
	return 0
}

// from says when the n clusters of a stage that begins at a time may start, where some of them are behind gates.
func from(begin time.Duration, n int, gates []opening) []opening {
	of := append([]opening{{until: begin}}, gates...)
	for i := range of {
		of[i].until = max(of[i].until, begin)
		n -= of[i].clusters
	}
	of[0].clusters = n
	return of
}

// endOf says when a stage is complete.
func (p *prospect) endOf(stage int, of []opening, lastStart time.Duration, pace *paced, takes, unknown time.Duration) time.Duration {
	switch {
	case pace == nil:
		return endOf(of, p.slots(stage), takes)
	case p.After == nil:
		return pace.endOf(of, p.slots(stage), takes)
	default: // the order of the stages is ignored
		return max(unknown, endOf(of, p.slots(stage), takes), plus(lastStart, takes))
	}
}

// endOf says when a stage of n clusters with c slots is complete. The clusters take their slots in turn. The first c start
// at once, and each later one when the c-th before it ends. The last ends after ceil(n/c) times the time of one cluster. The same goes
// for the clusters behind a gate, from its opening on: they share the slots only with clusters behind gates that open later.
func endOf(of []opening, slots int, takes time.Duration) (end time.Duration) {
	n := 0
	for _, opening := range slices.Backward(of) {
		if n += opening.clusters; opening.clusters > 0 {
			end = max(end, plus(opening.until, times((n+slots-1)/slots, takes)))
		}
	}
	return end
}

// paced goes through a rollout with Ramp or MaxStarts.
type paced struct {
	ramp       int // 0: none
	startLimit *rollout.StartLimit
	begun      []time.Duration // when each cluster starts, stage after stage
}

// newPaced gives nil where neither option limits anything.
func (p *prospect) newPaced() *paced {
	if p.ramp == 0 && p.options.MaxStarts == nil {
		return nil
	}
	return &paced{p.ramp, p.options.MaxStarts, make([]time.Duration, 0, p.numCounted())}
}

// endOf says when a stage is complete after its predecessors are complete. Its j-th cluster starts as soon as three conditions are
// met. Fewer clusters before it are in flight than there are slots. Fewer are in flight than the ramp allows for those that are
// done. The n-th cluster before it started a whole span ago. Each condition is met the sooner, the sooner others start and end.
// The shortest time for each cluster therefore gives the shortest time in all, and the longest gives the longest.
func (pace *paced) endOf(of []opening, slots int, takes time.Duration) time.Duration {
	before, j := len(pace.begun), 0
	for _, opening := range of {
		for range opening.clusters {
			j++
			done := j - slots
			if pace.ramp > 0 {
				done = max(done, min(j-pace.ramp, (j-before+1)/2))
			}
			at := opening.until
			if done > 0 {
				at = max(at, plus(pace.begun[before+done-1], takes))
			}
			if n := len(pace.begun); pace.startLimit != nil && n >= pace.startLimit.Count {
				at = max(at, plus(pace.begun[n-pace.startLimit.Count], pace.startLimit.Per.Duration))
			}
			pace.begun = append(pace.begun, at)
		}
	}
	return plus(pace.begun[len(pace.begun)-1], takes)
}

// plus gives a + b for both ≥ 0, or unknownEnd where that is too long.
func plus(a, b time.Duration) time.Duration {
	if a+b < 0 { // which is too long for a Duration
		return unknownEnd
	}
	return a + b
}

// times gives n · each for both ≥ 0, or unknownEnd where that is too long.
func times(n int, each time.Duration) time.Duration {
	if n > 0 && each > unknownEnd/time.Duration(n) {
		return unknownEnd
	}
	return time.Duration(n) * each
}
