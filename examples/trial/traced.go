// SPDX-License-Identifier: Apache-2.0

package trial

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cohort-ocm/cohort/examples/trial/judge"
)

// traceable says whether the judge that has only a trace knows all that counts in a world: no version is taken back, no user validates or freezes
// clusters, no cluster has a version of its own, and one process acts at a time.
func (w *world) traceable() bool {
	return w.back == nil && w.people == nil && !w.replicasDiffer && (w.replicas == 1 || w.elects)
}

// traceFigures are of the histories that were judged from their traces alone.
type traceFigures struct {
	rollouts, starts, suspicious int
	of                           map[judge.Kind]int
	lags                         []time.Duration // of all writes
}

// traced is how a history is judged from its trace.
type traced struct {
	o       outcome
	history *history
	options judge.Options // without the lag
	worst   time.Duration // by how much caches are late, and may have missed what was there for less
	lags    map[int64]lagging
	foreign func(*judge.Finding) bool // says whether others may have done it; may be nil
}

// add judges a rollout of a controller that is right, from its trace. Where each write may be as late as it was, nothing may be broken. A
// operator ignores clusters in an annotation, and what a person removed shows no writer.
func (f *traceFigures) add(t *testing.T, o *observation, subject *Subject) {
	if o.err != nil || !o.world.traceable() {
		return
	}
	t.Helper()
	var deleted map[string]time.Time
	if o.history.left != nil {
		deleted = o.history.left.deleted
	}
	f.judge(t, traced{o, o.history, judge.Options{Patience: o.world.patience() + o.history.absence(), RemoveAfter: subject.RemoveAfter, Began: o.history.beginnings(), IgnoreAnnotation: subject.IgnoreAnnotation}, o.world.worst,
		o.history.laggings(func(e event) bool { return e.id.kind == Works || e.id.kind == ReplicaSets }), func(x *judge.Finding) bool { return removedBy(deleted, x) }})
}

// beginnings are when each process began to act, which people read from the status of its Pod, and no trace tells.
func (h *history) beginnings() []time.Time {
	return slices.SortedFunc(maps.Values(h.began), time.Time.Compare)
}

// removedBy says whether a person may have done what a finding blames, by deleting a cluster.
func removedBy(deleted map[string]time.Time, x *judge.Finding) bool {
	return x.Kind == judge.Kept && !deleted[x.Cluster].IsZero()
}

// addTrial does so with a trial.
func (f *traceFigures) addTrial(t *testing.T, o *tried, subject *Subject) {
	j := o.checker
	if o.err != nil || j.delivery.validates != nil && j.delivery.validates(o.trial) || len(j.ofOthers()) > 0 {
		return // no trace tells which were found good, or which controller it was
	}
	t.Helper()
	f.judge(t, traced{o, j.history, judge.Options{Patience: j.patience() + unshownFor, RemoveAfter: subject.RemoveAfter, Began: j.beginnings(), IgnoreAnnotation: subject.IgnoreAnnotation}, o.trial.worst,
		j.laggings(func(e event) bool { return e.id.kind == j.delivery.object || e.id.kind == j.delivery.owner }), func(x *judge.Finding) bool { return removedBy(j.deleted, x) }})
}

// judge judges a history from its trace: once for each lag of which there are writes, and then these alone. What is no write is judged with
// the greatest.
func (f *traceFigures) judge(t *testing.T, traced traced) {
	t.Helper()
	world, _, _ := traced.o.told()
	recording, err := traced.history.recording()
	if err != nil {
		t.Errorf("the trace of %s: %v", world, err)
		return
	}
	most := allowedFor(traced.worst)
	lags := []time.Duration{most}
	for _, l := range traced.lags {
		f.lags = append(f.lags, l.objects)
		lags = append(lags, allowedFor(l.objects), allowedFor(l.plan))
	}
	slices.Sort(lags)
	lags = slices.Compact(lags)
	most = lags[len(lags)-1]
	for _, lag := range lags {
		options := traced.options
		options.Lag = lag
		report := judge.Judge(recording, options)
		if lag == most {
			f.rollouts, f.starts = f.rollouts+1, f.starts+report.Starts
		}
		for i := range report.Findings {
			if x := &report.Findings[i]; !x.Kind.OfDecisions() && (traced.foreign == nil || !traced.foreign(x)) && traced.allows(x, most) == lag {
				f.find(t, x, lag, traced.o)
			}
		}
	}
}

// allows is the lag with which a finding is judged: that of its write. Where time alone may have forbidden it, since the process looked at the
// clock, the plan counts; so it does where caches may have missed that a cluster came back for a moment.
func (traced *traced) allows(x *judge.Finding, most time.Duration) time.Duration {
	n := x.Line - 1 - headOfTrace
	if n < 0 || n >= len(traced.history.events) {
		return most
	}
	l, is := traced.lags[traced.history.events[n].rv]
	switch {
	case !is || x.Kind == judge.Stuck || x.Kind == judge.Left || x.Kind == judge.Status:
		return most
	case x.Kind == judge.Budget && len(x.Also) == 0 || x.Kind == judge.Kept:
		return allowedFor(max(l.objects, l.plan, traced.worst))
	default:
		return allowedFor(l.objects)
	}
}

// allowedFor rounds a lag up, so that there are few to judge with: to the double and the double of that, from a quarter of a second.
func allowedFor(lag time.Duration) time.Duration {
	allowed := 250 * time.Millisecond
	for lag+50*time.Millisecond > allowed {
		allowed *= 2
	}
	return allowed
}

func (f *traceFigures) find(t *testing.T, x *judge.Finding, lag time.Duration, o outcome) {
	t.Helper()
	if x.Grade == judge.Broken {
		world, _, _ := o.told()
		t.Errorf("from the trace, with a lag of %v: %s\n%s", lag, x, world)
		if *flagHistory {
			t.Log(historyOf(o))
		}
		return
	}
	if f.of == nil {
		f.of = map[judge.Kind]int{}
	}
	f.suspicious++
	f.of[x.Kind]++
}

func (f *traceFigures) String() string {
	if f.rollouts == 0 {
		return ""
	}
	slices.Sort(f.lags)
	var parts []string
	for _, percent := range []int{50, 90, 99, 100} {
		if len(f.lags) > 0 {
			parts = append(parts, fmt.Sprintf("%d%% at most %v", percent, f.lags[(len(f.lags)*percent+99)/100-1].Round(time.Millisecond)))
		}
	}
	return fmt.Sprintf("\nfrom the traces of %d rollouts: %d starts, none broken where each write may be as far behind as it was (%s), %d suspicious: %v",
		f.rollouts, f.starts, strings.Join(parts, ", "), f.suspicious, f.of)
}
