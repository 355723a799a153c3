package trial

import (
	"bytes"
	"encoding/json"
	"fmt"
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

// behind is how far behind the truth the controller was at most when it wrote works: since when an object was not any more what it
// knew of it.
func (h *history) behind() (most time.Duration) {
	for _, e := range h.events {
		w := h.written[e.rv]
		if e.id.kind != Works {
			continue
		}
		if w == nil && e.object.GetDeletionTimestamp() != nil || e.gone {
			for i := range h.writes {
				if c := &h.writes[i]; c.kind == Works && c.verb == "DELETE" && c.key == e.id.key && c.done && !c.sent.After(e.at) {
					w = c
				}
			}
		}
		if w == nil {
			continue
		}
		floor := h.floor(h.reconciles[w.reconcile], e.rv, w.sent, false)
		for i, states := range h.states {
			shown := floor[i]
			for _, s := range states { // what is not shown may be shown to be gone
				if shown == 0 && s.gone && s.rv < e.rv {
					shown = s.rv
				}
			}
			for _, s := range states {
				if s.rv > shown && s.rv < e.rv {
					most = max(most, e.at.Sub(s.at))
					break
				}
			}
		}
	}
	return most
}

// judged is what the judge that has only a trace says of a history.
func (o *observation) judged(lag, patience, removeAfter time.Duration) (*judge.Report, error) {
	return o.judgedBy(judge.Options{Lag: lag, Patience: patience, RemoveAfter: removeAfter})
}

func (o *observation) judgedBy(options judge.Options) (*judge.Report, error) {
	text, err := o.history.trace()
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
	lag := o.history.behind() + 50*time.Millisecond
	report, err := o.judged(lag, o.world.patience(o.history), subject.RemoveAfter)
	if err != nil {
		t.Errorf("the trace of %s: %v", o.world, err)
		return
	}
	f.rollouts, f.starts, f.lag = f.rollouts+1, f.starts+report.Starts, max(f.lag, lag)
	for i := range report.Findings {
		switch x := &report.Findings[i]; {
		case x.Kind.OfDecisions():
		case x.Grade == judge.Suspicious:
			if f.of == nil {
				f.of = map[judge.Kind]int{}
			}
			f.suspicious++
			f.of[x.Kind]++
		default:
			t.Errorf("from the trace, with a lag of %v: %s\n%s (%s)", lag, x, o.world, o.world.name)
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
