package passes

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/cohort-ocm/cohort/override"
	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/status"
	"github.com/cohort-ocm/cohort/status/policyv1"
)

// Propagation says what each replicated policy has to be, and why. The slices are the caller's. The zero value asks for
// nothing.
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

	// Warnings say what of the strategy, the options or the groups has no effect or is in doubt.
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
	// Name is the name of the ManagedCluster.
	Name string

	// Action is for spec.remediationAction.
	Action policyv1.RemediationAction

	// RolloutStatus is for status.rolloutStatus.
	RolloutStatus status.RolloutStatus

	// Verb says what of it has to be written.
	Verb Verb

	// Compliance is what the cluster has reported of its replica as it stands. It is empty where the cluster has not
	// reported, and where the replica's spec has to be written.
	Compliance policyv1.ComplianceState

	// isOther says that the replica is of another version, or that there is none.
	isOther  bool
	reported string   // what the cluster had reported
	replica  *Replica // while it is being made; nil where there is none
}

// Verb is what a client does to a replicated policy.
type Verb string

const (
	// VerbNone says that the replicated policy is as it has to be.
	VerbNone Verb = ""
	// VerbCreate says that there is no replicated policy. Create it with its version and action, then set its status.
	VerbCreate Verb = "create"
	// VerbUpdate says that it is of another version or has another action. Update its spec and version in one write,
	// then set its status.
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

// String lists the clusters and what has to be deleted: "a: enforce, Progressing (update); b: inform, ToApply; delete
// c". It is empty for a policy that is bound nowhere and has no replicas.
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
