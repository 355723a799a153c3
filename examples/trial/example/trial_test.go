// SPDX-License-Identifier: Apache-2.0

package example

import (
	"context"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"
	clusterclient "open-cluster-management.io/api/client/cluster/clientset/versioned"
	clusterlisters "open-cluster-management.io/api/client/cluster/listers/cluster/v1beta1"
	workclient "open-cluster-management.io/api/client/work/clientset/versioned"
	worklisters "open-cluster-management.io/api/client/work/listers/work/v1"
	setlisters "open-cluster-management.io/api/client/work/listers/work/v1alpha1"

	"github.com/cohort-ocm/cohort/examples/trial"
	"github.com/cohort-ocm/cohort/status"
)

// removeAfter is for how long a cluster has to be out of the decisions until it loses its work.
const removeAfter = 2 * time.Second

// TestTrial puts the controller on trial: 10 worlds with crashes, lost answers and caches that lag.
//
//	go test ./example -run TestTrial/Rollouts -v      it breaks nothing
//	go test ./example -run TestTrial/CutOff -v        nor where versions cut clusters off
//	go test ./example -run TestTrial/Untold -v        nor where some duty matters
//	go test ./example -run TestTrial/EachDuty -v      it would be found if it did
func TestTrial(t *testing.T) {
	hub, err := trial.Start()
	if err != nil {
		t.Fatal(err)
	}
	subject := &trial.Subject{Run: run, Says: says, RemoveAfter: removeAfter, IgnoreAnnotation: ignoreAnnotation, Placements: 1, Replicas: 1}
	t.Run("Rollouts", func(t *testing.T) { hub.Rollouts(t, subject) })
	t.Run("CutOff", func(t *testing.T) { hub.CutOff(t, subject) })
	t.Run("Untold", func(t *testing.T) { hub.Untold(t, subject) })
	t.Run("EachDuty", func(t *testing.T) { hub.EachDuty(t, subject, tampered) })
}

// tampered are the duties that run can have the controller ignore, with what is broken then: from outside, without switches in it.
var tampered = map[trial.Duty][]trial.Invariant{
	trial.DutyRemoveLate:  trial.Duties[trial.DutyRemoveLate],
	trial.DutyRecheck:     trial.Duties[trial.DutyRecheck],
	trial.KeepSoak:        trial.StrategyDuties[trial.KeepSoak],
	trial.KeepConcurrency: trial.StrategyDuties[trial.KeepConcurrency],
}

// run is one process: the controller with the clients and the caches that the harness gives it. Its memory dies with it.
func run(ctx context.Context, p *trial.Process) error {
	client, err := workclient.NewForConfig(p.Config)
	if err != nil {
		return err
	}
	c := &controller{
		key: p.Set, removeAfter: removeAfter, client: client, clusters: clusterclient.NewForConfigOrDie(p.Config), strategy: p.Ignored.Strategy,
		sets:       setlisters.NewManifestWorkReplicaSetLister(p.Store(trial.ReplicaSets)),
		works:      worklisters.NewManifestWorkLister(p.Store(trial.Works)),
		placements: clusterlisters.NewPlacementLister(p.Store(trial.Placements)),
		decisions:  clusterlisters.NewPlacementDecisionLister(p.Store(trial.Decisions)),
	}
	if p.Ignored == trial.DutyRemoveLate {
		c.removeAfter = 0
	}
	news := make(chan struct{}, 1)
	changed := func() {
		select {
		case news <- struct{}{}:
		default: // there is one already
		}
	}
	for _, kind := range []trial.Kind{trial.ReplicaSets, trial.Works, trial.Placements, trial.Decisions} {
		p.Handle(kind, cache.ResourceEventHandlerFuncs{
			AddFunc: func(any) { changed() }, UpdateFunc: func(any, any) { changed() }, DeleteFunc: func(any) { changed() },
		})
	}
	for ctx.Err() == nil {
		var again <-chan time.Time
		p.Reconcile(func() (time.Duration, error) {
			after, err := c.Look(ctx)
			if p.Ignored == trial.DutyRecheck {
				after = 0
			}
			if after > 0 {
				again = time.After(after)
			}
			return after, err
		})
		select {
		case <-ctx.Done():
		case <-news:
		case <-again:
		}
	}
	return nil
}

// says reads the conditions that status.SetConditions sets.
func says(s *set) (says trial.Saying) {
	for _, c := range s.Status.Conditions {
		if c.Status == metav1.ConditionTrue {
			says = trial.Saying{
				Message: c.Message, Current: c.ObservedGeneration == s.Generation,
				Over:      c.Type == status.ConditionSucceeded || c.Type == status.ConditionFailed,
				Complete:  c.Type == status.ConditionSucceeded || c.Reason == status.ReasonClustersFailed,
				Succeeded: c.Type == status.ConditionSucceeded,
			}
		}
	}
	return says
}
