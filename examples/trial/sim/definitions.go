// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation"
	extensions "k8s.io/apiextensions-apiserver/pkg/apiserver"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"
)

// Definitions are the resources of a server. Many worlds can share one value. The zero value has none.
type Definitions struct {
	crds []*apiextensionsv1.CustomResourceDefinition
}

// ReadDefinitions reads custom resource definitions from YAML files with one each. It defaults and validates them like an
// API server.
func ReadDefinitions(files ...string) (Definitions, error) {
	var read Definitions
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return read, err
		}
		var crd apiextensionsv1.CustomResourceDefinition
		if err := yaml.UnmarshalStrict(text, &crd); err != nil {
			return read, fmt.Errorf("%s: %w", file, err)
		}
		if err := complete(&crd); err != nil {
			return read, fmt.Errorf("%s: %w", file, err)
		}
		read.crds = append(read.crds, &crd)
	}
	return read, read.check()
}

// complete does to a definition what an API server does when it is created.
func complete(crd *apiextensionsv1.CustomResourceDefinition) error {
	if crd.Kind != "CustomResourceDefinition" || crd.APIVersion != apiextensionsv1.SchemeGroupVersion.String() {
		return fmt.Errorf("found apiVersion %q and kind %q, expected %q and CustomResourceDefinition", crd.APIVersion, crd.Kind, apiextensionsv1.SchemeGroupVersion)
	}
	extensions.Scheme.Default(crd)
	crd.Status = apiextensionsv1.CustomResourceDefinitionStatus{}
	for _, v := range crd.Spec.Versions {
		if v.Storage {
			crd.Status.StoredVersions = append(crd.Status.StoredVersions, v.Name)
		}
	}
	var internal apiextensions.CustomResourceDefinition
	if err := extensions.Scheme.Convert(crd, &internal, nil); err != nil {
		return err
	}
	if errs := validation.ValidateCustomResourceDefinition(context.Background(), &internal); len(errs) > 0 {
		return errs.ToAggregate()
	}
	establish(crd)
	return nil
}

// established is before the clock of any bubble: a server delays the first objects of a new definition.
var established = metav1.Unix(0, 0)

func establish(crd *apiextensionsv1.CustomResourceDefinition) {
	crd.UID = types.UID(crd.Name)
	crd.Status.AcceptedNames = crd.Spec.Names
	for _, c := range []apiextensionsv1.CustomResourceDefinitionConditionType{apiextensionsv1.NamesAccepted, apiextensionsv1.Established} {
		crd.Status.Conditions = append(crd.Status.Conditions, apiextensionsv1.CustomResourceDefinitionCondition{
			Type: c, Status: apiextensionsv1.ConditionTrue, LastTransitionTime: established,
		})
	}
}

// And merges definitions. A later definition replaces an earlier one of the same resource.
func (d Definitions) And(others ...Definitions) Definitions {
	all := slices.Clone(d.crds)
	for _, other := range others {
		for _, crd := range other.crds {
			all = slices.DeleteFunc(all, func(own *apiextensionsv1.CustomResourceDefinition) bool { return own.Name == crd.Name })
			all = append(all, crd)
		}
	}
	return Definitions{all}
}

func (d Definitions) check() error {
	seen := map[string]bool{}
	for _, crd := range d.crds {
		if seen[crd.Name] {
			return fmt.Errorf("%s is defined twice", crd.Name)
		}
		seen[crd.Name] = true
	}
	return nil
}

// A Kind is a built-in kind of Kubernetes. It is served without a schema: any field is stored, and none has a default. As
// for a custom resource, the generation counts the changes outside of metadata and status.
type Kind struct {
	Group, Version, Kind, Plural string
	ClusterScoped                bool
	Status                       bool     // has a status subresource
	Selectable                   []string // fields that field selectors can use, such as "involvedObject.name"
}

// Core returns the built-in kinds that almost any controller needs.
func Core() Definitions {
	return Kinds(
		Kind{Version: "v1", Kind: "Namespace", Plural: "namespaces", ClusterScoped: true, Status: true},
		Kind{Version: "v1", Kind: "ConfigMap", Plural: "configmaps"},
		Kind{Version: "v1", Kind: "Secret", Plural: "secrets", Selectable: []string{"type"}},
		Kind{Version: "v1", Kind: "ServiceAccount", Plural: "serviceaccounts"},
		Kind{Version: "v1", Kind: "Event", Plural: "events", Selectable: []string{"type", "reason",
			"involvedObject.kind", "involvedObject.namespace", "involvedObject.name", "involvedObject.uid"}},
		Kind{Group: "events.k8s.io", Version: "v1", Kind: "Event", Plural: "events", Selectable: []string{"type", "reason",
			"regarding.kind", "regarding.namespace", "regarding.name", "regarding.uid"}},
		Kind{Group: "coordination.k8s.io", Version: "v1", Kind: "Lease", Plural: "leases"},
	)
}

// Kinds returns definitions of built-in kinds.
func Kinds(kinds ...Kind) Definitions {
	var definitions Definitions
	for _, kind := range kinds {
		definitions.crds = append(definitions.crds, kind.definition())
	}
	return definitions
}

func (k Kind) definition() *apiextensionsv1.CustomResourceDefinition {
	keeps := true
	object := apiextensionsv1.JSONSchemaProps{Type: "object", XPreserveUnknownFields: &keeps}
	version := apiextensionsv1.CustomResourceDefinitionVersion{
		Name: k.Version, Served: true, Storage: true,
		Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &object},
	}
	if k.Status {
		version.Subresources = &apiextensionsv1.CustomResourceSubresources{Status: &apiextensionsv1.CustomResourceSubresourceStatus{}}
	}
	group := k.Group
	if group == "" {
		group = coreGroup
	}
	for _, path := range k.Selectable {
		version.SelectableFields = append(version.SelectableFields, apiextensionsv1.SelectableField{JSONPath: "." + path})
	}
	crd := &apiextensionsv1.CustomResourceDefinition{}
	crd.Name = k.Plural + "." + group
	crd.Spec = apiextensionsv1.CustomResourceDefinitionSpec{
		Group: group, Scope: apiextensionsv1.NamespaceScoped, Versions: []apiextensionsv1.CustomResourceDefinitionVersion{version},
		Names: apiextensionsv1.CustomResourceDefinitionNames{
			Plural: k.Plural, Singular: strings.ToLower(k.Kind), Kind: k.Kind, ListKind: k.Kind + "List",
		},
		Conversion: &apiextensionsv1.CustomResourceConversion{Strategy: apiextensionsv1.NoneConverter},
	}
	if k.ClusterScoped {
		crd.Spec.Scope = apiextensionsv1.ClusterScoped
	}
	crd.Status.StoredVersions = []string{k.Version}
	establish(crd)
	return crd
}
