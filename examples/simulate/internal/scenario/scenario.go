package scenario

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation/field"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	"github.com/cohort-ocm/cohort/examples/internal/manifest"
	"github.com/cohort-ocm/cohort/examples/simulate/internal/behavior"
	"github.com/cohort-ocm/cohort/examples/simulate/internal/chance"
	"github.com/cohort-ocm/cohort/examples/simulate/internal/policy"
	"github.com/cohort-ocm/cohort/examples/simulate/internal/simulation"
	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/status"
)

// Scenario is one rollout over one placement, or of a Policy over the placements of its bindings.
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
	// Dropped says why ManagedClusters are not selected, rule by rule.
	Dropped []Drop
	// Behavior is how the clusters behave.
	Behavior behavior.Spec
	// Policy is set where the rollout is a Policy's. Placement and Decisions are empty then, Groups are the groups of
	// the bound clusters, and Spec is there if there is only one placement.
	Policy *Policy
	// Observed is where the rollout stands, as far as the files say; a Policy's stands in its Replicas. Live says that they
	// say anything.
	Observed []status.Report
	Live     bool
	// Uncounted says of a cluster that nobody waits for it; nil says it of none.
	Uncounted func(cluster string) bool
	// Notes say what is not as OCM would do it, and what was not read.
	Notes []string

	managed map[string]*clusterv1.ManagedCluster // by name
	rules   selection                            // of the Placement, unless the groups are stored
	parts   map[string]*Scenario                 // of a Policy's placements
}

// Wanted is what a user chose of the files. Zero values leave all in.
type Wanted struct {
	// Rollout is the name of the object that rolls out, with its namespace or kind before a slash or without.
	Rollout string
	// Placement is the one to roll out to.
	Placement Ref
}

// Load finds the rollouts in the objects, one for each placement that an object rolls out to, in the order of kinds and
// names. Errors are one line, with file, object and field where one object is at fault.
func Load(all []manifest.Object, wanted Wanted) ([]*Scenario, error) {
	o, err := sortOut(all)
	if err != nil {
		return nil, err
	}
	rollouts, err := o.chooseRollouts(wanted)
	if err != nil {
		return nil, err
	}
	if !slices.ContainsFunc(rollouts, func(r applier) bool { return r.policy != nil }) {
		o.ignorePolicies()
	}
	var scenarios []*Scenario
	for _, r := range rollouts {
		of, err := o.load(r, wanted.Placement)
		if err != nil {
			return nil, err
		}
		scenarios = append(scenarios, of...)
	}
	if len(scenarios) > 0 {
		scenarios[0].Notes = append(o.noteLive(), scenarios[0].Notes...)
	}
	for i, s := range scenarios {
		if i == 0 {
			s.Notes = append(o.notes(), s.Notes...)
		}
		if others := len(o.decisions) - len(s.Decisions); len(scenarios) == 1 && s.Policy == nil && s.Stored && others > 0 {
			s.note("PlacementDecision: of other placements, not used (%d)", others)
		}
	}
	return scenarios, nil
}

// load gives a scenario for each placement that the object rolls out to. A cluster of several belongs to the first.
func (o *objects) load(r applier, wanted Ref) ([]*Scenario, error) {
	if r.policy != nil {
		s, err := o.loadPolicy(r, wanted)
		if err != nil {
			return nil, err
		}
		s.resume(r, o)
		return []*Scenario{s}, nil
	}
	all, err := o.choose(r, wanted)
	if err != nil {
		return nil, err
	}
	taken := make(map[string]bool)
	var scenarios []*Scenario
	for _, c := range all {
		s, err := o.begin(c.rollout)
		if err != nil {
			return nil, err
		}
		s.Strategy, s.Placement = c.target.Strategy, c.Ref
		s.noteZero(c.rollout, c.target)
		if err := s.group(c, o); err != nil {
			return nil, err
		}
		if len(all) > 1 {
			s.Rollout = fmt.Sprintf("%s to placement %v", s.Rollout, s.Placement)
			s.share(r, taken)
		}
		s.resume(r, o)
		scenarios = append(scenarios, s)
	}
	return scenarios, nil
}

// share leaves to earlier placements of the same rollout the clusters that they have taken, and takes the others.
func (s *Scenario) share(r applier, taken map[string]bool) {
	own := s.Groups.Only(func(_ grouping.Key, cluster string) bool { return !taken[cluster] })
	if lost := s.Groups.NumClusters() - own.NumClusters(); lost > 0 {
		drop := Drop{fmt.Sprintf("in an earlier placement of %v", r.Object), lost}
		s.Dropped = append(s.Dropped, drop)
		s.note("%v, to which they belong", drop)
		s.Groups = own
	}
	for _, decision := range own.All() {
		taken[decision.ClusterName] = true
	}
}

// begin is a scenario with what does not depend on the placement.
func (o *objects) begin(r applier) (*Scenario, error) {
	s := &Scenario{
		Rollout: r.String(),
		Fleet:   len(o.clusters),
		managed: make(map[string]*clusterv1.ManagedCluster, len(o.clusters)),
	}
	for _, cluster := range o.clusters {
		s.managed[cluster.typed.Name] = cluster.typed
	}
	return s, s.behave(o.behaviors)
}

// noteZero notes a maxConcurrency of 0, which says the same as none, as Go clients write it.
func (s *Scenario) noteZero(r applier, t target) {
	path := "progressive.maxConcurrency"
	if t.Path != nil {
		path = t.Path.Child("progressive", "maxConcurrency").String()
	}
	if zeroAt(r.Object.Object, path) {
		s.note("%s: 0 counts as not set", path)
	}
}

// zeroAt says whether the number 0 stands at a path, whose elements may have an index.
func zeroAt(value any, path string) bool {
	for element := range strings.SplitSeq(path, ".") {
		name, index, listed := strings.Cut(strings.TrimSuffix(element, "]"), "[")
		object, _ := value.(map[string]any)
		value = object[name]
		if listed {
			list, _ := value.([]any)
			i, err := strconv.Atoi(index)
			if err != nil || i >= len(list) {
				return false
			}
			value = list[i]
		}
	}
	number, ok := value.(int64)
	return ok && number == 0
}

func (s *Scenario) note(format string, args ...any) {
	s.Notes = append(s.Notes, fmt.Sprintf(format, args...))
}

// Placements names the placement, or the placements of a Policy's bindings, once each.
func (s *Scenario) Placements() string {
	if s.Policy == nil {
		return s.Placement.String()
	}
	var names []string
	for _, b := range s.Policy.Bindings {
		names = append(names, b.PlacementRef.Name)
	}
	slices.Sort(names)
	return strings.Join(slices.Compact(names), ", ")
}

// group finds the groups of a placement: those that OCM stored, or else those that its rules give.
func (s *Scenario) group(c chosen, o *objects) error {
	if err := s.checkPlacement(c); err != nil {
		return err
	}
	if s.Stored = len(c.decisions) > 0; s.Stored {
		return s.readGroups(c, o)
	}
	return s.divide(c, o)
}

// behave takes the one Behavior that there may be.
func (s *Scenario) behave(all []source[behavior.Behavior]) error {
	for i, b := range all {
		if i > 0 {
			return b.Fault(fmt.Errorf("must not be given twice: there is a Behavior at %v, too", all[0].At))
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
		if p := s.Strategy.Progressive; s.Strategy.Type == clusterv1alpha1.Progressive && (p == nil || p.MaxConcurrency == intstr.IntOrString{}) {
			s.Notes = append(s.Notes, "no Placement in the files: where the strategy has no maxConcurrency, all clusters may start at once")
		}
		return nil
	}
	s.Spec = c.placement.typed
	return c.placement.Fault(aggregate(grouping.Validate(s.Spec, nil)))
}

// readGroups takes the groups as OCM stored them.
func (s *Scenario) readGroups(c chosen, o *objects) error {
	for _, d := range c.decisions {
		// One at a time first, as the error for all of them could not say in which file it is.
		if _, err := grouping.Read(nil, []*clusterv1beta1.PlacementDecision{d.typed}); err != nil {
			return d.Fault(err)
		}
		s.Decisions = append(s.Decisions, d.typed)
	}
	groups, err := grouping.Read(s.placement(), s.Decisions)
	if err != nil {
		return c.decisions[0].Fault(err)
	}
	s.Groups = groups
	s.noteStored(c, o)
	if groups.NumClusters() == 0 {
		s.Dropped = []Drop{{"the PlacementDecisions name no cluster", s.Fleet}}
	}
	return nil
}

// placement is the one to read the groups with. Where files have a Placement without a status, as a user writes it, the
// decisions beside it are all that there are.
func (s *Scenario) placement() *clusterv1beta1.Placement {
	if s.Spec == nil || s.Spec.Status.NumberOfSelectedClusters > 0 || len(s.Spec.Status.DecisionGroups) > 0 || len(s.Spec.Status.Conditions) > 0 {
		return s.Spec
	}
	placement := s.Spec.DeepCopy()
	if status, err := grouping.Status(s.Decisions); err == nil {
		placement.Status = status
	}
	return placement
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
	s.rules = selection
	selected, dropped, notes := selection.of(o.clusters)
	s.Dropped = dropped
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

// Planner plans one simulation of the rollout. The hub keeps what a Policy's rollout writes, and is nil for others.
func (s *Scenario) Planner(opts ...rollout.Option) (simulation.Planner, *policy.Hub) {
	if s.Policy != nil {
		hub := policy.Resume(s.Policy.Resolution, s.Policy.Version, s.Policy.Replicas, opts...)
		return hub.Plan, hub
	}
	return func(reports []status.Report, now time.Time) (*rollout.Result, error) {
		return rollout.Plan(s.Strategy, s.Groups, reports, now, opts...)
	}, nil
}

// Play is how a rollout is played through.
type Play struct {
	Options []rollout.Option
	Lives   func(cluster string) simulation.Life
	Start   time.Time
	// Retries and Abort have no part in a Policy's: its replicated policies don't say which attempt they are, and it is taken
	// back by another policy.
	Retries simulation.Retries
	Abort   simulation.Abort
}

// Play plays the rollout through from where it stands. The hub is for a Policy's.
func (s *Scenario) Play(p Play, watch ...func(time.Duration, *rollout.Result)) (*simulation.Trace, *policy.Hub, error) {
	if _, hub := s.Planner(p.Options...); hub != nil {
		trace, err := hub.Play(p.Lives, p.Start, watch...)
		return trace, hub, err
	}
	played := simulation.Rollout{Strategy: s.Strategy, Groups: s.Groups, Options: p.Options, Retries: p.Retries, Abort: p.Abort}
	trace, err := played.Play(s.Observed, p.Lives, p.Start, watch...)
	return trace, nil, err
}

// AtOnce is the strategy that takes a rollout back as fast as can be: all clusters at once, with the deadline of its own.
func (s *Scenario) AtOnce() clusterv1alpha1.RolloutStrategy {
	var config clusterv1alpha1.RolloutConfig
	switch {
	case s.Strategy.Progressive != nil && s.Strategy.Type == clusterv1alpha1.Progressive:
		config = s.Strategy.Progressive.RolloutConfig
	case s.Strategy.ProgressivePerGroup != nil && s.Strategy.Type == clusterv1alpha1.ProgressivePerGroup:
		config = s.Strategy.ProgressivePerGroup.RolloutConfig
	case s.Strategy.All != nil:
		config = s.Strategy.All.RolloutConfig
	}
	return clusterv1alpha1.RolloutStrategy{Type: clusterv1alpha1.All, All: &clusterv1alpha1.RolloutAll{
		RolloutConfig: clusterv1alpha1.RolloutConfig{ProgressDeadline: config.ProgressDeadline}}}
}

// Clusters are the selected clusters, in the order of their names, as rules of behavior see them.
func (s *Scenario) Clusters() []behavior.Cluster {
	all := make([]behavior.Cluster, s.Groups.NumClusters())
	for i := range all {
		name := s.Groups.Cluster(i)
		var labels map[string]string
		if managed, there := s.managed[name]; there {
			labels = managed.Labels
		}
		all[i] = behavior.Cluster{Name: name, Labels: labels, Group: s.Groups.Key(s.Groups.GroupAt(i)).Name}
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

// Lives says how each cluster behaves: by the given rules first, then by the Behavior's rules; otherwise it succeeds
// after the fallback time. Seed replaces the Behavior's seed unless it is 0. Rules of the Behavior that match no
// cluster are noted.
//
// One that the hub does not accept never answers, whatever the rules say.
//
// It gives, besides, for how many clusters the fallback counts, and which of the given rules match no cluster.
func (s *Scenario) Lives(rules []behavior.Rule, seed uint64, fallback chance.Range) (of func(cluster string) simulation.Life, fallbacks int, idle []int) {
	spec := behavior.Spec{Seed: cmp.Or(seed, s.Behavior.Seed), Clusters: slices.Concat(rules, s.Behavior.Clusters)}
	lives, unused, fallbacks := spec.Lives(s.Clusters(), fallback)
	for _, i := range unused {
		if i < len(rules) {
			idle = append(idle, i)
			continue
		}
		s.Notes = append(s.Notes, fmt.Sprintf("behavior: no cluster for %q", spec.Clusters[i]))
	}
	var unreached []string
	for cluster := range lives {
		if s.Unreached(cluster) {
			unreached = append(unreached, cluster)
			lives[cluster] = nil
		}
	}
	s.noteClusters("ManagedCluster: selected and not accepted by the hub (spec.hubAcceptsClient), which has no namespace for it: it never answers", unreached)
	return func(cluster string) simulation.Life { return lives[cluster] }, fallbacks, idle
}

// Again says as Lives does how each cluster behaves, in a later attempt at the version.
func (s *Scenario) Again(rules []behavior.Rule, seed uint64, fallback chance.Range) func(cluster string, attempt int) simulation.Life {
	spec := behavior.Spec{Seed: cmp.Or(seed, s.Behavior.Seed), Clusters: slices.Concat(rules, s.Behavior.Clusters)}
	attempts := make(map[int]map[string]simulation.Life)
	return func(cluster string, attempt int) simulation.Life {
		if attempts[attempt] == nil {
			spec.Attempt = attempt
			attempts[attempt], _, _ = spec.Lives(s.Clusters(), fallback)
		}
		if s.Unreached(cluster) {
			return nil
		}
		return attempts[attempt][cluster]
	}
}

// Unreached says whether no workload can reach the cluster, as the hub does not accept it.
func (s *Scenario) Unreached(cluster string) bool {
	managed, there := s.managed[cluster]
	return there && !accepted(managed)
}

// Draws says whether the Behavior leaves anything to luck.
func (s *Scenario) Draws() bool { return slices.ContainsFunc(s.Behavior.Clusters, behavior.Rule.Draws) }
