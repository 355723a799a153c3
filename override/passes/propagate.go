// SPDX-License-Identifier: Apache-2.0

package passes

import (
	"cmp"
	"time"

	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation/field"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"

	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/internal/fielderrs"
	"github.com/cohort-ocm/cohort/override"
	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/status"
	"github.com/cohort-ocm/cohort/status/policyv1"
)

// Propagate gives the wanted state of each replicated policy. Replicas are all existing replicas of the root policy, in
// any order. Inputs are not changed, and the result shares nothing with the replicas.
//
// Version identifies the content of the policy. It must not be empty, and must not change with the root's status. Another version
// begins a new rollout, and every replica is written. With the same version, no replica is written for its content. Use
// [VersionOf]: a hash of the replicated spec without the action, which the rollout sets, and without the rolloutStrategy. A change
// of these two, of labels or of annotations then begins no rollout. metadata.uid with metadata.generation is worse: it changes
// with the strategy, and not with the policies of a PolicySet that the policy depends on. The generation alone starts with 1
// again where the policy was deleted and created again.
//
// A version that changes nothing that a cluster evaluates is done at once where the cluster complies; see [ReplicaOf]. Where the
// cluster may have something new to report, for instance on changed dependencies, it is Progressing for up to five minutes. To
// change dependencies without a rollout, leave dependencies and extraDependencies out of the hash. The controller itself then
// has to update the replicas with other dependencies, and to keep their annotations and their action.
//
// An enforced cluster that does not comply is Progressing until its progress deadline: enforcing takes a while, and its report may
// be about inform. Set a progressDeadline: a bad version fails at the deadline, and without a deadline never. The root's
// annotation cohort.open-cluster-management.io/fail-at-once, "true", makes such a cluster Failed at once. DEPARTURES.md of package
// override says what each costs. A CertificatePolicy or an IamPolicy only informs, and fails no cluster.
//
// No more clusters are enforced than exposure.Of says, as long as templates that report only what is new answer within five minutes
// and the strategy's minSuccessTime, one after the other; see [ReplicaOf].
//
// Hub templates resolve to another text on each cluster, which the root's version does not cover. To roll such a change out, note
// a hash of a cluster's resolved text in an annotation of its replica, in the same write. While the noted hash differs from that of
// the present text, pass the replica with an empty Version. It then counts as one of another version: under two passes the
// cluster gets the new text with inform, and is enforced when the rollout starts it. It also gets a new stamp, so that a report on
// the text before is no answer to the new text.
//
// A policy that informs, or has strategy All, is propagated in one pass: every cluster gets this version with its
// action, and is Progressing until it reports. Under All, options that block clusters (Paused, Gates)
// keep clusters at inform that would be enforced. Nothing blocks a cluster with action inform.
//
// Any other policy is propagated in two passes. Each call does both. In the first pass, every replica of another
// version, and every missing one, gets this version with inform and waits (ToApply). In the second pass, the rollout
// starts some of the waiting clusters: they get their action and are Progressing. They keep the action for this
// version, whatever they report. A cluster starts once its status shows that it got the first pass, or after five minutes, or
// after the progressDeadline if that is less: see [ReplicaOf]. A cluster goes through one pass in a call, so call again after
// the writes of a first pass. Once the started clusters are written, calls ask for no writes until a report, a change or time
// brings something new.
//
// A Progressive strategy without maxConcurrency takes as many clusters at a time as the Placement puts into a decision
// group, if the groups know that number, and otherwise one.
//
// A policy without a remediationAction is propagated like one that enforces, since its templates may enforce: a
// progressive rollout first sets it to inform and then leaves the action unset. All replicas of a disabled policy are
// deleted, whatever the options.
//
// Record is the stored record of deselected clusters, to which the policy is not bound any more ([status.RecordsOf], by the empty
// name). A deselected cluster that has started and is not done counts: it takes its slot, and its failure is in the budget, until
// it recovers, is ignored, or another version is wanted. It is also forgotten once nothing is limited any more: the policy
// informs, or its strategy is All. Its replica is deleted all the same, but only once the record that was passed in has the cluster:
// store [Propagation].Record first, and read it back. To ignore a cluster, name it in Ignored.
//
// A cluster that is bound again while the record has it in flight resumes: it gets its action at once. With a
// recorded failure it is Failed, or TimeOut after its deadline, and stays at inform until it reports that it complies with this
// version. Then it waits for its turn like any other. If its action is inform by now, the record does not block it.
//
// All rollout.Options apply to the second pass, with these exceptions:
//
//   - An Attempt other than 0 is an error. A replicated policy does not say which attempt it is, so a failed cluster would
//     be tried again at each call, and no budget would ever be breached. No attempt is needed: a cluster evaluates its policy
//     again by itself.
//   - RemoveAfter keeps the replica of a deselected cluster for a grace period. Previous comes from the Propagation before
//     ([Propagation.Remembered]). Without it the grace period would start again at each call, and nothing would ever be deleted.
//   - StoredRecord has no effect: pass the record.
//   - A percentage in MaxRemoved is a share of the replicas that have this version or are to be deleted: right after an edit, of
//     a small number.
//
// While the resolution is incomplete, nothing is deleted, nothing is recorded and nothing starts. Started clusters stay as they
// are, even if the override that enforces them is not visible now.
//
// Errors are *field.Error, joined by [errors.Join]: no version (version), two replicas of a cluster (replicas[name]) or one without a
// name (replicas[0].cluster), a later attempt (attempt), an option that rollout.Plan refuses.
//
// It takes time linear in the clusters and replicas where the replicas are in the order of their clusters' names.
func Propagate(resolution *override.Resolution, version string, record status.Record, replicas []Replica, now time.Time, opts rollout.Options) (*Propagation, error) {
	ordered, errs := byCluster(replicas, now)
	if version == "" && !resolution.Disabled() {
		errs = append(errs, field.Required(field.NewPath("version"), "must tell this version of the policy from others"))
	}
	propagation := &Propagation{resolution: resolution, course: newCourse(resolution, version, opts), Record: record}
	if propagation.options.Attempt > 0 { // O18
		errs = append(errs, field.Forbidden(field.NewPath("attempt"), "must be left out: a replicated policy does not say which attempt it is"))
	}
	if len(errs) > 0 {
		return nil, fielderrs.Join(errs)
	}
	propagation.align(ordered, now)
	propagation.remember()
	var err error
	if propagation.result, err = rollout.Plan(propagation.strategy, propagation.groups, propagation.reports, now, propagation.options); err != nil {
		return nil, err
	}
	propagation.settle(now)
	return propagation, nil
}

// kind says how the reports of a policy are read.
type kind struct {
	// typ is the type of the strategy that the policy is rolled out by: none where it is disabled, or informs without All (O8).
	typ clusterv1alpha1.RolloutType
	// two says that there are two passes (O9).
	two        bool
	failAtOnce bool
	// patience is how long a cluster without a sign stays in its first pass (O26).
	patience time.Duration
}

func kindOf(resolution *override.Resolution) kind {
	kind := kind{typ: resolution.Strategy().Type, failAtOnce: resolution.FailsAtOnce()}
	if resolution.Disabled() || kind.typ != clusterv1alpha1.All && resolution.Action() == policyv1.Inform {
		kind.typ = ""
	}
	kind.two = kind.typ != "" && kind.typ != clusterv1alpha1.All
	if kind.patience = patience; kind.two {
		if deadline := deadlineOf(resolution.Strategy()); deadline > 0 {
			kind.patience = min(patience, deadline)
		}
	}
	return kind
}

// course says how a policy is propagated.
type course struct {
	version string
	kind
	strategy clusterv1alpha1.RolloutStrategy
	groups   *grouping.Groups // of the bound clusters
	options  rollout.Options
}

func newCourse(resolution *override.Resolution, version string, opts rollout.Options) course {
	c := course{version: version, kind: kindOf(resolution), groups: resolution.Groups(), options: opts}
	switch {
	case resolution.Disabled():
		return course{groups: c.groups}
	case c.two:
		c.strategy = oneAtATime(resolution.Strategy(), c.groups.ClustersPerDecisionGroup())
	case c.typ != "":
		c.strategy = resolution.Strategy()
	}
	return c
}

// oneAtATime sets the concurrency of a Progressive strategy where neither it nor the groups have one (O9).
func oneAtATime(strategy clusterv1alpha1.RolloutStrategy, groupSize int) clusterv1alpha1.RolloutStrategy {
	if strategy.Type != clusterv1alpha1.Progressive || groupSize > 0 {
		return strategy
	}
	var progressive clusterv1alpha1.RolloutProgressive
	if strategy.Progressive != nil {
		progressive = *strategy.Progressive
	}
	if progressive.MaxConcurrency == (intstr.IntOrString{}) {
		progressive.MaxConcurrency = intstr.FromInt32(1)
		strategy.Progressive = &progressive
	}
	return strategy
}

// align finds the replica of each bound cluster. It sets the action that each cluster has in the end, its status, and the reports
// for the rollout: none for a replica of another version. Replicas are sorted by the names of their clusters.
func (p *Propagation) align(replicas []*Replica, now time.Time) {
	p.reports = make([]status.Report, 0, len(replicas))
	p.Clusters = make([]Cluster, 0, p.groups.NumClusters())
	i := 0
	unbound := func() {
		p.reports = append(p.reports, p.unboundReport(replicas[i]))
		p.unbound = append(p.unbound, replicas[i])
		i++
	}
	for bound := range p.resolution.Clusters() {
		for i < len(replicas) && replicas[i].Cluster < bound.Name {
			unbound()
		}
		cluster := Cluster{Name: bound.Name, Action: bound.Action, RolloutStatus: status.ToApply}
		if i < len(replicas) && replicas[i].Cluster == bound.Name {
			cluster.replica = replicas[i]
			i++
		}
		if report, known := p.report(&cluster, now); known {
			p.reports = append(p.reports, report)
			cluster.RolloutStatus = shown(report.Status)
		}
		p.Clusters = append(p.Clusters, cluster)
	}
	for i < len(replicas) {
		unbound()
	}
}

// report gives the report of the cluster's replica, if it is about this version.
func (p *Propagation) report(cluster *Cluster, now time.Time) (status.Report, bool) {
	cluster.Action = cluster.replica.action(p.version, cluster.Action, p.resolution.Undecided())
	return cluster.replica.boundReport(p.version, p.kind, cluster.Action, now)
}

// settle turns the reports and the plan into the wanted state of each cluster. Groups and bound clusters have the same
// positions, since both are sorted by name.
func (p *Propagation) settle(now time.Time) {
	p.resume()
	for _, cluster := range p.result.TimedOut {
		position, _ := p.groups.Position(cluster.Name)
		own := &p.Clusters[position]
		if own.RolloutStatus != status.TimeOut { // not by the record
			own.RolloutStatus = own.replica.timedOut(p.version, own.Action)
		}
		if own.replica == nil || own.replica.RolloutStatus != own.RolloutStatus {
			p.TimedOut = append(p.TimedOut, cluster.Name)
		}
	}
	for _, cluster := range p.result.Start {
		// With two passes, a cluster that does not have this version yet goes through the first pass before it starts.
		position, _ := p.groups.Position(cluster.Name)
		if own := &p.Clusters[position]; !p.two || own.replica.isReady(p.version, p.kind, now) {
			own.RolloutStatus = status.Progressing
			p.Start = append(p.Start, cluster.Name)
		}
	}
	for i := range p.Clusters {
		own := &p.Clusters[i]
		if own.RolloutStatus == status.ToApply && own.Action == policyv1.Inform { // nothing blocks inform
			own.RolloutStatus = status.Progressing
			p.Start = append(p.Start, own.Name)
		}
		if own.settle(p.version, p.kind, now); own.edited {
			p.Edited = append(p.Edited, own.Name)
		}
	}
	p.Breach, p.Warnings, p.RecheckAfter = p.result.Breach, p.result.Warnings, p.result.RecheckAfter
	p.recheck(now)
	p.keepRecord()
	p.remove()
	p.unbound, p.recorded, p.reports = nil, nil, nil
}

// settle keeps a waiting cluster at inform, and sets the write that its replica needs.
func (c *Cluster) settle(version string, kind kind, now time.Time) {
	if c.RolloutStatus == status.ToApply {
		c.Action = policyv1.Inform
	}
	replica := c.replica
	c.isOther = !replica.is(version)
	if c.RolloutStatus == status.ToApply && !c.isOther && !replica.isReady(version, kind, now) {
		c.silentUntil = replica.silentUntil(kind)
	}
	switch {
	case replica == nil:
		c.Verb = VerbCreate
	case !replica.carries(version, c.Action) || replica.Edited || replica.isUntimed:
		c.Verb = VerbUpdate
		c.edited = replica.carries(version, c.Action) && replica.Edited
		c.isUntimed = replica.carries(version, c.Action) && !replica.Edited
	case replica.RolloutStatus != c.RolloutStatus:
		c.Verb = VerbUpdateStatus
	}
	// If the replica has to be written, the cluster's report is about other content.
	if c.Verb == VerbNone || c.Verb == VerbUpdateStatus || c.isUntimed {
		c.Compliance = replica.told()
	}
	if replica != nil {
		c.reported, c.said = replica.Reported, replica.said()
		switch {
		case c.edited:
			c.reported = cmp.Or(replica.setBack, c.reported)
		case replica.Edited && c.isOther:
			c.reported = cmp.Or(replica.unknown, c.reported)
		}
	}
	c.replica = nil // it belongs to the caller
}

// recheck sets RecheckAfter to when an earlier message begins to count, or when the first pass of a cluster without a sign ends.
func (p *Propagation) recheck(now time.Time) {
	at := func(at time.Time) {
		if after := at.Sub(now); p.RecheckAfter == 0 || after < p.RecheckAfter {
			p.RecheckAfter = after
		}
	}
	for i := range p.Clusters {
		cluster := &p.Clusters[i]
		if cluster.said != nil && cluster.said.late != nil && cluster.Verb != VerbUpdate {
			at(cluster.said.late.from)
		}
		if !cluster.silentUntil.IsZero() && cluster.Verb != VerbUpdate {
			at(cluster.silentUntil)
		}
	}
}
