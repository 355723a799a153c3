// SPDX-License-Identifier: Apache-2.0

// Package decisionupdate works out how the stored PlacementDecisions of a placement become the desired ones without a
// cluster vanishing on the way, and carries that out.
//
// A placement's clusters are spread over several PlacementDecisions. When the selection changes, clusters move from one
// object to another. The scheduling controller writes the objects one after the other, so an object may lose a cluster
// before another has gained it. For that moment the cluster is in none. A controller that keeps something for each
// selected cluster, such as the add-on manager, then deletes it and creates it again (open-cluster-management-io/ocm
// issue 1346).
//
// # What the caller does
//
//  1. List the PlacementDecisions of the namespace, at least as new as the caller's own last write: own.Current of package rollout/writes
//     lays the own writes over what an informer has, or own.Unseen says whether to wait. An older list may make [Diff] remove a cluster
//     from the one object that still has it. Which of the objects are the placement's is for Owns of package grouping to say. All others are
//     left out, and their names not taken. When a process begins to act, the caches that it chooses clusters from may be older than
//     those of the process before: compare them once with the API server (own.Begin).
//  2. Where clusters have scores, let LimitScores say which are written now. Build the desired objects with their labels and status.decisions, as Groups.Decisions of package grouping does; with
//     the stored objects it keeps names steady. Its Sealed adds a seal, for readers without the Placement (see KEP-5313.md).
//  3. Call [Diff].
//  4. Log or emit [Update.Misplaced] before anything is written.
//  5. Carry the update out with [Applier.Apply], or by hand: all writes of a step in any order, then the next.
//  6. Tell the own what was written ([Outcome.Note]), and emit an event for each of [Outcome.Writes], also when there was an error.
//  7. After an error, or a restart, begin again at 1. Nothing has to be remembered or undone. After a [StaleError] with Taken, a warning is due.
//  8. Otherwise write the placement's status, with Status of package grouping.
//
// The example of the package is such a controller, from the groups to the status. Only one writer may be at work for a placement, which leader
// election ensures. A request of a crashed writer that is still under way counts as a writer, too, and so does a request that timed out.
// They must be over when the next writer lists.
//
// # Clients
//
// OCM's generated client is a [Client] as it is. controller-runtime's takes these lines. Get must ask the API server: it is
// called after a conflict, which has just shown a cache to be old.
//
//	type placementDecisions struct {
//		client    client.Client
//		live      client.Reader // manager.GetAPIReader()
//		namespace string
//	}
//
//	func (p placementDecisions) Create(ctx context.Context, pd *PlacementDecision, _ metav1.CreateOptions) (*PlacementDecision, error) {
//		return pd, p.client.Create(ctx, pd)
//	}
//
//	func (p placementDecisions) Update(ctx context.Context, pd *PlacementDecision, _ metav1.UpdateOptions) (*PlacementDecision, error) {
//		return pd, p.client.Update(ctx, pd)
//	}
//
//	func (p placementDecisions) UpdateStatus(ctx context.Context, pd *PlacementDecision, _ metav1.UpdateOptions) (*PlacementDecision, error) {
//		return pd, p.client.Status().Update(ctx, pd)
//	}
//
//	func (p placementDecisions) Delete(ctx context.Context, name string, opts metav1.DeleteOptions) error {
//		pd := &PlacementDecision{ObjectMeta: metav1.ObjectMeta{Namespace: p.namespace, Name: name}}
//		return p.client.Delete(ctx, pd, &client.DeleteOptions{Preconditions: opts.Preconditions})
//	}
//
//	func (p placementDecisions) Get(ctx context.Context, name string, _ metav1.GetOptions) (*PlacementDecision, error) {
//		pd := &PlacementDecision{}
//		return pd, p.live.Get(ctx, client.ObjectKey{Namespace: p.namespace, Name: name}, pd)
//	}
//
// They are not in this package, since all its users would then depend on controller-runtime. The program
// examples/controllers/decisions has them.
//
// # What an update promises
//
// With RollingUpdate, after every prefix of the update's API requests, whatever their order and overlap within
// a step:
//
//   - A cluster that is stored and desired is in some object.
//   - If it is stored in an object that is not being deleted, it is in such an object all the time, so the end of a
//     finalizer doesn't take it away. A cluster that is stored only in objects that are being deleted is in another
//     object after the first step.
//   - A cluster that is neither stored nor desired never appears, and a deselected one doesn't come back.
//   - A cluster's group is its stored or its desired one, except as [Update.Misplaced] says.
//   - No object is written with more than 100 clusters.
//   - A new update, towards the same or another desired state, keeps the same promises.
//
// With All, the API's default, a cluster that moves may be absent for a moment, as today.
//
// The promise is about what the API server stores. An informer shows the same states in the same order with client-go
// 0.33 or newer. Older informers merge the waiting events of an object, and any informer that has lost its watch
// replaces its objects one by one. Both may leave a cluster out for an instant.
//
// # The first time
//
// Where nothing is stored yet, a created object is seen without clusters at first. A reader could take a canary group
// for empty because it is not filled yet, and start with the next group. Named groups are therefore filled first, one a step,
// in the order of their index. All other groups follow in one step. The same goes for every update that only adds
// clusters, with either strategy and whatever MaxSteps says.
//
// This protects the order of the groups and not their size. A reader that has to know whether the groups are
// complete compares them with the Placement's status: grouping.Read does, if it gets the Placement.
//
// # How few writes
//
// A cluster that moves has to be written to its new object before it is removed from the old one. The objects that clusters
// move to therefore come first, and most objects are written once, with their final content. Only where that order runs in a circle, or
// is longer than MaxSteps allows, some clusters have to arrive early. That is a surge: an object gets them before it
// gets its final content, or an object of the surge has them meanwhile.
//
// A test prints and checks these numbers of writes. The default is [Diff] without a bound:
//
//	                                                         All  SurgeAndFinalize  MaxSteps(10)  default
//	shift: 1000 full objects, a cluster sorts in front      1001              1021          1005     1001
//	swap: 2 full objects exchange a cluster                    2                 4             4        4
//	regrouping: 250 clusters from groups of 100 to 50          5                 8             5        5
//	shrink: 1000 clusters lose every other                    10                20            10       10
//
// Each object is written once where clusters move in no circle and no bound cuts a chain. Surges are as few as possible for chains, circles and
// trees of any size. Otherwise a heuristic chooses them: tests compare it with exhaustive search, and print how close it comes. For
// four full objects of three clusters, mixed at random, updates had 6 % more writes than the fewest, and 2 more at worst. It never takes
// more writes than SurgeAndFinalize.
//
// "Fewest" is among updates in which a cluster only stands in its stored and its desired objects, and in objects of a surge. Parking
// clusters in a third object could save a write, but would change what was not asked for. Where a cluster is stored in
// several objects, as after a crash, the one that holds it is chosen before anything is counted. A cluster that only an object
// being deleted has may cost a surge.
//
// # Never more than 100
//
// No write gives an object more than 100 clusters: the API says so, and SIG Multicluster's copy of it refuses more. Where
// a surge has no room in its object, it creates an object of its own, at most as long as the update takes:
//
//   - It has the labels and the owner of the objects that its clusters go to, which are all of one group, and the annotation
//     cohort.open-cluster-management.io/surge. Its name is that of such an object, and -surge.
//   - While it lives, a reader that compares the objects with the Placement's status finds the groups incomplete, and waits.
//   - If the writer crashes, the next update finds the object stored and not desired: it keeps its clusters until they have
//     arrived, and is deleted. Groups.Decisions of package grouping never keeps it as one of the placement's own.
//
// A test prints what the limit costs, beside surges that fill their objects beyond it, as this library's did before. All the tables of this
// page, and the gap to the fewest writes, are printed by go test ./decisionupdate -run 'Table|Close' -v:
//
//	                                                in place, beyond 100              never beyond 100
//	                                              writes   steps fullest    writes   steps   extra fullest
//	shift: 10 full objects, by one                    10      10     100        10      10       0     100
//	turn: the same in a circle                        11      11     101        12      12       1     100
//	swap: 2 full objects exchange a cluster            3       3     101         4       4       1     100
//	shuffle: 1000 clusters in 10 full objects         19       3     193        26       4       8     100
//
// # Labels and status
//
// An API server writes an object's labels and its status in two requests: an update of the object ignores the
// status, an update of the status ignores the labels, and a create drops the status. Between the two, a stored
// object that changes its group may show clusters in a group where they don't belong. [Write.Parts] says which
// comes first:
//
//   - An object that only gains clusters gets its labels first. One that only loses clusters gets its status first.
//     Nothing is seen in a wrong group then.
//   - If an object without a name gets one, the status goes first; if it loses its name, the labels go first. A new
//     canary group then never shows clusters that never belonged to it, which a rollout that starts with groups of certain
//     names would start.
//   - Otherwise the object has the higher of its two indexes while its clusters are mixed. A reader that finds a
//     cluster in two objects takes the lower index, and so never sees it early. A rollout that follows the groups
//     starts no cluster before its turn.
//   - Where the index stays, and the name changes or only how the index is spelled, the status goes first.
//
// [Update.Misplaced] has the moments that remain, each object with its clusters. With steady names an object changes the index of its
// group alone, with all of the group. There is such a moment only if it both gains and loses clusters meanwhile: prefer steady names.
//
// # Objects without the label
//
// A stored object without labels, from an older scheduler, or with another placement's label, after an edit by hand, is taken
// over if the placement is its controller. One with the placement's label and no controller gets the placement as its controller, so that
// the garbage collector takes it in the end. An object gets its labels when it has the right clusters, or with its surge. While its
// group stays, another placement's label is replaced before the object gains clusters, which would be seen there otherwise.
// No cluster leaves a labelled object before the object that it goes to is labelled, too. [Update.Misplaced] tells of an object
// without the label, too, if that shows a group and changes it: if the writer stops between the two requests, the next update
// finds the clusters stored in that group, and may write the label first.
//
// # Where this departs from the design document
//
//   - The document's two phases write nearly every object twice. They are here as SurgeAndFinalize. The
//     default writes an object twice only where it must.
//   - A surge of the default adds only the clusters that have to be there early, and drops those that no other write
//     waits for. That keeps it small.
//   - The document changes labels while it surges. Here they change with the first or the last write of an object, as
//     said above.
//   - The document relaxes the limit of 100 clusters for every write. Here no write goes over, and more than 100 desired clusters
//     in one object are an error.
//   - The document writes all groups at once when nothing is stored. Here the named groups come first.
//   - An update keeps the object's other labels and all else in its metadata.
package decisionupdate
