// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	workv1 "open-cluster-management.io/api/work/v1"
	workv1alpha1 "open-cluster-management.io/api/work/v1alpha1"
	ctrl "sigs.k8s.io/controller-runtime"

	proof "github.com/cohort-ocm/cohort/examples/trial"
	"github.com/cohort-ocm/cohort/rollout/placer"
	"github.com/cohort-ocm/cohort/status"
)

// grace is how long a deselected cluster keeps its work.
const grace = 5 * time.Second

// ignoreAnnotation is the annotation that names the ignored clusters.
const ignoreAnnotation = "cohort.open-cluster-management.io/ignore"

// TestProof tests package placer in virtual time: see the documentation of package trial.
//
//	go test ./placed -run TestProof/Rollouts -rollouts=200 -v
func TestProof(t *testing.T) {
	ctrl.SetLogger(logr.Discard())
	h, err := proof.Start()
	if err != nil {
		t.Fatal(err)
	}
	subject := subjectOf(kindFor(nil))
	t.Run("Rollouts", func(t *testing.T) { h.Rollouts(t, subject) })
	t.Run("TwoAct", func(t *testing.T) { h.TwoAct(t, subject) })
	t.Run("CutOff", func(t *testing.T) { h.CutOff(t, subject) })
	t.Run("Days", func(t *testing.T) { h.Days(t, subject) })
	t.Run("Untold", func(t *testing.T) { h.Untold(t, subject) })
	t.Run("EachDuty", func(t *testing.T) { h.EachDuty(t, subject, proof.Duties) })
	t.Run("EachDutyOfCutOff", func(t *testing.T) { h.EachDutyOfCutOff(t, subject) })
	t.Run("EachPartOfAStrategy", func(t *testing.T) { h.EachDuty(t, subject, proof.StrategyDuties) })
	t.Run("Values", func(t *testing.T) { h.Values(t, subjectOf(kindFor(proof.ForCluster))) })
}

// kindFor is the kind of the program, with the grace of the trial. A function may give each cluster a value of its own.
func kindFor(values func(*replicaSet, string) workv1.ManifestWorkSpec) placer.Kind[*replicaSet] {
	kind := replicaSets
	kind.Rollout = func(set *replicaSet) (placer.Rollout, error) {
		wanted, err := rolloutOf(set)
		for i := range wanted.Placements {
			wanted.Placements[i].Options.RemoveAfter = metav1.Duration{Duration: grace}
		}
		if values != nil {
			wanted.For = func(cluster string) (workv1.ManifestWorkSpec, error) { return values(set, cluster), nil }
		}
		return wanted, err
	}
	return kind
}

// subjectOf is the subject of the trial with a kind.
func subjectOf(kind placer.Kind[*replicaSet]) *proof.Subject {
	run := func(ctx context.Context, p *proof.Process) error {
		caches := newInformers(p)
		if p.Ignored == "" {
			manager, err := newManager(p, caches)
			if err != nil {
				return err
			}
			return start(ctx, manager, placer.For(manager, kind).Wrap(observed(p)))
		}
		by := sabotage(p, caches)
		manager, err := newManager(p, caches)
		if err != nil {
			return err
		}
		by.Manager = manager
		return start(ctx, manager, placer.For(ctrl.Manager(by), by.kind(kind)).Wrap(by.look).Wrap(observed(p)))
	}
	return newSubject(run, 2)
}

// newSubject is a subject that the trial gives sets with up to so many placements.
func newSubject(run func(context.Context, *proof.Process) error, placements int) *proof.Subject {
	return &proof.Subject{Run: run, Says: says, RemoveAfter: grace, IgnoreAnnotation: ignoreAnnotation, Placements: placements, Replicas: 2, Events: true}
}

func start(ctx context.Context, manager ctrl.Manager, of *placer.Builder[*replicaSet]) error {
	if err := of.Complete(); err != nil {
		return err
	}
	return manager.Start(ctx)
}

// says reads the conditions that package placer sets.
func says(set *workv1alpha1.ManifestWorkReplicaSet) proof.Saying {
	ready := meta.FindStatusCondition(set.Status.Conditions, placer.ConditionReady)
	if ready == nil {
		return proof.Saying{}
	}
	succeeded := ready.Status == metav1.ConditionTrue
	complete := succeeded || ready.Reason == status.ReasonClustersFailed
	stalled := meta.IsStatusConditionTrue(set.Status.Conditions, placer.ConditionStalled)
	return proof.Saying{
		Message:   ready.Message,
		Current:   ready.ObservedGeneration == set.Generation,
		Over:      complete || stalled,
		Complete:  complete,
		Succeeded: succeeded,
	}
}
