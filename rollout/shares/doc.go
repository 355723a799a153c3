// Package shares holds the limits of one rollout that goes over many hubs.
//
// Each hub plans its own clusters. Ten hubs with maxConcurrency 10 have 100 clusters in flight, and a failure on one of them
// stops none of the others. So the limits are divided into rights, which a hub of hubs gives to the hubs:
//
//   - A right to start: a cluster that starts spends one, and gives it back once it has soaked.
//   - A right to fail: a cluster that fails burns one. It comes back only when the cluster recovers.
//
// Whatever is lost, late, doubled or cut off, the hubs never hold more rights than the limits have. So at most maxConcurrency
// clusters are in flight over all hubs, and at most maxConcurrency + maxFailures are exposed. Package rollout/exposure says the
// same of the undivided rollout.
//
// A hub takes rights before it uses them, and then goes on without a message: a slot that comes free on a hub is used again on
// that hub. So messages grow with the hubs, and not with the clusters.
//
// # The account
//
// For each hub and rollout there is an [HubShares], an object on the API server of the hub of hubs. Each of its parts has one writer:
//
//	Grant   the hub of hubs   as spec     how many rights the hub may take, and until when
//	Report  the hub           as status   how many rights it has taken, and what it does with them
//	Seen    a person          as spec     what is in flight on a hub that is silent
//
// Another version of the workload is another rollout, with accounts of its own.
//
// All writes are updates with the resourceVersion that was read, also those of the status. So no write is made on top of one that
// its writer has not seen.
//
// # What the hub of hubs does
//
// One process acts at a time, by leader election. It keeps the last Grant that it sent to each hub, and forgets them when it ends.
//
//  1. Create an empty Account for each hub. Delete one only once its Grant and its Taken are zero, and then forget what was
//     sent to it.
//  2. Call [Total] for the limits, and [Divide] with all accounts as they were at one moment. When a process begins, list them from
//     the API server. Later the cache of one watch will do: an account that is old makes a conflict, or counts for more than it is.
//  3. Remember each Grant in Division.Grants as sent, then write it. What came of the write does not matter: the next Divide
//     finds out from the account.
//  4. Come back when an account changes, and after Division.RecheckAfter.
//
// # What a hub does
//
// One process acts at a time, by leader election. It keeps the last Report that it sent.
//
//  1. When a process begins, wait for [Timing].SlowestWrite. Then read the account from the API server and list the objects of
//     the rollout. A start that the process before had on its way is among them by then.
//  2. Plan with the strategy that [Local] gives, and with what [Account.May] allows as [rollout.Options].Rights. May is 0 until the
//     account shows the last Report. Carry a plan out within SlowestWrite, or plan again.
//  3. Count by [UseOf]. Clusters that were started and do not show yet count as in flight.
//  4. Call [Account.Next]. Where it says so, remember the Report as sent, then write it.
//  5. Come back when the account or an object changes, and when the rights expire.
//
// # When a hub is cut off
//
// Unspent rights expire. A hub starts nothing from Grant.Expires − ClockError − SlowestWrite on. Until then it goes on with the
// rights it has taken. The rights that it was granted and has not taken are free again at Grant.Expires. Those that it has taken come
// back when it reports again, or when a person looks at the hub after Grant.Expires and writes [Seen]. To say that a hub is
// gone for good, write that nothing is in flight there.
//
// # Failures
//
// A hub that has more failures than rights to fail starts nothing, and the failures without a right keep their rights to
// start. The hub of hubs moves unburnt rights to fail to it, if there are any. If more clusters failed than maxFailures
// allows, over all hubs, it stops all: those that hear of it at once, and the others when their rights are used up or expire.
//
// # What rights alone do not hold
//
// Rights are counts, and a plan holds its rights under every type. So over all hubs never more are in flight, and never more exposed, than
// the total that [Divide] is given allows, whatever the type. But each hub then goes through its own groups, and the order of
// groups over hubs is not a count. So [Total] refuses mandatory groups and ProgressivePerGroup:
//
//	Progressive                  rights alone
//	  with mandatory groups      a barrier after each of them, with no right to fail until the last is passed; then rights as without them
//	ProgressivePerGroup          a barrier after each group; with maxFailures 0 it holds as on one hub, otherwise each hub has a budget of its own
//	All                          nothing is held; each hub goes by itself
//
// A barrier is a gate ([rollout.ClosedGate]) on each hub before a group, which stays closed until every hub has reported that the groups
// before it are complete there; the example shows one. A hub that is cut off before it has reported holds everything behind
// the barrier, on all hubs, until it reports or a person opens the gates. One that is cut off later only holds its own clusters, until
// the next barrier. Without a barrier, a partition costs no more than the rights of the hubs that are cut off.
//
// # Clusters and hubs that come and go
//
// A cluster that joins waits for a right like all others. Percentages follow at the next Total. Where a total becomes less, nothing
// is granted until it fits again.
//
// A cluster that moves from one hub to another counts on both until the hub that it left gives it up (Ignored). Do that for one cluster
// after the other, once the account of the other hub shows this: as many rights are taken as clusters are in flight there, in a report that was
// made after the cluster came there. And one of two things holds: either the other hub is granted what it has taken, or the hub that the
// cluster left is granted fewer rights than clusters count in flight there. Earlier, the hub that it left would start another cluster in its place.
//
// A ManagedClusterMigration brings no ManifestWorks to the other hub, and in its phase Cleaning deletes the ManagedCluster on the hub that the
// cluster left, which gives it up there. So move clusters that are done or have not started. One that is in flight or failed counts
// nowhere from then until the other hub starts it.
//
// A hub joins with an empty Account. It may go when its Grant and its Taken are zero. Keep a finalizer on the Account until then: the next
// process of the hub of hubs would take the rights of an Account that is missing for free.
//
// # Where this comes from
//
// The words are those of the literature. P. O'Neil, "The Escrow Transactional Method" (ACM TODS 11:4, 1986), sets a part of a quantity
// aside before it is used. D. Barbará and H. Garcia-Molina, "The Demarcation Protocol" (VLDB Journal 3:3, 1994), gives each site a limit
// of its own; a limit is first lowered at one site, and then raised at another. V. Balegas and others, "Extending Eventually
// Consistent Cloud Databases for Enforcing Numeric Invariants" (SRDS 2015), call what a replica may still do its rights, and
// the value a bounded counter. Here the rights of all replicas are divided in one place, since Kubernetes has one: an API server
// with optimistic concurrency. And rights that are not taken expire, as a lease does (C. Gray and D. Cheriton, SOSP 1989).
//
// The file RULES.md of this package has the rules.
package shares
