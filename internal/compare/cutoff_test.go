// SPDX-License-Identifier: Apache-2.0

package compare

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/intstr"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"

	"github.com/cohort-ocm/cohort/status"
)

// R46: a version kills the agent of each cluster that gets it. Five minutes later the hub taints the cluster, and the scheduler
// drops it. One cluster may be in flight at a time, and none may fail within ten minutes.
func TestAVersionThatCutsClustersOff(t *testing.T) {
	const n, lease, deadline = 20, 5 * time.Minute, 10 * time.Minute
	strategy := progressive(clusterv1alpha1.RolloutConfig{ProgressDeadline: deadline.String()}, intstr.FromInt32(1))
	for _, tt := range []struct {
		by   string
		says func(world) answer
		have int           // how many clusters have the version in the end
		last time.Duration // when the last of them got it
	}{
		{"sdk-go", world.reference, n, 95 * time.Minute},
		{"cohort", world.cohort, 1, 0},
	} {
		started := make(map[string]time.Duration)
		var last time.Duration
		for at := time.Duration(0); at < 3*time.Hour; at += time.Minute {
			g := group{}
			var reports []status.Report
			for i := range n {
				name := fmt.Sprintf("c%02d", i)
				since, has := started[name]
				if has {
					written := now.Add(since - at)
					reports = append(reports, status.Report{Cluster: name, Status: status.Progressing, LastTransitionTime: written, Applied: written})
				}
				if !has || at-since < lease {
					g.clusters = append(g.clusters, name)
				}
			}
			answer := tt.says(world{newFleet(t, g), strategy, reports})
			for _, name := range answer.start {
				if _, has := started[name]; !has {
					started[name], last = at, at
				}
			}
			if over := len(answer.start) > 1; over {
				t.Fatalf("%s starts %v at a time", tt.by, slices.Clone(answer.start))
			}
		}
		if len(started) != tt.have || last != tt.last {
			t.Errorf("%s: %d of %d clusters have the version, the last of them after %v, want %d after %v", tt.by, len(started), n, last, tt.have, tt.last)
		}
	}
}
