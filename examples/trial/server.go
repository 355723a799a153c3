package trial

import (
	"errors"
	"flag"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
	addonclient "open-cluster-management.io/api/client/addon/clientset/versioned"
	clusterclient "open-cluster-management.io/api/client/cluster/clientset/versioned"
	workclient "open-cluster-management.io/api/client/work/clientset/versioned"

	"sigs.k8s.io/yaml"

	"github.com/cohort-ocm/cohort/examples/trial/apiserver"
)

// Hub is an API server with OCM's definitions, on which many rollouts go on at a time, and what watches it.
type Hub struct {
	dir      string
	server   *apiserver.Server
	wires    *wire
	pulse    pulse
	policies bool // it has the policy API
}

// Start starts one. Stop it in the end. Beside OCM's definitions it has those in the files, such as the policy API's. A file with the name of one
// of OCM's stands in for it.
func Start(definitions ...string) (*Hub, error) { return start(apiserver.Audit{}, definitions) }

func start(audit apiserver.Audit, definitions []string) (*Hub, error) {
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
	h := &Hub{dir: dir, policies: slices.ContainsFunc(definitions, func(file string) bool { return strings.HasPrefix(filepath.Base(file), "policy.") })}
	if err := h.serve(audit, definitions); err != nil {
		return nil, errors.Join(err, h.Stop())
	}
	return h, nil
}

func (h *Hub) serve(audit apiserver.Audit, definitions []string) error {
	crds, err := apiserver.OCMDefinitions(
		"cluster/v1/0000_00_clusters.open-cluster-management.io_managedclusters.crd.yaml",
		"cluster/v1beta1/0000_02_clusters.open-cluster-management.io_placements.crd.yaml",
		"cluster/v1beta1/0000_03_clusters.open-cluster-management.io_placementdecisions.crd.yaml",
		"work/v1/0000_00_work.open-cluster-management.io_manifestworks.crd.yaml",
		"work/v1alpha1/0000_00_work.open-cluster-management.io_manifestworkreplicasets.crd.yaml",
	)
	if err != nil {
		return err
	}
	addOns, err := storeNewest(h.dir,
		"addon/v1beta1/0000_00_addon.open-cluster-management.io_clustermanagementaddons.crd.yaml",
		"addon/v1beta1/0000_01_addon.open-cluster-management.io_managedclusteraddons.crd.yaml",
	)
	if err != nil {
		return err
	}
	all := slices.DeleteFunc(slices.Concat(crds, addOns), func(own string) bool {
		return slices.ContainsFunc(definitions, func(file string) bool { return filepath.Base(file) == filepath.Base(own) })
	})
	if h.server, err = audit.Start(h.dir, append(all, definitions...)...); err != nil {
		return err
	}
	if h.wires, err = connect(h); err != nil {
		return err
	}
	if audit == (apiserver.Audit{}) {
		go h.pulse.beat(h.wires.ctx, h)
	}
	return nil
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
	addOn   addonclient.Interface
	any     dynamic.Interface
}

// Config is for clients of one actor, with all rights.
func (h *Hub) Config(actor string) *rest.Config {
	config := rest.CopyConfig(h.server.Config)
	config.UserAgent = actor
	return config
}

func (h *Hub) clients(actor string) clients {
	config := h.Config(actor)
	return clients{cluster: clusterclient.NewForConfigOrDie(config), work: workclient.NewForConfigOrDie(config),
		addOn: addonclient.NewForConfigOrDie(config), any: dynamic.NewForConfigOrDie(config)}
}

// kinds are the kinds that the hub has.
func (h *Hub) kinds() []Kind {
	if h.policies {
		return slices.Concat(kinds, policyKinds)
	}
	return kinds
}

// storeNewest writes OCM's definitions to a directory so that their last version is the one that is stored. OCM stores the
// first one and converts by a webhook, which this hub does not have.
func storeNewest(dir string, names ...string) (files []string, _ error) {
	found, err := apiserver.OCMDefinitions(names...)
	if err != nil {
		return nil, err
	}
	for _, file := range found {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		var crd apiextensionsv1.CustomResourceDefinition
		if err := yaml.Unmarshal(text, &crd); err != nil {
			return nil, err
		}
		for i := range crd.Spec.Versions {
			crd.Spec.Versions[i].Storage = i == len(crd.Spec.Versions)-1
		}
		if text, err = yaml.Marshal(&crd); err != nil {
			return nil, err
		}
		files = append(files, filepath.Join(dir, filepath.Base(file)))
		if err := os.WriteFile(files[len(files)-1], text, 0o600); err != nil {
			return nil, err
		}
	}
	return files, nil
}
