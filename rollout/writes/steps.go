// SPDX-License-Identifier: Apache-2.0

package writes

import (
	"cmp"
	"iter"
	"maps"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/status"
)

// Verb is what to do with an object.
type Verb string

const (
	// VerbDelete deletes the object of a removed cluster, or a surplus object of a cluster.
	VerbDelete Verb = "Delete"
	// VerbCreate gives the workload to a cluster that has no object.
	VerbCreate Verb = "Create"
	// VerbUpdate gives the workload to a cluster that has an object, or keeps it up to date. If the object is being
	// deleted, only its first answer is recorded, as [Object] does.
	VerbUpdate Verb = "Update"
)

// Step is one write.
type Step[T object] struct {
	Verb Verb
	// Object is the stored one; the zero value if there is none. That is a nil pointer: an event about it would panic, and
	// tells of the owner instead.
	Object T
	// Cluster is the cluster in the plan. For a delete it has only the name.
	Cluster rollout.Cluster
	// Start says that the cluster starts with this write. Otherwise the cluster is in flight, or loses an object.
	Start bool
	// Name is the name of Object. If there is none, it is the name for the new object ([NameOf]).
	Name string
	// Plan is the index of the result that asks for the write.
	Plan int
}

// Steps are the writes that results ask for. They share the arguments of [StepsOf].
type Steps[T object] struct {
	owner   Owner
	results []*rollout.Result
	kept    map[string]T    // by cluster: the object to keep
	surplus map[string][]T  // by cluster: the surplus objects
	others  map[string][]T  // by cluster: objects of other owners
	blocked map[string]bool // clusters in which one of those blocks the start
	foreign []Foreign
	moved   bool
}

// StepsOf returns the writes that the plans of an owner ask for, in this order:
//
//  1. delete all objects of clusters in Removed,
//  2. delete surplus objects,
//  3. update the objects of clusters in flight,
//  4. update or create the objects of clusters that start.
//
// Objects are all objects of the owner, each in the namespace of its cluster, with own writes laid over the cache, and
// those of [Own.Foreign]. An object of another owner is not touched (see [Owner.Has]): the cluster gets an object under
// another name, or does not start if that could run the same workload twice. See [Steps.Foreign].
//
// A cluster does not start while all its objects are being deleted. A cluster in flight without an object gets one only if
// the record has it in flight (see [rollout.StoredRecord.AtOnce]). A deselected cluster that counts is updated with those in
// flight as long as it has an object with the version: its first answer has to be recorded.
//
// One object of a cluster is kept: preferably one that is not being deleted, then the one with the name of [NameOf], then
// the oldest.
//
// Store the Record of each result before the first write: a deleted object cannot tell any more that it failed.
func StepsOf[T object](owner Owner, objects []T, results ...*rollout.Result) *Steps[T] {
	size, merged := 0, false
	for _, result := range results {
		size += len(result.Start) + len(result.InFlight) + len(result.Deselected) + len(result.Removed)
		merged = merged || slices.ContainsFunc(result.Warnings, func(warning rollout.Warning) bool { return warning.Type == rollout.WarningReportsMerged })
	}
	steps := &Steps[T]{owner: owner, results: results, kept: make(map[string]T, size)}
	var none T
	for _, result := range results {
		for _, clusters := range [][]rollout.Cluster{result.Start, result.InFlight, result.Deselected} {
			for i := range clusters {
				steps.kept[clusters[i].Name] = none
			}
		}
		for _, cluster := range result.Removed {
			steps.kept[cluster] = none
		}
	}
	name := NameOf[T](owner)
	for _, object := range objects {
		if claim := owner.claimOn(object); claim != owned {
			steps.leave(object, claim)
			continue
		}
		kept, asked := steps.kept[object.GetNamespace()]
		if asked || merged {
			steps.sortIn(name, object, kept)
		}
	}
	slices.SortFunc(steps.foreign, compareForeign)
	for _, objects := range steps.surplus {
		slices.SortFunc(objects, func(a, b T) int { return rather(name, a, b) })
	}
	return steps
}

// leave records an object of another owner, which is not touched.
func (s *Steps[T]) leave(object T, claim claim) {
	cluster := object.GetNamespace()
	if s.others == nil {
		s.others, s.blocked = make(map[string][]T), make(map[string]bool)
	}
	s.others[cluster] = append(s.others[cluster], object)
	found := Foreign{Cluster: cluster, Name: object.GetName(), Owner: object.GetAnnotations()[annotationOwner], Blocks: claim != foreign}
	if s.foreign = append(s.foreign, found); found.Blocks {
		s.blocked[cluster] = true
	}
}

// Foreign are the given objects that are not the owner's, by cluster and name. Warn of each.
func (s *Steps[T]) Foreign() []Foreign { return s.foreign }

// sortIn keeps an object of a cluster, or counts it as surplus.
func (s *Steps[T]) sortIn(name string, object, kept T) {
	cluster := object.GetNamespace()
	if isNil(kept) {
		s.kept[cluster] = object
		return
	}
	if rather(name, object, kept) < 0 {
		object, s.kept[cluster] = kept, object
	}
	if s.surplus == nil {
		s.surplus = make(map[string][]T)
	}
	s.surplus[cluster] = append(s.surplus[cluster], object)
}

// While yields the steps. Before each step it reads the owner with the given function, such as from the cache, since a long
// list takes time. If the generation or the UID changed, or the function returns an error, While ends and Moved is true:
// plan again. If the version can change without the generation, as the hash of an add-on's configuration can, let the
// function compare it and return an error.
func (s *Steps[T]) While(owner func() (metav1.Object, error)) iter.Seq[Step[T]] {
	return func(yield func(Step[T]) bool) {
		s.all(func(step Step[T]) bool {
			now, err := owner()
			if err != nil || now == nil || now.GetUID() != s.owner.Object.GetUID() || now.GetGeneration() != s.owner.Object.GetGeneration() {
				s.moved = true
				return false
			}
			return yield(step)
		})
	}
}

// Moved says whether While ended because the owner changed.
func (s *Steps[T]) Moved() bool { return s.moved }

// RecheckAfter is the soonest RecheckAfter of the results; 0 if time alone changes nothing.
func (s *Steps[T]) RecheckAfter() (soonest time.Duration) {
	for _, result := range s.results {
		if after := result.RecheckAfter; after > 0 && (soonest == 0 || after < soonest) {
			soonest = after
		}
	}
	return soonest
}

// all yields the steps in their order (W10).
func (s *Steps[T]) all(yield func(Step[T]) bool) bool {
	removed := make(map[string]bool)
	for plan, result := range s.results {
		for _, cluster := range result.Removed {
			removed[cluster] = true
			if !s.remove(s.kept[cluster], plan, yield) {
				return false
			}
			for _, object := range s.surplus[cluster] {
				if !s.remove(object, plan, yield) {
					return false
				}
			}
		}
	}
	for _, cluster := range slices.Sorted(maps.Keys(s.surplus)) {
		for _, object := range s.surplus[cluster] {
			if !removed[cluster] && !s.remove(object, len(s.results)-1, yield) {
				return false
			}
		}
	}
	others := s.writtenElsewhere(removed)
	for _, start := range []bool{false, true} {
		for plan, result := range s.results {
			clusters := result.Start
			if !start {
				clusters = result.InFlight
				if !s.updateDeselected(plan, others, yield) {
					return false
				}
			}
			for i := range clusters {
				if !s.apply(clusters[i], plan, start, yield) {
					return false
				}
			}
		}
	}
	return true
}

// updateDeselected yields the objects of deselected clusters, except those that are deleted and those that another plan writes.
func (s *Steps[T]) updateDeselected(plan int, others map[string]bool, yield func(Step[T]) bool) bool {
	for _, cluster := range s.results[plan].Deselected {
		if !others[cluster.Name] && s.has(cluster.Name, plan) && !s.apply(cluster, plan, false, yield) {
			return false
		}
	}
	return true
}

// writtenElsewhere are the clusters that are not written as deselected: they lose their objects, or a plan has them in flight or
// starts them.
func (s *Steps[T]) writtenElsewhere(removed map[string]bool) map[string]bool {
	if !slices.ContainsFunc(s.results, func(result *rollout.Result) bool { return len(result.Deselected) > 0 }) {
		return nil
	}
	all := maps.Clone(removed)
	for _, result := range s.results {
		for _, clusters := range [][]rollout.Cluster{result.Start, result.InFlight} {
			for i := range clusters {
				all[clusters[i].Name] = true
			}
		}
	}
	return all
}

func (s *Steps[T]) remove(object T, plan int, yield func(Step[T]) bool) bool {
	if isNil(object) || object.GetDeletionTimestamp() != nil {
		return true
	}
	return yield(Step[T]{Verb: VerbDelete, Object: object, Name: object.GetName(), Cluster: rollout.Cluster{Name: object.GetNamespace()}, Plan: plan})
}

func (s *Steps[T]) apply(cluster rollout.Cluster, plan int, start bool, yield func(Step[T]) bool) bool {
	step := Step[T]{Verb: VerbUpdate, Object: s.kept[cluster.Name], Cluster: cluster, Start: start, Plan: plan}
	if isNil(step.Object) {
		if s.blocked[cluster.Name] || !start && !goesOn(s.results[plan].Record.Deselected, cluster.Name) {
			return true
		}
		step.Verb, step.Name = VerbCreate, NameOf(s.owner, s.others[cluster.Name]...)
		return yield(step)
	}
	if step.Name = step.Object.GetName(); step.Object.GetDeletionTimestamp() != nil && (start || !s.has(cluster.Name, plan)) {
		return true
	}
	return yield(step)
}

func (s *Steps[T]) has(cluster string, plan int) bool {
	object, version := s.kept[cluster], s.results[plan].Record.Version
	return !isNil(object) && version != "" && status.StampOf(object).Version == version
}

// goesOn says whether a record, whose entries are sorted, has a cluster in flight. Such a cluster was deselected for a
// while, lost its object at once, and goes on where it was (R49).
func goesOn(recorded []status.DeselectedCluster, cluster string) bool {
	index, has := slices.BinarySearchFunc(recorded, cluster, func(entry status.DeselectedCluster, name string) int { return cmp.Compare(entry.Cluster, name) })
	return has && (recorded[index].Status == status.Progressing || recorded[index].Status == status.ToApply)
}

// rather is the order in which the objects of a cluster are kept (W11).
func rather[T object](name string, a, b T) int {
	is := func(condition bool) int {
		if condition {
			return 0
		}
		return 1
	}
	made, madeB := a.GetCreationTimestamp(), b.GetCreationTimestamp()
	return cmp.Or(
		cmp.Compare(is(a.GetDeletionTimestamp() == nil), is(b.GetDeletionTimestamp() == nil)),
		cmp.Compare(is(a.GetName() == name), is(b.GetName() == name)),
		made.Time.Compare(madeB.Time),
		cmp.Compare(a.GetName(), b.GetName()),
	)
}
