package passes

import (
	"time"

	"github.com/cohort-ocm/cohort/rollout"
)

// RemoveAfter keeps the replicated policy of a cluster that is no longer bound for a while, as [rollout.RemoveAfter]
// does: it is in Delete once the cluster has not been bound for as long as grace. Until then it is in the root's status.
//
// Previous is the Propagation before this one. It is nil after a start, when the time begins anew for all.
func RemoveAfter(grace time.Duration, previous *Propagation) rollout.Option {
	if previous == nil {
		return rollout.RemoveAfter(grace, nil)
	}
	return rollout.RemoveAfter(grace, previous.plan())
}
