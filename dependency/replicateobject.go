package dependency

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/cohort-ocm/cohort/status/policyv1"
)

// ReplicateObject does to a Policy as it was read what [Replicate] does, and keeps in its spec all that
// [policyv1.Policy] has no field for. The result is to be created on the hub: it has the policy's labels and annotations,
// no status, and nothing else in its metadata. Labels, the action and the rollout strategy are the caller's to change. It
// shares nothing with the policy, which is not changed. The errors are those of [PolicyOf].
func ReplicateObject(u *unstructured.Unstructured, clusterNamespace string, sets map[types.NamespacedName]*policyv1.PolicySet) (*unstructured.Unstructured, error) {
	policy, err := PolicyOf(u)
	if err != nil {
		return nil, err
	}
	replicated := Replicate(policy, clusterNamespace, sets)
	object := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": u.GetAPIVersion(), "kind": u.GetKind(), "spec": runtime.DeepCopyJSONValue(u.Object["spec"]),
	}}
	object.SetNamespace(replicated.Namespace)
	object.SetName(replicated.Name)
	object.SetLabels(replicated.Labels)
	object.SetAnnotations(replicated.Annotations)

	spec := object.Object["spec"].(map[string]any) // PolicyOf has looked
	setDependencies(spec, "dependencies", policy.Spec.Dependencies, replicated.Spec.Dependencies)
	templates, _ := spec["policy-templates"].([]any)
	for i := range templates {
		if template, ok := templates[i].(map[string]any); ok {
			setDependencies(template, "extraDependencies",
				policy.Spec.PolicyTemplates[i].ExtraDependencies, replicated.Spec.PolicyTemplates[i].ExtraDependencies)
		}
	}
	return object, nil
}

// setDependencies sets the field of that name, unless it stays as it was.
func setDependencies(in map[string]any, name string, before, after []policyv1.PolicyDependency) {
	if len(before) == 0 {
		return
	}
	all := make([]any, len(after))
	for i, d := range after {
		one := map[string]any{}
		for field, value := range map[string]string{
			"apiVersion": d.APIVersion, "kind": d.Kind, "namespace": d.Namespace, "name": d.Name, "compliance": string(d.Compliance),
		} {
			if value != "" {
				one[field] = value
			}
		}
		all[i] = one
	}
	in[name] = all
}
