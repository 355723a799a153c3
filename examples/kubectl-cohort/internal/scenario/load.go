// SPDX-License-Identifier: Apache-2.0

package scenario

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"

	"github.com/cohort-ocm/cohort/examples/internal/manifest"
	"github.com/cohort-ocm/cohort/grouping"
)

// Wanted is what a user chose of the files. Zero values leave all in.
type Wanted struct {
	// Rollout is the name of the object that rolls out, with its namespace or kind before a slash or without.
	Rollout string
	// Namespace is that of the object that rolls out.
	Namespace string
	// Placement is the one to roll out to.
	Placement Ref
	// Others says to give the rollout's other placements, too, where one is wanted. Each has the clusters that it has beside the others.
	Others bool
	// Change gives the strategy to play in place of that of an object; nil leaves it.
	Change Change
	// Hub says that a hub was read and not files: a rollout that cannot be loaded does not hide the others, and nothing is said
	// of objects that have no part in any.
	Hub bool
	// Now is when the objects were read; zero where that is unknown.
	Now time.Time
}

// Change gives a strategy in place of another.
type Change func(clusterv1alpha1.RolloutStrategy) (clusterv1alpha1.RolloutStrategy, error)

// Has says whether an object is among those that are wanted to roll out.
func (w Wanted) Has(object manifest.Object) bool {
	r := applier{Object: object}
	return (w.Namespace == "" || w.Namespace == object.GetNamespace()) &&
		(w.Rollout == "" || slices.Contains(r.names(), strings.ToLower(w.Rollout)))
}

// Namespaced says whether the name of a rollout has its namespace, as ns/name, kind/ns/name and "kind ns/name" do.
func Namespaced(rollout string) bool {
	parts := strings.FieldsFunc(rollout, func(r rune) bool { return r == '/' || r == ' ' })
	isKind := func(full string) bool {
		_, kind, _ := strings.Cut(full, "/")
		return strings.EqualFold(kind, parts[0])
	}
	return len(parts) > 2 || len(parts) == 2 && !slices.ContainsFunc(slices.Collect(maps.Keys(readers())), isKind)
}

// Load finds the rollouts in the objects, one for each placement that an object rolls out to, in the order of kinds and
// names. Errors are one line, with file, object and field where one object is at fault.
func Load(all []manifest.Object, wanted Wanted) ([]*Scenario, error) {
	return (*Loader)(nil).Load(all, wanted)
}

// Load does what the function Load does.
func (l *Loader) Load(all []manifest.Object, wanted Wanted) ([]*Scenario, error) {
	o, err := l.sortOut(all)
	if err != nil {
		return nil, err
	}
	o.now, o.hub = wanted.Now, wanted.Hub
	rollouts, err := o.chooseRollouts(wanted)
	if err != nil {
		return nil, err
	}
	if !slices.ContainsFunc(rollouts, func(r applier) bool { return r.policy != nil }) {
		o.ignorePolicies()
	}
	var scenarios []*Scenario
	var faults []error
	for _, r := range rollouts {
		err := r.fault
		if err == nil {
			err = r.change(wanted.Change)
		}
		var of []*Scenario
		if err == nil {
			of, err = o.load(r, wanted)
		}
		if err != nil {
			faults = append(faults, err)
			continue
		}
		scenarios = append(scenarios, of...)
	}
	switch {
	case len(scenarios) == 0 && wanted.Hub:
		return nil, errors.Join(faults...)
	case len(faults) > 0 && (len(scenarios) == 0 || wanted.Rollout != ""):
		return nil, faults[0]
	}
	for _, fault := range faults {
		scenarios[0].note("left out: %v", fault)
	}
	if wanted.Hub {
		return scenarios, nil
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

// change has another strategy take the place of the object's.
func (r *applier) change(to Change) error {
	for i := range r.Targets {
		if to == nil {
			return nil
		}
		strategy, err := to(r.Targets[i].Strategy)
		if err != nil {
			return fmt.Errorf("%v: %w", r.Object, err)
		}
		r.Targets[i].Strategy = strategy
		if r.policy != nil {
			r.policy.Spec.RolloutStrategy = strategy
		}
	}
	return nil
}

// load gives a scenario for each placement that the object rolls out to. A cluster of several belongs to the first; of an add-on to the last,
// as OCM's add-on manager has it.
func (o *objects) load(r applier, wanted Wanted) ([]*Scenario, error) {
	if r.policy != nil {
		s, err := o.loadPolicy(r, wanted.Placement)
		if err != nil {
			return nil, err
		}
		return []*Scenario{s}, s.resume(r, o)
	}
	all, err := o.choose(r, wanted.Placement)
	if err != nil {
		return nil, err
	}
	if len(all) < len(r.Targets) {
		switch every, err := o.choose(r, Ref{}); {
		case err == nil:
			all = every
		case wanted.Others:
			return nil, err
		}
	}
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
		scenarios = append(scenarios, s)
	}
	if len(scenarios) > 1 {
		if err := share(r, scenarios); err != nil {
			return nil, err
		}
	}
	for _, s := range scenarios {
		if err := s.resume(r, o); err != nil {
			return nil, err
		}
	}
	if !wanted.Others && wanted.Placement.Name != "" {
		scenarios = slices.DeleteFunc(scenarios, func(s *Scenario) bool { return !s.Placement.matches(wanted.Placement) })
	}
	return scenarios, nil
}

// share leaves to earlier placements of the same rollout the clusters that they have, and for an add-on to later ones.
func share(r applier, all []*Scenario) error {
	other := "an earlier"
	if r.GetKind() == "ClusterManagementAddOn" {
		other, all = "a later", slices.Clone(all)
		slices.Reverse(all)
	}
	parts := make([]grouping.PlacementGroups, len(all))
	for i, s := range all {
		parts[i] = grouping.PlacementGroups{Placement: s.Placement.String(), Groups: s.Groups}
	}
	apart, err := grouping.Apart(parts...)
	if err != nil {
		return r.Fault(err)
	}
	for i, s := range all {
		s.Rollout = fmt.Sprintf("%s to placement %v", s.Rollout, s.Placement)
		if lost := s.Groups.NumClusters() - apart[i].NumClusters(); lost > 0 {
			drop := Drop{fmt.Sprintf("in %s placement of %v", other, r.Object), lost}
			s.Dropped = append(s.Dropped, drop)
			s.note("%v, to which they belong", drop)
		}
		s.Groups = apart[i]
	}
	return nil
}

// begin is a scenario with what does not depend on the placement.
func (o *objects) begin(r applier) (*Scenario, error) {
	s := &Scenario{
		Rollout: r.String(),
		Owner:   r.String(),
		Targets: len(r.Targets),
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
