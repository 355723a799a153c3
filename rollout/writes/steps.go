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

// Verb is what a client does to an object.
type Verb string

const (
	// VerbDelete deletes the object of a cluster that is removed, or a surplus object of a cluster.
	VerbDelete Verb = "Delete"
	// VerbCreate gives the workload to a cluster that has no object.
	VerbCreate Verb = "Create"
	// VerbUpdate gives the workload to a cluster that has an object, or keeps it up to date there. The object may be on its way out:
	// then only the first answer is to be noted, as [Object] does.
	VerbUpdate Verb = "Update"
)

// Step is one write.
type Step[T object] struct {
	Verb Verb
	// Object is the one that is stored; the zero value where there is none.
	Object T
	// Cluster is the one of the plan. Of a step that deletes it has the name alone.
	Cluster rollout.Cluster
	// Start says that the cluster starts with this write. Otherwise it is in flight, or it loses an object.
	Start bool
	// Name is that of Object, or else the one to create the object under ([NameOf]).
	Name string
	// Plan is the index of the result that asks for the write.
	Plan int
}

// Steps are the writes that results ask for. They share what they were made of.
type Steps[T object] struct {
	owner   Owner
	results []*rollout.Result
	kept    map[string]T    // by cluster: the object that it keeps
	more    map[string][]T  // by cluster: its other objects
	beside  map[string][]T  // by cluster: the objects that are not the owner's
	waits   map[string]bool // the clusters in which one of those holds up the start
	foreign []Foreign
	moved   bool
}

// StepsOf gives the writes that the plans of an owner ask for, in this order: all objects of clusters in Removed go; then surplus
// objects go; then clusters in flight get the workload, and then those that start. Objects are all that the owner has, each in the
// namespace of its cluster, with own writes, and those in the way ([Own.Foreign]). What is not the owner's is not touched ([Owner.Has]):
// the cluster gets an object under another name, or starts nothing where it could get a second one of the same workload. See
// [Steps.Foreign]. While a cluster has nothing but objects that are being deleted, it does not start. A
// cluster in flight without any object gets one only where the record has it in flight (rollout.Memory.AtOnce). One that left with
// the version, and counts, is among those in flight as long as it has an object: its first answer is to be noted.
//
// Of several objects of a cluster one is kept: one that isn't being deleted, then the one named as [NameOf] names it, then the oldest.
//
// Store the Record of each result before: what is deleted can't tell any more that it failed.
func StepsOf[T object](owner Owner, objects []T, results ...*rollout.Result) *Steps[T] {
	size, merged := 0, false
	for _, r := range results {
		size += len(r.Start) + len(r.InFlight) + len(r.Left) + len(r.Removed)
		merged = merged || slices.ContainsFunc(r.Warnings, func(w rollout.Warning) bool { return w.Type == rollout.WarningReportsMerged })
	}
	s := &Steps[T]{owner: owner, results: results, kept: make(map[string]T, size)}
	var none T
	for _, r := range results {
		for _, clusters := range [][]rollout.Cluster{r.Start, r.InFlight, r.Left} {
			for i := range clusters {
				s.kept[clusters[i].Name] = none
			}
		}
		for _, cluster := range r.Removed {
			s.kept[cluster] = none
		}
	}
	name := NameOf[T](owner)
	for _, object := range objects {
		if claim := owner.claimOn(object); claim != owned {
			s.leave(object, claim)
			continue
		}
		kept, asked := s.kept[object.GetNamespace()]
		if asked || merged {
			s.sortIn(name, object, kept)
		}
	}
	slices.SortFunc(s.foreign, compareForeign)
	for _, objects := range s.more {
		slices.SortFunc(objects, func(a, b T) int { return rather(name, a, b) })
	}
	return s
}

// leave notes an object that is not the owner's.
func (s *Steps[T]) leave(object T, claim claim) {
	cluster := object.GetNamespace()
	if s.beside == nil {
		s.beside, s.waits = make(map[string][]T), make(map[string]bool)
	}
	s.beside[cluster] = append(s.beside[cluster], object)
	f := Foreign{Cluster: cluster, Name: object.GetName(), Owner: object.GetAnnotations()[annotationOwner], Holds: claim != foreign}
	if s.foreign = append(s.foreign, f); f.Holds {
		s.waits[cluster] = true
	}
}

// Foreign are the objects among those that StepsOf was given which are not the owner's, by cluster and name. Warn of each.
func (s *Steps[T]) Foreign() []Foreign { return s.foreign }

// sortIn keeps an object of a cluster instead of the one that it has, or beside it.
func (s *Steps[T]) sortIn(name string, object, kept T) {
	cluster := object.GetNamespace()
	if isNil(kept) {
		s.kept[cluster] = object
		return
	}
	if rather(name, object, kept) < 0 {
		object, s.kept[cluster] = kept, object
	}
	if s.more == nil {
		s.more = make(map[string][]T)
	}
	s.more[cluster] = append(s.more[cluster], object)
}

// While yields the steps, and before each asks for the owner as it is now, such as in the cache. As soon as that has another
// generation or is another object, or the function returns an error, While ends, and Moved says so: plan anew. Going through a long
// list takes time, and what is written must not be old by then. Where the version may change without the generation, as with the
// hash of an add-on's configuration, let the function compare it, and return an error.
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

// Moved says whether While ended because of the owner.
func (s *Steps[T]) Moved() bool { return s.moved }

// RecheckAfter is the soonest of the times that the results give; 0 if time alone changes nothing.
func (s *Steps[T]) RecheckAfter() (soonest time.Duration) {
	for _, r := range s.results {
		if after := r.RecheckAfter; after > 0 && (soonest == 0 || after < soonest) {
			soonest = after
		}
	}
	return soonest
}

// all yields the steps in their order (W10).
func (s *Steps[T]) all(yield func(Step[T]) bool) bool {
	removed := make(map[string]bool)
	for plan, r := range s.results {
		for _, cluster := range r.Removed {
			removed[cluster] = true
			if !s.remove(s.kept[cluster], plan, yield) {
				return false
			}
			for _, object := range s.more[cluster] {
				if !s.remove(object, plan, yield) {
					return false
				}
			}
		}
	}
	for _, cluster := range slices.Sorted(maps.Keys(s.more)) {
		for _, object := range s.more[cluster] {
			if !removed[cluster] && !s.remove(object, len(s.results)-1, yield) {
				return false
			}
		}
	}
	others := s.others(removed)
	for _, start := range []bool{false, true} {
		for plan, r := range s.results {
			clusters := r.Start
			if !start {
				clusters = r.InFlight
				if !s.noteLeft(plan, others, yield) {
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

// noteLeft yields the objects of clusters that left, but for those that go and those that another plan writes.
func (s *Steps[T]) noteLeft(plan int, others map[string]bool, yield func(Step[T]) bool) bool {
	for _, cluster := range s.results[plan].Left {
		if !others[cluster.Name] && s.has(cluster.Name, plan) && !s.apply(cluster, plan, false, yield) {
			return false
		}
	}
	return true
}

// others are the clusters that are not written because they left: they go, or a plan has them in flight or starts them.
func (s *Steps[T]) others(removed map[string]bool) map[string]bool {
	if !slices.ContainsFunc(s.results, func(r *rollout.Result) bool { return len(r.Left) > 0 }) {
		return nil
	}
	all := maps.Clone(removed)
	for _, r := range s.results {
		for _, clusters := range [][]rollout.Cluster{r.Start, r.InFlight} {
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
		if s.waits[cluster.Name] || !start && !goesOn(s.results[plan].Record.Left, cluster.Name) {
			return true
		}
		step.Verb, step.Name = VerbCreate, NameOf(s.owner, s.beside[cluster.Name]...)
		return yield(step)
	}
	if step.Name = step.Object.GetName(); step.Object.GetDeletionTimestamp() != nil && (start || !s.has(cluster.Name, plan)) {
		return true
	}
	return yield(step)
}

// has says whether a cluster has an object with the version of a plan.
func (s *Steps[T]) has(cluster string, plan int) bool {
	object, version := s.kept[cluster], s.results[plan].Record.Version
	return !isNil(object) && version != "" && status.StampOf(object).Version == version
}

// goesOn says whether a record, whose entries are in order, has a cluster in flight. It lost its object at once when it was not
// selected for a while, and goes on where it was (R49).
func goesOn(recorded []status.Left, cluster string) bool {
	i, has := slices.BinarySearchFunc(recorded, cluster, func(l status.Left, name string) int { return cmp.Compare(l.Cluster, name) })
	return has && (recorded[i].Status == status.Progressing || recorded[i].Status == status.ToApply)
}

// rather orders the objects of a cluster, the one to keep first (W11).
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
