// SPDX-License-Identifier: Apache-2.0

// Command decisions maintains the PlacementDecisions of Placements: it selects clusters, divides them into decision groups,
// and writes the changes. In between, each cluster that stays selected is in some PlacementDecision at any time.
//
//	go run ./decisions -kubeconfig ~/.kube/config
//
// It is a whole controller, meant to be copied. Read it in this order:
//
//	reconcile.go    what is done each time something changed
//	choose.go       which clusters a Placement selects: put your own scheduler here
//	satisfied.go    the status of a Placement
//	tell.go         events and metrics, from what was written
//	writer.go       how decisionupdate writes with controller-runtime's client
//	takeover.go     what a new process waits for
//	caches.go       the informers' stores and their indexes
//	watches.go      which event concerns which Placement
//	main.go         flags and the manager
//
// There is no finalizer: the Placement owns its PlacementDecisions, and the garbage collector deletes them after it. Do not
// run this together with OCM's placement controller.
package main
