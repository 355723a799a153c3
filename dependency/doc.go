// Package dependency says which policy templates may be processed on a managed cluster, and what the
// others wait for.
//
// A Policy of Open Cluster Management may name objects that must be in a given compliance before its
// templates are processed: for all templates in spec.dependencies, for one in its extraDependencies.
// This package reads them, brings them into the form that holds on the cluster, evaluates them against
// what was observed there, and says what to create, keep and delete. It finds the templates that wait
// for each other in a circle, and an order in which the others become ready.
//
// # On the hub
//
// Who replicates policies to clusters calls [Replicate] on each list of dependencies, or
// [Policy.Replicated] on the whole policy, with the PolicySets that exist. A PolicySet that could not be
// read is not one that doesn't exist: don't replicate until it was read.
//
// # On the managed cluster
//
// Who creates the objects of templates owns an [Evaluator], and has these duties, in this order:
//
//  1. Give it every policy of the cluster's namespace ([Evaluator.Set], [Evaluator.Delete]), as many in one
//     call as there are. One that [PolicyOf] refuses is not gone: leave it as it was given before.
//  2. Watch the objects it names in [Changes], and no longer watch those it releases.
//  3. Tell it what each of them is ([Evaluator.Observe], [ObservationOf]), at first and after each change. An
//     object that was never observed is not known to be missing: its templates wait, and keep what they have.
//  4. For each policy among the templates to evaluate again: take its result, do its actions against what its
//     templates have on the cluster, and write their messages and its compliance. So too when an object that
//     one of its templates creates changed: its compliance is the policy's.
//
// In code, with watch, enqueue and do the caller's own:
//
//	evaluator := dependency.NewEvaluator("managed")
//	changes, err := evaluator.Set(policies...)
//	watch(changes.Watch, changes.Unwatch)
//	…
//	// An object changed; u and err are what reading it returned.
//	for _, template := range evaluator.Observe(object, dependency.ObservationOf(u, err)) {
//		enqueue(template.Policy)
//	}
//	…
//	// A policy came out of the queue; active is what its templates have on the cluster.
//	result, found := evaluator.Policy(name)
//	do(result.Actions(active))
//	status.Compliant = result.Compliance(observations)
//
// Whoever needs the answer once calls [Evaluate]. The core sees values only: it has no client, no clock and
// no goroutine, and the order of its inputs makes no difference to what it returns.
//
// # What is connected to what
//
// A template waits for the objects it names. Such an object leads on in two ways. A Policy (of group
// policy.open-cluster-management.io) among those given leads to each of its templates, since its compliance
// is theirs together. An object that a template creates, of the same group, kind, namespace and name, leads
// to this template; the version does not matter here. Any other object leads nowhere.
//
// A cycle is a way from a template back to itself, whatever the compliances on it: a template that waits for
// a NonCompliant policy waits for the policy's templates to say so. ignorePending breaks no cycle. It would
// let the template start, which then is no longer pending, so that what it waits for falls and it starts over.
//
// A template on a cycle is pending even if all it names was observed as wanted. So its state follows from the
// policies, and is the same on a cluster that had its objects before the cycle was made as on a new one; by
// P6 an active one is deleted. A template that merely waits for one on a cycle is judged by what was observed.
// Templates of disabled policies wait for nothing, so they are on no cycle; invalid ones lead on to what can be
// read of their dependencies, so that no mistake elsewhere makes a template ready.
//
// # Order
//
// [Evaluator.Order] tells a generator in which stages templates become ready, from the policies alone. It
// takes for granted that objects outside of the policies, and templates that are ready, come to the
// compliance that is waited for. Templates that cannot become ready in this way are listed as blocked.
//
// # Departures from the design document
//
//   - Compliance stands at status.compliant in the real objects; status.complianceState, the document's name,
//     is read where that is absent (P3).
//   - A dependency has an apiVersion, as in the real API; the document's examples have none. A kind alone does
//     not name an object, so a dependency without one is an error of the template (P1).
//   - The document leaves cycles to users. Here they are found and reported as the path that closes (P8).
//   - The document deletes whatever is not ready. Here a template keeps its objects while all that is unmet
//     could not be read, and while it is invalid: neither says that the cluster has changed (P6).
package dependency
