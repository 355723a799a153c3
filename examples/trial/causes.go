// SPDX-License-Identifier: Apache-2.0

package trial

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// cause says why a controller may have made a start that breaks an invariant: what it would have had to know or to do, so that it had not. It
// is empty where nothing is found.
func (h *history) cause(i Invariant, e event, version string, w *write) string {
	r, cluster := h.reconciles[w.reconcile], e.object.GetNamespace()
	breaks := func(view map[id]int64) bool {
		return slices.ContainsFunc(h.look(h.seen(view), e.rv, r.read, r).forbids(cluster, version, w.sent, leniency{}), func(v violation) bool { return v.invariant == i || i == invLeavers || i == invSoak || i == invDeadline })
	}
	if w.generated && i == invOnce {
		return fmt.Sprintf("the name of %s was left to the API server, so that a creation that lost its answer is made again under another name", e.id.key)
	}
	if !breaks(r.view) {
		if own := h.unseenWrite(r, w, e.rv, func(view map[id]int64) bool { return i == invOnce || breaks(view) }); own != "" {
			return own
		}
	}
	if i == invOnce {
		return ""
	}
	h.planned = true
	byPlan := !breaks(h.floor(r, e.rv, w.sent, h.revisions == nil))
	h.planned = false
	if byPlan {
		return h.whenPlanned(r, w)
	}
	if i == invLeavers || i == invExposed || i == invBudget || i == invMandatory {
		s := h.known(r, e.rv, w.sent)
		for _, c := range slices.Sorted(maps.Keys(s.failed)) {
			if _, left := s.left[c]; left && len(s.works[c]) == 0 {
				return h.recordOf(c, e.rv)
			}
		}
	}
	return ""
}

// unseenWrite names the last write that the caches did not show when a reconcile began, and with which the start would have been forbidden.
func (h *history) unseenWrite(r *reconcile, by *write, rv int64, forbids func(map[id]int64) bool) string {
	for n := range slices.Backward(h.writes) {
		o := &h.writes[n]
		of := id{o.kind, o.key}
		if o == by || !o.done || o.rv == 0 || o.rv >= rv || o.rv <= r.view[of] || o.kind != Works || !h.knows(r, o) || !o.sent.Before(r.began) {
			continue
		}
		view := maps.Clone(r.view)
		view[of] = o.rv
		if !forbids(view) {
			continue
		}
		switch {
		case o.life != r.life:
			return fmt.Sprintf("planned without the write of the process before of %s (%s), which its caches did not show: it did not ask the API server when it began", clock(o.sent), o.name())
		case o.lost:
			return fmt.Sprintf("planned without its own write of %s (%s), that lost its answer", clock(o.sent), o.name())
		default:
			return fmt.Sprintf("planned without its own write of %s (%s), which its caches did not show", clock(o.sent), o.name())
		}
	}
	return ""
}

// whenPlanned says which write counts from when it was planned.
func (h *history) whenPlanned(r *reconcile, w *write) string {
	text := "a time counts from the plan, and not from the write"
	var longest time.Duration
	for i := range h.writes {
		o := &h.writes[i]
		if o.kind != Works || !o.done || o.sent.After(w.sent) || o.reconcile == w.reconcile || o.verb == "DELETE" {
			continue
		}
		if took := o.sent.Sub(h.reconciles[o.reconcile].read); took > longest {
			longest = took
			text = fmt.Sprintf("a time counts from the plan, and not from the write: %s was planned at %s and written at %s", o.name(), clock(h.reconciles[o.reconcile].read), clock(o.sent))
		}
	}
	return text
}

// recordOf says whether the owner tells of a cluster that left, as of a resourceVersion.
func (h *history) recordOf(cluster string, rv int64) string {
	if h.records(cluster, rv) {
		return fmt.Sprintf("an annotation of the owner names %s, which left: the plan was made without that record", cluster)
	}
	return fmt.Sprintf("no annotation of the owner names %s, which was not done and left: no record of it was stored", cluster)
}

// records says whether some annotation of the owner names a cluster, besides that of ignored clusters.
func (h *history) records(cluster string, rv int64) bool {
	for _, e := range slices.Backward(h.events) {
		if e.id.kind != ReplicaSets || e.rv > rv || e.gone {
			continue
		}
		for key, value := range e.object.GetAnnotations() {
			if strings.Contains(value, cluster) && (h.left == nil || key != h.left.annotation) {
				return true
			}
		}
		return false
	}
	return false
}

// quietSince says of something that has been waiting which look was the last, if no other came for long.
func (h *history) quietSince(at time.Time, patience time.Duration) string {
	var last *reconcile
	for _, r := range h.reconciles {
		if !r.ended.IsZero() && !r.ended.After(at) {
			last = r
		}
	}
	if last == nil || at.Sub(last.ended) < patience || last.after > 0 && last.ended.Add(last.after).After(at) {
		return ""
	}
	return fmt.Sprintf("; %s: no process came back after RecheckAfter", last.ending())
}

// whyStays says of a deselected cluster with a work why no process may have removed it.
func (h *history) whyStays(cluster string, f finding, longest time.Duration) string {
	s := h.truth(f.rv)
	if clusters, _ := s.notDone(f.at, leniency{}); slices.Contains(clusters, cluster) && !h.records(cluster, f.rv) {
		return "; " + h.recordOf(cluster, f.rv)
	}
	if quiet := h.quietSince(f.at, longest); quiet != "" {
		return quiet
	}
	looks, life := 0, 0
	for _, r := range h.reconciles {
		if r.began.After(f.at.Add(-longest)) && r.began.Before(f.at) {
			if looks++; life != 0 && life != r.life {
				return ""
			}
			life = r.life
		}
	}
	if looks == 0 {
		return ""
	}
	return fmt.Sprintf("; process %d looked %d times meanwhile and did not remove it: its time counts anew with each look that does not get the result before (Previous)", life, looks)
}
