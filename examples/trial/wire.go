package trial

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
	toolswatch "k8s.io/client-go/tools/watch"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	workv1 "open-cluster-management.io/api/work/v1"
	workv1alpha1 "open-cluster-management.io/api/work/v1alpha1"
)

// Kind is one of the kinds of objects that take part in a rollout.
type Kind string

const (
	Placements  Kind = "Placement"
	Decisions   Kind = "PlacementDecision"
	ReplicaSets Kind = "ManifestWorkReplicaSet"
	Works       Kind = "ManifestWork"
	AddOns      Kind = "ClusterManagementAddOn"
	OnClusters  Kind = "ManagedClusterAddOn"
	Policies    Kind = "Policy" // root policies, and those that are replicated from them
	PolicySets  Kind = "PolicySet"
	Bindings    Kind = "PlacementBinding"

	managedClusters Kind = "ManagedCluster" // no cache has them: they tell a trace who was given up
)

// kinds are those that every hub has, and policyKinds those of a hub with the policy API.
var (
	kinds       = []Kind{Placements, Decisions, ReplicaSets, Works, AddOns, OnClusters}
	policyKinds = []Kind{Policies, PolicySets, Bindings}
)

// resources are the kinds by the names that stand in paths.
var resources = map[string]Kind{
	"manifestworkreplicasets": ReplicaSets, "manifestworks": Works,
	"clustermanagementaddons": AddOns, "managedclusteraddons": OnClusters,
	"policies": Policies, "policysets": PolicySets, "placementbindings": Bindings,
}

// An id is of an object: its kind and its namespace/name.
type id struct {
	kind Kind
	key  string
}

func (i id) String() string { return string(i.kind) + " " + i.key }

func (i id) compare(other id) int {
	return cmp.Or(cmp.Compare(i.kind, other.kind), cmp.Compare(i.key, other.key))
}

// object is any of them.
type object interface {
	metav1.Object
	runtime.Object
}

// An event is one write, as a watch showed it. Resource versions come from one etcd, so they order the writes of all
// kinds.
type event struct {
	rv     int64
	id     id
	object object // as it was last, if it is gone
	gone   bool
	at     time.Time // when it was received
}

func versionOf(o metav1.Object) int64 {
	rv, err := strconv.ParseInt(o.GetResourceVersion(), 10, 64)
	if err != nil {
		panic(fmt.Sprintf("resourceVersion %q", o.GetResourceVersion()))
	}
	return rv
}

// wire watches everything and hands it to the rollout that it belongs to, which is the first part of its namespace.
type wire struct {
	ctx  context.Context // ends with it
	stop context.CancelFunc

	mu       sync.Mutex
	rollouts map[string]func(event)
	all      func(event) // if set, it has everything
}

// connect begins to watch. The server has no objects yet.
func connect(h *Hub) (*wire, error) {
	ctx, cancel := context.WithCancel(context.Background())
	w := &wire{ctx: ctx, stop: cancel, rollouts: map[string]func(event){}}
	c := h.clients("watch")
	for _, k := range append(slices.Clone(h.kinds()), managedClusters) {
		watcher, list := watcherOf(c, k)
		rv, err := list(ctx)
		if err != nil {
			cancel()
			return nil, err
		}
		events, err := toolswatch.NewRetryWatcherWithContext(ctx, rv, watcher)
		if err != nil {
			cancel()
			return nil, err
		}
		go func() {
			for e := range events.ResultChan() {
				if o, ok := e.Object.(object); ok && e.Type != watch.Bookmark {
					w.hand(event{versionOf(o), id{k, cache.MetaObjectToName(o).String()}, o, e.Type == watch.Deleted, time.Now()})
				}
			}
		}()
	}
	return w, nil
}

func watcherOf(c clients, k Kind) (cache.WatcherWithContext, func(context.Context) (string, error)) {
	var w func(context.Context, metav1.ListOptions) (watch.Interface, error)
	var l func(context.Context, metav1.ListOptions) (metav1.ListInterface, error)
	switch k {
	case managedClusters:
		api := c.cluster.ClusterV1().ManagedClusters()
		w, l = api.Watch, func(ctx context.Context, o metav1.ListOptions) (metav1.ListInterface, error) { return api.List(ctx, o) }
	case Placements:
		api := c.cluster.ClusterV1beta1().Placements("")
		w, l = api.Watch, func(ctx context.Context, o metav1.ListOptions) (metav1.ListInterface, error) { return api.List(ctx, o) }
	case Decisions:
		api := c.cluster.ClusterV1beta1().PlacementDecisions("")
		w, l = api.Watch, func(ctx context.Context, o metav1.ListOptions) (metav1.ListInterface, error) { return api.List(ctx, o) }
	case ReplicaSets:
		api := c.work.WorkV1alpha1().ManifestWorkReplicaSets("")
		w, l = api.Watch, func(ctx context.Context, o metav1.ListOptions) (metav1.ListInterface, error) { return api.List(ctx, o) }
	case Works:
		api := c.work.WorkV1().ManifestWorks("")
		w, l = api.Watch, func(ctx context.Context, o metav1.ListOptions) (metav1.ListInterface, error) { return api.List(ctx, o) }
	case AddOns:
		api := c.addOn.AddonV1beta1().ClusterManagementAddOns()
		w, l = api.Watch, func(ctx context.Context, o metav1.ListOptions) (metav1.ListInterface, error) { return api.List(ctx, o) }
	case OnClusters:
		api := c.addOn.AddonV1beta1().ManagedClusterAddOns("")
		w, l = api.Watch, func(ctx context.Context, o metav1.ListOptions) (metav1.ListInterface, error) { return api.List(ctx, o) }
	default:
		api := c.any.Resource(policyResource(k))
		w, l = api.Watch, func(ctx context.Context, o metav1.ListOptions) (metav1.ListInterface, error) { return api.List(ctx, o) }
	}
	watcher := &cache.ListWatch{WatchFuncWithContext: w}
	return watcher, func(ctx context.Context) (string, error) {
		all, err := l(ctx, metav1.ListOptions{})
		if err != nil {
			return "", err
		}
		return all.GetResourceVersion(), nil
	}
}

// join has the events of a rollout handed to feed, which must be quick; leave ends it.
func (w *wire) join(rollout string, feed func(event)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.rollouts[rollout] = feed
}

func (w *wire) leave(rollout string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.rollouts, rollout)
}

func (w *wire) hand(e event) {
	rollout, _, _ := strings.Cut(cmp.Or(e.object.GetNamespace(), e.object.GetName()), "-")
	w.mu.Lock()
	feed := w.rollouts[rollout]
	if w.all != nil {
		w.all(e)
	}
	w.mu.Unlock()
	if feed != nil {
		feed(e)
	}
}

// The library's and the API's words for the objects of a rollout.
type (
	placement         = clusterv1beta1.Placement
	placementDecision = clusterv1beta1.PlacementDecision
	replicaSet        = workv1alpha1.ManifestWorkReplicaSet
	manifestWork      = workv1.ManifestWork
)
