// Package writes has what every rollout controller has to get right about its writes. [Own] lays a controller's writes over a
// cache that shows them late. [Owner] tells the objects of a rollout from those of all others. [StepsOf] gives the next writes in
// their order. [Object] gives what to write. [Pace] says when to come back. All are values: the caller reads, writes and waits.
// Time is an argument.
//
// # Own writes
//
// A plan from a cache that lags misses the clusters that were just started, and starts others in their place. So a controller
// keeps an [Own] for each owner and each kind of object that it writes. It tells the Own the answer to each write, and plans
// from the objects that the Own gives. Five things go wrong otherwise:
//
//   - Late: the cache does not show a write yet.
//   - Lost answer: nobody knows whether the write was made. The object is read from the API server before the next plan.
//   - Gone since: someone deletes an object before the cache shows it, so the cache never does. After [Patience] the object is
//     read from the API server.
//   - The writes of the process before, or of the leader before: the caches need not show them yet, even if they have been
//     filled all along.
//   - The deletes of that process: caches may still show the objects.
//
// There are two ways. [Own.Current] gives the objects of the cache with the writes laid over them. [Own.Unseen] is for a
// controller that plans nothing for an owner until the cache shows all writes; then an Own needs no content. Both first read from
// the API server what is unsure. [Own.Over] only says what that is: hand what was read to [Own.Read].
//
// # When a process begins
//
// For the last two of the five cases, list the owners and their objects from the API server, once in the life of a process, and
// hand each owner's part to [Own.Begin]. This goes for a replica that waited for its lease, too: it begins when it has the
// lease. The list costs one read of all objects, in pages; not one for each owner. Where no content is needed, list the
// metadata alone.
//
// # Whose an object is
//
// Two owners may have one namespace and name: owners of two kinds, or one after the other. So each object notes its owner. Plan
// from the objects that [Owner.Has], hand those of [Own.Foreign] to StepsOf as well, and warn of [Steps.Foreign]. An object from
// before objects noted their owner is known by its labels, and notes its owner with the next write.
//
// A later owner with the name of an earlier one starts nothing where that one has left an object, since another one beside it would
// be a second one of the same workload. Ask the API server which owner has the name. If it is this one, the UIDs of the others
// ([Owner.Noted]) belong into [Owner].Former, and their objects go on as this owner's.
package writes
