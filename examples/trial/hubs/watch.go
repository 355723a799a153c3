package hubs

import (
	"context"
	"encoding/json"
	"strings"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"
	workinformers "open-cluster-management.io/api/client/work/informers/externalversions"
	workv1 "open-cluster-management.io/api/work/v1"
)

// watcher shows the works of a hub to the rollouts that they are of.
type watcher struct {
	stop context.CancelFunc
	mu   sync.Mutex
	to   map[string]func(*workv1.ManifestWork, time.Time) // by the name of the rollout
}

func watchWorks(c clients) (*watcher, error) {
	ctx, stop := context.WithCancel(context.Background())
	w := &watcher{stop: stop, to: map[string]func(*workv1.ManifestWork, time.Time){}}
	informers := workinformers.NewSharedInformerFactory(c.work, 0)
	informer := informers.Work().V1().ManifestWorks().Informer()
	if _, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: w.show, UpdateFunc: func(_, o any) { w.show(o) },
	}); err != nil {
		stop()
		return nil, err
	}
	informers.Start(ctx.Done())
	informers.WaitForCacheSync(ctx.Done())
	return w, nil
}

func (w *watcher) show(o any) {
	now, work := time.Now(), o.(*workv1.ManifestWork)
	name, _, _ := strings.Cut(work.Namespace, "-")
	w.mu.Lock()
	to := w.to[name]
	w.mu.Unlock()
	if to != nil {
		to(work, now)
	}
}

func (w *watcher) tell(name string, to func(*workv1.ManifestWork, time.Time)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.to[name] = to; to == nil {
		delete(w.to, name)
	}
}

// versionOf reads the version from what a work carries.
func versionOf(work *workv1.ManifestWork) string {
	var payload struct {
		Data struct {
			Version string `json:"version"`
		} `json:"data"`
	}
	if len(work.Spec.Workload.Manifests) == 0 || json.Unmarshal(work.Spec.Workload.Manifests[0].Raw, &payload) != nil {
		return ""
	}
	return payload.Data.Version
}

// conditions are those that OCM's agent sets.
func conditions(generation int64, available, degraded bool, now time.Time) (all []metav1.Condition) {
	for _, c := range []struct {
		kind string
		is   bool
	}{{workv1.WorkApplied, true}, {workv1.WorkProgressing, !available}, {workv1.WorkAvailable, available}, {workv1.WorkDegraded, degraded}} {
		status := metav1.ConditionFalse
		if c.is {
			status = metav1.ConditionTrue
		}
		all = append(all, metav1.Condition{Type: c.kind, Status: status, Reason: "Played", ObservedGeneration: generation,
			LastTransitionTime: metav1.NewTime(now.Truncate(time.Second))})
	}
	return all
}
