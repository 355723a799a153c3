// SPDX-License-Identifier: Apache-2.0

// Package v1beta1 has what open-cluster-management.io/sdk-go/pkg/apis/cluster/v1beta1 of v1.3.0 exports, under the same
// names and types. It is built on package grouping. A controller changes the path of its import.
//
// These are the differences from sdk-go that you would notice on a live hub:
//
//   - Groups whose indexes have gaps keep all their clusters, and so does an index with two names for a moment. sdk-go
//     loses some of these clusters, and their workloads are removed.
//   - A cluster that is in two groups while PlacementDecisions are rewritten belongs to the one with the lower index. In
//     sdk-go it is in both.
//   - A decision without a cluster name is skipped, and an object without an index label belongs to group 0.
//   - An index label that is not a number from 0 to 2147483647 makes the groups incomplete. In sdk-go any number is an
//     index, and anything else is an error.
//   - Objects of another Placement or namespace, and an object that is listed twice, are errors.
//   - [PlacementDecisionClustersTracker.Groups] returns the groups as a value of package grouping. It compares them with
//     the status of the Placement: while PlacementDecisions are incomplete, nothing starts and no cluster is removed. A
//     Placement without a UID and without a status, as in unit tests, is not compared. To switch the comparison off, pass a
//     Placement with only its namespace and name; its clustersPerDecisionGroup is then unknown. A test with a real API
//     server and no scheduler must write status.numberOfSelectedClusters, besides the PlacementDecisions.
//   - The sets of [PlacementDecisionClustersTracker.ExistingClusterGroups] are the caller's own.
//
// The next step is package grouping itself: Read takes the Placement and the listed PlacementDecisions, and keeps no
// lister.
package v1beta1
