// SPDX-License-Identifier: Apache-2.0

package rollout_test

import (
	"slices"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/rollout/exposure"
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
		{"of four that is two", []int{0, 0, 0, 0}, func(w *searched) {
			w.strategy, w.ramp = progressive("4", config("", "2m", 0)), 1
		}},
		{"those that failed for good are not among them, neither of this group nor of the one before", []int{0, 1, 1, 1}, func(w *searched) {
			w.strategy, w.ramp = perGroup(config("1", "2m", 0)), 1
		}},
		{"without a deadline one that failed in a group of three leaves a slot for the next group, as the fourth makes two of it", []int{0, 0, 0, 1}, func(w *searched) {
			w.strategy, w.ramp = perGroup(config("1", "", 0)), 1
		}},
		{"side by side those that failed in either group stand beside half of the others", []int{0, 0, 1, 1}, func(w *searched) {
			w.strategy, w.ramp, w.ordered, w.reached = perGroup(config("1", "2m", 0)), 1, map[string][]string{}, true
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

// R41: with a ramp or spread starts side by side, which cluster waits for which is not looked at, so that the longest is unknown. The
// shortest has the spread.
func TestFinishOfARampSideBySideIsNotKnown(t *testing.T) {
	for want, o := range map[string]rollout.Options{"1m0s or more": rollout.Options{Ramp: ptr(1)}, "1h1m0s or more": rollout.Options{MaxStarts: &rollout.StartLimit{Count: 1, Per: metav1.Duration{Duration: time.Hour}}}} {
		e, err := exposure.Of(perGroup(config("", "", 0)), fleetOf(t, "eu: a", "us: b").read(),
			exposure.Span{Shortest: time.Minute, Longest: time.Hour}, now, merged(rollout.Options{GroupOrder: rollout.GroupOrder{}}, o))
		if err != nil || e.Finish.String() != want {
			t.Errorf("got %v, %v, want %s", e.Finish, err, want)
		}
	}
}

// R40: a ramp and spread starts keep all clusters from starting at once, unless they have room for all.
func TestAllAtOnceIsWarnedOf(t *testing.T) {
	for _, c := range []struct {
		why  string
		opts rollout.Options
		want bool
	}{
		{"nothing in the way", rollout.Options{}, true},
		{"a ramp", rollout.Options{Ramp: ptr(2)}, false},
		{"a ramp that begins with all", rollout.Options{Ramp: ptr(3)}, true},
		{"spread starts", rollout.Options{MaxStarts: &rollout.StartLimit{Count: 2, Per: metav1.Duration{Duration: time.Hour}}}, false},
		{"one that does not count", rollout.Options{Ignored: []string{"c"}}, true},
		{"only one that counts", rollout.Options{Ignored: []string{"b", "c"}}, false},
		{"starts for all", rollout.Options{MaxStarts: &rollout.StartLimit{Count: 3, Per: metav1.Duration{Duration: time.Hour}}}, true},
	} {
		e, err := exposure.Of(all(""), fleetOf(t, "a b c").read(), exposure.Span{}, now, c.opts)
		got := slices.ContainsFunc(e.Weaknesses, func(w exposure.Weakness) bool { return w.Type == exposure.WeaknessAllAtOnce })
		if err != nil || got != c.want {
			t.Errorf("%s: warned %v, %v", c.why, got, err)
		}
	}
}
