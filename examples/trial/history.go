// SPDX-License-Identifier: Apache-2.0

package trial

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/util/intstr"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	workv1 "open-cluster-management.io/api/work/v1"
)

// history is what the API server showed of one rollout, in the order of the resource versions, with what the
// controller's network and caches noted.
type history struct {
	events     []event
	states     map[id][]event
	writes     []write
	reads      []read
	reconciles []*reconcile
	written    map[int64]*write  // by resourceVersion
	began      map[int]time.Time // by life: when its first reconcile did
	stays      []dated           // where clusters were, if that was looked for

	// Starts that the truth forbids, whether or not the controller could know, by what they break, and how many times of
	// MaxConcurrency were in flight at most.
	blind       map[Invariant]int
	blindStarts int
	most        float64
	mostExposed float64 // likewise of what the strategy exposes
	earlySoaks  int     // starts that only a soak from the first answer would have forbidden

	managed []event // ManagedClusters, of which a trace alone tells

	absent  []span    // while the API server or the process was away
	until   time.Time // when it ended, if that is after the last event
	arrival bool      // what the network held back counts from when it came
	planned bool      // what was written counts from when it was planned

	left *leaving // nil where only selected clusters count

	freeze    string                                           // the annotation of frozen clusters
	allowlist string                                           // the annotation of the allowlist
	named     map[string]string                                // versions of the payload, by the subject's name
	verdict   func(work *manifestWork, version string) Verdict // about that version; nil without validation

	revisions func(*replicaSet) Revisions // by the versions of the payload; nil where the controller keeps none
}

// A reconcile is what the harness notes of one.
type reconcile struct {
	replica, life int
	view          map[id]int64 // what the caches showed when it read them
	began         time.Time
	read          time.Time // when it did: as it began, or when it had written to the set itself
	ended         time.Time
	after         time.Duration // when it wants to be called again
	err           error
	claim         *Claim // what it said of its owner
	failed        bool   // something that it asked of the API server did
}

func newHistory(events []event, writes []write, reconciles []*reconcile) *history {
	h := &history{
		events: slices.Clone(events), states: map[id][]event{}, writes: writes, reconciles: reconciles,
		written: map[int64]*write{}, began: map[int]time.Time{}, blind: map[Invariant]int{},
	}
	for _, r := range reconciles {
		if h.began[r.life].IsZero() {
			h.began[r.life] = r.began
		}
	}
	slices.SortFunc(h.events, func(a, b event) int { return cmp.Compare(a.rv, b.rv) })
	for _, e := range h.events {
		h.states[e.id] = append(h.states[e.id], e)
	}
	at := map[int64]time.Time{}
	for _, e := range h.events {
		at[e.rv] = e.at
	}
	for i := range writes { // the answer to a write that changes nothing has the resourceVersion of the one before
		if w := &writes[i]; w.rv > 0 && !at[w.rv].Before(w.sent) {
			h.written[w.rv] = w
		}
	}
	h.resolve()
	return h
}

// at returns the state of an object as of a resourceVersion, nil if it isn't there.
func (h *history) at(i id, rv int64) object {
	states := h.states[i]
	n, found := slices.BinarySearchFunc(states, rv, func(e event, rv int64) int { return cmp.Compare(e.rv, rv) })
	if !found {
		n--
	}
	if n < 0 || states[n].gone {
		return nil
	}
	return states[n].object
}

// truth is the world as the API server had it as of a resourceVersion.
func (h *history) truth(rv int64) *scene {
	return h.look(func(i id) object { return h.at(i, rv) }, rv, h.timeOf(rv), nil)
}

// known is the world that a process has to know before a write with a resourceVersion, which it sent at a time.
func (h *history) known(r *reconcile, rv int64, sent time.Time) *scene {
	return h.look(h.seen(h.floor(r, rv, sent, h.revisions == nil)), rv, r.read, r)
}

// seen gives the objects as of those resourceVersions.
func (h *history) seen(floor map[id]int64) func(id) object {
	return func(i id) object {
		if rv, ok := floor[i]; ok {
			return h.at(i, rv)
		}
		return nil
	}
}

// floor is what a process has to know of each object before a write with a resourceVersion: what the caches showed when a reconcile
// began, what the process itself had written or read from the API server by a time, and what others had written before it began.
// Of its own writes only those of works may count.
func (h *history) floor(r *reconcile, rv int64, by time.Time, onlyWorks bool) map[id]int64 {
	floor := maps.Clone(r.view)
	for n := range h.writes {
		w := &h.writes[n]
		if onlyWorks && w.kind != Works || !w.done || w.rv >= rv || !h.knows(r, w) {
			continue
		}
		if w.status && h.revisions == nil { // what its answer shows beside came from others, and no duty says that it is read
			continue
		}
		i := id{w.kind, w.key}
		if w.verb == "DELETE" && w.rv == 0 {
			for _, e := range h.states[i] {
				if e.gone && e.rv < rv && !e.at.Before(w.sent) {
					floor[i] = max(floor[i], e.rv)
				}
			}
			continue
		}
		floor[i] = max(floor[i], w.rv)
	}
	for n := range h.reads {
		if l := &h.reads[n]; l.life == r.life && l.rv < rv && !l.at.After(by) {
			for i := range h.states {
				if l.has(i) {
					floor[i] = max(floor[i], l.rv)
				}
			}
		}
	}
	return floor
}

// knows says whether the process of a reconcile has to know of a write.
func (h *history) knows(r *reconcile, w *write) bool {
	return w.life == r.life || w.answered.Before(h.began[r.life])
}

// scene is the world at one time.
type scene struct {
	set   *replicaSet
	refs  []*seenRef // in the order of the set's placementRefs
	works map[string][]seenWork

	freeze    string            // the annotation of the set of frozen clusters
	allowlist string            // the annotation of the set of the allowlist
	named     map[string]string // versions of the payload, by the subject's name
	replicas  map[string]string // what the set says that clusters have of their own
	revising  *Revisions        // what the set's status says of its revisions; nil where the controller keeps none

	// Of clusters that left, where they count.
	counts          bool
	bounded         bool                   // exposure has a bound
	known           bool                   // it is what a process knows
	left            map[string]place       // those that have a work, or had one that failed, and where they were; empty while decisions are partially observed
	ignoredClusters map[string]bool        // by a person; also those that are selected
	failed          map[string]goneFailure // by cluster: what failed and has no object any more
	deleted         map[string]bool        // by an operator, which ignores them; but a controller need not see it
	moved           map[string]bool        // those that are not any more what they were in the first decisions, and where
	away            map[string]bool        // those that have been in no decision since the first
	first           map[string][]seenGroup

	stays []dated // where clusters were until then
}

// seenRef is one of the placementRefs, with the clusters that none before it selects.
type seenRef struct {
	name       string
	strategy   clusterv1alpha1.RolloutStrategy
	placement  *placement
	groups     []seenGroup    // in the order of their index
	groupOf    map[string]int // by cluster
	selected   map[string]int // also those that one before it selects: their index
	incomplete string         // why the decisions are, if they are
	revived    int            // how many groups at the front are there only for clusters that left
}

// refOf is the first ref that selects a cluster, or nil. As long as one before it is incomplete, it is unknown whether it
// is the first: it says why.
func (s *scene) refOf(cluster string) (ref *seenRef, incomplete string) {
	for _, r := range s.refs {
		if r.incomplete != "" {
			return nil, r.incomplete
		}
		if _, ok := r.groupOf[cluster]; ok {
			return r, ""
		}
	}
	return nil, ""
}

// selects says whether a ref selects a cluster, as far as the decisions go.
func (s *scene) selects(cluster string) bool {
	return slices.ContainsFunc(s.refs, func(r *seenRef) bool { _, ok := r.selected[cluster]; return ok })
}

// incomplete says why the decisions of a placement are, if they are.
func (s *scene) incomplete() string {
	for _, r := range s.refs {
		if r.incomplete != "" {
			return r.incomplete
		}
	}
	return ""
}

type seenGroup struct {
	index    int
	name     string
	clusters []string
	left     []string // that were in it
}

// seenWork is a work, with the version that it carries and when that was written.
type seenWork struct {
	*manifestWork
	version  string
	applied  time.Time
	heldBack bool      // the write of the version was
	answered time.Time // when its agent said first how it stands with the version; zero if it has not
	said     *Verdict  // about the version; nil without validation
}

// look makes a scene of the objects that get gets, as of a resourceVersion and a time: as the process of a reconcile knows it,
// or nil for the truth.
func (h *history) look(get func(id) object, rv int64, at time.Time, by *reconcile) *scene {
	s := &scene{works: map[string][]seenWork{}, freeze: h.freeze, allowlist: h.allowlist, named: h.named}
	all := map[string]*placement{}
	pds := map[string][]*placementDecision{}
	for i := range h.states {
		o := get(i)
		if o == nil {
			continue
		}
		switch o := o.(type) {
		case *placement:
			all[o.Name] = o
		case *placementDecision:
			of := o.Labels[clusterv1beta1.PlacementLabel]
			pds[of] = append(pds[of], o)
		case *replicaSet:
			s.set = o
		case *manifestWork:
			v := versionIn(o)
			applied, heldBack := h.appliedAt(i, o, v)
			s.works[o.Namespace] = append(s.works[o.Namespace], seenWork{o, v, applied, heldBack, h.answeredAt(i, o, v), h.saidOf(o, v)})
		}
	}
	if s.set == nil {
		return s
	}
	s.replicas = replicasIn(s.set)
	if h.revisions != nil {
		r := h.revisions(s.set)
		s.revising = &r
	}
	taken := map[string]bool{}
	for _, ref := range s.set.Spec.PlacementRefs {
		r := &seenRef{name: ref.Name, strategy: ref.RolloutStrategy, placement: all[ref.Name], groupOf: map[string]int{}, selected: map[string]int{}}
		r.divide(pds[ref.Name], taken)
		for c := range r.groupOf {
			taken[c] = true
		}
		s.refs = append(s.refs, r)
	}
	if h.left != nil {
		h.left.look(s, rv, at, by)
	}
	n, _ := slices.BinarySearchFunc(h.stays, rv, func(d dated, rv int64) int { return cmp.Compare(d.rv, rv+1) })
	s.stays = h.stays[:n]
	return s
}

// appliedAt returns when the write was sent that gave a work its version, and whether the network held it back.
func (h *history) appliedAt(i id, work *manifestWork, version string) (at time.Time, heldBack bool) {
	var first event
	for _, e := range h.states[i] {
		if e.rv > versionOf(work) {
			break
		}
		if e.gone || versionIn(e.object.(*manifestWork)) != version {
			first = event{}
		} else if first.rv == 0 {
			first = e
		}
	}
	w := h.written[first.rv]
	switch heldBack = w != nil && w.delayed; {
	case w != nil && h.planned:
		return h.reconciles[w.reconcile].read, heldBack
	case w != nil && !(heldBack && h.arrival):
		return w.sent, heldBack
	default:
		return first.at, heldBack
	}
}

// answeredAt returns when an agent first said how it stands with the version that a work carries, up to that state of the work.
func (h *history) answeredAt(i id, work *manifestWork, version string) (at time.Time) {
	for _, e := range h.states[i] {
		if e.rv > versionOf(work) {
			break
		}
		o := e.object.(*manifestWork)
		c := meta.FindStatusCondition(o.Status.Conditions, workv1.WorkProgressing)
		switch {
		case e.gone || versionIn(o) != version:
			at = time.Time{}
		case at.IsZero() && c != nil && c.ObservedGeneration == o.Generation:
			at = e.at
		}
	}
	return at
}

// size is the placement's clusters per group, 0 if there is no limit.
func (s *seenRef) size() int {
	if s.placement == nil {
		return 0
	}
	if n := s.placement.Spec.DecisionStrategy.GroupStrategy.ClustersPerDecisionGroup; n.Type == intstr.Int {
		return n.IntValue()
	}
	return 0
}
