package rollout

import (
	"fmt"
	"strings"
	"time"

	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"

	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/internal/fielderrs"
)

// Exposure says, before a rollout begins, how far a version that does not work can get, and how long the rollout takes.
//
// A cluster is exposed while it is in flight with the version or has failed with it: it has neither succeeded and soaked,
// nor been skipped. The numbers of exposed clusters hold whatever clusters report and in whatever order, also where many
// fail at once, fail and recover, or never answer. They assume that the groups keep their clusters, that a cluster that
// succeeded and soaked goes on working, and that no new [Attempt] is asked for. Pauses and gates may end at any time, so
// they play no part in these numbers.
//
// For each number of clusters there is a history that reaches it. With [FailedBefore], and with [Ramp] where groups go
// side by side ([GroupOrder]), the numbers are only bounds, which no history exceeds.
//
// The times assume that every cluster succeeds within its deadline and that the controller acts at once. With Ramp or
// [MaxStarts] where groups go side by side, the shortest time is only a bound, which ignores the ramp, and the longest is
// unknown.
type Exposure struct {
	// Clusters is the number of selected clusters that count. An exposure says nothing of the others ([Uncounted]).
	Clusters int `json:"clusters"`
	// Exposed is the most clusters that are exposed at the same time. Nothing starts once a budget is breached, so it is
	// also the most that are exposed at a breach and after it.
	Exposed int `json:"exposed"`
	// ExposedIfAllFail is the most clusters that get a version that fails on every cluster.
	ExposedIfAllFail int `json:"exposedIfAllFail"`
	// InFlight is the most clusters that are in flight at the same time, if no cluster that timed out comes back.
	InFlight int `json:"inFlight"`
	// Finish is how long it takes from the beginning until all clusters are done.
	Finish Span `json:"finish"`
	// Stages are the stages of the rollout's [Schedule], each with the numbers for its clusters alone.
	Stages []StageExposure `json:"stages"`
	// Warnings are what a plan warns of before anything is reported, followed by warnings where the strategy protects
	// nothing.
	Warnings []Warning `json:"warnings,omitempty"`
}

// StageExposure is a stage with the numbers that an [Exposure] has for its clusters.
type StageExposure struct {
	Stage
	// Exposed is the most clusters of the stage that are exposed at the same time.
	Exposed int `json:"exposed"`
	// InFlight is the most clusters of the stage that are in flight at the same time.
	InFlight int `json:"inFlight"`
	// Finish is how long it takes from the beginning of the rollout until the stage is complete.
	Finish Span `json:"finish"`
}

// Expose works out the exposure of a rollout by strategy over groups that begins at the time now. Life is how long a
// cluster takes from its start to its success, without the strategy's MinSuccessTime. The options are the same as for
// [Plan].
//
// The errors are the same as from [Plan], and one where life is negative or its Longest is below its Shortest. Inputs
// are not changed.
//
// Expose takes time linear in the groups, however many clusters they have; with [Ramp], [MaxStarts], [Uncounted] or
// [FailedBefore] linear in the clusters. With [GroupOrder] it finds a maximum flow, in a few passes over the pairs of groups
// that directly follow each other, and at worst in as many passes as there are groups. With Ramp as well it makes one more
// pass over these pairs for every 64 groups.
func Expose(strategy clusterv1alpha1.RolloutStrategy, groups *grouping.Groups, life Span, now time.Time, opts ...Option) (Exposure, error) {
	rules, o, errs := compile(strategy, opts)
	if errs = append(errs, life.errs()...); len(errs) > 0 {
		return Exposure{}, fielderrs.Join(errs)
	}
	return newProspect(rules, o, groups).expose(life, now.Round(0)), nil
}

// String is a sentence without its full stop: `at most 12 of 320 clusters get a version that fails them, 1 where it fails
// all; at most 10 in flight at a time; done after 3h20m0s to 6h0m0s if none fails`, and `; 2 not counted` where some are not.
func (e Exposure) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "at most %d of %s get a version that fails them", e.Exposed, clusters(e.Clusters))
	if e.ExposedIfAllFail != e.Exposed {
		fmt.Fprintf(&b, ", %d where it fails all", e.ExposedIfAllFail)
	}
	fmt.Fprintf(&b, "; at most %d in flight at a time; done after %v if none fails", e.InFlight, e.Finish)
	if n := e.uncounted(); n > 0 {
		fmt.Fprintf(&b, "; %d not counted", n)
	}
	return b.String()
}

// uncounted counts the clusters that an exposure says nothing of.
func (e Exposure) uncounted() (n int) {
	for i := range e.Stages {
		n += e.Stages[i].Uncounted
	}
	return n
}

// String is `[group 0 "canary"]: at most 3 of 3 clusters exposed, 3 in flight; done after 10m0s to 30m0s`.
func (e StageExposure) String() string {
	return fmt.Sprintf("%v: at most %d of %s exposed, %d in flight; done after %v",
		e.Stage, e.Exposed, clusters(e.Clusters-e.Uncounted), e.InFlight, e.Finish)
}

func clusters(n int) string {
	if n == 1 {
		return "1 cluster"
	}
	return fmt.Sprintf("%d clusters", n)
}
