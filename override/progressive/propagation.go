// SPDX-License-Identifier: Apache-2.0

package progressive

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/validation/field"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"

	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/internal/remaining"
	"github.com/cohort-ocm/cohort/override/passes"
	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/status"
	"github.com/cohort-ocm/cohort/status/policyv1"
)

// Propagation has the wanted state of each replicated policy. The slices belong to the caller. The zero value asks for no writes.
type Propagation struct {
	// Clusters are the clusters that the policy is bound to, sorted by name.
	Clusters []Cluster

	// Removed are the names of the clusters on which the replicated policy has to be deleted, in order: the policy is not bound there.
	// A cluster that failed or is in flight is among them only once the stored record has it.
	Removed []string

	// Ignored has the settings in the Rollout, or in the policy's rolloutStrategy, that have no effect, with the paths of their JSON,
	// for events.
	Ignored field.ErrorList

	// Plan is the result of package rollout: why clusters wait, what is new, what blocks the rollout, warnings.
	Plan *rollout.Result

	// RecheckAfter is how long until something changes by time alone; 0 if nothing will.
	RecheckAfter time.Duration

	state           State
	disabled        bool
	strategy        Strategy
	engine          clusterv1alpha1.RolloutStrategy
	approvals       approvals
	ignoredClusters []string
	detached        []string // not bound, and without a ManagedCluster
	groups          *grouping.Groups
	root            definition
	last            *definition
	next            RolloutStatus // what the Rollout has to store
	reports         []status.Report
	kept            []Cluster // not bound, and with a replica that stays or still counting
	waitsElsewhere  bool      // a cluster that waited is not bound, and still has its replica
}

// Source says from which definition a replicated policy is made.
type Source string

const (
	// SourceKept says that the content stays as it is. Where there is no replicated policy, none is made.
	SourceKept Source = ""
	// SourcePolicy is the root policy.
	SourcePolicy Source = "Policy"
	// SourceLastSuccessful is what [Propagation.LastSuccessful] gives.
	SourceLastSuccessful Source = "LastSuccessful"
)

// NewCluster is the rollout status of a cluster that joined after the rollout had succeeded.
const NewCluster status.RolloutStatus = "NewCluster"

// Cluster is the wanted state of a bound cluster's replicated policy.
type Cluster struct {
	// Name is the name of the ManagedCluster.
	Name string
	// Source says from which definition the replicated policy is made.
	Source Source
	// Action is the value for spec.remediationAction.
	Action policyv1.RemediationAction
	// RolloutStatus is the value for status.rolloutStatus.
	RolloutStatus status.RolloutStatus
	// Verb says what has to be written. A cluster that waits and has no replicated policy gets none.
	Verb passes.Verb
	// Edited says that the replicated policy was edited by hand, and is written back.
	Edited bool
	// Compliance is what the cluster has reported about the present content of its replicated policy. It is empty if the cluster has
	// not reported, or if the replicated policy has to be written.
	Compliance policyv1.ComplianceState

	version  string // for the stamp, without the action
	reported string // the annotation for the next write
	started  bool   // the replica has this rollout's version
	enforced bool   // an override of a binding enforces
	replica  *replica
}

// String is "a: Policy enforce, Progressing (update)", without the brackets if nothing has to be written.
func (c Cluster) String() string {
	text := fmt.Sprintf("%s: %s %s, %s", c.Name, cmp.Or(string(c.Source), "kept"), cmp.Or(string(c.Action), "unset"), c.RolloutStatus)
	if c.Verb != passes.VerbNone {
		text += fmt.Sprintf(" (%s)", c.Verb)
	}
	return text
}

// LastSuccessful gives the policy from which replicated policies with that Source are made; nil where there is none. Don't change it.
func (p *Propagation) LastSuccessful() *unstructured.Unstructured {
	if p.last == nil {
		return nil
	}
	return p.last.policy
}

// Status is the rollout status of the root policy: ToApply, Progressing, Succeeded or Failed.
func (p *Propagation) Status() status.RolloutStatus { return p.next.RolloutStatus }

// settle turns the reports and the plan into the wanted state of each cluster.
func (p *Propagation) settle(replicas []*replica, now time.Time) {
	starts := map[string]bool{}
	for _, cluster := range p.Plan.Start {
		starts[cluster.Name] = true
	}
	for _, cluster := range p.Plan.TimedOut {
		if position, bound := p.groups.Position(cluster.Name); bound {
			p.Clusters[position].timeOut()
		}
	}
	p.resume(starts)
	for i := range p.Clusters {
		cluster := &p.Clusters[i]
		p.assign(cluster, starts[cluster.Name])
		cluster.settle()
	}
	p.RecheckAfter = p.Plan.RecheckAfter
	for _, replica := range replicas {
		if after := replica.countsFrom.Sub(now); after > 0 && (p.RecheckAfter == 0 || after < p.RecheckAfter) {
			p.RecheckAfter = after
		}
	}
	p.remove(replicas)
}

// timeOut shows that the deadline of a cluster has passed: as Failed if its compliance is known, else as TimeOut (O37).
func (c *Cluster) timeOut() {
	if c.RolloutStatus = status.TimeOut; c.started && c.replica.Compliance != "" {
		c.RolloutStatus = status.Failed
	}
}

// resume gives clusters that are bound again their state from the record (O41).
func (p *Propagation) resume(starts map[string]bool) {
	for i := range p.Clusters {
		cluster := &p.Clusters[i]
		if cluster.started || starts[cluster.Name] || cluster.RolloutStatus != status.ToApply {
			continue
		}
		switch disposition, _, _ := p.Plan.Find(cluster.Name); {
		case disposition == rollout.DispositionInFlight && !p.recordedFailure(cluster.Name):
			starts[cluster.Name] = p.next.RolloutStatus != status.Failed && p.groups.Incomplete() == ""
		case disposition == rollout.DispositionInFlight:
			cluster.RolloutStatus = status.Failed
		case disposition == rollout.DispositionSettled:
			cluster.RolloutStatus = status.TimeOut
		}
	}
}

// recordedFailure says whether the cluster's entry in the record is a failure.
func (p *Propagation) recordedFailure(name string) bool {
	return slices.ContainsFunc(p.Plan.Record.Deselected, func(entry status.DeselectedCluster) bool {
		return entry.Cluster == name && (entry.Status == status.Failed || entry.Status == status.TimeOut)
	})
}

// assign sets the source, the action and the version of a cluster's replica.
func (p *Propagation) assign(cluster *Cluster, starts bool) {
	replica := cluster.replica
	complete := p.groups.Incomplete() == ""
	switch {
	case starts && p.next.RolloutStatus == status.Succeeded: // O39
		cluster.Source, cluster.version, cluster.RolloutStatus = SourcePolicy, versionOf(p.root.content, p.next.RolloutUID, NewCluster), NewCluster
	case starts:
		cluster.Source, cluster.version, cluster.RolloutStatus = SourcePolicy, versionOf(p.root.content, p.next.RolloutUID), status.Progressing
	case cluster.started && cluster.RolloutStatus == status.TimeOut && p.rollsBack(cluster): // O40
		cluster.give(p.last, versionOf(p.last.content, p.next.RolloutUID, status.TimeOut))
	case cluster.started:
		cluster.Source, cluster.version = SourcePolicy, replica.Version
		p.remember(cluster)
	case replica == nil && p.last != nil && complete: // O38
		cluster.give(p.last, p.last.content)
	case replica == nil:
		cluster.Action = ""
	case replica.Edited && p.last != nil && replica.content == p.last.content: // O36
		cluster.Source, cluster.Action, cluster.version = SourceLastSuccessful, replica.Action, replica.Version
	default:
		cluster.Action, cluster.version = replica.Action, replica.Version
	}
}

func (c *Cluster) give(definition *definition, version string) {
	c.Source, c.Action, c.version = SourceLastSuccessful, c.actionOf(definition), version
}

// actionOf gives the action of a definition on the cluster, where an override may enforce.
func (c *Cluster) actionOf(definition *definition) policyv1.RemediationAction {
	if c.enforced {
		return policyv1.Enforce
	}
	return definition.action
}

// rollsBack says whether a cluster that timed out gets the last successful version, and does not have it yet.
func (p *Propagation) rollsBack(cluster *Cluster) bool {
	if p.next.RolloutStatus != status.Failed || p.last == nil {
		return false
	}
	return cluster.replica.content != p.last.content || !cluster.replica.acts(cluster.actionOf(p.last))
}

// remember keeps the status that a cluster has had since the rollout succeeded (O39).
func (p *Propagation) remember(cluster *Cluster) {
	switch replica := cluster.replica; {
	case replica.remembered == NewCluster:
		cluster.RolloutStatus = NewCluster
	case p.next.RolloutStatus == status.Succeeded && replica.RolloutStatus == status.Succeeded:
		cluster.RolloutStatus = status.Succeeded
	}
}

// settle sets the write that a cluster's replica needs.
func (c *Cluster) settle() {
	replica := c.replica
	switch {
	case replica == nil && c.Source != SourceKept:
		c.Verb = passes.VerbCreate
	case replica == nil:
		return
	case c.Source != SourceKept && (replica.Version != c.version || !replica.acts(c.Action) || replica.Edited):
		c.Verb = passes.VerbUpdate
		c.Edited = replica.Edited && replica.Version == c.version
	case replica.RolloutStatus != c.RolloutStatus:
		c.Verb = passes.VerbUpdateStatus
	}
	if replica == nil {
		return
	}
	if c.Verb != passes.VerbUpdate { // otherwise the report is about other content
		c.Compliance = replica.Compliance
	}
	c.reported = replica.Reported
}

// conclude sets the state of the rollout, which its object has to store.
func (p *Propagation) conclude() (err error) {
	if p.disabled {
		return nil
	}
	if p.next.RolloutStatus != status.Succeeded && p.next.RolloutStatus != status.Failed {
		if p.next.RolloutStatus = p.outcome(); p.next.RolloutStatus == status.Succeeded {
			if p.next.LastSuccessful, err = stored(p.state.Policy); err != nil {
				return err
			}
		}
	}
	if p.groups.Incomplete() == "" {
		p.next.DecisionGroups = nil
		for _, name := range namesOf(p.groups) {
			p.next.DecisionGroups = append(p.next.DecisionGroups, DecisionGroup{GroupName: name})
		}
	}
	return nil
}

// outcome gives the state of a rollout that has not ended (O34, O35).
func (p *Propagation) outcome() status.RolloutStatus {
	complete := p.groups.Incomplete() == ""
	// A cluster that has got the version may be deselected since, or missing in partially observed decisions.
	began := p.next.RolloutStatus == status.Progressing || len(p.Plan.Deselected) > 0
	failed, waits := false, len(p.Clusters) == 0 || p.waitsElsewhere
	for i := range p.Clusters {
		cluster := &p.Clusters[i]
		starts := cluster.Source == SourcePolicy && !cluster.started
		began = began || cluster.Source == SourcePolicy || cluster.RolloutStatus != status.ToApply
		waits = waits || starts || cluster.RolloutStatus == status.ToApply
		if _, ignored := slices.BinarySearch(p.ignoredClusters, cluster.Name); !ignored {
			failed = failed || cluster.RolloutStatus == status.Failed || cluster.RolloutStatus == status.TimeOut
		}
	}
	switch ended := !waits && complete && p.Plan.Summary().Aggregate() != status.Progressing; {
	case p.Plan.Breach != nil && complete, ended && failed && p.engine.Type == clusterv1alpha1.All:
		return status.Failed
	case ended:
		return status.Succeeded
	case began:
		return status.Progressing
	default:
		return status.ToApply
	}
}

// remove lists what has to be deleted, and the clusters that stay in the root's status.
func (p *Propagation) remove(replicas []*replica) {
	p.Removed = p.Plan.Removed
	deselected := make(map[string]status.RolloutStatus, len(p.Plan.Deselected))
	for _, cluster := range p.Plan.Deselected {
		deselected[cluster.Name] = shown(cluster.Status)
	}
	for _, replica := range replicas {
		if _, bound := p.groups.Position(replica.Cluster); bound {
			continue
		}
		p.waitsElsewhere = p.waitsElsewhere || !p.hasVersion(replica) && !slices.Contains(p.detached, replica.Cluster)
		if _, removed := slices.BinarySearch(p.Removed, replica.Cluster); removed {
			continue
		}
		cluster := Cluster{Name: replica.Cluster, Action: replica.Action, RolloutStatus: replica.RolloutStatus, Compliance: replica.Compliance}
		if is, counts := deselected[cluster.Name]; counts {
			cluster.RolloutStatus = is
			delete(deselected, cluster.Name)
		}
		p.kept = append(p.kept, cluster)
	}
	for _, name := range slices.Sorted(maps.Keys(deselected)) {
		p.kept = append(p.kept, Cluster{Name: name, RolloutStatus: deselected[name]})
	}
}

// annotationReported has the templates of a replicated policy as they were before it was written, and their last messages;
// passes.ReplicaOf reads it.
const annotationReported = "cohort.open-cluster-management.io/reported"

// Stamp sets the annotations of a cluster's replicated policy for the write that it is about to get: the version with the action, the
// time, and the cluster's reports until now. Call it right before the write of the content, on a copy of the object that was read, with
// the time of that write. Write with the resourceVersion of that object.
func (p *Propagation) Stamp(object metav1.Object, cluster Cluster, now time.Time) {
	stamp := cluster.version + " " + string(cluster.Action)
	noted := status.StampOf(object)
	if cluster.Edited {
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

// SetStatus sets the root policy's status from its bindings, its clusters and the rollout, as they are once all writes of the
// Propagation are done. It says whether it changed anything.
func (p *Propagation) SetStatus(st *policyv1.PolicyStatus) bool {
	placements := p.state.Resolution.Placements()
	others := remaining.Bindings(p.state.Resolution, placements)
	clusters := make([]policyv1.PolicyClusterStatus, 0, len(p.Clusters)+len(p.kept))
	for _, list := range [][]Cluster{p.Clusters, p.kept} {
		for _, cluster := range list {
			clusters = append(clusters, policyv1.PolicyClusterStatus{
				ClusterName: cluster.Name, ComplianceState: cluster.Compliance, RolloutStatus: string(cluster.RolloutStatus),
				RemainingBindings: others[cluster.Name],
			})
		}
	}
	slices.SortFunc(clusters, func(a, b policyv1.PolicyClusterStatus) int { return cmp.Compare(a.ClusterName, b.ClusterName) })
	before, is := st.RolloutStatus, string(p.next.RolloutStatus)
	if p.disabled {
		is = ""
	}
	st.RolloutStatus = string(status.Succeeded) // as in an empty summary, so that it is no change
	changed := passes.SetPolicyStatus(st, placements, clusters, status.Summary{})
	st.RolloutStatus = is
	return changed || before != is
}

// String lists the clusters and what has to be deleted.
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
