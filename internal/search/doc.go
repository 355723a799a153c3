// Package search proves rollouts over time. A plan is exhaustively right, which package rollout tests on every small fleet.
// But a rollout is many plans, each made from what the ones before have led to. So this package goes through every state
// that a small hub can come to, the nearest first, and looks at each. It has tests only:
//
//	go test ./internal/search                          the nearest states of each world, in a few seconds
//	go test -tags exhaustive ./internal/search -v      up to 200,000 states of each world, in about a minute
//	go test ./internal/search -v -states=5000000       more of the largest
//
// The second looks at 2,874,810 states of 34 worlds, which 17,293,514 transitions lead to and for which 959,312 different
// plans are made. 22 of the worlds are whole then, with histories of up to 28 events. It takes a quarter of a gigabyte.
//
// # What a world is
//
// A world is a strategy with options, up to four clusters in up to three groups, and what may befall them, in any order:
//
//   - an agent answers at once, late or never: progressing, succeeded, failed; it recovers, or fails after its success
//   - the controller's cache shows an object late, and what was written in between not at all
//   - clusters join, leave and move to other groups
//   - the scheduler rewrites its decisions: a cluster is in none of them for a moment, with counts that show it or do not,
//     or no decision is there
//   - another version is wanted, also while one is rolled out, also just when an older one is written, and also the
//     version before again
//   - a person closes and opens gates, pauses and resumes, has what failed tried again, and takes the rollout back
//   - a write is refused, the answer to a write is lost, the controller begins anew between two writes
//   - time passes, also while a plan is carried out: deadlines, soaks and times of grace are a few ticks long, so that each
//     state just before an end and at it is there. Nothing may change between two ticks, which is asked of each plan one
//     nanosecond before the next.
//
// Strategies of all types are among the worlds, with each option: orders and graphs of groups, ramps and starts that are
// spread over time, clusters and failures that do not count.
//
// The controller follows the duties that package rollout documents. It reads PlacementDecisions with their Placement,
// ManifestWorks with their stamps, and calls [rollout.Plan]; the packages grouping and status are so part of the proof. It
// carries out the writes of a plan in any order. Which of several clusters starts first is a matter of their names; here
// each order counts, so that states that differ in names alone are one. Times are kept as ages, and those past every end are
// one, too.
//
// # What is proven
//
// In every state, of each plan that can be made there: nothing starts over the limits, past a breach, before an earlier
// group or a mandatory one is complete, before a soak is over, faster than a ramp, behind a gate, in a pause, or while
// the groups are incomplete; no cluster is started that has the version, or removed that is selected, whatever the decisions show; who
// is in flight or timed out is listed; nobody waits for nothing; and the controller may sleep for as long as it is told.
// The rules are written down once more for that, over what is true on the hub, and not over reports. A way back touches
// nobody who never had the version, and each that had it once. The most clusters that [rollout.Expose] says can be exposed
// are exposed in some state, and no more are in any.
//
// From every state, if nothing befalls the world any more and every agent answers, everyone gets done, and who left is
// removed. Where clusters that failed do not recover, or some never answer, either everyone else gets done, or each that
// waits is told the truth: the explanation names clusters that are indeed stuck, and doing what it proposes ends that wait.
//
// A rollout.Planner that is told of each event, reports twice and late ones included, says in every state what Plan says.
//
// A planner without a rule is caught, for every rule that has to do with starting, holding and removing, and so is a
// controller without a duty. The shortest history is told; testdata/histories.txt has some.
//
// # What is not
//
// A controller begins anew with a cache that is filled. A cluster has one object, which nobody else writes. The scheduler
// takes less than the time of grace to rewrite its decisions, and it hides only clusters that the controller has seen where
// they are: one that left, came back and is hidden before any plan was made counts as gone all the time. Agents do not
// answer for versions that are no longer wanted. A history has at most a few failures, moves, versions, crashes and faults,
// as each world says; the number of its answers, plans and ticks has no limit.
package search
