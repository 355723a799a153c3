// SPDX-License-Identifier: Apache-2.0

package approvals_test

import (
	"fmt"
	"time"

	workv1alpha1 "open-cluster-management.io/api/work/v1alpha1"

	"github.com/cohort-ocm/cohort/rollout/approvals"
)

// An operator opens the gate before group prod for version 5c0ffee. The next version waits at the gate again.
func Example() {
	var set workv1alpha1.ManifestWorkReplicaSet
	set.Annotations = map[string]string{
		"cohort.open-cluster-management.io/gates":      "prod, 3=2026-01-02T22:00:00Z",
		"cohort.open-cluster-management.io/open-gates": "prod of 5c0ffee",
	}
	asked, err := approvals.Of(&set)
	if err != nil {
		fmt.Println(err) // start nothing
		return
	}
	for _, version := range []string{"5c0ffee", "7ab1e"} {
		options := asked.Options("", version)
		for _, gate := range options.Gates {
			fmt.Println(version, "closed:", gate.Group.Name, gate.Group.Index, gate.Opens.Format(time.TimeOnly))
		}
	}
	// Output:
	// 5c0ffee closed:  3 22:00:00
	// 7ab1e closed: prod 0 00:00:00
	// 7ab1e closed:  3 22:00:00
}
