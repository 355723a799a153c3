// SPDX-License-Identifier: Apache-2.0

package rollout_test

import (
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/status"
)

// The rules in the rollback: R43 to R45. Reading: what they do not speak of is as in a rollout of the version before.

// taken is what Revert is given beside a world, whose reports are about the version before.
type taken struct {
	aborted      time.Time
	failed       []status.Report
	stopAtBreach bool
}

// plan asks Plan, or Revert where the world rolls back.
func (w world) plan(groups *grouping.Groups) (*rollout.Result, error) {
	if w.back == nil {
		return rollout.Plan(w.strategy, groups, w.reports, w.now, w.options())
	}
	return rollout.Revert(w.strategy, groups, *w.abort(), w.now, w.options())
}

// abort is what Revert is given; nil where the world does not roll back.
func (w world) abort() *rollout.Abort {
	if w.back == nil {
		return nil
	}
	return &rollout.Abort{Time: w.back.aborted, Failed: w.back.failed, Before: w.reports, StopAtBreach: w.back.stopAtBreach}
}

// takeBack makes of a world that rolls back one that goes on to the version before.
func (o *oracle) takeBack() {
	if o.back == nil {
		return
	}
	o.order = o.r44Order()
	o.storedRecord = o.r43Memory()
	o.reports = o.r43()
	if !o.back.stopAtBreach { // R45
		o.maxFailures, o.failedFrees = intstr.FromString("100%"), true
	}
}

// R43: the report of the version that failed, by the worst of those that say that the cluster has it.
func (t *taken) has(cluster string) (status.Report, bool) {
	var those []status.Report
	for _, r := range t.failed {
		if r.Cluster == cluster && r.Status != status.Skip && (r.Status != status.ToApply || !r.Applied.IsZero()) {
			those = append(those, r)
		}
	}
	worst, n := r1Merged(those, cluster)
	return worst, n > 0
}

// R44: when a cluster got the version that failed, by the latest of several reports.
func (t *taken) since(cluster string) (latest time.Time) {
	for _, r := range t.failed {
		if r.Cluster == cluster && r.Status != status.Skip && r.Applied.After(latest) {
			latest = r.Applied
		}
	}
	return latest
}

// R43: a cluster with the failed version waits, a cluster which rolled back is as reported, every other cluster is skipped; a cluster that is not selected
// counts once. Clusters without any report get none here.
func (o *oracle) r43() (reports []status.Report) {
	about := func(list []status.Report, cluster string) (those []status.Report) {
		for _, r := range list {
			if r.Cluster == cluster {
				those = append(those, r)
			}
		}
		return those
	}
	var names []string
	for _, r := range slices.Concat(o.reports, o.back.failed) {
		if !slices.Contains(names, r.Cluster) {
			names = append(names, r.Cluster)
		}
	}
	for _, name := range names {
		before, failed := about(o.reports, name), about(o.back.failed, name)
		_, has := o.back.has(name)
		left := status.Skip
		if e := o.entry(name); e != nil && (o.isFailure(e) || o.isFlight(e) && e.Status != status.Succeeded) {
			left = status.ToApply // the entry stands in for a report
		}
		selected := slices.ContainsFunc(o.members, func(m member) bool { return m.name == name })
		switch {
		case selected && has:
			for range failed {
				reports = append(reports, status.Report{Cluster: name, Status: status.ToApply})
			}
		case len(before) == 0 && selected:
			reports = append(reports, status.Report{Cluster: name, Status: left})
		case !selected:
			if len(before) == 0 {
				before = failed
			}
			for _, r := range before {
				switch {
				case has:
					since := o.back.aborted
					if later := o.back.since(name); later.After(since) {
						since = later
					}
					r = status.Report{Cluster: name, Status: status.Progressing, Applied: since, Deleting: r.Deleting}
				case r.Applied.IsZero() || r.Applied.Unix() < o.back.aborted.Unix():
					r = status.Report{Cluster: name, Status: left, Deleting: r.Deleting}
				}
				reports = append(reports, r)
			}
		default:
			for _, r := range before {
				if r.Applied.IsZero() || r.Applied.Unix() < o.back.aborted.Unix() {
					r = status.Report{Cluster: name, Status: left}
				}
				reports = append(reports, r)
			}
		}
	}
	return reports
}

// R43: of the record counts what started since the abort, and not of a cluster with the failed version.
func (o *oracle) r43Memory() *rollout.StoredRecord {
	if o.storedRecord == nil {
		return nil
	}
	m := *o.storedRecord
	started := func(e status.DeselectedCluster) bool {
		return !e.Applied.IsZero() && e.Applied.Unix() >= o.back.aborted.Unix()
	}
	if !slices.ContainsFunc(m.Record.Deselected, func(e status.DeselectedCluster) bool { return !started(e) }) {
		m.Record.Deselected = nil
	} else {
		m.Record.Deselected, m.Record.More = nil, 0
	}
	for _, e := range o.storedRecord.Record.Deselected {
		if _, has := o.back.has(e.Cluster); started(e) && !has {
			m.Record.Deselected = append(m.Record.Deselected, e)
		}
	}
	return &m
}

// R44: failed first, then as the caller says, then unknown times, then the latest; the names are left to R8.
func (o *oracle) r44Order() func(a, b string) int {
	first := func(a, b bool) int {
		switch {
		case a && !b:
			return -1
		case b && !a:
			return 1
		}
		return 0
	}
	callers := o.order
	return func(a, b string) int {
		of := func(name string) (has, failed bool) {
			r, has := o.back.has(name)
			s := subject{}
			s.status, s.since = r27(r)
			return has, has && (r2(&s) || o.r4(&s))
		}
		hasA, failedA := of(a)
		hasB, failedB := of(b)
		if c := first(hasA, hasB); c != 0 {
			return c
		}
		if c := first(failedA, failedB); c != 0 {
			return c
		}
		if callers != nil {
			if c := callers(a, b); c != 0 {
				return c
			}
		}
		sinceA, sinceB := o.back.since(a), o.back.since(b)
		if c := first(sinceA.IsZero(), sinceB.IsZero()); c != 0 {
			return c
		}
		return sinceB.Compare(sinceA)
	}
}
