package main

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/api/meta"
	workv1alpha1 "open-cluster-management.io/api/work/v1alpha1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	proof "github.com/cohort-ocm/cohort/examples/trial"
)

// grace is how long a deselected cluster keeps its work.
const grace = 5 * time.Second

// TestProof tests this controller, as it is shipped, in virtual time: see the documentation of package trial.
//
//	go test ./small -run TestProof/Rollouts -rollouts=200 -v
func TestProof(t *testing.T) {
	ctrl.SetLogger(logr.Discard())
	h, err := proof.Start()
	if err != nil {
		t.Fatal(err)
	}
	subject := &proof.Subject{Run: process, Says: says, RemoveAfter: grace, GivenUp: givenUpBy, Placements: 1, Replicas: 2, Events: true}
	t.Run("Rollouts", func(t *testing.T) { h.Rollouts(t, subject) })
	t.Run("Days", func(t *testing.T) { h.Days(t, subject) })
	t.Run("Untold", func(t *testing.T) { h.Untold(t, subject) })
	t.Run("EachDuty", func(t *testing.T) { h.EachDuty(t, subject, proof.Duties) })
	t.Run("CutOff", func(t *testing.T) { h.CutOff(t, subject) })
	t.Run("EachDutyOfCutOff", func(t *testing.T) { h.EachDutyOfCutOff(t, subject) })
}

// says reads the status of a set.
func says(set *workv1alpha1.ManifestWorkReplicaSet) proof.Saying {
	c := meta.FindStatusCondition(set.Status.Conditions, workv1alpha1.ManifestWorkReplicaSetConditionPlacementRolledOut)
	if c == nil {
		return proof.Saying{}
	}
	return proof.Saying{
		Message: c.Message, Current: c.ObservedGeneration == set.Generation,
		Over:     c.Status == "True" || strings.Contains(c.Message, "stopped"),
		Complete: c.Status == "True", Succeeded: c.Status == "True" && !strings.Contains(c.Message, "failed"),
	}
}

// process is a process of the controller: what main does, with the harness's informers, network and lease.
func process(ctx context.Context, p *proof.Process) error {
	caches := storesOf(p)
	manager, err := newManager(p, newScheme(), caches)
	if err != nil {
		return err
	}
	c := newController(manager)
	c.removeAfter = grace
	by := reconcile.Reconciler(c)
	if p.Ignored != "" {
		by = sabotage(c, p, caches)
	}
	if err := c.watch(manager, observed{p, by}); err != nil {
		return err
	}
	return manager.Start(ctx)
}
