package scenario

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/util/validation/field"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	"github.com/cohort-ocm/cohort/examples/internal/manifest"
	"github.com/cohort-ocm/cohort/examples/simulate/internal/behavior"
	"github.com/cohort-ocm/cohort/examples/simulate/internal/simulation"
	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/status"
)

// Scenario is one rollout over one placement.
type Scenario struct {
	// Rollout names the object that rolls out, and Strategy is what it says for the placement.
	Rollout  string
	Strategy clusterv1alpha1.RolloutStrategy
	// Placement is the one rolled out to, and Spec its object; nil where only its PlacementDecisions are there.
	Placement Ref
	Spec      *clusterv1beta1.Placement
	// Groups are its decision groups, and Decisions the objects that hold them: the stored ones, or those
	// that OCM would store.
	Groups    *grouping.Groups
	Decisions []*clusterv1beta1.PlacementDecision
	// Stored says that Decisions were in the files, and Fleet how many ManagedClusters were.
	Stored bool
	Fleet  int
	// Behavior is how the clusters behave.
	Behavior behavior.Spec
	// Notes say what is not as OCM would do it, and what was not read.
	Notes []string

	labels map[string]map[string]string // of the ManagedClusters
}

// Load finds the rollout in the objects. wanted is the placement to choose where there are several; zero
// where the user named none. Errors are one line, with file, object and field where one object is at fault.
func Load(all []manifest.Object, wanted Ref) (*Scenario, error) {
	o, err := sortOut(all)
	if err != nil {
		return nil, err
	}
	c, err := o.choose(wanted)
	if err != nil {
		return nil, err
	}
	s := &Scenario{
		Rollout:   c.rollout.String(),
		Strategy:  c.target.Strategy,
		Placement: c.Ref,
		Stored:    len(c.decisions) > 0,
		Fleet:     len(o.clusters),
		Notes:     o.notes(),
		labels:    make(map[string]map[string]string, len(o.clusters)),
	}
	for _, cluster := range o.clusters {
		s.labels[cluster.typed.Name] = cluster.typed.Labels
	}
	if err := s.behave(o.behaviors); err != nil {
		return nil, err
	}
	if err := s.checkPlacement(c); err != nil {
		return nil, err
	}
	if s.Stored {
		return s, s.readGroups(c, len(o.decisions))
	}
	return s, s.divide(c, o)
}

// behave takes the one Behavior that there may be.
func (s *Scenario) behave(all []source[behavior.Behavior]) error {
	for i, b := range all {
		if i > 0 {
			return b.Fault(fmt.Errorf("a second Behavior besides the one at %v, want one", all[0].At))
		}
		s.Behavior = b.typed.Spec
		if err := aggregate(s.Behavior.Validate(field.NewPath("spec"))); err != nil {
			return b.Fault(err)
		}
	}
	return nil
}

// checkPlacement finds what is wrong with the decisionStrategy while it is clear that the Placement is at
// fault, and not a cluster.
func (s *Scenario) checkPlacement(c chosen) error {
	if c.placement == nil {
		if s.Strategy.Type == clusterv1alpha1.Progressive {
			s.Notes = append(s.Notes, "no Placement in the files: where the strategy has no maxConcurrency, all clusters may start at once")
		}
		return nil
	}
	s.Spec = c.placement.typed
	_, err := grouping.Divide(s.Spec, nil)
	return c.placement.Fault(err)
}

// readGroups takes the groups as OCM stored them.
func (s *Scenario) readGroups(c chosen, all int) error {
	for _, d := range c.decisions {
		// One at a time first, as the error for all of them could not say in which file it is.
		if _, err := grouping.Read([]*clusterv1beta1.PlacementDecision{d.typed}); err != nil {
			return d.Fault(err)
		}
		s.Decisions = append(s.Decisions, d.typed)
	}
	groups, err := grouping.Read(s.Decisions)
	if err != nil {
		return c.decisions[0].Fault(err)
	}
	s.Groups = groups
	if others := all - len(c.decisions); others > 0 {
		s.Notes = append(s.Notes, fmt.Sprintf("PlacementDecision: of other placements, not used (%d)", others))
	}
	return nil
}

// divide selects clusters and puts them into groups, as OCM's placement controller would.
func (s *Scenario) divide(c chosen, o *objects) error {
	if len(o.clusters) == 0 {
		return c.placement.Fault(errors.New("the files hold neither PlacementDecisions of it nor ManagedClusters to select"))
	}
	selection, err := o.newSelection(*c.placement)
	if err != nil {
		return err
	}
	selected, notes := selection.of(o.clusters)
	s.Notes = append(s.Notes, notes...)
	if disable := clusterv1beta1.PlacementDisableAnnotation; s.Spec.Annotations[disable] == "true" {
		s.Notes = append(s.Notes, "Placement: OCM makes no PlacementDecisions for it, as the annotation "+disable+" says")
	}
	if s.Groups, err = grouping.Divide(s.Spec, selected); err != nil {
		return c.placement.Fault(err)
	}
	s.Decisions, err = s.Groups.Decisions(s.Spec)
	return c.placement.Fault(err)
}

// Planner plans the rollout.
func (s *Scenario) Planner(opts ...rollout.Option) simulation.Planner {
	if s.Spec != nil {
		opts = append(opts, rollout.DefaultMaxConcurrency(s.Spec))
	}
	return func(reports []status.Report, now time.Time) (*rollout.Result, error) {
		return rollout.Plan(s.Strategy, s.Groups, reports, now, opts...)
	}
}

// Clusters are the selected clusters, in the order of their names, as rules of behavior see them.
func (s *Scenario) Clusters() []behavior.Cluster {
	all := make([]behavior.Cluster, s.Groups.NumClusters())
	for i := range all {
		name := s.Groups.Cluster(i)
		all[i] = behavior.Cluster{Name: name, Labels: s.labels[name], Group: s.Groups.Key(s.Groups.GroupAt(i)).Name}
	}
	return all
}

// aggregate is nil for an empty list. A plain conversion would not be, as the list is an interface then.
func aggregate(errs field.ErrorList) error {
	if len(errs) == 0 {
		return nil
	}
	return errs.ToAggregate()
}

// Lives says how each cluster behaves: by the given rules first, then by those of the Behavior, or else it
// succeeds after the fallback time. seed counts instead of that of the Behavior unless it is 0. Rules that
// match no cluster are noted.
func (s *Scenario) Lives(rules []behavior.Rule, seed uint64, fallback time.Duration) func(cluster string) simulation.Life {
	spec := behavior.Spec{Seed: cmp.Or(seed, s.Behavior.Seed), Clusters: slices.Concat(rules, s.Behavior.Clusters)}
	lives, unused := spec.Lives(s.Clusters(), fallback)
	for _, i := range unused {
		s.Notes = append(s.Notes, fmt.Sprintf("behavior: no cluster for %q", spec.Clusters[i]))
	}
	return func(cluster string) simulation.Life { return lives[cluster] }
}
