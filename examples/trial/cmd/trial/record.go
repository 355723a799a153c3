// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"sync"
	"syscall"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/cohort-ocm/cohort/examples/trial/judge"
)

// watched is a resource, with the kind of its objects.
type watched struct {
	kind     string
	resource schema.GroupVersionResource
}

// clusters is recorded where the hub lets it be: rollouts are judged without it, too.
var clusters = watched{"ManagedCluster", schema.GroupVersionResource{Group: "cluster.open-cluster-management.io", Version: "v1", Resource: "managedclusters"}}

// recorded are the resources that are recorded.
var recorded = []watched{
	{"Placement", schema.GroupVersionResource{Group: "cluster.open-cluster-management.io", Version: "v1beta1", Resource: "placements"}},
	{"PlacementDecision", schema.GroupVersionResource{Group: "cluster.open-cluster-management.io", Version: "v1beta1", Resource: "placementdecisions"}},
	{"ManifestWorkReplicaSet", schema.GroupVersionResource{Group: "work.open-cluster-management.io", Version: "v1alpha1", Resource: "manifestworkreplicasets"}},
	{"ManifestWork", schema.GroupVersionResource{Group: "work.open-cluster-management.io", Version: "v1", Resource: "manifestworks"}},
	{"ClusterManagementAddOn", schema.GroupVersionResource{Group: "addon.open-cluster-management.io", Version: "v1alpha1", Resource: "clustermanagementaddons"}},
	{"ManagedClusterAddOn", schema.GroupVersionResource{Group: "addon.open-cluster-management.io", Version: "v1alpha1", Resource: "managedclusteraddons"}},
	{"Policy", schema.GroupVersionResource{Group: "policy.open-cluster-management.io", Version: "v1", Resource: "policies"}},
	{"PlacementBinding", schema.GroupVersionResource{Group: "policy.open-cluster-management.io", Version: "v1", Resource: "placementbindings"}},
	{"PolicySet", schema.GroupVersionResource{Group: "policy.open-cluster-management.io", Version: "v1beta1", Resource: "policysets"}},
	clusters,
}

// record records watches of all namespaces until it is interrupted. It needs get, list and watch.
func record(args []string, out, errs io.Writer) error {
	f := newFlags("record")
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	f.StringVar(&rules.ExplicitPath, "kubeconfig", "", "the kubeconfig; KUBECONFIG or that of kubectl if empty")
	which := f.String("context", "", "the context of the kubeconfig; the current one if empty")
	if err := parse(f, args, out); err != nil {
		return err
	}
	if f.NArg() > 0 {
		return fmt.Errorf("%q is too much: the recording goes to the standard output", f.Args())
	}
	config, err := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, &clientcmd.ConfigOverrides{CurrentContext: *which}).ClientConfig()
	if err != nil {
		return err
	}
	config.UserAgent, config.QPS, config.Burst = "cohort-trial-record", 50, 100
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	return (&recorder{client: client, out: json.NewEncoder(out), errs: errs, bookmark: 5 * time.Second}).run(ctx)
}

// recorder writes what watches show, one line after the other.
type recorder struct {
	client   dynamic.Interface
	errs     io.Writer
	bookmark time.Duration

	mu  sync.Mutex
	out *json.Encoder
	err error // with which writing ended
}

func (r *recorder) write(l judge.Line) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.err == nil {
		l.At = time.Now().UTC()
		r.err = r.out.Encode(l)
	}
	return r.err
}

// run lists everything, and then watches it. A kind that the hub does not have is said, and left out. So are
// ManagedClusters where the hub refuses them.
func (r *recorder) run(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if err := r.write(judge.Line{Type: "BEGIN"}); err != nil {
		return err
	}
	from := map[string]string{} // resourceVersion by kind
	for _, k := range recorded {
		rv, err := r.list(ctx, k.resource)
		switch {
		case apierrors.IsNotFound(err):
			fmt.Fprintf(r.errs, "the hub has no %s\n", k.resource.GroupResource())
		case k == clusters && apierrors.IsForbidden(err):
			fmt.Fprintf(r.errs, "%v: which clusters are ignored by deletion is not known\n", err)
		case err != nil:
			return fmt.Errorf("list %s: %w", k.resource.GroupResource(), err)
		default:
			from[k.kind] = rv
		}
	}
	if len(from) == 0 || len(from) == 1 && from[clusters.kind] != "" {
		return errors.New("the hub has none of the kinds that are judged")
	}
	if err := r.write(judge.Line{Type: "LISTED"}); err != nil {
		return err
	}
	var running sync.WaitGroup
	for _, k := range recorded {
		if rv, ok := from[k.kind]; ok {
			running.Go(func() { r.keep(ctx, cancel, k.kind, k.resource, rv) })
		}
	}
	running.Go(func() {
		for tick := time.NewTicker(r.bookmark); ; {
			select {
			case <-ctx.Done():
				tick.Stop()
				return
			case <-tick.C:
				if r.write(judge.Line{Type: "BOOKMARK"}) != nil {
					cancel()
				}
			}
		}
	})
	running.Wait()
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.err
}

// list writes all objects of a resource, in parts.
func (r *recorder) list(ctx context.Context, resource schema.GroupVersionResource) (resourceVersion string, _ error) {
	for next := (metav1.ListOptions{Limit: 500}); ; {
		all, err := r.client.Resource(resource).List(ctx, next)
		if err != nil {
			return "", err
		}
		for i := range all.Items {
			if err := r.object("ADDED", &all.Items[i]); err != nil {
				return "", err
			}
		}
		if next.Continue = all.GetContinue(); next.Continue == "" {
			return all.GetResourceVersion(), nil
		}
	}
}

func (r *recorder) object(event string, o *unstructured.Unstructured) error {
	o.SetManagedFields(nil) // they are most of an object, and not judged
	if o.GetKind() == clusters.kind {
		o = shortOf(o)
	}
	text, err := o.MarshalJSON()
	if err != nil {
		return err
	}
	return r.write(judge.Line{Type: event, Object: text})
}

// shortOf is the name of a ManagedCluster, and whether it is being deleted. What else it says of a cluster does not matter here.
func shortOf(o *unstructured.Unstructured) *unstructured.Unstructured {
	short := &unstructured.Unstructured{Object: map[string]any{"apiVersion": o.GetAPIVersion(), "kind": o.GetKind()}}
	short.SetName(o.GetName())
	short.SetResourceVersion(o.GetResourceVersion())
	short.SetDeletionTimestamp(o.GetDeletionTimestamp())
	return short
}

// keep watches a resource. Where the watch is lost for good, it says so and lists again.
func (r *recorder) keep(ctx context.Context, stop func(), kind string, resource schema.GroupVersionResource, from string) {
	for ctx.Err() == nil {
		var err error
		if from, err = r.watch(ctx, resource, from); ctx.Err() != nil {
			return
		}
		if err == nil { // it ended in time, as watches do
			continue
		}
		if !apierrors.IsResourceExpired(err) && !apierrors.IsGone(err) {
			fmt.Fprintf(r.errs, "watch %s: %v\n", resource.GroupResource(), err)
			pause(ctx, time.Second)
			continue
		}
		if r.write(judge.Line{Type: "HOLE", Kind: kind, Reason: "compacted"}) != nil {
			stop()
			return
		}
		for ctx.Err() == nil {
			if from, err = r.list(ctx, resource); err == nil {
				break
			}
			fmt.Fprintf(r.errs, "list %s: %v\n", resource.GroupResource(), err)
			pause(ctx, time.Second)
		}
		if ctx.Err() == nil && r.write(judge.Line{Type: "LISTED", Kind: kind}) != nil {
			stop()
		}
	}
}

func pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// watch writes the events of a watch, and returns from where the next one goes on. An error is that of the watch.
func (r *recorder) watch(ctx context.Context, resource schema.GroupVersionResource, from string) (string, error) {
	w, err := r.client.Resource(resource).Watch(ctx, metav1.ListOptions{ResourceVersion: from, AllowWatchBookmarks: true})
	if err != nil {
		return from, err
	}
	defer w.Stop()
	defer context.AfterFunc(ctx, w.Stop)()
	for e := range w.ResultChan() {
		o, is := e.Object.(*unstructured.Unstructured)
		switch {
		case e.Type == watch.Error:
			return from, apierrors.FromObject(e.Object)
		case !is:
			continue
		case e.Type != watch.Bookmark && slices.Contains([]watch.EventType{watch.Added, watch.Modified, watch.Deleted}, e.Type):
			from = o.GetResourceVersion()
			if err := r.object(string(e.Type), o); err != nil {
				return from, err
			}
		default:
			from = o.GetResourceVersion()
		}
	}
	return from, nil
}
