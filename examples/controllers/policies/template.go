package main

import (
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/cohort-ocm/cohort/dependency"
	"github.com/cohort-ocm/cohort/override/passes"
	"github.com/cohort-ocm/cohort/status/policyv1"
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
	if t.object, err = dependency.Replicate(root.raw, "", sets); err != nil {
		return nil, err
	}
	spec := t.object.Object["spec"].(map[string]any)
	delete(spec, "remediationAction")
	t.version = passes.VersionOf(t.object)
	memory.template = &t
	return &t, nil
}

// on is the replicated policy of a cluster, as it has to be written.
func (t *template) on(cluster passes.Cluster) (*unstructured.Unstructured, error) {
	object, err := dependency.Replicate(t.object, cluster.Name, nil)
	if err == nil && cluster.Action != "" {
		err = unstructured.SetNestedField(object.Object, string(cluster.Action), "spec", "remediationAction")
	}
	return object, err
}
