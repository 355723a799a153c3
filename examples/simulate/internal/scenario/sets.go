package scenario

import (
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/validation/field"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"
)

// globalSet is the set that OCM makes of all clusters.
const globalSet = "global"

// setMembers gives what tells the members of a ManagedClusterSet: its own selector where the files hold
// the set, and otherwise the label that a set has by default.
func (o *objects) setMembers(name string) (labels.Selector, error) {
	byLabel := labels.SelectorFromSet(labels.Set{clusterv1beta2.ClusterSetLabel: name})
	if name == globalSet {
		byLabel = labels.Everything()
	}
	for _, set := range o.sets {
		if set.GetName() != name {
			continue
		}
		path := field.NewPath("spec", "clusterSelector")
		switch s := set.typed.Spec.ClusterSelector; s.SelectorType {
		case "", clusterv1beta2.ExclusiveClusterSetLabel:
		case clusterv1beta2.LabelSelector:
			if s.LabelSelector == nil {
				return labels.Nothing(), nil
			}
			selector, errs := newSelector(*s.LabelSelector, path.Child("labelSelector"))
			return selector, set.Fault(aggregate(errs))
		default:
			return nil, set.Fault(field.NotSupported(path.Child("selectorType"), s.SelectorType,
				[]clusterv1beta2.SelectorType{clusterv1beta2.ExclusiveClusterSetLabel, clusterv1beta2.LabelSelector}))
		}
	}
	return byLabel, nil
}

// inAny says whether a cluster is in one of the sets; in all that there are, if none is named.
func inAny(sets []labels.Selector, c *clusterv1.ManagedCluster) bool {
	for _, set := range sets {
		if set.Matches(labels.Set(c.Labels)) {
			return true
		}
	}
	return len(sets) == 0
}
