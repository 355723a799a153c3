package hub_test

import (
	"flag"
	"fmt"
	"io"
	"os"
	"testing"

	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
	clusterclient "open-cluster-management.io/api/client/cluster/clientset/versioned"
	workclient "open-cluster-management.io/api/client/work/clientset/versioned"

	"github.com/cohort-ocm/cohort/internal/apiserver"
)

var (
	flagRollouts = flag.Int("rollouts", 20, "how many rollouts TestRollouts observes")
	flagParallel = flag.Int("at-once", 20, "how many of them run at a time")
	flagSeed     = flag.Uint64("seed", 0, "the seed of the first rollout; 0 is a new one")
	flagBound    = flag.Int("bound", 40, "how many rollouts a controller that ignores a duty gets until it must be caught")
	flagHistory  = flag.Bool("history", false, "print what the API server showed of each rollout with a violation")
)

// server and wire are shared by all rollouts.
var (
	server *apiserver.Server
	wires  *wire
)

func TestMain(m *testing.M) {
	flag.Parse()
	klog.LogToStderr(false)
	klog.SetOutput(io.Discard) // the server is talkative
	code, err := runWithServer(m)
	if err != nil {
		fmt.Println(err)
		code = 1
	}
	os.Exit(code)
}

func runWithServer(m *testing.M) (int, error) {
	dir, err := os.MkdirTemp("", "hub")
	if err != nil {
		return 1, err
	}
	defer os.RemoveAll(dir)
	crds, err := apiserver.OCMDefinitions(
		"cluster/v1beta1/0000_02_clusters.open-cluster-management.io_placements.crd.yaml",
		"cluster/v1beta1/0000_03_clusters.open-cluster-management.io_placementdecisions.crd.yaml",
		"work/v1/0000_00_work.open-cluster-management.io_manifestworks.crd.yaml",
		"work/v1alpha1/0000_00_work.open-cluster-management.io_manifestworkreplicasets.crd.yaml",
	)
	if err != nil {
		return 1, err
	}
	if server, err = apiserver.Start(dir, crds...); err != nil {
		return 1, err
	}
	if wires, err = connect(); err != nil {
		server.Stop()
		return 1, err
	}
	code := m.Run()
	wires.stop()
	return code, server.Stop()
}

// clients are those of one actor, whose name stands in the managed fields of what it writes.
type clients struct {
	cluster clusterclient.Interface
	work    workclient.Interface
}

// clientsOf returns clients that send their requests through wrap, if it isn't nil.
func clientsOf(actor string, wrap func(*rest.Config)) clients {
	config := rest.CopyConfig(server.Config)
	config.UserAgent = actor
	if wrap != nil {
		wrap(config)
	}
	return clients{cluster: clusterclient.NewForConfigOrDie(config), work: workclient.NewForConfigOrDie(config)}
}
