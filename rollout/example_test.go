// SPDX-License-Identifier: Apache-2.0

package rollout_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation/field"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	workv1alpha1 "open-cluster-management.io/api/work/v1alpha1"

	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/status"
)

// noon is when the controllers of the examples reconcile.
func noon() time.Time { return time.Date(2026, time.November, 21, 12, 0, 0, 0, time.UTC) }

// decision is a PlacementDecision as a lister gives it.
func decision(index int, name string, clusters ...string) *clusterv1beta1.PlacementDecision {
	d := &clusterv1beta1.PlacementDecision{ObjectMeta: metav1.ObjectMeta{
		Namespace: "apps",
		Name:      fmt.Sprintf("fleet-decision-%d", index+1),
		Labels: map[string]string{
			clusterv1beta1.PlacementLabel:          "fleet",
			clusterv1beta1.DecisionGroupIndexLabel: strconv.Itoa(index),
			clusterv1beta1.DecisionGroupNameLabel:  name,
		},
	}}
	for _, c := range clusters {
		d.Status.Decisions = append(d.Status.Decisions, clusterv1beta1.ClusterDecision{ClusterName: c})
	}
	return d
}

// shops are two groups: a canary and the rest.
func shops() *grouping.Groups {
	groups, err := grouping.Read(nil, []*clusterv1beta1.PlacementDecision{
		decision(0, "canary", "berlin", "oslo"),
		decision(1, "", "lima", "paris", "quito", "rome"),
	})
	if err != nil {
		panic(err)
	}
	return groups
}

// must is for examples, whose strategies and reports have no fault.
func must(result *rollout.Result, err error) *rollout.Result {
	if err != nil {
		panic(err)
	}
	return result
}

// Two clusters at a time get the workload. One is done, one is at it, so that one may begin.
func ExamplePlan() {
	strategy := clusterv1alpha1.RolloutStrategy{
		Type:        clusterv1alpha1.Progressive,
		Progressive: &clusterv1alpha1.RolloutProgressive{MaxConcurrency: intstr.FromInt32(2)},
	}
	reports := []status.Report{
		{Cluster: "berlin", Status: status.Succeeded},
		{Cluster: "lima", Status: status.Progressing},
		{Cluster: "tokyo", Status: status.Succeeded}, // no longer selected
	}
	result, err := rollout.Plan(strategy, shops(), reports, noon(), rollout.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, c := range result.Start {
		fmt.Printf("apply to %s in %v\n", c.Name, c.Group)
	}
	for _, name := range result.Removed {
		fmt.Println("delete from", name)
	}
	fmt.Println(result)
	// Output:
	// apply to oslo in group 0 "canary"
	// delete from tokyo
	// starting oslo; in flight lima; removing the workload from tokyo; 3 more clusters blocked: the concurrency limit is reached (2 of 2 in flight or starting): lima is progressing, and stays in flight until it is done (no progressDeadline); oslo is starting
}

// byGroup rolls out group by group.
func byGroup(config clusterv1alpha1.RolloutConfig) clusterv1alpha1.RolloutStrategy {
	return clusterv1alpha1.RolloutStrategy{
		Type:                clusterv1alpha1.ProgressivePerGroup,
		ProgressivePerGroup: &clusterv1alpha1.RolloutProgressivePerGroup{RolloutConfig: config},
	}
}

// Why does paris not have it yet?
func ExampleResult_Find() {
	reports := []status.Report{{Cluster: "berlin", Status: status.Succeeded}}
	result := must(rollout.Plan(byGroup(clusterv1alpha1.RolloutConfig{}), shops(), reports, noon(), rollout.Options{}))
	for _, name := range []string{"berlin", "oslo", "paris", "tokyo"} {
		disposition, reason, selected := result.Find(name)
		switch {
		case !selected:
			fmt.Println(name, "is not selected")
		case disposition == rollout.DispositionBlocked:
			fmt.Printf("%s: %v, %v\n", name, disposition, reason)
		default:
			fmt.Printf("%s: %v\n", name, disposition)
		}
	}
	// Output:
	// berlin: Settled
	// oslo: Starting
	// paris: Blocked, waiting for group 0 "canary": 1 of 2 done; oslo is starting
	// tokyo is not selected
}

// Every cluster that waits, with the reason in the two forms of a condition.
func ExampleResult_Blocked() {
	result := must(rollout.Plan(byGroup(clusterv1alpha1.RolloutConfig{}), shops(), nil, noon(), rollout.Options{}))
	for c, reason := range result.Blocked() {
		fmt.Printf("%s (%v): reason %s, message %q\n", c.Name, c.Group, reason.Type, reason)
	}
	// Output:
	// lima (group 1): reason EarlierGroupIncomplete, message "waiting for group 0 \"canary\": 0 of 2 done; berlin, oslo are starting"
	// paris (group 1): reason EarlierGroupIncomplete, message "waiting for group 0 \"canary\": 0 of 2 done; berlin, oslo are starting"
	// quito (group 1): reason EarlierGroupIncomplete, message "waiting for group 0 \"canary\": 0 of 2 done; berlin, oslo are starting"
	// rome (group 1): reason EarlierGroupIncomplete, message "waiting for group 0 \"canary\": 0 of 2 done; berlin, oslo are starting"
}

// The same for a fleet that is too large to list.
func ExampleResult_BlockCounts() {
	result := must(rollout.Plan(byGroup(clusterv1alpha1.RolloutConfig{}), shops(), nil, noon(),
		rollout.Options{MaxConcurrencyPerGroup: intstr.FromInt32(1)}))
	for _, w := range result.BlockCounts() {
		fmt.Println(w)
	}
	// Output:
	// 1 more cluster blocked: the concurrency limit of group 0 "canary" is reached (1 of 1 in flight or starting): berlin is starting
	// 4 clusters blocked: waiting for group 0 "canary": 0 of 2 done; berlin is starting; 1 cluster of that group is blocked: the concurrency limit of group 0 "canary" is reached (1 of 1 in flight or starting)
}

// The clusters that need nothing more.
func ExampleResult_Settled() {
	reports := []status.Report{
		{Cluster: "oslo", Status: status.Skip},
		{Cluster: "berlin", Status: status.Succeeded},
		{Cluster: "lima", Status: status.Progressing},
	}
	for c := range must(rollout.Plan(clusterv1alpha1.RolloutStrategy{}, shops(), reports, noon(), rollout.Options{})).Settled() {
		fmt.Println(c.Name, c.Status)
	}
	// Output:
	// berlin Succeeded
	// oslo Skip
}

// A canary group that has to succeed first tolerates no failure, whatever MaxFailures says.
func ExamplePlan_mandatoryGroupFails() {
	strategy := clusterv1alpha1.RolloutStrategy{
		Type: clusterv1alpha1.Progressive,
		Progressive: &clusterv1alpha1.RolloutProgressive{
			RolloutConfig: clusterv1alpha1.RolloutConfig{MaxFailures: intstr.FromString("25%")},
			MandatoryDecisionGroups: clusterv1alpha1.MandatoryDecisionGroups{
				MandatoryDecisionGroups: []clusterv1alpha1.MandatoryDecisionGroup{{GroupName: "canary"}, {GroupName: "pilot"}},
			},
		},
	}
	reports := []status.Report{{Cluster: "oslo", Status: status.Failed}, {Cluster: "berlin", Status: status.Succeeded}}
	result := must(rollout.Plan(strategy, shops(), reports, noon(), rollout.Options{}))
	fmt.Println(result)
	fmt.Println("breach:", result.Breach)
	fmt.Println("warning:", result.Warnings[0])
	// Output:
	// in flight oslo; 4 clusters blocked: the rollout is stopped: oslo failed in mandatory group 0 "canary" (which tolerates no failure); the rollout continues once oslo is no longer failed or timed out
	// breach: the rollout is stopped: oslo failed in mandatory group 0 "canary" (which tolerates no failure); the rollout continues once oslo is no longer failed or timed out
	// warning: mandatory group "pilot" has no effect: there is no such group; the groups are "canary", 1
}

// A controller comes back when the first soak or deadline ends, and then something changes.
func ExamplePlan_soakAndDeadline() {
	strategy := byGroup(clusterv1alpha1.RolloutConfig{
		MinSuccessTime:   metav1.Duration{Duration: 5 * time.Minute},
		ProgressDeadline: "15m",
		MaxFailures:      intstr.FromInt32(1),
	})
	reports := []status.Report{
		{Cluster: "berlin", Status: status.Succeeded, LastTransitionTime: noon().Add(-2 * time.Minute)},
		{Cluster: "oslo", Status: status.Progressing, LastTransitionTime: noon().Add(-4 * time.Minute)},
	}
	for at := noon(); ; {
		result := must(rollout.Plan(strategy, shops(), reports, at, rollout.Options{}))
		fmt.Println(at.Format("15:04"), result)
		if result.RecheckAfter == 0 {
			break
		}
		at = at.Add(result.RecheckAfter)
	}
	// Output:
	// 12:00 in flight berlin, oslo; 4 clusters blocked: waiting for group 0 "canary": 0 of 2 done; oslo is progressing and times out at 2026-11-21T12:11:00Z; berlin succeeded and has to stay so (minSuccessTime) until 2026-11-21T12:03:00Z; recheck after 3m0s
	// 12:03 in flight oslo; 4 clusters blocked: waiting for group 0 "canary": 1 of 2 done; oslo is progressing and times out at 2026-11-21T12:11:00Z; recheck after 8m0s
	// 12:11 starting lima, paris, quito, rome; timed out oslo
}

// A webhook returns the list as it is, with the paths of the object. This one lets users write options in an annotation.
func ExampleValidate() {
	replicaSet := workv1alpha1.ManifestWorkReplicaSet{}
	replicaSet.Spec.PlacementRefs = []workv1alpha1.LocalPlacementReference{{Name: "fleet"}}
	replicaSet.Spec.PlacementRefs[0].RolloutStrategy = clusterv1alpha1.RolloutStrategy{
		Type: clusterv1alpha1.Progressive,
		Progressive: &clusterv1alpha1.RolloutProgressive{
			RolloutConfig:  clusterv1alpha1.RolloutConfig{ProgressDeadline: "1d"},
			MaxConcurrency: intstr.FromString("NaN%"),
		},
	}

	var errs field.ErrorList
	for i, ref := range replicaSet.Spec.PlacementRefs {
		path := field.NewPath("spec", "placementRefs").Index(i).Child("rolloutStrategy")
		errs = append(errs, rollout.Validate(ref.RolloutStrategy, path)...)
	}
	var opts rollout.Options
	path, text := field.NewPath("metadata", "annotations").Key("example.com/options"), `{"ramp": 0, "removeAfter": "1m"}`
	if err := json.Unmarshal([]byte(text), &opts); err != nil {
		errs = append(errs, field.Invalid(path, text, err.Error()))
	}
	errs = append(errs, opts.Validate(path)...)
	for _, err := range errs {
		fmt.Println(err)
	}
	// Output:
	// spec.placementRefs[0].rolloutStrategy.progressive.progressDeadline: Invalid value: "1d": must be None for no deadline, or at least one second in hours, minutes and seconds, such as 2h, 90m, 360s or 1h30m
	// spec.placementRefs[0].rolloutStrategy.progressive.maxConcurrency: Invalid value: "NaN%": must be a count of at least 0, as an integer, or a percentage from 1% to 100% in decimal digits
	// metadata.annotations[example.com/options].ramp: Invalid value: 0: must be at least 1
}

// Counts for the status of an object, and the one word for its condition.
func ExampleResult_Summary() {
	reports := []status.Report{
		{Cluster: "berlin", Status: status.Succeeded},
		{Cluster: "oslo", Status: status.Skip},
		{Cluster: "lima", Status: status.Failed},
		{Cluster: "rome", Status: status.Progressing},
	}
	strategy := byGroup(clusterv1alpha1.RolloutConfig{MaxFailures: intstr.FromString("25%")})
	summary := must(rollout.Plan(strategy, shops(), reports, noon(), rollout.Options{})).Summary()
	fmt.Printf("%v: %v\n", summary.Aggregate(), summary)
	for _, g := range summary.Groups {
		fmt.Printf("%v: %d%%, %d waiting, %d of them blocked\n", g.Group, g.Percent(), g.ToApply, g.Blocked)
	}
	// Output:
	// Progressing: 2 of 6 clusters done, 2 in flight (of these 1 failed); lima failed; rome is progressing, and never times out (no progressDeadline); paris, quito are starting
	// group 0 "canary": 100%, 0 waiting, 0 of them blocked
	// group 1: 0%, 2 waiting, 0 of them blocked
}

// What the strategy comes to for this fleet: percentages and defaults as counts.
func ExampleSchedule() {
	strategy := clusterv1alpha1.RolloutStrategy{
		Type: clusterv1alpha1.Progressive,
		Progressive: &clusterv1alpha1.RolloutProgressive{
			RolloutConfig:  clusterv1alpha1.RolloutConfig{MaxFailures: intstr.FromString("25%")},
			MaxConcurrency: intstr.FromString("50%"),
			MandatoryDecisionGroups: clusterv1alpha1.MandatoryDecisionGroups{
				MandatoryDecisionGroups: []clusterv1alpha1.MandatoryDecisionGroup{{GroupName: "canary"}},
			},
		},
	}
	schedule := must(rollout.Plan(strategy, shops(), nil, noon(), rollout.Options{})).Schedule
	fmt.Println(schedule)
	fmt.Println(schedule.MaxFailures, "may fail")
	// Output:
	// [group 0 "canary"] → [group 1: 2 at a time]
	// 2 may fail
}

// Someone looks into something, and until then nothing new begins.
func ExampleOptions_paused() {
	reports := []status.Report{{Cluster: "berlin", Status: status.Progressing}}
	fmt.Println(must(rollout.Plan(clusterv1alpha1.RolloutStrategy{}, shops(), reports, noon(), rollout.Options{Paused: true})))
	// Output:
	// in flight berlin; 5 clusters blocked: the rollout is paused
}

// The second group waits for its maintenance window.
func ExampleClosedGate() {
	window := rollout.Gate{Name: "maintenance window", Opens: noon().Add(10 * time.Hour)}
	closed := rollout.Options{Gates: []rollout.ClosedGate{{Group: grouping.Key{Index: 1}, Gate: window}}}
	for _, at := range []time.Time{noon(), window.Opens} {
		fmt.Println(must(rollout.Plan(clusterv1alpha1.RolloutStrategy{}, shops(), nil, at, closed)))
	}
	// Output:
	// starting berlin, oslo; 4 clusters blocked: the gate "maintenance window" before group 1 is closed until 2026-11-21T22:00:00Z; recheck after 10h0m0s
	// starting berlin, lima, oslo, paris, quito, rome
}

// The cluster with the highest score of its ClusterDecision begins.
func ExampleOptions_order() {
	decisions := decision(0, "", "lima", "paris", "rome")
	for i, score := range []int64{10, 30, 20} {
		decisions.Status.Decisions[i].Score = score
	}
	groups, err := grouping.Read(nil, []*clusterv1beta1.PlacementDecision{decisions})
	if err != nil {
		fmt.Println(err)
		return
	}
	score := func(cluster string) int64 {
		_, d, _ := groups.Find(cluster)
		return d.Score
	}
	byScore := rollout.Options{Order: func(a, b string) int { return cmp.Compare(score(b), score(a)) }}
	fmt.Println(must(rollout.Plan(clusterv1alpha1.RolloutStrategy{}, groups, nil, noon(), byScore)))
	// Output:
	// starting paris, rome, lima
}

// Group by group, and within a group half of it at a time.
func ExampleOptions_maxConcurrencyPerGroup() {
	reports := []status.Report{{Cluster: "berlin", Status: status.Succeeded}, {Cluster: "oslo", Status: status.Succeeded}}
	fmt.Println(must(rollout.Plan(byGroup(clusterv1alpha1.RolloutConfig{}), shops(), reports, noon(),
		rollout.Options{MaxConcurrencyPerGroup: intstr.FromString("50%")})))
	// Output:
	// starting lima, paris; 2 more clusters blocked: the concurrency limit of group 1 is reached (2 of 2 in flight or starting): lima, paris are starting
}

// A failure that is tolerated does not slow the rollout down.
func ExampleOptions_failedFreesSlot() {
	strategy := clusterv1alpha1.RolloutStrategy{
		Type: clusterv1alpha1.Progressive,
		Progressive: &clusterv1alpha1.RolloutProgressive{
			RolloutConfig:  clusterv1alpha1.RolloutConfig{MaxFailures: intstr.FromInt32(1)},
			MaxConcurrency: intstr.FromInt32(1),
		},
	}
	reports := []status.Report{{Cluster: "berlin", Status: status.Failed}}
	fmt.Println(must(rollout.Plan(strategy, shops(), reports, noon(), rollout.Options{})))
	fmt.Println(must(rollout.Plan(strategy, shops(), reports, noon(), rollout.Options{FailedFreesSlot: true})))
	// Output:
	// in flight berlin; 5 clusters blocked: the concurrency limit is reached (1 of 1 in flight): berlin failed, and counts as in flight until it succeeds (no progressDeadline)
	// starting lima; in flight berlin; 4 more clusters blocked: the concurrency limit is reached (1 of 1 in flight or starting): lima is starting
}

// A strategy without MaxConcurrency takes the group size of its placement, as the API documents.
func ExampleSchedule_concurrencySource() {
	placement := &clusterv1beta1.Placement{ObjectMeta: metav1.ObjectMeta{Namespace: "apps", Name: "fleet"}}
	placement.Spec.DecisionStrategy.GroupStrategy.ClustersPerDecisionGroup = intstr.FromInt32(3)
	placement.Status.NumberOfSelectedClusters = 4
	groups, err := grouping.Read(placement, []*clusterv1beta1.PlacementDecision{
		decision(0, "", "berlin", "lima", "oslo"), decision(1, "", "paris"),
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	result := must(rollout.Plan(clusterv1alpha1.RolloutStrategy{Type: clusterv1alpha1.Progressive}, groups, nil, noon(), rollout.Options{}))
	fmt.Println(result.Schedule, "by", result.Schedule.ConcurrencySource)
	fmt.Println(result)
	// Output:
	// [group 0, group 1: 3 at a time] by clustersPerDecisionGroup
	// starting berlin, lima, oslo; 1 more cluster blocked: the concurrency limit is reached (3 of 3 in flight or starting): berlin, lima, oslo are starting
}

// A mistyped selector must not undeploy a fleet.
func ExampleOptions_maxRemoved() {
	var reports []status.Report
	for _, cluster := range []string{"berlin", "cairo", "delhi", "essen"} { // only berlin is selected
		reports = append(reports, status.Report{Cluster: cluster, Status: status.Succeeded})
	}
	quarter := intstr.FromString("25%")
	result := must(rollout.Plan(clusterv1alpha1.RolloutStrategy{}, shops(), reports, noon(), rollout.Options{MaxRemoved: &quarter}))
	fmt.Println("removed:", len(result.Removed))
	fmt.Println(result.Warnings[0])
	// Output:
	// removed: 0
	// removals are blocked: the workload would be removed from cairo and 2 more clusters (3 of the 4 clusters that have it), and maxRemoved is 1
}

// While the scheduler writes its decisions nothing starts: the canary group may only seem to be empty.
func ExamplePlan_incompleteGroups() {
	placement := &clusterv1beta1.Placement{ObjectMeta: metav1.ObjectMeta{Namespace: "apps", Name: "fleet"}}
	placement.Status.NumberOfSelectedClusters = 3
	groups, err := grouping.Read(placement, []*clusterv1beta1.PlacementDecision{decision(0, "canary"), decision(1, "", "paris", "rome")})
	if err != nil {
		fmt.Println(err)
		return
	}
	result := must(rollout.Plan(byGroup(clusterv1alpha1.RolloutConfig{}), groups, nil, noon(), rollout.Options{}))
	fmt.Println(result)
	fmt.Println(result.Summary().Aggregate())
	// Output:
	// 2 clusters blocked: the PlacementDecisions are only partially observed (placement fleet: the PlacementDecisions list 2 clusters, but the status of the Placement says 3)
	// Progressing
}
