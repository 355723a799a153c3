// SPDX-License-Identifier: Apache-2.0

package scenario

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// noteStored notes what is odd about stored decisions. Groups may be missing, and clusters may be in two groups or not
// exist any more. The Placement's rules may select other clusters now.
func (s *Scenario) noteStored(c chosen, o *objects) {
	if why := s.Groups.Incomplete(); why != "" {
		s.note("PlacementDecision: not all are there, so nothing starts: %s", why)
	}
	s.noteTwice(c)
	if len(o.clusters) == 0 {
		return
	}
	var gone, unfit []string
	fits := s.fits(c, o)
	for _, decision := range s.Groups.All() {
		switch fit, there := fits[decision.ClusterName]; {
		case !there:
			gone = append(gone, decision.ClusterName)
		case !fit:
			unfit = append(unfit, decision.ClusterName)
		}
		delete(fits, decision.ClusterName)
	}
	s.noteClusters("PlacementDecision: no ManagedCluster "+o.where()+" has this name", gone)
	s.noteClusters("PlacementDecision: the Placement's rules do not select it now", unfit)
	maps.DeleteFunc(fits, func(_ string, fit bool) bool { return !fit })
	if s.Spec != nil && s.Spec.Spec.NumberOfClusters == nil {
		s.noteClusters("ManagedCluster: the Placement's rules select it and no PlacementDecision has it", slices.Collect(maps.Keys(fits)))
	}
}

// fits has the ManagedClusters, and whether the Placement's rules select each; all where they can't be followed.
func (s *Scenario) fits(c chosen, o *objects) map[string]bool {
	var rules *selection
	if c.placement != nil {
		if selection, err := o.newSelection(*c.placement); err == nil {
			rules = &selection
		}
	}
	fits := make(map[string]bool, len(o.clusters))
	for _, cluster := range o.clusters {
		fits[cluster.typed.Name] = rules != nil && rules.drops(cluster.typed) == ""
	}
	if rules == nil {
		for _, decision := range s.Groups.All() {
			if _, there := fits[decision.ClusterName]; there {
				fits[decision.ClusterName] = true
			}
		}
	}
	return fits
}

// noteTwice notes the clusters that several decisions name.
func (s *Scenario) noteTwice(c chosen) {
	where := make(map[string][]string)
	for _, d := range c.decisions {
		for _, decision := range d.typed.Status.Decisions {
			if decision.ClusterName != "" {
				where[decision.ClusterName] = append(where[decision.ClusterName], d.GetName())
			}
		}
	}
	maps.DeleteFunc(where, func(_ string, in []string) bool { return len(in) < 2 })
	for i, cluster := range slices.Sorted(maps.Keys(where)) {
		if i == mostNoted {
			s.note("PlacementDecision: %d more clusters stand in several", len(where)-i)
			return
		}
		slices.Sort(where[cluster])
		key, _, _ := s.Groups.Find(cluster)
		s.note("PlacementDecision: %s stands in %s and counts in %v", cluster, strings.Join(where[cluster], " and "), key)
	}
}

// mostNoted is how many clusters a note names.
const mostNoted = 3

func (s *Scenario) noteClusters(what string, clusters []string) {
	if len(clusters) == 0 {
		return
	}
	slices.Sort(clusters)
	named := strings.Join(clusters[:min(len(clusters), mostNoted)], ", ")
	if more := len(clusters) - mostNoted; more > 0 {
		named += fmt.Sprintf(" and %d more", more)
	}
	s.note("%s (%d): %s", what, len(clusters), named)
}
