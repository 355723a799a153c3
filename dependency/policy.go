package dependency

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// Policy is what this package reads of a Policy of policy.open-cluster-management.io/v1. Its JSON names are
// those of the real object, so runtime.DefaultUnstructuredConverter and YAML fill it; [PolicyOf] does, too, and
// says which field is wrong. What it has no field for is passed over: it is for reading, not for writing back.
type Policy struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec PolicySpec `json:"spec"`
}

// PolicySpec is what this package reads of a policy's spec.
type PolicySpec struct {
	// Disabled: none of the policy's templates is processed.
	Disabled bool `json:"disabled,omitempty"`

	// Dependencies hold for every template.
	Dependencies []Dependency `json:"dependencies,omitempty"`

	// PolicyTemplates are the templates, in the order in which results list them.
	PolicyTemplates []PolicyTemplate `json:"policy-templates"`
}

// PolicyTemplate is an object to create on the managed cluster, and what it waits for.
type PolicyTemplate struct {
	// ObjectDefinition is the object, any JSON; [PolicyTemplate.Object] reads what it is called.
	ObjectDefinition runtime.RawExtension `json:"objectDefinition"`

	// ExtraDependencies hold for this template besides those of the policy (P1).
	ExtraDependencies []Dependency `json:"extraDependencies,omitempty"`

	// IgnorePending: while the template is pending, it counts as compliant for the policy (P5).
	IgnorePending bool `json:"ignorePending,omitempty"`
}

// Dependency is an object and the compliance it must have (P1).
type Dependency struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Name       string `json:"name"`
	Namespace  string `json:"namespace,omitempty"`

	// Compliance is the one to wait for: Compliant, NonCompliant or Pending.
	Compliance Compliance `json:"compliance"`
}

// PolicySet is what this package reads of a PolicySet of policy.open-cluster-management.io/v1beta1.
type PolicySet struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec PolicySetSpec `json:"spec"`
}

// PolicySetSpec is what this package reads of a policy set's spec.
type PolicySetSpec struct {
	// Policies are the names of policies in the set's namespace.
	Policies []string `json:"policies"`
}
