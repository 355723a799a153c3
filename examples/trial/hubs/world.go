// SPDX-License-Identifier: Apache-2.0

package hubs

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"
)

// world is all that a rollout is drawn from. The seed decides it, and what comes of it.
type world struct {
	seed     uint64
	choices  uint64      // of selects
	duty     Duty        // that matters in it; empty in a world of chance
	ignored  bool        // the subject leaves it out
	rollback bool        // a version is taken back
	name     string      // its namespace, and the first part of its hubs' and clusters'
	clusters [2][]string // of each hub
	strategy clusterv1alpha1.RolloutProgressive
	skew     [2]time.Duration // of the hubs' clocks
	share    float64          // how many clusters do not do well at once
	slow     time.Duration    // within a hub
	far      time.Duration    // between hub and coordinator hub
	breaks   float64
	double   float64
	script   []act
}

// act is something that happens a while after the act before.
type act struct {
	after time.Duration
	what  string
	hub   int
	lasts time.Duration
}

// What may happen.
const (
	cuts     = "a hub is cut off"
	cutsBoth = "both hubs are cut off"
	kills    = "a hub's process ends"
	killsTop = "the process of the coordinator hub ends"
	version2 = "another version is wanted"
	joins    = "a cluster joins"
	looks    = "a hub is cut off until its shares have expired, a person looks, and a cluster joins"
	deletes  = "a user deletes the account of a hub, and the process of the coordinator hub ends"
	limits   = "the limit is lowered and raised again"
)

func pick[T any](rng *rand.Rand, from ...T) T { return from[rng.IntN(len(from))] }

func newWorld(seed uint64) *world {
	rng := rand.New(rand.NewPCG(seed, 7))
	ms := func(from, to int) time.Duration { return time.Duration(from+rng.IntN(to-from)) * time.Millisecond }
	w := &world{
		seed: seed, name: fmt.Sprintf("r%d", seed), share: pick(rng, 0, 0.2, 0.5),
		slow: ms(50, 400), far: ms(50, 800), breaks: pick(rng, 0, 0.05, 0.1), double: pick(rng, 0, 0.1, 0.3),
		skew: [2]time.Duration{ms(-200, 200), ms(-200, 200)},
	}
	for i := range w.clusters {
		for j := range 2 + rng.IntN(6) {
			w.clusters[i] = append(w.clusters[i], w.cluster(i, j))
		}
	}
	w.strategy = clusterv1alpha1.RolloutProgressive{
		MaxConcurrency: pick(rng, intstr.FromInt32(1), intstr.FromInt32(2), intstr.FromInt32(3), intstr.FromString("50%"), intstr.FromString("30%")),
		RolloutConfig: clusterv1alpha1.RolloutConfig{
			MinSuccessTime:   metav1.Duration{Duration: pick[time.Duration](rng, 0, 0, 1) * time.Second},
			ProgressDeadline: pick(rng, "None", "4s", "5s"),
			MaxFailures:      pick(rng, intstr.FromInt32(0), intstr.FromInt32(1), intstr.FromInt32(2), intstr.FromString("20%")),
		},
	}
	for range 3 + rng.IntN(4) {
		a := act{after: ms(200, 3000), hub: rng.IntN(2), lasts: ms(300, 5000)}
		a.what = pick(rng, cuts, cuts, cuts, cutsBoth, kills, kills, kills, killsTop, killsTop, version2, joins, joins, looks, deletes, limits)
		w.script = append(w.script, a)
	}
	return w
}

func (w *world) hub(i int) string { return w.name + "-" + serverNames[i] }

func (w *world) cluster(i, j int) string { return fmt.Sprintf("%s-%d", w.hub(i), j) }

// agentMode is how an agent takes a version until it is healed.
type agentMode int

const (
	quick agentMode = iota
	slow
	silent
	failing
	recovering
)

// temperOf draws how the agent of a cluster takes a version.
func (w *world) temperOf(cluster, version string) (agentMode, *rand.Rand) {
	hash := fnv.New64a()
	fmt.Fprint(hash, cluster, " ", version)
	rng := rand.New(rand.NewPCG(w.seed, hash.Sum64()))
	if rng.Float64() < w.share {
		return pick(rng, silent, failing, failing, recovering), rng
	}
	return pick(rng, quick, slow), rng
}

// most is how many clusters may be in flight, and how many exposed, where both hubs have so many clusters together.
func (w *world) most(clusters int) (inFlight, exposed int) {
	of := func(limit intstr.IntOrString) int {
		n, err := intstr.GetScaledValueFromIntOrPercent(&limit, clusters, true)
		if err != nil {
			panic(err)
		}
		return n
	}
	inFlight = of(w.strategy.MaxConcurrency)
	return inFlight, inFlight + of(w.strategy.MaxFailures)
}
