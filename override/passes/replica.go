package passes

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/validation/field"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"

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

	// Version is the version of the root policy that it was written from. The controller keeps it in an annotation.
	// Empty means unknown, and counts as an earlier version.
	Version string

	// Action is its spec.remediationAction, in any letter case. Together with Version it tells whether the rollout has
	// started this cluster, so nobody else may change it.
	Action policyv1.RemediationAction

	// Applied is when it got this version with this action. Deadlines run from it, so it changes with the second
	// pass. The zero time means unknown: then the deadline never passes.
	//
	// If you note the time otherwise than by [Propagation.Stamp], change it with the action. Otherwise a deadline runs
	// from the first pass.
	Applied time.Time

	// RolloutStatus is its status.rolloutStatus. It is only compared with what it should be.
	RolloutStatus status.RolloutStatus

	// Compliance is its status.compliant, empty where the cluster has not reported.
	Compliance policyv1.ComplianceState

	// Reported tells this report of the cluster from others. [Propagation.Stamp] notes it, so that a later report can be
	// told from it. It may stay empty if the cluster says which generation it reports on.
	Reported string

	// Generation and LastEvaluatedGeneration are equal if Compliance is about the present content of the replica.
	// Generation changes whenever the spec is written. LastEvaluatedGeneration is the generation that the cluster says
	// it has evaluated. If the cluster does not say, pass equal values, and leave Compliance empty until a report
	// arrives that is younger than Applied.
	Generation, LastEvaluatedGeneration int64

	// ComplianceTime is when Compliance became what it is. The zero time means unknown: then a soak never ends.
	ComplianceTime time.Time

	// Verdict is what somebody says of the cluster, read by [status.VerdictOf] from the replicated policy. Nil means that clusters
	// are not validated, and the zero Verdict that nobody has said anything yet.
	//
	// A verdict is about Version, in attempt 0, and from after Applied. [status.Judge] says what follows: a started cluster that
	// succeeded is done with a yes. Until then it is in flight. Its RolloutStatus is Progressing, since the policy API has no Validating.
	// A no makes it Failed. The progressDeadline begins anew with the success, and the minSuccessTime runs from the yes.
	Verdict *status.Verdict
}

// is says whether the replica is of that version.
func (r *Replica) is(version string) bool { return r != nil && r.Version == version }

// carries says whether the replica is of that version with that action.
func (r *Replica) carries(version string, action policyv1.RemediationAction) bool {
	return r.is(version) && strings.EqualFold(string(r.Action), string(action))
}

// compliance gives the cluster's compliance with the present content of the replica, empty if it has not reported.
func (r *Replica) compliance() policyv1.ComplianceState {
	if r.Generation != r.LastEvaluatedGeneration {
		return ""
	}
	return r.Compliance
}

// Report gives what the replica says to the rollout of this version, as [Propagate] reads it: with the verdict on it, and with
// ToApply where it has this version and its cluster has not started. It gives false where the replica says nothing: it is of
// another version, the policy is not bound to its cluster, or it has the wrong action in a rollout of one pass. It takes time
// logarithmic in the bound clusters.
func (r *Replica) Report(resolution *override.Resolution, version string) (status.Report, bool) {
	bound, is := resolution.Find(r.Cluster)
	if !is {
		return status.Report{}, false
	}
	action := r.action(version, bound.Action, resolution.Undecided())
	return r.boundReport(version, typeOf(resolution), action)
}

// action gives the action that a bound cluster has in the end. Where a group that may enforce is not visible, who enforces goes
// on (O14).
func (r *Replica) action(version string, bound policyv1.RemediationAction, undecided bool) policyv1.RemediationAction {
	if undecided && r.carries(version, policyv1.Enforce) {
		return policyv1.Enforce
	}
	return bound
}

// boundReport gives the report of a bound cluster's replica, if it is about the version. Action is what the cluster has in the end.
func (r *Replica) boundReport(version string, strategy clusterv1alpha1.RolloutType, action policyv1.RemediationAction) (status.Report, bool) {
	started := r.carries(version, action)
	if !started && !(inTwoPasses(strategy) && r.is(version)) {
		return status.Report{}, false
	}
	return r.report(started, strategy, action), true
}

// report gives the report of a replica of the root's version. Action is what the cluster has in the end, and started
// whether the rollout has started it with that.
func (r *Replica) report(started bool, strategy clusterv1alpha1.RolloutType, action policyv1.RemediationAction) status.Report {
	return r.judge(FromPolicy(PolicyState{
		Cluster:                 r.Cluster,
		Strategy:                strategy,
		RemediationAction:       action,
		Started:                 started,
		Compliance:              r.compliance(),
		Generation:              r.Generation,
		LastEvaluatedGeneration: r.LastEvaluatedGeneration,
		Applied:                 r.Applied,
		ComplianceTime:          r.ComplianceTime,
	}))
}

// judge gives the report with what is said of the cluster (O22). A report may lack the time when the replica was applied.
func (r *Replica) judge(report status.Report) status.Report {
	if r.Verdict == nil {
		return report
	}
	var verdicts []status.Verdict
	if v := *r.Verdict; !v.Time.Before(r.Applied.Truncate(time.Second)) {
		v.Cluster = r.Cluster
		verdicts = append(verdicts, v)
	}
	return status.Judge([]status.Report{report}, r.Version, verdicts)[0]
}

// shown is how the policy API shows a rollout status: it has no Validating.
func shown(s status.RolloutStatus) status.RolloutStatus {
	if s == status.Validating {
		return status.Progressing
	}
	return s
}

// byCluster sorts the replicas by the names of their clusters. Each must have a name, and none may come twice.
func byCluster(replicas []Replica) ([]*Replica, field.ErrorList) {
	var errs field.ErrorList
	ordered := make([]*Replica, 0, len(replicas))
	for i := range replicas {
		if replicas[i].Cluster == "" {
			errs = append(errs, field.Required(field.NewPath("replicas").Index(i).Child("cluster"), "must be the name of a cluster"))
			continue
		}
		ordered = append(ordered, &replicas[i])
	}
	compare := func(a, b *Replica) int { return cmp.Compare(a.Cluster, b.Cluster) }
	slices.SortStableFunc(ordered, compare)
	return ordered, append(errs, fielderrs.Duplicates(ordered, compare, func(r *Replica) *field.Error {
		return field.Duplicate(field.NewPath("replicas").Key(r.Cluster), r.Cluster)
	})...)
}
