// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	toolscache "k8s.io/client-go/tools/cache"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	workv1 "open-cluster-management.io/api/work/v1"
	workv1alpha1 "open-cluster-management.io/api/work/v1alpha1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	proof "github.com/cohort-ocm/cohort/examples/trial"
	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/rollout/placer"
	"github.com/cohort-ocm/cohort/rollout/writes"
	"github.com/cohort-ocm/cohort/status"
)

// saboteur makes package placer leave out a duty from outside: reads and writes go through here. The package has no
// switches.
type saboteur struct {
	ctrl.Manager
	duty    proof.Duty
	process *proof.Process
	caches  *informers

	began time.Time   // the start of the present reconcile
	read  *replicaSet // the set at that time
}

// sabotage makes a process leave out its duty. Call it before the manager is made.
func sabotage(p *proof.Process, caches *informers) *saboteur {
	s := &saboteur{duty: p.Ignored, process: p, caches: caches}
	change := func(kind proof.Kind, of func(any) any) {
		caches.stores[kind] = &store{Indexer: p.Store(kind), change: of}
	}
	switch s.duty {
	case proof.DutyPlacement:
		change(proof.Placements, s.agree)
	case proof.DutyVersion:
		change(proof.Works, s.upToDate)
	case proof.DutyDeleting:
		caches.stores[proof.Works] = &store{Indexer: p.Store(proof.Works), change: same, hides: func(o any) bool {
			return o.(*workv1.ManifestWork).DeletionTimestamp != nil
		}}
	case proof.DutyReadYourWrites:
		caches.stores[proof.Works] = &eager{Indexer: p.Store(proof.Works)}
	default:
		change(proof.ReplicaSets, s.misread)
	}
	return s
}

// kind changes the options of the kind, for a duty that is one of them.
func (s *saboteur) kind(kind placer.Kind[*replicaSet]) placer.Kind[*replicaSet] {
	rollout := kind.Rollout
	kind.Rollout = func(set *replicaSet) (placer.Rollout, error) {
		wanted, err := rollout(set)
		for i := range wanted.Placements {
			switch s.duty {
			case proof.DutyRemove:
				wanted.Placements[i].Options.RemoveAfter.Duration = time.Hour
			case proof.DutyRemoveLate:
				wanted.Placements[i].Options.RemoveAfter.Duration = time.Nanosecond
			}
		}
		return wanted, err
	}
	return kind
}

// look records when a reconcile begins, and the set at that time.
func (s *saboteur) look(by reconcile.Reconciler) reconcile.Reconciler {
	return reconcile.Func(func(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
		s.began, s.read = time.Now(), nil
		if o, there, _ := s.process.Store(proof.ReplicaSets).GetByKey(request.String()); there {
			s.read = o.(*replicaSet)
		}
		if s.duty == proof.DutyBefore {
			s.caches.forget(ctx, by, request)
		}
		result, err := by.Reconcile(ctx, request)
		if s.duty == proof.DutyRecheck {
			result.RequeueAfter = 0
		}
		return result, err
	})
}

func (s *saboteur) GetClient() client.Client { return sabotaged{s.Manager.GetClient(), s} }

func (s *saboteur) GetAPIReader() client.Reader {
	if s.duty == proof.DutyFirstLook {
		return nothing{s.Manager.GetAPIReader()}
	}
	return s.Manager.GetAPIReader()
}

// nothing lists nothing.
type nothing struct{ client.Reader }

func (nothing) List(context.Context, client.ObjectList, ...client.ListOption) error { return nil }

// store is a cache that changes objects when they are read.
type store struct {
	toolscache.Indexer
	change func(any) any
	hides  func(any) bool // from lists, if set
}

func same(o any) any { return o }

func (s *store) GetByKey(key string) (any, bool, error) {
	o, ok, err := s.Indexer.GetByKey(key)
	if ok {
		o = s.change(o)
	}
	return o, ok, err
}

func (s *store) List() (all []any) {
	for _, o := range s.Indexer.List() {
		if s.hides == nil || !s.hides(o) {
			all = append(all, s.change(o))
		}
	}
	return all
}

// newest is a resourceVersion that is newer than any other.
const newest = "9223372036854775807"

// eager is a cache that claims to show each write at once, and lists what it shows.
type eager struct {
	toolscache.Indexer
}

func (e *eager) GetByKey(key string) (any, bool, error) {
	o, there, err := e.Indexer.GetByKey(key)
	if !there {
		return &workv1.ManifestWork{ObjectMeta: metav1.ObjectMeta{ResourceVersion: newest}}, true, err
	}
	work := o.(*workv1.ManifestWork).DeepCopy()
	work.ResourceVersion = newest
	return work, true, err
}

// forget has a reconciler forget all but its writes, such as the result before: it sees another set of the same name for a
// moment.
func (i *informers) forget(ctx context.Context, by reconcile.Reconciler, request reconcile.Request) {
	sets := i.stores[proof.ReplicaSets]
	i.stores[proof.ReplicaSets] = &store{Indexer: i.process.Store(proof.ReplicaSets), change: ghost}
	defer func() { i.stores[proof.ReplicaSets] = sets }()
	if _, there, _ := sets.GetByKey(request.String()); there {
		_, _ = by.Reconcile(ctx, request)
	}
}

// ghost is another set of the same name, which is being deleted, and of which there is nothing to do.
func ghost(o any) any {
	set := o.(*replicaSet).DeepCopy()
	set.UID, set.DeletionTimestamp, set.Finalizers = "ghost", &metav1.Time{Time: time.Now()}, nil
	return set
}

// agree makes the status of a Placement agree with any decisions.
func (s *saboteur) agree(o any) any {
	p := o.(*clusterv1beta1.Placement).DeepCopy()
	if agreed, err := grouping.Status(s.decisions(p.Namespace, p.Name)); err == nil {
		p.Status = agreed
	}
	return p
}

// decisions are those of a Placement.
func (s *saboteur) decisions(namespace, placement string) (all []*clusterv1beta1.PlacementDecision) {
	for _, o := range s.process.Store(proof.Decisions).List() {
		if d := o.(*clusterv1beta1.PlacementDecision); d.Namespace == namespace && d.Labels[clusterv1beta1.PlacementLabel] == placement {
			all = append(all, d)
		}
	}
	return all
}

// notSelected are the clusters of a set's works that no placement selects.
func (s *saboteur) notSelected(set *replicaSet) (clusters []string) {
	selected := map[string]bool{}
	for _, ref := range set.Spec.PlacementRefs {
		for _, decision := range s.decisions(set.Namespace, ref.Name) {
			for _, d := range decision.Status.Decisions {
				selected[d.ClusterName] = true
			}
		}
	}
	for _, o := range s.process.Store(proof.Works).List() {
		if work := o.(*workv1.ManifestWork); work.Labels[setLabel] == set.Namespace+"."+set.Name && !selected[work.Namespace] {
			clusters = append(clusters, work.Namespace)
		}
	}
	return clusters
}

// upToDate makes a work say that it has the wanted version.
func (s *saboteur) upToDate(o any) any {
	work := o.(*workv1.ManifestWork)
	if applied := status.StampOf(work).Applied; s.read != nil && !applied.IsZero() {
		owner := work.Annotations["cohort.open-cluster-management.io/owner"]
		work = work.DeepCopy()
		work.Annotations = map[string]string{"cohort.open-cluster-management.io/owner": owner}
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
		if err := c.by.Manager.GetAPIReader().Get(ctx, client.ObjectKeyFromObject(work), &now); err != nil {
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

// complete writes of each rollout that it has succeeded.
type complete struct{ client.SubResourceWriter }

func (c complete) Update(ctx context.Context, o client.Object, options ...client.SubResourceUpdateOption) error {
	if ready := meta.FindStatusCondition(o.(*replicaSet).Status.Conditions, placer.ConditionReady); ready != nil {
		ready.Status = metav1.ConditionTrue
	}
	return c.SubResourceWriter.Update(ctx, o, options...)
}

type noStatus struct{ client.SubResourceWriter }

func (noStatus) Update(context.Context, client.Object, ...client.SubResourceUpdateOption) error {
	return nil
}

// restamp stamps another time than the write's, or none.
func (s *saboteur) restamp(work *workv1.ManifestWork) {
	stamp := status.StampOf(work)
	switch {
	case s.duty == proof.DutyApplied:
		status.StampOf(work).NoteOn(work, stamp.Version, 0, s.began)
		for key, value := range work.Annotations {
			if _, err := time.Parse(time.RFC3339Nano, value); err == nil {
				delete(work.Annotations, key)
			}
		}
	case s.duty == proof.DutyTimeOfWrite && stamp.Applied.After(s.began):
		status.StampOf(work).NoteOn(work, stamp.Version, 0, s.began)
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
