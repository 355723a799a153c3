package decisionupdate

import (
	"slices"

	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
)

// New plans how the stored PlacementDecisions of one placement become the desired ones, by the strategy of the
// placement.
//
// Both lists may be in any order; the plan is the same. Nothing is modified, and the plan shares labels and
// decisions with both. Of the stored objects it takes the metadata, so that an update carries the UID and the
// resourceVersion that were planned from. Decisions are compared with their order, reasons and scores; labels
// as [Write.To] says. What is as desired isn't written (D1).
//
// All gives one step of creates and updates and, if objects are left over, a second one of deletes (D2).
// RollingUpdate gives as few writes as the package comment says (D4), within [MaxSteps], or the two phases of
// [SurgeAndFinalize] (D3).
//
// It takes time and memory proportional to the number of decisions and, where clusters move in circles, up to
// the square of the number of objects that they move between.
//
// Errors (D9) are joined *field.Error values: an unknown strategy or a bound of one step; an object that is
// nil, without a name, in a list twice, or of another placement or namespace than the others; a desired object
// with more than 100 clusters or with a cluster that is empty or desired twice; under RollingUpdate a stored
// object that is desired and being deleted. Stored objects may hold a cluster twice, empty decisions, or more
// than 100: an update that was interrupted leaves such.
func New(stored, desired []*clusterv1beta1.PlacementDecision, strategy UpdateStrategy, opts ...Option) (Plan, error) {
	set, err := settings(strategy, opts)
	if err != nil {
		return Plan{}, err
	}
	f, err := newFleet(stored, desired)
	if err != nil {
		return Plan{}, err
	}
	if strategy.Type == UpdateStrategyTypeRollingUpdate {
		if err := f.dying(); err != nil {
			return Plan{}, err
		}
	}
	var steps []Step
	switch {
	case strategy.Type != UpdateStrategyTypeRollingUpdate:
		steps = f.all()
	case set.surgeFinalize:
		steps = f.surgeAndFinalize()
	default:
		steps = f.fewestWrites(set.maxSteps)
	}
	// Objects come by name, so that each step is sorted; a step may turn out to be empty.
	steps = slices.DeleteFunc(steps, func(s Step) bool { return len(s) == 0 })
	if len(steps) == 0 {
		return Plan{}, nil
	}
	return Plan{Steps: steps, Warnings: f.warnings()}, nil
}

// all writes everything at once, then deletes (D2).
func (f *fleet) all() []Step {
	steps := make([]Step, 2)
	for o := range f.objects {
		obj := &f.objects[o]
		switch {
		case obj.desired == nil:
			steps[1] = append(steps[1], obj.final(nil))
		case obj.differs():
			steps[0] = append(steps[0], obj.final(nil))
		}
	}
	return steps
}

// surgeAndFinalize writes unions, then the desired content (D3). Where the union has no other clusters than
// those desired, the desired content is written at once; where it is what is stored, the first phase is
// skipped.
func (f *fleet) surgeAndFinalize() []Step {
	steps := make([]Step, 2)
	every := func(int32) bool { return true }
	for o := range f.objects {
		obj := &f.objects[o]
		switch {
		case !obj.differs():
		case obj.stored == nil:
			steps[0] = append(steps[0], obj.final(nil))
		case obj.desired == nil:
			steps[1] = append(steps[1], obj.final(nil))
		default:
			union := f.content(int32(o), every, every)
			loses := len(union) > len(obj.desired.Status.Decisions)
			gains := f.gains(int32(o))
			switch {
			case !loses:
				steps[0] = append(steps[0], obj.final(nil))
			case !gains:
				steps[1] = append(steps[1], obj.final(nil))
			default:
				surge := obj.surge(union)
				steps[0] = append(steps[0], surge)
				steps[1] = append(steps[1], obj.final(&surge))
			}
		}
	}
	return steps
}

// gains reports whether the object desires a cluster that it doesn't store.
func (f *fleet) gains(o int32) bool {
	obj := &f.objects[o]
	return slices.Contains(f.stays[obj.first:int(obj.first)+len(obj.desired.Status.Decisions)], false)
}

// surge writes the first of the two contents that the object goes through.
func (o *object) surge(decisions []clusterv1beta1.ClusterDecision) Write {
	w := Write{Verb: Update, Surge: true, From: o.stored, Parts: []Part{Status}}
	to := *o.stored
	if o.relabelled && firstPart(groupOf(o.stored.Labels), groupOf(o.labels)) == Labels {
		w.Parts = []Part{Labels, Status}
		to.Labels = o.labels
	}
	to.Status.Decisions = decisions
	w.To = &to
	return w
}

// final writes the object as it shall be in the end, after a surge if there was one. An update leaves out what
// is right already.
func (o *object) final(surge *Write) Write {
	switch {
	case o.desired == nil:
		return Write{Verb: Delete, From: o.stored}
	case o.stored == nil && len(o.desired.Status.Decisions) == 0:
		return Write{Verb: Create, Parts: []Part{Labels}, To: o.desired}
	case o.stored == nil:
		return Write{Verb: Create, Parts: []Part{Labels, Status}, To: o.desired}
	}
	w := Write{Verb: Update, From: o.stored}
	if surge != nil {
		w.From = surge.To
	}
	relabel := o.relabelled && (surge == nil || len(surge.Parts) == 1)
	switch {
	case !relabel:
		w.Parts = []Part{Status}
	case !o.changed && surge == nil:
		w.Parts = []Part{Labels}
	case firstPart(groupOf(o.stored.Labels), groupOf(o.labels)) == Labels:
		w.Parts = []Part{Labels, Status}
	default:
		w.Parts = []Part{Status, Labels}
	}
	to := *o.stored
	to.Labels = o.labels
	to.Status.Decisions = o.desired.Status.Decisions
	w.To = &to
	return w
}
