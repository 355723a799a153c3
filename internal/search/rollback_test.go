// SPDX-License-Identifier: Apache-2.0

package search

import (
	"fmt"
	"slices"

	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"
)

// turnRound makes the stages of a rollback (R44): the groups from the last to the first, then the mandatory ones, or one
// pool. Any number may fail (R45).
func (j *judge) turnRound(add func(stage), perGroup string) {
	if j.config.strategy != clusterv1alpha1.ProgressivePerGroup {
		limit := ""
		if j.config.strategy == clusterv1alpha1.Progressive {
			limit = j.config.concurrency
		}
		add(stage{name: "all groups", groups: 1<<none - 1 | 1<<unknownGroup, limit: limit, budget: most})
		return
	}
	for _, mandatory := range []bool{false, true} {
		for g := none - 1; g >= 0; g-- {
			if slices.Contains(j.config.mandatory, g) == mandatory {
				add(stage{name: fmt.Sprint("group ", g), groups: 1 << g, limit: perGroup, budget: most, sequence: true})
			}
		}
	}
	add(stage{name: "an unknown group", groups: 1 << unknownGroup, budget: most, sequence: true})
}

// failedBefore are the clusters of a stage that failed with the version from which they roll back (R44).
func (j *judge) failedBefore(x *stage) set {
	if !j.s.aborted {
		return 0
	}
	return j.waiting(x.clusters) & j.failedWith(1)
}

// failedWith are the clusters that failed with a version.
func (j *judge) failedWith(version uint8) (failed set) {
	for i := range most {
		if o := j.s.clusters[i].view(); o.version == version {
			o.version, o.verdict.version = 0, o.verdict.version^version // as if it were the wanted one
			if j.config.stand(o, 0).fails() {
				failed.add(i)
			}
		}
	}
	return failed
}
