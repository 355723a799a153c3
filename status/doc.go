// Package status holds what a workload says of itself on one cluster, and what that comes to over many.
//
// A [Report] is one cluster's [RolloutStatus] with the time since which it holds. A controller makes one
// for each cluster that has its workload, from the workload's object or in any other way; package
// rollout reads them. Clusters that never got the workload need none.
//
// A [Summary] is the counts over all clusters and per group, which package rollout fills in. Its
// [Summary.Aggregate] is the one word for the whole rollout.
package status
