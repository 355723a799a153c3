package scenario

import (
	"slices"
	"time"

	"github.com/cohort-ocm/cohort/examples/kubectl-cohort/internal/chance"
	"github.com/cohort-ocm/cohort/status"
)

// Learned is what the clusters that have settled say of those to come.
type Learned struct {
	// Takes is how long clusters took to succeed, without the fastest tenth and the slowest. Done is how many say how long.
	Takes chance.Range
	Done  int
	// Failed is how many failed, of Settled that failed or succeeded.
	Failed, Settled int
	// Validates is how long the verdict took after a success, without the same tenths. NotGood is how
	// many were not found good, of Judged.
	Validates       chance.Range
	NotGood, Judged int
}

// Learn looks at where a rollout stands. Where clusters are validated, unjudged are the reports without what was said of the
// clusters: a cluster took as long as until its success, and one that failed then was not found good.
func Learn(reports, unjudged []status.Report) (l Learned) {
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
	l.Done, l.Takes = len(took), most(took)
	l.Judged, l.Validates = len(judged), most(judged)
	return l
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
func (l Learned) FailRate() chance.Rate { return rateOf(l.Failed, l.Settled) }

// NotGoodRate is the chance not to be found good, of a cluster that succeeds.
func (l Learned) NotGoodRate() chance.Rate { return rateOf(l.NotGood, l.Judged) }

func rateOf(some, all int) chance.Rate { return chance.Rate(some) / chance.Rate(max(all, 1)) }
