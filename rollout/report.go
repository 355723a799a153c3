// SPDX-License-Identifier: Apache-2.0

package rollout

import (
	"time"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/cohort-ocm/cohort/internal/fielderrs"
	"github.com/cohort-ocm/cohort/rollout/internal/fleet"
	"github.com/cohort-ocm/cohort/status"
)

// Report replaces what was reported of clusters before. Several reports of one cluster in a call count as one
// ([status.Merge]). Pass the reports of all objects of a cluster in one call, even if only one of them changed. A
// report that is older than what [Planner.Applied] said has no effect.
//
// It is an error (one *field.Error per fault, joined as by [Plan]) if a report has no cluster. Then none of the reports has an
// effect.
func (p *Planner) Report(reports ...status.Report) error {
	for i := range reports {
		if reports[i].Cluster == "" {
			return fielderrs.Join(nameless(reports, field.NewPath("reports")))
		}
	}
	p.lock()
	defer p.mu.Unlock()
	merged := p.merge(reports)
	for i := range reports {
		report := &reports[i]
		if len(merged) == 0 {
			p.observe(report, false)
		} else if one, several := merged[report.Cluster]; several {
			p.observe(&one, true)
		} else {
			p.observe(report, false)
		}
	}
	return nil
}

// merge gives one report for each cluster that has several that count: those that its last write outdates do not (R1, R27).
func (p *Planner) merge(reports []status.Report) map[string]status.Report {
	if len(reports) == 1 {
		return nil
	}
	first := make(map[string]int, len(reports)) // the index of each cluster's first report that counts
	merged := make(map[string]status.Report)
	for i := range reports {
		report := &reports[i]
		last := p.writes[report.Cluster]
		if last.outdates(report, p.tried[report.Cluster]) {
			continue
		}
		before, again := first[report.Cluster]
		if !again {
			first[report.Cluster] = i
			continue
		}
		one, ok := merged[report.Cluster]
		if !ok {
			one = last.inAttempt(reports[before])
		}
		merged[report.Cluster] = status.Merge(one, last.inAttempt(*report))
	}
	return merged
}

// observe takes in one report, perhaps merged from several.
func (p *Planner) observe(report *status.Report, several bool) {
	last := p.writes[report.Cluster]
	if last.outdates(report, p.tried[report.Cluster]) {
		return
	}
	if several {
		p.several[report.Cluster] = true
	} else {
		delete(p.several, report.Cluster)
	}
	if report.Deleting {
		p.deleting[report.Cluster] = true
	} else {
		delete(p.deleting, report.Cluster)
	}
	p.say(report.Cluster, fleet.MessageOf(report))
	said := fleet.ReportOf(report)
	said.Attempt = last.attemptOf(report)
	p.set(report.Cluster, said)
}

// say keeps the message of what was reported of a cluster.
func (p *Planner) say(cluster string, said fleet.Message) {
	if said == (fleet.Message{}) {
		delete(p.says, cluster)
		return
	}
	if p.says == nil {
		p.says = make(map[string]fleet.Message)
	}
	p.says[cluster] = said
}

// Applied tells the planner that the present version of the workload was written for a cluster at the time when. From now
// on the cluster is in flight, even if an older observation arrives later. Three kinds of reports have no effect: one whose
// Applied is older, and without Applied one that is ToApply, or one whose LastTransitionTime is older. Call Applied after each
// write that [Planner.Next] asked for or that changed the version, with the time that was noted in the object.
//
// A waiting cluster is in the wanted attempt ([Options].Attempt) from this write on. Any other cluster stays in its attempt.
// From then on a report of an earlier attempt has no effect where its Applied is older than when, by any fraction of a second.
// A report without Applied counts for the cluster's attempt, whatever its own number. There is one exception: a failure with an
// earlier number may be the one that is being tried again. It counts only if its transition is later than the write, and later
// than the failure that was known when Applied was called.
//
// Where the answer to a write was lost, read the object. Call Applied only if the object has the wanted attempt
// ([status.StampOf]); otherwise only Report it.
//
// Applied has the effect of a report of ToApply with that time in Applied, unless a report that it does not outdate is
// known already. For another version start over, as [Planner] says.
func (p *Planner) Applied(cluster string, when time.Time) {
	when = when.Round(0)
	tracker := p.lock()
	defer p.mu.Unlock()
	last := p.writes[cluster]
	if cluster == "" || when.IsZero() || when.Before(last.when) {
		return
	}
	known := p.last(cluster)
	waits := known.Kind != fleet.KindEnding && tracker.schedule.Phases.StateOf(&known, when).IsWaiting()
	attempt := known.Attempt
	if waits {
		attempt = tracker.schedule.options.attempt
	}
	if when.Equal(last.when) && attempt <= last.attempt {
		return
	}
	again := when.Equal(last.when) || waits && when.Equal(known.Since)
	p.writes[cluster] = write{when, attempt, again}
	if waits && (known.Kind == fleet.KindFailed || known.Kind == fleet.KindTimedOut) {
		if p.tried == nil {
			p.tried = make(map[string]time.Time)
		}
		p.tried[cluster] = known.Since
	}
	if !waits && !isBefore(known.Applied, when) {
		return
	}
	delete(p.deleting, cluster)
	delete(p.says, cluster)
	p.set(cluster, fleet.Report{Kind: fleet.KindSilent, Since: when, Attempt: attempt, Applied: when})
}

// Forget drops what Report and Applied said of clusters: their workload is gone, or was never there. Names without a
// report have no effect. Forget a cluster when its object is deleted, but not because a cache does not show the object
// yet.
func (p *Planner) Forget(clusters ...string) {
	p.lock()
	defer p.mu.Unlock()
	for _, cluster := range clusters {
		delete(p.several, cluster)
		delete(p.writes, cluster)
		delete(p.deleting, cluster)
		delete(p.tried, cluster)
		delete(p.says, cluster)
		p.set(cluster, fleet.Report{})
	}
}

// write is what Applied said of the last write of a cluster: when it was, and in which attempt. The zero write is none.
type write struct {
	when    time.Time
	attempt int
	again   bool // at the very time of what was known before, a write or a report; only the attempts differ
}

// outdates says whether a report is about a version or an attempt before the write (R27, R39). A report with exactly the time
// of the write is about that write, whatever its attempt. A report without Applied does not say which write it is about. Only
// a failure with an earlier number is taken for the failure that is being tried again, if it is not after the write, or not
// after the failure that was tried again: the clock of the cluster may be ahead.
func (wrote write) outdates(report *status.Report, tried time.Time) bool {
	if wrote.when.IsZero() {
		return false
	}
	earlier := max(report.Attempt, 0) < wrote.attempt
	if of := report.LastTransitionTime; report.Applied.IsZero() {
		fails := report.Status == status.Failed || report.Status == status.TimeOut
		return report.Status == status.ToApply || isBefore(of, wrote.when) || earlier && fails && !(of.After(wrote.when) && of.After(tried))
	}
	of := report.Applied
	return isBefore(of, wrote.when) || earlier && (of.Before(wrote.when) || wrote.again && !of.After(wrote.when))
}

// isBefore compares in whole seconds, since conditions and annotations may keep no more.
func isBefore(at, applied time.Time) bool { return at.Before(applied.Truncate(time.Second)) }

// attemptOf gives the attempt that a report is about (R39). A report without Applied is about the write, whose attempt it need
// not know; otherwise a cluster that fails for ever would be started again for ever.
func (wrote write) attemptOf(report *status.Report) int {
	if !report.Applied.IsZero() {
		return report.Attempt
	}
	return max(report.Attempt, wrote.attempt)
}

// inAttempt gives a report with the attempt that it is about.
func (wrote write) inAttempt(report status.Report) status.Report {
	report.Attempt = wrote.attemptOf(&report)
	return report
}
