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
}

// Learn looks at where a rollout stands.
func Learn(reports []status.Report) (l Learned) {
	var took []time.Duration
	for _, r := range reports {
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
	if l.Done = len(took); l.Done > 0 {
		slices.Sort(took)
		tenth := l.Done / 10
		l.Takes = chance.Range{Least: took[tenth], Most: took[l.Done-1-tenth]}
	}
	return l
}

// FailRate is the chance to fail.
func (l Learned) FailRate() chance.Rate {
	return chance.Rate(l.Failed) / chance.Rate(max(l.Settled, 1))
}
