package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	workv1 "open-cluster-management.io/api/work/v1"
	workv1alpha1 "open-cluster-management.io/api/work/v1alpha1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
)

func main() {
	// -kubeconfig is a flag of controller-runtime. Without it the program takes $KUBECONFIG, the pod's own account, or
	// ~/.kube/config.
	workers := flag.Int("workers", 4, "how many sets are looked at at a time")
	metricsAddress := flag.String("metrics-bind-address", ":8080", "where Prometheus asks; 0 for nowhere")
	elect := flag.Bool("leader-elect", false, "wait until no other replica is at work")
	namespace := flag.String("leader-election-namespace", "", "where the lease is; that of the pod if empty")
	removeAfter := flag.Duration("remove-after", 5*time.Second, "how long a cluster is in no placement before it loses its work; more than the scheduler takes to rewrite its decisions")
	qps := flag.Float64("qps", 100, "how many requests a second the API server gets")
	flag.Parse()

	ctrl.SetLogger(zap.New())
	config := ctrl.GetConfigOrDie()
	config.QPS, config.Burst = float32(*qps), int(2**qps)
	config.ContentType = runtime.ContentTypeJSON // also of leases, as the API server beside this has no other
	err := run(ctrl.SetupSignalHandler(), config, *workers, *removeAfter, ctrl.Options{
		Metrics:                 metricsserver.Options{BindAddress: *metricsAddress},
		LeaderElection:          *elect,
		LeaderElectionID:        "works.cohort.open-cluster-management.io",
		LeaderElectionNamespace: *namespace,
	})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// run runs the controller until the context ends.
func run(ctx context.Context, config *rest.Config, workers int, removeAfter time.Duration, options ctrl.Options) error {
	options.Scheme = newScheme()
	manager, err := ctrl.NewManager(config, options)
	if err != nil {
		return err
	}
	c, err := newController(ctx, manager, newTeller(manager.GetEventRecorder("works"), metrics.Registry), removeAfter)
	if err != nil {
		return err
	}
	if err := c.watch(manager, workers, c); err != nil {
		return err
	}
	return manager.Start(ctx)
}

// newController makes a controller of what a manager has.
func newController(ctx context.Context, manager ctrl.Manager, teller teller, removeAfter time.Duration) (*controller, error) {
	caches, err := newCaches(ctx, manager.GetCache())
	if err != nil {
		return nil, err
	}
	return &controller{
		caches: caches,
		client: manager.GetClient(),
		live:   manager.GetAPIReader(),
		teller: teller,
		now:    time.Now,

		removeAfter: removeAfter,
	}, nil
}

func newScheme() *runtime.Scheme {
	scheme := runtime.NewScheme()
	utilruntime.Must(clientgoscheme.AddToScheme(scheme))
	utilruntime.Must(clusterv1beta1.Install(scheme))
	utilruntime.Must(workv1.Install(scheme))
	utilruntime.Must(workv1alpha1.Install(scheme))
	return scheme
}
