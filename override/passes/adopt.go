// SPDX-License-Identifier: Apache-2.0

package passes

import (
	"encoding/json"
	"maps"
	"reflect"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"

	"github.com/cohort-ocm/cohort/status"
	"github.com/cohort-ocm/cohort/status/policyv1"
)

// Adopt takes over a replicated policy from a controller without stamps, such as OCM's propagator. If the policy has no stamp
// and its content is the wanted content, whatever the actions, it has the version already: Adopt gives a copy with a stamp for the
// version. The stamp's time is when the policy got its spec, as far as is known. Any other policy is given back as it is.
//
// Wanted is the policy that would be written for this cluster: with the dependencies that dependency.Replicate gives, and with
// resolved hub templates. An action that managed fields show to be edited by hand after OCM's propagator wrote the policy counts as
// inform, so it starts no cluster, and is set back ([Replica].Edited). Call Adopt for each replica that is read, before [ReplicaOf]. Otherwise all replicas of a hub count as
// outdated on the day of the switch: each is written again for its annotations alone, which no cluster reports on, and the root
// loses its compliance. A settled replica needs no write.
//
// The switch may happen during an edit. A replica with the content before the edit has another version, as it should. The cluster
// may not have answered the content after the edit: a report from before its spec was written counts five minutes later, and is
// shown in the root's status meanwhile. Where managed fields are missing, and it was not just created, nothing tells when it was
// written. It then gets its stamp in a write of annotations alone, its reports from before that count five minutes later, and are shown
// meanwhile.
//
// The policy is not changed, and the copy shares all but its annotations with it. A nil policy stays nil.
func Adopt(replica, wanted *policyv1.Policy, version string) *policyv1.Policy {
	if replica == nil || wanted == nil || status.StampOf(replica).Version != "" || !sameContent(replica.Spec, wanted.Spec) {
		return replica
	}
	adopted := *replica
	adopted.Annotations = maps.Clone(replica.Annotations)
	delete(adopted.Annotations, annotationReported)
	action, known := replica.Spec.RemediationAction.Known()
	if !known {
		return replica
	}
	if isActionByHand(replica.ManagedFields) { // which starts no cluster
		action = policyv1.Inform
	}
	stamp := status.Stamp{Version: stampOf(version, action), Applied: specWritten(replica)}
	stamp.NoteOn(&adopted, stamp.Version, 0, stamp.Applied)
	return &adopted
}

// propagator is the field manager of OCM's propagator.
const propagator = "governance-policy-propagator"

// isActionByHand says whether managed fields tell that another manager wrote the action after OCM's propagator last wrote the spec. They
// have whole seconds, and the propagator overwrites what it sees: a manager that wrote before it wrote what the propagator wants.
func isActionByHand(entries []metav1.ManagedFieldsEntry) bool {
	var ours, others []metav1.ManagedFieldsEntry
	for _, entry := range entries {
		if entry.Manager == propagator {
			ours = append(ours, entry)
		} else {
			others = append(others, entry)
		}
	}
	last := written(ours, "", "f:spec")
	return !last.IsZero() && written(others, "", "f:remediationAction").After(last)
}

// specWritten gives the time when a policy got its spec: its creation if the spec never changed, and else the newest time of
// managed fields that have the spec; zero where these are not known.
func specWritten(policy *policyv1.Policy) time.Time {
	if policy.Generation == 1 {
		return policy.CreationTimestamp.Time
	}
	return written(policy.ManagedFields, "", "f:spec")
}

// sameContent says whether two specs are the same, apart from the fields that the rollout sets.
func sameContent(a, b policyv1.PolicySpec) bool {
	for _, spec := range []*policyv1.PolicySpec{&a, &b} {
		spec.RemediationAction, spec.RolloutStrategy = "", clusterv1alpha1.RolloutStrategy{}
	}
	return reflect.DeepEqual(generic(a), generic(b))
}

// generic gives a spec as decoded JSON without empty fields, so that specs can be compared.
func generic(spec policyv1.PolicySpec) any {
	var value any
	decoder := json.NewDecoder(strings.NewReader(text(spec)))
	decoder.UseNumber()
	if decoder.Decode(&value) != nil {
		return text(spec)
	}
	return value
}
