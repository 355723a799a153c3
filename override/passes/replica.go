// SPDX-License-Identifier: Apache-2.0

package passes

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/cohort-ocm/cohort/internal/fielderrs"
	"github.com/cohort-ocm/cohort/override"
	"github.com/cohort-ocm/cohort/status"
	"github.com/cohort-ocm/cohort/status/policyv1"
)

// Replica is a replicated policy as the controller observes it in a cluster's namespace. The controller itself has
// written Version, Action, Applied and RolloutStatus. The cluster has reported the others. [ReplicaOf] reads a
// Replica.
type Replica struct {
	// Cluster is the name of the ManagedCluster; it must not be empty.
	Cluster string

	// Version is the version of the root policy that the replica was written from. The controller keeps it in an annotation.
	// Empty means unknown, and counts as an earlier version.
	Version string

	// Action is the spec.remediationAction that the replica was written with, in any letter case. Together with Version it tells
	// whether the rollout has started this cluster.
	Action policyv1.RemediationAction

	// Edited says that the replica's spec was edited by hand since it was written. It is written again, with the action that the
	// rollout wants. [ReplicaOf] sets Edited if the action was changed. A controller that compares the rest with what it wrote sets
	// it, too, also for a replica of another version: otherwise the answer to an edit that the cluster never got may be waited for.
	Edited bool

	// Applied is when the replica got this version with this action. Deadlines run from it, so it changes with the second
	// pass. The zero time means unknown: then the deadline never passes.
	//
	// If you store the time yourself, without [Propagation.Stamp], change it with the action. Otherwise a deadline runs
	// from the first pass.
	Applied time.Time

	// RolloutStatus is its status.rolloutStatus. It is only compared with what it should be.
	RolloutStatus status.RolloutStatus

	// Compliance is its status.compliant, empty where the cluster has not reported.
	Compliance policyv1.ComplianceState

	// Reported identifies this report of the cluster. [Propagation.Stamp] writes it into an annotation, so that a later report
	// can be told from it. It may stay empty if the cluster says which generation it reports on.
	Reported string

	// Generation and LastEvaluatedGeneration are equal if Compliance is about the present content of the replica.
	// Generation changes whenever the spec is written. LastEvaluatedGeneration is the generation that the cluster says
	// it has evaluated. If the cluster does not say, pass equal values, and leave Compliance empty until a report
	// arrives that is younger than Applied.
	Generation, LastEvaluatedGeneration int64

	// ComplianceTime is when Compliance got its present value. The zero time means unknown: then a soak never ends.
	ComplianceTime time.Time

	// Verdict is the validation result of the cluster, read by [status.VerdictOf] from the replicated policy. Nil means that
	// clusters are not validated, and the zero Verdict that there is no verdict yet.
	//
	// A verdict is about Version, in attempt 0, and from after Applied. [status.Judge] applies it: a started cluster that
	// succeeded is done with a good verdict. Until then it is in flight; its RolloutStatus is Progressing, since the policy API has
	// no Validating. A bad verdict makes it Failed. The progressDeadline runs again from the success, and the minSuccessTime from
	// the good verdict.
	Verdict *status.Verdict

	// awaited are the templates that have not answered, pending those that wait for their dependencies, and unfit those that do not
	// comply.
	awaited, pending, unfit []string
	why                     string // the message of the first of unfit, or else of pending
	// outcome is Compliance with templates that only inform counted as compliant; empty where it is the same.
	outcome policyv1.ComplianceState
	late    *late
	// setBack is Reported for a write that sets back an edit by hand of which the cluster gave no sign; empty where it is the same.
	setBack string
	// unknown is the same for a write of another version.
	unknown string
	// isUntimed says that nothing is known of when the replica was written, and of the messages before. It is stamped now.
	isUntimed bool
	// isSilent says that there is no sign that the cluster has got the last write.
	isSilent bool
}

func (r *Replica) take(answers answers) {
	r.Compliance, r.outcome, r.awaited, r.pending, r.unfit, r.why = answers.compliance, answers.outcome, answers.awaited, answers.pending, answers.unfit, answers.why
}

// At gives the replica as it is at that time: an earlier message may begin to count, and the first pass of a cluster that gives no
// sign of it may end ([ReplicaOf]). [Propagate] and Report call it. Call it yourself before you forecast from a replica.
func (r Replica) At(now time.Time) Replica {
	if r.isSilent && !r.Applied.IsZero() && !now.Before(r.Applied.Add(patience)) {
		r.isSilent = false
	}
	if r.late != nil && !now.Before(r.late.from) {
		r.take(r.late.answers)
		r.Reported, r.setBack, r.unknown = r.late.reported, r.late.setBack, r.late.unknown
		r.ComplianceTime = later(r.ComplianceTime, r.late.from) // a soak begins now
		r.late = nil
	}
	return r
}

func (r *Replica) at(now time.Time) *Replica {
	if r.late == nil {
		return r
	}
	next := r.At(now)
	return &next
}

func (r *Replica) is(version string) bool { return r != nil && r.Version == version }

// silentUntil gives when the first pass of a replica ends without a sign that its cluster got it; zero where it has ended.
func (r *Replica) silentUntil(kind kind) time.Time {
	if !kind.two || !r.isSilent || r.Applied.IsZero() {
		return time.Time{}
	}
	return r.Applied.Add(kind.patience)
}

// isReady says whether a cluster that has not started is through the first pass (O26).
func (r *Replica) isReady(version string, kind kind, now time.Time) bool {
	return r.is(version) && !now.Before(r.silentUntil(kind))
}

// carries says whether the replica is of that version with that action.
func (r *Replica) carries(version string, action policyv1.RemediationAction) bool {
	return r.is(version) && strings.EqualFold(string(r.Action), string(action))
}

// compliance gives the cluster's compliance with the present content of the replica, empty until all its templates have answered.
func (r *Replica) compliance() policyv1.ComplianceState {
	if r.Generation != r.LastEvaluatedGeneration || len(r.awaited) > 0 {
		return ""
	}
	return r.Compliance
}

// judged gives the compliance that decides whether a started cluster has succeeded.
func (r *Replica) judged() policyv1.ComplianceState {
	if compliance := r.compliance(); compliance == "" || r.outcome == "" {
		return compliance
	}
	return r.outcome
}

// told gives the compliance for the root's status, also before all templates have answered.
func (r *Replica) told() policyv1.ComplianceState {
	switch {
	case r.Generation != r.LastEvaluatedGeneration:
		return ""
	case r.late != nil && r.late.shown:
		return r.late.compliance
	default:
		return r.Compliance
	}
}

// Report gives the replica's report for the rollout of this version at the time now, as [Propagate] reads it: with its verdict,
// and with ToApply if it has this version and its cluster has not started. It gives false if there is no report: the replica has
// another version, the policy is not bound to its cluster, there is no sign that the cluster got the first pass, or the replica has
// the wrong action in a rollout of one pass. It takes time logarithmic in the bound clusters.
func (r *Replica) Report(resolution *override.Resolution, version string, now time.Time) (status.Report, bool) {
	r = r.at(now)
	bound, is := resolution.Find(r.Cluster)
	if !is {
		return status.Report{}, false
	}
	action := r.action(version, bound.Action, resolution.Undecided())
	return r.boundReport(version, kindOf(resolution), action, now)
}

// action gives the action that a bound cluster has in the end. While a group that may enforce is not visible, an enforced cluster
// stays enforced (O14).
func (r *Replica) action(version string, bound policyv1.RemediationAction, undecided bool) policyv1.RemediationAction {
	if undecided && r.carries(version, policyv1.Enforce) {
		return policyv1.Enforce
	}
	return bound
}

// boundReport gives the report of a bound cluster's replica, if it is about the version. Action is the cluster's action in the end.
func (r *Replica) boundReport(version string, kind kind, action policyv1.RemediationAction, now time.Time) (status.Report, bool) {
	started := r.carries(version, action)
	if !started && !(kind.two && r.isReady(version, kind, now)) {
		return status.Report{}, false
	}
	if (r.Edited || r.isUntimed) && started { // it is written again now, with a new deadline and new answers
		edited := *r
		edited.Applied = now
		edited.take(answers{})
		r = &edited
	}
	return r.report(started, kind, action), true
}

// report gives the report of a replica of the root's version. Action is the cluster's action in the end, and started whether the
// rollout has started it with that action.
func (r *Replica) report(started bool, kind kind, action policyv1.RemediationAction) status.Report {
	said, compliance := r.said(), r.judged()
	if kind.failAtOnce && action != policyv1.Inform && len(r.unfit) > 0 {
		failed := *r // whatever the others still say
		failed.awaited = nil
		said, compliance = failed.said(), policyv1.NonCompliant
	}
	report := FromPolicy(PolicyState{
		Cluster:                 r.Cluster,
		Strategy:                kind.typ,
		FailAtOnce:              kind.failAtOnce,
		RemediationAction:       action,
		Started:                 started,
		Compliance:              compliance,
		Generation:              r.Generation,
		LastEvaluatedGeneration: r.LastEvaluatedGeneration,
		Applied:                 r.Applied,
		ComplianceTime:          r.ComplianceTime,
	})
	if report.Status == status.Progressing || report.Status == status.Failed {
		report.Message = said.message()
	}
	return r.judge(report)
}

// judge gives the report with the verdict on the cluster (O22). A report may lack the time when the replica was applied.
func (r *Replica) judge(report status.Report) status.Report {
	if r.Verdict == nil {
		return report
	}
	var verdicts []status.Verdict
	if verdict := *r.Verdict; !verdict.Time.Before(r.Applied.Truncate(time.Second)) {
		verdict.Cluster = r.Cluster
		verdicts = append(verdicts, verdict)
	}
	return status.Judge([]status.Report{report}, r.Version, verdicts)[0]
}

// shown is how the policy API shows a rollout status: it has no Validating.
func shown(rolloutStatus status.RolloutStatus) status.RolloutStatus {
	if rolloutStatus == status.Validating {
		return status.Progressing
	}
	return rolloutStatus
}

// timedOut is how the policy API shows that a replica's deadline has passed: Failed if the cluster does not comply with the version
// that it has started with, and TimeOut if its compliance is unknown.
func (r *Replica) timedOut(version string, action policyv1.RemediationAction) status.RolloutStatus {
	if r.carries(version, action) && r.judged() == policyv1.NonCompliant {
		return status.Failed
	}
	return status.TimeOut
}

// byCluster sorts the replicas, as they are now, by the names of their clusters. Each must have a name, and none may come twice.
func byCluster(replicas []Replica, now time.Time) ([]*Replica, field.ErrorList) {
	var errs field.ErrorList
	ordered := make([]*Replica, 0, len(replicas))
	for i := range replicas {
		if replicas[i].Cluster == "" {
			errs = append(errs, field.Required(field.NewPath("replicas").Index(i).Child("cluster"), "must be the name of a cluster"))
			continue
		}
		ordered = append(ordered, replicas[i].at(now))
	}
	compare := func(a, b *Replica) int { return cmp.Compare(a.Cluster, b.Cluster) }
	slices.SortStableFunc(ordered, compare)
	return ordered, append(errs, fielderrs.Duplicates(ordered, compare, func(replica *Replica) *field.Error {
		return field.Duplicate(field.NewPath("replicas").Key(replica.Cluster), replica.Cluster)
	})...)
}
