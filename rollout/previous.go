// SPDX-License-Identifier: Apache-2.0

package rollout

import (
	"time"

	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/rollout/internal/fleet"
)

// knows gives what a result knows, and the results before it. Groups that are being written tell nothing of where a cluster
// was, unless nothing else tells it; nothing has started by them either (R47).
func (s *schedule) knows(before *previousResult, departed []fleet.Departure, last []lasting) *previousResult {
	if s.missing != "" && before != nil && !before.Incomplete {
		return before
	}
	previous := &previousResult{Previous: fleet.Previous{Members: s.Members, FormerMembers: s.FormerMembers, Incomplete: s.missing != ""}, ceiling: s.ceiling()}
	for i := range last {
		previous.lasting = append(previous.lasting, last[i].Breached)
	}
	for i := range departed {
		if previous.Departed == nil {
			previous.Departed = make(map[string]grouping.Key, len(departed))
		}
		previous.Departed[departed[i].Cluster] = departed[i].Key
	}
	return previous
}

// carriedOver says when clusters were first found unselected, and in which groups clusters were. Both are nil where there is no
// result.
func (r *Result) carriedOver() (map[string]time.Time, *previousResult) {
	if r == nil || r.schedule == nil {
		return nil, nil
	}
	return r.choice.unselected, r.schedule.knows(r.schedule.options.previous, r.table.Departed, r.choice.last)
}
