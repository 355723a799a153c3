// Package override says which clusters a policy is bound to, what its remediationAction is on each, and
// which bindings made it so.
//
// A PlacementBinding ties policies to the clusters of a placement. Besides, it may override the action
// of its policies to enforce, and it may be a sub filter: then it binds nothing itself and only
// overrides the action where other bindings bind. So a policy can inform everywhere and be enforced on
// a part of the fleet, with no danger of enforcing it beyond the fleet it was bound to.
//
//	                           binds its clusters   enforces
//	plain binding              yes                  -
//	... with enforce           yes                  all its clusters
//	sub filter                 -                    -
//	... with enforce           -                    those of its clusters that another binding binds
//
// # What the caller does
//
//  1. List the policy's PlacementBindings and PolicySets. Those of the whole namespace, or of all
//     namespaces, will do: Bindings picks those of the policy.
//  2. Look up which clusters the placement of each binding selected, and set Clusters. Nothing else in
//     this package depends on where decisions come from: PlacementDecisions for a Placement, the status
//     for a PlacementRule. References of other kinds need no lookup, they bind nothing.
//  3. Resolve. Replicate the policy to each cluster of the result with its action, and remove it from
//     all others. Report what was ignored.
//
// In code:
//
//	bindings, err := override.Bindings(policy, placementBindings, policySets)
//	if err != nil {
//		return err // joined field errors: which binding, which field
//	}
//	for i := range bindings {
//		bindings[i].Clusters = selectedBy(bindings[i].PlacementRef) // from the caller's lister
//	}
//	result, err := override.Resolve(policy, bindings)
//	if err != nil {
//		return err
//	}
//	for _, cluster := range result.Clusters {
//		replicate(policy, cluster.Name, cluster.Action)
//	}
//	for _, ignored := range result.Ignored {
//		recorder.Event(policy, "Warning", string(ignored.Reason), ignored.Message)
//	}
//
// Policy, PolicySet and PlacementBinding have the JSON names of the real objects, so YAML and
// runtime.DefaultUnstructuredConverter fill them. Everything here is a function of its arguments,
// changes none of them, and can be called from many goroutines at once.
//
// # Where it departs from the design document
//
// The design document is "Selective Policy Enforcement"; its five examples are tests.
//
//   - Both spellings of an override are read: the document's remediationActionOverride and the shipped
//     API's bindingOverrides and subFilter. A binding that uses both does what either says.
//   - With a rollout strategy other than All, overrides and sub filters are ignored, as "Policy
//     placement strategy" asks. A sub filter that is ignored still binds nothing: ignoring a field must
//     not bind a policy to clusters that its author kept out. The strategy that counts is the one in the
//     spec, even where the policy informs and is therefore rolled out at once.
//   - A policy that enforces by itself is not decided by any binding, so DecidedBy is empty there even
//     if bindings say enforce, too.
//   - A binding without enforce can bring a cluster to be enforced that a sub filter has been waiting
//     for (example 4 of the document). The sub filter is then what decided.
//   - A set's exclusions, of which the document does not speak, take the cluster out of what the binding
//     selects for that policy: it neither binds the cluster nor overrides the action there. Of a
//     binding that reaches the policy in several ways, the way that excludes least counts.
package override
