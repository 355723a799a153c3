package v1alpha1

import (
	"regexp"
	"time"

	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"

	"github.com/cohort-ocm/cohort/status"
)

// Under sdk-go a deadline of 0 times out whatever is not done, at once. Package rollout refuses it, for who writes it
// mostly means none. Strategies that were stored before anybody refused them keep their meaning here: a deadline of 0 is
// one of a second that began a second earlier.

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

// backdate lets the second of a deadline have passed. A transition at a time that nobody knows is long past then.
func backdate(r *status.Report) {
	if r.Status == status.Progressing || r.Status == status.Failed {
		r.LastTransitionTime = r.LastTransitionTime.Add(-time.Second)
	}
}
