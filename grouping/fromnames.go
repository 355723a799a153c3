// SPDX-License-Identifier: Apache-2.0

package grouping

import (
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/util/validation/field"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	"github.com/cohort-ocm/cohort/internal/fielderrs"
)

// FromNames makes groups of the names of clusters, for a selection that no Placement makes. A set of clusters is
// one group: map[Key][]string{{}: names}.
//
// Groups are in the order of [Key.Compare]; clusters in the order given. The groups are complete, even where there are
// none, and have no size ([Groups.ClustersPerDecisionGroup] is 0). The result shares strings with the input, nothing
// else.
//
// It is an error (one *field.Error per fault, joined as by [Divide]) if an index is negative, if the name of a group can't be a label's value,
// or if a key has a Placement ([Join] sets it). It is an error, too, if a cluster has no name or comes twice.
func FromNames(names map[Key][]string) (*Groups, error) {
	var errs field.ErrorList
	sources := make([]source, 0, len(names))
	total := 0
	for _, key := range slices.SortedFunc(maps.Keys(names), Key.Compare) {
		path := field.NewPath("names").Key(key.String())
		errs = append(errs, validateKey(path, key)...)
		decisions := make([]clusterv1beta1.ClusterDecision, len(names[key]))
		for i, name := range names[key] {
			if decisions[i].ClusterName = name; name == "" {
				errs = append(errs, field.Required(path.Index(i), "must be the name of a cluster"))
			}
		}
		sources = append(sources, source{key: key, decisions: decisions})
		total += len(decisions)
	}
	if len(errs) == 0 {
		groups := build(sources)
		if groups.completeness = complete; groups.NumClusters() == total {
			return groups, nil
		}
	}
	all := namesOf(sources)
	slices.Sort(all)
	return nil, fielderrs.Join(append(errs, duplicateClusters(all)...))
}

// validateKey reports a key that no decision group of one placement can have.
func validateKey(path *field.Path, key Key) field.ErrorList {
	var errs field.ErrorList
	if key.Index < 0 {
		errs = append(errs, field.Invalid(path.Child("index"), key.Index, "must not be negative"))
	}
	if err := labelValue(path.Child("name"), key.Name); err != nil {
		errs = append(errs, err)
	}
	if key.Placement != "" {
		errs = append(errs, field.Invalid(path.Child("placement"), key.Placement, "must be empty; Join sets it"))
	}
	return errs
}
