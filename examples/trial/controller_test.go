// SPDX-License-Identifier: Apache-2.0

package trial

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
	clusterclient "open-cluster-management.io/api/client/cluster/clientset/versioned"
	clusterlisters "open-cluster-management.io/api/client/cluster/listers/cluster/v1beta1"
	workclient "open-cluster-management.io/api/client/work/clientset/versioned"
	worklisters "open-cluster-management.io/api/client/work/listers/work/v1"
	setlisters "open-cluster-management.io/api/client/work/listers/work/v1alpha1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	workv1 "open-cluster-management.io/api/work/v1"
	workv1alpha1 "open-cluster-management.io/api/work/v1alpha1"

	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/rollout/writes"
	"github.com/cohort-ocm/cohort/status"
)

// controller rolls a ManifestWorkReplicaSet out. It is what a reader of README and of the packages' pages writes:
// list, plan, write, set status. Each place where it follows a duty of the documentation asks c.ignores whether it
// does, so that the harness can show that it finds out if it doesn't.
type controller struct {
	namespace, name string
	sets            setlisters.ManifestWorkReplicaSetLister
	works           worklisters.ManifestWorkLister
	placements      clusterlisters.PlacementLister
	decisions       clusterlisters.PlacementDecisionLister
	client          workclient.Interface
	clusters        clusterclient.Interface

	p        *Process
	ownSet   writes.Own[*replicaSet]
	ownWorks writes.Own[*workv1.ManifestWork]
	last     *rollout.Result // the result before
	begun    bool
	memory   map[string]time.Time // only to ignore a duty with
	ignored  Duty
}

func (c *controller) ignores(d Duty) bool { return c.ignored == d }

// removeAfter is for how long a cluster has to be out of the decisions until it loses its work.
const removeAfter = 2 * time.Second

// subject is this controller. Its set has one placement.
var subject = &Subject{Run: run, Says: says, RemoveAfter: removeAfter, IgnoreAnnotation: ignoreAnnotation, Placements: 1, Replicas: 1}

// ignoreAnnotation has the names of the ignored clusters.
const ignoreAnnotation = "hub.test/ignore"

// says reads the conditions that status.SetConditions sets.
func says(set *replicaSet) (s Saying) {
	for _, c := range set.Status.Conditions {
		if c.Status == metav1.ConditionTrue {
			s = Saying{
				Message: c.Message, Current: c.ObservedGeneration == set.Generation,
				Over:     c.Type == status.ConditionSucceeded || c.Type == status.ConditionFailed,
				Complete: c.Type == status.ConditionSucceeded || c.Reason == status.ReasonClustersFailed, Succeeded: c.Type == status.ConditionSucceeded,
			}
		}
	}
	return s
}

// run reconciles when something has changed, when the time to come back has passed, and again after an error.
func run(ctx context.Context, p *Process) error {
	c := newController(p)
	return loop(ctx, p, c.reconcile)
}

func newController(p *Process) *controller {
	return &controller{
		namespace: p.Set.Namespace, name: p.Set.Name, client: workclient.NewForConfigOrDie(p.Config), ignored: p.Ignored,
		clusters: clusterclient.NewForConfigOrDie(p.Config),
		sets:     setlisters.NewManifestWorkReplicaSetLister(p.Store(ReplicaSets)), works: worklisters.NewManifestWorkLister(p.Store(Works)),
		placements: clusterlisters.NewPlacementLister(p.Store(Placements)), decisions: clusterlisters.NewPlacementDecisionLister(p.Store(Decisions)),
		p: p, memory: map[string]time.Time{},
	}
}

func loop(ctx context.Context, p *Process, reconcile func(context.Context) (time.Duration, error)) error {
	var pace writes.Pace
	news := make(chan struct{}, 1)
	changed := func() {
		select {
		case news <- struct{}{}:
		default:
		}
	}
	for _, k := range kinds {
		p.Handle(k, cache.ResourceEventHandlerFuncs{
			AddFunc: func(any) { changed() }, UpdateFunc: func(any, any) { changed() }, DeleteFunc: func(any) { changed() },
		})
	}
	again := time.After(0)
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-news:
		case <-again:
			select { // both at once are one reason to look
			case <-news:
			default:
			}
		}
		again = nil
		p.Reconcile(func() (time.Duration, error) {
			after, err := reconcile(ctx)
			if after = pace.After(err, after); after > 0 {
				again = time.After(after)
			}
			return after, nil
		})
	}
}

// label marks the works of a replica set.
const label = workv1alpha1.ManifestWorkReplicaSetControllerNameLabelKey

func (c *controller) label() string { return c.namespace + "." + c.name }

func (c *controller) reconcile(ctx context.Context) (time.Duration, error) {
	if err := c.begin(ctx); err != nil {
		return 0, err
	}
	if there, err := c.readsItsWrites(ctx); !there {
		return c.again(), err
	}
	set, err := c.sets.ManifestWorkReplicaSets(c.namespace).Get(c.name)
	if apierrors.IsNotFound(err) || err == nil && set.DeletionTimestamp != nil {
		return 0, c.cleanUp(ctx)
	}
	if err != nil {
		return 0, err
	}
	ref := set.Spec.PlacementRefs[0]
	groups, err := c.groups(ref.Name)
	if err != nil {
		return 0, err
	}
	owned, err := c.works.List(labels.SelectorFromSet(labels.Set{label: c.label()}))
	if err != nil {
		return 0, err
	}
	var reports []status.Report
	byCluster := map[string]*workv1.ManifestWork{}
	for _, work := range owned {
		byCluster[work.Namespace] = work
		if work.DeletionTimestamp != nil && c.ignores(DutyDeleting) {
			continue
		}
		if report, ok := c.report(work, c.versionFor(set, work.Namespace)); ok {
			reports = append(reports, report)
		}
	}
	now := time.Now()
	records, err := status.RecordsOf(set)
	if err != nil {
		return 0, err
	}
	options := c.options()
	ignoredClusters, err := c.ignoredClusters(ctx, set, records[ref.Name])
	if err != nil {
		return 0, err
	}
	options.Ignored, options.StoredRecord = ignoredClusters, c.remember(c.versionOfMemory(set), records[ref.Name])
	plan := func(reports []status.Report) (*rollout.Result, error) {
		return rollout.Plan(c.ignored.Strategy(ref.RolloutStrategy), groups, reports, now, options)
	}
	result, err := plan(reports)
	if err != nil {
		return 0, err
	}
	summary := result.Summary()
	if c.ignores(DutyLeft) || c.ignores(DutyComplete) {
		removed := result.Removed
		selected, err := plan(slices.DeleteFunc(reports, func(r status.Report) bool { _, is := groups.Position(r.Cluster); return !is }))
		if err != nil {
			return 0, err
		}
		if summary = selected.Summary(); c.ignores(DutyLeft) {
			result, result.Removed = selected, removed
		}
	}
	c.last = result
	if stored, err := c.store(ctx, set, status.Records{ref.Name: result.Record}); stored || err != nil {
		return 0, err // the event of this write comes
	}

	for _, cluster := range result.Removed {
		if c.ignores(DutyRemove) || c.ignores(DutyPromptly) && result.Breach != nil {
			break
		}
		if work := byCluster[cluster]; work.DeletionTimestamp == nil {
			err = errors.Join(err, c.remove(ctx, work))
		}
	}
	there := slices.DeleteFunc(slices.Clone(result.InFlight), func(c rollout.Cluster) bool { return byCluster[c.Name] == nil }) // W10
	if c.ignores(DutyInTurn) {
		for name := range byCluster {
			there = append(there, rollout.Cluster{Name: name})
		}
	}
	for _, cluster := range slices.Concat(there, result.Start) {
		if current, e := c.sets.ManifestWorkReplicaSets(c.namespace).Get(c.name); e != nil || current.Generation != set.Generation || differs(current, set) {
			if !c.ignores(DutySecondLook) {
				return time.Millisecond, errors.Join(err, e)
			}
		}
		err = errors.Join(err, c.apply(ctx, ForCluster(set, cluster.Name), byCluster[cluster.Name], cluster.Name, c.versionFor(set, cluster.Name), now))
	}

	recheck := result.RecheckAfter
	if c.ignores(DutyRecheck) {
		recheck = 0
	}
	updated := set.DeepCopy()
	if !c.ignores(DutyStatus) && status.SetConditions(&updated.Status.Conditions, summary, set.Generation, now) {
		updated.Status.PlacementsSummary = []workv1alpha1.PlacementSummary{}
		_, e := c.client.WorkV1alpha1().ManifestWorkReplicaSets(c.namespace).UpdateStatus(ctx, updated, metav1.UpdateOptions{})
		err = errors.Join(err, e)
	}
	return recheck, err
}

// store stores the record of deselected clusters, and says whether it was another one.
func (c *controller) store(ctx context.Context, set *replicaSet, records status.Records) (bool, error) {
	with := set.DeepCopy()
	if changed, err := records.Note(with); !changed || err != nil || c.ignores(DutyRecord) {
		return false, err
	}
	written, err := c.client.WorkV1alpha1().ManifestWorkReplicaSets(c.namespace).Update(ctx, with, metav1.UpdateOptions{})
	return true, c.wroteSet(written, err)
}

// groups reads the decisions together with their placement.
func (c *controller) groups(name string) (*grouping.Groups, error) {
	of := labels.SelectorFromSet(labels.Set{clusterv1beta1.PlacementLabel: name})
	decisions, err := c.decisions.PlacementDecisions(c.namespace).List(of)
	if err != nil {
		return nil, err
	}
	if c.ignores(DutyPlacement) {
		return grouping.Read(nil, decisions)
	}
	placement, err := c.placements.Placements(c.namespace).Get(name)
	if err != nil {
		return nil, err
	}
	return grouping.Read(placement, decisions)
}

// apply gives a cluster the version, in a work that it creates or updates.
func (c *controller) apply(ctx context.Context, spec workv1.ManifestWorkSpec, old *workv1.ManifestWork, cluster, version string, planned time.Time) error {
	api := c.client.WorkV1().ManifestWorks(cluster)
	if old != nil && old.DeletionTimestamp != nil {
		return nil // once it is gone
	}
	work := &workv1.ManifestWork{ObjectMeta: metav1.ObjectMeta{Namespace: cluster, Name: c.name, Labels: map[string]string{label: c.label()}}}
	if c.ignores(DutyOneName) {
		work.Name, work.GenerateName = "", c.name+"-"
	}
	if old != nil {
		if status.StampOf(old).Version == version && equality.Semantic.DeepEqual(old.Spec, spec) {
			return nil
		}
		work = old.DeepCopy()
		if c.ignores(DutyOneWrite) {
			announced, err := c.announce(ctx, old, version)
			if err != nil {
				return c.wrote(cluster, nil, err)
			}
			work = announced
		}
	}
	work.Spec = spec
	c.stamp(work, version, planned)
	var err error
	switch {
	case old == nil:
		work, err = api.Create(ctx, work, metav1.CreateOptions{})
	case c.ignores(DutyUpdate):
		work.ResourceVersion = ""
		if err = api.Delete(ctx, work.Name, metav1.DeleteOptions{}); err == nil {
			work, err = api.Create(ctx, work, metav1.CreateOptions{})
		}
	default:
		work, err = api.Update(ctx, work, metav1.UpdateOptions{})
	}
	return c.wrote(cluster, work, err)
}

// cleanUp deletes the works of a set that is gone, if the API server says so.
func (c *controller) cleanUp(ctx context.Context) error {
	set, err := c.client.WorkV1alpha1().ManifestWorkReplicaSets(c.namespace).Get(ctx, c.name, metav1.GetOptions{})
	if !apierrors.IsNotFound(err) && (err != nil || set.DeletionTimestamp == nil) {
		return err
	}
	works, err := c.client.WorkV1().ManifestWorks("").List(ctx, metav1.ListOptions{LabelSelector: label + "=" + c.label()})
	if err != nil {
		return err
	}
	for i := range works.Items {
		if work := &works.Items[i]; work.DeletionTimestamp == nil {
			err = errors.Join(err, c.remove(ctx, work))
		}
	}
	return err
}

// remove deletes a cluster's work.
func (c *controller) remove(ctx context.Context, work *workv1.ManifestWork) error {
	err := c.client.WorkV1().ManifestWorks(work.Namespace).Delete(ctx, work.Name, metav1.DeleteOptions{})
	if err != nil && c.forgets(err) {
		return err
	}
	return c.ownWorks.Deleted(work, err, time.Now())
}

// begin asks the API server what the processes before this one have written, once.
func (c *controller) begin(ctx context.Context) error {
	if c.begun || c.ignores(DutyFirstLook) {
		return nil
	}
	of := labels.SelectorFromSet(labels.Set{label: c.label()})
	cached, err := c.works.List(of)
	if err != nil {
		return err
	}
	cachedSet, err := c.sets.ManifestWorkReplicaSets(c.namespace).Get(c.name)
	if apierrors.IsNotFound(err) {
		return nil // and its works may have to go
	}
	if err != nil {
		return err
	}
	set, err := c.client.WorkV1alpha1().ManifestWorkReplicaSets(c.namespace).Get(ctx, c.name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return err
	}
	there, err := c.client.WorkV1().ManifestWorks("").List(ctx, metav1.ListOptions{LabelSelector: of.String()})
	if err != nil {
		return err
	}
	live := make([]*workv1.ManifestWork, len(there.Items))
	for i := range there.Items {
		live[i] = &there.Items[i]
	}
	c.ownSet.Begin([]*replicaSet{set}, []*replicaSet{cachedSet}, time.Now())
	c.ownWorks.Begin(live, cached, time.Now())
	c.begun = true
	return nil
}

// forgets says whether it ignores that a write is uncertain.
func (c *controller) forgets(err error) bool {
	return c.ignores(DutyLostAnswer) && apierrors.ReasonForError(err) == metav1.StatusReasonUnknown
}

// wrote notes the answer to a write of a cluster's work. Beside an error the answer is empty.
func (c *controller) wrote(cluster string, answer *workv1.ManifestWork, err error) error {
	if err != nil {
		answer = &workv1.ManifestWork{ObjectMeta: metav1.ObjectMeta{Namespace: cluster, Name: c.name}}
	}
	if err != nil && c.forgets(err) {
		return err
	}
	return c.ownWorks.Wrote(answer, err, time.Now())
}

func (c *controller) wroteSet(answer *replicaSet, err error) error {
	if err != nil {
		answer = &replicaSet{ObjectMeta: metav1.ObjectMeta{Namespace: c.namespace, Name: c.name}}
	}
	return c.ownSet.Wrote(answer, err, time.Now())
}

// readsItsWrites says whether the caches show all that this controller has written. Where it was told nothing it asks
// the API server.
func (c *controller) readsItsWrites(ctx context.Context) (bool, error) {
	set, err := c.ownSet.Unseen(c.p.Store(ReplicaSets), func(key types.NamespacedName) (*replicaSet, error) {
		return c.client.WorkV1alpha1().ManifestWorkReplicaSets(key.Namespace).Get(ctx, key.Name, metav1.GetOptions{})
	}, time.Now)
	if err != nil {
		return false, err
	}
	works, err := c.ownWorks.Unseen(c.p.Store(Works), func(key types.NamespacedName) (*workv1.ManifestWork, error) {
		return c.client.WorkV1().ManifestWorks(key.Namespace).Get(ctx, key.Name, metav1.GetOptions{})
	}, time.Now)
	return err == nil && (set+works == 0 || c.ignores(DutyReadYourWrites)), err
}

// again is when to look again where the caches do not show all writes. Each that they come to show is an event.
func (c *controller) again() time.Duration {
	return cmp.Or(c.ownSet.RecheckAfter(time.Now()), c.ownWorks.RecheckAfter(time.Now()))
}

// versionOfTemplate is a hash of what the replica set gives to its clusters.
func versionOfTemplate(set *workv1alpha1.ManifestWorkReplicaSet) string {
	return versionOfSpec(set.Spec.ManifestWorkTemplate)
}

func versionOfSpec(spec workv1.ManifestWorkSpec) string {
	text, err := json.Marshal(spec)
	if err != nil {
		panic(err) // it has come as JSON
	}
	h := fnv.New64a()
	h.Write(text)
	return fmt.Sprintf("%x", h.Sum64())
}
