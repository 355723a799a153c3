// SPDX-License-Identifier: Apache-2.0

package decisionupdate

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
)

// Scores are what decisions are made with while a placement limits how often scores are written.
type Scores struct {
	// Scores are the scores by cluster name for grouping.Options.
	Scores map[string]int64
	// LastUpdateTime is what the placement's status.lastScoreUpdateTime has to be. Where it is another one, store it before the
	// decisions. A writer that crashes in between writes scores too late, and never too often.
	LastUpdateTime *metav1.Time
	// RecheckAfter is how long until scores that are held back may be written; 0 if none are.
	RecheckAfter time.Duration
}

// LimitScores keeps scores from being written more often than the placement's spec.scoreRateLimit says, which is a minute where
// it is empty; 0s is no limit. Until so much time has passed since status.lastScoreUpdateTime, each cluster of the stored decisions
// keeps its stored score, also for its place under sortBy: Score. A score alone then leads to no write, and decisions
// that change for another reason do not wait. A cluster that is not stored has the score that was computed. A time in the future, by a
// wrong clock, limits nothing.
//
// Call it before grouping.Divide, with the decisions that are stored and the scores of the selected clusters. A cluster that is stored
// twice has the score of the object that is first by name. Nothing is changed.
//
// The error is a *field.Error: a nil placement, or a scoreRateLimit that is not digits and h, m or s.
func LimitScores(placement *clusterv1beta1.Placement, stored []*clusterv1beta1.PlacementDecision, scores map[string]int64, now time.Time) (Scores, error) {
	if placement == nil {
		return Scores{}, field.Required(field.NewPath("placement"), "must not be nil")
	}
	limit, err := scoreRateLimit(placement.Spec.ScoreRateLimit)
	if err != nil {
		return Scores{}, err
	}
	before := storedScores(stored)
	differs := false
	for cluster, score := range before {
		computed, selected := scores[cluster]
		differs = differs || selected && computed != score
	}
	last := placement.Status.LastScoreUpdateTime
	next := Scores{Scores: maps.Clone(scores), LastUpdateTime: last.DeepCopy()}
	switch {
	case last == nil && len(scores) > 0, last != nil && differs && !isWithin(now.Sub(last.Time), limit):
		next.LastUpdateTime = &metav1.Time{Time: now.Round(0).Truncate(time.Second)}
	case differs:
		maps.Copy(next.Scores, before)
		next.RecheckAfter = limit - now.Sub(last.Time)
	}
	return next, nil
}

func isWithin(age, limit time.Duration) bool { return age >= 0 && age < limit }

// storedScores gives the scores in decisions, by the names of the clusters.
func storedScores(stored []*clusterv1beta1.PlacementDecision) map[string]int64 {
	stored = slices.DeleteFunc(slices.Clone(stored), func(pd *clusterv1beta1.PlacementDecision) bool { return pd == nil })
	slices.SortFunc(stored, func(a, b *clusterv1beta1.PlacementDecision) int { return cmp.Compare(b.Name, a.Name) })
	scores := map[string]int64{}
	for _, pd := range stored { // the first by name comes last
		for i := range pd.Status.Decisions {
			scores[pd.Status.Decisions[i].ClusterName] = pd.Status.Decisions[i].Score
		}
	}
	return scores
}

// scoreRateLimit reads the limit as the API documents it.
func scoreRateLimit(text string) (time.Duration, error) {
	limit, err := time.ParseDuration(cmp.Or(text, "1m"))
	if unit := strings.TrimLeft(text, "0123456789"); err != nil || !slices.Contains([]string{"", "h", "m", "s"}, unit) {
		return 0, field.Invalid(field.NewPath("placement", "spec", "scoreRateLimit"), text, "must be digits and one of h, m or s, such as 1m")
	}
	return limit, nil
}
