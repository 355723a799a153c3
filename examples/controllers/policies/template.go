package main

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
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

// template is what is replicated of a policy now. Its version leaves out the action, which the rollout sets, and the
// strategy, so that a change of these alone begins nothing anew.
func (c *controller) template(root *policy, memory *memory) (*template, error) {
	t := template{of: root, sets: c.caches.setsIn(root)}
	if before := memory.template; before != nil && sameContent(before.of, root) && slices.Equal(before.sets, t.sets) {
		return before, nil
	}
	sets := make(map[types.NamespacedName]*policyv1.PolicySet, len(t.sets))
	for _, set := range t.sets {
		sets[types.NamespacedName{Namespace: set.Namespace, Name: set.Name}] = &set.PolicySet
	}
	replicated := dependency.Replicate(root.root, root.Namespace, sets)

	t.object = &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": root.raw.GetAPIVersion(), "kind": root.raw.GetKind(),
		"spec": runtime.DeepCopyJSONValue(root.raw.Object["spec"]),
	}}
	t.object.SetName(replicated.Name)
	t.object.SetLabels(replicated.Labels)
	t.object.SetAnnotations(root.Annotations)
	spec := t.object.Object["spec"].(map[string]any)
	delete(spec, "rolloutStrategy")
	delete(spec, "remediationAction")
	if err := setDependencies(spec, replicated); err != nil {
		return nil, err
	}
	text, err := json.Marshal(t.object.Object)
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(text)
	t.version = hex.EncodeToString(sum[:8])
	memory.template = &t
	return &t, nil
}

// setDependencies gives a spec the dependencies in the form that holds on the managed clusters. All else of it stays, also
// what the library has no field for.
func setDependencies(spec map[string]any, replicated *policyv1.Policy) error {
	set := func(in map[string]any, name string, dependencies []policyv1.PolicyDependency) error {
		if len(dependencies) == 0 {
			return nil
		}
		all := make([]any, len(dependencies))
		for i := range dependencies {
			one, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&dependencies[i])
			if err != nil {
				return err
			}
			all[i] = one
		}
		in[name] = all
		return nil
	}
	if err := set(spec, "dependencies", replicated.Spec.Dependencies); err != nil {
		return err
	}
	templates, _ := spec["policy-templates"].([]any)
	for i := range templates {
		if one, ok := templates[i].(map[string]any); ok {
			if err := set(one, "extraDependencies", replicated.Spec.PolicyTemplates[i].ExtraDependencies); err != nil {
				return err
			}
		}
	}
	return nil
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
