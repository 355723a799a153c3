// SPDX-License-Identifier: Apache-2.0

package output

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/cohort-ocm/cohort/examples/kubectl-cohort/internal/clusterevents"
	"github.com/cohort-ocm/cohort/examples/kubectl-cohort/internal/scenario"
	"github.com/cohort-ocm/cohort/examples/kubectl-cohort/internal/simulation"
	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/status"
)

// Standing is how a rollout stands at a time, and why the rest waits.
type Standing struct {
	Rollout   string    `json:"rollout"`
	Placement string    `json:"placement"`
	Now       time.Time `json:"now"`
	// Strategy is the one that took effect, in words.
	Strategy string `json:"strategy"`
	// Summary counts the clusters. A cluster that may start now waits still.
	Summary  Summary  `json:"summary"`
	MayStart []string `json:"mayStart,omitempty"`
	// StartOnceGone are those that may start too, once their object is gone, which is being deleted.
	StartOnceGone []string          `json:"startOnceGone,omitempty"`
	Blockers      []StandingBlocker `json:"blockers,omitempty"`
	Waiting       []Reason          `json:"waiting,omitempty"`
	// Stopped is why the rollout is stopped, where no waiting cluster says that: none waits, or a pause comes first.
	Stopped *Reason        `json:"stopped,omitempty"`
	Gates   []StandingGate `json:"gates,omitempty"`
	// Commands are those with which a user can end a wait.
	Commands []string `json:"commands,omitempty"`
	// Validating are those that are being validated.
	Validating []string `json:"validating,omitempty"`
	// Failed are the clusters that failed or timed out, deselected ones last.
	Failed []string `json:"failed,omitempty"`
	// Says is what the reports of clusters say that failed or are in flight.
	Says []Said `json:"says,omitempty"`
	// Forecast is there where it was asked for.
	Forecast *Forecast `json:"forecast,omitempty"`
	Warnings []string  `json:"warnings,omitempty"`
	Notes    []string  `json:"notes,omitempty"`

	// Clock shows the times in the sentences of the text, and Wide has it name all clusters.
	Clock Clock `json:"-"`
	Wide  bool  `json:"-"`
	// Plan is what all of it was read from.
	Plan *rollout.Result `json:"-"`
}

// StandingHolder is a cluster that others wait for, as data and as a sentence.
type StandingBlocker struct {
	rollout.Blocker
	Message string `json:"message"`
}

// Reason is why some clusters wait, down to what holds everything up.
type Reason struct {
	Clusters    []string            `json:"clusters"`
	Block       rollout.BlockReason `json:"reason"`
	Explanation rollout.Explanation `json:"explanation"`
	Message     string              `json:"message"`
}

// Said is what some clusters, or the hub about them, say of how they stand. The text quotes it, as its author is not trusted.
type Said struct {
	Clusters []string `json:"clusters"`
	Message  string   `json:"message"`
}

// saidBy has the messages of clusters that failed or are in flight, those of most clusters first.
func saidBy(reports []status.Report, plan *rollout.Result) (all []Said) {
	of := make(map[string][]string)
	for i := range reports {
		r := &reports[i]
		is := clusterevents.StatusOf(plan, r.Cluster)
		if r.Message != "" && is != status.ToApply && is != status.Succeeded && is != status.Skip && !slices.Contains(of[r.Message], r.Cluster) {
			of[r.Message] = append(of[r.Message], r.Cluster)
		}
	}
	for _, message := range slices.Sorted(maps.Keys(of)) {
		slices.Sort(of[message])
		all = append(all, Said{of[message], message})
	}
	slices.SortStableFunc(all, func(a, b Said) int { return len(b.Clusters) - len(a.Clusters) })
	return all
}

// Forecast is how the rollout ends if its clusters go on like those that are done.
type Forecast struct {
	// Outcome is the one that most plays have, and Ends when half of these have ended, Earliest and Latest the first and the
	// last.
	Outcome  simulation.Outcome `json:"outcome"`
	Ends     time.Time          `json:"ends"`
	Earliest time.Time          `json:"earliest"`
	Latest   time.Time          `json:"latest"`
	// Plays is how many there are, each with other luck, and Outcomes how many end in which way.
	Plays    int                        `json:"plays"`
	Outcomes map[simulation.Outcome]int `json:"outcomes"`
	// Guess says that the times are a guess: no cluster says how long it took.
	Guess bool `json:"guess,omitempty"`
}

// NewForecast is that of plays which ended so.
func NewForecast(ends map[simulation.Outcome][]time.Time, guess bool) *Forecast {
	f := Forecast{Outcomes: make(map[simulation.Outcome]int), Guess: guess}
	for _, outcome := range slices.Sorted(maps.Keys(ends)) {
		times := ends[outcome]
		f.Plays += len(times)
		f.Outcomes[outcome] = len(times)
		if len(times) > f.Outcomes[f.Outcome] || f.Outcome == "" {
			slices.SortFunc(times, time.Time.Compare)
			f.Outcome, f.Earliest, f.Ends, f.Latest = outcome, times[0], times[len(times)/2], times[len(times)-1]
		}
	}
	return &f
}

// NewStanding is how the rollout stands by a plan of now.
func NewStanding(s *scenario.Scenario, plan *rollout.Result, clock Clock) Standing {
	summary := plan.Summary()
	st := Standing{Rollout: s.Rollout, Placement: s.Placements(), Now: clock.Start, Strategy: Strategy(plan.Schedule),
		Summary: Summary{summary.Aggregate(), summary.Percent(), summary}, Notes: s.Notes, Clock: clock, Plan: plan}
	for _, c := range plan.Start {
		if s.Deleting(c.Name) {
			st.StartOnceGone = append(st.StartOnceGone, c.Name)
			continue
		}
		st.MayStart = append(st.MayStart, c.Name)
	}
	for _, b := range plan.Blockers() {
		st.Blockers = append(st.Blockers, StandingBlocker{b, b.String()})
	}
	for _, c := range unsuccessful(plan, s.Ignored) {
		if c.Status == status.Failed || c.Status == status.TimeOut {
			st.Failed = append(st.Failed, c.Name)
		}
	}
	for _, c := range plan.InFlight {
		if c.Status == status.Validating {
			st.Validating = append(st.Validating, c.Name)
		}
	}
	for _, c := range plan.Deselected { // a deselected cluster counts, so it is named
		if c.Status == status.Failed || c.Status == status.TimeOut {
			st.Failed = append(st.Failed, c.Name)
		}
	}
	for _, w := range plan.Warnings {
		if !AboutAnOption(w) {
			st.Warnings = append(st.Warnings, w.String())
		}
	}
	of := make(map[rollout.BlockReason]int)
	for c, block := range plan.Blocked() {
		i, found := of[block]
		if !found {
			e := plan.Explain(c.Name)
			ofAll(e, block)
			if s.Policy != nil {
				ofPolicy(e)
			}
			i = len(st.Waiting)
			of[block], st.Waiting = i, append(st.Waiting, Reason{Block: block, Explanation: e, Message: strings.ReplaceAll(e.String(), "\n", "; ")})
		}
		st.Waiting[i].Clusters = append(st.Waiting[i].Clusters, c.Name)
	}
	slices.SortStableFunc(st.Waiting, func(a, b Reason) int { return len(b.Clusters) - len(a.Clusters) })
	if e := plan.ExplainBreach(); len(e) > 0 && !slices.ContainsFunc(st.Waiting, func(r Reason) bool { return r.Block.Type == rollout.BlockBreached }) {
		if s.Policy != nil {
			ofPolicy(e)
		}
		st.Stopped = &Reason{Clusters: plan.Breach.Clusters, Block: e[0].Reason, Explanation: e, Message: e.String()}
	}
	st.Says = saidBy(s.Reports(rollout.Options{}), plan)
	st.Gates = gatesOf(s, plan, clock.Start)
	waits := st.Waiting
	if st.Stopped != nil {
		waits = append(slices.Clone(waits), *st.Stopped)
	}
	st.Commands = commands(s, waits, st.Validating)
	return st
}

// ofAll has the remedies of frozen clusters, or of those that are not allowed, name all of them.
func ofAll(e rollout.Explanation, block rollout.BlockReason) {
	for i := range e {
		for j := range e[i].Remedies {
			if is := e[i].Remedies[j].Type; e[i].Reason == block && (is == rollout.RemedyUnfreeze || is == rollout.RemedyAllow) {
				e[i].Remedies[j].Clusters = block.Detail
			}
		}
	}
}

// Value is all of it, as data.
func (s Standing) Value() (any, error) { return s, nil }
