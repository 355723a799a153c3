// SPDX-License-Identifier: Apache-2.0

package seeds

import (
	"fmt"
	"testing"
	"time"
)

func TestStories(t *testing.T) {
	text := "# why\n\nRollouts 7 a cluster waited\nCutOff 8 (step 1, cluster c02) it stood still\nRollouts 9 (all) x\n"
	for _, test := range []struct{ kind, want string }{
		{"Rollouts", "[{7 []} {9 [all]}]"}, {"CutOff", "[{8 [step 1 cluster c02]}]"}, {"People", "[]"},
	} {
		if got, err := read(test.kind, text); err != nil || fmt.Sprint(got) != test.want {
			t.Errorf("%s: %v and %v, want %s", test.kind, got, err, test.want)
		}
	}
	for _, bad := range []string{"Rollouts 7", "Rollouts seven why", "Rollouts 7 (step 1 why", "Rollouts 7 (step 1)"} {
		if _, err := read("Rollouts", "# one\n"+bad); err == nil {
			t.Errorf("%q is read", bad)
		}
	}
}

// The second half of the seeds moves with the date, and no two days share one.
func TestHalfOfTheSeedsMove(t *testing.T) {
	day := time.Date(2026, 11, 28, 23, 0, 0, 0, time.UTC)
	if today, next := ofDay(day), ofDay(day.Add(time.Hour)); today != 20261128000 || next != 20261129000 {
		t.Errorf("%d, then %d", today, next)
	}
	for n, want := range map[int]string{0: "", 1: " 20261128000,", 3: " 20261128000 to 20261128002,"} {
		if got := rangeOf(upFrom(ofDay(day), n)); got != want {
			t.Errorf("%d: %q, want %q", n, got, want)
		}
	}
}

// Each week ten times as many worlds are played as for a change.
func TestWorlds(t *testing.T) {
	for whole, want := range map[string]int{"": 10, "1": 100} {
		t.Setenv("WHOLE", whole)
		if n := Worlds(); n != want {
			t.Errorf("with WHOLE=%q %d worlds of each kind, want %d", whole, n, want)
		}
	}
}
