// SPDX-License-Identifier: Apache-2.0

package scenario

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/validation/field"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"
)

// globalSet is the set that OCM makes of all clusters.
const globalSet = "global"

// setMembers gives what tells the members of a ManagedClusterSet: its own selector where the set was read,
// and otherwise the label that a set has by default.
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

// clusterSets are those that a Placement can select from.
type clusterSets struct {
	members []labels.Selector
	// all says that every cluster counts, in a set or not.
	all bool
	// rule says in words which sets these are, where a cluster is in none of them.
	rule  string
	notes []string
}

func (sets clusterSets) have(c *clusterv1.ManagedCluster) bool {
	return sets.all || slices.ContainsFunc(sets.members, func(members labels.Selector) bool { return members.Matches(labels.Set(c.Labels)) })
}

// setsOf gives the cluster sets that OCM's scheduler selects from: those that are bound to the Placement's namespace, and
// of these the ones that the Placement names, if it names any. Without any ManagedClusterSetBinding it is unknown what
// is bound, and all sets are then.
func (o *objects) setsOf(placement source[clusterv1beta1.Placement]) (s clusterSets, err error) {
	wanted := placement.typed.Spec.ClusterSets
	bound, known := o.boundSets(placement.GetNamespace())
	switch {
	case !known && len(wanted) == 0:
		s.all = true
	case !known:
		bound = wanted
		s.rule = fmt.Sprintf("in none of the cluster sets that the Placement names (spec.clusterSets: %s)", strings.Join(wanted, ", "))
	case len(wanted) == 0:
		s.rule = fmt.Sprintf("in no cluster set that is bound to the Placement's namespace (ManagedClusterSetBinding: %s)", orNone(bound))
	default:
		s.rule = fmt.Sprintf("in none of the cluster sets that the Placement names and its namespace binds (spec.clusterSets: %s; ManagedClusterSetBinding: %s)",
			strings.Join(wanted, ", "), orNone(bound))
		for _, name := range wanted {
			if !slices.Contains(bound, name) {
				s.notes = append(s.notes, fmt.Sprintf("spec.clusterSets: %s has no ManagedClusterSetBinding in the Placement's namespace and does not count", name))
			}
		}
		bound = slices.DeleteFunc(bound, func(name string) bool { return !slices.Contains(wanted, name) })
	}
	inSet := func(c source[clusterv1.ManagedCluster]) bool {
		return c.typed.Labels[clusterv1beta2.ClusterSetLabel] != ""
	}
	if !known && (len(wanted) > 0 || len(o.sets) > 0 || slices.ContainsFunc(o.clusters, inSet)) {
		s.notes = append(s.notes, "ManagedClusterSetBinding: none "+o.where()+", so all cluster sets are taken as bound to the Placement's namespace; on a hub without one, no cluster is selected")
	}
	for _, name := range bound {
		members, err := o.setMembers(name)
		if err != nil {
			return s, err
		}
		s.members = append(s.members, members)
		if slices.Contains(wanted, name) && !slices.ContainsFunc(o.clusters, func(c source[clusterv1.ManagedCluster]) bool {
			return members.Matches(labels.Set(c.typed.Labels))
		}) {
			s.notes = append(s.notes, fmt.Sprintf("spec.clusterSets: no ManagedCluster %s is in %s", o.where(), name))
		}
	}
	return s, nil
}

// boundSets are the names of the sets that are bound to a namespace, and whether any binding was read, of whatever namespace.
func (o *objects) boundSets(namespace string) (names []string, known bool) {
	for _, b := range o.setBindings {
		if b.GetNamespace() != namespace && b.GetNamespace() != "" && namespace != "" {
			continue
		}
		// Where there is no condition, the file was not read from a hub, and the binding stands for itself.
		if !meta.IsStatusConditionFalse(b.typed.Status.Conditions, clusterv1beta2.ClusterSetBindingBoundType) {
			names = append(names, b.typed.Spec.ClusterSet)
		}
	}
	slices.Sort(names)
	return slices.Compact(names), len(o.setBindings) > 0
}

func orNone(names []string) string { return cmp.Or(strings.Join(names, ", "), "none") }
