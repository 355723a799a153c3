package passes

import (
	"cmp"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/cohort-ocm/cohort/override"
	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/status"
	"github.com/cohort-ocm/cohort/status/policyv1"
)

// Propagation says what each replicated policy has to be, and why. The slices are the caller's.
type Propagation struct {
	// Clusters are those that the policy is bound to, by name.
	Clusters []Cluster

	// Delete are the names of the clusters whose replicated policy has to be deleted, in order: the policy is not
	// bound there.
	Delete []string

	// Start are the names of the clusters that start now: they get this version with their action. In the order in
	// which the rollout starts them.
	Start []string

	// TimedOut are the names of the clusters that time out now: their progress deadline has passed, and their replicas
	// do not say so yet. In order.
	TimedOut []string

	// Breach says which budget more clusters failed than it allows, so that nothing starts; nil if none.
	Breach *rollout.Breach

	// Warnings say what the strategy, the options or the groups do not do as they stand.
	Warnings []rollout.Warning

	// RecheckAfter is the time after which something changes by time alone. 0 if nothing does.
	RecheckAfter time.Duration

	resolution *override.Resolution
	course
	result *rollout.Result
	kept   []Cluster // not bound and not to be deleted, by name

	// While it is being made:
	unbound []*Replica
	reports []status.Report
}

// Cluster is what a bound cluster's replicated policy has to be.
type Cluster struct {
	// Name is that of the ManagedCluster.
	Name string

	// Action is for spec.remediationAction.
	Action policyv1.RemediationAction

	// RolloutStatus is for status.rolloutStatus.
	RolloutStatus status.RolloutStatus

	// Verb says what of it has to be written.
	Verb Verb

	// Compliance is what the cluster says of what its replica carries, and keeps carrying. Empty where it has not
	// said, or where the replica is to be written anew.
	Compliance policyv1.ComplianceState

	replica *Replica // while it is being made; nil where there is none
}

// Verb is what a client does to a replicated policy.
type Verb string

const (
	// VerbNone says that the replicated policy is as it has to be.
	VerbNone Verb = ""
	// VerbCreate says that there is none. Create it with its version, and set its status.
	VerbCreate Verb = "create"
	// VerbUpdate says that it is of another version or has another action. Update its spec and version, then set its
	// status.
	VerbUpdate Verb = "update"
	// VerbUpdateStatus says that only its rolloutStatus differs.
	VerbUpdateStatus Verb = "updateStatus"
)

// Find gives what the bound cluster of that name has to have, in logarithmic time.
func (p *Propagation) Find(name string) (Cluster, bool) {
	i, found := slices.BinarySearchFunc(p.Clusters, name, func(c Cluster, name string) int { return cmp.Compare(c.Name, name) })
	if !found {
		return Cluster{}, false
	}
	return p.Clusters[i], true
}

// Writes says whether any replicated policy has to be written or deleted.
func (p *Propagation) Writes() bool {
	return len(p.Delete) > 0 || slices.ContainsFunc(p.Clusters, func(c Cluster) bool { return c.Verb != VerbNone })
}

// Held yields the clusters that wait (ToApply), by name, each with the reason.
func (p *Propagation) Held() iter.Seq2[Cluster, Hold] {
	return func(yield func(Cluster, Hold) bool) {
		for _, c := range p.Clusters {
			if c.RolloutStatus == status.ToApply && !yield(c, p.hold(c.Name)) {
				return
			}
		}
	}
}

// hold is the reason of a cluster that waits.
func (p *Propagation) hold(cluster string) Hold {
	disposition, hold, _ := p.result.Find(cluster)
	if disposition == rollout.DispositionStarting {
		return Hold{FirstPass: true}
	}
	return Hold{Rollout: hold}
}

// Hold is why a cluster waits.
type Hold struct {
	// FirstPass says that the rollout would start the cluster, which first gets this version with inform.
	FirstPass bool
	// Rollout is the rollout's reason, where it is not the first pass.
	Rollout rollout.Hold
}

// String is a sentence without its full stop, fit for the message of a condition or an event.
func (h Hold) String() string {
	if h.FirstPass {
		return "gets this version with inform first"
	}
	return h.Rollout.String()
}

// String lists the clusters and what has to be deleted: "a: enforce, Progressing (update); b: inform, ToApply; delete
// c". It is empty for a policy that is bound nowhere and was.
func (p *Propagation) String() string {
	var parts []string
	for _, c := range p.Clusters {
		parts = append(parts, c.String())
	}
	if len(p.Delete) > 0 {
		parts = append(parts, "delete "+strings.Join(p.Delete, " "))
	}
	return strings.Join(parts, "; ")
}

// String is "a: enforce, Progressing (update)", without what is in brackets where nothing has to be written.
func (c Cluster) String() string {
	s := fmt.Sprintf("%s: %s, %s", c.Name, cmp.Or(string(c.Action), "unset"), c.RolloutStatus)
	if c.Verb != VerbNone {
		s += fmt.Sprintf(" (%s)", c.Verb)
	}
	return s
}
