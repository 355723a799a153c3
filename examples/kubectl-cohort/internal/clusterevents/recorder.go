// SPDX-License-Identifier: Apache-2.0

// Package clusterevents records what a simulated rollout is for one cluster: what it waits for, what blocks it, what releases
// it, when it starts and what becomes of it. The sentences are the library's.
package clusterevents

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/status"
)

// Event is what happens to the cluster at a time.
type Event struct {
	After time.Duration
	What  What
	// Until is when a wait ends; zero where it does not.
	Until time.Duration
	// Explanation says why it waits, as it stands when the wait begins.
	Explanation rollout.Explanation
	// Later says how that changes during the wait: the first few and the last few changes, in order. Of More between them
	// nothing is kept.
	Later []Standing
	More  int
	// Released says what ended the wait before a start, what was reported with a failure, or what ended a validation.
	Released string
	// Unknown says that it was before the simulation, and that the time is unknown. After is 0 then.
	Unknown bool
	// Standing says what a cluster in flight does, and until when, as the simulation begins.
	Standing string
	// Remedies say what a person can do about a failure.
	Remedies []rollout.Remedy
	// BlocksOthersUntil says until when a deselected cluster blocks others; empty where it blocks none.
	BlocksOthersUntil string
}

// Standing is why a cluster waits from a time on.
type Standing struct {
	After       time.Duration
	Explanation rollout.Explanation
}

// FirstLater is how many of Event.Later are the first ones where there are more, and lastLater how many are the last.
const (
	FirstLater = 3
	lastLater  = 3
)

// What is the kind of an event.
type What string

const (
	Waits       What = "Waits"
	Starts      What = "Starts"
	Progressing What = "Progressing" // again, after it was something else
	Validates   What = "Validates"   // it succeeded, and is being validated
	Succeeds    What = "Succeeds"    // and soaks, where the strategy has it soak
	Fails       What = "Fails"
	TimesOut    What = "TimesOut"
	Deselected  What = "Deselected" // it is deselected
	Done        What = "Done"
	Stands      What = "Stands" // when the simulation begins, it is in flight already

	// Kinds of events of the rollback.
	Aborted         What = "Aborted" // the rollout is
	WaitsToRollBack What = "WaitsToRollBack"
	RollsBack       What = "RollsBack"
	RolledBack      What = "RolledBack"
	StaysBehind     What = "StaysBehind" // it never had the version
)

// Waits says whether the event is a wait.
func (w What) Waits() bool { return w == Waits || w == WaitsToRollBack }

// Recorder records the events of one cluster while a simulation runs.
type Recorder struct {
	// Gone says that only the record tells of the cluster, so that nothing can be fixed there.
	Gone bool

	cluster    string
	begin      time.Time      // of the simulation
	observed   *status.Report // what the cluster said before it; nil if nothing
	events     []Event
	previous   *rollout.Result
	why        rollout.Explanation // of the wait that goes on, as it stands now
	started    bool
	starts     int  // so far; the attempt at the version is one less
	shown      What // the state that the events have told of
	deselected bool // so they have recorded that it was deselected
}

// New is the recorder for a cluster. The simulation begins at a time, with what was observed until then. What a cluster says that does not
// have the version is about another one.
func New(cluster string, begin time.Time, observed []status.Report) *Recorder {
	t := &Recorder{cluster: cluster, begin: begin}
	if i := slices.IndexFunc(observed, func(r status.Report) bool {
		return r.Cluster == cluster && (r.Status != status.ToApply || !r.Applied.IsZero())
	}); i >= 0 {
		t.observed = &observed[i]
	}
	return t
}

// Events are those so far, in order.
func (t *Recorder) Events() []Event { return t.events }

// Abort ends the events at a time, as the rollout is aborted, and goes on with those of the rollback, with times that count
// from then. It is nil where the cluster never had the version.
func (t *Recorder) Abort(after time.Duration, back *Recorder) {
	if last := len(t.events) - 1; last >= 0 && t.events[last].What == Waits {
		t.events[last].Until = after
		if t.events[last].After == after {
			t.events = t.events[:last]
		}
	}
	t.events = append(t.events, Event{After: after, What: Aborted})
	if back == nil {
		t.events = append(t.events, Event{After: after, What: StaysBehind})
		return
	}
	for _, e := range back.events {
		switch e.What {
		case Waits:
			e.What = WaitsToRollBack
			for i := range e.Later {
				e.Later[i].After += after
			}
			if e.Until > 0 {
				e.Until += after
			}
		case Starts:
			e.What = RollsBack
		case Done:
			e.What = RolledBack
		case Succeeds:
			continue // which is the same, but for a soak
		}
		e.After += after
		t.events = append(t.events, e)
	}
}

// Watch takes in how things stand after a wave.
func (t *Recorder) Watch(after time.Duration, result *rollout.Result) {
	disposition, _, selected := result.Find(t.cluster)
	if t.previous == nil && t.observed != nil && disposition != rollout.DispositionBlocked && disposition != rollout.DispositionStarting {
		t.before(result, disposition)
	}
	switch {
	case !selected:
		t.leave(after, result)
	case disposition == rollout.DispositionBlocked:
		t.started = false // if it was, it is tried again
		t.wait(after, result.Explain(t.cluster))
	case disposition == rollout.DispositionStarting:
		t.started = false
		t.start(after, result)
	default:
		if t.starts == 0 {
			t.start(after, result)
		}
		t.recovers(after)
		if disposition == rollout.DispositionDeselected {
			t.leave(after, result)
		}
		t.stand(after, result, disposition)
	}
	t.previous = result
}

// wait begins a wait, or goes on with one for the same.
func (t *Recorder) wait(after time.Duration, why rollout.Explanation) {
	if last := len(t.events) - 1; last >= 0 && t.events[last].What == Waits {
		if slices.EqualFunc(t.why, why, sameWait) {
			t.events[last].goesOn(after, t.why, why)
			t.why = why
			return
		}
		t.events[last].Until = after
	}
	t.events = append(t.events, Event{After: after, What: Waits, Explanation: why})
	t.shown, t.why = Waits, why
}

// goesOn notes that the cluster waits for the same, and what blocks it now if that is new.
func (e *Event) goesOn(after time.Duration, before, why rollout.Explanation) {
	last := len(e.Later) - 1
	switch {
	case last < 0 && after == e.After: // it is planned several times in an instant
		e.Explanation = why
		return
	case last >= 0 && after == e.Later[last].After:
		e.Later[last].Explanation = why
		return
	case why.String() == before.String():
		return
	}
	if e.Later = append(e.Later, Standing{after, why}); len(e.Later) > FirstLater+lastLater {
		e.Later = slices.Delete(e.Later, FirstLater, FirstLater+1)
		e.More++
	}
}

// sameWait says whether both wait for the same reason, whichever clusters are in flight by then.
func sameWait(a, b rollout.Link) bool {
	return a.Reason.Type == b.Reason.Type && a.Reason.Group == b.Reason.Group && a.Reason.Gate == b.Reason.Gate
}

// start notes the start, and what released the cluster if it waited.
func (t *Recorder) start(after time.Duration, result *rollout.Result) {
	if t.started {
		return
	}
	t.started = true
	t.starts++
	e := Event{After: after, What: Starts}
	switch last := len(t.events) - 1; {
	case last < 0:
	case t.events[last].What == Waits:
		t.events[last].Until = after
		e.Released = Released(t.why, t.previous, result)
	case t.shown == Fails || t.shown == TimesOut:
		e.Released = "it is retried"
	default: // a plan does not say which
		e.Released = "it fails or times out in an earlier attempt, and is retried"
	}
	t.events, t.shown = append(t.events, e), Starts
}

// recovers ends the wait of a cluster that was to be tried again and recovered without that.
func (t *Recorder) recovers(after time.Duration) {
	t.started = true
	if last := len(t.events) - 1; last >= 0 && t.events[last].What == Waits {
		if t.events[last].Until = after; t.events[last].After == after {
			t.events = t.events[:last]
		}
	}
}

// Released says what ended a wait between two results: the clusters that were waited for and are not any more, or what else is new.
func Released(why rollout.Explanation, previous, result *rollout.Result) string {
	var parts []string
	more := 0
	if len(why) == 1 && why[0].Reason.Type == rollout.BlockFrozen {
		return "its freeze ends"
	}
	if len(why) == 1 && why[0].Reason.Type == rollout.BlockNotAllowed {
		return "it is approved"
	}
	for _, link := range why {
		if link.Reason.Type == rollout.BlockGateClosed {
			return "the gate before " + link.Reason.Group.String() + " opens"
		}
		before := len(parts)
		for _, blocker := range link.Blockers {
			disposition, _, _ := result.Find(blocker.Name)
			has := disposition == rollout.DispositionInFlight || disposition == rollout.DispositionDeselected
			is := standing(result, blocker.Name)
			if !has || is != blocker.Status && is != status.Validating { // which ends no wait
				parts = append(parts, blocker.Name+" "+become(result, blocker.Name, disposition))
			}
		}
		if whole := link.Reason.Type == rollout.BlockMandatoryGroup || link.Reason.Type == rollout.BlockEarlierGroup; whole && len(parts)-before == len(link.Blockers) {
			more += link.More
		}
	}
	if changes := result.Changes(previous); parts == nil && changes.String() != "" {
		changes.Started = nil
		return changes.String()
	}
	slices.Sort(parts)
	text := strings.Join(slices.Compact(parts), ", ")
	if more > 0 {
		text += fmt.Sprintf(", and %d more", more)
	}
	return text
}

// become says in a word what a cluster is now.
func become(result *rollout.Result, cluster string, disposition rollout.Disposition) string {
	switch s := standing(result, cluster); {
	case disposition == rollout.DispositionSettled && s == status.Succeeded:
		return "is done"
	case s == status.Succeeded:
		return "succeeds"
	case s == status.Failed:
		return "fails"
	case s == status.TimeOut:
		return "times out"
	case disposition == "": // it is not selected, and what it does counts no longer
		return "does not count any more"
	case disposition == rollout.DispositionBlocked || disposition == rollout.DispositionStarting:
		return "did not start"
	default:
		return "is " + strings.ToLower(string(s))
	}
}

// leave notes that the cluster is deselected, if that is new.
func (t *Recorder) leave(after time.Duration, result *rollout.Result) {
	if t.deselected || !t.started {
		return
	}
	t.deselected = true
	e := Event{After: after, What: Deselected}
	for _, b := range result.Blockers() {
		if b.Name == t.cluster {
			e.BlocksOthersUntil = b.String()
		}
	}
	t.events = append(t.events, e)
}

// stand notes where the cluster stands now if that is new.
func (t *Recorder) stand(after time.Duration, result *rollout.Result, disposition rollout.Disposition) {
	what := Starts
	switch s := standing(result, t.cluster); {
	case disposition == rollout.DispositionSettled && s == status.Succeeded:
		what = Done
	case s == status.Succeeded:
		what = Succeeds
	case s == status.Failed:
		what = Fails
	case s == status.TimeOut:
		what = TimesOut
	case s == status.Validating:
		what = Validates
	case t.shown != Starts:
		what = Progressing
	}
	if what == t.shown {
		return
	}
	validated := ""
	if t.shown == Validates {
		validated = map[What]string{Succeeds: "it is found good", Done: "it is found good", Fails: "it is not found good", TimesOut: "it got no verdict"}[what]
	}
	if what == Done && t.shown != Succeeds { // it does not soak
		t.events = append(t.events, Event{After: after, What: Succeeds})
	}
	t.add(Event{After: after, What: what, Released: validated}, result)
}

// add notes where the cluster stands, and what to do about that.
func (t *Recorder) add(e Event, result *rollout.Result) {
	if e.What == Fails || e.What == TimesOut && t.shown != Fails { // a failed cluster has its remedies then
		e.Remedies = t.remedies(result)
		if t.shown == Validates && e.What == TimesOut { // a yes may come after all
			e.Remedies = slices.Insert(e.Remedies, 0, rollout.Remedy{Type: rollout.RemedyValidate, Count: 1, Of: 1, Clusters: t.cluster})
		}
	}
	t.events, t.shown = append(t.events, e), e.What
}

// remedies say what a person can do about the cluster's failure.
func (t *Recorder) remedies(result *rollout.Result) []rollout.Remedy {
	ways := []rollout.Remedy{{Type: rollout.RemedyTryAgain, Count: t.starts}}
	if !t.Gone {
		ways = slices.Insert(ways, 0, rollout.Remedy{Type: rollout.RemedyFix, Count: 1, Of: 1, Clusters: t.cluster})
	}
	if b := result.Breach; b != nil {
		if !b.Mandatory {
			ways = append(ways, rollout.Remedy{Type: rollout.RemedyRaiseMaxFailures, Count: b.Failures})
		}
		ways = append(ways, rollout.Remedy{Type: rollout.RemedyRevert})
	}
	if t.deselected || t.Gone {
		ways = append(ways, rollout.Remedy{Type: rollout.RemedyIgnore, Clusters: t.cluster})
	}
	return ways
}

// standing is the status that the result has for a cluster that is not blocked.
func standing(result *rollout.Result, cluster string) status.RolloutStatus {
	byName := func(c rollout.Cluster, name string) int { return strings.Compare(c.Name, name) }
	for _, list := range [][]rollout.Cluster{result.InFlight, result.TimedOut, result.Deselected} {
		if i, found := slices.BinarySearchFunc(list, cluster, byName); found {
			return list[i].Status
		}
	}
	for c := range result.Settled() {
		if c.Name == cluster {
			return c.Status
		}
	}
	return status.ToApply
}

// StatusOf is the status that a plan has for a cluster that has the version; ToApply for one that does not.
func StatusOf(result *rollout.Result, cluster string) status.RolloutStatus {
	return standing(result, cluster)
}
