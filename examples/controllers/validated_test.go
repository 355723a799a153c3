// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/cohort-ocm/cohort/status"
)

// If clusters of a policy are validated, the canaries block all others until an operator has accepted each, even across a
// restart. A rejected canary stops the rollout.
func TestAPersonValidatesClustersOfAPolicy(t *testing.T) {
	t.Parallel()
	f := newPolicies(t)
	f.apply("placementbindings", `{placementRef: {apiGroup: cluster.open-cluster-management.io, kind: Placement, name: all}, subjects: [{apiGroup: policy.open-cluster-management.io, kind: PolicySet, name: base}]}`)
	f.apply("policysets", `{spec: {policies: [etcd]}}`)
	f.place()
	f.apply("policies", `metadata: {annotations: {cohort.open-cluster-management.io/validate: "true"}}`+policyYAML("one"))
	shows := func(cluster string, want status.RolloutStatus) func() bool {
		return func() bool {
			for _, c := range f.root().Status {
				if c.ClusterName == cluster {
					return c.ComplianceState == "Compliant" && c.RolloutStatus == string(want)
				}
			}
			return false
		}
	}
	stays := func() {
		t.Helper()
		for end := time.Now().Add(time.Second); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
			if n := f.count("one", "enforce"); n != 2 {
				t.Fatalf("%d are enforced, and not both canaries were found good", n)
			}
		}
	}
	validate := func(want string, args ...string) {
		t.Helper()
		if out := string(plugin(t, f.kubeconfig, append([]string{"validate", "policy/etcd", "--yes"}, args...)...)); !strings.Contains(out, want) {
			t.Errorf("%v: no %q in\n%s", args, want, out)
		}
	}
	const written = "policy.policy.open-cluster-management.io/policies.etcd annotated\n"
	f.until("the first canary complies and waits for validation", shows("canary-0", status.Progressing))
	f.until("so does the second one", shows("canary-1", status.Progressing))
	stays()
	validate(written, "canary-0", "yes")
	f.until("the first canary is done", shows("canary-0", status.Succeeded))
	f.program.Process.Kill()
	f.program.Wait()
	f.program = f.start()
	stays()
	validate(written, "canary-1", "yes")
	f.until("the others are enforced", func() bool { return f.count("one", "enforce") > 2 })
	object, err := f.policies.Namespace("canary-0").Get(t.Context(), "policies.etcd", metav1.GetOptions{})
	f.must(err)
	if v, err := status.VerdictOf(object, "canary-0", time.Time{}); err != nil || v.Time.IsZero() || v.Result != status.ValidationSucceeded {
		t.Errorf("the verdict %+v has no time: %v", v, err)
	}
	validate("canary-1 is not good with version", "canary-1", "no", "--reason", "the mesh has no route")
	f.until("a no stops the rollout", func() bool { return f.root().RolloutStatus == string(status.Failed) })
}
