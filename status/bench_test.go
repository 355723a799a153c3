// SPDX-License-Identifier: Apache-2.0

package status_test

import (
	"fmt"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	addonv1beta1 "open-cluster-management.io/api/addon/v1beta1"
	workv1 "open-cluster-management.io/api/work/v1"
	workv1alpha1 "open-cluster-management.io/api/work/v1alpha1"

	"github.com/cohort-ocm/cohort/status"
)

// BenchmarkFrom reads the reports of a fleet of n clusters, one object each.
func BenchmarkFrom(b *testing.B) {
	addon := addOn("Progressing", reference("addontemplates", "v2", "t", "t"), reference("addondeploymentconfigs", "default", "new", ""))
	work := manifestWork(
		condition(workv1.WorkApplied, metav1.ConditionTrue, generation, 1),
		condition(workv1.WorkAvailable, metav1.ConditionTrue, generation, 1),
		condition(workv1.WorkProgressing, metav1.ConditionFalse, generation, 1),
	)
	status.StampOf(work).NoteOn(work, "v1", 0, noon)
	desired := []addonv1beta1.ConfigReference{reference("addondeploymentconfigs", "default", "new", ""), reference("addontemplates", "v2", "t", "")}

	for _, source := range []struct {
		name string
		from func() status.Report
	}{
		{"ManifestWork", func() status.Report {
			report, _ := status.FromManifestWork(status.WorkState{Work: work, Version: "v1"})
			return report
		}},
		{"ManagedClusterAddOn", func() status.Report {
			report, _ := status.FromManagedClusterAddOn(status.AddOnState{AddOn: addon, Desired: desired})
			return report
		}},
	} {
		for _, n := range []int{100, 1_000, 10_000} {
			b.Run(fmt.Sprintf("%s/n=%d", source.name, n), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					for range n {
						if source.from().Cluster == "" {
							b.Fatal("no cluster")
						}
					}
				}
			})
		}
	}
}

// BenchmarkSet sets the status of an owner of n clusters. All have a work that is done.
func BenchmarkSet(b *testing.B) {
	for _, n := range []int{100, 1_000, 10_000, 100_000} {
		var names []string
		for i := range n {
			names = append(names, fmt.Sprintf("cluster-%06d", i))
		}
		s := status.Summary{Counts: status.Counts{Succeeded: n}}
		b.Run(fmt.Sprintf("ReplicaSetStatus/n=%d", n), func(b *testing.B) {
			placements := []status.PlacementProgress{{
				Name: "p", Groups: groupsOf(b, strings.Join(names, " ")), Works: works(strings.Join(names, ":AV ") + ":AV"), Summary: s,
			}}
			var st workv1alpha1.ManifestWorkReplicaSetStatus
			b.ReportAllocs()
			for b.Loop() {
				status.SetReplicaSetStatus(&st, placements, 1, noon)
			}
		})
	}
}
