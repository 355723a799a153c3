// Package fleet says where each cluster of a rollout stands: what a report says of it ([Kind], [Report]), what time and the strategy make of
// that ([Phases], [State]), and how many clusters are in each state ([Tally]). The [Roster] says which clusters count: the [Members] in
// their groups, those that were deselected or moved among them, the ignored and the frozen ones. It knows no limit.
//
//	r := fleet.ReportOf(&report)
//	is := phases.StateOf(&r, now)
//	tally.Add(is, 1)
//
// A [Position] is the place of a cluster among all that count, in the order of the names. A [Rank] is its place among those that start.
package fleet
