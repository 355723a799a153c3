// SPDX-License-Identifier: Apache-2.0

// Package v1 is an example API: a FleetConfig gives each cluster of a Placement a ConfigMap, as its rollout strategy
// allows.
package v1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"
	"sigs.k8s.io/controller-runtime/pkg/scheme"
)

// FleetConfig is a ConfigMap for a fleet.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
type FleetConfig struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   FleetConfigSpec   `json:"spec,omitempty"`
	Status FleetConfigStatus `json:"status,omitempty"`
}

// FleetConfigSpec has what clusters get, which clusters, and the strategy.
type FleetConfigSpec struct {
	// PlacementRef names the Placement, in the same namespace.
	PlacementRef corev1.LocalObjectReference `json:"placementRef"`
	// RolloutStrategy is how a change is rolled out.
	RolloutStrategy clusterv1alpha1.RolloutStrategy `json:"rolloutStrategy,omitempty"`
	// Data is that of the ConfigMap, which has the FleetConfig's namespace and name.
	Data map[string]string `json:"data,omitempty"`
}

// FleetConfigStatus is the progress of the rollout.
type FleetConfigStatus struct {
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
	// Version is the wanted version, for approvals.
	Version string `json:"version,omitempty"`
	// Clusters is the number of clusters that count, and the others are their states.
	Clusters int `json:"clusters,omitempty"`
	Done     int `json:"done,omitempty"`
	InFlight int `json:"inFlight,omitempty"`
	Failed   int `json:"failed,omitempty"`

	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// FleetConfigList is a list of them.
//
// +kubebuilder:object:root=true
type FleetConfigList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []FleetConfig `json:"items"`
}

// GroupVersion is that of this API.
var GroupVersion = schema.GroupVersion{Group: "example.com", Version: "v1"}

// AddToScheme adds the API to a scheme.
var AddToScheme = (&scheme.Builder{GroupVersion: GroupVersion}).Register(&FleetConfig{}, &FleetConfigList{}).AddToScheme
