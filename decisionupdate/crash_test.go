// SPDX-License-Identifier: Apache-2.0

package decisionupdate_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/cohort-ocm/cohort/decisionupdate"
	"github.com/cohort-ocm/cohort/internal/exhaustive"
)

// twentyWrites is a change whose update has twenty writes: circles, a chain, creates and deletes, and with
// sequential names also groups that change.
func twentyWrites(kind names) (stored, desired, other []*pd) {
	group := func(steadyIndex, sequentialIndex string) string {
		if kind == steady {
			return steadyIndex
		}
		return sequentialIndex
	}
	stored = state(
		"w01 0: a1 a2", "w02 0: b1 b2", "w03 0: c1 c2", "w04 0: d1 d2", "w05 1: e1 e2", "w06 1: f1 f2",
		"w07 1: g1 g2", "w08 1: h1 h2", "w09 1: i1 i2", "w10 2: j1 j2", "w11 2: k1 k2", "w12 2: l1 l2",
		"w13 2: m1 m2", "w14 2: n1 n2 n3",
	)
	desired = state(
		"w01 0: a2 b1", "w02 0: b2 a1", // they exchange a cluster
		"w03 0: c2 e1", "w04 0: c1 d2", "w05 1: e2 d1", // a circle of three
		"w06 "+group("1", "0")+": f1 new1", "w07 1: f2 g1", "w08 1: g2 h1", "w09 "+group("1", "2")+": h2 i1", // a chain
		"w10 2: j1 j2 i2 n1", "w11 2: k1 k2 n2", "w12 2: l2 m1",
		"w15 3: m2 k9", "w16 3: new2", "w17 3: n3", "w19 3: new3",
	)
	other = state("w02 0: a1 a2 b1 b2", "w05 1: c1 d1 e1 f1", "w09 1: c2 d2 e2 f2 g1", "w13 2: g2 h1 i1 n1 n3", "w18 1: h2 i2 m2")
	return stored, desired, other
}

// D8: the writer crashes after every single request of an update of twenty writes, begins again and carries that
// out. It updates towards the same state or another one, and crashes once more on that way. D5 and D6 hold from
// the first state to the last.
func TestCrashAtEverySinglePointOfTwentyWrites(t *testing.T) {
	for _, kind := range []names{steady, sequential} {
		stored, desired, other := twentyWrites(kind)
		for _, way := range []struct {
			name     string
			writes   map[names]int
			strategy decisionupdate.UpdateStrategy
		}{
			{"fewest writes", map[names]int{steady: 20, sequential: 20}, rolling},
			{"within two steps", map[names]int{steady: 22, sequential: 23}, within(2)},
			{"surge and finalize", map[names]int{steady: 28, sequential: 28}, twoPhases},
		} {
			update := mustDiff(t, stored, desired, way.strategy)
			if update.Writes() != way.writes[kind] {
				t.Errorf("%s: %d writes, want %d:\n%s", way.name, update.Writes(), way.writes[kind], update)
			}
			for _, next := range [][]*pd{other, desired, stored}[:exhaustive.Of(1, 3)] {
				points := crashAtEveryRequest(t, stored, desired, next, way.strategy)
				t.Logf("%s names, %s: %d writes, %d requests", kind, way.name, update.Writes(), points)
			}
		}
	}
}

// crashAtEveryRequest returns the number of requests of the first update.
func crashAtEveryRequest(t *testing.T, stored, desired, next []*pd, strategy decisionupdate.UpdateStrategy) int {
	t.Helper()
	for crash := 0; ; crash++ {
		s := newServer(stored...)
		rng := rand.New(rand.NewPCG(uint64(crash), 8))
		var misplaced []decisionupdate.Misplaced
		made := 0
		s.history = []world{s.world()}
		for i, attempt := range []struct {
			desired []*pd
			crash   int
		}{{desired, crash}, {next, rng.IntN(20)}, {next, allRequests}} {
			update := mustDiff(t, s.list(), attempt.desired, strategy)
			misplaced = append(misplaced, update.Misplaced...)
			from := len(s.history) - 1
			made = max(made, s.applyUntil(t, update, attempt.crash))
			target := worldOf(attempt.desired)
			if err := neverAbsent(s.history[from:], target); err != nil {
				t.Fatalf("D5, crash after %d, update %d: %v\n%s", crash, i+1, err, update)
			}
			if err := neverWrong(s.history[from:], target, misplaced); err != nil {
				t.Fatalf("D6, crash after %d, update %d: %v\n%s", crash, i+1, err, update)
			}
		}
		last := worldOf(next)
		if err := neverAbsentIn(s.history, worldOf(desired), last); err != nil {
			t.Fatalf("D8, crash after %d: %v", crash, err)
		}
		wantStored(t, s, next)
		if made < crash {
			return made
		}
	}
}

// neverAbsentIn is D5 over several updates: a cluster of the first world and of all targets is in every world.
func neverAbsentIn(history []world, targets ...world) error {
	always := world{}
	for cluster, sights := range history[0] {
		always[cluster] = sights
		for _, target := range targets {
			if len(target[cluster]) == 0 {
				delete(always, cluster)
			}
		}
	}
	return neverAbsent(history, always)
}

// applyUntil applies an update with a writer that makes crash requests at most and dies before the next one. It
// returns the number of requests made.
func (s *server) applyUntil(t *testing.T, update decisionupdate.Update, crash int) int {
	t.Helper()
	made := 0
	s.before = func(verb, name string) error {
		if made == crash {
			return fmt.Errorf("crashed ahead of %s %s", verb, name)
		}
		made++
		return nil
	}
	defer func() { s.before = nil }()
	// The context ends with the writer; without it the other writes of the step would go on.
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	inner := s.before
	s.before = func(verb, name string) error {
		err := inner(verb, name)
		if err != nil {
			cancel()
		}
		return err
	}
	outcome, err := decisionupdate.Applier{Client: s}.Apply(ctx, update)
	if crashed := errors.Is(ctx.Err(), context.Canceled); crashed != (err != nil) {
		t.Fatalf("crashed: %v, error: %v, %s", crashed, err, outcome)
	}
	return made
}
