// SPDX-License-Identifier: Apache-2.0

package trial

import (
	"flag"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/cohort-ocm/cohort/examples/trial/internal/seeds"
)

var (
	flagRollouts = flag.Int("rollouts", seeds.Worlds(), "how many worlds of each kind are played, beside the stories of testdata/stories")
	flagSeed     = flag.Uint64("seed", 0, "the seed of the first; by default half of the seeds are always the same, and half are new each day")
	flagBound    = flag.Int("bound", 40, "how many worlds a controller that ignores a duty gets until it must be found")
	flagTwice    = flag.Int("twice", 1, "how many worlds of each kind are played a second time, where selects take other cases, which must be the same in every byte")
	flagHistory  = flag.Bool("history", false, "print what the API server showed of each world with a violation")
)

// An outcome is what came of a world that was played: of a rollout or a trial.
type outcome interface {
	// told gives the world, what was broken, and what kept the world from being played.
	told() (world fmt.Stringer, broken []violation, err error)
	// happened is the history, and nil where the world was not played.
	happened() *history
	// tell says in some words what an event changes; empty if that is nothing that matters.
	tell(e event) string
	// hash is of all that went over the network and was stored, with the times.
	hash() string
}

// tallies count outcomes. Add says whether one was judged.
type tallies[O outcome] interface {
	add(O) bool
	fmt.Stringer
}

// playEach plays worlds of a kind by their seeds, the first of them twice, and has what they break be errors of the test.
func playEach[W playable, O outcome](t *testing.T, k *kindOf[W, O], n int, each func(O)) {
	t.Helper()
	for i, s := range seeds.Of(t, k.name, n, *flagSeed) {
		s.Without = append(s.Without, seeds.Parts(*flagWithout)...)
		o := k.story(t, s, 0)
		each(o)
		k.blame(t, s, o)
		if i >= *flagTwice {
			continue
		}
		if again := k.story(t, s, 1); again.hash() != o.hash() {
			t.Errorf("seed %d: the history of a second play has the hash %s, that of the first one %s: something is decided by more than the seed", s.Seed, again.hash(), o.hash())
		}
	}
}

// blame makes what a world broke errors of a test, and tells the smallest world that breaks the first of it.
func (k *kindOf[W, O]) blame(t *testing.T, s seeds.Story, o O) {
	t.Helper()
	world, broken, err := o.told()
	if err != nil {
		t.Errorf("%s\n%v\n%s", world, err, k.again(t.Name(), s))
	}
	for _, v := range broken {
		t.Errorf("%s\n%s", v, world)
	}
	if *flagHistory && (err != nil || len(broken) > 0) {
		t.Log(historyOf(o))
	}
	if err != nil || len(broken) == 0 {
		return
	}
	smallest, last, plays := k.shrink(s, broken[0].invariant, *flagShrink)
	if len(smallest.Without) == len(s.Without) {
		last = o
	}
	t.Logf("the smallest world that breaks this, after %d more plays:\n%s\n%s", plays, reportOf(last, broken[0].invariant), k.again(t.Name(), smallest))
}

// suits ends a test if its subject lacks something, or its hub does.
func (h *Hub) suits(t *testing.T, subject *Subject, needs need) {
	t.Helper()
	if err := subject.check(needs); err != nil {
		t.Fatal(err)
	}
	if delivery := subject.Delivery; delivery != nil && delivery.object == Policies && !h.policies {
		t.Fatal("trial: the hub has no policy API, and must have it for policies: give Start the files of apiserver.PolicyDefinitions")
	}
}

// Rollouts shows that a controller breaks nothing.
func (h *Hub) Rollouts(t *testing.T, subject *Subject) {
	h.suits(t, subject, needSays)
	h.rollouts(t, subject, "Rollouts", *flagRollouts, func(seed uint64) *world { return draw(seed, subject, "") })
}

// TwoAct shows what holds while two processes act at a time, each with its own caches and unaware of the other. No
// start breaks an invariant that the process could know of, and no work is made twice, or deleted while it is selected.
// Limits hold for each of them alone, so that twice as many may be in flight. The figures tell.
func (h *Hub) TwoAct(t *testing.T, subject *Subject) {
	h.suits(t, subject, needSays)
	h.rollouts(t, subject, "TwoAct", max(1, *flagRollouts/2), func(seed uint64) *world {
		w := draw(seed, subject, "")
		w.alone(2)
		return w
	})
}

func (h *Hub) rollouts(t *testing.T, subject *Subject, kind string, n int, draw func(seed uint64) *world) {
	t.Helper()
	var all figures
	var traces traceFigures
	start := time.Now()
	k := &kindOf[*world, *observation]{kind, draw, func(w *world) *observation { return h.roll(t, subject, w) }}
	playEach(t, k, n, func(o *observation) {
		all.add(o)
		traces.add(t, o, subject)
	})
	t.Logf("%s%s\n%v of virtual time in %v%s", &all, &traces, all.virtual.Round(time.Second), time.Since(start).Round(time.Second), memory())
}

// CutOff shows that a controller breaks nothing where versions cut clusters off, and the scheduler drops those. First the
// smallest case is played, and the number of clusters that such a version reaches is logged.
func (h *Hub) CutOff(t *testing.T, subject *Subject) {
	h.suits(t, subject, needSays|needIgnoreAnnotation)
	t.Run("Disaster", func(t *testing.T) {
		h.rollouts(t, subject, "Disaster", 1, func(seed uint64) *world { return drawDisaster(seed, subject) })
	})
	t.Run("Rollouts", func(t *testing.T) {
		h.rollouts(t, subject, "CutOff", *flagRollouts, func(seed uint64) *world { return drawCut(seed, subject, "") })
	})
}

// EachDutyOfCutOff shows that the harness finds a controller that ignores one of the duties where clusters leave.
func (h *Hub) EachDutyOfCutOff(t *testing.T, subject *Subject) {
	h.suits(t, subject, needSays|needIgnoreAnnotation)
	h.eachDuty(t, cutOffDuties, subject, func(seed uint64, d Duty) *world { return drawCut(seed, subject, d) })
}

// Rollback shows that a controller takes versions back without breaking anything.
func (h *Hub) Rollback(t *testing.T, subject *Subject) {
	h.suits(t, subject, needSays|needRevisions)
	h.rollouts(t, subject, "Rollback", *flagRollouts, func(seed uint64) *world { return drawBack(seed, subject, "") })
}

// EachDutyOfRollback shows that the harness finds a controller that ignores one of the duties where versions are taken back:
// one of those that are given, or of all if none is.
func (h *Hub) EachDutyOfRollback(t *testing.T, subject *Subject, duties ...Duty) {
	h.suits(t, subject, needSays|needRevisions)
	if *flagTraces {
		t.Skip("versions that are taken back are not judged from traces: see the page of package judge")
	}
	h.eachDuty(t, some(backDuties, duties), subject, func(seed uint64, d Duty) *world { return drawBack(seed, subject, d) })
}

// EachDuty shows that the harness finds a controller that ignores one of the duties. Each has the invariants that are
// broken then.
func (h *Hub) EachDuty(t *testing.T, subject *Subject, duties map[Duty][]Invariant) {
	h.suits(t, subject, needSays)
	h.eachDuty(t, duties, subject, func(seed uint64, d Duty) *world { return draw(seed, subject, d) })
}

func (h *Hub) eachDuty(t *testing.T, duties map[Duty][]Invariant, subject *Subject, draw func(seed uint64, d Duty) *world) {
	if *flagTraces {
		h.dutiesFromTraces(t, duties, subject, draw)
		return
	}
	findEach(t, duties, func() tallies[*observation] { return &figures{} }, func(t *testing.T, seed uint64, d Duty) *observation {
		return h.roll(t, subject, draw(seed, d))
	})
}

func (h *Hub) roll(t *testing.T, subject *Subject, w *world) (o *observation) {
	t.Helper()
	hash := h.play(t, w, func(t *testing.T, at *site) { o = w.play(t.Context(), at, subject) })
	o.digest = hash
	return o
}

// findEach plays worlds in which a controller ignores a duty until one of the invariants is broken that are expected, for each duty.
func findEach[O outcome](t *testing.T, duties map[Duty][]Invariant, newTallies func() tallies[O], play func(t *testing.T, seed uint64, d Duty) O) {
	first := max(1, *flagSeed)
	for _, d := range slices.Sorted(maps.Keys(duties)) {
		t.Run(string(d), func(t *testing.T) {
			all, found, proof := newTallies(), map[Invariant]int{}, ""
			for seed := first; seed < first+uint64(*flagBound) && proof == ""; seed++ {
				o := play(t, seed, d)
				world, broken, err := o.told()
				if !all.add(o) {
					t.Errorf("%s\n%v", world, err)
				}
				if *flagHistory {
					t.Logf("%s\n%s", world, historyOf(o))
				}
				for _, v := range broken {
					found[v.invariant]++
					if proof == "" && slices.Contains(duties[d], v.invariant) {
						proof = fmt.Sprintf("found with seed %d: %s", seed, v)
					}
				}
			}
			if proof == "" {
				t.Errorf("not found with the seeds %d to %d", first, first+uint64(*flagBound)-1)
			}
			t.Logf("%s\nall that it broke: %v\n%s", proof, found, all)
		})
	}
}
