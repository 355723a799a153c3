// Package requirements judges a history of PlacementDecisions of SIG Multicluster by what KEP-5313 requires of who writes them.
package requirements

import sig "sigs.k8s.io/cluster-inventory-api/apis/v1alpha1"

// Ref names a ClusterProfile. Its namespace is never empty here.
type Ref = sig.ClusterProfileReference

// Event is one moment of the history of one decision. Exactly one field is set.
type Event struct {
	// Slice is stored like this from now on.
	Slice *sig.PlacementDecision

	// Gone is the name of a slice that is deleted.
	Gone string

	// Step begins: something else is selected from now on.
	Step *Step

	// Rest says that the writer had time to finish.
	Rest bool

	// Stranger is a write to a slice of another writer. The first one is that writer's own.
	Stranger string
}

// Step is a change of what is selected.
type Step struct {
	// Name is for the findings.
	Name string

	// Selected are the clusters by group, in the order of the groups; nil if that is unknown.
	Selected [][]Ref

	// Restart says that the writer is restarted meanwhile.
	Restart bool

	// Delete says that the decision is no longer required.
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

// moment is what a history has come to.
type moment struct {
	number   int // of the event
	step     Step
	selected map[Ref]int // by cluster: its group
	slices   map[string]*sig.PlacementDecision
	changed  *sig.PlacementDecision // by this event; nil if none
	in       map[Ref]int            // by cluster: in how many slices
	seen     map[Ref]bool           // clusters that were shown and have to stay
	lost     map[Ref]loss           // clusters that are in no slice, and were in one
	found    []string               // absences that this event ends
	profiles map[Ref]bool           // nil if unknown
	strange  map[string]int         // by slice of others: writes
}

// loss is when a cluster left the last slice that had it.
type loss struct {
	slice  string
	number int
	stays  bool // it was selected all the time
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
