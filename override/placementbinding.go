package override

import (
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// PlacementBinding binds policies and policy sets to the clusters of a placement
// (policy.open-cluster-management.io). JSON, YAML and unstructured fill it.
//
// An override has two spellings, that of the shipped API (BindingOverrides and SubFilter) and that of
// the design document (RemediationActionOverride). Both are read, and what either says holds (O1).
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

// PlacementRef names what selects the clusters of a binding. It can be the key of a map.
type PlacementRef struct {
	APIGroup string `json:"apiGroup"`
	Kind     string `json:"kind"`
	Name     string `json:"name"`
}

// String returns kind, API group and name: "Placement.cluster.open-cluster-management.io/dev".
func (r PlacementRef) String() string { return r.Kind + "." + r.APIGroup + "/" + r.Name }

// selects reports whether what r names selects clusters (O6).
func (r PlacementRef) selects() bool {
	switch r.Kind {
	case "Placement":
		return r.APIGroup == "cluster.open-cluster-management.io" && r.Name != ""
	case "PlacementRule":
		return r.APIGroup == "apps.open-cluster-management.io" && r.Name != ""
	default:
		return false
	}
}

// Subject names a Policy or a PolicySet.
type Subject struct {
	APIGroup string `json:"apiGroup"`
	Kind     string `json:"kind"`
	Name     string `json:"name"`
}

// BindingOverrides is the shipped API's spelling of an action override.
type BindingOverrides struct {
	// RemediationAction is enforce in any letter case, or empty for no override.
	RemediationAction RemediationAction `json:"remediationAction,omitempty"`
}

// SubFilter is the shipped API's spelling of whether a binding is a sub filter.
type SubFilter string

// Restricted makes a binding a sub filter: it binds no cluster, it only overrides the action on
// clusters that other bindings bind.
const Restricted SubFilter = "restricted"

// RemediationActionOverride is the design document's spelling of an action override and a sub filter.
type RemediationActionOverride struct {
	// RemediationAction is enforce in any letter case, or empty for no override.
	RemediationAction RemediationAction `json:"remediationAction,omitempty"`
	// SubFilter makes the binding a sub filter, as Restricted does in the shipped API.
	SubFilter bool `json:"subFilter,omitempty"`
}

// read returns what the binding says in either spelling, without subjects and clusters.
func (b *PlacementBinding) read() (Binding, field.ErrorList) {
	path := field.NewPath("placementBindings").Key(b.Name)
	var errs field.ErrorList
	if b.Name == "" {
		errs = append(errs, field.Required(path.Child("metadata", "name"), "a binding of "+b.PlacementRef.String()+" has none"))
	}
	enforce := func(action RemediationAction, parent string) bool {
		if action != "" && !strings.EqualFold(string(action), string(Enforce)) {
			errs = append(errs, field.NotSupported(path.Child(parent, "remediationAction"), action, []RemediationAction{Enforce}))
		}
		return action != ""
	}
	shipped := enforce(b.BindingOverrides.RemediationAction, "bindingOverrides")
	design := enforce(b.RemediationActionOverride.RemediationAction, "remediationActionOverride")
	if b.SubFilter != "" && b.SubFilter != Restricted {
		errs = append(errs, field.NotSupported(path.Child("subFilter"), b.SubFilter, []SubFilter{Restricted}))
	}
	return Binding{
		Name:         b.Name,
		PlacementRef: b.PlacementRef,
		Enforce:      shipped || design,
		SubFilter:    b.SubFilter == Restricted || b.RemediationActionOverride.SubFilter,
	}, errs
}
