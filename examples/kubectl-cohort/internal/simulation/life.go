// SPDX-License-Identifier: Apache-2.0

package simulation

import (
	"time"

	"github.com/cohort-ocm/cohort/status"
)

// Life is what a cluster reports after it got the workload. It is Progressing at first; each step, in the
// order of their times, is another status. One that is validated is Validating from its success until its verdict
// whether it is good. The zero Life is a cluster that never answers.
type Life []Step

// Step is the status that a cluster has from some time after its start on.
type Step struct {
	After  time.Duration
	Status status.RolloutStatus
	// Reason says more of Progressing, as a report does.
	Reason status.ReportReason
	// Drops says that the scheduler drops the cluster from then on, as the hub has heard nothing of its agent for long. It
	// reports nothing new: Status has no meaning.
	Drops bool
}

// recovery is the life of a cluster that has just failed: when it succeeds after all, if it does, and the verdict on that.
func (l Life) recovery() Life {
	for i, step := range l {
		switch {
		case i == 0 || l[i-1].Status != status.Failed:
		case step.Status == status.Succeeded:
			return l[i : i+1].since(l[i-1])
		case step.Status == status.Validating:
			return l[i:].since(l[i-1])
		}
	}
	return nil
}

// validation is the life of a cluster that has just succeeded and is being validated. It is not ok where the life has no such step.
func (l Life) validation() (rest Life, ok bool) {
	for i, step := range l {
		if step.Status == status.Validating {
			return l[i+1:].since(step), true
		}
	}
	return nil, false
}

// since is the life with times that count from a step.
func (l Life) since(step Step) (rest Life) {
	for _, s := range l {
		s.After -= step.After
		rest = append(rest, s)
	}
	return rest
}

// member is a cluster that has the workload.
type member struct {
	name    string
	started time.Time
	life    Life
	shown   status.RolloutStatus // what the waves so far say of it
	// observed is what it said before the simulation, which it says until its life has it otherwise; nil if it started later.
	observed *status.Report
	attempt  int // at the version
	restarts int

	deselected bool // the scheduler has dropped it
	deleting   bool // its object is being deleted, and no agent lets go of it
	gone       bool // its object is
}

// onItsWayOut says whether the object of the cluster was being deleted as the simulation began: it is gone once the cluster starts anew.
func (m *member) onItsWayOut() bool { return m.observed != nil && m.observed.Deleting }

// report is what the cluster says at the time now.
func (m *member) report(now time.Time) status.Report {
	r := status.Report{Cluster: m.name, Status: status.Progressing, LastTransitionTime: m.started, Applied: m.started, Attempt: m.attempt}
	if m.observed != nil {
		r = *m.observed
	}
	for _, step := range m.life {
		if at := m.started.Add(step.After); !step.Drops && !at.After(now) {
			r.Status, r.LastTransitionTime, r.Reason, r.Message = step.Status, at, step.Reason, ""
		}
	}
	r.Deleting = r.Deleting || m.deleting
	return r
}

// drops is when the scheduler drops the cluster; zero if never.
func (m *member) drops() time.Time {
	for _, step := range m.life {
		if step.Drops {
			return m.started.Add(step.After)
		}
	}
	return time.Time{}
}

// leaves says whether the scheduler drops the cluster now, or has done so.
func (m *member) leaves(now time.Time) bool {
	at := m.drops()
	return !at.IsZero() && !at.After(now)
}

// next is the time of the first step after now, if there is one.
func (m *member) next(now time.Time) (time.Time, bool) {
	for _, step := range m.life {
		if at := m.started.Add(step.After); at.After(now) {
			return at, true
		}
	}
	return time.Time{}, false
}

// show writes down that the cluster stands so now, if that is new.
func (m *member) show(stands status.RolloutStatus, w *Wave) {
	if stands == m.shown {
		return
	}
	switch m.shown = stands; stands {
	case status.Validating:
		w.Validating = append(w.Validating, m.name)
	case status.Succeeded:
		w.Succeeded = append(w.Succeeded, m.name)
	case status.Failed:
		w.Failed = append(w.Failed, m.name)
	case status.TimeOut:
		w.TimedOut = append(w.TimedOut, m.name)
	}
}
