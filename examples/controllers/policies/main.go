// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/uuid"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/events"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	clusterclient "open-cluster-management.io/api/client/cluster/clientset/versioned"
	clusterinformers "open-cluster-management.io/api/client/cluster/informers/externalversions"
)

func main() {
	kubeconfig := flag.String("kubeconfig", "", "the hub; $KUBECONFIG, the pod's own account, or ~/.kube/config if empty")
	workers := flag.Int("workers", 4, "how many policies are looked at at a time")
	metricsAddress := flag.String("metrics-bind-address", ":8080", "where Prometheus asks; 0 for nowhere")
	elect := flag.Bool("leader-elect", false, "wait until no other replica is at work")
	namespace := flag.String("leader-election-namespace", "open-cluster-management-hub", "where the lease is")
	qps := flag.Float64("qps", 100, "how many requests a second the API server gets")
	flag.Parse()

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	config, err := configOf(*kubeconfig)
	if err == nil {
		config.QPS, config.Burst = float32(*qps), int(2**qps)
		config.ContentType = runtime.ContentTypeJSON // also for leases: the API server of the tests has no other
		go serveMetrics(*metricsAddress)
		lease := ""
		if *elect {
			lease = *namespace
		}
		err = lead(ctx, config, lease, lost, func(ctx context.Context) error {
			return run(ctx, config, *workers, prometheus.DefaultRegisterer)
		})
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func configOf(kubeconfig string) (*rest.Config, error) {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = kubeconfig
	return clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, nil).ClientConfig()
}

func serveMetrics(address string) {
	if address != "0" {
		http.Handle("/metrics", promhttp.Handler())
		fmt.Fprintln(os.Stderr, http.ListenAndServe(address, nil))
	}
}

// lost ends the process at once: what is under way here must not go on.
func lost() {
	fmt.Fprintln(os.Stderr, "another replica leads")
	os.Exit(1)
}

// lead runs the controller as soon as no other replica holds the lease, and ends it with the lease: then it calls lost. Without a namespace
// there is no lease.
func lead(ctx context.Context, config *rest.Config, namespace string, lost func(), run func(context.Context) error) error {
	if namespace == "" {
		return run(ctx)
	}
	host, err := os.Hostname()
	if err != nil {
		return err
	}
	clients, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	var failed error
	elector, err := leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
		Lock: &resourcelock.LeaseLock{
			LeaseMeta:  metav1.ObjectMeta{Namespace: namespace, Name: "policies.cohort.open-cluster-management.io"},
			Client:     clients.CoordinationV1(),
			LockConfig: resourcelock.ResourceLockConfig{Identity: fmt.Sprintf("%s_%d_%s", host, os.Getpid(), uuid.NewUUID())},
		},
		LeaseDuration: 15 * time.Second, RenewDeadline: 10 * time.Second, RetryPeriod: 2 * time.Second,
		Callbacks: leaderelection.LeaderCallbacks{
			OnStartedLeading: func(ctx context.Context) { failed = run(ctx); stop() },
			OnStoppedLeading: func() {
				if ctx.Err() == nil {
					lost()
				}
			},
		},
	})
	if err != nil {
		return err
	}
	elector.Run(ctx)
	return failed
}

// run runs the controller until the context ends.
func run(ctx context.Context, config *rest.Config, workers int, registry prometheus.Registerer) error {
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return err
	}
	clusters, err := clusterclient.NewForConfig(config)
	if err != nil {
		return err
	}
	core, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	broadcaster := events.NewBroadcaster(&events.EventSinkImpl{Interface: core.EventsV1()})
	if err := broadcaster.StartRecordingToSinkWithContext(ctx); err != nil {
		return err
	}
	defer broadcaster.Shutdown()

	ofPolicies := dynamicinformer.NewDynamicSharedInformerFactory(client, 0)
	ofClusters := clusterinformers.NewSharedInformerFactory(clusters, 0)
	informers, err := newInformers(ofPolicies, ofClusters)
	if err != nil {
		return err
	}
	c := &controller{
		caches: informers.caches(), client: client, now: time.Now,
		teller: newTeller(broadcaster.NewRecorder(runtime.NewScheme(), "policies"), registry),
	}
	queue := newQueue()
	if err := informers.listen(&c.caches, queue); err != nil {
		return err
	}
	ofPolicies.Start(ctx.Done())
	ofClusters.Start(ctx.Done())
	if !cache.WaitForCacheSync(ctx.Done(), informers.policies.HasSynced, informers.sets.HasSynced, informers.bindings.HasSynced,
		informers.placements.HasSynced, informers.decisions.HasSynced) {
		return errors.New("the caches were not filled")
	}
	c.work(ctx, queue, workers)
	ofPolicies.Shutdown()
	ofClusters.Shutdown()
	return nil
}
