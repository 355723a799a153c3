// SPDX-License-Identifier: Apache-2.0

// Package approvals reads operators' decisions about a rollout from annotations of its owner: a pause, closed and opened
// gates, a retry, ignored clusters, frozen clusters, and an allowlist.
//
// The OCM API has no fields for these. Each has an annotation that an operator can set with kubectl:
//
//	cohort.open-cluster-management.io/   value                              the option of package rollout
//	pause                                true                               Paused, until it is removed or false
//	gates                                canary, 2, eu/prod=2026-01-02T22:00:00Z   Gates
//	open-gates                           canary, 2 of VERSION               opens these of the gates, for this version
//	retry                                1 of VERSION                       Attempt, for this version
//	ignore                               cluster1, cluster2                 Ignored
//	freeze                               cluster7=2026-01-05T06:00:00Z maintenance of store 7; cluster8   Freezes
//	block                                the same, and others wait for these clusters   Freezes
//	allowlist                            cluster1, cluster2 of VERSION      Allowlist, for this version
//
// The earlier keys give-up, hold and reviewed are read as ignore, freeze and allowlist. [Approvals.Note] keeps an earlier key
// that the owner has. Two keys that contradict each other are an error.
//
// A group is given by its name or its index. A name that is a number is read as an index. If an owner has several
// placements, the placement and a slash come before the group. After a time behind =, the gate opens by itself.
//
// # The version of an approval
//
// open-gates, retry and allowlist name the version that the operator looked at. Once another version is wanted, an opened
// gate is closed again, the attempt is 0, and no cluster is on the allowlist. The version is the text that the controller
// stamps on objects as cohort.open-cluster-management.io/version; for a Policy without the action at its end. The other
// approvals count for every version: a forgotten pause, gate or freeze delays a rollout, and starts nothing.
//
// The owner has the whole state. A restarted controller continues where it was, and to ask for the same again changes
// nothing: attempt 1 of a version is the same attempt, however often it is written.
//
// # What you do
//
//  1. Read the approvals from the owner with [Of] for each plan. On an error, start nothing and report it: an unreadable
//     gate is a closed one.
//
//  2. Begin the options with [Approvals.Options], with the wanted version, and set the other options. If the API of the
//     owner has a field for one of them, set that option from the field: the field wins. The limits of a strategy have no
//     annotations, since the API has fields for them.
//
//  3. Watch these annotations, and plan again when they change, as for the spec. Stop making the writes of a plan when
//     they are not the [Same] any more. They do not change the owner's generation.
//
//  4. Do not copy them to objects that are made from the owner: [Approvals.Note] of the zero Approvals removes them.
//
// A webhook calls [Validate].
package approvals
