package status

import (
	"strings"
	"time"

	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"
)

// PolicyState is what a controller knows of a policy on one cluster. The strings are spelled as in the
// objects.
type PolicyState struct {
	// Cluster is the name of the ManagedCluster.
	Cluster string

	// Strategy is the type of the root policy's rollout strategy; empty means All.
	Strategy clusterv1alpha1.RolloutType

	// RemediationAction is the one that the policy is to have on this cluster in the end, in any letter case:
	// the root policy's, or enforce by an override. It is not that of the replicated policy, which
	// a rollout may still hold at inform.
	RemediationAction string

	// Selected says that the rollout started this version of the policy on the cluster. It matters for
	// a progressive strategy only.
	Selected bool

	// Compliance is the replicated policy's status.compliant: Compliant, NonCompliant, Pending, or empty
	// where the cluster has not reported.
	Compliance string

	// Generation and LastEvaluatedGeneration are of the policy template on the managed cluster. If they
	// differ, Compliance is about an earlier version. For several templates, take one whose generations
	// differ, if there is one.
	Generation, LastEvaluatedGeneration int64

	// StartTime is when the cluster got this version of the policy with the root policy's action.
	StartTime time.Time

	// ComplianceTime is when Compliance became what it is.
	ComplianceTime time.Time
}

// FromPolicy reads the report of a policy on one cluster (S3). In this order:
//
//	progressive strategy, action not inform, not selected            ToApply
//	action inform, any compliance reported                           Succeeded
//	action inform, nothing reported                                  Progressing
//	LastEvaluatedGeneration is Generation, Compliant                 Succeeded
//	LastEvaluatedGeneration is Generation, NonCompliant              Failed
//	anything else                                                    Progressing
//
// A policy that informs has done what it should once it has reported, whatever it reported. One without
// an action may enforce, since its templates decide, so a progressive strategy holds it back as it
// does one that enforces. TimeOut is the rollout's to say (R4), and Skip is not used.
//
// LastTransitionTime is StartTime for Progressing; for Succeeded and Failed it is ComplianceTime or
// StartTime, whichever is later, so that a soak never counts time from before the start, and the zero
// time where ComplianceTime is unknown, or StartTime under a strategy that waits for the start; for
// ToApply it is the zero time.
func FromPolicy(p PolicyState) Report {
	report := Report{Cluster: p.Cluster, Status: policy(p)}
	switch report.Status {
	case Progressing:
		report.LastTransitionTime = p.StartTime
	case Succeeded, Failed:
		report.LastTransitionTime = p.settledSince()
	}
	return report
}

// settledSince is the time since which the cluster has complied, or not, with what was started there.
func (p PolicyState) settledSince() time.Time {
	unknownStart := p.StartTime.IsZero() && p.progressive() && !p.informs()
	switch {
	case p.ComplianceTime.IsZero() || unknownStart:
		return time.Time{}
	case p.StartTime.After(p.ComplianceTime):
		return p.StartTime
	default:
		return p.ComplianceTime
	}
}

func (p PolicyState) informs() bool { return strings.EqualFold(p.RemediationAction, "inform") }

func (p PolicyState) progressive() bool {
	return p.Strategy != "" && p.Strategy != clusterv1alpha1.All
}

func policy(p PolicyState) RolloutStatus {
	informs, progressive := p.informs(), p.progressive()
	evaluated := p.Generation == p.LastEvaluatedGeneration
	switch {
	case progressive && !informs && !p.Selected:
		return ToApply
	case informs && p.Compliance != "":
		return Succeeded
	case informs:
		return Progressing
	case evaluated && p.Compliance == "Compliant":
		return Succeeded
	case evaluated && p.Compliance == "NonCompliant":
		return Failed
	default:
		return Progressing
	}
}
