package trial

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"
)

// A beat that takes long is lost to all worlds that were played meanwhile. It is as soon as it has taken too long.
func TestStalls(t *testing.T) {
	now := time.Now()
	ago := func(d time.Duration) time.Time { return now.Add(-d) }
	for name, tt := range map[string]struct {
		beats    []span
		began    time.Time
		from, to time.Time
		lost     time.Duration
	}{
		"no beat took long":               {from: ago(time.Hour), to: now},
		"one did meanwhile":               {beats: []span{{ago(50 * time.Second), ago(40 * time.Second)}}, from: ago(time.Minute), to: now, lost: 10 * time.Second},
		"one did, and the world began in": {beats: []span{{ago(50 * time.Second), ago(40 * time.Second)}}, from: ago(45 * time.Second), to: now, lost: 5 * time.Second},
		"one did, and the world ended in": {beats: []span{{ago(50 * time.Second), ago(40 * time.Second)}}, from: ago(time.Minute), to: ago(47 * time.Second), lost: 3 * time.Second},
		"one did before":                  {beats: []span{{ago(50 * time.Second), ago(40 * time.Second)}}, from: ago(30 * time.Second), to: now},
		"one did behind":                  {beats: []span{{ago(50 * time.Second), ago(40 * time.Second)}}, from: ago(80 * time.Second), to: ago(60 * time.Second)},
		"two did":                         {beats: []span{{ago(50 * time.Second), ago(40 * time.Second)}, {ago(30 * time.Second), ago(26 * time.Second)}}, from: ago(time.Minute), to: now, lost: 14 * time.Second},
		"one takes long":                  {began: ago(10 * time.Second), from: ago(time.Minute), to: now, lost: 10 * time.Second},
		"one has begun":                   {began: ago(time.Second), from: ago(time.Minute), to: now},
	} {
		p := &pulse{beats: tt.beats, began: tt.began}
		if got := p.lost(tt.from, tt.to); got != tt.lost {
			t.Errorf("%s: lost %v, want %v", name, got, tt.lost)
		}
	}
	p := &pulse{}
	p.begin(ago(10 * time.Second))
	p.begin(ago(time.Second)) // a write that failed is the same beat
	p.end(now)
	if p.lost(ago(5*time.Second), now) != 5*time.Second || p.lost(now.Add(time.Second), now.Add(time.Minute)) != 0 {
		t.Errorf("noted are %v", p.beats)
	}
}

// What the machine did not serve is no time in which anything could have happened.
func TestWhatIsLostIsWaitedFor(t *testing.T) {
	for name, patience := range map[string]func(*history) time.Duration{
		"a rollout": func(h *history) time.Duration { return (&world{}).patience(h) },
		"a trial":   func(h *history) time.Duration { return (&jury{history: h, trial: &trial{world: &world{}}}).patience() },
	} {
		if more := patience(&history{lost: 7 * time.Second}) - patience(&history{}); more != 7*time.Second {
			t.Errorf("%s: %v more, want 7s", name, more)
		}
	}
}

// A machine that serves nobody may begin to do so while the pulse rests. The next beat takes from when it was due.
func TestAStallMayBeginBetweenBeats(t *testing.T) {
	now := time.Now()
	p := &pulse{}
	p.begin(now.Add(-11 * time.Second))
	p.end(now.Add(-10 * time.Second))
	if p.lost(now.Add(-time.Second), now) == 0 {
		t.Error("the next beat is ten seconds late, and nothing is noted")
	}
	p.begin(now) // the machine is back, and the write takes no time
	p.end(now)
	if p.lost(now.Add(-5*time.Second), now.Add(-4*time.Second)) != time.Second {
		t.Errorf("noted are %v", p.beats)
	}
	if p.lost(now, now.Add(time.Second)) > 0 {
		t.Error("nothing is late any more")
	}
}

// What a limit forbids is a fault on the busiest machine. What did not happen in time is none there. Where all did, nothing is excused.
func TestWhatAStallExcuses(t *testing.T) {
	limits := []violation{{invariant: invConcurrency}, {invariant: invBudget}, {invariant: invKept}}
	late := []violation{{invariant: invLate}, {invariant: invLeft}, {invariant: invStuck}, {invariant: invStatus}, {invariant: invRemoved}}
	for _, tt := range []struct {
		broken  []violation
		stalled bool
		count   int
		excused bool
	}{
		{slices.Concat(limits, late), false, 8, false},
		{slices.Concat(limits, late), true, 3, true},
		{late, true, 0, true},
		{limits, true, 3, false},
		{nil, true, 0, false},
	} {
		if count, excused := observed(tt.broken, tt.stalled); len(count) != tt.count || excused != tt.excused {
			t.Errorf("stalled %v, broken %v: %v count, want %d; excused %v", tt.stalled, tt.broken, count, tt.count, excused)
		}
	}
	if got := fmt.Sprint(stalls(0), stalls(2)); got != " (2 judged by their limits alone, as the machine served nobody for over 3s)" {
		t.Errorf("%q", got)
	}
}

// A write that failed is followed by a look at the object, which the wire may have shown long before. That is no stall.
func TestABeatGoesOnAfterAWriteThatFailed(t *testing.T) {
	p := &pulse{arrive: make(chan int64, 1)}
	p.arrive <- 7
	for range 2 { // the second time after the write of 8 failed
		ctx, stop := context.WithTimeout(t.Context(), 10*time.Second)
		defer stop()
		if p.await(ctx, 7); ctx.Err() != nil {
			t.Fatal("it waits for what was shown")
		}
	}
}

// The hub of the tests beats: a write takes far less than a stall.
func TestTheHubBeats(t *testing.T) {
	if testing.Short() {
		t.Parallel()
	}
	for start := time.Now(); ; time.Sleep(50 * time.Millisecond) {
		theHub.pulse.mu.Lock()
		beats := theHub.pulse.n
		theHub.pulse.mu.Unlock()
		if beats > 1 {
			return
		}
		if time.Since(start) > 30*time.Second {
			t.Fatalf("%d beats in 30 seconds", beats)
		}
	}
}
