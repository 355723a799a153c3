// SPDX-License-Identifier: Apache-2.0

package compare

import (
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"

	"github.com/cohort-ocm/cohort/examples/kubectl-cohort/internal/chance"
	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/rollout"
)

// Candidate is a strategy with a name.
type Candidate struct {
	Name     string
	Strategy clusterv1alpha1.RolloutStrategy
	Options  rollout.Options
}

// Question is what is compared, and how often it is played.
type Question struct {
	Groups     *grouping.Groups
	Candidates []Candidate
	// Good are the chances of an ordinary version, and Bad the chances of a version that has to be stopped.
	Good, Bad Chances
	// Runs is how often each is played; once if it is 0.
	Runs int
	Seed uint64
	// Retries is how often a good version is tried again on the clusters that failed, each time RetryAfter after a breach or
	// else after the end. A bad one is not.
	Retries    int
	RetryAfter time.Duration
	// Unreached says of a cluster that it never answers, whatever the chances. Nil says it of none.
	Unreached func(cluster string) bool
}

// Never is a time that doesn't come.
const Never time.Duration = math.MaxInt64

// Answer is how one candidate did.
type Answer struct {
	Name string `json:"name"`
	// Strategy is what the strategy comes to, in a line.
	Strategy string `json:"strategy,omitempty"`
	Runs     int    `json:"runs"`
	// The times within which half of all runs, and 95 of 100, finished, perhaps with tolerated failures.
	// A run that is stopped, or gets stuck, never does.
	P50 time.Duration `json:"p50"`
	P95 time.Duration `json:"p95"`
	// Stopped and Stuck are how many runs of the good version were stopped by a breach, and got stuck.
	Stopped int `json:"stopped"`
	Stuck   int `json:"stuck"`
	// Breach is the chance that the strategy stops a good version, and Error how far off it may be: two standard errors
	// of this number of runs.
	Breach chance.Rate `json:"breach"`
	Error  chance.Rate `json:"error"`
	// Peak is the most clusters in flight at a time in any run of the good version.
	Peak int `json:"peak"`
	// Wasted is how many starts of the good version came to nothing, on average: the cluster had not succeeded when the
	// run ended.
	Wasted float64 `json:"wasted"`
	// Had is how many clusters had the bad version when it was stopped, in half of all runs at most, HadP95 in 95 of 100
	// runs, and HadMost in the worst one. On Broken of them it did not work, in half of all runs at most, and on BrokenMost in
	// the worst. StoppedAfter is when half of all runs were stopped, which is Never if fewer are.
	Had          int           `json:"had"`
	HadP95       int           `json:"hadP95"`
	HadMost      int           `json:"hadMost"`
	Broken       int           `json:"broken"`
	BrokenMost   int           `json:"brokenMost"`
	StoppedAfter time.Duration `json:"stoppedAfter"`
	// Clusters is how many there are.
	Clusters int `json:"clusters"`
}

// Compare plays all candidates. Its answers are in their order.
func Compare(q Question) ([]Answer, error) {
	var answers []Answer
	for _, c := range q.Candidates {
		good, err := q.all(c, q.Good, q.Retries)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", c.Name, err)
		}
		bad, err := q.all(c, q.Bad, 0)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", c.Name, err)
		}
		answers = append(answers, q.answer(c, good, bad))
	}
	return answers, nil
}

func (q Question) runs() int { return max(q.Runs, 1) }

// all plays all runs, next to one another.
func (q Question) all(c Candidate, chances Chances, retries int) ([]outcome, error) {
	outcomes, errs := make([]outcome, q.runs()), make([]error, q.runs())
	var next atomic.Int64
	var playing sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(outcomes)) {
		playing.Go(func() {
			for run := int(next.Add(1)) - 1; run < len(outcomes); run = int(next.Add(1)) - 1 {
				r := running{candidate: c, groups: q.Groups, retries: retries, retryAfter: q.RetryAfter, fates: func(position, again int) fate {
					if q.Unreached != nil && q.Unreached(q.Groups.Cluster(position)) {
						return fate{}
					}
					return chances.fate(q.Seed+uint64(again), run, position)
				}}
				errs[run] = r.play()
				outcomes[run] = r.outcome
			}
		})
	}
	playing.Wait()
	return outcomes, errors.Join(errs...)
}

func (q Question) answer(c Candidate, good, bad []outcome) Answer {
	a := Answer{Name: c.Name, Runs: len(good), Clusters: q.Groups.NumClusters()}
	var finished, stopped []time.Duration
	var had, broken []int
	wasted := 0
	for _, o := range good {
		a.Peak = max(a.Peak, o.peak)
		wasted += o.wasted
		switch {
		case o.finished:
			finished = append(finished, o.after)
			continue
		case o.stopped:
			a.Stopped++
		default:
			a.Stuck++
		}
		finished = append(finished, Never)
	}
	for _, o := range bad {
		had, broken = append(had, o.started), append(broken, o.broken)
		if o.stopped {
			stopped = append(stopped, o.after)
		} else {
			stopped = append(stopped, Never)
		}
	}
	a.Wasted = math.Round(100*float64(wasted)/float64(len(good))) / 100
	a.P50, a.P95 = quantile(finished, 0.5), quantile(finished, 0.95)
	a.Had, a.HadP95, a.HadMost = quantile(had, 0.5), quantile(had, 0.95), slices.Max(had)
	a.Broken, a.BrokenMost, a.StoppedAfter = quantile(broken, 0.5), slices.Max(broken), quantile(stopped, 0.5)
	p, n := float64(a.Stopped)/float64(len(good)), float64(len(good))
	a.Breach, a.Error = chance.Rate(p), chance.Rate(2*math.Sqrt(p*(1-p)/n))
	return a
}

// quantile is the least value that at least such a share of all values do not exceed.
func quantile[T int | time.Duration](values []T, share float64) T {
	slices.Sort(values)
	return values[max(int(math.Ceil(share*float64(len(values))))-1, 0)]
}
