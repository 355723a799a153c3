package status_test

import (
	"fmt"
	"time"

	"github.com/cohort-ocm/cohort/status"
)

// database is a workload of the reader's own: an object for each cluster, with fields of its own.
type database struct {
	cluster           string
	wanted, installed string
	healthy           bool
	since             time.Time
}

// S4: for any other workload, write the function that reads one object. It answers, in this order: has
// the cluster the present version, did that fail, does it work, and since when.
func reportOf(d database) status.Report {
	report := status.Report{Cluster: d.cluster, LastTransitionTime: d.since}
	switch {
	case d.installed != d.wanted:
		report.Status = status.ToApply
	case d.healthy:
		report.Status = status.Succeeded
	default:
		report.Status = status.Failed
	}
	return report
}

// S4: a rollout takes a slice of reports, so a loop is all that lies between other objects and it.
func ExampleReport() {
	databases := []database{
		{cluster: "cluster1", wanted: "16.2", installed: "16.2", healthy: true},
		{cluster: "cluster2", wanted: "16.2", installed: "16.2"},
		{cluster: "cluster3", wanted: "16.2", installed: "16.1", healthy: true},
	}
	var reports []status.Report
	for _, d := range databases {
		reports = append(reports, reportOf(d))
	}
	for _, r := range reports {
		fmt.Println(r.Cluster, r.Status)
	}
	// Output:
	// cluster1 Succeeded
	// cluster2 Failed
	// cluster3 ToApply
}
