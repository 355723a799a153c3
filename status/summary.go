package status

import (
	"fmt"
	"slices"

	"github.com/cohort-ocm/cohort/grouping"
)

// Counts says how many selected clusters stand where. Each cluster that counts is in one of the first six, of which Soaking
// and Held say more. The others are in Uncounted alone.
type Counts struct {
	// ToApply counts the waiting clusters: reported ToApply, or not reported.
	ToApply int `json:"toApply"`
	// Progressing counts also the clusters of an unknown status, and those that have not answered since the workload was
	// applied.
	Progressing int `json:"progressing"`
	// Succeeded counts also the clusters that soak.
	Succeeded int `json:"succeeded"`
	// Failed counts the failed clusters within their progress deadline, or without one.
	Failed int `json:"failed"`
	// TimeOut counts the clusters that were reported so and those whose progress deadline has passed.
	TimeOut int `json:"timeOut"`
	// Skip counts the clusters that the rollout leaves out.
	Skip int `json:"skip"`

	// Soaking counts the succeeded clusters whose minimum success time has not passed.
	Soaking int `json:"soaking"`
	// Held counts the waiting clusters that may not start now.
	Held int `json:"held"`

	// Uncounted is the number of clusters that neither block nor count, since the caller said so. They are in none of the
	// numbers above, nor in what the methods make of those.
	Uncounted int `json:"uncounted,omitempty"`
	// UncountedToApply is the number of those that wait.
	UncountedToApply int `json:"uncountedToApply,omitempty"`
}

// Total gives the number of clusters that count.
func (c Counts) Total() int {
	return c.ToApply + c.Progressing + c.Succeeded + c.Failed + c.TimeOut + c.Skip
}

// selected is the number of all clusters, counted or not.
func (c Counts) selected() int { return c.Total() + c.Uncounted }

// InFlight gives the number of clusters that have the workload and may yet change by themselves.
func (c Counts) InFlight() int { return c.Progressing + c.Failed + c.Soaking }

// Failures gives the number of clusters that count against the budget.
func (c Counts) Failures() int { return c.Failed + c.TimeOut }

// Done gives the number of clusters that need nothing more: succeeded and soaked, or left out.
func (c Counts) Done() int { return c.Succeeded - c.Soaking + c.Skip }

// Percent gives the share of the clusters that are done, of those that count, from 0 to 100, rounded down so that 100 means
// all. It is 0 where no cluster counts, as nothing ran.
func (c Counts) Percent() int {
	if c.Total() == 0 {
		return 0
	}
	return c.Done() * 100 / c.Total()
}

// Add gives the sum of both.
func (c Counts) Add(other Counts) Counts {
	c.ToApply += other.ToApply
	c.Progressing += other.Progressing
	c.Succeeded += other.Succeeded
	c.Failed += other.Failed
	c.TimeOut += other.TimeOut
	c.Skip += other.Skip
	c.Soaking += other.Soaking
	c.Held += other.Held
	c.Uncounted += other.Uncounted
	c.UncountedToApply += other.UncountedToApply
	return c
}

// String gives the counts in words, `12 of 320 clusters done, 5 in flight, 1 failed, 302 waiting, 3 not counted`, leaving
// out zeros. All failures are in "failed"; those that are within their deadline are also in flight.
func (c Counts) String() string { return c.inWords(c.ToApply) }

// sentence is String without the waiting.
func (c Counts) sentence() string { return c.inWords(0) }

// inWords gives the counts with so many waiting.
func (c Counts) inWords(waiting int) string {
	switch {
	case c.selected() == 0:
		return "no cluster is selected"
	case c.Total() == 0:
		return fmt.Sprintf("no cluster of %d is counted", c.Uncounted)
	}
	return fmt.Sprintf("%d of %d clusters done", c.Done(), c.Total()) + part(c.InFlight(), "in flight") +
		part(c.Failures(), "failed") + part(waiting, "waiting") + part(c.Uncounted, "not counted")
}

func part(n int, what string) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(", %d %s", n, what)
}

// Summary says what a rollout comes to. Package rollout fills it in.
//
// What stops the rollout is said in sentences without a full stop. They name times, not durations, so that they stay
// the same while nothing happens. They are said whether or not a cluster waits.
type Summary struct {
	Counts
	// Groups has the counts of each group, in the order of the groups.
	Groups []GroupCounts `json:"groups"`
	// Removed is the number of clusters that were reported and are no longer selected.
	Removed int `json:"removed"`

	// Incomplete says what the decision groups lack; it is empty where they are complete. Nothing starts, and nobody is
	// removed, until they are.
	Incomplete string `json:"incomplete,omitempty"`
	// Breach says which budget was breached and by whom: `stopped: a, b failed, maxFailures 1`. It is empty where none
	// was. Nothing starts until it ends.
	Breach string `json:"breach,omitempty"`
	// Paused says that the caller paused the rollout: `the rollout is paused`. It is empty where nobody did.
	Paused string `json:"paused,omitempty"`
	// Gates says which closed gates stop the rollout, one sentence each: `the gate "freeze" before group 1 is closed`.
	Gates []string `json:"gates,omitempty"`
	// Waiting says why the held clusters wait, one sentence for each reason, in the order of the groups: `waiting for group
	// 1 "canary"`. What another field says may be among them; it is said once.
	Waiting []string `json:"waiting,omitempty"`
}

// GroupCounts has the counts of one group.
type GroupCounts struct {
	Group grouping.Key `json:"group"`
	Counts
}

// String gives group and counts in words: `group 1 "canary": 2 of 10 clusters done`.
func (g GroupCounts) String() string { return g.Group.String() + ": " + g.Counts.String() }

// Percent gives the share of the clusters that are done, from 0 to 100, rounded down. 100 means all: while the decision
// groups are incomplete it is at most 99.
func (s Summary) Percent() int {
	if percent := s.Counts.Percent(); s.Incomplete == "" || percent < 100 {
		return percent
	}
	return 99
}

// String says what is happening, in words without a full stop that fit the message of a condition: the counts, then
// what stops the rollout, then why clusters wait.
//
//	12 of 320 clusters done, 5 in flight, waiting for group 1 "canary"
//
// Where a comma would not tell the clauses apart, semicolons stand between them. It has at most 1,024 bytes: clauses
// that do not fit are counted, "and 17 more".
func (s Summary) String() string { return sentence(s.clauses()) }

// clauses gives the counts, if there is anything to count, and all that stops the rollout, each once.
func (s Summary) clauses() []string {
	stops := s.stops()
	if s.selected() == 0 && s.Incomplete != "" {
		return stops // it is not known yet whether a cluster is selected
	}
	return append([]string{s.sentence()}, stops...)
}

func (s Summary) stops() (stops []string) {
	say := func(sentences ...string) {
		for _, sentence := range sentences {
			if sentence != "" && !slices.Contains(stops, sentence) {
				stops = append(stops, sentence)
			}
		}
	}
	say(s.Incomplete, s.Breach, s.Paused)
	say(s.Gates...)
	say(s.Waiting...)
	return stops
}

// Aggregate gives the status of the rollout as a whole: Progressing, Succeeded or Failed, never TimeOut. The first that
// applies decides:
//
//	the decision groups are incomplete     Progressing
//	a budget is breached                   Failed
//	a cluster waits or is in flight        Progressing
//	a cluster failed                       Failed
//	otherwise                              Succeeded
//
// A rollout over no cluster, or over none that counts, has Succeeded, with a reason and a message of its own in the
// conditions. A tolerated Failed
// cluster is in flight until its deadline, so that a rollout with such a cluster and without a deadline stays Progressing.
func (s Summary) Aggregate() RolloutStatus {
	switch {
	case s.Incomplete != "":
		return Progressing
	case s.Breach != "":
		return Failed
	case s.ToApply > 0 || s.InFlight() > 0:
		return Progressing
	case s.Failures() > 0:
		return Failed
	default:
		return Succeeded
	}
}
