// SPDX-License-Identifier: Apache-2.0

package hubs

import (
	"context"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// leaking is set in a process of this test in which the play leaks goroutines, and fails.
const leaking = "COHORT_HUBS_LEAK"

// TestGoroutinesThatAProcessLeavesAreNamed has the processes of an engine on the hubs leave goroutines behind when they end. The play fails,
// and says where the goroutines wait and what started them. If they leave none, it does not fail.
func TestGoroutinesThatAProcessLeavesAreNamed(t *testing.T) {
	h, err := Start()
	if err != nil {
		t.Fatal(err)
	}
	rests := func(ctx context.Context, _ *Process) error { <-ctx.Done(); return nil }
	idle := &Subject{Hub: rests, Coordinator: rests, Annotation: "hub.test/hubs"}
	if os.Getenv(leaking) != "" {
		idle.Hub = func(ctx context.Context, p *Process) error {
			go waitForEver(make(chan int))
			return rests(ctx, p)
		}
	}
	w := newWorld(1)
	w.script = nil
	if out, err := h.play(t, idle, w); err != nil || out.stuck == "" || out.lives < servers {
		t.Fatalf("the rollout of an engine that does nothing came to an end: %+v, %v", out, err)
	}
	if os.Getenv(leaking) != "" {
		return
	}
	leaks := exec.Command(os.Args[0], "-test.run", "^"+t.Name()+"$")
	leaks.Env = append(os.Environ(), leaking+"=1")
	said, err := leaks.CombinedOutput()
	if text := string(said); err == nil || !strings.Contains(text, "goroutines are left that wait for ever") ||
		!strings.Contains(text, "2 × ") || !strings.Contains(text, "waitForEver") || !strings.Contains(text, "created by") {
		t.Errorf("found %v: %s", err, text)
	}
}

func waitForEver(never chan int) { <-never }
