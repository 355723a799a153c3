// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"
)

// propagator is the module that publishes the definitions of the policy API.
const propagator = "open-cluster-management.io/governance-policy-propagator@v0.19.0"

// PolicyFields are fields of the policy API that the published definitions do not have.
type PolicyFields string

const (
	// RolloutStrategy is in the spec of a Policy. Without it nothing can be rolled out.
	RolloutStrategy PolicyFields = "rolloutStrategy"
	// RolloutStatus is in the status of a Policy: its own, and that of each cluster.
	RolloutStatus PolicyFields = "rolloutStatus"
	// Exclusions are the exclusions of PolicySets, and what a Policy says of them, as OCM's propagator has them since its
	// last published version.
	Exclusions PolicyFields = "exclusions"
)

// PolicyDefinitions writes the published definitions of Policies, PolicySets and PlacementBindings to a directory, and
// returns their paths. The only changes are the fields that are added. An API server drops all others that it does not know.
// It runs the go command, which downloads the definitions where they are not there yet.
func PolicyDefinitions(dir string, add ...PolicyFields) (paths []string, _ error) {
	out, err := exec.Command("go", "mod", "download", "-json", propagator).Output()
	if err != nil {
		return nil, fmt.Errorf("find %s: %w", propagator, err)
	}
	var found struct{ Dir string }
	if err := json.Unmarshal(out, &found); err != nil {
		return nil, err
	}
	for _, name := range []string{"policies", "policysets", "placementbindings"} {
		file := "policy.open-cluster-management.io_" + name + ".yaml"
		text, err := os.ReadFile(filepath.Join(found.Dir, "deploy", "crds", file))
		if err != nil {
			return nil, err
		}
		if text, err = withFields(text, name, add); err != nil {
			return nil, err
		}
		paths = append(paths, filepath.Join(dir, file))
		if err := os.WriteFile(paths[len(paths)-1], text, 0o600); err != nil {
			return nil, err
		}
	}
	return paths, nil
}

type schema = apiextensionsv1.JSONSchemaProps

// withFields adds fields to a definition, which stays as it is where there are none.
func withFields(text []byte, name string, add []PolicyFields) ([]byte, error) {
	if len(add) == 0 {
		return text, nil
	}
	var crd apiextensionsv1.CustomResourceDefinition
	if err := yaml.Unmarshal(text, &crd); err != nil {
		return nil, err
	}
	for i := range crd.Spec.Versions {
		of := crd.Spec.Versions[i].Schema.OpenAPIV3Schema.Properties
		switch name {
		case "policies":
			addToPolicy(of["spec"], of["status"], add)
		case "policysets":
			if slices.Contains(add, Exclusions) {
				addToSet(of["spec"])
			}
		}
	}
	return yaml.Marshal(&crd)
}

var text, keep = schema{Type: "string"}, true

func addToPolicy(spec, status schema, add []PolicyFields) {
	if slices.Contains(add, RolloutStrategy) {
		spec.Properties["rolloutStrategy"] = schema{Type: "object", XPreserveUnknownFields: &keep}
	}
	cluster := status.Properties["status"].Items.Schema
	if slices.Contains(add, RolloutStatus) {
		status.Properties["rolloutStatus"], cluster.Properties["rolloutStatus"] = text, text
	}
	if slices.Contains(add, Exclusions) {
		status.Properties["placement"].Items.Schema.Properties["exclusions"] = list(schema{Type: "object", Properties: map[string]schema{"clusterName": text}})
		cluster.Properties["remainingBindings"] = list(schema{Type: "object", Properties: map[string]schema{"placementBinding": text}})
	}
}

func addToSet(spec schema) {
	one := int64(1)
	name := schema{Type: "string", MinLength: &one}
	clusters := list(name)
	clusters.MinItems = &one
	spec.Properties["exclusions"] = list(schema{
		Type: "object", Required: []string{"clusterNames", "policyName"},
		Properties: map[string]schema{"policyName": name, "reason": text, "clusterNames": clusters},
	})
}

func list(of schema) schema {
	return schema{Type: "array", Items: &apiextensionsv1.JSONSchemaPropsOrArray{Schema: &of}}
}
