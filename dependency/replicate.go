package dependency

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/types"
)

// PolicySets are the policy sets of the hub by namespace and name.
type PolicySets map[types.NamespacedName]PolicySet

// Replicate returns dependencies of a policy on the hub in the form that holds on a managed cluster (P2);
// namespace is that of the policy. They keep their order, with the policies of a set in the place of the set,
// in the set's order.
//
// A Policy becomes `<namespace>.<name>` without a namespace, and takes namespace if it has none; one whose name
// has a dot stays as it is, so replicating twice does nothing more. A PolicySet, which also takes namespace if
// it has none, is replaced by its policies: by none if it has none. One that sets doesn't have stays as it is.
// Everything else stays, too. The argument is not changed.
func Replicate(dependencies []Dependency, namespace string, sets PolicySets) []Dependency {
	if dependencies == nil {
		return nil
	}
	replicated := make([]Dependency, 0, len(dependencies))
	for _, d := range dependencies {
		inNamespace := d
		if inNamespace.Namespace == "" {
			inNamespace.Namespace = namespace
		}
		switch object := d.Object(""); {
		case object.group() == policyGroup && d.Kind == policyKind:
			replicated = append(replicated, replicatePolicy(d, inNamespace.Namespace))
		case object.group() == policyGroup && d.Kind == policySetKind:
			set, found := sets[types.NamespacedName{Namespace: inNamespace.Namespace, Name: d.Name}]
			if !found {
				replicated = append(replicated, d)
				continue
			}
			for _, name := range set.Spec.Policies {
				policy := Dependency{APIVersion: policyGroup + "/v1", Kind: policyKind, Name: name, Compliance: d.Compliance}
				replicated = append(replicated, replicatePolicy(policy, inNamespace.Namespace))
			}
		default:
			replicated = append(replicated, d)
		}
	}
	return replicated
}

func replicatePolicy(d Dependency, namespace string) Dependency {
	if name := replicatedName(namespace, d.Name); name != d.Name {
		d.Name, d.Namespace = name, ""
	}
	return d
}

// replicatedName is what the policy is called on managed clusters. Names of root policies have no dot, so one
// that has is taken for a replicated name. There is none for a policy without a namespace, and a missing name stays missing, which is an error where it is
// evaluated.
func replicatedName(namespace, name string) string {
	if namespace == "" || name == "" || strings.Contains(name, ".") {
		return name
	}
	return namespace + "." + name
}

// Replicated returns the policy as it is on the managed cluster: under its name there, in the cluster's
// namespace and with its dependencies as [Replicate] returns them. What it shares with p is not to be changed.
func (p Policy) Replicated(clusterNamespace string, sets PolicySets) Policy {
	namespace := p.Namespace
	p.Name, p.Namespace = replicatedName(namespace, p.Name), clusterNamespace
	p.Spec.Dependencies = Replicate(p.Spec.Dependencies, namespace, sets)
	p.Spec.PolicyTemplates = slices.Clone(p.Spec.PolicyTemplates)
	for i := range p.Spec.PolicyTemplates {
		extra := &p.Spec.PolicyTemplates[i].ExtraDependencies
		*extra = Replicate(*extra, namespace, sets)
	}
	return p
}
