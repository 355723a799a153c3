// SPDX-License-Identifier: Apache-2.0

package removals

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	workv1alpha1 "open-cluster-management.io/api/work/v1alpha1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/rollout/writes"
	"github.com/cohort-ocm/cohort/status"

	"github.com/cohort-ocm/cohort/examples/controllers/kit"
)

// Condition of a deleted set is False while its works are deleted in order. Its message says which are being deleted, and
// how many follow. The reasons are also those of events.
const (
	Condition        = "Removed"
	ReasonInOrder    = "RemovedInOrder"
	ReasonIncomplete = "PlacementIncomplete" // nothing is deleted until the decisions of a placement are complete
	ReasonInvalid    = "Invalid"             // nothing is deleted until a user fixes what the message names
)

// Tell sets the condition of a set, and emits an event if that is new. A set whose finalizer can be removed is not written.
func (n *Next) Tell(
	ctx context.Context, c client.Client, teller *kit.Teller, set *workv1alpha1.ManifestWorkReplicaSet,
	stored *writes.Own[*workv1alpha1.ManifestWorkReplicaSet], now func() time.Time,
) error {
	with := set.DeepCopy()
	if n.Last || !n.setCondition(with, now()) {
		return nil
	}
	// A patch: with package rollback the status has fields that the Go type lacks.
	patch := client.MergeFromWithOptions(set, client.MergeFromWithOptimisticLock{})
	if err := stored.Wrote(with, c.Status().Patch(ctx, with, patch), now()); err != nil {
		return err
	}
	switch n.reason {
	case "":
	case ReasonInOrder:
		teller.Event(set, kit.Normal, n.reason, n.says)
	default:
		teller.Event(set, kit.Warning, n.reason, n.says)
	}
	return nil
}

// setCondition sets or removes the condition, and says whether that changed the set.
func (n *Next) setCondition(set *workv1alpha1.ManifestWorkReplicaSet, now time.Time) bool {
	if n.reason == "" {
		return meta.RemoveStatusCondition(&set.Status.Conditions, Condition)
	}
	return meta.SetStatusCondition(&set.Status.Conditions, metav1.Condition{
		Type: Condition, Status: metav1.ConditionFalse, Reason: n.reason, Message: n.says,
		ObservedGeneration: set.Generation, LastTransitionTime: metav1.NewTime(now),
	})
}

// invalid is the next step for an unreadable input.
func invalid(err error) Next {
	return Next{reason: ReasonInvalid, says: fmt.Sprintf(`no work is deleted, unless the annotation %s is "0": %v`, Annotation, err)}
}

// story is what happens to the clusters that have works.
type story struct {
	of      map[string]int  // index of the placementRef
	stays   map[string]bool // whether a work of it is not being deleted yet
	ignored map[string]bool
	going   map[string]bool // whether its works are deleted now
}

func newStory(groups []*grouping.Groups, reports []status.Report, ignored []string) *story {
	story := &story{of: map[string]int{}, stays: map[string]bool{}, ignored: map[string]bool{}, going: map[string]bool{}}
	for _, cluster := range ignored {
		story.ignored[cluster] = true
	}
	for _, report := range reports {
		story.of[report.Cluster] = slices.IndexFunc(groups, func(group *grouping.Groups) bool { _, selects := group.Position(report.Cluster); return selects })
		if story.of[report.Cluster] < 0 {
			story.of[report.Cluster] = len(groups) - 1 // the last placement removes deselected clusters
		}
		story.stays[report.Cluster] = story.stays[report.Cluster] || !report.Deleting
	}
	return story
}

// waits says whether the set must wait for a cluster.
func (s *story) waits() bool {
	for cluster, stays := range s.stays {
		if stays || !s.ignored[cluster] {
			return true
		}
	}
	return false
}

// text is a message: placement web: in deletion: c, d; ignored: e; 12 more to delete, at most 2 at a time.
func (s *story) text(refs []workv1alpha1.LocalPlacementReference, most int) string {
	var all []string
	for i, ref := range refs {
		if says := s.textOf(i, most); says != "" {
			all = append(all, fmt.Sprintf("placement %s: %s", ref.Name, says))
		}
	}
	return strings.Join(all, ". ")
}

func (s *story) textOf(placement, most int) string {
	var leaving, ignored, says []string
	follow := 0
	for cluster, stays := range s.stays {
		switch {
		case s.of[cluster] != placement:
		case stays && !s.going[cluster]:
			follow++
		case s.ignored[cluster]:
			ignored = append(ignored, cluster)
		default:
			leaving = append(leaving, cluster)
		}
	}
	if len(leaving) > 0 {
		says = append(says, "in deletion: "+listed(leaving))
	}
	if len(ignored) > 0 {
		says = append(says, "ignored: "+listed(ignored))
	}
	if follow > 0 {
		says = append(says, fmt.Sprintf("%d more to delete, at most %d at a time", follow, most))
	}
	return strings.Join(says, "; ")
}

// listed names clusters, in order, and only some if there are many.
func listed(clusters []string) string {
	const most = 20
	slices.Sort(clusters)
	if len(clusters) > most {
		return fmt.Sprintf("%s and %d more", strings.Join(clusters[:most], ", "), len(clusters)-most)
	}
	return strings.Join(clusters, ", ")
}
