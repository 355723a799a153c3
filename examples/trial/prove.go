package trial

import (
	"context"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"
)

var (
	flagRollouts = flag.Int("rollouts", 20, "how many rollouts are observed")
	flagParallel = flag.Int("at-once", 20, "how many of them run at a time")
	flagBlocks   = flag.Int("blocks", 1, "in how many blocks they are counted; the run is one all the same")
	flagSeed     = flag.Uint64("seed", 0, "the seed of the first rollout; 0 is a new one")
	flagBound    = flag.Int("bound", 40, "how many rollouts a controller that ignores a duty gets until it must be caught")
	flagAgain    = flag.Int("again", -1, "how many times a world is played again in which something was broken, before that is an error: it is one if it is broken again, or at 0; by default 3 with -short, and otherwise 0")
	flagHistory  = flag.Bool("history", false, "print what the API server showed of each rollout with a violation")
)

// An outcome is what came of a world that was played: of a rollout or a trial.
type outcome interface {
	// overwhelmed says whether the machine was so busy that nobody knows what happened.
	overwhelmed() bool
	// slowed says whether something did not happen in time, as the machine served nobody for a while. So only limits were judged.
	slowed() bool
	// told gives the world with its name and what the API server showed, what was broken, and what kept the world from being played.
	told() (name string, world, history fmt.Stringer, broken []violation, err error)
}

// tallies count outcomes. Add says whether one was judged.
type tallies[O outcome] interface {
	add(O) bool
	fmt.Stringer
}

// playAll plays n worlds, as many at a time as allowed, and hands each outcome to judge. It ends early when judge says so.
func playAll[O outcome](t *testing.T, n, atOnce int, play func(ctx context.Context, i int) O, judge func(O) bool) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var mu sync.Mutex
	var running sync.WaitGroup
	next, stop := 0, false
	for range min(n, atOnce) {
		running.Go(func() {
			for {
				mu.Lock()
				i := next
				next++
				end := stop || i >= n
				mu.Unlock()
				if end {
					return
				}
				o := play(ctx, i)
				mu.Lock()
				if !judge(o) {
					stop = true
					cancel()
				}
				mu.Unlock()
			}
		})
	}
	running.Wait()
}

// blame makes what an outcome broke errors of a test.
func blame(t *testing.T, o outcome) {
	t.Helper()
	name, world, history, broken, err := o.told()
	if o.overwhelmed() {
		return // it counts as not observed
	}
	if err != nil {
		t.Errorf("%s\n%v", world, err)
	}
	for _, v := range broken {
		t.Errorf("%s (%s)\n%s", v, name, world)
	}
	if len(broken) > 0 && *flagHistory {
		t.Logf("%s", history)
	}
}

// confirmed plays a world: up to twice more where the machine was too busy to see what happened, and again where something was broken. What a world shows once, and in no other play, is logged: with worlds that
// are drawn anew in each run of the tests, and timing that no seed decides, a run would say less of the change that is tested.
func confirmed[O outcome](t *testing.T, play func() O) O {
	t.Helper()
	first := play()
	for range 2 {
		if _, _, _, broken, _ := first.told(); first.overwhelmed() || first.slowed() && len(broken) == 0 {
			first = play()
		}
	}
	again := *flagAgain
	if again < 0 && testing.Short() {
		again = 3
	}
	name, world, _, broken, err := first.told()
	if again <= 0 || len(broken) == 0 || err != nil || first.overwhelmed() {
		return first
	}
	last := first
	for range again {
		last = play()
		if _, _, _, anew, _ := last.told(); len(anew) > 0 {
			return first
		}
	}
	t.Logf("broken once, and not in %d plays more: %v (%s)\n%s", again, broken, name, world)
	return last
}

// enough says of a run of n worlds whether it says too little: less than half of them were judged in full.
func enough(judged, n int) error {
	if judged > 0 && 2*judged >= n {
		return nil
	}
	return fmt.Errorf("%d of %d worlds were judged in full, expected at least half: the machine was too busy for the others, so play fewer of them at a time (-at-once is %d)", judged, n, *flagParallel)
}

func seedOf() uint64 {
	if *flagSeed != 0 {
		return *flagSeed
	}
	return rand.Uint64N(1_000_000_000)
}

// suits ends a test whose subject lacks something, or whose hub does.
func (h *Hub) suits(t *testing.T, subject *Subject, needs need) {
	t.Helper()
	if err := subject.check(needs); err != nil {
		t.Fatal(err)
	}
	if trade := subject.Trade; trade != nil && trade.object == Policies && !h.policies {
		t.Fatal("trial: the hub has no policy API, and must have it for policies: give Start the files of apiserver.PolicyDefinitions")
	}
}

// Rollouts shows that a controller breaks nothing.
func (h *Hub) Rollouts(t *testing.T, subject *Subject) {
	h.suits(t, subject, needSays)
	h.rollouts(t, subject, *flagRollouts, func(seed uint64) *world { return draw(seed, subject, "") })
}

// TwoAct shows what holds while two processes act at a time, each with its own caches and unaware of the other. No
// start breaks an invariant that the process could know of, and no work is made twice, or deleted while it is selected.
// Limits hold for each of them alone, so that twice as many may be in flight. The figures tell.
func (h *Hub) TwoAct(t *testing.T, subject *Subject) {
	if testing.Short() {
		t.Skip("a minute")
	}
	h.suits(t, subject, needSays)
	h.rollouts(t, subject, max(1, *flagRollouts/4), func(seed uint64) *world {
		w := draw(seed, subject, "")
		w.alone(2)
		return w
	})
}

func (h *Hub) rollouts(t *testing.T, subject *Subject, n int, draw func(seed uint64) *world) {
	seed := seedOf()
	t.Logf("seeds %d to %d", seed, seed+uint64(n)-1)
	var all figures
	var traces traceFigures
	parts := newBlocks(n, *flagBlocks)
	start := time.Now()
	playAll(t, n, *flagParallel, func(ctx context.Context, i int) *observation {
		return confirmed(t, func() *observation { return h.play(ctx, subject, draw(seed+uint64(i))) })
	}, func(o *observation) bool {
		block := parts.of(int(o.world.seed - seed))
		all.add(o)
		block.add(o)
		blame(t, o)
		traces.add(t, o, subject)
		if len(parts) > 1 && block.over() {
			t.Log(block)
		}
		return true
	})
	if err := enough(all.rollouts-all.excused, n); err != nil {
		t.Error(err)
	}
	t.Logf("%s%s%s\nin %v, %d at a time%s", parts, &all, &traces, time.Since(start).Round(time.Second), min(n, *flagParallel), memory())
}

// CutOff shows that a controller breaks nothing where versions cut clusters off, and the scheduler drops those. First the
// smallest case is played, and the number of clusters that such a version reaches is logged.
func (h *Hub) CutOff(t *testing.T, subject *Subject) {
	h.suits(t, subject, needSays|needGivenUp)
	t.Run("Disaster", func(t *testing.T) {
		t.Parallel()
		h.rollouts(t, subject, 1, func(seed uint64) *world { return drawDisaster(seed, subject) })
	})
	t.Run("Rollouts", func(t *testing.T) {
		t.Parallel()
		h.rollouts(t, subject, *flagRollouts, func(seed uint64) *world { return drawCut(seed, subject, "") })
	})
}

// EachDutyOfCutOff shows that the harness finds a controller that ignores one of the duties where clusters leave.
func (h *Hub) EachDutyOfCutOff(t *testing.T, subject *Subject) {
	h.suits(t, subject, needSays|needGivenUp)
	h.eachDuty(t, cutOffDuties, subject, func(seed uint64, d Duty) *world { return drawCut(seed, subject, d) })
}

// WayBack shows that a controller takes versions back without breaking anything: -rollouts of them, or half as many with -short.
func (h *Hub) WayBack(t *testing.T, subject *Subject) {
	h.suits(t, subject, needSays|needRevisions)
	h.rollouts(t, subject, halfIfShort(*flagRollouts), func(seed uint64) *world { return drawBack(seed, subject, "") })
}

func halfIfShort(n int) int {
	if testing.Short() {
		return (n + 1) / 2
	}
	return n
}

// EachDutyOfWayBack shows that the harness finds a controller that ignores one of the duties where versions are taken back:
// one of those that are given, or of all if none is.
func (h *Hub) EachDutyOfWayBack(t *testing.T, subject *Subject, duties ...Duty) {
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
	findEach(t, duties, func() tallies[*observation] { return &figures{} }, func(ctx context.Context, seed uint64, d Duty) *observation {
		return h.play(ctx, subject, draw(seed, d))
	})
}

// play plays a world under a new name.
func (h *Hub) play(ctx context.Context, subject *Subject, w *world) *observation {
	return w.play(ctx, h, subject, fmt.Sprintf("w%d", numbers.Add(1)))
}

// findEach plays worlds in which a controller ignores a duty until one of the invariants is broken that are expected, for each duty.
func findEach[O outcome](t *testing.T, duties map[Duty][]Invariant, newTallies func() tallies[O], play func(ctx context.Context, seed uint64, d Duty) O) {
	if testing.Short() {
		t.Skip("one or two minutes")
	}
	seed := seedOf()
	for _, d := range slices.Sorted(maps.Keys(duties)) {
		t.Run(string(d), func(t *testing.T) {
			t.Parallel()
			all, found, proof, n := newTallies(), map[Invariant]int{}, "", 0
			playAll(t, *flagBound, 4, func(ctx context.Context, i int) O { return play(ctx, seed+uint64(i), d) }, func(o O) bool {
				if proof != "" {
					return false // it was stopped
				}
				_, world, history, broken, err := o.told()
				if !all.add(o) {
					if !o.overwhelmed() {
						t.Errorf("%s\n%v", world, err)
					}
					return true
				}
				if n++; *flagHistory {
					t.Logf("%s\n%s", world, history)
				}
				for _, v := range broken {
					found[v.invariant]++
					if proof == "" && slices.Contains(duties[d], v.invariant) {
						proof = fmt.Sprintf("caught in number %d: %s", n, v)
					}
				}
				return proof == ""
			})
			if proof == "" {
				t.Errorf("not caught in %d from seed %d", *flagBound, seed)
			}
			t.Logf("%s\nall that it broke: %v\n%s", proof, found, all)
		})
	}
}
