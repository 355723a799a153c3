// SPDX-License-Identifier: Apache-2.0

// Package search proves rollouts over time. Package rollout tests single plans on every small fleet. But a rollout is many
// plans, each made from the effects of the plans before. This package goes through every state that a small hub can reach,
// the nearest first, and checks each. It has tests only:
//
//	go test ./internal/search                          the nearest states of each world, in a few seconds
//	go test -tags exhaustive ./internal/search -v      at least half as many again as it takes to find each planner without a rule,
//	                                                   in some minutes of processor time
//	go test -tags whole ./internal/search -v           up to 100,000 states of each world, in eleven minutes of processor time
//	go test ./internal/search -v -states=5000000       more of the largest
//
// The third command checks some million states; rollout/SAFETY.md has what it printed. For some worlds these are all states, with
// histories of up to 28 events. It takes a quarter of a gigabyte.
//
// # What a world is
//
// A world is a strategy with options, up to four clusters in up to three groups, and events that may happen to them, in any
// order:
//
//   - an agent answers at once, late or never: progressing, succeeded, failed; it recovers, or fails after its success
//   - the controller's cache shows an object late, and misses what was written in between
//   - clusters join, are deselected and move to other groups
//   - a version cuts an agent off, before or after it answered. The scheduler deselects the cluster, and selects it again when its
//     agent is back. A deleted object disappears at once, or stays until its agent removes the finalizer
//   - an operator ignores a deselected cluster, or deletes its ManagedCluster with its namespace
//   - the scheduler rewrites its decisions: for a moment a cluster is in none of them, with counts that show this or do
//     not, or there is no decision
//   - another version is wanted, also while one is rolled out or an older one is just being written; it may be the
//     version before
//   - an operator closes and opens gates, pauses and resumes, has failed clusters tried again, and rolls back
//   - a cluster that succeeded is validated: the validator says yes, no or nothing yet, at once, late or never, before the agent
//     succeeds, about the version or the attempt before, and says something else later
//   - an operator freezes a cluster, for some time or without an end, so that its group waits for it or not, and unfreezes it;
//     clusters that join wait until they are on the allowlist
//   - a write is refused, the answer to a write is lost, the controller restarts between two writes, also between storing the
//     record of deselected clusters and deleting. It reads that record late
//   - time passes, also while a plan is carried out. Deadlines, soaks and grace periods are a few ticks long, so that
//     there is a state just before each end and one at it. Nothing may change between two ticks: each plan is checked one
//     nanosecond before the next tick.
//
// The worlds have strategies of all types, with each option: orders and graphs of groups, ramps and starts that are
// spread over time, ignored clusters and failures that do not count.
//
// The controller follows the duties that package rollout documents. It reads PlacementDecisions with their Placement,
// ManifestWorks with their stamps, and the record of deselected clusters ([rollout.StoredRecord]) from an annotation of its owner, and
// calls [rollout.Plan] with the result before. Packages grouping and status are therefore part of the proof. It stores the record
// first, and carries out the other writes of a plan in any order. Names decide which of several clusters starts first; here every
// order is tried, so states that differ only in names are one state. Times are kept as ages, and all ages past every end are one,
// too.
//
// # What is proven
//
// These limits are kept by each plan that can be made in any state:
//
//   - Nothing starts over the limits, past a breach (also one that another cut of the groups hides), or in the place of a deselected
//     or moved cluster. Once the groups are cut again, no more start than the groups ever exposed.
//   - Nothing starts before an earlier or a mandatory group is complete, before a soak is over, faster than a ramp, without a share,
//     behind a gate, in a pause, or while the groups are incomplete.
//   - No cluster starts that is frozen or not on the allowlist, and others wait for it only where it blocks them. A cluster in
//     validation is in flight until a verdict counts.
//   - No cluster that has the version is started, and no selected cluster is removed, whatever the decisions show.
//   - All clusters in flight and timed out are listed, no cluster waits without a reason, and the controller may sleep for as long
//     as the plan says.
//   - A rollback touches no cluster that never had the version, and each cluster that had it once.
//   - The most clusters that [exposure.Of] gives are exposed in some state, and never more.
//
// For these checks the rules are written down once more, over the true state of the hub instead of over reports.
//
// A cluster that has the version counts, selected or not. This is checked twice. The rules on deselected clusters are checked against
// a record of the search's own, with the breaches that last and the number that may be exposed. The true state of the clusters is
// checked without any rule: in a pool, never more clusters have the version and are not done than package exposure says, unless they
// were ignored. Clusters count with an agent that is cut off and without an object, and after a recorded failure, wherever
// the workload went. No rollout is called succeeded, and no version the current one, while such a cluster is missing. No cluster is
// removed before the record has it, and each deselected cluster is removed once the record has it.
//
// From every state, if nothing more happens and every agent answers, all clusters get done, and deselected clusters are
// removed. If failed clusters do not recover, or some never answer, either all others get done, or the explanations of
// waiting clusters are true: they name clusters that are indeed stuck, and doing what they propose ends the wait. The same goes
// for worlds in which agents stay cut off, and in which deselected clusters are ignored.
//
// A rollout.Planner that is told of each event, including repeated and late reports, says in every state what Plan says.
//
// A planner that lacks a rule is found, for every rule about starting, blocking and removing, and so is a controller
// that skips a duty. The shortest history that shows it is printed; testdata has some.
//
// # Two placements
//
// A workload may follow several placements, each with its own strategy. Smaller worlds have two of them, with a pool each. Clusters are
// cut off, return to the same placement or to the other one, are moved and ignored; the controller restarts, and storing the
// records is refused. The rules are those above, for what each placement sees. In addition, of the clusters that got the version under a
// placement, never more have it and are not done than its strategy exposes, wherever they went. No cluster is removed that either
// placement selects. The last placement removes the clusters that none selects, once the records of both have them. Caches are never
// late there, and decisions never partially observed.
//
// # Policies
//
// Policies in two passes have a search of their own, with one to five templates that answer with any delays: on ConfigurationPolicies, and on
// constraints, which say only what is new. Versions are bad in one template, and add, remove, rename and reorder templates, or edit one alone.
// Each step is a message of one template, the write of a status, a write that arrives, an edit, or five minutes. After each the propagator
// looks, with [passes.ReplicaOf], Propagate and Stamp. In every state no more clusters are exposed than package exposure says, a cluster is
// Succeeded only if it complies with each template, and no good version has failed. If nothing more is edited, a good version is done on each
// cluster, and a bad one stays on one. Three ways to read or stamp a policy carelessly are found.
//
// # What is not
//
//   - A restarted controller has a cache that is filled.
//   - A cluster has one object, which no other writer changes.
//   - The scheduler takes less than the grace period to rewrite its decisions. It hides only clusters that the controller has seen in
//     their place: a cluster that was deselected, selected again and hidden before any plan was made counts as deselected all the time.
//   - Agents do not answer for versions that are no longer wanted, but for those of policies.
//   - An agent of policies that has written a status since it got a write evaluates its templates within five minutes.
//   - Storing the record follows the plan at once.
//   - A ManagedCluster that was deleted is not imported again.
//   - If only the record has a cluster in flight, since its object was deleted, an explanation may still propose to wait for it, in
//     addition to what does help. In these worlds there is one placement.
//
// If groups go one after the other, the bound of package exposure is checked only where clusters stay in their groups. Package rollout
// has a search of its own in which groups are cut again at each step.
//
// A history has at most a few failures, moves, versions, restarts and faults, as each world says; the number of its answers,
// plans and ticks has no limit.
package search
