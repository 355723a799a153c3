// SPDX-License-Identifier: Apache-2.0

package passes

import (
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// unsetField is a field of a template's object that makes no difference if it has that value: its object on the cluster gets the value
// anyway.
type unsetField struct {
	path  []string // below the spec; "*" stands for each element of a list
	value string   // "{}" stands for an object without fields
}

// unsetFields gives the fields that the CRD of a kind defaults, and with them those that OCM's template sync compares as if they were
// set (equivalentTemplates). Only kinds that must report have any: other messages are never waited for without a limit. The action is
// none of them, since the policy's action may replace it; see [normalize].
func unsetFields(of schema.GroupKind) []unsetField {
	switch {
	case !isEvaluating(of):
		return nil
	case of.Kind == "ConfigurationPolicy":
		return []unsetField{
			{[]string{"pruneObjectBehavior"}, "None"},
			{[]string{"object-templates", "*", "recreateOption"}, "None"},
			{[]string{"namespaceSelector", "terminatingInclusion"}, "Default"}, // only within a namespaceSelector
		}
	default:
		return []unsetField{
			{[]string{"complianceConfig", "catalogSourceUnhealthy"}, "Compliant"},
			{[]string{"complianceConfig", "deploymentsUnavailable"}, "NonCompliant"},
			{[]string{"complianceConfig", "upgradesAvailable"}, "Compliant"},
			{[]string{"complianceConfig", "deprecationsPresent"}, "Compliant"},
			{[]string{"complianceConfig", "minorChannelUpgradeAvailable"}, "Compliant"},
			{[]string{"complianceConfig"}, "{}"},
			{[]string{"removalBehavior", "operatorGroups"}, "DeleteIfUnused"},
			{[]string{"removalBehavior", "subscriptions"}, "Delete"},
			{[]string{"removalBehavior", "clusterServiceVersions"}, "Delete"},
			{[]string{"removalBehavior", "customResourceDefinitions"}, "Keep"},
			{[]string{"removalBehavior"}, "{}"},
		}
	}
}

// normalize takes out of a template's object what makes no difference to the object on the cluster, and says whether it changed
// anything. Two texts with the same result give the cluster's controller the same object, so it sees no change between them.
func normalize(object map[string]any, of schema.GroupKind) (changed bool) {
	if !isEvaluating(of) {
		return false
	}
	for key := range object { // the template sync takes over the spec alone, besides the metadata
		if key != "apiVersion" && key != "kind" && key != "spec" {
			delete(object, key)
			changed = true
		}
	}
	spec, is := object["spec"].(map[string]any)
	if !is {
		return changed
	}
	if spec["remediationAction"] == "" { // neither the policy nor the template has one
		spec["remediationAction"] = "inform"
		changed = true
	}
	changed = dropNulls(spec) || changed
	for _, field := range unsetFields(of) {
		changed = unset(spec, field.path, field.value) || changed
	}
	return changed
}

// dropNulls takes out the null fields that the API server drops: all of the CRD's own fields, and none of the objects within.
func dropNulls(value any) (changed bool) {
	switch value := value.(type) {
	case []any:
		for _, element := range value {
			changed = dropNulls(element) || changed
		}
	case map[string]any:
		for key, field := range value {
			switch {
			case field == nil:
				delete(value, key)
				changed = true
			case key != "objectDefinition" && key != "subscription" && key != "operatorGroup":
				changed = dropNulls(field) || changed
			}
		}
	}
	return changed
}

// unset takes out the fields of that path that have that value, or an empty text.
func unset(value any, path []string, unsetValue string) (changed bool) {
	if list, is := value.([]any); is && path[0] == "*" {
		for _, element := range list {
			changed = unset(element, path[1:], unsetValue) || changed
		}
		return changed
	}
	fields, _ := value.(map[string]any)
	field, is := fields[path[0]]
	if !is {
		return false
	}
	if len(path) > 1 {
		return unset(field, path[1:], unsetValue)
	}
	within, isObject := field.(map[string]any)
	if field != "" && field != unsetValue && !(unsetValue == "{}" && isObject && len(within) == 0) {
		return false
	}
	delete(fields, path[0])
	return true
}
