// SPDX-License-Identifier: Apache-2.0

package trial

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode"
)

// ending is how a rollout stands when nothing happens any more.
type ending struct {
	complete bool
	inFlight []string // clusters that are, or failed and may yet recover
	failed   []string // clusters that timed out
	waits    []string // clusters that wait, for one of them
	could    []string // clusters that wait, for nothing
	surplus  []string // clusters that have a work and aren't selected
	left     []string // clusters that left with the version, and are not done
	moving   []string // those of them that have not failed
	doubtful []string // clusters that left, and may count all the same: a controller need not see that a person deleted them
	both     []string // selected clusters that count in the placement before, too, and are not done there
	byLeft   bool     // only deselected clusters block others
	says     Saying
	back     bool // the version is taken back, and the status speaks of that alone
}

// end judges how it stands at a time.
func (h *history) end(now time.Time, says func(*replicaSet) Saying) ending {
	return h.endOf(h.truth(1<<62), now, says)
}

// endOf judges how it stands at a time in a scene of the end.
func (h *history) endOf(s *scene, now time.Time, says func(*replicaSet) Saying) ending {
	var end ending
	if s.set == nil || s.incomplete() != "" {
		return end
	}
	end.waits, end.could = s.waits(now, leniency{everywhere: true, absent: h.absent})
	end.left, end.moving = s.notDone(now.Add(-grace), leniency{})
	end.doubtful, _ = s.notDone(now.Add(-grace), leniency{everywhere: true})
	end.both = s.alsoElsewhere(now.Add(-grace))
	for cluster, ref := range s.selected() {
		switch at, _, holds := s.stands(cluster, s.wanted(cluster), ref.config(), now.Add(-grace), leniency{}); {
		case holds: // also those that failed and may yet recover
			end.inFlight = append(end.inFlight, cluster)
		case at == failed:
			end.failed = append(end.failed, cluster)
		}
	}
	_, without := s.waits(now, leniency{noLeft: true})
	freed := slices.ContainsFunc(end.waits, func(c string) bool { return slices.Contains(without, c) })
	end.byLeft = len(end.left) > 0 && (freed || len(end.waits)+len(end.inFlight) == 0)
	for cluster := range s.works {
		if !s.selects(cluster) && (!s.counts || has(s, cluster)) { // the work of a dead agent stays while it is deleted
			end.surplus = append(end.surplus, cluster)
		}
	}
	end.says, end.back = says(s.set), s.revising != nil && s.revising.aborted()
	end.complete = end.over() && len(end.surplus) == 0 && end.says.Current && end.says.Over
	return end
}

// over says whether no cluster waits for anything.
func (e ending) over() bool {
	return len(e.inFlight)+len(e.waits)+len(e.could)+len(e.moving) == 0
}

// checkEnd judges how a rollout stands that stands still. A cluster that left counts for a process where it saw the cluster last, in
// whichever placement the cluster was for a moment. So an invariant is broken only if it is so where the deselected clusters were in truth, and also
// where the last process saw them.
func (h *history) checkEnd(now time.Time, says func(*replicaSet) Saying) []violation {
	broken := h.checkEndOf(h.truth(1<<62), now, says)
	if len(broken) == 0 || h.left == nil || len(h.reconciles) == 0 {
		return broken
	}
	last := h.reconciles[len(h.reconciles)-1]
	seen := h.checkEndOf(h.look(func(i id) object { return h.at(i, 1<<62) }, 1<<62, h.timeOf(1<<62), last), now, says)
	return slices.DeleteFunc(broken, func(v violation) bool {
		return !slices.ContainsFunc(seen, func(o violation) bool { return o.invariant == v.invariant })
	})
}

// names says whether a message has the name of a cluster as a word: "c" is not in "deselected".
func names(message, cluster string) bool {
	words := strings.FieldsFunc(message, func(r rune) bool {
		return r != '-' && r != '.' && !unicode.IsLetter(r) && !unicode.IsDigit(r)
	})
	return slices.ContainsFunc(words, func(word string) bool { return strings.TrimRight(word, ".") == cluster })
}

func (h *history) checkEndOf(s *scene, now time.Time, says func(*replicaSet) Saying) []violation {
	end := h.endOf(s, now, says)
	last := h.events[len(h.events)-1].rv
	var broken []violation
	breaks := func(i Invariant, format string, args ...any) {
		broken = append(broken, violation{invariant: i, rv: last, text: fmt.Sprintf(format, args...)})
	}
	if end.complete {
		return nil
	}
	if s.incomplete() != "" {
		breaks(invLeft, "the harness ended with partially observed decisions: %s", s.incomplete())
	}
	if len(end.could) > 0 {
		breaks(invLeft, "%v may start and doesn't%s", end.could, h.quietSince(now, time.Second))
	}
	if len(end.surplus) > 0 {
		breaks(invLeft, "%v have the workload and aren't selected%s", end.surplus, h.quietSince(now, time.Second))
	}
	named := func(clusters []string) bool {
		return slices.ContainsFunc(clusters, func(c string) bool { return names(end.says.Message, c) })
	}
	blockers := slices.Concat(end.left, end.both, slices.Collect(maps.Keys(s.failed)))
	if !end.byLeft {
		blockers = slices.Concat(blockers, end.inFlight, end.failed)
	}
	if not := s.belies(end.says, now.Add(-grace)); len(not) > 0 {
		breaks(invDone, "%v left with the version and are not done, and it says %q", not, end.says.Message)
	}
	switch {
	case end.says.Message == "" || !end.says.Current:
		breaks(invStatus, "it says %q, of an earlier generation or nothing", end.says.Message)
	case end.back: // its own check says how it stands
	case end.over():
		if !end.says.Over && !named(slices.Concat(end.doubtful, end.both)) {
			breaks(invStatus, "all is done, and it says %q", end.says.Message)
		}
	case !named(blockers):
		breaks(invStuck, "%v in flight, %v failed and %v that left hold %v up, and it says %q", end.inFlight, end.failed, end.left, end.waits, end.says.Message)
	}
	return broken
}
