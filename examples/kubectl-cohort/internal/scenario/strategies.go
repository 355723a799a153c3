// SPDX-License-Identifier: Apache-2.0

package scenario

import (
	"cmp"

	"k8s.io/apimachinery/pkg/util/validation/field"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"

	"github.com/cohort-ocm/cohort/examples/internal/manifest"
	"github.com/cohort-ocm/cohort/examples/kubectl-cohort/internal/policy"
	"github.com/cohort-ocm/cohort/override"
	"github.com/cohort-ocm/cohort/rollout"
)

// NamedStrategy is a RolloutStrategy by itself, called as its document is, or after its place.
type NamedStrategy struct {
	Name     string
	Strategy clusterv1alpha1.RolloutStrategy
}

// Strategies reads documents of kind RolloutStrategy, and nothing else.
func Strategies(objects []manifest.Object) (all []NamedStrategy, err error) {
	for _, object := range objects {
		if kind := object.GetKind(); kind != "RolloutStrategy" {
			return nil, object.Fault(field.NotSupported(field.NewPath("kind"), kind, []string{"RolloutStrategy"}))
		}
		var bare bareStrategy
		if _, err := object.Into(&bare); err != nil {
			return nil, err
		}
		if err := aggregate(rollout.Validate(bare.RolloutStrategy, nil)); err != nil {
			return nil, object.Fault(err)
		}
		all = append(all, NamedStrategy{cmp.Or(bare.Name, object.At.String()), bare.RolloutStrategy})
	}
	return all, nil
}

// Course is how the rollout would go by this strategy, which for a Policy is not quite what the strategy says: see
// package policy.
func (s *Scenario) Course(strategy clusterv1alpha1.RolloutStrategy) (clusterv1alpha1.RolloutStrategy, error) {
	if s.Policy == nil {
		return strategy, nil
	}
	root := *s.Policy.root
	root.Spec.RolloutStrategy = strategy
	resolution, err := override.Resolve(&root, s.Policy.Bindings)
	if err != nil {
		return strategy, err
	}
	course, _ := policy.Course(resolution, rollout.Options{})
	return course, nil
}
