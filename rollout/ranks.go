package rollout

import "slices"

// ranks numbers the clusters stage by stage, and within a stage in the order in which they start. Stage i has the ranks
// from begins[i] to begins[i+1]-1. AtRank and rankOf are the inverse of each other.
//
// For example, clusters a, b, c, d are at the positions 0 to 3, b is in a mandatory group, and an Order has d before a
// and a before c. Then atRank is 1, 3, 0, 2, rankOf is 2, 0, 3, 1, and begins is 0, 1, 4.
type ranks struct {
	rankOf []int32 // of each position
	atRank []int32 // the position of each rank
	begins []int32 // of each stage: its first rank; and the number of clusters
}

// newRanks takes time linear in the clusters, and sorts them if there is an Order.
func newRanks(s *schedule) *ranks {
	n := s.groups.NumClusters()
	r := &ranks{make([]int32, n), make([]int32, n), make([]int32, len(s.limits)+1)}
	for i := range s.limits {
		r.begins[i+1] = r.begins[i] + int32(s.limits[i].clusters)
	}
	next := slices.Clone(r.begins)
	for position := range n {
		stage := s.graph.Of(s.groups.groupAt(position))
		r.atRank[next[stage]] = int32(position)
		next[stage]++
	}
	if s.options.isOrdered() {
		for i := range s.limits {
			slices.SortFunc(r.atRank[r.begins[i]:r.begins[i+1]], s.compare)
		}
	}
	for rank, position := range r.atRank {
		r.rankOf[position] = int32(rank)
	}
	return r
}
