// SPDX-License-Identifier: Apache-2.0

package progressive

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/util/validation/field"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"

	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/rollout"
)

// annotationVersion has the version of a root policy to which approvals may be tied.
const annotationVersion = "policy.open-cluster-management.io/version"

// gateName is the name, in messages, of the gate of a group that is not approved.
const gateName = "rolloutApproved"

// approvals say which groups have been approved (O44).
type approvals struct {
	spec      RolloutSpec
	mandatory []clusterv1alpha1.MandatoryDecisionGroup
	// counts says that the approvals of the spec are for the version that is wanted.
	counts bool
}

// ofName says whether the groups of a name are approved by the spec; the empty name is for clusters in no named group.
func (a *approvals) ofName(name string) bool {
	if !a.counts {
		return false
	}
	if name == "" {
		return a.spec.Ungrouped.RolloutApproved
	}
	approved := false
	for _, group := range a.spec.DecisionGroups {
		if group.GroupName == name && !group.RolloutApproved {
			return false
		}
		approved = approved || group.GroupName == name
	}
	return approved
}

func (a *approvals) ofGroup(key grouping.Key) bool {
	return a.ofName(key.Name) || slices.ContainsFunc(a.mandatory, func(group clusterv1alpha1.MandatoryDecisionGroup) bool {
		return group.GroupName != "" && group.GroupName == key.Name || group.GroupName == "" && group.GroupIndex == key.Index
	})
}

// gates are before the groups that are not approved.
func (a *approvals) gates(groups *grouping.Groups) (closed []rollout.ClosedGate) {
	for i := range groups.Len() {
		if key := groups.Key(i); !a.ofGroup(key) {
			closed = append(closed, rollout.ClosedGate{
				Group: grouping.Key{Index: key.Index, Placement: key.Placement}, Gate: rollout.Gate{Name: gateName},
			})
		}
	}
	return closed
}

// order puts the groups that the spec approves before the others (O45).
func (a *approvals) order(groups *grouping.Groups) rollout.GroupOrder {
	names := namesOf(groups)
	if slices.Contains(keysOf(groups), "") {
		names = append(names, "")
	}
	slices.SortStableFunc(names, func(text, y string) int {
		switch approved := a.ofName(text); {
		case approved == a.ofName(y):
			return 0
		case approved:
			return -1
		default:
			return 1
		}
	})
	order := make(rollout.GroupOrder, len(names))
	for i := 1; i < len(names); i++ {
		order[names[i]] = names[i-1 : i : i]
	}
	return order
}

func keysOf(groups *grouping.Groups) []string {
	all := make([]string, groups.Len())
	for i := range all {
		all[i] = groups.Key(i).Name
	}
	return all
}

// namesOf gives the names of named groups, in the order in which they first occur.
func namesOf(groups *grouping.Groups) (names []string) {
	seen := map[string]bool{"": true}
	for _, name := range keysOf(groups) {
		if !seen[name] {
			names = append(names, name)
		}
		seen[name] = true
	}
	return names
}

// ignored reports the users' settings that have no effect (O49).
func (a *approvals) ignored(strategy *Strategy, groups *grouping.Groups, version string) (errs field.ErrorList) {
	path, manual := field.NewPath("spec"), string(ManualPerGroup)
	if !strategy.isManual() {
		other := "has no effect: the policy's rolloutStrategy is " + string(strategy.engine().Type) + ", not " + manual
		if len(a.spec.DecisionGroups) > 0 {
			errs = append(errs, field.Forbidden(path.Child("decisionGroups"), other))
		}
		if a.spec.Ungrouped.RolloutApproved {
			errs = append(errs, field.Forbidden(path.Child("ungrouped"), other))
		}
		if strategy.ManualPerGroup != nil {
			errs = append(errs, field.Forbidden(path.Child("rolloutStrategy", "manualPerGroup"), other))
		}
		return errs
	}
	if strategy.ProgressivePerGroup != nil {
		errs = append(errs, field.Forbidden(path.Child("rolloutStrategy", "progressivePerGroup"), "has no effect: the policy's rolloutStrategy is "+manual))
	}
	if !a.counts {
		errs = append(errs, field.Invalid(path.Child("approvalsForVersion"), a.spec.ApprovalsForVersion,
			fmt.Sprintf("is not the version of the policy, %q in its annotation %s, so no approval counts", version, annotationVersion)))
	}
	for i, group := range a.spec.DecisionGroups {
		if groups.Incomplete() == "" && (group.GroupName == "" || !slices.Contains(keysOf(groups), group.GroupName)) {
			errs = append(errs, field.NotSupported(path.Child("decisionGroups").Index(i).Child("groupName"), group.GroupName, namesOf(groups)))
		}
	}
	return errs
}
