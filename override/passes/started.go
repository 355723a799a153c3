// SPDX-License-Identifier: Apache-2.0

package passes

import (
	"time"

	"github.com/cohort-ocm/cohort/override"
	"github.com/cohort-ocm/cohort/status"
)

// Started gives the replica's report on its content, as if the rollout had started it with its action, whether the policy is bound
// to its cluster or not. It is for a rollout that writes each version once, such as that of package override/progressive.
func (r Replica) Started(resolution *override.Resolution, now time.Time) status.Report {
	r = r.At(now)
	return r.report(true, kindOf(resolution), r.Action)
}

// CountsFrom is when an earlier message of the cluster counts for the present content, if no other arrives until then; zero where
// none does ([ReplicaOf]). Requeue at that time.
func (r Replica) CountsFrom() time.Time {
	if r.late == nil {
		return time.Time{}
	}
	return r.late.from
}
