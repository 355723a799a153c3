// SPDX-License-Identifier: Apache-2.0

package status_test

import (
	"fmt"
	"time"

	"github.com/cohort-ocm/cohort/status"
)

// database is a workload of the reader's own: an object for each cluster, with fields of its own.
type database struct {
	cluster string
	version string    // that is written in the object
	written time.Time // when that was
	running string    // the version that the agent says is running; empty if it has not answered
	healthy bool
	since   time.Time // when running or healthy last changed
}

// S4: for any other workload, write the function that reads one object. It answers, in this order: has the object the
// present version, when did it get it, has the agent answered, does it work, did it fail, and when.
func reportOf(d database, wanted string) status.Report {
	report := status.Report{Cluster: d.cluster, Status: status.ToApply}
	if d.version != wanted {
		return report
	}
	report.Applied = d.written
	if d.running != wanted {
		return report
	}
	report.LastTransitionTime = d.since
	report.Status = status.Failed
	if d.healthy {
		report.Status = status.Succeeded
	}
	return report
}

// S4: a rollout takes a slice of reports, so a loop is all that lies between other objects and it.
func ExampleReport() {
	noon := time.Date(2026, time.November, 21, 12, 0, 0, 0, time.UTC)
	databases := []database{
		{cluster: "cluster1", version: "16.2", written: noon, running: "16.2", healthy: true, since: noon.Add(time.Minute)},
		{cluster: "cluster2", version: "16.2", written: noon, running: "16.2", since: noon.Add(time.Minute)},
		{cluster: "cluster3", version: "16.2", written: noon, running: "16.1", healthy: true}, // not answered
		{cluster: "cluster4", version: "16.1", running: "16.1", healthy: true},                // waits
	}
	for _, d := range databases {
		r := reportOf(d, "16.2")
		fmt.Println(r.Cluster, r.Status, "applied:", !r.Applied.IsZero())
	}
	// Output:
	// cluster1 Succeeded applied: true
	// cluster2 Failed applied: true
	// cluster3 ToApply applied: true
	// cluster4 ToApply applied: false
}
