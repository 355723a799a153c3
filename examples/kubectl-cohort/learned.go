package main

import (
	"fmt"

	"github.com/cohort-ocm/cohort/examples/kubectl-cohort/internal/scenario"
	"github.com/cohort-ocm/cohort/rollout"
)

// learnTakes is how long clusters take, learned from the clusters that are done, unless a flag says so.
func learnTakes(s *scenario.Scenario, takes *times, given bool) {
	if given || !s.Live {
		return
	}
	learned := scenario.Learn(s.Reports(rollout.Options{}))
	if learned.Done == 0 {
		s.Notes = append(s.Notes, fmt.Sprintf("--takes: a guess, %v, as no cluster that is done says how long it took", takes))
		return
	}
	takes.Range = learned.Takes
	who := of(learned.Done, "the cluster that is done", "the %d clusters that are done")
	if learned.Done >= enough {
		who = "most of " + who
	}
	s.Notes = append(s.Notes, fmt.Sprintf("--takes: %v, as %s took", takes, who))
}

// enough is how many clusters have to have settled before the share of those that failed says anything of the others.
const enough = 10

// learnFailRate is the chance to fail, learned from the clusters that succeeded or failed, unless a flag or the Behavior says
// who fails.
func learnFailRate(s *scenario.Scenario, fails *rate, given bool) {
	if given || !s.Live || len(s.Behavior.Clusters) > 0 {
		return
	}
	learned := scenario.Learn(s.Reports(rollout.Options{}))
	if learned.Failed == 0 || learned.Settled < enough {
		return
	}
	fails.Rate = learned.FailRate()
	s.Notes = append(s.Notes, fmt.Sprintf("--fail-rate: %v, as %d of %d clusters failed that have settled; who else fails is drawn", fails, learned.Failed, learned.Settled))
}

// of is a text about one or about several.
func of(n int, one, several string) string {
	if n == 1 {
		return one
	}
	return fmt.Sprintf(several, n)
}
