// SPDX-License-Identifier: Apache-2.0

package scenario

import (
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	"github.com/cohort-ocm/cohort/examples/internal/spelling"
	"github.com/cohort-ocm/cohort/grouping"
)

// Why says why a cluster is in its group, or why no placement selects it. An unknown cluster is an error.
func (s *Scenario) Why(cluster string) (key grouping.Key, selected bool, why []string, err error) {
	key, _, selected = s.Groups.Find(cluster)
	managed, there := s.managed[cluster]
	switch {
	case !selected && !there && !s.Knows(cluster):
		return key, false, nil, fmt.Errorf("%s: must be a cluster that is there%s", cluster, spelling.Hint(cluster, s.names()))
	case s.Policy != nil:
		return key, selected, s.whyBound(cluster, managed), nil
	case !selected && s.Stored:
		return key, false, []string{"no PlacementDecision has it"}, nil
	case !selected && !there:
		return key, false, []string{"no ManagedCluster has its name"}, nil
	case !selected:
		return key, false, []string{s.whyDropped(managed)}, nil
	}
	return key, true, s.whyGroup(cluster, key, managed), nil
}

func (s *Scenario) names() (names []string) {
	for name := range s.managed {
		names = append(names, name)
	}
	for _, decision := range s.Groups.All() {
		names = append(names, decision.ClusterName)
	}
	for _, report := range slices.Concat(s.Observed, s.Unselected) {
		names = append(names, report.Cluster)
	}
	return names
}

// whyDropped gives the rule that keeps the Placement from selecting a cluster.
func (s *Scenario) whyDropped(c *clusterv1.ManagedCluster) string {
	if rule := s.rules.drops(c); rule != "" {
		return rule
	}
	return ruleNumber
}

// whyGroup says which object or which entry of the Placement put a selected cluster into its group.
func (s *Scenario) whyGroup(cluster string, key grouping.Key, c *clusterv1.ManagedCluster) []string {
	if s.Stored {
		for _, d := range s.Decisions {
			has := slices.ContainsFunc(d.Status.Decisions, func(d clusterv1beta1.ClusterDecision) bool { return d.ClusterName == cluster })
			if has && (d.Labels[clusterv1beta1.DecisionGroupIndexLabel] == fmt.Sprint(key.Index) || key.Index == 0) {
				return []string{fmt.Sprintf("PlacementDecision %s has it", d.Name)}
			}
		}
		return nil
	}
	groups := s.Spec.Spec.DecisionStrategy.GroupStrategy
	limit := ""
	if size := s.Groups.ClustersPerDecisionGroup(); size > 0 {
		limit = fmt.Sprintf("; a group has at most %d clusters, by name", size)
	}
	const path = "spec.decisionStrategy.groupStrategy.decisionGroups"
	for i, g := range groups.DecisionGroups {
		selector, errs := newPredicate(clusterv1beta1.ClusterSelector{
			LabelSelector: g.ClusterSelector.LabelSelector, ClaimSelector: g.ClusterSelector.ClaimSelector,
		}, nil)
		if g.GroupName == key.Name && len(errs) == 0 && c != nil && selector.matches(c) {
			return []string{fmt.Sprintf("%s[%d] selects it: %s%s", path, i, described(g.ClusterSelector), limit)}
		}
	}
	if len(groups.DecisionGroups) > 0 {
		return []string{"no entry of " + path + " selects it" + limit}
	}
	return []string{"the Placement names no groups" + limit}
}

func described(s clusterv1beta1.GroupClusterSelector) string {
	var parts []string
	if text := metav1.FormatLabelSelector(&s.LabelSelector); text != "<none>" && text != "" {
		parts = append(parts, text)
	}
	if len(s.ClaimSelector.MatchExpressions) > 0 {
		parts = append(parts, "claims "+metav1.FormatLabelSelector(&metav1.LabelSelector{MatchExpressions: s.ClaimSelector.MatchExpressions}))
	}
	if parts == nil {
		return "every cluster"
	}
	return strings.Join(parts, ", ")
}

// whyBound says what binds a cluster to the policy and with which action, or what does not.
func (s *Scenario) whyBound(cluster string, c *clusterv1.ManagedCluster) (why []string) {
	if bound, found := s.Policy.Resolution.Find(cluster); found {
		return []string{bound.String()}
	}
	for _, b := range s.Policy.Bindings {
		part := s.parts[b.PlacementRef.Name]
		_, _, has := b.Groups.Find(cluster)
		switch {
		case has && slices.Contains(b.Excluded, cluster):
			why = append(why, fmt.Sprintf("binding %s: a PolicySet excludes it", b.Name))
		case has && b.SubFilter:
			why = append(why, fmt.Sprintf("binding %s: a sub filter, which binds no cluster", b.Name))
		case part != nil && !part.Stored && c != nil:
			why = append(why, fmt.Sprintf("binding %s: placement %s: %s", b.Name, b.PlacementRef.Name, part.whyDropped(c)))
		default:
			why = append(why, fmt.Sprintf("binding %s: %v does not select it", b.Name, b.PlacementRef))
		}
	}
	if why == nil {
		why = []string{"no PlacementBinding has the policy as its subject, or the policy is disabled"}
	}
	return why
}
