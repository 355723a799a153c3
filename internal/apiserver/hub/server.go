package hub

import (
	"errors"
	"flag"
	"io"
	"os"

	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
	clusterclient "open-cluster-management.io/api/client/cluster/clientset/versioned"
	workclient "open-cluster-management.io/api/client/work/clientset/versioned"

	"github.com/cohort-ocm/cohort/internal/apiserver"
)

// Hub is an API server with OCM's definitions, on which many rollouts go on at a time, and what watches it.
type Hub struct {
	dir    string
	server *apiserver.Server
	wires  *wire
}

// Start starts one. Stop it in the end.
func Start() (*Hub, error) {
	// The server is talkative.
	quiet := flag.NewFlagSet("", flag.PanicOnError)
	klog.InitFlags(quiet)
	_ = quiet.Set("stderrthreshold", "FATAL")
	klog.LogToStderr(false)
	klog.SetOutput(io.Discard)
	dir, err := os.MkdirTemp("", "hub")
	if err != nil {
		return nil, err
	}
	h := &Hub{dir: dir}
	if err := h.serve(); err != nil {
		return nil, errors.Join(err, h.Stop())
	}
	return h, nil
}

func (h *Hub) serve() error {
	crds, err := apiserver.OCMDefinitions(
		"cluster/v1beta1/0000_02_clusters.open-cluster-management.io_placements.crd.yaml",
		"cluster/v1beta1/0000_03_clusters.open-cluster-management.io_placementdecisions.crd.yaml",
		"work/v1/0000_00_work.open-cluster-management.io_manifestworks.crd.yaml",
		"work/v1alpha1/0000_00_work.open-cluster-management.io_manifestworkreplicasets.crd.yaml",
	)
	if err != nil {
		return err
	}
	if h.server, err = apiserver.Start(h.dir, crds...); err != nil {
		return err
	}
	h.wires, err = connect(h)
	return err
}

// Stop stops the server and removes its files.
func (h *Hub) Stop() error {
	if h.wires != nil {
		h.wires.stop()
	}
	var err error
	if h.server != nil {
		err = h.server.Stop()
	}
	return errors.Join(err, os.RemoveAll(h.dir))
}

// clients are the clients of one actor, whose name stands in the managed fields of what it writes.
type clients struct {
	cluster clusterclient.Interface
	work    workclient.Interface
}

func (h *Hub) config(actor string) *rest.Config {
	config := rest.CopyConfig(h.server.Config)
	config.UserAgent = actor
	return config
}

func (h *Hub) clients(actor string) clients {
	config := h.config(actor)
	return clients{cluster: clusterclient.NewForConfigOrDie(config), work: workclient.NewForConfigOrDie(config)}
}
