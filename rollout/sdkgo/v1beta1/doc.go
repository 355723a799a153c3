// Package v1beta1 offers what open-cluster-management.io/sdk-go/pkg/apis/cluster/v1beta1 of v1.3.0 exports, under the
// same names and types, made of package grouping. A controller changes the path of its import.
//
// What differs from sdk-go, and what you would notice on a live hub:
//
//   - Groups whose indexes have gaps, or an index that carries two names for a moment, keep all their clusters. sdk-go
//     loses some of them, and their workloads are removed.
//   - A cluster that stands in two groups while PlacementDecisions are rewritten belongs to the one with the lower
//     index. sdk-go has it in both.
//   - A decision without a cluster name is passed over, and an object without an index label is of group 0.
//   - [PlacementDecisionClustersTracker.Groups] gives the groups as a value of package grouping. It compares them with the
//     status of the Placement where that was written: as long as PlacementDecisions are incomplete, nothing starts and
//     nobody is removed. A Placement without any status, as tests have it, is not compared.
//
// What you write next is package grouping itself: Read takes the Placement and the listed PlacementDecisions, and keeps
// no lister.
package v1beta1
