package rollout

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Span is how long something takes at least and at most.
type Span struct {
	Shortest time.Duration
	// Longest is the longest Duration, math.MaxInt64, where nobody knows how long it takes.
	Longest time.Duration
}

// unknownEnd is how long something takes of which nobody knows. Sums stop at it.
const unknownEnd time.Duration = math.MaxInt64

// String is `10m0s to 30m0s`, `10m0s` where both are the same, or `10m0s or more`.
func (s Span) String() string {
	switch {
	case s.Longest == s.Shortest:
		return s.Shortest.String()
	case s.Longest == unknownEnd:
		return s.Shortest.String() + " or more"
	default:
		return fmt.Sprintf("%v to %v", s.Shortest, s.Longest)
	}
}

// MarshalJSON writes durations as the Kubernetes API does, and leaves out one that nobody knows.
func (s Span) MarshalJSON() ([]byte, error) {
	out := struct {
		Shortest metav1.Duration  `json:"shortest"`
		Longest  *metav1.Duration `json:"longest,omitempty"`
	}{Shortest: metav1.Duration{Duration: s.Shortest}}
	if s.Longest != unknownEnd {
		out.Longest = &metav1.Duration{Duration: s.Longest}
	}
	return json.Marshal(out)
}

// errs says what is wrong with the time that a cluster takes.
func (s Span) errs() (errs field.ErrorList) {
	path := field.NewPath("life")
	if s.Shortest < 0 {
		errs = append(errs, field.Invalid(path.Child("shortest"), s.Shortest.String(), "must not be negative"))
	}
	if s.Longest < s.Shortest {
		errs = append(errs, field.Invalid(path.Child("longest"), s.Longest.String(), "must be at least shortest, "+s.Shortest.String()))
	}
	return errs
}

// finish works out how long it takes until each stage is complete (R41).
func (s *schedule) finish(life Span, now time.Time) []Span {
	shortest := s.ends(plus(life.Shortest, s.MinSuccessTime), now, 0)
	longest := s.ends(plus(life.Longest, s.MinSuccessTime), now, unknownEnd)
	all := make([]Span, len(s.Stages))
	for i := range all {
		all[i] = Span{shortest[i], longest[i]}
	}
	return all
}

// wait is how long from the beginning a group is held.
type wait struct {
	until    time.Duration
	stage    int // of the group
	clusters int // of the group
	barrier  bool
}

// waits gives the gates that are closed at the time now, in the order of their stages, and of a stage those that open last
// first. Those of which nobody knows when they open do so after the time unknown.
func (s *schedule) waits(now time.Time, unknown time.Duration) []wait {
	var waits []wait
	for group, gate := range s.closedGates(now) {
		w := wait{until: unknown, stage: int(s.stageOf[group]), clusters: s.groups.Size(group)}
		if w.barrier = s.isOneGroup(w.stage); !gate.Opens.IsZero() {
			w.until = gate.Opens.Sub(now)
		}
		waits = append(waits, w)
	}
	slices.SortFunc(waits, func(a, b wait) int { return cmp.Or(cmp.Compare(a.stage, b.stage), cmp.Compare(b.until, a.until)) })
	return waits
}

// ends gives for each stage how long it takes until it is complete, where each cluster takes so long until it has soaked.
// A pause, and the wait for groups to be completed, ends after the time unknown.
//
// The n clusters of a stage with c slots take their slots in their turn. The first c start at once, and each later one
// when the c-th before it ends: so the last ends after ceil(n/c) clusters one after the other. The same holds for those
// behind a gate from its opening on, with all slots to themselves and those behind gates that open later.
func (s *schedule) ends(takes time.Duration, now time.Time, unknown time.Duration) []time.Duration {
	var held time.Duration
	if s.options.paused || s.missing != "" {
		held = unknown
	}
	waits := s.waits(now, unknown)
	ends, barriers := make([]time.Duration, len(s.Stages)), make([]time.Duration, len(s.Stages))
	for i := range s.Stages {
		stage := &s.Stages[i]
		begin := time.Duration(0)
		barriers[i] = held
		for _, before := range s.before(i) {
			begin, barriers[i] = max(begin, ends[before]), max(barriers[i], barriers[before])
		}
		behind, end := 0, begin
		last := func(n int, from time.Duration) { // of n clusters that may start from then on
			if n > 0 {
				from = max(from, begin, barriers[i])
				end = max(end, plus(from, times((n+stage.MaxConcurrency-1)/stage.MaxConcurrency, takes)))
			}
		}
		for ; len(waits) > 0 && waits[0].stage <= i; waits = waits[1:] {
			w := &waits[0]
			if w.barrier {
				barriers[i] = max(barriers[i], w.until)
				continue
			}
			behind += w.clusters
			last(behind, w.until)
		}
		last(stage.Clusters, 0)
		ends[i] = end
	}
	return ends
}

// plus is a + b for both ≥ 0, or unknownEnd where that is too long.
func plus(a, b time.Duration) time.Duration {
	if a > unknownEnd-b {
		return unknownEnd
	}
	return a + b
}

// times is n · d for both ≥ 0, or unknownEnd where that is too long.
func times(n int, d time.Duration) time.Duration {
	if n > 0 && d > unknownEnd/time.Duration(n) {
		return unknownEnd
	}
	return time.Duration(n) * d
}
