// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"flag"
	"time"

	"k8s.io/apimachinery/pkg/util/validation/field"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/cohort-ocm/cohort/decisionupdate"
	"github.com/cohort-ocm/cohort/examples/controllers/kit/manager"
)

func main() {
	workers := flag.Int("workers", 4, "how many Placements are looked at at a time")
	parallel := flag.Int("parallel", 4, "how many PlacementDecisions of a Placement are written at a time")
	strategy := flag.String("update-strategy", string(decisionupdate.UpdateStrategyTypeRollingUpdate), "RollingUpdate, or All as OCM's own controller does")
	manager.Main("decisions", scheme, func(ctx context.Context, m ctrl.Manager) error {
		update := decisionupdate.UpdateStrategy{Type: decisionupdate.UpdateStrategyType(*strategy), MaxSteps: 10}
		if errs := decisionupdate.Validate(update, field.NewPath("update-strategy")); len(errs) > 0 {
			return errs.ToAggregate()
		}
		return setUp(ctx, m, newTeller(m.GetEventRecorder("decisions"), metrics.Registry), update, *parallel, *workers)
	})
}

func setUp(ctx context.Context, m ctrl.Manager, t teller, update decisionupdate.UpdateStrategy, parallel, workers int) error {
	caches, err := newCaches(ctx, m.GetCache())
	if err != nil {
		return err
	}
	c := &controller{
		caches: caches, client: m.GetClient(), live: m.GetAPIReader(), now: time.Now, strategy: update, parallel: parallel, teller: t,
	}
	return c.watch(m, workers)
}

var scheme = manager.Scheme(clusterv1.Install, clusterv1beta1.Install, clusterv1beta2.Install)
