// SPDX-License-Identifier: Apache-2.0

package scenario

import (
	"encoding/json"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	addonv1alpha1 "open-cluster-management.io/api/addon/v1alpha1"
	addonv1beta1 "open-cluster-management.io/api/addon/v1beta1"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"
	workv1 "open-cluster-management.io/api/work/v1"
	workv1alpha1 "open-cluster-management.io/api/work/v1alpha1"

	"github.com/cohort-ocm/cohort/examples/internal/manifest"
	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/status/policyv1"
)

// applier is an object that rolls a workload out, and to which placements.
type applier struct {
	manifest.Object
	// Targets are its placements with the strategy for each. Path is where the object lists them.
	Targets []target
	Path    *field.Path
	// template is the template of the works, where Object is a ManifestWorkReplicaSet.
	template *workv1.ManifestWorkSpec
	// addOn and oldAddOn are what Object is, in either version, where it is a ClusterManagementAddOn.
	addOn    *addonv1beta1.ClusterManagementAddOn
	oldAddOn *addonv1alpha1.ClusterManagementAddOn
	// policy is what Object is, where it is a Policy. It names no placement: its bindings do.
	policy *policyv1.Policy
	// fault says why it cannot be played; nil if it can.
	fault error
}

// target is a placement and the strategy for it.
type target struct {
	// Placement is zero where the object names none; any placement will do then.
	Placement Ref
	Strategy  clusterv1alpha1.RolloutStrategy
	// Path is where the strategy stands in the object.
	Path *field.Path
}

// Ref names a namespaced object. An empty namespace may be any, as files for kubectl often leave it out.
type Ref struct {
	Namespace, Name string
}

// String is `namespace/name`, or the name.
func (ref Ref) String() string {
	if ref.Namespace == "" {
		return ref.Name
	}
	return ref.Namespace + "/" + ref.Name
}

// matches says whether both may be the same object.
func (ref Ref) matches(other Ref) bool {
	return ref.Name == other.Name && (ref.Namespace == other.Namespace || ref.Namespace == "" || other.Namespace == "")
}

// add appends the i-th placement of those at Path.
func (r *applier) add(i int, placement Ref, strategy clusterv1alpha1.RolloutStrategy) {
	r.Targets = append(r.Targets, target{placement, strategy, r.Path.Index(i).Child("rolloutStrategy")})
}

// bareStrategy is the API's RolloutStrategy, which is no kind of its own, as a document.
type bareStrategy struct {
	metav1.TypeMeta                 `json:",inline"`
	metav1.ObjectMeta               `json:"metadata,omitempty"`
	clusterv1alpha1.RolloutStrategy `json:",inline"`
}

func readBare(o *objects, object manifest.Object) error {
	var bare bareStrategy
	_, err := object.Into(&bare)
	return o.addRollout(err, applier{Object: object, Targets: []target{{Strategy: bare.RolloutStrategy}}})
}

func readReplicaSet(o *objects, object manifest.Object) error {
	var set workv1alpha1.ManifestWorkReplicaSet
	_, err := object.Into(&set)
	r := applier{Object: object, Path: field.NewPath("spec", "placementRefs"), template: &set.Spec.ManifestWorkTemplate}
	for i, ref := range set.Spec.PlacementRefs {
		r.add(i, Ref{set.Namespace, ref.Name}, ref.RolloutStrategy)
	}
	return o.addRollout(err, r)
}

func readAddOn(o *objects, object manifest.Object) error {
	var addOn addonv1alpha1.ClusterManagementAddOn
	_, err := object.Into(&addOn)
	r := applier{Object: object, Path: addOnPath(), oldAddOn: &addOn, addOn: converted[addonv1beta1.ClusterManagementAddOn](addOn)}
	for i, p := range addOn.Spec.InstallStrategy.Placements {
		r.add(i, Ref{p.Namespace, p.Name}, p.RolloutStrategy)
	}
	return o.addAddOn(err, r, addOn.Spec.InstallStrategy.Type)
}

func readAddOnBeta(o *objects, object manifest.Object) error {
	var addOn addonv1beta1.ClusterManagementAddOn
	_, err := object.Into(&addOn)
	r := applier{Object: object, Path: addOnPath(), addOn: &addOn, oldAddOn: converted[addonv1alpha1.ClusterManagementAddOn](addOn)}
	for i, p := range addOn.Spec.InstallStrategy.Placements {
		r.add(i, Ref{p.Namespace, p.Name}, p.RolloutStrategy)
	}
	return o.addAddOn(err, r, addOn.Spec.InstallStrategy.Type)
}

// converted is an object in another version of its API, of which only the status is read: both have the same there.
func converted[To, From any](object From) *To {
	var to To
	if data, err := json.Marshal(object); err == nil {
		_ = json.Unmarshal(data, &to) // other fields may differ
	}
	return &to
}

func addOnPath() *field.Path { return field.NewPath("spec", "installStrategy", "placements") }

// addAddOn leaves aside an add-on that users install by hand, whose placements the add-on manager does not look at.
func (o *objects) addAddOn(err error, r applier, install string) error {
	if err == nil && install != addonv1alpha1.AddonInstallStrategyPlacements {
		path := field.NewPath("spec", "installStrategy", "type")
		if install == "" {
			o.manual = append(o.manual, r.Fault(field.Required(path, "without it the add-on is installed by hand (Manual), and nothing rolls out; a rollout has the type Placements")))
			return nil
		}
		o.manual = append(o.manual, r.Fault(field.NotSupported(path, install, []string{addonv1alpha1.AddonInstallStrategyPlacements})))
		return nil
	}
	return o.addRollout(err, r)
}

// addRollout takes a rollout. One that a hub has is taken with the error of reading it: it says nothing of the others.
func (o *objects) addRollout(err error, r applier) error {
	if err != nil && !r.Served {
		return err
	}
	if r.fault = err; err == nil {
		r.fault = r.check()
	}
	o.rollouts = append(o.rollouts, r)
	return nil
}

// check finds what an API server accepts and no controller can follow.
func (r *applier) check() error {
	for i, target := range r.Targets {
		if target.Placement.Name == "" && r.Path != nil {
			return r.Fault(field.Required(r.Path.Index(i).Child("name"), "must be the name of a Placement"))
		}
		if err := rollout.Validate(target.Strategy, target.Path).ToAggregate(); err != nil {
			return r.Fault(err)
		}
	}
	return nil
}
