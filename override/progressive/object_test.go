// SPDX-License-Identifier: Apache-2.0

package progressive_test

import (
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/cohort-ocm/cohort/override/progressive"
	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/status"
	"github.com/cohort-ocm/cohort/status/policyv1"
)

// O31: only the users' spec counts in the Rollout of a deleted policy, for another policy of the same name.
func TestTheRolloutOfADeletedPolicyDoesNotCount(t *testing.T) {
	w := newWorld(t)
	w.bind("b", "p", "dev: a")
	w.object = rolloutOf(`{"kind":"ConfigMap"}`)
	w.object.OwnerReferences = nil
	w.object.Status.RolloutUID, w.object.Status.RolloutStatus = "old", status.Failed
	w.object.Status.CurrentRolloutGeneration = w.root.GetGeneration()
	if w.sync(rollout.Options{}); w.has("a") != "v1" || w.object.Status.RolloutStatus != status.Progressing || w.last.LastSuccessful() != nil {
		t.Errorf("%v", w)
	}
	if len(w.object.OwnerReferences) != 1 || w.object.OwnerReferences[0].UID != "root-uid" {
		t.Errorf("owners %v", w.object.OwnerReferences)
	}
}

// O42: a policy can be switched off whatever its Rollout says.
func TestAFaultyRolloutDoesNotKeepADisabledPolicy(t *testing.T) {
	for name, spoil := range map[string]func(*progressive.Rollout){
		"a last successful policy that is another object": func(r *progressive.Rollout) {
			r.Status.LastSuccessful = &runtime.RawExtension{Raw: []byte(`{"kind":"ConfigMap"}`)}
		},
		"the Rollout of the policy before": func(r *progressive.Rollout) { r.OwnerReferences[0].UID = "old" },
		"a record that cannot be read": func(r *progressive.Rollout) {
			r.Annotations = map[string]string{"cohort.open-cluster-management.io/left": "{"}
		},
		"a later generation": func(r *progressive.Rollout) { r.Status.CurrentRolloutGeneration = 99 },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.bind("b", "p", "dev: a")
			w.sync(rollout.Options{})
			w.object = w.object.DeepCopy()
			spoil(w.object)
			if _, err := progressive.Propagate(w.state(), w.now, rollout.Options{}); err == nil {
				t.Fatal("the fault is none")
			}
			w.set(true, "spec", "disabled")
			if w.sync(rollout.Options{}); len(w.replicas) != 0 {
				t.Errorf("%v has a replica", w)
			}
		})
	}
}

// O35: a breach among the clusters that can be seen is not the end: the others may give it more room.
func TestABreachAmongIncompleteGroupsIsNotTheEnd(t *testing.T) {
	w := newWorld(t)
	(&stage{world: w}).setStrategy([]string{"Progressive", "deadline=10m", "failures=25%", "concurrency=4"})
	w.bind("x", "first", "dev: a b c d")
	w.bind("y", "second", "dev: e f g h")
	w.sync(rollout.Options{})
	for name, says := range map[string]policyv1.ComplianceState{"a": policyv1.NonCompliant, "b": policyv1.NonCompliant, "c": policyv1.Compliant, "d": policyv1.Compliant} {
		w.report(name, says)
	}
	unseen := w.bindings[1]
	w.bind("y", "second", "dev:")
	w.partial["second"] = true
	w.now = w.now.Add(10 * time.Minute)
	if w.sync(rollout.Options{}); w.last.Plan.Breach == nil || w.object.Status.RolloutStatus != status.Progressing {
		t.Fatalf("breach %v\n%v", w.last.Plan.Breach, w)
	}
	w.bindings[1], w.partial["second"] = unseen, false
	if w.sync(rollout.Options{}); w.object.Status.RolloutStatus != status.Progressing || w.has("e") != "v1" {
		t.Errorf("%v", w)
	}
}
