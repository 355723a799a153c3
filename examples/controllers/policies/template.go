package main

import (
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/cohort-ocm/cohort/dependency"
	"github.com/cohort-ocm/cohort/override/passes"
	"github.com/cohort-ocm/cohort/rollout/approvals"
	"github.com/cohort-ocm/cohort/rollout/writes"
	"github.com/cohort-ocm/cohort/status/policyv1"
)

const (
	// argoAnnotation keeps Argo CD from pruning replicas that have the tracking label of the root policy.
	argoAnnotation = "argocd.argoproj.io/compare-options"
	// triggerAnnotation has OCM's propagator look at a root policy again.
	triggerAnnotation = "policy.open-cluster-management.io/trigger-update"
)

// template is what is replicated of a policy, and its version. It is made again when the policy or a set changed on
// which it depends: an object in a cache is never changed, but replaced.
type template struct {
	of   *policy
	sets []*policySet

	object  *unstructured.Unstructured // without what differs from cluster to cluster
	version string
}

// template is the part of a policy that is replicated now. Its version is a hash of the spec, without the action, which
// the rollout sets, and without the strategy, so that a change of these, of labels or of annotations begins nothing
// anew.
func (c *controller) template(root *policy, memory *memory) (*template, error) {
	t := template{of: root, sets: c.caches.setsIn(root)}
	if before := memory.template; before != nil && sameContent(before.of, root) && slices.Equal(before.sets, t.sets) {
		return before, nil
	}
	sets := make(map[types.NamespacedName]*policyv1.PolicySet, len(t.sets))
	for _, set := range t.sets {
		sets[types.NamespacedName{Namespace: set.Namespace, Name: set.Name}] = &set.PolicySet
	}
	if root.root.Spec.Disabled { // nothing is replicated, and nothing that is wrong with it matters
		t.object = &unstructured.Unstructured{Object: map[string]any{}}
		t.object.SetName(root.Namespace + "." + root.Name)
		memory.template = &t
		return &t, nil
	}
	var err error
	if t.object, err = dependency.Replicate(root.raw, root.Namespace, sets); err != nil {
		return nil, err
	}
	spec := t.object.Object["spec"].(map[string]any)
	delete(spec, "rolloutStrategy")
	delete(spec, "remediationAction")
	setMetadata(t.object)
	t.version = writes.VersionOf(spec)
	memory.template = &t
	return &t, nil
}

// setMetadata leaves labels and annotations on a replica that belong there, as OCM's propagator does. A policy whose
// copyPolicyMetadata is false keeps only those of the policy API. A replica is none of Argo CD's objects, whatever made the policy.
func setMetadata(object *unstructured.Unstructured) {
	_, _ = (approvals.Approvals{}).Note(object) // they are about the root policy, and nothing is no fault
	labels, annotations := object.GetLabels(), object.GetAnnotations()
	if annotations == nil {
		annotations = map[string]string{}
	}
	if copied, given, _ := unstructured.NestedBool(object.Object, "spec", "copyPolicyMetadata"); given && !copied {
		foreign := func(name, _ string) bool { return !strings.HasPrefix(name, policies.Group+"/") }
		maps.DeleteFunc(labels, foreign)
		maps.DeleteFunc(annotations, foreign)
	}
	delete(annotations, validateAnnotation)                 // about the root policy
	delete(annotations, verdictAnnotation)                  // it would find all clusters good
	delete(annotations, corev1.LastAppliedConfigAnnotation) // so is this
	delete(annotations, triggerAnnotation)
	annotations[argoAnnotation] = "IgnoreExtraneous"
	object.SetLabels(labels)
	object.SetAnnotations(annotations)
}

// on is the replicated policy of a cluster, as it has to be written.
func (t *template) on(cluster passes.Cluster) *unstructured.Unstructured {
	object := t.object.DeepCopy()
	object.SetNamespace(cluster.Name)
	labels := object.GetLabels()
	labels[clusterLabel], labels[clusterNamespaceLabel] = cluster.Name, cluster.Name
	object.SetLabels(labels)
	if cluster.Action != "" {
		object.Object["spec"].(map[string]any)["remediationAction"] = string(cluster.Action)
	}
	return object
}
