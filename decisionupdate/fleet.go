// SPDX-License-Identifier: Apache-2.0

package decisionupdate

import (
	"slices"
	"strings"

	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	"github.com/cohort-ocm/cohort/internal/fielderrs"
)

// fleet has the stored and the desired state side by side. Desired clusters are numbered in the order of their objects
// and decisions, so the numbers of one object are consecutive. Stored clusters that aren't desired have no number.
type fleet struct {
	limit   int      // how many clusters an object may have
	objects []object // stored or desired, by name
	goal    []int32  // by cluster: the object that desires it
	stays   []bool   // by cluster: its goal stores it already
	holder  []int32  // by cluster: the object that keeps it until its goal shows it; none if the goal shows it already or if it is stored nowhere
}

// none stands for no object, no vertex and no cluster: for the holder of a cluster that needs none, for a stored cluster that is not desired.
const none int32 = -1

// object is a PlacementDecision that is stored, desired or both.
type object struct {
	name      string
	stored    *clusterv1beta1.PlacementDecision // nil: has to be created
	desired   *clusterv1beta1.PlacementDecision // nil: has to be deleted
	first     int32                             // number of its first desired cluster
	storedIDs []int32                           // numbers of its stored decisions

	dressed    *clusterv1beta1.PlacementDecision // as stored, with the metadata that it shall have; if it is stored and desired
	relabelled bool                              // that differs
	unlabelled bool                              // it is stored without the label of its placement, so readers that list by it don't see it (D14)
	changed    bool                              // the decisions differ
	gains      bool                              // it desires a cluster that it doesn't store
	loses      bool                              // it stores a cluster that it doesn't desire
}

// differs reports whether anything has to be written.
func (o *object) differs() bool {
	if o.desired == nil {
		return !o.dying()
	}
	return o.stored == nil || o.relabelled || o.changed
}

// dying reports whether the object is being deleted. It exists until the last of its finalizers is gone (D13).
func (o *object) dying() bool {
	return o.stored != nil && !o.stored.DeletionTimestamp.IsZero()
}

// newFleet checks both lists (D9) and puts them side by side. It takes time linear in the decisions.
func newFleet(stored, desired []*clusterv1beta1.PlacementDecision, limit int) (*fleet, error) {
	stored, errs := byName("stored", stored)
	desired, more := byName("desired", desired)
	errs = append(errs, more...)
	placement, stored, more := onePlacement(stored, desired)
	errs = slices.Concat(errs, more, twice("stored", stored), twice("desired", desired))
	if len(errs) > 0 {
		return nil, fielderrs.Join(errs)
	}
	fleet := &fleet{limit: limit, objects: sideBySide(stored, desired)}
	for i := range fleet.objects {
		object := &fleet.objects[i]
		object.unlabelled = object.stored != nil && object.stored.Labels[clusterv1beta1.PlacementLabel] != placement.Name
	}
	numbers, ok := fleet.numberDesired()
	if !ok {
		return nil, fielderrs.Join(desiredClusters(desired, limit))
	}
	fleet.findStored(numbers)
	return fleet, nil
}

// sideBySide merges two lists that are sorted by name.
func sideBySide(stored, desired []*clusterv1beta1.PlacementDecision) []object {
	objects := make([]object, 0, max(len(stored), len(desired)))
	for len(stored) > 0 || len(desired) > 0 {
		order := 0
		switch {
		case len(desired) == 0:
			order = -1
		case len(stored) == 0:
			order = 1
		default:
			order = strings.Compare(stored[0].Name, desired[0].Name)
		}
		var object object
		if order <= 0 {
			object.name, object.stored, stored = stored[0].Name, stored[0], stored[1:]
		}
		if order >= 0 {
			object.name, object.desired, desired = desired[0].Name, desired[0], desired[1:]
		}
		if object.stored != nil && object.desired != nil {
			dressed, same := metadata(object.stored, object.desired)
			object.dressed, object.relabelled = dressed, !same
			object.changed = !slices.Equal(object.stored.Status.Decisions, object.desired.Status.Decisions)
		}
		objects = append(objects, object)
	}
	return objects
}

// numberDesired numbers the desired clusters and returns the numbers by name. It is not ok if a cluster is
// empty or desired twice, or an object desires too many.
func (f *fleet) numberDesired() (numbers map[string]int32, ok bool) {
	total := 0
	for o := range f.objects {
		if f.objects[o].desired != nil {
			total += len(f.objects[o].desired.Status.Decisions)
		}
	}
	f.goal = make([]int32, 0, total)
	numbers = make(map[string]int32, total)
	ok = true
	for o := range f.objects {
		obj := &f.objects[o]
		if obj.desired == nil {
			continue
		}
		obj.first = int32(len(f.goal))
		ok = ok && len(obj.desired.Status.Decisions) <= f.limit
		for _, decision := range obj.desired.Status.Decisions {
			numbers[decision.ClusterName] = int32(len(f.goal))
			f.goal = append(f.goal, int32(o))
		}
	}
	_, empty := numbers[""]
	return numbers, ok && !empty && len(numbers) == total
}

// findStored numbers the stored decisions, and finds out which clusters stay and which objects hold those that move.
func (f *fleet) findStored(numbers map[string]int32) {
	f.stays = make([]bool, len(f.goal))
	f.holder = slices.Repeat([]int32{none}, len(f.goal))
	for o := range f.objects {
		obj := &f.objects[o]
		if obj.stored == nil {
			continue
		}
		obj.numberStored(numbers)
		for i, id := range obj.storedIDs {
			switch {
			case id == none:
				obj.loses = obj.loses || obj.stored.Status.Decisions[i].ClusterName != ""
			case f.goal[id] == int32(o):
				f.stays[id] = true
			default:
				obj.loses = true
				if f.holder[id] == none || f.reliance(o) < f.reliance(int(f.holder[id])) {
					f.holder[id] = int32(o)
				}
			}
		}
	}
	for id, stays := range f.stays {
		switch goal := &f.objects[f.goal[id]]; {
		case !stays:
			goal.gains = true
		case !goal.unlabelled:
			f.holder[id] = none
		}
	}
}

// If several objects store a cluster, the one with the least reliance holds it; among equals, the first by name.
const (
	relianceDeleted    = iota // it has to be deleted: nothing moves there, so it is never part of a circle
	relianceDesired           // it stays
	relianceUnlabelled        // readers that look for the placement's label don't see it (D14)
	relianceDying             // it may be gone at any time (D13)
)

func (f *fleet) reliance(o int) int {
	switch obj := &f.objects[o]; {
	case obj.dying():
		return relianceDying
	case obj.unlabelled:
		return relianceUnlabelled
	case obj.desired != nil:
		return relianceDesired
	}
	return relianceDeleted
}

// numberStored looks up the numbers of the stored decisions. Most clusters stay and keep their order, so it first tries
// the number after the one before, which saves most of Diff's time.
func (o *object) numberStored(numbers map[string]int32) {
	var desired []clusterv1beta1.ClusterDecision
	if o.desired != nil {
		desired = o.desired.Status.Decisions
	}
	o.storedIDs = make([]int32, len(o.stored.Status.Decisions))
	next := 0
	for i, decision := range o.stored.Status.Decisions {
		if next < len(desired) && desired[next].ClusterName == decision.ClusterName {
			o.storedIDs[i] = o.first + int32(next)
			next++
			continue
		}
		id, known := numbers[decision.ClusterName]
		if !known {
			id = none
		}
		o.storedIDs[i] = id
		if at := int(id - o.first); known && 0 <= at && at < len(desired) {
			next = at + 1
		}
	}
}

// content returns the stored decisions that are kept and the desired decisions that are let in, sorted by name, with
// the desired data where a cluster has both.
func (f *fleet) content(o int32, keep, admit func(cluster int32) bool) []clusterv1beta1.ClusterDecision {
	obj := &f.objects[o]
	decisions := make([]clusterv1beta1.ClusterDecision, 0, len(obj.desired.Status.Decisions)+len(obj.storedIDs))
	for i, decision := range obj.desired.Status.Decisions {
		if id := obj.first + int32(i); f.stays[id] || admit(id) {
			decisions = append(decisions, decision)
		}
	}
	for i, id := range obj.storedIDs {
		decision := obj.stored.Status.Decisions[i]
		if decision.ClusterName != "" && (id == none || f.goal[id] != o) && keep(id) {
			decisions = append(decisions, decision)
		}
	}
	slices.SortStableFunc(decisions, func(a, b clusterv1beta1.ClusterDecision) int {
		return strings.Compare(a.ClusterName, b.ClusterName)
	})
	return slices.CompactFunc(decisions, func(a, b clusterv1beta1.ClusterDecision) bool { return a.ClusterName == b.ClusterName })
}
