// Command apiserver starts an API server for the controllers beside it, with OCM's custom resources and nothing else,
// and writes a kubeconfig for it:
//
//	go run ./apiserver -kubeconfig hub.kubeconfig
//
// It runs until it is interrupted. What was in it is gone then.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"
	"k8s.io/klog/v2"

	"github.com/cohort-ocm/cohort/internal/apiserver"
)

func main() {
	kubeconfig := flag.String("kubeconfig", "hub.kubeconfig", "the file to write when the server is ready")
	flag.Parse()
	klog.LogToStderr(false)
	klog.SetOutput(io.Discard) // the server is talkative

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := serve(ctx, *kubeconfig); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func serve(ctx context.Context, kubeconfig string) error {
	dir, err := os.MkdirTemp("", "apiserver")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	definitions, err := apiserver.OCMDefinitions(
		"cluster/v1beta1/0000_02_clusters.open-cluster-management.io_placements.crd.yaml",
		"cluster/v1beta1/0000_03_clusters.open-cluster-management.io_placementdecisions.crd.yaml",
		"work/v1/0000_00_work.open-cluster-management.io_manifestworks.crd.yaml",
		"work/v1alpha1/0000_00_work.open-cluster-management.io_manifestworkreplicasets.crd.yaml",
	)
	if err != nil {
		return err
	}
	server, err := apiserver.Start(dir, definitions...)
	if err != nil {
		return err
	}
	config, err := front(server.Config, "cluster.open-cluster-management.io", "work.open-cluster-management.io")
	if err == nil {
		err = write(config, kubeconfig)
	}
	if err != nil {
		return errors.Join(err, server.Stop())
	}
	fmt.Println("ready:", config.Host)
	<-ctx.Done()
	return server.Stop()
}

// write writes a kubeconfig, at once and not bit by bit, so that it is whole as soon as it is there.
func write(config *rest.Config, path string) error {
	kubeconfig := api.NewConfig()
	kubeconfig.Clusters["hub"] = &api.Cluster{Server: config.Host}
	kubeconfig.Contexts["hub"] = &api.Context{Cluster: "hub"}
	kubeconfig.CurrentContext = "hub"
	if err := clientcmd.WriteToFile(*kubeconfig, path+".new"); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}
