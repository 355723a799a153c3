// SPDX-License-Identifier: Apache-2.0

package progressive_test

import (
	"reflect"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"

	"github.com/cohort-ocm/cohort/override/progressive"
	"github.com/cohort-ocm/cohort/rollout"
)

// O44, O45: which groups start under ManualPerGroup, in a fleet of dev (a), prod (b) and ungrouped (c) of a first placement, and dev (x), prod
// (y) and ungrouped (z) of a second one.
func TestWhichGroupsAreApproved(t *testing.T) {
	group := func(name string, approved bool) progressive.DecisionGroup {
		return progressive.DecisionGroup{GroupName: name, RolloutApproved: approved}
	}
	for _, test := range []struct {
		name      string
		mandatory []any
		spec      progressive.RolloutSpec
		want      string // the clusters that have the version
		ignored   string
	}{
		{name: "no approval"},
		{name: "a name means the groups of all placements", spec: progressive.RolloutSpec{DecisionGroups: []progressive.DecisionGroup{group("dev", true)}}, want: "a x"},
		{name: "approved groups go one after the other", want: "a x",
			spec: progressive.RolloutSpec{DecisionGroups: []progressive.DecisionGroup{group("prod", true), group("dev", true)}}},
		{name: "two entries of one name must both approve", spec: progressive.RolloutSpec{DecisionGroups: []progressive.DecisionGroup{group("dev", true), group("dev", false)}}},
		{name: "ungrouped clusters of all placements", spec: progressive.RolloutSpec{Ungrouped: group("", true)}, want: "c z"},
		{name: "an entry without a name is not for ungrouped clusters", spec: progressive.RolloutSpec{DecisionGroups: []progressive.DecisionGroup{group("", true)}},
			ignored: `spec.decisionGroups[0].groupName: Unsupported value: ""`},
		{name: "a mandatory group by its name", mandatory: []any{map[string]any{"groupName": "prod"}}, want: "b"},
		{name: "a mandatory group by its index", mandatory: []any{map[string]any{"groupIndex": int64(1)}}, want: "b"},
		{name: "a mandatory group by the index 0, which JSON omits", mandatory: []any{map[string]any{}}, want: "a"},
		{name: "the name of a mandatory group counts, not its index", mandatory: []any{map[string]any{"groupName": "prod", "groupIndex": int64(0)}}, want: "b"},
		{name: "approvals for another version", spec: progressive.RolloutSpec{ApprovalsForVersion: "2.0", DecisionGroups: []progressive.DecisionGroup{group("dev", true)}, Ungrouped: group("", true)},
			ignored: `spec.approvalsForVersion: Invalid value: "2.0": is not the version of the policy`},
		{name: "a mandatory group whatever the version", spec: progressive.RolloutSpec{ApprovalsForVersion: "2.0"}, mandatory: []any{map[string]any{"groupName": "dev"}}, want: "a",
			ignored: `spec.approvalsForVersion`},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := newWorld(t)
			w.set(map[string]any{"type": "ManualPerGroup", "manualPerGroup": map[string]any{"mandatoryDecisionGroups": test.mandatory}}, "spec", "rolloutStrategy")
			w.bind("1", "first", "dev: a | prod: b | : c")
			w.bind("2", "second", "dev: x | prod: y | : z")
			w.object = rolloutOf("")
			w.object.Spec = test.spec
			w.sync(rollout.Options{})
			var got []string
			for _, c := range w.last.Clusters {
				if w.has(c.Name) != "" {
					got = append(got, c.Name)
				}
			}
			if have := strings.Join(got, " "); have != test.want {
				t.Errorf("%s have the version, want %s", have, test.want)
			}
			if len(w.last.Ignored) > 0 != (test.ignored != "") || test.ignored != "" && !strings.Contains(w.last.Ignored.ToAggregate().Error(), test.ignored) {
				t.Errorf("ignored: %v, want %q", w.last.Ignored, test.ignored)
			}
		})
	}
}

// O47: whether an ignored cluster is waited for depends on the deadline of the type that is chosen.
func TestTheDeadlineOfIgnoredClusters(t *testing.T) {
	deadline := map[string]any{"progressDeadline": "10m"}
	none := map[string]any{"progressDeadline": "None"}
	for _, test := range []struct {
		name     string
		strategy map[string]any
		waits    bool
	}{
		{"All", map[string]any{"all": deadline}, true},
		{"All", map[string]any{"all": none, "progressive": deadline, "progressivePerGroup": deadline}, false},
		{"All", map[string]any{"progressive": deadline}, false},
		{"Progressive", map[string]any{"progressive": deadline}, true},
		{"Progressive", map[string]any{"all": deadline, "progressivePerGroup": deadline}, false},
		{"ProgressivePerGroup", map[string]any{"progressivePerGroup": deadline}, true},
		{"ProgressivePerGroup", map[string]any{"all": deadline, "progressive": deadline}, false},
		{"ManualPerGroup", map[string]any{"manualPerGroup": deadline}, true},
		{"ManualPerGroup", map[string]any{"progressivePerGroup": deadline}, false},
	} {
		w := newWorld(t)
		test.strategy["type"], test.strategy["ignoreClusterRolloutStatus"] = test.name, map[string]any{"matchLabels": map[string]any{"a": "b"}}
		w.set(test.strategy, "spec", "rolloutStrategy")
		w.bind("b", "p", "dev: a b")
		w.labels["b"] = map[string]string{"a": "b"}
		w.object = rolloutOf("")
		w.object.Spec.DecisionGroups = []progressive.DecisionGroup{{GroupName: "dev", RolloutApproved: true}}
		w.sync(rollout.Options{})
		w.report("a", "Compliant")
		if w.sync(rollout.Options{}); (w.status.RolloutStatus == "Progressing") != test.waits {
			t.Errorf("%v: %s", test.strategy, w.status.RolloutStatus)
		}
	}
}

// O49: fields of a strategy that are for another type are reported.
func TestStrategiesOfAnotherTypeAreTold(t *testing.T) {
	for strategy, want := range map[string]string{
		"ManualPerGroup":      "spec.rolloutStrategy.progressivePerGroup: Forbidden: has no effect: the policy's rolloutStrategy is ManualPerGroup",
		"ProgressivePerGroup": "spec.rolloutStrategy.manualPerGroup: Forbidden: has no effect: the policy's rolloutStrategy is ProgressivePerGroup, not ManualPerGroup",
	} {
		w := newWorld(t)
		w.set(map[string]any{"type": strategy, "manualPerGroup": map[string]any{}, "progressivePerGroup": map[string]any{}}, "spec", "rolloutStrategy")
		w.bind("b", "p", "dev: a")
		w.object = rolloutOf("")
		if w.sync(rollout.Options{}); len(w.last.Ignored) != 1 || w.last.Ignored[0].Error() != want {
			t.Errorf("%s: %v", strategy, w.last.Ignored)
		}
		w.object.Spec.Ungrouped.RolloutApproved = true
		if w.sync(rollout.Options{}); strategy == "ProgressivePerGroup" && (len(w.last.Ignored) != 2 || w.last.Ignored[0].Field != "spec.ungrouped") {
			t.Errorf("%s: %v", strategy, w.last.Ignored)
		}
	}
}

// O31: copies share nothing, and the copy of nothing is nothing.
func TestCopiesShareNothing(t *testing.T) {
	s := &progressive.Strategy{
		ManualPerGroup:             &clusterv1alpha1.RolloutProgressivePerGroup{},
		IgnoreClusterRolloutStatus: &metav1.LabelSelector{MatchLabels: map[string]string{"a": "b"}},
	}
	s.Progressive = &clusterv1alpha1.RolloutProgressive{}
	c := s.DeepCopy()
	if !reflect.DeepEqual(s, c) || c.ManualPerGroup == s.ManualPerGroup || c.Progressive == s.Progressive {
		t.Errorf("%+v", c)
	}
	c.IgnoreClusterRolloutStatus.MatchLabels["a"] = "c"
	if s.IgnoreClusterRolloutStatus.MatchLabels["a"] != "b" {
		t.Error("the selector is shared")
	}
	none, empty := (*progressive.Strategy)(nil).DeepCopy(), (&progressive.Strategy{}).DeepCopy()
	if none != nil || !reflect.DeepEqual(empty, &progressive.Strategy{}) {
		t.Errorf("%v, %v", none, empty)
	}
	if (*progressive.Rollout)(nil).DeepCopyObject() != nil || (*progressive.RolloutList)(nil).DeepCopyObject() != nil || (*progressive.Rollout)(nil).DeepCopy() != nil {
		t.Error("a copy of nothing is something")
	}
	r := rolloutOf(`{"a":1}`)
	r.Spec.DecisionGroups = []progressive.DecisionGroup{{GroupName: "dev"}}
	r.Status.DecisionGroups = []progressive.DecisionGroup{{GroupName: "dev"}}
	copied := r.DeepCopyObject().(*progressive.Rollout)
	copied.Spec.DecisionGroups[0].GroupName, copied.Status.DecisionGroups[0].GroupName = "x", "x"
	copied.Status.LastSuccessful.Raw[0] = 'x'
	if r.Spec.DecisionGroups[0].GroupName != "dev" || r.Status.DecisionGroups[0].GroupName != "dev" || r.Status.LastSuccessful.Raw[0] != '{' {
		t.Errorf("%+v", r)
	}
}
