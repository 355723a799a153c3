// SPDX-License-Identifier: Apache-2.0

package exposure_test

import (
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/util/intstr"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"

	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/rollout/exposure"
)

// shops are a canary group of two, and four others.
func shops() *grouping.Groups {
	groups, err := grouping.FromNames(map[grouping.Key][]string{
		{Name: "canary"}: {"berlin", "oslo"}, {Index: 1}: {"lima", "paris", "quito", "rome"},
	})
	if err != nil {
		panic(err)
	}
	return groups
}

func noon() time.Time { return time.Date(2026, time.November, 21, 12, 0, 0, 0, time.UTC) }

// How far can a version get that does not work? Two at a time get it, and one failure is tolerated.
func ExampleOf() {
	strategy := clusterv1alpha1.RolloutStrategy{
		Type: clusterv1alpha1.Progressive,
		Progressive: &clusterv1alpha1.RolloutProgressive{
			RolloutConfig:  clusterv1alpha1.RolloutConfig{MaxFailures: intstr.FromInt32(1), ProgressDeadline: "1h"},
			MaxConcurrency: intstr.FromInt32(2),
		},
	}
	life := exposure.Span{Shortest: 5 * time.Minute, Longest: 20 * time.Minute}
	e, err := exposure.Of(strategy, shops(), life, noon(), rollout.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(e)
	fmt.Println(e.Exposed, "of", e.Clusters)
	// Output:
	// a bad version reaches at most 3 of 6 clusters before the rollout stops; at most 2 in flight at a time; done after 15m0s to 1h0m0s if no cluster fails
	// 3 of 6
}

// A strategy may look careful and protect nothing: 60% of a canary of two are two clusters, rounded up.
func ExampleWeakness() {
	strategy := clusterv1alpha1.RolloutStrategy{
		Type: clusterv1alpha1.ProgressivePerGroup,
		ProgressivePerGroup: &clusterv1alpha1.RolloutProgressivePerGroup{
			RolloutConfig: clusterv1alpha1.RolloutConfig{MaxFailures: intstr.FromString("60%")},
		},
	}
	e, err := exposure.Of(strategy, shops(), exposure.Span{}, noon(), rollout.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, w := range e.Weaknesses {
		fmt.Println(w)
	}
	// Output:
	// maxFailures 2 is never exceeded in group 0 "canary": more than 2 would have to fail, and that group has only 2 clusters
}

// At most four clusters may get a version that does not work, and one that fails is tolerated: how many at a time?
func ExampleLimit() {
	strategy := clusterv1alpha1.RolloutStrategy{
		Type: clusterv1alpha1.Progressive,
		Progressive: &clusterv1alpha1.RolloutProgressive{
			RolloutConfig: clusterv1alpha1.RolloutConfig{MaxFailures: intstr.FromInt32(1), ProgressDeadline: "1h"},
		},
	}
	life := exposure.Span{Shortest: 5 * time.Minute, Longest: 20 * time.Minute}
	limits, err := exposure.Limit(strategy, shops(), life, noon(), exposure.Bounds{Exposed: 4, Finish: time.Hour}, rollout.Options{})
	if err != nil {
		fmt.Println(err) // names the bound that is too narrow
		return
	}
	fmt.Println(limits)
	fmt.Println(limits.Exposure.Finish)
	// Output:
	// maxConcurrency 3, maxFailures 1
	// 10m0s to 40m0s
}
