// SPDX-License-Identifier: Apache-2.0

// Package policy is the hub of a simulated root policy: it keeps the replicated policies and writes to them what
// package passes asks for.
//
// [Hub.Play] plays a whole rollout. [Hub.Plan] is the same as a planner for package simulation, which propagates the whole
// fleet at each call. Each call
//
//  1. takes what clusters report: Succeeded is Compliant, Failed is NonCompliant, and what else a cluster reports
//     after its start is Pending,
//  2. calls passes.Propagate and writes, again until a cluster starts or nothing is left to write,
//  3. answers with the plan and the clusters that really started.
//
// Play keeps a rollout.Planner instead, and looks only at replicated policies with something new. A property has both
// write the same.
//
// What was written is kept as a [Pass] for each call of Propagate. A cluster that a rollout holds at inform reports
// nothing, as nothing says what enforcing the policy would change there.
package policy
