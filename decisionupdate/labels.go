package decisionupdate

import (
	"fmt"
	"maps"
	"slices"
	"strconv"

	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
)

// Group is a decision group as the labels of a PlacementDecision name it. A label that is missing is empty.
type Group struct {
	Index string
	Name  string
}

// String returns the index, and the name if there is one, as in "1" and "0/canary".
func (g Group) String() string {
	if g.Name == "" {
		return g.Index
	}
	return g.Index + "/" + g.Name
}

// Warning tells of an object that changes its group and its clusters, which takes two requests (D7). Between
// the two, the clusters may be seen in a group that is neither their stored nor their desired one.
type Warning struct {
	// Object is the name of the PlacementDecision.
	Object string

	// First is the part that is written first.
	First Part

	// Seen is the group that the object shows meanwhile: of its stored and its desired one that with the higher
	// index, the desired one if they have the same.
	Seen Group

	// Clusters are the names of the clusters concerned, sorted.
	Clusters []string
}

// String returns the warning as a sentence for a log.
func (w Warning) String() string {
	return fmt.Sprintf("%s changes its group, %s first: until the other is written it shows in group %s what belongs elsewhere:%s",
		w.Object, w.First, w.Seen, listed("", w.Clusters))
}

func groupOf(labels map[string]string) Group {
	return Group{
		Index: labels[clusterv1beta1.DecisionGroupIndexLabel],
		Name:  labels[clusterv1beta1.DecisionGroupNameLabel],
	}
}

// index returns the group's index as a number. What is no index sorts before all others, so that an object that
// has no readable one gets it before its clusters change.
func (g Group) index() int32 {
	i, err := strconv.ParseInt(g.Index, 10, 32)
	if err != nil {
		return -1
	}
	return int32(i)
}

// firstPart returns which of labels and status an object that changes its group writes first. It keeps the
// object in the group with the higher index for as long as its clusters are in between. Readers that find a
// cluster in two objects take the lower index (G11), which is then a right one; and a cluster that is in no
// other object is at worst seen late, never early. With the same index the labels come first, too: what comes is
// never seen under a name that it doesn't have.
func firstPart(from, to Group) Part {
	if to.index() < from.index() {
		return Status
	}
	return Labels
}

// relabelled returns the labels that a stored object has in the end, and whether they differ from those that it
// has. The labels that name placement and group become exactly the desired ones; others are added or changed,
// and never removed.
func relabelled(stored, desired map[string]string) (map[string]string, bool) {
	same := true
	for _, key := range groupLabels() {
		was, had := stored[key]
		is, has := desired[key]
		same = same && was == is && had == has
	}
	for key, is := range desired {
		was, had := stored[key]
		same = same && had && was == is
	}
	if same {
		return stored, false
	}
	labels := make(map[string]string, len(stored)+len(desired))
	maps.Copy(labels, stored)
	for _, key := range groupLabels() {
		delete(labels, key)
	}
	maps.Copy(labels, desired)
	return labels, true
}

// groupLabels returns the keys of the labels that only the writer of PlacementDecisions sets.
func groupLabels() [3]string {
	return [3]string{clusterv1beta1.PlacementLabel, clusterv1beta1.DecisionGroupIndexLabel, clusterv1beta1.DecisionGroupNameLabel}
}

// warnings returns a warning for each object that shows clusters in a wrong group while it changes its own
// (D7).
//
// With the labels first, what is wrong is what is stored in the object and belongs neither now nor before to
// the group that it gets; with the status first, what comes to the object and belongs neither now nor before to
// the group that it still has. Clusters that are stored in and desired by the object itself are right either
// way.
func (f *fleet) warnings() []Warning {
	if !slices.ContainsFunc(f.objects, object.changesGroup) {
		return nil
	}
	stored := f.storedGroups()
	var found []Warning
	for o := range f.objects {
		obj := &f.objects[o]
		if !obj.changesGroup() {
			continue
		}
		from, to := groupOf(obj.stored.Labels), groupOf(obj.desired.Labels)
		w := Warning{Object: obj.name, First: firstPart(from, to)}
		if w.First == Labels {
			w.Seen = to
			for i, d := range obj.stored.Status.Decisions {
				if d.ClusterName == "" || slices.Contains(stored[d.ClusterName], to) || f.desiredGroupIs(to, obj.storedIDs[i]) {
					continue
				}
				w.Clusters = append(w.Clusters, d.ClusterName)
			}
		} else {
			w.Seen = from
			for _, d := range obj.desired.Status.Decisions {
				if !slices.Contains(stored[d.ClusterName], from) {
					w.Clusters = append(w.Clusters, d.ClusterName)
				}
			}
		}
		if len(w.Clusters) > 0 {
			slices.Sort(w.Clusters)
			w.Clusters = slices.Compact(w.Clusters)
			found = append(found, w)
		}
	}
	return found
}

// changesGroup reports whether the object is stored in another group than it is desired in.
func (o object) changesGroup() bool {
	return o.stored != nil && o.desired != nil && groupOf(o.stored.Labels) != groupOf(o.desired.Labels)
}

// desiredGroupIs reports whether the cluster, known or not, is desired in the group.
func (f *fleet) desiredGroupIs(g Group, cluster int32) bool {
	return cluster >= 0 && groupOf(f.objects[f.goal[cluster]].desired.Labels) == g
}

// storedGroups returns for each stored cluster the groups that it is stored in, several if a crash has left it
// in several objects.
func (f *fleet) storedGroups() map[string][]Group {
	groups := make(map[string][]Group)
	for o := range f.objects {
		if f.objects[o].stored == nil {
			continue
		}
		g := groupOf(f.objects[o].stored.Labels)
		for _, d := range f.objects[o].stored.Status.Decisions {
			if !slices.Contains(groups[d.ClusterName], g) {
				groups[d.ClusterName] = append(groups[d.ClusterName], g)
			}
		}
	}
	return groups
}
