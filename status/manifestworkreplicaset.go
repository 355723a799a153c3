// SPDX-License-Identifier: Apache-2.0

package status

import (
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	workv1 "open-cluster-management.io/api/work/v1"
	workv1alpha1 "open-cluster-management.io/api/work/v1alpha1"

	"github.com/cohort-ocm/cohort/grouping"
)

// PlacementProgress says how far a ManifestWorkReplicaSet is rolled out to one of its placements.
type PlacementProgress struct {
	// Name is the name of the Placement.
	Name string
	// Groups are the placement's decision groups.
	Groups *grouping.Groups
	// Works are the ManifestWorks that exist for this placement, in any order, including those on clusters that it no
	// longer selects. Nil pointers are skipped.
	Works []*workv1.ManifestWork
	// Summary is the summary of the rollout to Groups.
	Summary Summary
}

// SetReplicaSetStatus sets summary, placementSummary and the three conditions of a ManifestWorkReplicaSet's status, and
// says whether it changed any. The rest of the status stays as it is, and the works are not changed. It takes time
// linear in the works and the clusters.
//
// In placementSummary there is an entry for each of the placements, in their order, and no other. Its counts are
//
//	total                      all Works
//	applied, available, …      the Works whose condition of that type is True
//	desiredTotal               the selected clusters, counted or not, from the Summary
//	updated                    the selected clusters that have the present version, whatever came of it: neither
//	                           ToApply nor Skip in the Summary
//	availableDecisionGroups    "2/4": in 2 of 4 groups the Work of every cluster is available
//
// and the status's own summary is their sum. For each condition the first line that applies decides:
//
//	PlacementVerified     False   PlacementDecisionNotFound   decisions are missing or partially observed
//	                      False   PlacementDecisionEmpty      a placement selects no cluster
//	                      True    AsExpected                  otherwise
//	ManifestworkApplied   False   NotAsExpected               clusters wait, and a breach stops the rollout
//	                      False   Processing                  clusters wait, or decisions are missing
//	                      True    NoClusterSelected           no placement selects a cluster
//	                      True    AllClustersIgnored            no placement selects a cluster that counts
//	                      True    AsExpected                  otherwise
//	PlacementRolledOut    False   Progressing                 a rollout is not at its end, or stopped by a breach
//	                      True    NoClusterSelected           no placement selects a cluster
//	                      True    AllClustersIgnored            no placement selects a cluster that counts
//	                      True    Complete                    otherwise
//
// Clusters that are ignored are in the counts, as they have works, but play no part in the conditions. The message of
// PlacementRolledOut has the text of each Summary, with the names of the placements if there are several. It also says what
// stops a rollout, for which the API has no reason. Generation is the ManifestWorkReplicaSet's; it becomes the conditions'
// observedGeneration. A condition's lastTransitionTime is set to now when its status changes, and only then. Conditions of
// other types stay as they are.
func SetReplicaSetStatus(st *workv1alpha1.ManifestWorkReplicaSetStatus, placements []PlacementProgress, generation int64, now time.Time) bool {
	entries := make([]workv1alpha1.PlacementSummary, len(placements))
	var total workv1alpha1.ManifestWorkReplicaSetSummary
	for i := range placements {
		entries[i] = placements[i].entry()
		add(&total, entries[i].Summary)
	}
	changed := total != st.Summary || !slices.Equal(entries, st.PlacementsSummary)
	st.Summary, st.PlacementsSummary = total, entries
	return setReplicaSetConditions(&st.Conditions, placements, generation, now) || changed
}

// entry gives the placement's part of placementSummary.
func (p *PlacementProgress) entry() workv1alpha1.PlacementSummary {
	counts := workv1alpha1.ManifestWorkReplicaSetSummary{
		DesiredTotal: p.Summary.selected(),
		Updated:      p.Summary.updated() + p.Summary.Ignored - p.Summary.IgnoredToApply,
	}
	available := make([]bool, p.Groups.NumClusters())
	for _, work := range p.Works {
		if work == nil {
			continue
		}
		counts.Total++
		is := func(conditionType string) bool {
			return meta.IsStatusConditionTrue(work.Status.Conditions, conditionType)
		}
		counts.Applied += one(is(workv1.WorkApplied))
		counts.Progressing += one(is(workv1.WorkProgressing))
		counts.Degraded += one(is(workv1.WorkDegraded))
		if is(workv1.WorkAvailable) {
			counts.Available++
			if position, selected := p.Groups.Position(work.Namespace); selected {
				available[position] = true
			}
		}
	}
	return workv1alpha1.PlacementSummary{
		Name:                    p.Name,
		AvailableDecisionGroups: fmt.Sprintf("%d/%d", availableGroups(p.Groups, available), p.Groups.Len()),
		Summary:                 counts,
	}
}

// availableGroups counts the groups whose clusters are all available. Available is by position.
func availableGroups(groups *grouping.Groups, available []bool) int {
	missing := make([]bool, groups.Len())
	for position, is := range available {
		if !is {
			missing[groups.GroupAt(position)] = true
		}
	}
	n := 0
	for _, is := range missing {
		n += one(!is)
	}
	return n
}

// updated counts the selected clusters that count and have the present version, in whatever status.
func (c Counts) updated() int { return c.Total() - c.Deselected - c.ToApply - c.Skip }

func one(is bool) int {
	if is {
		return 1
	}
	return 0
}

func add(to *workv1alpha1.ManifestWorkReplicaSetSummary, summary workv1alpha1.ManifestWorkReplicaSetSummary) {
	to.Total += summary.Total
	to.Progressing += summary.Progressing
	to.Available += summary.Available
	to.Degraded += summary.Degraded
	to.Applied += summary.Applied
	to.DesiredTotal += summary.DesiredTotal
	to.Updated += summary.Updated
}
