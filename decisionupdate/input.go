// SPDX-License-Identifier: Apache-2.0

package decisionupdate

import (
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/internal/fielderrs"
)

// byName returns the objects in the order of their names, and an error for each that is nil or nameless. Paths begin with the name of the list and have the object's name as a key, so that they are the
// same whatever the order of the list.
func byName(list string, objects []*clusterv1beta1.PlacementDecision) ([]*clusterv1beta1.PlacementDecision, field.ErrorList) {
	var errs field.ErrorList
	path := field.NewPath(list)
	sorted := make([]*clusterv1beta1.PlacementDecision, 0, len(objects))
	for _, pd := range objects {
		switch {
		case pd == nil:
			errs = append(errs, field.Required(path, "must not be nil"))
		case pd.Name == "":
			errs = append(errs, field.Required(path.Child("metadata", "name"), "must be the name of a PlacementDecision"))
		default:
			sorted = append(sorted, pd)
		}
	}
	slices.SortStableFunc(sorted, func(a, b *clusterv1beta1.PlacementDecision) int { return strings.Compare(a.Name, b.Name) })
	return sorted, errs
}

// twice returns an error for each object that is there twice, of those in the order of their names.
func twice(list string, sorted []*clusterv1beta1.PlacementDecision) field.ErrorList {
	return fielderrs.Duplicates(sorted, func(a, b *clusterv1beta1.PlacementDecision) int { return strings.Compare(a.Name, b.Name) },
		func(pd *clusterv1beta1.PlacementDecision) *field.Error {
			return field.Duplicate(field.NewPath(list).Key(pd.Name).Child("metadata", "name"), pd.Name)
		})
}

// onePlacement returns the placement of the desired objects, as far as they tell, and those of the stored objects that are its (D9). It
// leaves out the others. Where nothing is desired, all stored objects must be of one placement.
func onePlacement(stored, desired []*clusterv1beta1.PlacementDecision) (placement *clusterv1beta1.Placement, own []*clusterv1beta1.PlacementDecision, errs field.ErrorList) {
	for _, pd := range desired {
		if pd.Labels[clusterv1beta1.PlacementLabel] == "" {
			errs = append(errs, field.Required(labelPath("desired", pd), "must be the name of its Placement"))
			continue
		}
		if placement == nil {
			placement = placementOf(pd)
		}
		errs = append(errs, another(placement, "desired", pd, pd.Labels[clusterv1beta1.PlacementLabel])...)
	}
	others := make(map[string]bool) // by name
	for _, pd := range stored {
		if placement == nil {
			placement = placementOf(pd)
		}
		switch {
		case grouping.Owns(placement, pd):
			own = append(own, pd)
		case len(desired) == 0:
			errs = append(errs, another(placement, "stored", pd, placementOf(pd).Name)...)
		case pd.Namespace == placement.Namespace:
			others[pd.Name] = true
		}
	}
	for _, pd := range desired {
		if others[pd.Name] {
			errs = append(errs, field.Invalid(field.NewPath("desired").Key(pd.Name).Child("metadata", "name"), pd.Name,
				"must be another name: the stored object of that name is not of the Placement "+placement.Name))
		}
	}
	return placement, own, errs
}

// another reports an object of another placement or namespace.
func another(placement *clusterv1beta1.Placement, list string, pd *clusterv1beta1.PlacementDecision, name string) (errs field.ErrorList) {
	if name != placement.Name {
		errs = append(errs, field.Invalid(labelPath(list, pd), name, "must be of the Placement "+placement.Name+", as the others are"))
	}
	if pd.Namespace != placement.Namespace {
		errs = append(errs, field.Invalid(field.NewPath(list).Key(pd.Name).Child("metadata", "namespace"), pd.Namespace,
			"must be in the namespace "+placement.Namespace+", as the others are"))
	}
	return errs
}

func labelPath(list string, pd *clusterv1beta1.PlacementDecision) *field.Path {
	return field.NewPath(list).Key(pd.Name).Child("metadata", "labels").Key(clusterv1beta1.PlacementLabel)
}

// placementOf returns what an object tells of its placement: the name, and the UID if that is its controller.
func placementOf(pd *clusterv1beta1.PlacementDecision) *clusterv1beta1.Placement {
	placement := &clusterv1beta1.Placement{}
	placement.Namespace, placement.Name = pd.Namespace, pd.Labels[clusterv1beta1.PlacementLabel]
	ref := metav1.GetControllerOfNoCopy(pd)
	if ref != nil && ref.Kind == "Placement" && strings.HasPrefix(ref.APIVersion, clusterv1beta1.GroupName+"/") {
		placement.Name, placement.UID = ref.Name, ref.UID
	}
	return placement
}

// desiredClusters returns an error for each desired object with too many clusters, and for each cluster that is empty
// or that an object before desires already (D9). It is slow, and only called if there is such a fault.
func desiredClusters(desired []*clusterv1beta1.PlacementDecision, limit int) field.ErrorList {
	var errs field.ErrorList
	seen := make(map[string]string) // by cluster: its object
	for _, pd := range desired {
		path := field.NewPath("desired").Key(pd.Name).Child("status", "decisions")
		if n := len(pd.Status.Decisions); n > limit {
			errs = append(errs, field.TooMany(path, n, limit))
		}
		for i, decision := range pd.Status.Decisions {
			cluster := path.Index(i).Child("clusterName")
			other, twice := seen[decision.ClusterName]
			switch {
			case decision.ClusterName == "":
				errs = append(errs, field.Required(cluster, "must be the name of a cluster"))
			case twice:
				err := field.Duplicate(cluster, decision.ClusterName)
				err.Detail = "must be in one object, and is in " + other + " already"
				errs = append(errs, err)
			default:
				seen[decision.ClusterName] = pd.Name
			}
		}
	}
	return errs
}

// dying returns an error for each object that is being deleted and desired: the clusters that it keeps or gains would
// vanish with its last finalizer (D5).
func (f *fleet) dying() error {
	var errs field.ErrorList
	for i := range f.objects {
		object := &f.objects[i]
		if object.desired != nil && object.dying() {
			errs = append(errs, field.Forbidden(field.NewPath("stored").Key(object.stored.Name).Child("metadata", "deletionTimestamp"),
				"must not be desired while it is being deleted: desire its clusters under another name, or wait until it is gone"))
		}
	}
	return fielderrs.Join(errs)
}
