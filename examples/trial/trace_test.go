package trial

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cohort-ocm/cohort/examples/trial/judge"
)

// kindsOf are the kinds by which a judge that has only a trace sees that an invariant is broken.
var kindsOf = map[Invariant][]judge.Kind{
	invComplete: {judge.HalfWritten}, invMandatory: {judge.Mandatory}, invOrder: {judge.Order}, invConcurrency: {judge.Concurrency},
	invBudget: {judge.Budget}, invSoak: {judge.Soak}, invDeadline: {judge.Deadline}, invVersion: {judge.Version}, invKept: {judge.Kept},
	invOnce: {judge.Once}, invLeft: {judge.Left, judge.Stuck}, invLate: {judge.Stuck}, invStatus: {judge.Status},
}

// untraced are the duties that need not leave a trace beyond the lag, with the reasons.
var untraced = map[Duty]string{
	DutyReadYourWrites: "who plans without its own writes does what a view as old as the caches says",
	DutyLostAnswer:     "a write whose answer was lost is an own write that the caches do not show yet",
	DutyFirstLook:      "what the process before wrote is no older than the caches of the next one",
}

// TestEachDutyFromTraces shows that a controller that ignores a duty is found from the trace alone: in 19 of 20 rollouts it is broken, or
// suspicious where it leaves no trace beyond the lag. Of each duty as many rollouts are played as -rollouts says, with the lag and the
// patience that its world allows. The observer, which sees the caches, says in how many it finds the duty.
func TestEachDutyFromTraces(t *testing.T) {
	if testing.Short() {
		t.Skip("ten minutes")
	}
	all := maps.Clone(Duties)
	maps.Copy(all, StrategyDuties)
	seed, n := seedOf(), *flagRollouts
	var mu sync.Mutex
	var table []string
	for _, d := range slices.Sorted(maps.Keys(all)) {
		t.Run(string(d), func(t *testing.T) {
			var expected []judge.Kind
			for _, i := range all[d] {
				expected = append(expected, kindsOf[i]...)
			}
			judged, known, broken, suspicious := 0, 0, 0, 0
			kinds := map[string]int{}
			playAll(t, n, *flagParallel, func(ctx context.Context, i int) *observation {
				return theHub.play(ctx, subject, draw(seed+uint64(i), subject, d))
			}, func(o *observation) bool {
				if o.err != nil || o.overwhelmed() {
					return true
				}
				report, err := o.judged(o.world.worst+o.world.slow+200*time.Millisecond, 3*time.Second, subject.RemoveAfter)
				if err != nil {
					t.Error(err)
					return false
				}
				mu.Lock()
				defer mu.Unlock()
				judged++
				if slices.ContainsFunc(o.violations, func(v violation) bool { return slices.Contains(all[d], v.invariant) }) {
					known++
				}
				grades := map[judge.Grade]bool{}
				of := map[string]bool{}
				for i := range report.Findings {
					f := &report.Findings[i]
					of[fmt.Sprintf("%s %s", f.Grade, f.Kind)] = true
					if slices.ContainsFunc(append(f.Also, f.Kind), func(k judge.Kind) bool { return slices.Contains(expected, k) }) {
						grades[f.Grade] = true
					}
				}
				for k := range of {
					kinds[k]++
				}
				if grades[judge.Broken] {
					broken++
				} else if grades[judge.Suspicious] {
					suspicious++
				}
				return true
			})
			why := untraced[d]
			found := broken
			if why != "" {
				found += suspicious
			}
			table = append(table, fmt.Sprintf("%s: broken in %d of %d, suspicious in %d more; the observer finds it in %d; %v %s", d, broken, judged, suspicious, known, kinds, why))
			t.Log(table[len(table)-1])
			if judged == 0 || 20*found < 19*judged {
				t.Errorf("%s: found in %d of %d from the traces, expected 19 of 20", d, found, judged)
			}
		})
	}
	if len(untraced) > 4 {
		t.Errorf("%d duties leave no trace, expected at most 4", len(untraced))
	}
	t.Log("seeds from ", seed, "\n", strings.Join(table, "\n"))
}
