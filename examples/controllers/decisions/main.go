package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/cohort-ocm/cohort/decisionupdate"
)

func main() {
	// -kubeconfig is a flag of controller-runtime. Without it the program takes $KUBECONFIG, the pod's own account, or
	// ~/.kube/config.
	workers := flag.Int("workers", 4, "how many Placements are looked at at a time")
	parallel := flag.Int("parallel", 4, "how many PlacementDecisions of a Placement are written at a time")
	strategy := flag.String("update-strategy", string(decisionupdate.UpdateStrategyTypeRollingUpdate), "RollingUpdate, or All as OCM's own controller does")
	metricsAddress := flag.String("metrics-bind-address", ":8080", "where Prometheus asks; 0 for nowhere")
	elect := flag.Bool("leader-elect", false, "wait until no other replica is at work")
	namespace := flag.String("leader-election-namespace", "", "where the lease is; that of the pod if empty")
	qps := flag.Float64("qps", 100, "how many requests a second the API server gets")
	flag.Parse()

	ctrl.SetLogger(zap.New())
	c := &controller{
		now: time.Now, parallel: *parallel,
		strategy: decisionupdate.UpdateStrategy{Type: decisionupdate.UpdateStrategyType(*strategy), MaxSteps: 10},
	}
	if errs := decisionupdate.Validate(c.strategy, field.NewPath("update-strategy")); len(errs) > 0 {
		exit(errs.ToAggregate())
	}
	config := ctrl.GetConfigOrDie()
	config.QPS, config.Burst = float32(*qps), int(2**qps)
	config.ContentType = runtime.ContentTypeJSON // also of leases, as the API server beside this has no other
	exit(run(ctrl.SetupSignalHandler(), config, c, *workers, ctrl.Options{
		Metrics:                 metricsserver.Options{BindAddress: *metricsAddress},
		LeaderElection:          *elect,
		LeaderElectionID:        "decisions.cohort.open-cluster-management.io",
		LeaderElectionNamespace: *namespace,
	}))
}

func exit(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// run runs the controller until the context ends.
func run(ctx context.Context, config *rest.Config, c *controller, workers int, options ctrl.Options) error {
	options.Scheme = newScheme()
	manager, err := ctrl.NewManager(config, options)
	if err != nil {
		return err
	}
	if c.caches, err = newCaches(ctx, manager.GetCache()); err != nil {
		return err
	}
	c.client, c.live = manager.GetClient(), manager.GetAPIReader()
	c.teller = newTeller(manager.GetEventRecorder("decisions"), metrics.Registry)
	if err := c.watch(manager, workers); err != nil {
		return err
	}
	return manager.Start(ctx)
}

func newScheme() *runtime.Scheme {
	scheme := runtime.NewScheme()
	utilruntime.Must(clientgoscheme.AddToScheme(scheme))
	utilruntime.Must(clusterv1.Install(scheme))
	utilruntime.Must(clusterv1beta1.Install(scheme))
	utilruntime.Must(clusterv1beta2.Install(scheme))
	return scheme
}
