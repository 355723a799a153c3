// Command decisions keeps the PlacementDecisions of Placements: it selects clusters, divides them into decision groups,
// and writes what changed so that no cluster that stays selected is in no PlacementDecision on the way.
//
//	go run ./decisions -kubeconfig ~/.kube/config
//
// It is a whole controller, meant to be copied. Read it in this order:
//
//	reconcile.go    what is done each time something changed
//	choose.go       which clusters a Placement selects: put your own scheduler here
//	satisfied.go    the status of a Placement
//	tell.go         events and metrics, from what was written
//	caches.go       the informers' stores and their indexes
//	watches.go      which event concerns which Placement
//	main.go         flags and the manager
//
// There is no finalizer: a PlacementDecision is owned by its Placement, and Kubernetes deletes it after that. Don't run it
// beside OCM's placement controller.
package main
