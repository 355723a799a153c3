// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"testing"
	"time"

	"github.com/go-logr/logr"
	workv1 "open-cluster-management.io/api/work/v1"
	workv1alpha1 "open-cluster-management.io/api/work/v1alpha1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/cohort-ocm/cohort/examples/controllers/plugins"
	proof "github.com/cohort-ocm/cohort/examples/trial"
	"github.com/cohort-ocm/cohort/rollout/writes"
	"github.com/cohort-ocm/cohort/status"
)

// TestProofWithOperators tests works with freezes and verdicts in virtual time. Operators freeze and unfreeze clusters and set
// allowlists. A plugin answers yes, no, not yet, nothing, or about an earlier version, and gives each cluster a value of
// its own. The controller crashes, and its caches are stale. There are up to two placements and two processes. Then each
// duty is left out in turn.
//
//	go test ./works -run TestProofWithOperators -v
//	go test ./works -run TestProofWithOperators -rollouts=300 -v -timeout=0
func TestProofWithOperators(t *testing.T) {
	ctrl.SetLogger(logr.Discard())
	h, err := proof.Start()
	if err != nil {
		t.Fatal(err)
	}
	subject := &proof.Subject{
		Run: listening, Says: says, RemoveAfter: grace, IgnoreAnnotation: ignoreAnnotation, Placements: 2, Replicas: 2,
		People: &proof.People{
			Annotations: map[string]string{plugins.AnnotationPlugin: "validator"}, Freeze: prefix + "freeze", Allowlist: prefix + "allowlist",
			Version: func(set *workv1alpha1.ManifestWorkReplicaSet) string {
				return writes.VersionOf(set.Spec.ManifestWorkTemplate)
			},
			Verdict: func(work *workv1.ManifestWork) proof.Verdict {
				v, err := status.VerdictOf(work, work.Namespace, time.Time{})
				if err != nil {
					t.Errorf("%s: %v", work.Namespace, err)
				}
				return proof.Verdict{
					Version: v.Version, Yes: v.Result == status.ValidationSucceeded, No: v.Result == status.ValidationFailed, Why: v.Message, At: v.Time,
				}
			},
		},
	}
	t.Run("Rollouts", func(t *testing.T) { h.People(t, subject) })
	t.Run("EachDuty", func(t *testing.T) { h.EachDutyOfPeople(t, subject) })
}

// listening is a process of the controller with the plugin.
func listening(ctx context.Context, p *proof.Process) error {
	return runProcess(ctx, p, func(c *controller) {
		c.plugins = &plugins.Hooks{Registered: map[string]plugins.Plugin{"validator": validator{p}}}
		switch p.Ignored {
		case proof.DutyKeepVerdict:
			c.client = unkept{c.client}
		case proof.DutyFrozen, proof.DutyAllowed:
			c.caches.sets = store{Indexer: c.caches.sets, change: func(o any) any {
				set := o.(*workv1alpha1.ManifestWorkReplicaSet).DeepCopy()
				delete(set.Annotations, prefix+"freeze")
				delete(set.Annotations, prefix+"allowlist")
				return set
			}}
		}
	})
}

// validator is a plugin that the harness answers.
type validator struct{ process *proof.Process }

func (validator) Initialize(context.Context) error                        { return nil }
func (validator) BeginRollout(context.Context, *plugins.Request) error    { return nil }
func (validator) ProgressRollout(context.Context, *plugins.Request) error { return nil }

func (v validator) MutateManifestWork(_ context.Context, _ *plugins.Request, work *workv1.ManifestWork) (*workv1.ManifestWork, error) {
	mutated := work.DeepCopy()
	if v.process.Ignored == proof.DutyValue { // the same value for all
		mutated.Namespace = "every"
	}
	err := v.process.Value(mutated)
	mutated.Namespace = work.Namespace
	return mutated, err
}

func (v validator) ValidateRolloutCompletion(_ context.Context, r *plugins.Request) (plugins.Validation, error) {
	said, err := v.process.Validate(r.Cluster, r.Revision)
	answer := plugins.Validation{Result: status.ValidationInProgress, Message: said.Why, Revision: said.Version}
	switch {
	case said.Yes:
		answer.Result = status.ValidationSucceeded
	case said.No:
		answer.Result = status.ValidationFailed
	}
	if v.process.Ignored == proof.DutyAbout {
		answer.Revision = ""
	}
	return answer, err
}

// unkept is a client that drops each verdict, and reports success.
type unkept struct{ client.Client }

func (c unkept) Update(ctx context.Context, o client.Object, options ...client.UpdateOption) error {
	if work, is := o.(*workv1.ManifestWork); is {
		delete(work.Annotations, prefix+"verdict")
	}
	return c.Client.Update(ctx, o, options...)
}

// impatient requeues each second while a cluster is validated.
type impatient struct{ reconcile.Reconciler }

func (i impatient) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	result, err := i.Reconciler.Reconcile(ctx, request)
	if result.RequeueAfter > 0 {
		result.RequeueAfter = min(result.RequeueAfter, time.Second)
	}
	return result, err
}
