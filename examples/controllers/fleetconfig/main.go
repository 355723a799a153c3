// SPDX-License-Identifier: Apache-2.0

// Command fleetconfig is a controller for an API of your own, with package placer. A FleetConfig gives each cluster of a
// Placement a ConfigMap, as its rollout strategy allows. Its API is in api/v1, and its definition in crds.
//
//	go run ./fleetconfig -kubeconfig ~/.kube/config
package main

import (
	"encoding/json"
	"flag"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	workv1 "open-cluster-management.io/api/work/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"

	appsv1 "github.com/cohort-ocm/cohort/examples/controllers/fleetconfig/api/v1"
	"github.com/cohort-ocm/cohort/rollout/placer"
)

// +kubebuilder:rbac:groups=example.com,resources=fleetconfigs,verbs=get;list;watch;patch
// +kubebuilder:rbac:groups=example.com,resources=fleetconfigs/status,verbs=update
// +kubebuilder:rbac:groups=work.open-cluster-management.io,resources=manifestworks,verbs=get;list;watch;create;update;delete
// +kubebuilder:rbac:groups=cluster.open-cluster-management.io,resources=placements;placementdecisions;managedclusters,verbs=get;list;watch
// +kubebuilder:rbac:groups=events.k8s.io,resources=events,verbs=create;patch
// +kubebuilder:rbac:groups=coordination.k8s.io,resources=leases,verbs=get;create;update

var fleetConfigs = placer.Kind[*appsv1.FleetConfig]{
	Rollout:            rolloutOf,
	Conditions:         func(f *appsv1.FleetConfig) *[]metav1.Condition { return &f.Status.Conditions },
	ObservedGeneration: func(f *appsv1.FleetConfig) *int64 { return &f.Status.ObservedGeneration },
	Show: func(f *appsv1.FleetConfig, p placer.Progress) {
		s := p.Summary()
		f.Status.Version, f.Status.Clusters, f.Status.Done = p.Version, s.Total(), s.Done()
		f.Status.InFlight, f.Status.Failed = s.InFlight(), s.Failures()
	},
}

// rolloutOf is what a FleetConfig wants: its data as a ConfigMap on each cluster. A cluster is done once its ConfigMap
// exists.
func rolloutOf(f *appsv1.FleetConfig) (placer.Rollout, error) {
	raw, err := json.Marshal(&corev1.ConfigMap{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"},
		ObjectMeta: metav1.ObjectMeta{Namespace: f.Namespace, Name: f.Name},
		Data:       f.Spec.Data,
	})
	placement := placer.Placement{Name: f.Spec.PlacementRef.Name, Strategy: f.Spec.RolloutStrategy}
	wanted := placer.Rollout{Placements: []placer.Placement{placement}, AvailableSucceeds: true}
	wanted.Work.Workload.Manifests = []workv1.Manifest{{RawExtension: runtime.RawExtension{Raw: raw}}}
	return wanted, err
}

func newScheme() *runtime.Scheme {
	scheme := runtime.NewScheme()
	utilruntime.Must(appsv1.AddToScheme(scheme))
	utilruntime.Must(clusterv1.Install(scheme))
	utilruntime.Must(clusterv1beta1.Install(scheme))
	utilruntime.Must(workv1.Install(scheme))
	return scheme
}

func main() {
	flag.Parse()
	ctrl.SetLogger(zap.New())
	manager, err := ctrl.NewManager(ctrl.GetConfigOrDie(), ctrl.Options{
		Scheme: newScheme(), LeaderElection: true, LeaderElectionID: "fleetconfig", LeaderElectionNamespace: "default",
	})
	utilruntime.Must(err)
	utilruntime.Must(placer.For(manager, fleetConfigs).Complete())
	utilruntime.Must(manager.Start(ctrl.SetupSignalHandler()))
}
