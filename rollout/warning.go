// SPDX-License-Identifier: Apache-2.0

package rollout

import (
	"fmt"
	"strings"

	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"

	"github.com/cohort-ocm/cohort/grouping"
)

// WarningType is the kind of a [Warning], in the form of a condition's reason.
type WarningType string

const (
	// WarningFieldIgnored says that a field of the strategy or an option is set and has no effect: under the strategy's type or,
	// for waitBetweenGroups, as no group waits for another.
	WarningFieldIgnored WarningType = "FieldIgnored"
	// WarningMandatoryGroupEmpty says that a mandatory group has no effect: it has no clusters.
	WarningMandatoryGroupEmpty WarningType = "MandatoryGroupEmpty"
	// WarningMandatoryGroupIgnored says that all clusters of a mandatory group are ignored, so it protects nothing.
	WarningMandatoryGroupIgnored WarningType = "MandatoryGroupIgnored"
	// WarningGateWithoutGroup says that a gate is before a group that does not exist, so it blocks nothing.
	WarningGateWithoutGroup WarningType = "GateWithoutGroup"
	// WarningFreezeWithoutCluster says that [Options].Freezes has clusters that are not selected, so it has no effect there.
	WarningFreezeWithoutCluster WarningType = "FreezeWithoutCluster"
	// WarningOrderWithoutGroup says that [GroupOrder] has a name that no group has.
	WarningOrderWithoutGroup WarningType = "OrderWithoutGroup"
	// WarningGroupsIncomplete says that not all of the placement's decisions are there yet.
	WarningGroupsIncomplete WarningType = "GroupsIncomplete"
	// WarningReportsMerged says that clusters have several reports, which count as one.
	WarningReportsMerged WarningType = "ReportsMerged"
	// WarningReportWithoutTime says that the time is unknown since which clusters are in flight, so their deadline or
	// soak never ends.
	WarningReportWithoutTime WarningType = "ReportWithoutTime"
	// WarningUntracked says that the workload is applied on clusters, and nothing will say when it is done
	// ([status.ReportUntracked]).
	WarningUntracked WarningType = "Untracked"
	// WarningSuccessWithoutTime says that the time is unknown at which clusters succeeded, so the wait after them
	// ([Options].WaitBetweenGroups) does not end.
	WarningSuccessWithoutTime WarningType = "SuccessWithoutTime"
	// WarningRemovalsWithheld says that more clusters would be removed at once than [Options].MaxRemoved allows.
	WarningRemovalsWithheld WarningType = "RemovalsWithheld"
)

// Warning is something to know that is no error: a part of the strategy or an option has no effect, or what was
// observed is uncertain. Warnings are comparable. A field whose comment does not name the Type is zero.
type Warning struct {
	Type WarningType `json:"type"`

	// Field is the path of the field in the strategy's JSON, or the option such as groupOrder (WarningFieldIgnored).
	Field string `json:"field,omitempty"`
	// Mandatory is the entry of the strategy (WarningMandatoryGroupEmpty, WarningMandatoryGroupIgnored).
	Mandatory clusterv1alpha1.MandatoryDecisionGroup `json:"mandatoryDecisionGroup,omitzero"`
	// Group is the group that does not exist: as the [ClosedGate] has it, with the lowest index of those
	// with the same name (WarningGateWithoutGroup), or with the name that
	// [GroupOrder] has (WarningOrderWithoutGroup).
	Group grouping.Key `json:"group,omitzero"`
	// Known names the first ten existing groups, where the group that is meant does not exist. It is empty where that
	// group exists without clusters (WarningMandatoryGroupEmpty, WarningGateWithoutGroup, WarningOrderWithoutGroup).
	Known string `json:"known,omitempty"`
	// Missing is a sentence that says what the groups lack (WarningGroupsIncomplete).
	Missing string `json:"missing,omitempty"`

	// Clusters is how many clusters the warning is about, and Cluster is the first of them by name
	// (WarningFreezeWithoutCluster, WarningReportsMerged, WarningReportWithoutTime, WarningUntracked, WarningSuccessWithoutTime, WarningRemovalsWithheld).
	// WarningMandatoryGroupIgnored has only the number.
	Clusters int    `json:"clusters,omitempty"`
	Cluster  string `json:"cluster,omitempty"`
	// Reported is the number of clusters with a report, and MaxRemoved how many of them may be removed at once
	// (WarningRemovalsWithheld).
	Reported   int `json:"reported,omitempty"`
	MaxRemoved int `json:"maxRemoved,omitempty"`
}

// String is a sentence without its full stop, fit for an event.
func (w Warning) String() string {
	switch w.Type {
	case WarningFieldIgnored:
		if w.Field == "waitBetweenGroups" { // which depends on the groups, too
			return w.Field + " has no effect: no group waits for another"
		}
		return w.Field + " has no effect: " + w.unused()
	case WarningMandatoryGroupEmpty:
		return w.mandatory()
	case WarningMandatoryGroupIgnored:
		if w.Clusters == 1 {
			return w.entry() + " has no effect: its only cluster is ignored"
		}
		return fmt.Sprintf("%s has no effect: all of its %d clusters are ignored", w.entry(), w.Clusters)
	case WarningGateWithoutGroup:
		return w.gate()
	case WarningFreezeWithoutCluster:
		return plural(w.Clusters > 1, "the freeze of ", "the freezes of ") + w.named() + plural(w.Clusters > 1, " has", " have") + " no effect: " + plural(w.Clusters > 1, "the cluster is", "the clusters are") + " not selected"
	case WarningOrderWithoutGroup:
		return w.order()
	case WarningGroupsIncomplete:
		return "no cluster gets the workload, and no cluster loses it, while the PlacementDecisions are only partially observed (" + w.Missing + ")"
	case WarningReportsMerged:
		return "the status of " + w.named() + " is reported more than once; of several reports, the one that delays the rollout the longest is used"
	case WarningReportWithoutTime:
		return w.statuses() + plural(w.Clusters > 1, " has no timestamp: progressDeadline and minSuccessTime cannot run out for it until it has one", " have no timestamp: progressDeadline and minSuccessTime cannot run out for them until they have one")
	case WarningUntracked:
		return "the workload is applied on " + w.named() + ", but no conditionRules tell when it is done"
	case WarningSuccessWithoutTime:
		return w.statuses() + plural(w.Clusters > 1, " does", " do") + " not say when the success was: the next group does not start before that is known"
	case WarningRemovalsWithheld:
		return fmt.Sprintf("removals are blocked: the workload would be removed from %s (%d of the %d clusters that have it), and maxRemoved is %d",
			w.named(), w.Clusters, w.Reported, w.MaxRemoved)
	default:
		return string(w.Type)
	}
}

// unused says under which types a field or an option has an effect.
func (w Warning) unused() string {
	block, _, _ := strings.Cut(w.Field, ".")
	switch {
	case w.Field == "all.minSuccessTime" || w.Field == "all.maxFailures":
		return "a rollout strategy of type All does not use it"
	case w.Field == "maxConcurrencyPerGroup":
		return "only the type ProgressivePerGroup and mandatory groups use it"
	case w.Field == "groupOrder" || block == "progressivePerGroup":
		return "only a rollout strategy of type ProgressivePerGroup uses it"
	case block == "progressive":
		return "only a rollout strategy of type Progressive uses it"
	default:
		return "only a rollout strategy of type All uses it"
	}
}

// entry gives `mandatory group "canary"`.
func (w Warning) entry() string {
	if w.Mandatory.GroupName != "" {
		return fmt.Sprintf("mandatory group %q", w.Mandatory.GroupName)
	}
	return fmt.Sprintf("mandatory group with index %d", w.Mandatory.GroupIndex)
}

func (w Warning) mandatory() string {
	what := "has no effect: it has no clusters"
	if w.Known != "" {
		what = "has no effect: there is no such group" + w.only("")
	}
	return w.entry() + " " + what
}

func (w Warning) gate() string {
	group, why := fmt.Sprintf("group %d", w.Group.Index), fmt.Sprintf("there is no group with index %d", w.Group.Index)
	if w.Group.Name != "" {
		group, why = fmt.Sprintf("group %q", w.Group.Name), "there is no such group"
	}
	if w.Group.Placement != "" {
		group, why = group+" of placement "+w.Group.Placement, strings.Replace(why, "there is", "placement "+w.Group.Placement+" has", 1)
		return fmt.Sprintf("the gate before %s has no effect: %s", group, why) + w.only(" of all placements")
	}
	return fmt.Sprintf("the gate before %s has no effect: %s", group, why) + w.only("")
}

func (w Warning) order() string {
	text := fmt.Sprintf("groupOrder has an entry for group %q, which has no effect: there is no such group", w.Group.Name)
	if w.Group.Name == "" {
		text = "groupOrder has an entry for groups without a name, which has no effect: there is no such group"
	}
	return text + w.only("")
}

// statuses gives `the status of a`, or `the statuses of a and 2 more clusters`.
func (w Warning) statuses() string {
	return plural(w.Clusters > 1, "the status of ", "the statuses of ") + w.named()
}

// named gives `a`, or `a and 2 more clusters`.
func (w Warning) named() string {
	switch w.Clusters {
	case 1:
		return w.Cluster
	case 2:
		return w.Cluster + " and 1 more cluster"
	default:
		return fmt.Sprintf("%s and %d more clusters", w.Cluster, w.Clusters-1)
	}
}

// only says which groups there are, where it is known, and of which placements where that matters.
func (w Warning) only(of string) string {
	switch {
	case w.Known == "":
		return ""
	case strings.Contains(w.Known, ", "):
		return "; the groups" + of + " are " + w.Known
	case w.Known[0] != '"':
		return "; the only group" + of + " is group " + w.Known + ", without a name"
	default:
		return "; the only group" + of + " is named " + w.Known
	}
}
