// SPDX-License-Identifier: Apache-2.0

// Package simulation plays a rollout through in virtual time.
//
// It is the loop of a controller without the cluster: plan, give the workload to the clusters in Start,
// wait until a cluster reports something new or until RecheckAfter, plan again. Nothing is waited for; the
// clock jumps to the next event.
//
// A planner decides, a [Life] says what each cluster reports once it has the workload, and the result is
// a [Trace]: a [Wave] for every instant at which something happened, and how it ended. The package knows
// no strategy and no file, so that another kind of rollout only needs another planner. One that package rollout plans
// by itself is played by [Rollout.Play], which comes to the same and does not plan the whole fleet at each event.
package simulation
