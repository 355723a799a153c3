package dependency

import (
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"github.com/cohort-ocm/cohort/status/policyv1"
)

// rootPolicyLabel stands on replicated policies, with the name that the policy has there.
const rootPolicyLabel = policyGroup + "/root-policy"

// Replicate gives a policy of the hub as it is on the managed cluster: under the name that it has there, in the
// cluster's namespace, and with its dependencies in the form that holds there. The policy is not changed. What the
// result shares with it must not be changed either.
//
// The policy becomes <namespace>.<name>, and gets the label policy.open-cluster-management.io/root-policy with that
// name. A policy that has the label already is replicated: it is only given the cluster's namespace. One without a
// namespace keeps its name.
//
// A dependency on a Policy becomes <namespace>.<name>, too, and loses its namespace. If it has none, it takes the
// policy's. Names may have dots: only one with a dot and without a namespace is taken to be replicated already, and
// stays.
//
// A dependency on a PolicySet, which takes the policy's namespace in the same way, is replaced by one on each of its
// policies, with the same compliance and in the set's order. A set that is not among sets stays as it is, so that the
// cluster reports its absence. So does a set without policies: over nothing compliance is unknown, and not met.
// A set that could not be read is not one that does not exist: don't replicate until it was read. Policies of a set
// that must not count, those that are disabled or missing, are the caller's to leave out.
//
// Dependencies on other kinds stay as they are.
func Replicate(policy *policyv1.Policy, clusterNamespace string, sets map[types.NamespacedName]*policyv1.PolicySet) *policyv1.Policy {
	p := *policy
	p.Namespace = clusterNamespace
	if policy.Labels[rootPolicyLabel] != "" {
		return &p
	}
	r := replication{policy.Namespace, sets}
	if r.namespace != "" && p.Name != "" {
		p.Name = r.namespace + "." + p.Name
		p.Labels = map[string]string{}
		maps.Copy(p.Labels, policy.Labels)
		p.Labels[rootPolicyLabel] = p.Name
	}
	p.Spec.Dependencies = r.all(p.Spec.Dependencies)
	p.Spec.PolicyTemplates = slices.Clone(p.Spec.PolicyTemplates)
	for i := range p.Spec.PolicyTemplates {
		extra := &p.Spec.PolicyTemplates[i].ExtraDependencies
		*extra = r.all(*extra)
	}
	return &p
}

// replication brings dependencies of a policy in this namespace into the form that holds on managed clusters.
type replication struct {
	namespace string
	sets      map[types.NamespacedName]*policyv1.PolicySet
}

func (r replication) all(dependencies []policyv1.PolicyDependency) []policyv1.PolicyDependency {
	if dependencies == nil {
		return nil
	}
	replicated := make([]policyv1.PolicyDependency, 0, len(dependencies))
	for _, d := range dependencies {
		replicated = append(replicated, r.one(d)...)
	}
	return replicated
}

func (r replication) one(d policyv1.PolicyDependency) []policyv1.PolicyDependency {
	if named(d).group() != policyGroup {
		return []policyv1.PolicyDependency{d}
	}
	switch d.Kind {
	case policyKind:
		return []policyv1.PolicyDependency{r.policy(d)}
	case policySetKind:
		namespace := r.namespace
		if d.Namespace != "" {
			namespace = d.Namespace
		}
		set := r.sets[types.NamespacedName{Namespace: namespace, Name: d.Name}]
		if set == nil || len(set.Spec.Policies) == 0 {
			return []policyv1.PolicyDependency{d}
		}
		members := make([]policyv1.PolicyDependency, len(set.Spec.Policies))
		for i, name := range set.Spec.Policies {
			members[i] = d
			members[i].APIVersion, members[i].Kind = policyVersion, policyKind
			members[i].Namespace, members[i].Name = namespace, name
			members[i] = r.policy(members[i])
		}
		return members
	default:
		return []policyv1.PolicyDependency{d}
	}
}

// policy brings a dependency on a policy into the form. A missing name stays missing: it is an error where it is
// evaluated.
func (r replication) policy(d policyv1.PolicyDependency) policyv1.PolicyDependency {
	namespace := d.Namespace
	if namespace == "" && !strings.Contains(d.Name, ".") {
		namespace = r.namespace
	}
	if namespace != "" && d.Name != "" {
		d.Name, d.Namespace = namespace+"."+d.Name, ""
	}
	return d
}
