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

// answer turns a result into the shape of sdk-go. It lists clusters in sdk-go's order, since tests compare lists: first
// the reported clusters, by name or, where groups go one after the other, as they were given; then the clusters that
// start.
type answer struct {
	*rollout.Result
	now     time.Time
	given   []ClusterRolloutStatus
	inTurn  bool           // the groups go one after the other
	decided map[string]int // for each cluster with a status the one in given that decided
}

func newAnswer(result *rollout.Result, given []ClusterRolloutStatus, now time.Time) *answer {
	a := &answer{Result: result, now: now, given: given, decided: make(map[string]int, len(given))}
	a.inTurn = result.Schedule.Type == clusterv1alpha1.ProgressivePerGroup || len(result.Start) > 0 && a.mandatory(result.Start[0])
	for i := range given {
		r := given[i].report()
		if at, known := a.decided[r.Cluster]; !known || status.Merge(given[at].report(), r) == r {
			a.decided[r.Cluster] = i
		}
	}
	return a
}

// mandatory says whether the cluster is in a mandatory group.
func (a *answer) mandatory(cluster rollout.Cluster) bool {
	return slices.ContainsFunc(a.Schedule.Stages, func(s rollout.Stage) bool {
		return s.Mandatory && slices.Contains(s.Groups, cluster.Group)
	})
}

func (a *answer) result() RolloutResult {
	r := RolloutResult{MaxFailureBreach: a.Breach != nil}
	removed := make(map[string]bool, len(a.Removed))
	for _, cluster := range a.Removed {
		removed[cluster] = true
	}
	for _, s := range a.given {
		if removed[s.ClusterName] {
			r.ClustersRemoved = append(r.ClustersRemoved, s)
		}
	}

	r.ClustersToRollout = a.list(a.InFlight)
	r.ClustersTimeOut = a.list(a.TimedOut)
	for i := range r.ClustersTimeOut {
		r.ClustersTimeOut[i].Status = TimeOut
	}
	var starts []ClusterRolloutStatus
	for _, c := range a.Start {
		if at, reported := a.decided[c.Name]; reported && !a.inTurn {
			r.ClustersToRollout = append(r.ClustersToRollout, a.given[at])
			continue
		}
		group := v1beta1.GroupKey{GroupName: c.Group.Name, GroupIndex: c.Group.Index}
		starts = append(starts, ClusterRolloutStatus{ClusterName: c.Name, GroupKey: group})
	}
	a.order(r.ClustersToRollout)
	slices.SortFunc(starts, byName)
	r.ClustersToRollout = append(r.ClustersToRollout, starts...)
	if after := a.RecheckAfter; after > 0 {
		r.RecheckAfter = &after
	}
	return r
}

func byName(a, b ClusterRolloutStatus) int { return strings.Compare(a.ClusterName, b.ClusterName) }

// order sorts clusters with a status as sdk-go lists them.
func (a *answer) order(statuses []ClusterRolloutStatus) {
	slices.SortFunc(statuses, func(x, y ClusterRolloutStatus) int {
		if a.inTurn {
			return a.decided[x.ClusterName] - a.decided[y.ClusterName]
		}
		return byName(x, y)
	})
}

// list gives the statuses of reported clusters, each with the time at which time alone changes it.
func (a *answer) list(clusters []rollout.Cluster) []ClusterRolloutStatus {
	var list []ClusterRolloutStatus
	for _, c := range clusters {
		s := a.given[a.decided[c.Name]]
		s.RecheckTime = a.recheckTime(&s)
		list = append(list, s)
	}
	a.order(list)
	return list
}

// recheckTime gives the time at which the deadline or the soak of a cluster ends; nil where it has none. An unknown
// time of transition counts as now, as in sdk-go.
func (a *answer) recheckTime(s *ClusterRolloutStatus) *metav1.Time {
	limit := a.Schedule.ProgressDeadline
	if s.Status == Succeeded {
		limit = &a.Schedule.MinSuccessTime
	}
	if limit == nil {
		return nil
	}
	since := a.now
	if s.LastTransitionTime != nil {
		since = s.LastTransitionTime.Time
	}
	return &metav1.Time{Time: since.Add(*limit)}
}
