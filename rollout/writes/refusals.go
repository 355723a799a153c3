// SPDX-License-Identifier: Apache-2.0

package writes

import (
	"maps"
	"slices"

	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/internal/clauses"
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

// In returns the reports of a plan with the refusals: each selected cluster that waits for its turn and was refused has the
// reason [status.ReportRefused] and the error as its message. The groups are those of all plans of the owner. Neither
// argument is changed.
func (r Refusals) In(reports []status.Report, groups ...*grouping.Groups) []status.Report {
	if len(r) == 0 {
		return reports
	}
	reports = slices.Clone(reports)
	reported := make(map[string]bool)
	for i := range reports {
		report := &reports[i]
		err, refused := r[report.Cluster]
		if !refused {
			continue
		}
		reported[report.Cluster] = true
		if report.Status == status.ToApply && report.Applied.IsZero() {
			report.Reason, report.Message = status.ReportRefused, clauses.Line(err.Error())
		}
	}
	for _, cluster := range slices.Sorted(maps.Keys(r)) {
		selects := func(groups *grouping.Groups) bool {
			_, selected := groups.Position(cluster)
			return selected
		}
		if !reported[cluster] && slices.ContainsFunc(groups, selects) {
			reports = append(reports, status.Report{Cluster: cluster, Status: status.ToApply, Reason: status.ReportRefused, Message: clauses.Line(r[cluster].Error())})
		}
	}
	return reports
}
