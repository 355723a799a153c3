// SPDX-License-Identifier: Apache-2.0

package override_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"

	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/override"
	"github.com/cohort-ocm/cohort/status/policyv1"
)

// A binding of these tests is written as a name, what it is, and its clusters, one letter each.
const (
	plain     = ""
	enforces  = "enforce"
	filters   = "sub filter"
	overrides = "sub filter that enforces"
)

func binding(name, kind, clusters string) override.Binding {
	return override.Binding{
		Name:         name,
		PlacementRef: placement(name),
		Enforce:      kind == enforces || kind == overrides,
		SubFilter:    kind == filters || kind == overrides,
		Groups:       oneGroup(letters(clusters)...),
	}
}

func letters(clusters string) []string {
	var names []string
	for _, c := range clusters {
		names = append(names, string(c))
	}
	return names
}

// oneGroup gives the clusters in one group without a name, as for a PlacementRule.
func oneGroup(clusters ...string) *grouping.Groups {
	groups, err := grouping.FromNames(map[grouping.Key][]string{{}: clusters})
	if err != nil {
		panic(err)
	}
	return groups
}

// members are the names of the clusters in the groups.
func members(groups *grouping.Groups) []string {
	names := make([]string, groups.NumClusters())
	for i := range names {
		names[i] = groups.Cluster(i)
	}
	return names
}

func policy(action policyv1.RemediationAction, strategy clusterv1alpha1.RolloutType) *policyv1.Policy {
	return &policyv1.Policy{
		ObjectMeta: metav1.ObjectMeta{Name: "policy", Namespace: "policies"},
		Spec: policyv1.PolicySpec{
			RemediationAction: action,
			RolloutStrategy: clusterv1alpha1.RolloutStrategy{
				Type:                strategy,
				Progressive:         &clusterv1alpha1.RolloutProgressive{},
				ProgressivePerGroup: &clusterv1alpha1.RolloutProgressivePerGroup{},
			},
		},
	}
}

func placement(name string) policyv1.PlacementRef {
	return policyv1.PlacementRef{APIGroup: "cluster.open-cluster-management.io", Kind: "Placement", Name: name}
}

// placementBinding is a binding in the tests' namespace. Its subjects are written as kind and name.
func placementBinding(name string, subjects ...string) *policyv1.PlacementBinding {
	b := &policyv1.PlacementBinding{
		ObjectMeta:   metav1.ObjectMeta{Name: name, Namespace: "policies"},
		PlacementRef: placement(name),
	}
	for i := 0; i < len(subjects); i += 2 {
		b.Subjects = append(b.Subjects, policyv1.Subject{
			APIGroup: "policy.open-cluster-management.io", Kind: subjects[i], Name: subjects[i+1],
		})
	}
	return b
}

func policySet(name string, policies ...string) *policyv1.PolicySet {
	return &policyv1.PolicySet{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "policies"},
		Spec:       policyv1.PolicySetSpec{Policies: policies},
	}
}

func resolve(t testing.TB, p *policyv1.Policy, bindings ...override.Binding) *override.Resolution {
	t.Helper()
	r, err := override.Resolve(p, bindings)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// explain gives a line for each cluster.
func explain(r *override.Resolution) []string {
	var lines []string
	for c := range r.Clusters() {
		lines = append(lines, c.String())
	}
	return lines
}

// bound are the bound clusters.
func bound(r *override.Resolution) []override.Cluster { return slices.Collect(r.Clusters()) }

// show lists groups with their clusters: `group 0 "canary": a b | group 1:`.
func show(groups *grouping.Groups) string {
	out := ""
	for i := range groups.Len() {
		if i > 0 {
			out += " | "
		}
		out += fmt.Sprint(groups.Key(i), ":")
		for d := range groups.Clusters(i) {
			out += " " + d.ClusterName
		}
	}
	return out
}

func checkError(t *testing.T, err error, want string) {
	t.Helper()
	if err == nil || err.Error() != want {
		t.Fatalf("got  %v\nwant %s", err, want)
	}
	var invalid *field.Error
	if !errors.As(err, &invalid) {
		t.Errorf("%v has no *field.Error", err)
	}
}

// sameGroups compares groups in a cmp.Diff.
var sameGroups = cmp.Comparer(func(a, b *grouping.Groups) bool { return a == b || a != nil && b != nil && a.Equal(b) })
