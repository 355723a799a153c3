// SPDX-License-Identifier: Apache-2.0

package example

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/log"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/cohort-ocm/cohort/examples/trial/sim"
)

func init() {
	log.SetLogger(logr.Discard())
	klog.SetLogger(logr.Discard())
}

// run is a process of the controller, as in a main function.
func run(ctx context.Context, c *rest.Config) error {
	again, priorities := true, false // the priority queue may deadlock: kubernetes-sigs/controller-runtime#3538
	m, err := ctrl.NewManager(c, ctrl.Options{
		Scheme: scheme.Scheme, Metrics: metricsserver.Options{BindAddress: "0"},
		Controller:     config.Controller{SkipNameValidation: &again, UsePriorityQueue: &priorities},
		LeaderElection: true, LeaderElectionID: "painter", LeaderElectionNamespace: "default",
	})
	if err != nil {
		return err
	}
	if err := (&reconciler{m.GetClient()}).setUp(m); err != nil {
		return err
	}
	return m.Start(ctx)
}

// TestWidgetsArePainted has two processes with leader election, a network that loses 5% of the answers and refuses 5% of
// the requests, a user that paints six widgets again and again for an hour, a crash, and a server that stops for a minute.
// In the end each widget has its color.
func TestWidgetsArePainted(t *testing.T) {
	defs, err := sim.ReadDefinitions("../testdata/widgets.yaml")
	if err != nil {
		t.Fatal(err)
	}
	faults := sim.Network{Lost: 0.05, Refused: 0.05, WatchSpread: 2 * time.Second}
	for seed := range uint64(2) {
		sim.Play(t, sim.Options{Seed: seed, Network: faults}, func(w *sim.World) {
			server := w.NewServer("hub", defs.And(sim.Core()))
			start := func(actor string) *sim.Process {
				c := server.Config(actor)
				return w.Go(actor, func(ctx context.Context) {
					for ctx.Err() == nil { // like a Deployment
						_ = run(ctx, c)
						time.Sleep(10 * time.Second)
					}
				})
			}
			first, _ := start("first"), start("second")
			person := newPerson(server.Config("person"))
			for hour := w.Since() + time.Hour; w.Since() < hour; time.Sleep(time.Minute) {
				person.paint(w)
				switch w.Rand(fmt.Sprint("chaos", w.Since())).IntN(20) {
				case 0:
					first.Crash()
					first = start("first")
				case 1:
					server.Stop()
					time.Sleep(time.Minute)
					server.Start()
				}
			}
			if ending := w.Settle(5*time.Minute, time.Hour); ending != sim.AllIdle {
				w.T.Errorf("seed %d: %s", seed, ending)
			}
			person.check(w)
		})
	}
}

// person is a user that paints widgets.
type person struct {
	client.Client
	colors map[string]string
}

func newPerson(c *rest.Config) *person {
	p, err := client.New(c, client.Options{})
	if err != nil {
		panic(err)
	}
	return &person{p, map[string]string{}}
}

// paint changes the color of a widget.
func (p *person) paint(w *sim.World) {
	rng := w.Rand(fmt.Sprint("paint", w.Since()))
	name, color := fmt.Sprint("w", rng.IntN(6)), []string{"red", "green", "blue"}[rng.IntN(3)]
	for {
		widget := newWidget()
		widget.SetNamespace("default")
		widget.SetName(name)
		_, err := ctrl.CreateOrUpdate(w.Context(), p, widget, func() error {
			return unstructured.SetNestedField(widget.Object, color, "spec", "color")
		})
		if p.colors[name] = color; err == nil {
			return
		}
		time.Sleep(time.Second)
	}
}

func (p *person) check(w *sim.World) {
	for name, color := range p.colors {
		key := client.ObjectKey{Namespace: "default", Name: name}
		widget, paint := newWidget(), &corev1.ConfigMap{}
		for range 20 { // the network refuses some requests
			if errors.Join(p.Get(w.Context(), key, widget), p.Get(w.Context(), key, paint)) == nil {
				break
			}
		}
		if phase, _, _ := unstructured.NestedString(widget.Object, "status", "phase"); phase != color || paint.Data["color"] != color {
			w.T.Errorf("%s: widget %v, paint %v, expected %s", name, widget.Object, paint.Data, color)
		}
	}
}
