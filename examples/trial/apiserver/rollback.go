// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"fmt"
	"os"
	"path/filepath"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"
)

// RollbackDefinitions writes the definition of ManifestWorkReplicaSets with the fields of OCM's enhancement 229 to a directory, and one that
// stands in for ControllerRevisions, and returns their paths. The first has the name of OCM's file.
func RollbackDefinitions(dir string) (paths []string, _ error) {
	published, err := OCMDefinitions("work/v1alpha1/0000_00_work.open-cluster-management.io_manifestworkreplicasets.crd.yaml")
	if err != nil {
		return nil, err
	}
	text, err := os.ReadFile(published[0])
	if err != nil {
		return nil, err
	}
	var sets apiextensionsv1.CustomResourceDefinition
	if err := yaml.Unmarshal(text, &sets); err != nil {
		return nil, err
	}
	for i := range sets.Spec.Versions {
		addRollback(sets.Spec.Versions[i].Schema.OpenAPIV3Schema.Properties)
	}
	for name, crd := range map[string]*apiextensionsv1.CustomResourceDefinition{filepath.Base(published[0]): &sets, "controllerrevisions.yaml": revisions()} {
		text, err := yaml.Marshal(crd)
		if err != nil {
			return nil, err
		}
		paths = append(paths, filepath.Join(dir, name))
		if err := os.WriteFile(paths[len(paths)-1], text, 0o600); err != nil {
			return nil, err
		}
	}
	return paths, nil
}

var number = schema{Type: "integer", Format: "int32"}

// addRollback adds the fields to the spec and the status of a set.
func addRollback(of map[string]schema) {
	of["spec"].Properties["revisionHistoryLimit"] = number
	strategy := of["spec"].Properties["placementRefs"].Items.Schema.Properties["rolloutStrategy"]
	strategy.Properties["failureStrategy"] = schema{Type: "string", Enum: []apiextensionsv1.JSON{{Raw: []byte(`""`)}, {Raw: []byte(`"AbortAll"`)}}}
	status := of["status"].Properties
	status["currentRevision"], status["updateRevision"], status["collisionCount"] = text, text, number
	status["abortedTime"] = schema{Type: "string", Format: "date-time"}
}

// revisions are custom resources in the place of ControllerRevisions: see standIn.
func revisions() *apiextensionsv1.CustomResourceDefinition {
	crd := &apiextensionsv1.CustomResourceDefinition{}
	crd.APIVersion, crd.Kind = apiextensionsv1.SchemeGroupVersion.String(), "CustomResourceDefinition"
	crd.Name = fmt.Sprintf("controllerrevisions.%s", standInGroup)
	crd.Spec = apiextensionsv1.CustomResourceDefinitionSpec{
		Group: standInGroup, Scope: apiextensionsv1.NamespaceScoped,
		Names: apiextensionsv1.CustomResourceDefinitionNames{
			Plural: "controllerrevisions", Singular: "controllerrevision", Kind: "ControllerRevision", ListKind: "ControllerRevisionList",
		},
		Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{
			Name: "v1", Served: true, Storage: true,
			Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &schema{
				Type: "object", Required: []string{"revision"},
				Properties: map[string]schema{"revision": {Type: "integer", Format: "int64"}, "data": {Type: "object", XPreserveUnknownFields: &keep}},
			}},
		}},
	}
	return crd
}
