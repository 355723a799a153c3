// SPDX-License-Identifier: Apache-2.0

package rollout_test

import (
	"slices"

	"github.com/cohort-ocm/cohort/rollout"
)

// The rules on frozen clusters, and on the allowlist: R59, R60.

// r59Of gives the freeze of a cluster that ends last, among those that last; one without an end is the last of all, and of equals the
// first by its reason counts. It blocks if any freeze of the cluster does, also one that has ended.
func (o *oracle) r59Of(name string) (last *rollout.ClusterFreeze, blocks bool) {
	for i := range o.freezes {
		h := &o.freezes[i]
		if h.Cluster != name {
			continue
		}
		blocks = blocks || h.Blocks
		if !h.Until.IsZero() && !o.now.Before(h.Until) {
			continue
		}
		later := last == nil || h.Until.IsZero() && !last.Until.IsZero() || !h.Until.IsZero() && !last.Until.IsZero() && h.Until.After(last.Until)
		if later || h.Until.Equal(last.Until) && h.Reason < last.Reason {
			last = h
		}
	}
	return last, blocks
}

// R59: a waiting cluster that is frozen, whatever else it waits for.
func (o *oracle) r59(s *subject) (rollout.BlockReason, bool) {
	h, _ := o.r59Of(s.name)
	if h == nil {
		return rollout.BlockReason{}, false
	}
	return rollout.BlockReason{Type: rollout.BlockFrozen, Reason: h.Reason, Until: h.Until}, true
}

// R60: a waiting cluster that is not on the allowlist.
func (o *oracle) r60(s *subject) (rollout.BlockReason, bool) {
	return rollout.BlockReason{Type: rollout.BlockNotAllowed}, o.allowlist != nil && !slices.Contains(o.allowlist, s.name)
}

// R59, R60: whether nothing waits for a cluster that is frozen.
func (o *oracle) r59Passed(s *subject) bool {
	if !waiting(s) {
		return false
	}
	if h, blocks := o.r59Of(s.name); h != nil {
		return !blocks
	}
	_, is := o.r60(s)
	return is
}

// R59: holds of clusters that are not selected.
func (o *oracle) r59WithoutCluster() {
	var names []string
	for i := range o.freezes {
		name := o.freezes[i].Cluster
		if !o.selects(name) && (o.parts == nil || !slices.Contains(o.parts.others, name)) && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	o.warnOf(rollout.WarningFreezeWithoutCluster, names)
}
