package rollout

import "github.com/cohort-ocm/cohort/grouping"

// The methods of Groups that are on their way.

func incomplete(g *grouping.Groups) string {
	if g, ok := any(g).(interface{ Incomplete() string }); ok {
		return g.Incomplete()
	}
	return ""
}

func clustersPerDecisionGroup(g *grouping.Groups) int {
	if g, ok := any(g).(interface{ ClustersPerDecisionGroup() int }); ok {
		return g.ClustersPerDecisionGroup()
	}
	return 0
}
