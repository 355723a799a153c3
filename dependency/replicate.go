// SPDX-License-Identifier: Apache-2.0

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

const (
	// rootPolicyLabel is on replicated policies, with the replica's own name.
	rootPolicyLabel       = policyGroup + "/root-policy"
	clusterLabel          = policyGroup + "/cluster-name"
	clusterNamespaceLabel = policyGroup + "/cluster-namespace"
	// triggerAnnotation makes OCM's propagator reconcile a root policy again.
	triggerAnnotation = policyGroup + "/trigger-update"
	// argoAnnotation keeps Argo CD from pruning replicas that have the tracking label of the root policy.
	argoAnnotation = "argocd.argoproj.io/compare-options"
	// lastAppliedAnnotation has the whole root policy. With it kubectl apply would compare a replica with another object.
	lastAppliedAnnotation = "kubectl.kubernetes.io/last-applied-configuration"
	// ownAnnotations is the prefix of this library's annotations, which are about the object that has them.
	ownAnnotations = "cohort.open-cluster-management.io/"
)

// Replicate turns a policy of the hub into the policy for a managed cluster. The cluster's namespace on the hub has the cluster's
// name. The result has the name, the labels and the annotations that OCM's propagator gives it, and the spec that was read,
// even fields that [policyv1.Policy] lacks, with the dependencies under their names on the cluster. It has no status and
// no other metadata, so it can be created on the hub. The caller sets the action of that cluster (spec.remediationAction).
// The policy is not changed, and the result shares nothing with it. The errors are the same as from [PolicyOf].
//
// The policy becomes <namespace>.<name>, and gets the label policy.open-cluster-management.io/root-policy with that
// name, and the labels cluster-name and cluster-namespace. A policy that has its own name in the label root-policy is
// replicated: it only gets the cluster's namespace, and its labels. Any other value is overwritten. A policy without a
// namespace keeps its name.
//
// All other labels and annotations are copied. Where spec.copyPolicyMetadata is false, only those of the policy API are.
// Some annotations are about the root policy alone, and never copied: those of this library, trigger-update, and
// last-applied-configuration. The annotation argocd.argoproj.io/compare-options is IgnoreExtraneous. The spec has no
// rolloutStrategy, since nothing is rolled out from a replica: a new strategy is no new content.
//
// A dependency on a Policy also becomes <namespace>.<name>, and loses its namespace. If it has none, it uses the
// policy's. Names may have dots: only a name with a dot and without a namespace counts as replicated already, and
// stays.
//
// A dependency on a PolicySet uses the policy's namespace in the same way. It is replaced by a dependency on each of
// the set's policies, with the same compliance and in the set's order. All of them must have that compliance, also where
// it is NonCompliant or Pending. A set that is not among sets stays, with its namespace, so that the cluster reports its
// absence. A set without policies stays, too: its compliance is unknown, and not met. Don't replicate while a set could not be
// read: a failed read does not mean that it does not exist. The caller leaves out policies of a set that must not count: the
// disabled and the missing ones, and, if its policies must wait for none of them, those that are not bound on this cluster.
//
// Dependencies on other kinds stay as they are, and so do those on a Policy in another version than v1, or a PolicySet in
// another than v1beta1: OCM's propagator leaves them, too. The API has no other versions, so the cluster reports a mistake.
func Replicate(content *unstructured.Unstructured, clusterNamespace string, sets map[types.NamespacedName]*policyv1.PolicySet) (*unstructured.Unstructured, error) {
	policy, err := PolicyOf(content)
	if err != nil {
		return nil, err
	}
	spec := runtime.DeepCopyJSON(content.Object["spec"].(map[string]any)) // PolicyOf has looked
	object := &unstructured.Unstructured{Object: map[string]any{"apiVersion": content.GetAPIVersion(), "kind": content.GetKind(), "spec": spec}}
	object.SetNamespace(clusterNamespace)
	object.SetName(policy.Name)
	labels, annotations := maps.Clone(policy.Labels), maps.Clone(policy.Annotations)
	if !isReplicated(policy) {
		labels, annotations = metadataToReplicate(policy)
		if policy.Namespace != "" && policy.Name != "" {
			object.SetName(policy.Namespace + "." + policy.Name)
			labels[rootPolicyLabel] = object.GetName()
		}
		delete(spec, "rolloutStrategy")
		replication{policy.Namespace, sets}.replaceAll(spec, &policy.Spec)
	}
	if clusterNamespace != "" {
		labels[clusterLabel], labels[clusterNamespaceLabel] = clusterNamespace, clusterNamespace
	}
	object.SetLabels(labels)
	object.SetAnnotations(annotations)
	return object, nil
}

// metadataToReplicate gives the labels and annotations that a root policy's replicas have, but for those of a cluster.
func metadataToReplicate(policy *policyv1.Policy) (labels, annotations map[string]string) {
	labels, annotations = map[string]string{}, map[string]string{}
	maps.Copy(labels, policy.Labels)
	maps.Copy(annotations, policy.Annotations)
	if copied := policy.Spec.CopyPolicyMetadata; copied != nil && !*copied {
		foreign := func(name, _ string) bool { return !strings.HasPrefix(name, policyGroup+"/") }
		maps.DeleteFunc(labels, foreign)
		maps.DeleteFunc(annotations, foreign)
	}
	delete(labels, rootPolicyLabel)
	maps.DeleteFunc(annotations, func(name, _ string) bool {
		return name == triggerAnnotation || name == lastAppliedAnnotation || strings.HasPrefix(name, ownAnnotations)
	})
	annotations[argoAnnotation] = "IgnoreExtraneous"
	return labels, annotations
}

// isReplicated says whether the policy already has its name on managed clusters. A root policy may have a label that was
// copied from a replica: such a label names another policy.
func isReplicated(policy *policyv1.Policy) bool {
	label := policy.Labels[rootPolicyLabel]
	namespace, _, _ := strings.Cut(label, ".")
	return label != "" && label == policy.Name && namespace != policy.Namespace
}

// replication translates dependencies of a policy in this namespace to their names on managed clusters.
type replication struct {
	namespace string
	sets      map[types.NamespacedName]*policyv1.PolicySet
}

// replaceAll translates all dependencies of a spec. The spec is also given as it was read.
func (r replication) replaceAll(spec map[string]any, read *policyv1.PolicySpec) {
	r.replace(spec, "dependencies", read.Dependencies)
	templates, _ := spec["policy-templates"].([]any)
	for i := range templates {
		if template, ok := templates[i].(map[string]any); ok {
			r.replace(template, "extraDependencies", read.PolicyTemplates[i].ExtraDependencies)
		}
	}
}

// replace translates the dependencies in the field of that name. They are also given as they were read, so that all other
// fields of a dependency stay.
func (r replication) replace(in map[string]any, name string, read []policyv1.PolicyDependency) {
	if len(read) == 0 {
		return
	}
	elements := in[name].([]any)
	replicated := make([]any, 0, len(elements))
	for i, dependency := range read {
		for _, one := range r.one(dependency) {
			if one == dependency {
				replicated = append(replicated, elements[i])
				continue
			}
			element := runtime.DeepCopyJSON(elements[i].(map[string]any))
			for field, value := range map[string]string{"apiVersion": one.APIVersion, "kind": one.Kind, "name": one.Name, "namespace": one.Namespace} {
				if element[field] = value; value == "" {
					delete(element, field)
				}
			}
			replicated = append(replicated, element)
		}
	}
	in[name] = replicated
}

// all gives the translated dependencies.
func (r replication) all(dependencies []policyv1.PolicyDependency) []policyv1.PolicyDependency {
	replicated := make([]policyv1.PolicyDependency, 0, len(dependencies))
	for _, dependency := range dependencies {
		replicated = append(replicated, r.one(dependency)...)
	}
	return replicated
}

// replicable gives the spec with its dependencies as they are on the cluster, where two different spellings on the hub
// may name one object. Without sets each dependency keeps its place.
func replicable(policy *policyv1.Policy) *policyv1.PolicySpec {
	replication := replication{namespace: policy.Namespace}
	spec := policy.Spec
	spec.Dependencies = replication.all(spec.Dependencies)
	spec.PolicyTemplates = slices.Clone(spec.PolicyTemplates)
	for i := range spec.PolicyTemplates {
		extra := &spec.PolicyTemplates[i].ExtraDependencies
		*extra = replication.all(*extra)
	}
	return &spec
}

// one translates a dependency: to one for each policy of a set.
func (r replication) one(dependency policyv1.PolicyDependency) []policyv1.PolicyDependency {
	switch object := named(dependency); {
	case object.isPolicy():
		return []policyv1.PolicyDependency{r.policy(dependency)}
	case object.isPolicySet():
		if dependency.Namespace == "" {
			dependency.Namespace = r.namespace
		}
		set := r.sets[types.NamespacedName{Namespace: dependency.Namespace, Name: dependency.Name}]
		if set == nil || len(set.Spec.Policies) == 0 {
			return []policyv1.PolicyDependency{dependency}
		}
		members := make([]policyv1.PolicyDependency, len(set.Spec.Policies))
		for i, name := range set.Spec.Policies {
			members[i] = dependency
			members[i].APIVersion, members[i].Kind = policyVersion, policyKind
			members[i].Name = name
			members[i] = r.policy(members[i])
		}
		return members
	default:
		return []policyv1.PolicyDependency{dependency}
	}
}

// policy translates a dependency on a policy. A missing name stays missing: it is an error where it is evaluated.
func (r replication) policy(dependency policyv1.PolicyDependency) policyv1.PolicyDependency {
	if name := replicatedName(r.namespace, dependency.Namespace, dependency.Name); name != dependency.Name {
		dependency.Name, dependency.Namespace = name, ""
	}
	return dependency
}

// replicatedName gives the name on managed clusters of a policy that a policy of this namespace depends on.
func replicatedName(dependent, namespace, name string) string {
	if namespace == "" && !strings.Contains(name, ".") {
		namespace = dependent
	}
	if namespace == "" || name == "" {
		return name
	}
	return namespace + "." + name
}
