package override

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// PolicySet is the part of a PolicySet (policy.open-cluster-management.io) that says which policies
// it contains and which clusters it keeps them off. JSON, YAML and unstructured fill it.
type PolicySet struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec PolicySetSpec `json:"spec"`
}

// PolicySetSpec lists a set's policies and exclusions.
type PolicySetSpec struct {
	// Policies are the names of the policies in the set, all of the set's namespace.
	Policies []string `json:"policies"`

	// Exclusions keep policies of the set off some clusters. Several for one policy add up.
	Exclusions []Exclusion `json:"exclusions,omitempty"`
}

// Exclusion keeps one policy of a set off some clusters as far as it is bound through that set (O6).
type Exclusion struct {
	PolicyName   string   `json:"policyName"`
	ClusterNames []string `json:"clusterNames"`
}

// excludes returns the clusters that the set keeps the policy off, in order and each once.
func (s *PolicySet) excludes(policy string) ([]string, field.ErrorList) {
	var clusters []string
	var errs field.ErrorList
	path := field.NewPath("policySets").Key(s.Name).Child("spec", "exclusions")
	for i, exclusion := range s.Spec.Exclusions {
		if exclusion.PolicyName == "" {
			errs = append(errs, field.Required(path.Index(i).Child("policyName"), "expected the name of a policy in the set"))
		}
		if exclusion.PolicyName == policy {
			errs = append(errs, requireNames(path.Index(i).Child("clusterNames"), exclusion.ClusterNames)...)
			clusters = append(clusters, exclusion.ClusterNames...)
		}
	}
	slices.Sort(clusters)
	return slices.Compact(clusters), errs
}

// requireNames returns an error for each cluster without a name.
func requireNames(path *field.Path, clusters []string) field.ErrorList {
	var errs field.ErrorList
	for i, cluster := range clusters {
		if cluster == "" {
			errs = append(errs, field.Required(path.Index(i), "expected the name of a cluster"))
		}
	}
	return errs
}
