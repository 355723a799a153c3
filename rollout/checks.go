// SPDX-License-Identifier: Apache-2.0

package rollout

import (
	"slices"
	"strconv"

	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"

	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/rollout/internal/fleet"
)

// check warns of what has no effect.
func (s *schedule) check() {
	s.checkOptions()
	if s.missing != "" { // a group that seems not to exist may only be missing yet
		s.warn(Warning{Type: WarningGroupsIncomplete, Missing: s.missing})
		return
	}
	s.checkMandatory()
	s.checkGates()
	s.checkFreezes()
	s.checkGroupOrder()
}

// checkOptions warns of the options that have no effect, in the order of their names (R18). While groups are incomplete, those
// that are there do not decide.
func (s *schedule) checkOptions() {
	perGroup := s.rules.typ == clusterv1alpha1.ProgressivePerGroup
	for _, option := range []struct {
		name    string
		ignored bool
	}{
		{"groupOrder", s.options.groupOrder != nil && !perGroup},
		{"maxConcurrencyPerGroup", s.options.groupConcurrency != nil && !perGroup && !s.hasMandatory()},
		{"waitBetweenGroups", s.options.wait > 0 && s.awaited == nil && (s.missing == "" || !s.ordersGroups())},
	} {
		if option.ignored {
			s.warn(Warning{Type: WarningFieldIgnored, Field: option.name})
		}
	}
}

// hasMandatory says whether the strategy has mandatory groups, which a rollback has not.
func (s *schedule) hasMandatory() bool {
	return s.rules.typ == clusterv1alpha1.Progressive && s.options.rollback == nil && len(s.rules.mandatory) > 0
}

// checkGates warns of gates before groups that do not exist: with a mistyped name the group would start
// unnoticed.
func (s *schedule) checkGates() {
	for _, group := range s.options.gates.Unmatched(s.Members) {
		s.warn(Warning{Type: WarningGateWithoutGroup, Group: group, Known: s.known()})
	}
}

// checkFreezes warns of freezes of clusters that are not selected: with a mistyped name the cluster would start unnoticed.
func (s *schedule) checkFreezes() {
	if s.options.named == nil {
		return
	}
	warning := Warning{Type: WarningFreezeWithoutCluster}
	for _, freeze := range s.options.named.freezes {
		cluster := freeze.Cluster
		position, is := s.Position(cluster)
		if _, elsewhere := fleet.Elsewhere(s.Groups, cluster); is && !s.IsDeselected(position) || elsewhere {
			continue
		}
		if warning.Clusters++; warning.Clusters == 1 {
			warning.Cluster = cluster
		}
	}
	if warning.Clusters > 0 {
		s.warn(warning)
	}
}

// checkGroupOrder warns of the names in the GroupOrder that no group has, in order.
func (s *schedule) checkGroupOrder() {
	order := s.options.groupOrder
	if order == nil || s.rules.typ != clusterv1alpha1.ProgressivePerGroup {
		return
	}
	names := order.Names()
	has := make([]bool, len(names))
	for i := range s.Len() {
		if name, ok := slices.BinarySearch(names, s.Key(i).Name); ok {
			has[name] = true
		}
	}
	for i, name := range names {
		if !has[i] {
			s.warn(Warning{Type: WarningOrderWithoutGroup, Group: grouping.Key{Name: name}, Known: s.known()})
		}
	}
}

// known names the existing groups, each once and at most ten: `"canary", 1, 2 and 7 more`. It is worked out once, and
// only where an entry or a gate names none of them.
func (s *schedule) known() string {
	const most = 10
	if s.names != "" {
		return s.names
	}
	var names []string
	seen := make(map[string]bool)
	for i := range s.Len() {
		key := s.Key(i)
		if key == fleet.UnknownGroup() {
			continue
		}
		name := strconv.Itoa(int(key.Index))
		if key.Name != "" {
			name = strconv.Quote(key.Name)
		}
		if !seen[name] && len(names) < most {
			names = append(names, name)
		}
		seen[name] = true
	}
	s.names = listed(names, len(seen))
	return s.names
}

func (s *schedule) warn(warning Warning) { s.warnings = append(s.warnings, warning) }
