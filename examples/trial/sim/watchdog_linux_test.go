// SPDX-License-Identifier: Apache-2.0

//go:build !race && (amd64 || arm64)

package sim

import (
	"runtime"
	"sync/atomic"
	"testing"
	"time"
)

// otherRuns says whether another goroutine gets the only processor while this one loops for a while, or until it does.
func otherRuns(atMost time.Duration) bool {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	var ran atomic.Bool
	done := make(chan struct{})
	go func() {
		ran.Store(true)
		close(done)
	}()
	for began := time.Now(); !ran.Load() && time.Since(began) < atMost; {
	}
	ended := ran.Load()
	<-done
	return ended
}

// TestThePlayIsNotPreempted: a step of 100 ms, as a busy machine makes of a step of one, lets no other goroutine run before its
// end. (The race detector has another thread that sleeps by the clock; with it the watchdog is not found.)
func TestThePlayIsNotPreempted(t *testing.T) {
	if watchdog() == 0 {
		t.Fatal("the runtime's watchdog was not found: it is not the only thread that sleeps by the clock while a goroutine runs")
	}
	if !otherRuns(time.Minute) {
		t.Error("outside of a play a loop is not preempted")
	}
	undo := holdWatchdog()
	defer func() {
		undo()
		if !otherRuns(time.Minute) {
			t.Error("after a play a loop is not preempted")
		}
	}()
	for range 5 {
		if otherRuns(100 * time.Millisecond) {
			t.Error("within a play a step of 100 ms was preempted")
		}
	}
	if !otherRuns(time.Minute) {
		t.Error("within a play an endless loop is not preempted")
	}
}
