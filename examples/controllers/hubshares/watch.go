// SPDX-License-Identifier: Apache-2.0

package hubshares

import (
	"flag"
	"time"

	"k8s.io/apimachinery/pkg/types"
	workv1alpha1 "open-cluster-management.io/api/work/v1alpha1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/cohort-ocm/cohort/examples/controllers/kit/manager"
	"github.com/cohort-ocm/cohort/rollout/shares"
)

// TimingFlags adds the coordinator hub's times as flags. They have their values once flags are parsed.
func TimingFlags() *shares.Timing {
	t := &shares.Timing{}
	flag.DurationVar(&t.Lease, "shares-lease", 10*time.Minute, "for how long shares are granted; "+
		"a hub that is cut off goes on for at most one and a half times as long")
	timingFlags(t)
	return t
}

// Watch enqueues each set that an event concerns.
func Watch(m ctrl.Manager, workers int, by reconcile.Reconciler) error {
	changed := predicate.Or(predicate.GenerationChangedPredicate{}, predicate.AnnotationChangedPredicate{})
	return ctrl.NewControllerManagedBy(m).Named("divider").
		For(&workv1alpha1.ManifestWorkReplicaSet{}, builder.WithPredicates(changed)).
		Watches(&Account{}, manager.Concerns(setOf)).
		WithOptions(manager.Options(workers)).
		Complete(manager.Paced(by))
}

func setOf(object client.Object) []types.NamespacedName {
	if a, is := object.(*Account); is {
		return []types.NamespacedName{a.Spec.Rollout.set()}
	}
	return nil
}
