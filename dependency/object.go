// SPDX-License-Identifier: Apache-2.0

package dependency

import (
	"cmp"
	"strings"

	"github.com/cohort-ocm/cohort/status/policyv1"
)

const (
	policyGroup             = "policy.open-cluster-management.io"
	policyVersion           = policyGroup + "/v1"
	policyKind              = "Policy"
	policySetKind           = "PolicySet"
	policySetVersion        = policyGroup + "/v1beta1"
	constraintTemplateGroup = "templates.gatekeeper.sh"
	constraintTemplateKind  = "ConstraintTemplate"
	constraintGroup         = "constraints.gatekeeper.sh"
)

// Object names an object on a managed cluster. Objects are comparable, and equal if all four parts are.
//
// Lists of objects are sorted by kind, name, namespace and apiVersion.
type Object struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Namespace  string `json:"namespace,omitempty"`
	Name       string `json:"name"`
}

// String names the object as messages do: "ConfigurationPolicy foo".
func (o Object) String() string {
	if o == (Object{}) {
		return "unnamed object"
	}
	return o.Kind + " " + o.Name
}

func (o Object) compare(other Object) int {
	return cmp.Or(
		strings.Compare(o.Kind, other.Kind),
		strings.Compare(o.Name, other.Name),
		strings.Compare(o.Namespace, other.Namespace),
		strings.Compare(o.APIVersion, other.APIVersion),
	)
}

func (o Object) group() string {
	group, _, found := strings.Cut(o.APIVersion, "/")
	if !found {
		return ""
	}
	return group
}

// unversioned gives the object with its group in place of its apiVersion, which is the same in every version.
func (o Object) unversioned() Object {
	o.APIVersion = o.group()
	return o
}

// isConstraintTemplate says whether the object is one of Gatekeeper's, which have no compliance but exist or not.
func (o Object) isConstraintTemplate() bool {
	return o.group() == constraintTemplateGroup && o.Kind == constraintTemplateKind
}

// isGatekeepers says whether the object is a ConstraintTemplate or a constraint.
func (o Object) isGatekeepers() bool { return o.isConstraintTemplate() || o.group() == constraintGroup }

// isPolicyType says whether the object is of the policy group and of a kind that ends in Policy.
func (o Object) isPolicyType() bool {
	return o.group() == policyGroup && strings.HasSuffix(o.Kind, policyKind)
}

// isPolicy says whether the object is a Policy in the version that OCM's propagator renames in dependencies.
func (o Object) isPolicy() bool { return o.APIVersion == policyVersion && o.Kind == policyKind }

// isPolicySet says whether the object is a PolicySet in the version that OCM's propagator replaces in dependencies.
func (o Object) isPolicySet() bool {
	return o.APIVersion == policySetVersion && o.Kind == policySetKind
}

func named(dependency policyv1.PolicyDependency) Object {
	return Object{APIVersion: dependency.APIVersion, Kind: dependency.Kind, Namespace: dependency.Namespace, Name: dependency.Name}
}
