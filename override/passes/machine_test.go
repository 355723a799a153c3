// SPDX-License-Identifier: Apache-2.0

package passes_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"
	"pgregory.net/rapid"

	"github.com/cohort-ocm/cohort/internal/exhaustive"
	"github.com/cohort-ocm/cohort/override/passes"
	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/status"
	"github.com/cohort-ocm/cohort/status/policyv1"
)

func drawLimits(t *rapid.T) naiveLimits {
	return naiveLimits{
		typ: rapid.SampledFrom([]clusterv1alpha1.RolloutType{
			clusterv1alpha1.Progressive, clusterv1alpha1.Progressive, clusterv1alpha1.ProgressivePerGroup, clusterv1alpha1.ProgressivePerGroup, clusterv1alpha1.All,
		}).Draw(t, "type"),
		maxConcurrency: rapid.IntRange(0, 3).Draw(t, "concurrency"),
		maxFailures:    rapid.IntRange(0, 2).Draw(t, "failures"),
		mandatory:      rapid.SampledFrom([]string{"", "canary"}).Draw(t, "mandatory"),
		deadline:       rapid.SampledFrom([]time.Duration{0, 10 * time.Minute}).Draw(t, "deadline"),
		soak:           rapid.SampledFrom([]time.Duration{0, 5 * time.Minute}).Draw(t, "soak"),
		failAtOnce:     rapid.Bool().Draw(t, "fail at once"),
	}
}

// drawGroups draws the groups of a placement in the form that world.place takes.
func drawGroups(t *rapid.T) string {
	groups := map[string][]string{}
	for _, c := range "abcdefg" {
		switch rapid.IntRange(0, 4).Draw(t, string(c)) {
		case 0:
			groups["canary"] = append(groups["canary"], string(c))
		case 1:
			groups["prod"] = append(groups["prod"], string(c))
		case 2:
			groups[""] = append(groups[""], string(c))
		}
	}
	var text []string
	for _, name := range []string{"canary", "prod", ""} {
		if len(groups[name]) > 0 || name == "" {
			text = append(text, name+":"+strings.Join(groups[name], " "))
		}
	}
	return strings.Join(text, "|")
}

// O8, O9, O10, O11: whatever happens to a policy and its clusters, after every step the replicas are as
// the naive rules say, no cluster is enforced that the strategy does not allow, and in the end every cluster
// is right.
func TestWhateverHappensOnlyAllowedClustersAreEnforced(t *testing.T) {
	for round := range exhaustive.Of(2, 20, 100) {
		exhaustive.Check(t, round, whatever)
	}
}

func whatever(t *rapid.T) {
	limits := drawLimits(t)
	w := newWorld(t, rapid.SampledFrom([]policyv1.RemediationAction{policyv1.Enforce, policyv1.Enforce, "", policyv1.Inform}).Draw(t, "action"), limits)
	w.validates = rapid.IntRange(0, 2).Draw(t, "validates") == 0
	w.bind("2", drawGroups(t))
	if rapid.Bool().Draw(t, "second placement") {
		w.bind("1", drawGroups(t))
	}
	if rapid.Bool().Draw(t, "rule") {
		w.bind("3", ": g a h")
		w.bindings[len(w.bindings)-1].PlacementRef = policyv1.PlacementRef{APIGroup: "apps.open-cluster-management.io", Kind: "PlacementRule", Name: "rule"}
	}
	t.Repeat(w.actions())
	w.end()
}

func (w *world) actions() map[string]func(*rapid.T) {
	cluster := rapid.SampledFrom(strings.Split("abcdefgh", ""))
	turn := func(of map[string]bool) func(*rapid.T) {
		return func(t *rapid.T) {
			c := cluster.Draw(t, "cluster")
			of[c] = !of[c]
		}
	}
	return map[string]func(*rapid.T){
		"reconcile": func(t *rapid.T) { w.write(w.call(rollout.Options{})) },
		"reconcile, some writes fail": func(t *rapid.T) {
			w.write(w.call(rollout.Options{}), rapid.SliceOfN(cluster, 1, 4).Draw(t, "fail")...)
		},
		"settle": func(t *rapid.T) { w.settle() },
		"the controller dies before it writes": func(t *rapid.T) {
			w.call(rollout.Options{})
			w.restart()
		},
		"the controller dies once it has stored the record": func(t *rapid.T) {
			w.store(w.call(rollout.Options{}))
			w.restart()
		},
		"restart":      func(t *rapid.T) { w.restart() },
		"ignore":       func(t *rapid.T) { w.ignored[cluster.Draw(t, "cluster")] = true },
		"evaluate one": func(t *rapid.T) { w.evaluate(cluster.Draw(t, "cluster")) },
		"evaluate all": func(t *rapid.T) { w.evaluateAll() },
		"time passes": func(t *rapid.T) {
			w.now = w.now.Add(time.Duration(rapid.IntRange(1, 12).Draw(t, "minutes")) * time.Minute)
		},
		"judge": func(t *rapid.T) {
			w.judge(cluster.Draw(t, "cluster"), status.Verdict{
				Version: fmt.Sprint("v", w.version-rapid.SampledFrom([]int{0, 0, 0, 1}).Draw(t, "version before")),
				Attempt: rapid.SampledFrom([]int{0, 0, 0, 1}).Draw(t, "attempt"),
				Time:    rapid.SampledFrom([]time.Time{w.now, w.now, w.now, w.now.Add(-7 * time.Minute), {}}).Draw(t, "time"),
				Result: rapid.SampledFrom([]status.ValidationResult{
					status.ValidationSucceeded, status.ValidationSucceeded, status.ValidationFailed, status.ValidationInProgress, "?",
				}).Draw(t, "result"),
			})
		},
		"find all good": func(t *rapid.T) { w.findAllGood() },
		"edit":          func(t *rapid.T) { w.version++ },
		"switch the action": func(t *rapid.T) {
			w.policy.Spec.RemediationAction = rapid.SampledFrom([]policyv1.RemediationAction{policyv1.Enforce, policyv1.Inform, ""}).Draw(t, "action")
			w.version += rapid.IntRange(0, 1).Draw(t, "version")
		},
		"turn to inform":                  func(*rapid.T) { w.policy.Spec.RemediationAction = policyv1.Inform },
		"turn to enforce without an edit": func(*rapid.T) { w.policy.Spec.RemediationAction = policyv1.Enforce },
		"break all clusters": func(*rapid.T) {
			for c := range strings.SplitSeq("abcdefgh", "") {
				w.broken[c] = true
			}
		},
		"disable or enable": func(t *rapid.T) { w.policy.Spec.Disabled = !w.policy.Spec.Disabled },
		"break or fix":      turn(w.broken),
		"silence":           turn(w.silent),
		"place":             func(t *rapid.T) { w.place("2", drawGroups(t)) },
		"exclude": func(t *rapid.T) {
			w.bindings[0].Excluded = rapid.SliceOfN(cluster, 0, 2).Draw(t, "excluded")
		},
		"lose or find groups": func(t *rapid.T) {
			if name := w.bindings[0].Name; w.lost[name] {
				delete(w.lost, name)
			} else {
				w.lost[name] = true
			}
		},
		"": func(t *rapid.T) { w.call(rollout.Options{}) }, // compares everything with the naive rules
	}
}

// end heals all faults and continues until every cluster is right.
func (w *world) end() {
	clear(w.broken)
	clear(w.silent)
	clear(w.lost)
	w.policy.Spec.Disabled = false
	w.version++ // what failed, and is not bound any more, would stop the rollout for ever
	for range 40 {
		w.settle()
		w.evaluateAll()
		w.findAllGood()
		w.now = w.now.Add(20 * time.Minute)
	}
	w.settle()
	if w.root.RolloutStatus != string(status.Succeeded) {
		w.t.Fatalf("in the end the root is %s: %s\n%s", w.root.RolloutStatus, w.wave(), w.dump())
	}
	bound := w.resolve()
	if len(w.replicas) != bound.Groups().NumClusters() {
		w.t.Fatalf("%d replicas for %d clusters", len(w.replicas), bound.Groups().NumClusters())
	}
	for c := range bound.Clusters() {
		r := w.replicas[c.Name]
		if r == nil || r.Version != w.versionName() || r.Action != w.policy.Spec.RemediationAction || r.RolloutStatus != status.Succeeded {
			w.t.Fatalf("in the end %s has %+v", c.Name, r)
		}
	}
}

// O11: the order of the replicas changes nothing, nothing passed in is changed, and writing what was
// asked for is never asked for again.
func TestPropagateIsAFunctionOfWhatItIsGiven(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := newWorld(t, policyv1.Enforce, drawLimits(t))
		w.bind("b", drawGroups(t))
		for range rapid.IntRange(0, 6).Draw(t, "rounds") {
			w.settle()
			w.evaluateAll()
			w.version += rapid.IntRange(0, 1).Draw(t, "edit")
			w.now = w.now.Add(time.Minute)
		}
		r := w.resolve()
		var replicas []passes.Replica
		for _, name := range slices.Sorted(maps.Keys(w.replicas)) {
			replicas = append(replicas, *w.replicas[name])
		}
		before := fmt.Sprintf("%+v", replicas)
		propagate := func(replicas []passes.Replica) (*passes.Propagation, string) {
			p, err := passes.Propagate(r, w.versionName(), w.record, replicas, w.now, rollout.Options{})
			if err != nil {
				t.Fatal(err)
			}
			return p, fmt.Sprint(p, p.Start, p.TimedOut, p.Breach, p.RecheckAfter)
		}
		want, text := propagate(replicas)
		if after := fmt.Sprintf("%+v", replicas); after != before {
			t.Fatalf("was changed\nfrom %s\nto   %s", before, after)
		}
		if _, got := propagate(rapid.Permutation(replicas).Draw(t, "replicas")); got != text {
			t.Fatalf("got  %s\nwant %s", got, text)
		}
		root, again := clone(w.root), clone(w.root)
		changed := want.SetStatus(&root)
		clear(replicas) // on which the result no longer depends
		if changedAgain := want.SetStatus(&again); changedAgain != changed || fmt.Sprint(again) != fmt.Sprint(root) {
			t.Fatalf("the status became %v, and then %v", root, again)
		}
	})
}
