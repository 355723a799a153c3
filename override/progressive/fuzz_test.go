// SPDX-License-Identifier: Apache-2.0

package progressive_test

import (
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/cohort-ocm/cohort/override"
	"github.com/cohort-ocm/cohort/override/progressive"
	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/status"
)

// O49: whatever a policy, its Rollout and its stored policy are, nothing panics, and what Validate finds is what Propagate refuses.
func FuzzPropagate(f *testing.F) {
	for _, strategy := range []string{
		`{}`, `null`, `[]`, `{"type":"manualPerGroup","manualPerGroup":{"mandatoryDecisionGroups":[{"groupName":"dev"},{"groupIndex":1}]}}`,
		`{"type":"ManualPerGroup"}`, `{"type":"Progressive","progressive":{"maxConcurrency":"50%"}}`,
		`{"ignoreClusterRolloutStatus":{"matchExpressions":[{"key":"a","operator":"In","values":["b"]}]}}`, `{"ignoreClusterRolloutStatus":{}}`,
	} {
		f.Add(strategy, `{"kind":"Policy"}`, "uid", "dev", `{"metadata":{"name":"t"}}`, int64(1))
	}
	f.Add(`{}`, ``, "", "", `{`, int64(-1))
	f.Add(`{}`, `{"apiVersion":"policy.open-cluster-management.io/v1","kind":"Policy","metadata":{"name":"sample-policy","namespace":"policies"},"spec":{"remediationAction":"x"}}`,
		"a/b", "a b", `{"metadata":{"name":"t0"}}`, int64(2))
	f.Fuzz(func(t *testing.T, strategy, last, uid, group, template string, generation int64) {
		w := newWorld(t)
		w.bind("b", "p", "dev: a b | : c")
		s := w.state()
		text, err := w.root.MarshalJSON()
		if err != nil {
			t.Fatal(err)
		}
		s.Policy = new(unstructured.Unstructured)
		if err := s.Policy.UnmarshalJSON(text); err != nil {
			t.Fatal(err)
		}
		spec := s.Policy.Object["spec"].(map[string]any)
		for name, text := range map[string]string{"rolloutStrategy": strategy, "extra": template} {
			value := new(unstructured.Unstructured)
			if value.UnmarshalJSON([]byte(`{"apiVersion":"v1","kind":"X","value":`+text+`}`)) != nil {
				return
			}
			spec[name] = value.Object["value"]
		}
		spec["policy-templates"] = []any{map[string]any{"objectDefinition": spec["extra"]}, map[string]any{"objectDefinition": spec["extra"]}}
		delete(spec, "extra")
		s.Rollout = rolloutOf(last)
		s.Rollout.Spec.DecisionGroups = []progressive.DecisionGroup{{GroupName: group, RolloutApproved: true}}
		s.Rollout.Spec.RetryRollout.RolloutUID = uid
		s.Rollout.Status.RolloutUID, s.Rollout.Status.CurrentRolloutGeneration = uid, generation
		s.Rollout.Status.RolloutStatus = status.RolloutStatus(group)
		faults := progressive.Validate(s.Policy, nil)
		policy, err := progressive.PolicyOf(s.Policy)
		if err != nil {
			if len(faults) == 0 {
				t.Errorf("PolicyOf says %v, and Validate nothing", err)
			}
			return
		}
		if s.Resolution, err = override.Resolve(policy, w.bindings); err != nil {
			if len(faults) == 0 {
				t.Errorf("Resolve says %v, and Validate nothing", err)
			}
			return
		}
		p, err := progressive.Propagate(s, noon, rollout.Options{})
		if err == nil && len(faults) > 0 {
			t.Errorf("Validate says %v, and Propagate nothing", faults)
		}
		if err != nil {
			return
		}
		stored := s.Rollout.DeepCopy()
		if _, err := p.Store(stored); err != nil {
			t.Error(err)
		}
		if again, err := progressive.Propagate(progressive.State{
			Policy: s.Policy, Resolution: s.Resolution, Rollout: stored, NewUID: "another", Replicas: s.Replicas,
		}, noon, rollout.Options{}); err != nil {
			t.Errorf("what was stored is refused: %v", err)
		} else if changed, err := again.Store(stored.DeepCopy()); changed || err != nil {
			t.Errorf("stored again: %v, %v", changed, err)
		}
	})
}

var _ runtime.Object = (*progressive.Rollout)(nil)
