// SPDX-License-Identifier: Apache-2.0

// Mirror copies OCM's PlacementDecisions to SIG Multicluster's (KEP-5313). Any scheduler may write the source: the
// decisions controller of examples/controllers, or OCM's own. At any time each cluster that stays selected is in some
// slice, in whatever order the scheduler writes, unless the scheduler itself drops it. Slices are sealed (see
// grouping.Sealed) when the source is complete.
//
//	go run ./mirror -kubeconfig hub.kubeconfig -profile-namespace open-cluster-management-addon
package main

import (
	"flag"
	"fmt"
	"os"

	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	sig "sigs.k8s.io/cluster-inventory-api/apis/v1alpha1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/cohort-ocm/cohort/examples/inventory"
)

func main() {
	profiles := flag.String("profile-namespace", "", "where the ClusterProfiles are; the namespace of each slice if empty")
	metricsAddress := flag.String("metrics-bind-address", ":8080", "where Prometheus asks; 0 for nowhere")
	elect := flag.Bool("leader-elect", false, "wait until no other replica is at work")
	flag.Parse()
	ctrl.SetLogger(zap.New())
	if err := run(inventory.Convention{Profiles: *profiles, Scheduler: "cohort"}, ctrl.Options{
		Scheme:           newScheme(),
		Metrics:          metricsserver.Options{BindAddress: *metricsAddress},
		LeaderElection:   *elect,
		LeaderElectionID: "mirror.cohort.open-cluster-management.io",
	}); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(convention inventory.Convention, options ctrl.Options) error {
	config, err := ctrl.GetConfig()
	if err != nil {
		return err
	}
	manager, err := ctrl.NewManager(config, options)
	if err != nil {
		return err
	}
	m := &mirrorer{source: manager.GetClient(), client: manager.GetClient(), live: manager.GetAPIReader(), convention: convention}
	err = ctrl.NewControllerManagedBy(manager).
		Named("mirror").
		For(&clusterv1beta1.Placement{}).
		Watches(&clusterv1beta1.PlacementDecision{}, handler.EnqueueRequestsFromMapFunc(by(placementOf))).
		Watches(&sig.PlacementDecision{}, handler.EnqueueRequestsFromMapFunc(by(keyOf))).
		Complete(m)
	if err != nil {
		return err
	}
	return manager.Start(ctrl.SetupSignalHandler())
}

func newScheme() *runtime.Scheme {
	scheme := runtime.NewScheme()
	utilruntime.Must(clusterv1beta1.Install(scheme))
	utilruntime.Must(sig.AddToScheme(scheme))
	return scheme
}
