// SPDX-License-Identifier: Apache-2.0

// Package writes implements what every rollout controller needs for its writes. [Own] lays a controller's writes over a
// stale cache. [Owner] distinguishes the objects of a rollout from those of others. [StepsOf] orders the next writes.
// [Object] builds the object to write. [Refusals] say in a plan why a cluster that starts has no object yet. [Pace] says when to
// requeue. All are values: the caller reads, writes and waits. Time is an argument.
//
// # Own writes
//
// A plan from a stale cache misses the clusters that were just started, and starts others in their place. Therefore keep an
// [Own] for each owner and each kind of object that you write. Tell it the answer to each write, and plan from the objects
// that it returns. It covers five cases:
//
//   - Late: the cache does not show a write yet.
//   - Lost answer: a timeout hides whether the write was made. The object is read from the API server before the next plan.
//   - Deleted before it was seen: a user deletes an object before the cache shows it, so the cache never does. After
//     [Patience] the object is read from the API server.
//   - Writes of the previous process or leader: the caches need not show them yet, even if they have been running all
//     along.
//   - Deletes of that process: the caches may still show the objects.
//
// There are two ways to use it. [Own.Current] returns the objects of the cache with the writes laid over them. [Own.Unseen]
// is for a controller that plans nothing for an owner until the cache shows all writes; then an Own needs no content. Both
// first read uncertain objects from the API server. [Own.Over] only returns their names: read them, and pass the answers to
// [Own.Read].
//
// # When a process begins
//
// For the last two cases, list the owners and their objects from the API server once in the life of a process, and pass
// each owner's part to [Own.Begin]. A replica does this when it becomes the leader. The list costs one read of all objects,
// in pages, not one read for each owner. If no content is needed, list the metadata alone.
//
// # The owner of an object
//
// Two owners may have the same namespace and name: owners of two kinds, or one created after the other was deleted.
// Therefore each object notes its owner. Plan from the objects that [Owner.Has], pass those of [Own.Foreign] to StepsOf as
// well, and warn of [Steps.Foreign]. An object from before objects noted their owner is recognized by its labels, and notes
// its owner with the next write.
//
// An owner with the name of an earlier one starts nothing on a cluster that still has an object of the earlier owner:
// another object there could run the same workload twice. Read from the API server which owner has the name. If it is this
// one, put the UIDs of the others ([Owner.Noted]) into [Owner].Former: their objects become this owner's.
package writes
