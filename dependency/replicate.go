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

// Replicate turns a policy of the hub into the policy for a managed cluster: with its name there, in the cluster's
// namespace, and with its dependencies in the form that holds there. The result has the policy's labels and annotations
// and all of its spec, even fields that [policyv1.Policy] lacks. It has no status and no other metadata, so it can be
// created on the hub. The caller may change labels, annotations, the action and the rollout strategy. The policy is not
// changed, and the result shares nothing with it. The errors are the same as from [PolicyOf].
//
// All annotations are kept, also kubectl.kubernetes.io/last-applied-configuration, which is about the policy of the hub.
// Delete that one before the write: else kubectl apply on the replicated policy would compare with another object, and each
// replica carries the whole policy twice.
//
// The policy becomes <namespace>.<name>, and gets the label policy.open-cluster-management.io/root-policy with that
// name. A policy that already has the label is replicated: it only gets the cluster's namespace. A policy without a
// namespace keeps its name.
//
// A dependency on a Policy also becomes <namespace>.<name>, and loses its namespace. If it has none, it uses the
// policy's. Names may have dots: only a name with a dot and without a namespace counts as replicated already, and
// stays.
//
// A dependency on a PolicySet uses the policy's namespace in the same way. It is replaced by a dependency on each of
// the set's policies, with the same compliance and in the set's order. A set that is not among sets stays as it is, so
// that the cluster reports its absence. So does a set without policies: without parts compliance is unknown, and not
// met. Don't replicate while a set could not be read: that does not mean that it does not exist. The caller leaves out
// policies of a set that must not count: the disabled and the missing ones.
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

// isReplicated says whether the policy already has the form that holds on managed clusters.
func isReplicated(policy *policyv1.Policy) bool { return policy.Labels[rootPolicyLabel] != "" }

// replication brings dependencies of a policy in this namespace into the form that holds on managed clusters.
type replication struct {
	namespace string
	sets      map[types.NamespacedName]*policyv1.PolicySet
}

// replace brings the dependencies in the field of that name into the form. They are also given as they were read, so
// that all other fields of a dependency stay.
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

// replicable gives the spec with its dependencies as they are on the cluster, where two different spellings on the hub
// may name one object. Without sets each dependency keeps its place.
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
