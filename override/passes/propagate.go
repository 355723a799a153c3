package passes

import (
	"slices"
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

// Propagate says what each replicated policy has to be now. Replicas, in any order, are all that exist of the root
// policy. Inputs are not changed, and the result shares nothing with the replicas.
//
// Version tells one content of the policy from another. It must not be empty. A hash of what is replicated will do, or
// metadata.uid with metadata.generation, as a policy that was deleted and made again counts its generations from 1.
// Another version begins a rollout anew. So with the generation a change of the rolloutStrategy alone does, with a
// hash that leaves that field out it does not. It must not move with the root's status.
//
// A policy that informs, or whose strategy is All, is propagated in one pass: every cluster gets this version with
// its action, and is Progressing until it reports. Under All, options that hold clusters (rollout.Paused,
// rollout.Closed) keep at inform those that would be enforced. Nothing holds a cluster whose action is inform.
//
// Any other is propagated in two passes. Each call does both. In the first, every replica of another
// version, and every missing one, becomes of this version with inform and waits (ToApply). In the second, the rollout
// starts some of those that wait: they get their action and are Progressing. They keep it for this version, whatever
// becomes of them. A cluster goes through one pass a call, so call again after writing what a first pass asked for.
// The call after the second pass of the clusters that it started asks for nothing, until a report, a change or time
// brings something new.
//
// A Progressive strategy without maxConcurrency takes as many clusters at a time as the Placement puts into a decision
// group, where the groups know it, else one.
//
// A policy without a remediationAction is propagated as one that enforces, since its templates may: a progressive
// rollout first holds it at inform and then leaves the action unset. A disabled policy has all its replicas deleted,
// whatever the options.
//
// While the resolution is incomplete, nothing is deleted and nothing starts. What was started stays as it is, also
// where the override that made it so is not to be seen now.
//
// Errors are *field.Error, joined: no version (version), two replicas of a cluster (replicas[name]) or one without a
// name (replicas[0].cluster), an option that rollout.Plan refuses.
//
// It takes time linear in the clusters and replicas where the replicas are in the order of their clusters' names.
func Propagate(resolution *override.Resolution, version string, replicas []Replica, now time.Time, opts ...rollout.Option) (*Propagation, error) {
	ordered, errs := byCluster(replicas)
	if version == "" && !resolution.Disabled() {
		errs = append(errs, field.Required(field.NewPath("version"), "must tell this version of the policy from others"))
	}
	if len(errs) > 0 {
		return nil, fielderrs.Join(errs)
	}
	p := &Propagation{resolution: resolution, course: newCourse(resolution, version, opts)}
	p.align(ordered)
	var err error
	if p.result, err = rollout.Plan(p.strategy, p.groups, p.reports, now, p.options...); err != nil {
		return nil, err
	}
	p.settle()
	return p, nil
}

// course is how a policy is propagated.
type course struct {
	version string
	// two says that there are two passes.
	two      bool
	strategy clusterv1alpha1.RolloutStrategy
	groups   *grouping.Groups // of the bound clusters
	options  []rollout.Option
}

func newCourse(r *override.Resolution, version string, opts []rollout.Option) course {
	switch groups, strategy := r.Groups(), r.Strategy(); {
	case r.Disabled():
		return course{groups: groups}
	case strategy.Type == clusterv1alpha1.All:
		return course{version: version, groups: groups, strategy: strategy, options: opts}
	case r.Action() == policyv1.Inform:
		return course{version: version, groups: groups, options: opts}
	default:
		limited := oneAtATime(strategy, groups.ClustersPerDecisionGroup())
		return course{version: version, two: true, groups: groups, strategy: limited, options: opts}
	}
}

// oneAtATime gives a Progressive strategy its concurrency where neither it nor the groups have one (O9).
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

// align finds the replica of each bound cluster, and sets what the clusters have in the end, what they report, and
// what of it the rollout learns: nothing of a replica that is not of this version. Replicas are by the names of their
// clusters.
func (p *Propagation) align(replicas []*Replica) {
	p.reports = make([]status.Report, 0, len(replicas))
	p.Clusters = make([]Cluster, 0, p.groups.NumClusters())
	i := 0
	unbound := func() {
		p.reports = append(p.reports, status.Report{Cluster: replicas[i].Cluster, Status: status.ToApply})
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
		if report, known := p.report(&cluster); known {
			p.reports = append(p.reports, report)
			cluster.RolloutStatus = report.Status
		}
		p.Clusters = append(p.Clusters, cluster)
	}
	for i < len(replicas) {
		unbound()
	}
}

// report is what the cluster's replica says, if it speaks of this version.
func (p *Propagation) report(cluster *Cluster) (status.Report, bool) {
	r := cluster.replica
	if p.resolution.Undecided() && r.carries(p.version, policyv1.Enforce) {
		cluster.Action = policyv1.Enforce
	}
	started := r.carries(p.version, cluster.Action)
	if !started && !(p.two && r.is(p.version)) {
		return status.Report{}, false
	}
	return r.report(started, p.strategy.Type, cluster.Action), true
}

// settle turns what was reported into what has to be, given the plan. The positions of the groups are those of the
// bound clusters, as both are by name.
func (p *Propagation) settle() {
	for _, cluster := range p.result.TimedOut {
		position, _ := p.groups.Position(cluster.Name)
		own := &p.Clusters[position]
		own.RolloutStatus = status.TimeOut
		if own.replica.RolloutStatus != status.TimeOut {
			p.TimedOut = append(p.TimedOut, cluster.Name)
		}
	}
	for _, cluster := range p.result.Start {
		// In two passes, a cluster that is not yet of this version goes through the first before it starts.
		position, _ := p.groups.Position(cluster.Name)
		if own := &p.Clusters[position]; !p.two || own.replica.is(p.version) {
			own.RolloutStatus = status.Progressing
			p.Start = append(p.Start, cluster.Name)
		}
	}
	for i := range p.Clusters {
		own := &p.Clusters[i]
		if own.RolloutStatus == status.ToApply && own.Action == policyv1.Inform { // there is nothing to hold back
			own.RolloutStatus = status.Progressing
			p.Start = append(p.Start, own.Name)
		}
		own.settle(p.version)
	}
	p.Breach, p.Warnings, p.RecheckAfter = p.result.Breach, p.result.Warnings, p.result.RecheckAfter
	p.remove()
}

// settle holds a cluster that waits at inform, and says how its replica becomes what it has to be.
func (c *Cluster) settle(version string) {
	if c.RolloutStatus == status.ToApply {
		c.Action = policyv1.Inform
	}
	r := c.replica
	c.isOther = !r.is(version)
	switch {
	case r == nil:
		c.Verb = VerbCreate
	case !r.carries(version, c.Action):
		c.Verb = VerbUpdate
	case r.RolloutStatus != c.RolloutStatus:
		c.Verb = VerbUpdateStatus
	}
	// Of a replica that is to be written anew, what the cluster has reported is about something else.
	if c.Verb == VerbNone || c.Verb == VerbUpdateStatus {
		c.Compliance = r.compliance()
	}
	if r != nil {
		c.reported = r.Reported
	}
	c.replica = nil // the caller's, who may change it
}

// remove lists what has to be deleted. What the plan does not remove stays.
func (p *Propagation) remove() {
	p.Delete = p.result.Removed
	for _, r := range p.unbound {
		if _, removed := slices.BinarySearch(p.Delete, r.Cluster); !removed {
			p.kept = append(p.kept, Cluster{Name: r.Cluster, Action: r.Action, RolloutStatus: r.RolloutStatus, Compliance: r.compliance()})
		}
	}
	p.unbound, p.reports = nil, nil
}
