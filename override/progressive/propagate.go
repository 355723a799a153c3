// SPDX-License-Identifier: Apache-2.0

package progressive

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/validation/field"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"

	"github.com/cohort-ocm/cohort/internal/edited"
	"github.com/cohort-ocm/cohort/internal/fielderrs"
	"github.com/cohort-ocm/cohort/override"
	"github.com/cohort-ocm/cohort/override/passes"
	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/status"
	"github.com/cohort-ocm/cohort/status/policyv1"
)

// State is what a controller knows about a policy and its rollout. It is not changed.
type State struct {
	// Policy is the root policy.
	Policy *unstructured.Unstructured
	// Resolution has the policy's clusters: override.Resolve makes it from [PolicyOf] the root policy.
	Resolution *override.Resolution
	// Rollout is the policy's object; nil only if a live read says that it does not exist.
	Rollout *Rollout
	// NewUID is generated for each call. It becomes the rolloutUID if a rollout begins.
	NewUID string
	// Replicas are all replicated policies of the root policy, in any order, as passes.ReplicaOf reads them. Set Edited where one
	// that has the root policy's content is not what would be written now, such as by what its hub templates resolve to; leave it as
	// it was read where it has an earlier version, which you cannot make again.
	Replicas []passes.Replica
	// Clusters are all ManagedClusters of the hub, in any order. A deselected cluster that is not among them is ignored, since its
	// ManagedCluster was deleted. Without any, no cluster is ignored; under ignoreClusterRolloutStatus they are required. A
	// bound cluster that is missing here is not ignored.
	Clusters []*clusterv1.ManagedCluster
}

// Propagate gives the wanted state of each replicated policy, and of the policy's Rollout, which has to be stored before. The package
// documentation has the duties of the caller. The result shares the replicas' texts and the policy with the state.
//
// All options apply while the rollout is in progress, with these exceptions: an Attempt is an error, since a rollout is retried by its
// UID; a GroupOrder is an error under ManualPerGroup, which has its own; StoredRecord has no effect, since the Rollout has the record.
// Give the Plan of the Propagation before as Previous.
//
// Errors are *field.Error, joined by errors.Join: what [Validate] finds in the policy, unless it is disabled; a resolution of another
// strategy (resolution); two replicas of a cluster (replicas[name]) or one without a name; a Rollout of another policy
// (rollout.metadata), with a last successful policy that is not this one (rollout.status.lastSuccessful), or with a later generation
// than the policy's (rollout.status.currentRolloutGeneration); no ManagedClusters where the strategy ignores some (clusters); a UID
// that is missing, is that of the rollout before, or has a space or a slash (newUID); options that rollout.Plan refuses.
//
// It takes time linear in the clusters and replicas, plus sorting.
func Propagate(state State, now time.Time, opts rollout.Options) (*Propagation, error) {
	propagation := &Propagation{state: state}
	errs := propagation.read()
	errs = append(errs, propagation.checkOptions(opts)...)
	ordered, duplicate := byCluster(state.Replicas, now)
	if errs = append(errs, duplicate...); len(errs) > 0 {
		return nil, fielderrs.Join(errs)
	}
	record, err := propagation.record()
	if err != nil {
		return nil, err
	}
	propagation.findDetached(ordered, record)
	propagation.align(ordered, now)
	if err := propagation.plan(record, now, opts); err != nil {
		return nil, err
	}
	propagation.Plan.Record = edited.Keep(propagation.Plan.Record, record, propagation.isRewritten)
	propagation.settle(ordered, now)
	if err := propagation.conclude(); err != nil {
		return nil, err
	}
	return propagation, nil
}

// read reads the policy and its Rollout, and begins a rollout where one is due.
func (p *Propagation) read() field.ErrorList {
	state := &p.state
	policy, strategy, errs := decode(state.Policy, nil)
	if len(errs) > 0 {
		return errs
	}
	if p.disabled = state.Resolution.Disabled(); !p.disabled {
		errs = Validate(state.Policy, nil)
	}
	p.strategy, p.engine = strategy, strategy.engine()
	if !p.disabled && !reflect.DeepEqual(p.engine, state.Resolution.Strategy()) {
		errs = append(errs, field.Invalid(field.NewPath("resolution"), state.Resolution.Strategy().Type,
			"must be made of the policy that PolicyOf gives: its strategy is another one"))
	}
	errs = append(errs, p.readRollout()...)
	p.root = definition{policy: state.Policy, content: passes.VersionOf(state.Policy), action: state.Resolution.Action()}
	p.groups = state.Resolution.GroupsByPlacement()
	p.approvals = approvals{mandatory: mandatory(p.engine), counts: true}
	if state.Rollout != nil {
		p.approvals.spec = state.Rollout.Spec
		tied := state.Rollout.Spec.ApprovalsForVersion
		p.approvals.counts = tied == "" || tied == policy.Annotations[annotationVersion]
	}
	p.Ignored = p.approvals.ignored(&p.strategy, p.groups, policy.Annotations[annotationVersion])
	return append(errs, p.begin()...)
}

// readRollout reads the status of the policy's Rollout. A Rollout without an owner may be that of a deleted policy, so its status does
// not count (O31). A disabled policy is not rolled out, so it has no faults (O42).
func (p *Propagation) readRollout() (errs field.ErrorList) {
	object, root := p.state.Rollout, p.state.Policy
	if object == nil {
		return p.checkClusters()
	}
	if p.disabled {
		p.next = object.Status.copied()
		p.last, _ = lastSuccessful(p.next.LastSuccessful, root)
		return nil
	}
	errs = append(p.checkClusters(), object.check(root)...)
	if !object.isOwnedBy(root) {
		return errs
	}
	p.next = object.Status.copied()
	last, err := lastSuccessful(p.next.LastSuccessful, root)
	if err != nil {
		errs = append(errs, err)
	}
	if p.last = last; p.next.CurrentRolloutGeneration > root.GetGeneration() {
		errs = append(errs, field.Invalid(field.NewPath("rollout", "status", "currentRolloutGeneration"), p.next.CurrentRolloutGeneration, fmt.Sprintf(
			"must not be later than %d, the metadata.generation of the policy: read the policy again, the cache is behind", root.GetGeneration())))
	}
	return errs
}

// checkClusters reports ManagedClusters that are missing although their labels decide which clusters are ignored.
func (p *Propagation) checkClusters() field.ErrorList {
	if p.disabled || p.strategy.IgnoreClusterRolloutStatus == nil || len(p.state.Clusters) > 0 || p.state.Resolution.Groups().NumClusters() == 0 {
		return nil
	}
	return field.ErrorList{field.Required(field.NewPath("clusters"),
		"must be the ManagedClusters of the hub: spec.rolloutStrategy.ignoreClusterRolloutStatus selects by their labels")}
}

// begin begins another rollout where one is due (O32, O33).
func (p *Propagation) begin() (errs field.ErrorList) {
	if p.disabled {
		return nil
	}
	retry := p.approvals.spec.RetryRollout.RolloutUID
	retried := retry != "" && retry == p.next.RolloutUID && p.next.RolloutStatus == status.Failed
	generation := p.state.Policy.GetGeneration()
	if p.next.RolloutStatus == status.Succeeded && (p.last == nil || p.last.content != p.root.content || p.last.action != p.root.action) {
		p.next.RolloutStatus = status.ToApply // edited by hand: it would give the version to all clusters at once
	}
	switch {
	case !isUID(p.next.RolloutUID) || p.next.CurrentRolloutGeneration != generation || retried:
		errs = checkUID(p.state.NewUID, p.next.RolloutUID)
		p.next.RolloutUID, p.next.CurrentRolloutGeneration, p.next.RolloutStatus = p.state.NewUID, generation, status.ToApply
	case retry != "" && p.next.RolloutStatus == status.Failed:
		p.Ignored = append(p.Ignored, field.Invalid(field.NewPath("spec", "retryRollout", "rolloutUID"), retry,
			"is not the rollout that failed; set "+p.next.RolloutUID+" to retry that"))
	}
	return errs
}

// isUID says whether a text can be the UID in a stamp.
func isUID(uid string) bool { return uid != "" && !strings.ContainsAny(uid, "/ \t\r\n") }

func checkUID(uid, before string) field.ErrorList {
	path := field.NewPath("newUID")
	switch {
	case uid == "":
		return field.ErrorList{field.Required(path, "must be a new UID for the rollout that begins")}
	case !isUID(uid):
		return field.ErrorList{field.Invalid(path, uid, "must not have a space or a slash")}
	case uid == before:
		return field.ErrorList{field.Duplicate(path, uid)}
	default:
		return nil
	}
}

func (p *Propagation) checkOptions(opts rollout.Options) (errs field.ErrorList) {
	if opts.Attempt != 0 {
		errs = append(errs, field.Forbidden(field.NewPath("attempt"), "must be left out: spec.retryRollout of the Rollout retries"))
	}
	if opts.GroupOrder != nil && p.strategy.isManual() {
		errs = append(errs, field.Forbidden(field.NewPath("groupOrder"), "must be left out under ManualPerGroup: approvals say the order"))
	}
	return errs
}

// byCluster sorts the replicas, as they are now, by the names of their clusters. Each must have a name, and none may come twice.
func byCluster(replicas []passes.Replica, now time.Time) ([]*replica, field.ErrorList) {
	var errs field.ErrorList
	ordered := make([]*replica, 0, len(replicas))
	for i := range replicas {
		if replicas[i].Cluster == "" {
			errs = append(errs, field.Required(field.NewPath("replicas").Index(i).Child("cluster"), "must be the name of a cluster"))
			continue
		}
		replica := &replica{Replica: replicas[i].At(now), countsFrom: replicas[i].CountsFrom()}
		replica.content, replica.uid, replica.remembered = readVersion(replica.Version)
		ordered = append(ordered, replica)
	}
	compare := func(a, b *replica) int { return cmp.Compare(a.Cluster, b.Cluster) }
	slices.SortStableFunc(ordered, compare)
	return ordered, append(errs, fielderrs.Duplicates(ordered, compare, func(replica *replica) *field.Error {
		return field.Duplicate(field.NewPath("replicas").Key(replica.Cluster), replica.Cluster)
	})...)
}

// replica is a replicated policy with the parts of its version.
type replica struct {
	passes.Replica
	content, uid string
	remembered   status.RolloutStatus
	countsFrom   time.Time
}

// acts says whether the replica was written with an action.
func (copied *replica) acts(action policyv1.RemediationAction) bool {
	return strings.EqualFold(string(copied.Action), string(action))
}

// hasVersion says whether the rollout has started the replica with the wanted content.
func (p *Propagation) hasVersion(replica *replica) bool {
	return replica != nil && replica.uid == p.next.RolloutUID && replica.content == p.root.content && replica.remembered != status.TimeOut
}

// align finds the replica of each bound cluster, and makes its report for the rollout.
func (p *Propagation) align(replicas []*replica, now time.Time) {
	of := make(map[string]*replica, len(replicas))
	for _, replica := range replicas {
		of[replica.Cluster] = replica
	}
	for bound := range p.state.Resolution.Clusters() {
		cluster := Cluster{Name: bound.Name, Action: bound.Action, RolloutStatus: status.ToApply, replica: of[bound.Name]}
		cluster.started, cluster.enforced = p.hasVersion(cluster.replica), len(bound.DecidedBy) > 0
		if cluster.started && p.state.Resolution.Undecided() && bound.Action != policyv1.Enforce && cluster.replica.acts(policyv1.Enforce) {
			cluster.Action, cluster.enforced = policyv1.Enforce, true
		}
		delete(of, bound.Name)
		p.Clusters = append(p.Clusters, cluster)
	}
	for i := range p.Clusters {
		if cluster := &p.Clusters[i]; cluster.replica != nil {
			report := p.report(cluster.replica, cluster.started, now)
			if p.isWrittenAgain(cluster) {
				written := passes.Replica{Cluster: cluster.Name, Version: cluster.replica.Version, Action: cluster.Action, Applied: now}
				report = written.Started(p.state.Resolution, now)
			}
			p.reports = append(p.reports, report)
			if cluster.started {
				cluster.RolloutStatus = shown(report.Status)
			} else if p.wasRolledBack(cluster.replica) {
				cluster.RolloutStatus = status.TimeOut
			}
		}
	}
	for _, replica := range of {
		p.reports = append(p.reports, p.report(replica, p.hasVersion(replica), now))
	}
}

// isWrittenAgain says whether a started cluster is written again now, with a new deadline and new answers.
func (p *Propagation) isWrittenAgain(cluster *Cluster) bool {
	return cluster.started && !p.disabled && (cluster.replica.Edited || !cluster.replica.acts(cluster.Action))
}

func (p *Propagation) isRewritten(cluster string) bool {
	position, bound := p.groups.Position(cluster)
	return bound && p.isWrittenAgain(&p.Clusters[position])
}

// wasRolledBack says whether the replica has the last successful version since its cluster timed out in this rollout (O40).
func (p *Propagation) wasRolledBack(replica *replica) bool {
	return replica.uid == p.next.RolloutUID && replica.remembered == status.TimeOut
}

// report gives a replica's report for the rollout: only that the replica exists, unless the rollout has started it.
func (p *Propagation) report(replica *replica, started bool, now time.Time) status.Report {
	switch {
	case p.disabled:
		return status.Report{Cluster: replica.Cluster, Status: status.ToApply}
	case started:
		return replica.Started(p.state.Resolution, now)
	case p.wasRolledBack(replica):
		return status.Report{Cluster: replica.Cluster, Status: status.TimeOut, Applied: replica.Applied, LastTransitionTime: replica.Applied}
	default:
		return status.Report{Cluster: replica.Cluster, Status: status.ToApply}
	}
}

// shown is how the policy API shows a rollout status: it has no Validating.
func shown(rolloutStatus status.RolloutStatus) status.RolloutStatus {
	if rolloutStatus == status.Validating {
		return status.Progressing
	}
	return rolloutStatus
}

// record reads the stored record of deselected clusters from the Rollout.
func (p *Propagation) record() (status.Record, error) {
	if p.disabled || p.state.Rollout == nil || !p.state.Rollout.isOwnedBy(p.state.Policy) {
		return status.Record{}, nil
	}
	records, err := status.RecordsOf(p.state.Rollout)
	return records[""], err
}

// plan asks the engine what may happen now.
func (p *Propagation) plan(record status.Record, now time.Time, opts rollout.Options) (err error) {
	strategy := p.engine
	version := versionOf(p.root.content, p.next.RolloutUID)
	opts.StoredRecord = &rollout.StoredRecord{Version: version, Record: record, AtOnce: true}
	opts.Ignored = slices.Concat(opts.Ignored, p.detached)
	switch {
	case p.disabled:
		strategy, opts = clusterv1alpha1.RolloutStrategy{}, rollout.Options{}
	case p.next.RolloutStatus == status.Succeeded: // a cluster that joins gets the version at once (O39)
		strategy = atOnce(strategy)
		opts = rollout.Options{
			Ignored: opts.Ignored, MaxRemoved: opts.MaxRemoved, RemoveAfter: opts.RemoveAfter,
			Previous: opts.Previous, StoredRecord: opts.StoredRecord,
		}
	default:
		p.ignore(&opts)
		if p.strategy.isManual() {
			opts.GroupOrder = p.approvals.order(p.groups)
			opts.Gates = slices.Concat(opts.Gates, p.approvals.gates(p.groups))
		}
	}
	if p.Plan, err = rollout.Plan(strategy, p.groups, p.reports, now, opts); err != nil {
		return err
	}
	if p.next.RolloutStatus == status.Failed && p.Plan.Breach == nil { // it does not resume (O34)
		opts.Freezes = slices.Concat(opts.Freezes, p.freezeAll())
		p.Plan, err = rollout.Plan(strategy, p.groups, p.reports, now, opts)
	}
	return err
}

// atOnce gives the strategy All with the deadline of the strategy.
func atOnce(strategy clusterv1alpha1.RolloutStrategy) clusterv1alpha1.RolloutStrategy {
	all := clusterv1alpha1.RolloutStrategy{Type: clusterv1alpha1.All, All: new(clusterv1alpha1.RolloutAll)}
	all.All.ProgressDeadline = configOf(strategy).ProgressDeadline
	return all
}

// findDetached finds the deselected clusters without a ManagedCluster (O47).
func (p *Propagation) findDetached(replicas []*replica, record status.Record) {
	if len(p.state.Clusters) == 0 {
		return
	}
	detached := make(map[string]bool, len(replicas))
	for _, replica := range replicas {
		detached[replica.Cluster] = true
	}
	for _, entry := range record.Deselected {
		detached[entry.Cluster] = true
	}
	for _, cluster := range p.state.Clusters {
		if cluster != nil {
			delete(detached, cluster.Name)
		}
	}
	for name := range detached {
		if _, bound := p.groups.Position(name); !bound {
			p.detached = append(p.detached, name)
		}
	}
	slices.Sort(p.detached)
}

// ignore sets the options by which the rollout does not wait for ignored clusters (O47).
func (p *Propagation) ignore(opts *rollout.Options) {
	selector, _ := p.strategy.selector(nil) // it was checked
	if selector == nil {
		return
	}
	for _, cluster := range p.state.Clusters {
		if cluster != nil && selector.Matches(labels.Set(cluster.Labels)) {
			p.ignoredClusters = append(p.ignoredClusters, cluster.Name)
		}
	}
	slices.Sort(p.ignoredClusters)
	if hasDeadline(p.engine) {
		opts.FailedBefore = slices.Concat(opts.FailedBefore, p.ignoredClusters)
	} else {
		opts.Ignored = slices.Concat(opts.Ignored, p.ignoredClusters)
	}
}

// freezeAll freezes each waiting cluster of a failed rollout.
func (p *Propagation) freezeAll() []rollout.ClusterFreeze {
	freezes := make([]rollout.ClusterFreeze, len(p.Clusters))
	for i := range freezes {
		freezes[i] = rollout.ClusterFreeze{Cluster: p.Clusters[i].Name, Reason: "the rollout has failed"}
	}
	return freezes
}
