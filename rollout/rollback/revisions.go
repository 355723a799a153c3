// SPDX-License-Identifier: Apache-2.0

package rollback

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/cohort-ocm/cohort/status"
)

// Revisions names the versions of the workload that an owner goes from and to. The names follow OCM's enhancement 229
// and the status of a StatefulSet: a revision is a version, such as a hash of the template. Keep Revisions in the
// owner's status. Keep the template of the current revision, for instance in a ControllerRevision, as long as clusters
// may roll back to it.
//
//	current v1, update v1 ── Want v2 ──▶ current v1, update v2 ── Complete ──▶ current v2, update v2
//	                                            │
//	                                          Abort
//	                                            ▼
//	                              current v1, update v2, aborted ── Want v3 ──▶ current v1, update v3
//
// The zero value is for an owner that was never rolled out. Its first revision has none before it, and cannot be aborted.
// For an owner that was rolled out before it kept revisions, set CurrentRevision to the version that its clusters run, if
// you have kept its template. Otherwise the first change cannot be aborted, unless Complete was called before it.
type Revisions struct {
	// CurrentRevision is the last revision that was rolled out to its end; empty if none was. Clusters roll back to it.
	CurrentRevision string `json:"currentRevision,omitempty"`
	// UpdateRevision is the revision of the present template. It equals CurrentRevision where nothing is being rolled
	// out.
	UpdateRevision string `json:"updateRevision,omitempty"`
	// AbortedTime is when the update revision was aborted, in whole seconds; nil if it is not.
	AbortedTime *metav1.Time `json:"abortedTime,omitempty"`
}

// Target gives the revision that clusters get now: the current revision where the update was aborted, otherwise the
// update revision.
func (r Revisions) Target() string {
	if r.AbortedTime != nil {
		return r.CurrentRevision
	}
	return r.UpdateRevision
}

// Want sets the revision of the present template, and says whether anything changed. Another template ends an abort,
// even if it is the template of the current revision: clusters then get it by an ordinary rollout.
func (r *Revisions) Want(revision string) bool {
	if revision == r.UpdateRevision {
		return false
	}
	r.UpdateRevision, r.AbortedTime = revision, nil
	return true
}

// Abort takes the update revision back from now on, and says whether anything changed. Nothing changes where it is taken
// back already, where no rollout is under way, and where there is no revision to go back to, as long as the first one has
// not completed. Now has to come from the clock that stamps what is written, never from a user. To roll the same revision
// out once more, clear AbortedTime.
func (r *Revisions) Abort(now time.Time) bool {
	if r.AbortedTime != nil || r.CurrentRevision == "" || r.CurrentRevision == r.UpdateRevision {
		return false
	}
	aborted := metav1.NewTime(now.UTC().Truncate(time.Second))
	r.AbortedTime = &aborted
	return true
}

// Complete makes the update revision the current one if its rollout has ended within its budget and a cluster succeeded.
// The summary is this rollout's. Complete says whether anything changed; nothing does while the update is rolled back.
//
// Set a progressDeadline: without one, a cluster that failed or is silent is in flight for ever, even one that failed
// before the rollout began, and the rollout never ends.
func (r *Revisions) Complete(summary status.Summary) bool {
	ended := summary.Aggregate() != status.Progressing && summary.Breach == "" && summary.Succeeded > 0
	if r.AbortedTime != nil || r.CurrentRevision == r.UpdateRevision || !ended {
		return false
	}
	r.CurrentRevision = r.UpdateRevision
	return true
}
