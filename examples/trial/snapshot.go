// SPDX-License-Identifier: Apache-2.0

package trial

import (
	"sync"
	"time"

	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"
)

// checker judges a trial by what the API server showed of it. It does not use the library, but for how many clusters may be exposed.
type checker struct {
	*history
	delivery         *Delivery
	trial            *trial
	removeAfter      time.Duration
	ignoreAnnotation string               // the annotation in which an operator names ignored clusters
	deleted          map[string]time.Time // clusters that were deleted
	gone             map[string]time.Time // deselected clusters with a deleted ManagedCluster, of which no annotation tells
	exempt           map[string]bool      // clusters that a person deselected or deleted, ever
	switched         span                 // while nothing happens after the objects became those of another controller

	readings       *readings
	switchedPartly bool // it had given the next version to some of its objects

	decided []decided // lazily: what decisions said when they were complete, in their order
}

// snapshot is the world at one time.
type snapshot struct {
	j               *checker
	rv              int64
	owner           object
	version         string // that is wanted
	strategy        clusterv1alpha1.RolloutStrategy
	ref             *seenRef
	observed        map[string]observed // by cluster
	ghosts          map[string]observed // what lasts of objects that are gone, by cluster
	doubtful        []string            // clusters without objects, of which a failure may last
	ignoredClusters map[string]bool
}

// knownTo is the world as the process of a reconcile has to know it, before a write that it sent at a time.
func (j *checker) knownTo(r *reconcile, rv int64, sent time.Time) *snapshot {
	return j.snapshot(rv, j.seen(j.floor(r, rv, sent, false)))
}

// truthAt is the world as the API server had it, and present as it has it.
func (j *checker) truthAt(rv int64) *snapshot {
	return j.snapshot(rv, func(i id) object { return j.at(i, rv) })
}

func (j *checker) present() *snapshot { return j.truthAt(1 << 62) }

// read reads what an object says of its cluster.
func (j *checker) read(o object) observed { return j.judged(j.raw(o), o) }

func (j *checker) judged(h observed, o object) observed {
	if h.started && h.answer == does && j.delivery.validates != nil && j.delivery.validates(j.trial) {
		good, at := j.delivery.verdict(o)
		if !good {
			h.answer, h.success = awaited, h.at
		} else if at.After(h.at) {
			h.at = at
		}
	}
	switch isPatient := j.delivery.patient != nil && j.delivery.patient(j.trial); {
	case h.answer == doesNot && isPatient:
		h.answer = awaited // until the deadline
	case h.unfit && h.started && !isPatient:
		h.answer = doesNot // at once
	}
	return h
}

// raw reads an object as its delivery does, once.
func (j *checker) raw(o object) observed { return j.readings.of(o, j.delivery.read) }

// readings are what was read from objects, which never change.
type readings struct {
	mu  sync.Mutex
	all map[object]observed
}

func (r *readings) of(o object, read func(object) observed) observed {
	if r == nil {
		return read(o)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	h, known := r.all[o]
	if !known {
		h = read(o)
		r.all[o] = h
	}
	return h
}

// readAt does so with an object's state of a time, which may have been edited by hand and set back since it got its version.
func (j *checker) readAt(i id, rv int64, o object) observed {
	h := j.raw(o)
	if h.answer != awaited || j.delivery.reread == nil {
		return j.judged(h, o)
	}
	var since []object
	for _, e := range j.states[i] {
		if e.rv > rv {
			break
		}
		if e.gone {
			since = nil
		} else if n := len(since); n > 0 && since[n-1].GetGeneration() == e.object.GetGeneration() {
			since[n-1] = e.object
		} else {
			since = append(since, e.object)
		}
	}
	if len(since) > 1 {
		h = j.delivery.reread(since)
	}
	return j.judged(h, o)
}

// snapshot is nil where there is no owner yet.
func (j *checker) snapshot(rv int64, get func(id) object) *snapshot {
	s := &snapshot{j: j, rv: rv, observed: map[string]observed{}, ghosts: map[string]observed{}}
	var placed *placement
	var decisions []*placementDecision
	for i := range j.states {
		o := get(i)
		if o == nil {
			continue
		}
		switch p := o.(type) {
		case *placement:
			placed = p
			continue
		case *placementDecision:
			decisions = append(decisions, p)
			continue
		}
		switch {
		case i.kind == j.delivery.owner && j.delivery.isOwner(o):
			s.owner = o
		case i.kind == j.delivery.object:
			h := j.readAt(i, versionOf(o), o)
			h.applied = j.since(i, versionOf(o), h)
			s.observed[o.GetNamespace()] = h
		}
	}
	if s.owner == nil {
		return nil
	}
	s.version, s.strategy = j.delivery.wanted(s.owner)
	s.ignoredClusters = ignoredClusters(s.owner, j.ignoreAnnotation)
	s.ref = &seenRef{name: placementName, strategy: s.strategy, placement: placed, groupOf: map[string]int{}, selected: map[string]int{}}
	s.ref.divide(decisions, map[string]bool{})
	s.ignoreUnregistered()
	config := s.ref.config()
	for i := range j.states {
		if i.kind != j.delivery.object {
			continue
		}
		if h, cluster, surely, lasts := j.ghost(i, s.version, config, rv); surely {
			s.ghosts[cluster] = h
		} else if lasts {
			s.doubtful = append(s.doubtful, cluster)
		}
	}
	return s
}

// ignoreUnregistered ignores the deselected clusters without a ManagedCluster, where the controller reads these: a process may know that before its
// caches show anything else of it.
func (s *snapshot) ignoreUnregistered() {
	if !s.j.delivery.unregisters {
		return
	}
	for _, e := range s.j.managed {
		if cluster := e.object.GetName(); e.gone && !s.isSelected(cluster) && (s.rv == 1<<62 || !s.j.timeOf(s.rv).Before(e.at)) {
			s.ignoredClusters[cluster] = true
		}
	}
}

// since is when the write was sent that gave an object what it has.
func (j *checker) since(i id, rv int64, h observed) time.Time {
	var first, edited event
	content := ""
	for _, e := range j.states[i] {
		if e.rv > rv {
			break
		}
		if e.gone {
			first, edited, content = event{}, event{}, ""
			continue
		}
		was := j.read(e.object)
		byHand := content != "" && was.content != content && j.written[e.rv] == nil
		content = was.content
		switch {
		case was.version != h.version || was.started != h.started:
			first, edited = event{}, event{}
		case byHand:
			edited = e
		case edited.rv > 0 && j.written[e.rv] != nil && e.object.GetGeneration() > edited.object.GetGeneration(): // it is set back
			first, edited = e, event{}
		case first.rv == 0:
			first = e
		}
	}
	if w := j.written[first.rv]; w != nil {
		return w.sent
	}
	return first.at
}

// ghost is what lasts of an object that is gone, where its cluster had the version: a failure that a process knew of, and a
// start without an answer, if nothing kept the object when it was deleted. A cluster that was deleted leaves nothing. Where a process
// may have seen a failure as well as none, it may last.
func (j *checker) ghost(i id, version string, config clusterv1alpha1.RolloutConfig, rv int64) (_ observed, cluster string, surely, may bool) {
	var last, end event // the last state with the version, and when it was gone
	for _, e := range j.states[i] {
		if e.rv > rv {
			break
		}
		h := j.read(e.object)
		switch {
		case e.gone && last.rv > 0 && end.rv == 0:
			end = e
		case !e.gone && h.version == version && h.started:
			last, end = e, event{}
		case !e.gone && end.rv == 0:
			last = event{} // it has something else now
		}
	}
	if end.rv == 0 || j.delivery.isOwner(end.object) {
		return observed{}, "", false, false
	}
	cluster = end.object.GetNamespace()
	if at := j.deleted[cluster]; !at.IsZero() && at.Before(end.at) {
		return observed{}, "", false, false
	}
	w := j.deletion(i, end.at)
	if w == nil {
		return observed{}, "", false, false
	}
	by := j.reconciles[w.reconcile]
	h, known := j.knownHeld(by, i, end.rv, version)
	if known {
		if seat := seatOf(h, config, by.read, leniency{}); seat.failed || h.answer == awaited && !h.finalizer {
			return h, cluster, true, true
		}
	}
	for _, r := range j.reconciles {
		if !r.began.After(w.sent) || r.ended.IsZero() {
			continue
		}
		h, known := j.knownHeld(r, i, end.rv, version)
		if known && r.err == nil && r.ended.Before(end.at) && seatOf(h, config, r.read, leniency{}).failed {
			return h, cluster, true, true
		}
		may = may || known && seatOf(h, config, r.ended, leniency{}).at == failed
	}
	return observed{}, cluster, false, may
}

// knownHeld is what a reconcile knew of an object that has a version.
func (j *checker) knownHeld(r *reconcile, i id, rv int64, version string) (observed, bool) {
	at, ok := j.floor(r, rv, r.ended, false)[i]
	if !ok {
		return observed{}, false
	}
	o := j.at(i, at)
	if o == nil {
		return observed{}, false
	}
	h := j.readAt(i, at, o)
	h.applied = j.since(i, at, h)
	h.dying = false
	return h, h.version == version && h.started
}

// deletion is the controller's write that deleted an object which is gone at a time.
func (j *checker) deletion(i id, gone time.Time) (last *write) {
	for n := range j.writes {
		if w := &j.writes[n]; w.kind == i.kind && w.key == i.key && w.verb == "DELETE" && w.done && !w.sent.After(gone) {
			last = w
		}
	}
	return last
}

// seat is how a cluster stands with the wanted version.
type seat struct {
	at     standing
	failed bool // beyond doubt
	holds  bool // a slot, beyond doubt
	out    bool // ignored: it neither counts nor blocks
}

func (s *snapshot) stands(cluster string, now time.Time, l leniency) seat {
	if s.ignoredClusters[cluster] {
		return seat{at: succeeded, out: true}
	}
	if h, ok := s.observed[cluster]; ok && h.version == s.version && h.started {
		if h.answer == awaited && !s.isSelected(cluster) && s.stillFailed(cluster) {
			h.answer = doesNot
		}
		return seatOf(h, s.ref.config(), now, l)
	}
	if h, ok := s.observed[cluster]; ok && h.version == s.version && h.answer == does && !h.dying && s.isSelected(cluster) {
		return seat{at: waiting} // it is back, and complies without being enforced
	}
	if h, ok := s.ghosts[cluster]; ok {
		at := seatOf(h, s.ref.config(), now, l)
		if deadline, _ := time.ParseDuration(s.ref.config().ProgressDeadline); at.failed && deadline > 0 {
			at.holds = false // it would be over in time
		}
		return at
	}
	return seat{at: waiting}
}

// seatOf reads times in favour of a start.
func seatOf(h observed, config clusterv1alpha1.RolloutConfig, now time.Time, l leniency) seat {
	from := h.applied
	if h.answer != awaited && h.at.After(from) {
		from = h.at
	} else if h.success.After(from) {
		from = h.success
	}
	if h.answer == does {
		if soak := config.MinSuccessTime.Duration; soak > 0 && now.Add(grace).Before(from.Add(soak)) && !l.noSoak {
			return seat{at: soaking, holds: true}
		}
		return seat{at: succeeded}
	}
	isFailed := h.answer == doesNot
	deadline, _ := time.ParseDuration(config.ProgressDeadline)
	passed := func(g time.Duration) bool { return deadline > 0 && !now.Add(g).Before(from.Add(deadline)) }
	switch {
	case passed(grace):
		return seat{at: failed, failed: isFailed || passed(-grace)}
	case isFailed:
		return seat{at: failed, failed: true, holds: true}
	default:
		return seat{at: inFlight, holds: true}
	}
}

// isSelected says whether the decisions have a cluster.
func (s *snapshot) isSelected(cluster string) bool { _, ok := s.ref.selected[cluster]; return ok }

// isGhost says whether something lasts of an object of the cluster that is gone.
func (s *snapshot) isGhost(cluster string) bool { _, is := s.ghosts[cluster]; return is }
