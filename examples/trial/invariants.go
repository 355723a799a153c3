// SPDX-License-Identifier: Apache-2.0

package trial

import (
	"fmt"
	"maps"
	"slices"
	"time"

	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"

	"github.com/cohort-ocm/cohort/examples/trial/internal/limits"
)

// Of policies.
const (
	invTakeBack Invariant = "clusters are taken back before another one starts"
	invPasses   Invariant = "no cluster is enforced without a first pass"
)

// forbids says which invariants a start on a cluster would break, as deselected clusters are read.
func (s *snapshot) forbids(cluster string, now time.Time, l leniency, as reading) []violation {
	switch {
	case s.ref.incomplete != "":
		return []violation{{invariant: invComplete, text: s.ref.incomplete}}
	case !s.isSelected(cluster):
		return []violation{{invariant: invSelected, text: cluster + " isn't selected"}}
	case s.strategy.Type == clusterv1alpha1.All || s.strategy.Type == "" || s.ignoredClusters[cluster]:
		return nil
	}
	return broke(s.rollout(now, l, as).Forbids(cluster), ofLimit)
}

// rollout is how all clusters stand. A group that is gone exists again, before all others but the mandatory ones, unless all others roll together.
func (s *snapshot) rollout(now time.Time, l leniency, as reading) *limits.Rollout {
	config, perGroup, required, limit := parts(&s.strategy)
	stages, first := s.ref.stages(perGroup, *required)
	left := s.left(as)
	if moved, of := s.moved(now, l, as); moved != "" && (perGroup || limits.IsMandatory(*required, of.index, of.name)) {
		left[of] = append(left[of], moved)
	}
	r := &limits.Rollout{PerGroup: perGroup, Failures: config.MaxFailures}
	for i, stage := range stages {
		of := limits.Stage{Name: nameOf(stage), Mandatory: i < first, Seats: s.seats(members(stage), false, now, l)}
		for _, g := range stage {
			of.Seats = append(of.Seats, s.seats(left[g.key()], true, now, l)...)
			delete(left, g.key())
		}
		r.Stages = append(r.Stages, of)
	}
	var gone []limits.Stage
	for _, was := range slices.SortedFunc(maps.Keys(left), groupKey.compare) {
		seats, mandatory := s.seats(left[was], true, now, l), limits.IsMandatory(*required, was.index, was.name)
		if !mandatory && !perGroup {
			r.Stages[first].Seats = append(r.Stages[first].Seats, seats...)
		} else {
			gone = append(gone, limits.Stage{Name: nameOf([]seenGroup{{index: was.index, name: was.name}}), Mandatory: mandatory, Seats: seats})
		}
	}
	r.Stages = slices.Insert(r.Stages, first, gone...)
	for i := range r.Stages {
		r.Stages[i].Size = len(r.Stages[i].Seats)
		r.Size += r.Stages[i].Size
	}
	if limit != nil {
		r.Slots = limits.Slots(*limit, r.Stages[len(r.Stages)-1].Size, s.ref.size())
	}
	return r
}

func (s *snapshot) seats(clusters []string, away bool, now time.Time, l leniency) (all []limits.Seat) {
	for _, c := range clusters {
		at := s.stands(c, now, l)
		seat := limits.Seat{Cluster: c, Away: away, Done: at.at == succeeded, Over: at.at == failed, Failed: at.failed, Holds: at.holds}
		if away && s.mayBeRecorded(c) {
			seat.Over, seat.Holds = true, false
		}
		if away && !l.everywhere && s.mayBeDone(c) {
			seat.Done, seat.Failed, seat.Holds = true, false, false
		}
		all = append(all, seat)
	}
	return all
}

// mayBeRecorded says whether the record may have a deselected cluster as one that timed out: its success came after its deadline. It remains a
// failure until its success was found good, and takes no slot.
func (s *snapshot) mayBeRecorded(cluster string) bool {
	h, has := s.observed[cluster]
	if !has {
		h = s.ghosts[cluster]
	}
	deadline, _ := time.ParseDuration(s.ref.config().ProgressDeadline)
	return deadline > 0 && !h.success.IsZero() && !h.success.Add(grace).Before(h.applied.Add(deadline))
}

// mayBeDone says whether a deselected cluster may count as done: it was, until a user edited its policy, which no controller writes back.
func (s *snapshot) mayBeDone(cluster string) (was bool) {
	if !s.wasEdited(cluster) {
		return false
	}
	for i, states := range s.j.states {
		for _, e := range states {
			if i.kind != s.j.delivery.object || e.rv > s.rv || e.gone || e.object.GetNamespace() != cluster || s.j.delivery.isOwner(e.object) {
				continue
			}
			if h := s.j.read(e.object); h.version == s.version && h.started && h.content == s.j.raw(s.owner).content {
				was = h.answer == does
			}
		}
	}
	return was
}

// checkStart judges a start by the truth and by what the process had to know.
func (j *checker) checkStart(e event) (broken []violation) {
	w := j.written[e.rv]
	if w == nil && j.isSwitch(e.at) {
		return nil // another controller did that
	}
	if w == nil {
		return []violation{{invariant: invLeft, rv: e.rv, text: e.id.String() + " was written by a stranger"}}
	}
	cluster, r := e.object.GetNamespace(), j.reconciles[w.reconcile]
	known, truth := j.knownTo(r, e.rv, w.sent), j.truthAt(e.rv-1)
	if known == nil || truth == nil || j.read(e.object).version != known.version || truth.isGhost(cluster) && truth.isSelected(cluster) {
		return nil // a cluster that is back goes on where it was
	}
	forbidden := func(as reading) []violation {
		return inAll(known.forbids(cluster, w.sent, leniency{}, as), known.forbids(cluster, r.read, leniency{}, as), truth.forbids(cluster, w.sent, leniency{}, as))
	}
	without := len(forbidden(withoutLeft)) == 0
	were := forbidden(whereTheyWere)
	for _, v := range inAll(forbidden(whereTheyAre), were, were) { // it is unknown which of the two the process knew
		text := fmt.Sprintf("%s got version %s in reconcile %d: %s", cluster, known.version, w.reconcile, v.text)
		if without {
			v.invariant, text = invLeavers, text+" ("+string(v.invariant)+")"
		}
		broken = append(broken, violation{invariant: v.invariant, rv: e.rv, text: text})
	}
	broken = append(broken, j.checkExposed(e, known, truth)...)
	if j.delivery.gates && known.strategy.Type != clusterv1alpha1.All {
		broken = append(broken, j.checkPasses(e, cluster, known, truth)...)
	}
	return broken
}

// checkPasses judges a start of a policy: its cluster went through the first pass, and no other one is still enforced with
// another version.
func (j *checker) checkPasses(e event, cluster string, known, truth *snapshot) (broken []violation) {
	before := truth.observed[cluster]
	if before.version != known.version && known.observed[cluster].version != known.version {
		broken = append(broken, violation{invariant: invPasses, rv: e.rv, text: fmt.Sprintf("%s is enforced with %s, and had %q", cluster, known.version, before.version)})
	}
	behind := func(s *snapshot, c string) bool {
		h, ok := s.observed[c]
		return ok && c != cluster && h.started && h.version != known.version && !h.dying && s.isSelected(c) && !s.stands(c, e.at, leniency{}).out
	}
	for _, c := range j.trial.clusters(j.trial.pool) {
		if behind(known, c) && behind(truth, c) {
			broken = append(broken, violation{invariant: invTakeBack, rv: e.rv, text: fmt.Sprintf("%s starts with %s while %s is enforced with %s", cluster, known.version, c, truth.observed[c].version)})
			break
		}
	}
	return broken
}

// checkClaim judges that a controller calls a rollout complete.
func (j *checker) checkClaim(c *Claim, known, truth *snapshot, rv int64, now time.Time) []violation {
	if !c.Complete || known == nil || truth == nil || known.ref.incomplete != "" || truth.ref.incomplete != "" || c.Version != "" && c.Version != known.version {
		return nil
	}
	for _, cluster := range j.trial.clusters(j.trial.pool) {
		if k, t := known.undone(cluster, now), truth.undone(cluster, now); k != "" && t != "" && known.version == truth.version {
			return []violation{{invariant: invDone, rv: rv, text: fmt.Sprintf("version %s is called complete: %q; %s %s", known.version, c.Message, cluster, k)}}
		}
	}
	return nil
}

// undone says why a cluster is not done, if it is not.
func (s *snapshot) undone(cluster string, now time.Time) string {
	at := s.stands(cluster, now, leniency{})
	switch {
	case at.out || at.at == succeeded:
		return ""
	case s.isSelected(cluster):
		return "is selected, and not done"
	case s.wasEdited(cluster): // what a person did there is not written back any more
		return ""
	default:
		return s.lasts(cluster, now)
	}
}

// lasts says why a deselected cluster may be waited for, also where a user edited its policy.
func (s *snapshot) lasts(cluster string, now time.Time) string {
	switch at := s.stands(cluster, now, leniency{}); {
	case at.failed:
		return "left, and failed"
	case at.holds:
		return "left, and its answer is awaited"
	default:
		return ""
	}
}

// wasEdited says whether a person changed the object of a cluster by hand, and it was not written back, or is gone.
func (s *snapshot) wasEdited(cluster string) bool {
	h, has := s.observed[cluster]
	if !has {
		h, has = s.ghosts[cluster]
	}
	return has && h.version == s.version && h.content != "" && h.content != s.j.raw(s.owner).content
}
