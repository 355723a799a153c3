// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/go-logr/logr"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	workv1alpha1 "open-cluster-management.io/api/work/v1alpha1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/yaml"

	"github.com/cohort-ocm/cohort/examples/controllers/rollback"
	proof "github.com/cohort-ocm/cohort/examples/trial"
	"github.com/cohort-ocm/cohort/examples/trial/apiserver"
)

// TestProofOfRollback tests works with -rollback on an API server that has the fields of enhancement 229. Versions fail and
// are rolled back, by AbortAll or by an operator, while the controller crashes at any write, its caches are stale and its
// network breaks. Then each duty is left out in turn.
//
//	go test ./works -run TestProofOfRollback -v
//	go test ./works -run TestProofOfRollback -rollouts=300 -v -timeout=0
func TestProofOfRollback(t *testing.T) {
	ctrl.SetLogger(logr.Discard())
	files, err := apiserver.RollbackDefinitions(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		abortByDefault(t, file)
	}
	h, err := proof.Start(files...)
	if err != nil {
		t.Fatal(err)
	}
	subject := &proof.Subject{
		Run: func(ctx context.Context, p *proof.Process) error {
			return runProcess(ctx, p, func(c *controller) {
				c.rollback = &rollback.Keeper{Client: c.client, Live: c.live, Now: c.now}
				c.caches.sets = store{Indexer: c.caches.sets, change: asked}
				if p.Ignored != "" {
					lackOfRollback(c, p)
				}
			})
		},
		Says: saysOfRollback, RemoveAfter: grace, IgnoreAnnotation: ignoreAnnotation, Placements: 1, Replicas: 2,
		Revision:  hashOf,
		Revisions: revisionsOf(t),
	}
	h.Rollback(t, subject)
	t.Run("EachDuty", func(t *testing.T) { h.EachDutyOfRollback(t, subject, dutiesOfRollback...) })
}

func hashOf(set *workv1alpha1.ManifestWorkReplicaSet) string {
	return rollback.ComputeHash(&set.Spec.ManifestWorkTemplate, nil)
}

// abortByDefault makes AbortAll the default of each strategy, since the harness's users write OCM's API without the fields
// of the enhancement.
func abortByDefault(t *testing.T, file string) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var crd apiextensionsv1.CustomResourceDefinition
	if err := yaml.Unmarshal(text, &crd); err != nil {
		t.Fatal(err)
	}
	if crd.Spec.Names.Kind != "ManifestWorkReplicaSet" {
		return
	}
	strategy := crd.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"].Properties["placementRefs"].Items.Schema.Properties["rolloutStrategy"]
	field := strategy.Properties["failureStrategy"]
	field.Default = &apiextensionsv1.JSON{Raw: []byte(`"AbortAll"`)}
	strategy.Properties["failureStrategy"] = field
	if text, err = yaml.Marshal(&crd); err == nil {
		err = os.WriteFile(file, text, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// asked expresses an operator's request for a rollback in this controller's API.
func asked(o any) any {
	set := o.(*workv1alpha1.ManifestWorkReplicaSet)
	if set.Annotations["hub.test/abort"] == strconv.FormatInt(set.Generation, 10) {
		set = set.DeepCopy()
		set.Annotations[rollback.AbortAnnotation] = set.Annotations["hub.test/abort"]
	}
	return set
}

func saysOfRollback(set *workv1alpha1.ManifestWorkReplicaSet) proof.Saying {
	c := meta.FindStatusCondition(set.Status.Conditions, rollback.ConditionProgressing)
	rolled := meta.FindStatusCondition(set.Status.Conditions, workv1alpha1.ManifestWorkReplicaSetConditionPlacementRolledOut)
	if c == nil || rolled == nil {
		return proof.Saying{}
	}
	return proof.Saying{
		Message: c.Message, Current: c.ObservedGeneration == set.Generation && rolled.ObservedGeneration == set.Generation,
		Over:     c.Status == metav1.ConditionFalse && rolled.Reason != workv1alpha1.ReasonProgressing,
		Complete: rolled.Status == metav1.ConditionTrue, Succeeded: rolled.Status == metav1.ConditionTrue && !strings.Contains(c.Message, "failed"),
	}
}

// revisionsOf reads the revisions from the stored set, since its Go type has no fields for them.
func revisionsOf(t *testing.T) func(*workv1alpha1.ManifestWorkReplicaSet, []byte) proof.Revisions {
	return func(_ *workv1alpha1.ManifestWorkReplicaSet, stored []byte) proof.Revisions {
		set := rollback.ManifestWorkReplicaSet{}
		if err := json.Unmarshal(stored, &set); err != nil {
			t.Error(err)
		}
		r := proof.Revisions{Current: set.Status.CurrentRevision, Update: set.Status.UpdateRevision, AtOnce: true}
		if set.Status.AbortedTime != nil {
			r.Aborted = set.Status.AbortedTime.Time
		}
		return r
	}
}
