// SPDX-License-Identifier: Apache-2.0

package output

import (
	"strings"
	"time"

	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	"github.com/cohort-ocm/cohort/examples/kubectl-cohort/internal/policy"
	"github.com/cohort-ocm/cohort/examples/kubectl-cohort/internal/scenario"
	"github.com/cohort-ocm/cohort/examples/kubectl-cohort/internal/simulation"
	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/status"
)

// Report is a simulated rollout from the input to the end.
type Report struct {
	Placement Placement `json:"placement"`
	Rollout   Rollout   `json:"rollout"`
	Notes     []string  `json:"notes,omitempty"`
	Groups    []Group   `json:"groups"`
	// Policy is there where the rollout is a Policy's.
	Policy  *Policy `json:"policy,omitempty"`
	Waves   []Wave  `json:"waves"`
	End     End     `json:"end"`
	Summary Summary `json:"summary"`
	// Rollback is there where the rollout is aborted.
	Rollback *Rollback `json:"rollback,omitempty"`

	// Rows is how many rows a table of the text has at most: DefaultRows if it is 0, and no limit for AllRows.
	Rows int `json:"-"`

	// Width is how many characters a line of a table has at most; no limit if it is 0.
	Width int `json:"-"`

	// Clock shows the times in the sentences of the text.
	Clock Clock `json:"-"`

	trace *simulation.Trace
	back  bool // it is a rollback
}

// Placement is what was rolled out to.
type Placement struct {
	Name string `json:"name"`
	// Clusters are selected, of Fleet ManagedClusters in the files; 0 where there are none.
	Clusters int `json:"clusters"`
	Fleet    int `json:"fleet,omitempty"`
	// Stored says that the groups come from the PlacementDecisions in the files.
	Stored bool `json:"stored"`
	// Dropped says why the others are not selected.
	Dropped []scenario.Drop `json:"dropped,omitempty"`
}

// Rollout names the object that is rolled out and its rules.
type Rollout struct {
	Object string    `json:"object"`
	Start  time.Time `json:"start"`
	// Schedule is the strategy that took effect, as the library has it.
	Schedule rollout.Schedule `json:"schedule"`
	Warnings []string         `json:"warnings,omitempty"`
}

// Group is a decision group and the objects that hold it.
type Group struct {
	grouping.Key
	Clusters  int        `json:"clusters"`
	Decisions []Decision `json:"placementDecisions,omitempty"`
	// Bound are the names of the clusters of a Policy's group, which has no PlacementDecisions of its own.
	Bound []string `json:"bound,omitempty"`
}

// Decision is a PlacementDecision.
type Decision struct {
	Name     string   `json:"name"`
	Clusters []string `json:"clusters"`
}

// Wave is what happened at one instant and how things stood then.
type Wave struct {
	// After is the time since the start, such as 1h30m0s.
	After     string   `json:"after"`
	Started   []string `json:"started,omitempty"`
	Succeeded []string `json:"succeeded,omitempty"`
	Failed    []string `json:"failed,omitempty"`
	TimedOut  []string `json:"timedOut,omitempty"`
	// Validating are the clusters that succeeded and are being validated from now on.
	Validating []string `json:"validating,omitempty"`
	// Deselected are the clusters that have the version and that the scheduler drops now.
	Deselected []string `json:"deselected,omitempty"`
	// Deleted are those of them with deleted objects. No agent lets go of these, so they stay.
	Deleted []string `json:"deleted,omitempty"`
	// Attempt is the one that begins now, if any does, and Again are the clusters that failed before and wait for their turn
	// once more.
	Attempt int      `json:"attempt,omitempty"`
	Again   []string `json:"again,omitempty"`
	// InFlight, Done and Failures are how many clusters are so after the start; Counts say it by status. A
	// failed cluster is in flight as well until its deadline.
	InFlight int           `json:"inFlight"`
	Done     int           `json:"done"`
	Failures int           `json:"failures"`
	Counts   status.Counts `json:"counts"`
	Waiting  []Waiting     `json:"waiting,omitempty"`
	// Passes are what was written to the replicated policies of a Policy, in order.
	Passes []Pass `json:"passes,omitempty"`
}

// Waiting is why some clusters wait, as data and as a sentence.
type Waiting struct {
	rollout.BlockCount
	Message string `json:"message"`
}

// End is how the rollout ended.
type End struct {
	// After is when it came to its outcome, and LastChange when the last cluster changed after that, if one did.
	After      string             `json:"after"`
	LastChange string             `json:"lastChange,omitempty"`
	Outcome    simulation.Outcome `json:"outcome"`
	// Message is the library's sentence.
	Message string `json:"message"`
	// Have is how many clusters have the version by then, counted or not.
	Have int `json:"have"`
	// Explanation says why Blocked, the first of the blocked clusters, waits.
	Blocked     string              `json:"blocked,omitempty"`
	Explanation rollout.Explanation `json:"explanation,omitempty"`
	// Unsuccessful are the clusters that failed or are in flight for ever, in the order of their names. Those that are not
	// counted come after them, and deselected ones that have the version last.
	Unsuccessful []Unsuccessful `json:"unsuccessful,omitempty"`
	Waiting      []Waiting      `json:"waiting,omitempty"`
}

// Unsuccessful is a cluster that stands where it should not.
type Unsuccessful struct {
	rollout.Cluster
	// Ignored says that no cluster waits for it, and that its failure stops nothing.
	Ignored bool `json:"ignored,omitempty"`
	// Deselected says that it is deselected, and still counts. Since is when it got the version.
	Deselected bool   `json:"deselected,omitempty"`
	Since      string `json:"since,omitempty"`
}

// AboutAnOption says whether a warning is about an option and not about the strategy. A note says it of the flag.
func AboutAnOption(w rollout.Warning) bool {
	return w.Type == rollout.WarningFieldIgnored && !strings.Contains(w.Field, ".")
}

// Summary is the library's summary with the word for all of it.
type Summary struct {
	Aggregate status.RolloutStatus `json:"aggregate"`
	Percent   int                  `json:"percent"`
	status.Summary
}

// New gathers what there is to show. The hub is for a Policy. The reasons of a wave are looked up when they are
// written. It is an error if the scenario's decisions do not match its groups.
func New(s *scenario.Scenario, trace *simulation.Trace, hub *policy.Hub, start time.Time) (Report, error) {
	stored, err := grouping.Status(s.Decisions)
	if err != nil {
		return Report{}, err
	}
	final := trace.Final
	summary := final.Summary()
	summary.Version = "" // only the play has it
	r := Report{
		trace:     trace,
		Placement: Placement{Name: s.Placements(), Clusters: s.Groups.NumClusters(), Fleet: s.Fleet, Stored: s.Stored, Dropped: s.Dropped},
		Rollout:   Rollout{Object: s.Rollout, Start: start, Schedule: final.Schedule},
		Notes:     s.Notes,
		Groups:    groups(stored.DecisionGroups, s.Decisions),
		Summary:   Summary{summary.Aggregate(), summary.Percent(), summary},
	}
	if s.Policy != nil {
		r.Policy, r.Groups = newPolicy(s.Policy, hub.Status()), boundGroups(s.Groups)
	}
	for _, warning := range final.Warnings {
		if !AboutAnOption(warning) {
			r.Rollout.Warnings = append(r.Rollout.Warnings, warning.String())
		}
	}
	r.Waves = waves(trace, 0)
	passes := hub.Passes()
	for i, w := range trace.Waves {
		r.Waves[i].Passes, passes = passesUntil(passes, start.Add(w.After))
	}
	r.End = end(trace, r.Waves, s.Ignored, r.Policy != nil)
	return r, nil
}

// explain has the waves at these places, or all if there is none, say why the rest waits.
func (r Report) explain(waves ...int) error {
	if r.trace == nil {
		return nil
	}
	if err := r.trace.Explain(waves...); err != nil {
		return err
	}
	for i, w := range r.trace.Waves {
		if r.Waves[i].Waiting == nil {
			r.Waves[i].Waiting = waiting(w.Blocks)
		}
	}
	return nil
}

// groups puts the decisions under their groups, in the order that a Placement's status has.
func groups(stored []clusterv1beta1.DecisionGroupStatus, decisions []*clusterv1beta1.PlacementDecision) []Group {
	clusters := make(map[string][]string, len(decisions))
	for _, d := range decisions {
		names := []string{}
		for _, c := range d.Status.Decisions {
			if c.ClusterName != "" {
				names = append(names, c.ClusterName)
			}
		}
		clusters[d.Name] = names
	}
	all := make([]Group, len(stored))
	for i, g := range stored {
		all[i].Key = grouping.Key{Index: g.DecisionGroupIndex, Name: g.DecisionGroupName}
		all[i].Clusters = int(g.ClustersCount)
		for _, name := range g.Decisions {
			all[i].Decisions = append(all[i].Decisions, Decision{name, clusters[name]})
		}
	}
	return all
}

// boundGroups are the groups of a policy with their clusters.
func boundGroups(groups *grouping.Groups) []Group {
	all := make([]Group, groups.Len())
	for i := range all {
		all[i] = Group{Key: groups.Key(i), Clusters: groups.Size(i)}
		for c := range groups.Clusters(i) {
			all[i].Bound = append(all[i].Bound, c.ClusterName)
		}
	}
	return all
}

func waiting(all []rollout.BlockCount) (shown []Waiting) {
	for _, w := range all {
		shown = append(shown, Waiting{w, w.String()})
	}
	return shown
}
