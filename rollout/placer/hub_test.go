// SPDX-License-Identifier: Apache-2.0

package placer

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/tools/events"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	workv1 "open-cluster-management.io/api/work/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/rollout/writes"
)

var errNoText = errors.New("spec.text: must not be error")

// errLost is the error of a broken connection.
var errLost = errors.New("the connection broke")

// A fault is what happens to a write.
type fault int

const (
	none    fault = iota
	lost          // the write is made, and its answer is lost
	broken        // the write is not made, and neither is an answer
	refused       // the API server rejects the write
)

// A write is a write of a process.
type write struct {
	verb, kind string
	key        types.NamespacedName
}

func (w write) String() string { return w.verb + " " + w.kind + " " + w.key.String() }

// hub is an API server with its objects, and the clock.
type hub struct {
	t      testing.TB
	store  client.WithWatch // the API server's state
	server client.WithWatch // the processes' client
	scheme *runtime.Scheme
	now    time.Time
	uids   int
	events *events.FakeRecorder

	objects map[cacheKey]client.Object // what is stored; nil after a write

	faults func(write) fault
	denied string // the kind that processes may not read from the API server
	writes []write
	reads  []write // live reads of processes
	wrote  func()  // called after each write; may be nil
}

// ownerKey is the name of the owner in these tests.
var ownerKey = types.NamespacedName{Namespace: "apps", Name: "web"}

func newHub(t testing.TB) *hub {
	h := &hub{t: t, scheme: runtime.NewScheme(), now: time.Date(2026, 1, 2, 10, 0, 0, 0, time.UTC)}
	for _, install := range []func(*runtime.Scheme) error{clusterv1.Install, clusterv1beta1.Install, workv1.Install, addThings} {
		must(t, install(h.scheme))
	}
	store := fake.NewClientBuilder().WithScheme(h.scheme).WithStatusSubresource(&thing{}, &other{}, &workv1.ManifestWork{}).Build()
	h.store = interceptor.NewClient(store, h.counting())
	h.server = interceptor.NewClient(h.store, h.interceptors())
	h.events = events.NewFakeRecorder(10000)
	return h
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// counting notes any write.
func (h *hub) counting() interceptor.Funcs {
	return interceptor.Funcs{
		Create: func(ctx context.Context, c client.WithWatch, o client.Object, options ...client.CreateOption) error {
			h.objects = nil
			return c.Create(ctx, o, options...)
		},
		Update: func(ctx context.Context, c client.WithWatch, o client.Object, options ...client.UpdateOption) error {
			h.objects = nil
			return c.Update(ctx, o, options...)
		},
		Patch: func(ctx context.Context, c client.WithWatch, o client.Object, p client.Patch, options ...client.PatchOption) error {
			h.objects = nil
			return c.Patch(ctx, o, p, options...)
		},
		Delete: func(ctx context.Context, c client.WithWatch, o client.Object, options ...client.DeleteOption) error {
			h.objects = nil
			return c.Delete(ctx, o, options...)
		},
		SubResourceUpdate: func(ctx context.Context, c client.Client, of string, o client.Object, options ...client.SubResourceUpdateOption) error {
			h.objects = nil
			return c.SubResource(of).Update(ctx, o, options...)
		},
	}
}

// truth is the state of the kinds that processes watch. It is read-only.
func (h *hub) truth() map[cacheKey]client.Object {
	if h.objects != nil {
		return h.objects
	}
	h.objects = map[cacheKey]client.Object{}
	for _, list := range []client.ObjectList{
		&thingList{}, &otherList{}, &workv1.ManifestWorkList{}, &clusterv1beta1.PlacementList{}, &clusterv1beta1.PlacementDecisionList{},
	} {
		must(h.t, h.store.List(h.t.Context(), list))
		items, err := meta.ExtractList(list)
		must(h.t, err)
		for _, item := range items {
			o := item.(client.Object)
			h.objects[cacheKey{h.kindOf(o), client.ObjectKeyFromObject(o)}] = o
		}
	}
	return h.objects
}

// interceptors record the writes of processes, and inject faults. They also do what the fake client does not: UIDs,
// generations, and preconditions of deletions.
func (h *hub) interceptors() interceptor.Funcs {
	return interceptor.Funcs{
		Create: func(ctx context.Context, c client.WithWatch, o client.Object, options ...client.CreateOption) error {
			return h.write("create", o, func() error { return h.create(ctx, o) })
		},
		Update: func(ctx context.Context, c client.WithWatch, o client.Object, options ...client.UpdateOption) error {
			return h.write("update", o, func() error { return h.update(ctx, o) })
		},
		Patch: func(ctx context.Context, c client.WithWatch, o client.Object, p client.Patch, options ...client.PatchOption) error {
			return h.write("patch", o, func() error { return c.Patch(ctx, o, p, options...) })
		},
		Delete: func(ctx context.Context, c client.WithWatch, o client.Object, options ...client.DeleteOption) error {
			return h.write("delete", o, func() error { return h.delete(ctx, o, options...) })
		},
		SubResourceUpdate: func(ctx context.Context, c client.Client, of string, o client.Object, options ...client.SubResourceUpdateOption) error {
			return h.write("update "+of, o, func() error { return c.SubResource(of).Update(ctx, o, options...) })
		},
		Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, o client.Object, options ...client.GetOption) error {
			h.reads = append(h.reads, write{"get", h.kindOf(o), key})
			if h.denied == h.kindOf(o) {
				return apierrors.NewForbidden(schema.GroupResource{Resource: h.denied}, key.Name, errors.New("RBAC"))
			}
			return c.Get(ctx, key, o, options...)
		},
		List: func(ctx context.Context, c client.WithWatch, into client.ObjectList, options ...client.ListOption) error {
			h.reads = append(h.reads, write{"list", h.kindOf(into), types.NamespacedName{}})
			if h.denied == h.kindOf(into) {
				return apierrors.NewForbidden(schema.GroupResource{Resource: h.denied}, "", errors.New("RBAC"))
			}
			return c.List(ctx, into, options...)
		},
	}
}

func (h *hub) kindOf(o runtime.Object) string {
	gvk, err := apiutil.GVKForObject(o, h.scheme)
	must(h.t, err)
	return gvk.Kind
}

func (h *hub) write(verb string, o client.Object, do func() error) error {
	w := write{verb, h.kindOf(o), client.ObjectKeyFromObject(o)}
	f := none
	if h.faults != nil {
		f = h.faults(w)
	}
	if f == broken {
		return errLost
	}
	if f == refused {
		return apierrors.NewForbidden(schema.GroupResource{Resource: w.kind}, w.key.Name, errors.New("the quota is used up"))
	}
	sent := o.DeepCopyObject()
	if err := do(); err != nil {
		return err
	}
	h.writes = append(h.writes, w)
	if h.wrote != nil {
		h.wrote()
	}
	if f == lost {
		restore(o, sent)
		return errLost
	}
	return nil
}

// restore resets an object to what was sent: the answer was lost.
func restore(o client.Object, sent runtime.Object) {
	switch o := o.(type) {
	case *workv1.ManifestWork:
		*o = *sent.(*workv1.ManifestWork)
	case *thing:
		*o = *sent.(*thing)
	case *other:
		*o = *sent.(*other)
	}
}

func (h *hub) create(ctx context.Context, o client.Object) error {
	h.uids++
	o.SetUID(types.UID(fmt.Sprint("uid-", h.uids)))
	o.SetGeneration(1)
	o.SetCreationTimestamp(metav1.NewTime(h.now))
	if work, is := o.(*workv1.ManifestWork); is {
		o.SetFinalizers([]string{"agent"})
		fillDefaults(work)
	}
	return h.store.Create(ctx, o)
}

// fillDefaults fills in the defaults of the ManifestWork CRD.
func fillDefaults(work *workv1.ManifestWork) {
	for i := range work.Spec.ManifestConfigs {
		config := &work.Spec.ManifestConfigs[i]
		config.FeedbackScrapeType = cmp.Or(config.FeedbackScrapeType, "Poll")
		if config.UpdateStrategy == nil {
			continue
		}
		config.UpdateStrategy.Type = cmp.Or(config.UpdateStrategy.Type, "Update")
		if apply := config.UpdateStrategy.ServerSideApply; apply != nil {
			apply.FieldManager = cmp.Or(apply.FieldManager, "work-agent")
		}
	}
}

func (h *hub) update(ctx context.Context, o client.Object) error {
	if work, is := o.(*workv1.ManifestWork); is {
		stored := &workv1.ManifestWork{}
		if err := h.store.Get(ctx, client.ObjectKeyFromObject(o), stored); err != nil {
			return err
		}
		if string(stored.Spec.Workload.Manifests[0].Raw) != string(work.Spec.Workload.Manifests[0].Raw) {
			work.Generation = stored.Generation + 1
		}
		fillDefaults(work)
	}
	return h.store.Update(ctx, o)
}

func (h *hub) delete(ctx context.Context, o client.Object, options ...client.DeleteOption) error {
	var asked client.DeleteOptions
	asked.ApplyOptions(options)
	stored := &workv1.ManifestWork{}
	if err := h.store.Get(ctx, client.ObjectKeyFromObject(o), stored); err != nil {
		return err
	}
	if asked.Preconditions == nil || asked.Preconditions.UID == nil {
		h.t.Errorf("%s is deleted whatever its UID", client.ObjectKeyFromObject(o))
	} else if *asked.Preconditions.UID != stored.UID {
		return apierrors.NewConflict(schema.GroupResource{Resource: "ManifestWork"}, o.GetName(), errors.New("another UID"))
	}
	return h.store.Delete(ctx, stored)
}

// make creates objects, as users do.
func (h *hub) make(objects ...client.Object) {
	h.t.Helper()
	for _, o := range objects {
		h.uids++
		o.SetUID(types.UID(fmt.Sprint("uid-", h.uids)))
		o.SetGeneration(1)
		o.SetCreationTimestamp(metav1.NewTime(h.now))
		must(h.t, h.store.Create(h.t.Context(), o))
	}
}

// change changes the spec of the thing, as a user does.
func (h *hub) change(do func(*thing)) {
	h.t.Helper()
	owner := h.thing()
	do(owner)
	owner.Generation++
	must(h.t, h.store.Update(h.t.Context(), owner))
}

// annotate sets an annotation of the thing, as a user does; an empty value removes it.
func (h *hub) annotate(key, value string) {
	h.t.Helper()
	owner := h.thing()
	if value == "" {
		delete(owner.Annotations, key)
	} else {
		metav1.SetMetaDataAnnotation(&owner.ObjectMeta, key, value)
	}
	must(h.t, h.store.Update(h.t.Context(), owner))
}

func (h *hub) thing() *thing {
	h.t.Helper()
	owner := &thing{}
	must(h.t, h.store.Get(h.t.Context(), ownerKey, owner))
	return owner
}

func (h *hub) works() []*workv1.ManifestWork {
	h.t.Helper()
	var works []*workv1.ManifestWork
	for _, o := range h.truth() {
		if work, is := o.(*workv1.ManifestWork); is {
			works = append(works, work.DeepCopy())
		}
	}
	slices.SortFunc(works, func(a, b *workv1.ManifestWork) int {
		return strings.Compare(a.Namespace+"/"+a.Name, b.Namespace+"/"+b.Name)
	})
	return works
}

// work is the only ManifestWork of a cluster; nil if there is none.
func (h *hub) work(cluster string) *workv1.ManifestWork {
	h.t.Helper()
	var found *workv1.ManifestWork
	for _, work := range h.works() {
		if work.Namespace != cluster {
			continue
		}
		if found != nil {
			h.t.Fatalf("%s has the ManifestWorks %s and %s", cluster, found.Name, work.Name)
		}
		found = work
	}
	return found
}

// having are the clusters with a ManifestWork, in order.
func (h *hub) having() string {
	var clusters []string
	for _, work := range h.works() {
		clusters = append(clusters, work.Namespace)
	}
	slices.Sort(clusters)
	return strings.Join(clusters, " ")
}

// answer is an agent's report on a ManifestWork. If the ManifestWork is being deleted, the agent removes its finalizer.
func (h *hub) answer(work *workv1.ManifestWork, works bool) {
	h.t.Helper()
	if work.DeletionTimestamp != nil {
		work.Finalizers = nil
		must(h.t, h.store.Update(h.t.Context(), work))
		return
	}
	said := map[string]bool{workv1.WorkApplied: true, workv1.WorkAvailable: works, workv1.WorkDegraded: !works, workv1.WorkProgressing: !works}
	for kind, is := range said {
		c := metav1.Condition{Type: kind, Status: metav1.ConditionFalse, Reason: "Agent", ObservedGeneration: work.Generation, LastTransitionTime: metav1.NewTime(h.now)}
		if is {
			c.Status = metav1.ConditionTrue
		}
		meta.SetStatusCondition(&work.Status.Conditions, c)
	}
	must(h.t, h.store.Status().Update(h.t.Context(), work))
}

// answerAll has all agents report success.
func (h *hub) answerAll() {
	for _, work := range h.works() {
		h.answer(work, true)
	}
}

// selects writes the decisions of the Placement.
func (h *hub) selects(clusters ...string) {
	h.t.Helper()
	h.selectsBy("fleet", clusters...)
}

// selectsBy writes the decisions of a Placement.
func (h *hub) selectsBy(name string, clusters ...string) {
	h.t.Helper()
	ctx, key := h.t.Context(), types.NamespacedName{Namespace: "apps", Name: name}
	decision := &clusterv1beta1.PlacementDecision{ObjectMeta: metav1.ObjectMeta{
		Namespace: "apps", Name: name + "-decision-1",
		Labels: map[string]string{clusterv1beta1.PlacementLabel: name, clusterv1beta1.DecisionGroupIndexLabel: "0"},
	}}
	if err := h.store.Get(ctx, client.ObjectKeyFromObject(decision), decision); apierrors.IsNotFound(err) {
		h.make(&clusterv1beta1.Placement{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name}}, decision)
	}
	decision.Status.Decisions = nil
	for _, cluster := range clusters {
		decision.Status.Decisions = append(decision.Status.Decisions, clusterv1beta1.ClusterDecision{ClusterName: cluster})
	}
	must(h.t, h.store.Update(ctx, decision))
	placement := &clusterv1beta1.Placement{}
	must(h.t, h.store.Get(ctx, key, placement))
	said, err := grouping.Status([]*clusterv1beta1.PlacementDecision{decision})
	must(h.t, err)
	placement.Status = said
	must(h.t, h.store.Update(ctx, placement))
	for _, cluster := range clusters {
		known := &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: cluster}}
		if err := h.store.Get(ctx, client.ObjectKeyFromObject(known), known); apierrors.IsNotFound(err) {
			h.make(known)
		}
	}
}

func oneAtATime() clusterv1alpha1.RolloutStrategy {
	return clusterv1alpha1.RolloutStrategy{
		Type:        clusterv1alpha1.Progressive,
		Progressive: &clusterv1alpha1.RolloutProgressive{MaxConcurrency: intstr.FromInt32(1)},
	}
}

func newThing(strategy clusterv1alpha1.RolloutStrategy) *thing {
	owner := &thing{ObjectMeta: metav1.ObjectMeta{Namespace: ownerKey.Namespace, Name: ownerKey.Name}}
	owner.Spec = thingSpec{Placement: "fleet", Strategy: strategy, Text: "v1"}
	return owner
}

// process is a process of the controller, with its own caches.
type process struct {
	*reconciler
	cache *lateCache
}

// newProcess starts a process for a kind. Its caches are empty.
func newProcess[O client.Object](h *hub, kind Kind[O]) *process {
	h.t.Helper()
	cache := &lateCache{Client: h.server, hub: h, objects: map[cacheKey]client.Object{}, indexes: map[string]client.IndexerFunc{}}
	of := kindOf(kind)
	gvk, err := apiutil.GVKForObject(of.new(), h.scheme)
	must(h.t, err)
	meters, err := newMetrics(prometheus.NewRegistry(), gvk.GroupKind())
	must(h.t, err)
	r := &reconciler{
		meters: meters,
		kind:   of, gvk: gvk, client: cache, live: h.server, events: h.events,
		now: func() time.Time { return h.now }, begun: newOnce(),
	}
	must(h.t, r.index(h.t.Context(), cache))
	return &process{r, cache}
}

// look reconciles the owner, and returns when it is requeued.
func (p *process) look() time.Duration {
	p.cache.hub.t.Helper()
	result, err := p.Reconcile(p.cache.hub.t.Context(), reconcile.Request{NamespacedName: ownerKey})
	if err != nil {
		p.cache.hub.t.Errorf("the reconciler returns %v, and must return no error", err)
	}
	return result.RequeueAfter
}

// settle updates the caches and reconciles, until nothing is written any more.
func (p *process) settle() {
	p.cache.hub.t.Helper()
	h := p.cache.hub
	for range 50 {
		p.cache.show()
		before := len(h.writes)
		after := p.look()
		h.now = h.now.Add(time.Second)
		if quiet := len(h.writes) == before && !p.cache.late(); quiet && (after == 0 || after >= writes.Patience) {
			return
		}
	}
	h.t.Fatalf("it goes on and on: %v", h.writes)
}

// lateCache is the cache of a process. Writes go to the API server.
type lateCache struct {
	client.Client
	hub     *hub
	objects map[cacheKey]client.Object
	indexes map[string]client.IndexerFunc
}

type cacheKey struct {
	kind string
	types.NamespacedName
}

func (c *lateCache) show() { c.objects = maps.Clone(c.hub.truth()) }

func (c *lateCache) hide(kind string) {
	maps.DeleteFunc(c.objects, func(key cacheKey, _ client.Object) bool { return key.kind == kind })
}

// behind are the objects of which the cache shows a stale state, in order.
func (c *lateCache) behind() []cacheKey {
	var keys []cacheKey
	truth := c.hub.truth()
	for key, o := range truth {
		if had := c.objects[key]; had == nil || had.GetResourceVersion() != o.GetResourceVersion() {
			keys = append(keys, key)
		}
	}
	for key := range c.objects {
		if truth[key] == nil {
			keys = append(keys, key)
		}
	}
	slices.SortFunc(keys, func(a, b cacheKey) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
	return keys
}

func (c *lateCache) late() bool { return len(c.behind()) > 0 }

// showOne updates one object in the cache.
func (c *lateCache) showOne(key cacheKey) {
	if o := c.hub.truth()[key]; o != nil {
		c.objects[key] = o
	} else {
		delete(c.objects, key)
	}
}

func (c *lateCache) IndexField(_ context.Context, _ client.Object, field string, extract client.IndexerFunc) error {
	if c.indexes[field] != nil {
		return fmt.Errorf("the index %s is there already", field)
	}
	c.indexes[field] = extract
	return nil
}

func (c *lateCache) Get(ctx context.Context, key client.ObjectKey, into client.Object, _ ...client.GetOption) error {
	if metadata, is := into.(*metav1.PartialObjectMetadata); is {
		return c.hub.store.Get(ctx, key, metadata) // ManagedClusters
	}
	o := c.objects[cacheKey{c.hub.kindOf(into), key}]
	if o == nil {
		return apierrors.NewNotFound(schema.GroupResource{}, key.Name)
	}
	switch into := into.(type) {
	case *clusterv1beta1.Placement:
		*into = *o.(*clusterv1beta1.Placement)
	default:
		restore(into, o)
	}
	return nil
}

func (c *lateCache) List(_ context.Context, into client.ObjectList, options ...client.ListOption) error {
	var asked client.ListOptions
	asked.ApplyOptions(options)
	var found []runtime.Object
	kind := strings.TrimSuffix(c.hub.kindOf(into), "List")
	for key, o := range c.objects {
		if key.kind == kind && c.matches(o, asked) {
			found = append(found, o)
		}
	}
	return meta.SetList(into, found)
}

func (c *lateCache) matches(o client.Object, asked client.ListOptions) bool {
	if asked.Namespace != "" && asked.Namespace != o.GetNamespace() {
		return false
	}
	if asked.LabelSelector != nil && !asked.LabelSelector.Matches(labels.Set(o.GetLabels())) {
		return false
	}
	if asked.FieldSelector == nil {
		return true
	}
	for _, wanted := range asked.FieldSelector.Requirements() {
		if !slices.Contains(c.indexes[wanted.Field](o), wanted.Value) {
			return false
		}
	}
	return true
}
