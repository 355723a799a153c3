package decisionupdate

import (
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	"github.com/cohort-ocm/cohort/internal/fielderrs"
)

// byName returns the objects in the order of their names, and an error for each that is nil or nameless or
// there twice. Paths begin with the name of the list and have the object's name as a key, so that they are the
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
	for i := 1; i < len(sorted); i++ {
		if sorted[i].Name == sorted[i-1].Name {
			errs = append(errs, field.Duplicate(path.Key(sorted[i].Name).Child("metadata", "name"), sorted[i].Name))
		}
	}
	return sorted, errs
}

// onePlacement returns an error for each object that isn't of the placement and in the namespace of the first desired object,
// or of the first stored one if none is desired (D9). A stored object also belongs to the placement that controls it, unless
// that is an earlier one of the same name (D14). It also returns the name of the placement.
func onePlacement(stored, desired []*clusterv1beta1.PlacementDecision) (want string, errs field.ErrorList) {
	var first *clusterv1beta1.PlacementDecision
	var owner types.UID
	check := func(list string, objects []*clusterv1beta1.PlacementDecision) {
		for _, pd := range objects {
			path := func() *field.Path { return field.NewPath(list).Key(pd.Name).Child("metadata") }
			label := func() *field.Path { return path().Child("labels").Key(clusterv1beta1.PlacementLabel) }
			placement, at := pd.Labels[clusterv1beta1.PlacementLabel], label
			name, uid := controller(pd)
			takenOver := list == "stored" && name != "" && (uid == owner || owner == "") // D14
			if takenOver && (placement == "" || first == nil || name == want) {
				placement, at = name, func() *field.Path { return path().Child("ownerReferences") }
			}
			if placement == "" {
				errs = append(errs, field.Required(label(), "must be the name of its Placement"))
				continue
			}
			if first == nil {
				first, want = pd, placement
			}
			if owner == "" && list == "desired" {
				owner = uid
			}
			if placement != want {
				errs = append(errs, field.Invalid(at(), placement, "must be of the Placement "+want+", as "+first.Name+" is"))
			}
			if pd.Namespace != first.Namespace {
				errs = append(errs, field.Invalid(path().Child("namespace"), pd.Namespace, "must be in the namespace "+first.Namespace+", as "+first.Name+" is"))
			}
		}
	}
	check("desired", desired)
	check("stored", stored)
	return want, errs
}

// controller returns the name and the UID of the Placement that controls an object, or nothing.
func controller(pd *clusterv1beta1.PlacementDecision) (string, types.UID) {
	ref := metav1.GetControllerOfNoCopy(pd)
	if ref == nil || ref.Kind != "Placement" {
		return "", ""
	}
	if gv, err := schema.ParseGroupVersion(ref.APIVersion); err != nil || gv.Group != clusterv1beta1.GroupName {
		return "", ""
	}
	return ref.Name, ref.UID
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
		for i, d := range pd.Status.Decisions {
			cluster := path.Index(i).Child("clusterName")
			other, twice := seen[d.ClusterName]
			switch {
			case d.ClusterName == "":
				errs = append(errs, field.Required(cluster, "must be the name of a cluster"))
			case twice:
				err := field.Duplicate(cluster, d.ClusterName)
				err.Detail = "must be in one object, and is in " + other + " already"
				errs = append(errs, err)
			default:
				seen[d.ClusterName] = pd.Name
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
		o := &f.objects[i]
		if o.desired != nil && o.dying() {
			errs = append(errs, field.Forbidden(field.NewPath("stored").Key(o.stored.Name).Child("metadata", "deletionTimestamp"),
				"must not be desired while it is being deleted: desire its clusters under another name, or wait until it is gone"))
		}
	}
	return fielderrs.Join(errs)
}
