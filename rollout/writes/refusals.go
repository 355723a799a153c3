// SPDX-License-Identifier: Apache-2.0

package writes

import (
	"maps"
	"slices"

	"github.com/cohort-ocm/cohort/internal/clauses"
	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/status"
)

// Refusals are the clusters for which the API server refused the last write, with the error. Keep them for each owner, so
// that the next plan says why such a cluster does not start: `c1 starts once the API server accepts the write of its object,
// which it refused: "exceeded quota"`. The zero value is ready to use.
type Refusals map[string]error

// Wrote records the answer to a write for a cluster. An answer that does not tell whether the write was made changes
// nothing ([Refused]).
func (r *Refusals) Wrote(cluster string, err error) {
	switch {
	case err == nil:
		delete(*r, cluster)
	case !Refused(err):
	case *r == nil:
		*r = Refusals{cluster: err}
	default:
		(*r)[cluster] = err
	}
}

// In returns the reports of a plan with the refusals: each refused cluster that the result starts has the reason
// [status.ReportRefused] and the error as its message. Plan once without refusals, and again with what In returns if it has any:
// the second plan starts the same clusters, and says why they do not get their objects. Neither argument is changed.
func (r Refusals) In(reports []status.Report, result *rollout.Result) (told []status.Report, some bool) {
	refused := make(map[string]string)
	for _, cluster := range result.Start {
		if err := r[cluster.Name]; err != nil {
			refused[cluster.Name] = clauses.Line(err.Error())
		}
	}
	if len(refused) == 0 {
		return reports, false
	}
	told = slices.Clone(reports)
	reported := make(map[string]bool)
	for i := range told {
		report := &told[i]
		message, is := refused[report.Cluster]
		if !is {
			continue
		}
		reported[report.Cluster] = true
		if report.Status == status.ToApply && report.Applied.IsZero() {
			report.Reason, report.Message = status.ReportRefused, message
		}
	}
	for _, cluster := range slices.Sorted(maps.Keys(refused)) {
		if !reported[cluster] {
			told = append(told, status.Report{Cluster: cluster, Status: status.ToApply, Reason: status.ReportRefused, Message: refused[cluster]})
		}
	}
	return told, true
}
