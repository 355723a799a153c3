// SPDX-License-Identifier: Apache-2.0

//go:build !race

package sim

import (
	"os"
	"strconv"
	"strings"
	"testing"
)

// TestTheWatchdogHasTheLowestPriority: otherwise a busy machine preempts goroutines, and a seed has several histories. (The
// race detector has another thread that sleeps by the clock; with it the watchdog is not found.)
func TestTheWatchdogHasTheLowestPriority(t *testing.T) {
	thread := watchdog()
	if thread == 0 {
		t.Fatal("the runtime's watchdog was not found: it is not the only thread that sleeps by the clock while a goroutine runs")
	}
	policy := func() string {
		stat, err := os.ReadFile("/proc/self/task/" + strconv.Itoa(thread) + "/stat")
		if err != nil {
			t.Fatal(err)
		}
		_, fields, _ := strings.Cut(string(stat), ") ")
		return strings.Fields(fields)[41-3] // policy is the 41st, and the state the third
	}
	undo := holdWatchdog()
	if got := policy(); got != "5" {
		t.Errorf("within a play the watchdog has the policy %s, want 5, which is that of idle threads", got)
	}
	undo()
	if got := policy(); os.Geteuid() == 0 && got != "0" {
		t.Errorf("after a play the watchdog has the policy %s, want 0, which is that of all others", got)
	}
}
