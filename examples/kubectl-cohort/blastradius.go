// SPDX-License-Identifier: Apache-2.0

package main

import (
	"slices"

	"github.com/cohort-ocm/cohort/examples/kubectl-cohort/internal/scenario"
	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/rollout/exposure"
	"github.com/cohort-ocm/cohort/status"
)

// blastRadius says how far the version of a rollout can get from where it stands now; nowhere where it changes no cluster.
func (f *flags) blastRadius(s *scenario.Scenario) (h here, err error) {
	course, err := s.Exposed()
	if err != nil || course.Groups == nil {
		return h, err
	}
	e, err := exposure.Of(course.Strategy, course.Groups, f.pace.learned(s).span(s), f.start.Time, f.options(s, f.start.Time))
	if err != nil {
		return h, err
	}
	return f.here(s, course, e)
}

// here says how far the version can get from where the rollout stands now. At each moment no more clusters are exposed than in
// a rollout that begins anew, and none that is done.
func (f *flags) here(s *scenario.Scenario, course scenario.Exposed, e exposure.Exposure) (h here, err error) {
	options := f.standing(s, f.start.Time)
	reports := slices.DeleteFunc(slices.Clone(s.Reports(options)), func(r status.Report) bool {
		_, enforced := course.Groups.Position(r.Cluster)
		return s.Policy != nil && !enforced
	})
	plan, err := rollout.Plan(course.Strategy, course.Groups, reports, f.start.Time, options)
	if err != nil {
		return h, err
	}
	n := plan.Next.Counts
	h = here{Clusters: n.Total(), Done: n.Succeeded - n.Soaking + n.Skip, Exposed: n.Progressing + n.Soaking + n.Failures(), Waiting: n.ToApply}
	h.AtMost = max(h.Exposed, min(e.Exposed, h.Clusters-h.Done))
	return h, nil
}
