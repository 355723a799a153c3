// SPDX-License-Identifier: Apache-2.0

package grouping

import (
	"fmt"
	"slices"
	"strings"

	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	"github.com/cohort-ocm/cohort/internal/seal"
)

// Incomplete says in one short line what the groups lack to match the placement's status: `placement web:
// PlacementDecision web-decision-2 is not found`. It is empty where nothing is missing.
//
// While groups are incomplete, nothing must start and no cluster must be removed. A canary group that the scheduler
// has not filled yet looks like an empty one, and a cache without objects looks like a selection without clusters.
//
// Groups from [Divide] and [FromNames] are complete. Nil and the zero value are not. For groups from [Read], see there.
// Groups from [Join] are complete if all parts are; otherwise the line names the placements of the incomplete parts.
func (g *Groups) Incomplete() string {
	missing := g.withoutPlacement()
	if missing == "" || g == nil || g.of == "" {
		return missing
	}
	return ofPlacement(g.of, missing)
}

// Lacking gives the groups as incomplete, for a reader that knows more than the objects and their status say, as of another API:
// [Groups.Incomplete] then says what is missing. The result is g where missing is empty, and where g was read and is incomplete already.
// It shares everything with g, which does not change. Nil groups are of nothing that was read: a reader that finds no Placement says so of them.
func (g *Groups) Lacking(missing string) *Groups {
	if missing == "" {
		return g
	}
	if g == nil || !g.checked {
		return &Groups{completeness: completeness{checked: true, missing: missing}}
	}
	if g.missing != "" {
		return g
	}
	lacking := *g
	lacking.missing = missing
	return &lacking
}

// withoutPlacement is Incomplete without the name of the placement.
func (g *Groups) withoutPlacement() string {
	if g == nil || !g.checked {
		return nothingThere
	}
	return g.missing
}

// completeness says whether groups are whole. The zero value is for groups that were never made.
type completeness struct {
	checked bool
	missing string // empty where nothing is
	of      string // the name of the placement, where the groups were read together with one
}

// complete is the completeness of groups that are whole.
var complete = completeness{checked: true}

const nothingThere = "no PlacementDecision is found"

func ofPlacement(name, missing string) string { return "placement " + name + ": " + missing }

// compareStatus compares stored objects with the status of their placement, which may be nil. Sources have the
// order of parse; distinct is the number of their clusters.
func compareStatus(placement *clusterv1beta1.Placement, sources []source, distinct int) completeness {
	completeness := completeness{checked: true}
	if placement != nil {
		completeness.of = placement.Name
	}
	if len(sources) == 0 {
		completeness.missing = nothingThere
	} else if completeness.missing = oddIndexes(sources); completeness.missing == "" && placement != nil && !unscheduled(placement) {
		completeness.missing = missing(&placement.Status, sources, distinct)
	}
	if completeness.missing == "" && slices.ContainsFunc(sources, source.sealed) {
		completeness.missing = brokenSeal(sources)
	}
	return completeness
}

// unscheduled says whether another controller than OCM's scheduler writes the PlacementDecisions. No controller maintains the status then.
func unscheduled(placement *clusterv1beta1.Placement) bool {
	return placement.Annotations[clusterv1beta1.PlacementDisableAnnotation] == "true"
}

// sealed reports whether the object is of a sealed decision (G17).
func (src source) sealed() bool {
	_, ok := src.from.Annotations[seal.Annotation]
	return ok
}

// brokenSeal says why objects do not belong together; empty if they do.
func brokenSeal(sources []source) string {
	objects := make([]*clusterv1beta1.PlacementDecision, len(sources))
	for i := range sources {
		objects[i] = sources[i].from
	}
	return seal.Missing(objects)
}

// oddIndexes looks for objects with an invalid index label, so that their group is unknown. An object without the
// label is not odd: it is of group 0 (G10).
func oddIndexes(sources []source) string {
	var found findings
	for i := range sources {
		if !sources[i].assumed {
			continue
		}
		if label, labelled := sources[i].label(); labelled {
			found.add("PlacementDecision %s has the value %q in its label %s, but that must be a number", sources[i].object, label, clusterv1beta1.DecisionGroupIndexLabel)
		}
	}
	return found.String()
}

// missing makes the comparisons one after the other. It stops at the first that finds something, since what later ones
// would find mostly follows from that.
func missing(status *clusterv1beta1.PlacementStatus, sources []source, distinct int) string {
	var found findings
	switch {
	case len(status.DecisionGroups) > 0:
		if !inStep(status.DecisionGroups, sources) {
			found.compareObjects(status.DecisionGroups, sources)
		}
	case status.NumberOfSelectedClusters == 0 && len(status.Conditions) == 0:
		return "its status is not written yet"
	case status.NumberOfSelectedClusters == 0 && anyLabelled(sources):
		// A hub that knows groups names at least one, also of no clusters. This one has not come to it.
		return "its status names no decision group yet"
	}
	found.deletions(sources)
	if found.count == 0 {
		found.compareSizes(status.DecisionGroups, sources)
	}
	if found.count == 0 {
		found.repetitions(sources, distinct)
	}
	if found.count == 0 {
		found.compareTotal(distinct, int(status.NumberOfSelectedClusters))
	}
	return found.String()
}

// anyLabelled says whether an object has the label of its group's index.
func anyLabelled(sources []source) bool {
	for i := range sources {
		if _, labelled := sources[i].label(); labelled {
			return true
		}
	}
	return false
}

// findings is what is missing: the first few in words, the others counted.
type findings struct {
	words []string
	count int
}

func (f *findings) add(format string, args ...any) {
	const few = 3
	if f.count++; f.count <= few {
		f.words = append(f.words, fmt.Sprintf(format, args...))
	}
}

// String is `a; b; c; and 7 more`.
func (f *findings) String() string {
	text := strings.Join(f.words, "; ")
	if more := f.count - len(f.words); more > 0 {
		text += fmt.Sprintf("; and %d more", more)
	}
	return text
}

// inStep says whether the status names exactly the stored objects, in their order. It mostly does, and then nothing has
// to be looked up.
func inStep(groups []clusterv1beta1.DecisionGroupStatus, sources []source) bool {
	for i := range groups {
		key := statusKey(&groups[i])
		for _, name := range groups[i].Decisions {
			if len(sources) == 0 || sources[0].object != name || sources[0].key != key {
				return false
			}
			sources = sources[1:]
		}
	}
	return len(sources) == 0
}

// compareObjects looks for objects that the status names and that are not there, or are of another group, and for
// objects that the status doesn't name.
func (f *findings) compareObjects(groups []clusterv1beta1.DecisionGroupStatus, sources []source) {
	stored := make(map[string]Key, len(sources))
	for i := range sources {
		stored[sources[i].object] = sources[i].key
	}
	for i := range groups {
		want := statusKey(&groups[i])
		for _, name := range groups[i].Decisions {
			got, ok := stored[name]
			switch {
			case !ok:
				f.add("PlacementDecision %s is not found", name)
			case got != want:
				f.add("PlacementDecision %s is labeled %s, and the status of the Placement still lists it in %s", name, got.apartFrom(want), want.apartFrom(got))
			}
		}
	}
	for i := range groups {
		for _, name := range groups[i].Decisions {
			delete(stored, name)
		}
	}
	if len(stored) == 0 {
		return
	}
	for i := range sources {
		if _, unnamed := stored[sources[i].object]; unnamed {
			f.add("PlacementDecision %s is not listed in the status of the Placement yet", sources[i].object)
		}
	}
}

// deletions looks for objects that are being deleted. Their clusters go to other objects, or are no longer selected.
func (f *findings) deletions(sources []source) {
	for i := range sources {
		if sources[i].from.DeletionTimestamp != nil {
			f.add("PlacementDecision %s is being deleted", sources[i].object)
		}
	}
}

// apartFrom gives the key in words that tell it from another one.
func (k Key) apartFrom(other Key) string {
	if k.Name == "" && k.Index == other.Index {
		return fmt.Sprintf("%v without a name", k)
	}
	return k.String()
}

// compareSizes looks for groups that have more clusters or fewer than the status says. A cluster counts in each object
// that has it, so a cluster that is moving between groups is seen.
func (f *findings) compareSizes(groups []clusterv1beta1.DecisionGroupStatus, sources []source) {
	if len(groups) == 0 {
		return
	}
	next := 0 // the sources are sorted by group; mostly so is the status, and then none has to be looked up
	for i := range groups {
		key, got, want := statusKey(&groups[i]), 0, int(groups[i].ClustersCount)
		if next == len(sources) || sources[next].key != key {
			next, _ = slices.BinarySearchFunc(sources, key, func(source source, key Key) int { return source.key.Compare(key) })
		}
		for ; next < len(sources) && sources[next].key == key; next++ {
			got += sources[next].named
		}
		if got != want {
			f.add("the PlacementDecisions of %v list %s, but the status of the Placement says %d", key, clusters(got), want)
		}
	}
}

// repetitions looks for clusters that stand in two places.
func (f *findings) repetitions(sources []source, distinct int) {
	total := 0
	for i := range sources {
		total += sources[i].named
	}
	if total == distinct {
		return
	}
	first := make(map[string]string, distinct)
	for i := range sources {
		for j := range sources[i].decisions {
			cluster := sources[i].decisions[j].ClusterName
			if cluster == "" {
				continue
			}
			if object, again := first[cluster]; again {
				f.add("cluster %s is in PlacementDecision %s and again in %s", cluster, object, sources[i].object)
			} else {
				first[cluster] = sources[i].object
			}
		}
	}
}

// clusters gives a number of clusters in words.
func clusters(n int) string {
	if n == 1 {
		return "1 cluster"
	}
	return fmt.Sprintf("%d clusters", n)
}

// compareTotal looks for clusters that the status counts and that are in no object, or the other way round.
func (f *findings) compareTotal(got, want int) {
	if got != want {
		f.add("the PlacementDecisions list %s, but the status of the Placement says %d", clusters(got), want)
	}
}

func statusKey(group *clusterv1beta1.DecisionGroupStatus) Key {
	return Key{Index: group.DecisionGroupIndex, Name: group.DecisionGroupName}
}
