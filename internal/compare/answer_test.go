// SPDX-License-Identifier: Apache-2.0

package compare

import (
	"fmt"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	sdkv1alpha1 "open-cluster-management.io/sdk-go/pkg/apis/cluster/v1alpha1"

	"github.com/cohort-ocm/cohort/rollout"
	ownv1alpha1 "github.com/cohort-ocm/cohort/rollout/sdkgo/v1alpha1"
	"github.com/cohort-ocm/cohort/status"
)

// answer is what one side says of a world; doc.go has the table of what becomes what.
type answer struct {
	refused                            bool
	start, inFlight, timedOut, removed []string // by name
	breach                             bool
	recheck                            time.Duration
}

// cohort is what this library says.
func (w world) cohort() answer {
	result, err := rollout.Plan(w.strategy, w.groups, w.reports, now, rollout.Options{})
	if err != nil {
		return answer{refused: true}
	}
	return answer{
		start:    sorted(result.Start, func(c rollout.Cluster) string { return c.Name }),
		inFlight: sorted(result.InFlight, func(c rollout.Cluster) string { return c.Name }),
		timedOut: sorted(result.TimedOut, func(c rollout.Cluster) string { return c.Name }),
		removed:  sorted(result.Removed, func(name string) string { return name }),
		breach:   result.Breach != nil,
		recheck:  result.RecheckAfter,
	}
}

// reference is what sdk-go says.
func (w world) reference() answer {
	_, result, err := w.sdkgo.GetRolloutCluster(w.strategy, sdkReports(w.reports))
	return sdkAnswer(result, err)
}

// dropInSays is what the drop-in says, in sdk-go's words.
func (w world) dropInSays() answer {
	statuses := make([]ownv1alpha1.ClusterRolloutStatus, len(w.reports))
	for i, s := range sdkReports(w.reports) {
		statuses[i] = ownv1alpha1.ClusterRolloutStatus{ClusterName: s.ClusterName, Status: ownv1alpha1.RolloutStatus(s.Status), LastTransitionTime: s.LastTransitionTime}
	}
	_, own, err := w.dropIn.GetRolloutCluster(w.strategy, statuses)
	result := sdkv1alpha1.RolloutResult{MaxFailureBreach: own.MaxFailureBreach, RecheckAfter: own.RecheckAfter}
	for _, list := range []struct {
		own []ownv1alpha1.ClusterRolloutStatus
		sdk *[]sdkv1alpha1.ClusterRolloutStatus
	}{
		{own.ClustersToRollout, &result.ClustersToRollout},
		{own.ClustersTimeOut, &result.ClustersTimeOut},
		{own.ClustersRemoved, &result.ClustersRemoved},
	} {
		for _, s := range list.own {
			*list.sdk = append(*list.sdk, sdkv1alpha1.ClusterRolloutStatus{ClusterName: s.ClusterName, Status: sdkv1alpha1.RolloutStatus(s.Status)})
		}
	}
	return sdkAnswer(result, err)
}

func sdkAnswer(result sdkv1alpha1.RolloutResult, err error) answer {
	if err != nil {
		return answer{refused: true}
	}
	var start, inFlight []sdkv1alpha1.ClusterRolloutStatus
	for _, c := range result.ClustersToRollout {
		if c.Status == sdkv1alpha1.ToApply {
			start = append(start, c)
		} else {
			inFlight = append(inFlight, c)
		}
	}
	name := func(c sdkv1alpha1.ClusterRolloutStatus) string { return c.ClusterName }
	a := answer{
		start:    sorted(start, name),
		inFlight: sorted(inFlight, name),
		timedOut: sorted(result.ClustersTimeOut, name),
		removed:  sorted(result.ClustersRemoved, name),
		breach:   result.MaxFailureBreach,
	}
	if result.RecheckAfter != nil {
		a.recheck = *result.RecheckAfter
	}
	return a
}

// sdkReports gives reports in the type of the reference.
func sdkReports(reports []status.Report) []sdkv1alpha1.ClusterRolloutStatus {
	statuses := make([]sdkv1alpha1.ClusterRolloutStatus, len(reports))
	for i, r := range reports {
		statuses[i] = sdkv1alpha1.ClusterRolloutStatus{ClusterName: r.Cluster, Status: sdkStatus(r.Status)}
		if !r.LastTransitionTime.IsZero() {
			statuses[i].LastTransitionTime = &metav1.Time{Time: r.LastTransitionTime}
		}
	}
	return statuses
}

func sdkStatus(s status.RolloutStatus) sdkv1alpha1.RolloutStatus {
	switch s {
	case status.ToApply:
		return sdkv1alpha1.ToApply
	case status.Progressing:
		return sdkv1alpha1.Progressing
	case status.Succeeded:
		return sdkv1alpha1.Succeeded
	case status.Failed:
		return sdkv1alpha1.Failed
	case status.TimeOut:
		return sdkv1alpha1.TimeOut
	case status.Skip:
		return sdkv1alpha1.Skip
	default:
		return sdkv1alpha1.Skip + 1 // none that it knows
	}
}

func sorted[T any](list []T, name func(T) string) []string {
	var names []string
	for _, item := range list {
		names = append(names, name(item))
	}
	slices.Sort(names)
	return names
}

func (a answer) equal(b answer) bool {
	return a.refused == b.refused && a.breach == b.breach && a.recheck == b.recheck &&
		slices.Equal(a.start, b.start) && slices.Equal(a.inFlight, b.inFlight) &&
		slices.Equal(a.timedOut, b.timedOut) && slices.Equal(a.removed, b.removed)
}

// String is the answer in a line: `start c; in flight a b; breach; recheck after 5m0s`.
func (a answer) String() string {
	if a.refused {
		return "error"
	}
	var parts []string
	names := func(what string, names []string) {
		if len(names) > 0 {
			parts = append(parts, what+" "+strings.Join(names, " "))
		}
	}
	names("start", a.start)
	names("in flight", a.inFlight)
	names("timed out", a.timedOut)
	names("removed", a.removed)
	if a.breach {
		parts = append(parts, "breach")
	}
	if a.recheck > 0 {
		parts = append(parts, fmt.Sprintf("recheck after %v", a.recheck))
	}
	if len(parts) == 0 {
		return "nothing"
	}
	return strings.Join(parts, "; ")
}
