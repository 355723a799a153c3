// SPDX-License-Identifier: Apache-2.0

package hubs

import (
	"encoding/json"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	workv1 "open-cluster-management.io/api/work/v1"

	"github.com/cohort-ocm/cohort/examples/trial/sim"
)

// observe shows the works of a hub to a rollout, each at the moment at which it is stored.
func observe(server *sim.Server, show func(*workv1.ManifestWork, time.Time)) {
	server.Store().Observe(func(c sim.Commit) {
		if c.Resource != "manifestworks."+workv1.GroupName || c.Deleted {
			return
		}
		work := &workv1.ManifestWork{}
		if err := c.Into(work); err != nil {
			panic(err) // the server has stored it
		}
		show(work, c.Time)
	})
}

// versionOf reads the version from what a work carries.
func versionOf(work *workv1.ManifestWork) string {
	var payload struct {
		Data struct {
			Version string `json:"version"`
		} `json:"data"`
	}
	if len(work.Spec.Workload.Manifests) == 0 || json.Unmarshal(work.Spec.Workload.Manifests[0].Raw, &payload) != nil {
		return ""
	}
	return payload.Data.Version
}

// conditions are those that OCM's agent sets.
func conditions(generation int64, available, degraded bool, now time.Time) (all []metav1.Condition) {
	for _, c := range []struct {
		kind string
		is   bool
	}{{workv1.WorkApplied, true}, {workv1.WorkProgressing, !available}, {workv1.WorkAvailable, available}, {workv1.WorkDegraded, degraded}} {
		status := metav1.ConditionFalse
		if c.is {
			status = metav1.ConditionTrue
		}
		all = append(all, metav1.Condition{Type: c.kind, Status: status, Reason: "Played", ObservedGeneration: generation,
			LastTransitionTime: metav1.NewTime(now.Truncate(time.Second))})
	}
	return all
}
