// SPDX-License-Identifier: Apache-2.0

// Package should says what should have happened where a judge found something wrong. It asks the library, which the judge does
// not.
package should

import (
	"slices"

	"github.com/cohort-ocm/cohort/examples/trial/judge"
	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/status"
)

// Happen says in a sentence what a plan of that moment has for the cluster. An error of the plan is said, too.
func Happen(m judge.Moment) string {
	groups, err := grouping.Read(m.Placement, m.Decisions)
	if err != nil {
		return "nothing: " + err.Error()
	}
	if _, selected := groups.Position(m.Cluster); !selected {
		return "nothing: " + m.Cluster + " is not selected"
	}
	var reports []status.Report
	for _, s := range m.Standings {
		if s.Has {
			reports = append(reports, status.Report{Cluster: s.Cluster, Status: statusOf(s.Answer), LastTransitionTime: s.Since, Applied: s.Applied})
		}
	}
	result, err := rollout.Plan(m.Strategy, groups, reports, m.At, rollout.Options{})
	if err != nil {
		return "nothing: " + err.Error()
	}
	if slices.ContainsFunc(result.Start, func(c rollout.Cluster) bool { return c.Name == m.Cluster }) {
		return m.Cluster + " starts"
	}
	if why := result.Explain(m.Cluster).String(); why != "" {
		return why
	}
	return m.Cluster + " keeps what it has"
}

func statusOf(answer string) status.RolloutStatus {
	switch answer {
	case "":
		return status.ToApply
	default:
		return map[string]status.RolloutStatus{
			"Progressing": status.Progressing, "Succeeded": status.Succeeded, "Failed": status.Failed,
		}[answer]
	}
}
