package trial

import (
	"fmt"
	"slices"
	"testing"
)

// A world that is broken twice is an error. One that is broken once is none where it is played again.
func TestWhatIsBrokenOnceIsPlayedAgain(t *testing.T) {
	defer func(n int) { *flagAgain = n }(*flagAgain)
	for name, tt := range map[string]struct {
		again       int
		plays       []bool // which of them are broken
		broken      bool
		playedTimes int
	}{
		"nothing is broken":          {3, []bool{false}, false, 1},
		"it is broken once":          {3, []bool{true, false, false, false}, false, 4},
		"it is broken at last":       {3, []bool{true, false, false, true}, true, 4},
		"it is broken at once again": {3, []bool{true, true}, true, 2},
		"it is not played again":     {0, []bool{true}, true, 1},
	} {
		*flagAgain = tt.again
		n := 0
		o := confirmed(t, func() *observation {
			o := &observation{world: &world{}, history: &history{}}
			if n++; slices.Index(tt.plays[n-1:], true) == 0 {
				o.violations = []violation{{invariant: invBudget, text: fmt.Sprint(n)}}
			}
			return o
		})
		if broken := len(o.violations) > 0; broken != tt.broken || n != tt.playedTimes {
			t.Errorf("%s: broken %v, want %v; played %d times, want %d", name, broken, tt.broken, n, tt.playedTimes)
		}
		if len(o.violations) > 0 && o.violations[0].text != "1" {
			t.Errorf("%s: told is %v", name, o.violations)
		}
	}
}
