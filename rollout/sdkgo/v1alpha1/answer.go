// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"

	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/rollout/sdkgo/v1beta1"
	"github.com/cohort-ocm/cohort/status"
)

// answer turns a result into the shape of sdk-go. It lists clusters in sdk-go's order, since tests compare lists: first the
// reported clusters, then the clusters that start. Reported clusters are in the order of names; if groups go one after the
// other, they are in the given order.
type answer struct {
	*rollout.Result
	now     time.Time
	given   []ClusterRolloutStatus
	inTurn  bool           // the groups go one after the other
	decided map[string]int // for each cluster with a status, the index of the one in given that decided
}

func newAnswer(result *rollout.Result, given []ClusterRolloutStatus, now time.Time) *answer {
	answered := &answer{Result: result, now: now, given: given, decided: make(map[string]int, len(given))}
	answered.inTurn = result.Schedule.Type == clusterv1alpha1.ProgressivePerGroup || len(result.Start) > 0 && answered.mandatory(result.Start[0])
	for i := range given {
		report := given[i].report()
		if at, known := answered.decided[report.Cluster]; !known || status.Merge(given[at].report(), report) == report {
			answered.decided[report.Cluster] = i
		}
	}
	return answered
}

func (a *answer) mandatory(cluster rollout.Cluster) bool {
	return slices.ContainsFunc(a.Schedule.Stages, func(stage rollout.Stage) bool {
		return stage.Mandatory && slices.Contains(stage.Groups, cluster.Group)
	})
}

func (a *answer) result() RolloutResult {
	shaped := RolloutResult{MaxFailureBreach: a.Breach != nil}
	removed := make(map[string]bool, len(a.Removed))
	for _, cluster := range a.Removed {
		removed[cluster] = true
	}
	for _, given := range a.given {
		if removed[given.ClusterName] {
			shaped.ClustersRemoved = append(shaped.ClustersRemoved, given)
		}
	}

	shaped.ClustersToRollout = a.list(a.InFlight)
	shaped.ClustersTimeOut = a.list(a.TimedOut)
	for i := range shaped.ClustersTimeOut {
		shaped.ClustersTimeOut[i].Status = TimeOut
	}
	var starts []ClusterRolloutStatus
	for _, cluster := range a.Start {
		if at, reported := a.decided[cluster.Name]; reported && !a.inTurn {
			shaped.ClustersToRollout = append(shaped.ClustersToRollout, a.given[at])
			continue
		}
		group := v1beta1.GroupKey{GroupName: cluster.Group.Name, GroupIndex: cluster.Group.Index}
		starts = append(starts, ClusterRolloutStatus{ClusterName: cluster.Name, GroupKey: group})
	}
	a.order(shaped.ClustersToRollout)
	slices.SortFunc(starts, byName)
	shaped.ClustersToRollout = append(shaped.ClustersToRollout, starts...)
	if after := a.RecheckAfter; after > 0 {
		shaped.RecheckAfter = &after
	}
	return shaped
}

func byName(a, b ClusterRolloutStatus) int { return strings.Compare(a.ClusterName, b.ClusterName) }

// order sorts clusters with a status as sdk-go lists them.
func (a *answer) order(statuses []ClusterRolloutStatus) {
	slices.SortFunc(statuses, func(first, second ClusterRolloutStatus) int {
		if a.inTurn {
			return a.decided[first.ClusterName] - a.decided[second.ClusterName]
		}
		return byName(first, second)
	})
}

// list returns the statuses of reported clusters, each with its RecheckTime.
func (a *answer) list(clusters []rollout.Cluster) []ClusterRolloutStatus {
	var list []ClusterRolloutStatus
	for _, cluster := range clusters {
		given := a.given[a.decided[cluster.Name]]
		given.RecheckTime = a.recheckTime(&given)
		list = append(list, given)
	}
	a.order(list)
	return list
}

// recheckTime is the end of a cluster's deadline or soak; nil if it has none. An unknown transition time counts as now, as
// in sdk-go.
func (a *answer) recheckTime(given *ClusterRolloutStatus) *metav1.Time {
	limit := a.Schedule.ProgressDeadline
	if given.Status == Succeeded {
		limit = &a.Schedule.MinSuccessTime
	}
	if limit == nil {
		return nil
	}
	since := a.now
	if given.LastTransitionTime != nil {
		since = given.LastTransitionTime.Time
	}
	return &metav1.Time{Time: since.Add(*limit)}
}
