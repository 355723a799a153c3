// Package writes has what every rollout controller has to get right about its writes. [Own] is what it wrote, over a cache that
// shows writes late. [StepsOf] gives the next writes in their order. [Object] gives what to write. [Pace] says when to come back.
// All are values: the caller reads, writes and waits. Time is an argument.
//
// # Own writes
//
// A plan from a cache that lags misses the clusters that were just started, and starts others in their place. So a controller
// keeps an [Own] for each owner and each kind of object that it writes for the owner. It tells it the answer to each write, and
// plans from what it gives. Five things go wrong without it:
//
//   - Late: the cache does not show a write yet.
//   - Lost answer: nobody knows whether a write was made. So its object is read from the API server before the next plan.
//   - Gone since: someone deleted an object before the cache showed it, so the cache never will. An object that a cache does not
//     show for [Patience] is read from the API server.
//   - The writes of the process before, or of the leader before: the caches need not show them yet, even if they have been
//     filled all along.
//   - Its deletes: caches may show what is gone.
//
// There are two ways. [Own.Over] plans with what was written, laid over what the cache has. [Own.Unseen] is for a controller
// that plans nothing for an owner until the cache shows all of its writes; it keeps no content. Both say which objects are to be
// read from the API server first. Hand the answers to [Own.Read].
//
// # When a process begins
//
// For the last two of the five cases, list the owners and their objects from the API server, once in the life of a process,
// and hand each owner's part to [Own.Begin]. This goes for a replica that waited for its lease, too: it begins when it has the lease. The
// list costs one read of all objects, in pages; not one for each owner. Where no content is needed, list the metadata alone.
package writes
