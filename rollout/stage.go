// SPDX-License-Identifier: Apache-2.0

package rollout

import (
	"fmt"
	"strings"
	"time"

	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"

	"github.com/cohort-ocm/cohort/grouping"
)

// Schedule is the strategy as it took effect, with defaults filled in and limits resolved to counts.
type Schedule struct {
	// Type is the type of the strategy; All where the strategy has none.
	Type clusterv1alpha1.RolloutType `json:"type"`
	// MinSuccessTime is how long a succeeded cluster soaks; 0 for All.
	MinSuccessTime time.Duration `json:"minSuccessTime"`
	// ProgressDeadline is how long a cluster may be Progressing, or Failed; nil for ever. It runs from the later of Applied and
	// LastTransitionTime of its report, so it starts over when the cluster fails.
	ProgressDeadline *time.Duration `json:"progressDeadline,omitempty"`
	// MaxFailures is how many of all selected clusters may fail. Only Progressive limits this; under the other types it is
	// the number of selected clusters. The budget of each group is in Stages.
	MaxFailures int `json:"maxFailures"`
	// ConcurrencySource names the source of the stages' MaxConcurrency: the strategy's field "maxConcurrency", the
	// Placement's field "clustersPerDecisionGroup" where the strategy has none, or the option "maxConcurrencyPerGroup",
	// the only one that limits mandatory stages, too. It is empty where there is no limit.
	ConcurrencySource string `json:"concurrencySource,omitempty"`
	// Stages are the stages, in the order of the rollout unless After says otherwise.
	Stages []Stage `json:"stages"`
	// After has for each stage the stages that it comes directly after, as indexes of Stages; these are lower than its own.
	// It is nil where each stage comes after the one before it, as it always does without [GroupOrder]. Stages that come after
	// the same ones share a slice.
	After [][]int `json:"after,omitempty"`
}

// Stage has the groups that are rolled out together.
type Stage struct {
	// Groups are in the order of their index.
	Groups []grouping.Key `json:"groups"`
	// Mandatory says that this is a mandatory group.
	Mandatory bool `json:"mandatory,omitempty"`
	// Clusters is the number of clusters in Groups, with the deselected ones that still count.
	Clusters int `json:"clusters"`
	// Ignored is how many of these clusters are ignored. The limits below are for the others.
	Ignored int `json:"ignored,omitempty"`
	// Deselected is how many of these clusters are not selected any more, and still count.
	Deselected int `json:"deselected,omitempty"`
	// MaxConcurrency is how many clusters may be in flight or started at a time; at most all that count. A percentage
	// in the strategy's maxConcurrency or in [Options].MaxConcurrencyPerGroup is a share of those that count and are selected in Groups.
	MaxConcurrency int `json:"maxConcurrency"`
	// MaxFailures is how many clusters may fail; all that count where any number may.
	MaxFailures int `json:"maxFailures"`
}

// show gives the Schedule of a result. It shares nothing with s.
func (s *schedule) show() Schedule {
	shown := Schedule{Type: s.rules.typ, MinSuccessTime: s.rules.minSuccessTime, MaxFailures: s.maxFailures, Stages: make([]Stage, s.Graph.Len()), After: s.Graph.After()}
	_, shown.ConcurrencySource = s.concurrency()
	keys := make([]grouping.Key, s.Graph.NumGroups())
	for stage := range s.Graph.Len() {
		from, to := &s.limits[stage], &shown.Stages[stage]
		to.Mandatory, to.Clusters = s.Graph.IsMandatory(stage), from.clusters
		to.MaxConcurrency, to.MaxFailures = from.maxConcurrency, s.Budgets[stage]
		groups := s.Graph.Groups(stage)
		to.Groups, keys = keys[:len(groups):len(groups)], keys[len(groups):]
		for i, group := range groups {
			to.Groups[i] = s.KeyOf(group)
			to.Ignored += s.IgnoredIn(group)
			to.Deselected += s.DeselectedIn(group)
		}
	}
	if s.rules.deadline != nil {
		deadline := *s.rules.deadline
		shown.ProgressDeadline = &deadline
	}
	return shown
}

// String is the stages in one line: `[group 0 "canary"] → [group 1, group 2: 5 at a time]`. Where the stages are no chain, it
// says for each what it comes after: `[group 0 "eu"]; [group 1 "us"]; [group 2] after group 0 "eu" and group 1 "us"`.
func (sched Schedule) String() string {
	var stages []string
	for _, stage := range sched.Stages {
		stages = append(stages, stage.String())
	}
	if sched.After == nil {
		return strings.Join(stages, " → ")
	}
	for i, after := range sched.After {
		for j, before := range after {
			stages[i] += [2]string{" after ", " and "}[min(j, 1)] + sched.Stages[before].Groups[0].String()
		}
	}
	return strings.Join(stages, "; ")
}

// String lists the groups, and how many clusters may be in flight at a time unless that is all.
func (stage Stage) String() string {
	var text strings.Builder
	text.WriteByte('[')
	for i, key := range stage.Groups {
		if i > 0 {
			text.WriteString(", ")
		}
		text.WriteString(key.String())
	}
	if stage.MaxConcurrency < stage.Clusters-stage.Ignored {
		fmt.Fprintf(&text, ": %d at a time", stage.MaxConcurrency)
	}
	text.WriteByte(']')
	return text.String()
}
