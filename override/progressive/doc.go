// Package progressive rolls a policy out as OCM's document "Progressive Policy Rollout" describes it (enhancements,
// sig-policy/99-policy-placement-strategy, November 2024): one cluster or group after the other gets the new version, and the
// clusters that wait keep the version before, enforced. It is the default for new users.
//
//	                     the new version                the others
//	All                  to all at once
//	Progressive          to some clusters at a time     keep what they have; a cluster that joins gets the
//	ProgressivePerGroup  to a group at a time           last successful version, or nothing if there is none
//	ManualPerGroup       to each group that a user approves
//
// The object [Rollout] keeps which rollout it is, the last successful version, and what users approve. A rollout ends as Succeeded or
// Failed, and begins anew with each generation of the policy, or where a user retries a failed one. All limits are those of package
// rollout.
//
// Package override/passes has the earlier revision of that document: there each edit first goes to the whole fleet with inform, which
// takes enforcement away until a cluster's turn has come. MIGRATION.md says how to change over in the middle of a rollout.
//
// # What the caller does
//
//  1. Read the root policy with [PolicyOf], and resolve where it goes with package override. Keep the Resolution until its inputs
//     change.
//     The definition of Policy on the hub needs spec.rolloutStrategy with the type ManualPerGroup, manualPerGroup and
//     ignoreClusterRolloutStatus, and status.rolloutStatus with NewCluster; else the API server drops or refuses them.
//  2. Read the Rollout, named "policy-" and the policy's name, and the replicated policies, with passes.ReplicaOf. Read what you
//     wrote: wait for the cache, or put the written objects over it. Call [Propagate] with a new UID, and with the Plan of the
//     Propagation before as Previous.
//  3. Call [Propagation.Store] on a copy of the Rollout, or an empty one. Where that changed it, write it with its resourceVersion.
//     That is two writes: create or update the object, and then its status, with the status that Store has set, since the API server
//     drops it from the first. Write nothing else, and begin anew once you read both back. So a controller that dies goes on
//     with the same rollout.
//  4. Write the replicated policies: of each cluster with a Verb, made of the definition that its Source says, with its Action,
//     [Propagation.Stamp] and in the same write. Then set its rolloutStatus. Delete those in Removed.
//     A root that is gone has no Resolution: delete its replicated policies yourself, once the API server says that it is gone.
//  5. Set the root policy's status with [Propagation.SetStatus]. Make events of Ignored and of Plan.Changes.
//  6. Come back when something changes, or after RecheckAfter; where a write failed, after writes.Pace of package rollout/writes.
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
// A webhook calls [Validate]. The files config/crd.yaml and config/rbac.yaml have the definition of Rollout and the rights that it
// takes. A policy whose bindings or templates of other objects change without a new generation is not rolled out: such a change is
// written where the rollout has started, as an edit (passes.Replica.Edited).
//
// RULES.md has the rules, and DEPARTURES.md what was decided where the document is silent or contradicts itself.
package progressive
