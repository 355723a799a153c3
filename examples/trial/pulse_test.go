package trial

import (
	"context"
	"fmt"
	"testing"
	"time"
)

// A beat that takes long is a stall of all worlds that were played meanwhile. It is one as soon as it has taken too long.
func TestStalls(t *testing.T) {
	now := time.Now()
	ago := func(d time.Duration) time.Time { return now.Add(-d) }
	for name, tt := range map[string]struct {
		beats    []span
		began    time.Time
		from, to time.Time
		want     bool
	}{
		"no beat took long":               {from: ago(time.Hour), to: now},
		"one did meanwhile":               {beats: []span{{ago(50 * time.Second), ago(40 * time.Second)}}, from: ago(time.Minute), to: now, want: true},
		"one did, and the world began in": {beats: []span{{ago(50 * time.Second), ago(40 * time.Second)}}, from: ago(45 * time.Second), to: now, want: true},
		"one did before":                  {beats: []span{{ago(50 * time.Second), ago(40 * time.Second)}}, from: ago(30 * time.Second), to: now},
		"one did behind":                  {beats: []span{{ago(50 * time.Second), ago(40 * time.Second)}}, from: ago(80 * time.Second), to: ago(60 * time.Second)},
		"one takes long":                  {began: ago(10 * time.Second), from: ago(time.Minute), to: now, want: true},
		"one has begun":                   {began: ago(time.Second), from: ago(time.Minute), to: now},
	} {
		p := &pulse{beats: tt.beats, began: tt.began}
		if got := p.stalled(tt.from, tt.to); got != tt.want {
			t.Errorf("%s: stalled %v, want %v", name, got, tt.want)
		}
	}
	p := &pulse{}
	p.set(ago(10 * time.Second))
	p.set(ago(time.Second)) // a write that failed is the same beat
	p.set(time.Time{})
	if !p.stalled(ago(5*time.Second), now) || p.stalled(now.Add(time.Second), now.Add(time.Minute)) {
		t.Errorf("noted are %v", p.beats)
	}
}

// What a limit forbids is a fault on the busiest machine. What did not happen in time is none there.
func TestWhatAStallExcuses(t *testing.T) {
	broken := func() []violation {
		return []violation{{invariant: invConcurrency}, {invariant: invLate}, {invariant: invBudget}, {invariant: invLeft}, {invariant: invKept}, {invariant: invStuck}}
	}
	for stalled, want := range map[bool]int{false: 6, true: 3} {
		if got := observed(broken(), stalled); len(got) != want {
			t.Errorf("stalled %v: %v, want %d", stalled, got, want)
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
