// SPDX-License-Identifier: Apache-2.0

package trial

import (
	"slices"
	"strings"
	"time"

	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"
)

// keepFailures finds the failures of clusters that left, which count also when their objects are gone.
func (h *history) keepFailures(patience time.Duration) {
	var all []goneFailure
	note := func(s *scene, cluster string, from time.Time, surely bool) {
		f := goneFailure{cluster: cluster, version: s.wanted(cluster), from: from, surely: surely}
		if !slices.ContainsFunc(all, func(o goneFailure) bool {
			return o.cluster == cluster && o.version == f.version && o.surely == surely && (o.until.IsZero() || from.Before(o.until))
		}) {
			f.until = h.recovers(f, patience)
			if at := h.replaced(f); surely && !at.IsZero() && (f.until.IsZero() || at.Before(f.until)) {
				f.until = at
			}
			all = append(all, f)
		}
	}
	for _, w := range h.writes {
		if cluster, _, _ := strings.Cut(w.key, "/"); w.kind == Works && w.verb == "DELETE" && w.done {
			r := h.reconciles[w.reconcile]
			if known := h.known(r, h.rvAt(w.sent), w.sent); slices.Contains(known.failures(r.read, leniency{}), cluster) {
				note(known, cluster, w.sent, true)
			}
		}
	}
	for _, e := range h.events {
		s := h.truth(e.rv)
		for _, c := range s.failures(e.at, leniency{everywhere: true}) {
			note(s, c, e.at, false)
		}
	}
	for _, longest := range []time.Duration{0, patience} {
		for _, f := range h.lasting(longest, func(s *scene, now time.Time) []string { return s.failures(now, leniency{everywhere: longest == 0}) }) {
			note(h.truth(f.rv), f.what, f.at, longest > 0)
		}
	}
	h.left.failures = all
}

// failures lists the clusters that were deselected, or have works in deletion, and failed.
func (s *scene) failures(now time.Time, l leniency) (clusters []string) {
	for c, works := range s.works {
		at, left := s.left[c]
		if !left && !slices.ContainsFunc(works, func(w seenWork) bool { return w.DeletionTimestamp != nil }) {
			continue
		}
		if goesBack := s.revising != nil && s.revising.aborted(); goesBack && !l.everywhere && !slices.ContainsFunc(works, func(w seenWork) bool {
			return !w.applied.Before(s.revising.Aborted)
		}) {
			continue // what it failed with before the rollback began is nothing that is remembered on it
		}
		for _, r := range s.refs {
			_, selected := r.groupOf[c]
			if r.strategy.Type == clusterv1alpha1.All || !selected && r.name != at.ref && !l.everywhere { // after a restart it counts in each
				continue
			}
			if at, surely, _ := s.stands(c, s.wanted(c), r.config(), now, l); surely || l.everywhere && at == failed {
				clusters = append(clusters, c)
			}
		}
	}
	return clusters
}

// mayHaveFailed says of a cluster for which a process knows no object with a version whether it failed with it, and it is unknown whether the
// process saw that it recovered: an agent that comes back may say that all is well, and let go of its object at once, and a cache shows the last of both alone. A
// failure stays on record then, and holds up no later group; a success would have the cluster wait for its turn.
func (s *scene) mayHaveFailed(cluster, version string) bool {
	gone, has := s.failed[cluster]
	return s.known && has && gone.version == version && !slices.ContainsFunc(s.works[cluster], func(w seenWork) bool { return w.version == version })
}

// wantedOf is the version that a set wanted of a cluster.
func (h *history) wantedOf(set *replicaSet, cluster string) string {
	s := scene{set: set, replicas: replicasIn(set)}
	if h.revisions != nil {
		r := h.revisions(set)
		s.revising = &r
	}
	return s.wanted(cluster)
}

// replaced is when another version was wanted than the one that a cluster failed with; zero if none was. A record is of one version, so the failure
// does not count any more if this one is wanted again.
func (h *history) replaced(f goneFailure) (at time.Time) {
	for _, e := range h.states[id{ReplicaSets, h.setKey()}] {
		if set := e.object.(*replicaSet); e.at.After(f.from) && h.wantedOf(set, f.cluster) != f.version {
			return e.at
		}
	}
	return at
}

// recovers is when a cluster that failed succeeds, or gets its version anew. A controller may not see a success if the
// object goes soon.
func (h *history) recovers(f goneFailure, patience time.Duration) (at time.Time) {
	for _, e := range h.events {
		if e.id.kind != Works || e.object.GetNamespace() != f.cluster || !e.at.After(f.from) {
			continue
		}
		work, version := e.object.(*manifestWork), versionIn(e.object.(*manifestWork))
		before, _ := h.at(e.id, e.rv-1).(*manifestWork)
		switch stands, _, _ := stands(seenWork{manifestWork: work, version: version, applied: e.at}, clusterv1alpha1.RolloutConfig{}, e.at, leniency{}); {
		case e.gone && !f.surely && e.at.Sub(at) < patience:
			at = time.Time{}
		case e.gone:
		case before == nil && at.IsZero():
			return e.at
		case before == nil:
			return at
		case at.IsZero() && stands == succeeded && version == f.version:
			at = e.at
		}
	}
	return at
}
