package passes_test

import (
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/intstr"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"
	"pgregory.net/rapid"

	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/override"
	"github.com/cohort-ocm/cohort/override/passes"
	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/status/policyv1"
)

// O18: a later attempt is refused beside any other options, in any order, whatever the policy. Nothing else is. The
// functions of the caller are asked about the bound clusters alone.
func TestPropagateRefusesAttempts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		bound := func(cluster string) bool {
			if cluster != "a" && cluster != "b" {
				t.Fatalf("asks about %s", cluster)
			}
			return cluster == "a"
		}
		others := []rollout.Option{
			nil, rollout.Paused(), rollout.Closed(grouping.Key{}, rollout.Gate{Name: "approval"}), rollout.FailedFreesSlot(),
			rollout.Order(func(a, b string) int { bound(a); bound(b); return strings.Compare(b, a) }),
			rollout.GroupOrder(map[string][]string{"": {"canary"}}), rollout.MaxConcurrencyPerGroup(intstr.FromInt32(1)),
			rollout.MaxRemoved(intstr.FromInt32(0)), passes.RemoveAfter(time.Minute, nil), rollout.Uncounted(bound), rollout.FailedBefore(bound),
			rollout.Ramp(1), rollout.MaxStarts(1, time.Minute), rollout.WaitBetweenGroups(time.Minute), rollout.Attempt(0),
		}
		options := rapid.Permutation(others).Draw(t, "options")[:rapid.IntRange(0, len(others)).Draw(t, "number")]
		typ := rapid.SampledFrom([]clusterv1alpha1.RolloutType{clusterv1alpha1.All, clusterv1alpha1.Progressive, clusterv1alpha1.ProgressivePerGroup}).Draw(t, "type")
		action := rapid.SampledFrom([]policyv1.RemediationAction{policyv1.Enforce, policyv1.Inform, ""}).Draw(t, "action")
		r, err := override.Resolve(policy(action, naiveLimits{typ: typ}), []override.Binding{to("a", "b")})
		if err != nil {
			t.Fatal(err)
		}
		replicas := []passes.Replica{{Cluster: "a", Version: "v", Action: action, Compliance: policyv1.NonCompliant}, {Cluster: "z"}}
		if _, err := passes.Propagate(r, "v", replicas, noon, options...); err != nil {
			t.Fatal(err)
		}
		// The later of two attempts counts.
		options = append([]rollout.Option{rollout.Attempt(0)}, options...)
		options = append(options, rollout.Attempt(rapid.IntRange(1, 9).Draw(t, "attempt")))
		_, err = passes.Propagate(r, "v", replicas, noon, options...)
		if want := "attempt: Forbidden: must be left out: a replicated policy does not say which attempt it is"; err == nil || err.Error() != want {
			t.Fatalf("got %v, want %s", err, want)
		}
	})
}
