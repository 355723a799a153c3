// SPDX-License-Identifier: Apache-2.0

package placer

import (
	"cmp"
	"context"
	"fmt"
	"maps"
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

// situation is what a reconcile has read and planned.
type situation struct {
	object   client.Object // the owner as it was read
	owner    writes.Owner
	wanted   wantedRollout
	steps    *writes.Steps[*workv1.ManifestWork]
	progress Progress
	// unnoted are ManifestWorks whose cluster has answered, and whose first answer has yet to be recorded.
	unnoted []*workv1.ManifestWork
	// told are the refusals that the plan knew of.
	told writes.Refusals
	// deselected says that there are deselected clusters, whose ManagedClusters may be deleted.
	deselected bool
}

// clusterRecheck is the interval at which the ManagedClusters of deselected clusters are looked up, in addition to the events of
// deletions.
const clusterRecheck = time.Minute

func (s *situation) recheck() time.Duration {
	if s.deselected {
		return sooner(s.steps.RecheckAfter(), clusterRecheck)
	}
	return s.steps.RecheckAfter()
}

// sooner is the sooner of two delays; 0 is never.
func sooner(a, b time.Duration) time.Duration {
	if a == 0 || b > 0 && b < a {
		return b
	}
	return a
}

func (r *reconciler) plan(ctx context.Context, object client.Object, state *ownerState, wanted wantedRollout) (*situation, error) {
	key := client.ObjectKeyFromObject(object)
	r.states.follow(key, wanted.Placements)
	groups, err := r.readAll(ctx, &state.groups, key.Namespace, wanted.Placements)
	if err != nil {
		return nil, err
	}
	cached, err := r.cachedWorks(ctx, key)
	if err != nil {
		return nil, err
	}
	owner, err := r.ownerWith(ctx, object, state, cached)
	if err != nil {
		return nil, err
	}
	wanted.adopt(owner, cached)
	stored, err := status.RecordsOf(object)
	if err != nil {
		return nil, &invalidError{err}
	}
	records := stored.Of(wanted.version, partsOf(wanted.Placements, groups)...)
	own := slices.DeleteFunc(slices.Clone(cached), func(work *workv1.ManifestWork) bool { return !owner.Has(work) })
	deselected := deselectedOf(own, groups, records)
	r.states.wait(key, deselected)
	ignored, err := r.ignored(ctx, state, deselected)
	if err != nil {
		return nil, err
	}

	now := r.now()
	reports, unnoted := wanted.reports(own, groups, now)
	planned := &situation{
		object: object, owner: owner, wanted: wanted, unnoted: unnoted, told: maps.Clone(state.refusals), deselected: len(deselected) > 0,
	}
	planned.progress = Progress{Version: wanted.version, Placements: make([]PlacementProgress, len(groups))}
	for i, placement := range wanted.Placements {
		options := wanted.options(placement)
		options.Ignored = append(options.Ignored, ignored...)
		options.Freezes = append(options.Freezes, wanted.unrendered(groups[i])...)
		options.Previous = state.results[placement.Name]
		options.StoredRecord = &rollout.StoredRecord{Version: wanted.version, Record: records[placement.Name]}
		result, err := rollout.Plan(placement.Strategy, groups[i], reports, now, options)
		if err == nil {
			if told, some := state.refusals.In(reports, result); some {
				result, err = rollout.Plan(placement.Strategy, groups[i], told, now, options)
			}
		}
		if err != nil {
			return nil, &invalidError{fmt.Errorf("Placement %s: %w", placement.Name, err)}
		}
		planned.progress.Placements[i] = PlacementProgress{
			Name:    placement.Name,
			Result:  result,
			Changes: result.Changes(r.before(object, state, placement.Name)),
			Groups:  groups[i],
			Works:   worksOf(own, groups, i),
		}
	}
	objects, err := r.objects(ctx, state, planned, cached)
	if err != nil {
		return nil, err
	}
	planned.steps = writes.StepsOf(owner, objects, planned.progress.results()...)
	planned.progress.Foreign = planned.steps.Foreign()
	return planned, nil
}

// partsOf are the groups of an owner's Placements, with their names.
func partsOf(placements []Placement, groups []*grouping.Groups) []grouping.PlacementGroups {
	parts := make([]grouping.PlacementGroups, len(groups))
	for i := range groups {
		parts[i] = grouping.PlacementGroups{Placement: placements[i].Name, Groups: groups[i]}
	}
	return parts
}

// before is the result against which changes are computed. An owner without a plan so far has an empty one, and so has a
// Placement that is new.
func (r *reconciler) before(object client.Object, state *ownerState, placement string) *rollout.Result {
	if state.results != nil {
		return cmp.Or(state.results[placement], &rollout.Result{})
	}
	conditions := r.kind.conditions(object.DeepCopyObject().(client.Object))
	if meta.FindStatusCondition(*conditions, status.ConditionProgressing) == nil {
		return &rollout.Result{}
	}
	return nil
}

// worksOf are the ManifestWorks of a Placement's clusters. Those of deselected clusters are the last one's.
func worksOf(works []*workv1.ManifestWork, groups []*grouping.Groups, placement int) []*workv1.ManifestWork {
	if len(groups) == 1 {
		return works
	}
	var own []*workv1.ManifestWork
	for _, work := range works {
		at := slices.IndexFunc(groups, func(of *grouping.Groups) bool { return selects(of, work.Namespace) })
		if at == placement || at < 0 && placement == len(groups)-1 {
			own = append(own, work)
		}
	}
	return own
}

func selects(groups *grouping.Groups, cluster string) bool {
	_, selected := groups.Position(cluster)
	return selected
}

// selected says whether one of an owner's Placements selects a cluster.
func selected(groups []*grouping.Groups, cluster string) bool {
	return slices.ContainsFunc(groups, func(of *grouping.Groups) bool { return selects(of, cluster) })
}

// reports are those of an owner's ManifestWorks, each about the version that its cluster should have. Unnoted are the
// ManifestWorks whose first answer has yet to be recorded.
func (w wantedRollout) reports(works []*workv1.ManifestWork, groups []*grouping.Groups, now time.Time) (reports []status.Report, unnoted []*workv1.ManifestWork) {
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
		if !report.Answered.IsZero() && !report.Answered.Equal(status.StampOf(work).Answered) { // not recorded, or recorded by a wrong clock
			unnoted = append(unnoted, work)
		}
	}
	return reports, unnoted
}

// adopt replaces the ManifestWorks of the owner that have no stamp and the wanted spec: an earlier controller wrote them. They
// count as they are, and are not written again.
func (w wantedRollout) adopt(owner writes.Owner, works []*workv1.ManifestWork) {
	for i, work := range works {
		if status.StampOf(work).Version != "" || !owner.Has(work) {
			continue
		}
		if own := w.of(work.Namespace); own.err == nil {
			works[i] = status.Adopt(work, withDefaults(own.spec, work.Spec), own.version)
		}
	}
}

// versionFor is the version that the cluster of a ManifestWork should have. If For fails for a deselected cluster, it is
// the version that the cluster has, so that the cluster still counts.
func (w wantedRollout) versionFor(work *workv1.ManifestWork, groups []*grouping.Groups) string {
	own := w.of(work.Namespace)
	if own.err != nil && !selected(groups, work.Namespace) {
		return status.StampOf(work).Version
	}
	return own.version
}

// unrendered freezes the selected clusters for which For fails.
func (w wantedRollout) unrendered(groups *grouping.Groups) []rollout.ClusterFreeze {
	if w.For == nil {
		return nil
	}
	var holds []rollout.ClusterFreeze
	for _, decision := range groups.All() {
		cluster := decision.ClusterName
		if err := w.of(cluster).err; err != nil {
			holds = append(holds, rollout.ClusterFreeze{Cluster: cluster, Reason: err.Error()})
		}
	}
	return holds
}

// deselectedOf are the deselected clusters, by their ManifestWorks and by the records.
func deselectedOf(works []*workv1.ManifestWork, groups []*grouping.Groups, records status.Records) []string {
	var clusters []string
	for _, work := range works {
		if !selected(groups, work.Namespace) {
			clusters = append(clusters, work.Namespace)
		}
	}
	for _, record := range records {
		for _, left := range record.Deselected {
			clusters = append(clusters, left.Cluster)
		}
	}
	slices.Sort(clusters)
	return slices.Compact(clusters)
}

// ignored are the clusters whose ManagedCluster was deleted. If the cache lacks one, a live read decides, once for each
// cluster: a ManagedCluster that is created again appears in the cache.
func (r *reconciler) ignored(ctx context.Context, state *ownerState, clusters []string) ([]string, error) {
	var ignored []string
	absent := make(map[string]bool)
	for _, cluster := range clusters {
		found, err := r.hasCluster(ctx, r.client, cluster)
		if err == nil && !found && !state.absent[cluster] {
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
	state.absent = absent
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

// objects are the ManifestWorks that the steps are computed from: the owner's in the cache, those of others that were read
// live in their place, and those of others in the cache under the name that a starting cluster's would get.
func (r *reconciler) objects(ctx context.Context, state *ownerState, planned *situation, cached []*workv1.ManifestWork) ([]*workv1.ManifestWork, error) {
	found := state.written.Foreign(planned.owner)
	name := writes.NameOf[*workv1.ManifestWork](planned.owner)
	for _, placed := range planned.progress.Placements {
		for _, cluster := range placed.Start {
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
	}
	if len(found) == 0 {
		return cached, nil
	}
	return withFound(cached, found), nil
}

// withFound are the objects of both lists, each once.
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
