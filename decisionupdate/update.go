// SPDX-License-Identifier: Apache-2.0

package decisionupdate

import (
	"fmt"
	"slices"
	"strings"

	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	"github.com/cohort-ocm/cohort/grouping"
)

// maxClusters is how many clusters a PlacementDecision may have.
const maxClusters = grouping.MaxDecisions

// Update has the writes that turn the stored PlacementDecisions into the desired ones. It is empty if they are equal.
// An Update shares labels and decisions with the objects that it was made from: don't change either while it is in use.
// Several goroutines may read it.
type Update struct {
	// Steps are carried out one after the other. A step begins when all writes of the previous step have succeeded.
	Steps []Step

	// Misplaced has the objects in which clusters may be seen in a group that is neither their stored nor their desired
	// one, sorted by name. It is empty if no stored object changes its group.
	Misplaced []Misplaced
}

// Step is a set of writes that may be done in any order and in parallel, sorted by object. No object is in a
// step twice.
type Step []Write

// Write creates, updates or deletes one object.
type Write struct {
	// Verb is what is done to the object.
	Verb Verb

	// Parts says what a create or an update writes, each in a request of its own, in the order of the requests.
	// A delete has none.
	Parts []Part

	// Surge is true for a write that only lets clusters in early. A later step writes the object again. A create with Surge is
	// of an object that is there only for the surge: it has the labels of the group that its clusters go to, and is deleted
	// at the end.
	Surge bool

	// From is the object before this write; nil for a create. For the first write of an object it is the stored object
	// itself. For the second write it is the result of the first, except for the resourceVersion, which only the API
	// server knows.
	From *clusterv1beta1.PlacementDecision

	// To is the object after this write; nil for a delete. An update keeps the metadata of From, except that labels of
	// the desired object replace or complete its labels, and what else [PartLabels] writes.
	To *clusterv1beta1.PlacementDecision
}

// Verb is what a client does to the object of a [Write].
type Verb string

const (
	// VerbCreate creates an object that is not stored.
	VerbCreate Verb = "create"

	// VerbUpdate changes labels or status.decisions of a stored object, or both.
	VerbUpdate Verb = "update"

	// VerbDelete deletes a stored object.
	VerbDelete Verb = "delete"
)

// Part is a part of an object that takes a request of its own to write.
type Part string

const (
	// PartLabels is written by an update of the object: its labels, its place and seal (annotations of package grouping), and the controller
	// of an object that has none. In a create it stands for the create itself, with all metadata.
	PartLabels Part = "labels"

	// PartStatus is status.decisions, written by an update of the status.
	PartStatus Part = "status"
)

// Name returns the name of the object that is written; the zero Write has none.
func (write Write) Name() string {
	switch {
	case write.To != nil:
		return write.To.Name
	case write.From != nil:
		return write.From.Name
	}
	return ""
}

// Writes returns the number of writes in all steps. A write with two parts counts once.
func (update Update) Writes() int {
	n := 0
	for _, step := range update.Steps {
		n += len(step)
	}
	return n
}

// String returns a line for each write: the number of its step, what is done to which object, the parts in the
// order of their requests, and the clusters that the object gains and loses.
func (update Update) String() string {
	var b strings.Builder
	for i, step := range update.Steps {
		for _, write := range step {
			fmt.Fprintf(&b, "step %d: %s\n", i+1, write)
		}
	}
	return b.String()
}

// String returns the write as Update.String does, without the step. It names at most five clusters that the object
// gains and five that it loses.
func (write Write) String() string {
	text := string(write.Verb) + " PlacementDecision " + write.Name()
	if write.Surge {
		text += " early"
	}
	separator := " ("
	for _, part := range write.Parts {
		text += separator + string(part)
		separator = ", "
	}
	if len(write.Parts) > 0 {
		text += ")"
	}
	before, after := clusterNames(write.From), clusterNames(write.To)
	separator = ": "
	for _, does := range []struct{ what, names string }{{"add", listed(without(after, before))}, {"remove", listed(without(before, after))}} {
		if does.names != "" {
			text += separator + does.what + " " + does.names
			separator = "; "
		}
	}
	return text
}

// clusterNames returns the sorted names of an object's clusters, each once. A decision that isn't made yet has no name.
func clusterNames(pd *clusterv1beta1.PlacementDecision) []string {
	if pd == nil {
		return nil
	}
	names := make([]string, 0, len(pd.Status.Decisions))
	for _, decision := range pd.Status.Decisions {
		if decision.ClusterName != "" {
			names = append(names, decision.ClusterName)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// without returns the names that are not among the others. Both are sorted.
func without(names, others []string) []string {
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool {
		_, found := slices.BinarySearch(others, name)
		return found
	})
}

// listed returns the names, cut after the fifth.
func listed(names []string) string {
	const most = 5
	text := strings.Join(names[:min(len(names), most)], ", ")
	if more := len(names) - most; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}
