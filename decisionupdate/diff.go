// SPDX-License-Identifier: Apache-2.0

package decisionupdate

import (
	"slices"

	"k8s.io/apimachinery/pkg/util/validation/field"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	"github.com/cohort-ocm/cohort/internal/fielderrs"
)

// Diff returns what has to be written so that the stored PlacementDecisions of one placement become the desired
// ones, by the strategy of the placement.
//
// Both lists may be in any order; the update is the same. Nothing is modified, and the update shares labels and
// decisions with both. Writes have the metadata of the stored objects, so they carry the UID and the resourceVersion
// that they were made from. Decisions are compared with their order, reasons and scores; labels as [Write.To] says.
// Objects that are as desired aren't written, and objects that are being deleted aren't deleted again.
//
// All gives one step of creates and updates and, if objects are left over, a second step of deletes. RollingUpdate
// gives about as few writes as there can be, within MaxSteps, or the two phases of SurgeAndFinalize. Where
// clusters are only added, as when nothing is stored, both fill the named groups first, one a step in the order of
// their index, and then all others in one step.
//
// It takes time and memory linear in the decisions and, where clusters move in circles, up to quadratic in the objects
// that they move between.
//
// Stored objects that are not the placement's are left out, as Owns of package grouping says. The errors are *field.Error values, joined
// by [errors.Join], for
//
//   - an unknown strategy, or a bound of one step;
//   - an object that is nil, has no name, or is in a list twice;
//   - desired objects of several placements or namespaces, and one under the name of a stored object that is not the placement's;
//   - a desired object with more than 100 clusters, or with a cluster that is empty or desired twice;
//   - under RollingUpdate, a stored object that is desired and being deleted.
//
// Stored objects may hold a cluster twice, empty decisions, or more than 100 clusters, as an interrupted update leaves
// them. A stored object may lack the labels or a controller: it is taken over.
func Diff(stored, desired []*clusterv1beta1.PlacementDecision, strategy UpdateStrategy) (Update, error) {
	if errs := Validate(strategy, field.NewPath("spec", "decisionStrategy", "updateStrategy")); len(errs) > 0 {
		return Update{}, fielderrs.Join(errs)
	}
	return diff(stored, desired, strategy, maxClusters)
}

// diff is Diff with a limit on the clusters of an object.
func diff(stored, desired []*clusterv1beta1.PlacementDecision, strategy UpdateStrategy, limit int) (Update, error) {
	fleet, err := newFleet(stored, desired, limit)
	if err != nil {
		return Update{}, err
	}
	if strategy.Type == UpdateStrategyTypeRollingUpdate {
		if err := fleet.dying(); err != nil {
			return Update{}, err
		}
	}
	marks := fleet.mark()
	var steps []Step
	switch {
	case fleet.onlyGrows():
		steps = fleet.fill()
	case strategy.Type != UpdateStrategyTypeRollingUpdate:
		steps = fleet.all()
	case strategy.SurgeAndFinalize:
		steps = fleet.surgeAndFinalize()
	default:
		steps = fleet.fewestWrites(strategy.MaxSteps)
	}
	misplaced := fleet.misplaced(steps)
	// Objects come by name, so that each step is sorted; a step may turn out to be empty.
	steps = slices.DeleteFunc(append([]Step{marks}, steps...), func(step Step) bool { return len(step) == 0 })
	steps = fleet.sealed(steps)
	if len(steps) == 0 {
		return Update{}, nil
	}
	return Update{Steps: steps, Misplaced: misplaced}, nil
}

// all writes everything at once, then deletes (D2).
func (f *fleet) all() []Step {
	steps := make([]Step, 2)
	for o := range f.objects {
		obj := &f.objects[o]
		switch {
		case !obj.differs():
		case obj.desired == nil:
			steps[1] = append(steps[1], obj.final(nil))
		default:
			steps[0] = append(steps[0], obj.final(nil))
		}
	}
	return steps
}

// surgeAndFinalize writes unions, then the desired content (D3). Where the union equals the desired clusters, the
// desired content is written at once. Where it equals the stored clusters, the first phase is skipped. Where it is more than
// an object may have, the clusters that move go to objects of the surge.
func (f *fleet) surgeAndFinalize() []Step {
	moves := f.moves()
	level := make([]int, len(moves.objects))
	plan := plan{steps: make([][]act, 2)}
	parked := make(map[Group][]int32)
	for v := range moves.objects {
		obj := moves.object(int32(v))
		level[v] = 2
		awaited := false // another object drops one of its clusters
		moves.arriving(int32(v), func(int32) { awaited = true })
		switch {
		case obj.stored == nil, obj.desired != nil && !obj.loses:
			level[v] = 1
		case obj.desired == nil, !obj.gains && !awaited:
		case obj.unionSize() <= f.limit:
			plan.add(1, act{vertex: int32(v), clusters: numbersFrom(obj.first, len(obj.desired.Status.Decisions)), whole: true})
		default:
			moves.arriving(int32(v), func(cluster int32) {
				parked[moves.groupFor(cluster)] = append(parked[moves.groupFor(cluster)], cluster)
			})
		}
		plan.add(level[v], act{vertex: int32(v), last: true})
	}
	moves.park(&plan, level, parked)
	return moves.carryOut(plan)
}

// unionSize returns how many clusters the object stores or desires.
func (o *object) unionSize() int {
	return len(clusterNames(o.stored)) + len(without(clusterNames(o.desired), clusterNames(o.stored)))
}

// numbersFrom returns n numbers in a row, beginning with first.
func numbersFrom(first int32, n int) []int32 {
	numbers := make([]int32, n)
	for i := range numbers {
		numbers[i] = first + int32(i)
	}
	return numbers
}

// surge writes a content before the final one. The object may have had one such before. An object without the label of its
// placement gets it now: readers that look for that label would miss the clusters that come early (D14).
func (o *object) surge(before *Write, decisions []clusterv1beta1.ClusterDecision) Write {
	write := Write{Verb: VerbUpdate, Surge: true, From: o.stored, Parts: []Part{PartStatus}}
	relabel := o.relabelled && (o.partFirst() == PartLabels || o.unlabelled)
	if before != nil {
		write.From, relabel = before.To, false
	}
	to := *write.From
	if relabel {
		write.Parts = []Part{PartLabels, PartStatus}
		to = *o.dress(&to)
		if slices.Equal(decisions, write.From.Status.Decisions) { // what it gains comes later
			write.Parts = []Part{PartLabels}
		}
	}
	to.Status.Decisions = decisions
	write.To = &to
	if !o.gains { // it only needs to become visible
		to.Status.Decisions, write.Parts = o.stored.Status.Decisions, []Part{PartLabels}
	}
	return write
}

// final writes the object's final content, after a surge if there was one. An update leaves out what is right already.
func (o *object) final(surge *Write) Write {
	switch {
	case o.desired == nil:
		return Write{Verb: VerbDelete, From: o.stored}
	case o.stored == nil && len(o.desired.Status.Decisions) == 0:
		return Write{Verb: VerbCreate, Parts: []Part{PartLabels}, To: o.desired}
	case o.stored == nil:
		return Write{Verb: VerbCreate, Parts: []Part{PartLabels, PartStatus}, To: o.desired}
	}
	write := Write{Verb: VerbUpdate, From: o.stored}
	if surge != nil {
		write.From = surge.To
	}
	relabel := o.relabelled
	if relabel && surge != nil {
		_, done := metadata(surge.To, o.desired)
		relabel = !done
	}
	switch {
	case !relabel:
		write.Parts = []Part{PartStatus}
	case !o.changed && surge == nil:
		write.Parts = []Part{PartLabels}
	case o.partFirst() == PartLabels:
		write.Parts = []Part{PartLabels, PartStatus}
	default:
		write.Parts = []Part{PartStatus, PartLabels}
	}
	to := *o.dressed
	to.Status.Decisions = o.desired.Status.Decisions
	write.To = &to
	return write
}
