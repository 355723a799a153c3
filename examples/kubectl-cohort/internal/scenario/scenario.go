// SPDX-License-Identifier: Apache-2.0

package scenario

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	workv1 "open-cluster-management.io/api/work/v1"

	"github.com/cohort-ocm/cohort/examples/kubectl-cohort/internal/behavior"
	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/rollout/approvals"
	"github.com/cohort-ocm/cohort/status"
)

// Scenario is one rollout over one placement, or of a Policy over the placements of its bindings.
type Scenario struct {
	// Rollout names the object that rolls out, and with several placements this one too. Owner is the object alone, and Targets says
	// to how many placements it rolls out. Strategy is what it says for the placement.
	Rollout  string
	Owner    string
	Targets  int
	Strategy clusterv1alpha1.RolloutStrategy
	// Placement is the one rolled out to, and Spec its object; nil where only its PlacementDecisions are there.
	Placement Ref
	Spec      *clusterv1beta1.Placement
	// Groups are its decision groups, and Decisions the objects that hold them: the stored ones, or those
	// that OCM would store.
	Groups    *grouping.Groups
	Decisions []*clusterv1beta1.PlacementDecision
	// Stored says that Decisions were read, and Fleet how many ManagedClusters were.
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
	// Unselected are reports of clusters that no placement selects, where they don't count in the rollout: of add-ons, and of the works of
	// OCM's own controller.
	Unselected []status.Report
	// StoredRecord is what the owner has stored of deselected clusters that have the version; nil if nothing. Asked is what people decided, in
	// annotations of the owner, and Version is the one that is wanted, as these name it.
	StoredRecord *rollout.StoredRecord
	Asked        approvals.Approvals
	Version      string
	// Validator is the plugin that validates each cluster that succeeded, and for a Policy the annotation that has it so; empty where
	// is validated by nothing. Unjudged are the reports without what was said of the clusters.
	Validator string
	Unjudged  []status.Report
	// Stamped says that a controller of this library has written for the rollout, and Decided that annotations of the owner ask one for
	// something.
	Stamped, Decided bool
	// OfOCM says that OCM's own controller has written the works.
	OfOCM bool
	// Aborted says that its controller rolls the version back.
	Aborted bool
	// RemoveAtMost is how many works may be in deletion at a time once the owner is deleted, as its annotation says, 0 for all; nil if it
	// says nothing.
	RemoveAtMost *int
	// Ends says that the owner is being deleted.
	Ends bool
	// Stands is a note that counts the objects that say so.
	Stands string
	// Ignored says of a cluster that no cluster waits for it; nil says it of none.
	Ignored func(cluster string) bool
	// Notes say what is not as OCM would do it, and what was not read.
	Notes []string

	managed map[string]*clusterv1.ManagedCluster // by name
	rules   selection                            // of the Placement, unless the groups are stored
	parts   map[string]*Scenario                 // of a Policy's placements
	// dependent are the clusters where a dependency of the policy is not met, and older the works that have another version.
	dependent map[string]bool
	older     []*workv1.ManifestWork
	available bool // Available says that works have succeeded
	untold    bool // nothing says when a ManifestWork is done: works that are applied show it, or the template
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

// aggregate is nil for an empty list. A plain conversion would not be, as the list is an interface then.
func aggregate(errs field.ErrorList) error {
	if len(errs) == 0 {
		return nil
	}
	return errs.ToAggregate()
}
