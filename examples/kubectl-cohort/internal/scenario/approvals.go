package scenario

import (
	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/rollout/approvals"
)

const annotationPrefix = "cohort.open-cluster-management.io/"

// approve reads what people decided about the rollout. Where a controller cannot read that it starts nobody, and neither does this.
func (s *Scenario) approve(r applier) {
	asked, err := approvals.Of(&r.Object)
	if err != nil {
		s.note("%v: nobody starts as long as that stands there", r.Fault(err))
		asked.Pause = true
	}
	s.Asked = asked
	s.noteClusters("given up by the annotation "+annotationPrefix+"give-up", s.Asked.GiveUp)
	if asked.Pause && err == nil {
		s.note("paused by the annotation %spause", annotationPrefix)
	}
}

// Options are those that people asked for, while the version is wanted that is wanted now.
func (s *Scenario) Options() rollout.Options {
	if s.Policy != nil {
		return s.Asked.Options("", s.Version)
	}
	return s.Asked.Options(s.Placement.Name, s.Version)
}
