// SPDX-License-Identifier: Apache-2.0

package mirror

import (
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/util/validation/field"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	"github.com/cohort-ocm/cohort/decisionupdate"
	"github.com/cohort-ocm/cohort/internal/fielderrs"
)

// Behind says whether a source may carry out the next step of an update while a mirror shows this.
//
// Objects are the names of the objects that the mirror does not show as they are stored: with the same clusters in the same group. The
// group of an object without an index label is not compared, since the mirror's API may have no groups. While there are such objects, the
// source waits.
//
// Clusters are those that the mirror may drop if the source goes on all the same: they stay selected, but no object that the step
// leaves alone shows them as stored. Both lists are sorted. Where the mirror shows all objects as they are stored, a step of RollingUpdate
// names no cluster, and one of All those that it moves.
//
// The mirror's objects have the names of the source's. It is an error if an object is nil or comes twice by its name.
func Behind(next decisionupdate.Step, stored, shown []*clusterv1beta1.PlacementDecision) (objects, clusters []string, err error) {
	here, errs := byName("stored", stored)
	there, more := byName("shown", shown)
	if errs = append(errs, more...); len(errs) > 0 {
		return nil, nil, fielderrs.Join(errs)
	}
	for name, pd := range here {
		if !same(pd, there[name]) {
			objects = append(objects, name)
		}
	}
	for name := range there {
		if here[name] == nil {
			objects = append(objects, name)
		}
	}
	slices.Sort(objects)
	return objects, dropped(next, here, there), nil
}

// dropped returns the clusters that may have no copy (D17).
func dropped(next decisionupdate.Step, here, there map[string]*clusterv1beta1.PlacementDecision) []string {
	after := make(map[string]*clusterv1beta1.PlacementDecision, len(here))
	for name, pd := range here {
		after[name] = pd
	}
	for _, write := range next {
		if delete(after, write.Name()); write.To != nil {
			after[write.Name()] = write.To
		}
	}
	sure, doubtful := make(map[string]bool), make(map[string]bool)
	for name, pd := range there {
		if left := after[name]; left != nil && same(here[name], pd) {
			keeps := clustersOf(left)
			for cluster := range clustersOf(pd) {
				sure[cluster] = sure[cluster] || keeps[cluster]
			}
		}
	}
	for _, objects := range []map[string]*clusterv1beta1.PlacementDecision{here, there} {
		for name, pd := range objects {
			keeps := map[string]bool(nil)
			if left := after[name]; left != nil {
				keeps = clustersOf(left)
			}
			for cluster := range clustersOf(pd) {
				doubtful[cluster] = doubtful[cluster] || !keeps[cluster]
			}
		}
	}
	var clusters []string
	stays := make(map[string]bool)
	for _, pd := range after {
		for cluster := range clustersOf(pd) {
			if doubtful[cluster] && !sure[cluster] && !stays[cluster] {
				stays[cluster] = true
				clusters = append(clusters, cluster)
			}
		}
	}
	slices.Sort(clusters)
	return clusters
}

// same reports whether a mirror shows the same clusters as are stored, in the same group if it shows one.
func same(stored, shown *clusterv1beta1.PlacementDecision) bool {
	if stored == nil || shown == nil {
		return stored == shown
	}
	index, grouped := shown.Labels[clusterv1beta1.DecisionGroupIndexLabel]
	if grouped && (index != stored.Labels[clusterv1beta1.DecisionGroupIndexLabel] ||
		shown.Labels[clusterv1beta1.DecisionGroupNameLabel] != stored.Labels[clusterv1beta1.DecisionGroupNameLabel]) {
		return false
	}
	return maps.Equal(clustersOf(stored), clustersOf(shown))
}

func clustersOf(pd *clusterv1beta1.PlacementDecision) map[string]bool {
	clusters := make(map[string]bool, len(pd.Status.Decisions))
	for _, decision := range pd.Status.Decisions {
		if decision.ClusterName != "" {
			clusters[decision.ClusterName] = true
		}
	}
	return clusters
}

func byName(list string, objects []*clusterv1beta1.PlacementDecision) (map[string]*clusterv1beta1.PlacementDecision, field.ErrorList) {
	var errs field.ErrorList
	named := make(map[string]*clusterv1beta1.PlacementDecision, len(objects))
	path := field.NewPath(list)
	for i, pd := range objects {
		switch {
		case pd == nil:
			errs = append(errs, field.Required(path.Index(i), "must not be nil"))
		case named[pd.Name] != nil:
			errs = append(errs, field.Duplicate(path.Key(pd.Name).Child("metadata", "name"), pd.Name))
		default:
			named[pd.Name] = pd
		}
	}
	return named, errs
}
