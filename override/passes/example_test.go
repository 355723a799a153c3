// SPDX-License-Identifier: Apache-2.0

package passes_test

import (
	"fmt"
	"time"

	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"

	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/override"
	"github.com/cohort-ocm/cohort/override/passes"
	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/status"
	"github.com/cohort-ocm/cohort/status/policyv1"
)

// A policy is enforced on one of two clusters after the other. The controller writes what it is told, clusters report,
// and each call goes one step further.
func ExamplePropagate() {
	policy := &policyv1.Policy{Spec: policyv1.PolicySpec{
		RemediationAction: policyv1.Enforce,
		RolloutStrategy:   clusterv1alpha1.RolloutStrategy{Type: clusterv1alpha1.Progressive},
	}}
	// In a controller these come from grouping.Read.
	groups, err := grouping.FromNames(map[grouping.Key][]string{{}: {"london", "paris"}})
	if err != nil {
		fmt.Println(err)
		return
	}
	resolution, err := override.Resolve(policy, []override.Binding{{
		Name:         "everywhere",
		PlacementRef: policyv1.PlacementRef{APIGroup: "cluster.open-cluster-management.io", Kind: "Placement", Name: "production"},
		Groups:       groups,
	}})
	if err != nil {
		fmt.Println(err)
		return
	}
	noon := time.Date(2026, time.November, 21, 12, 0, 0, 0, time.UTC)

	// What the controller reads of the replicated policies: first none, then what it wrote, then what london reports.
	london := passes.Replica{Cluster: "london", Version: "4f1c", Action: policyv1.Inform, RolloutStatus: status.ToApply}
	paris := passes.Replica{Cluster: "paris", Version: "4f1c", Action: policyv1.Inform, RolloutStatus: status.ToApply}
	enforced := london
	enforced.Action, enforced.RolloutStatus, enforced.Applied = policyv1.Enforce, status.Progressing, noon
	compliant := enforced
	compliant.Compliance, compliant.ComplianceTime = policyv1.Compliant, noon

	for _, replicas := range [][]passes.Replica{nil, {london, paris}, {enforced, paris}, {compliant, paris}} {
		p, err := passes.Propagate(resolution, "4f1c", status.Record{}, replicas, noon, rollout.Options{})
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(p)
		for cluster, reason := range p.Blocked() {
			fmt.Println("-", cluster.Name, "is blocked:", reason)
		}
	}
	// Output:
	// london: inform, ToApply (create); paris: inform, ToApply (create)
	// - london is blocked: its replicated policy first gets this version with remediationAction inform; the action follows once it is the cluster's turn
	// - paris is blocked: its replicated policy first gets this version with remediationAction inform; the action follows once it is the cluster's turn
	// london: enforce, Progressing (update); paris: inform, ToApply
	// - paris is blocked: the concurrency limit is reached (1 of 1 in flight or starting): london is starting
	// london: enforce, Progressing; paris: inform, ToApply
	// - paris is blocked: the concurrency limit is reached (1 of 1 in flight): london is progressing (since 2026-11-21T12:00:00Z), and stays in flight until it is done (no progressDeadline)
	// london: enforce, Succeeded (updateStatus); paris: enforce, Progressing (update)
}

// A webhook refuses a root policy that would never roll out.
func ExampleValidate() {
	policy := &policyv1.Policy{Spec: policyv1.PolicySpec{
		RemediationAction: "sometimes",
		RolloutStrategy:   clusterv1alpha1.RolloutStrategy{Type: "Canary"},
	}}
	for _, err := range passes.Validate(policy, nil) {
		fmt.Println(err)
	}
	// Output:
	// spec.rolloutStrategy.type: Unsupported value: "Canary": supported values: "All", "Progressive", "ProgressivePerGroup"
	// spec.remediationAction: Unsupported value: "sometimes": supported values: "inform", "enforce"
}

// A set's exclusions keep the policy off a cluster, and the replicated policy of a deselected cluster is deleted.
func ExamplePropagation_Find() {
	policy := &policyv1.Policy{Spec: policyv1.PolicySpec{RemediationAction: policyv1.Inform}}
	groups, err := grouping.FromNames(map[grouping.Key][]string{{}: {"london", "paris"}})
	if err != nil {
		fmt.Println(err)
		return
	}
	resolution, err := override.Resolve(policy, []override.Binding{{
		Name:         "everywhere",
		PlacementRef: policyv1.PlacementRef{APIGroup: "cluster.open-cluster-management.io", Kind: "Placement", Name: "production"},
		Groups:       groups,
		Excluded:     []string{"london"},
	}})
	if err != nil {
		fmt.Println(err)
		return
	}
	p, err := passes.Propagate(resolution, "1", status.Record{}, []passes.Replica{{Cluster: "london"}}, time.Time{}, rollout.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, name := range []string{"paris", "london"} {
		cluster, bound := p.Find(name)
		fmt.Printf("%s %t %q\n", name, bound, cluster.Verb)
	}
	fmt.Println("delete", p.Removed)
	// Output:
	// paris true "create"
	// london false ""
	// delete [london]
}
