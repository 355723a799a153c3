// SPDX-License-Identifier: Apache-2.0

package plugins

import (
	"context"
	"slices"

	workv1 "open-cluster-management.io/api/work/v1"

	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/status"
)

// Plugin is the service of enhancement 231, RolloutPluginService. The context ends after 30 seconds at the latest.
type Plugin interface {
	Initialize(context.Context) error
	BeginRollout(context.Context, *Request) error
	ProgressRollout(context.Context, *Request) error
	ValidateRolloutCompletion(context.Context, *Request) (Validation, error)
	MutateManifestWork(context.Context, *Request, *workv1.ManifestWork) (*workv1.ManifestWork, error)
}

// Request is what the enhancement passes to each call.
type Request struct {
	Name      string `json:"mwrsName"`
	Namespace string `json:"mwrsNamespace"`
	Placement string `json:"placementName"`
	// Cluster is empty for ProgressRollout, which is about all clusters.
	Cluster string `json:"currentClusterName,omitempty"`
	// Revision and Attempt identify the work of the call. An answer that repeats them is known to be about this one.
	Revision string `json:"manifestRevisionName"`
	Attempt  int    `json:"attempt,omitempty"`
	// Position is that of the cluster, where it has one.
	Position     *rollout.Position `json:"position,omitempty"`
	ClusterCount int               `json:"totalClusterCount"`
	Status       RolloutStatus     `json:"rolloutStatus"`
}

// RolloutStatus has the states of the clusters.
type RolloutStatus struct {
	Completed   []ClusterStatus `json:"completedClusters,omitempty"`
	Progressing []ClusterStatus `json:"progressingClusters,omitempty"`
	TimedOut    []ClusterStatus `json:"timedOutClusters,omitempty"`
	Removed     []ClusterStatus `json:"removedClusters,omitempty"`
}

// ClusterStatus is the state of one cluster with a revision: the one that is rolled out, or for a removed cluster the one
// that it has.
type ClusterStatus struct {
	Cluster  string               `json:"clusterName"`
	Status   status.RolloutStatus `json:"rolloutStatus,omitempty"`
	Revision string               `json:"manifestRevisionName,omitempty"`
}

// Validation is the answer of ValidateRolloutCompletion.
type Validation struct {
	Result  status.ValidationResult `json:"result"`
	Message string                  `json:"message,omitempty"`
	// Revision and Attempt are those of the request, if the plugin repeats them.
	Revision string `json:"manifestRevisionName,omitempty"`
	Attempt  *int   `json:"attempt,omitempty"`
}

// isAbout says whether the answer is about the request, as far as it says so.
func (v *Validation) isAbout(request *Request) bool {
	return (v.Revision == "" || v.Revision == request.Revision) && (v.Attempt == nil || *v.Attempt == request.Attempt)
}

func (r *Rollout) statusOf(result *rollout.Result) (s RolloutStatus) {
	add := func(to *[]ClusterStatus, clusters ...rollout.Cluster) {
		for _, c := range clusters {
			*to = append(*to, ClusterStatus{Cluster: c.Name, Status: c.Status, Revision: r.Version})
		}
	}
	for c := range result.Settled() {
		if c.Status == status.TimeOut {
			add(&s.TimedOut, c)
		} else {
			add(&s.Completed, c)
		}
	}
	add(&s.Progressing, result.InFlight...)
	add(&s.TimedOut, result.TimedOut...)
	for _, work := range r.Works {
		if !slices.Contains(result.Removed, work.Namespace) {
			continue
		}
		has := status.StampOf(work).Version
		report, _ := status.FromManifestWork(status.WorkState{Work: work, Version: has, Now: r.Now})
		s.Removed = append(s.Removed, ClusterStatus{Cluster: work.Namespace, Status: report.Status, Revision: has})
	}
	return s
}
