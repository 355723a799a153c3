// SPDX-License-Identifier: Apache-2.0

package scenario

import (
	"errors"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation/field"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	"github.com/cohort-ocm/cohort/grouping"
)

// group finds the groups of a placement: those that OCM stored, or else those that its rules give.
func (s *Scenario) group(c chosen, o *objects) error {
	if err := s.checkPlacement(c, o); err != nil {
		return err
	}
	if s.Stored = len(c.decisions) > 0 || c.written(o.hub); s.Stored {
		return s.readGroups(c, o)
	}
	return s.divide(c, o)
}

// written says whether a scheduler writes the decisions of the placement, so that where none are there they are missing: on a hub, and
// where the Placement has a status, as one has that was read from a hub.
func (c *chosen) written(hub bool) bool {
	if c.placement == nil {
		return false
	}
	status := c.placement.typed.Status
	return hub || status.NumberOfSelectedClusters > 0 || len(status.DecisionGroups) > 0
}

// checkPlacement finds what is wrong with the decisionStrategy while it is clear that the Placement is at
// fault, and not a cluster.
func (s *Scenario) checkPlacement(c chosen, o *objects) error {
	if c.placement == nil {
		if p := s.Strategy.Progressive; s.Strategy.Type == clusterv1alpha1.Progressive && (p == nil || p.MaxConcurrency == intstr.IntOrString{}) {
			s.note("no Placement %s: where the strategy has no maxConcurrency, all clusters may start at once", o.where())
		}
		return nil
	}
	s.Spec = c.placement.typed
	if err := c.placement.Fault(aggregate(grouping.Validate(s.Spec, nil))); err != nil {
		return err
	}
	for _, warning := range grouping.Warnings(s.Spec, nil) {
		s.note("Placement: %s", c.asWritten(warning))
	}
	return nil
}

// asWritten says of a group without a selector that its field is not there at all, where that is so: then no API server has pruned it, as that
// demands the field. What is misspelled in a file is an error.
func (c *chosen) asWritten(warning string) string {
	groups, _, _ := unstructured.NestedSlice(c.placement.Object.Object, "spec", "decisionStrategy", "groupStrategy", "decisionGroups")
	for i, g := range groups {
		path := field.NewPath("spec", "decisionStrategy", "groupStrategy", "decisionGroups").Index(i).Child("groupClusterSelector").String()
		group, _ := g.(map[string]any)
		if _, written := group["groupClusterSelector"]; strings.HasPrefix(warning, path+": ") && !written {
			return fmt.Sprintf("%s: not set, so group %q takes every cluster that no group before it has", path, group["groupName"])
		}
	}
	return warning
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
	switch {
	case err != nil && len(c.decisions) == 0:
		return c.placement.Fault(err)
	case err != nil:
		return c.decisions[0].Fault(err)
	}
	s.Groups = groups
	s.noteStored(c, o)
	if rules, err := o.rulesOf(c); len(c.decisions) == 0 && err == nil && len(o.clusters) > 0 { // they say why no cluster is selected
		_, dropped, notes := rules.of(o.clusters)
		s.Dropped, s.Notes = dropped, append(s.Notes, notes...)
		return nil
	}
	if groups.NumClusters() == 0 {
		s.Dropped = []Drop{{"the PlacementDecisions name no cluster", s.Fleet}}
	}
	return nil
}

// rulesOf are the rules by which a placement selects.
func (o *objects) rulesOf(c chosen) (selection, error) {
	if c.placement == nil {
		return selection{}, errors.New("no Placement")
	}
	return o.newSelection(*c.placement)
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
		return c.placement.Fault(errors.New(o.source() + " neither PlacementDecisions of it nor ManagedClusters to select"))
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
	if s.Groups, err = grouping.Divide(s.Spec, selected, grouping.Options{}); err != nil {
		return c.placement.Fault(err)
	}
	s.Decisions, err = s.Groups.Decisions(s.Spec)
	return c.placement.Fault(err)
}
