// SPDX-License-Identifier: Apache-2.0

// Package exposure computes, before a rollout begins, its blast radius and its duration: how many clusters can get a version that
// does not work on them, and how long the rollout takes.
//
// For example, with MaxConcurrency 10 and MaxFailures 2, twelve clusters can get such a version: two that failed and are
// tolerated, and ten in flight when the next one fails. A canary does not change that, since a version may work on the canary and
// nowhere else. But a version that works nowhere does not get beyond the canary.
//
// [Of] gives the most clusters that are exposed and in flight at a time, and how long the rollout takes, for each stage and in all.
// A cluster is exposed while it has the version and is not done with it. Of also says where a strategy protects nothing. The
// documentation of [Exposure] has all assumptions.
//
// [Limit] answers the reverse question: which limits keep a rollout within bounds.
//
// The file RULES.md of this package has the rules.
package exposure
