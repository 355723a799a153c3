// SPDX-License-Identifier: Apache-2.0

package trial

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/intstr"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"

	"github.com/cohort-ocm/cohort/examples/trial/internal/limits"
)

// Revisions are what a set's status says of its revisions, each by the name that the subject gives it. Current is the one that clusters
// go back to, and Update the one that they get. Aborted is since when Update is taken back, zero if it is not.
type Revisions struct {
	Current, Update string
	Aborted         time.Time
	AtOnce          bool // it is taken back from all clusters at once, whatever the strategy says
}

func (r *Revisions) aborted() bool { return !r.Aborted.IsZero() }

// target is what clusters are to get.
func (r *Revisions) target() string {
	if r.aborted() {
		return r.Current
	}
	return r.Update
}

// keepRevisions has a history read the revisions that the subject keeps, as versions of the payload.
func (h *history) keepRevisions(subject *Subject) {
	versions, by := map[string]string{"": ""}, map[string]Revisions{}
	for _, e := range h.states[id{ReplicaSets, h.setKey()}] {
		set := e.object.(*replicaSet)
		versions[subject.Revision(set)] = wantedBy(set)
		by[set.ResourceVersion] = subject.Revisions(set, e.stored)
	}
	h.revisions = func(set *replicaSet) Revisions {
		r := by[set.ResourceVersion]
		r.Current, r.Update = versions[r.Current], versions[r.Update]
		return r
	}
}

func (s *scene) goesBackTo(version string) bool {
	return s.revising != nil && s.revising.aborted() && s.revising.Current == version
}

// holds says whether a cluster has the version that is taken back.
func (s *scene) holds(cluster string) bool {
	return slices.ContainsFunc(s.works[cluster], func(w seenWork) bool {
		return w.DeletionTimestamp == nil && w.version == s.revising.Update
	})
}

// wentBack says whether a cluster got the version before since the update was taken back, and whether it is neither done
// nor has failed.
func (s *scene) wentBack(cluster string, ref *seenRef, now time.Time, l leniency) (went, busy bool) {
	for _, w := range s.works[cluster] {
		if w.DeletionTimestamp == nil && w.version == s.revising.Current && !w.applied.Before(s.revising.Aborted) {
			at, _, _ := stands(w, ref.config(), now, l)
			went, busy = true, busy || at == inFlight || at == soaking
		}
	}
	return went, busy
}

// leftOnTheWay lists the clusters that left from some groups and are on their rollback: they have the version that is taken back, which counts
// from the abort on, or went back and are neither done nor have failed.
func (s *scene) leftOnTheWay(groups []seenGroup, ref *seenRef, now time.Time, l leniency) (clusters []string) {
	config, r := ref.config(), s.revising
	deadline, _ := time.ParseDuration(config.ProgressDeadline)
	for _, c := range s.leavers(groups, l) {
		if _, selected := ref.groupOf[c]; selected || s.ignoredClusters[c] {
			continue
		}
		if slices.ContainsFunc(s.works[c], func(w seenWork) bool {
			switch {
			case w.version == r.Update:
				return deadline <= 0 || now.Add(grace).Before(later(r.Aborted, w.applied).Add(deadline))
			case w.version == r.Current && !w.applied.Before(r.Aborted):
				at, _, _ := stands(w, config, now, l)
				return at == inFlight || at == soaking
			}
			return false
		}) {
			clusters = append(clusters, c)
		}
	}
	return clusters
}

// revisionForbids says what speaks against a version, whichever cluster gets it.
func (s *scene) revisionForbids(cluster, version string) *violation {
	r := s.revising
	switch {
	case r.aborted() && version == r.Update:
		return &violation{invariant: invTakenBack, text: fmt.Sprintf("%s is taken back since %v", version, r.Aborted)}
	case version != r.target():
		return &violation{invariant: invStored, text: fmt.Sprintf("the status says that clusters get %q, of %q before and %q", r.target(), r.Current, r.Update)}
	case !r.aborted() || s.holds(cluster):
		return nil
	}
	for other := range s.selected() {
		if s.holds(other) {
			return &violation{invariant: invMending, text: fmt.Sprintf("%s still has %s", other, r.Update)}
		}
	}
	return nil
}

// backForbids says which invariants it would break that a cluster is rolled back now.
func (s *scene) backForbids(ref *seenRef, cluster string, now time.Time, l leniency) []violation {
	if ref.strategy.Type == clusterv1alpha1.All || ref.strategy.Type == "" {
		return nil
	}
	return broke(s.rolloutBack(ref, now, l).Forbids(cluster), map[limits.Kind]Invariant{limits.Order: invBackOrder, limits.Concurrency: invConcurrency})
}

// rolloutBack is how the clusters of a ref stand on their rollback: its groups one after the other, the last first, or all together. No failure
// stops it.
func (s *scene) rolloutBack(ref *seenRef, now time.Time, l leniency) *limits.Rollout {
	_, perGroup, mandatory, limit := parts(&ref.strategy)
	stages := [][]seenGroup{ref.groups}
	if perGroup {
		stages, _ = ref.stages(true, *mandatory)
		slices.Reverse(stages)
	}
	r := &limits.Rollout{PerGroup: perGroup, Failures: intstr.FromString("100%"), Size: len(ref.groupOf)}
	for _, stage := range stages {
		of := limits.Stage{Name: nameOf(stage)}
		for _, c := range s.leftOnTheWay(stage, ref, now, l) {
			of.Seats = append(of.Seats, limits.Seat{Cluster: c, Away: true, Holds: true})
		}
		if !perGroup {
			r.Slots = ref.slots(*limit, len(ref.groupOf), len(of.Seats))
		}
		for _, c := range members(stage) {
			_, busy := s.wentBack(c, ref, now, l)
			of.Seats = append(of.Seats, limits.Seat{Cluster: c, Holds: busy, Done: !busy && !s.holds(c)})
		}
		r.Stages = append(r.Stages, of)
	}
	return r
}

// checkBack checks what the status says of the revisions, that nothing is written twice, and how it ended.
func (h *history) checkBack(now time.Time, says func(*replicaSet) Saying) (broken []violation) {
	breaks := func(i Invariant, rv int64, format string, args ...any) {
		broken = append(broken, violation{invariant: i, rv: rv, text: fmt.Sprintf(format, args...)})
	}
	var before Revisions
	for _, e := range h.states[id{ReplicaSets, h.setKey()}] {
		r := h.revisions(e.object.(*replicaSet))
		switch w := h.written[e.rv]; {
		case before.aborted() && r.Update == before.Update && !r.Aborted.Equal(before.Aborted):
			breaks(invAborted, e.rv, "it was %v, and is %v", before.Aborted, r.Aborted)
		case r.aborted() && (r.Current == r.Update || r.Current == ""):
			breaks(invAborted, e.rv, "%q is taken back, and the version before is %q", r.Update, r.Current)
		case r.aborted() && !before.aborted() && w == nil:
			breaks(invAborted, e.rv, "a stranger wrote it")
		case r.aborted() && !before.aborted() && (r.Aborted.After(w.answered) || r.Aborted.Before(h.reconciles[w.reconcile].began.Truncate(time.Second))):
			breaks(invAborted, e.rv, "%v is not when it was written", r.Aborted)
		}
		before = r
	}
	broken = append(broken, h.checkUntouched()...)
	s := h.truth(1 << 62)
	if s.set == nil || s.incomplete() != "" {
		return broken
	}
	last := h.events[len(h.events)-1].rv
	if v := wantedBy(s.set); v != s.revising.Update {
		breaks(invStored, last, "the template is %s, and the status is about %s", v, s.revising.Update)
	}
	if !s.revising.aborted() {
		return broken
	}
	had, well, doubtful := 0, 0, 0
	for cluster, ref := range s.selected() {
		if s.holds(cluster) {
			breaks(invWentBack, last, "%s has %s", cluster, s.revising.Update)
		}
		if went, busy := s.wentBack(cluster, ref, now.Add(-grace), leniency{}); went {
			had++
			if at, _, _ := s.stands(cluster, s.revising.Current, ref.config(), now.Add(-grace), leniency{}); !busy && at == succeeded {
				well++
			}
		}
	}
	for _, f := range s.failed {
		if f.version == s.revising.Current {
			doubtful++ // it went back and failed, and has no work any more: the controller may have it on record
		}
	}
	want, said, is := "", says(s.set), false
	for n := had; n <= had+doubtful && !is; n++ {
		if want = "no selected cluster has"; n > 0 {
			want = fmt.Sprintf("%d of %d clusters are rolled back to", well, n)
		}
		is = strings.Contains(said.Message, want)
	}
	if !said.Over || !is {
		breaks(invStatus, last, "it says %q, and should say %q", said.Message, want)
	}
	return broken
}

// checkUntouched finds works that were written again, and had their version.
func (h *history) checkUntouched() (broken []violation) {
	for _, e := range h.events {
		is, isWork := e.object.(*manifestWork)
		if !isWork || e.gone || h.written[e.rv] == nil || is.DeletionTimestamp != nil {
			continue
		}
		version := versionIn(is)
		if was, _ := h.at(e.id, e.rv-1).(*manifestWork); was != nil && versionIn(was) == version && !onlyNotes(was, is) {
			broken = append(broken, violation{invariant: invUntouched, rv: e.rv, text: fmt.Sprintf("%s had version %s", e.id, version)})
		}
	}
	return broken
}

// onlyNotes says whether a write did nothing but add annotations, such as when the agent answered.
func onlyNotes(was, is *manifestWork) bool {
	for name, value := range was.Annotations {
		if is.Annotations[name] != value {
			return false
		}
	}
	return was.Generation == is.Generation && len(was.Annotations) < len(is.Annotations) && maps.Equal(was.Labels, is.Labels)
}
