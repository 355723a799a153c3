// SPDX-License-Identifier: Apache-2.0

// Package example is a controller that is put on trial: its test is the smallest whole one. The controller rolls one
// ManifestWorkReplicaSet with one placement out, with client-go's clients and listers. Copy the test, and put yours in its place.
package example

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	clusterclient "open-cluster-management.io/api/client/cluster/clientset/versioned"
	clusterlisters "open-cluster-management.io/api/client/cluster/listers/cluster/v1beta1"
	workclient "open-cluster-management.io/api/client/work/clientset/versioned"
	worklisters "open-cluster-management.io/api/client/work/listers/work/v1"
	setlisters "open-cluster-management.io/api/client/work/listers/work/v1alpha1"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	workv1 "open-cluster-management.io/api/work/v1"
	workv1alpha1 "open-cluster-management.io/api/work/v1alpha1"

	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/rollout/writes"
	"github.com/cohort-ocm/cohort/status"
)

// ignoreAnnotation is the annotation in which an operator names ignored clusters, with commas between them.
const ignoreAnnotation = "example.com/ignore"

type (
	set  = workv1alpha1.ManifestWorkReplicaSet
	work = workv1.ManifestWork
)

// controller rolls one set out. Look is for one goroutine at a time.
type controller struct {
	key         types.NamespacedName
	removeAfter time.Duration
	client      workclient.Interface
	clusters    clusterclient.Interface
	sets        setlisters.ManifestWorkReplicaSetLister
	works       worklisters.ManifestWorkLister
	placements  clusterlisters.PlacementLister
	decisions   clusterlisters.PlacementDecisionLister
	strategy    func(clusterv1alpha1.RolloutStrategy) clusterv1alpha1.RolloutStrategy // of a placement, as it is planned

	begun    bool
	ownWorks writes.Own[*work]
	ownSets  writes.Own[*set]
	last     *rollout.Result
	pace     writes.Pace
}

// Look brings the next clusters on their way, and says when to look again; 0 is when something changes.
func (c *controller) Look(ctx context.Context) (time.Duration, error) {
	after, err := c.look(ctx)
	now := time.Now()
	return c.pace.After(err, after, c.ownWorks.RecheckAfter(now), c.ownSets.RecheckAfter(now)), err
}

func (c *controller) look(ctx context.Context) (time.Duration, error) {
	set, works, err := c.read(ctx)
	if err != nil {
		return 0, err
	}
	if set == nil || set.DeletionTimestamp != nil {
		return 0, c.cleanUp(ctx)
	}
	ref, now := set.Spec.PlacementRefs[0], time.Now()
	groups, err := c.groups(ref.Name)
	if err != nil {
		return 0, err
	}
	version := writes.VersionOf(set.Spec.ManifestWorkTemplate)
	var reports []status.Report
	owner, err := c.former(ctx, set, works)
	if err != nil {
		return 0, err
	}
	for _, work := range works {
		if !owner.Has(work) {
			continue
		}
		if report, ok := status.FromManifestWork(status.WorkState{Work: work, Version: version, Now: now}); ok {
			reports = append(reports, report)
		}
	}
	records, err := status.RecordsOf(set)
	if err != nil {
		return 0, err
	}
	ignoredClusters, err := c.ignoredClusters(ctx, set, records[""])
	if err != nil {
		return 0, err
	}
	result, err := rollout.Plan(c.strategy(ref.RolloutStrategy), groups, reports, now, rollout.Options{
		RemoveAfter: metav1.Duration{Duration: c.removeAfter}, Previous: c.last,
		StoredRecord: &rollout.StoredRecord{Version: version, Record: records[""]},
		Ignored:      ignoredClusters,
	})
	if err != nil {
		return 0, err
	}
	c.last = result
	set = set.DeepCopy() // it is the cache's
	api := c.client.WorkV1alpha1().ManifestWorkReplicaSets(set.Namespace)
	changed, err := (status.Records{"": result.Record}).Note(set)
	if changed && err == nil {
		set, err = c.update(ctx, set, api.Update)
	}
	if err != nil {
		return 0, err // the record is stored before anything goes
	}
	steps := writes.StepsOf(owner, append(works, c.ownWorks.Foreign(owner)...), result)
	for step := range steps.While(func() (metav1.Object, error) { return c.sets.ManifestWorkReplicaSets(c.key.Namespace).Get(c.key.Name) }) {
		err = errors.Join(err, c.write(ctx, owner, set, step, version))
	}
	if steps.Moved() {
		return 100 * time.Millisecond, err
	}
	if status.SetConditions(&set.Status.Conditions, result.Summary(), set.Generation, now) {
		set.Status.PlacementsSummary = []workv1alpha1.PlacementSummary{} // the API demands the field
		_, failed := c.update(ctx, set, api.UpdateStatus)
		err = errors.Join(err, failed)
	}
	return result.RecheckAfter, err
}

func (c *controller) owner(o metav1.Object) writes.Owner {
	return writes.Owner{Kind: schema.GroupKind{Group: workv1alpha1.GroupName, Kind: "ManifestWorkReplicaSet"}, Object: o, Labels: c.label()}
}

// former is the set as the owner of its works, and of those of an earlier set with its name, once the API server says that the earlier one is gone.
func (c *controller) former(ctx context.Context, s *set, works []*work) (writes.Owner, error) {
	owner := c.owner(s)
	var former []types.UID
	for _, w := range works {
		if uid, same := owner.Noted(w); same && uid != s.UID {
			former = append(former, uid)
		}
	}
	if len(former) == 0 {
		return owner, nil
	}
	now, err := c.client.WorkV1alpha1().ManifestWorkReplicaSets(s.Namespace).Get(ctx, s.Name, metav1.GetOptions{})
	if err == nil && now.UID == s.UID {
		owner.Former = former
	}
	return owner, err
}

// ignoredClusters are the clusters that an operator ignores: by name, or by deleting the ManagedCluster of a deselected one.
func (c *controller) ignoredClusters(ctx context.Context, set *set, record status.Record) ([]string, error) {
	names := strings.Split(set.Annotations[ignoreAnnotation], ",")
	for _, left := range record.Deselected {
		_, err := c.clusters.ClusterV1().ManagedClusters().Get(ctx, left.Cluster, metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			names = append(names, left.Cluster)
		} else if err != nil {
			return nil, err
		}
	}
	return names, nil
}

// cleanUp deletes the works of the set once it is gone. The API server says whether it is, and which works there are: caches may be late.
func (c *controller) cleanUp(ctx context.Context) error {
	c.last = nil // another set may come with this name
	set, err := c.client.WorkV1alpha1().ManifestWorkReplicaSets(c.key.Namespace).Get(ctx, c.key.Name, metav1.GetOptions{})
	if !apierrors.IsNotFound(err) && (err != nil || set.DeletionTimestamp == nil) {
		return err
	}
	works, err := c.client.WorkV1().ManifestWorks("").List(ctx, metav1.ListOptions{LabelSelector: c.label().AsSelector().String()})
	if err != nil {
		return err
	}
	owner := c.owner(&metav1.ObjectMeta{Namespace: c.key.Namespace, Name: c.key.Name})
	for i := range works.Items {
		w := &works.Items[i]
		if _, noted := owner.Noted(w); noted && w.DeletionTimestamp == nil {
			err = errors.Join(err, c.delete(ctx, w))
		}
	}
	return err
}

// delete deletes a work, and notes the answer.
func (c *controller) delete(ctx context.Context, w *work) error {
	only := metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &w.UID}}
	return c.ownWorks.Deleted(w, c.client.WorkV1().ManifestWorks(w.Namespace).Delete(ctx, w.Name, only), time.Now())
}

// label marks the works of the set.
func (c *controller) label() labels.Set {
	return labels.Set{workv1alpha1.ManifestWorkReplicaSetControllerNameLabelKey: c.key.Namespace + "." + c.key.Name}
}

// read gives the set, nil where there is none, and its works: with the writes of this process, and of those before.
func (c *controller) read(ctx context.Context) (*set, []*work, error) {
	cached, err := c.sets.ManifestWorkReplicaSets(c.key.Namespace).List(labels.Everything())
	if err != nil {
		return nil, nil, err
	}
	cachedWorks, err := c.works.List(c.label().AsSelector())
	if err != nil {
		return nil, nil, err
	}
	readSet := func(key types.NamespacedName) (*set, error) {
		return c.client.WorkV1alpha1().ManifestWorkReplicaSets(key.Namespace).Get(ctx, key.Name, metav1.GetOptions{})
	}
	readWork := func(key types.NamespacedName) (*work, error) {
		return c.client.WorkV1().ManifestWorks(key.Namespace).Get(ctx, key.Name, metav1.GetOptions{})
	}
	if !c.begun {
		live, err := readSet(c.key)
		if apierrors.IsNotFound(err) {
			return nil, nil, nil
		} else if err != nil {
			return nil, nil, err
		}
		liveWorks, err := c.client.WorkV1().ManifestWorks("").List(ctx, metav1.ListOptions{LabelSelector: c.label().AsSelector().String()})
		if err != nil {
			return nil, nil, err
		}
		var all []*work
		for i := range liveWorks.Items {
			all = append(all, &liveWorks.Items[i])
		}
		c.ownSets.Begin([]*set{live}, cached, time.Now())
		c.ownWorks.Begin(all, cachedWorks, time.Now())
		c.begun = true
	}
	sets, err := c.ownSets.Current(cached, readSet, time.Now)
	if err != nil {
		return nil, nil, err
	}
	works, err := c.ownWorks.Current(cachedWorks, readWork, time.Now)
	if err != nil {
		return nil, nil, err
	}
	i := slices.IndexFunc(sets, func(s *set) bool { return s.Name == c.key.Name })
	if i < 0 {
		return nil, nil, nil
	}
	return sets[i], works, nil
}

// groups are those of a placement: incomplete, so that nothing starts, while there is none.
func (c *controller) groups(name string) (*grouping.Groups, error) {
	placement, err := c.placements.Placements(c.key.Namespace).Get(name)
	if err != nil {
		return nil, err
	}
	decisions, err := c.decisions.PlacementDecisions(c.key.Namespace).List(labels.SelectorFromSet(labels.Set{clusterv1beta1.PlacementLabel: name}))
	if err != nil {
		return nil, err
	}
	return grouping.Read(placement, decisions)
}

// update sends the set by one of the client's verbs, notes the answer, and gives a copy of it.
func (c *controller) update(ctx context.Context, s *set, send func(context.Context, *set, metav1.UpdateOptions) (*set, error)) (*set, error) {
	answer, err := send(ctx, s, metav1.UpdateOptions{})
	if err != nil {
		return nil, c.ownSets.Wrote(s, err, time.Now())
	}
	return answer.DeepCopy(), c.ownSets.Wrote(answer, nil, time.Now())
}

// write makes a write, and notes the answer.
func (c *controller) write(ctx context.Context, owner writes.Owner, s *set, step writes.Step[*work], version string) error {
	if step.Verb == writes.VerbDelete {
		return c.delete(ctx, step.Object)
	}
	wanted := &work{Spec: s.Spec.ManifestWorkTemplate}
	wanted.Namespace, wanted.Name = step.Cluster.Name, step.Name
	owner.NoteOn(wanted)
	next, changed := writes.Work(step.Object, wanted, version, step.Cluster.Attempt, time.Now())
	if !changed {
		return nil
	}
	api := c.client.WorkV1().ManifestWorks(next.Namespace)
	var answer *work
	var err error
	if step.Verb == writes.VerbCreate {
		answer, err = api.Create(ctx, next, metav1.CreateOptions{})
	} else {
		answer, err = api.Update(ctx, next, metav1.UpdateOptions{})
	}
	if err != nil {
		answer = next // the name is known, the answer is not
	}
	return c.ownWorks.Wrote(answer, err, time.Now())
}
