// SPDX-License-Identifier: Apache-2.0

package policy_test

import (
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"

	"github.com/cohort-ocm/cohort/examples/kubectl-cohort/internal/policy"
	"github.com/cohort-ocm/cohort/examples/kubectl-cohort/internal/simulation"
	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/override"
	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/status"
	"github.com/cohort-ocm/cohort/status/policyv1"
)

// A policy that a PlacementRule binds to two clusters, which are one group.
func ExampleHub() {
	groups, err := grouping.FromNames(map[grouping.Key][]string{{}: {"a", "b"}}) // a PlacementRule has none
	if err != nil {
		fmt.Println(err)
		return
	}
	tls := &policyv1.Policy{ObjectMeta: metav1.ObjectMeta{Name: "tls"}}
	tls.Spec.RemediationAction = policyv1.Enforce
	tls.Spec.RolloutStrategy.Type = clusterv1alpha1.ProgressivePerGroup
	resolution, err := override.Resolve(tls, []override.Binding{{
		Name: "all", Groups: groups,
		PlacementRef: policyv1.PlacementRef{APIGroup: "apps.open-cluster-management.io", Kind: "PlacementRule", Name: "all"},
	}})
	if err != nil {
		fmt.Println(err)
		return
	}
	hub := policy.New(resolution, "1", rollout.Options{})
	lives := func(string) simulation.Life {
		return simulation.Life{{After: time.Minute, Status: status.Succeeded}}
	}
	if _, err := hub.Play(lives, time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC)); err != nil {
		fmt.Println(err)
		return
	}
	for _, pass := range hub.Passes() {
		fmt.Println(pass.Time.Format(time.TimeOnly), pass.Changes, pass.RolloutStatus)
	}
	// Output:
	// 00:00:00 [a: inform, ToApply (create) b: inform, ToApply (create)] Progressing
	// 00:00:00 [a: enforce, Progressing (update) b: enforce, Progressing (update)] Progressing
	// 00:01:00 [a: enforce, Succeeded (updateStatus) b: enforce, Succeeded (updateStatus)] Succeeded
}
