// SPDX-License-Identifier: Apache-2.0

package mirror

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"

	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	"github.com/cohort-ocm/cohort/decisionupdate"
	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/internal/seal"
	"github.com/cohort-ocm/cohort/internal/surge"
)

// Diff returns what a mirror has to write so that it shows what its source shows, without a cluster vanishing that both have.
//
// Stored are the objects of the mirror, source those of one moment of the source. The source may be in the midst of an update: it may
// show a cluster in several objects, objects with more than 100 clusters, and objects that are being deleted. The mirror shows each
// cluster of the source once. It leaves it where it is as long as the source shows it there, too. Clusters for which an object of
// the mirror has no room are in an object of their own, with the same labels, as in a surge of package decisionupdate. When
// the source has finished its update, the mirror has the same objects with the same labels and clusters.
//
// Objects have the names, labels and clusters of the source's, and no other metadata: the writer adds their owner. The errors
// are those of [decisionupdate.Diff]. No input is changed or kept, except that the update shares labels and decisions with it.
func Diff(stored, source []*clusterv1beta1.PlacementDecision, strategy decisionupdate.UpdateStrategy) (decisionupdate.Update, error) {
	if slices.Contains(source, nil) || slices.Contains(stored, nil) {
		return decisionupdate.Diff(stored, source, strategy) // says so
	}
	return decisionupdate.Diff(stored, settle(stored, source), strategy)
}

// settle gives each cluster of the source one object (D16).
func settle(stored, source []*clusterv1beta1.PlacementDecision) []*clusterv1beta1.PlacementDecision {
	settler := settler{here: make(map[string]*clusterv1beta1.PlacementDecision), shown: make(map[place]bool)}
	for _, pd := range stored {
		settler.here[pd.Name] = pd
		for _, decision := range pd.Status.Decisions {
			settler.shown[place{pd.Name, decision.ClusterName}] = true
		}
	}
	source = slices.SortedFunc(slices.Values(source), byPreference)
	settler.choose(source)
	var desired []*clusterv1beta1.PlacementDecision
	names := make(map[string]bool)
	for _, pd := range source {
		names[pd.Name] = true
	}
	for _, pd := range source {
		kept, over := settler.keep(pd)
		if len(kept) > 0 || !surge.Holds(pd) && !settler.dying(pd.Name) && pd.DeletionTimestamp == nil {
			desired = append(desired, like(pd, pd.Name, kept, surge.Holds(pd)))
		}
		n := 1
		for part := range slices.Chunk(over, grouping.MaxDecisions) {
			name := ""
			for ; name == "" || names[name] || settler.dying(name); n++ {
				name = pd.Name + "-surge"
				if n > 1 {
					name += "-" + strconv.Itoa(n)
				}
			}
			names[name] = true
			desired = append(desired, like(pd, name, part, true))
		}
	}
	return desired
}

// place is a cluster in an object.
type place struct{ object, cluster string }

type settler struct {
	here  map[string]*clusterv1beta1.PlacementDecision // by name: what the mirror stores
	shown map[place]bool                               // by the mirror
	of    map[string]string                            // by cluster: the object that shall have it
}

// byPreference puts objects that last before those that go, then lower groups first, as readers do that find a cluster twice (G11).
func byPreference(a, b *clusterv1beta1.PlacementDecision) int {
	goes := func(pd *clusterv1beta1.PlacementDecision) int {
		switch {
		case pd.DeletionTimestamp != nil:
			return 2
		case surge.Holds(pd):
			return 1
		}
		return 0
	}
	index := func(pd *clusterv1beta1.PlacementDecision) uint64 {
		n, _ := strconv.ParseUint(pd.Labels[clusterv1beta1.DecisionGroupIndexLabel], 10, 31)
		return n
	}
	return cmp.Or(goes(a)-goes(b), cmp.Compare(index(a), index(b)), cmp.Compare(len(a.Name), len(b.Name)), strings.Compare(a.Name, b.Name))
}

// choose finds the object for each cluster: one that has it here, too, or else the first.
func (m *settler) choose(source []*clusterv1beta1.PlacementDecision) {
	m.of = make(map[string]string)
	for _, pd := range source {
		for _, decision := range pd.Status.Decisions {
			before, known := m.of[decision.ClusterName]
			if decision.ClusterName == "" || known && (m.shown[place{before, decision.ClusterName}] || !m.shown[place{pd.Name, decision.ClusterName}]) {
				continue
			}
			m.of[decision.ClusterName] = pd.Name
		}
	}
}

// keep returns the clusters that an object shall have, in the order of the source, and those for which it has no room. Clusters that
// it has already come first.
func (m *settler) keep(pd *clusterv1beta1.PlacementDecision) (kept, over []clusterv1beta1.ClusterDecision) {
	room := grouping.MaxDecisions
	if m.dying(pd.Name) {
		room = 0
	}
	seen := make(map[string]bool)
	var mine []clusterv1beta1.ClusterDecision
	for _, decision := range pd.Status.Decisions {
		if decision.ClusterName != "" && m.of[decision.ClusterName] == pd.Name && !seen[decision.ClusterName] {
			seen[decision.ClusterName] = true
			mine = append(mine, decision)
		}
	}
	if len(mine) <= room {
		return mine, nil
	}
	stays := make(map[string]bool)
	for _, again := range []bool{true, false} {
		for _, decision := range mine {
			if len(stays) < room && m.shown[place{pd.Name, decision.ClusterName}] == again {
				stays[decision.ClusterName] = true
			}
		}
	}
	for _, decision := range mine {
		if stays[decision.ClusterName] {
			kept = append(kept, decision)
		} else {
			over = append(over, decision)
		}
	}
	return kept, over
}

// dying reports whether the mirror's object of that name is being deleted.
func (m *settler) dying(name string) bool {
	pd := m.here[name]
	return pd != nil && pd.DeletionTimestamp != nil
}

// like returns an object with the labels of another.
func like(pd *clusterv1beta1.PlacementDecision, name string, decisions []clusterv1beta1.ClusterDecision, ofSurge bool) *clusterv1beta1.PlacementDecision {
	desired := &clusterv1beta1.PlacementDecision{TypeMeta: pd.TypeMeta}
	desired.Namespace, desired.Name, desired.Labels = pd.Namespace, name, maps.Clone(pd.Labels)
	desired.Annotations = make(map[string]string)
	if value, ok := pd.Annotations[seal.Annotation]; ok {
		desired.Annotations[seal.Annotation] = value // fits only what it seals
	}
	if ofSurge {
		desired.Annotations[surge.Annotation] = "true"
	}
	desired.Status.Decisions = decisions
	return desired
}
