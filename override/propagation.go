package override

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/status"
)

// Propagation says what each replicated policy has to be, and what the root policy's status comes to.
type Propagation struct {
	// Clusters are those that the policy is bound to, by name.
	Clusters []Propagated

	// Delete are the names of the clusters whose replicated policy has to be deleted, in order: the policy
	// is not bound there.
	Delete []string

	// Status is the root policy's with what Propagate sets, and StatusChanged whether it has to be written.
	Status        status.PolicyStatus
	StatusChanged bool

	// Rollout is the plan of the second pass, which tells why clusters are held at inform, and when time alone
	// will change something (RecheckAfter). Its Start are the clusters that may be enforced; of them those
	// whose replicated policy is not yet of this version are given it first. For a policy propagated in one
	// pass it is the plan of All.
	Rollout *rollout.Result
}

// Propagated is what a bound cluster's replicated policy has to be.
type Propagated struct {
	// Name is that of the ManagedCluster.
	Name string

	// Action is for spec.remediationAction.
	Action RemediationAction

	// RolloutStatus is for status.rolloutStatus.
	RolloutStatus status.RolloutStatus

	// Write says what of it has to be written.
	Write Write
}

// Write is what has to be written of a replicated policy. The constants name it as a client does.
type Write string

const (
	// WriteNothing: the replicated policy is as it has to be.
	WriteNothing Write = ""
	// WriteCreate: there is none. Create it with its version, and set its status.
	WriteCreate Write = "Create"
	// WriteUpdate: it is of another version or has another action. Update its spec and version, then set its
	// status.
	WriteUpdate Write = "Update"
	// WriteStatus: only its rolloutStatus differs.
	WriteStatus Write = "UpdateStatus"
)

// Cluster returns what the bound cluster of that name has to have, in logarithmic time.
func (p *Propagation) Cluster(name string) (Propagated, bool) {
	i, found := slices.BinarySearchFunc(p.Clusters, name, func(c Propagated, name string) int { return cmp.Compare(c.Name, name) })
	if !found {
		return Propagated{}, false
	}
	return p.Clusters[i], true
}

// Writes says whether anything has to be written or deleted, the root policy's status included.
func (p *Propagation) Writes() bool {
	return p.StatusChanged || len(p.Delete) > 0 ||
		slices.ContainsFunc(p.Clusters, func(c Propagated) bool { return c.Write != WriteNothing })
}

// String lists the clusters and what has to be deleted: "a: enforce, Progressing (Update); b: inform,
// ToApply; delete c". It is empty for a policy that is bound nowhere and was.
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

// String is "a: enforce, Progressing (Update)", without what is in brackets where nothing has to be written.
func (c Propagated) String() string {
	s := fmt.Sprintf("%s: %s, %s", c.Name, show(c.Action), c.RolloutStatus)
	if c.Write != WriteNothing {
		s += fmt.Sprintf(" (%s)", c.Write)
	}
	return s
}
