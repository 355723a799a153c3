package override

import (
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"
)

// RemediationAction is what a policy does about a cluster that does not comply. Objects spell it in
// any letter case; results use the constants. Empty means that each template of the policy decides
// for itself.
type RemediationAction string

const (
	// Inform reports what does not comply and changes nothing.
	Inform RemediationAction = "inform"
	// Enforce changes the cluster until it complies.
	Enforce RemediationAction = "enforce"
)

// Policy is the part of a root Policy (policy.open-cluster-management.io) that decides where it goes
// and with which action. JSON, YAML and unstructured fill it; fields not named here are dropped, so
// don't write one back.
type Policy struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec PolicySpec `json:"spec"`
}

// PolicySpec is the part of a Policy's spec that decides where it goes and with which action.
type PolicySpec struct {
	// Disabled policies are bound nowhere (O6).
	Disabled bool `json:"disabled"`

	// RemediationAction overrides that of each template; empty leaves the templates theirs.
	RemediationAction RemediationAction `json:"remediationAction,omitempty"`

	// RolloutStrategy says how the policy is enforced on one cluster after the other. With a type
	// other than All (or empty, which means All) overrides and sub filters are ignored (O5).
	RolloutStrategy clusterv1alpha1.RolloutStrategy `json:"rolloutStrategy,omitzero"`
}

// action returns the policy's own action in the spelling of the constants.
func (p *Policy) action() (RemediationAction, *field.Error) {
	for _, known := range []RemediationAction{"", Inform, Enforce} {
		if strings.EqualFold(string(p.Spec.RemediationAction), string(known)) {
			return known, nil
		}
	}
	return "", field.NotSupported(field.NewPath("policy", "spec", "remediationAction"),
		p.Spec.RemediationAction, []RemediationAction{Inform, Enforce})
}

// strategy returns the type of the policy's rollout strategy, All where it is empty.
func (p *Policy) strategy() (clusterv1alpha1.RolloutType, *field.Error) {
	switch known := p.Spec.RolloutStrategy.Type; known {
	case "":
		return clusterv1alpha1.All, nil
	case clusterv1alpha1.All, clusterv1alpha1.Progressive, clusterv1alpha1.ProgressivePerGroup:
		return known, nil
	default:
		return "", field.NotSupported(field.NewPath("policy", "spec", "rolloutStrategy", "type"), known,
			[]clusterv1alpha1.RolloutType{clusterv1alpha1.All, clusterv1alpha1.Progressive, clusterv1alpha1.ProgressivePerGroup})
	}
}
