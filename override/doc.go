// Package override says which clusters a policy is bound to, what its remediationAction is on each, and why.
//
// A PlacementBinding ties policies to the clusters of a placement. It may also override the action of its policies to
// enforce. And it may be a sub filter: then it binds nothing itself, and overrides the action only where other bindings
// bind. So a policy can inform everywhere and be enforced on a part of the fleet, with no danger of enforcing it beyond
// the fleet that it was bound to.
//
//	                           binds its clusters   enforces
//	plain binding              yes                  -
//	... with enforce           yes                  all its clusters
//	sub filter                 -                    -
//	... with enforce           -                    those of its clusters that another binding binds
//
// # What the caller does
//
//  1. List the policy's PlacementBindings and PolicySets. Those of the whole namespace, or of all namespaces, will do:
//     Bindings picks those of the policy.
//  2. Look up what each binding's placement selected, and set Groups: by grouping.Read for a Placement, by
//     grouping.FromNames of the names in the status for a PlacementRule. References of other kinds need no lookup.
//  3. Resolve. Report what was ignored, and what is incomplete.
//  4. Keep the Resolution until the policy, a binding, a set or a placement changes, and give it to package passes,
//     which rolls the policy out.
//
// In code:
//
//	bindings, err := override.Bindings(policy, placementBindings, policySets)
//	if err != nil {
//		return err // joined field errors: which binding, which field
//	}
//	for i := range bindings {
//		b := &bindings[i]
//		if b.Groups, err = groupsOf(b.PlacementRef); err != nil { // from the caller's lister
//			return err
//		}
//	}
//	resolution, err := override.Resolve(policy, bindings)
//	if err != nil {
//		return err
//	}
//	for _, ignored := range resolution.Ignored() {
//		recorder.Event(policy, "Warning", string(ignored.Reason), ignored.Message)
//	}
//
// A webhook that checks a PlacementBinding calls Validate.
//
// Everything here is a function of its arguments, changes none of them, and can be called from many goroutines at once.
//
// # Incomplete groups
//
// While decisions are being written, or a cache has not seen them, a placement seems to select fewer clusters than it
// does. grouping.Read tells. A Resolution of such groups is incomplete, and Incomplete says why. Then a cluster that
// seems not to be bound may well be, so nothing is deleted and nothing starts. Groups that were never set are
// incomplete, too.
//
// # Where it departs from the design document
//
// The design document is "Selective Policy Enforcement". Its five examples are scenes among the tests
// (testdata/scenes/design_document.txt).
//
//   - Example 2 ends with "Clusters A, B, C, D, E, and F are all set to enforce mode". The document's own rules, and its
//     example 1, enforce on "all clusters bound by this PlacementBinding", which are A, B, E and F. The rules are
//     followed: C and D stay at inform.
//   - Both spellings of an override are read: the document's remediationActionOverride, and the shipped API's
//     bindingOverrides and subFilter. A binding that uses both does what either says.
//   - With a rollout strategy other than All, overrides and sub filters are ignored, as the document "Policy placement
//     strategy" asks. A sub filter that is ignored still binds nothing: ignoring a field must not bind a policy to
//     clusters that its author kept out. The strategy that counts is the one in the spec, also where the policy informs
//     and is therefore rolled out at once.
//   - A policy that enforces by itself is not decided by any binding, so DecidedBy is empty there, also if bindings say
//     enforce.
//   - A binding without enforce can bring a cluster to be enforced that a sub filter has been waiting for, as in example
//     4. The sub filter is then what decided.
//   - A set's exclusions, of which the document does not speak, take the cluster out of what the binding selects for
//     that policy: it neither binds the cluster nor overrides the action there. Of a binding that reaches the policy in
//     several ways, the way that excludes least counts.
package override
