// SPDX-License-Identifier: Apache-2.0

package scenario

import (
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	addonv1beta1 "open-cluster-management.io/api/addon/v1beta1"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"
	workv1 "open-cluster-management.io/api/work/v1"

	"github.com/cohort-ocm/cohort/examples/internal/manifest"
	"github.com/cohort-ocm/cohort/examples/kubectl-cohort/internal/behavior"
	"github.com/cohort-ocm/cohort/status/policyv1"
)

// objects is what was read, by kind.
type objects struct {
	clusters    []source[clusterv1.ManagedCluster]
	sets        []source[clusterv1beta2.ManagedClusterSet]
	setBindings []source[clusterv1beta2.ManagedClusterSetBinding]
	placements  []source[clusterv1beta1.Placement]
	decisions   []source[clusterv1beta1.PlacementDecision]
	behaviors   []source[behavior.Behavior]
	liveState
	manual     []error // add-ons that users install by hand
	rollouts   []applier
	bindings   []source[policyv1.PlacementBinding]
	policySets []source[policyv1.PolicySet]
	rules      []source[placementRule]

	hub     bool                         // a hub was read and not files
	now     time.Time                    // of the reading; zero if unknown
	places  map[string]manifest.Position // of each named object
	ignored map[string]int               // objects by kind that have no part in a rollout
	unknown map[string]int               // status fields of ManagedClusters that our types don't have

	before, decoded map[uintptr]*decoded // what a Loader had of the load before, and what it has of this one
}

// source is a typed object and where it was read.
type source[T any] struct {
	manifest.Object
	typed *T
}

// where says where the objects were read.
func (o *objects) where() string {
	if o.hub {
		return "on the hub"
	}
	return "in the files"
}

// holder begins a sentence about what is there.
func (o *objects) source() string {
	if o.hub {
		return "the hub has"
	}
	return "the files have"
}

// reader reads an object of one kind and version.
type reader func(*objects, manifest.Object) error

// readers are the readers of the kinds that count, by group and kind, then by version.
func readers() map[string]map[string]reader {
	const (
		cluster = "cluster.open-cluster-management.io/"
		policy  = "policy.open-cluster-management.io/"
	)
	return map[string]map[string]reader{
		cluster + "ManagedCluster": {"v1": (*objects).readCluster},
		cluster + "ManagedClusterSet": {
			"v1beta2": into(func(o *objects) *[]source[clusterv1beta2.ManagedClusterSet] { return &o.sets }),
		},
		cluster + "ManagedClusterSetBinding": {
			"v1beta2": into(func(o *objects) *[]source[clusterv1beta2.ManagedClusterSetBinding] { return &o.setBindings }),
		},
		cluster + "Placement": {
			"v1beta1": into(func(o *objects) *[]source[clusterv1beta1.Placement] { return &o.placements }),
		},
		cluster + "PlacementDecision": {"v1beta1": (*objects).readDecision},
		behavior.Group + "/" + behavior.Kind: {
			"v1": into(func(o *objects) *[]source[behavior.Behavior] { return &o.behaviors }),
		},
		cluster + "RolloutStrategy":                               {"v1alpha1": readBare},
		"work.open-cluster-management.io/ManifestWorkReplicaSet":  {"v1alpha1": readReplicaSet},
		"addon.open-cluster-management.io/ClusterManagementAddOn": {"v1alpha1": readAddOn, "v1beta1": readAddOnBeta},
		"work.open-cluster-management.io/ManifestWork": {
			"v1": into(func(o *objects) *[]source[workv1.ManifestWork] { return &o.works }),
		},
		"addon.open-cluster-management.io/ManagedClusterAddOn": {
			"v1alpha1": readOldAddOn,
			"v1beta1":  into(func(o *objects) *[]source[addonv1beta1.ManagedClusterAddOn] { return &o.addOns }),
		},
		policy + "Policy":                               {"v1": readPolicy},
		policy + "PlacementBinding":                     {"v1": readBinding},
		policy + "PolicySet":                            {"v1beta1": readSet},
		"apps.open-cluster-management.io/PlacementRule": {"v1": readRule},
	}
}

// Kinds yields the kinds that count.
func Kinds() iter.Seq[string] {
	return func(yield func(string) bool) {
		for full := range readers() {
			if _, kind, _ := strings.Cut(full, "/"); !yield(kind) {
				return
			}
		}
	}
}

// sortOut reads the objects of the kinds that count.
func (l *Loader) sortOut(all []manifest.Object) (*objects, error) {
	o := &objects{places: make(map[string]manifest.Position), ignored: make(map[string]int), unknown: make(map[string]int)}
	o.before, o.decoded = l.begin()
	kinds := readers()
	for _, object := range all {
		gvk := object.GroupVersionKind()
		versions, found := kinds[gvk.Group+"/"+gvk.Kind]
		if !found {
			if err := object.Mistyped(slices.Collect(maps.Keys(kinds))...); err != nil {
				return nil, err
			}
			o.ignored[gvk.Kind]++
			continue
		}
		read, found := versions[gvk.Version]
		if !found {
			return nil, object.Fault(field.NotSupported(field.NewPath("apiVersion"), object.GetAPIVersion(),
				inGroup(gvk.Group, slices.Sorted(maps.Keys(versions)))))
		}
		if err := read(o, object); err != nil { // first, as a name that is not there may be mistyped
			return nil, err
		}
		if err := o.identify(object); err != nil {
			return nil, err
		}
	}
	return o, nil
}

func inGroup(group string, versions []string) []string {
	for i := range versions {
		versions[i] = group + "/" + versions[i]
	}
	return versions
}

// identify refuses a name that no object can have, and an object that was there before. Documents
// that are only ours need no name.
func (o *objects) identify(object manifest.Object) error {
	name, path := object.GetName(), field.NewPath("metadata", "name")
	switch kind := object.GetKind(); {
	case name == "" && (kind == "RolloutStrategy" || kind == behavior.Kind):
		return nil
	case name == "":
		return object.Fault(field.Required(path, "must be given: every "+kind+" has one"))
	}
	if _, ours := map[string]bool{"RolloutStrategy": true, behavior.Kind: true}[object.GetKind()]; !ours {
		if faults := validation.NameIsDNSSubdomain(name, false); len(faults) > 0 {
			return object.Fault(field.Invalid(path, name, strings.Join(faults, "; ")))
		}
	}
	if before, found := o.places[object.String()]; found {
		return object.Fault(fmt.Errorf("%w: it stands at %v, too", field.Duplicate(path, name), before))
	}
	o.places[object.String()] = object.At
	return nil
}

// into reads an object strictly and appends it to a list. What its status holds does not count.
func into[T any](list func(*objects) *[]source[T]) reader {
	return func(o *objects, object manifest.Object) error {
		typed, _, err := once[T](o, object)
		all := list(o)
		*all = append(*all, source[T]{object, typed})
		return err
	}
}

// readCluster counts the fields of a newer API in the status, which may be claims misspelled as well.
func (o *objects) readCluster(object manifest.Object) error {
	typed, unknown, err := once[clusterv1.ManagedCluster](o, object)
	for _, path := range unknown {
		o.unknown[path]++
	}
	o.clusters = append(o.clusters, source[clusterv1.ManagedCluster]{object, typed})
	return err
}

// readDecision is strict with the status, too: it is all that a PlacementDecision says.
func (o *objects) readDecision(object manifest.Object) error {
	typed, unknown, err := once[clusterv1beta1.PlacementDecision](o, object)
	switch label := clusterv1beta1.PlacementLabel; {
	case err != nil:
	case len(unknown) > 0 && !object.Served:
		err = object.Fault(manifest.UnknownField(typed, unknown[0]))
	case typed.Labels[label] == "" && (object.Served || object.GetUID() != ""): // of a hub, where others may write some of their own
		o.ignored["PlacementDecision without the label "+label]++
		return nil
	case typed.Labels[label] == "":
		err = object.Fault(field.Required(field.NewPath("metadata", "labels").Key(label), "must be the name of the Placement"))
	}
	o.decisions = append(o.decisions, source[clusterv1beta1.PlacementDecision]{object, typed})
	return err
}

// ignorePolicies counts the objects that only a Policy's rollout uses.
func (o *objects) ignorePolicies() {
	for kind, n := range map[string]int{
		"PlacementBinding": len(o.bindings), "PolicySet": len(o.policySets), "PlacementRule": len(o.rules),
	} {
		if n > 0 {
			o.ignored[kind] += n
		}
	}
}

// notes says what of the files has no part in the rollout.
func (o *objects) notes() (notes []string) {
	for _, kind := range slices.Sorted(maps.Keys(o.ignored)) {
		notes = append(notes, fmt.Sprintf("%s: not used by a simulation (%d)", kind, o.ignored[kind]))
	}
	if n := len(o.manual); n > 0 {
		notes = append(notes, fmt.Sprintf("ClusterManagementAddOn: installed by hand, without a rollout (%d)", n))
	}
	for _, path := range slices.Sorted(maps.Keys(o.unknown)) {
		notes = append(notes, fmt.Sprintf("ManagedCluster: %s: unknown field, not read (%d)", path, o.unknown[path]))
	}
	return notes
}
