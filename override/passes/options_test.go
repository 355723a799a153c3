// SPDX-License-Identifier: Apache-2.0

package passes_test

import (
	"reflect"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"
	"pgregory.net/rapid"

	"github.com/cohort-ocm/cohort/override"
	"github.com/cohort-ocm/cohort/override/passes"
	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/status"
	"github.com/cohort-ocm/cohort/status/policyv1"
)

// O18: a later attempt is refused with any other options, whatever the policy. Nothing else is.
func TestPropagateRefusesAttempts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		options := rollout.Options{
			Paused: true, Gates: []rollout.ClosedGate{{Gate: rollout.Gate{Name: "approval"}}}, FailedFreesSlot: true,
			Order: func(a, b string) int { return strings.Compare(b, a) }, GroupOrder: rollout.GroupOrder{"": {"canary"}},
			MaxConcurrencyPerGroup: intstr.FromInt32(1), MaxRemoved: ptr(intstr.FromInt32(0)), RemoveAfter: metav1.Duration{Duration: time.Minute},
			Ignored: []string{"a"}, FailedBefore: []string{"a"}, Ramp: ptr(1), Shares: &rollout.Shares{Concurrency: 1},
			MaxStarts: &rollout.StartLimit{Count: 1, Per: metav1.Duration{Duration: time.Minute}}, WaitBetweenGroups: metav1.Duration{Duration: time.Minute},
		}
		for field := range reflect.ValueOf(&options).Elem().NumField() {
			if rapid.Bool().Draw(t, "unset") {
				reflect.ValueOf(&options).Elem().Field(field).SetZero()
			}
		}
		typ := rapid.SampledFrom([]clusterv1alpha1.RolloutType{clusterv1alpha1.All, clusterv1alpha1.Progressive, clusterv1alpha1.ProgressivePerGroup}).Draw(t, "type")
		action := rapid.SampledFrom([]policyv1.RemediationAction{policyv1.Enforce, policyv1.Inform, ""}).Draw(t, "action")
		r, err := override.Resolve(policy(action, naiveLimits{typ: typ}), []override.Binding{to("a", "b")})
		if err != nil {
			t.Fatal(err)
		}
		replicas := []passes.Replica{{Cluster: "a", Version: "v", Action: action, Compliance: policyv1.NonCompliant}, {Cluster: "z"}}
		if _, err := passes.Propagate(r, "v", status.Record{}, replicas, noon, options); err != nil {
			t.Fatal(err)
		}
		options.Attempt = rapid.IntRange(1, 9).Draw(t, "attempt")
		_, err = passes.Propagate(r, "v", status.Record{}, replicas, noon, options)
		if want := "attempt: Forbidden: must be left out: a replicated policy does not say which attempt it is"; err == nil || err.Error() != want {
			t.Fatalf("got %v, want %s", err, want)
		}
	})
}

func ptr[T any](v T) *T { return &v }
