// Package v1beta1 offers what open-cluster-management.io/sdk-go/pkg/apis/cluster/v1beta1 of v1.3.0 exports, under the
// same names and types. It is made with package grouping. A controller changes the path of its import.
//
// These are the differences from sdk-go that you would notice on a live hub:
//
//   - Groups whose indexes have gaps, or an index that carries two names for a moment, keep all their clusters. sdk-go
//     loses some of them, and their workloads are removed.
//   - A cluster that stands in two groups while PlacementDecisions are rewritten belongs to the one with the lower
//     index. sdk-go has it in both.
//   - A decision without a cluster name is skipped, and an object without an index label is of group 0.
//   - An index label that is no index, such as one that is negative, above 2147483647 or no number, makes the groups
//     incomplete. In sdk-go a number is always an index, and anything else is an error.
//   - Objects of another Placement or namespace, and an object that is listed twice, are errors.
//   - [PlacementDecisionClustersTracker.Groups] gives the groups as a value of package grouping. It compares them with the
//     status of the Placement: as long as PlacementDecisions are incomplete, nothing starts and nobody is removed. A
//     Placement without a UID and without a status, as unit tests have it, is not compared. So a Placement with its
//     namespace and name alone switches the comparison off; its clustersPerDecisionGroup is unknown then. A test on a
//     real API server without a scheduler writes status.numberOfSelectedClusters beside the PlacementDecisions.
//   - The sets of [PlacementDecisionClustersTracker.ExistingClusterGroups] are the caller's own.
//
// The next step is package grouping itself: Read takes the Placement and the listed PlacementDecisions, and keeps no
// lister.
package v1beta1
