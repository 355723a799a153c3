// SPDX-License-Identifier: Apache-2.0

package status_test

import (
	"testing"

	workv1 "open-cluster-management.io/api/work/v1"
	workv1alpha1 "open-cluster-management.io/api/work/v1alpha1"

	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/status"
)

// S5, R37: ignored clusters are in no number but their own, and add up.
func TestIgnoredClustersAreCountedSeparately(t *testing.T) {
	a := status.Counts{Succeeded: 1, Ignored: 2, IgnoredToApply: 1}
	b := status.Counts{Failed: 1, Ignored: 3, IgnoredToApply: 3}
	want := status.Counts{Succeeded: 1, Failed: 1, Ignored: 5, IgnoredToApply: 4}
	if got := a.Add(b); got != want || b.Add(a) != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	if a.Total() != 1 || a.Done() != 1 || a.Percent() != 100 || b.InFlight() != 1 || b.Failures() != 1 {
		t.Errorf("%v; %v", a, b)
	}
	if all := (status.Summary{Counts: status.Counts{Succeeded: 4, Ignored: 1}}); all.Percent() != 100 || all.Aggregate() != status.Succeeded {
		t.Errorf("%d%%, %v", all.Percent(), all.Aggregate())
	}
}

// S8, R37: a ManifestWorkReplicaSet wants a work for each cluster, counted or not, and those that have the present version
// are updated.
func TestAReplicaSetWantsWorksForIgnoredClusters(t *testing.T) {
	groups, err := grouping.FromNames(map[grouping.Key][]string{{}: {"a", "b", "c", "d"}})
	if err != nil {
		t.Fatal(err)
	}
	var st workv1alpha1.ManifestWorkReplicaSetStatus
	status.SetReplicaSetStatus(&st, []status.PlacementProgress{{
		Name: "p", Groups: groups, Works: []*workv1.ManifestWork{manifestWork()},
		Summary: status.Summary{Counts: status.Counts{Succeeded: 1, Ignored: 3, IgnoredToApply: 1}},
	}}, 1, at(1))
	if got := st.Summary; got.DesiredTotal != 4 || got.Updated != 3 || got.Total != 1 {
		t.Errorf("%+v", got)
	}
}

// R1, R39: the order of reports has no say, also where they differ in nothing but the attempt.
func TestAttemptsDecideBetweenEqualReports(t *testing.T) {
	for _, s := range []status.RolloutStatus{status.Succeeded, status.Skip, status.ToApply, status.Failed} {
		first, second := status.Report{Cluster: "a", Status: s}, status.Report{Cluster: "a", Status: s, Attempt: 1}
		if status.Merge(first, second) != second || status.Merge(second, first) != second {
			t.Errorf("%s: %+v, %+v", s, status.Merge(first, second), status.Merge(second, first))
		}
	}
}

// R1, R39: an attempt below the first is the first, so that the status decides between the two.
func TestAnAttemptBelowTheFirstIsMergedAsTheFirst(t *testing.T) {
	failed, other := status.Report{Cluster: "a", Status: status.Failed, Attempt: -1}, status.Report{Cluster: "a", Status: status.Progressing}
	if status.Merge(failed, other) != failed || status.Merge(other, failed) != failed {
		t.Errorf("%+v, %+v; want %+v", status.Merge(failed, other), status.Merge(other, failed), failed)
	}
}
