// Package fleet says where each cluster of a rollout stands: what a report says of it ([Kind], [Report]), what time and the strategy make of
// that ([Phases], [State]), and how many clusters are in each state ([Tally]). It knows neither stages nor limits.
//
//	r := fleet.ReportOf(&report)
//	is := phases.StateOf(&r, now)
//	tally.Add(is, 1)
//
// A position is the place of a cluster among all that count, in the order of the names.
package fleet
