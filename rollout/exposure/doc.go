// Package exposure works out, before a rollout begins, how many clusters can get a version that does not work on them, and
// how long the rollout takes.
//
// [Of] says how many clusters are exposed and how many are in flight at a time, and how long the rollout takes, for each
// stage and in all. It also says where a strategy protects nothing. With MaxConcurrency 10 and MaxFailures 2, twelve clusters
// can get such a version: two that failed and are tolerated, and ten in flight when the next one fails. A canary does not
// change that, as a version may work on the canary and nowhere else. But a version that works nowhere gets no further than the
// canary.
//
// The page of [Exposure] names all that the numbers assume.
//
// [Limit] answers the reverse question: which limits keep a rollout within bounds.
//
// The file RULES.md of this package has the rules.
package exposure
