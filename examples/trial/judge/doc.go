// SPDX-License-Identifier: Apache-2.0

// Package judge says from a recording of watches, or from audit logs, alone which limits of a rollout were broken, when, and by which write. It works
// for any controller of ManifestWorkReplicaSets, add-ons, or policies in two passes. Its verdicts do not use this library; package should asks the library
// what should have happened instead.
//
//	go run ./cmd/trial record > hub.jsonl     needs get, list and watch; until it is interrupted
//	go run ./cmd/trial judge hub.jsonl        exit code 0: nothing is broken, 1: something is, 2: bad input
//	go run ./cmd/trial judge -html page.html hub.jsonl   also a page with pictures of the rollouts and the places of what was found
//
// OCM.md has what it finds in OCM's own controllers.
//
// # Two grades
//
// A controller sees the hub through caches that are late. So a view is what it may have seen: each object as it was at some time
// within the lag (-lag, 2 s by default). A start is Broken if it is wrong in every view, and Suspicious if it is wrong in truth and
// right in some view. A report says how great a lag the starts show.
//
// What lies within the lag leaves no trace: a controller that plans without its own writes is at most suspicious.
//
// # What is judged
//
// Each kind is a constant of [Kind]. Conditions have whole seconds, so times are read with a grace of 1.5 s in favour of the
// controller. A version is the hash of the manifests or of what a policy defines, or the configurations of an add-on: a stamp may lie.
// What a replicated policy says counts for its version where the report is no older than the write; a failure in the second before the write
// may be of either. Decisions are complete if the Placement's status names each of them in its group, and counts their clusters. Deletions
// while they are not complete are judged by what is selected before and afterwards.
// [Vanished], [Misnamed] and [Unfinished] are faults of the writer of the decisions, and need nothing but Placements and PlacementDecisions: a
// cluster that is in none for a moment, names that lie, and groups that stay partially observed. They are judged by the complete decisions before and
// afterwards, and by the truth alone. Suspicious are states that looked complete, lasted no longer than the lag, and that no write of the
// Placement confirmed. Placements that another controller schedules are not judged.
//
// A deselected cluster that has a version and is not done counts as long as its object is there: [Leavers]. That is suspicious, since an operator may ignore
// the cluster, and broken with -ignore-annotation, the annotation of the owner in which people name such clusters. They count nowhere.
// An object that is gone counts if it said for longer than the lag that the version failed, and nothing else was wanted since. That is
// suspicious, since a user that deletes a cluster ignores it. It is broken with -ignore-annotation if the recording shows that no user deleted the
// cluster: that its ManagedCluster was there all the time since the cluster left, with the lag before, and without a hole; and the object
// went later than the lag after that. A cluster that left one of several placements is never more than suspicious: a process that began since may not
// know which.
//
// An owner calls its rollout complete in the condition PlacementRolledOut or Succeeded of a ManifestWorkReplicaSet, with the reason Completed of
// Progressing in a ClusterManagementAddOn's installProgressions, and in a policy's status.rolloutStatus. [Complete] is found where a status comes
// to say so of the present generation, and a cluster that is selected, or left with the version, waits, is under way or soaks. A cluster that failed or
// timed out is done, but only PlacementRolledOut may say so. It is suspicious where decisions are partially observed in some view, and
// not judged under All.
//
// [Stuck] is only suspicious once a cluster has left or moved that is not ignored, since it may count where it was; and while a cluster of a
// later group has the version and is not done, and as many are exposed over all groups as the groups expose one after the other, since a
// controller may have the others wait then.
//
// [Left] needs -began where a controller waits before it removes an object (-remove-after): each process of the controller counts that time anew,
// and no object tells when a process began; the status of the controller's Pod does. Without -began it is suspicious.
//
// # What is not judged
//
// A trace does not tell by which annotations a controller hears people, nor where it keeps what it knows. So these are not judged:
//
//   - Pauses, gates, freezes, allowlists and the answers of validators. Set a long -patience, or [Stuck] is found of clusters that wait for them. A
//     controller that starts a cluster all the same is not found.
//   - How many clusters of several groups are exposed together. A cluster that waits for that, where the groups expose as many, is suspicious as [Stuck].
//   - Versions taken back. Objects that get the version before are found as [Version].
//   - Objects with content that differs from cluster to cluster. Each start is found as [Version].
//   - What an owner stores, such as revisions and records of deselected clusters. What follows from a record that is missing is suspicious.
//   - Clusters that a controller leaves out by a rule of its own. They are found as [Stuck] or [Complete].
//
// # Recordings
//
// A recording is a file of lines of JSON, each a [Line]:
//
//	{"type":"BEGIN","at":"2026-01-01T00:00:00Z"}                    all objects follow, each as ADDED
//	{"type":"LISTED","at":"…"}                                      they are all; from here on, events of watches
//	{"type":"MODIFIED","at":"…","object":{…}}                       an event, with the object as the API server sends it
//	{"type":"BOOKMARK","at":"…"}                                    until now there are no others
//	{"type":"HOLE","at":"…","kind":"ManifestWork","reason":"…"}     a watch was lost; its objects follow, then LISTED with the kind
//
// Resource versions order the events between two lists. What happened in a hole, or so soon after it that a view reaches into it,
// is not judged, and the report says so. A recorder that begins again appends a BEGIN.
// ManagedClusters need not be there. The program records their names and deletions, and goes on without them where the hub refuses them.
//
// # Audit logs
//
// Kubernetes audit logs serve as well, in any order, rotated or compressed. They name the writer, too, and -user judges one writer alone:
//
//	go run ./cmd/trial judge audit.log audit-*.log.gz
//
// The API server needs this policy:
//
//	apiVersion: audit.k8s.io/v1
//	kind: Policy
//	omitStages: [RequestReceived, ResponseStarted]
//	omitManagedFields: true
//	rules:
//	- level: None
//	  verbs: [get, watch]
//	- level: RequestResponse
//	  resources:
//	  - group: cluster.open-cluster-management.io
//	    resources: [placements, placements/status, placementdecisions, placementdecisions/status, managedclusters, managedclusters/status]
//	  - group: work.open-cluster-management.io
//	    resources: [manifestworkreplicasets, manifestworkreplicasets/status, manifestworks, manifestworks/status]
//	  - group: addon.open-cluster-management.io
//	    resources: [clustermanagementaddons, clustermanagementaddons/status, managedclusteraddons, managedclusteraddons/status]
//	  - group: policy.open-cluster-management.io
//	    resources: [policies, policies/status, placementbindings, policysets]
//	- level: None
//
// What there was before the log is known from its first list of all objects of a kind. A controller's first list does, or, once,
//
//	kubectl get placements,placementdecisions,managedclusters,manifestworkreplicasets,manifestworks -A -o json > /dev/null
//
// Until then there is a hole. There is one, too, from a write without an answer in the log (another level, cut off by
// --audit-log-truncate-enabled, an error of the server, metadata or a table), until the object is written or listed again; and
// where a resourceVersion, a generation or a list shows that a write is missing. Writes are ordered by their resourceVersions. A
// deletion with an answer that has none is ordered by its times, in favour of the controller.
//
//	go run ./cmd/trial excerpt hub.jsonl 4711      the fewest lines that show the finding of line 4711: a recording by itself,
//	                                               which shows nothing that the whole does not, where that can be
//	go run ./cmd/trial anonymise hub.jsonl         names are hashed, and what is not judged is left out
//
// What a million events cost:
//
//	go run ./cmd/trial measure    1,134 MB of 50 rollouts of 1,000 clusters: 1,063 MB of memory, 70 s of processor time with the writing of the file
package judge
