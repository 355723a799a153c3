// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/events"
	"k8s.io/klog/v2"

	"github.com/cohort-ocm/cohort/examples/controllers/kit"
	proof "github.com/cohort-ocm/cohort/examples/trial"
	"github.com/cohort-ocm/cohort/examples/trial/apiserver"
	"github.com/cohort-ocm/cohort/status"
)

// TestProof proves this controller, as it is shipped, in virtual time with the published policy API: see the page of
// package trial. Its queue and its handlers are the real ones. Only the informers are the harness's, which show things late.
//
//	go test ./policies -run TestProof/Trials -rollouts=100 -v -timeout=0
func TestProof(t *testing.T) {
	files, err := apiserver.PolicyDefinitions(t.TempDir(), apiserver.RolloutStrategy, apiserver.RolloutStatus)
	if err != nil && os.Getenv("CI") == "" { // where all has to be proven, a proof that cannot run is none
		t.Skip("the policy API is not at hand: ", err)
	} else if err != nil {
		t.Fatal("the policy API is not at hand: ", err)
	}
	h, err := proof.Start(files...)
	if err != nil {
		t.Fatal(err)
	}
	subject := &proof.Subject{Run: process, Delivery: proof.OfPolicies(), RemoveAfter: grace, IgnoreAnnotation: ignoreAnnotation, Placements: 1, Replicas: 1}
	t.Run("Trials", func(t *testing.T) { h.Trials(t, subject) })
	t.Run("EachDuty", func(t *testing.T) { h.EachTrialDuty(t, subject, outsideDuties) })
}

// process is one process of the controller: what run does, with the harness's informers and network.
func process(ctx context.Context, p *proof.Process) error {
	ctx = klog.NewContext(ctx, klog.LoggerWithName(klog.Background(), "policies"))
	client, err := dynamic.NewForConfig(p.Config)
	if err != nil {
		return err
	}
	s := &saboteur{process: p}
	i := informers{
		policies: newShelf(p, proof.Policies, s.keep(keep), policyIndexers), sets: newShelf(p, proof.PolicySets, keepSet, nil),
		bindings:   newShelf(p, proof.Bindings, keepBinding, bindingIndexers),
		placements: newShelf(p, proof.Placements, nil, nil), decisions: newShelf(p, proof.Decisions, nil, kit.DecisionIndexers),
	}
	c := &controller{
		caches: i.caches(), client: sabotaged{client, s}, now: time.Now,
		teller: newTeller(&events.FakeRecorder{}, prometheus.NewRegistry()),
	}
	q := newQueue()
	if err := i.listen(&c.caches, q); err != nil {
		return err
	}
	again := q
	if p.Ignored == proof.DutyRecheck {
		again = deaf{q}
	}
	var working sync.WaitGroup
	working.Go(func() {
		for {
			key, end := q.Get()
			if end {
				return
			}
			p.Reconcile(func() (time.Duration, error) {
				before, bound := c.memories.Of(key).last, len(i.bindings.GetIndexer().List()) > 0
				s.begin(c.memories.Of(key))
				after, err := c.look(ctx, again, key)
				if bound {
					c.say(p, key, before)
				}
				return after, err
			})
			q.Done(key)
		}
	})
	<-ctx.Done()
	q.ShutDown()
	working.Wait()
	return nil
}

// say says of the last propagation what the published API has no field for.
func (c *controller) say(p *proof.Process, key types.NamespacedName, before any) {
	last := c.memories.Of(key).last
	if last == nil || any(last) == before {
		return
	}
	var why []string
	if last.Breach != nil {
		why = append(why, last.Breach.String())
	}
	for _, blocked := range last.Blocked() {
		why = append(why, blocked.String())
	}
	p.Say(proof.Claim{Complete: last.Summary().Aggregate() == status.Succeeded, Message: strings.Join(why, "; ")})
}

// shelf is an informer of the harness with a store of its own, in which objects are kept as the controller keeps them.
type shelf struct {
	cache.SharedIndexInformer
	keep  cache.TransformFunc
	store cache.Indexer

	mu       sync.Mutex
	handlers []cache.ResourceEventHandler
}

func newShelf(p *proof.Process, kind proof.Kind, keep cache.TransformFunc, indexers cache.Indexers) *shelf {
	s := &shelf{keep: keep, store: cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc})}
	if err := s.store.AddIndexers(indexers); err != nil {
		panic(err)
	}
	p.Handle(kind, s)
	return s
}

func (s *shelf) GetIndexer() cache.Indexer { return s.store }

func (s *shelf) AddEventHandler(h cache.ResourceEventHandler) (cache.ResourceEventHandlerRegistration, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, o := range s.store.List() {
		h.OnAdd(o, true)
	}
	s.handlers = append(s.handlers, h)
	return nil, nil
}

func (s *shelf) kept(o any) any {
	o = o.(runtime.Object).DeepCopyObject()
	if s.keep == nil {
		return o
	}
	kept, err := s.keep(o)
	if err != nil {
		panic(err)
	}
	return kept
}

func (s *shelf) OnAdd(o any, _ bool) { s.OnUpdate(nil, o) }

func (s *shelf) OnUpdate(_, o any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	after := s.kept(o)
	before, had, _ := s.store.Get(after)
	_ = s.store.Update(after)
	for _, h := range s.handlers {
		if had {
			h.OnUpdate(before, after)
		} else {
			h.OnAdd(after, false)
		}
	}
}

func (s *shelf) OnDelete(o any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	before, had, _ := s.store.Get(s.kept(o))
	if !had {
		return
	}
	_ = s.store.Delete(before)
	for _, h := range s.handlers {
		h.OnDelete(before)
	}
}
