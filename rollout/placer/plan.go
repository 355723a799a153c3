package placer

import (
	"context"
	"fmt"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	workv1 "open-cluster-management.io/api/work/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/rollout/writes"
	"github.com/cohort-ocm/cohort/status"
)

// situation is what a look has found out and planned.
type situation struct {
	object   client.Object // the owner as it was read
	owner    writes.Owner
	wanted   wantedRollout
	steps    *writes.Steps[*workv1.ManifestWork]
	progress Progress
	// unnoted are the ManifestWorks of clusters that have answered where nobody has noted when, and somebody must.
	unnoted []*workv1.ManifestWork
	// deselected says that a cluster counts, or is ignored, that is not selected any more: its ManagedCluster may be deleted.
	deselected bool
}

// asking is how often it is asked whether the ManagedClusters of deselected clusters are there, beside the events of deletions.
const asking = time.Minute

// recheck is when to look again by time alone.
func (s *situation) recheck() time.Duration {
	if s.deselected {
		return sooner(s.steps.RecheckAfter(), asking)
	}
	return s.steps.RecheckAfter()
}

// sooner is the sooner of two times to look again; 0 is never.
func sooner(a, b time.Duration) time.Duration {
	if a == 0 || b > 0 && b < a {
		return b
	}
	return a
}

// plan reads all that the plan needs, and plans.
func (r *reconciler) plan(ctx context.Context, object client.Object, kept *memory, wanted wantedRollout) (*situation, error) {
	key := client.ObjectKeyFromObject(object)
	placement := types.NamespacedName{Namespace: key.Namespace, Name: wanted.Placement}
	r.memories.follow(key, placement)
	groups, err := r.readGroups(ctx, &kept.groups, placement)
	if err != nil {
		return nil, err
	}
	cached, err := r.cachedWorks(ctx, key)
	if err != nil {
		return nil, err
	}
	owner, err := r.ownerWith(ctx, object, kept, cached)
	if err != nil {
		return nil, err
	}
	records, err := status.RecordsOf(object)
	if err != nil {
		return nil, &invalidError{err}
	}
	now := r.now()
	own := slices.DeleteFunc(slices.Clone(cached), func(work *workv1.ManifestWork) bool { return !owner.Has(work) })
	deselected := deselectedOf(own, groups, records[""])
	r.memories.wait(key, deselected)
	ignored, err := r.ignored(ctx, kept, deselected)
	if err != nil {
		return nil, err
	}

	options := wanted.options()
	options.Uncounted = append(options.Uncounted, ignored...)
	options.Holds = append(options.Holds, wanted.unrendered(groups)...)
	options.Previous = kept.result
	options.Memory = &rollout.Memory{Version: wanted.version, Record: records[""]}
	reports, unnoted := wanted.reports(own, groups, now)
	result, err := rollout.Plan(wanted.Strategy, groups, reports, now, options)
	if err != nil {
		return nil, &invalidError{err}
	}
	s := &situation{object: object, owner: owner, wanted: wanted, unnoted: unnoted, deselected: len(deselected) > 0}
	s.progress = Progress{
		Version: wanted.version,
		Result:  result,
		Changes: result.Changes(r.before(object, kept)),
		Groups:  groups,
		Works:   own,
	}
	objects, err := r.objects(ctx, kept, s, cached)
	if err != nil {
		return nil, err
	}
	s.steps = writes.StepsOf(owner, objects, result)
	s.progress.Foreign = s.steps.Foreign()
	return s, nil
}

// before is the result from which changes are told. Of an owner that nobody has planned yet, nothing was told.
func (r *reconciler) before(object client.Object, kept *memory) *rollout.Result {
	if kept.result != nil {
		return kept.result
	}
	conditions := r.kind.conditions(object.DeepCopyObject().(client.Object))
	if meta.FindStatusCondition(*conditions, status.ConditionProgressing) == nil {
		return &rollout.Result{}
	}
	return nil
}

// reports are those of an owner's ManifestWorks, each about the version that its cluster is to have. Unnoted are the ManifestWorks of
// those that have answered where the time of the answer is to be noted, and is not.
func (w wantedRollout) reports(works []*workv1.ManifestWork, groups *grouping.Groups, now time.Time) (reports []status.Report, unnoted []*workv1.ManifestWork) {
	if !w.needsAnswers() {
		now = time.Time{}
	}
	reports = make([]status.Report, 0, len(works))
	for _, work := range works {
		state := status.WorkState{Work: work, Version: w.versionFor(work, groups), AvailableSucceeds: w.AvailableSucceeds, Now: now}
		report, ok := status.FromManifestWork(state)
		if !ok {
			continue
		}
		reports = append(reports, report)
		if !report.Answered.IsZero() && !report.Answered.Equal(status.StampOf(work).Answered) { // none, or one from a wrong clock
			unnoted = append(unnoted, work)
		}
	}
	return reports, unnoted
}

// versionFor is the version that the cluster of a ManifestWork is to have. Where nobody knows that of a deselected cluster, it is the one
// that the cluster has: it goes on counting.
func (w wantedRollout) versionFor(work *workv1.ManifestWork, groups *grouping.Groups) string {
	own := w.of(work.Namespace)
	if _, selected := groups.Position(work.Namespace); own.err != nil && !selected {
		return status.StampOf(work).Version
	}
	return own.version
}

// unrendered hold the selected clusters for which nobody knows what they get.
func (w wantedRollout) unrendered(groups *grouping.Groups) []rollout.ClusterHold {
	if w.For == nil {
		return nil
	}
	var holds []rollout.ClusterHold
	for _, decision := range groups.All() {
		cluster := decision.ClusterName
		if err := w.of(cluster).err; err != nil {
			holds = append(holds, rollout.ClusterHold{Cluster: cluster, Reason: err.Error()})
		}
	}
	return holds
}

// deselectedOf are the clusters that are not selected any more, by the ManifestWorks that are there and by the record.
func deselectedOf(works []*workv1.ManifestWork, groups *grouping.Groups, record status.Record) []string {
	var clusters []string
	for _, work := range works {
		if _, selected := groups.Position(work.Namespace); !selected {
			clusters = append(clusters, work.Namespace)
		}
	}
	for _, left := range record.Left {
		clusters = append(clusters, left.Cluster)
	}
	slices.Sort(clusters)
	return slices.Compact(clusters)
}

// ignored are the clusters whose ManagedCluster was deleted. The cache alone may lack one, so the API server is asked for those, once
// each: if one comes back, the cache shows it.
func (r *reconciler) ignored(ctx context.Context, kept *memory, clusters []string) ([]string, error) {
	var ignored []string
	absent := make(map[string]bool)
	for _, cluster := range clusters {
		found, err := r.hasCluster(ctx, r.client, cluster)
		if err == nil && !found && !kept.absent[cluster] {
			found, err = r.hasCluster(ctx, r.live, cluster)
		}
		if err != nil {
			return nil, fmt.Errorf("asking for the ManagedCluster %s: %w", cluster, err)
		}
		if !found {
			absent[cluster] = true
			ignored = append(ignored, cluster)
		}
	}
	kept.absent = absent
	return ignored, nil
}

func (r *reconciler) hasCluster(ctx context.Context, from client.Reader, name string) (bool, error) {
	cluster := &metav1.PartialObjectMetadata{}
	cluster.SetGroupVersionKind(schema.GroupVersion(clusterv1.GroupVersion).WithKind("ManagedCluster"))
	err := from.Get(ctx, types.NamespacedName{Name: name}, cluster)
	if apierrors.IsNotFound(err) {
		return false, nil
	}
	return err == nil, err
}

// objects are the ManifestWorks that the steps are made of: those in the cache, those that were found in the way, and those of others in
// the cache under the name that a cluster's would get.
func (r *reconciler) objects(ctx context.Context, kept *memory, s *situation, cached []*workv1.ManifestWork) ([]*workv1.ManifestWork, error) {
	found := kept.written.Foreign(s.owner)
	name := writes.NameOf[*workv1.ManifestWork](s.owner)
	for _, cluster := range s.progress.Start {
		work := &workv1.ManifestWork{}
		err := r.client.Get(ctx, types.NamespacedName{Namespace: cluster.Name, Name: name}, work, client.UnsafeDisableDeepCopy)
		if apierrors.IsNotFound(err) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("reading ManifestWork %s/%s: %w", cluster.Name, name, err)
		}
		found = append(found, work)
	}
	if len(found) == 0 {
		return cached, nil
	}
	return withFound(cached, found), nil
}

// withFound gives the objects of both, each once.
func withFound(cached, found []*workv1.ManifestWork) []*workv1.ManifestWork {
	objects := slices.Clone(cached)
	known := make(map[types.NamespacedName]bool, len(cached)+len(found))
	for _, work := range cached {
		known[client.ObjectKeyFromObject(work)] = true
	}
	for _, work := range found {
		if key := client.ObjectKeyFromObject(work); !known[key] {
			known[key] = true
			objects = append(objects, work)
		}
	}
	return objects
}
