// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	toolscache "k8s.io/client-go/tools/cache"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	workv1 "open-cluster-management.io/api/work/v1"
	workv1alpha1 "open-cluster-management.io/api/work/v1alpha1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	proof "github.com/cohort-ocm/cohort/examples/trial"
	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/status"

	"github.com/cohort-ocm/cohort/examples/controllers/kit"

	"github.com/cohort-ocm/cohort/rollout/writes"
)

// saboteur makes a controller leave out a duty from outside: it changes what the controller reads, writes and remembers.
// The controller itself has no switches.
type saboteur struct {
	*controller
	duty proof.Duty
	set  types.NamespacedName

	client client.Client
	began  time.Time                            // the start of the present reconcile
	read   *workv1alpha1.ManifestWorkReplicaSet // the set at that time
}

// sabotage returns the reconciler that replaces the controller.
func sabotage(c *controller, p *proof.Process) reconcile.Reconciler {
	s := &saboteur{controller: c, duty: p.Ignored, set: p.Set, client: c.client}
	c.client = sabotaged{c.client, s}
	switch s.duty {
	case proof.DutyPlacement:
		c.caches.placements = store{Indexer: c.caches.placements, change: s.agree}
	case proof.DutyVersion:
		c.caches.works = store{Indexer: c.caches.works, change: s.upToDate}
	case proof.DutyDeleting:
		c.caches.works = store{Indexer: c.caches.works, change: same, hides: func(index string, o any) bool {
			return index == worksBySet && o.(*workv1.ManifestWork).DeletionTimestamp != nil
		}}
	case proof.DutyRemove:
		c.removeAfter = time.Hour
	case proof.DutyRemoveLate:
		c.removeAfter = 0
	case proof.DutyFirstLook:
		c.begun.Skip()
	default:
		c.caches.sets = store{Indexer: c.caches.sets, change: s.misread}
	}
	return s
}

func (s *saboteur) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	s.began, s.read = time.Now(), nil
	s.read = s.caches.set(request.NamespacedName)
	if s.duty == proof.DutyReadYourWrites {
		memory := s.memories.Of(request.NamespacedName)
		memory.written, memory.stored = writes.Own[*work]{}, writes.Own[*replicaSet]{}
	}
	if s.duty == proof.DutyBefore {
		s.memories.Of(request.NamespacedName).results = map[string]*rollout.Result{}
	}
	result, err := s.controller.Reconcile(ctx, request)
	if s.duty == proof.DutyRecheck {
		result.RequeueAfter = 0
	}
	return result, err
}

// store is a cache that changes objects when they are read by key or index.
type store struct {
	toolscache.Indexer
	change func(any) any
	hides  func(index string, o any) bool // if set
}

func same(o any) any { return o }

func (s store) GetByKey(key string) (any, bool, error) {
	o, ok, err := s.Indexer.GetByKey(key)
	if ok {
		o = s.change(o)
	}
	return o, ok, err
}

func (s store) ByIndex(index, value string) ([]any, error) {
	all, err := s.Indexer.ByIndex(index, value)
	all = slices.DeleteFunc(slices.Clone(all), func(o any) bool { return s.hides != nil && s.hides(index, o) })
	for i := range all {
		all[i] = s.change(all[i])
	}
	return all, err
}

// agree makes the status of a Placement agree with any decisions.
func (s *saboteur) agree(o any) any {
	p := o.(*clusterv1beta1.Placement).DeepCopy()
	found := kit.List[clusterv1beta1.PlacementDecision](s.caches.decisions, kit.DecisionsByPlacement, p.Namespace+"/"+p.Name)
	if agreed, err := grouping.Status(found); err == nil {
		p.Status = agreed
	}
	return p
}

// upToDate makes a work say that it has the wanted version.
func (s *saboteur) upToDate(o any) any {
	work := o.(*workv1.ManifestWork)
	if applied := status.StampOf(work).Applied; s.read != nil && !applied.IsZero() {
		work = work.DeepCopy()
		work.Annotations = nil
		status.Stamp{}.NoteOn(work, writes.VersionOf(s.read.Spec.ManifestWorkTemplate), 0, applied)
	}
	return work
}

// misread changes a set when it is read, or returns it as it was when the reconcile began.
func (s *saboteur) misread(o any) any {
	if s.duty == proof.DutySecondLook && s.read != nil {
		return s.read
	}
	set := o.(*workv1alpha1.ManifestWorkReplicaSet).DeepCopy()
	switch s.duty {
	case proof.DutyIgnored:
		delete(set.Annotations, ignoreAnnotation)
	case proof.DutyLeft: // all deselected clusters are ignored
		metav1.SetMetaDataAnnotation(&set.ObjectMeta, ignoreAnnotation, strings.Join(s.notSelected(set), ","))
	case proof.DutyRecord:
		_, _ = status.Records{}.Note(set)
	}
	for i := range set.Spec.PlacementRefs {
		ref := &set.Spec.PlacementRefs[i]
		ref.RolloutStrategy = s.duty.Strategy(ref.RolloutStrategy)
	}
	return set
}

// notSelected are the clusters of a set's works that no placement selects.
func (s *saboteur) notSelected(set *workv1alpha1.ManifestWorkReplicaSet) (clusters []string) {
	selected := map[string]bool{}
	for _, ref := range set.Spec.PlacementRefs {
		for _, pd := range kit.List[clusterv1beta1.PlacementDecision](s.caches.decisions, kit.DecisionsByPlacement, set.Namespace+"/"+ref.Name) {
			for _, d := range pd.Status.Decisions {
				selected[d.ClusterName] = true
			}
		}
	}
	for _, work := range s.caches.worksOf(set) {
		if !selected[work.Namespace] {
			clusters = append(clusters, work.Namespace)
		}
	}
	return clusters
}

// sabotaged is a client that changes what is written.
type sabotaged struct {
	client.Client
	by *saboteur
}

func (c sabotaged) Create(ctx context.Context, o client.Object, options ...client.CreateOption) error {
	work := o.(*workv1.ManifestWork)
	c.by.restamp(work)
	name := work.Name
	if c.by.duty == proof.DutyOneName {
		work.Name, work.GenerateName = "", name+"-"
	}
	err := c.Client.Create(ctx, work, options...)
	if err != nil {
		work.Name = name
	}
	return c.by.told(err)
}

func (c sabotaged) Update(ctx context.Context, o client.Object, options ...client.UpdateOption) error {
	work := o.(*workv1.ManifestWork)
	c.by.restamp(work)
	switch c.by.duty {
	case proof.DutyUpdate:
		if err := c.Client.Delete(ctx, work.DeepCopy()); err != nil {
			return err
		}
		work.ResourceVersion, work.UID = "", ""
		return c.by.told(c.Client.Create(ctx, work))
	case proof.DutyOneWrite:
		var now workv1.ManifestWork
		if err := c.by.live.Get(ctx, client.ObjectKeyFromObject(work), &now); err != nil {
			return err
		}
		now.Annotations = work.Annotations
		if err := c.by.told(c.Client.Update(ctx, &now)); err != nil {
			return err
		}
		work.ResourceVersion = now.ResourceVersion
	}
	return c.by.told(c.Client.Update(ctx, work, options...))
}

func (c sabotaged) Status() client.SubResourceWriter {
	switch c.by.duty {
	case proof.DutyStatus:
		return noStatus{c.Client.Status()}
	case proof.DutyComplete:
		return complete{c.Client.Status()}
	}
	return c.Client.Status()
}

// Delete does nothing while the set's status says that the rollout is stopped, for that duty.
func (c sabotaged) Delete(ctx context.Context, o client.Object, options ...client.DeleteOption) error {
	if c.by.duty == proof.DutyPromptly && c.by.read != nil && strings.Contains(says(c.by.read).Message, "stopped") {
		return nil
	}
	return c.Client.Delete(ctx, o, options...)
}

// complete writes of each rollout that it is complete.
type complete struct{ client.SubResourceWriter }

func (c complete) Update(ctx context.Context, o client.Object, options ...client.SubResourceUpdateOption) error {
	set := o.(*workv1alpha1.ManifestWorkReplicaSet)
	meta.FindStatusCondition(set.Status.Conditions, workv1alpha1.ManifestWorkReplicaSetConditionPlacementRolledOut).Status = metav1.ConditionTrue
	return c.SubResourceWriter.Update(ctx, o, options...)
}

type noStatus struct{ client.SubResourceWriter }

func (noStatus) Update(context.Context, client.Object, ...client.SubResourceUpdateOption) error {
	return nil
}

// restamp stamps another time than the write's, or none.
func (s *saboteur) restamp(work *workv1.ManifestWork) {
	stamp := status.StampOf(work)
	version, applied := stamp.Version, stamp.Applied
	switch {
	case s.duty == proof.DutyApplied:
		status.StampOf(work).NoteOn(work, version, 0, s.began)
		for key, value := range work.Annotations {
			if _, err := time.Parse(time.RFC3339Nano, value); err == nil {
				delete(work.Annotations, key)
			}
		}
	case s.duty == proof.DutyTimeOfWrite && applied.After(s.began):
		status.StampOf(work).NoteOn(work, version, 0, s.began)
	}
}

// told turns an error of a write into one that says that the write was not made, although it may have been, or although the
// cache is stale.
func (s *saboteur) told(err error) error {
	var answer apierrors.APIStatus
	uncertain := err != nil && (!errors.As(err, &answer) || apierrors.IsAlreadyExists(err) || apierrors.IsConflict(err))
	if s.duty == proof.DutyLostAnswer && uncertain {
		return apierrors.NewBadRequest(err.Error())
	}
	return err
}
