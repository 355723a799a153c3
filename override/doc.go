// SPDX-License-Identifier: Apache-2.0

// Package override says which clusters a policy is bound to, what its remediationAction is on each, and why.
//
// A PlacementBinding binds policies to the clusters of a placement. It may also override the action of its policies to
// enforce. It may be a sub filter: then it binds nothing itself, and overrides the action only where other bindings
// bind. With these a policy can inform on all its clusters and be enforced on some of them, and never on a cluster that it
// is not bound to.
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
// Each function here depends on its arguments alone, changes none of them, and can be called from many goroutines at once.
//
// # Incomplete groups
//
// While decisions are being written, or a cache has not seen them, a placement seems to select fewer clusters than it
// does. grouping.Read detects such partially observed decisions. A Resolution of them is incomplete, and Incomplete says
// why. A cluster that seems unbound may then be bound, so nothing is deleted and nothing starts. Groups that were never set
// are incomplete, too.
//
// A placement that does not exist is another case: it selects no cluster. Set Binding.Missing once you know it. Otherwise a
// binding to a deleted placement keeps every other cluster of the policy from starting, and its own replicas are never
// deleted. A user may delete a Placement and create it again: RemoveAfter in package passes keeps the replicas meanwhile.
//
// # Differences from OCM's documents
//
// DEPARTURES.md in this directory lists them for all packages about policies, with the reasons, and what is left out.
package override
