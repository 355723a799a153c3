// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	"regexp"
	"time"

	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"

	"github.com/cohort-ocm/cohort/status"
)

// In sdk-go a deadline of 0 times out at once each cluster that is not done. Package rollout refuses it, since its author
// mostly means no deadline. Stored strategies keep their meaning here: a deadline of 0 becomes a deadline of one second
// that began a second earlier.

var deadlineOfZero = regexp.MustCompile(`^(0+[hms])+$`)

// withoutZero replaces a deadline of 0 in a copy of the strategy, and says whether there was one.
func withoutZero(strategy clusterv1alpha1.RolloutStrategy) (clusterv1alpha1.RolloutStrategy, bool) {
	copied := *strategy.DeepCopy()
	config := new(clusterv1alpha1.RolloutConfig)
	switch {
	case copied.Type == clusterv1alpha1.Progressive && copied.Progressive != nil:
		config = &copied.Progressive.RolloutConfig
	case copied.Type == clusterv1alpha1.ProgressivePerGroup && copied.ProgressivePerGroup != nil:
		config = &copied.ProgressivePerGroup.RolloutConfig
	case (copied.Type == clusterv1alpha1.All || copied.Type == "") && copied.All != nil:
		config = &copied.All.RolloutConfig
	}
	if !deadlineOfZero.MatchString(config.ProgressDeadline) {
		return copied, false
	}
	config.ProgressDeadline = time.Second.String()
	return copied, true
}

// backdate moves times back by a second, so that a deadline of one second has passed. A transition at an unknown time
// counts as long past.
func backdate(report *status.Report) {
	if report.Status == status.Progressing || report.Status == status.Failed {
		report.LastTransitionTime = report.LastTransitionTime.Add(-time.Second)
	}
}
