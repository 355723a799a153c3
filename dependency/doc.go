// SPDX-License-Identifier: Apache-2.0

// Package dependency says which policy templates may be processed on a managed cluster, and what the others wait
// for.
//
// A Policy of Open Cluster Management may name objects that must have a given compliance before its templates are
// processed: spec.dependencies for all templates, extraDependencies for one. [Evaluate] gives an [Evaluation] of each
// policy. It says for each template whether it is ready, what it waits for, whether it waits for itself, and what to do
// with the object that it creates. The rules are in RULES.md, and scenes to read in testdata/scenes.
//
// # On the hub
//
// A controller that replicates policies to clusters calls [Replicate]. Don't replicate while a PolicySet could not be read: a
// failed read does not mean that it does not exist. A webhook calls [Validate].
//
// # On the managed cluster
//
// A controller that creates the objects of templates owns an [Evaluator], and has these duties, in this order:
//
//  1. Give it every policy of the cluster's namespace ([Evaluator.Set], [Evaluator.Delete]), as many in one call as
//     there are. A policy that [PolicyOf] refuses was not deleted: keep the one given before. If none was given before,
//     don't touch its objects on the cluster.
//  2. Watch the objects that [Watches] adds, and no longer watch those that it removes.
//  3. Pass the state of each watched object ([Evaluator.Observe], [ObservationOf]), at first and after each change. An
//     object that was never observed is not known to be missing: templates that name it wait, and keep their objects. Go
//     on once each object that a policy names was observed. Otherwise other policies would see this policy pending for no
//     reason.
//  4. For each policy among the templates to evaluate again, take its evaluation, carry out its actions with what [Render]
//     makes of them, and write its status ([Evaluation.Status]). Do the same when an object that one of its templates
//     creates changes, or an object that has the policy in its label: the object's compliance is part of the policy's, and
//     a user may have edited or deleted the object.
//  5. Go on with a deleted policy until no object has it in its label any more. The API server's garbage collection deletes
//     the objects that the policy owns, but no cluster-scoped object. A finalizer on the policy keeps it until then.
//
// Only you can know which kinds templates may have on this cluster ([Kinds]), which objects are there, and what the
// controllers of templates say in Events.
//
// In code, with watch, enqueue and do the caller's own:
//
//	evaluator := dependency.NewEvaluator("managed", scope)
//	watches, err := evaluator.Set(policies...)
//	watch(watches.Add, watches.Remove) // and observe at once what was added
//	for _, template := range watches.Templates {
//		enqueue(template.Policy)
//	}
//	…
//	// An object changed; u and err are what reading it returned.
//	for _, template := range evaluator.Observe(object, dependency.ObservationOf(u, err)) {
//		enqueue(template.Policy)
//	}
//	…
//	// A policy came out of the queue; observations is what reading the objects of templates returned, by ObservationOf.
//	// Those of other policies may be among them. The actions for a deleted policy delete all its objects, so take no
//	// policy out of the queue before the evaluator has been given every policy.
//	evaluation, found := evaluator.Policy(name)
//	for _, action := range evaluation.Actions(observations) {
//		object, err := dependency.Render(policy, action)
//		if err != nil {
//			return err
//		}
//		apply(action.Verb, object)
//	}
//	if next := evaluation.Status(observations, status, time.Now()); found && !equality.Semantic.DeepEqual(next, status) {
//		write(next)
//	}
//
// Read objects with a dynamic client and a RESTMapper that refreshes its discovery on a miss, such as
// restmapper.NewDeferredDiscoveryRESTMapper. ObservationOf also takes an error of the mapper: a kind that it does not know
// yet is [ReasonNoAPI]. Then read again later, since no watch tells of a new kind.
//
// A program that needs the answer once calls [Evaluate]. The package only sees values: it has no client, no clock and no
// goroutine. The order of its inputs does not change its results.
//
// # Where objects are found
//
// Policies, and all kinds of the policy group with a name that ends in Policy, are in the cluster's namespace. The scope that is
// given to [NewEvaluator] says which of the other kinds are cluster-scoped and which are namespaced. The evaluator takes
// observations under the name that an object has on the cluster.
//
// # What is connected to what
//
// A template waits for the objects that it names. Such an object leads on in two ways. A given Policy leads to each of
// its templates, since its compliance follows from theirs. An object that a template creates leads to this template, if
// group, kind, namespace and name are the same, in any version. Any other object leads nowhere.
//
// A cycle is a path from a template back to itself, whatever the compliances on it. A template that waits for a policy to
// be NonCompliant also waits for the policy's templates. ignorePending breaks no cycle. If it let the template start,
// the template would no longer be pending, templates that wait for it to be pending would stop, and all would start over.
//
// A template on a cycle is pending even if all objects that it names were observed as wanted. Nothing is created for it. But
// its existing object stays: policies arrive one after the other, and two policies that reverse their direction wait for
// each other for a moment. A template that is not on the cycle, and waits for a template on it, is judged by the observations.
// Templates of disabled policies wait for nothing, so they are on no cycle.
//
// An invalid template stays on its cycles, so a mistake in one template's dependencies makes no other template ready. A
// dependency with a mistaken compliance leads to its object. A dependency without a name, a kind or a readable apiVersion may
// mean any object: a template that leads to it through others is pending, and keeps its object. If a definition does not say
// what the template creates, templates that wait for an object are judged by the observation of that object.
//
// # Order
//
// [Evaluator.Order] tells a generator in which order templates become ready. It looks at the policies alone, as [Replicate]
// makes them for a cluster without a namespace. It assumes that objects outside of the policies, and the objects of
// ready templates, reach the compliance that is waited for. Templates that cannot become ready in this way are listed
// as blocked.
//
// # Differences from OCM's documents
//
// DEPARTURES.md of package override lists them for all packages about policies, with the reasons, and what is left out.
package dependency
