// SPDX-License-Identifier: Apache-2.0

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

// Propagation has the wanted state of each replicated policy, and the reasons. The slices belong to the caller. The zero value
// asks for no writes.
type Propagation struct {
	// Clusters are the clusters that the policy is bound to, sorted by name.
	Clusters []Cluster

	// Removed are the names of the clusters on which the replicated policy has to be deleted, in order: the policy is not
	// bound there. The replica of a cluster that failed or is in flight is among them only once the stored record has it.
	Removed []string

	// Record is what the root policy has to store before anything else is written; see [Propagate].
	Record status.Record

	// Start are the names of the clusters that start now: they get this version with their action. First come clusters that are
	// bound again and resume, and then the others in the order in which the rollout starts them.
	Start []string

	// TimedOut are the names of the clusters that time out now, in order: their progress deadline has passed, and their
	// replicas do not say so yet.
	TimedOut []string

	// Edited are the names of the clusters with a replica that was edited by hand, in order. It is written back.
	Edited []string

	// Breach is the budget that is breached, so that nothing starts; nil if none is.
	Breach *rollout.Breach

	// Warnings say which parts of the strategy, the options or the groups have no effect or are uncertain.
	Warnings []rollout.Warning

	// RecheckAfter is how long until something changes by time alone; 0 if nothing will.
	RecheckAfter time.Duration

	resolution *override.Resolution
	course
	result *rollout.Result
	kept   []Cluster // not bound, but with a replica that stays, or still counting

	// While it is being made:
	unbound  []*Replica
	recorded []status.DeselectedCluster
	reports  []status.Report
}

// Cluster is the wanted state of a bound cluster's replicated policy.
type Cluster struct {
	// Name is the name of the ManagedCluster.
	Name string

	// Action is the value for spec.remediationAction.
	Action policyv1.RemediationAction

	// RolloutStatus is the value for status.rolloutStatus.
	RolloutStatus status.RolloutStatus

	// Verb says what has to be written.
	Verb Verb

	// Compliance is what the cluster has reported about the present content of its replica. It is empty if the cluster has
	// not reported, or if the replica's spec has to be written.
	Compliance policyv1.ComplianceState

	// isOther says that the replica is of another version or missing.
	isOther bool
	// silentUntil is when a cluster that has this version with inform, and gives no sign that it got it, may start; zero for
	// others.
	silentUntil time.Time
	// isUntimed says that the replica has this version and action, and only gets the time of its stamp.
	isUntimed bool
	// edited says that the replica has this version and action, and was edited by hand.
	edited   bool
	reported string   // the annotation for the next write
	said     *said    // the answers of its templates that keep it in flight
	replica  *Replica // while it is being made; nil where there is none
}

// Verb is what a client does to a replicated policy.
type Verb string

const (
	// VerbNone says that nothing has to be written.
	VerbNone Verb = ""
	// VerbCreate says that there is no replicated policy. Create it with its version and action, then set its status.
	VerbCreate Verb = "create"
	// VerbUpdate says that the replicated policy is of another version or has another action. Update its spec and
	// version in one write, then set its status.
	VerbUpdate Verb = "update"
	// VerbUpdateStatus says that only its rolloutStatus differs.
	VerbUpdateStatus Verb = "updateStatus"
)

// Find gives the bound cluster of that name, in logarithmic time.
func (p *Propagation) Find(name string) (Cluster, bool) {
	i, found := slices.BinarySearchFunc(p.Clusters, name, func(cluster Cluster, name string) int { return cmp.Compare(cluster.Name, name) })
	if !found {
		return Cluster{}, false
	}
	return p.Clusters[i], true
}

// Writes gives the clusters with a replicated policy to write, in the order of the writes: first those that do
// not enforce afterwards, then the others, both sorted by name. With this order, a cluster that is in flight with an earlier
// version is set to inform before another one starts in its place. If the update of an enforced replica to inform fails, write
// no replica that enforces before the next call.
func (p *Propagation) Writes() (writes []Cluster) {
	for _, enforces := range []bool{false, true} {
		for _, cluster := range p.Clusters {
			if cluster.Verb != VerbNone && enforces == (cluster.Action != policyv1.Inform) {
				writes = append(writes, cluster)
			}
		}
	}
	return writes
}

// String lists the clusters and what has to be deleted: "a: enforce, Progressing (update); b: inform, ToApply; delete
// c". It is empty for a policy that is bound nowhere and has no replicas.
func (p *Propagation) String() string {
	var parts []string
	for _, cluster := range p.Clusters {
		parts = append(parts, cluster.String())
	}
	if len(p.Removed) > 0 {
		parts = append(parts, "delete "+strings.Join(p.Removed, " "))
	}
	return strings.Join(parts, "; ")
}

// String is "a: enforce, Progressing (update)", without the brackets if nothing has to be written.
func (c Cluster) String() string {
	text := fmt.Sprintf("%s: %s, %s", c.Name, cmp.Or(string(c.Action), "unset"), c.RolloutStatus)
	if c.Verb != VerbNone {
		text += fmt.Sprintf(" (%s)", c.Verb)
	}
	return text
}
