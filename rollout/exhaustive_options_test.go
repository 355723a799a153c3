package rollout_test

import (
	"cmp"
	"fmt"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/intstr"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"
	"pgregory.net/rapid"

	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/status"
)

// TestPlanAgreesWithTheRulesOnRandomFleets is the oracle on fleets of up to 60 clusters with all that the
// strategies and the options have.
func TestPlanAgreesWithTheRulesOnRandomFleets(t *testing.T) {
	rounds := 40
	if testing.Short() {
		rounds = 2
	}
	for round := range rounds {
		t.Run(fmt.Sprint(round), func(t *testing.T) {
			t.Parallel()
			rapid.Check(t, func(t *rapid.T) {
				w := drawn(t).world(5 << (round % 4) * 3 / 2) // 7, 15, 30, 60
				var j judge
				if fault := j.fault(w, w.fleet(t).read(), w.options()); fault != "" {
					t.Fatalf("%v\n%s", w, fault)
				}
			})
		})
	}
}

// optionStrategies are those on which options have something to say.
var optionStrategies = []clusterv1alpha1.RolloutStrategy{
	all("10m"),
	progressive("", config("1", "10m", 5*time.Minute)),
	progressive("1", config("2", "", 0), "canary"),
	progressive("2", config("50%", "10m", 0), "1"),
	perGroup(config("1", "10m", 5*time.Minute)),
	perGroup(config("2", "", 0), "1"),
	perGroup(config("100%", "10m", 0), "canary", "ghost"),
}

// eachOptions calls f with every combination of the options that matter to the strategy's type. With
// alsoPaused, paused ones too, which give all their clusters the same reason.
func eachOptions(w world, alsoPaused bool, f func(world)) {
	pauses := []bool{false, true}
	if !alsoPaused {
		pauses = pauses[:1]
	}
	gateSets := [][]rollout.Gate{ // of the groups in their order; the zero Gate is none
		{},
		{{Name: "approval"}},
		{{Opens: w.now.Add(time.Minute)}, {Opens: w.now}},
		{{}, {Name: "window", Opens: w.now.Add(time.Hour)}, {Name: "approval"}},
	}
	orders := []func(a, b string) int{nil, func(a, b string) int { return cmp.Compare(b, a) }}
	perGroups := []*intstr.IntOrString{nil}
	placements := []string{""}
	freeings := []bool{false, true}
	switch w.strategy.Type {
	case clusterv1alpha1.Progressive:
		if w.strategy.Progressive.MaxConcurrency == (intstr.IntOrString{}) {
			placements = []string{"", "1", "34%", "9"}
		}
	case clusterv1alpha1.ProgressivePerGroup:
		for _, n := range []string{"1", "50%"} {
			limit := intstr.Parse(n)
			perGroups = append(perGroups, &limit)
		}
	default:
		freeings = freeings[:1]
	}
	for _, w.paused = range pauses {
		for _, gates := range gateSets {
			w.gates = nil
			for i, gate := range gates {
				if i < len(w.groups) && gate != (rollout.Gate{}) {
					w.gates = append(w.gates, closedGate{w.groups[i], gate})
				}
			}
			for _, w.order = range orders {
				for _, w.perGroup = range perGroups {
					for _, w.failedFrees = range freeings {
						for _, size := range placements {
							w.placement = nil
							if size != "" {
								w.placement = placementOf(intstr.Parse(size))
							}
							f(w)
						}
					}
				}
			}
		}
	}
}

// TestOptionsAgreeWithTheRulesOnEveryFleetOfUpToThreeClusters is every fleet of up to three clusters in
// all orders of groups under every combination of the options.
func TestOptionsAgreeWithTheRulesOnEveryFleetOfUpToThreeClusters(t *testing.T) {
	for n := range 4 {
		some := cuts(n)
		if n == 3 {
			some = ascending(some)
			if testing.Short() {
				some = nil
			}
		}
		for _, cut := range some {
			t.Run(fmt.Sprintf("n=%d/%s", n, cutName(cut)), func(t *testing.T) {
				t.Parallel()
				base := cutFleet(cut, plainKeys)
				groups := base.fleet(t).read()
				var j judge
				for _, base.strategy = range optionStrategies {
					eachOptions(base, n < 3, func(w world) {
						opts := w.options()
						eachReports(n, nineKinds, func(letters []byte, reports []status.Report) bool {
							w.reports = reports
							if fault := j.fault(w, groups, opts); fault != "" {
								t.Errorf("reports %s: %v\n%s", letters, w, fault)
								return false
							}
							return true
						})
					})
				}
			})
		}
	}
}
