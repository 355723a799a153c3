// SPDX-License-Identifier: Apache-2.0

package clusterevents

import (
	"strconv"
	"time"

	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/status"
)

// before records what the cluster did before the simulation, as far as it said when.
func (t *Recorder) before(result *rollout.Result, disposition rollout.Disposition) {
	said, schedule := t.observed, &result.Schedule
	at := func(what What, at time.Time) {
		e := Event{What: what, Unknown: at.IsZero()}
		if (what == Fails || what == TimesOut && t.shown != Fails) && said.Message != "" {
			e.Released = strconv.Quote(said.Message)
		}
		if !e.Unknown {
			e.After = at.Sub(t.begin)
		}
		t.add(e, result)
	}
	later := func(since, than time.Time) time.Time {
		if than.After(since) {
			return than
		}
		return since
	}
	t.started, t.starts = true, max(said.Attempt, 0)+1
	at(Starts, said.Applied)
	since := later(said.Applied, said.LastTransitionTime)
	switch said.Status {
	case status.Succeeded:
		since = later(since, said.Answered)
		at(Succeeds, since)
	case status.Validating:
		since = later(since, said.Answered)
		at(Validates, since)
	case status.Failed:
		at(Fails, since)
	}
	switch s := standing(result, t.cluster); {
	case s == status.TimeOut && said.Status != status.TimeOut && schedule.ProgressDeadline != nil:
		at(TimesOut, since.Add(*schedule.ProgressDeadline))
	case s == status.TimeOut:
		at(TimesOut, said.LastTransitionTime)
	case s == status.Succeeded && disposition == rollout.DispositionSettled && !since.IsZero():
		at(Done, since.Add(schedule.MinSuccessTime))
	case s == status.Succeeded && disposition == rollout.DispositionSettled:
		at(Done, since)
	case disposition == rollout.DispositionInFlight || disposition == rollout.DispositionDeselected:
		e := Event{What: Stands, Standing: stands(said, s, since, schedule)}
		if s == status.Validating {
			e.Remedies = []rollout.Remedy{{Type: rollout.RemedyValidate, Count: 1, Of: 1, Clusters: t.cluster}}
		}
		t.events = append(t.events, e)
	}
}

// stands says what a cluster in flight does, until when, and what its report says of that.
func stands(said *status.Report, s status.RolloutStatus, since time.Time, schedule *rollout.Schedule) string {
	limit, does, ends := schedule.ProgressDeadline, "is progressing", " and times out at "
	switch {
	case s == status.Succeeded:
		limit, does, ends = &schedule.MinSuccessTime, "succeeded and has to stay so (minSuccessTime)", " until "
	case s == status.Failed:
		does = "has failed"
	case s == status.Validating:
		does = "waits for validation"
	case said.Reason == status.ReportUntracked:
		does, ends = "has applied the workload, but no conditionRules tell when it is done", ", and times out at "
	case said.Reason == status.ReportRefused:
		does = "could not apply the workload so far"
	case said.Status == status.ToApply:
		does = "has not reported on this version"
	}
	if limit != nil && !since.IsZero() {
		does += ends + since.Add(*limit).UTC().Format(time.RFC3339)
	}
	if said.Message != "" && s != status.Failed { // which tells it where it failed
		does += ": " + strconv.Quote(said.Message)
	}
	return does
}
