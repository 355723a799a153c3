// Command works places ManifestWorks for ManifestWorkReplicaSets: each selected cluster gets a work with the set's
// template, no more of them at a time than the rollout strategy of its placement allows.
//
//	go run ./works -kubeconfig ~/.kube/config
//
// It is a whole controller, meant to be copied. Read it in this order:
//
//	reconcile.go    what is done each time something changed
//	placements.go   which clusters belong to which placementRef; groups are read again only when they changed
//	works.go        which works there are, and what they say of their clusters
//	apply.go        gives a cluster the template, takes it away
//	written.go      reads its own writes
//	takeover.go     reads the writes of the process before
//	finalizer.go    what happens when a set is deleted
//	tell.go         events and metrics, from what changed
//	caches.go       the informers' stores and their indexes
//	watches.go      which event concerns which set
//	main.go         flags and the manager
//
// Labels, finalizer and conditions are OCM's own, so that whatever reads them reads these. Don't run it beside OCM's
// controller for the same sets.
package main
