package main

import (
	"context"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/rest"
	toolscache "k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/events"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	workv1alpha1 "open-cluster-management.io/api/work/v1alpha1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/cohort-ocm/cohort/examples/controllers/accounts"
	"github.com/cohort-ocm/cohort/examples/controllers/kit"
	"github.com/cohort-ocm/cohort/examples/controllers/kit/manager"
	"github.com/cohort-ocm/cohort/examples/trial/hubs"
	"github.com/cohort-ocm/cohort/rollout/rights"
)

// TestHubs proves this controller, as it is shipped, on three API servers: two hubs and a hub of hubs, with a network between them that
// cuts, delays and doubles. See the page of package trial/hubs.
//
//	go test ./works -run TestHubs/Rollouts -hub-rollouts=100 -v -timeout=0
//	go test ./works -run TestHubs/EachDuty -v
func TestHubs(t *testing.T) {
	ctrl.SetLogger(logr.Discard())
	h, err := hubs.Start("../accounts/crds/accounts.yaml")
	if err != nil {
		t.Fatal(err)
	}
	defer h.Stop()
	subject := &hubs.Subject{Hub: onHub, HubOfHubs: onHubOfHubs, Annotation: accounts.HubsAnnotation}
	t.Run("Rollouts", func(t *testing.T) { h.Rollouts(t, subject) })
	t.Run("EachDuty", func(t *testing.T) {
		if testing.Short() {
			t.Skip("some minutes")
		}
		h.EachDuty(t, subject, hubs.Duties...)
	})
}

var timing = rights.Timing{Lease: hubs.Lease, ClockError: hubs.ClockError, SlowestWrite: hubs.SlowestWrite, Every: hubs.Every}

// managerOf is a manager with real informers of one rollout.
func managerOf(p *hubs.Process, options ctrl.Options) (ctrl.Manager, error) {
	skip := true
	options.Logger, options.Metrics = logr.Discard(), metricsserver.Options{BindAddress: "0"}
	options.MapperProvider = func(*rest.Config, *http.Client) (meta.RESTMapper, error) { return mapper(), nil }
	options.Controller = config.Controller{SkipNameValidation: &skip}
	return ctrl.NewManager(p.Config, options)
}

func onHub(ctx context.Context, p *hubs.Process) error {
	here := cache.ByObject{Field: fields.OneTermEqualSelector("metadata.namespace", p.Set.Namespace)}
	m, err := managerOf(p, ctrl.Options{Scheme: scheme, Cache: cache.Options{ByObject: map[client.Object]cache.ByObject{
		&replicaSet{}: here, &clusterv1beta1.Placement{}: here, &clusterv1beta1.PlacementDecision{}: here,
		&work{}: {Label: labels.SelectorFromSet(labels.Set{kit.OwnerLabel: p.Set.Namespace + "." + p.Set.Name})},
	}}})
	if err != nil {
		return err
	}
	c, err := newController(ctx, m, newTeller(&events.FakeRecorder{}, prometheus.NewRegistry()), grace)
	if err == nil {
		err = (&accounts.Options{Hub: p.Hub, Config: p.HubOfHubs, Timing: timing, Now: p.Now}).Join(m, &c.rights)
	}
	if err == nil {
		err = ignoreOnHub(ctx, c, p)
	}
	if err == nil {
		err = c.watch(m, 4, c)
	}
	if err != nil {
		return err
	}
	return m.Start(ctx)
}

func onHubOfHubs(ctx context.Context, p *hubs.Process) error {
	scheme := manager.Scheme(workv1alpha1.Install, accounts.Install)
	of := labels.SelectorFromSet(labels.Set{"cohort.open-cluster-management.io/rollout": p.Set.Namespace + "." + p.Set.Name})
	m, err := managerOf(p, ctrl.Options{Scheme: scheme, Cache: cache.Options{ByObject: map[client.Object]cache.ByObject{
		&replicaSet{}: {Field: fields.OneTermEqualSelector("metadata.namespace", p.Set.Namespace)}, &accounts.Account{}: {Label: of},
	}}})
	if err != nil {
		return err
	}
	live, err := client.New(p.Config, client.Options{Scheme: scheme, Mapper: mapper()})
	if err != nil {
		return err
	}
	d := &accounts.Divider{Client: ignoreOnHubOfHubs(live, p), Timing: timing, Now: p.Now}
	if err := accounts.Watch(m, 4, d); err != nil {
		return err
	}
	return m.Start(ctx)
}

// ignoreOnHub has a hub ignore a duty, from outside.
func ignoreOnHub(ctx context.Context, c *controller, p *hubs.Process) error {
	switch h := c.rights; p.Ignored {
	case hubs.DutyBegin:
		return c.begun.Do(func() error { return c.takeOver(ctx) })
	case hubs.DutyExpiry:
		h.Now = func() time.Time { return p.Now().Add(-time.Hour) }
	case hubs.DutyInTime:
		c.client = sleepy{c.client}
	case hubs.DutyShown, hubs.DutyCount:
		l := &liar{Indexer: h.Store, duty: p.Ignored, meant: map[string]rights.Report{}}
		h.Client, h.Store = reporter{h.Client, l}, l
	case hubs.DutyAccount:
		c.rights = nil
	}
	return nil
}

// sleepy takes its time before it starts a cluster.
type sleepy struct{ client.Client }

func (s sleepy) Create(ctx context.Context, o client.Object, options ...client.CreateOption) error {
	time.Sleep(2 * hubs.SlowestWrite)
	return s.Client.Create(ctx, o, options...)
}

// liar shows a hub the account with the report that it meant to write.
type liar struct {
	toolscache.Indexer
	duty  hubs.Duty
	mu    sync.Mutex
	meant map[string]rights.Report
}

func (l *liar) GetByKey(key string) (any, bool, error) {
	o, is, err := l.Indexer.GetByKey(key)
	if !is || err != nil {
		return o, is, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	a := *o.(*accounts.Account)
	meant, sent := l.meant[a.Name]
	if sent && (l.duty == hubs.DutyShown || meant.Number == a.Status.Number) {
		a.Status = meant
	}
	return &a, is, err
}

// reporter writes less than was meant, or not at once.
type reporter struct {
	client.Client
	liar *liar
}

func (r reporter) Status() client.SubResourceWriter { return lying{r.Client.Status(), r.liar} }

type lying struct {
	client.SubResourceWriter
	liar *liar
}

func (l lying) Update(ctx context.Context, o client.Object, options ...client.SubResourceUpdateOption) error {
	a := o.(*accounts.Account)
	l.liar.mu.Lock()
	l.liar.meant[a.Name] = a.Status
	l.liar.mu.Unlock()
	switch l.liar.duty {
	case hubs.DutyCount:
		a.Status.Taken.Start, a.Status.InFlight = max(0, a.Status.Taken.Start-a.Status.InFlight), 0
	case hubs.DutyShown:
		time.Sleep(2 * time.Second)
	}
	return l.SubResourceWriter.Update(ctx, a, options...)
}

// ignoreOnHubOfHubs has the hub of hubs ignore a duty, from outside.
func ignoreOnHubOfHubs(c client.Client, p *hubs.Process) client.Client {
	switch p.Ignored {
	case hubs.DutyReadBack, hubs.DutyFinalizer, hubs.DutyTaken:
		return &forgetful{Client: c, duty: p.Ignored, granted: map[string]rights.Grant{}}
	}
	return c
}

// forgetful reads and writes something else than the hub of hubs means.
type forgetful struct {
	client.Client
	duty    hubs.Duty
	granted map[string]rights.Grant // what was lowered, and not stored
}

func (f *forgetful) List(ctx context.Context, list client.ObjectList, options ...client.ListOption) error {
	err := f.Client.List(ctx, list, options...)
	if all, is := list.(*accounts.AccountList); is {
		for i := range all.Items {
			a := &all.Items[i]
			if f.duty == hubs.DutyTaken {
				a.Status.Taken = a.Spec.Grant.Rights
				a.Status.Taken.Start = 0
			}
			if g := f.granted[a.Namespace+a.Name]; g.Number > a.Spec.Grant.Number {
				a.Spec.Grant = g
			}
		}
	}
	return err
}

func (f *forgetful) Create(ctx context.Context, o client.Object, options ...client.CreateOption) error {
	if f.duty == hubs.DutyFinalizer {
		o.SetFinalizers(nil)
	}
	return f.Client.Create(ctx, o, options...)
}

func (f *forgetful) Update(ctx context.Context, o client.Object, options ...client.UpdateOption) error {
	if a, is := o.(*accounts.Account); is && f.duty == hubs.DutyReadBack {
		var there accounts.Account
		if err := f.Client.Get(ctx, client.ObjectKeyFromObject(a), &there); err != nil {
			return err
		}
		if a.Spec.Grant.Start < there.Spec.Grant.Start {
			f.granted[a.Namespace+a.Name] = a.Spec.Grant
			return nil
		}
	}
	return f.Client.Update(ctx, o, options...)
}
