// SPDX-License-Identifier: Apache-2.0

package trial

import (
	"fmt"
	"iter"
	"slices"
	"time"

	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"
)

// check replays the history and returns what was broken. The caches are late by worst at most, and a cluster loses its
// work when it has been out of the decisions for as long as removeAfter.
func (h *history) check(worst, removeAfter time.Duration) []violation {
	var broken []violation
	for _, e := range h.events {
		if e.id.kind != Works {
			continue
		}
		now, _ := h.at(e.id, e.rv).(*manifestWork)
		before, _ := h.at(e.id, e.rv-1).(*manifestWork)
		switch {
		case now == nil && before != nil && before.DeletionTimestamp == nil, now != nil && before != nil && now.DeletionTimestamp != nil && before.DeletionTimestamp == nil:
			broken = append(broken, h.checkDelete(e, removeAfter-worst-500*time.Millisecond)...)
		case now != nil && now.DeletionTimestamp == nil:
			version := versionIn(now)
			if before == nil || versionIn(before) != version {
				broken = append(broken, h.checkStart(e, version, before == nil)...)
			}
		}
	}
	return broken
}

// checkStart judges a start. If the network held a write back, its cluster has the version since it was sent, or since it
// came. Where both may be, a start has to be wrong by both.
func (h *history) checkStart(e event, version string, created bool) []violation {
	broken := h.judgeStart(e, version, created)
	if len(broken) == 0 || !slices.ContainsFunc(h.writes, func(w write) bool { return w.delayed }) {
		return broken
	}
	h.arrival = true
	defer func() { h.arrival = false }()
	other := h.judgeStart(e, version, created)
	return slices.DeleteFunc(broken, func(v violation) bool {
		return !slices.ContainsFunc(other, func(o violation) bool { return o.invariant == v.invariant })
	})
}

// judgeStart judges the write that gives a cluster a version. It breaks an invariant if it does so in the world as
// the API server had it and also in the world as the controller had to know it.
func (h *history) judgeStart(e event, version string, created bool) []violation {
	w := h.written[e.rv]
	if w == nil {
		return []violation{{invariant: invLeft, rv: e.rv, text: e.id.String() + " was written by a stranger"}}
	}
	cluster := e.object.GetNamespace()
	known, truth := h.known(h.reconciles[w.reconcile], e.rv, w.sent), h.truth(e.rv-1)
	var broken []violation
	blind := truth.forbids(cluster, version, w.sent, leniency{})
	if !h.arrival {
		h.countBlind(blind)
		if len(blind) == 0 && len(truth.forbids(cluster, version, w.sent, leniency{fromAnswer: true})) > 0 {
			h.earlySoaks++
		}
	}
	forbidden := func(l leniency) []violation {
		// A list of writes takes time, in which a deadline may pass that the plan could not foresee.
		return inAll(known.forbids(cluster, version, w.sent, l), known.forbids(cluster, version, h.reconciles[w.reconcile].read, l), truth.forbids(cluster, version, w.sent, l))
	}
	for _, v := range forbidden(leniency{}) {
		text := fmt.Sprintf("%s got version %s in reconcile %d: %s", cluster, version, w.reconcile, v.text)
		switch v.invariant {
		case invMandatory, invOrder, invConcurrency, invBudget:
			// Deselected clusters, or what takes time, may be all that forbade it.
			if len(forbidden(leniency{noLeft: true})) == 0 {
				v.invariant = invLeavers
			} else if len(forbidden(leniency{noSoak: true})) == 0 {
				v.invariant = invSoak
			} else if len(forbidden(leniency{noDeadline: true})) == 0 {
				v.invariant = invDeadline
			}
		}
		if cause := h.cause(v.invariant, e, version, w); cause != "" {
			text += ": " + cause
		}
		broken = append(broken, violation{invariant: v.invariant, rv: e.rv, text: text})
	}
	goesBack := known.goesBackTo(version)
	for i := range h.writes {
		if o := &h.writes[i]; !goesBack && o.kind == Works && o.done && o.rv > 0 && o.rv < e.rv && o.life != w.life && h.knows(h.reconciles[w.reconcile], o) {
			newer, _ := h.at(id{Works, o.key}, o.rv).(*manifestWork)
			if newer != nil && (numberOf(version) < numberOf(versionIn(newer)) || newer.Namespace == cluster && isOlder(version, versionIn(newer))) {
				broken = append(broken, violation{invariant: invVersion, rv: e.rv, text: fmt.Sprintf("%s got version %s, and the process before had replaced it at %d", cluster, version, o.rv)})
				break
			}
		}
	}
	if set, _ := h.at(id{ReplicaSets, h.setKey()}, w.setShown).(*replicaSet); set != nil {
		v := wantedFor(set, cluster)
		if isOlder(version, v) && !(goesBack && v == known.revising.Update) { // a later one than the caches show was read elsewhere
			broken = append(broken, violation{invariant: invVersion, rv: e.rv, text: fmt.Sprintf("%s got version %s when the caches showed %s", cluster, version, v)})
		}
	}
	if created && has(truth, cluster) && has(known, cluster) {
		text := fmt.Sprintf("%s got a second work %s in reconcile %d", cluster, e.id.key, w.reconcile)
		if cause := h.cause(invOnce, e, version, w); cause != "" {
			text += ": " + cause
		}
		broken = append(broken, violation{invariant: invOnce, rv: e.rv, text: text})
	}
	return broken
}

// inAll gives what a start breaks in the known world when it was sent, if the plan broke the same in it, and in truth. Where a
// process knew the decisions to be partially observed, it could plan nothing, and it counts whatever is broken in truth.
func inAll(known, planned, truth []violation) []violation {
	breaks := func(all []violation, i Invariant) bool {
		return slices.ContainsFunc(all, func(v violation) bool { return v.invariant == i })
	}
	return slices.DeleteFunc(known, func(v violation) bool {
		return !breaks(planned, v.invariant) || !breaks(truth, v.invariant) && (v.invariant != invComplete || len(truth) == 0)
	})
}

func (h *history) setKey() string {
	for i := range h.states {
		if i.kind == ReplicaSets {
			return i.key
		}
	}
	return ""
}

// countBlind counts what the truth says against a start.
func (h *history) countBlind(blind []violation) {
	for _, v := range blind {
		h.blind[v.invariant]++
		if v.invariant == invExposed {
			h.mostExposed = max(h.mostExposed, over(v.inFlight, v.allowed))
		} else {
			h.most = max(h.most, over(v.inFlight, v.allowed))
		}
	}
	if len(blind) > 0 {
		h.blindStarts++
	}
}

// over is how many times of what is allowed are in flight.
func over(inFlight, allowed int) float64 {
	if allowed == 0 {
		return 0
	}
	return float64(inFlight) / float64(allowed)
}

// numberOf is the number of a version, 0 if it has none.
func numberOf(version string) (n int) {
	fmt.Sscanf(version, "v%d", &n)
	return max(0, n)
}

// has says whether a cluster has a work that isn't being deleted.
func has(s *scene, cluster string) bool {
	return slices.ContainsFunc(s.works[cluster], func(w seenWork) bool { return w.DeletionTimestamp == nil })
}

// checkDelete judges a deletion. The cluster counts as selected while decisions are being rewritten if it was
// before and is afterwards, and also if it was in no decision only for so short that the controller could see it.
func (h *history) checkDelete(e event, atLeast time.Duration) []violation {
	var w *write
	for i := range h.writes {
		if c := &h.writes[i]; c.kind == Works && c.verb == "DELETE" && c.key == e.id.key && c.done && !c.sent.After(e.at) {
			w = c
		}
	}
	if h.left != nil && !h.left.deleted[e.object.GetNamespace()].IsZero() {
		return nil // by a person, perhaps
	}
	if w == nil {
		return []violation{{invariant: invKept, rv: e.rv, text: e.id.String() + " was deleted by a stranger"}}
	}
	cluster := e.object.GetNamespace()
	known, truth := h.known(h.reconciles[w.reconcile], e.rv, w.sent), h.truth(e.rv-1)
	read := h.reconciles[w.reconcile].read
	seen := min(e.rv, h.rvAt(read)) // it may have come back since
	atLeast -= w.sent.Sub(read)     // and it looked at its clock in between
	if away := h.away(seen, cluster, h.reconciles[w.reconcile]); away > 0 && away < atLeast && len(truth.works[cluster]) == 1 {
		return []violation{{invariant: invKept, rv: e.rv, text: fmt.Sprintf("%s lost %s, because it was in no decision for %v", cluster, e.id.key, away)}}
	}
	if known.incomplete() == "" && !known.selects(cluster) {
		return nil
	}
	if others := truth.works[cluster]; len(others) > 1 {
		return nil // of two, one has to go
	}
	selected := truth.selects(cluster)
	if truth.incomplete() != "" {
		selected = h.nearest(e.rv, cluster, -1) && h.nearest(e.rv, cluster, 1)
	}
	if !selected {
		return nil
	}
	why := known.incomplete()
	if why == "" {
		why = "it knew that it is selected"
	}
	return []violation{{invariant: invKept, rv: e.rv, text: fmt.Sprintf("%s lost %s in reconcile %d: %s", cluster, e.id.key, w.reconcile, why)}}
}

// away returns for how long a cluster was in no decision, the last time before its work was deleted: 0 if it always was in
// one, or never came back. To the process that deleted the work it was away until its caches showed that it was back.
func (h *history) away(rv int64, cluster string, by *reconcile) time.Duration {
	was, away := false, time.Duration(0)
	var left time.Time
	for _, e := range h.events {
		if e.id.kind != Decisions {
			continue
		}
		is := h.truth(e.rv).selects(cluster)
		switch {
		case was && !is && e.rv < rv:
			left, away = e.at, 0
		case !was && is && !left.IsZero():
			back := e.at
			if by.view[e.id] < e.rv {
				back = later(back, by.read)
			}
			left, away = time.Time{}, back.Sub(left)
		}
		if was = is; e.rv > rv && left.IsZero() {
			break
		}
	}
	return away
}

// nearest says whether a cluster is selected in the last complete decisions before, or the first after.
func (h *history) nearest(rv int64, cluster string, direction int) bool {
	events := slices.Clone(h.events)
	if direction < 0 {
		slices.Reverse(events)
	}
	for _, e := range events {
		if e.id.kind != Placements && e.id.kind != Decisions || (e.rv-rv)*int64(direction) < 0 {
			continue
		}
		if s := h.truth(e.rv); s.incomplete() == "" {
			return s.selects(cluster)
		}
	}
	return false
}

// checkWaits finds clusters that could have started all the time for longer than it may take, while no other did: one that starts
// takes the place of those behind.
func (h *history) checkWaits(patience time.Duration) (broken []violation) {
	var starts []time.Time
	for _, e := range h.events {
		if now, is := e.object.(*manifestWork); is && !e.gone && now.DeletionTimestamp == nil {
			if before, _ := h.at(e.id, e.rv-1).(*manifestWork); before == nil || versionIn(before) != versionIn(now) {
				starts = append(starts, e.at)
			}
		}
	}
	for _, f := range h.lasting(patience, func(s *scene, now time.Time) []string {
		_, could := s.waits(now, leniency{everywhere: true, absent: h.absent})
		for i := range could {
			could[i] = fmt.Sprintf("%s (after %d starts)", could[i], until(now, starts))
		}
		return could
	}) {
		broken = append(broken, violation{invariant: invLate, rv: f.rv, text: fmt.Sprintf("%s could have started for %v%s", f.what, patience, h.quietSince(f.at, patience/2))})
	}
	return broken
}

// until counts the times that are not after a time.
func until(now time.Time, times []time.Time) (n int) {
	for _, at := range times {
		if !at.After(now) {
			n++
		}
	}
	return n
}

// A finding is what lasted for too long by a time.
type finding struct {
	what string
	rv   int64
	at   time.Time
}

// lasting finds what is so all the time for longer than a time. It is said once. It looks at each event, and between events
// now and then.
func (h *history) lasting(longest time.Duration, which func(s *scene, now time.Time) []string) (found []finding) {
	since := map[string]time.Time{}
	said := map[string]bool{}
	look := func(rv int64, now time.Time) {
		is := which(h.truth(rv), now)
		for what := range since {
			if !slices.Contains(is, what) {
				delete(since, what)
			}
		}
		for _, what := range is {
			if since[what].IsZero() {
				since[what] = now
			}
			if now.Sub(acts(since[what], now, h.absent)) > longest && !said[what] {
				said[what] = true
				found = append(found, finding{what, rv, now})
			}
		}
	}
	tick := max(500*time.Millisecond, h.until.Sub(h.events[0].at)/1000)
	for n, e := range h.events {
		end := h.until
		if n+1 < len(h.events) {
			end = h.events[n+1].at
		}
		for now := e.at; ; now = now.Add(tick) {
			look(e.rv, now)
			if !now.Add(tick).Before(end) {
				break
			}
		}
	}
	return found
}

// waits returns the clusters that wait: for one of the others, and for nothing.
func (s *scene) waits(now time.Time, l leniency) (wait, could []string) {
	for cluster, ref := range s.selected() {
		if slices.ContainsFunc(s.works[cluster], func(w seenWork) bool { return w.DeletionTimestamp != nil }) {
			wait = append(wait, cluster)
			continue
		}
		version, config := s.wanted(cluster), ref.config()
		if at, _, _ := s.stands(cluster, version, config, now.Add(-grace), l); at != waiting {
			continue
		}
		if len(s.forbids(cluster, version, now.Add(-grace), l)) == 0 {
			could = append(could, cluster)
		} else {
			wait = append(wait, cluster)
		}
	}
	return wait, could
}

// selected goes through the clusters with their refs, up to the first ref that is incomplete.
func (s *scene) selected() iter.Seq2[string, *seenRef] {
	return func(yield func(string, *seenRef) bool) {
		for _, ref := range s.refs {
			if ref.incomplete != "" {
				return
			}
			for cluster := range ref.groupOf {
				if !yield(cluster, ref) {
					return
				}
			}
		}
	}
}

// wanted is the version that is wanted of a cluster.
func (s *scene) wanted(cluster string) string {
	if s.revising != nil {
		return s.revising.target()
	}
	return withReplicas(wantedBy(s.set), s.replicas[cluster])
}

// config is the configuration of the strategy as it counts.
func (s *seenRef) config() clusterv1alpha1.RolloutConfig {
	settings, _, _, _ := parts(&s.strategy)
	config := *settings
	if s.strategy.Type == clusterv1alpha1.All || s.strategy.Type == "" {
		config.MinSuccessTime.Duration = 0
	}
	return config
}
