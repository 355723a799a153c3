// SPDX-License-Identifier: Apache-2.0

package removals

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	workv1 "open-cluster-management.io/api/work/v1"
	workv1alpha1 "open-cluster-management.io/api/work/v1alpha1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/rollout/approvals"
	"github.com/cohort-ocm/cohort/rollout/writes"
	"github.com/cohort-ocm/cohort/status"

	"github.com/cohort-ocm/cohort/examples/controllers/kit"
	"github.com/cohort-ocm/cohort/examples/controllers/kit/manager"
)

// Deleted is a set that is being deleted, with its works and what Next reads.
type Deleted struct {
	Set    *workv1alpha1.ManifestWorkReplicaSet
	Works  []*workv1.ManifestWork             // of the set, in a cache
	Groups func() ([]*grouping.Groups, error) // of the placementRefs, as kit.Apart reads them
	Gone   *kit.Ignored                       // kept between reconciles
	Live   client.Reader                      // to read from the API server
	Now    time.Time
}

// Next is the next step.
type Next struct {
	Delete []*workv1.ManifestWork
	// Last says that the finalizer can be removed, once these are deleted.
	Last bool

	reason, says string // of the condition; empty if all works are deleted at once
}

// Next returns the works of a set to delete now. Before it returns Last, it lists the works from the API server: the cache
// may not show yet what this controller, or one before it, has just created. Its errors are those of the API server.
func (o *Order) Next(ctx context.Context, deleted Deleted) (Next, error) {
	next, err := o.next(ctx, &deleted)
	if err != nil || !next.Last {
		return next, err
	}
	if deleted.Works, err = manager.ListWorks(ctx, deleted.Live, deleted.Set); err != nil {
		return Next{}, err
	}
	return o.next(ctx, &deleted)
}

func (o *Order) next(ctx context.Context, deleted *Deleted) (Next, error) {
	deleted.Works = kit.OfDeleted(deleted.Set, deleted.Works)
	most, err := o.of(deleted.Set)
	switch {
	case len(deleted.Works) == 0:
		return Next{Last: true}, nil
	case err != nil:
		return invalid(err), nil
	case most == 0:
		return Next{Delete: deleted.staying(), Last: !deleted.foreground()}, nil
	}
	asked, err := approvals.Of(deleted.Set)
	groups, ungrouped := deleted.Groups()
	version := writes.VersionOf(deleted.Set.Spec.ManifestWorkTemplate)
	records, unread := kit.RecordsOf(deleted.Set, version, groups)
	if err := errors.Join(err, unread, ungrouped); err != nil {
		return invalid(err), nil
	}
	if missing, err := deleted.missing(ctx, groups); missing != "" || err != nil {
		return Next{reason: ReasonIncomplete, says: missing}, err
	}
	reports, leaving := deleted.reports()
	ignored, err := deleted.Gone.Of(asked.Ignored, append(deleted.Gone.Gone(), leaving...), manager.IsGone(ctx, deleted.Live), deleted.Now)
	if err != nil {
		return Next{}, err
	}
	story := newStory(groups, reports, ignored)
	for i, ref := range deleted.Set.Spec.PlacementRefs {
		memory := &rollout.StoredRecord{Version: version, Record: records[ref.Name]}
		clusters, err := rollout.Removals(ref.RolloutStrategy, groups[i], reports, most, rollout.Options{Ignored: ignored, StoredRecord: memory})
		if err != nil {
			return invalid(fmt.Errorf("placement %s: %w", ref.Name, err)), nil
		}
		for _, cluster := range clusters {
			story.going[cluster] = true
		}
	}
	next := Next{Last: !deleted.foreground() && !story.waits(), reason: ReasonInOrder, says: story.text(deleted.Set.Spec.PlacementRefs, most)}
	for _, work := range deleted.staying() {
		if story.going[work.Namespace] {
			next.Delete = append(next.Delete, work)
		}
	}
	slices.SortFunc(next.Delete, func(a, b *workv1.ManifestWork) int { return strings.Compare(a.Namespace, b.Namespace) })
	return next, nil
}

func (d *Deleted) foreground() bool {
	return d.Set.Spec.CascadeDeletionPolicy == workv1alpha1.Foreground
}

// staying are the works that are not being deleted yet.
func (d *Deleted) staying() []*workv1.ManifestWork {
	return slices.DeleteFunc(slices.Clone(d.Works), func(work *workv1.ManifestWork) bool { return work.DeletionTimestamp != nil })
}

// reports are those of the works, of any version. Leaving are the clusters whose works are being deleted.
func (d *Deleted) reports() (reports []status.Report, leaving []string) {
	for _, work := range d.Works {
		deleting := work.DeletionTimestamp != nil
		if reports = append(reports, status.Report{Cluster: work.Namespace, Deleting: deleting}); deleting {
			leaving = append(leaving, work.Namespace)
		}
	}
	return reports, leaving
}

// missing says what the decisions of a placement lack. Missing decisions of a Placement that is deleted or being deleted
// never come. A live read decides, since the cache may lack the Placement.
func (d *Deleted) missing(ctx context.Context, groups []*grouping.Groups) (string, error) {
	version := schema.GroupVersion(clusterv1beta1.GroupVersion)
	parts, _ := groups[0].Parts()
	for _, part := range parts {
		missing := part.Groups.Incomplete()
		if missing == "" {
			continue
		}
		key := types.NamespacedName{Namespace: d.Set.Namespace, Name: part.Placement}
		placement, err := manager.GetMetadata(ctx, d.Live, version, "Placement", key)
		switch {
		case apierrors.IsNotFound(err):
		case err != nil:
			return "", err
		case placement.DeletionTimestamp == nil:
			of := "placement " + part.Placement + ": "
			return "no work is deleted: " + of + strings.TrimPrefix(missing, of), nil
		}
	}
	return "", nil
}
