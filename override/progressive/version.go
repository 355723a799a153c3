// SPDX-License-Identifier: Apache-2.0

package progressive

import (
	"encoding/json"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/cohort-ocm/cohort/override/passes"
	"github.com/cohort-ocm/cohort/status"
	"github.com/cohort-ocm/cohort/status/policyv1"
)

// The version on a replicated policy has the content, the rollout that wrote it, and a status to remember:
//
//	3f2a…                    the content alone: a cluster that waits got the last successful version (or two passes wrote it)
//	3f2a…/UID                the rollout has started the cluster
//	3f2a…/UID/NewCluster     the cluster joined after the rollout
//	3f2a…/UID/TimeOut        the last successful version, for a cluster that timed out in the rollout

// versionOf gives the version of a content in a rollout, with a status to remember if there is one.
func versionOf(content, uid string, remembered ...status.RolloutStatus) string {
	version := content + "/" + uid
	for _, is := range remembered {
		version += "/" + string(is)
	}
	return version
}

func readVersion(version string) (content, uid string, remembered status.RolloutStatus) {
	content, rest, _ := strings.Cut(version, "/")
	uid, is, _ := strings.Cut(rest, "/")
	return content, uid, status.RolloutStatus(is)
}

// definition is a policy from which replicated policies are made.
type definition struct {
	policy  *unstructured.Unstructured
	content string
	action  policyv1.RemediationAction
}

// lastSuccessful reads the last successful definition of a root policy; nil where there is none (O49).
func lastSuccessful(stored *runtime.RawExtension, root *unstructured.Unstructured) (*definition, *field.Error) {
	if stored == nil || len(stored.Raw) == 0 || string(stored.Raw) == "null" {
		return nil, nil
	}
	path := field.NewPath("rollout", "status", "lastSuccessful")
	policy := new(unstructured.Unstructured)
	if err := policy.UnmarshalJSON(stored.Raw); err != nil {
		return nil, field.Invalid(path, string(stored.Raw[:min(len(stored.Raw), 64)]), "must be a Policy, or be removed: "+err.Error())
	}
	if policy.GetKind() != root.GetKind() || policy.GetName() != root.GetName() || policy.GetNamespace() != root.GetNamespace() {
		return nil, field.Invalid(path, policy.GetKind()+" "+policy.GetNamespace()+"/"+policy.GetName(),
			"must be "+root.GetKind()+" "+root.GetNamespace()+"/"+root.GetName()+", or be removed")
	}
	typed, _, errs := decode(policy, path)
	if len(errs) > 0 {
		return nil, errs[0]
	}
	action, known := typed.Spec.RemediationAction.Known()
	if !known {
		return nil, field.NotSupported(path.Child("spec", "remediationAction"), typed.Spec.RemediationAction,
			[]policyv1.RemediationAction{policyv1.Inform, policyv1.Enforce})
	}
	return &definition{policy: policy, content: passes.VersionOf(policy), action: action}, nil
}

// stored gives the parts of a root policy that are kept, from which a replicated policy can be made.
func stored(root *unstructured.Unstructured) (*runtime.RawExtension, error) {
	kept := &unstructured.Unstructured{Object: map[string]any{"spec": root.Object["spec"]}}
	kept.SetAPIVersion(root.GetAPIVersion())
	kept.SetKind(root.GetKind())
	kept.SetName(root.GetName())
	kept.SetNamespace(root.GetNamespace())
	kept.SetLabels(root.GetLabels())
	annotations := root.GetAnnotations()
	delete(annotations, "kubectl.kubernetes.io/last-applied-configuration")
	kept.SetAnnotations(annotations)
	text, err := json.Marshal(kept.Object)
	if err != nil {
		return nil, field.Invalid(field.NewPath("policy"), root.GetName(), err.Error())
	}
	return &runtime.RawExtension{Raw: text}, nil
}
