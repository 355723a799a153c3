// SPDX-License-Identifier: Apache-2.0

package scenario

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/util/validation/field"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
)

// accepted says whether the hub lets the cluster's agent in. The hub has no namespace for any other, so that no workload
// reaches it.
func accepted(c *clusterv1.ManagedCluster) bool { return c.Spec.HubAcceptsClient }

// taints are the cluster's. One that the hub does not accept never says that it is available, for which the hub taints it
// as unreachable: a file that was not read from a hub goes without that.
func taints(c *clusterv1.ManagedCluster) []clusterv1.Taint {
	if accepted(c) || c.UID != "" || c.ResourceVersion != "" {
		return c.Spec.Taints
	}
	return append(slices.Clone(c.Spec.Taints), unreachable())
}

// unreachable is the taint that the hub gives to clusters of which it hears nothing.
func unreachable() clusterv1.Taint {
	return clusterv1.Taint{Key: clusterv1.ManagedClusterTaintUnreachable, Effect: clusterv1.TaintEffectNoSelect}
}

// repelled says whether a taint keeps the cluster out.
func repelled(taints []clusterv1.Taint, tolerations []clusterv1beta1.Toleration) bool {
	_, is := repelling(taints, tolerations)
	return is
}

// repelling gives the first taint that keeps the cluster out. As nothing was selected before, NoSelectIfNew
// is as strong as NoSelect; PreferNoSelect only counts among scores.
func repelling(taints []clusterv1.Taint, tolerations []clusterv1beta1.Toleration) (clusterv1.Taint, bool) {
	for _, taint := range taints {
		if taint.Effect != clusterv1.TaintEffectPreferNoSelect && !tolerated(taint, tolerations) {
			return taint, true
		}
	}
	return clusterv1.Taint{}, false
}

const taintRule = "the taint "

// ruleTaint is the rule that such a taint drops a cluster by.
func ruleTaint(t clusterv1.Taint) string {
	return fmt.Sprintf(taintRule+"%s:%s is not tolerated (spec.taints, spec.tolerations)", t.Key, t.Effect)
}

func tolerated(taint clusterv1.Taint, tolerations []clusterv1beta1.Toleration) bool {
	for _, t := range tolerations {
		if t.Effect != "" && t.Effect != taint.Effect || t.Key != "" && t.Key != taint.Key {
			continue
		}
		if t.Operator == clusterv1beta1.TolerationOpExists || t.Value == taint.Value {
			return true
		}
	}
	return false
}

// validateTolerations refuses what the API documents as invalid.
func validateTolerations(tolerations []clusterv1beta1.Toleration, path *field.Path) (errs field.ErrorList) {
	for i, t := range tolerations {
		path := path.Index(i)
		switch t.Operator {
		case clusterv1beta1.TolerationOpExists:
			if t.Value != "" {
				errs = append(errs, field.Invalid(path.Child("value"), t.Value, "must be empty where the operator is Exists"))
			}
		case "", clusterv1beta1.TolerationOpEqual:
			if t.Key == "" {
				errs = append(errs, field.Required(path.Child("key"), "only the operator Exists goes without a key"))
			}
		default:
			errs = append(errs, field.NotSupported(path.Child("operator"), t.Operator,
				[]clusterv1beta1.TolerationOperator{clusterv1beta1.TolerationOpExists, clusterv1beta1.TolerationOpEqual}))
		}
		switch t.Effect {
		case "", clusterv1.TaintEffectNoSelect, clusterv1.TaintEffectPreferNoSelect, clusterv1.TaintEffectNoSelectIfNew:
		default:
			errs = append(errs, field.NotSupported(path.Child("effect"), t.Effect, []clusterv1.TaintEffect{
				clusterv1.TaintEffectNoSelect, clusterv1.TaintEffectPreferNoSelect, clusterv1.TaintEffectNoSelectIfNew}))
		}
	}
	return errs
}
