// SPDX-License-Identifier: Apache-2.0

package hubs

import (
	"fmt"
	"strconv"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/util/retry"
	workv1alpha1 "open-cluster-management.io/api/work/v1alpha1"
)

// Rollback has a version that fails taken back on both hubs by a person. Each hub rolls back by itself, without shares: all clusters have the
// version before again, and with the one that failed no limit over both hubs was broken.
func (h *Hubs) Rollback(t *testing.T, s *Subject) {
	w := newWorld(max(1, *flagSeed))
	w.rollback = true
	out, err := h.play(t, s, w)
	if err != nil || out.stuck != "" || len(out.violations) > 0 {
		t.Errorf("%v %q %q", err, out.stuck, out.violations)
	}
	t.Logf("%d starts", out.starts)
}

// back is the scene of a version that fails. Version 1 is everywhere, and is again.
func (p *player) back() scene {
	s := scene{inFlight: 3, failures: 1, clusters: [2]int{3, 3}, takes: 500 * time.Millisecond, bad: "2"}
	s.play = func() {
		if !p.until(func() bool { return p.done("1") && p.hasCurrent(eu) && p.hasCurrent(us) }) {
			p.fault.Store("version 1 is not everywhere")
			return
		}
		if err := p.change(func(set *workv1alpha1.ManifestWorkReplicaSet) { set.Spec.ManifestWorkTemplate = template("2") }); err != nil {
			p.fault.Store(err.Error())
			return
		}
		if !p.until(func() bool { return p.failing("2") >= 2 }) {
			p.fault.Store("no cluster fails with version 2")
		}
		for hub := range p.clusters { // the person asks on each hub
			sets := p.clients[hub].work.WorkV1alpha1().ManifestWorkReplicaSets(p.name)
			err := retry.RetryOnConflict(retry.DefaultRetry, func() error { // the hub writes the set, too
				set, err := sets.Get(p.ctx, setName, metav1.GetOptions{})
				if err != nil {
					return err
				}
				metav1.SetMetaDataAnnotation(&set.ObjectMeta, p.subject.Abort, strconv.FormatInt(set.Generation, 10))
				_, err = sets.Update(p.ctx, set, metav1.UpdateOptions{})
				return err
			})
			if err != nil {
				p.fault.Store(fmt.Sprintf("it cannot be asked: %v", err))
			}
		}
		p.until(func() bool { return p.done("1") })
	}
	return s
}

// hasCurrent says whether a hub's set names its current revision: another one is none to go back to.
func (p *player) hasCurrent(hub int) bool {
	sets := p.clients[hub].any.Resource(schema.GroupVersion(workv1alpha1.GroupVersion).WithResource("manifestworkreplicasets")).Namespace(p.name)
	set, err := sets.Get(p.ctx, setName, metav1.GetOptions{})
	if err != nil {
		return false
	}
	current, _, _ := unstructured.NestedString(set.Object, "status", "currentRevision")
	return current != ""
}

// done says whether all clusters have a version and succeeded with it.
func (p *player) done(version string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.judge.isDone(append(p.clusters[eu][:len(p.clusters[eu]):len(p.clusters[eu])], p.clusters[us]...), version) == ""
}

// failing is how many clusters say that they failed with a version.
func (p *player) failing(version string) (n int) {
	p.judge.mu.Lock()
	defer p.judge.mu.Unlock()
	for _, s := range p.judge.stands {
		if s.failed && s.version == version {
			n++
		}
	}
	return n
}
