package rollout_test

import (
	"testing"

	"k8s.io/apimachinery/pkg/util/intstr"
)

// R40: the histories that are easily overlooked, each with why it matters.
func TestExposureIsTheMostOfAllHistoriesWhereThatIsHard(t *testing.T) {
	one := intstr.FromInt32(1)
	for _, c := range []struct {
		why  string
		cut  []int
		make func(w *searched)
	}{
		{"of one slot a group, one failed cluster is in flight still when the next group begins, not two", []int{0, 0, 1, 1}, func(w *searched) {
			w.strategy, w.perGroup = perGroup(config("2", "2m", 0)), &one
		}},
		{"with a ramp that failed cluster keeps the slot which the first of the next group needs", []int{0, 1, 2, 2}, func(w *searched) {
			w.strategy, w.perGroup, w.ramp = perGroup(config("50%", "2m", 0), "0"), &one, 1
		}},
		{"without a deadline it does so for ever, and a version that fails all gets no further", []int{0, 1, 2, 2}, func(w *searched) {
			w.strategy, w.ramp = perGroup(config("1", "", 0)), 1
		}},
		{"with a ramp of two it does not", []int{0, 1, 2, 2}, func(w *searched) {
			w.strategy, w.ramp = perGroup(config("1", "", 0)), 2
		}},
		{"half of those that got so far, rounded down", []int{0, 0, 0}, func(w *searched) {
			w.strategy, w.ramp = progressive("3", config("", "2m", 0)), 1
		}},
		{"two that fail in one group do not make room in another budget", []int{0, 0, 1, 1}, func(w *searched) {
			w.strategy = perGroup(config("1", "2m", 0))
		}},
		{"the budget of all is not that of a mandatory group", []int{0, 0, 1, 1}, func(w *searched) {
			w.strategy = progressive("1", config("1", "2m", 0), "0")
		}},
		{"groups side by side, of which one is behind the other by name", []int{0, 1, 2, 3}, func(w *searched) {
			w.strategy, w.ordered = perGroup(config("", "2m", 0)), map[string][]string{"prod": {"canary"}}
		}},
		{"one that does not count stands beside the slots", []int{0, 0, 0, 1}, func(w *searched) {
			w.strategy, w.exceptions = progressive("1", config("1", "2m", 0), "1"), [2]string{"b", ""}
		}},
		{"all of a canary failed before", []int{0, 1, 1, 1}, func(w *searched) {
			w.strategy, w.exceptions = perGroup(config("", "2m", 0), "0"), [2]string{"", "a"}
		}},
	} {
		t.Run(c.why, func(t *testing.T) {
			w := &searched{world: cutFleet(c.cut, plainKeys, 0)}
			c.make(w)
			w.with(w.exceptions[0], w.exceptions[1])
			config := configOf(w.strategy)
			w.deadline, w.soak = config.ProgressDeadline != "", config.MinSuccessTime.Duration > 0
			if fault := (searches{}).fault(t, w); fault != "" {
				t.Error(fault)
			}
		})
	}
}
