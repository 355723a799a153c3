// Package v1alpha1 offers what open-cluster-management.io/sdk-go/pkg/apis/cluster/v1alpha1 of v1.3.0 exports for
// rollouts, under the same names and types, decided by package rollout. A controller changes two import paths:
//
//	-	sdkv1alpha1 "open-cluster-management.io/sdk-go/pkg/apis/cluster/v1alpha1"
//	-	sdkv1beta1 "open-cluster-management.io/sdk-go/pkg/apis/cluster/v1beta1"
//	+	sdkv1alpha1 "github.com/cohort-ocm/cohort/rollout/sdkgo/v1alpha1"
//	+	sdkv1beta1 "github.com/cohort-ocm/cohort/rollout/sdkgo/v1beta1"
//
// All of sdk-go's own tests of rollouts pass, but for the texts of errors. What differs, sorted by what would surprise on
// a live hub:
//
//   - Fewer clusters start at a time: maxConcurrency counts whatever is in flight.
//   - A breach stops the rollout, wherever the failures are. With maxFailures 0, which is the default, one failed cluster
//     of a Placement without groups holds back every cluster that is imported later, until it recovers.
//   - The next group starts when the one before is settled.
//   - maxFailures above the number of clusters tolerates all of them, where sdk-go tolerates none.
//   - Without maxConcurrency, a Progressive strategy takes the Placement's clustersPerDecisionGroup, as the API
//     documents, where the tracker was refreshed with a Placement that has a status.
//   - While PlacementDecisions are incomplete nothing starts and nobody is removed.
//   - Nonsense such as NaN%, -5% or a maxConcurrency of 0% is an error.
//   - Several statuses of one cluster count as one.
//   - Under Progressive with mandatory groups the other clusters roll, as many at a time as may; they no longer go in
//     batches.
//   - Without a progressDeadline a progressing cluster keeps its slot for ever.
//
// sdk-go has no word for when a cluster got the present version. Give LastTransitionTime the later of that and the
// transition, and Progressing to a cluster that has the version and has not answered.
//
// [RolloutHandler.Plan] gives the whole result: why clusters wait, warnings and counts. It is the way to package rollout
// itself.
package v1alpha1
