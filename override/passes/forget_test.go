// SPDX-License-Identifier: Apache-2.0

package passes_test

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"

	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/status/policyv1"
)

// O16: the record is kept while something is limited, and emptied where nothing is. Forgotten entries do not come back.
func TestWhatForgetsWhoLeft(t *testing.T) {
	perGroup, all := naiveLimits{typ: clusterv1alpha1.ProgressivePerGroup}, naiveLimits{typ: clusterv1alpha1.All}
	starts := rollout.Options{MaxStarts: &rollout.StartLimit{Count: 5, Per: metav1.Duration{Duration: time.Hour}}}
	for _, test := range []struct {
		why      string
		action   policyv1.RemediationAction
		limits   naiveLimits
		opts     rollout.Options
		recorded string
		forgets  bool
	}{
		{"the templates may enforce", "", oneByOne, rollout.Options{}, "a TimeOut", false},
		{"group by group, a failure still stops", policyv1.Enforce, perGroup, rollout.Options{}, "a TimeOut", false},
		{"nothing is limited by a policy that informs", policyv1.Inform, oneByOne, rollout.Options{}, "", true},
		{"nor by All", policyv1.Enforce, all, rollout.Options{}, "", true},
		{"the options limit the starts, and a failure is no more than a start then", policyv1.Enforce, all, starts, "a Skip", true},
	} {
		t.Run(test.why, func(t *testing.T) {
			w := flying(t, oneByOne, "a b")
			w.unchecked = true // the naive rules know no MaxStarts
			w.place("b", "prod: b")
			w.now = w.now.Add(10 * time.Minute)
			w.settle()
			if recorded(w.record) != "a TimeOut" || w.started("b") {
				t.Fatalf("recorded %q: %s", recorded(w.record), w.dump())
			}
			turn := func(action policyv1.RemediationAction, limits naiveLimits) {
				w.limits, w.policy.Spec = limits, policy(action, limits).Spec
			}
			turn(test.action, test.limits)
			for range 3 {
				w.write(w.call(test.opts))
			}
			if recorded(w.record) != test.recorded {
				t.Errorf("recorded %q, want %q", recorded(w.record), test.recorded)
			}
			turn(policyv1.Enforce, oneByOne)
			if w.settle(); w.started("b") != test.forgets {
				t.Errorf("it enforces again, and b: %s", w.wave())
			}
		})
	}
}
