package status

import (
	"fmt"
	"strings"

	"github.com/cohort-ocm/cohort/grouping"
)

// Counts is how many selected clusters stand where (S5). Each cluster is in one of the first six; the
// last two say more of some of them.
type Counts struct {
	// ToApply are the waiting clusters: reported ToApply, or not reported.
	ToApply int `json:"toApply"`
	// Progressing are also those of an unknown status.
	Progressing int `json:"progressing"`
	// Succeeded are also those that soak.
	Succeeded int `json:"succeeded"`
	// Failed are those within their progress deadline, or without one.
	Failed int `json:"failed"`
	// TimeOut are those reported so and those whose progress deadline has passed.
	TimeOut int `json:"timeOut"`
	// Skip are those that the rollout leaves out.
	Skip int `json:"skip"`

	// Soaking are the succeeded whose minimum success time has not passed.
	Soaking int `json:"soaking"`
	// Held are the waiting that may not start now.
	Held int `json:"held"`
}

// Total is the number of clusters counted.
func (c Counts) Total() int {
	return c.ToApply + c.Progressing + c.Succeeded + c.Failed + c.TimeOut + c.Skip
}

// InFlight is the number of clusters that have the workload and may yet change by themselves (R3).
func (c Counts) InFlight() int { return c.Progressing + c.Failed + c.Soaking }

// Failures is the number of clusters that count against the budget (R2).
func (c Counts) Failures() int { return c.Failed + c.TimeOut }

// Done is the number of clusters that need nothing more: succeeded and soaked, or left out.
func (c Counts) Done() int { return c.Succeeded - c.Soaking + c.Skip }

// Percent is the share of the clusters that are done, from 0 to 100, rounded down so that 100 means
// all. It is 100 where there is no cluster.
func (c Counts) Percent() int {
	if c.Total() == 0 {
		return 100
	}
	return c.Done() * 100 / c.Total()
}

// Add is the sum of both.
func (c Counts) Add(other Counts) Counts {
	c.ToApply += other.ToApply
	c.Progressing += other.Progressing
	c.Succeeded += other.Succeeded
	c.Failed += other.Failed
	c.TimeOut += other.TimeOut
	c.Skip += other.Skip
	c.Soaking += other.Soaking
	c.Held += other.Held
	return c
}

// String is `12 of 320 clusters done, 5 in flight, 1 failed, 302 waiting`, without what is none. Failed
// are all failures; those that are within their deadline are also in flight.
func (c Counts) String() string {
	return c.sentence() + part(c.ToApply, "waiting")
}

// sentence is String without the waiting.
func (c Counts) sentence() string {
	return fmt.Sprintf("%d of %d clusters done", c.Done(), c.Total()) +
		part(c.InFlight(), "in flight") + part(c.Failures(), "failed")
}

func part(n int, what string) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(", %d %s", n, what)
}

// Summary is what a rollout comes to (S5). Package rollout fills it in.
type Summary struct {
	Counts
	// Groups has the counts of each group, in the order of the groups.
	Groups []GroupCounts `json:"groups"`
	// Removed is the number of clusters that were reported and are no longer selected.
	Removed int `json:"removed"`
	// Breach says that more clusters failed than the budget allows, so that nothing starts.
	Breach bool `json:"breach"`
	// Waiting says why the held clusters wait, each reason once, in the order of the groups: sentences
	// without a full stop, such as `waiting for group 1 "canary"`.
	Waiting []string `json:"waiting,omitempty"`
}

// GroupCounts is the counts of one group.
type GroupCounts struct {
	Group grouping.Key `json:"group"`
	Counts
}

// String is `group 1 "canary": 2 of 10 clusters done`.
func (g GroupCounts) String() string { return g.Group.String() + ": " + g.Counts.String() }

// String is one sentence without its full stop that says what is happening, fit for the message of a
// condition (S7): `12 of 320 clusters done, 5 in flight, waiting for group 1 "canary"`. Of more than
// three reasons it gives the first three.
func (s Summary) String() string {
	const most = 3
	parts := append([]string{s.sentence()}, s.Waiting[:min(most, len(s.Waiting))]...)
	if more := len(s.Waiting) - most; more > 0 {
		parts = append(parts, fmt.Sprintf("and for %d more reasons", more))
	}
	return strings.Join(parts, ", ")
}

// Aggregate is the status of the rollout as a whole (S6): Progressing, Succeeded or Failed, never
// TimeOut. A breach makes it Failed at once. Otherwise it is Progressing while any cluster waits or is
// in flight, then Failed if any failed, else Succeeded; so is a rollout over no cluster.
//
// A tolerated Failed cluster is in flight until its deadline (R3), so that a rollout with one and
// without a deadline stays Progressing.
func (s Summary) Aggregate() RolloutStatus {
	switch {
	case s.Breach:
		return Failed
	case s.ToApply > 0 || s.InFlight() > 0:
		return Progressing
	case s.Failures() > 0:
		return Failed
	default:
		return Succeeded
	}
}
