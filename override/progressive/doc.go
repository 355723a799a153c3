// SPDX-License-Identifier: Apache-2.0

// Package progressive rolls a policy out as OCM's document "Progressive Policy Rollout" describes it (enhancements,
// sig-policy/99-policy-placement-strategy, November 2024): one cluster or group after the other gets the new version, and the
// clusters that wait keep the version before, enforced. It is the default for new users.
//
//	                     the new version                the others
//	All                  to all at once
//	Progressive          to some clusters at a time     keep their version; a cluster that joins gets the
//	ProgressivePerGroup  to a group at a time           last successful version, or nothing if there is none
//	ManualPerGroup       to each group that a user approves
//
// The object [Rollout] has the UID of the rollout, the last successful version, and the users' approvals. A rollout ends as Succeeded
// or Failed. Another one begins with each generation of the policy, and when a user retries a failed one. All limits are those of
// package rollout.
//
// Package override/passes implements the earlier revision of that document: there each edit first goes to the whole fleet with inform,
// which ends enforcement until a cluster's turn comes. MIGRATION.md says how to change over during a rollout.
//
// # What the caller does
//
//  1. Read the root policy with [PolicyOf], and resolve which clusters it is bound to with package override. Keep the Resolution until
//     its inputs change.
//     The CustomResourceDefinition of Policy on the hub needs spec.rolloutStrategy with the type ManualPerGroup, manualPerGroup and
//     ignoreClusterRolloutStatus, and status.rolloutStatus with NewCluster. Otherwise the API server drops or refuses them.
//  2. Read the Rollout, named "policy-" followed by the policy's name, and the replicated policies, with passes.ReplicaOf. Read your
//     own writes: wait for the cache, or overlay the written objects. Call [Propagate] with a new UID, and with the Plan of the
//     Propagation before as Previous.
//  3. Call [Propagation.Store] on a copy of the Rollout, or on an empty one. If that changed it, write it with its resourceVersion.
//     That is two writes: create or update the object, and then its status, with the status that Store has set, since the API server
//     drops the status from the first write. Write nothing else, and reconcile again once you read both back. A controller that
//     restarts then continues the same rollout.
//  4. Write the replicated policy of each cluster with a Verb: made from the definition that its Source names, with its Action, and
//     with [Propagation.Stamp] in the same write. Then set its rolloutStatus. Delete the replicated policies in Removed.
//     A deleted root has no Resolution: delete its replicated policies yourself, after a live read that it does not exist.
//  5. Set the root policy's status with [Propagation.SetStatus]. Send events for Ignored and for Plan.Changes.
//  6. Reconcile when something changes, and after RecheckAfter; after a failed write, after writes.Pace of package rollout/writes.
//
// In code:
//
//	p, err := progressive.Propagate(state, time.Now(), rollout.Options{Previous: last.Plan, RemoveAfter: aMinute})
//	if err != nil {
//		return err
//	}
//	last = p
//	object := new(progressive.Rollout)
//	if state.Rollout != nil {
//		object = state.Rollout.DeepCopy()
//	}
//	if changed, err := p.Store(object); err != nil || changed {
//		return errors.Join(err, write(object)) // its event leads here again
//	}
//	for _, cluster := range p.Clusters {
//		definition := root
//		if cluster.Source == progressive.SourceLastSuccessful {
//			definition = p.LastSuccessful()
//		}
//		switch cluster.Verb {
//		case passes.VerbCreate, passes.VerbUpdate:
//			object := replicaFor(definition, cluster.Name, cluster.Action)
//			p.Stamp(object, cluster, time.Now())
//			err = errors.Join(err, write(object, cluster.RolloutStatus))
//		case passes.VerbUpdateStatus:
//			err = errors.Join(err, setStatus(cluster.Name, cluster.RolloutStatus))
//		}
//	}
//	for _, cluster := range p.Removed {
//		err = errors.Join(err, remove(cluster))
//	}
//	if p.SetStatus(&rootStatus) {
//		err = errors.Join(err, setRootStatus(rootStatus))
//	}
//	if err != nil {
//		log.FromContext(ctx).Error(err, "not everything was written")
//	}
//	return ctrl.Result{RequeueAfter: pace.After(err, p.RecheckAfter)}, nil // pace is a writes.Pace of this policy
//
// A webhook calls [Validate]. The file config/crd.yaml has the CustomResourceDefinition of Rollout, and config/rbac.yaml the
// permissions for it. If the content of a replicated policy changes without a new generation, for instance through its hub templates,
// no rollout begins: the change is written to started clusters, as an edit (passes.Replica.Edited).
//
// RULES.md has the rules. DEPARTURES.md says what this package does where the document is silent or contradicts itself.
package progressive
