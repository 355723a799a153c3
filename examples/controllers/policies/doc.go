// SPDX-License-Identifier: Apache-2.0

// Command policies replicates Policies to the clusters that they are bound to: first everywhere with inform, then enforced
// on one cluster or group after the other, as the policy's rollout strategy says.
//
//	go run ./policies -kubeconfig ~/.kube/config
//
// It is a whole controller, meant to be copied, made with OCM's generated clients and informers where the API module has
// them, and with dynamic ones for the policy API. Read it in this order:
//
//	reconcile.go    what is done each time something changed
//	resolve.go      where a policy goes: bindings, sets, groups
//	template.go     what is replicated, with its dependencies, and its version
//	policy.go       what is kept of a Policy, and what a replicated one says of its cluster
//	apply.go        writes the replicated policies
//	known.go        its own writes, those of the process before, and the ignored clusters
//	deselected.go   the record of deselected clusters
//	verdict.go      the verdicts of operators and tests on clusters that comply
//	tell.go         events and metrics, from what changed
//	set.go          the status of PolicySets
//	caches.go       the informers' stores and their indexes
//	queue.go        which event concerns which policy
//	main.go         flags, clients, leader election
//
// Names and labels of the replicated policies are OCM's own. Don't run it together with OCM's propagator.
package main
