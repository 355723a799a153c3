package dependency

import (
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/cohort-ocm/cohort/status/policyv1"
)

// rootPolicyLabel stands on replicated policies, with the name that the policy has there.
const rootPolicyLabel = policyGroup + "/root-policy"

// Replicate gives a policy of the hub as it is on the managed cluster: under the name that it has there, in the
// cluster's namespace, and with its dependencies in the form that holds there. The result has the policy's labels and
// annotations and all of its spec, also what [policyv1.Policy] has no field for. It has no status, and nothing else in
// its metadata, so that it can be created on the hub. Labels, the action and the rollout strategy are the caller's to
// change. The policy is not changed, and the result shares nothing with it. The errors are those of [PolicyOf].
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
func Replicate(u *unstructured.Unstructured, clusterNamespace string, sets map[types.NamespacedName]*policyv1.PolicySet) (*unstructured.Unstructured, error) {
	policy, err := PolicyOf(u)
	if err != nil {
		return nil, err
	}
	spec := runtime.DeepCopyJSON(u.Object["spec"].(map[string]any)) // PolicyOf has looked
	object := &unstructured.Unstructured{Object: map[string]any{"apiVersion": u.GetAPIVersion(), "kind": u.GetKind(), "spec": spec}}
	object.SetNamespace(clusterNamespace)
	object.SetName(policy.Name)
	object.SetLabels(policy.Labels)
	object.SetAnnotations(policy.Annotations)
	if isReplicated(policy) {
		return object, nil
	}
	if policy.Namespace != "" && policy.Name != "" {
		name := policy.Namespace + "." + policy.Name
		object.SetName(name)
		labels := map[string]string{}
		maps.Copy(labels, policy.Labels)
		labels[rootPolicyLabel] = name
		object.SetLabels(labels)
	}
	r := replication{policy.Namespace, sets}
	r.replace(spec, "dependencies", policy.Spec.Dependencies)
	templates, _ := spec["policy-templates"].([]any)
	for i := range templates {
		if template, ok := templates[i].(map[string]any); ok {
			r.replace(template, "extraDependencies", policy.Spec.PolicyTemplates[i].ExtraDependencies)
		}
	}
	return object, nil
}

// isReplicated says whether the policy has the form that holds on managed clusters already.
func isReplicated(policy *policyv1.Policy) bool { return policy.Labels[rootPolicyLabel] != "" }

// replication brings dependencies of a policy in this namespace into the form that holds on managed clusters.
type replication struct {
	namespace string
	sets      map[types.NamespacedName]*policyv1.PolicySet
}

// replace brings the dependencies in the field of that name into the form. They are given as they were read, too. What
// a dependency has beside its name stays with it.
func (r replication) replace(in map[string]any, name string, read []policyv1.PolicyDependency) {
	if len(read) == 0 {
		return
	}
	elements := in[name].([]any)
	replicated := make([]any, 0, len(elements))
	for i, d := range read {
		for _, one := range r.one(d) {
			if one == d {
				replicated = append(replicated, elements[i])
				continue
			}
			element := runtime.DeepCopyJSON(elements[i].(map[string]any))
			element["apiVersion"], element["kind"], element["name"] = one.APIVersion, one.Kind, one.Name
			if element["namespace"] = one.Namespace; one.Namespace == "" {
				delete(element, "namespace")
			}
			replicated = append(replicated, element)
		}
	}
	in[name] = replicated
}

// all gives the dependencies in the form.
func (r replication) all(dependencies []policyv1.PolicyDependency) []policyv1.PolicyDependency {
	replicated := make([]policyv1.PolicyDependency, 0, len(dependencies))
	for _, d := range dependencies {
		replicated = append(replicated, r.one(d)...)
	}
	return replicated
}

// replicable gives the spec with its dependencies as they are on the cluster, where two that are spelled differently on
// the hub may name one object. Without sets each keeps its place.
func replicable(policy *policyv1.Policy) *policyv1.PolicySpec {
	r := replication{namespace: policy.Namespace}
	spec := policy.Spec
	spec.Dependencies = r.all(spec.Dependencies)
	spec.PolicyTemplates = slices.Clone(spec.PolicyTemplates)
	for i := range spec.PolicyTemplates {
		extra := &spec.PolicyTemplates[i].ExtraDependencies
		*extra = r.all(*extra)
	}
	return &spec
}

// one gives a dependency in the form: one for each policy of a set.
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
