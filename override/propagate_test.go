package override_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation/field"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"

	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/override"
	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/status"
)

const (
	all         = clusterv1alpha1.All
	progressive = clusterv1alpha1.Progressive
	perGroup    = clusterv1alpha1.ProgressivePerGroup
)

// passTime is when these tests propagate.
func passTime() time.Time { return time.Date(2026, time.November, 21, 12, 0, 0, 0, time.UTC) }

// root is version v2 of a policy bound to the clusters, in one group.
func root(t testing.TB, p *override.Policy, clusters string) override.Root {
	t.Helper()
	bound, err := override.Resolve(p, []override.Binding{{Name: "b", PlacementRef: placement("p"), Clusters: strings.Fields(clusters)}})
	if err != nil {
		t.Fatal(err)
	}
	return override.Root{Policy: p, Version: "v2", Bound: bound}
}

func propagate(t testing.TB, r override.Root, replicas []override.Replica, opts ...rollout.Option) *override.Propagation {
	t.Helper()
	p, err := override.Propagate(r, replicas, passTime(), opts...)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// The table of the Design section: for each strategy and each action, what the first pass over two
// clusters and what the second gives, and what happens once the first complies.
func TestDesignTableOfStrategies(t *testing.T) {
	for _, row := range []struct {
		name                 string
		action               override.RemediationAction
		strategy             clusterv1alpha1.RolloutType
		first, second, third string
	}{
		{
			"O8 All, inform: rolled out to all clusters as it is", override.Inform, all,
			"a inform Progressing, b inform Progressing: Progressing",
			"a inform Progressing, b inform Progressing: Progressing",
			"a inform Succeeded, b inform Succeeded: Succeeded",
		}, {
			"O8 no strategy is All", override.Inform, "",
			"a inform Progressing, b inform Progressing: Progressing",
			"a inform Progressing, b inform Progressing: Progressing",
			"a inform Succeeded, b inform Succeeded: Succeeded",
		}, {
			"O8 All, enforce: rolled out to all clusters as it is", override.Enforce, all,
			"a enforce Progressing, b enforce Progressing: Progressing",
			"a enforce Progressing, b enforce Progressing: Progressing",
			"a enforce Succeeded, b enforce Succeeded: Succeeded",
		}, {
			"O8 All, unset: rolled out to all clusters as it is", "", all,
			"a unset Progressing, b unset Progressing: Progressing",
			"a unset Progressing, b unset Progressing: Progressing",
			"a unset Succeeded, b unset Succeeded: Succeeded",
		}, {
			"O8 Progressive, inform: same as All", override.Inform, progressive,
			"a inform Progressing, b inform Progressing: Progressing",
			"a inform Progressing, b inform Progressing: Progressing",
			"a inform Succeeded, b inform Succeeded: Succeeded",
		}, {
			"O8 ProgressivePerGroup, inform: same as All", override.Inform, perGroup,
			"a inform Progressing, b inform Progressing: Progressing",
			"a inform Progressing, b inform Progressing: Progressing",
			"a inform Succeeded, b inform Succeeded: Succeeded",
		}, {
			"O9 Progressive, enforce: inform at first, then one cluster after the other", override.Enforce, progressive,
			"a inform ToApply, b inform ToApply: Progressing",
			"a enforce Progressing, b inform ToApply: Progressing",
			"a enforce Succeeded, b enforce Progressing: Progressing",
		}, {
			"O9 ProgressivePerGroup, enforce: inform at first, then one group after the other", override.Enforce, perGroup,
			"a inform ToApply, b inform ToApply: Progressing",
			"a enforce Progressing, b inform ToApply: Progressing",
			"a enforce Succeeded, b enforce Progressing: Progressing",
		},
	} {
		t.Run(row.name, func(t *testing.T) {
			w := newWorld(t, row.action, naiveLimits{typ: row.strategy, maxConcurrency: 1})
			w.bind("b", ":a|:b")
			for _, want := range []string{row.first, row.second} {
				w.write(w.call())
				if got := w.wave(); got != want {
					t.Errorf("got  %s\nwant %s", got, want)
				}
			}
			w.round("once they comply", row.third)
		})
	}
}

// The table of rollout statuses: what a replica of this version, started or not, is said to be.
func TestDesignTableOfStatuses(t *testing.T) {
	p := policy(override.Enforce, progressive)
	p.Spec.RolloutStrategy.Progressive = &clusterv1alpha1.RolloutProgressive{
		RolloutConfig:  clusterv1alpha1.RolloutConfig{ProgressDeadline: "10m"},
		MaxConcurrency: intstr.FromInt(1),
	}
	ago := func(minutes int) time.Time { return passTime().Add(-time.Duration(minutes) * time.Minute) }
	// The first cluster fills the only slot, so that the other is started by nobody.
	busy := override.Replica{Cluster: "a", Version: "v2", Action: override.Enforce, WriteTime: ago(0), Generation: 1}
	for _, row := range []struct {
		name    string
		replica override.Replica
		want    string
	}{
		{
			"S3 ToApply: to be enforced, updated in the first pass",
			override.Replica{Version: "v1", Action: override.Enforce, RolloutStatus: status.Succeeded, Compliance: "Compliant"},
			"b: inform, ToApply (Update)",
		}, {
			"S3 ToApply: waits, and complies while it does",
			override.Replica{Version: "v2", Action: override.Inform, RolloutStatus: status.ToApply, Compliance: "Compliant"},
			"b: inform, ToApply",
		}, {
			"S3 Progressing: selected and updated to enforce, no status",
			override.Replica{Version: "v2", Action: override.Enforce, RolloutStatus: status.Progressing, WriteTime: ago(9)},
			"b: enforce, Progressing",
		}, {
			"S3 Progressing: evaluated generation does not match",
			override.Replica{Version: "v2", Action: "Enforce", RolloutStatus: status.Progressing, WriteTime: ago(9), Compliance: "Compliant", Generation: 2, LastEvaluatedGeneration: 1},
			"b: enforce, Progressing",
		}, {
			"S3 Succeeded: compliant and evaluated",
			override.Replica{Version: "v2", Action: override.Enforce, RolloutStatus: status.Progressing, WriteTime: ago(9), Compliance: "Compliant", Generation: 2, LastEvaluatedGeneration: 2},
			"b: enforce, Succeeded (UpdateStatus)",
		}, {
			"S3 Failed: non-compliant and evaluated",
			override.Replica{Version: "v2", Action: override.Enforce, RolloutStatus: status.Progressing, WriteTime: ago(9), Compliance: "NonCompliant", Generation: 2, LastEvaluatedGeneration: 2},
			"b: enforce, Failed (UpdateStatus)",
		}, {
			"S3 TimeOut: time has passed beyond the deadline",
			override.Replica{Version: "v2", Action: override.Enforce, RolloutStatus: status.Progressing, WriteTime: ago(10)},
			"b: enforce, TimeOut (UpdateStatus)",
		}, {
			"O9 TimeOut keeps enforce for this version",
			override.Replica{Version: "v2", Action: override.Enforce, RolloutStatus: status.TimeOut, WriteTime: ago(99)},
			"b: enforce, TimeOut",
		}, {
			"O9 a version that is not known is an earlier one",
			override.Replica{Action: override.Enforce},
			"b: inform, ToApply (Update)",
		}, {
			"O9 an action that is neither inform nor the root's is none that the rollout gave",
			override.Replica{Version: "v2", RolloutStatus: status.ToApply},
			"b: inform, ToApply (Update)",
		},
	} {
		t.Run(row.name, func(t *testing.T) {
			row.replica.Cluster = "b"
			result := propagate(t, root(t, p, "a b"), []override.Replica{busy, row.replica})
			got, bound := result.Cluster("b")
			if !bound || got.String() != row.want {
				t.Errorf("got  %v\nwant %s", got, row.want)
			}
		})
	}
}

// O8: with All, overrides decide the action, and a cluster that an override enforces is judged as one
// that is enforced.
func TestAllGivesEachClusterItsAction(t *testing.T) {
	p := policy(override.Inform, all)
	bound, err := override.Resolve(p, []override.Binding{
		{Name: "everywhere", PlacementRef: placement("everywhere"), Clusters: []string{"a", "b", "c"}},
		{Name: "sub", PlacementRef: placement("sub"), SubFilter: true, Enforce: true, Clusters: []string{"b", "c"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	replica := func(cluster string, action override.RemediationAction) override.Replica {
		return override.Replica{Cluster: cluster, Version: "v2", Action: action, Compliance: "NonCompliant"}
	}
	result := propagate(t, override.Root{Policy: p, Version: "v2", Bound: bound},
		[]override.Replica{replica("a", "Inform"), replica("b", override.Enforce), replica("c", override.Inform), replica("z", override.Inform)})
	const want = "a: inform, Succeeded (UpdateStatus); b: enforce, Failed (UpdateStatus); c: enforce, Progressing (Update); delete z"
	if got := result.String(); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// O8, R22: what is paused enforces nothing on any more cluster, whatever the strategy; informing goes on.
func TestPausedHoldsWhatWouldEnforce(t *testing.T) {
	missing := []override.Replica{}
	waits := []override.Replica{{Cluster: "a", Version: "v2", Action: override.Inform, RolloutStatus: status.ToApply}}
	for _, test := range []struct {
		name     string
		policy   *override.Policy
		replicas []override.Replica
		want     string
	}{
		{"R22 All", policy(override.Enforce, all), missing, "a: inform, ToApply (Create)"},
		{"R22 All, once that is written", policy(override.Enforce, all), waits, "a: inform, ToApply"},
		{"O8 All, informing", policy(override.Inform, all), missing, "a: inform, Progressing (Create)"},
		{"O8 inform", policy(override.Inform, progressive), missing, "a: inform, Progressing (Create)"},
		{"O9 the first pass", policy(override.Enforce, progressive), missing, "a: inform, ToApply (Create)"},
		{"O9 the second pass", policy(override.Enforce, progressive), waits, "a: inform, ToApply"},
	} {
		test.policy.Spec.RolloutStrategy.Progressive = &clusterv1alpha1.RolloutProgressive{}
		if got := propagate(t, root(t, test.policy, "a"), test.replicas, rollout.Paused()).String(); got != test.want {
			t.Errorf("%s: got %s, want %s", test.name, got, test.want)
		}
	}
}

// R22: an override that enforces is held by a pause as the policy's own action is.
func TestPausedHoldsAnOverride(t *testing.T) {
	p := policy(override.Inform, all)
	bound, err := override.Resolve(p, []override.Binding{
		{Name: "everywhere", PlacementRef: placement("everywhere"), Clusters: []string{"a", "b"}},
		{Name: "sub", PlacementRef: placement("sub"), SubFilter: true, Enforce: true, Clusters: []string{"b"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	r := override.Root{Policy: p, Version: "v2", Bound: bound}
	const want = "a: inform, Progressing (Create); b: inform, ToApply (Create)"
	if got := propagate(t, r, nil, rollout.Paused()).String(); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// O11: what has to be written says how, and the root's status is asked for once.
func TestWrites(t *testing.T) {
	p := policy(override.Enforce, all)
	r := root(t, p, "a b c d")
	replicas := []override.Replica{
		{Cluster: "b", Version: "v1", Action: override.Enforce},
		{Cluster: "c", Version: "v2", Action: override.Enforce, RolloutStatus: "Unheard"},
		{Cluster: "d", Version: "v2", Action: override.Enforce, RolloutStatus: status.Progressing},
	}
	result := propagate(t, r, replicas)
	const want = "a: enforce, Progressing (Create); b: enforce, Progressing (Update); c: enforce, Progressing (UpdateStatus); d: enforce, Progressing"
	if got := result.String(); got != want || !result.StatusChanged || !result.Writes() {
		t.Errorf("got  %s, root %v\nwant %s", got, result.StatusChanged, want)
	}
	r = root(t, p, "d")
	r.Status = propagate(t, r, replicas[2:]).Status
	if result := propagate(t, r, replicas[2:]); result.Writes() || result.StatusChanged {
		t.Errorf("O11: asks again for %s, root %v", result, result.StatusChanged)
	}
	result = propagate(t, r, replicas[1:])
	if !result.Writes() || result.StatusChanged {
		t.Errorf("a replica to be deleted is no change of the root's status: %s, root %v", result, result.StatusChanged)
	}
	if diff := cmp.Diff([]string{"c"}, result.Rollout.Removed); diff != "" {
		t.Errorf("R7 what the rollout says is removed (-want +got):\n%s", diff)
	}
	r.Status.RolloutStatus = status.Succeeded
	if result := propagate(t, r, replicas[2:]); !result.StatusChanged || !result.Writes() {
		t.Errorf("the root's status alone has to be written: %s, root %v", result, result.StatusChanged)
	}
}

// The root policy's status has the form of the design document's snippet.
func TestRootStatusOfTheDesignDocument(t *testing.T) {
	p := policy(override.Enforce, progressive)
	p.Spec.RolloutStrategy.Progressive = &clusterv1alpha1.RolloutProgressive{MaxConcurrency: intstr.FromInt(1)}
	result := propagate(t, root(t, p, "cluster1 cluster2 cluster3"), []override.Replica{
		{Cluster: "cluster1", Version: "v2", Action: override.Enforce, RolloutStatus: status.Succeeded, Compliance: "Compliant", WriteTime: passTime(), ComplianceTime: passTime()},
		{Cluster: "cluster2", Version: "v2", Action: override.Inform, RolloutStatus: status.ToApply, Compliance: "NonCompliant"},
	})
	got, err := json.MarshalIndent(result.Status, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	const want = `{
  "compliant": "Compliant",
  "rolloutStatus": "Progressing",
  "status": [
    {
      "compliant": "Compliant",
      "rolloutStatus": "Succeeded",
      "clustername": "cluster1",
      "clusternamespace": "cluster1"
    },
    {
      "rolloutStatus": "Progressing",
      "clustername": "cluster2",
      "clusternamespace": "cluster2"
    },
    {
      "rolloutStatus": "ToApply",
      "clustername": "cluster3",
      "clusternamespace": "cluster3"
    }
  ]
}`
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Error(diff)
	}
}

// O9, R8: clusters that have this version at inform start before those that are yet to get it, which would
// take the slot and not start.
func TestHeldClustersStartBeforeNewOnes(t *testing.T) {
	p := policy(override.Enforce, progressive)
	p.Spec.RolloutStrategy.Progressive = &clusterv1alpha1.RolloutProgressive{MaxConcurrency: intstr.FromInt32(1)}
	result := propagate(t, root(t, p, "a b c"), []override.Replica{
		{Cluster: "b", Version: "v1", Action: override.Enforce},
		{Cluster: "c", Version: "v2", Action: override.Inform, RolloutStatus: status.ToApply},
	})
	if got, want := result.String(), "a: inform, ToApply (Create); b: inform, ToApply (Update); c: enforce, Progressing (Update)"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// R4, O8: the deadline of the strategy All counts for a policy that is propagated in one pass.
func TestAllHasItsDeadline(t *testing.T) {
	p := policy(override.Enforce, all)
	p.Spec.RolloutStrategy.All = &clusterv1alpha1.RolloutAll{RolloutConfig: clusterv1alpha1.RolloutConfig{ProgressDeadline: "10m"}}
	replica := func(cluster string, ago time.Duration) override.Replica {
		return override.Replica{Cluster: cluster, Version: "v2", Action: override.Enforce, RolloutStatus: status.Progressing, WriteTime: passTime().Add(-ago)}
	}
	result := propagate(t, root(t, p, "a b"), []override.Replica{replica("a", 10*time.Minute), replica("b", 9*time.Minute)})
	if got, want := result.String(), "a: enforce, TimeOut (UpdateStatus); b: enforce, Progressing"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if got := result.Rollout.RecheckAfter; got != time.Minute {
		t.Errorf("recheck after %v", got)
	}
}

// O6: a disabled policy is deleted everywhere, whatever else is wrong with it.
func TestDisabledPolicyIsDeletedWhateverIsWrong(t *testing.T) {
	p := policy("sometimes", "Canary")
	p.Spec.Disabled = true
	bound := root(t, policy(override.Enforce, all), "a b").Bound
	result := propagate(t, override.Root{Policy: p, Bound: bound}, []override.Replica{{Cluster: "b"}, {Cluster: "a"}})
	if got := result.String(); got != "delete a b" {
		t.Errorf("got %q", got)
	}
}

// What is wrong is said with its place, all of it at once.
func TestPropagateErrors(t *testing.T) {
	good := func() override.Root { return root(t, policy(override.Enforce, all), "a b") }
	odd := policy("sometimes", progressive)
	odd.Spec.RolloutStrategy.Progressive = &clusterv1alpha1.RolloutProgressive{MaxConcurrency: intstr.FromString("0%")}
	groups := func(clusters ...string) *grouping.Groups { return readGroups(t, []naiveGroup{{clusters: clusters}}) }
	for _, test := range []struct {
		why      string
		change   func(*override.Root)
		replicas []override.Replica
		want     []string
	}{
		{"no policy", func(r *override.Root) { r.Policy = nil }, nil, []string{"policy: Required value: expected the root policy"}},
		{"no version, a wrong action and a strategy that never starts", func(r *override.Root) { r.Policy, r.Version = odd, "" }, nil, []string{
			`policy.spec.remediationAction: Unsupported value: "sometimes"`,
			`policy.spec.rolloutStrategy.progressive.maxConcurrency: Invalid value: "0%"`,
			"version: Required value: expected what tells this version",
		}},
		{"an unknown strategy", func(r *override.Root) { r.Policy = policy(override.Enforce, "Canary") }, nil, []string{
			`policy.spec.rolloutStrategy.type: Unsupported value: "Canary"`,
		}},
		{"replicas", nil, []override.Replica{{Cluster: "a"}, {}, {Cluster: "a"}, {Cluster: "a"}}, []string{
			`replicas[1].cluster: Required value: expected the name of a cluster`,
			`replicas[a]: Duplicate value: "a"`,
		}},
		{"a bound cluster in no group", func(r *override.Root) { r.Groups = groups("a") }, nil, []string{`groups[b]: Required value: the policy is bound to cluster "b"`}},
		{"a bound cluster in no group, before others", func(r *override.Root) { r.Groups = groups("b") }, nil, []string{`groups[a]: Required value: the policy is bound to cluster "a"`}},
		{"a group with others", func(r *override.Root) { r.Groups = groups("a", "b", "c") }, nil, []string{`groups[c]: Invalid value: "c": the policy is not bound`}},
		{"a group with others, before the bound", func(r *override.Root) { r.Groups = groups("a", "aa", "b") }, nil, []string{`groups[aa]: Invalid value: "aa": the policy is not bound`}},
		{"clusters out of order", func(r *override.Root) {
			r.Bound.Clusters = []override.Cluster{{Name: "b", Action: override.Enforce}, {Name: "a", Action: override.Enforce}}
		}, nil, []string{`groups[a]`}},
	} {
		t.Run(test.why, func(t *testing.T) {
			r := good()
			if test.change != nil {
				test.change(&r)
			}
			_, err := override.Propagate(r, test.replicas, passTime())
			var invalid *field.Error
			if !errors.As(err, &invalid) {
				t.Fatalf("got %v, want a *field.Error", err)
			}
			if lines := strings.Count(err.Error(), "\n") + 1; lines != len(test.want) {
				t.Errorf("%d errors, want %d: %v", lines, len(test.want), err)
			}
			for _, want := range test.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("got  %v\nwant %s", err, want)
				}
			}
		})
	}
	informs := policy(override.Inform, progressive)
	if _, err := override.Propagate(root(t, informs, ""), nil, passTime(), rollout.MaxConcurrencyPerGroup(intstr.FromString("x"))); err != nil {
		t.Errorf("options have no part where a policy with a progressive strategy informs: %v", err)
	}
}
