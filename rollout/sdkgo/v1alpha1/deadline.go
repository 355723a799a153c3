package v1alpha1

import (
	"regexp"
	"time"

	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"

	"github.com/cohort-ocm/cohort/status"
)

// In sdk-go a deadline of 0 times out at once whatever is not done. Package rollout refuses it, since whoever writes it
// mostly means no deadline. Strategies that were stored earlier keep their meaning here: a deadline of 0 becomes a
// deadline of one second that began a second earlier.

var deadlineOfZero = regexp.MustCompile(`^(0+[hms])+$`)

// withoutZero replaces a deadline of 0 in a copy of the strategy, and says whether there was one.
func withoutZero(strategy clusterv1alpha1.RolloutStrategy) (clusterv1alpha1.RolloutStrategy, bool) {
	s := *strategy.DeepCopy()
	c := new(clusterv1alpha1.RolloutConfig)
	switch {
	case s.Type == clusterv1alpha1.Progressive && s.Progressive != nil:
		c = &s.Progressive.RolloutConfig
	case s.Type == clusterv1alpha1.ProgressivePerGroup && s.ProgressivePerGroup != nil:
		c = &s.ProgressivePerGroup.RolloutConfig
	case (s.Type == clusterv1alpha1.All || s.Type == "") && s.All != nil:
		c = &s.All.RolloutConfig
	}
	if !deadlineOfZero.MatchString(c.ProgressDeadline) {
		return s, false
	}
	c.ProgressDeadline = time.Second.String()
	return s, true
}

// backdate moves times back by a second, so that a deadline of one second has passed. A transition at an unknown time
// counts as long past.
func backdate(r *status.Report) {
	if r.Status == status.Progressing || r.Status == status.Failed {
		r.LastTransitionTime = r.LastTransitionTime.Add(-time.Second)
	}
}
