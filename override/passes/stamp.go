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

// Stamp notes on a cluster's replicated policy what it is about to get: this version with the cluster's action, the time,
// and what the cluster has reported until now. Call it right before the write that carries version and action, with the
// time of that write. The annotations are cohort.open-cluster-management.io/version, applied and reported; [ReplicaOf]
// reads them. A policy that already has this version with this action keeps its annotations, unless its [Replica] was given
// without a version.
//
// Write with the resourceVersion of the policy that was read, so that no report comes in between.
func (p *Propagation) Stamp(object metav1.Object, cluster Cluster, now time.Time) {
	stamp := stampOf(p.version, cluster.Action)
	noted := status.StampOf(object)
	if cluster.isOther { // it may have this version with what hub templates resolved to before
		noted = status.Stamp{}
	}
	if noted.Version != stamp {
		annotations := maps.Clone(object.GetAnnotations())
		if annotations == nil {
			annotations = make(map[string]string, 3)
		}
		annotations[annotationReported] = cluster.reported
		object.SetAnnotations(annotations)
	}
	noted.NoteOn(object, stamp, 0, now)
}

// stampOf makes one text of a version and an action, as both have one time.
func stampOf(version string, action policyv1.RemediationAction) string {
	return version + " " + string(action)
}

// ReplicaOf reads a replicated policy that was stamped ([Propagation.Stamp]), with its status as read from the same
// object. The policy's namespace names the cluster.
//
// A replicated policy does not say which of its contents a report is about, and the clocks of hub and cluster may differ.
// So a report counts if it differs from the one that was there when the policy was written. A cluster that has nothing new
// to say after the write stays Progressing until its progress deadline. A report that was under way at that moment counts,
// too: set a minSuccessTime to give the cluster time to correct it.
//
// ComplianceTime is the time of the newest message of a template. A policy that was never stamped counts as an earlier
// version.
func ReplicaOf(policy *policyv1.Policy, st *policyv1.PolicyStatus) Replica {
	r := Replica{
		Cluster: policy.Namespace, Action: policy.Spec.RemediationAction,
		RolloutStatus: status.RolloutStatus(st.RolloutStatus), Reported: markOf(st),
	}
	stamp := status.StampOf(policy)
	if i := strings.LastIndexByte(stamp.Version, ' '); i >= 0 {
		r.Version, r.Applied = stamp.Version[:i], stamp.Applied
		if !strings.EqualFold(stamp.Version, stampOf(r.Version, r.Action)) {
			r.Applied = time.Time{} // another writer has set the action
		}
	}
	if r.Reported != policy.Annotations[annotationReported] {
		r.Compliance, r.ComplianceTime = st.ComplianceState, reportTime(st)
	}
	return r
}

// markOf gives a text that tells one report from another, empty if there is none. Each message of a template has an
// event with a name of its own.
func markOf(st *policyv1.PolicyStatus) string {
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

// reportTime gives the time of the last message of a template.
func reportTime(st *policyv1.PolicyStatus) (last time.Time) {
	for i := range st.Details {
		if history := st.Details[i].History; len(history) > 0 && history[0].LastTimestamp.After(last) {
			last = history[0].LastTimestamp.Time
		}
	}
	return last
}
