// SPDX-License-Identifier: Apache-2.0

// Command apiserver starts an API server for these controllers, with OCM's custom resources and nothing else,
// and writes a kubeconfig for it:
//
//	go run ./apiserver -kubeconfig hub.kubeconfig
//
// With -definitions it has the custom resources in a directory of YAML files, too.
//
// ManifestWorkReplicaSets have the fields of OCM's enhancement 229, too, and there are ControllerRevisions, which cannot be watched. The policy API is the published one of OCM, and what the enhancement adds: the rolloutStrategy and the rolloutStatus of
// Policies. With -as-published nothing is added. It runs until it is interrupted. What was in it is gone then.
package main

import (
	"context"
	"embed"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"
	"k8s.io/klog/v2"

	"github.com/cohort-ocm/cohort/examples/trial/apiserver"
)

// others are definitions of what a hub has built in: leases and events.
//
//go:embed crds
var others embed.FS

func main() {
	kubeconfig := flag.String("kubeconfig", "hub.kubeconfig", "the file to write when the server is ready")
	published := flag.Bool("as-published", false, "add no field to OCM's policy API: policies cannot be rolled out then")
	more := flag.String("definitions", "", "a directory with the YAML files of further custom resource definitions")
	flag.Parse()
	klog.LogToStderr(false)
	klog.SetOutput(io.Discard) // the server is talkative

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := serve(ctx, *kubeconfig, *published, *more); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func serve(ctx context.Context, kubeconfig string, published bool, more string) error {
	dir, err := os.MkdirTemp("", "apiserver")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	definitions, err := apiserver.OCMDefinitions(
		"cluster/v1/0000_00_clusters.open-cluster-management.io_managedclusters.crd.yaml",
		"cluster/v1beta2/0000_00_clusters.open-cluster-management.io_managedclustersets.crd.yaml",
		"cluster/v1beta2/0000_01_clusters.open-cluster-management.io_managedclustersetbindings.crd.yaml",
		"cluster/v1beta1/0000_02_clusters.open-cluster-management.io_placements.crd.yaml",
		"cluster/v1beta1/0000_03_clusters.open-cluster-management.io_placementdecisions.crd.yaml",
		"work/v1/0000_00_work.open-cluster-management.io_manifestworks.crd.yaml",
	)
	if err != nil {
		return err
	}
	sets, err := apiserver.RollbackDefinitions(dir)
	if err != nil {
		return err
	}
	definitions = append(definitions, sets...)
	if err := os.CopyFS(dir, others); err != nil {
		return err
	}
	for _, name := range []string{"leases", "events"} {
		definitions = append(definitions, filepath.Join(dir, "crds", name+".yaml"))
	}
	fields := []apiserver.PolicyFields{apiserver.RolloutStrategy, apiserver.RolloutStatus, apiserver.Exclusions}
	if published {
		fields = nil
	}
	policyAPI, err := apiserver.PolicyDefinitions(dir, fields...)
	if err != nil {
		fmt.Fprintln(os.Stderr, "no policy API:", err) // the other controllers need none
	}
	definitions = append(definitions, policyAPI...)
	if more != "" {
		files, err := filepath.Glob(filepath.Join(more, "*.yaml"))
		if err != nil || len(files) == 0 {
			return errors.Join(fmt.Errorf("-definitions must be a directory with files *.yaml: %s", more), err)
		}
		definitions = append(definitions, files...)
	}
	server, err := apiserver.Start(dir, definitions...)
	if err != nil {
		return err
	}
	if err := write(server.Config, kubeconfig); err != nil {
		return errors.Join(err, server.Stop())
	}
	fmt.Println("ready:", server.Config.Host)
	<-ctx.Done()
	return server.Stop()
}

// write writes a kubeconfig, at once and not bit by bit, so that it is whole as soon as it is there.
func write(config *rest.Config, path string) error {
	kubeconfig := api.NewConfig()
	kubeconfig.Clusters["hub"] = &api.Cluster{
		Server: config.Host, CertificateAuthorityData: config.CAData, TLSServerName: config.ServerName,
	}
	kubeconfig.AuthInfos["admin"] = &api.AuthInfo{Token: config.BearerToken}
	kubeconfig.Contexts["hub"] = &api.Context{Cluster: "hub", AuthInfo: "admin"}
	kubeconfig.CurrentContext = "hub"
	if err := clientcmd.WriteToFile(*kubeconfig, path+".new"); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}
