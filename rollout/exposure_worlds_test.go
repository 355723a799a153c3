// SPDX-License-Identifier: Apache-2.0

package rollout_test

import (
	"math/rand/v2"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/intstr"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"
)

// The worlds in which exposures are searched.

// exposureFleets are all fleets up to a size, but for their names, and one with an empty group in between.
func exposureFleets(most int) (all []world) {
	for n := range most + 1 {
		all = append(all, fleets(ascending(cuts(n)), plainKeys, 0)...)
	}
	return append(all, cutFleet([]int{0, 2, 2}, plainKeys, 3))
}

func (w *world) isIgnored(i int) bool { return w.ignored != nil && w.ignored(w.members[i].name) }

// with lets some clusters not count, or fail before.
func (w *world) with(ignored, before string) {
	if ignored != "" {
		w.ignored = func(cluster string) bool { return strings.Contains(ignored, cluster) }
	}
	if before != "" {
		w.before = func(cluster string) bool { return strings.Contains(before, cluster) }
	}
}

// searchedWorlds are all small strategies over each fleet, and a third of them again with some of the options.
func searchedWorlds(fleets []world) (all []*searched) {
	counts := []string{"", "1", "2", "3", "50%", "4"}
	random := rand.New(rand.NewPCG(40, 35))
	add := func(s clusterv1alpha1.RolloutStrategy, config clusterv1alpha1.RolloutConfig, perGroup string, frees bool) {
		for _, fleet := range fleets {
			w := &searched{world: fleet, deadline: config.ProgressDeadline != "", soak: config.MinSuccessTime.Duration > 0 && !rollsOutAll(s)}
			w.strategy, w.failedFrees = s, frees
			if perGroup != "" {
				n := intstr.Parse(perGroup)
				w.perGroup = &n
			}
			all = append(all, w)
			if random.IntN(3) == 0 {
				with := *w
				with.some(random)
				all = append(all, &with)
			}
		}
	}
	for _, deadline := range []string{"", "2m"} {
		for range 8 { // each with other options
			add(clusterv1alpha1.RolloutStrategy{All: &clusterv1alpha1.RolloutAll{RolloutConfig: config("1", deadline, minute)}}, config("", deadline, minute), "", deadline == "")
		}
		for _, soak := range []time.Duration{0, minute} {
			for _, frees := range []bool{false, true} {
				for _, mandatory := range [][]string{nil, {"0"}, {"1"}, {"1", "0"}} {
					for _, failures := range counts {
						c := config(failures, deadline, soak)
						for _, concurrency := range counts[:5] {
							add(progressive(concurrency, c, mandatory...), c, "", frees)
							if mandatory != nil && concurrency == counts[1] { // R24: bounds the mandatory groups
								add(progressive(concurrency, c, mandatory...), c, "1", frees)
							}
						}
						for _, perGroups := range []string{"", "1", "2"} {
							add(perGroup(c, mandatory...), c, perGroups, frees)
						}
					}
				}
			}
		}
	}
	return all
}

// some adds options at random.
func (s *searched) some(random *rand.Rand) {
	if random.IntN(2) == 0 && len(s.world.groups) > 0 {
		s.gated = &s.world.groups[random.IntN(len(s.world.groups))]
	}
	if random.IntN(3) == 0 {
		s.exceptions = [][2]string{{"a", ""}, {"", "b"}, {"c", "ad"}, {"", "ac"}}[random.IntN(4)]
		s.with(s.exceptions[0], s.exceptions[1])
	}
	if random.IntN(2) == 0 && s.strategy.Type == clusterv1alpha1.ProgressivePerGroup {
		s.ordered = []map[string][]string{{}, {"prod": {"canary"}}, {"canary": {"prod"}}, {"": {"prod", "canary"}}}[random.IntN(4)]
	}
	if random.IntN(2) == 0 {
		s.ramp = 1 + random.IntN(2)
	}
}
