// SPDX-License-Identifier: Apache-2.0

package policy_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"
	"pgregory.net/rapid"

	"github.com/cohort-ocm/cohort/examples/kubectl-cohort/internal/policy"
	"github.com/cohort-ocm/cohort/examples/kubectl-cohort/internal/simulation"
	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/override"
	"github.com/cohort-ocm/cohort/override/passes"
	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/status"
	"github.com/cohort-ocm/cohort/status/policyv1"
)

// fatal is what tests and properties have in common.
type fatal interface {
	Helper()
	Fatal(args ...any)
}

func start() time.Time { return time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC) }

// hubOf has a policy bound to a group for each word, with a cluster for each letter, and enforced by a sub filter on
// the clusters of enforced.
func hubOf(t fatal, action policyv1.RemediationAction, strategy clusterv1alpha1.RolloutStrategy, enforced string, words ...string) *policy.Hub {
	t.Helper()
	names := make(map[grouping.Key][]string)
	for i, word := range words {
		names[grouping.Key{Index: int32(i)}] = strings.Split(word, "")
	}
	p := &policyv1.Policy{ObjectMeta: metav1.ObjectMeta{Name: "p"}, Spec: policyv1.PolicySpec{RemediationAction: action, RolloutStrategy: strategy}}
	placement := policyv1.PlacementRef{APIGroup: "cluster.open-cluster-management.io", Kind: "Placement", Name: "p"}
	bindings := []override.Binding{{Name: "all", PlacementRef: placement, Groups: groupsOf(t, names)}}
	if enforced != "" {
		bindings = append(bindings, override.Binding{Name: "sub", PlacementRef: placement, Enforce: true, SubFilter: true,
			Groups: groupsOf(t, map[grouping.Key][]string{{}: strings.Split(enforced, "")})})
	}
	resolution, err := override.Resolve(p, bindings)
	if err != nil {
		t.Fatal(err)
	}
	return policy.New(resolution, "1", rollout.Options{})
}

func groupsOf(t fatal, names map[grouping.Key][]string) *grouping.Groups {
	t.Helper()
	groups, err := grouping.FromNames(names)
	if err != nil {
		t.Fatal(err)
	}
	return groups
}

// shown is a line for each pass.
func shown(all []policy.Pass) string {
	var b strings.Builder
	for _, pass := range all {
		b.WriteString(pass.Time.Sub(start()).String())
		for _, c := range pass.Changes {
			fmt.Fprintf(&b, " %s:%s/%s", c.Name, c.Action, c.RolloutStatus)
		}
		fmt.Fprintf(&b, " root:%s/%s\n", pass.ComplianceState, pass.RolloutStatus)
	}
	return b.String()
}

func oneAtATime() clusterv1alpha1.RolloutStrategy {
	return clusterv1alpha1.RolloutStrategy{Type: clusterv1alpha1.Progressive, Progressive: &clusterv1alpha1.RolloutProgressive{MaxConcurrency: intstr.FromInt32(1)}}
}

// soaking is oneAtATime with a soak of 4 minutes.
func soaking() clusterv1alpha1.RolloutStrategy {
	s := oneAtATime()
	s.Progressive.MinSuccessTime = metav1.Duration{Duration: 4 * time.Minute}
	return s
}

func TestHubWritesPassByPass(t *testing.T) {
	steps := func(all ...any) (life simulation.Life) {
		for i := 0; i < len(all); i += 2 {
			life = append(life, simulation.Step{After: time.Duration(all[i].(int)) * time.Minute, Status: all[i+1].(status.RolloutStatus)})
		}
		return life
	}
	fine := steps(10, status.Succeeded)
	for _, test := range []struct {
		why      string
		action   policyv1.RemediationAction
		strategy clusterv1alpha1.RolloutStrategy
		enforced string
		lives    map[string]simulation.Life
		want     string
	}{
		{"O9 all inform, then one after the other is enforced", policyv1.Enforce, oneAtATime(), "", map[string]simulation.Life{"a": fine, "b": fine},
			`0s a:inform/ToApply b:inform/ToApply root:/Progressing
0s a:enforce/Progressing root:/Progressing
10m0s a:enforce/Succeeded b:enforce/Progressing root:/Progressing
20m0s b:enforce/Succeeded root:Compliant/Succeeded
`},
		{"a cluster that does not comply is in flight, and stops nothing yet", policyv1.Enforce, oneAtATime(), "",
			map[string]simulation.Life{"a": steps(5, status.Failed, 15, status.Succeeded), "b": fine},
			`0s a:inform/ToApply b:inform/ToApply root:/Progressing
0s a:enforce/Progressing root:/Progressing
5m0s root:NonCompliant/Progressing
15m0s a:enforce/Succeeded b:enforce/Progressing root:/Progressing
25m0s b:enforce/Succeeded root:Compliant/Succeeded
`},
		{"S3 a policy that informs has done its work when it is reported on", policyv1.Inform, oneAtATime(), "",
			map[string]simulation.Life{"a": steps(5, status.Failed, 8, status.Succeeded), "b": steps(1, status.Progressing)},
			`0s a:inform/Progressing b:inform/Progressing root:/Progressing
1m0s b:inform/Succeeded root:Pending/Progressing
5m0s a:inform/Succeeded root:NonCompliant/Succeeded
8m0s root:Pending/Succeeded
`},
		{"O3 a sub filter enforces at once", policyv1.Inform, clusterv1alpha1.RolloutStrategy{}, "b",
			map[string]simulation.Life{"a": steps(5, status.Failed), "b": steps(5, status.Failed)},
			`0s a:inform/Progressing b:enforce/Progressing root:/Progressing
5m0s a:inform/Succeeded root:NonCompliant/Progressing
`},
		{"a soak runs from when it became compliant, not from when it was said again", policyv1.Enforce, soaking(), "",
			map[string]simulation.Life{"a": steps(5, status.Succeeded, 7, status.Succeeded), "b": fine},
			`0s a:inform/ToApply b:inform/ToApply root:/Progressing
0s a:enforce/Progressing root:/Progressing
5m0s a:enforce/Succeeded root:/Progressing
9m0s b:enforce/Progressing root:/Progressing
19m0s b:enforce/Succeeded root:Compliant/Progressing
23m0s root:Compliant/Succeeded
`},
		{"clusters that answer without delay", policyv1.Enforce, oneAtATime(), "",
			map[string]simulation.Life{"a": steps(0, status.Succeeded), "b": steps(0, status.Succeeded)},
			`0s a:inform/ToApply b:inform/ToApply root:/Progressing
0s a:enforce/Progressing root:/Progressing
0s a:enforce/Succeeded b:enforce/Progressing root:/Progressing
0s b:enforce/Succeeded root:Compliant/Succeeded
`},
	} {
		t.Run(test.why, func(t *testing.T) {
			hub := hubOf(t, test.action, test.strategy, test.enforced, "ab")
			if _, err := simulation.Run(hub.Plan, func(c string) simulation.Life { return test.lives[c] }, start()); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, shown(hub.Passes())); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestAWrongOptionIsTheErrorOfTheFirstPlan(t *testing.T) {
	hub := hubOf(t, policyv1.Enforce, clusterv1alpha1.RolloutStrategy{Type: clusterv1alpha1.Progressive}, "", "a")
	if _, err := policy.New(hub.Resolution(), "", rollout.Options{}).Plan(nil, start()); err == nil || !strings.Contains(err.Error(), "version: Required value") {
		t.Errorf("found %v, want that the version is required", err)
	}
}

// world is any policy on up to 8 clusters.
type world struct {
	words    []string
	action   policyv1.RemediationAction
	strategy clusterv1alpha1.RolloutStrategy
	failures int // that a group tolerates
	deadline bool
	enforced string
	lives    map[string]simulation.Life
	replicas []passes.Replica // that are there before
	options  rollout.Options
}

func drawWorld(t *rapid.T) world {
	letters := "abcdefgh"[:rapid.IntRange(1, 8).Draw(t, "clusters")]
	w := world{lives: make(map[string]simulation.Life), failures: rapid.IntRange(0, 2).Draw(t, "failures")}
	for rest := letters; rest != ""; {
		n := rapid.IntRange(1, len(rest)).Draw(t, "group")
		w.words, rest = append(w.words, rest[:n]), rest[n:]
	}
	for letter := range strings.SplitSeq(letters, "") {
		after := time.Duration(0)
		for _, s := range rapid.SliceOfN(rapid.SampledFrom([]status.RolloutStatus{status.Succeeded, status.Failed, status.Progressing}), 0, 3).Draw(t, "life") {
			after += time.Duration(rapid.IntRange(0, 5).Draw(t, "after")) * time.Minute
			w.lives[letter] = append(w.lives[letter], simulation.Step{After: after, Status: s})
		}
		if rapid.IntRange(0, 3).Draw(t, "sub filter") == 0 {
			w.enforced += letter
		}
	}
	w.action = rapid.SampledFrom([]policyv1.RemediationAction{"", policyv1.Inform, policyv1.Enforce, "ENFORCE"}).Draw(t, "action")
	config := clusterv1alpha1.RolloutConfig{MaxFailures: intstr.FromInt(w.failures)}
	if w.deadline = rapid.Bool().Draw(t, "has deadline"); w.deadline {
		config.ProgressDeadline = fmt.Sprintf("%dm", rapid.IntRange(1, 12).Draw(t, "deadline"))
	}
	config.MinSuccessTime = metav1.Duration{Duration: time.Duration(rapid.IntRange(0, 4).Draw(t, "soak")) * time.Minute}
	switch w.strategy.Type = rapid.SampledFrom([]clusterv1alpha1.RolloutType{"All", "Progressive", "ProgressivePerGroup"}).Draw(t, "type"); w.strategy.Type {
	case clusterv1alpha1.All:
		w.strategy.All = &clusterv1alpha1.RolloutAll{RolloutConfig: clusterv1alpha1.RolloutConfig{ProgressDeadline: config.ProgressDeadline}}
	case clusterv1alpha1.Progressive:
		w.strategy.Progressive = &clusterv1alpha1.RolloutProgressive{RolloutConfig: config, MaxConcurrency: intstr.FromInt(rapid.IntRange(0, 4).Draw(t, "concurrency"))}
	default:
		w.strategy.ProgressivePerGroup = &clusterv1alpha1.RolloutProgressivePerGroup{RolloutConfig: config}
	}
	return w
}

// run plays it the slow way, by package passes at each wave.
func (w world) run(t *rapid.T) ([]policy.Pass, *simulation.Trace) {
	hub, trace := w.resume(t)
	return hub.Passes(), trace
}

func (w world) resume(t *rapid.T, watch ...func(time.Duration, *rollout.Result)) (*policy.Hub, *simulation.Trace) {
	hub := w.hub(t)
	trace, err := simulation.Resume(hub.Plan, hub.Observed(), w.life, start(), watch...)
	if err != nil {
		t.Fatal(err)
	}
	return hub, trace
}

func (w world) life(cluster string) simulation.Life { return w.lives[cluster] }

func (w world) hub(t *rapid.T) *policy.Hub {
	hub := hubOf(t, w.action, w.strategy, w.enforced, w.words...)
	return policy.Resume(hub.Resolution(), "1", w.replicas, status.Record{}, w.options)
}

// twoPasses says whether the rollout decides when a cluster is enforced.
func (w world) twoPasses() bool {
	return w.action != policyv1.Inform && w.strategy.Type != clusterv1alpha1.All
}

func TestEveryPolicyEndsAndNoClusterIsEnforcedBeforeTheRolloutStartedIt(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := drawWorld(t)
		all, trace := w.run(t)
		started := make(map[string]time.Time)
		for _, wave := range trace.Waves {
			for _, c := range wave.Started {
				started[c] = start().Add(wave.After)
			}
		}
		informed := make(map[string]bool)
		for i, pass := range all {
			for _, c := range pass.Changes {
				if c.RolloutStatus == status.ToApply {
					informed[c.Name] = true
				}
				if c.Action == policyv1.Inform {
					continue
				}
				if at, ok := started[c.Name]; !ok || at.After(pass.Time) {
					t.Fatalf("pass %d makes %v, started %v:\n%s", i, c, at, shown(all))
				}
				if w.twoPasses() && (!informed[c.Name] || i == 0) {
					t.Fatalf("O9: pass %d makes %v, which never informed:\n%s", i, c, shown(all))
				}
			}
		}
	})
}

// The limits are checked on what was written, pass by pass, and not on what the plan says.
func TestNoMoreIsEnforcedThanTheStrategyAllows(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := drawWorld(t)
		if !w.twoPasses() {
			return
		}
		all, _ := w.run(t)
		now := make(map[string]passes.Cluster)
		for i, pass := range all {
			var starts []string
			for _, c := range pass.Changes {
				if c.Action != policyv1.Inform && now[c.Name].Action == policyv1.Inform {
					starts = append(starts, c.Name)
				}
				now[c.Name] = c
			}
			if fault := w.over(now, starts); fault != "" {
				t.Fatalf("pass %d starts %v: %s:\n%s", i, starts, fault, shown(all))
			}
		}
	})
}

// over says which limit is exceeded where clusters stand as in now after some have started.
func (w world) over(now map[string]passes.Cluster, starts []string) string {
	count := func(clusters string, which func(passes.Cluster) bool) (n int) {
		for c := range strings.SplitSeq(clusters, "") {
			if which(now[c]) {
				n++
			}
		}
		return n
	}
	busy := func(c passes.Cluster) bool { return c.RolloutStatus == status.Progressing }
	if p := w.strategy.Progressive; p != nil && len(starts) > 0 && count(strings.Join(w.words, ""), busy) > max(p.MaxConcurrency.IntValue(), 1) { // one where it says none
		return "more in flight than maxConcurrency"
	}
	if w.strategy.ProgressivePerGroup == nil {
		return ""
	}
	for i, word := range w.words {
		later := strings.Join(w.words[i+1:], "")
		unfinished := count(word, func(c passes.Cluster) bool { return busy(c) || c.RolloutStatus == status.ToApply })
		failed := count(word, func(c passes.Cluster) bool {
			return c.RolloutStatus == status.Failed || c.RolloutStatus == status.TimeOut
		})
		if slices.ContainsFunc(starts, func(c string) bool { return strings.Contains(later, c) }) && (unfinished > 0 || failed > w.failures) {
			return fmt.Sprintf("group %q has %d unfinished and %d failed", word, unfinished, failed)
		}
	}
	return ""
}

func TestTheRootPolicyEndsAsItsRollout(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		hub, trace := drawWorld(t).resume(t)
		all, last := hub.Passes(), hub.Status()
		if want := trace.Final.Summary().Aggregate(); last.RolloutStatus != string(want) {
			t.Fatalf("the root policy ends as %s, want %s:\n%s", last.RolloutStatus, want, shown(all))
		}
		stands := make(map[string]string)
		for _, pass := range all {
			for _, c := range pass.Changes {
				stands[c.Name] = string(c.RolloutStatus)
			}
		}
		for _, c := range last.Status {
			disposition, _, found := trace.Final.Find(c.ClusterName)
			if held := disposition == rollout.DispositionBlocked; !found || held != (c.RolloutStatus == string(status.ToApply)) {
				t.Fatalf("%s ends as %s, and the plan has it as %s:\n%s", c.ClusterName, c.RolloutStatus, disposition, shown(all))
			}
			if stands[c.ClusterName] != c.RolloutStatus {
				t.Fatalf("%s was last written as %s and ends as %s:\n%s", c.ClusterName, stands[c.ClusterName], c.RolloutStatus, shown(all))
			}
		}
	})
}

// One that failed and is back recovers where it complies, unless it is validated: a cluster that was not found good may comply.
func TestAClusterThatWasNotFoundGoodDoesNotRecoverByComplying(t *testing.T) {
	bound := hubOf(t, policyv1.Enforce, oneAtATime(), "", "ab")
	record := status.Record{Version: "1", Deselected: []status.DeselectedCluster{{Report: status.Report{Cluster: "a", Status: status.TimeOut}}}}
	for want, verdict := range []*status.Verdict{nil, {}} {
		replica := passes.Replica{Cluster: "a", Version: "1", Action: policyv1.Inform, Compliance: policyv1.Compliant, Verdict: verdict}
		now, err := policy.Resume(bound.Resolution(), "1", []passes.Replica{replica}, record, rollout.Options{}).Now(start())
		if err != nil || now.Summary().Counts.TimeOut != want {
			t.Errorf("verdict %v: %v, %v", verdict, now.Summary().Counts, err)
		}
	}
}

// What the record has of a cluster that is bound again blocks no cluster where the policy only informs (O8).
func TestAClusterThatIsBackIsHeldUpByNothingThatInforms(t *testing.T) {
	bound := hubOf(t, policyv1.Inform, oneAtATime(), "", "ab")
	record := status.Record{Version: "1", Deselected: []status.DeselectedCluster{{Report: status.Report{Cluster: "a", Status: status.TimeOut}}}}
	now, err := policy.Resume(bound.Resolution(), "1", nil, record, rollout.Options{}).Now(start())
	if counts := now.Summary().Counts; err != nil || counts.TimeOut != 0 {
		t.Errorf("%v, %v", counts, err)
	}
}

// Where the placement of a sub filter cannot be read, a cluster that it enforces goes on (O14).
func TestAClusterThatIsEnforcedGoesOnWhereTheOverrideIsNotVisible(t *testing.T) {
	p := &policyv1.Policy{ObjectMeta: metav1.ObjectMeta{Name: "p"}, Spec: policyv1.PolicySpec{RemediationAction: policyv1.Inform}}
	placement := policyv1.PlacementRef{APIGroup: "cluster.open-cluster-management.io", Kind: "Placement", Name: "p"}
	resolution, err := override.Resolve(p, []override.Binding{
		{Name: "all", PlacementRef: placement, Groups: groupsOf(t, map[grouping.Key][]string{{}: {"a"}})},
		{Name: "sub", PlacementRef: placement, Enforce: true, SubFilter: true},
	})
	if err != nil {
		t.Fatal(err)
	}
	replica := passes.Replica{Cluster: "a", Version: "1", Action: policyv1.Enforce, Compliance: policyv1.NonCompliant, Applied: start(), ComplianceTime: start()}
	now, err := policy.Resume(resolution, "1", []passes.Replica{replica}, status.Record{}, rollout.Options{}).Now(start())
	if counts := now.Summary().Counts; err != nil || counts.Progressing != 1 {
		t.Errorf("%v, %v, want that a is in flight", counts, err)
	}
}
