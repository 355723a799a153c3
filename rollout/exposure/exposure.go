// SPDX-License-Identifier: Apache-2.0

package exposure

import (
	"fmt"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/validation/field"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"

	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/internal/fielderrs"
	"github.com/cohort-ocm/cohort/rollout"
)

// Exposure has the blast radius of a version that does not work, and the duration of its rollout, before the rollout begins.
//
// A cluster is exposed while it is in flight with the version or has failed with it: it has neither succeeded and soaked,
// nor been skipped. The numbers of exposed clusters are right whatever clusters report and in whatever order, also if many
// fail at once, fail and recover, or never answer. Pauses and gates may end at any time, and [rollout.Options].Shares may change, so
// these numbers do not depend on them, nor the times on shares. More clusters can be exposed if one of these assumptions fails:
//
//   - A cluster that succeeded and soaked keeps working, and one that has the version and is skipped is done with it.
//   - Without a progressDeadline no cluster reports TimeOut, which frees the slot of a failed cluster.
//   - Reports show each cluster that has the version, and no new [rollout.Options].Attempt is asked for.
//
// Exposed is right even if the groups are cut again at each step, and if clusters join, are deselected, move, are frozen, are not on the
// allowlist or are skipped for a while. If the groups change, it is the greatest of all groups that there were. Under the type All it is
// about the clusters that are selected at a time: deselected clusters with the version come on top. The other numbers assume that the
// groups keep their clusters at each moment, that the groups of frozen clusters wait for them ([rollout.ClusterFreeze].Blocks), that every
// cluster is on the allowlist, and that a skip lasts.
//
// For each number of clusters there is a history that reaches it. With [rollout.Options].FailedBefore, and with Ramp where groups run
// side by side ([rollout.GroupOrder]), the numbers are only bounds, which no history exceeds.
//
// The times assume that every cluster succeeds within its deadline and that the controller acts at once. With Ramp or
// [rollout.Options].MaxStarts where groups run side by side, the shortest time is only a bound, which ignores the ramp, and the longest is
// unknown.
type Exposure struct {
	// Clusters is the number of selected clusters that count. Ignored clusters are left out ([rollout.Options].Ignored).
	Clusters int `json:"clusters"`
	// Exposed is the most clusters that are exposed at the same time, however the groups are cut. It is also the most at a breach and
	// after it.
	Exposed int `json:"exposed"`
	// ExposedIfAllFail is the most clusters that get a version that fails on every cluster, where the groups keep their clusters. It
	// also assumes that no cluster is skipped: a group that is skipped is complete, and the next one gets the version.
	ExposedIfAllFail int `json:"exposedIfAllFail"`
	// InFlight is the most clusters that are in flight at the same time, where the groups keep their clusters, if no timed-out cluster
	// becomes in flight again and no skipped one is wanted again.
	InFlight int `json:"inFlight"`
	// Finish is how long it takes from the beginning until all clusters are done.
	Finish Span `json:"finish"`
	// Stages are the stages of the rollout's [rollout.Schedule], each with the numbers for its clusters alone.
	Stages []Stage `json:"stages"`
	// Warnings are the warnings of a plan without reports.
	Warnings []rollout.Warning `json:"warnings,omitempty"`
	// Weaknesses say where the strategy protects nothing.
	Weaknesses []Weakness `json:"weaknesses,omitempty"`
}

// Stage is a stage with the numbers that an [Exposure] has for its clusters, where the groups keep their clusters.
type Stage struct {
	rollout.Stage
	// Exposed is the most clusters of the stage that are exposed at the same time.
	Exposed int `json:"exposed"`
	// InFlight is the most clusters of the stage that are in flight at the same time.
	InFlight int `json:"inFlight"`
	// Finish is how long it takes from the beginning of the rollout until the stage is complete.
	Finish Span `json:"finish"`
}

// Of computes the exposure of a rollout by strategy over groups that begins at the time now. Life is how long a cluster
// takes from its start to its success, without the strategy's MinSuccessTime. The options are the same as for
// [rollout.Plan]; Previous and StoredRecord are not used. The documentation of [Exposure] has the assumptions.
//
// The errors are the same as from [rollout.Plan], and one where life is negative or its Longest is below its Shortest.
// Inputs are not changed.
//
// Of takes as long as a plan of a rollout that has not begun, and time linear in the groups, with Ramp, MaxStarts,
// Ignored or FailedBefore linear in the clusters. With GroupOrder it finds a maximum flow, in a few passes over the pairs
// of groups that directly follow each other, and at worst in as many passes as there are groups. With Ramp as well it makes
// one more pass over these pairs for every 64 groups.
func Of(strategy clusterv1alpha1.RolloutStrategy, groups *grouping.Groups, life Span, now time.Time, opts rollout.Options) (Exposure, error) {
	if errs := append(faults(strategy, &opts), life.errs()...); len(errs) > 0 {
		return Exposure{}, fielderrs.Join(errs)
	}
	prospect, err := newProspect(strategy, groups, &opts)
	if err != nil {
		return Exposure{}, err
	}
	return prospect.exposureOver(life, now.Round(0)), nil
}

// faults gives what is wrong with the strategy and the options.
func faults(strategy clusterv1alpha1.RolloutStrategy, opts *rollout.Options) field.ErrorList {
	return append(rollout.Validate(strategy, nil), opts.Validate(nil)...)
}

// String is a sentence without its full stop: `a bad version that fails on some clusters reaches at most 12 of 320 clusters before
// the rollout stops, one that fails on every cluster at most 1; at most 10 in flight at a time; done after 3h20m0s to 6h0m0s if no cluster fails`,
// with `(and the 2 ignored)` after the clusters where some are ignored: these get the version, and count nowhere.
func (e Exposure) String() string {
	var b strings.Builder
	b.WriteString("a bad version ")
	if e.ExposedIfAllFail != e.Exposed {
		b.WriteString("that fails on some clusters ")
	}
	fmt.Fprintf(&b, "reaches at most %d of %s", e.Exposed, clusters(e.Clusters))
	if n := e.ignored(); n > 0 {
		fmt.Fprintf(&b, " (and the %d ignored)", n)
	}
	if e.Exposed < e.Clusters {
		b.WriteString(" before the rollout stops")
	}
	if e.ExposedIfAllFail != e.Exposed {
		fmt.Fprintf(&b, ", one that fails on every cluster at most %d", e.ExposedIfAllFail)
	}
	fmt.Fprintf(&b, "; at most %d in flight at a time; done after %v if no cluster fails", e.InFlight, e.Finish)
	return b.String()
}

// ignored counts the ignored clusters.
func (e Exposure) ignored() (n int) {
	for i := range e.Stages {
		n += e.Stages[i].Ignored
	}
	return n
}

// String is `[group 0 "canary"]: a bad version reaches at most 3 of 3 clusters; at most 3 in flight at a time; done after 10m0s to 30m0s`.
func (stage Stage) String() string {
	return fmt.Sprintf("%v: a bad version reaches at most %d of %s; at most %d in flight at a time; done after %v",
		stage.Stage, stage.Exposed, clusters(stage.Clusters-stage.Ignored), stage.InFlight, stage.Finish)
}

func clusters(n int) string {
	if n == 1 {
		return "1 cluster"
	}
	return fmt.Sprintf("%d clusters", n)
}
