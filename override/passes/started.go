package passes

import (
	"time"

	"github.com/cohort-ocm/cohort/override"
	"github.com/cohort-ocm/cohort/status"
)

// Started gives what the replica says of the content that it has, as one that the rollout has started with its action, whether the
// policy is bound to its cluster or not. A rollout that writes each version once, such as that of package override/progressive,
// reads it so.
func (r Replica) Started(resolution *override.Resolution, now time.Time) status.Report {
	r = r.At(now)
	return r.report(true, kindOf(resolution), r.Action)
}

// CountsFrom is when what the cluster said before counts for the present content, if it says nothing else until then; zero where
// nothing does ([ReplicaOf]). Look again then.
func (r Replica) CountsFrom() time.Time {
	if r.late == nil {
		return time.Time{}
	}
	return r.late.from
}
