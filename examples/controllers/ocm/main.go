// SPDX-License-Identifier: Apache-2.0

// Command ocm runs Open Cluster Management's own controller of ManifestWorkReplicaSets, as its module publishes it, against the hub of
// a kubeconfig:
//
//	go run . -kubeconfig hub.kubeconfig
//
// The tests of the kubectl plugin read what it writes: works without stamps, with generated names. Its own tests roll out
// over groups that Open Cluster Management's own scheduler divides. It is a module of its own, so that nothing else here
// requires Open Cluster Management's code.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clusterclient "open-cluster-management.io/api/client/cluster/clientset/versioned"
	clusterinformers "open-cluster-management.io/api/client/cluster/informers/externalversions"
	workclient "open-cluster-management.io/api/client/work/clientset/versioned"
	workinformers "open-cluster-management.io/api/client/work/informers/externalversions"
	replicaset "open-cluster-management.io/ocm/pkg/work/hub/controllers/manifestworkreplicasetcontroller"
	"open-cluster-management.io/sdk-go/pkg/apis/work/v1/applier"
)

func main() {
	kubeconfig := flag.String("kubeconfig", "hub.kubeconfig", "the hub")
	workers := flag.Int("workers", 4, "how many sets are looked at at a time")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, *kubeconfig, *workers); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// run runs the controller until the context ends.
func run(ctx context.Context, kubeconfig string, workers int) error {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return err
	}
	config.QPS, config.Burst = 100, 200
	return runFor(ctx, config, workers)
}

// runFor runs the controller with a configuration until the context ends.
func runFor(ctx context.Context, config *rest.Config, workers int) error {
	clusters, err := clusterclient.NewForConfig(config)
	if err != nil {
		return err
	}
	works, err := workclient.NewForConfig(config)
	if err != nil {
		return err
	}
	const resync = 30 * time.Minute // as Open Cluster Management has it
	ofClusters := clusterinformers.NewSharedInformerFactory(clusters, resync)
	ofWorks := workinformers.NewSharedInformerFactory(works, resync)
	controller := replicaset.NewManifestWorkReplicaSetController(
		works, applier.NewWorkApplierWithTypedClient(works, ofWorks.Work().V1().ManifestWorks().Lister()),
		ofWorks.Work().V1alpha1().ManifestWorkReplicaSets(), ofWorks.Work().V1().ManifestWorks(),
		ofClusters.Cluster().V1beta1().Placements(), ofClusters.Cluster().V1beta1().PlacementDecisions(),
	)
	ofClusters.Start(ctx.Done())
	ofWorks.Start(ctx.Done())
	controller.Run(ctx, workers)
	ofClusters.Shutdown()
	ofWorks.Shutdown()
	return nil
}
