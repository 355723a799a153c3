// SPDX-License-Identifier: Apache-2.0

package hubs

import (
	"flag"
	"io"
	"os"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
	clusterclient "open-cluster-management.io/api/client/cluster/clientset/versioned"
	workclient "open-cluster-management.io/api/client/work/clientset/versioned"

	"github.com/cohort-ocm/cohort/examples/trial/apiserver"
	"github.com/cohort-ocm/cohort/examples/trial/sim"
)

// Hubs are where rollouts are played, one after the other in virtual time: each has three simulated API servers, which are two hubs and a hub
// of hubs.
type Hubs struct {
	definitions [servers]sim.Definitions
}

// The API servers.
const (
	eu = iota
	us
	coordinator
	servers
)

var serverNames = [servers]string{"eu", "us", "coordinator-hub"}

// Start reads the definitions of the servers. The coordinator hub has the custom resources in the files, too.
func Start(accounts ...string) (*Hubs, error) {
	// Clients are talkative.
	quiet := flag.NewFlagSet("", flag.PanicOnError)
	klog.InitFlags(quiet)
	_ = quiet.Set("stderrthreshold", "FATAL")
	klog.LogToStderr(false)
	klog.SetOutput(io.Discard)
	definitions, err := apiserver.OCMDefinitions(
		"cluster/v1/0000_00_clusters.open-cluster-management.io_managedclusters.crd.yaml",
		"cluster/v1beta1/0000_02_clusters.open-cluster-management.io_placements.crd.yaml",
		"cluster/v1beta1/0000_03_clusters.open-cluster-management.io_placementdecisions.crd.yaml",
		"work/v1/0000_00_work.open-cluster-management.io_manifestworks.crd.yaml",
		"work/v1alpha1/0000_00_work.open-cluster-management.io_manifestworkreplicasets.crd.yaml",
	)
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "hubs")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	revised, err := apiserver.RollbackDefinitions(dir) // with the fields of revisions, which no other rollout uses
	if err != nil {
		return nil, err
	}
	h := &Hubs{}
	revisions := sim.Kinds(sim.Kind{Group: "apps", Version: "v1", Kind: "ControllerRevision", Plural: "controllerrevisions"})
	for i := range h.definitions {
		files := append(definitions[:4:4], revised...)
		if i == coordinator {
			files = append(definitions[4:5:5], accounts...)
		}
		own, err := sim.ReadDefinitions(files...)
		if err != nil {
			return nil, err
		}
		h.definitions[i] = own.And(sim.Core(), revisions)
	}
	return h, nil
}

// clients are those of the harness to an API server. Nothing happens to their requests.
type clients struct {
	cluster clusterclient.Interface
	work    workclient.Interface
	any     dynamic.Interface
}

func clientsOf(server *sim.Server) clients {
	config := server.Config("harness")
	return clients{clusterclient.NewForConfigOrDie(config), workclient.NewForConfigOrDie(config), dynamic.NewForConfigOrDie(config)}
}

// config is for a process of an actor with requests that go through a network.
func config(server *sim.Server, actor string, through *line) *rest.Config {
	config := server.Config(actor)
	config.ContentType = runtime.ContentTypeJSON // also of ControllerRevisions, as these servers have custom resources alone
	config.Wrap(through.wrap)
	return config
}
