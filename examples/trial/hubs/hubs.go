package hubs

import (
	"errors"
	"flag"
	"io"
	"os"
	"path/filepath"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
	clusterclient "open-cluster-management.io/api/client/cluster/clientset/versioned"
	workclient "open-cluster-management.io/api/client/work/clientset/versioned"

	"github.com/cohort-ocm/cohort/examples/trial/apiserver"
)

// Hubs are three API servers: two hubs, and a hub of hubs. Many rollouts go on at a time.
type Hubs struct {
	dir     string
	servers [servers]*apiserver.Server
	wires   [2]*watcher // of the works on each hub
}

// The API servers.
const (
	eu = iota
	us
	hubOfHubs
	servers
)

var serverNames = [servers]string{"eu", "us", "hub-of-hubs"}

// Start starts them. The hub of hubs has the custom resources in the files, too. Stop them in the end.
func Start(accounts ...string) (*Hubs, error) {
	// The servers are talkative.
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
	h := &Hubs{dir: dir}
	revised, err := apiserver.RollbackDefinitions(dir) // with the fields of revisions, which no other rollout uses
	if err != nil {
		return nil, errors.Join(err, h.Stop())
	}
	for i := range h.servers {
		files := append(definitions[:4:4], revised...)
		if i == hubOfHubs {
			files = append(definitions[4:5:5], accounts...)
		}
		place := filepath.Join(dir, serverNames[i])
		if err = os.Mkdir(place, 0o700); err == nil {
			h.servers[i], err = apiserver.Start(place, files...)
		}
		if err != nil {
			return nil, errors.Join(err, h.Stop())
		}
	}
	for i := range h.wires {
		if h.wires[i], err = watchWorks(h.clients(i)); err != nil {
			return nil, errors.Join(err, h.Stop())
		}
	}
	return h, nil
}

// Stop stops them and removes their files.
func (h *Hubs) Stop() (err error) {
	for _, w := range h.wires {
		if w != nil {
			w.stop()
		}
	}
	for _, s := range h.servers {
		if s != nil {
			err = errors.Join(err, s.Stop())
		}
	}
	return errors.Join(err, os.RemoveAll(h.dir))
}

// clients are those of the harness to an API server. Nothing happens to their requests.
type clients struct {
	cluster clusterclient.Interface
	work    workclient.Interface
	any     dynamic.Interface
}

func (h *Hubs) clients(server int) clients {
	config := h.servers[server].Config
	return clients{clusterclient.NewForConfigOrDie(config), workclient.NewForConfigOrDie(config), dynamic.NewForConfigOrDie(config)}
}

// config is for a process whose requests go through a network.
func (h *Hubs) config(server int, through *line) *rest.Config {
	config := rest.CopyConfig(h.servers[server].Config)
	config.ContentType = runtime.ContentTypeJSON // also of ControllerRevisions, as these servers have custom resources alone
	config.Wrap(through.wrap)
	return config
}
