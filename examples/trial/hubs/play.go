// SPDX-License-Identifier: Apache-2.0

package hubs

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"
	workv1 "open-cluster-management.io/api/work/v1"
	workv1alpha1 "open-cluster-management.io/api/work/v1alpha1"

	"github.com/cohort-ocm/cohort/examples/trial/sim"
)

// player plays one rollout over the two hubs.
type player struct {
	*world
	servers [servers]*sim.Server
	subject *Subject
	clients [servers]clients
	nets    [2]network // between each hub and the coordinator hub
	judge   judge
	counts  counts
	version string
	lives   atomic.Int64
	ends    [servers]chan struct{} // an event has the process end
	fault   atomic.Value           // a process's error
	healed  chan struct{}
	agents  sync.WaitGroup
	sending sync.WaitGroup // writes that are on their way
	ctx     context.Context
	pieces  map[string]int64         // by cluster: the generation that its agent takes
	mouths  map[string]chan struct{} // a message was put in
	mu      sync.Mutex
	scene   *scene // nil in a world of chance
}

const setName, placementName = "web", "all"

// outcome is what came of a rollout.
type outcome struct {
	violations []string
	stuck      string
	starts     int
	lives      int64
	counts     *counts
	hash       string // of all messages, writes and their times
}

// play plays one rollout, in a time of its own.
func (h *Hubs) play(t *testing.T, s *Subject, w *world) (out outcome, err error) {
	t.Helper()
	o := sim.Options{Seed: w.seed, Choices: w.choices}
	if *flagLogs != "" {
		log, err := os.CreateTemp(*flagLogs, fmt.Sprint(w.seed, "."))
		if err != nil {
			return out, err
		}
		defer log.Close()
		o.Log = log
	}
	record := sim.Play(t, o, func(of *sim.World) { out, err = h.playIn(of, s, w) })
	out.hash = record.Hash
	return out, err
}

func (h *Hubs) playIn(of *sim.World, s *Subject, w *world) (out outcome, err error) {
	ctx, stop := context.WithCancel(of.Context())
	defer stop()
	p := &player{world: w, subject: s, version: "1", healed: make(chan struct{}), ctx: ctx, pieces: map[string]int64{}, mouths: map[string]chan struct{}{}}
	p.judge.stands = map[string]*stand{}
	switch {
	case w.duty != "":
		p.stage(p.sceneOf(w.duty))
	case w.rollback:
		p.stage(p.back())
	}
	for i := range p.clients {
		p.servers[i] = of.NewServer(serverNames[i], h.definitions[i])
		p.clients[i], p.ends[i] = clientsOf(p.servers[i]), make(chan struct{}, 1)
	}
	for i := range p.clusters {
		observe(p.servers[i], func(work *workv1.ManifestWork, at time.Time) { p.show(i, work, at) })
	}
	if err := p.begin(); err != nil {
		return out, err
	}
	if p.scene != nil && p.scene.paused {
		p.pause(true)
	}
	var processes sync.WaitGroup
	for i := range servers {
		processes.Go(func() { p.keep(ctx, of, i) })
	}
	most := p.mostClusters()
	if p.scene != nil {
		p.scene.play()
	} else {
		err = p.carryOut()
	}
	for i := range p.nets {
		p.nets[i].isCut.Store(false)
	}
	close(p.healed)
	if w.ignored { // it need not end
		out.stuck = p.standing()
	} else if out.stuck = p.await(90 * time.Second); out.stuck != "" {
		out.stuck += p.standing()
	}
	stop()
	processes.Wait()
	p.agents.Wait()
	p.sending.Wait()
	time.Sleep(2 * time.Minute) // for managers with caches that are still empty
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
		if a.what == joins || a.what == looks {
			n++
		}
	}
	return n
}

func (p *player) deadline() time.Duration {
	d, _ := time.ParseDuration(p.strategy.ProgressDeadline) // none is 0
	return d
}

// await waits until all clusters have the version, as long as something happens, and says which it waited for in vain.
func (p *player) await(patience time.Duration) (waits string) {
	known, since := 0, time.Now()
	for ; time.Since(since) < patience; time.Sleep(50 * time.Millisecond) {
		if waits = p.judge.isDone(slices.Concat(p.clusters[eu], p.clusters[us]), p.version); waits == "" {
			return ""
		}
		if n := p.judge.happened(); n > known {
			known, since = n, time.Now()
		}
	}
	return fmt.Sprintf("%s waits in vain for version %s", waits, p.version)
}

// standing is what the accounts and the coordinator hub say.
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
	if set, err := p.clients[coordinator].work.WorkV1alpha1().ManifestWorkReplicaSets(p.name).Get(p.ctx, setName, metav1.GetOptions{}); err == nil {
		for _, c := range set.Status.Conditions {
			fmt.Fprintf(&text, "\n\t%s: %s", c.Type, c.Message)
		}
	}
	return text.String()
}

// keep runs one process after the other: of a hub, or of the coordinator hub.
func (p *player) keep(ctx context.Context, of *sim.World, server int) {
	rng := rand.New(rand.NewPCG(p.seed, uint64(server)))
	for lives := uint64(1); ctx.Err() == nil; lives++ {
		life, end := context.WithCancel(ctx)
		dead := &atomic.Bool{}
		to := func(net *network, slow time.Duration) *line {
			return &line{dead: dead, net: net, slow: slow, breaks: p.breaks, double: p.double, counts: &p.counts, fated: p.fated(server),
				seed: p.seed<<16 + lives<<4 + uint64(server), drawn: map[string]int{}, ends: ctx.Done(), sending: &p.sending}
		}
		process := &Process{
			Set: types.NamespacedName{Namespace: p.name, Name: setName}, Now: time.Now,
			Config: config(p.servers[server], serverNames[server], to(nil, p.slow)),
		}
		if process.Revisions = p.rollback; p.ignored {
			process.Ignored = p.duty
		}
		run := p.subject.Coordinator
		if server != coordinator {
			run, process.Hub = p.subject.Hub, p.hub(server)
			process.Now = func() time.Time { return time.Now().Add(p.skew[server]) }
			process.Coordinator = config(p.servers[coordinator], serverNames[server], to(&p.nets[server], p.far))
		}
		p.lives.Add(1)
		done := make(chan error, 1)
		of.Go(serverNames[server], func(context.Context) {
			var err error
			if life.Err() == nil { // it was not killed before it began
				err = run(life, process)
			}
			done <- err
		})
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
		if p.scene == nil {
			pause(ctx, time.Duration(rng.IntN(500))*time.Millisecond)
		}
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
			p.ends[coordinator] <- struct{}{}
		case joins:
			if err := p.join(a.hub); err != nil {
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
			p.ends[coordinator] <- struct{}{}
		}
	}
	return nil
}

func (p *player) join(hub int) error {
	p.mu.Lock()
	p.clusters[hub] = append(p.clusters[hub], p.cluster(hub, len(p.clusters[hub])))
	p.mu.Unlock()
	return p.place(hub)
}

func (p *player) lowered() clusterv1alpha1.RolloutStrategy {
	s := p.rolloutStrategy()
	s.Progressive.MaxConcurrency = intstr.FromInt32(1)
	return s
}

type accountsClient interface {
	Update(context.Context, *unstructured.Unstructured, metav1.UpdateOptions, ...string) (*unstructured.Unstructured, error)
	Delete(context.Context, string, metav1.DeleteOptions, ...string) error
}

var accounts = schema.GroupVersionResource{Group: "cohort.open-cluster-management.io", Version: "v1alpha1", Resource: "accounts"}

// accounts has something done with each account of a hub.
func (p *player) accounts(hub int, do func(accountsClient, *unstructured.Unstructured) error) error {
	api := p.clients[coordinator].any.Resource(accounts).Namespace(p.hub(hub))
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

// look cuts a hub off, waits until its shares have expired, and writes what is on it into its account, as a person would. Then a cluster
// joins, which may not start there, and somewhat later the hub is back.
func (p *player) look(hub int) error {
	p.nets[hub].isCut.Store(true)
	defer func() {
		time.Sleep(4 * time.Second)
		p.nets[hub].isCut.Store(false)
	}()
	if strings.Contains(p.version, "11") { // there are two accounts, and a person would have to tell the versions apart
		return nil
	}
	if saw, err := p.see(hub); !saw || err != nil {
		return err
	}
	time.Sleep(time.Second)
	return p.join(hub)
}

// see waits until the shares of a hub have expired, and writes what is on it into its account, as a person would. It says whether it could.
func (p *player) see(hub int) (saw bool, err error) {
	for end := time.Now().Add(2*Lease + 2*time.Second); time.Now().Before(end) && !saw; time.Sleep(100 * time.Millisecond) {
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
			saw = err == nil // otherwise it looks again
			return nil
		})
		if err != nil {
			return false, err
		}
	}
	return saw, nil
}
