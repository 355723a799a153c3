// SPDX-License-Identifier: Apache-2.0

package scenario

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/cohort-ocm/cohort/examples/internal/manifest"
	"github.com/cohort-ocm/cohort/status/policyv1"
)

// The types here are the types of package policyv1 with the other fields of the real API. They are named one by one, and
// what they hold is not looked at: were any unknown field welcome, a mistyped rolloutStrategy would be one, and the
// policy would be enforced everywhere at once.

type fullPolicy struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              struct {
		policyv1.PolicySpec `json:",inline"`
		CopyPolicyMetadata  any `json:"copyPolicyMetadata"`
		HubTemplateOptions  any `json:"hubTemplateOptions"`
	} `json:"spec"`
	Status any `json:"status"`
}

type fullBinding struct {
	policyv1.PlacementBinding `json:",inline"`
	Status                    any `json:"status"`
}

type fullSet struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              struct {
		policyv1.PolicySetSpec `json:",inline"`
		Description            any `json:"description"`
	} `json:"spec"`
	Status any `json:"status"`
}

// placementRule is OCM's older kind of placement. What it asks of clusters is not followed, only what was decided.
type placementRule struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              any `json:"spec"`
	Status            struct {
		Decisions []struct {
			ClusterName      string `json:"clusterName"`
			ClusterNamespace string `json:"clusterNamespace"`
		} `json:"decisions"`
	} `json:"status"`
}

// rootLabel is on replicated policies and names the root policy.
const rootLabel = "policy.open-cluster-management.io/root-policy"

// readPolicy passes over replicated policies, which stand beside the root policy where files have all namespaces.
func readPolicy(o *objects, object manifest.Object) error {
	if _, replicated := object.GetLabels()[rootLabel]; replicated {
		o.replicated = append(o.replicated, object)
		return nil
	}
	var full fullPolicy
	_, err := object.Into(&full)
	policy := &policyv1.Policy{TypeMeta: full.TypeMeta, ObjectMeta: full.ObjectMeta, Spec: full.Spec.PolicySpec}
	return o.addRollout(err, applier{Object: object, policy: policy, Targets: []target{{
		Strategy: policy.Spec.RolloutStrategy, Path: field.NewPath("spec", "rolloutStrategy"),
	}}})
}

func readBinding(o *objects, object manifest.Object) error {
	var full fullBinding
	_, err := object.Into(&full)
	o.bindings = append(o.bindings, source[policyv1.PlacementBinding]{object, &full.PlacementBinding})
	return err
}

func readSet(o *objects, object manifest.Object) error {
	var full fullSet
	_, err := object.Into(&full)
	set := &policyv1.PolicySet{TypeMeta: full.TypeMeta, ObjectMeta: full.ObjectMeta, Spec: full.Spec.PolicySetSpec}
	o.policySets = append(o.policySets, source[policyv1.PolicySet]{object, set})
	return err
}

// readRule is strict with the decisions, as they are all that counts of a PlacementRule here.
func readRule(o *objects, object manifest.Object) error {
	var rule placementRule
	unknown, err := object.Into(&rule)
	if err == nil && len(unknown) > 0 && !object.Served {
		err = object.Fault(manifest.UnknownField(&rule, unknown[0]))
	}
	for i, decision := range rule.Status.Decisions {
		if err == nil && decision.ClusterName == "" {
			err = object.Fault(field.Required(field.NewPath("status", "decisions").Index(i).Child("clusterName"), "must be the name of a cluster"))
		}
	}
	o.rules = append(o.rules, source[placementRule]{object, &rule})
	return err
}
