// Command small is the smallest controller that is safe: it places ManifestWorks for ManifestWorkReplicaSets with one
// placement. It imports the library, OCM's API, client-go and controller-runtime. The numbers are from the duties in
// the documentation of package rollout.
//
//	go run ./small -kubeconfig ~/.kube/config
//
// Of a set with several placementRefs it takes the first, without a word. It has no finalizer, no metrics and no flags
// of its own, and reads all works from its cache at each look: see works for more.
package main

import (
	"context"
	"errors"
	"flag"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
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

// setLabel has namespace.name of the set that a work is of. A namespace has no dot.
const setLabel = workv1alpha1.ManifestWorkReplicaSetControllerNameLabelKey

// setKind is of what the works are.
var setKind = schema.GroupKind{Group: workv1alpha1.GroupName, Kind: "ManifestWorkReplicaSet"}

// givenUpBy is the annotation in which a person names clusters that are given up, with commas between them.
const givenUpBy = "cohort.open-cluster-management.io/give-up"

// controller must have one worker, as controller-runtime has it by default: the worker owns its maps. All that it knows
// may be lost.
type controller struct {
	client      client.Client // reads from caches
	live        client.Reader // reads from the API server
	events      events.EventRecorder
	removeAfter time.Duration
	begun       bool
	works       writes.Own[*work]
	sets        writes.Own[*replicaSet]
	last        map[types.NamespacedName]*rollout.Result
	pace        map[types.NamespacedName]writes.Pace
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

// watch has a set looked at when something of it changes. A Placement may be that of each set in its namespace.
func (c *controller) watch(m ctrl.Manager, by reconcile.Reconciler) error {
	concerns := handler.EnqueueRequestsFromMapFunc(func(ctx context.Context, o client.Object) (all []reconcile.Request) {
		if namespace, name, ok := strings.Cut(o.GetLabels()[setLabel], "."); ok {
			return []reconcile.Request{{NamespacedName: types.NamespacedName{Namespace: namespace, Name: name}}}
		}
		var sets workv1alpha1.ManifestWorkReplicaSetList
		_ = c.client.List(ctx, &sets, client.InNamespace(o.GetNamespace())) // from the cache
		for i := range sets.Items {
			all = append(all, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(&sets.Items[i])})
		}
		return all
	})
	return ctrl.NewControllerManagedBy(m).For(&replicaSet{}).Watches(&work{}, concerns).
		Watches(&clusterv1beta1.Placement{}, concerns).Watches(&clusterv1beta1.PlacementDecision{}, concerns).Complete(by)
}

// Reconcile has a set looked at again in time, also where a write failed (8).
func (c *controller) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	after, err := c.look(ctx, request.NamespacedName)
	pace, now := c.pace[request.NamespacedName], time.Now()
	after = pace.After(err, after, c.works.RecheckAfter(now), c.sets.RecheckAfter(now))
	ctrl.LoggerFrom(ctx).Info("looked", "error", err, "again after", after)
	c.pace[request.NamespacedName] = pace
	return reconcile.Result{RequeueAfter: after}, nil
}

// look brings the next clusters of a set on their way.
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
	ref, last, now := set.Spec.PlacementRefs[0], c.last[key], time.Now()
	groups, err := c.groups(ctx, set.Namespace, ref.Name)                                                        // 1
	version, reports, ask := writes.VersionOf(set.Spec.ManifestWorkTemplate), []status.Report{}, []status.Left{} // 2
	records, err2 := status.RecordsOf(set)                                                                       // 5
	for _, work := range works {
		if !owner.Has(work) {
			continue
		}
		if _, selected := groups.Position(work.Namespace); !selected {
			ask = append(ask, status.Left{Report: status.Report{Cluster: work.Namespace}})
		}
		if report, ok := status.FromManifestWork(status.WorkState{Work: work, Version: version, Now: now}); ok {
			reports = append(reports, report)
		}
	}
	givenUp, err3 := c.givenUp(ctx, set, append(ask, records[""].Left...))
	result, err4 := rollout.Plan(ref.RolloutStrategy, groups, reports, now, rollout.Options{Previous: last,
		Uncounted: givenUp, RemoveAfter: metav1.Duration{Duration: c.removeAfter},
		Memory: &rollout.Memory{Version: version, Record: records[""]}})
	if err := errors.Join(err, err2, err3, err4); err != nil {
		return 0, err
	}
	c.last[key] = result
	changed, err := status.Records{"": result.Record}.Note(set) // 6
	if changed && err == nil {
		err = c.sets.Wrote(set, c.client.Update(ctx, set), time.Now())
	}
	if err != nil {
		return 0, err
	}
	steps := writes.StepsOf(owner, append(works, c.works.Foreign(owner)...), result) // 4
	for _, foreign := range steps.Foreign() {
		c.events.Eventf(set, nil, "Warning", "ForeignObject", "Rollout", "%s", foreign.String())
	}
	for step := range steps.While(func() (metav1.Object, error) { return get[replicaSet](ctx, c.client)(key) }) {
		err = errors.Join(err, c.write(ctx, owner, set, step)) // who refuses holds up no others
	}
	if steps.Moved() {
		return 100 * time.Millisecond, err
	}
	for _, w := range result.Changes(last).Warned { // 7
		c.events.Eventf(set, nil, "Warning", string(w.Type), "Rollout", "%s", w.String())
	}
	set = set.DeepCopy() // c.sets keeps the one before
	progress := []status.PlacementProgress{{Name: ref.Name, Groups: groups, Works: works, Summary: result.Summary()}}
	if status.SetReplicaSetStatus(&set.Status, progress, set.Generation, now) {
		err = errors.Join(err, c.sets.Wrote(set, c.client.Status().Update(ctx, set), time.Now()))
	}
	return result.RecheckAfter, err
}

// read gives a set, nil where there is none, and its works: with the writes of this process, and of those before.
func (c *controller) read(ctx context.Context, key types.NamespacedName) (set *replicaSet, works []*work, err error) {
	var sets, liveSets workv1alpha1.ManifestWorkReplicaSetList
	var all, liveWorks workv1.ManifestWorkList
	err = errors.Join(c.client.List(ctx, &sets), c.client.List(ctx, &all, client.HasLabels{setLabel}))
	if err == nil && !c.begun {
		err = errors.Join(c.live.List(ctx, &liveSets), c.live.List(ctx, &liveWorks, client.HasLabels{setLabel}))
		if c.begun = err == nil; c.begun {
			c.sets.Begin(pointers(liveSets.Items), pointers(sets.Items), time.Now())
			c.works.Begin(pointers(liveWorks.Items), pointers(all.Items), time.Now())
		}
	}
	if err != nil {
		return nil, nil, err
	}
	known, err := c.sets.Current(pointers(sets.Items), get[replicaSet](ctx, c.live), time.Now)
	if i := slices.IndexFunc(known, func(s *replicaSet) bool { return client.ObjectKeyFromObject(s) == key }); i >= 0 {
		set = known[i].DeepCopy()
	}
	works, err2 := c.works.Current(pointers(all.Items), get[work](ctx, c.live), time.Now)
	others := func(w *work) bool { return w.Labels[setLabel] != key.Namespace+"."+key.Name }
	return set, slices.DeleteFunc(works, others), errors.Join(err, err2)
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

// groups are incomplete, so that nothing starts, while there is no Placement.
func (c *controller) groups(ctx context.Context, namespace, name string) (*grouping.Groups, error) {
	placement, err := get[clusterv1beta1.Placement](ctx, c.client)(types.NamespacedName{Namespace: namespace, Name: name})
	if apierrors.IsNotFound(err) {
		var none *grouping.Groups
		return none.Lacking("there is no Placement " + namespace + "/" + name), nil
	}
	if err != nil {
		return nil, err
	}
	var d clusterv1beta1.PlacementDecisionList
	if err := c.client.List(ctx, &d, client.InNamespace(namespace), client.MatchingLabels{clusterv1beta1.PlacementLabel: name}); err != nil {
		return nil, err
	}
	return grouping.Read(placement, pointers(d.Items))
}

// givenUp are the clusters that a person gave up: by name, or by deleting the ManagedCluster of one in the record, or
// of one that is not selected and has a work. Who is given up is in the record no more.
func (c *controller) givenUp(ctx context.Context, set *replicaSet, ask []status.Left) (names []string, failed error) {
	names = strings.FieldsFunc(set.Annotations[givenUpBy], func(r rune) bool { return r == ',' || r == ' ' })
	for _, left := range ask {
		_, err := get[clusterv1.ManagedCluster](ctx, c.live)(types.NamespacedName{Name: left.Cluster})
		if apierrors.IsNotFound(err) {
			names = append(names, left.Cluster)
		}
		failed = errors.Join(failed, client.IgnoreNotFound(err))
	}
	return names, failed
}

// owner is the set as the owner of its works (4). The works of an earlier set with its name are its own, once the API server says that it has
// that name: the earlier one is gone.
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

// delete deletes a work, and notes the answer.
func (c *controller) delete(ctx context.Context, o *work) error {
	return c.works.Deleted(o, c.client.Delete(ctx, o, client.Preconditions{UID: &o.UID}), time.Now())
}

// write makes a write, and notes the answer.
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
	} else if step.Verb == writes.VerbCreate {
		return c.works.Wrote(next, c.client.Create(ctx, next), time.Now())
	}
	return c.works.Wrote(next, c.client.Update(ctx, next), time.Now())
}

// cleanUp deletes the works of a set that is gone. It asks the API server whether that is so: a cache may be empty.
func (c *controller) cleanUp(ctx context.Context, key types.NamespacedName, works []*work) (failed error) {
	set, err := get[replicaSet](ctx, c.live)(key)
	if !apierrors.IsNotFound(err) && (err != nil || set.DeletionTimestamp == nil) {
		return err // it is there, and will be an event
	}
	owner := writes.Owner{Kind: setKind, Object: &metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name},
		Labels: map[string]string{setLabel: key.Namespace + "." + key.Name}}
	for _, w := range works {
		if _, noted := owner.Noted(w); w.DeletionTimestamp == nil && (noted || owner.Has(w)) {
			failed = errors.Join(failed, c.delete(ctx, w))
		}
	}
	return failed
}
