// SPDX-License-Identifier: Apache-2.0

package trial

import (
	"flag"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cohort-ocm/cohort/examples/trial/judge"
)

var flagTraces = flag.Bool("traces", false, "have the judge that has only a trace find each duty that is ignored, in 19 of 20 worlds, or in what share of -rollouts the harness finds it")

// kindsOf are the kinds by which a judge that has only a trace sees that an invariant is broken.
var kindsOf = map[Invariant][]judge.Kind{
	invComplete: {judge.PartiallyObserved}, invMandatory: {judge.Mandatory}, invOrder: {judge.Order}, invConcurrency: {judge.Concurrency},
	invBudget: {judge.Budget}, invSoak: {judge.Soak}, invDeadline: {judge.Deadline}, invVersion: {judge.Version}, invKept: {judge.Kept},
	invOnce: {judge.Once}, invLeft: {judge.Left, judge.Stuck}, invLate: {judge.Stuck}, invStatus: {judge.Status},
	invLeavers: {judge.Leavers}, invExposed: {judge.Leavers}, invRemoved: {judge.Left}, invTakeBack: {judge.TakenBack}, invDone: {judge.Complete},
}

// untraced are the duties that need not leave a trace beyond the lag, with the reasons.
var untraced = map[Duty]string{
	DutyReadYourWrites: "a process that plans without its own writes does what a view as old as the caches says",
	DutyLostAnswer:     "a write that lost its answer is an own write that the caches do not show yet",
	DutyFirstLook:      "what the process before wrote is no older than the caches of the next one",
	DutyUnregistered:   "a deselected cluster may block others, unless the controller ignores those without a ManagedCluster, as not every controller does",
}

// tracedOptions are how the rollouts are judged in which a duty is ignored: with the lag of their caches and of their writes.
func tracedOptions(w *world, h *history, subject *Subject) judge.Options {
	return judge.Options{Lag: w.worst + w.slow + 200*time.Millisecond, Patience: 3 * time.Second, RemoveAfter: subject.RemoveAfter, Began: h.beginnings(), IgnoreAnnotation: subject.IgnoreAnnotation}
}

// dutiesFromTraces has the judge that has only a trace find rollouts that ignore a duty.
func (h *Hub) dutiesFromTraces(t *testing.T, duties map[Duty][]Invariant, subject *Subject, draw func(seed uint64, d Duty) *world) {
	eachFromTraces(t, duties, nil, func(t *testing.T, seed uint64, d Duty) *observation {
		return h.roll(t, subject, draw(seed, d))
	}, func(o *observation) (*judge.Report, []violation, error) {
		report, err := o.history.judgedBy(tracedOptions(o.world, o.history, subject))
		return report, o.violations, err
	})
}

// trialDutiesFromTraces does so with trials.
func (h *Hub) trialDutiesFromTraces(t *testing.T, duties map[Duty][]Invariant, subject *Subject) {
	eachFromTraces(t, duties, subject.Delivery.traceless, func(t *testing.T, seed uint64, d Duty) *tried {
		trial := drawTrial(seed, d)
		trial.outlast(subject.RemoveAfter)
		return h.try(t, subject, trial)
	}, func(o *tried) (*judge.Report, []violation, error) {
		report, err := o.checker.judgedBy(tracedOptions(o.trial.world, o.checker.history, subject))
		return report, o.violations, err
	})
}

// tracedDuty counts what came of the rollouts in which a duty was ignored.
type tracedDuty struct {
	duty                              Duty
	judged, known, broken, suspicious int
	kinds                             map[string]int
}

func (d *tracedDuty) add(report *judge.Report, violations []violation, invariants []Invariant) {
	d.judged++
	if slices.ContainsFunc(violations, func(v violation) bool { return slices.Contains(invariants, v.invariant) }) {
		d.known++
	}
	var expected []judge.Kind
	for _, i := range invariants {
		expected = append(expected, kindsOf[i]...)
	}
	grades, of := map[judge.Grade]bool{}, map[string]bool{}
	for i := range report.Findings {
		f := &report.Findings[i]
		of[fmt.Sprintf("%s %s", f.Grade, f.Kind)] = true
		if slices.ContainsFunc(append(f.Also, f.Kind), func(k judge.Kind) bool { return slices.Contains(expected, k) }) {
			grades[f.Grade] = true
		}
	}
	for k := range of {
		d.kinds[k]++
	}
	if grades[judge.Broken] {
		d.broken++
	} else if grades[judge.Suspicious] {
		d.suspicious++
	}
}

func (d *tracedDuty) found() int {
	if untraced[d.duty] == "" {
		return d.broken
	}
	return d.broken + d.suspicious
}

func (d *tracedDuty) String() string {
	return fmt.Sprintf("%s: broken in %d of %d, suspicious in %d more; the harness finds it in %d; %v %s", d.duty, d.broken, d.judged, d.suspicious, d.known, d.kinds, untraced[d.duty])
}

// eachFromTraces plays as many worlds of each duty as -rollouts says. It is found in 19 of 20: broken, or suspicious where it leaves no trace
// beyond the lag. Where a duty hardly ever matters, it is to be found wherever the harness finds it, which sees the caches. What leaves no trace the
// harness alone has to find, in the same worlds.
func eachFromTraces[O outcome](t *testing.T, duties map[Duty][]Invariant, traceless map[Duty]string, play func(t *testing.T, seed uint64, d Duty) O, judged func(O) (*judge.Report, []violation, error)) {
	if !*flagTraces {
		t.Skip("-traces is not set: ten minutes")
	}
	first := max(1, *flagSeed)
	var table []string
	for _, d := range slices.Sorted(maps.Keys(duties)) {
		t.Run(string(d), func(t *testing.T) {
			all := tracedDuty{duty: d, kinds: map[string]int{}}
			for seed := first; seed < first+uint64(*flagRollouts); seed++ {
				o := play(t, seed, d)
				if _, _, err := o.told(); err != nil {
					t.Error(err)
					continue
				}
				report, violations, err := judged(o)
				if err != nil {
					t.Error(err)
					continue
				}
				all.add(report, violations, duties[d])
			}
			table = append(table, all.String())
			t.Log(table[len(table)-1])
			if why := traceless[d]; why != "" {
				if all.known == 0 {
					t.Errorf("%s: not found by the harness either, in %d worlds", d, all.judged)
				}
				t.Log("no trace tells: ", why)
				return
			}
			if all.found() == 0 || 20*all.found() < 19*all.judged && all.found() < all.known {
				t.Errorf("%s: found in %d of %d from the traces, expected 19 of 20, or %d as in the harness", d, all.found(), all.judged, all.known)
			}
		})
	}
	t.Log("seeds from ", first, "\n", strings.Join(table, "\n"))
}
