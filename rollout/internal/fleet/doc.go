// SPDX-License-Identifier: Apache-2.0

// Package fleet says where each cluster of a rollout stands: what a report says of it ([Kind], [Report]), what time and the strategy make of
// that ([Phases], [State]), and how many clusters are in each state ([Tally]). The [Roster] says which clusters count: the [Members] in
// their groups, those that were deselected or moved among them, the ignored and the frozen ones, and which report counts of each. A [Table] has the reports
// and the states of all members at a time. A plan reads it from the reports, and looks through it with a [Scan]; an [Index] keeps it in sets,
// and changes a cluster at a time. The package knows no limit.
//
//	table, reading, named := roster.Read(reports, previous, now)
//	recheck := table.Sum()
//	is, inFlight := table.State(position), table.Totals.All.InFlight()
//
// A [Position] is the place of a cluster among all that count, in the order of the names. A [Rank] is its place among those that start.
package fleet
