package decisionupdate

import (
	"slices"

	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
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
// gives as few writes as the package comment says, within [MaxSteps], or the two phases of [SurgeAndFinalize]. Where
// clusters are only added, as when nothing is stored, both fill the named groups first, one a step in the order of
// their index, and then all others in one step.
//
// It takes time and memory linear in the decisions and, where clusters move in circles, up to quadratic in the objects
// that they move between.
//
// The errors are *field.Error values, joined by [errors.Join], for
//
//   - an unknown strategy, or a bound of one step;
//   - an object that is nil, has no name, is in a list twice, or is of another placement or namespace than the others;
//   - a desired object with more than 100 clusters, or with a cluster that is empty or desired twice;
//   - under RollingUpdate, a stored object that is desired and being deleted.
//
// Stored objects may hold a cluster twice, empty decisions, or more than 100 clusters, as an interrupted update leaves
// them. A stored object may lack the labels, or have another placement's, if the placement is its controller: it is taken
// over.
func Diff(stored, desired []*clusterv1beta1.PlacementDecision, strategy UpdateStrategy, opts ...Option) (Update, error) {
	set, err := settings(strategy, opts)
	if err != nil {
		return Update{}, err
	}
	f, err := newFleet(stored, desired)
	if err != nil {
		return Update{}, err
	}
	if strategy.Type == UpdateStrategyTypeRollingUpdate {
		if err := f.dying(); err != nil {
			return Update{}, err
		}
	}
	var steps []Step
	switch {
	case f.onlyGrows():
		steps = f.fill()
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
		return Update{}, nil
	}
	return Update{Steps: steps, Misplaced: f.misplaced(steps)}, nil
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
// desired content is written at once. Where it equals the stored clusters, the first phase is skipped.
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
		case !obj.loses:
			steps[0] = append(steps[0], obj.final(nil))
		case !obj.gains && !obj.unlabelled:
			steps[1] = append(steps[1], obj.final(nil))
		default:
			surge := obj.surge(f.content(int32(o), every, every))
			steps[0] = append(steps[0], surge)
			steps[1] = append(steps[1], obj.final(&surge))
		}
	}
	return steps
}

// surge writes the first of the object's two contents. An object without the label of its placement gets it now:
// readers that look for that label would miss the clusters that come early (D14).
func (o *object) surge(decisions []clusterv1beta1.ClusterDecision) Write {
	w := Write{Verb: VerbUpdate, Surge: true, From: o.stored, Parts: []Part{PartStatus}}
	to := *o.stored
	if o.relabelled && (o.partFirst() == PartLabels || o.unlabelled) {
		w.Parts = []Part{PartLabels, PartStatus}
		to.Labels = o.labels
	}
	to.Status.Decisions = decisions
	w.To = &to
	if !o.gains { // it only needs to become visible
		to.Status.Decisions, w.Parts = o.stored.Status.Decisions, []Part{PartLabels}
	}
	return w
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
	w := Write{Verb: VerbUpdate, From: o.stored}
	if surge != nil {
		w.From = surge.To
	}
	relabel := o.relabelled && (surge == nil || !slices.Contains(surge.Parts, PartLabels))
	switch {
	case !relabel:
		w.Parts = []Part{PartStatus}
	case !o.changed && surge == nil:
		w.Parts = []Part{PartLabels}
	case o.partFirst() == PartLabels:
		w.Parts = []Part{PartLabels, PartStatus}
	default:
		w.Parts = []Part{PartStatus, PartLabels}
	}
	to := *o.stored
	to.Labels = o.labels
	to.Status.Decisions = o.desired.Status.Decisions
	w.To = &to
	return w
}
