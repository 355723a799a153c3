// SPDX-License-Identifier: Apache-2.0

package hubshares

import (
	"context"
	"flag"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/rest"
	toolscache "k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/cohort-ocm/cohort/rollout/shares"
)

// Options configure a hub's side.
type Options struct {
	// Hub is the name of this hub, and of its namespace on the coordinator hub. If it is empty, the hub shares nothing.
	Hub string
	// Kubeconfig is that of the coordinator hub. Config overrides it.
	Kubeconfig string
	Config     *rest.Config
	// Timing has this hub's times. Lease is used only on the coordinator hub.
	Timing shares.Timing
	// Now is the hub's clock; nil for time.Now.
	Now func() time.Time
}

// Flags adds the options as flags. They have their values once flags are parsed.
func Flags() *Options {
	options := &Options{}
	flag.StringVar(&options.Hub, "hub", "", "the name of this hub, if it shares limits with others by accounts on a coordinator hub")
	flag.StringVar(&options.Kubeconfig, "coordinator-hub", "", "the kubeconfig of the coordinator hub")
	timingFlags(&options.Timing)
	return options
}

// timingFlags adds the flags that hubs and the coordinator hub have in common.
func timingFlags(t *shares.Timing) {
	flag.DurationVar(&t.ClockError, "clock-error", 5*time.Second, "the largest difference between the clocks of a hub and the coordinator hub")
	flag.DurationVar(&t.SlowestWrite, "slowest-write", 3*time.Minute, "the longest time from a plan until a start of it is stored; "+
		"more than twice the time after which the API server of a hub ends a request")
	flag.DurationVar(&t.Every, "shares-every", 10*time.Second, "how often at most a hub reports, and shares are moved between hubs")
}

// Join makes a hub's side that runs with a manager, or nil if the hub shares nothing. The coordinator hub may be
// unreachable, now or later: rollouts that need no shares go on.
func (o *Options) Join(m ctrl.Manager, hub **Hub) error {
	if o.Hub == "" {
		return nil
	}
	config := o.Config
	if config == nil {
		var err error
		if config, err = clientcmd.BuildConfigFromFlags("", o.Kubeconfig); err != nil {
			return fmt.Errorf("-coordinator-hub must be a kubeconfig: %w", err)
		}
		config.QPS = -1 // the number of messages depends on the rollouts, not on the clusters
	}
	if t := o.Timing; t.ClockError < 0 || t.SlowestWrite <= 0 || t.Every < 0 {
		return fmt.Errorf("no time of a hub must be negative, and the slowest write must take some: %+v", t)
	}
	config = rest.CopyConfig(config)
	config.ContentType = runtime.ContentTypeJSON
	scheme := runtime.NewScheme()
	if err := Install(scheme); err != nil {
		return err
	}
	coordinator, err := client.NewWithWatch(config, client.Options{Scheme: scheme, Mapper: mapper()})
	if err != nil {
		return err
	}
	h := &Hub{
		Name: o.Hub, Timing: o.Timing, Now: o.Now, Client: coordinator, Sets: m.GetCache(), wake: make(chan types.NamespacedName, 1000),
	}
	if h.Now == nil {
		h.Now = time.Now
	}
	informer := informerOf(coordinator, o.Hub)
	h.Store = informer.GetIndexer()
	if err := h.follow(informer); err != nil {
		return err
	}
	*hub = h
	return m.Add(manager.RunnableFunc(func(ctx context.Context) error {
		go informer.RunWithContext(ctx)
		if toolscache.WaitForCacheSync(ctx.Done(), informer.HasSynced) {
			h.sweeps(ctx)
		}
		return nil
	}))
}

// informerOf is an informer for the accounts of a hub.
func informerOf(from client.WithWatch, hub string) toolscache.SharedIndexInformer {
	options := func(o metav1.ListOptions) *client.ListOptions { return &client.ListOptions{Namespace: hub, Raw: &o} }
	return toolscache.NewSharedIndexInformer(&toolscache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
			list := &AccountList{}
			return list, from.List(ctx, list, options(o))
		},
		WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
			return from.Watch(ctx, &AccountList{}, options(o))
		},
	}, &Account{}, 0, nil)
}

// follow enqueues the set of an account when the account changes.
func (h *Hub) follow(informer toolscache.SharedIndexInformer) error {
	looks := func(object any) {
		if gone, is := object.(toolscache.DeletedFinalStateUnknown); is {
			object = gone.Obj
		}
		if a, is := object.(*Account); is {
			h.look(a.Spec.Rollout.set())
		}
	}
	_, err := informer.AddEventHandler(toolscache.ResourceEventHandlerFuncs{
		AddFunc: looks, UpdateFunc: func(_, object any) { looks(object) }, DeleteFunc: looks,
	})
	return err
}

// sweeps calls sweep at intervals.
func (h *Hub) sweeps(ctx context.Context) {
	tick := time.NewTicker(max(time.Second, h.Timing.Every))
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			h.sweep(ctx)
		}
	}
}

// Source enqueues the sets whose account changed.
func (h *Hub) Source() source.Source {
	return source.Func(func(ctx context.Context, queue workqueue.TypedRateLimitingInterface[reconcile.Request]) error {
		if h == nil {
			return nil
		}
		go func() {
			for {
				select {
				case <-ctx.Done():
					return
				case set := <-h.wake:
					queue.Add(reconcile.Request{NamespacedName: set})
				}
			}
		}()
		return nil
	})
}
