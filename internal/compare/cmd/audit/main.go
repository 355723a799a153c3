// SPDX-License-Identifier: Apache-2.0

// Command audit finds stored rollout strategies that Cohort refuses. It reads what kubectl prints and prints a line for
// each fault; if there are any, it exits with 1.
//
//	kubectl get manifestworkreplicasets,clustermanagementaddons -A -o json | go run ./cmd/audit
package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"

	"k8s.io/apimachinery/pkg/util/validation/field"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"

	"github.com/cohort-ocm/cohort/rollout"
)

// placed is a placement of a workload, as ManifestWorkReplicaSet and ClusterManagementAddOn have it.
type placed struct {
	RolloutStrategy clusterv1alpha1.RolloutStrategy `json:"rolloutStrategy"`
}

// object has the fields of both that have strategies.
type object struct {
	Kind     string
	Metadata struct{ Namespace, Name string }
	Spec     struct {
		PlacementRefs   []placed                      // of a ManifestWorkReplicaSet
		InstallStrategy struct{ Placements []placed } // of a ClusterManagementAddOn
	}
}

func main() {
	faults, err := audit(os.Stdin, os.Stdout)
	if err != nil {
		fmt.Fprintln(os.Stderr, "audit:", err)
		os.Exit(2)
	}
	if faults > 0 {
		os.Exit(1)
	}
}

// audit writes the faults of a list of objects, and counts them.
func audit(in io.Reader, out io.Writer) (faults int, err error) {
	var list struct{ Items []object }
	if err := json.NewDecoder(in).Decode(&list); err != nil {
		return 0, err
	}
	for _, o := range list.Items {
		var errs field.ErrorList
		for i, p := range o.Spec.PlacementRefs {
			errs = append(errs, rollout.Validate(p.RolloutStrategy, field.NewPath("spec", "placementRefs").Index(i).Child("rolloutStrategy"))...)
		}
		for i, p := range o.Spec.InstallStrategy.Placements {
			errs = append(errs, rollout.Validate(p.RolloutStrategy, field.NewPath("spec", "installStrategy", "placements").Index(i).Child("rolloutStrategy"))...)
		}
		for _, err := range errs {
			fmt.Fprintf(out, "%s %s/%s: %v\n", o.Kind, o.Metadata.Namespace, o.Metadata.Name, err)
		}
		faults += len(errs)
	}
	return faults, nil
}
