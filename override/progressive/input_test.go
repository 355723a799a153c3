// SPDX-License-Identifier: Apache-2.0

package progressive_test

import (
	"encoding/json"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/yaml"

	"github.com/cohort-ocm/cohort/override"
	"github.com/cohort-ocm/cohort/override/passes"
	"github.com/cohort-ocm/cohort/override/progressive"
	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/status"
	"github.com/cohort-ocm/cohort/status/policyv1"
)

// O31, O33, O49: bad input is refused with what was found, what was expected and where.
func TestBadInput(t *testing.T) {
	manual := map[string]any{"type": "manualPerGroup", "manualPerGroup": map[string]any{}}
	for _, test := range []struct {
		name   string
		change func(w *world)
		state  func(s *progressive.State, opts *rollout.Options)
		want   string
	}{
		{name: "two templates of one name: the status of a policy cannot tell them apart", change: func(w *world) { w.names = []string{"t0", "t0"}; w.edit() },
			want: `spec.policy-templates[1].objectDefinition.metadata.name: Duplicate value: "t0"`},
		{name: "limits under the document's own strategy have its path", change: func(w *world) {
			w.set(map[string]any{"type": "manualPerGroup", "manualPerGroup": map[string]any{"progressDeadline": "soon"}}, "spec", "rolloutStrategy")
		}, want: `spec.rolloutStrategy.manualPerGroup.progressDeadline: Invalid value: "soon"`},
		{name: "an unknown type", change: func(w *world) { w.set(map[string]any{"type": "Sometimes"}, "spec", "rolloutStrategy") },
			want: `spec.rolloutStrategy.type: Unsupported value: "Sometimes": supported values: "All", "Progressive", "ProgressivePerGroup", "ManualPerGroup"`},
		{name: "an empty selector would ignore the fleet", change: func(w *world) {
			w.set(map[string]any{"ignoreClusterRolloutStatus": map[string]any{}}, "spec", "rolloutStrategy")
		}, want: `spec.rolloutStrategy.ignoreClusterRolloutStatus: Invalid value: "{}": must select by some label: an empty selector ignores all clusters`},
		{name: "a selector that cannot be read", change: func(w *world) {
			w.set(map[string]any{"ignoreClusterRolloutStatus": map[string]any{"matchExpressions": []any{map[string]any{"key": "a", "operator": "Like"}}}}, "spec", "rolloutStrategy")
		}, want: `"Like" is not a valid label selector operator`},
		{name: "a strategy that is no object", change: func(w *world) { w.set("All", "spec", "rolloutStrategy") }, want: `cannot be read as a Policy`},
		{name: "no UID for the rollout that begins", state: func(s *progressive.State, _ *rollout.Options) { s.NewUID = "" }, want: "newUID: Required value: must be a new UID for the rollout that begins"},
		{name: "a UID that cannot be in a stamp", state: func(s *progressive.State, _ *rollout.Options) { s.NewUID = "a/b" }, want: `newUID: Invalid value: "a/b": must not have a space or a slash`},
		{name: "the Rollout of another policy", state: func(s *progressive.State, _ *rollout.Options) {
			s.Rollout = &progressive.Rollout{ObjectMeta: metav1.ObjectMeta{Name: "policy-other", Namespace: "elsewhere"}}
		}, want: "rollout.metadata.name: Invalid value: \"policy-other\": must be policy-sample-policy, after the policy\n" +
			"rollout.metadata.namespace: Invalid value: \"elsewhere\": must be policies, the policy's"},
		{name: "the Rollout of a deleted policy of this name", state: func(s *progressive.State, _ *rollout.Options) {
			s.Rollout = rolloutOf("")
			s.Rollout.OwnerReferences = []metav1.OwnerReference{{APIVersion: "policy.open-cluster-management.io/v1", Kind: "Policy", UID: "old"}}
		}, want: `rollout.metadata.ownerReferences[0].uid: Invalid value: "old": must be root-uid, the policy's`},
		{name: "a last successful policy that is no object", state: func(s *progressive.State, _ *rollout.Options) { s.Rollout = rolloutOf(`[1]`) },
			want: `rollout.status.lastSuccessful: Invalid value: "[1]": must be a Policy, or be removed`},
		{name: "a last successful policy that is another one", state: func(s *progressive.State, _ *rollout.Options) {
			s.Rollout = rolloutOf(`{"apiVersion":"v1","kind":"Policy","metadata":{"name":"x","namespace":"policies"}}`)
		}, want: `rollout.status.lastSuccessful: Invalid value: "Policy policies/x": must be Policy policies/sample-policy, or be removed`},
		{name: "the UID of the rollout before", state: func(s *progressive.State, _ *rollout.Options) {
			s.Rollout = rolloutOf("")
			s.Rollout.Status.RolloutUID = s.NewUID
		}, want: "newUID: Duplicate value"},
		{name: "a policy of a cache that is behind", state: func(s *progressive.State, _ *rollout.Options) {
			s.Rollout = rolloutOf("")
			s.Rollout.Status.CurrentRolloutGeneration = 4
		}, want: "rollout.status.currentRolloutGeneration: Invalid value: 4: must not be later than 1, the metadata.generation of the policy: " +
			"read the policy again, the cache is behind"},
		{name: "ignored clusters with unread labels", change: func(w *world) {
			w.set(map[string]any{"ignoreClusterRolloutStatus": map[string]any{"matchLabels": map[string]any{"a": "b"}}}, "spec", "rolloutStrategy")
		}, state: func(s *progressive.State, _ *rollout.Options) { s.Clusters = nil },
			want: "clusters: Required value: must be the ManagedClusters of the hub"},
		{name: "two replicas of a cluster", state: func(s *progressive.State, _ *rollout.Options) {
			s.Replicas = []passes.Replica{{Cluster: "a"}, {Cluster: "a"}}
		},
			want: `replicas[a]: Duplicate value: "a"`},
		{name: "a replica without a cluster", state: func(s *progressive.State, _ *rollout.Options) { s.Replicas = []passes.Replica{{}} },
			want: "replicas[0].cluster: Required value"},
		{name: "another attempt", state: func(_ *progressive.State, opts *rollout.Options) { opts.Attempt = 1 }, want: "attempt: Forbidden"},
		{name: "an order of groups in addition to approvals", change: func(w *world) { w.set(manual, "spec", "rolloutStrategy") },
			state: func(_ *progressive.State, opts *rollout.Options) { opts.GroupOrder = rollout.GroupOrder{} }, want: "groupOrder: Forbidden"},
		{name: "a resolution of another strategy", state: func(s *progressive.State, _ *rollout.Options) {
			s.Policy = s.Policy.DeepCopy()
			s.Policy.Object["spec"].(map[string]any)["rolloutStrategy"] = manual
		}, want: "resolution: Invalid value"},
		{name: "no policy", state: func(s *progressive.State, _ *rollout.Options) { s.Policy = nil }, want: "policy: Required value"},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := newWorld(t)
			w.bind("b", "p", "dev: a")
			s := w.state()
			if test.change != nil {
				test.change(w)
				if errs := progressive.Validate(w.root, nil); test.state == nil && (len(errs) == 0 || !strings.Contains(errs.ToAggregate().Error(), test.want)) {
					t.Fatalf("Validate says %v, want %q", errs, test.want)
				}
				s.Policy = w.root
				if policy, err := progressive.PolicyOf(w.root); err == nil {
					if resolution, err := override.Resolve(policy, w.bindings); err == nil {
						s.Resolution = resolution
					}
				}
			}
			var opts rollout.Options
			if test.state != nil {
				test.state(&s, &opts)
			}
			p, err := progressive.Propagate(s, noon, opts)
			if p != nil || err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("%v, want %q", err, test.want)
			}
		})
	}
}

// O35, O41: the root's status changes where something changed, and what has to go is part of the text.
func TestTheRootsStatus(t *testing.T) {
	w := newWorld(t)
	w.bind("b", "p", "dev: a b")
	w.sync(rollout.Options{})
	var st policyv1.PolicyStatus
	p := w.call(rollout.Options{})
	if first, again := p.SetStatus(&st), p.SetStatus(&st); !first || again || st.RolloutStatus != "Progressing" {
		t.Errorf("%v, %v, %+v", first, again, st)
	}
	st.RolloutStatus = "Succeeded"
	if !p.SetStatus(&st) || p.SetStatus(&st) || len(st.Placement) != 1 || st.Placement[0].Placement != "p" {
		t.Errorf("%+v", st)
	}
	if got, want := p.String(), "a: Policy enforce, Progressing; b: Policy enforce, Progressing"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	w.set(true, "spec", "disabled")
	if got, want := w.call(rollout.Options{}).String(), "delete a b"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// O34: a policy that cannot be stored as successful is an error, and no status.
func TestAPolicyThatCannotBeStored(t *testing.T) {
	w := newWorld(t)
	w.root.Object["spec"].(map[string]any)["unknown"] = math.NaN() // no JSON has it
	w.bind("b", "p", "dev: a")
	w.sync(rollout.Options{})
	w.report("a", policyv1.Compliant)
	if p, err := progressive.Propagate(w.state(), w.now, rollout.Options{}); p != nil || err == nil || !strings.Contains(err.Error(), "policy: Invalid value") {
		t.Errorf("%v, %v", p, err)
	}
}

func rolloutOf(last string) *progressive.Rollout {
	r := &progressive.Rollout{ObjectMeta: metav1.ObjectMeta{
		Name: "policy-sample-policy", Namespace: "policies",
		OwnerReferences: []metav1.OwnerReference{{APIVersion: "policy.open-cluster-management.io/v1", Kind: "Policy", Name: "sample-policy", UID: "root-uid"}},
	}}
	if last != "" {
		r.Status.LastSuccessful = &runtime.RawExtension{Raw: []byte(last)}
	}
	return r
}

// O42, O49: a policy can be disabled whatever is wrong with it.
func TestADisabledPolicyHasNoFaults(t *testing.T) {
	w := newWorld(t)
	w.bind("b", "p", "dev: a")
	w.sync(rollout.Options{})
	w.names = []string{"t0", "t0"}
	w.edit()
	w.set(true, "spec", "disabled")
	if w.sync(rollout.Options{}); len(w.replicas) != 0 {
		t.Errorf("%v has a replica", w)
	}
}

// O34: a Rollout with a status edited by hand gives no cluster the version before its turn.
func TestAStatusWrittenByHand(t *testing.T) {
	for name, write := range map[string]func(st *progressive.RolloutStatus){
		"Succeeded with an older last successful version": func(st *progressive.RolloutStatus) { st.RolloutStatus = status.Succeeded },
		"Succeeded without a last successful version":     func(st *progressive.RolloutStatus) { st.RolloutStatus, st.LastSuccessful = status.Succeeded, nil },
		"a status that is none":                           func(st *progressive.RolloutStatus) { st.RolloutStatus = "Done" },
		"a UID that cannot be in a stamp":                 func(st *progressive.RolloutStatus) { st.RolloutUID = "a/b" },
		"an earlier generation":                           func(st *progressive.RolloutStatus) { st.CurrentRolloutGeneration = 1 },
		"nothing":                                         func(st *progressive.RolloutStatus) { *st = progressive.RolloutStatus{} },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			s := &stage{world: w}
			s.setStrategy([]string{"ProgressivePerGroup", "deadline=10m"})
			w.bind("b", "p", "dev: a | prod: b")
			for _, cluster := range []string{"a", "b"} {
				w.sync(rollout.Options{})
				w.report(cluster, policyv1.Compliant)
			}
			w.sync(rollout.Options{})
			w.edit()
			w.sync(rollout.Options{})
			write(&s.user().Status)
			if w.sync(rollout.Options{}); w.has("a") != "v2" || w.has("b") != "v1" || w.status.RolloutStatus != "Progressing" {
				t.Errorf("%v", w)
			}
		})
	}
}

// O31: what the controller stores is the object that the definition describes, and nothing is lost in a copy.
func TestTheDefinitionHasAllFields(t *testing.T) {
	text, err := os.ReadFile("config/crd.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var crd struct {
		Spec struct {
			Versions []struct {
				Name   string
				Schema struct{ OpenAPIV3Schema map[string]any }
			}
		}
	}
	if err := yaml.Unmarshal(text, &crd); err != nil {
		t.Fatal(err)
	}
	group := progressive.DecisionGroup{GroupName: "dev", RolloutApproved: true}
	full := progressive.Rollout{
		Spec: progressive.RolloutSpec{
			ApprovalsForVersion: "2.0", DecisionGroups: []progressive.DecisionGroup{group}, Ungrouped: progressive.DecisionGroup{RolloutApproved: true},
			RetryRollout: progressive.Retry{RolloutUID: "uid"},
		},
		Status: progressive.RolloutStatus{
			DecisionGroups: []progressive.DecisionGroup{{GroupName: "dev"}}, LastSuccessful: &runtime.RawExtension{Raw: []byte(`{"a":1}`)},
			CurrentRolloutGeneration: 1, RolloutStatus: status.Failed, RolloutUID: "uid",
		},
	}
	list := &progressive.RolloutList{Items: []progressive.Rollout{full}}
	for name, object := range map[string]any{"the object": full, "a copy": full.DeepCopy(), "in a list": list.DeepCopyObject().(*progressive.RolloutList).Items[0]} {
		text, err := json.Marshal(object)
		if err != nil {
			t.Fatal(err)
		}
		var value map[string]any
		if err := json.Unmarshal(text, &value); err != nil {
			t.Fatal(err)
		}
		value["apiVersion"], value["kind"] = progressive.APIVersion, progressive.Kind
		compareSchema(t, name, crd.Spec.Versions[0].Schema.OpenAPIV3Schema, value)
	}
}

func compareSchema(t *testing.T, path string, schema map[string]any, value any) {
	t.Helper()
	if items, is := schema["items"].(map[string]any); is {
		compareSchema(t, path+"[]", items, value.([]any)[0])
		return
	}
	properties, is := schema["properties"].(map[string]any)
	if !is {
		return
	}
	object := value.(map[string]any)
	for name := range object {
		if properties[name] == nil {
			t.Errorf("%s: the definition has no %s", path, name)
		}
	}
	for name, property := range properties {
		if object[name] == nil && name != "metadata" {
			t.Errorf("%s: the type has no %s", path, name)
			continue
		}
		compareSchema(t, path+"."+name, property.(map[string]any), object[name])
	}
	if required, is := schema["required"].([]any); is && slices.ContainsFunc(required, func(name any) bool { return properties[name.(string)] == nil }) {
		t.Errorf("%s requires %v", path, required)
	}
}
