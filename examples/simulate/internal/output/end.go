package output

import (
	"fmt"
	"slices"
	"strings"

	"github.com/cohort-ocm/cohort/examples/simulate/internal/simulation"
	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/status"
)

// end says how it ended, last being the last wave.
func end(trace *simulation.Trace, last Wave) End {
	e := End{
		After:        last.After,
		Outcome:      trace.Outcome,
		Unsuccessful: unsuccessful(trace.Final),
		Waiting:      last.Waiting,
	}
	e.Message = message(trace)
	return e
}

// message is a sentence about the outcome, without its full stop.
func message(trace *simulation.Trace) string {
	counts := trace.Final.Summary().Counts
	switch trace.Outcome {
	case simulation.Completed:
		if failures := counts.Failures(); failures > 0 {
			return fmt.Sprintf("complete: %d succeeded, %d failed", counts.Succeeded, failures)
		}
		return "complete: all succeeded"
	case simulation.Stopped:
		return fmt.Sprintf("%v; nothing will change that", trace.Final.Breach)
	case simulation.Stuck:
		return fmt.Sprintf("stuck for ever: %d in flight and %d waiting, and nothing will change", counts.InFlight(), counts.ToApply)
	default:
		return fmt.Sprintf("not at its end after %d years, which is as far as the simulation looks", int(simulation.Horizon.Hours()/24/365))
	}
}

// unsuccessful lists the clusters that stand where they should not, by name.
func unsuccessful(r *rollout.Result) []rollout.Cluster {
	all := slices.Concat(r.InFlight, r.TimedOut)
	for c := range r.Settled() {
		if c.Status == status.TimeOut {
			all = append(all, c)
		}
	}
	slices.SortFunc(all, func(a, b rollout.Cluster) int { return strings.Compare(a.Name, b.Name) })
	return all
}
