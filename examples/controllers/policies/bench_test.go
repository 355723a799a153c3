// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/cohort-ocm/cohort/examples/controllers/kit"
	"github.com/cohort-ocm/cohort/override/passes"
	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/status"
	"github.com/cohort-ocm/cohort/status/policyv1"
)

// BenchmarkReconcile measures a reconcile that finds nothing to do, with half of the clusters compliant, a tenth in flight,
// and the others waiting at inform: after a report of a cluster, and after a restart, when groups and template are read
// anew.
func BenchmarkReconcile(b *testing.B) {
	for _, n := range []int{100, 1_000, 10_000, 100_000} {
		h := steady(b, n)
		for _, event := range []string{"report", "restart"} {
			b.Run(fmt.Sprintf("n=%d/%s", n, event), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if event == "restart" {
						h.memories = kit.Memories[memory]{}
					}
					if wrote, _, err := h.look(); wrote != "" || err != nil {
						b.Fatalf("wrote %q, %v", wrote, err)
					}
				}
			})
		}
	}
}

// steady is a hub in which nothing is to do for a policy that is bound to n clusters.
func steady(b *testing.B, n int) *hub {
	h := newHub(b)
	clusters := make([]string, n)
	for i := range clusters {
		clusters[i] = fmt.Sprintf("cluster-%06d", i)
	}
	h.place("prod", clusters...)
	h.bind("prod", "prod", itself(), "")
	h.policy(progressive(n / 10))
	h.catchUp()
	root := h.caches.root(thePolicy)
	template, err := h.template(root, h.memories.Of(thePolicy))
	h.must(err)
	resolution, _, err := h.resolve(b.Context(), root, h.memories.Of(thePolicy))
	h.must(err)
	p, err := passes.Propagate(resolution, template.version, status.Record{}, nil, h.clock, rollout.Options{})
	h.must(err)
	for i, cluster := range clusters {
		action, rolled, compliance := policyv1.Enforce, status.Succeeded, policyv1.Compliant
		switch {
		case i >= n/2+n/10:
			action, rolled, compliance = policyv1.Inform, status.ToApply, policyv1.NonCompliant
		case i >= n/2:
			rolled, compliance = status.Progressing, ""
		}
		cluster := passes.Cluster{Name: cluster, Action: action}
		object, err := template.on(cluster)
		h.must(err)
		object.Object["status"] = map[string]any{"rolloutStatus": string(rolled), "compliant": string(compliance), "details": []any{map[string]any{
			"templateMeta": map[string]any{"name": "etcd-encryption"}, "compliant": string(compliance),
			"history": []any{map[string]any{"lastTimestamp": h.clock.Format(time.RFC3339), "eventName": "x.1"}},
		}}}
		object.SetResourceVersion(fmt.Sprint(i + 1))
		p.Stamp(object, cluster, h.clock)
		h.policies[object.GetNamespace()+"/"+object.GetName()] = object.DeepCopy()
		kept, err := keep(object)
		h.must(err)
		h.must(h.caches.policies.Add(kept))
	}
	h.clock = h.clock.Add(time.Hour)
	if wrote, _, err := h.look(); wrote != "" || err != nil || h.memories.Of(thePolicy).last == nil { // the status
		b.Fatalf("wrote %q, %v, and planned %v", wrote, err, h.memories.Of(thePolicy).last)
	}
	kept, err := keep(h.policies[thePolicy.String()].DeepCopy())
	h.must(err)
	h.must(h.caches.policies.Update(kept))
	return h
}

var _ metav1.Object = (*policy)(nil)
