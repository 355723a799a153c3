// SPDX-License-Identifier: Apache-2.0

package trial

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cohort-ocm/cohort/examples/trial/judge"
)

// Traced plays worlds of ManifestWorkReplicaSets to a controller of which it knows nothing, and has package judge judge it by the traces alone, with a
// lag of 2 s. The subject needs Run alone, which gets a Process with Config and Set, and may call no method of it. Its network is the simulated one, and it
// never crashes. What is found is logged. The worlds are of all kinds, or of one class of differences with sdk-go, if it is not empty. It returns the
// recordings, by their seeds.
func (h *Hub) Traced(t *testing.T, subject *Subject, class string, first uint64, worlds int) map[uint64][]byte {
	t.Helper()
	if err := subject.check(0); err != nil {
		t.Fatal(err)
	}
	if _, is := classes[class]; class != "" && !is {
		t.Fatalf("trial: the class is %q, expected one of %q", class, slices.Sorted(maps.Keys(classes)))
	}
	f, recordings := newForeignFigures(false, judge.Options{Patience: 5 * time.Second, IgnoreAnnotation: subject.IgnoreAnnotation}), map[uint64][]byte{}
	for i := range worlds {
		w := foreignWorld(int(first)+i, first+uint64(i), subject, class)
		w.name = "w1"
		var o *foreignOutcome
		h.play(t, w, func(t *testing.T, at *site) { o = w.besides(t.Context(), at, subject) })
		recordings[w.seed] = f.add(t, o)
	}
	t.Logf("seeds from %d: %s", first, f)
	return recordings
}

// besides runs a world to its end, while a subject runs beside the harness.
func (w *world) besides(ctx context.Context, at *site, subject *Subject) *foreignOutcome {
	idle := &Subject{
		Run: func(ctx context.Context, _ *Process) error { <-ctx.Done(); return nil }, Says: func(*replicaSet) Saying { return Saying{} },
		RemoveAfter: subject.RemoveAfter, IgnoreAnnotation: subject.IgnoreAnnotation,
	}
	life, end := context.WithCancel(ctx)
	done := make(chan error, 1)
	at.start("controller", func() { done <- subject.Run(life, &Process{Config: at.config("controller"), Set: w.setName()}) })
	o := w.newPlayer(at, idle).record(ctx)
	end()
	o.err = errors.Join(o.err, <-done)
	return o
}

// foreignOutcome is what came of a world.
type foreignOutcome struct {
	world   fmt.Stringer
	class   string // of differences, where it was bent towards one
	seed    uint64
	history *history
	err     error
}

// foreignFigures are of the worlds of one program.
type foreignFigures struct {
	decisions bool // they alone are judged, since the program writes them; otherwise the harness does
	options   judge.Options
	keep      string

	mu                         sync.Mutex
	rollouts, starts, removals int
	marked, whole              int // worlds in which something is broken, and in which that is so of complete decisions
	worlds, all                map[string]int
	byClass                    map[string][]string
}

func newForeignFigures(decisions bool, options judge.Options) *foreignFigures {
	options.Lag = 2 * time.Second
	return &foreignFigures{decisions: decisions, options: options, worlds: map[string]int{}, all: map[string]int{}, byClass: map[string][]string{}}
}

// add judges a world, and returns its recording.
func (f *foreignFigures) add(t *testing.T, o *foreignOutcome) []byte {
	t.Helper()
	if o.err != nil {
		t.Errorf("%s\n%v", o.world, o.err)
		return nil
	}
	text, err := o.history.trace()
	if err != nil {
		t.Error(err)
		return nil
	}
	recording, err := judge.Read(bytes.NewReader(text))
	if err != nil {
		t.Error(err)
		return nil
	}
	report := judge.Judge(recording, f.options)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.rollouts, f.starts, f.removals = f.rollouts+1, f.starts+report.Starts, f.removals+report.Removals
	found, broken, whole := map[string]bool{}, false, false
	for i := range report.Findings {
		x := &report.Findings[i]
		if x.Kind.OfDecisions() != f.decisions {
			continue
		}
		kind := fmt.Sprintf("%s %s", x.Grade, x.Kind)
		found[kind] = true
		f.all[kind]++
		broken = broken || x.Grade == judge.Broken
		whole = whole || x.Grade == judge.Broken && x.Kind != judge.PartiallyObserved
		if o.class != "" {
			f.byClass[o.class] = append(f.byClass[o.class], kind)
		}
	}
	for kind := range found {
		f.worlds[kind]++
	}
	if broken {
		f.marked++
	}
	if whole {
		f.whole++
	}
	if f.keep != "" && len(found) > 0 {
		if err := os.WriteFile(filepath.Join(f.keep, fmt.Sprintf("%d%s.jsonl", o.seed, strings.ReplaceAll(" "+o.class, " ", "-"))), text, 0o644); err != nil {
			t.Error(err)
		}
	}
	return text
}

func (f *foreignFigures) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d worlds with %d starts and %d removals; something is broken in %d, in %d of them more than starts while decisions were partially observed", f.rollouts, f.starts, f.removals, f.marked, f.whole)
	for _, kind := range slices.Sorted(maps.Keys(f.worlds)) {
		fmt.Fprintf(&b, "\n%s: %d, in %d worlds", kind, f.all[kind], f.worlds[kind])
	}
	for _, class := range slices.Sorted(maps.Keys(f.byClass)) {
		slices.Sort(f.byClass[class])
		fmt.Fprintf(&b, "\nwhere %s: %v", class, slices.Compact(f.byClass[class]))
	}
	return b.String()
}
