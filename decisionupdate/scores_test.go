// SPDX-License-Identifier: Apache-2.0

package decisionupdate_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation/field"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	"pgregory.net/rapid"

	"github.com/cohort-ocm/cohort/decisionupdate"
	"github.com/cohort-ocm/cohort/grouping"
)

var scoreNoon = time.Date(2026, 11, 28, 12, 0, 0, 0, time.UTC)

// decisionOf stores clusters with scores: "a 1", "b 2".
func decisionOf(name string, clusters ...string) *clusterv1beta1.PlacementDecision {
	pd := &clusterv1beta1.PlacementDecision{ObjectMeta: metav1.ObjectMeta{Name: name}}
	for _, text := range clusters {
		var d clusterv1beta1.ClusterDecision
		fmt.Sscan(text, &d.ClusterName, &d.Score)
		pd.Status.Decisions = append(pd.Status.Decisions, d)
	}
	return pd
}

// D20: which scores are written, and when others are.
func TestLimitScores(t *testing.T) {
	ago := func(d time.Duration) *metav1.Time { return &metav1.Time{Time: scoreNoon.Add(-d)} }
	now := ago(0)
	for _, test := range []struct {
		name   string
		limit  string
		last   *metav1.Time
		stored []*clusterv1beta1.PlacementDecision
		scores map[string]int64
		want   decisionupdate.Scores
	}{
		{name: "the first scores are an update", scores: map[string]int64{"a": 1}, want: decisionupdate.Scores{Scores: map[string]int64{"a": 1}, LastUpdateTime: now}},
		{name: "no scores are none", want: decisionupdate.Scores{}},
		{name: "a score alone waits for the rest of the minute", last: ago(20 * time.Second), stored: []*clusterv1beta1.PlacementDecision{decisionOf("d", "a 1")},
			scores: map[string]int64{"a": 2}, want: decisionupdate.Scores{Scores: map[string]int64{"a": 1}, LastUpdateTime: ago(20 * time.Second), RecheckAfter: 40 * time.Second}},
		{name: "after the minute it is written", last: ago(time.Minute), stored: []*clusterv1beta1.PlacementDecision{decisionOf("d", "a 1")},
			scores: map[string]int64{"a": 2}, want: decisionupdate.Scores{Scores: map[string]int64{"a": 2}, LastUpdateTime: now}},
		{name: "just before that it is not", last: ago(time.Minute - 1), stored: []*clusterv1beta1.PlacementDecision{decisionOf("d", "a 1")},
			scores: map[string]int64{"a": 2}, want: decisionupdate.Scores{Scores: map[string]int64{"a": 1}, LastUpdateTime: ago(time.Minute - 1), RecheckAfter: 1}},
		{name: "a longer limit", limit: "2h", last: ago(time.Hour), stored: []*clusterv1beta1.PlacementDecision{decisionOf("d", "a 1")},
			scores: map[string]int64{"a": 2}, want: decisionupdate.Scores{Scores: map[string]int64{"a": 1}, LastUpdateTime: ago(time.Hour), RecheckAfter: time.Hour}},
		{name: "no limit", limit: "0s", last: ago(0), stored: []*clusterv1beta1.PlacementDecision{decisionOf("d", "a 1")},
			scores: map[string]int64{"a": 2}, want: decisionupdate.Scores{Scores: map[string]int64{"a": 2}, LastUpdateTime: now}},
		{name: "the same scores are no update, however long ago the last one was", last: ago(time.Hour), stored: []*clusterv1beta1.PlacementDecision{decisionOf("d", "a 1")},
			scores: map[string]int64{"a": 1}, want: decisionupdate.Scores{Scores: map[string]int64{"a": 1}, LastUpdateTime: ago(time.Hour)}},
		{name: "a cluster that joins has its score, and the others keep theirs", last: ago(20 * time.Second), stored: []*clusterv1beta1.PlacementDecision{decisionOf("d", "a 1")},
			scores: map[string]int64{"a": 2, "b": 5}, want: decisionupdate.Scores{Scores: map[string]int64{"a": 1, "b": 5}, LastUpdateTime: ago(20 * time.Second), RecheckAfter: 40 * time.Second}},
		{name: "a cluster that leaves is no update of scores", last: ago(time.Hour), stored: []*clusterv1beta1.PlacementDecision{decisionOf("d", "a 1", "b 2")},
			scores: map[string]int64{"a": 1}, want: decisionupdate.Scores{Scores: map[string]int64{"a": 1}, LastUpdateTime: ago(time.Hour)}},
		{name: "a cluster in two objects has the score of the first by name", last: ago(0),
			stored: []*clusterv1beta1.PlacementDecision{decisionOf("e", "a 7"), nil, decisionOf("d", "a 1")},
			scores: map[string]int64{"a": 2}, want: decisionupdate.Scores{Scores: map[string]int64{"a": 1}, LastUpdateTime: ago(0), RecheckAfter: time.Minute}},
		{name: "a time in the future limits nothing", last: ago(-time.Hour), stored: []*clusterv1beta1.PlacementDecision{decisionOf("d", "a 1")},
			scores: map[string]int64{"a": 2}, want: decisionupdate.Scores{Scores: map[string]int64{"a": 2}, LastUpdateTime: now}},
	} {
		t.Run(test.name, func(t *testing.T) {
			placement := &clusterv1beta1.Placement{Spec: clusterv1beta1.PlacementSpec{ScoreRateLimit: test.limit}, Status: clusterv1beta1.PlacementStatus{LastScoreUpdateTime: test.last}}
			got, err := decisionupdate.LimitScores(placement, test.stored, test.scores, scoreNoon)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// D20: a limit that cannot be read is an error that says where.
func TestAScoreRateLimitThatCannotBeRead(t *testing.T) {
	for _, limit := range []string{"1", "m", "1.5m", "-1m", "1m30s", "1|", "90ms", "+1m", " 1m", "99999999999h"} {
		var fault *field.Error
		_, err := decisionupdate.LimitScores(&clusterv1beta1.Placement{Spec: clusterv1beta1.PlacementSpec{ScoreRateLimit: limit}}, nil, nil, scoreNoon)
		if !errors.As(err, &fault) || fault.Field != "placement.spec.scoreRateLimit" || !strings.Contains(err.Error(), "must be digits and one of h, m or s") {
			t.Errorf("%q: %v", limit, err)
		}
	}
	if _, err := decisionupdate.LimitScores(nil, nil, nil, scoreNoon); err == nil {
		t.Error("a nil placement")
	}
}

// D20: over any history, score changes alone lead to writes at most once in the limit, whatever order the Placement sorts by, and in
// the end the scores are stored.
func TestScoresAreWrittenNoMoreOftenThanTheLimit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		placement := &clusterv1beta1.Placement{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "p", UID: "u"}}
		placement.Spec.SortBy = rapid.SampledFrom([]clusterv1beta1.PlacementSortByType{"", clusterv1beta1.PlacementSortByScore}).Draw(t, "sortBy")
		placement.Spec.DecisionStrategy.GroupStrategy.ClustersPerDecisionGroup = intstr.FromInt(2)
		var clusters []*clusterv1.ManagedCluster
		for _, name := range []string{"a", "b", "c", "d", "e"} {
			clusters = append(clusters, &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: name}})
		}
		var stored []*clusterv1beta1.PlacementDecision
		var written time.Time
		scores, now := map[string]int64{}, scoreNoon
		step := func() (wrote bool, again time.Duration) {
			limited, err := decisionupdate.LimitScores(placement, stored, scores, now)
			if err != nil {
				t.Fatal(err)
			}
			placement.Status.LastScoreUpdateTime = limited.LastUpdateTime
			groups, err := grouping.Divide(placement, clusters, grouping.Options{Scores: limited.Scores})
			if err != nil {
				t.Fatal(err)
			}
			desired, err := groups.Decisions(placement, stored...)
			if err != nil {
				t.Fatal(err)
			}
			update, err := decisionupdate.Diff(stored, desired, decisionupdate.UpdateStrategy{})
			if err != nil {
				t.Fatal(err)
			}
			stored = desired
			return len(update.Steps) > 0, limited.RecheckAfter
		}
		for range rapid.IntRange(1, 20).Draw(t, "steps") {
			now = now.Add(time.Duration(rapid.IntRange(0, 90).Draw(t, "seconds")) * time.Second)
			for _, c := range clusters {
				if rapid.Bool().Draw(t, "changes") {
					scores[c.Name] = int64(rapid.IntRange(-3, 3).Draw(t, "score"))
				}
			}
			wrote, _ := step()
			if wrote && !written.IsZero() && now.Sub(written) < time.Minute {
				t.Fatalf("scores are written at %v and %v", written, now)
			}
			if wrote && len(scores) > 0 { // else clusters are stored, and no scores yet
				written = now
			}
			if again, _ := step(); again {
				t.Fatal("what was written is written again")
			}
		}
		if _, again := step(); again > 0 {
			now = now.Add(again)
			if wrote, rest := step(); !wrote || rest > 0 {
				t.Fatalf("after the limit: %v, %v", wrote, rest)
			}
		}
		for _, pd := range stored {
			for _, d := range pd.Status.Decisions {
				if d.Score != scores[d.ClusterName] {
					t.Fatalf("%s has the score %d, want %d", d.ClusterName, d.Score, scores[d.ClusterName])
				}
			}
		}
	})
}
