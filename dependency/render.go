// SPDX-License-Identifier: Apache-2.0

package dependency

import (
	"fmt"
	"maps"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/cohort-ocm/cohort/status/policyv1"
)

// informOnly is the action of a template that informs, whatever its policy says.
const informOnly = "informonly"

// isTemplateAction says whether the text spells an action that a template may have.
func isTemplateAction(text string) bool {
	_, known := policyv1.RemediationAction(text).Known()
	return known || strings.EqualFold(text, informOnly)
}

// Render gives the object of an action of the policy, for the caller to create, update, delete or leave. The policy is as it
// was read on the cluster, with its uid, and as it was given to the evaluation. It is not changed.
//
// An object to delete or to leave has only a name. An object to create or update is what the template defines, with the labels
// of OCM's template sync, and with the policy as its owner if it is in the policy's namespace. It has the policy's
// spec.remediationAction, if the policy has one; a template that is informOnly has inform. A constraint has the action as
// spec.enforcementAction: warn or deny. A ConstraintTemplate has none. A status, and metadata other than name, labels and
// annotations, are left out. Apply the object with server-side apply, which changes nothing where nothing differs, or set its
// spec, labels, annotations and owner on the object that is there.
//
// It is an error if the template does not define this object: then the policy was edited after the evaluation.
func Render(policy *policyv1.Policy, a Action) (*unstructured.Unstructured, error) {
	object := &unstructured.Unstructured{Object: map[string]any{}}
	if a.Verb != VerbCreate && a.Verb != VerbUpdate {
		object.SetAPIVersion(a.Object.APIVersion)
		object.SetKind(a.Object.Kind)
		object.SetNamespace(a.Object.Namespace)
		object.SetName(a.Object.Name)
		return object, nil
	}
	if policy == nil {
		return nil, field.Required(field.NewPath("policy"), "must not be nil")
	}
	path := field.NewPath("spec", "policy-templates").Index(a.Template)
	if a.Template < 0 || a.Template >= len(policy.Spec.PolicyTemplates) {
		return nil, field.Invalid(path, a.String(), fmt.Sprintf("must be one of the policy's %d templates", len(policy.Spec.PolicyTemplates)))
	}
	raw, err := rawOf(policy.Spec.PolicyTemplates[a.Template])
	if err == nil {
		err = json.Unmarshal(raw, &object.Object)
	}
	if err != nil {
		return nil, field.Invalid(path.Child("objectDefinition"), string(raw), "must be JSON: "+err.Error())
	}
	defined := nameOf(object)
	if defined.group() != a.Object.group() || defined.Kind != a.Object.Kind || defined.Name != a.Object.Name {
		return nil, field.Invalid(path.Child("objectDefinition"), defined.String(), fmt.Sprintf("must define the object of the action, %s", a.Object))
	}
	action, known := policy.Spec.RemediationAction.Known()
	if !known {
		return nil, field.NotSupported(field.NewPath("spec", "remediationAction"), policy.Spec.RemediationAction,
			[]policyv1.RemediationAction{policyv1.Inform, policyv1.Enforce})
	}
	setAction(object, defined, action)
	return object, setMetadata(object, policy, a.Object.Namespace)
}

// setAction sets the action that the object has where the policy has this one.
func setAction(object *unstructured.Unstructured, defined Object, action policyv1.RemediationAction) {
	spec, ok := object.Object["spec"].(map[string]any)
	if !ok || defined.isConstraintTemplate() {
		return
	}
	own, _ := spec["remediationAction"].(string)
	switch {
	case defined.group() == constraintGroup && action == policyv1.Enforce:
		spec["enforcementAction"] = "deny"
	case defined.group() == constraintGroup && action == policyv1.Inform:
		spec["enforcementAction"] = "warn"
	case defined.group() == constraintGroup:
	case strings.EqualFold(own, informOnly):
		spec["remediationAction"] = string(policyv1.Inform)
	case action != "":
		spec["remediationAction"] = string(action)
	}
}

// setMetadata keeps the metadata that a template may define, and adds the labels and the owner. A policy cannot own an object
// outside of its namespace: the API server would delete the object.
func setMetadata(object *unstructured.Unstructured, policy *policyv1.Policy, namespace string) error {
	name, annotations := object.GetName(), object.GetAnnotations()
	labels := map[string]string{}
	maps.Copy(labels, object.GetLabels())
	cluster := policy.Labels[clusterLabel]
	if cluster == "" {
		cluster = policy.Namespace
	}
	maps.Copy(labels, map[string]string{
		parentLabel: policy.Name, clusterLabel: cluster, clusterNamespaceLabel: policy.Namespace,
		"cluster-name": cluster, "cluster-namespace": policy.Namespace, // of older tools
	})
	delete(object.Object, "status")
	object.Object["metadata"] = map[string]any{}
	object.SetName(name)
	object.SetNamespace(namespace)
	object.SetLabels(labels)
	object.SetAnnotations(annotations)
	if namespace == "" || namespace != policy.Namespace {
		return nil
	}
	if policy.UID == "" {
		return field.Required(field.NewPath("metadata", "uid"), "must be given, as it was read on the cluster: the policy owns its objects")
	}
	yes := true
	object.SetOwnerReferences([]metav1.OwnerReference{{
		APIVersion: policyVersion, Kind: policyKind, Name: policy.Name, UID: policy.UID, Controller: &yes, BlockOwnerDeletion: &yes,
	}})
	return nil
}
