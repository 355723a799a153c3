package status_test

import (
	"fmt"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	addonv1alpha1 "open-cluster-management.io/api/addon/v1alpha1"
	workv1 "open-cluster-management.io/api/work/v1"

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
	desired := []addonv1alpha1.ConfigReference{reference("addondeploymentconfigs", "default", "new", ""), reference("addontemplates", "v2", "t", "")}
	policy := status.PolicyState{Cluster: "cluster1", RemediationAction: "enforce", Compliance: "Compliant"}

	for _, source := range []struct {
		name string
		from func() status.Report
	}{
		{"ManifestWork", func() status.Report { return status.FromManifestWork(work) }},
		{"ManagedClusterAddOn", func() status.Report { return status.FromManagedClusterAddOn(addon, desired) }},
		{"Policy", func() status.Report { return status.FromPolicy(policy) }},
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
