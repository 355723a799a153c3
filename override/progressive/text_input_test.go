// SPDX-License-Identifier: Apache-2.0

package progressive_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/cohort-ocm/cohort/override/progressive"
)

// O33, O44, O49: what a user writes amiss while a version is rolled out is told, and does nothing: no cluster gets another version, none
// loses its policy, and the rollout goes on from there once it is put right.
func TestWhatIsWrittenAmissDoesNothing(t *testing.T) {
	for _, test := range []struct {
		name   string
		policy func(spec map[string]any)         // an edit of the policy, which is refused
		object func(object *progressive.Rollout) // an edit of the Rollout
		want   string                            // in the error, or in what is ignored
	}{
		{name: "two templates of one name", policy: func(spec map[string]any) {
			spec["policy-templates"] = append(spec["policy-templates"].([]any), spec["policy-templates"].([]any)...)
		}, want: `spec.policy-templates[1].objectDefinition.metadata.name: Duplicate value: "template"`},
		{name: "an unknown type", policy: func(spec map[string]any) { spec["rolloutStrategy"] = map[string]any{"type": "manual"} },
			want: `spec.rolloutStrategy.type: Unsupported value: "manual"`},
		{name: "a selector that ignores the fleet", policy: func(spec map[string]any) {
			spec["rolloutStrategy"].(map[string]any)["ignoreClusterRolloutStatus"] = map[string]any{}
		}, want: "spec.rolloutStrategy.ignoreClusterRolloutStatus: Invalid value"},
		{name: "the Rollout of another policy", object: func(object *progressive.Rollout) {
			object.OwnerReferences = []metav1.OwnerReference{{APIVersion: "policy.open-cluster-management.io/v1", Kind: "Policy", Name: "p", UID: "another"}}
		}, want: "rollout.metadata.ownerReferences[0].uid: Invalid value"},
		{name: "a last successful policy of another name", object: func(object *progressive.Rollout) {
			object.Status.LastSuccessful = &runtime.RawExtension{Raw: []byte(`{"apiVersion":"v1","kind":"Policy","metadata":{"name":"q"}}`)}
		}, want: "rollout.status.lastSuccessful: Invalid value"},
		{name: "a generation that is yet to come", object: func(object *progressive.Rollout) { object.Status.CurrentRolloutGeneration = 100 },
			want: "rollout.status.currentRolloutGeneration: Invalid value: 100"},
		{name: "the approval of an unknown group", object: func(object *progressive.Rollout) {
			object.Spec.DecisionGroups = append(object.Spec.DecisionGroups, progressive.DecisionGroup{GroupName: "gone", RolloutApproved: true})
		}, want: `spec.decisionGroups[2].groupName: Unsupported value: "gone"`},
		{name: "approvals for another version", object: func(object *progressive.Rollout) { object.Spec.ApprovalsForVersion = "7" },
			want: `spec.approvalsForVersion`},
	} {
		t.Run(test.name, func(t *testing.T) {
			p := newTextPair(textStrategy{kind: "manualPerGroup", deadline: true}, "g1", "g2")
			for _, step := range strings.Split("select a g1,select b g2,approve g1,approve g2,complies a,complies b,withdraw g2,edit v2", ",") {
				if _, err := p.do(step); err != nil {
					t.Fatal(err)
				}
			}
			before, stored := p.hub.view(), p.hub.rollout
			p.hub.amiss = test.policy
			if test.object != nil {
				p.hub.rollout = stored.DeepCopy()
				test.object(p.hub.rollout)
			}
			said := ""
			if err := p.hub.settle(); err != nil {
				said = err.Error()
			} else {
				said = p.hub.last.Ignored.ToAggregate().Error()
			}
			if !strings.Contains(said, test.want) {
				t.Errorf("%q, want %q", said, test.want)
			}
			p.hub.amiss, p.hub.rollout = nil, stored
			if diff := cmp.Diff(before, p.hub.view()); diff != "" {
				t.Errorf("it changed what the clusters have:\n%s", diff)
			}
			for _, step := range []string{"complies a", "approve g2", "complies b"} {
				if _, err := p.do(step); err != nil {
					t.Fatal(err)
				}
			}
			if p.oracle.end != "Succeeded" {
				t.Errorf("the rollout does not go on: %v", p.hub.view())
			}
		})
	}
}

// amend gives the root policy with an edit.
func amend(root *unstructured.Unstructured, edit func(spec map[string]any)) *unstructured.Unstructured {
	if edit != nil {
		edit(root.Object["spec"].(map[string]any))
	}
	return root
}
