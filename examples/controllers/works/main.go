// SPDX-License-Identifier: Apache-2.0

// Command works places ManifestWorks for ManifestWorkReplicaSets: each selected cluster gets a work with the set's
// template. The rollout strategy of its placement limits how many get it at a time.
//
//	go run ./works -kubeconfig ~/.kube/config
//
// It is a whole controller, meant to be copied. Read it in this order: reconcile.go, read.go, apply.go, known.go,
// caches.go. Labels, finalizer and conditions are OCM's own, so that other tools understand them. Do not run it together with
// OCM's controller for the same sets.
package main

import (
	"context"
	"errors"
	"flag"
	"time"

	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	workv1 "open-cluster-management.io/api/work/v1"
	workv1alpha1 "open-cluster-management.io/api/work/v1alpha1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/cohort-ocm/cohort/examples/controllers/hubshares"
	"github.com/cohort-ocm/cohort/examples/controllers/kit"
	"github.com/cohort-ocm/cohort/examples/controllers/kit/manager"
	"github.com/cohort-ocm/cohort/examples/controllers/plugins"
	"github.com/cohort-ocm/cohort/examples/controllers/removals"
	"github.com/cohort-ocm/cohort/examples/controllers/rollback"
)

func main() {
	workers := flag.Int("workers", 4, "how many sets are looked at at a time")
	removeAfter := flag.Duration("remove-after", 5*time.Second, "how long a cluster is in no placement before it "+
		"loses its work; more than the scheduler takes to rewrite its decisions")
	revisions := flag.Bool("rollback", false, "keep revisions, and take them back, as OCM's enhancement 229 has it")
	shared, hooks, order := hubshares.Flags(), plugins.Flags(), removals.Flags()
	manager.Main("works", scheme, func(ctx context.Context, m ctrl.Manager) error {
		c, err := newController(ctx, m, newTeller(m.GetEventRecorder("works"), metrics.Registry), *removeAfter)
		if err := errors.Join(err, shared.Join(m, &c.shares)); err != nil {
			return err
		}
		c.plugins, c.removals = hooks, order
		if *revisions {
			c.rollback = &rollback.Keeper{Client: c.client, Live: c.live, Now: c.now}
		}
		return c.watch(m, *workers, c)
	})
}

var scheme = manager.Scheme(clusterv1beta1.Install, workv1.Install, workv1alpha1.Install)

func newController(ctx context.Context, m ctrl.Manager, t kit.Teller, removeAfter time.Duration) (*controller, error) {
	caches, err := newCaches(ctx, m.GetCache())
	return &controller{
		caches: caches, client: m.GetClient(), live: m.GetAPIReader(), teller: t, now: time.Now, removeAfter: removeAfter,
	}, err
}
