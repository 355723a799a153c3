// SPDX-License-Identifier: Apache-2.0

// Package history tells what was of a cluster in a rollout: when its decision changed, or the reason for that, and what blocked it.
//
// It looks at plans of the past, one after the other. Where each comes from is the caller's: a reading of a recording, or what the
// objects of today keep of a time.
package history

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/cohort-ocm/cohort/examples/kubectl-cohort/internal/clusterevents"
	"github.com/cohort-ocm/cohort/examples/kubectl-cohort/internal/scenario"
	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/status"
)

// What is the kind of a moment.
type What string

const (
	NotRecorded What = "NotRecorded" // of this time nothing is known
	NotSelected What = "NotSelected"
	Waits       What = "Waits" // for this reason, from now on
	MayStart    What = "MayStart"
	Starts      What = "Starts" // it gets the version
	Progressing What = "Progressing"
	Validates   What = "Validates" // it succeeded, and is being validated
	Succeeds    What = "Succeeds"  // and soaks, where the strategy has it soak
	Fails       What = "Fails"
	TimesOut    What = "TimesOut"
	Done        What = "Done"
	Skipped     What = "Skipped"
	Deselected  What = "Deselected" // it is deselected, and still counts
	Changed     What = "Changed"    // the object that rolls out
	Gone        What = "Gone"       // the rollout is
	Event       What = "Event"      // a controller recorded it
)

// Source is what a moment is known by.
type Source string

const (
	Stamps    Source = "Stamps" // and conditions
	Recording Source = "Recording"
	Events    Source = "Events"
)

// Moment is a change, at its time.
type Moment struct {
	// Time is zero where the time is unknown it was. A NotRecorded without a time is from the beginning.
	Time time.Time `json:"time,omitzero"`
	// Until is when a NotRecorded ends.
	Until time.Time `json:"until,omitzero"`
	What  What      `json:"what"`
	// Message is the reason of a wait, what ended it, or what else there is to say.
	Message string `json:"message,omitempty"`
	// WaitsFor are the first clusters that a wait is for.
	WaitsFor    []string            `json:"waitsFor,omitempty"`
	Explanation rollout.Explanation `json:"explanation,omitempty"`
	From        Source              `json:"from,omitempty"`
}

// Recorder puts the history of a cluster together.
type Recorder struct {
	cluster string
	moments []Moment

	at     time.Time // of the last plan
	result *rollout.Result
	stands stands
}

// stands is how the cluster stands.
type stands struct {
	what       What
	why        rollout.Explanation // of a wait
	message    string
	deselected bool
	applied    time.Time // of the version
	attempt    int
}

// has says whether the cluster has the version.
func (s stands) has() bool {
	return !slices.Contains([]What{"", NotSelected, Waits, MayStart, Skipped}, s.what)
}

// New is the recorder for a cluster.
func New(cluster string) *Recorder { return &Recorder{cluster: cluster} }

// Moments are those so far, in the order of time.
func (t *Recorder) Moments() []Moment {
	slices.SortStableFunc(t.moments, func(a, b Moment) int { return a.Time.Compare(b.Time) })
	return t.moments
}

// Say adds a moment. In an instant it may be planned several times: how a cluster waits in the end counts, and what released it.
func (t *Recorder) Say(m Moment) {
	if last := len(t.moments) - 1; last >= 0 && t.moments[last].Time.Equal(m.Time) && m.What != NotRecorded {
		switch before := t.moments[last].What; {
		case before == MayStart && m.What == Starts:
			m.Message = cmp.Or(m.Message, t.moments[last].Message)
			t.moments = t.moments[:last]
		case (before == Waits || before == MayStart) && m.What == Waits:
			if t.moments = t.moments[:last]; last > 0 && t.moments[last-1].What == Waits && t.moments[last-1].Message == m.Message {
				return
			}
		}
	}
	t.moments = append(t.moments, m)
}

// Begun says whether anything was watched.
func (t *Recorder) Begun() bool { return t.result != nil }

// Watch takes in the plan of a time, which must not be before that of the last one, with what was reported of the cluster then; nil if
// nothing.
func (t *Recorder) Watch(at time.Time, result *rollout.Result, report *status.Report, from Source) {
	if report == nil {
		report = new(status.Report)
	}
	now := look(t.cluster, result, report)
	if !t.Begun() {
		t.begin(at, now, result, report, from)
	} else {
		t.goOn(at, now, result, report, from)
	}
	t.at, t.result, t.stands = at, result, now
}

// look says how the cluster stands by a plan.
func look(cluster string, result *rollout.Result, report *status.Report) stands {
	disposition, _, selected := result.Find(cluster)
	s := stands{applied: report.Applied, attempt: report.Attempt, deselected: disposition == rollout.DispositionDeselected}
	switch {
	case !selected:
		s.what = NotSelected
	case disposition == rollout.DispositionBlocked:
		s.what, s.why = Waits, result.Explain(cluster)
		for i := range s.why {
			s.why[i].Remedies = nil // what a user could have done then
		}
		s.message = strings.ReplaceAll(s.why.String(), "\n", "; ")
	case disposition == rollout.DispositionStarting:
		s.what = MayStart
	default:
		s.what = what(clusterevents.StatusOf(result, cluster), disposition)
	}
	return s
}

// what is the word for a status of a cluster that has the version.
func what(s status.RolloutStatus, disposition rollout.Disposition) What {
	switch {
	case s == status.Succeeded && disposition == rollout.DispositionSettled:
		return Done
	case s == status.Succeeded:
		return Succeeds
	case s == status.Failed:
		return Fails
	case s == status.TimeOut:
		return TimesOut
	case s == status.Skip:
		return Skipped
	case s == status.Validating:
		return Validates
	}
	return Progressing
}

// begin tells how the cluster stands first, and what its report says of the time before.
func (t *Recorder) begin(at time.Time, now stands, result *rollout.Result, report *status.Report, from Source) {
	if now.has() {
		t.Say(Moment{Time: report.Applied, What: Starts, From: Stamps})
		t.status(time.Time{}, at, now.what, result, report, Stamps)
		if now.deselected {
			t.Say(Moment{Time: at, What: Deselected, From: from})
		}
		return
	}
	if reported, known := reportedAs[report.Status]; known && now.what == NotSelected { // from when it was
		t.Say(Moment{Time: report.Applied, What: Starts, From: Stamps})
		t.Say(Moment{Time: scenario.Since(report), What: reported, From: Stamps})
	}
	t.Say(now.moment(at, from))
}

// reportedAs is the word for what a cluster reports.
var reportedAs = map[status.RolloutStatus]What{status.Succeeded: Succeeds, status.Failed: Fails, status.TimeOut: TimesOut, status.Validating: Validates}

// moment is that at which a cluster without the version comes to stand so.
func (s stands) moment(at time.Time, from Source) Moment {
	m := Moment{Time: at, What: s.what, Message: s.message, Explanation: s.why, From: from}
	for _, link := range s.why {
		for _, b := range link.Blockers {
			if !slices.Contains(m.WaitsFor, b.Name) {
				m.WaitsFor = append(m.WaitsFor, b.Name)
			}
		}
	}
	return m
}

// goOn tells what is new.
func (t *Recorder) goOn(at time.Time, now stands, result *rollout.Result, report *status.Report, from Source) {
	was := t.stands
	again := now.has() && was.has() && (now.attempt > was.attempt || now.applied.After(was.applied))
	if now.deselected && !was.deselected {
		t.Say(Moment{Time: at, What: Deselected, From: from})
	}
	switch {
	case now.has() && (!was.has() || again):
		m := Moment{Time: within(now.applied, t.at, at), What: Starts, From: from}
		switch {
		case was.what == Waits && from == Stamps:
			m.Message = "what the objects keep does not say why: by the strategy and the clusters of now it would have waited"
		case was.what == Waits:
			m.Message = clusterevents.Released(was.why, t.result, result)
		case again && now.attempt > was.attempt:
			m.Message = fmt.Sprintf("again, in attempt %d", now.attempt)
		case again:
			m.Message = "its object was written again"
		}
		t.Say(m)
		if now.what != Progressing {
			t.status(t.at, at, now.what, result, report, from)
		}
	case now.has() && now.what != was.what:
		t.status(t.at, at, now.what, result, report, from)
	case !now.has() && (now.what != was.what || now.message != was.message):
		m := now.moment(at, from)
		if now.what == MayStart && was.what == Waits {
			m.Message = clusterevents.Released(was.why, t.result, result)
		}
		t.Say(m)
	}
}

// status tells that the cluster came to stand so, at some time after the one and not after the other.
func (t *Recorder) status(after, at time.Time, now What, result *rollout.Result, report *status.Report, from Source) {
	since, schedule := scenario.Since(report), &result.Schedule
	when := func(exact time.Time) time.Time {
		if after.IsZero() && !exact.After(at) { // zero where that is unknown
			return exact
		}
		return within(exact, after, at)
	}
	switch now {
	case Progressing:
		if !after.IsZero() {
			t.Say(Moment{Time: when(since), What: Progressing, From: from})
		}
	case TimesOut:
		if report.Status == status.Failed && t.stands.what != Fails {
			t.Say(Moment{Time: when(since), What: Fails, From: from})
		}
		late := since
		if report.Status != status.TimeOut && schedule.ProgressDeadline != nil && !since.IsZero() {
			late = since.Add(*schedule.ProgressDeadline)
		}
		t.Say(Moment{Time: when(late), What: TimesOut, From: from})
	case Done:
		if t.stands.what != Succeeds {
			t.Say(Moment{Time: when(since), What: Succeeds, From: from})
		}
		soaked := since
		if !since.IsZero() {
			soaked = since.Add(schedule.MinSuccessTime)
		}
		t.Say(Moment{Time: when(soaked), What: Done, From: from})
	default:
		t.Say(Moment{Time: when(since), What: now, From: from})
	}
}

// within is the exact time where it is after the one and not after the other, and else the other.
func within(exact, after, at time.Time) time.Time {
	if exact.After(after) && !exact.After(at) {
		return exact
	}
	return at
}
