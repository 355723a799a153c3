// SPDX-License-Identifier: Apache-2.0

package progressive

import (
	"encoding/json"
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"

	"github.com/cohort-ocm/cohort/internal/fielderrs"
	"github.com/cohort-ocm/cohort/internal/rootpolicy"
	"github.com/cohort-ocm/cohort/status/policyv1"
)

// ManualPerGroup is the type of strategy under which users approve each group. The document also spells it manualPerGroup, which is
// read as the same.
const ManualPerGroup clusterv1alpha1.RolloutType = "ManualPerGroup"

// Strategy is a root policy's spec.rolloutStrategy: OCM's strategy, and the fields that OCM's API does not have yet.
type Strategy struct {
	clusterv1alpha1.RolloutStrategy `json:",inline"`

	// ManualPerGroup is for the type of that name. Its mandatory groups count as approved, and come first.
	ManualPerGroup *clusterv1alpha1.RolloutProgressivePerGroup `json:"manualPerGroup,omitempty"`
	// IgnoreClusterRolloutStatus selects clusters by their labels. Their rollout status stops nothing. They get the version with
	// their group.
	IgnoreClusterRolloutStatus *metav1.LabelSelector `json:"ignoreClusterRolloutStatus,omitempty"`
}

func (declared *Strategy) isManual() bool { return declared.Type == ManualPerGroup }

// engine gives the strategy for package rollout: ManualPerGroup becomes ProgressivePerGroup, with gates.
func (declared *Strategy) engine() clusterv1alpha1.RolloutStrategy {
	strategy := declared.RolloutStrategy
	if declared.isManual() {
		strategy.Type, strategy.ProgressivePerGroup = clusterv1alpha1.ProgressivePerGroup, declared.ManualPerGroup
	}
	if strategy.Type == "" {
		strategy.Type = clusterv1alpha1.All
	}
	return strategy
}

// selector gives which clusters are ignored; nil where none are.
func (declared *Strategy) selector(path *field.Path) (labels.Selector, *field.Error) {
	if declared.IgnoreClusterRolloutStatus == nil {
		return nil, nil
	}
	path = path.Child("ignoreClusterRolloutStatus")
	selector, err := metav1.LabelSelectorAsSelector(declared.IgnoreClusterRolloutStatus)
	switch {
	case err != nil:
		return nil, field.Invalid(path, metav1.FormatLabelSelector(declared.IgnoreClusterRolloutStatus), err.Error())
	case selector.Empty():
		return nil, field.Invalid(path, "{}", "must select by some label: an empty selector ignores all clusters")
	default:
		return selector, nil
	}
}

// configOf gives the settings that all types of strategies have, for the engine.
func configOf(strategy clusterv1alpha1.RolloutStrategy) (config clusterv1alpha1.RolloutConfig) {
	switch {
	case strategy.Type == clusterv1alpha1.All && strategy.All != nil:
		config = strategy.All.RolloutConfig
	case strategy.Type == clusterv1alpha1.Progressive && strategy.Progressive != nil:
		config = strategy.Progressive.RolloutConfig
	case strategy.Type == clusterv1alpha1.ProgressivePerGroup && strategy.ProgressivePerGroup != nil:
		config = strategy.ProgressivePerGroup.RolloutConfig
	}
	return config
}

// hasDeadline says whether clusters have a progressDeadline.
func hasDeadline(strategy clusterv1alpha1.RolloutStrategy) bool {
	deadline := configOf(strategy).ProgressDeadline
	return deadline != "" && deadline != "None"
}

// mandatory gives the mandatory groups of a strategy for the engine.
func mandatory(strategy clusterv1alpha1.RolloutStrategy) []clusterv1alpha1.MandatoryDecisionGroup {
	if strategy.Type == clusterv1alpha1.ProgressivePerGroup && strategy.ProgressivePerGroup != nil {
		return strategy.ProgressivePerGroup.MandatoryDecisionGroups.MandatoryDecisionGroups
	}
	return nil
}

// PolicyOf reads a root policy for override.Bindings and override.Resolve, which know OCM's strategies alone: a policy under
// ManualPerGroup has the type ProgressivePerGroup there. It only checks that the policy can be read.
func PolicyOf(root *unstructured.Unstructured) (*policyv1.Policy, error) {
	policy, _, errs := decode(root, nil)
	return policy, fielderrs.Join(errs)
}

// decode reads a root policy, with OCM's strategy in it, and its own strategy.
func decode(root *unstructured.Unstructured, path *field.Path) (*policyv1.Policy, Strategy, field.ErrorList) {
	if root == nil {
		return nil, Strategy{}, field.ErrorList{field.Required(path.Child("policy"), "must be the root policy")}
	}
	var policy policyv1.Policy
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(root.Object, &policy); err != nil {
		return nil, Strategy{}, field.ErrorList{field.Invalid(path, root.GetName(), "cannot be read as a Policy: "+err.Error())}
	}
	strategy, err := strategyOf(root, path)
	if err != nil {
		return nil, Strategy{}, field.ErrorList{err}
	}
	policy.Spec.RolloutStrategy = strategy.engine()
	return &policy, strategy, nil
}

func strategyOf(root *unstructured.Unstructured, path *field.Path) (strategy Strategy, err *field.Error) {
	path = path.Child("spec", "rolloutStrategy")
	value, _, _ := unstructured.NestedFieldNoCopy(root.Object, "spec", "rolloutStrategy")
	text, failed := json.Marshal(value)
	if failed == nil {
		failed = json.Unmarshal(text, &strategy)
	}
	if failed != nil {
		return Strategy{}, field.Invalid(path, string(text), "cannot be read: "+failed.Error())
	}
	if strategy.Type == "manualPerGroup" {
		strategy.Type = ManualPerGroup
	}
	return strategy, nil
}

// Validate reports what is wrong with a root policy for its rollout, for a webhook to return. The errors have the paths of its
// JSON, below path. [Propagate] refuses exactly the same policies, unless they are disabled. Don't refuse a disabled policy for
// its faults: users could not disable a faulty policy.
func Validate(root *unstructured.Unstructured, path *field.Path) field.ErrorList {
	policy, strategy, errs := decode(root, path)
	if len(errs) > 0 {
		return errs
	}
	for _, err := range rootpolicy.Validate(policy, path) {
		switch {
		case strategy.isManual():
			err.Field = strings.Replace(err.Field, ".progressivePerGroup", ".manualPerGroup", 1)
		case err.Type == field.ErrorTypeNotSupported && strings.HasSuffix(err.Field, "rolloutStrategy.type"):
			err.Detail += fmt.Sprintf(", %q", ManualPerGroup)
		}
		errs = append(errs, err)
	}
	if _, err := strategy.selector(path.Child("spec", "rolloutStrategy")); err != nil {
		errs = append(errs, err)
	}
	return append(errs, duplicates(policy, path.Child("spec", "policy-templates"))...)
}

// duplicates reports templates of one name: the status of a policy tells its templates apart by their names alone.
func duplicates(policy *policyv1.Policy, path *field.Path) (errs field.ErrorList) {
	seen := map[string]bool{}
	for i := range policy.Spec.PolicyTemplates {
		var object metav1.PartialObjectMetadata
		if json.Unmarshal(policy.Spec.PolicyTemplates[i].ObjectDefinition.Raw, &object) != nil || object.Name == "" {
			continue // it is reported on the cluster
		}
		if seen[object.Name] {
			errs = append(errs, field.Duplicate(path.Index(i).Child("objectDefinition", "metadata", "name"), object.Name))
		}
		seen[object.Name] = true
	}
	return errs
}
