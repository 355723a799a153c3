// SPDX-License-Identifier: Apache-2.0

// Conformance judges a scheduler or a mirror that writes PlacementDecisions of SIG Multicluster by the requirements of
// KEP-5313, from outside, with a watch. It prints a line for each requirement: pass, fail with the smallest finding, or not
// tested with the reason.
//
// A mirror of OCM's decisions is driven. In an empty namespace the program plays a careful scheduler of OCM. It creates two
// objects of one cluster each, swaps the clusters while the mirror is down, and then goes on with hundreds: it shifts them
// by one, swaps two pairs, shuffles, grows, stops halfway, restarts the mirror, shrinks, writes an object of 101, and
// deletes everything. OCM's own scheduler does not touch this placement.
//
//	go run ./conformance -kubeconfig hub.kubeconfig -namespace conformance -profile-namespace fleet \
//		-stop 'kubectl scale -n system deploy/mirror --replicas 0 && kubectl wait -n system --for delete pod -l app=mirror' \
//		-start 'kubectl scale -n system deploy/mirror --replicas 1'
//
// With -gate 1m the scheduler waits before each step of an update until the mirror shows what is stored, but no longer than
// a minute, and then prints which clusters the mirror may drop (see decisionupdate/mirror.Behind). With that wait even a
// mirror that copies object by object drops no cluster. Such a scheduler never writes an object of 101.
//
// A scheduler is only watched, one decision at a time. Meanwhile change what it selects, but do not select a cluster again
// that you have deselected: a cluster that returns was absent.
//
//	go run ./conformance -kubeconfig hub.kubeconfig -namespace apps -selector multicluster.x-k8s.io/decision-key=web -watch 5m
//
// It exits with 1 if a requirement failed, and with 2 if it could not judge. Package requirements has only the judgement, a
// function of a history; its tests have the smallest history for each finding.
//
// # OCM's mirror
//
// Its controller of pull request 1552 (as of commit 374cfa966338) copies each object separately. It ran on the API server
// of examples/controllers with a garbage collector. It passes 10 of the 15 tested requirements. These are its findings,
// each with the smallest case:
//
//   - never-absent, restart: two objects with one cluster each swap them while the mirror is down. Whichever is copied
//     first, the other one's cluster is then in no slice. With hundreds of clusters it happens without a restart, too: in a
//     shuffle that is faster than the copies.
//   - decision-index: two objects of one group. Both slices have the index 0, which is the group's.
//   - slicing, selected: one object of 101 clusters, which OCM's API allows. The slice is rejected again and again, and
//     stays as it was. The 101st cluster is in no slice.
//   - With -gate, no cluster is absent.
//   - References pass if the ClusterProfiles are in the placement's own namespace, where OCM publishes them for the bound
//     ManagedClusterSets.
//
// The tests break the mirror of this module in the same ways, one at a time: each fault fails exactly these requirements.
package main
