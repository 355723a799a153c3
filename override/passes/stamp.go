package passes

import (
	"encoding/hex"
	"hash/fnv"
	"maps"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/cohort-ocm/cohort/status"
	"github.com/cohort-ocm/cohort/status/policyv1"
)

// annotationReported names what the cluster had reported when its replicated policy was written.
const annotationReported = "cohort.open-cluster-management.io/reported"

// Stamp notes on a cluster's replicated policy what it is about to get: this version with the cluster's action, when, and
// what the cluster has reported until now. Call it right before the write that carries them, with the time of the write.
// [FromPolicy] reads it. All of it outlives the controller there, in the annotations
// cohort.open-cluster-management.io/version, applied and reported. A policy that has this version with this action already
// keeps what is noted.
//
// Write with the resourceVersion of the policy that was read: then nothing is reported in between.
func (p *Propagation) Stamp(object metav1.Object, cluster Cluster, now time.Time) {
	stamp := stampOf(p.version, cluster.Action)
	if has, _, _ := status.StampOf(object); has != stamp {
		annotations := maps.Clone(object.GetAnnotations())
		if annotations == nil {
			annotations = make(map[string]string, 3)
		}
		annotations[annotationReported] = cluster.reported
		object.SetAnnotations(annotations)
	}
	status.Stamp(object, stamp, now)
}

// stampOf is one text of a version and an action, as the time of both is noted together.
func stampOf(version string, action policyv1.RemediationAction) string {
	return version + " " + string(action)
}

// FromPolicy reads a replicated policy that was stamped ([Propagation.Stamp]), with its status as it was read from the same
// object. The cluster is that of the policy's namespace.
//
// A replicated policy does not say of which of its contents its cluster speaks, and the clocks of hub and cluster need not
// agree. So a report counts if it is another one than that which was there when the policy was written. A report that was
// under way at that moment counts, too: a minSuccessTime gives the cluster time to say better.
//
// ComplianceTime is the time of the newest message of a template. A policy that was never stamped is of an earlier version.
func FromPolicy(policy *policyv1.Policy, st *status.PolicyStatus) Replica {
	r := Replica{
		Cluster: policy.Namespace, Action: policy.Spec.RemediationAction,
		RolloutStatus: st.RolloutStatus, Reported: markOf(st),
	}
	stamp, _, written := status.StampOf(policy)
	if i := strings.LastIndexByte(stamp, ' '); i >= 0 {
		r.Version, r.WriteTime = stamp[:i], written
		if !strings.EqualFold(stamp, stampOf(r.Version, r.Action)) {
			r.WriteTime = time.Time{} // somebody else has set the action
		}
	}
	if r.Reported != policy.Annotations[annotationReported] {
		r.Compliance, r.ComplianceTime = st.ComplianceState, reportTime(st)
	}
	return r
}

// markOf tells one report from another, empty where there is none. Each message of a template has an event with a name
// of its own.
func markOf(st *status.PolicyStatus) string {
	if st.ComplianceState == "" {
		return ""
	}
	sum := fnv.New64a()
	note := func(text string) { sum.Write([]byte(text)); sum.Write([]byte{0}) }
	note(string(st.ComplianceState))
	for i := range st.Details {
		note(st.Details[i].TemplateMeta.Name)
		if history := st.Details[i].History; len(history) > 0 {
			note(history[0].EventName)
			note(history[0].LastTimestamp.UTC().Format(time.RFC3339))
			note(history[0].Message)
		}
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// reportTime is when the last template said something.
func reportTime(st *status.PolicyStatus) (last time.Time) {
	for i := range st.Details {
		if history := st.Details[i].History; len(history) > 0 && history[0].LastTimestamp.After(last) {
			last = history[0].LastTimestamp.Time
		}
	}
	return last
}
