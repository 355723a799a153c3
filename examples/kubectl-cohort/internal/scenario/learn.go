// SPDX-License-Identifier: Apache-2.0

package scenario

import (
	"maps"
	"slices"
	"time"

	"github.com/cohort-ocm/cohort/examples/kubectl-cohort/internal/chance"
	"github.com/cohort-ocm/cohort/examples/kubectl-cohort/internal/policy"
	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/rollout/writes"
	"github.com/cohort-ocm/cohort/status"
)

// Learned is what the clusters that have settled say of those to come.
type Learned struct {
	// Takes is how long clusters took to succeed, without the fastest tenth and the slowest. Done is how many say how long.
	Takes chance.Range
	Done  int
	// Again is how many others succeeded as well, and perhaps not for the first time: later than the deadline allows, or long after the others.
	Again int
	// Failed is how many failed, of Settled that failed or succeeded.
	Failed, Settled int
	// Validates is how long the verdict took after a success, without the same tenths. NotGood is how
	// many were not found good, of Judged.
	Validates       chance.Range
	NotGood, Judged int
}

// Learn looks at where a rollout stands. Where clusters are validated, unjudged are the reports without what was said of the
// clusters: a cluster took as long as until its success, and one that failed then was not found good. A deadline of 0 is none.
func Learn(reports, unjudged []status.Report, deadline time.Duration) (l Learned) {
	succeeded := make(map[string]*status.Report)
	for i := range unjudged {
		if r := &unjudged[i]; r.Status == status.Succeeded {
			succeeded[r.Cluster] = r
		}
	}
	var took, judged []time.Duration
	for _, r := range reports {
		if success := succeeded[r.Cluster]; success != nil {
			if r.Status != status.Validating {
				judged = append(judged, Since(&r).Sub(Since(success)).Truncate(time.Second))
			}
			if r.Status == status.Failed {
				l.NotGood++
			}
			r = *success
		}
		switch r.Status {
		case status.Failed, status.TimeOut:
			l.Failed++
			l.Settled++
		case status.Succeeded:
			l.Settled++
			since := r.LastTransitionTime
			if r.Answered.After(since) {
				since = r.Answered
			}
			if d := since.Sub(r.Applied).Truncate(time.Second); !r.Applied.IsZero() && d > 0 { // else it was so before
				took = append(took, d)
			}
		}
	}
	first := firstSuccesses(took, deadline)
	l.Done, l.Again, l.Takes = len(first), len(took)-len(first), most(first)
	l.Judged, l.Validates = len(judged), most(judged)
	return l
}

// firstSuccesses are the times that may have been those until a first success. A report has the last success alone: a cluster that was done,
// failed for a moment and recovered would seem to have taken all the time between.
func firstSuccesses(took []time.Duration, deadline time.Duration) []time.Duration {
	const far = 4 // times as long as half of the clusters
	slices.Sort(took)
	return slices.DeleteFunc(slices.Clone(took), func(d time.Duration) bool {
		return deadline > 0 && d > deadline || d > far*took[(len(took)-1)/2]
	})
}

// LearnBefore looks at what the clusters say of the versions that they have, where these are not the one that is wanted.
func (s *Scenario) LearnBefore() Learned { return Learn(s.Before(), nil, s.Deadline()) }

// Before are the reports of clusters that have another version than the one that is wanted, about that version.
func (s *Scenario) Before() (reports []status.Report) {
	for _, work := range s.older {
		q := question{&work.Spec, status.StampOf(work).Version, s.available}
		if q.version == "" {
			q.version = writes.VersionOf(work.Spec)
		}
		if report, dated := reportOf(work, q); dated {
			reports = append(reports, report)
		}
	}
	if s.Policy != nil {
		versions := make(map[string]bool)
		for i := range s.Policy.Replicas {
			if v := s.Policy.Replicas[i].Version; v != "" && v != s.Policy.Version {
				versions[v] = true
			}
		}
		for _, version := range slices.Sorted(maps.Keys(versions)) {
			reports = append(reports, policy.Resume(s.Policy.Resolution, version, s.Policy.Replicas, status.Record{}, rollout.Options{}).Observed()...)
		}
	}
	return reports
}

// Deadline is the progressDeadline of the strategy; 0 for none.
func (s *Scenario) Deadline() time.Duration {
	deadline, err := time.ParseDuration(s.AtOnce().All.ProgressDeadline)
	if err != nil { // None, or nothing
		return 0
	}
	return deadline
}

// most is the range of most of these times: without the shortest tenth and the longest.
func most(times []time.Duration) (r chance.Range) {
	if n := len(times); n > 0 {
		slices.Sort(times)
		r = chance.Range{Least: times[n/10], Most: times[n-1-n/10]}
	}
	return r
}

// FailRate is the chance to fail.
func (learned Learned) FailRate() chance.Rate { return rateOf(learned.Failed, learned.Settled) }

// NotGoodRate is the chance not to be found good, of a cluster that succeeds.
func (learned Learned) NotGoodRate() chance.Rate { return rateOf(learned.NotGood, learned.Judged) }

func rateOf(some, all int) chance.Rate { return chance.Rate(some) / chance.Rate(max(all, 1)) }
