// SPDX-License-Identifier: Apache-2.0

package dependency

import (
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// kinds are the kinds that templates may have. An empty list means [Kinds], and an entry without a Kind all kinds of its group.
type kinds []schema.GroupKind

// Kinds gives the kinds that templates of OCM's policies have: those of its policy controllers, and Gatekeeper's
// ConstraintTemplates and constraints. A template of any other kind is invalid: the controller creates what authors of policies
// ask for, with permissions that these authors may not have. OCM's template sync also takes kinds with a
// CustomResourceDefinition that has the label policy.open-cluster-management.io/policy-type: template. Add those of your cluster.
//
// An entry without a Kind means all kinds of its group.
func Kinds() []schema.GroupKind {
	return []schema.GroupKind{
		{Group: policyGroup, Kind: "ConfigurationPolicy"},
		{Group: policyGroup, Kind: "OperatorPolicy"},
		{Group: policyGroup, Kind: "CertificatePolicy"},
		{Group: policyGroup, Kind: "IamPolicy"},
		{Group: constraintTemplateGroup, Kind: constraintTemplateKind},
		{Group: constraintGroup},
	}
}

func (k kinds) orDefault() kinds {
	if len(k) == 0 {
		return Kinds()
	}
	return k
}

// include says whether a template may create the object.
func (k kinds) include(object Object) bool {
	group := object.group()
	return slices.ContainsFunc(k.orDefault(), func(kind schema.GroupKind) bool {
		return kind.Group == group && (kind.Kind == "" || kind.Kind == object.Kind)
	})
}

// refuse says that a template at this path may not create the object.
func (k kinds) refuse(object Object, path *field.Path) *field.Error {
	var all []string
	for _, kind := range k.orDefault() {
		if kind.Kind == "" {
			kind.Kind = "*"
		}
		all = append(all, kind.String())
	}
	found := schema.GroupKind{Group: object.group(), Kind: object.Kind}
	return field.NotSupported(path.Child("objectDefinition", "kind"), found.String(), all)
}
