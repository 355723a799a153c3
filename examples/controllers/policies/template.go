// SPDX-License-Identifier: Apache-2.0

package main

import (
	"slices"
	"strings"

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
	read    *policyv1.Policy // the object
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
	if t.read, err = dependency.PolicyOf(t.object); err != nil {
		return nil, err
	}
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

// replica is what a replicated policy says of its cluster. One that OCM's propagator wrote is taken over. One with another
// spec than its version, which is the hash of the spec, was edited by hand.
func (t *template) replica(p *policy) passes.Replica {
	if p.stranger != nil && p.content == t.version {
		return passes.ReplicaOf(passes.Adopt(p.stranger, t.read, t.version), &p.status)
	}
	r := p.replica
	r.Edited = r.Edited || r.Version != "" && p.content != r.Version
	return r
}

// metadata is a patch for the labels and annotations of a replicated policy, nil where they are as they have to be. They are no part of
// the version, so a new label of the root begins nothing anew. What this library notes stays.
func (t *template) metadata(p *policy) (map[string]any, error) {
	if t.hasMetadata(p) {
		return nil, nil
	}
	wanted, err := t.on(passes.Cluster{Name: p.Namespace})
	if err != nil {
		return nil, err
	}
	return map[string]any{"metadata": map[string]any{
		"uid": p.UID, "labels": differing(p.Labels, wanted.GetLabels()), "annotations": differing(p.Annotations, wanted.GetAnnotations()),
	}}, nil
}

// hasMetadata says whether labels and annotations are as they have to be: those of the root, and the labels of the cluster.
func (t *template) hasMetadata(p *policy) bool {
	labels, annotations := 2, 0
	for name, value := range t.read.Labels {
		if name != clusterLabel && name != clusterNamespaceLabel {
			if had, is := p.Labels[name]; !is || had != value {
				return false
			}
			labels++
		}
	}
	for name := range p.Annotations {
		if !isOwn(name) {
			annotations++
		}
	}
	for name, value := range t.read.Annotations {
		if had, is := p.Annotations[name]; !is || had != value {
			return false
		}
	}
	return labels == len(p.Labels) && annotations == len(t.read.Annotations) &&
		p.Labels[clusterLabel] == p.Namespace && p.Labels[clusterNamespaceLabel] == p.Namespace
}

// isOwn says whether this library notes something in the annotation.
func isOwn(annotation string) bool {
	return strings.HasPrefix(annotation, "cohort.open-cluster-management.io/")
}

// differing has what a map needs to be the wanted one: nil where a value has to go.
func differing(is, wanted map[string]string) map[string]any {
	all := map[string]any{}
	for name, value := range wanted {
		if had, there := is[name]; !there || had != value {
			all[name] = value
		}
	}
	for name := range is {
		if _, there := wanted[name]; !there && !isOwn(name) {
			all[name] = nil
		}
	}
	return all
}
