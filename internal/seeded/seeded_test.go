// SPDX-License-Identifier: Apache-2.0

package seeded_test

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/cohort-ocm/cohort/internal/seeded"
	"pgregory.net/rapid"
)

// drawn starts this test program once more, with a seed in its environment, and gives what its property drew.
func drawn(t *testing.T, seed string, flags ...string) string {
	t.Helper()
	command := exec.Command(os.Args[0], append([]string{"-test.run=^TestPrintsWhatIsDrawn$", "-test.v"}, flags...)...)
	command.Env = append(os.Environ(), "SEED="+seed, "PRINT=1")
	out, err := command.CombinedOutput()
	if err != nil {
		t.Fatalf("SEED=%s: %v\n%s", seed, err, out)
	}
	_, sum, found := strings.Cut(string(out), "drawn ")
	if !found {
		t.Fatalf("SEED=%s: nothing is drawn\n%s", seed, out)
	}
	return strings.Fields(sum)[0]
}

func TestPrintsWhatIsDrawn(t *testing.T) {
	if os.Getenv("PRINT") == "" {
		t.Skip("it runs in a process of its own")
	}
	sum := uint64(0)
	rapid.Check(t, func(t *rapid.T) { sum = sum*31 + rapid.Uint64().Draw(t, "number") })
	fmt.Println("drawn", sum+seeded.Seed())
}

func TestTheEnvironmentGivesTheSeed(t *testing.T) {
	seven := drawn(t, "7")
	if again := drawn(t, "7"); again != seven {
		t.Errorf("one seed drew %s, then %s", seven, again)
	}
	if eight := drawn(t, "8"); eight == seven {
		t.Errorf("two seeds drew %s", eight)
	}
	if eight := drawn(t, "7", "-rapid.seed=8"); eight != drawn(t, "8") {
		t.Errorf("with -rapid.seed=8 and SEED=7 the cases are not those of 8: %s", eight)
	}
	if one, other := drawn(t, ""), drawn(t, ""); one == other {
		t.Errorf("without a seed two runs drew %s", one)
	}
}
