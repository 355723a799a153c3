// SPDX-License-Identifier: Apache-2.0

package status_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	workv1 "open-cluster-management.io/api/work/v1"
	workv1alpha1 "open-cluster-management.io/api/work/v1alpha1"
	"pgregory.net/rapid"

	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/status"
)

// groupsOf reads groups from the names of their clusters: "a b|c".
func groupsOf(t testing.TB, text string) *grouping.Groups {
	t.Helper()
	var decisions []*clusterv1beta1.PlacementDecision
	for i, clusters := range strings.Split(text, "|") {
		d := &clusterv1beta1.PlacementDecision{ObjectMeta: metav1.ObjectMeta{
			Name: fmt.Sprint("d", i), Labels: map[string]string{clusterv1beta1.DecisionGroupIndexLabel: fmt.Sprint(i)},
		}}
		for _, name := range strings.Fields(clusters) {
			d.Status.Decisions = append(d.Status.Decisions, clusterv1beta1.ClusterDecision{ClusterName: name})
		}
		decisions = append(decisions, d)
	}
	groups, err := grouping.Read(nil, decisions)
	if err != nil {
		t.Fatal(err)
	}
	return groups
}

// works returns a work for each "cluster:conditions". Each condition is the first letter of a type, and True.
func works(text string) []*workv1.ManifestWork {
	types := map[rune]string{'A': workv1.WorkApplied, 'V': workv1.WorkAvailable, 'P': workv1.WorkProgressing, 'D': workv1.WorkDegraded}
	var out []*workv1.ManifestWork
	for _, entry := range strings.Fields(text) {
		cluster, letters, _ := strings.Cut(entry, ":")
		work := &workv1.ManifestWork{ObjectMeta: metav1.ObjectMeta{Namespace: cluster, Name: "w"}}
		for letter, conditionType := range types {
			value := metav1.ConditionFalse
			if strings.ContainsRune(letters, letter) {
				value = metav1.ConditionTrue
			}
			work.Status.Conditions = append(work.Status.Conditions, metav1.Condition{Type: conditionType, Status: value})
		}
		out = append(out, work)
	}
	return out
}

// S8: placementSummary counts what the API says its fields count, one reason a row.
func TestPlacementSummary(t *testing.T) {
	for _, test := range []struct {
		why       string
		groups    string
		works     string
		counts    status.Counts
		available string
		want      workv1alpha1.ManifestWorkReplicaSetSummary
	}{
		{
			"S8 nothing there yet", "a b|c", "", status.Counts{ToApply: 3}, "0/2",
			workv1alpha1.ManifestWorkReplicaSetSummary{DesiredTotal: 3},
		}, {
			"S8 each count is of one condition", "a b|c|d e", "a:A b:AV c:AP d:AD e:", status.Counts{Succeeded: 2, Progressing: 1, Failed: 1, ToApply: 1}, "0/3",
			workv1alpha1.ManifestWorkReplicaSetSummary{Total: 5, Applied: 4, Available: 1, Progressing: 1, Degraded: 1, DesiredTotal: 5, Updated: 4},
		}, {
			"S8 a group is available when all its clusters are", "a b|c|d e", "a:AV b:AV c:AV d:AV e:A", status.Counts{Succeeded: 5}, "2/3",
			workv1alpha1.ManifestWorkReplicaSetSummary{Total: 5, Applied: 5, Available: 4, DesiredTotal: 5, Updated: 5},
		}, {
			"S8 an empty group is available", "a|", "a:A", status.Counts{Progressing: 1}, "1/2",
			workv1alpha1.ManifestWorkReplicaSetSummary{Total: 1, Applied: 1, DesiredTotal: 1, Updated: 1},
		}, {
			"S8 a work on its way out counts and makes no group available", "a", "z:AV", status.Counts{ToApply: 1}, "0/1",
			workv1alpha1.ManifestWorkReplicaSetSummary{Total: 1, Applied: 1, Available: 1, DesiredTotal: 1},
		}, {
			"S8 a cluster left out is not updated; one that timed out is", "a|b", "a:A b:A", status.Counts{Skip: 1, TimeOut: 1}, "0/2",
			workv1alpha1.ManifestWorkReplicaSetSummary{Total: 2, Applied: 2, DesiredTotal: 2, Updated: 1},
		},
		{
			"S8 a deselected cluster counts for the limits, and is neither selected nor among the selected with the version; an ignored one is both", "a b|c", "a:A b:A c:A z:A",
			status.Counts{Succeeded: 2, Failed: 1, Deselected: 1, Ignored: 2, IgnoredToApply: 1}, "0/2",
			workv1alpha1.ManifestWorkReplicaSetSummary{Total: 4, Applied: 4, DesiredTotal: 4, Updated: 3},
		},
	} {
		t.Run(test.why, func(t *testing.T) {
			progress := status.PlacementProgress{
				Name: "p", Groups: groupsOf(t, test.groups), Works: append(works(test.works), nil), Summary: status.Summary{Counts: test.counts},
			}
			var st workv1alpha1.ManifestWorkReplicaSetStatus
			if !status.SetReplicaSetStatus(&st, []status.PlacementProgress{progress}, 1, noon) {
				t.Error("nothing changed")
			}
			want := []workv1alpha1.PlacementSummary{{Name: "p", AvailableDecisionGroups: test.available, Summary: test.want}}
			if diff := cmp.Diff(want, st.PlacementsSummary); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(test.want, st.Summary); diff != "" {
				t.Errorf("of one placement, the total (-want +got):\n%s", diff)
			}
		})
	}
}

// S8: the total is the sum over all placements.
func TestPlacementSummaryOfSeveral(t *testing.T) {
	var st workv1alpha1.ManifestWorkReplicaSetStatus
	done := status.Summary{Counts: status.Counts{Succeeded: 1}}
	status.SetReplicaSetStatus(&st, []status.PlacementProgress{
		{Name: "z", Groups: groupsOf(t, "a"), Works: works("a:APVD"), Summary: done},
		{Name: "y", Groups: groupsOf(t, "b"), Works: works("b:APVD"), Summary: done},
	}, 1, noon)
	if want := (workv1alpha1.ManifestWorkReplicaSetSummary{
		Total: 2, Progressing: 2, Available: 2, Degraded: 2, Applied: 2, DesiredTotal: 2, Updated: 2,
	}); st.Summary != want {
		t.Errorf("total %+v, want %+v", st.Summary, want)
	}
	st.Summary.Total = 9
	if !status.SetReplicaSetStatus(&st, nil, 1, noon) || st.Summary.Total != 0 {
		t.Errorf("without placements: %+v", st)
	}
	if c := st.Conditions[2]; c.Message != "no placement is rolled out to" {
		t.Errorf("without placements PlacementRolledOut says %q", c.Message)
	}
	st.Summary.Total = 9
	if !status.SetReplicaSetStatus(&st, nil, 1, noon) {
		t.Error("a total that is wrong by itself is no change")
	}
}

// S8: entries are in the order of the placements, and entries of other placements go.
func TestPlacementSummaryOrder(t *testing.T) {
	st := workv1alpha1.ManifestWorkReplicaSetStatus{PlacementsSummary: []workv1alpha1.PlacementSummary{{Name: "gone"}}}
	status.SetReplicaSetStatus(&st, []status.PlacementProgress{{Name: "z"}, {Name: "y"}}, 1, noon)
	if len(st.PlacementsSummary) != 2 || st.PlacementsSummary[0].Name != "z" || st.PlacementsSummary[1].Name != "y" {
		t.Errorf("entries %+v", st.PlacementsSummary)
	}
}

// S8: PlacementRolledOut, one reason a row.
func TestPlacementRolledOut(t *testing.T) {
	counts := func(c status.Counts) status.Summary { return status.Summary{Counts: c} }
	done := counts(status.Counts{Succeeded: 2})
	for _, test := range []struct {
		why       string
		summaries []status.Summary
		want      string
	}{
		{"S8 all done", []status.Summary{done}, "True Complete: 2 of 2 clusters done"},
		{"S8 no cluster", []status.Summary{{}}, "True NoClusterSelected: no cluster is selected"},
		{"S8 something waits", []status.Summary{counts(status.Counts{ToApply: 1})}, "False Progressing: 0 of 1 clusters done"},
		{"S8 something soaks", []status.Summary{counts(status.Counts{Succeeded: 1, Soaking: 1})}, "False Progressing: 0 of 1 clusters done, 1 in flight"},
		{"S8 a breach is no end", []status.Summary{{Counts: status.Counts{TimeOut: 1}, Breach: "stopped"}}, "False Progressing: 0 of 1 clusters done, 1 failed; stopped"},
		{"S8 ended with a tolerated failure", []status.Summary{counts(status.Counts{Succeeded: 1, TimeOut: 1})}, "True Complete: 1 of 2 clusters done, 1 failed"},
		{"S8 one of two is not done", []status.Summary{done, counts(status.Counts{Progressing: 1})}, `False Progressing: placement p0: 2 of 2 clusters done; placement p1: 0 of 1 clusters done, 1 in flight`},
		{"S8 one of two is not done, the first", []status.Summary{counts(status.Counts{Progressing: 1}), done}, `False Progressing: placement p0: 0 of 1 clusters done, 1 in flight; placement p1: 2 of 2 clusters done`},
		{"S8 both are done", []status.Summary{done, done}, `True Complete: placement p0: 2 of 2 clusters done; placement p1: 2 of 2 clusters done`},
	} {
		var placements []status.PlacementProgress
		for i, s := range test.summaries {
			placements = append(placements, status.PlacementProgress{Name: fmt.Sprint("p", i), Summary: s})
		}
		var st workv1alpha1.ManifestWorkReplicaSetStatus
		status.SetReplicaSetStatus(&st, placements, 7, noon)
		if len(st.Conditions) != 3 {
			t.Fatalf("%s: %v", test.why, st.Conditions)
		}
		c := st.Conditions[2]
		if got := fmt.Sprintf("%s %s: %s", c.Status, c.Reason, c.Message); got != test.want {
			t.Errorf("%s:\ngot  %s\nwant %s", test.why, got, test.want)
		}
		if c.Type != "PlacementRolledOut" || c.ObservedGeneration != 7 || !c.LastTransitionTime.Time.Equal(noon) {
			t.Errorf("%s: %+v", test.why, c)
		}
	}
}

// S8: PlacementVerified and ManifestworkApplied, one reason a row.
func TestPlacementVerifiedAndManifestworkApplied(t *testing.T) {
	done := status.Summary{Counts: status.Counts{Succeeded: 2}}
	waits := status.Summary{Counts: status.Counts{ToApply: 1, TimeOut: 1}}
	stopped := waits
	stopped.Breach = "stopped: b timed out, maxFailures 0"
	unread := status.Summary{Incomplete: "PlacementDecision p-decision-2 is missing"}
	for _, test := range []struct {
		why               string
		summaries         []status.Summary
		verified, applied string
	}{
		{"all have it", []status.Summary{done},
			"True AsExpected: 2 clusters are selected", "True AsExpected: 2 of 2 clusters have the current version"},
		{"a failure is no matter of placing works", []status.Summary{{Counts: status.Counts{Failed: 2}}},
			"True AsExpected: 2 clusters are selected", "True AsExpected: 2 of 2 clusters have the current version"},
		{"one waits", []status.Summary{waits},
			"True AsExpected: 2 clusters are selected", "False Processing: 1 of 2 clusters have the current version"},
		{"one waits, and nothing will start", []status.Summary{stopped},
			"True AsExpected: 2 clusters are selected", "False NotAsExpected: 1 of 2 clusters have the current version"},
		{"a breach that blocks no cluster keeps no work back", []status.Summary{{Counts: status.Counts{Failed: 2}, Breach: "stopped"}},
			"True AsExpected: 2 clusters are selected", "True AsExpected: 2 of 2 clusters have the current version"},
		{"a skipped cluster gets none", []status.Summary{{Counts: status.Counts{Skip: 1, Succeeded: 1}}},
			"True AsExpected: 2 clusters are selected", "True AsExpected: 1 of 2 clusters have the current version"},
		{"a deselected cluster is not selected", []status.Summary{{Counts: status.Counts{Succeeded: 2, Failed: 1, ToApply: 1, Deselected: 1}}},
			"True AsExpected: 3 clusters are selected", "False Processing: 2 of 3 clusters have the current version"},
		{"nothing is selected", []status.Summary{{}},
			"False PlacementDecisionEmpty: no cluster is selected", "True NoClusterSelected: no cluster is selected"},
		{"partially observed", []status.Summary{unread},
			"False PlacementDecisionNotFound: PlacementDecision p-decision-2 is missing", "False Processing: PlacementDecision p-decision-2 is missing"},
		{"one of two selects nothing", []status.Summary{done, {}},
			`False PlacementDecisionEmpty: placement p1: no cluster is selected`, "True AsExpected: 2 of 2 clusters have the current version"},
		{"one of three is partially observed", []status.Summary{done, {}, unread},
			`False PlacementDecisionNotFound: placement p2: PlacementDecision p-decision-2 is missing`, `False Processing: 2 of 2 clusters have the current version; placement p2: PlacementDecision p-decision-2 is missing`},
		{"no placement", nil,
			"False PlacementDecisionNotFound: no placement is rolled out to", "True NoClusterSelected: no cluster is selected"},
		{"two that select", []status.Summary{done, waits},
			`True AsExpected: placement p0: 2 clusters are selected; placement p1: 2 clusters are selected`, "False Processing: 3 of 4 clusters have the current version"},
	} {
		var placements []status.PlacementProgress
		for i, s := range test.summaries {
			placements = append(placements, status.PlacementProgress{Name: fmt.Sprint("p", i), Summary: s})
		}
		var st workv1alpha1.ManifestWorkReplicaSetStatus
		status.SetReplicaSetStatus(&st, placements, 7, noon)
		for i, want := range []string{"PlacementVerified " + test.verified, "ManifestworkApplied " + test.applied} {
			c := st.Conditions[i]
			if got := fmt.Sprintf("%s %s %s: %s", c.Type, c.Status, c.Reason, c.Message); got != want || c.ObservedGeneration != 7 {
				t.Errorf("%s:\ngot  %s\nwant %s", test.why, got, want)
			}
		}
	}
}

// S8: what did not change says so, and lastTransitionTime moves only with the status.
func TestReplicaSetStatusSaysWhetherItChanged(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var st workv1alpha1.ManifestWorkReplicaSetStatus
		foreign := metav1.Condition{Type: "Foreign", Status: metav1.ConditionTrue, LastTransitionTime: metav1.NewTime(noon)}
		st.Conditions = []metav1.Condition{foreign}
		now := noon
		for range rapid.IntRange(1, 5).Draw(t, "steps") {
			now = now.Add(time.Second)
			var placements []status.PlacementProgress
			for i := range rapid.IntRange(0, 2).Draw(t, "placements") {
				placements = append(placements, status.PlacementProgress{
					Name:    fmt.Sprint("p", i),
					Works:   works(rapid.SampledFrom([]string{"", "a:A", "a:AV", "a:AD", "a:AP"}).Draw(t, "works")),
					Summary: status.Summary{Counts: anyCounts(t), Breach: rapid.SampledFrom([]string{"", "stopped: 1 failed"}).Draw(t, "breach")},
				})
			}
			before := st.DeepCopy()
			if changed := status.SetReplicaSetStatus(&st, placements, 1, now); changed == cmp.Equal(normal(*before), normal(st)) {
				t.Fatalf("changed is %v, but before and after are\n%+v\n%+v", changed, *before, st)
			}
			if status.SetReplicaSetStatus(&st, placements, 1, now.Add(time.Hour)) {
				t.Fatal("the same again changed something")
			}
			checkTransition(t, before.Conditions, st.Conditions)
			if st.Conditions[0] != foreign {
				t.Fatalf("a condition of another type became %v", st.Conditions[0])
			}
		}
	})
}

// normal has no nil list where there is an empty one.
func normal(st workv1alpha1.ManifestWorkReplicaSetStatus) workv1alpha1.ManifestWorkReplicaSetStatus {
	if st.PlacementsSummary == nil {
		st.PlacementsSummary = []workv1alpha1.PlacementSummary{}
	}
	return st
}

// checkTransition fails if a lastTransitionTime moved without its status, or did not with it.
func checkTransition(t rapid.TB, before, after []metav1.Condition) {
	t.Helper()
	old := map[string]metav1.Condition{}
	for _, c := range before {
		old[c.Type] = c
	}
	for _, c := range after {
		was, had := old[c.Type]
		moved := !had || !was.LastTransitionTime.Equal(&c.LastTransitionTime)
		if turned := !had || was.Status != c.Status; moved != turned {
			t.Fatalf("%s: status turned %v, transition time moved %v", c.Type, turned, moved)
		}
	}
}

// A ManifestWorkReplicaSet shows for each placement how far it is.
func ExampleSetReplicaSetStatus() {
	decision := func(index string, clusters ...clusterv1beta1.ClusterDecision) *clusterv1beta1.PlacementDecision {
		return &clusterv1beta1.PlacementDecision{
			ObjectMeta: metav1.ObjectMeta{Name: "d" + index, Labels: map[string]string{clusterv1beta1.DecisionGroupIndexLabel: index}},
			Status:     clusterv1beta1.PlacementDecisionStatus{Decisions: clusters},
		}
	}
	groups, err := grouping.Read(nil, []*clusterv1beta1.PlacementDecision{
		decision("0", clusterv1beta1.ClusterDecision{ClusterName: "lab"}),
		decision("1", clusterv1beta1.ClusterDecision{ClusterName: "london"}, clusterv1beta1.ClusterDecision{ClusterName: "paris"}),
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	available := &workv1.ManifestWork{ObjectMeta: metav1.ObjectMeta{Namespace: "lab"}}
	available.Status.Conditions = []metav1.Condition{
		{Type: workv1.WorkApplied, Status: metav1.ConditionTrue}, {Type: workv1.WorkAvailable, Status: metav1.ConditionTrue},
	}
	progress := status.PlacementProgress{
		Name: "production", Groups: groups, Works: []*workv1.ManifestWork{available},
		Summary: status.Summary{Counts: status.Counts{Succeeded: 1, ToApply: 2}}, // from the rollout's Result
	}
	var st workv1alpha1.ManifestWorkReplicaSetStatus // of the ManifestWorkReplicaSet
	changed := status.SetReplicaSetStatus(&st, []status.PlacementProgress{progress}, 4, time.Date(2026, time.November, 21, 12, 0, 0, 0, time.UTC))
	entry := st.PlacementsSummary[0]
	fmt.Println(changed, entry.Name, entry.AvailableDecisionGroups)
	fmt.Printf("%d of %d available, %d updated\n", entry.Summary.Available, entry.Summary.DesiredTotal, entry.Summary.Updated)
	for _, c := range st.Conditions {
		fmt.Println(c.Type, c.Status, c.Reason)
	}
	// Output:
	// true production 1/2
	// 1 of 3 available, 1 updated
	// PlacementVerified True AsExpected
	// ManifestworkApplied False Processing
	// PlacementRolledOut False Progressing
}
