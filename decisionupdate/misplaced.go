// SPDX-License-Identifier: Apache-2.0

package decisionupdate

import (
	"fmt"
	"slices"
)

// Misplaced is an object that changes both its group and its clusters, which takes two requests. Between them, the
// clusters may be seen in a group that is neither their stored nor their desired one.
type Misplaced struct {
	// Object is the name of the PlacementDecision.
	Object string

	// First is the part that is written first.
	First Part

	// Seen is the group that the object shows meanwhile: its stored one if the status is written first, its desired
	// one if the labels are.
	Seen Group

	// Clusters are the names of the clusters concerned, sorted.
	Clusters []string
}

// String returns a sentence for a log, as in "until the labels of PlacementDecision web-decision-2 are
// written, cluster c is listed in group 1, to which it does not belong".
func (misplaced Misplaced) String() string {
	second := PartLabels
	if misplaced.First == PartLabels {
		second = PartStatus
	}
	clusters := "cluster %s is listed in group %s, to which it does not belong"
	if len(misplaced.Clusters) > 1 {
		clusters = "clusters %s are listed in group %s, to which they do not belong"
	}
	return fmt.Sprintf("until the %s of PlacementDecision %s %s written, "+clusters, second, misplaced.Object, isOrAre(second), listed(misplaced.Clusters), misplaced.Seen)
}

func isOrAre(part Part) string {
	if part == PartLabels {
		return "are"
	}
	return "is"
}

// partFirst returns the part that an object that changes its group writes first (D7). An object that only gains clusters,
// or only loses some, shows none of them in a wrong group if that happens under the right labels. An object without a
// placement's label is out of sight until it gets one. An object with another placement's label is not: while its group
// stays, it gets its own label first, so that no cluster that it gains is seen there (D14).
func (o *object) partFirst() Part {
	switch {
	case !o.loses:
		return PartLabels
	case !o.gains, o.outOfSight():
		return PartStatus
	}
	return firstPart(groupOf(o.stored.Labels), groupOf(o.dressed.Labels))
}

// firstPart returns what an object with both old and new clusters writes first. Names decide first: readers look for the
// names of mandatory groups. If one of the two groups has no name, the object is in that group while its clusters
// are mixed.
//
// Otherwise the object is in the group with the higher index while its clusters are mixed. Readers that find a cluster
// in two objects take the lower index (G11), which is then a right one. A cluster that is in no other object is at
// worst seen late, never early. Where only the name changes, the new one comes last.
func firstPart(from, to Group) Part {
	switch {
	case from == to:
		return PartLabels
	case from.Name == "" && to.Name != "":
		return PartStatus
	case from.Name != "" && to.Name == "":
		return PartLabels
	case to.index() <= from.index():
		return PartStatus
	}
	return PartLabels
}

// misplaced returns the objects that show clusters in a wrong group while they change their group (D7).
//
// With the labels first, the stored clusters are wrong that neither belonged nor will belong to the object's new group.
// With the status first, the arriving clusters are wrong that neither belonged nor will belong to its old group.
// Clusters that the object both stores and desires are right either way. An object without its placement's label counts, too:
// if the writer stops between the two requests, the next update may label the object as it is (D8).
func (f *fleet) misplaced(steps []Step) []Misplaced {
	if !slices.ContainsFunc(f.objects, object.changesGroup) {
		return nil
	}
	first := make(map[string]Part) // by object
	for _, step := range steps {
		for _, write := range step {
			if first[write.Name()] == "" && write.Verb == VerbUpdate {
				first[write.Name()] = write.Parts[0]
			}
		}
	}
	stored := f.storedGroups()
	var found []Misplaced
	for o := range f.objects {
		obj := &f.objects[o]
		if !obj.changesGroup() {
			continue
		}
		misplaced := Misplaced{Object: obj.name, First: first[obj.name]}
		switch {
		case misplaced.First == PartLabels:
			misplaced.Seen = groupOf(obj.desired.Labels)
			for i, decision := range obj.stored.Status.Decisions {
				if decision.ClusterName != "" && !slices.Contains(stored[decision.ClusterName], misplaced.Seen) && !f.desiredGroupIs(misplaced.Seen, obj.storedIDs[i]) {
					misplaced.Clusters = append(misplaced.Clusters, decision.ClusterName)
				}
			}
		case !obj.showsNothing():
			misplaced.Seen = groupOf(obj.stored.Labels)
			for _, decision := range obj.desired.Status.Decisions {
				if !slices.Contains(stored[decision.ClusterName], misplaced.Seen) {
					misplaced.Clusters = append(misplaced.Clusters, decision.ClusterName)
				}
			}
		}
		if len(misplaced.Clusters) > 0 {
			slices.Sort(misplaced.Clusters)
			misplaced.Clusters = slices.Compact(misplaced.Clusters)
			found = append(found, misplaced)
		}
	}
	return found
}

// changesGroup reports whether the object is stored in another group than it is desired in.
func (o object) changesGroup() bool {
	return o.stored != nil && o.desired != nil && groupOf(o.stored.Labels) != groupOf(o.desired.Labels)
}

// desiredGroupIs reports whether the cluster, which need not have a number, is desired in the group.
func (f *fleet) desiredGroupIs(group Group, cluster int32) bool {
	return cluster >= 0 && groupOf(f.objects[f.goal[cluster]].desired.Labels) == group
}

// storedGroups returns for each stored cluster the groups that it is stored in: several if a crash has left it in
// several objects.
func (f *fleet) storedGroups() map[string][]Group {
	groups := make(map[string][]Group)
	for o := range f.objects {
		if f.objects[o].stored == nil {
			continue
		}
		group := groupOf(f.objects[o].stored.Labels)
		for _, decision := range f.objects[o].stored.Status.Decisions {
			if !slices.Contains(groups[decision.ClusterName], group) {
				groups[decision.ClusterName] = append(groups[decision.ClusterName], group)
			}
		}
	}
	return groups
}
