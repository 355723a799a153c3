// SPDX-License-Identifier: Apache-2.0

// Command placed places ManifestWorks for ManifestWorkReplicaSets, with package placer. It is what works does without its
// options.
//
//	go run ./placed -kubeconfig ~/.kube/config
//
// Its tests run package placer in virtual time, over Kubernetes' own server code.
package main

import (
	"flag"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	workv1 "open-cluster-management.io/api/work/v1"
	workv1alpha1 "open-cluster-management.io/api/work/v1alpha1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"

	"github.com/cohort-ocm/cohort/rollout/placer"
	"github.com/cohort-ocm/cohort/status"
)

type replicaSet = workv1alpha1.ManifestWorkReplicaSet

// setLabel has namespace.name of the set of a work, as OCM's controller writes it.
const setLabel = workv1alpha1.ManifestWorkReplicaSetControllerNameLabelKey

// availableAnnotation of a set, by the value true, makes its works successful once they are Available.
const availableAnnotation = "cohort.open-cluster-management.io/available-succeeds"

var replicaSets = placer.Kind[*replicaSet]{
	Rollout:    rolloutOf,
	Conditions: func(set *replicaSet) *[]metav1.Condition { return &set.Status.Conditions },
	Show: func(set *replicaSet, p placer.Progress) {
		shown := make([]status.PlacementProgress, len(p.Placements))
		for i, placed := range p.Placements {
			shown[i] = status.PlacementProgress{Name: placed.Name, Groups: placed.Groups, Works: placed.Works, Summary: placed.Summary()}
		}
		status.SetReplicaSetStatus(&set.Status, shown, set.Generation, metav1.Now().Time)
	},
}

// rolloutOf is what a set wants.
func rolloutOf(set *replicaSet) (placer.Rollout, error) {
	refs := field.NewPath("spec", "placementRefs")
	placements := make([]placer.Placement, len(set.Spec.PlacementRefs))
	for i, ref := range set.Spec.PlacementRefs {
		placements[i] = placer.Placement{Name: ref.Name, Strategy: ref.RolloutStrategy, Path: refs.Index(i).Child("rolloutStrategy")}
	}
	return placer.Rollout{
		Placements:        placements,
		Work:              set.Spec.ManifestWorkTemplate,
		AvailableSucceeds: set.Annotations[availableAnnotation] == "true",
		Labels:            map[string]string{setLabel: set.Namespace + "." + set.Name},
	}, nil
}

func newScheme() *runtime.Scheme {
	scheme := runtime.NewScheme()
	for _, install := range []func(*runtime.Scheme) error{
		clusterv1.Install, clusterv1beta1.Install, workv1.Install, workv1alpha1.Install,
	} {
		utilruntime.Must(install(scheme))
	}
	return scheme
}

func main() {
	flag.Parse()
	ctrl.SetLogger(zap.New())
	manager, err := ctrl.NewManager(ctrl.GetConfigOrDie(), ctrl.Options{
		Scheme: newScheme(), LeaderElection: true, LeaderElectionID: "placed", LeaderElectionNamespace: "default",
	})
	utilruntime.Must(err)
	utilruntime.Must(placer.For(manager, replicaSets).Complete())
	utilruntime.Must(manager.Start(ctrl.SetupSignalHandler()))
}
