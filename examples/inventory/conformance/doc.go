// Conformance judges a scheduler or a mirror that writes PlacementDecisions of SIG Multicluster by what KEP-5313 requires, from outside, with a
// watch. It prints a line for each requirement: pass, fail with the shortest finding, or not tested with the reason.
//
// A mirror of OCM's decisions is driven. In an empty namespace the program plays a scheduler of OCM that takes care: it creates four objects,
// shifts clusters by one, swaps two pairs, shuffles, grows, stops halfway, restarts the mirror, shrinks, writes an object of 101, and
// deletes everything. OCM's own scheduler leaves this placement alone.
//
//	go run ./conformance -kubeconfig hub.kubeconfig -namespace conformance -profile-namespace fleet \
//		-restart 'kubectl rollout restart -n system deploy/mirror'
//
// A scheduler is only watched, one decision at a time. Meanwhile change what it selects, but select nobody again whom you have
// deselected: who comes back was absent.
//
//	go run ./conformance -kubeconfig hub.kubeconfig -namespace apps -selector multicluster.x-k8s.io/decision-key=web -watch 5m
//
// It exits with 1 if a requirement failed, and with 2 if it could not judge. Package requirements has the judgement alone,
// a function of a history; its tests have the smallest history for each finding.
//
// # OCM's mirror
//
// Its controller in pull request 1552, as of 374cfa966338, copies each object by itself. Run on an API server without a garbage collector:
//
//   - never-absent: in the shuffle, one object's copy loses a cluster an event before another's gains it. So it is after a restart.
//   - decision-index: it is the index of the group, so two objects of one group both have 0.
//   - an object of 101 is refused by the API, again and again.
//
// A double that does the same, without the rest, fails never-absent when two objects swap a cluster, decision-index, and slicing.
package main
