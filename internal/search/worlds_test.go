package search

import clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"

const (
	all         = clusterv1alpha1.All
	progressive = clusterv1alpha1.Progressive
	perGroup    = clusterv1alpha1.ProgressivePerGroup
)

// worlds are what is searched. Each has the parts of the strategy and the events that have to do with each other.
var worlds = []config{
	{name: "deadline and soak", strategy: progressive, concurrency: "2", budget: "1", deadline: 2, soak: 1,
		groups: []uint8{0, 0, 0, 0}, left: left{fails: 2}, answers: true, regress: true, slow: true},
	{name: "late cache", strategy: progressive, concurrency: "2", budget: "1", deadline: 2,
		groups: []uint8{0, 0, 0, 0}, left: left{fails: 1, crashes: 1, faults: 1}, lag: true},
	{name: "canary", strategy: progressive, concurrency: "1", budget: "1", mandatory: []int{0}, deadline: 2, soak: 1,
		groups: []uint8{0, 1, 1, 1}, left: left{fails: 2}, answers: true, regress: true, slow: true},
	{name: "groups", strategy: perGroup, budget: "1", deadline: 2, soak: 1,
		groups: []uint8{0, 0, 1, 2}, left: left{fails: 2}, answers: true, regress: true, slow: true},
	{name: "groups that change", strategy: perGroup, budget: "50%", deadline: 1,
		groups: []uint8{0, 1, 1, none}, left: left{fails: 1, moves: 2, crashes: 1}, grace: 1},
	{name: "versions", strategy: progressive, concurrency: "1", budget: "1", deadline: 2, soak: 1,
		groups: []uint8{0, 0, 1}, left: left{fails: 1, versions: 2}, back: true},
	{name: "decisions rewritten", strategy: perGroup, budget: "1", deadline: 0,
		groups: []uint8{0, 1, 1}, left: left{fails: 1, moves: 1, tears: 1, crashes: 1}, grace: 2},
	{name: "gates", strategy: perGroup, budget: "1", mandatory: []int{1},
		groups: []uint8{0, 0, 1, 2}, left: left{fails: 2, turns: 4}, closed: 7, pauses: true},
	{name: "slots come free", strategy: perGroup, budget: "2", deadline: 2, free: true, groupLimit: 1,
		groups: []uint8{0, 0, 0, 1}, left: left{fails: 2}, slow: true},
	{name: "many leave", strategy: all, deadline: 1,
		groups: []uint8{0, 0, 1}, left: left{moves: 3}, grace: 1, maxRemoved: 1},
	{name: "attempts", strategy: progressive, concurrency: "1", budget: "1", deadline: 2, soak: 1,
		groups: []uint8{0, 0, 1}, left: left{fails: 2, versions: 1, crashes: 1}, retry: true, answers: true, slow: true},
	{name: "attempts through a late cache", large: true, strategy: perGroup, budget: "1", mandatory: []int{0}, deadline: 2,
		groups: []uint8{0, 1, 1, 1}, left: left{fails: 3, crashes: 1, faults: 1}, retry: true, lag: true, slow: true},
	{name: "groups in a graph", strategy: perGroup, budget: "1", deadline: 1, order: order{"g0": {"g2"}},
		groups: []uint8{0, 1, 2, 2}, left: left{fails: 2, moves: 1, turns: 1}, grace: 1, closed: 1, regress: true},
	{name: "groups in any order", strategy: perGroup, mandatory: []int{1}, order: order{},
		groups: []uint8{0, 1, 2, 2}, left: left{fails: 1, turns: 4}, closed: 7, pauses: true},
	{name: "clusters that do not count", strategy: perGroup, groupLimit: 1, aside: 0b0110, deadline: 1,
		groups: []uint8{0, 0, 1, 1}, left: left{fails: 2, crashes: 1}, grace: 1, regress: true, slow: true},
	{name: "failures that do not count", strategy: progressive, concurrency: "1", budget: "1", mandatory: []int{0}, past: 0b0011, deadline: 2,
		groups: []uint8{0, 1, 1, 2}, left: left{fails: 3, moves: 1}, regress: true},
	{name: "exposure of a pool", exposes: true, strategy: progressive, concurrency: "1", budget: "2", deadline: 2, soak: 1,
		groups: []uint8{0, 0, 0, 0}, left: left{fails: 4, crashes: 1}, answers: true, slow: true},
	{name: "exposure of groups", exposes: true, strategy: perGroup, budget: "1", groupLimit: 1, free: true,
		groups: []uint8{0, 0, 1, 1}, left: left{fails: 4, faults: 1}, lag: true},
	{name: "exposure after a canary", exposes: true, strategy: progressive, concurrency: "2", budget: "1", mandatory: []int{0}, soak: 1,
		groups: []uint8{0, 1, 1, 2}, left: left{fails: 4, crashes: 1}, answers: true},
	{name: "all at once, large", large: true, strategy: perGroup, budget: "50%", mandatory: []int{1}, deadline: 2, soak: 1, grace: 2, free: true,
		groups: []uint8{0, 1, 2, 2}, left: left{fails: 2, moves: 1, versions: 1, crashes: 1, faults: 1, tears: 1, turns: 1},
		answers: true, regress: true, lag: true, slow: true, back: true, pauses: true},
	{name: "percentages, large", large: true, strategy: progressive, concurrency: "50%", budget: "50%", mandatory: []int{0}, deadline: 3, soak: 2, grace: 1, maxRemoved: 2,
		groups: []uint8{0, 1, 1, 2}, left: left{fails: 3, moves: 1, versions: 1, crashes: 1, faults: 1},
		answers: true, regress: true, lag: true, slow: true},
	{name: "late cache, large", large: true, strategy: progressive, concurrency: "2", budget: "1", deadline: 2, soak: 1,
		groups: []uint8{0, 0, 0, 0}, left: left{fails: 2, versions: 2, crashes: 2, faults: 2}, answers: true, regress: true, lag: true, slow: true, back: true},
}
