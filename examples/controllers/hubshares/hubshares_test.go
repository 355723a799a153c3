// SPDX-License-Identifier: Apache-2.0

package hubshares

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
	toolscache "k8s.io/client-go/tools/cache"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"
	workv1 "open-cluster-management.io/api/work/v1"
	workv1alpha1 "open-cluster-management.io/api/work/v1alpha1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/rollout/shares"
	"github.com/cohort-ocm/cohort/rollout/writes"
	"github.com/cohort-ocm/cohort/status"
)

var epoch = time.Date(2026, 1, 2, 10, 0, 0, 0, time.UTC)

// world is a coordinator hub, and hubs with their clusters.
type world struct {
	t       *testing.T
	now     time.Time
	api     client.WithWatch // of the coordinator hub
	divider *Divider
	set     *workv1alpha1.ManifestWorkReplicaSet
	hubs    map[string]*Hub
	groups  map[string]*grouping.Groups
	reports map[string][]status.Report
	started map[string][]string
}

func newWorld(t *testing.T, limit int, clusters map[string][]string) *world {
	w := &world{t: t, now: epoch, hubs: map[string]*Hub{}, groups: map[string]*grouping.Groups{}, reports: map[string][]status.Report{}, started: map[string][]string{}}
	scheme := runtime.NewScheme()
	w.must(Install(scheme), workv1alpha1.Install(scheme))
	w.api = fake.NewClientBuilder().WithScheme(scheme).WithStatusSubresource(&Account{}, &workv1alpha1.ManifestWorkReplicaSet{}).Build()
	timing := shares.Timing{Lease: 10 * time.Minute, ClockError: 5 * time.Second, SlowestWrite: time.Minute, Every: 10 * time.Second}
	w.divider = &Divider{Client: w.api, Timing: timing, Now: func() time.Time { return w.now }}
	var names []string
	for hub, of := range clusters {
		names = append(names, hub)
		groups, err := grouping.FromNames(map[grouping.Key][]string{{}: of})
		w.must(err)
		w.groups[hub] = groups
		w.hubs[hub] = &Hub{Name: hub, Timing: timing, Now: func() time.Time { return w.now }, Client: w.api,
			Store: toolscache.NewIndexer(toolscache.MetaNamespaceKeyFunc, nil), Sets: w.api}
	}
	slices.Sort(names)
	w.set = &workv1alpha1.ManifestWorkReplicaSet{ObjectMeta: metav1.ObjectMeta{
		Namespace: "apps", Name: "web", Annotations: map[string]string{HubsAnnotation: strings.Join(names, ", ")},
	}}
	w.set.Spec.PlacementRefs = []workv1alpha1.LocalPlacementReference{{Name: "all", RolloutStrategy: clusterv1alpha1.RolloutStrategy{
		Type: clusterv1alpha1.Progressive, Progressive: &clusterv1alpha1.RolloutProgressive{MaxConcurrency: intstr.FromInt32(int32(limit))},
	}}}
	w.must(w.api.Create(t.Context(), w.set))
	return w
}

func (w *world) must(errs ...error) {
	w.t.Helper()
	for _, err := range errs {
		if err != nil {
			w.t.Fatal(err)
		}
	}
}

// divide reconciles on the coordinator hub.
func (w *world) divide() {
	w.t.Helper()
	w.now = w.now.Add(w.divider.Timing.Every)
	_, err := w.divider.Reconcile(w.t.Context(), reconcile.Request{NamespacedName: client.ObjectKeyFromObject(w.set)})
	w.must(err)
}

// see updates the store of a hub.
func (w *world) see(hub string) {
	w.t.Helper()
	var list AccountList
	w.must(w.api.List(w.t.Context(), &list, client.InNamespace(hub)))
	var all []any
	for i := range list.Items {
		all = append(all, &list.Items[i])
	}
	w.must(w.hubs[hub].Store.Replace(all, ""))
}

// plan makes a hub plan and start, and waits until its report is answered. It returns the started clusters.
func (w *world) plan(hub string) (starts []string) {
	w.t.Helper()
	h := w.hubs[hub]
	version := writes.VersionOf(w.set.Spec.ManifestWorkTemplate)
	result, err := h.Plan(plain{}, w.set, w.set.Spec.PlacementRefs[0], w.groups[hub], nil, w.reports[hub], w.now, rollout.Options{StoredRecord: &rollout.StoredRecord{Version: version}})
	w.must(err)
	for _, c := range result.Start {
		starts = append(starts, c.Name)
		w.reports[hub] = append(w.reports[hub], status.Report{Cluster: c.Name, Status: status.Progressing})
	}
	w.started[hub] = append(w.started[hub], starts...)
	w.settle(h)
	return starts
}

// settle waits for reports in transit.
func (w *world) settle(h *Hub) {
	w.t.Helper()
	for end := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
		h.mu.Lock()
		sending := false
		for _, r := range h.rollouts {
			sending = sending || r.sending
		}
		h.mu.Unlock()
		if !sending {
			return
		}
		if time.Now().After(end) {
			w.t.Fatal("a report is not answered")
		}
	}
}

// round reconciles on all hubs, one after the other.
func (w *world) round() {
	w.t.Helper()
	w.divide()
	for _, hub := range []string{"hub-eu", "hub-us"} {
		if w.hubs[hub] != nil {
			w.see(hub)
			w.plan(hub)
		}
	}
}

func (w *world) account(hub string) *Account {
	w.t.Helper()
	var list AccountList
	w.must(w.api.List(w.t.Context(), &list, client.InNamespace(hub)))
	if len(list.Items) != 1 {
		w.t.Fatalf("%s has %d accounts", hub, len(list.Items))
	}
	return &list.Items[0]
}

func (w *world) condition() metav1.Condition {
	w.t.Helper()
	var set workv1alpha1.ManifestWorkReplicaSet
	w.must(w.api.Get(w.t.Context(), client.ObjectKeyFromObject(w.set), &set))
	if c := meta.FindStatusCondition(set.Status.Conditions, Divided); c != nil {
		return *c
	}
	return metav1.Condition{}
}

// change changes the set on all hubs.
func (w *world) change(do func(*workv1alpha1.ManifestWorkReplicaSet)) {
	w.t.Helper()
	w.must(w.api.Get(w.t.Context(), client.ObjectKeyFromObject(w.set), w.set))
	do(w.set)
	w.must(w.api.Update(w.t.Context(), w.set))
}

func clusters(prefix string, n int) (names []string) {
	for i := range n {
		names = append(names, fmt.Sprintf("%s%d", prefix, i))
	}
	return names
}

// Two hubs share three slots. No cluster starts before its hub has taken a share, and all slots are used in the end. The
// condition says which hub waits for what.
func TestTwoHubsShareALimit(t *testing.T) {
	w := newWorld(t, 3, map[string][]string{"hub-eu": clusters("e", 4), "hub-us": clusters("u", 4)})
	for _, hub := range []string{"hub-eu", "hub-us"} {
		if starts := w.plan(hub); len(starts) > 0 {
			t.Errorf("%s has no account, and starts %v", hub, starts)
		}
	}
	for range 6 {
		w.round()
		if n := len(w.started["hub-eu"]) + len(w.started["hub-us"]); n > 3 {
			t.Fatalf("%d are in flight", n)
		}
	}
	if n := len(w.started["hub-eu"]) + len(w.started["hub-us"]); n != 3 {
		t.Errorf("%d are in flight, want 3", n)
	}
	if c := w.condition(); c.Status != metav1.ConditionTrue || !strings.Contains(c.Message, "placement all, hub-us: blocked: ") || !strings.Contains(c.Message, "; asked at 2026-01-02T10:") {
		t.Errorf("the condition is %+v", c)
	}
	for _, hub := range []string{"hub-eu", "hub-us"} {
		a := w.account(hub)
		if a.Status.Taken.Concurrency != len(w.started[hub]) || a.Spec.Rollout.Placement != "all" {
			t.Errorf("%s starts %v, and its account is %+v %+v", hub, w.started[hub], a.Spec, a.Status)
		}
	}
}

// A strategy that cannot be divided is reported, and nothing starts. Granted shares are reclaimed.
func TestStrategyThatCannotBeDivided(t *testing.T) {
	w := newWorld(t, 2, map[string][]string{"hub-eu": clusters("e", 4)})
	for range 4 {
		w.round()
	}
	w.change(func(set *workv1alpha1.ManifestWorkReplicaSet) {
		set.Spec.PlacementRefs[0].RolloutStrategy.Progressive.MandatoryDecisionGroups.MandatoryDecisionGroups = []clusterv1alpha1.MandatoryDecisionGroup{{GroupName: "canary"}}
	})
	w.divide()
	if c := w.condition(); c.Status != metav1.ConditionFalse || !strings.Contains(c.Message, "placement all: progressive.mandatoryDecisionGroups: ") {
		t.Errorf("the condition is %+v", c)
	}
	if a := w.account("hub-eu"); a.Spec.Grant.Concurrency != 0 {
		t.Errorf("the grant is %+v", a.Spec.Grant)
	}
}

// Another version is another rollout. The accounts of the version before are deleted once each hub has reported that it
// does not have it any more.
func TestAnotherVersion(t *testing.T) {
	w := newWorld(t, 2, map[string][]string{"hub-eu": clusters("e", 4)})
	for range 4 {
		w.round()
	}
	before := w.account("hub-eu").Name
	w.change(func(set *workv1alpha1.ManifestWorkReplicaSet) {
		set.Spec.ManifestWorkTemplate.Workload.Manifests = []workv1.Manifest{{RawExtension: runtime.RawExtension{Raw: []byte(`{"kind":"ConfigMap","apiVersion":"v1"}`)}}}
	})
	h, ctx := w.hubs["hub-eu"], t.Context()
	for range 3 {
		w.divide()
		w.see("hub-eu")
		h.sweep(ctx) // too early: a write of it may be in transit
	}
	if held := w.stored("hub-eu", before); held.Status.Taken.Concurrency != 2 {
		t.Errorf("it gave back %+v", held.Status)
	}
	w.now = w.now.Add(h.Timing.SlowestWrite)
	for range 3 {
		w.see("hub-eu")
		h.sweep(ctx)
		w.settle(h)
		w.divide()
	}
	if a := w.account("hub-eu"); a.Name == before || a.Spec.Rollout.Version != writes.VersionOf(w.set.Spec.ManifestWorkTemplate) {
		t.Errorf("there is the account %s of version %s", a.Name, a.Spec.Rollout.Version)
	}
}

func (w *world) stored(hub, name string) *Account {
	w.t.Helper()
	a := &Account{}
	w.must(w.api.Get(w.t.Context(), client.ObjectKey{Namespace: hub, Name: name}, a))
	return a
}

// The account of a hub that was removed stays as long as it has shares, and so does an account that a user deletes.
func TestAccountsStayWhileTheyHaveShares(t *testing.T) {
	w := newWorld(t, 4, map[string][]string{"hub-eu": clusters("e", 2), "hub-us": clusters("u", 2)})
	for range 6 {
		w.round()
	}
	w.must(w.api.Delete(t.Context(), w.account("hub-eu")))
	w.change(func(set *workv1alpha1.ManifestWorkReplicaSet) { set.Annotations[HubsAnnotation] = "hub-eu" })
	w.round()
	if eu, us := w.account("hub-eu"), w.account("hub-us"); eu.Status.Taken.Concurrency != 2 || us.Status.Taken.Concurrency != 2 {
		t.Errorf("the accounts are %+v and %+v", eu.Status, us.Status)
	}
	for hub, reports := range w.reports {
		for i := range reports {
			w.reports[hub][i].Status = status.Succeeded
		}
	}
	for range 4 {
		w.round()
	}
	var left AccountList
	w.must(w.api.List(t.Context(), &left, client.InNamespace("hub-us")))
	if len(left.Items) != 0 {
		t.Errorf("hub-us has the account %+v", left.Items)
	}
}

// A hub that is cut off from the coordinator hub goes on planning with the shares that it has taken, until they expire. It
// waits for no answer.
func TestHubThatIsCutOff(t *testing.T) {
	w := newWorld(t, 2, map[string][]string{"hub-eu": clusters("e", 6)})
	for range 4 {
		w.round()
	}
	h, release := w.hubs["hub-eu"], make(chan struct{})
	defer close(release)
	h.Client = hanging{w.api, release}
	for i := range w.reports["hub-eu"] {
		w.reports["hub-eu"][i].Status = status.Succeeded
	}
	version := writes.VersionOf(w.set.Spec.ManifestWorkTemplate)
	result, err := h.Plan(plain{}, w.set, w.set.Spec.PlacementRefs[0], w.groups["hub-eu"], nil, w.reports["hub-eu"], w.now, rollout.Options{StoredRecord: &rollout.StoredRecord{Version: version}})
	w.must(err)
	if len(result.Start) != 2 {
		t.Errorf("it starts %v", result.Start)
	}
	end := w.stored("hub-eu", w.account("hub-eu").Name).Spec.Grant.Expires.Add(-h.Timing.ClockError - h.Timing.SlowestWrite)
	if result.RecheckAfter <= 0 || result.RecheckAfter > end.Sub(w.now) {
		t.Errorf("it looks again after %v, and its shares end after %v", result.RecheckAfter, end.Sub(w.now))
	}
	w.now = end
	if result, err = h.Plan(plain{}, w.set, w.set.Spec.PlacementRefs[0], w.groups["hub-eu"], nil, w.reports["hub-eu"], w.now, rollout.Options{StoredRecord: &rollout.StoredRecord{Version: version}}); err != nil || len(result.Start) > 0 {
		t.Errorf("its shares have expired, and it starts %v, %v", result.Start, err)
	}
}

type hanging struct {
	client.Client
	until chan struct{}
}

func (h hanging) Status() client.SubResourceWriter { return hangs{h.Client.Status(), h.until} }

type hangs struct {
	client.SubResourceWriter
	until chan struct{}
}

func (h hangs) Update(ctx context.Context, o client.Object, options ...client.SubResourceUpdateOption) error {
	<-h.until
	return ctx.Err()
}

// The writes of a plan may begin only during half of SlowestWrite.
func TestInTime(t *testing.T) {
	w := newWorld(t, 2, map[string][]string{"hub-eu": clusters("e", 2)})
	w.plan("hub-eu")
	now := func(set *workv1alpha1.ManifestWorkReplicaSet) (metav1.Object, error) { return set, nil }
	h := w.hubs["hub-eu"]
	w.now = w.now.Add(h.Timing.SlowestWrite/2 - 1)
	if _, err := h.InTime(w.set, now); err != nil {
		t.Error(err)
	}
	w.now = w.now.Add(1)
	if _, err := h.InTime(w.set, now); err == nil {
		t.Error("it goes on by an old plan")
	}
	alone := w.set.DeepCopy()
	delete(alone.Annotations, HubsAnnotation)
	if _, err := h.InTime(alone, now); err != nil {
		t.Errorf("it shares nothing: %v", err)
	}
}

// A set that is not shared is planned as without hubs, and so is each set without a coordinator hub.
func TestSetThatIsNotShared(t *testing.T) {
	w := newWorld(t, 2, map[string][]string{"hub-eu": clusters("e", 4)})
	alone := w.set.DeepCopy()
	delete(alone.Annotations, HubsAnnotation)
	for _, tt := range []struct {
		name string
		hub  *Hub
		set  *workv1alpha1.ManifestWorkReplicaSet
	}{{"no hub", nil, w.set}, {"not shared", w.hubs["hub-eu"], alone}} {
		result, err := tt.hub.Plan(plain{}, tt.set, tt.set.Spec.PlacementRefs[0], w.groups["hub-eu"], nil, nil, w.now, rollout.Options{StoredRecord: &rollout.StoredRecord{Version: "1"}})
		if err != nil || len(result.Start) != 2 {
			t.Errorf("%s: %v, %v", tt.name, result, err)
		}
	}
}

// A rollback needs no shares: it plans another version than the set wants.
func TestRollbackNeedsNoShares(t *testing.T) {
	w := newWorld(t, 2, map[string][]string{"hub-eu": clusters("e", 4)})
	result, err := w.hubs["hub-eu"].Plan(plain{}, w.set, w.set.Spec.PlacementRefs[0], w.groups["hub-eu"], nil, nil, w.now, rollout.Options{StoredRecord: &rollout.StoredRecord{Version: "before"}})
	if err != nil || len(result.Start) != 2 {
		t.Errorf("%v, %v", result, err)
	}
}

type plain struct{}

func (plain) Plan(
	ref workv1alpha1.LocalPlacementReference, groups *grouping.Groups, _ []*workv1.ManifestWork, reports []status.Report,
	now time.Time, options rollout.Options,
) (*rollout.Result, error) {
	return rollout.Plan(ref.RolloutStrategy, groups, reports, now, options)
}

// Names of accounts are unique for each rollout, and valid.
func TestNamesOfAccounts(t *testing.T) {
	long := strings.Repeat("x", 250)
	seen := map[string]bool{}
	for _, r := range []Rollout{
		{"a", "b-c", "d", "1"}, {"a", "b", "c-d", "1"}, {"a-b", "c", "d", "1"}, {"a", "b-c", "d", "2"}, {"a", long, long, "1"}, {"a", long, long + "y", "1"},
	} {
		name := r.object()
		if seen[name] || len(name) > 253 {
			t.Errorf("%+v has the name %s", r, name)
		}
		seen[name] = true
	}
}
