package override

import (
	"fmt"
	"maps"
	"slices"
	"strconv"

	"k8s.io/apimachinery/pkg/util/validation/field"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	"github.com/cohort-ocm/cohort/grouping"
)

// Groups are the bound clusters in the decision groups of the placements that bound them, as a rollout
// goes through them: the groups of one placement after those of another, in the order of the bindings'
// names; a cluster that several bind belongs to the first (R26). placements has the groups of the
// Placement of each binding, by the name of the binding (not of the Placement), as from grouping.Read; nil for a
// PlacementRule. Each binding that bound a cluster must have an entry, lest clusters whose groups were not
// found start all at once. Only where no binding has groups may placements be nil.
//
// Clusters that a placement selects and the policy is not bound to, because a set excludes them, are left
// out. Clusters that a binding binds and that are in none of its placement's groups form one group without
// a name behind those: all of a PlacementRule, which has no decision groups, and those that entered a
// placement after its groups were read.
//
// Groups keep their names and indexes, even those that are left without clusters, so that an entry of
// mandatoryDecisionGroups means a group of each placement. Where there are several, the Placement of a
// key is the name of the binding, as two bindings may have the same placement.
//
// Errors are *field.Error: a binding without an entry (placements[name]), and those of grouping.Join. It takes
// time linear in the clusters, and the result is worth keeping until a placement or a binding changes.
func (r Result) Groups(placements map[string]*grouping.Groups) (*grouping.Groups, error) {
	binders := r.binders(placements)
	for _, name := range binders {
		if _, ok := placements[name]; !ok && placements != nil {
			return nil, field.Required(field.NewPath("placements").Key(name),
				fmt.Sprintf("binding %q bound clusters; expected the groups of its Placement by the binding's name, nil for a PlacementRule", name))
		}
	}
	members := make(map[string][][]clusterv1beta1.ClusterDecision, len(binders))
	for _, name := range binders {
		members[name] = make([][]clusterv1beta1.ClusterDecision, placements[name].Len()+1)
	}
	for i := range r.Clusters {
		cluster, own := r.Clusters[i].Name, members[r.Clusters[i].binder()]
		group, decision := len(own)-1, clusterv1beta1.ClusterDecision{ClusterName: cluster}
		groups := placements[r.Clusters[i].binder()]
		if position, ok := groups.Position(cluster); ok {
			group = groups.GroupAt(position)
			_, decision, _ = groups.Find(cluster)
		}
		own[group] = append(own[group], decision)
	}

	parts := make([]grouping.PlacementGroups, len(binders))
	for i, name := range binders {
		groups, err := regroup(placements[name], members[name])
		if err != nil {
			return nil, err
		}
		parts[i] = grouping.PlacementGroups{Placement: name, Groups: groups}
	}
	if len(parts) == 1 {
		return parts[0].Groups, nil
	}
	return grouping.Join(parts...)
}

// regroup gives the groups their members, and those behind the last group one of their own.
func regroup(groups *grouping.Groups, members [][]clusterv1beta1.ClusterDecision) (*grouping.Groups, error) {
	decisions := make([]*clusterv1beta1.PlacementDecision, 0, len(members))
	add := func(index int64, name string, clusters []clusterv1beta1.ClusterDecision) {
		d := &clusterv1beta1.PlacementDecision{}
		d.Name = strconv.Itoa(len(decisions))
		d.Labels = map[string]string{
			clusterv1beta1.DecisionGroupIndexLabel: strconv.FormatInt(index, 10),
			clusterv1beta1.DecisionGroupNameLabel:  name,
		}
		d.Status.Decisions = clusters
		decisions = append(decisions, d)
	}
	next := int64(0)
	for i := range groups.Len() {
		key := groups.Key(i)
		add(int64(key.Index), key.Name, members[i])
		next = int64(key.Index) + 1
	}
	if rest := members[groups.Len()]; len(rest) > 0 {
		add(next, "", rest)
	}
	return grouping.Read(nil, decisions)
}

// binders are the names of the bindings that bind clusters or could, in order.
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

// inOneGroup is all bound clusters in one group.
func (r Result) inOneGroup() (*grouping.Groups, error) {
	clusters := make([]clusterv1beta1.ClusterDecision, len(r.Clusters))
	for i := range clusters {
		clusters[i].ClusterName = r.Clusters[i].Name
	}
	return regroup(nil, [][]clusterv1beta1.ClusterDecision{clusters})
}

// binder is the first binding that bound the cluster; empty where nobody said who did.
func (c *Cluster) binder() string {
	if len(c.BoundBy) == 0 {
		return ""
	}
	return c.BoundBy[0]
}
