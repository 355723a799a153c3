// SPDX-License-Identifier: Apache-2.0

package rollout

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/cohort-ocm/cohort/rollout/internal/fleet"
)

// ClusterFreeze is a user's request not to start one cluster: its site is in maintenance, another operation is running, its
// window is closed. A frozen cluster that waits for its turn does not start while the freeze lasts. A cluster with the
// workload keeps the workload, takes its slot and counts, frozen or not.
//
// Unless Blocks is set, other clusters do not wait for a frozen cluster. It takes no slot, its group is complete without it,
// and the next group starts. The rollout is not done without it. Once the freeze ends, the cluster waits for its turn like a
// cluster that has just joined its group. Its group is incomplete then, and nothing more starts in later groups.
//
// All freezes of a cluster count. The one that ends last is the block reason; one without an end is the last of all. If one
// of them blocks, the cluster blocks until the last has ended.
//
// For a window that opens repeatedly, set a freeze until the next opening whenever the window is closed.
type ClusterFreeze struct {
	// Cluster is the name of the cluster, which must not be empty. The result warns of a cluster that is not selected.
	Cluster string `json:"cluster"`
	// Reason is what the sentences say, such as "maintenance of store 7".
	Reason string `json:"reason,omitempty"`
	// Until is when the freeze ends by itself; zero if that is unknown.
	Until time.Time `json:"until,omitzero"`
	// Blocks says that other clusters wait for this one: its group is not complete without it.
	Blocks bool `json:"blocks,omitempty"`
}

// compileFreezes checks the freezes and merges those of one cluster. They are in the order of the names.
func compileFreezes(freezes []ClusterFreeze, path *field.Path) (merged []fleet.Freeze, errs field.ErrorList) {
	for i := range freezes {
		if freezes[i].Cluster == "" {
			errs = append(errs, field.Required(path.Child("freezes").Index(i).Child("cluster"), "must be the name of a ManagedCluster"))
		}
	}
	if len(freezes) == 0 || len(errs) > 0 {
		return nil, errs
	}
	merged = make([]fleet.Freeze, len(freezes))
	for i := range freezes {
		merged[i] = fleet.Freeze(freezes[i])
		merged[i].Until = merged[i].Until.Round(0)
	}
	slices.SortFunc(merged, func(a, b fleet.Freeze) int { // of each cluster the one that ends last is the first
		return cmp.Or(strings.Compare(a.Cluster, b.Cluster), one(b.Until.IsZero())-one(a.Until.IsZero()), b.Until.Compare(a.Until), strings.Compare(a.Reason, b.Reason))
	})
	n := 0
	for _, freeze := range merged {
		if n > 0 && merged[n-1].Cluster == freeze.Cluster {
			merged[n-1].Blocks = merged[n-1].Blocks || freeze.Blocks
			continue
		}
		merged[n] = freeze
		n++
	}
	return merged[:n], nil
}
