// SPDX-License-Identifier: Apache-2.0

package trial

import (
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
	"github.com/cohort-ocm/cohort/examples/trial/sim"
)

// Hub is where worlds are played, one after the other in virtual time: each has a simulated API server with OCM's definitions to itself.
type Hub struct {
	definitions sim.Definitions
	policies    bool // it has the policy API
}

// Start makes one. Beside OCM's definitions it has those in the files, such as the policy API's. A file with the name of one
// of OCM's stands in for it.
func Start(definitions ...string) (*Hub, error) {
	silence()
	dir, err := os.MkdirTemp("", "hub")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	files, err := withOCM(dir, definitions)
	if err != nil {
		return nil, err
	}
	all, err := sim.ReadDefinitions(files...)
	return &Hub{definitions: all.And(sim.Core(), revisions), policies: hasPolicies(definitions)}, err
}

// revisions are what a controller that takes versions back keeps them in.
var revisions = sim.Kinds(sim.Kind{Group: "apps", Version: "v1", Kind: "ControllerRevision", Plural: "controllerrevisions"})

func hasPolicies(definitions []string) bool {
	return slices.ContainsFunc(definitions, func(file string) bool { return strings.HasPrefix(filepath.Base(file), "policy.") })
}

// silence has the server say nothing, which is talkative.
func silence() {
	quiet := flag.NewFlagSet("", flag.PanicOnError)
	klog.InitFlags(quiet)
	_ = quiet.Set("stderrthreshold", "FATAL")
	klog.LogToStderr(false)
	klog.SetOutput(io.Discard)
}

// withOCM adds OCM's definitions to others, but for those that stand in for one.
func withOCM(dir string, definitions []string) ([]string, error) {
	crds, err := apiserver.OCMDefinitions(
		"cluster/v1/0000_00_clusters.open-cluster-management.io_managedclusters.crd.yaml",
		"cluster/v1beta1/0000_02_clusters.open-cluster-management.io_placements.crd.yaml",
		"cluster/v1beta1/0000_03_clusters.open-cluster-management.io_placementdecisions.crd.yaml",
		"work/v1/0000_00_work.open-cluster-management.io_manifestworks.crd.yaml",
		"work/v1alpha1/0000_00_work.open-cluster-management.io_manifestworkreplicasets.crd.yaml",
	)
	if err != nil {
		return nil, err
	}
	addOns, err := storeNewest(dir,
		"addon/v1beta1/0000_00_addon.open-cluster-management.io_clustermanagementaddons.crd.yaml",
		"addon/v1beta1/0000_01_addon.open-cluster-management.io_managedclusteraddons.crd.yaml",
	)
	if err != nil {
		return nil, err
	}
	all := slices.DeleteFunc(slices.Concat(crds, addOns), func(own string) bool {
		return slices.ContainsFunc(definitions, func(file string) bool { return filepath.Base(file) == filepath.Base(own) })
	})
	return append(all, definitions...), nil
}

// site is the API server of a world, and what watches it.
type site struct {
	config func(actor string) *rest.Config // with all rights
	server interface {
		Stop()
		Start()
	} // nil where it is not the world's own
	start func(actor string, run func())                    // a process of an actor, at an instant of its own
	watch func(world string, feed func(event)) (end func()) // feed has each write of a world, in their order, and must be quick
}

// clients are the clients of one actor; its name stands in the managed fields of what it writes.
type clients struct {
	cluster clusterclient.Interface
	work    workclient.Interface
	addOn   addonclient.Interface
	any     dynamic.Interface
}

func (s *site) clients(actor string) clients {
	config := s.config(actor)
	return clients{cluster: clusterclient.NewForConfigOrDie(config), work: workclient.NewForConfigOrDie(config),
		addOn: addonclient.NewForConfigOrDie(config), any: dynamic.NewForConfigOrDie(config)}
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
