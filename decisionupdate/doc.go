// Package decisionupdate plans how the stored PlacementDecisions of a placement become the desired ones
// without a cluster vanishing on the way, and carries the plan out.
//
// A placement's clusters are spread over several PlacementDecisions. When the selection changes, clusters
// move from one object to another. Written one after the other, as the scheduling controller does today, an
// object may lose a cluster before another has gained it. For that moment the cluster is in none, and whoever
// keeps something for each selected cluster (the add-on manager, for one) deletes it and creates it again
// (open-cluster-management-io/ocm issue 1346).
//
// # What the caller does
//
//  1. List the placement's PlacementDecisions, at least as new as the caller's own last write: ask the API
//     server, or wait until the informer has caught up with [Report.Stored]. A plan made from an older list
//     may remove a cluster from the one object that still has it. After an error ask the API server: a request
//     whose answer was lost may have been carried out, and no report knows of it.
//  2. Build the desired objects with their labels and status.decisions, as the package grouping does:
//     Groups.DecisionsKeeping with steady names, Groups.Decisions with sequential ones.
//  3. Call [New].
//  4. Log or emit [Plan.Warnings] and [Plan.OverLimit] before anything is written.
//  5. Carry the plan out with [Applier.Apply], or by hand: all writes of a step in any order, then the next.
//  6. After an error, or a restart, begin again at 1. Nothing has to be remembered or undone.
//
// Only one writer may be at work for a placement, as leader election sees to. That includes requests that a
// writer has left under way when it died, or gave up at a timeout or because its context was done: they must be
// over when the next one lists. In the place of the scheduling controller's bind:
//
//	strategy := decisionupdate.UpdateStrategy{Type: decisionupdate.UpdateStrategyTypeRollingUpdate}
//	plan, err := decisionupdate.New(stored, desired, strategy, decisionupdate.MaxSteps(10))
//	if err != nil {
//		return err
//	}
//	for _, w := range plan.Warnings {
//		logger.Info("clusters may be seen in a wrong group", "warning", w)
//	}
//	client := clusterClient.ClusterV1beta1().PlacementDecisions(placement.Namespace)
//	report, err := decisionupdate.Applier{Client: client, Parallel: 4}.Apply(ctx, plan)
//
// # What a plan promises
//
// With RollingUpdate, after every prefix of the plan's API requests, whatever their order and overlap within
// a step:
//
//   - a cluster that is stored and desired stands in some object (D5);
//   - a cluster that is neither never appears, and one that leaves doesn't come back (D6);
//   - a cluster's group is its stored or its desired one (D6), except as Plan.Warnings say (D7);
//   - a new plan, towards the same or another desired state, keeps the same promises (D8).
//
// With All, the API's default, a cluster that moves may be absent for a moment, as today.
//
// The promise is about what the API server stores. An informer shows the same states in the same order with
// client-go 0.33 or newer. Older ones merge the events of an object that wait in their queue, and any informer
// that has lost its watch replaces its objects one by one: either may show a cluster nowhere for an instant.
//
// # How few writes
//
// A cluster that moves has to be written where it goes before it is removed where it was. So the objects that
// clusters move to come first, and most objects are written once, with what they shall have in the end. Only
// where that order runs in a circle, or is longer than [MaxSteps] allows, is an object written twice: first
// with the clusters that have to arrive early (a surge), later with its final content. A chain of n objects
// takes n writes in n steps, or n + ⌈(n-s)/(s-1)⌉ within s steps.
//
// A test keeps these numbers of writes true. The default is [New] without options:
//
//	                                                         All  SurgeAndFinalize  MaxSteps(10)  default
//	shift: 1000 full objects, a cluster sorts in front      1001              2001          1112     1001
//	swap: 2 full objects exchange a cluster                    2                 4             3        3
//	regrouping: 250 clusters from groups of 100 to 50          5                 7             5        5
//	shrink: 1000 clusters lose every other                    10                15            10       10
//
// To surge the fewest objects is the feedback vertex set problem, for which nobody knows a fast exact answer.
// The bound that is reached:
//
//   - No plan has fewer writes where at most 12 objects hang together by moves, nor for chains, circles, and
//     trees in which each object hands clusters to one other, or gets them from one, of any size. Exhaustive
//     search confirms it on small fleets.
//   - Beyond that the surges are chosen by a heuristic. Of random fleets of 14 objects, compared with a search
//     of all choices, none took more than one write too many, and all together about 1 % too many. A test
//     fails if that gets worse.
//   - It never takes more writes than SurgeAndFinalize, nor fills an object further.
//
// "Fewest" is among plans in which a cluster only ever stands in its stored and its desired objects: to park
// clusters in a third could save a write and would break D6. A cluster that is stored in several objects, as
// after a crash, is held by one that is picked before anything is counted. Where there is a choice between as
// few surges, those are preferred that fill objects least beyond 100, then those that need fewer steps. What
// goes over 100 all the same is in Plan.OverLimit. Without circles and without MaxSteps nothing is surged, so
// nothing goes over.
//
// # Labels and status
//
// An API server writes an object's labels and its status in two requests: an update of the object ignores the
// status, an update of the status ignores the labels, and a create drops the status. Between the two, a stored
// object that changes its group shows clusters in a group where they don't belong. [Write.Parts] says which
// comes first: the labels when the group's index rises or stays, the status when it falls. So the object shows the
// higher of its two indexes for as long as its clusters are mixed. A reader that finds a cluster in two objects
// takes the lower index and so never sees it early: a rollout that follows the groups starts no cluster before
// its turn. Each object and cluster concerned is in Plan.Warnings. Steady names, which keep each object in its
// group, have no such moment: prefer them.
//
// A created object is seen without clusters at first. That does no harm: nothing leaves another object before
// the new one's status is written, too.
//
// # Where this departs from the design document
//
//   - The document's two phases write nearly every object twice. They are here as [SurgeAndFinalize]. The
//     default writes an object twice only where it must.
//   - A surge of the default adds only the clusters that have to be there early, and drops those that nobody
//     waits for. That keeps it small.
//   - The document changes labels while it surges. Here they change with the first or the last write of an
//     object, as told above.
//   - The document relaxes the limit of 100 clusters for every write. Here more than 100 desired clusters in
//     one object are an error, and only a surge may go over.
//   - An update keeps the object's other labels and all else in its metadata.
package decisionupdate
