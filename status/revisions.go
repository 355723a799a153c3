package status

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Revisions says between which versions of its workload an object is. The names follow OCM's enhancement 229 and the
// status of a StatefulSet: a revision is a version, such as a hash of the template. Keep them in the owner's status, and
// keep the template of the current revision, for instance in a ControllerRevision, as long as one may go back to it.
//
//	current v1, update v1 ── Want v2 ──▶ current v1, update v2 ── Complete ──▶ current v2, update v2
//	                                            │
//	                                          Abort
//	                                            ▼
//	                              current v1, update v2, aborted ── Want v3 ──▶ current v1, update v3
//
// The zero value is that of an object that nobody rolled out yet. Its first revision has none before it, and cannot be
// aborted. For an object that was rolled out before it kept revisions, set CurrentRevision to the version that its clusters
// run, if you keep the template of it. Otherwise the first change cannot be aborted, unless a call of Complete came before
// it.
type Revisions struct {
	// CurrentRevision is the last one that was rolled out to its end; empty if none was. Clusters go back to it.
	CurrentRevision string `json:"currentRevision,omitempty"`
	// UpdateRevision is the one of the present template. It is the current one where nothing is rolled out.
	UpdateRevision string `json:"updateRevision,omitempty"`
	// AbortedTime says since when the update revision is taken back; nil if it is not. It has whole seconds.
	AbortedTime *metav1.Time `json:"abortedTime,omitempty"`
}

// Target gives the revision that clusters get now: the current one where the update was aborted, else the update
// revision.
func (r Revisions) Target() string {
	if r.AbortedTime != nil {
		return r.CurrentRevision
	}
	return r.UpdateRevision
}

// Want takes in the revision of the present template and says whether anything changed. Another template ends what was
// aborted, also if it is that of the current revision: who writes the older template goes back by an ordinary rollout.
func (r *Revisions) Want(revision string) bool {
	if revision == r.UpdateRevision {
		return false
	}
	r.UpdateRevision, r.AbortedTime = revision, nil
	return true
}

// Abort takes the update revision back from now on, and says whether anything changed. Nothing does where it was taken
// back before, where no rollout is under way, and where there is no revision to go back to: as long as the first one has
// not completed. The time has to be by the
// clock that stamps what is written: do not take over one that a person wrote. Who wants the same revision once more clears
// AbortedTime.
func (r *Revisions) Abort(now time.Time) bool {
	if r.AbortedTime != nil || r.CurrentRevision == "" || r.CurrentRevision == r.UpdateRevision {
		return false
	}
	aborted := metav1.NewTime(now.UTC().Truncate(time.Second))
	r.AbortedTime = &aborted
	return true
}

// Complete makes the update revision the current one if its rollout, of which a summary is given, is at its end within its
// budget and a cluster succeeded. It says whether anything changed. Nothing does while the update is taken back.
//
// Set a progressDeadline: without one a cluster that failed or is silent is in flight for ever, also one that failed before
// the rollout began, and the rollout has no end.
func (r *Revisions) Complete(s Summary) bool {
	ended := s.Aggregate() != Progressing && s.Breach == "" && s.Succeeded > 0
	if r.AbortedTime != nil || r.CurrentRevision == r.UpdateRevision || !ended {
		return false
	}
	r.CurrentRevision = r.UpdateRevision
	return true
}
