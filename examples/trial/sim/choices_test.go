// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"fmt"
	"testing"
)

// TestChoicesFollowTheSeed says that the order of small maps and the cases of selects depend on the seed, and that other
// choices change only the selects.
func TestChoicesFollowTheSeed(t *testing.T) {
	if source() == 0 {
		t.Fatal("the runtime's source is not where it was in Go 1.25 and 1.26: choices.go says how it is found")
	}
	defer prepare(1)()
	drawn := func(seed, choices uint64) (maps, selects string) {
		choose(seed, choices)
		for range 20 {
			m := map[int]bool{}
			for i := range 8 {
				m[i] = true
			}
			for i := range m {
				maps += fmt.Sprint(i)
			}
			selects += fmt.Sprint(either())
		}
		return maps, selects
	}
	maps, selects := drawn(1, 0)
	for _, other := range []struct {
		seed, choices uint64
		maps, selects bool // are the same
	}{{1, 0, true, true}, {2, 0, false, false}, {1, 1, true, false}} {
		m, s := drawn(other.seed, other.choices)
		if (m == maps) != other.maps || (s == selects) != other.selects {
			t.Errorf("seed %d with choices %d: maps %s, before %s; selects %s, before %s", other.seed, other.choices, m, maps, s, selects)
		}
	}
}
