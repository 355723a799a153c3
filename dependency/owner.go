// SPDX-License-Identifier: Apache-2.0

package dependency

import (
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/cohort-ocm/cohort/status/policyv1"
)

// parentLabel is on the objects of templates, with the name of the policy that owns them.
const parentLabel = policyGroup + "/policy"

// policyOf gives the policy on the cluster that the object belongs to: its owner, or else the one that its label names. A
// cluster-scoped object cannot have a policy as its owner.
func policyOf(object *unstructured.Unstructured) string {
	for _, owner := range object.GetOwnerReferences() {
		if owner.Kind == policyKind && strings.HasPrefix(owner.APIVersion, policyGroup+"/") {
			return owner.Name
		}
	}
	return object.GetLabels()[parentLabel]
}

// newestEvent gives the newest message in the object's status.history.
func newestEvent(object *unstructured.Unstructured) (newest policyv1.PolicyHistory) {
	status, _ := object.Object["status"].(map[string]any)
	history, _ := status["history"].([]any)
	for _, element := range history {
		event, _ := element.(map[string]any)
		message, _ := event["message"].(string)
		text, _ := event["lastTimestamp"].(string)
		at, err := time.Parse(time.RFC3339Nano, text)
		if err == nil && message != "" && (newest.Message == "" || at.After(newest.LastTimestamp.Time)) {
			newest = policyv1.PolicyHistory{LastTimestamp: metav1.NewTime(at.UTC()), Message: strings.TrimSpace(message)}
		}
	}
	return newest
}
