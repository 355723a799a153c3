// SPDX-License-Identifier: Apache-2.0

package status

import (
	"fmt"
	"strings"

	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/internal/clauses"
)

// Counts says how many clusters stand where: the selected ones, and the deselected ones that have the version and still count. Each
// cluster that counts is in exactly one of the first six numbers; Validating, Soaking, Blocked and Deselected say more about some of them. The
// clusters that do not count are in Ignored alone.
type Counts struct {
	// ToApply counts the waiting clusters: reported as ToApply, or not reported.
	ToApply int `json:"toApply"`
	// Progressing also counts the clusters with an unknown status, those that have not answered since the workload was applied,
	// and those that are being validated.
	Progressing int `json:"progressing"`
	// Succeeded also counts the clusters that soak.
	Succeeded int `json:"succeeded"`
	// Failed counts the failed clusters within their progress deadline, or without one.
	Failed int `json:"failed"`
	// TimeOut counts the clusters that are reported as TimeOut and those whose progress deadline has passed.
	TimeOut int `json:"timeOut"`
	// Skip counts the clusters that the rollout leaves out.
	Skip int `json:"skip"`

	// Validating counts the clusters in Progressing that are being validated.
	Validating int `json:"validating,omitempty"`
	// Soaking counts the succeeded clusters whose minimum success time has not passed.
	Soaking int `json:"soaking"`
	// Blocked counts the waiting clusters that may not start now.
	Blocked int `json:"blocked"`

	// Ignored is the number of clusters that neither block nor count, since the caller said so. They are not in the
	// numbers above, nor in what the methods give.
	Ignored int `json:"ignored,omitempty"`
	// IgnoredToApply is how many of the ignored clusters wait.
	IgnoredToApply int `json:"ignoredToApply,omitempty"`

	// Deselected is how many of the clusters in the first six numbers are not selected any more. They have the version and are not
	// done with it, so they still count.
	Deselected int `json:"deselected,omitempty"`

	// Partial says that the decision groups are incomplete, so that more clusters may be selected.
	Partial bool `json:"partial,omitempty"`
}

// Total gives the number of clusters that count.
func (c Counts) Total() int {
	return c.ToApply + c.Progressing + c.Succeeded + c.Failed + c.TimeOut + c.Skip
}

// selected gives the number of all clusters, counted or not.
func (c Counts) selected() int { return c.Total() + c.Ignored - c.Deselected }

// InFlight gives the number of clusters that have the workload and may yet change by themselves.
func (c Counts) InFlight() int { return c.Progressing + c.Failed + c.Soaking }

// Failures gives the number of clusters that failed or timed out, which is what budgets limit.
func (c Counts) Failures() int { return c.Failed + c.TimeOut }

// Done gives the number of clusters that need nothing more: succeeded and soaked, or left out.
func (c Counts) Done() int { return c.Succeeded - c.Soaking + c.Skip }

// Percent gives the percentage of the clusters that are done, among those that count. It is rounded down, so 100 means all,
// and at most 99 for Partial counts. It is 0 where no cluster counts, as nothing ran.
func (c Counts) Percent() int {
	if c.Total() == 0 {
		return 0
	}
	percent := c.Done() * 100 / c.Total()
	if c.Partial {
		return min(percent, 99)
	}
	return percent
}

// Add gives the sum of both, which is Partial if either is. For several placements of an owner add up [Summary.WithoutMoved].
func (c Counts) Add(other Counts) Counts {
	c.ToApply += other.ToApply
	c.Progressing += other.Progressing
	c.Succeeded += other.Succeeded
	c.Failed += other.Failed
	c.TimeOut += other.TimeOut
	c.Skip += other.Skip
	c.Validating += other.Validating
	c.Soaking += other.Soaking
	c.Blocked += other.Blocked
	c.Ignored += other.Ignored
	c.IgnoredToApply += other.IgnoredToApply
	c.Deselected += other.Deselected
	c.Partial = c.Partial || other.Partial
	return c
}

// String gives the counts in words, without zeros: `12 of 320 clusters done, 5 in flight (of these 1 failed), 1 more failed,
// 302 not started, 3 more ignored`. A cluster that failed is in flight until its deadline.
func (c Counts) String() string { return c.inWords(c.ToApply) }

// sentence does what String does, without the waiting clusters.
func (c Counts) sentence() string { return c.inWords(0) }

// inWords gives the counts with this many waiting.
func (c Counts) inWords(waiting int) string {
	switch {
	case c.Total()+c.Ignored == 0:
		return "no cluster is selected"
	case c.Total() == 0:
		return c.allIgnored()
	}
	timedOut := "failed"
	if c.Failed > 0 {
		timedOut = "more failed"
	}
	return fmt.Sprintf("%d of %d clusters done", c.Done(), c.Total()) + clauses.Number(c.InFlight(), "in flight"+c.notProgressing()) +
		clauses.Number(c.TimeOut, timedOut) + clauses.Number(waiting, "not started") + clauses.Number(c.Deselected, "of these deselected") + clauses.Number(c.Ignored, "more ignored")
}

// notProgressing says in parentheses how many of the clusters in flight are validated, or failed.
func (c Counts) notProgressing() string {
	detail := clauses.Number(c.Validating, "waiting for validation") + clauses.Number(c.Failed, "failed")
	if detail == "" {
		return ""
	}
	return " (of these " + strings.TrimPrefix(detail, ", ") + ")"
}

// allIgnored says that no cluster counts.
func (c Counts) allIgnored() string {
	if c.Ignored == 1 {
		return "the only cluster is ignored: it gets the workload, and its failure does not count"
	}
	return fmt.Sprintf("all %d clusters are ignored: they get the workload, and their failures do not count", c.Ignored)
}

// Summary says how a whole rollout stands. Package rollout fills it in.
//
// The texts say what stops the rollout, in sentences without a full stop, whether or not a cluster waits. They name
// times, not durations, so they stay the same while nothing happens.
type Summary struct {
	// Version is the version that is rolled out, where the caller told it with the record (rollout.StoredRecord). Operators name it
	// in approvals (package rollout/approvals).
	Version string `json:"version,omitempty"`
	Counts
	// Moved counts those of the deselected clusters that another placement of the owner selects ([grouping.Apart]). They are in the
	// budgets of both placements, and in the Counts of both summaries.
	Moved Counts `json:"moved,omitzero"`
	// Groups has the counts of each group, in the order of the groups.
	Groups []GroupCounts `json:"groups"`
	// Removed is the number of clusters that were reported and are no longer selected.
	Removed int `json:"removed"`

	// Incomplete says what the decision groups lack; it is empty where they are complete. Nothing starts, and nothing is
	// removed, until they are.
	Incomplete string `json:"incomplete,omitempty"`
	// Breach says which clusters breached which budget: `the rollout is stopped: a, b failed, maxFailures is 1`. It is empty where no
	// budget is breached. Nothing starts until the breach ends.
	Breach string `json:"breach,omitempty"`
	// Paused says that the caller paused the rollout: `the rollout is paused`. It is empty otherwise.
	Paused string `json:"paused,omitempty"`
	// Gates says which closed gates stop the rollout, one sentence each: `the gate "approval" before group 1 is closed`.
	Gates []string `json:"gates,omitempty"`
	// Waiting says why the blocked clusters wait, one sentence for each reason, in the order of the groups: `waiting for group
	// 1 "canary"`. A sentence may also be in another field; the methods say it once.
	Waiting []string `json:"waiting,omitempty"`
}

// WithoutMoved gives the counts without Moved. Added up over the placements of an owner, they count each cluster once.
func (s Summary) WithoutMoved() Counts {
	counts := s.Moved
	return s.Counts.Add(Counts{
		ToApply: -counts.ToApply, Progressing: -counts.Progressing, Succeeded: -counts.Succeeded, Failed: -counts.Failed, TimeOut: -counts.TimeOut, Skip: -counts.Skip,
		Validating: -counts.Validating, Soaking: -counts.Soaking, Blocked: -counts.Blocked, Deselected: -counts.Deselected,
	})
}

// GroupCounts has the counts of one group.
type GroupCounts struct {
	Group grouping.Key `json:"group"`
	Counts
}

// String gives group and counts in words: `group 1 "canary": 2 of 10 clusters done`.
func (g GroupCounts) String() string { return g.Group.String() + ": " + g.Counts.String() }

// String says what is happening, fit for the message of a condition, without a full stop: the counts, then what stops
// the rollout, then why clusters wait.
//
//	12 of 320 clusters done, 5 in flight; waiting for group 1 "canary"
//
// Semicolons separate the clauses. The text has at most 1,024 bytes; clauses
// that do not fit are counted: "and 17 more".
func (s Summary) String() string { return clauses.Bounded(s.clauses()) }

// clauses gives the counts, if there is anything to count, and each text about what stops the rollout once.
func (s Summary) clauses() []string {
	stops := s.stops()
	if s.Total()+s.Ignored == 0 && s.Incomplete != "" {
		return stops // it is unknown yet whether a cluster is selected
	}
	return append([]string{s.sentence()}, stops...)
}

func (s Summary) stops() []string {
	return clauses.Once([]string{s.Incomplete, s.Breach, s.Paused}, s.Gates, s.Waiting)
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
// A rollout over no cluster, or over none that counts, has Succeeded, with a special reason and message in the conditions.
// A tolerated Failed cluster is in flight until its deadline. A rollout with such a cluster and without a deadline
// stays Progressing.
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
