// SPDX-License-Identifier: Apache-2.0

package policyv1

import (
	"encoding/json"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// PlacementBinding is a PlacementBinding of policy.open-cluster-management.io/v1: it binds policies and policy sets
// to the clusters of a placement.
//
// An override has two spellings: the shipped API's (BindingOverrides and SubFilter) and the design
// document's (RemediationActionOverride).
type PlacementBinding struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// PlacementRef names a Placement or a PlacementRule of the binding's namespace.
	PlacementRef PlacementRef `json:"placementRef"`
	// Subjects are policies and policy sets of the binding's namespace.
	Subjects []Subject `json:"subjects"`

	BindingOverrides          BindingOverrides          `json:"bindingOverrides,omitzero"`
	SubFilter                 SubFilter                 `json:"subFilter,omitempty"`
	RemediationActionOverride RemediationActionOverride `json:"remediationActionOverride,omitzero"`
}

// PlacementRef names the object that selects the clusters of a binding. It can be the key of a map.
type PlacementRef struct {
	APIGroup string `json:"apiGroup"`
	Kind     string `json:"kind"`
	Name     string `json:"name"`
}

// String gives kind, API group and name: "Placement.cluster.open-cluster-management.io/dev".
func (r PlacementRef) String() string { return r.Kind + "." + r.APIGroup + "/" + r.Name }

// Subject names a Policy or a PolicySet.
type Subject struct {
	APIGroup string `json:"apiGroup"`
	Kind     string `json:"kind"`
	Name     string `json:"name"`
}

// BindingOverrides is the shipped API's spelling of an override of the action.
type BindingOverrides struct {
	// RemediationAction is enforce in any letter case, or empty for no override.
	RemediationAction RemediationAction `json:"remediationAction,omitempty"`
}

// SubFilter says whether a binding is a sub filter, in the shipped API's spelling. In JSON it may also be true, which is
// read as Restricted, or false, which is read as empty.
type SubFilter string

// UnmarshalJSON reads both spellings.
func (s *SubFilter) UnmarshalJSON(data []byte) error {
	switch string(data) {
	case "true":
		*s = Restricted
		return nil
	case "false":
		*s = ""
		return nil
	}
	return json.Unmarshal(data, (*string)(s))
}

// Restricted makes a binding a sub filter: it binds no cluster, and overrides the action only on clusters that other
// bindings bind.
const Restricted SubFilter = "restricted"

// RemediationActionOverride is the design document's spelling of an override of the action and of a sub filter.
type RemediationActionOverride struct {
	// RemediationAction is enforce in any letter case, or empty for no override.
	RemediationAction RemediationAction `json:"remediationAction,omitempty"`
	// SubFilter makes the binding a sub filter, as Restricted does.
	SubFilter bool `json:"subFilter,omitempty"`
}
