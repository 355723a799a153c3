package override

import (
	"maps"
	"slices"
	"strconv"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	"github.com/cohort-ocm/cohort/grouping"
)

// Groups are the bound clusters in the decision groups of the placements that bound them, as a rollout
// goes through them: the groups of one placement after those of another, in the order of the bindings'
// names; a cluster that several bind belongs to the first (R26). placements has the groups of the
// Placement of each binding, by the binding's name, as from grouping.Read.
//
// Clusters that a placement selects and the policy is not bound to, because a set excludes them, are left out.
// Clusters that a binding binds and that are in none of its placement's groups form one group without a name
// behind those: all of a PlacementRule, which has no decision groups, and those that entered a placement
// after its groups were read.
//
// The groups of the first placement keep their indexes. Those of the others follow on without a gap, so that
// an index in mandatoryDecisionGroups counts over all placements, and a name means the groups of that name in all of
// them. Groups that are left without clusters stay, so that indexes don't depend on which clusters are bound.
//
// It takes time linear in the clusters, and is worth keeping until a placement or a binding changes.
func (r Result) Groups(placements map[string]*grouping.Groups) (*grouping.Groups, error) {
	members := map[string][][]clusterv1beta1.ClusterDecision{}
	for _, name := range r.binders(placements) {
		members[name] = make([][]clusterv1beta1.ClusterDecision, placements[name].Len()+1)
	}
	for _, c := range r.Clusters {
		binding := c.binder()
		groups := placements[binding]
		decision, group := clusterv1beta1.ClusterDecision{ClusterName: c.Name}, groups.Len()
		if position, ok := groups.Position(c.Name); ok {
			_, decision, _ = groups.Find(c.Name)
			group = groups.GroupAt(position)
		}
		members[binding][group] = append(members[binding][group], decision)
	}

	var decisions []*clusterv1beta1.PlacementDecision
	next := int32(0)
	for _, name := range slices.Sorted(maps.Keys(members)) {
		groups := placements[name]
		offset := next
		for i := range groups.Len() {
			key := groups.Key(i)
			key.Index += offset
			decisions = append(decisions, placementDecision(key, members[name][i]))
			next = key.Index + 1
		}
		if rest := members[name][groups.Len()]; len(rest) > 0 {
			decisions = append(decisions, placementDecision(grouping.Key{Index: next}, rest))
			next++
		}
	}
	return grouping.Read(decisions)
}

// one is all bound clusters in one group.
func (r Result) one() (*grouping.Groups, error) {
	clusters := make([]clusterv1beta1.ClusterDecision, len(r.Clusters))
	for i := range clusters {
		clusters[i].ClusterName = r.Clusters[i].Name
	}
	return grouping.Read([]*clusterv1beta1.PlacementDecision{placementDecision(grouping.Key{}, clusters)})
}

// binders are the names of the bindings that bind clusters or could.
func (r Result) binders(placements map[string]*grouping.Groups) []string {
	binders := map[string]bool{}
	for name := range placements {
		binders[name] = true
	}
	for _, ignored := range r.Ignored {
		if ignored.Reason != OverrideIgnored {
			delete(binders, ignored.Binding)
		}
	}
	previous := ""
	for i := range r.Clusters {
		if binder := r.Clusters[i].binder(); i == 0 || binder != previous {
			binders[binder] = true
			previous = binder
		}
	}
	return slices.Sorted(maps.Keys(binders))
}

// binder is the first binding that bound the cluster; empty where nobody said who did.
func (c *Cluster) binder() string {
	if len(c.BoundBy) == 0 {
		return ""
	}
	return c.BoundBy[0]
}

// placementDecision is what grouping.Read reads a group from.
func placementDecision(key grouping.Key, clusters []clusterv1beta1.ClusterDecision) *clusterv1beta1.PlacementDecision {
	return &clusterv1beta1.PlacementDecision{
		ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{
			clusterv1beta1.DecisionGroupIndexLabel: strconv.Itoa(int(key.Index)),
			clusterv1beta1.DecisionGroupNameLabel:  key.Name,
		}},
		Status: clusterv1beta1.PlacementDecisionStatus{Decisions: clusters},
	}
}
