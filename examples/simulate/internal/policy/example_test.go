package policy_test

import (
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"

	"github.com/cohort-ocm/cohort/examples/simulate/internal/policy"
	"github.com/cohort-ocm/cohort/examples/simulate/internal/simulation"
	"github.com/cohort-ocm/cohort/override"
	"github.com/cohort-ocm/cohort/status"
)

// A policy that a PlacementRule binds to two clusters, which are one group.
func ExampleHub() {
	root := override.Root{Version: "1", Policy: &override.Policy{
		ObjectMeta: metav1.ObjectMeta{Name: "tls"},
		Spec: override.PolicySpec{RemediationAction: override.Enforce,
			RolloutStrategy: clusterv1alpha1.RolloutStrategy{Type: clusterv1alpha1.ProgressivePerGroup}},
	}}
	var err error
	root.Bound, err = override.Resolve(root.Policy, []override.Binding{{
		Name: "all", Clusters: []string{"a", "b"},
		PlacementRef: override.PlacementRef{APIGroup: "apps.open-cluster-management.io", Kind: "PlacementRule", Name: "all"},
	}})
	if err != nil {
		fmt.Println(err)
		return
	}
	if root.Groups, err = root.Bound.Groups(nil); err != nil { // a PlacementRule has none
		fmt.Println(err)
		return
	}
	hub := policy.New(root)
	lives := func(string) simulation.Life {
		return simulation.Life{{After: time.Minute, Status: status.Succeeded}}
	}
	if _, err := simulation.Run(hub.Plan, lives, time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC)); err != nil {
		fmt.Println(err)
		return
	}
	for _, pass := range hub.Passes() {
		fmt.Println(pass.Time.Format(time.TimeOnly), pass.Changes, pass.Status.RolloutStatus)
	}
	// Output:
	// 00:00:00 [a: inform, ToApply (Create) b: inform, ToApply (Create)] Progressing
	// 00:00:00 [a: enforce, Progressing (Update) b: enforce, Progressing (Update)] Progressing
	// 00:01:00 [a: enforce, Succeeded (UpdateStatus) b: enforce, Succeeded (UpdateStatus)] Succeeded
}
