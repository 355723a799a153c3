// SPDX-License-Identifier: Apache-2.0

// Package requirements judges a history of PlacementDecisions of SIG Multicluster by the requirements of KEP-5313 on their
// writers.
package requirements

import sig "sigs.k8s.io/cluster-inventory-api/apis/v1alpha1"

// Ref names a ClusterProfile. Its namespace is never empty here.
type Ref = sig.ClusterProfileReference

// Event is one event of the history of one decision. Exactly one field is set.
type Event struct {
	// Slice is stored from now on.
	Slice *sig.PlacementDecision

	// Gone is the name of a deleted slice.
	Gone string

	// Step begins: another selection is wanted from now on.
	Step *Step

	// Rest says that the writer has had time to finish.
	Rest bool

	// Stranger is a write to another writer's slice. The first one is that writer's own.
	Stranger string
}

// Step is a change of the selection.
type Step struct {
	// Name is shown in findings.
	Name string

	// Selected are the clusters by group, in the order of the groups; nil if that is unknown.
	Selected [][]Ref

	// Restart says that the writer is restarted meanwhile.
	Restart bool

	// Delete says that the decision is no longer wanted.
	Delete bool
}

// selected returns all clusters with their groups.
func (s Step) selected() map[Ref]int {
	all := make(map[Ref]int)
	for group, refs := range s.Selected {
		for _, ref := range refs {
			all[ref] = group
		}
	}
	return all
}

// moment is the state after a part of a history.
type moment struct {
	number   int // number of the last event
	step     Step
	selected map[Ref]int // by cluster: its group
	slices   map[string]*sig.PlacementDecision
	changed  *sig.PlacementDecision // by the last event; nil if none
	in       map[Ref]int            // by cluster: the number of slices that have it
	seen     map[Ref]bool           // clusters that were in a slice and must stay
	lost     map[Ref]loss           // clusters that were in a slice and are in none
	found    []string               // absences that the last event ends
	profiles map[Ref]bool           // nil if unknown
	strange  map[string]int         // by other writers' slice: the number of writes
}

// loss is the time at which a cluster's last slice lost it.
type loss struct {
	slice  string
	number int
	stays  bool // selected all the time
}

// refs returns the clusters of a slice.
func refs(s *sig.PlacementDecision) []Ref {
	if s == nil {
		return nil
	}
	var all []Ref
	for _, d := range s.Decisions {
		ref := d.ClusterProfileRef
		if ref.Namespace == "" {
			ref.Namespace = s.Namespace
		}
		all = append(all, ref)
	}
	return all
}
