// SPDX-License-Identifier: Apache-2.0

package passes

import (
	"strings"
	"time"

	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"

	"github.com/cohort-ocm/cohort/status"
	"github.com/cohort-ocm/cohort/status/policyv1"
)

// PolicyState is what a controller knows about a policy on one cluster.
type PolicyState struct {
	// Cluster is the name of the ManagedCluster.
	Cluster string

	// Strategy is the type of the root policy's rollout strategy; empty means All.
	Strategy clusterv1alpha1.RolloutType

	// RemediationAction is the action that the policy has on this cluster in the end, in any letter case: the root
	// policy's, or enforce by an override. It is not the replicated policy's action, which the rollout may keep at inform.
	RemediationAction policyv1.RemediationAction

	// Started says that the rollout started this version of the policy on the cluster. It matters only for a
	// progressive strategy.
	Started bool

	// Compliance is the replicated policy's status.compliant, empty where the cluster has not reported.
	Compliance policyv1.ComplianceState

	// Generation and LastEvaluatedGeneration are of the policy template on the managed cluster. If they differ,
	// Compliance is about an earlier version. For several templates, take one with differing generations, if there is one.
	Generation, LastEvaluatedGeneration int64

	// Applied is when the cluster got this version of the policy with the root policy's action.
	Applied time.Time

	// ComplianceTime is when Compliance got its present value.
	ComplianceTime time.Time

	// FailAtOnce makes a policy that enforces Failed as soon as its cluster does not comply. Otherwise it is Progressing, and the
	// progress deadline decides.
	FailAtOnce bool
}

// FromPolicy reads the report of a policy on one cluster. The first line that applies decides:
//
//	progressive strategy, action not inform, not started             ToApply
//	LastEvaluatedGeneration is not Generation, or nothing reported   Progressing
//	action inform                                                    Succeeded
//	Compliant                                                        Succeeded
//	NonCompliant, FailAtOnce                                         Failed
//	anything else                                                    Progressing
//
// A policy that informs is done once it has reported on this version, whatever it reported. A policy without an action
// may enforce, since its templates decide: a progressive strategy treats it like one that enforces. The rollout
// decides about TimeOut, and Skip is not used.
//
// Applied is the state's. LastTransitionTime is Applied, too, for Progressing. For Succeeded and Failed it is the later of
// Applied and ComplianceTime, so that a soak never counts time from before the start. ToApply has no times.
//
// A report also has no times where a soak could end too early: if it is Succeeded without a ComplianceTime, or if a
// progressive strategy enforces and Applied is unknown, since the cluster may have complied before the start. The soak never
// ends then, and package rollout warns of that.
func FromPolicy(state PolicyState) status.Report {
	report := status.Report{Cluster: state.Cluster, Status: state.status()}
	unknownStart := state.Applied.IsZero() && state.waitsForStart()
	switch {
	case report.Status == status.ToApply, unknownStart, report.Status == status.Succeeded && state.ComplianceTime.IsZero():
	case report.Status == status.Progressing:
		report.Applied, report.LastTransitionTime = state.Applied, state.Applied
	default:
		report.Applied, report.LastTransitionTime = state.Applied, later(state.Applied, state.ComplianceTime)
	}
	return report
}

func (p PolicyState) informs() bool {
	return strings.EqualFold(string(p.RemediationAction), string(policyv1.Inform))
}

// waitsForStart says whether the rollout decides when the policy is enforced.
func (p PolicyState) waitsForStart() bool {
	return p.Strategy != "" && p.Strategy != clusterv1alpha1.All && !p.informs()
}

func (p PolicyState) status() status.RolloutStatus {
	switch {
	case p.waitsForStart() && !p.Started:
		return status.ToApply
	case p.Generation != p.LastEvaluatedGeneration || p.Compliance == "":
		return status.Progressing
	case p.informs() || p.Compliance == policyv1.Compliant:
		return status.Succeeded
	case p.FailAtOnce && p.Compliance == policyv1.NonCompliant:
		return status.Failed
	default:
		return status.Progressing
	}
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
