// SPDX-License-Identifier: Apache-2.0

package fleet

import (
	"slices"

	"github.com/cohort-ocm/cohort/rollout/internal/stages"
)

// Rank is the place of a cluster in the order in which clusters start, from 0.
type Rank int32

// Ranks numbers the members stage by stage, and within a stage in the order in which they start.
//
// For example, clusters a, b, c, d are at the positions 0 to 3, b is in a mandatory group, and an order has d before a
// and a before c. Then atRank is 1, 3, 0, 2, rankOf is 2, 0, 3, 1, and begins is 0, 1, 4.
type Ranks struct {
	rankOf []Rank     // of each position
	atRank []Position // of each rank
	begins []Rank     // of each stage: its first rank; and the number of clusters
}

// NewRanks takes time linear in the members. Compare orders those of a stage, which are sorted then; nil for the order of their names.
func NewRanks(members Members, graph *stages.Graph, compare func(a, b Position) int) *Ranks {
	n := members.NumClusters()
	ranks := &Ranks{make([]Rank, n), make([]Position, n), make([]Rank, graph.Len()+1)}
	for stage := range graph.Len() {
		ranks.begins[stage+1] = ranks.begins[stage]
		for _, group := range graph.Groups(stage) {
			ranks.begins[stage+1] += Rank(members.SizeOf(group))
		}
	}
	next := slices.Clone(ranks.begins)
	for position := range Position(n) {
		stage := graph.Of(members.GroupOf(position))
		ranks.atRank[next[stage]] = position
		next[stage]++
	}
	for stage := stages.Stage(0); compare != nil && stage < graph.Len(); stage++ {
		slices.SortFunc(ranks.Of(stage), compare)
	}
	for rank, position := range ranks.atRank {
		ranks.rankOf[position] = Rank(rank)
	}
	return ranks
}

// Of gives the positions of a stage's clusters, in the order in which they start. They are not to be changed.
func (ranks *Ranks) Of(stage stages.Stage) []Position {
	return ranks.atRank[ranks.begins[stage]:ranks.begins[stage+1]]
}

// First gives the first rank of a stage.
func (ranks *Ranks) First(stage stages.Stage) Rank { return ranks.begins[stage] }

// Rank gives the rank of a position.
func (ranks *Ranks) Rank(position Position) Rank { return ranks.rankOf[position] }
