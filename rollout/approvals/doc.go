// Package approvals reads what people decided about a rollout from the annotations of its owner: a pause, gates and who opened
// them, another attempt, clusters that are given up or held, and those that were reviewed.
//
// The OCM API has no fields for these. So each has an annotation that a person can write with kubectl alone:
//
//	cohort.open-cluster-management.io/   value                              the option of package rollout
//	pause                                true                               Paused, until it is removed or false
//	gates                                canary, 2, eu/prod=2026-01-02T22:00:00Z   Gates
//	open-gates                           canary, 2 of VERSION               those that are not in Gates for this version
//	retry                                1 of VERSION                       Attempt, for this version
//	give-up                              cluster1, cluster2                 Uncounted
//	hold                                 cluster7=2026-01-05T06:00:00Z maintenance of store 7; cluster8   Holds
//	block                                the same, and others wait for these clusters   Holds
//	reviewed                             cluster1, cluster2 of VERSION      Reviewed, for this version; for any other nobody is
//
// A group is named by its name, or by its index. A name that is a number counts as an index. Before a slash stands the placement,
// where an owner has several. A time after = is when the gate opens by itself.
//
// # Which version is meant
//
// An approval names the version that a person looked at. Once another version is wanted, a gate that was opened is closed
// again, the attempt is the first one, and nobody is reviewed. The version is the text that the controller stamps on objects as
// cohort.open-cluster-management.io/version; for a Policy without the action behind it. A pause, closed gates and clusters that are given up or held do not depend on a version:
// whoever forgets them holds up too much, and never too little.
//
// All of it stands in the owner. So a controller that restarts goes on where it was, and to ask for the same twice changes
// nothing: attempt 1 of a version is the same attempt, however often it is written.
//
// # What the caller does
//
//  1. Read the approvals from the owner with [Of] for each plan. Where that is an error, start nothing and tell it: a gate
//     that nobody can read is a closed one.
//
//  2. Begin the options with [Approvals.Options], with the version that is wanted, and set the other options. Where the
//     API of the owner has a field for one of them, set that option from the field: the field wins.
//     There are no annotations for the limits of a strategy, which the API has.
//
//  3. Let a change of these annotations lead to a new plan, as a change of the spec does: watch them, and stop carrying out a plan
//     where they are not the [Same] any more. They do not change the owner's generation.
//
//  4. Copy them to nothing that is made of the owner: the zero Approvals remove them, with [Approvals.Note].
//
// A webhook calls [Validate].
package approvals
