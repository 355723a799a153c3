// SPDX-License-Identifier: Apache-2.0

package grouping

import "fmt"

// Changes says what differs between two Groups. Each list is in the order of the names.
type Changes struct {
	// Added are the clusters that were not selected before.
	Added []string `json:"added,omitempty"`
	// Removed are the clusters that are no longer selected.
	Removed []string `json:"removed,omitempty"`
	// Moved are the clusters that stayed selected and changed their group.
	Moved []Move `json:"moved,omitempty"`
}

// Move is a cluster that changed its group.
type Move struct {
	Cluster string `json:"cluster"`
	From    Key    `json:"from"`
	To      Key    `json:"to"`
}

// String is `a: group 0 → group 1 "canary"`.
func (m Move) String() string { return fmt.Sprintf("%s: %v → %v", m.Cluster, m.From, m.To) }

// Changes says what differs from previous. It takes time linear in the clusters of both, and constant time where both
// are the same value.
func (g *Groups) Changes(previous *Groups) Changes {
	var changes Changes
	if g == previous {
		return changes
	}
	now, before := 0, 0
	for now < g.NumClusters() || before < previous.NumClusters() {
		switch {
		case before == previous.NumClusters() || now < g.NumClusters() && g.names[now] < previous.names[before]:
			changes.Added = append(changes.Added, g.names[now])
			now++
		case now == g.NumClusters() || previous.names[before] < g.names[now]:
			changes.Removed = append(changes.Removed, previous.names[before])
			before++
		default:
			from, to := previous.keys[previous.groups[before]], g.keys[g.groups[now]]
			if from != to {
				changes.Moved = append(changes.Moved, Move{g.names[now], from, to})
			}
			now, before = now+1, before+1
		}
	}
	return changes
}
