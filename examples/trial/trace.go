package trial

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/cohort-ocm/cohort/examples/trial/judge"
)

// trace writes a history as a recording, as if somebody had watched since long before.
func (h *history) trace() ([]byte, error) {
	var b bytes.Buffer
	out := json.NewEncoder(&b)
	line := func(kind string, at time.Time, object []byte) error {
		return out.Encode(judge.Line{Type: kind, At: at, Object: object})
	}
	first, last := h.events[0].at, h.until
	for _, e := range h.events {
		if e.at.Before(first) {
			first = e.at
		}
		if e.at.After(last) {
			last = e.at
		}
	}
	for _, kind := range []string{"BEGIN", "LISTED"} {
		if err := line(kind, first.Add(-10*time.Minute), nil); err != nil {
			return nil, err
		}
	}
	seen := map[id]bool{}
	for _, e := range h.events {
		kind := "MODIFIED"
		switch {
		case e.gone:
			kind = "DELETED"
		case !seen[e.id]:
			kind = "ADDED"
		}
		seen[e.id] = !e.gone
		text, err := json.Marshal(e.object)
		if err != nil {
			return nil, err
		}
		if !bytes.HasPrefix(text, []byte(`{"kind"`)) && e.object.GetObjectKind().GroupVersionKind().Kind == "" { // typed clients leave the kind out
			text = append([]byte(`{"kind":"`+string(e.id.kind)+`",`), text[1:]...)
		}
		if err := line(kind, e.at, text); err != nil {
			return nil, err
		}
	}
	err := line("BOOKMARK", last, nil)
	return b.Bytes(), err
}

// behind is how far behind the truth the controller was at most when it wrote objects of clusters: since when an object was not any more
// what it knew of it.
func (h *history) behind(isObject func(event) bool) (most time.Duration) {
	written := h.latest()
	for _, e := range h.events {
		w := h.written[e.rv]
		if before := h.at(e.id, e.rv-1); !isObject(e) || before != nil && before.GetDeletionTimestamp() != nil {
			continue // it is being deleted, by whom was judged then
		}
		if w == nil && e.object.GetDeletionTimestamp() != nil || e.gone {
			for i := range h.writes {
				if c := &h.writes[i]; c.kind == e.id.kind && c.verb == "DELETE" && c.key == e.id.key && c.done && !c.sent.After(e.at) {
					w = c
				}
			}
		}
		if w == nil {
			continue
		}
		floor := h.floor(h.reconciles[w.reconcile], e.rv, w.sent, false)
		for i, states := range h.states {
			shown, is := floor[i]
			for _, s := range states { // what is not shown may be shown to be gone
				if !is && s.gone && s.rv < e.rv {
					shown = s.rv
				}
			}
			for _, s := range states {
				if s.rv > shown && s.rv < e.rv {
					most = max(most, written[e.rv].Sub(written[s.rv]))
					break
				}
			}
		}
	}
	return most
}

// latest is by resourceVersion when it was written at the latest: no later than anything came that was written after it. One watch may be
// ahead of another.
func (h *history) latest() map[int64]time.Time {
	all := make(map[int64]time.Time, len(h.events))
	var last time.Time
	for _, e := range slices.Backward(h.events) {
		if last.IsZero() || e.at.Before(last) {
			last = e.at
		}
		all[e.rv] = last
	}
	return all
}

// judged is what the judge that has only a trace says of a history.
func (o *observation) judged(lag, patience, removeAfter time.Duration) (*judge.Report, error) {
	return o.judgedBy(judge.Options{Lag: lag, Patience: patience, RemoveAfter: removeAfter})
}

func (o *observation) judgedBy(options judge.Options) (*judge.Report, error) {
	return o.history.judgedBy(options)
}

func (h *history) judgedBy(options judge.Options) (*judge.Report, error) {
	text, err := h.trace()
	if err != nil {
		return nil, err
	}
	r, err := judge.Read(bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	return judge.Judge(r, options), nil
}

// traceable says whether the judge that has only a trace knows all that counts in a world: nobody leaves with a version that cuts it
// off, no version is taken back, and one process acts at a time.
func (w *world) traceable() bool {
	return w.back == nil && w.cut == nil && (w.replicas == 1 || w.elects)
}

// traceFigures are of the histories that were judged from their traces alone.
type traceFigures struct {
	rollouts, starts, suspicious int
	lag                          time.Duration // the greatest
	of                           map[judge.Kind]int
}

// add judges a rollout of a controller that is right, from its trace. With a lag as great as the controller's nothing may be broken.
func (f *traceFigures) add(t *testing.T, o *observation, subject *Subject) {
	if o.err != nil || !o.world.traceable() {
		return
	}
	t.Helper()
	lag := o.history.behind(func(e event) bool { return e.id.kind == Works }) + 50*time.Millisecond
	f.judge(t, o, o.history, judge.Options{Lag: lag, Patience: o.world.patience(o.history), RemoveAfter: subject.RemoveAfter}, nil)
}

// addTrial does so with a trial. Who left counts, a person gives clusters up in an annotation, and what a person removed shows no writer.
func (f *traceFigures) addTrial(t *testing.T, o *tried, subject *Subject) {
	if o.err != nil || o.overwhelmed() {
		return
	}
	t.Helper()
	lag := o.jury.behind(func(e event) bool { return e.id.kind == o.jury.trade.object && !o.jury.trade.isOwner(e.object) }) + 50*time.Millisecond
	f.judge(t, o, o.jury.history, judge.Options{Lag: lag, Patience: o.jury.patience() + unshownFor, RemoveAfter: subject.RemoveAfter, GivenUp: subject.GivenUp},
		func(x *judge.Finding) bool { return x.Kind == judge.Kept && !o.jury.deleted[x.Cluster].IsZero() })
}

// judge judges a history from its trace. What others may have done is no finding.
func (f *traceFigures) judge(t *testing.T, o outcome, h *history, options judge.Options, ofOthers func(*judge.Finding) bool) {
	t.Helper()
	name, world, _, _, _ := o.told()
	report, err := h.judgedBy(options)
	if err != nil {
		t.Errorf("the trace of %s: %v", world, err)
		return
	}
	lag := options.Lag
	f.rollouts, f.starts, f.lag = f.rollouts+1, f.starts+report.Starts, max(f.lag, lag)
	for i := range report.Findings {
		switch x := &report.Findings[i]; {
		case x.Kind.OfDecisions():
		case ofOthers != nil && ofOthers(x):
		case x.Grade == judge.Suspicious:
			if f.of == nil {
				f.of = map[judge.Kind]int{}
			}
			f.suspicious++
			f.of[x.Kind]++
		default:
			t.Errorf("from the trace, with a lag of %v: %s\n%s (%s)", lag, x, world, name)
		}
	}
}

func (f *traceFigures) String() string {
	if f.rollouts == 0 {
		return ""
	}
	return fmt.Sprintf("\nfrom the traces of %d rollouts: %d starts, none broken where lags up to %v are allowed, %d suspicious: %v",
		f.rollouts, f.starts, f.lag.Round(time.Millisecond), f.suspicious, f.of)
}
