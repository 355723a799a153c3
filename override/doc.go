// Package override says which clusters a policy is bound to, what its remediationAction is on each,
// which bindings made it so, and how its clusters get there one after the other.
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
//  3. Resolve. Report what was ignored.
//  4. Make the groups of the bound clusters from those of the placements. Keep these and the result of
//     Resolve until the policy, a binding, a set or a placement changes.
//  5. Read the replicated policies that exist, and Propagate.
//  6. Write what has to be written: delete, create or update with the version and the action, note the
//     time, and then set the rollout status. Write the root policy's status if it changed.
//  7. Come back when something changes, the replicated policies that you have written among it, or after
//     RecheckAfter.
//
// In code:
//
//	bindings, err := override.Bindings(policy, placementBindings, policySets)
//	if err != nil {
//		return err // joined field errors: which binding, which field
//	}
//	placements := map[string]*grouping.Groups{}
//	for i := range bindings {
//		b := &bindings[i]
//		b.Clusters, placements[b.Name] = selectedBy(b.PlacementRef) // from the caller's lister; no groups for a PlacementRule
//	}
//	bound, err := override.Resolve(policy, bindings)
//	if err != nil {
//		return err
//	}
//	for _, ignored := range bound.Ignored {
//		recorder.Event(policy, "Warning", string(ignored.Reason), ignored.Message)
//	}
//	groups, err := bound.Groups(placements)
//	if err != nil {
//		return err
//	}
//	root := override.Root{Policy: policy, Version: version(object), Bound: bound, Groups: groups, Status: current}
//	p, err := override.Propagate(root, replicas, time.Now())
//	if err != nil {
//		return err
//	}
//	for _, cluster := range p.Clusters {
//		switch cluster.Write {
//		case override.WriteCreate, override.WriteUpdate:
//			err = errors.Join(err, replicate(cluster.Name, root.Version, cluster.Action, cluster.RolloutStatus))
//		case override.WriteStatus:
//			err = errors.Join(err, setStatus(cluster.Name, cluster.RolloutStatus))
//		}
//	}
//	for _, cluster := range p.Delete {
//		err = errors.Join(err, remove(cluster))
//	}
//	if p.StatusChanged {
//		err = errors.Join(err, setRootStatus(p.Status))
//	}
//	return ctrl.Result{RequeueAfter: p.Rollout.RecheckAfter}, err
//
// Policy, PolicySet and PlacementBinding have the JSON names of the real objects, so YAML and
// runtime.DefaultUnstructuredConverter fill them. Everything here is a function of its arguments,
// changes none of them, and can be called from many goroutines at once.
//
// # How a policy is rolled out
//
//	                      inform                 enforce, or unset
//	All                   to all as it is        to all as it is
//	Progressive           to all as it is        to all as inform, then one cluster after the other as it is
//	ProgressivePerGroup   to all as it is        to all as inform, then one group after the other as it is
//
// After a first pass all clusters have the same version, and those that wait report what enforcing it would
// change. Nothing is stored but the replicated policies: one that is of this version and carries the
// root's action is one that the rollout has started. So whatever is lost between two calls, a write that
// failed or the controller itself, the next call goes on from what is there, and a cluster counts as
// enforced from the moment its replicated policy says so.
//
// Another version starts again with inform everywhere, also where an earlier one was in flight. A
// cluster that joins later goes through both passes alone and makes the root Progressing until it is
// done; one that leaves is forgotten.
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
//
// The two passes are those of "Policy placement strategy"; its tables are tests.
//
//   - Several placements are rolled out one after the other, in the order of the bindings' names, and the
//     clusters of a PlacementRule, which has no decision groups, as one group (R26). The document leaves
//     the order open.
//   - Clusters that a set excludes are in no group, so that no rollout waits for them and no percentage
//     counts them.
//   - A policy without a remediationAction may enforce, since its templates decide, so a progressive
//     rollout holds it at inform first. The document speaks of enforce alone.
//   - A cluster goes through one pass a call. The call after a first pass therefore asks for the starts,
//     and only the one after that for nothing (O11). Both passes in one call would enforce a version on
//     clusters that never had it as inform (O9).
//   - A policy that informs is Progressing until it is reported on in this version (O8). What was reported
//     of an earlier one says nothing, neither to the rollout nor in the root's status.
//   - Where an override enforces a policy that informs, its status on that cluster is judged as that of one
//     that enforces: it has Failed where it does not comply.
//   - A policy that informs has no deadline under a progressive strategy, as it is rolled out like one
//     without a strategy.
//   - TimeOut is shown on clusters and makes the root Failed; a cluster that reports after all is what it
//     reports.
package override
