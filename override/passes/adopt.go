package passes

import (
	"encoding/json"
	"maps"
	"reflect"
	"strings"
	"time"

	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"

	"github.com/cohort-ocm/cohort/status"
	"github.com/cohort-ocm/cohort/status/policyv1"
)

// Adopt takes over a replicated policy that a controller wrote that made no stamps, such as OCM's propagator. Where the policy has
// no stamp and its content is the wanted one, whatever the action of both, it has the version already: Adopt gives a copy with
// the stamp that says so. The stamp's time is when the policy got its spec, as far as it tells. Any other policy is given back as
// it is.
//
// Wanted is what would be written for this cluster: with the dependencies that dependency.Replicate gives, and with what hub templates
// resolve to. Call Adopt for each replica that is read, before [ReplicaOf]. Otherwise all replicas of a hub count as outdated on
// the day of the switch: each is written again for its annotations, about which no cluster has anything to say, and the root loses
// its compliance. A replica that is settled needs no write.
//
// Somebody may have been in the middle of an edit. A replica with the content before the edit is of another version, as it should be. One
// with the content after it may not have been answered yet: a report from before its spec was written counts five minutes
// later, and meanwhile the root's status shows it.
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
	stamp := status.Stamp{Version: stampOf(version, action), Applied: specWritten(replica)}
	stamp.NoteOn(&adopted, stamp.Version, 0, stamp.Applied)
	return &adopted
}

// specWritten gives when a policy got its spec: its creation where that is its first, and else the newest time of managed fields that
// have the spec; zero where these are not known.
func specWritten(policy *policyv1.Policy) time.Time {
	if policy.Generation == 1 {
		return policy.CreationTimestamp.Time
	}
	return written(policy.ManagedFields, "", "f:spec")
}

// sameContent says whether two specs differ in nothing but what the rollout sets.
func sameContent(a, b policyv1.PolicySpec) bool {
	for _, spec := range []*policyv1.PolicySpec{&a, &b} {
		spec.RemediationAction, spec.RolloutStrategy = "", clusterv1alpha1.RolloutStrategy{}
	}
	return reflect.DeepEqual(generic(a), generic(b))
}

// generic is a spec as JSON has it, without what is empty: objects that differ in nothing else are the same.
func generic(spec policyv1.PolicySpec) any {
	var value any
	decoder := json.NewDecoder(strings.NewReader(text(spec)))
	decoder.UseNumber()
	if decoder.Decode(&value) != nil {
		return text(spec)
	}
	return value
}
