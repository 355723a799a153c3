// SPDX-License-Identifier: Apache-2.0

package manager

import (
	"context"
	"flag"
	"fmt"
	"os"

	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
)

// Scheme has the kinds of Kubernetes and the installed ones.
func Scheme(install ...func(*runtime.Scheme) error) *runtime.Scheme {
	scheme := runtime.NewScheme()
	utilruntime.Must(clientgoscheme.AddToScheme(scheme))
	for _, each := range install {
		utilruntime.Must(each(scheme))
	}
	return scheme
}

// Main is the main function of a program with that name: it adds the common flags, sets up a controller with a manager, and
// runs it until it is terminated.
func Main(name string, scheme *runtime.Scheme, begin func(context.Context, ctrl.Manager) error) {
	// -kubeconfig is a flag of controller-runtime. Without it the program takes $KUBECONFIG, the pod's own account, or
	// ~/.kube/config.
	metricsAddress := flag.String("metrics-bind-address", ":8080", "where Prometheus asks; 0 for nowhere")
	elect := flag.Bool("leader-elect", false, "wait until no other replica is at work")
	namespace := flag.String("leader-election-namespace", "", "where the lease is; that of the pod if empty")
	qps := flag.Float64("qps", 100, "how many requests a second the API server gets")
	flag.Parse()

	ctrl.SetLogger(zap.New())
	config := ctrl.GetConfigOrDie()
	config.QPS, config.Burst = float32(*qps), int(2**qps)
	config.ContentType = runtime.ContentTypeJSON // also for leases: the API server of this module has no other
	err := run(ctrl.SetupSignalHandler(), config, begin, ctrl.Options{
		Scheme:                  scheme,
		Metrics:                 metricsserver.Options{BindAddress: *metricsAddress},
		LeaderElection:          *elect,
		LeaderElectionID:        name + ".cohort.open-cluster-management.io",
		LeaderElectionNamespace: *namespace,
	})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context, config *rest.Config, begin func(context.Context, ctrl.Manager) error, options ctrl.Options) error {
	manager, err := ctrl.NewManager(config, options)
	if err != nil {
		return err
	}
	if err := begin(ctx, manager); err != nil {
		return err
	}
	return Start(ctx, manager)
}
