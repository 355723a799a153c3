// SPDX-License-Identifier: Apache-2.0

package passes_test

import (
	"strings"
	"time"

	"github.com/cohort-ocm/cohort/override"
	"github.com/cohort-ocm/cohort/status"
	"github.com/cohort-ocm/cohort/status/policyv1"
)

// checkReports checks what each replica says to the rollout: nothing where it is of another version, not bound, or has the wrong action
// in the one pass (O8, O9), and otherwise its report, with the verdict (O22), or that it waits.
func (w *world) checkReports(resolution *override.Resolution) {
	w.t.Helper()
	for name, r := range w.replicas {
		bound, is := resolution.Find(name)
		started := strings.EqualFold(string(r.Action), string(bound.Action))
		if !started && resolution.Undecided() { // O14
			continue
		}
		s := status.ToApply
		switch {
		case started && bound.Action == policyv1.Inform && r.Compliance != "" && r.Generation == r.LastEvaluatedGeneration:
			s, _ = naiveJudge(r, status.Succeeded, time.Time{})
		case started && bound.Action == policyv1.Inform:
			s = status.Progressing
		case started:
			s, _ = w.limits.naiveReport(r)
		}
		said, says := r.Report(resolution, w.versionName(), w.now)
		if want := is && r.Version == w.versionName() && (started || w.isTwo()); says != want || says && (said.Status != s || said.Cluster != name) {
			w.t.Fatalf("%+v says %v (%v), want %s (%v)", r, said, says, s, want)
		}
	}
}
