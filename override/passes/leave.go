package passes

import (
	"time"

	"github.com/cohort-ocm/cohort/rollout"
)

// RemoveAfter keeps a replicated policy for a while after its cluster stops being bound, like [rollout.RemoveAfter]. The
// cluster is in Removed once grace has passed. Until then it is in the root's status.
//
// Meanwhile no limit counts the cluster, as in a rollout. So where it is unbound for a moment only, another cluster may start
// in its slot, a breach that it caused ends, and a group that waited for it alone is complete.
//
// Previous is the Propagation before this one. Pass nil after a restart; grace then begins anew for all clusters.
func RemoveAfter(grace time.Duration, previous *Propagation) rollout.Option {
	if previous == nil {
		return rollout.RemoveAfter(grace, nil)
	}
	return rollout.RemoveAfter(grace, previous.plan())
}
