package passes

import (
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

// Propagate says what each replicated policy has to be now. Replicas are all existing replicas of the root policy, in
// any order. Inputs are not changed, and the result shares nothing with the replicas.
//
// Version tells one content of the policy from another. It must not be empty, and must not change with the root's
// status. Another version begins a new rollout, and every replica is written. With the same version, none is written
// for its content. So use [VersionOf]: a hash of the spec that is replicated, without the action, which the rollout sets, and
// without the rolloutStrategy. Then a change of these two, of labels or
// of annotations begins nothing. metadata.uid with metadata.generation is worse: it changes with the strategy, and not
// with the policies of a PolicySet that the policy depends on. The generation alone begins with 1 again where the policy
// was deleted and created anew.
//
// A version that changes nothing that a cluster evaluates is done at once where the cluster complies; see [ReplicaOf]. Where it may
// have something to say, as of dependencies that changed, it is Progressing for up to five minutes. To roll changes of dependencies out
// to nobody, leave dependencies and extraDependencies out of the hash. Then the controller itself has to update the replicas
// whose dependencies differ. It keeps their annotations and their action.
//
// A cluster that enforces and does not comply is Progressing until its progress deadline: enforcing takes a while, and what it says may
// be about inform. So a bad version is noticed at the deadline, and without one never: set a progressDeadline. The root's
// annotation cohort.open-cluster-management.io/fail-at-once, "true", makes such a cluster Failed at once.
//
// Hub templates resolve to another text on each cluster, which no version of the root tells. To roll such a change out, note a hash of
// a cluster's resolved text in an annotation of its replica, in the same write. Pass a replica with an empty Version while its
// noted hash is not that of what the templates resolve to now. Then it counts as one of another version: under two passes the
// cluster gets the new text with inform, and is enforced when the rollout starts it. Stamp begins anew
// then, so a report on the text before is no answer to the new one.
//
// A policy that informs, or whose strategy is All, is propagated in one pass: every cluster gets this version with its
// action, and is Progressing until it reports. Under All, options that hold clusters (Paused, Gates)
// keep clusters at inform that would be enforced. Nothing holds a cluster whose action is inform.
//
// Any other policy is propagated in two passes. Each call does both. In the first pass, every replica of another
// version, and every missing one, gets this version with inform and waits (ToApply). In the second pass, the rollout
// starts some of the waiting clusters: they get their action and are Progressing. They keep the action for this
// version, whatever they report. A cluster starts once its status tells that it got the first pass, or after five minutes, or the
// progressDeadline if that is less: see [ReplicaOf]. A cluster goes through one pass in a call, so call again after writing what a first
// pass asked for. Once the started clusters are written, calls ask for nothing until a report, a change or time brings
// something new.
//
// A Progressive strategy without maxConcurrency takes as many clusters at a time as the Placement puts into a decision
// group, if the groups know that number, and otherwise one.
//
// A policy without a remediationAction is propagated like one that enforces, since its templates may enforce: a
// progressive rollout first holds it at inform and then leaves the action unset. All replicas of a disabled policy are
// deleted, whatever the options.
//
// Record is what the root policy has stored about clusters that are not bound any more ([status.RecordsOf], by the empty name).
// A cluster that has started and is not done counts although the policy is not bound to it any more: it takes its slot, and its
// failure is in the budget, until it recovers, is given up, or another version is wanted. It is forgotten, too, where nothing is
// limited any more: the policy informs, or its strategy is All. Its replica is deleted all the same.
// Before that, the record has to tell what the replica tells. So store [Propagation].Record first, and read it back: a cluster is
// in Removed only where the record that was passed in has it. To give a cluster up, name it in Uncounted.
//
// A cluster that is bound again while the record has it in flight goes on where it was: it gets its action at once. With a
// recorded failure it is Failed, or TimeOut after its deadline, and stays at inform until it reports that it complies with this
// version. Then it waits for its turn like any other. Where its action is inform by now, nothing of that holds it.
//
// All rollout.Options hold in the second pass, with these exceptions:
//
//   - An Attempt other than 0 is an error. A replicated policy does not say which attempt it is, so a cluster that fails would
//     be tried again at each call, and no budget would ever be breached. None is needed: a cluster evaluates its policy again
//     by itself.
//   - RemoveAfter keeps the replica of a cluster that is not bound any more. Previous comes from the Propagation before
//     ([Propagation.Remembered]). Without it the time of grace would begin anew at each call, and nothing would ever be deleted.
//   - Memory has no effect: pass the record.
//   - A percentage in MaxRemoved is a share of the replicas that have this version or are to be deleted. So right
//     after an edit it is a share of few.
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
	p := &Propagation{resolution: resolution, course: newCourse(resolution, version, opts), Record: record}
	if p.options.Attempt > 0 { // O18
		errs = append(errs, field.Forbidden(field.NewPath("attempt"), "must be left out: a replicated policy does not say which attempt it is"))
	}
	if len(errs) > 0 {
		return nil, fielderrs.Join(errs)
	}
	p.align(ordered, now)
	p.remember()
	var err error
	if p.result, err = rollout.Plan(p.strategy, p.groups, p.reports, now, p.options); err != nil {
		return nil, err
	}
	p.settle(now)
	return p, nil
}

// kind says how the reports of a policy are read.
type kind struct {
	// typ is the type of the strategy that the policy is rolled out by: none where it is disabled, or informs without All (O8).
	typ clusterv1alpha1.RolloutType
	// two says that there are two passes (O9).
	two        bool
	failAtOnce bool
	// patience is how long a cluster that says nothing stays in its first pass (O26).
	patience time.Duration
}

func kindOf(r *override.Resolution) kind {
	k := kind{typ: r.Strategy().Type, failAtOnce: r.FailsAtOnce()}
	if r.Disabled() || k.typ != clusterv1alpha1.All && r.Action() == policyv1.Inform {
		k.typ = ""
	}
	k.two = k.typ != "" && k.typ != clusterv1alpha1.All
	if k.patience = patience; k.two {
		if deadline := deadlineOf(r.Strategy()); deadline > 0 {
			k.patience = min(patience, deadline)
		}
	}
	return k
}

// course says how a policy is propagated.
type course struct {
	version string
	kind
	strategy clusterv1alpha1.RolloutStrategy
	groups   *grouping.Groups // of the bound clusters
	options  rollout.Options
}

func newCourse(r *override.Resolution, version string, opts rollout.Options) course {
	c := course{version: version, kind: kindOf(r), groups: r.Groups(), options: opts}
	switch {
	case r.Disabled():
		return course{groups: c.groups}
	case c.two:
		c.strategy = oneAtATime(r.Strategy(), c.groups.ClustersPerDecisionGroup())
	case c.typ != "":
		c.strategy = r.Strategy()
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

// align finds the replica of each bound cluster. It sets the action that each cluster has in the end, what it reports,
// and what the rollout gets to know: nothing about a replica of another version. Replicas are sorted by the names of
// their clusters.
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

// report gives what the cluster's replica says, if it is about this version.
func (p *Propagation) report(cluster *Cluster, now time.Time) (status.Report, bool) {
	cluster.Action = cluster.replica.action(p.version, cluster.Action, p.resolution.Undecided())
	return cluster.replica.boundReport(p.version, p.kind, cluster.Action, now)
}

// settle turns the reports and the plan into what each cluster has to be. Groups and bound clusters have the same
// positions, as both are sorted by name.
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
		if own.RolloutStatus == status.ToApply && own.Action == policyv1.Inform { // nothing to hold back
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

// settle holds a waiting cluster at inform, and says which write its replica needs.
func (c *Cluster) settle(version string, k kind, now time.Time) {
	if c.RolloutStatus == status.ToApply {
		c.Action = policyv1.Inform
	}
	r := c.replica
	c.isOther = !r.is(version)
	if c.RolloutStatus == status.ToApply && !c.isOther && !r.isReady(version, k, now) {
		c.silentUntil = r.holdsUntil(k)
	}
	switch {
	case r == nil:
		c.Verb = VerbCreate
	case !r.carries(version, c.Action) || r.Edited:
		c.Verb = VerbUpdate
		c.edited = r.carries(version, c.Action)
	case r.RolloutStatus != c.RolloutStatus:
		c.Verb = VerbUpdateStatus
	}
	// If the replica has to be written anew, the cluster's report is about something else.
	if c.Verb == VerbNone || c.Verb == VerbUpdateStatus {
		c.Compliance = r.told()
	}
	if r != nil {
		c.reported, c.said = r.Reported, r.said()
	}
	c.replica = nil // it belongs to the caller, who may change it
}

// recheck comes back when what a cluster has said begins to count, and when a silent one has been in its first pass for long enough.
func (p *Propagation) recheck(now time.Time) {
	at := func(t time.Time) {
		if after := t.Sub(now); p.RecheckAfter == 0 || after < p.RecheckAfter {
			p.RecheckAfter = after
		}
	}
	for i := range p.Clusters {
		c := &p.Clusters[i]
		if c.said != nil && c.said.late != nil && c.Verb != VerbUpdate {
			at(c.said.late.from)
		}
		if !c.silentUntil.IsZero() && c.Verb != VerbUpdate {
			at(c.silentUntil)
		}
	}
}
