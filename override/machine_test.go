package override_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"
	"pgregory.net/rapid"

	"github.com/cohort-ocm/cohort/override"
	"github.com/cohort-ocm/cohort/status"
)

func drawLimits(t *rapid.T) naiveLimits {
	return naiveLimits{
		typ: rapid.SampledFrom([]clusterv1alpha1.RolloutType{
			clusterv1alpha1.Progressive, clusterv1alpha1.Progressive, clusterv1alpha1.ProgressivePerGroup, clusterv1alpha1.ProgressivePerGroup, clusterv1alpha1.All,
		}).Draw(t, "type"),
		maxConcurrency: rapid.IntRange(1, 3).Draw(t, "concurrency"),
		maxFailures:    rapid.IntRange(0, 2).Draw(t, "failures"),
		mandatory:      rapid.SampledFrom([]string{"", "canary"}).Draw(t, "mandatory"),
		deadline:       rapid.SampledFrom([]time.Duration{0, 10 * time.Minute}).Draw(t, "deadline"),
		soak:           rapid.SampledFrom([]time.Duration{0, 5 * time.Minute}).Draw(t, "soak"),
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
// the naive rules say, nobody is enforced that the strategy does not allow, and in the end every cluster
// is right.
func TestWhateverHappensOnlyAllowedClustersAreEnforced(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		limits := drawLimits(t)
		w := newWorld(t, rapid.SampledFrom([]override.RemediationAction{override.Enforce, override.Enforce, "", override.Inform}).Draw(t, "action"), limits)
		w.bind("2", drawGroups(t))
		if rapid.Bool().Draw(t, "second placement") {
			w.bind("1", drawGroups(t))
		}
		if rapid.Bool().Draw(t, "rule") {
			w.bindings = append(w.bindings, override.Binding{
				Name:         "3",
				PlacementRef: override.PlacementRef{APIGroup: "apps.open-cluster-management.io", Kind: "PlacementRule", Name: "rule"},
				Clusters:     []string{"g", "a", "h"},
			})
		}
		t.Repeat(w.actions())
		w.end()
	})
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
		"reconcile": func(t *rapid.T) { w.write(w.call()) },
		"reconcile, some writes fail": func(t *rapid.T) {
			w.write(w.call(), rapid.SliceOfN(cluster, 1, 4).Draw(t, "fail")...)
		},
		"settle":       func(t *rapid.T) { w.settle() },
		"evaluate one": func(t *rapid.T) { w.evaluate(cluster.Draw(t, "cluster")) },
		"evaluate all": func(t *rapid.T) { w.evaluateAll() },
		"time passes": func(t *rapid.T) {
			w.now = w.now.Add(time.Duration(rapid.IntRange(1, 12).Draw(t, "minutes")) * time.Minute)
		},
		"edit": func(t *rapid.T) { w.version++ },
		"switch the action": func(t *rapid.T) {
			w.policy.Spec.RemediationAction = rapid.SampledFrom([]override.RemediationAction{override.Enforce, override.Inform, ""}).Draw(t, "action")
			w.version += rapid.IntRange(0, 1).Draw(t, "version")
		},
		"break or mend": turn(w.broken),
		"silence":       turn(w.silent),
		"place":         func(t *rapid.T) { w.place("2", drawGroups(t)) },
		"exclude": func(t *rapid.T) {
			w.bindings[0].Excluded = rapid.SliceOfN(cluster, 0, 2).Draw(t, "excluded")
		},
		"": func(t *rapid.T) { w.call() }, // compares everything with the naive rules
	}
}

// end heals everything and goes on until every cluster is right.
func (w *world) end() {
	clear(w.broken)
	clear(w.silent)
	for range 40 {
		w.settle()
		w.evaluateAll()
		w.now = w.now.Add(20 * time.Minute)
	}
	w.settle()
	if w.root.RolloutStatus != status.Succeeded {
		w.t.Fatalf("in the end the root is %s: %s\n%s", w.root.RolloutStatus, w.wave(), w.dump())
	}
	bound, err := override.Resolve(w.policy, w.bound())
	if err != nil {
		w.t.Fatal(err)
	}
	if len(w.replicas) != len(bound.Clusters) {
		w.t.Fatalf("%d replicas for %d clusters", len(w.replicas), len(bound.Clusters))
	}
	for _, c := range bound.Clusters {
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
		w := newWorld(t, override.Enforce, drawLimits(t))
		w.bind("b", drawGroups(t))
		for range rapid.IntRange(0, 6).Draw(t, "rounds") {
			w.settle()
			w.evaluateAll()
			w.version += rapid.IntRange(0, 1).Draw(t, "edit")
			w.now = w.now.Add(time.Minute)
		}
		bound, err := override.Resolve(w.policy, w.bound())
		if err != nil {
			t.Fatal(err)
		}
		root := override.Root{Policy: w.policy, Version: w.versionName(), Bound: bound, Groups: w.joined(), Status: w.root}
		var replicas []override.Replica
		for _, name := range slices.Sorted(maps.Keys(w.replicas)) {
			replicas = append(replicas, *w.replicas[name])
		}
		before := fmt.Sprintf("%+v %+v", root, replicas)
		want, err := override.Propagate(root, replicas, w.now)
		if err != nil {
			t.Fatal(err)
		}
		if after := fmt.Sprintf("%+v %+v", root, replicas); after != before {
			t.Fatalf("was changed\nfrom %s\nto   %s", before, after)
		}
		got, err := override.Propagate(root, rapid.Permutation(replicas).Draw(t, "replicas"), w.now)
		if err != nil {
			t.Fatal(err)
		}
		if got.String() != want.String() || got.StatusChanged != want.StatusChanged || fmt.Sprint(got.Status) != fmt.Sprint(want.Status) {
			t.Fatalf("got  %s\nwant %s", got, want)
		}
	})
}
