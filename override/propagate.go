package override

import (
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/util/validation/field"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"

	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/status"
)

// Root is a root policy with all that says where it goes.
type Root struct {
	Policy *Policy

	// Version tells one content of the policy from another; it must not be empty. A hash of what is
	// replicated, or metadata.uid with metadata.generation, as a policy that was deleted and made again counts
	// its generations from 1. Make it of the real object: Policy here has no policy-templates. Another version
	// begins a rollout anew, so that with the generation a change of the rolloutStrategy alone does, with a
	// hash that leaves that field out it does not. It must not move with the root's status.
	Version string

	// Bound is what Resolve says of Policy as it is now. One from before a change of its action or strategy is
	// refused.
	Bound Result

	// Groups are what Bound.Groups made of the placements' groups. Nil puts all clusters in one group, and is
	// refused where the policy is rolled out group by group.
	Groups *grouping.Groups

	// Status is the root policy's present status.
	Status status.PolicyStatus
}

// Propagate says what each replicated policy has to be now (O8–O11). Replicas, in any order, are all that
// exist of this root policy. Inputs are not changed; the result keeps the root's groups.
//
// A policy that informs, or whose strategy is All, is propagated in one pass: every cluster gets this
// version with the action that Bound has for it, and is Progressing until it reports (O8). Under All the
// options that hold clusters, rollout.Paused and rollout.Closed, keep at inform those that would be enforced;
// nothing holds a cluster where the policy informs.
//
// Any other is propagated in two, which each call takes together. In the first, every replica of another
// version, and every missing one, becomes of this version with inform and waits (ToApply). In the
// second, the rollout starts some of those that wait: they get the action that Bound has for them and
// are Progressing. They keep it for this version, whatever becomes of them (O9). A cluster goes through
// one pass a call, so after writing what a first pass asked for, call again. The call after the second
// pass of the clusters that it started asks for nothing, until a report, a change or time brings
// something new (O11).
//
// A policy without a remediationAction is propagated as one that enforces, since its templates may: a
// progressive rollout first holds it at inform and then leaves the action unset. A disabled policy
// has all its replicas deleted, whatever else is wrong with it.
//
// Errors are *field.Error, joined: no policy, no version, an unknown action, a strategy or an option
// that rollout.Plan refuses (policy.spec.rolloutStrategy.progressive.maxConcurrency), two replicas of a
// cluster or one without a name (replicas[name]), a Bound that is not of the policy's present action and
// strategy (bound[name].action), groups of other clusters than the bound ones (groups[name]), no groups for a
// rollout group by group (groups).
//
// It takes time linear in the clusters and replicas where the replicas are in the order of their
// clusters' names.
func Propagate(root Root, replicas []Replica, now time.Time, opts ...rollout.Option) (*Propagation, error) {
	ordered, errs := byCluster(replicas)
	s, invalid := root.passes(opts)
	if errs = append(errs, invalid...); len(errs) > 0 {
		return nil, join(errs)
	}
	if root.Policy.Spec.Disabled {
		root.Bound, root.Groups = Result{}, nil
	}
	if err := root.requireBound(); err != nil {
		return nil, err
	}
	if s.two && s.strategy.Type == clusterv1alpha1.ProgressivePerGroup && root.Groups == nil && len(root.Bound.Clusters) > 0 {
		return nil, field.Required(field.NewPath("groups"),
			"the policy is rolled out group by group; expected the groups of Result.Groups, lest all clusters start at once")
	}
	if err := root.requireGroups(); err != nil {
		return nil, err
	}

	p := &Propagation{Clusters: make([]Propagated, len(root.Bound.Clusters))}
	at := p.align(root.Bound.Clusters, ordered)
	reports, statuses := s.reports(&root, at, p.Delete)
	var err error
	if p.Rollout, err = rollout.Plan(s.strategy, root.Groups, reports, now, s.options...); err != nil {
		return nil, err
	}
	p.settle(&root, at, statuses, s)
	p.summarize(&root, at)
	return p, nil
}

// passes is how a policy is propagated.
type passes struct {
	two      bool
	strategy clusterv1alpha1.RolloutStrategy
	options  []rollout.Option
}

// passes checks all of the root but its groups.
func (r *Root) passes(opts []rollout.Option) (passes, field.ErrorList) {
	if r.Policy == nil {
		return passes{}, field.ErrorList{field.Required(field.NewPath("policy"), "expected the root policy")}
	}
	all := passes{strategy: clusterv1alpha1.RolloutStrategy{Type: clusterv1alpha1.All}}
	if r.Policy.Spec.Disabled {
		return all, nil
	}
	var errs field.ErrorList
	if r.Version == "" {
		errs = append(errs, field.Required(field.NewPath("version"), "expected what tells this version of the policy from others"))
	}
	action, err := r.Policy.action()
	if err != nil {
		errs = append(errs, err)
	}
	strategy := r.Policy.Spec.RolloutStrategy
	errs = append(errs, rollout.Validate(strategy, field.NewPath("policy", "spec", "rolloutStrategy"))...)
	switch {
	case strategy.Type == "" || strategy.Type == clusterv1alpha1.All:
		all.strategy.All, all.options = strategy.All, opts
		return all, errs
	case action == Inform:
		return all, errs
	default:
		return passes{two: true, strategy: strategy, options: opts}, errs
	}
}

// requireBound checks that the actions of the bound clusters are those of the policy as it is. A Bound that was
// kept over a change of the policy would enforce one that informs by now, on all clusters at once.
func (r *Root) requireBound() error {
	own, strategy, errs := settings(r.Policy)
	if r.Policy.Spec.Disabled || len(errs) > 0 {
		return nil // bound nowhere, or refused before
	}
	for i := range r.Bound.Clusters {
		c, want := &r.Bound.Clusters[i], own
		if len(c.DecidedBy) > 0 && strategy == clusterv1alpha1.All {
			want = Enforce
		}
		if c.Action != want {
			return field.Invalid(field.NewPath("bound").Key(c.Name).Child("action"), c.Action,
				fmt.Sprintf("expected %s, as Resolve says of the policy with its present action and strategy; resolve again", show(want)))
		}
	}
	return nil
}

// requireGroups checks that the groups are those of the bound clusters, and makes them where there are none.
func (r *Root) requireGroups() error {
	bound := r.Bound.Clusters
	if r.Groups == nil {
		var err error
		if r.Groups, err = r.Bound.inOneGroup(); err != nil {
			return err
		}
	}
	for i := range max(len(bound), r.Groups.NumClusters()) {
		switch {
		case i >= r.Groups.NumClusters() || i < len(bound) && bound[i].Name < r.Groups.Cluster(i):
			return field.Required(field.NewPath("groups").Key(bound[i].Name),
				fmt.Sprintf("the policy is bound to cluster %q, which is in no group; expected the groups of Result.Groups", bound[i].Name))
		case i >= len(bound) || bound[i].Name != r.Groups.Cluster(i):
			return field.Invalid(field.NewPath("groups").Key(r.Groups.Cluster(i)), r.Groups.Cluster(i),
				"the policy is not bound to this cluster; expected the groups of Result.Groups")
		}
	}
	return nil
}

// align finds the replica of each bound cluster, nil where there is none; both are by name. The others are to
// be deleted.
func (p *Propagation) align(bound []Cluster, replicas []*Replica) []*Replica {
	at := make([]*Replica, len(bound))
	i := 0
	for _, r := range replicas {
		for i < len(bound) && bound[i].Name < r.Cluster {
			i++
		}
		if i < len(bound) && bound[i].Name == r.Cluster {
			at[i] = r
		} else {
			p.Delete = append(p.Delete, r.Cluster)
		}
	}
	return at
}

// reports is what the rollout learns, and the status in it of each bound cluster. A replica that is not of this
// version says nothing of it.
func (s *passes) reports(root *Root, at []*Replica, unbound []string) ([]status.Report, []status.RolloutStatus) {
	reports := make([]status.Report, 0, len(at)+len(unbound))
	statuses := make([]status.RolloutStatus, len(at))
	for i, r := range at {
		action := root.Bound.Clusters[i].Action
		statuses[i] = status.ToApply
		started := r.carries(root.Version, action)
		if started || s.two && r.is(root.Version) {
			report := r.report(started, s.strategy.Type, action)
			reports = append(reports, report)
			statuses[i] = report.Status
		}
	}
	for _, cluster := range unbound {
		reports = append(reports, status.Report{Cluster: cluster, Status: status.ToApply})
	}
	return reports, statuses
}
