// Package search proves rollouts over time. Package rollout tests single plans on every small fleet. But a rollout is many
// plans, each made from the effects of the plans before. So this package goes through every state that a small hub can come
// to, the nearest first, and checks each. It has tests only:
//
//	go test ./internal/search                          the nearest states of each world, in a few seconds
//	go test -tags exhaustive ./internal/search -v      up to 100,000 states of each world, in eleven minutes of processor time
//	go test ./internal/search -v -states=5000000       more of the largest
//
// The second looks at some million states; rollout/SAFETY.md has what it printed. For some worlds these are all states, with
// histories of up to 28 events. It takes a quarter of a gigabyte.
//
// # What a world is
//
// A world is a strategy with options, up to four clusters in up to three groups, and what may happen to them, in any
// order:
//
//   - an agent answers at once, late or never: progressing, succeeded, failed; it recovers, or fails after its success
//   - the controller's cache shows an object late, and leaves out what was written in between
//   - clusters join, leave and move to other groups
//   - a version cuts an agent off, before or after it answered. The scheduler drops the cluster, and takes it back when its agent
//     lives. An object that is deleted is gone at once, or hangs until its agent lets go of it
//   - a person gives up a cluster that left, or deletes its ManagedCluster with its namespace
//   - the scheduler rewrites its decisions: for a moment a cluster is in none of them, with counts that show this or do
//     not, or there is no decision
//   - another version is wanted, also while one is rolled out or an older one is just being written; it may be the
//     version before
//   - a person closes and opens gates, pauses and resumes, has failed clusters tried again, and takes the rollout back
//   - who succeeded is validated: the validator says yes, no or nothing yet, at once, late or never, before the agent succeeds, about the
//     version or the attempt before, and says something else later
//   - a person holds a cluster, for some time or without an end, so that its group waits for it or not, and releases it; clusters
//     that join wait until they are reviewed
//   - a write is refused, the answer to a write is lost, the controller begins anew between two writes, also between storing the
//     record of who left and deleting. It reads that record late
//   - time passes, also while a plan is carried out. Deadlines, soaks and times of grace are a few ticks long, so that
//     there is a state just before each end and one at it. Nothing may change between two ticks: each plan is checked one
//     nanosecond before the next tick.
//
// The worlds have strategies of all types, with each option: orders and graphs of groups, ramps and starts that are
// spread over time, clusters and failures that do not count.
//
// The controller follows the duties that package rollout documents. It reads PlacementDecisions with their Placement,
// ManifestWorks with their stamps, and the record of who left ([rollout.Memory]) from an annotation of its owner, and calls
// [rollout.Plan] with the result before. So packages grouping and status are part of the proof. It stores the record first, and
// carries out the other writes of a plan in any order. Names decide which of several clusters starts first; here every order is
// tried, so states that differ only in names are one state. Times are kept as ages, and all ages past every end are one,
// too.
//
// # What is proven
//
// The following holds for each plan that can be made in any state. Nothing starts over the limits, past a breach, also one that a new cut
// of the groups hides, in the place of a cluster that left or moved, beyond as many as the groups ever exposed once they are cut anew, before an
// earlier or a mandatory group is complete, before a soak is over, faster than a ramp, without a right, behind a gate, in a pause, or while
// the groups are incomplete. Nobody starts whom a person holds or has not reviewed, and others wait for it only where it blocks. Who is validated
// is in flight until a verdict counts. No cluster that has the version is started, and no selected cluster is removed, whatever the
// decisions show. All clusters in flight and timed out are listed, no cluster waits without a reason, and the controller may
// sleep for as long as it is told. For these checks the rules are written down once more, over what is true on the hub
// instead of over reports. A way back touches no cluster that never had the version, and each cluster that had it once. The
// most clusters that [exposure.Of] says can be exposed are exposed in some state, and never more.
//
// Who has the version counts, selected or not. This is judged twice: by the rules on who left, for which the search keeps a
// record of its own, with the breaches that last and the number that may be exposed; and by what is true on the clusters, for which it knows no rule: in a pool, never more clusters have the
// version and are not done than package exposure says, unless they were given up. Those count whose agents are cut off and whose objects
// are gone, and those of which a failure was recorded, wherever the workload went. No rollout is called succeeded, and no version
// the current one, while such a cluster is missing. Nobody is removed before the record tells of it; and whoever is not selected
// is removed as soon as it does.
//
// From every state, if nothing more happens and every agent answers, all clusters get done, and clusters that left are
// removed. Where failed clusters do not recover, or some never answer, either all others get done, or the explanations of
// those that wait are true: they name clusters that are indeed stuck, and doing what they propose ends the wait. The same holds
// where cut off agents stay so, and where those that left are given up.
//
// A rollout.Planner that is told of each event, reports twice and late ones included, says in every state what Plan says.
//
// A planner that lacks a rule is caught, for every rule about starting, holding and removing, and so is a controller
// that leaves out a duty. The shortest history that shows it is printed; testdata has some.
//
// # Two placements
//
// A workload may follow several placements, each with a strategy of its own. Smaller worlds have two of them, with a pool each. Clusters are
// cut off, come back to the same placement or to the other one, are moved and given up; the controller begins anew, and storing the records
// is refused. The rules are those above, for what each placement sees. In addition, of those that got the version under a placement never more
// have it and are not done than its strategy exposes, wherever they went; nobody is removed whom either selects; and the last one removes
// whom none selects, once the records of both tell of it. Caches are never late there, and decisions never half written.
//
// # What is not
//
// A controller begins anew with a cache that is filled. A cluster has one object, which nobody else writes. The scheduler
// takes less than the time of grace to rewrite its decisions. It hides only clusters that the controller has seen in their
// place: a cluster that left, came back and is hidden before any plan was made counts as gone all the time. Agents do not
// answer for versions that are no longer wanted. Storing the record follows the plan at once. A ManagedCluster that was deleted
// is not imported again. Where only the record tells of a cluster in flight, since its object is gone, an explanation may still
// propose to wait for it, beside what does help. In these worlds there is one placement.
//
// Where groups go one after the other, the bound of package exposure is judged only where clusters stay in their groups. Package rollout
// has a search of its own in which groups are cut anew at each step.
//
// A history has at most a few failures, moves, versions, crashes and faults, as each world says; the number of its answers,
// plans and ticks has no limit.
package search
