// SPDX-License-Identifier: Apache-2.0

//go:build !race && (amd64 || arm64)

package sim

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
	"unsafe"
)

// otherRuns says whether another goroutine gets the only processor while this one loops.
func otherRuns() bool {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	var ran atomic.Bool
	done := make(chan struct{})
	go func() {
		ran.Store(true)
		close(done)
	}()
	for began := time.Now(); !ran.Load() && time.Since(began) < time.Minute; {
	}
	ended := ran.Load()
	<-done
	return ended
}

// held is the share of the time in which the watchdog sleeps in the handler of its signal.
func held(t *testing.T) float64 {
	t.Helper()
	sleeps, n := fmt.Sprintf("%d %#x ", syscall.SYS_NANOSLEEP, uintptr(unsafe.Pointer(&watchdogRest))), 0
	const looks = 300
	for range looks {
		call, err := os.ReadFile(fmt.Sprintf("/proc/self/task/%d/syscall", watchdog()))
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasPrefix(string(call), sleeps) {
			n++
		}
		pause := syscall.NsecToTimespec(int64(time.Millisecond))
		_ = syscall.Nanosleep(&pause, nil)
	}
	return float64(n) / looks
}

// TestTheWatchdogIsHeld: otherwise a busy machine preempts goroutines, and a seed has several histories. (The race detector has
// another thread that sleeps by the clock; with it the watchdog is not found.)
func TestTheWatchdogIsHeld(t *testing.T) {
	if watchdog() == 0 {
		t.Fatal("the runtime's watchdog was not found: it is not the only thread that sleeps by the clock while a goroutine runs")
	}
	undo := holdWatchdog()
	if share := held(t); share < 0.5 {
		t.Errorf("within a play the watchdog is held for %.0f%% of the time", 100*share)
	}
	if !otherRuns() {
		t.Error("within a play an endless loop is not preempted")
	}
	undo()
	time.Sleep(watchdogHeld + watchdogFree)
	if share := held(t); share > 0 {
		t.Errorf("after a play the watchdog is held for %.0f%% of the time", 100*share)
	}
	if !otherRuns() {
		t.Error("after a play an endless loop is not preempted")
	}
}
