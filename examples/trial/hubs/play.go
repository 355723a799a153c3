package hubs

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	workv1 "open-cluster-management.io/api/work/v1"
	workv1alpha1 "open-cluster-management.io/api/work/v1alpha1"

	"github.com/cohort-ocm/cohort/grouping"
)

// player plays one rollout over the two hubs.
type player struct {
	*world
	hubs    *Hubs
	subject *Subject
	clients [servers]clients
	nets    [2]network // between each hub and the hub of hubs
	judge   judge
	counts  counts
	version string
	lives   atomic.Int64
	ends    [servers]chan struct{} // an event has the process end
	fault   atomic.Value           // a process's error
	healed  chan struct{}
	agents  sync.WaitGroup
	ctx     context.Context
	pieces  map[string]int64 // by cluster: the generation that its agent takes
	mu      sync.Mutex
}

const setName, placementName = "web", "all"

// outcome is what came of a rollout.
type outcome struct {
	violations []string
	stuck      string
	starts     int
	lives      int64
	lasted     time.Duration
	counts     *counts
}

// play plays one rollout.
func (h *Hubs) play(ctx context.Context, s *Subject, w *world) (out outcome, err error) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	p := &player{world: w, hubs: h, subject: s, version: "1", healed: make(chan struct{}), ctx: ctx, pieces: map[string]int64{}}
	p.judge.stands = map[string]*stand{}
	for i := range p.clients {
		p.clients[i], p.ends[i] = h.clients(i), make(chan struct{}, 1)
	}
	for i, wire := range h.wires {
		wire.tell(w.name, func(work *workv1.ManifestWork, at time.Time) { p.show(i, work, at) })
		defer wire.tell(w.name, nil)
	}
	if err := p.begin(); err != nil {
		return out, err
	}
	began := time.Now()
	var processes sync.WaitGroup
	for i := range servers {
		processes.Go(func() { p.keep(ctx, i) })
	}
	most := p.mostClusters()
	err = p.carryOut()
	for i := range p.nets {
		p.nets[i].isCut.Store(false)
	}
	close(p.healed)
	patience := 2 * time.Minute
	if w.ignored != "" {
		patience = 15 * time.Second // for a violation: it need not end
	}
	if out.stuck = p.await(patience); out.stuck != "" {
		out.stuck += p.standing()
	}
	out.lasted = time.Since(began)
	stop()
	processes.Wait()
	p.agents.Wait()
	inFlight, exposed := w.most(most + p.joined())
	out.violations, out.starts, out.lives, out.counts = p.judge.violations(inFlight, exposed), p.judge.starts(), p.lives.Load(), &p.counts
	if fault, is := p.fault.Load().(string); is && err == nil && out.stuck != "" {
		out.stuck += "; a process ended by itself: " + fault
	}
	return out, err
}

func (p *player) mostClusters() int { return len(p.clusters[eu]) + len(p.clusters[us]) }

// joined is how many clusters have joined meanwhile.
func (p *player) joined() (n int) {
	for _, a := range p.script {
		if a.what == joins {
			n++
		}
	}
	return n
}

func (p *player) deadline() time.Duration {
	d, _ := time.ParseDuration(p.strategy.ProgressDeadline) // none is 0
	return d
}

// await waits until all clusters have the version, and says whom it waited for in vain.
func (p *player) await(most time.Duration) (waits string) {
	for end := time.Now().Add(most); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		if waits = p.judge.isDone(slices.Concat(p.clusters[eu], p.clusters[us]), p.version); waits == "" {
			return ""
		}
	}
	return fmt.Sprintf("%s waits in vain for version %s", waits, p.version)
}

// standing is what the accounts and the hub of hubs say.
func (p *player) standing() string {
	var text strings.Builder
	fmt.Fprintf(&text, " at %s", time.Now().UTC().Format("15:04:05"))
	for hub := range p.clusters {
		_ = p.accounts(hub, func(_ accountsClient, account *unstructured.Unstructured) error {
			said, err := json.Marshal(map[string]any{"spec": account.Object["spec"], "status": account.Object["status"]})
			fmt.Fprintf(&text, "\n\t%s %s", account.GetNamespace(), said)
			return err
		})
	}
	if set, err := p.clients[hubOfHubs].work.WorkV1alpha1().ManifestWorkReplicaSets(p.name).Get(p.ctx, setName, metav1.GetOptions{}); err == nil {
		for _, c := range set.Status.Conditions {
			fmt.Fprintf(&text, "\n\t%s: %s", c.Type, c.Message)
		}
	}
	return text.String()
}

// begin makes the objects.
func (p *player) begin() error {
	for i := range p.clusters {
		if err := p.place(i); err != nil {
			return err
		}
	}
	for i := range servers {
		set := &workv1alpha1.ManifestWorkReplicaSet{ObjectMeta: metav1.ObjectMeta{
			Namespace: p.name, Name: setName, Annotations: map[string]string{p.subject.Annotation: p.hub(eu) + "," + p.hub(us)},
		}}
		set.Spec.PlacementRefs = []workv1alpha1.LocalPlacementReference{{Name: placementName, RolloutStrategy: p.rolloutStrategy()}}
		set.Spec.ManifestWorkTemplate = template(p.version)
		if _, err := p.clients[i].work.WorkV1alpha1().ManifestWorkReplicaSets(p.name).Create(p.ctx, set, metav1.CreateOptions{}); err != nil {
			return err
		}
	}
	return nil
}

func (p *player) rolloutStrategy() clusterv1alpha1.RolloutStrategy {
	return clusterv1alpha1.RolloutStrategy{Type: clusterv1alpha1.Progressive, Progressive: p.strategy.DeepCopy()}
}

func template(version string) workv1.ManifestWorkSpec {
	raw := fmt.Sprintf(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"it","namespace":"default"},"data":{"version":%q}}`, version)
	return workv1.ManifestWorkSpec{Workload: workv1.ManifestsTemplate{Manifests: []workv1.Manifest{{RawExtension: runtime.RawExtension{Raw: []byte(raw)}}}}}
}

// place has the placement of a hub select its clusters.
func (p *player) place(hub int) error {
	ctx, api := p.ctx, p.clients[hub].cluster.ClusterV1beta1()
	placements, decisions := api.Placements(p.name), api.PlacementDecisions(p.name)
	placement, err := placements.Get(ctx, placementName, metav1.GetOptions{})
	if err != nil {
		placement = &clusterv1beta1.Placement{ObjectMeta: metav1.ObjectMeta{Namespace: p.name, Name: placementName}}
		if placement, err = placements.Create(ctx, placement, metav1.CreateOptions{}); err != nil {
			return err
		}
	}
	var selected []*clusterv1.ManagedCluster
	for _, cluster := range p.clusters[hub] {
		selected = append(selected, &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: cluster}})
	}
	groups, err := grouping.Divide(placement, selected, grouping.Options{})
	if err != nil {
		return err
	}
	wanted, err := groups.Decisions(placement)
	if err != nil {
		return err
	}
	for _, decision := range wanted {
		stored, err := decisions.Get(ctx, decision.Name, metav1.GetOptions{})
		if err != nil {
			if stored, err = decisions.Create(ctx, decision, metav1.CreateOptions{}); err != nil {
				return err
			}
		}
		stored.Status = decision.Status
		if _, err := decisions.UpdateStatus(ctx, stored, metav1.UpdateOptions{}); err != nil {
			return err
		}
	}
	if placement.Status, err = grouping.Status(wanted); err != nil {
		return err
	}
	_, err = placements.UpdateStatus(ctx, placement, metav1.UpdateOptions{})
	return err
}

// keep runs one process after the other: of a hub, or of the hub of hubs.
func (p *player) keep(ctx context.Context, server int) {
	rng := rand.New(rand.NewPCG(p.seed, uint64(server)))
	for ctx.Err() == nil {
		life, end := context.WithCancel(ctx)
		dead := &atomic.Bool{}
		to := func(net *network, slow time.Duration) *line {
			return &line{dead: dead, net: net, slow: slow, breaks: p.breaks, double: p.double, counts: &p.counts, rng: rand.New(rand.NewPCG(p.seed, rng.Uint64()))}
		}
		near := to(nil, p.slow)
		near.blind = p.ignored == DutyGrantOn
		process := &Process{
			Set: types.NamespacedName{Namespace: p.name, Name: setName}, Now: time.Now, Ignored: p.ignored,
			Config: p.hubs.config(server, near),
		}
		run := p.subject.HubOfHubs
		if server != hubOfHubs {
			run, process.Hub = p.subject.Hub, p.hub(server)
			process.Now = func() time.Time { return time.Now().Add(p.skew[server]) }
			far := to(&p.nets[server], p.far)
			far.blind = p.ignored == DutyOnTop
			process.HubOfHubs = p.hubs.config(hubOfHubs, far)
		}
		p.lives.Add(1)
		done := make(chan error, 1)
		go func() { done <- run(life, process) }()
		var err error
		select {
		case <-ctx.Done():
		case <-p.ends[server]:
		case err = <-done:
			done <- nil
		}
		dead.Store(true)
		end()
		<-done
		if err != nil {
			p.fault.Store(err.Error())
		}
		pause(ctx, time.Duration(rng.IntN(500))*time.Millisecond)
	}
}

// carryOut plays the script.
func (p *player) carryOut() error {
	for _, a := range p.script {
		time.Sleep(a.after)
		switch a.what {
		case cuts, cutsBoth:
			p.nets[a.hub].isCut.Store(true)
			p.nets[1-a.hub].isCut.Store(a.what == cutsBoth)
			time.AfterFunc(a.lasts, func() {
				p.nets[a.hub].isCut.Store(false)
				p.nets[1-a.hub].isCut.Store(false)
			})
		case kills:
			p.ends[a.hub] <- struct{}{}
		case killsTop:
			p.ends[hubOfHubs] <- struct{}{}
		case joins:
			p.mu.Lock()
			p.clusters[a.hub] = append(p.clusters[a.hub], p.cluster(a.hub, len(p.clusters[a.hub])))
			p.mu.Unlock()
			if err := p.place(a.hub); err != nil {
				return err
			}
		case version2:
			p.version += "1"
			if err := p.change(func(set *workv1alpha1.ManifestWorkReplicaSet) { set.Spec.ManifestWorkTemplate = template(p.version) }); err != nil {
				return err
			}
		case limits:
			for _, s := range []clusterv1alpha1.RolloutStrategy{p.lowered(), p.rolloutStrategy()} {
				if err := p.change(func(set *workv1alpha1.ManifestWorkReplicaSet) { set.Spec.PlacementRefs[0].RolloutStrategy = s }); err != nil {
					return err
				}
				time.Sleep(a.lasts / 2)
			}
		case looks:
			if err := p.look(a.hub); err != nil {
				return err
			}
		case deletes:
			_ = p.accounts(a.hub, func(api accountsClient, account *unstructured.Unstructured) error {
				return api.Delete(p.ctx, account.GetName(), metav1.DeleteOptions{})
			})
			p.ends[hubOfHubs] <- struct{}{}
		}
	}
	return nil
}

func (p *player) lowered() clusterv1alpha1.RolloutStrategy {
	s := p.rolloutStrategy()
	s.Progressive.MaxConcurrency = intstr.FromInt32(1)
	return s
}

// change changes the set everywhere, on one hub after the other.
func (p *player) change(do func(*workv1alpha1.ManifestWorkReplicaSet)) error {
	for i := range servers {
		sets := p.clients[i].work.WorkV1alpha1().ManifestWorkReplicaSets(p.name)
		for tries := 0; ; tries++ {
			set, err := sets.Get(p.ctx, setName, metav1.GetOptions{})
			if err == nil {
				do(set)
				_, err = sets.Update(p.ctx, set, metav1.UpdateOptions{})
			}
			if err == nil {
				break
			}
			if tries == 20 {
				return err
			}
			time.Sleep(20 * time.Millisecond)
		}
	}
	return nil
}

type accountsClient interface {
	Update(context.Context, *unstructured.Unstructured, metav1.UpdateOptions, ...string) (*unstructured.Unstructured, error)
	Delete(context.Context, string, metav1.DeleteOptions, ...string) error
}

var accounts = schema.GroupVersionResource{Group: "cohort.open-cluster-management.io", Version: "v1alpha1", Resource: "accounts"}

// accounts has something done with each account of a hub.
func (p *player) accounts(hub int, do func(accountsClient, *unstructured.Unstructured) error) error {
	api := p.clients[hubOfHubs].any.Resource(accounts).Namespace(p.hub(hub))
	list, err := api.List(p.ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	for i := range list.Items {
		if err := do(api, &list.Items[i]); err != nil {
			return err
		}
	}
	return nil
}

// look cuts a hub off, waits until its rights have expired, and writes what is on it into its account, as a person would. Somewhat later
// the hub is back.
func (p *player) look(hub int) error {
	p.nets[hub].isCut.Store(true)
	defer func() {
		time.Sleep(4 * time.Second)
		p.nets[hub].isCut.Store(false)
	}()
	if strings.Contains(p.version, "11") { // there are two accounts, and a person would have to tell the versions apart
		return nil
	}
	for end := time.Now().Add(2*Lease + 2*time.Second); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		wrote := false
		err := p.accounts(hub, func(api accountsClient, account *unstructured.Unstructured) error {
			text, _, _ := unstructured.NestedString(account.Object, "spec", "grant", "expires")
			expires, err := time.Parse(time.RFC3339, text)
			now := time.Now()
			if err != nil || now.Before(expires) {
				return nil
			}
			time.Sleep(200 * time.Millisecond) // for the watch
			p.mu.Lock()
			inFlight, failed := p.judge.count(p.clusters[hub], time.Now(), p.strategy.MinSuccessTime.Duration, p.deadline())
			p.mu.Unlock()
			number, _, _ := unstructured.NestedInt64(account.Object, "status", "number")
			seen := map[string]any{"report": number, "inFlight": int64(inFlight), "failed": int64(failed), "time": now.UTC().Format(time.RFC3339)}
			if err := unstructured.SetNestedMap(account.Object, seen, "spec", "seen"); err != nil {
				return err
			}
			_, err = api.Update(p.ctx, account, metav1.UpdateOptions{})
			wrote = err == nil // otherwise it looks again
			return nil
		})
		if err != nil || wrote {
			return err
		}
	}
	return nil
}

// show takes an event of a work: it tells the judge, and has the agent begin with what is new.
func (p *player) show(hub int, work *workv1.ManifestWork, at time.Time) {
	version := versionOf(work)
	p.judge.has(work.Namespace, version, at, p.deadline())
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.pieces[work.Namespace] >= work.Generation || p.ctx.Err() != nil {
		return
	}
	p.pieces[work.Namespace] = work.Generation
	p.agents.Go(func() { p.agent(hub, work, version) })
}

// agent is the life of an agent with one generation of a work.
func (p *player) agent(hub int, work *workv1.ManifestWork, version string) {
	t, rng := p.temperOf(work.Namespace, version)
	if p.ignored != "" {
		t = slow
	}
	ms := func(from, to int) <-chan time.Time {
		return time.After(time.Duration(from+rng.IntN(to-from)) * time.Millisecond)
	}
	var after <-chan time.Time
	switch t {
	case quick:
		after = ms(20, 200)
	case slow:
		after = ms(300, 2000)
	case failing, recovering:
		if !p.waits(ms(50, 500)) {
			return
		}
		p.patch(hub, work, version, false)
		if t == recovering {
			after = ms(500, 3000)
		}
	}
	select {
	case <-p.ctx.Done():
	case <-p.healed:
		if p.waits(ms(10, 300)) {
			p.patch(hub, work, version, true)
		}
	case <-after:
		p.patch(hub, work, version, true)
	}
}

func (p *player) waits(c <-chan time.Time) bool {
	select {
	case <-p.ctx.Done():
		return false
	case <-c:
		return true
	}
}

// patch writes what an agent says.
func (p *player) patch(hub int, work *workv1.ManifestWork, version string, succeeded bool) {
	now := time.Now()
	body, err := json.Marshal(map[string]any{"status": map[string]any{"conditions": conditions(work.Generation, succeeded, !succeeded, now)}})
	if err != nil {
		panic(err)
	}
	p.judge.says(work.Namespace, version, succeeded, now, p.strategy.MinSuccessTime.Duration)
	for range 5 { // it may be gone
		_, err = p.clients[hub].work.WorkV1().ManifestWorks(work.Namespace).Patch(p.ctx, work.Name, types.MergePatchType, body, metav1.PatchOptions{}, "status")
		if err == nil || !p.waits(time.After(50*time.Millisecond)) {
			return
		}
	}
}
