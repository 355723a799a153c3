// SPDX-License-Identifier: Apache-2.0

package output

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/cohort-ocm/cohort/examples/kubectl-cohort/internal/simulation"
	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/status"
)

// end says how it ended. Nil for ignored is none. A policy's clusters keep no attempts, and the policy before is not at hand: none are
// tried again, and none roll back.
func end(trace *simulation.Trace, waves []Wave, ignored func(string) bool, policy bool) End {
	stopped, last := waves[trace.Stopped], waves[len(waves)-1]
	e := End{
		After:        stopped.After,
		Outcome:      trace.Outcome,
		Unsuccessful: append(unsuccessful(trace.Final, ignored), deselected(trace)...),
		Waiting:      last.Waiting,
	}
	n := stopped.Counts
	e.Have = n.Total() - n.ToApply - n.Skip + n.Ignored - n.IgnoredToApply
	if last.After != stopped.After {
		e.LastChange = last.After
	}
	if trace.Outcome == simulation.RolledBack {
		e.After = trace.Aborted.After.String()
		e.Unsuccessful, e.Waiting, e.Message = nil, nil, "aborted: "+trace.Final.Summary().Counts.String()
		return e
	}
	for cluster := range trace.Final.Blocked() {
		e.Blocked, e.Explanation = cluster.Name, trace.Final.Explain(cluster.Name)
		break
	}
	if len(e.Explanation) == 0 { // a stop is to be ended also where no cluster waits
		e.Explanation = trace.Final.ExplainBreach()
	}
	if policy {
		ofPolicy(e.Explanation)
	}
	e.Message = message(trace, e.Explanation)
	return e
}

// ofPolicy takes away what a policy's clusters cannot do: try again, or roll back.
func ofPolicy(e rollout.Explanation) {
	for i := range e {
		e[i].Remedies = forPolicy(e[i].Remedies)
	}
}

func forPolicy(all []rollout.Remedy) []rollout.Remedy {
	return slices.DeleteFunc(all, func(r rollout.Remedy) bool {
		return r.Type == rollout.RemedyTryAgain || r.Type == rollout.RemedyRevert
	})
}

// message is what the library says of the outcome, without a full stop.
func message(trace *simulation.Trace, explanation rollout.Explanation) string {
	switch {
	case len(explanation) > 0: // the last link is what holds everything up
		return explanation[len(explanation)-1].String()
	default:
		return trace.Final.Summary().String()
	}
}

// unsuccessful lists the clusters that stand where they should not, by name, those that are not counted last.
func unsuccessful(r *rollout.Result, ignored func(string) bool) (shown []Unsuccessful) {
	all := slices.Concat(r.InFlight, r.TimedOut)
	for c := range r.Settled() {
		if c.Status == status.TimeOut {
			all = append(all, c)
		}
	}
	slices.SortFunc(all, func(a, b rollout.Cluster) int { return strings.Compare(a.Name, b.Name) })
	var beside []Unsuccessful
	for _, c := range all {
		if ignored != nil && ignored(c.Name) {
			beside = append(beside, Unsuccessful{Cluster: c, Ignored: true})
		} else {
			shown = append(shown, Unsuccessful{Cluster: c})
		}
	}
	return append(shown, beside...)
}

// deselected lists the deselected clusters that have the version and still count, by name.
func deselected(trace *simulation.Trace) (shown []Unsuccessful) {
	since := make(map[string]string)
	for _, w := range trace.Waves {
		for _, name := range w.Started {
			since[name] = w.After.String()
		}
	}
	for _, c := range trace.Final.Deselected {
		shown = append(shown, Unsuccessful{Cluster: c, Deselected: true, Since: since[c.Name]})
	}
	return shown
}

// unsuccessful names those that stand where they should not.
func (r Report) unsuccessful(b *bytes.Buffer) {
	for i, c := range r.End.Unsuccessful {
		if i == mostNamed {
			fmt.Fprintf(b, "  and %d more\n", len(r.End.Unsuccessful)-i)
			break
		}
		fmt.Fprintf(b, "  %s in %v: %s%s\n", c.Name, c.Group, c.Status, c.aside(r.Clock))
	}
}

// aside is what is to be said of the cluster besides.
func (u Unsuccessful) aside(clock Clock) string {
	switch {
	case u.Ignored:
		return ", ignored"
	case u.Deselected && u.Since != "":
		return ", deselected; has the version since " + clock.Column(u.Since)
	case u.Deselected:
		return ", deselected"
	}
	return ""
}
