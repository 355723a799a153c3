// Package override says which clusters a policy is bound to, what its remediationAction is on each, and why.
//
// A PlacementBinding ties policies to the clusters of a placement. It may also override the action of its policies to
// enforce. And it may be a sub filter: then it binds nothing itself, and overrides the action only where other bindings
// bind. So a policy can inform everywhere and be enforced on a part of the fleet, and never beyond the fleet that it is
// bound to.
//
//	                           binds its clusters   enforces
//	plain binding              yes                  -
//	... with enforce           yes                  all its clusters
//	sub filter                 -                    -
//	... with enforce           -                    its clusters that another binding binds
//
// # What the caller does
//
//  1. List the policy's PlacementBindings and PolicySets. You may pass all of the namespace, or of all namespaces:
//     Bindings picks the policy's.
//  2. Look up what each binding's placement selected, and set Groups: with grouping.Read for a Placement, with
//     grouping.FromNames and the names in its status for a PlacementRule. References of other kinds need no lookup.
//  3. Resolve. Report what was ignored, and what is incomplete.
//  4. Keep the Resolution until the policy, a binding, a set or a placement changes, and pass it to the
//     package that rolls the policy out: progressive, where waiting clusters keep the version before, or passes, the
//     earlier revision of OCM's document.
//
// In code:
//
//	bindings, err := override.Bindings(policy, placementBindings, policySets)
//	if err != nil {
//		return err // joined field errors: which binding, which field
//	}
//	for i := range bindings {
//		b := &bindings[i]
//		// From the caller's lister; nil for a reference of another kind, which Resolve reports as ignored.
//		if b.Groups, err = groupsOf(b.PlacementRef); apierrors.IsNotFound(err) {
//			b.Missing = true // the caches have synced, so there is none
//		} else if err != nil {
//			return err
//		}
//	}
//	resolution, err := override.Resolve(policy, bindings)
//	if err != nil {
//		return err
//	}
//	for _, ignored := range resolution.Ignored() {
//		recorder.Event(policy, "Warning", string(ignored.Type), ignored.Message)
//	}
//
// A webhook that checks a PlacementBinding calls Validate, one that checks a PolicySet ValidateSet.
//
// Everything here is a function of its arguments, changes none of them, and can be called from many goroutines at once.
//
// # Incomplete groups
//
// While decisions are being written, or a cache has not seen them, a placement seems to select fewer clusters than it
// does. grouping.Read notices this. A Resolution of such groups is incomplete, and Incomplete says why. Then a cluster
// that seems unbound may be bound, so nothing is deleted and nothing starts. Groups that were never set are incomplete,
// too.
//
// A placement that does not exist is another case: it selects nobody, for good. Say so with Binding.Missing, once you know. Otherwise one
// binding to a placement that was deleted keeps every other cluster of the policy from starting, and its own replicas
// for ever. A person may delete a Placement and create it again: RemoveAfter in package passes keeps the replicas meanwhile.
//
// # Where it departs from the documents
//
// One page has it for all packages of policies, with the reasons, and with what is left out: DEPARTURES.md beside this package.
package override
