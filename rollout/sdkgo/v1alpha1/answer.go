package v1alpha1

import (
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"

	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/rollout/sdkgo/v1beta1"
)

// answer turns a result into the shape of sdk-go. It lists clusters as sdk-go does, since tests compare lists: those that
// were reported first, by name or where groups go one after the other as they were given, and then those that start.
type answer struct {
	*rollout.Result
	now     time.Time
	given   []ClusterRolloutStatus
	inTurn  bool           // the groups go one after the other
	decided map[string]int // of each cluster with a status: the one in given that decided
}

func newAnswer(result *rollout.Result, given []ClusterRolloutStatus, now time.Time) *answer {
	a := &answer{Result: result, now: now, given: given, decided: make(map[string]int, len(given))}
	a.inTurn = result.Schedule.Type == clusterv1alpha1.ProgressivePerGroup || len(result.Start) > 0 && a.mandatory(result.Start[0])
	for i := range given {
		if at, known := a.decided[given[i].ClusterName]; !known || rank(given[i].Status) > rank(given[at].Status) {
			a.decided[given[i].ClusterName] = i
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

// rank orders statuses by how much they hold a rollout back.
func rank(s RolloutStatus) int {
	if s < ToApply || s > Skip {
		s = Progressing
	}
	return [...]int{ToApply: 2, Progressing: 3, Succeeded: 1, Failed: 5, TimeOut: 4, Skip: 0}[s]
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
		s := ClusterRolloutStatus{ClusterName: c.Name, GroupKey: v1beta1.GroupKey{GroupName: c.Group.Name, GroupIndex: c.Group.Index}}
		if at, reported := a.decided[c.Name]; reported && !a.inTurn {
			r.ClustersToRollout = append(r.ClustersToRollout, a.given[at])
		} else {
			starts = append(starts, s)
		}
	}
	a.order(r.ClustersToRollout)
	slices.SortFunc(starts, byName)
	r.ClustersToRollout = append(r.ClustersToRollout, starts...)
	r.RecheckAfter = a.recheckAfter()
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

// list gives the statuses of reported clusters, with the time at which each changes by time alone.
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

// recheckTime is when the deadline or the soak of a cluster ends; nil where it has none. An unknown time of transition
// counts as now, as in sdk-go.
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

func (a *answer) recheckAfter() *time.Duration {
	if a.RecheckAfter <= 0 {
		return nil
	}
	return &a.Result.RecheckAfter
}
