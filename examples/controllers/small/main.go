// Command small is the smallest controller that is safe: it places ManifestWorks for ManifestWorkReplicaSets with one
// placement. It imports the library, OCM's API, client-go and controller-runtime. The numbers are from the duties in
// the documentation of package rollout.
//
//	go run ./small -kubeconfig ~/.kube/config
//
// Of a set with several placementRefs it silently takes the first. It has no finalizer, no metrics and no flags of its own,
// and reads all works from its cache at each reconcile: see works for more.
package main

import (
	"context"
	"errors"
	"flag"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/tools/events"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	workv1 "open-cluster-management.io/api/work/v1"
	workv1alpha1 "open-cluster-management.io/api/work/v1alpha1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/rollout/writes"
	"github.com/cohort-ocm/cohort/status"
)

type replicaSet = workv1alpha1.ManifestWorkReplicaSet
type work = workv1.ManifestWork

// setLabel has namespace.name of the set of a work. A namespace has no dot.
const setLabel = workv1alpha1.ManifestWorkReplicaSetControllerNameLabelKey

// setKind is the kind of the works' owners.
var setKind = schema.GroupKind{Group: workv1alpha1.GroupName, Kind: "ManifestWorkReplicaSet"}

// givenUpBy is the annotation that names the ignored clusters, separated by commas.
const givenUpBy = "cohort.open-cluster-management.io/ignore"

// availableSucceeds is the annotation with which, by the value true, works have succeeded once they are Available, if no
// conditionRules in the template say when they are done.
const availableSucceeds = "cohort.open-cluster-management.io/available-succeeds"

// controller must have one worker, as is controller-runtime's default: the worker owns its maps. All that it keeps may be
// lost.
type controller struct {
	client      client.Client // reads from caches
	live        client.Reader // reads from the API server
	events      events.EventRecorder
	removeAfter time.Duration
	begun       bool
	works       writes.Own[*work]
	sets        writes.Own[*replicaSet]
	last        map[types.NamespacedName]*rollout.Result // of existing sets
	pace        map[types.NamespacedName]writes.Pace     // of sets whose last reconcile failed
}

func main() {
	flag.Parse()
	ctrl.SetLogger(zap.New())
	manager, err := ctrl.NewManager(ctrl.GetConfigOrDie(), ctrl.Options{Scheme: newScheme(), // one process acts at a time
		LeaderElection: true, LeaderElectionID: "small", LeaderElectionNamespace: "default"})
	utilruntime.Must(err)
	c := newController(manager)
	utilruntime.Must(c.watch(manager, c))
	utilruntime.Must(manager.Start(ctrl.SetupSignalHandler()))
}

func newScheme() *runtime.Scheme {
	scheme := runtime.NewScheme()
	utilruntime.Must(errors.Join(clusterv1.Install(scheme), clusterv1beta1.Install(scheme),
		workv1.Install(scheme), workv1alpha1.Install(scheme)))
	return scheme
}

func newController(m ctrl.Manager) *controller {
	return &controller{client: m.GetClient(), live: m.GetAPIReader(), pace: map[types.NamespacedName]writes.Pace{},
		last: map[types.NamespacedName]*rollout.Result{}, events: m.GetEventRecorder("small"), removeAfter: time.Minute}
}

// watch enqueues a set when something of it changes. A Placement may belong to any set in its namespace.
func (c *controller) watch(m ctrl.Manager, by reconcile.Reconciler) error {
	concerns := handler.EnqueueRequestsFromMapFunc(c.setsOf)
	return ctrl.NewControllerManagedBy(m).For(&replicaSet{}).Watches(&work{}, concerns).
		Watches(&clusterv1beta1.Placement{}, concerns).Watches(&clusterv1beta1.PlacementDecision{}, concerns).Complete(by)
}

// setsOf are the set of a work, or all sets in the namespace of a Placement or a PlacementDecision.
func (c *controller) setsOf(ctx context.Context, o client.Object) (requests []reconcile.Request) {
	if namespace, name, ok := strings.Cut(o.GetLabels()[setLabel], "."); ok {
		return []reconcile.Request{{NamespacedName: types.NamespacedName{Namespace: namespace, Name: name}}}
	}
	var sets workv1alpha1.ManifestWorkReplicaSetList
	if err := c.client.List(ctx, &sets, client.InNamespace(o.GetNamespace())); err != nil {
		ctrl.LoggerFrom(ctx).Error(err, "an event was lost", "namespace", o.GetNamespace(), "name", o.GetName())
		return nil
	}
	for i := range sets.Items {
		requests = append(requests, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(&sets.Items[i])})
	}
	return requests
}

// Reconcile requeues a set in time, also after a failed write (8).
func (c *controller) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	after, err := c.look(ctx, request.NamespacedName)
	after = c.again(request.NamespacedName, after, err)
	ctrl.LoggerFrom(ctx).Info("looked", "error", err, "again after", after)
	return reconcile.Result{RequeueAfter: after}, nil
}

// again returns when to requeue a set. The pause after an error doubles until a reconcile succeeds.
func (c *controller) again(key types.NamespacedName, after time.Duration, err error) time.Duration {
	now := time.Now()
	pace := c.pace[key]
	after = pace.After(err, after, c.works.RecheckAfter(now), c.sets.RecheckAfter(now))
	if err != nil {
		c.pace[key] = pace
	} else {
		delete(c.pace, key)
	}
	return after
}

// look starts the next clusters of a set.
func (c *controller) look(ctx context.Context, key types.NamespacedName) (time.Duration, error) {
	set, works, err := c.read(ctx, key) // 3
	if err != nil {
		return 0, err
	}
	if set == nil || set.DeletionTimestamp != nil {
		return 0, c.cleanUp(ctx, key, works)
	}
	owner, err := c.owner(ctx, set, works)
	if err != nil {
		return 0, err
	}
	ref := set.Spec.PlacementRefs[0]
	groups, err := c.groups(ctx, set.Namespace, ref.Name) // 1
	if err != nil {
		return 0, err
	}
	last, now := c.last[key], time.Now()
	result, err := c.plan(ctx, set, owner, groups, works, last, now)
	if err != nil {
		return 0, err
	}
	if err := c.remember(ctx, set, result); err != nil { // 6
		return 0, err
	}
	moved, err := c.carryOut(ctx, set, owner, works, result) // 4
	if moved {
		return 100 * time.Millisecond, err
	}
	c.tell(set, result, last) // 7
	c.last[key] = result
	progress := status.PlacementProgress{Name: ref.Name, Groups: groups, Works: works, Summary: result.Summary()}
	return result.RecheckAfter, errors.Join(err, c.setStatus(ctx, set, progress, now))
}

// tell emits events for what is wrong since the result before. For a set without a status, nothing was told yet.
func (c *controller) tell(set *replicaSet, result, last *rollout.Result) {
	if last == nil && meta.FindStatusCondition(set.Status.Conditions, workv1alpha1.ManifestWorkReplicaSetConditionPlacementRolledOut) == nil {
		last = &rollout.Result{}
	}
	for _, w := range result.Changes(last).Warned {
		c.events.Eventf(set, nil, "Warning", string(w.Type), "Rollout", "%s", w.String())
	}
}

// plan reads the reports of a set's works (2) and the record of deselected clusters (5), and plans.
func (c *controller) plan(ctx context.Context, set *replicaSet, owner writes.Owner, groups *grouping.Groups, works []*work, last *rollout.Result, now time.Time) (*rollout.Result, error) {
	version := writes.VersionOf(set.Spec.ManifestWorkTemplate)
	var reports []status.Report
	var unselected []string
	for _, work := range works {
		if !owner.Has(work) {
			continue
		}
		if _, selected := groups.Position(work.Namespace); !selected {
			unselected = append(unselected, work.Namespace)
		}
		state := status.WorkState{Work: work, Version: version, AvailableSucceeds: set.Annotations[availableSucceeds] == "true", Now: now}
		if report, ok := status.FromManifestWork(state); ok {
			reports = append(reports, report)
		}
	}
	records, err := status.RecordsOf(set)
	if err != nil {
		return nil, err
	}
	record := records[""]
	for _, left := range record.Deselected {
		unselected = append(unselected, left.Cluster)
	}
	givenUp, err := c.givenUp(ctx, set, unselected)
	if err != nil {
		return nil, err
	}
	return rollout.Plan(set.Spec.PlacementRefs[0].RolloutStrategy, groups, reports, now, rollout.Options{
		Previous: last, Ignored: givenUp, RemoveAfter: metav1.Duration{Duration: c.removeAfter},
		StoredRecord: &rollout.StoredRecord{Version: version, Record: record}})
}

// remember stores the record of deselected clusters in the set before anything is deleted.
func (c *controller) remember(ctx context.Context, set *replicaSet, result *rollout.Result) error {
	changed, err := status.Records{"": result.Record}.Note(set)
	if err != nil || !changed {
		return err
	}
	return c.sets.Wrote(set, c.client.Update(ctx, set), time.Now())
}

// carryOut writes the works of clusters that start, and deletes those of removed ones. It ends when the set has changed
// meanwhile. A rejected write does not stop the writes of other clusters.
func (c *controller) carryOut(ctx context.Context, set *replicaSet, owner writes.Owner, works []*work, result *rollout.Result) (moved bool, failed error) {
	steps := writes.StepsOf(owner, slices.Concat(works, c.works.Foreign(owner)), result)
	for _, foreign := range steps.Foreign() {
		c.events.Eventf(set, nil, "Warning", "ForeignObject", "Rollout", "%s", foreign.String())
	}
	now := func() (metav1.Object, error) { return get[replicaSet](ctx, c.client)(client.ObjectKeyFromObject(set)) }
	for step := range steps.While(now) {
		failed = errors.Join(failed, c.write(ctx, owner, set, step))
	}
	return steps.Moved(), failed
}

// setStatus sets the status of a set. It updates the object that earlier writes returned.
func (c *controller) setStatus(ctx context.Context, set *replicaSet, progress status.PlacementProgress, now time.Time) error {
	set = set.DeepCopy()
	if !status.SetReplicaSetStatus(&set.Status, []status.PlacementProgress{progress}, set.Generation, now) {
		return nil
	}
	return c.sets.Wrote(set, c.client.Status().Update(ctx, set), time.Now())
}

// read returns a set, or nil, and its works, with the writes of this process and of those before.
func (c *controller) read(ctx context.Context, key types.NamespacedName) (set *replicaSet, works []*work, err error) {
	var cachedSets workv1alpha1.ManifestWorkReplicaSetList
	var cachedWorks workv1.ManifestWorkList
	if err := list(ctx, c.client, &cachedSets, &cachedWorks); err != nil {
		return nil, nil, err
	}
	if err := c.begin(ctx, cachedSets.Items, cachedWorks.Items); err != nil {
		return nil, nil, err
	}
	sets, err := c.sets.Current(pointers(cachedSets.Items), get[replicaSet](ctx, c.live), time.Now)
	if err != nil {
		return nil, nil, err
	}
	works, err = c.works.Current(pointers(cachedWorks.Items), get[work](ctx, c.live), time.Now)
	if err != nil {
		return nil, nil, err
	}
	if i := slices.IndexFunc(sets, func(s *replicaSet) bool { return client.ObjectKeyFromObject(s) == key }); i >= 0 {
		set = sets[i].DeepCopy()
	}
	ofOthers := func(w *work) bool { return w.Labels[setLabel] != key.Namespace+"."+key.Name }
	return set, slices.DeleteFunc(works, ofOthers), nil
}

// begin lists everything from the API server once, since the caches may lack what the process before wrote.
func (c *controller) begin(ctx context.Context, cachedSets []replicaSet, cachedWorks []work) error {
	if c.begun {
		return nil
	}
	var sets workv1alpha1.ManifestWorkReplicaSetList
	var works workv1.ManifestWorkList
	if err := list(ctx, c.live, &sets, &works); err != nil {
		return err
	}
	c.sets.Begin(pointers(sets.Items), pointers(cachedSets), time.Now())
	c.works.Begin(pointers(works.Items), pointers(cachedWorks), time.Now())
	c.begun = true
	return nil
}

// list lists all sets, and all works with their label.
func list(ctx context.Context, from client.Reader, sets *workv1alpha1.ManifestWorkReplicaSetList, works *workv1.ManifestWorkList) error {
	if err := from.List(ctx, sets); err != nil {
		return err
	}
	return from.List(ctx, works, client.HasLabels{setLabel})
}

func pointers[T any](items []T) (all []*T) {
	for i := range items {
		all = append(all, &items[i])
	}
	return all
}

func get[T any, P interface {
	*T
	client.Object
}](ctx context.Context, from client.Reader) func(types.NamespacedName) (P, error) {
	return func(key types.NamespacedName) (P, error) {
		object := P(new(T))
		return object, from.Get(ctx, key, object)
	}
}

// groups reads the groups. While there is no Placement they are incomplete, so that nothing starts.
func (c *controller) groups(ctx context.Context, namespace, name string) (*grouping.Groups, error) {
	placement, err := get[clusterv1beta1.Placement](ctx, c.client)(types.NamespacedName{Namespace: namespace, Name: name})
	if apierrors.IsNotFound(err) {
		var none *grouping.Groups
		return none.Lacking("there is no Placement " + namespace + "/" + name), nil
	}
	if err != nil {
		return nil, err
	}
	var decisions clusterv1beta1.PlacementDecisionList
	if err := c.client.List(ctx, &decisions, client.InNamespace(namespace), client.MatchingLabels{clusterv1beta1.PlacementLabel: name}); err != nil {
		return nil, err
	}
	return grouping.Read(placement, pointers(decisions.Items))
}

// givenUp are the ignored clusters: by name, or because the ManagedCluster of a deselected cluster was deleted. The record
// drops them.
func (c *controller) givenUp(ctx context.Context, set *replicaSet, unselected []string) ([]string, error) {
	names := strings.FieldsFunc(set.Annotations[givenUpBy], func(r rune) bool { return r == ',' || r == ' ' })
	for _, cluster := range unselected {
		_, err := get[clusterv1.ManagedCluster](ctx, c.live)(types.NamespacedName{Name: cluster})
		switch {
		case apierrors.IsNotFound(err):
			names = append(names, cluster)
		case err != nil:
			return nil, err
		}
	}
	return names, nil
}

// owner is the set as the owner of its works (4). It takes over the works of an earlier set with its name, once a live read
// shows that it has the name now: then the earlier set is gone.
func (c *controller) owner(ctx context.Context, set *replicaSet, works []*work) (writes.Owner, error) {
	owner := writes.Owner{Kind: setKind, Object: set, Labels: map[string]string{setLabel: set.Namespace + "." + set.Name}}
	var former []types.UID
	for _, w := range works {
		if uid, same := owner.Noted(w); same && uid != set.UID {
			former = append(former, uid)
		}
	}
	if len(former) == 0 {
		return owner, nil
	}
	now, err := get[replicaSet](ctx, c.live)(client.ObjectKeyFromObject(set))
	if err == nil && now.UID == set.UID {
		owner.Former = former
	}
	return owner, err
}

func (c *controller) delete(ctx context.Context, o *work) error {
	return c.works.Deleted(o, c.client.Delete(ctx, o, client.Preconditions{UID: &o.UID}), time.Now())
}

// write makes a write, and records the answer.
func (c *controller) write(ctx context.Context, owner writes.Owner, set *replicaSet, step writes.Step[*work]) error {
	if step.Verb == writes.VerbDelete {
		return c.delete(ctx, step.Object)
	}
	wanted := &work{Spec: set.Spec.ManifestWorkTemplate}
	wanted.Namespace, wanted.Name = step.Cluster.Name, step.Name
	owner.NoteOn(wanted)
	next, changed := writes.Work(step.Object, wanted, writes.VersionOf(wanted.Spec), step.Cluster.Attempt, time.Now())
	if !changed {
		return nil
	}
	if step.Verb == writes.VerbCreate {
		return c.works.Wrote(next, c.client.Create(ctx, next), time.Now())
	}
	return c.works.Wrote(next, c.client.Update(ctx, next), time.Now())
}

// cleanUp deletes the works of a deleted set, and drops its state. A live read confirms the deletion: a cache may be empty.
func (c *controller) cleanUp(ctx context.Context, key types.NamespacedName, works []*work) error {
	set, err := get[replicaSet](ctx, c.live)(key)
	switch {
	case err != nil && !apierrors.IsNotFound(err):
		return err
	case err == nil && set.DeletionTimestamp == nil:
		return nil // the set exists: its event will come
	}
	delete(c.last, key)
	owner := writes.Owner{Kind: setKind, Object: &metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name},
		Labels: map[string]string{setLabel: key.Namespace + "." + key.Name}}
	var errs []error
	for _, w := range works {
		if _, noted := owner.Noted(w); w.DeletionTimestamp == nil && (noted || owner.Has(w)) {
			errs = append(errs, c.delete(ctx, w))
		}
	}
	return errors.Join(errs...)
}
