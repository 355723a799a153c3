// SPDX-License-Identifier: Apache-2.0

// Package v1alpha1 has what open-cluster-management.io/sdk-go/pkg/apis/cluster/v1alpha1 of v1.3.0 exports for rollouts,
// under the same names and types. Package rollout makes the decisions. A controller changes two import paths and nothing
// else:
//
//	sdkv1alpha1 "github.com/cohort-ocm/cohort/rollout/sdkgo/v1alpha1" // was open-cluster-management.io/sdk-go/pkg/apis/cluster/v1alpha1
//	sdkv1beta1 "github.com/cohort-ocm/cohort/rollout/sdkgo/v1beta1"   // was open-cluster-management.io/sdk-go/pkg/apis/cluster/v1beta1
//
// sdk-go's scores of add-on placements are not here. All of sdk-go's own tests of rollouts pass, except for the texts of
// errors and sizes above 100%. These are the differences, beginning with the most surprising on a live hub:
//
//   - Fewer clusters start at a time: maxConcurrency counts all clusters in flight.
//   - A breach stops the rollout, wherever the failures are. With maxFailures 0, which is the default, one failed cluster
//     of a Placement without groups blocks every cluster that is imported later, until it recovers.
//   - Under Progressive with mandatory groups the other clusters do not go in batches: whenever one is done, the next
//     starts.
//   - Without a progressDeadline a progressing cluster stays in flight for ever, and so does a failed one.
//   - The next group starts when the one before is settled.
//   - maxFailures above the number of clusters tolerates all of them, where sdk-go tolerates none.
//   - Without maxConcurrency, a Progressive strategy takes the Placement's clustersPerDecisionGroup, as the API documents,
//     if the tracker was refreshed.
//   - While PlacementDecisions are incomplete, nothing starts and no cluster is removed.
//   - Invalid values are errors: NaN%, -5%, a maxConcurrency of 0%, more than 100%, fractions such as 33.3%, negative
//     counts and times, a status without a cluster.
//   - Several statuses of one cluster count as one: the one that blocks the rollout most.
//   - If the transition time is unknown, the deadline never passes and the soak never ends. In sdk-go both begin anew at
//     each plan, and it rechecks.
//   - A strategy without a type is All.
//
// sdk-go does not know when a cluster got the present version. Set LastTransitionTime to the later of that time and the
// transition, and Status to Progressing for a cluster that has the version and has not reported on it.
//
// [RolloutHandler.Plan] returns the whole result: why clusters wait, warnings and counts. It is the first step of a move to
// package rollout itself.
package v1alpha1
