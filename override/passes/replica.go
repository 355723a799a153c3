package passes

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/validation/field"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"

	"github.com/cohort-ocm/cohort/internal/fielderrs"
	"github.com/cohort-ocm/cohort/status"
	"github.com/cohort-ocm/cohort/status/policyv1"
)

// Replica is a replicated policy as the controller observes it in a cluster's namespace. Version, Action, WriteTime
// and RolloutStatus are what the controller has written there itself. The others are what the cluster has reported.
// [FromPolicy] reads it.
type Replica struct {
	// Cluster is the name of the ManagedCluster; it must not be empty.
	Cluster string

	// Version is the root policy's version that it was written from. The controller keeps it in an annotation. Empty
	// means that it is not known, and counts as an earlier version.
	Version string

	// Action is its spec.remediationAction, in any letter case. With Version it tells whether the rollout
	// has started this cluster, so nobody else may change it.
	Action policyv1.RemediationAction

	// WriteTime is when it got this version with this action. Deadlines run from it, so the second pass moves it. The
	// zero time means unknown: the deadline never passes.
	//
	// Whoever notes the time otherwise than by [Propagation.Stamp] must move it with the action, or else a deadline runs
	// from the first pass.
	WriteTime time.Time

	// RolloutStatus is its status.rolloutStatus. It is only compared with what it should be.
	RolloutStatus status.RolloutStatus

	// Compliance is its status.compliant, empty where the cluster has not reported.
	Compliance policyv1.ComplianceState

	// Reported tells this report of the cluster from others. [Propagation.Stamp] notes it, so that the next report is known
	// to be another one. It may stay empty where the cluster says of which generation it speaks.
	Reported string

	// Generation and LastEvaluatedGeneration are equal where Compliance is about what the replica carries now.
	// Generation moves whenever the spec is written. LastEvaluatedGeneration is what the cluster says that it has
	// evaluated. Where the cluster does not say, pass them equal, and Compliance empty until a report arrives that is
	// younger than WriteTime.
	Generation, LastEvaluatedGeneration int64

	// ComplianceTime is when Compliance became what it is. The zero time means unknown: a soak never ends.
	ComplianceTime time.Time
}

// is says whether the replica is of that version.
func (r *Replica) is(version string) bool { return r != nil && r.Version == version }

// carries says whether the replica is of that version with that action.
func (r *Replica) carries(version string, action policyv1.RemediationAction) bool {
	return r.is(version) && strings.EqualFold(string(r.Action), string(action))
}

// compliance is what the cluster says of what the replica carries now, empty where it has not said.
func (r *Replica) compliance() policyv1.ComplianceState {
	if r.Generation != r.LastEvaluatedGeneration {
		return ""
	}
	return r.Compliance
}

// report is what the replica, which is of the root's version, says of a cluster that is to have the
// action, with which the rollout has started it or not.
func (r *Replica) report(started bool, strategy clusterv1alpha1.RolloutType, action policyv1.RemediationAction) status.Report {
	return status.FromPolicy(status.PolicyState{
		Cluster:                 r.Cluster,
		Strategy:                strategy,
		RemediationAction:       action,
		Selected:                started,
		Compliance:              r.compliance(),
		Generation:              r.Generation,
		LastEvaluatedGeneration: r.LastEvaluatedGeneration,
		StartTime:               r.WriteTime,
		ComplianceTime:          r.ComplianceTime,
	})
}

// byCluster orders the replicas by the names of their clusters, of which each must have one and only one.
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
