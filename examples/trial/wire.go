// SPDX-License-Identifier: Apache-2.0

package trial

import (
	"cmp"
	"fmt"
	"strconv"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	addonv1beta1 "open-cluster-management.io/api/addon/v1beta1"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	workv1 "open-cluster-management.io/api/work/v1"
	workv1alpha1 "open-cluster-management.io/api/work/v1alpha1"
)

// Kind is one of the kinds of objects that take part in a rollout.
type Kind string

const (
	Placements  Kind = "Placement"
	Decisions   Kind = "PlacementDecision"
	ReplicaSets Kind = "ManifestWorkReplicaSet"
	Works       Kind = "ManifestWork"
	AddOns      Kind = "ClusterManagementAddOn"
	OnClusters  Kind = "ManagedClusterAddOn"
	Policies    Kind = "Policy" // root policies, and those that are replicated from them
	PolicySets  Kind = "PolicySet"
	Bindings    Kind = "PlacementBinding"

	managedClusters Kind = "ManagedCluster" // no cache has them: they tell a trace which clusters are ignored
	kubeEvents      Kind = "Event"          // nor these
)

// kinds are those that every hub has, and policyKinds those of a hub with the policy API.
var (
	kinds       = []Kind{Placements, Decisions, ReplicaSets, Works, AddOns, OnClusters}
	policyKinds = []Kind{Policies, PolicySets, Bindings}
)

// resources are the kinds by the names that stand in paths.
var resources = map[string]Kind{
	"manifestworkreplicasets": ReplicaSets, "manifestworks": Works,
	"clustermanagementaddons": AddOns, "managedclusteraddons": OnClusters,
	"policies": Policies, "policysets": PolicySets, "placementbindings": Bindings,
}

// An id is of an object: its kind and its namespace/name.
type id struct {
	kind Kind
	key  string
}

func (i id) String() string { return string(i.kind) + " " + i.key }

func (i id) compare(other id) int {
	return cmp.Or(cmp.Compare(i.kind, other.kind), cmp.Compare(i.key, other.key))
}

// object is any of them.
type object interface {
	metav1.Object
	runtime.Object
}

// An event is one write. Resource versions come from one etcd, so they order the writes of all
// kinds.
type event struct {
	rv     int64
	id     id
	object object // as it was last, if it is gone
	gone   bool
	at     time.Time // when it was written
	stored []byte    // the JSON of it, also with fields that its Go type does not have
}

func versionOf(o metav1.Object) int64 {
	rv, err := strconv.ParseInt(o.GetResourceVersion(), 10, 64)
	if err != nil {
		panic(fmt.Sprintf("resourceVersion %q", o.GetResourceVersion()))
	}
	return rv
}

// seen is how the objects of a resource are read, as they are stored.
type seen struct {
	kind Kind
	make func() object
}

// watched are the resources of the objects that take part, by their names.
var watched = map[string]seen{
	"managedclusters":         {managedClusters, func() object { return &clusterv1.ManagedCluster{} }},
	"events":                  {kubeEvents, func() object { return &unstructured.Unstructured{} }},
	"placements":              {Placements, func() object { return &placement{} }},
	"placementdecisions":      {Decisions, func() object { return &placementDecision{} }},
	"manifestworkreplicasets": {ReplicaSets, func() object { return &replicaSet{} }},
	"manifestworks":           {Works, func() object { return &manifestWork{} }},
	"clustermanagementaddons": {AddOns, func() object { return &addonv1beta1.ClusterManagementAddOn{} }},
	"managedclusteraddons":    {OnClusters, func() object { return &addonv1beta1.ManagedClusterAddOn{} }},
	"policies":                {Policies, func() object { return &unstructured.Unstructured{} }},
	"policysets":              {PolicySets, func() object { return &unstructured.Unstructured{} }},
	"placementbindings":       {Bindings, func() object { return &unstructured.Unstructured{} }},
}

// The library's and the API's words for the objects of a rollout.
type (
	placement         = clusterv1beta1.Placement
	placementDecision = clusterv1beta1.PlacementDecision
	replicaSet        = workv1alpha1.ManifestWorkReplicaSet
	manifestWork      = workv1.ManifestWork
)
