package sim

import (
	"fmt"
	"testing"
)

// TestChoicesFollowTheSeed says that the order of small maps and what selects take is that of the seed.
func TestChoicesFollowTheSeed(t *testing.T) {
	if source() == 0 {
		t.Fatal("the runtime's source is not where it was in Go 1.25 and 1.26: choices.go says how it is found")
	}
	defer prepare(1)()
	choices := func(seed uint64) string {
		choose(seed)
		s := ""
		for range 20 {
			m := map[int]bool{}
			for i := range 8 {
				m[i] = true
			}
			for i := range m {
				s += fmt.Sprint(i)
			}
			s += fmt.Sprint(either(), " ")
		}
		return s
	}
	one, two, again := choices(1), choices(2), choices(1)
	if one != again || one == two {
		t.Errorf("seed 1: %s, again: %s, seed 2: %s", one, again, two)
	}
}
