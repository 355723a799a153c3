// SPDX-License-Identifier: Apache-2.0

package scenario

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"

	"github.com/cohort-ocm/cohort/examples/internal/manifest"
	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/override"
	"github.com/cohort-ocm/cohort/override/passes"
	"github.com/cohort-ocm/cohort/status/policyv1"
)

// Policy is a root policy with all that says where it goes.
type Policy struct {
	// Resolution says where the policy goes, and Version tells its content from another.
	Resolution *override.Resolution
	// Bindings are the policy's, by name, each with what its placement selects.
	Bindings []override.Binding
	Version  string
	// Replicas are the replicated policies that were read, by cluster.
	Replicas []passes.Replica
	// Deleting are the clusters with a replicated policy that is being deleted.
	Deleting map[string]bool
	root     *policyv1.Policy
	// AtOnce says that all clusters start together, whatever the strategy and the options: the policy informs, or its
	// strategy is All.
	AtOnce bool
}

// InformsEverywhere says that no cluster is enforced, so that nothing can hold one.
func (p *Policy) InformsEverywhere() bool {
	for c := range p.Resolution.Clusters() {
		if c.Action != policyv1.Inform {
			return false
		}
	}
	return true
}

// loadPolicy finds where a Policy goes. wanted must be zero, as a policy goes to the placements of all its bindings.
func (o *objects) loadPolicy(r applier, wanted Ref) (*Scenario, error) {
	if _, err := r.targets(wanted); err != nil {
		return nil, err
	}
	s, err := o.begin(r)
	if err != nil {
		return nil, err
	}
	s.Strategy, s.Policy = r.policy.Spec.RolloutStrategy, &Policy{Version: fmt.Sprint(r.policy.Generation), AtOnce: atOnce(r.policy), root: r.policy}
	s.noteZero(r, r.Targets[0])
	bindings, err := o.bindingsOf(r)
	if err != nil {
		return nil, err
	}
	switch {
	case r.policy.Spec.Disabled:
		s.note("spec.disabled: the policy is bound nowhere")
	case s.Policy.AtOnce && s.Strategy.Type != "" && s.Strategy.Type != clusterv1alpha1.All:
		s.note("spec.rolloutStrategy: no effect, as a policy that informs goes to all clusters at once")
	}
	if len(bindings) == 0 && !r.policy.Spec.Disabled {
		s.note("no PlacementBinding %s has the policy as its subject: it is bound nowhere", o.where())
	}
	parts, err := o.selectAll(s, r, bindings)
	if err != nil {
		return nil, err
	}
	if s.Policy.Resolution, err = override.Resolve(r.policy, bindings); err != nil {
		return nil, r.Fault(err)
	}
	s.Policy.Bindings = bindings
	s.Groups = s.Policy.Resolution.Groups()
	if s.Groups.NumClusters() == 0 {
		s.unbound(r, bindings, parts)
	}
	return s, nil
}

func atOnce(p *policyv1.Policy) bool {
	strategy := p.Spec.RolloutStrategy.Type
	return strings.EqualFold(string(p.Spec.RemediationAction), string(policyv1.Inform)) ||
		strategy == "" || strategy == clusterv1alpha1.All
}

// bindingsOf gives the policy's bindings, without their clusters. Objects are looked at one by one first, as
// the error for all of them could not say in which file it is.
func (o *objects) bindingsOf(r applier) ([]override.Binding, error) {
	var sets []*policyv1.PolicySet
	for _, set := range o.policySets {
		adopt(r.policy, &set.typed.ObjectMeta)
		sets = append(sets, set.typed)
		if _, err := override.Bindings(r.policy, nil, sets[len(sets)-1:]); err != nil {
			if errs := override.ValidateSet(set.typed, nil); len(errs) > 0 {
				err = errs.ToAggregate() // with the paths of the object
			}
			return nil, set.Fault(err)
		}
	}
	var bindings []*policyv1.PlacementBinding
	for _, b := range o.bindings {
		adopt(r.policy, &b.typed.ObjectMeta)
		bindings = append(bindings, b.typed)
		if _, err := override.Bindings(r.policy, bindings[len(bindings)-1:], sets); err != nil {
			if errs := override.Validate(b.typed, nil); len(errs) > 0 {
				err = errs.ToAggregate() // with the paths of the object
			}
			return nil, b.Fault(err)
		}
	}
	if r.policy.Spec.Disabled { // its bindings need no lookup
		return nil, nil
	}
	own, err := override.Bindings(r.policy, bindings, sets)
	return own, r.Fault(err)
}

// adopt makes an object one of the policy's namespace where either has none: files for kubectl often leave it out.
func adopt(policy *policyv1.Policy, object *metav1.ObjectMeta) {
	if object.Namespace == "" || policy.Namespace == "" {
		object.Namespace = policy.Namespace
	}
}

// selectAll sets the groups of each binding. References of other kinds bind nothing, which Resolve says.
func (o *objects) selectAll(s *Scenario, r applier, bindings []override.Binding) (map[Ref]*Scenario, error) {
	parts := make(map[Ref]*Scenario)
	for i := range bindings {
		b := &bindings[i]
		selects := Ref{r.GetNamespace(), b.PlacementRef.Name}
		if selects.Name == "" {
			continue
		}
		switch b.PlacementRef.APIGroup + "/" + b.PlacementRef.Kind {
		case "cluster.open-cluster-management.io/Placement":
			part, err := o.part(s, selects, parts)
			if err != nil {
				return nil, o.fault(b.Name, err)
			}
			b.Groups = part.Groups
		case "apps.open-cluster-management.io/PlacementRule":
			var err error
			if b.Groups, err = o.ruled(s, selects); err != nil {
				return nil, o.fault(b.Name, err)
			}
		}
	}
	s.parts = make(map[string]*Scenario, len(parts))
	for ref, part := range parts {
		s.parts[ref.Name] = part
	}
	s.gather(o, parts, len(bindings))
	return parts, nil
}

// unbound says why the policy is bound to no cluster.
func (s *Scenario) unbound(r applier, bindings []override.Binding, parts map[Ref]*Scenario) {
	drop := func(clusters int, format string, args ...any) {
		s.Dropped = append(s.Dropped, Drop{fmt.Sprintf(format, args...), clusters})
	}
	switch {
	case r.policy.Spec.Disabled:
		drop(s.Fleet, "the policy is disabled (spec.disabled)")
		return
	case len(bindings) == 0:
		drop(s.Fleet, "no PlacementBinding has the policy as its subject")
	}
	for _, b := range bindings {
		part := parts[Ref{r.GetNamespace(), b.PlacementRef.Name}]
		switch selected := b.Groups.NumClusters(); {
		case selected > 0 && b.SubFilter:
			drop(selected, "binding %s is a sub filter, which binds no cluster", b.Name)
		case selected > 0:
			drop(selected, "binding %s reaches the policy through PolicySets that exclude them", b.Name)
		case b.Groups == nil:
			drop(0, "binding %s refers to neither a Placement nor a PlacementRule", b.Name)
		case part == nil || len(part.Dropped) == 0:
			drop(0, "binding %s: %v selects no cluster", b.Name, b.PlacementRef)
		default:
			for _, d := range part.Dropped {
				drop(d.Clusters, "placement %s: %s", b.PlacementRef.Name, d.Rule)
			}
		}
	}
}

// fault says that the policy's binding of this name is at fault, unless err names another object.
func (o *objects) fault(binding string, err error) error {
	if other := (*manifest.Error)(nil); errors.As(err, &other) {
		return err
	}
	i := slices.IndexFunc(o.bindings, func(b source[policyv1.PlacementBinding]) bool { return b.GetName() == binding })
	return o.bindings[i].Fault(err)
}

// part is the placement of this name as if it were rolled out to alone; the same for all bindings that name it.
func (o *objects) part(s *Scenario, wanted Ref, parts map[Ref]*Scenario) (*Scenario, error) {
	if part, known := parts[wanted]; known {
		return part, nil
	}
	there := o.refs()
	there = slices.DeleteFunc(there, func(r Ref) bool { return !r.matches(wanted) })
	switch len(there) {
	case 0:
		return nil, fmt.Errorf("placementRef: %s neither a Placement %v nor PlacementDecisions of it", o.source(), wanted)
	case 1:
	default:
		return nil, fmt.Errorf("placementRef: %d placements %s (%s): must be one", len(there), o.where(), join(there))
	}
	part := &Scenario{Placement: there[0], Fleet: s.Fleet}
	if !s.Policy.AtOnce {
		part.Strategy = s.Strategy
	}
	parts[wanted] = part
	return part, part.group(o.placed(there[0]), o)
}

// ruled are the clusters that a PlacementRule decided on. It has no decision groups.
func (o *objects) ruled(s *Scenario, wanted Ref) (*grouping.Groups, error) {
	for _, rule := range o.rules {
		if !wanted.matches(Ref{rule.GetNamespace(), rule.GetName()}) {
			continue
		}
		var clusters []string
		for _, decision := range rule.typed.Status.Decisions {
			clusters = append(clusters, decision.ClusterName)
		}
		if clusters == nil {
			how := ""
			if !o.hub {
				how = "; kubectl get -o yaml prints them"
			}
			s.note("%v: no status.decisions %s, which is all that is read of a PlacementRule: it selects no cluster%s", rule, o.where(), how)
		}
		groups, err := grouping.FromNames(map[grouping.Key][]string{{}: clusters})
		return groups, rule.Fault(err)
	}
	return nil, fmt.Errorf("placementRef: %s no PlacementRule %v", o.source(), wanted)
}

// gather takes over what is to be said of the placements, and what of the files has no part in the rollout.
func (s *Scenario) gather(o *objects, parts map[Ref]*Scenario, bindings int) {
	decisions := len(o.decisions)
	for _, ref := range slices.SortedFunc(maps.Keys(parts), func(a, b Ref) int { return strings.Compare(a.Name, b.Name) }) {
		part := parts[ref]
		for _, note := range part.Notes {
			s.note("%v: %s", part.Placement, note)
		}
		if part.Stored {
			decisions -= len(part.Decisions)
		}
	}
	if decisions > 0 {
		s.note("PlacementDecision: of other placements, not used (%d)", decisions)
	}
	if unused := len(o.bindings) - bindings; unused > 0 {
		s.note("PlacementBinding: not used (%d)", unused)
	}
}
