// SPDX-License-Identifier: Apache-2.0

// Package shares holds the limits of one rollout that goes over many hubs.
//
// Each hub plans its own clusters. Ten hubs with maxConcurrency 10 have 100 clusters in flight, and a failure on one of them
// stops none of the others. A coordinator hub therefore divides the limits into shares for the hubs:
//
//   - A share of concurrency: a cluster that starts takes a unit of it, and gives it back once it has soaked.
//   - A share of failures: a cluster that fails takes a unit of it. The unit comes back only when the cluster recovers.
//
// Example: with maxConcurrency 10 and ten hubs alike, each hub has a share of concurrency of 1.
//
// Whatever is lost, late, doubled or cut off, the shares never exceed the limits. At most maxConcurrency
// clusters are in flight over all hubs, and at most maxConcurrency + maxFailures are exposed. Package rollout/exposure says the
// same of the undivided rollout.
//
// A hub takes units before it uses them, and then needs no message: a slot that becomes free on a hub is used again on
// that hub. Messages grow with the hubs, and not with the clusters.
//
// # The objects
//
// For each hub and rollout there is a [HubShares], in an object on the API server of the coordinator hub. Each part has one writer:
//
//	Grant   the coordinator hub   as spec     how many units the hub may take, and until when
//	Report  the hub               as status   how many units it has taken, and how it uses them
//	Seen    an operator           as spec     what is in flight on a hub that is silent
//
// Another version of the workload is another rollout, with objects of its own.
//
// All writes are updates with the resourceVersion that was read, also those of the status: a write on top of one that its
// writer has not read is a conflict.
//
// # What the coordinator hub does
//
// One process acts at a time, by leader election. The process keeps the last Grant that it sent to each hub, and forgets them
// when it ends.
//
//  1. Create an empty HubShares for each hub. Delete one only once its Grant and its Taken are zero, and then forget what was
//     sent to it.
//  2. Call [Total] for the limits, and [Divide] with all HubShares as they were at one moment. When a process begins, list them
//     from the API server. Later use the cache of one watch: an old HubShares causes a conflict, or counts for more than it is.
//  3. Remember each Grant in Division.Grants as sent, then write it. Ignore the outcome of the write: the next Divide
//     finds out from the HubShares.
//  4. Requeue when a HubShares changes, and after Division.RecheckAfter.
//
// # What a hub does
//
// One process acts at a time, by leader election. The process keeps the last Report that it sent.
//
//  1. When a process begins, wait for [Timing].SlowestWrite. Then read the HubShares from the API server and list the objects of
//     the rollout. These now include the outstanding starts of the process before.
//  2. Plan with the strategy that [Local] gives, and with what [HubShares.May] allows as [rollout.Options].Shares. May is 0 until
//     the HubShares shows the last Report. Carry a plan out within SlowestWrite, or plan again.
//  3. Count by [UseOf]. Clusters that were started and do not show yet count as in flight.
//  4. Call [HubShares.Next]. If it says so, remember the Report as sent, then write it.
//  5. Requeue when the HubShares or an object changes, and when the grant expires.
//
// # When a hub is cut off
//
// Unused units expire. A hub starts nothing from Grant.Expires − ClockError − SlowestWrite on. Until then it continues with the
// units it has taken. Units that it was granted and has not taken are free again at Grant.Expires. Units that it has taken come
// back when it reports again, or when an operator looks at the hub after Grant.Expires and writes [Seen]. For a hub that is
// gone for good, write that nothing is in flight there.
//
// # Failures
//
// A hub with more failures than its share of failures starts nothing, and the failures without a unit keep their units of
// concurrency. The coordinator hub moves unused units of failures to it, if there are any. If more clusters failed than
// maxFailures allows, over all hubs, the coordinator hub stops all: connected hubs at once, and the others when their shares
// are used up or expire.
//
// # What shares alone do not guarantee
//
// Shares are counts, and a plan holds its shares under every type. Over all hubs never more clusters are in flight, and never
// more are exposed, than the total that [Divide] is given allows, whatever the type. But each hub then goes through its own
// groups, and the order of groups over hubs is not a count. [Total] therefore refuses mandatory groups and ProgressivePerGroup:
//
//	Progressive                  shares alone
//	  with mandatory groups      a barrier after each of them, with a share of failures of 0 until the last is passed; then shares as without them
//	ProgressivePerGroup          a barrier after each group; with maxFailures 0 it holds as on one hub, otherwise each hub has a budget of its own
//	All                          nothing is held; each hub goes by itself
//
// A barrier is a gate ([rollout.ClosedGate]) on each hub before a group, which stays closed until every hub has reported that the
// groups before it are complete there; the example shows one. A hub that is cut off before it has reported blocks everything
// behind the barrier, on all hubs, until it reports or an operator opens the gates. A hub that is cut off later only blocks its
// own clusters, until the next barrier. Without a barrier, a partition costs no more than the shares of the hubs that are cut off.
//
// # Clusters and hubs that come and go
//
// A cluster that joins waits for a unit like all others. Percentages follow at the next Total. If a total becomes less, nothing
// is granted until it fits again.
//
// A cluster that moves from one hub to another counts on both until the old hub ignores it (Ignored). Do that for one cluster
// after the other, once the HubShares of the new hub shows this: as many units are taken as clusters are in flight there, in a
// report that was made after the cluster came there. In addition one of two things holds: either the new hub is granted what it
// has taken, or the old hub is granted fewer units than clusters count in flight there. Earlier, the old hub would start
// another cluster instead.
//
// Move clusters that are done or have not started. A ManagedClusterMigration brings no ManifestWorks to the new hub, and in its
// phase Cleaning deletes the ManagedCluster on the old hub, which then ignores the cluster. A cluster that is in flight or
// failed counts nowhere from then until the new hub starts it.
//
// A hub joins with an empty HubShares. It may be removed when its Grant and its Taken are zero. Keep a finalizer on the object
// until then: the next process of the coordinator hub would treat the units of a missing HubShares as free.
//
// # Where this comes from
//
// The method is known from the literature. P. O'Neil, "The Escrow Transactional Method" (ACM TODS 11:4, 1986), sets a part of a
// quantity aside before it is used. D. Barbará and H. Garcia-Molina, "The Demarcation Protocol" (VLDB Journal 3:3, 1994), gives
// each site a limit of its own; a limit is first lowered at one site, and then raised at another. V. Balegas and others,
// "Extending Eventually Consistent Cloud Databases for Enforcing Numeric Invariants" (SRDS 2015), call what a replica may still
// do its rights, and the value a bounded counter. Here one process divides the shares of all replicas, since Kubernetes has one
// place for them: an API server with optimistic concurrency. Units that are not taken expire, as a lease does (C. Gray and
// D. Cheriton, SOSP 1989).
//
// The file RULES.md of this package has the rules.
package shares
