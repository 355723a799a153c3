// SPDX-License-Identifier: Apache-2.0

package passes

import (
	"maps"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/cohort-ocm/cohort/status"
	"github.com/cohort-ocm/cohort/status/policyv1"
)

// annotationReported has the templates of a replicated policy as they were before it was written, and their last messages.
const annotationReported = "cohort.open-cluster-management.io/reported"

// Stamp sets the annotations of a cluster's replicated policy for the write that it is about to get: this version with the
// cluster's action, the time, and the cluster's reports until now. Call it right before the write of version and action, with the
// time of that write. The annotations are cohort.open-cluster-management.io/version, applied and reported; [ReplicaOf]
// reads them. A policy that already has this version with this action keeps its annotations, unless its [Replica] was given
// without a version.
//
// Write with the resourceVersion of the policy that was read, so that no report comes in between.
func (p *Propagation) Stamp(object metav1.Object, cluster Cluster, now time.Time) {
	stamp := stampOf(p.version, cluster.Action)
	noted := status.StampOf(object)
	if cluster.isOther || cluster.edited { // it may have this version with other values of hub templates
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

// stampOf makes one text of a version and an action, since both have one time.
func stampOf(version string, action policyv1.RemediationAction) string {
	return version + " " + string(action)
}

// ReplicaOf reads a replicated policy that was stamped ([Propagation.Stamp]), with its templates, and with its status as read from
// the same object. The policy's namespace names the cluster.
//
// A replicated policy does not say which of its contents a report is about. Its stamp has the templates before the write,
// and the last message of each. A template owes an answer to the write if the write changed the template or its action. The
// answer is a message other than the last one, and not from before the write. If a template owes no answer, its present message
// counts.
//
// A ConfigurationPolicy and an OperatorPolicy report on each content, so their answers are waited for. Other controllers report only
// what is new: a Gatekeeper constraint without violations says nothing about another action. The clocks of hub and cluster may differ,
// too. Three kinds of messages therefore count five minutes after the write and after the cluster last wrote the status: a message
// from before the write, an unchanged one of a template that need not report again, and one of a template that is Pending and ignores
// that. [Propagation.Explain] names these templates. The policy's managed fields tell when the cluster wrote the status. Without them
// the time of its newest message counts, so the clocks have to agree.
//
// The text of these two may change, and their object on the cluster not, as where a text spells a default of the CRD out. Such a change
// brings no message, so none is waited for; the earlier message counts after the five minutes.
//
// If such a template takes longer than five minutes to notice a bad version, more clusters are enforced than exposure.Of says. Give
// the strategy a minSuccessTime that is longer: it begins when the message counts, and no cluster starts before it is over.
//
// A report that the cluster makes while the write is under way is about the content before. In two passes a cluster is therefore
// enforced only once something in the status is new since the write of the first pass. OCM's status sync writes with the
// resourceVersion that it has read, so the hub refuses a status from a cluster that has not got the write.
//
// Compliance is computed from the templates ([policyv1.Aggregate]); one that has not answered is unknown. The policy's own
// status.compliant is not read: it stays unchanged when a template is added. ComplianceTime is the time of the newest message.
// A policy without a stamp counts as an earlier version.
func ReplicaOf(policy *policyv1.Policy, st *policyv1.PolicyStatus) Replica {
	replica := Replica{
		Cluster: policy.Namespace, Action: policy.Spec.RemediationAction,
		RolloutStatus: status.RolloutStatus(st.RolloutStatus),
	}
	stamp := status.StampOf(policy)
	i := strings.LastIndexByte(stamp.Version, ' ')
	if i >= 0 {
		replica.Version, replica.Applied = stamp.Version[:i], stamp.Applied
		if noted := policyv1.RemediationAction(stamp.Version[i+1:]); !strings.EqualFold(string(noted), string(replica.Action)) {
			replica.Action, replica.Edited = noted, true
		}
	}
	parts := templatesOf(policy)
	noted := notesOf(i >= 0, policy.Annotations, st)
	said := messages(parts, st)
	var now answers
	now, replica.late, replica.Reported = read(parts, said, st, noted, stamp.Applied, heard(policy, st))
	replica.isUntimed = noted.isUntimed(stamp.Applied)
	replica.isSilent = isSilent(parts, said, st, noted)
	if i >= 0 && isUnheard(policy) {
		written := *policy
		written.Spec.RemediationAction = replica.Action
		end := ""
		if replica.setBack, end = setBackNotes(parts, templatesOf(&written), said, st, noted, stamp.Applied); replica.late != nil {
			replica.late.setBack = end
		}
		if replica.unknown, end = unknownNotes(parts, said, st, noted, stamp.Applied); replica.late != nil {
			replica.late.unknown = end
		}
	}
	if replica.take(now); replica.Compliance != "" || replica.late != nil {
		replica.ComplianceTime = reportTime(st)
	}
	return replica
}
