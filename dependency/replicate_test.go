package dependency_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"

	"github.com/cohort-ocm/cohort/dependency"
)

func TestReplicate(t *testing.T) {
	policy := func(namespace, name string) dependency.Dependency {
		return dependency.Dependency{APIVersion: policyVersion, Kind: "Policy", Namespace: namespace, Name: name, Compliance: dependency.Pending}
	}
	set := func(namespace, name string) dependency.Dependency {
		return dependency.Dependency{APIVersion: "policy.open-cluster-management.io/v1beta1", Kind: "PolicySet",
			Namespace: namespace, Name: name, Compliance: dependency.Pending}
	}
	other := func(apiVersion, kind string) dependency.Dependency {
		return dependency.Dependency{APIVersion: apiVersion, Kind: kind, Name: "o", Compliance: dependency.Pending}
	}
	sets := dependency.PolicySets{
		types.NamespacedName{Namespace: "n", Name: "s"}:     {Spec: dependency.PolicySetSpec{Policies: []string{"a", "b.c"}}},
		types.NamespacedName{Namespace: "m", Name: "s"}:     {Spec: dependency.PolicySetSpec{Policies: []string{"d"}}},
		types.NamespacedName{Namespace: "n", Name: "empty"}: {},
	}
	for _, test := range []struct {
		name     string
		in, want []dependency.Dependency
	}{
		{"P2 a policy without a namespace takes that of the policy", list(policy("", "a")), list(policy("", "n.a"))},
		{"P2 a policy with one keeps it in its name", list(policy("m", "a")), list(policy("", "m.a"))},
		{"P2 a name with a dot stays", list(policy("", "m.a"), policy("m", "n.a")), list(policy("", "m.a"), policy("m", "n.a"))},
		{"P2 a missing name stays missing, so that it is found wrong", list(policy("", "")), list(policy("", ""))},
		{"P2 a set is replaced by its policies, in its place", list(policy("", "x"), set("", "s"), policy("", "y")),
			list(policy("", "n.x"), policy("", "n.a"), policy("", "b.c"), policy("", "n.y"))},
		{"P2 policies of a set are in its namespace", list(set("m", "s")), list(policy("", "m.d"))},
		{"P2 a set that does not exist stays as it is", list(set("", "none")), list(set("", "none"))},
		{"P2 an empty set leaves nothing to wait for", list(set("", "empty")), list()},
		{"P2 other kinds stay, also those of other groups that are called Policy",
			list(other("policy.open-cluster-management.io/v1", "ConfigurationPolicy"), other("kyverno.io/v1", "Policy"), other("x/v1", "PolicySet")),
			list(other("policy.open-cluster-management.io/v1", "ConfigurationPolicy"), other("kyverno.io/v1", "Policy"), other("x/v1", "PolicySet"))},
		{"P2 no dependencies stay none", nil, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, dependency.Replicate(test.in, "n", sets)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func list(dependencies ...dependency.Dependency) []dependency.Dependency {
	return append([]dependency.Dependency{}, dependencies...)
}

// P2: the whole policy, as it stands on the cluster; the one on the hub is not changed.
func TestReplicatedPolicy(t *testing.T) {
	hub := world("x(y): a(z) b")[0]
	hub.Namespace = "default"
	before := clone([]dependency.Policy{hub})[0]
	got := hub.Replicated("cluster1", nil)
	if diff := cmp.Diff(before, hub); diff != "" {
		t.Errorf("the argument was changed:\n%s", diff)
	}
	want := world("default.x(default.y): a(default.z) b")[0]
	want.Namespace = "cluster1"
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(want, got.Replicated("cluster1", nil)); diff != "" {
		t.Errorf("replicated twice:\n%s", diff)
	}
	hub.Namespace = ""
	if got := hub.Replicated("", nil); got.Name != "x" || got.Spec.Dependencies[0].Name != "y" {
		t.Errorf("%s depends on %s: without a namespace there is no name to make", got.Name, got.Spec.Dependencies[0].Name)
	}
}

// P2: a set that is not there is looked up on the cluster as it stands, and its absence reported.
func TestAbsentPolicySetIsReportedOnTheCluster(t *testing.T) {
	hub := world("x: a(s)")[0]
	hub.Spec.PolicyTemplates[0].ExtraDependencies[0].Kind = "PolicySet"
	policies := []dependency.Policy{hub.Replicated(cluster, nil)}
	result := evaluate(policies, missing(policies, dependency.Observations{}))[0].Templates[0]
	if got, want := result.Message(), "Dependencies were not satisfied: 1 is still pending (PolicySet s)"; got != want {
		t.Errorf("message %q, want %q", got, want)
	}
	if got, want := result.Unmet[0].String(), "PolicySet s is not found, want Compliant"; got != want {
		t.Errorf("unmet %q, want %q", got, want)
	}
}

func TestLookup(t *testing.T) {
	for _, test := range []struct {
		name             string
		apiVersion, kind string
		want             string
	}{
		{"P2 a policy is in the cluster's namespace", policyVersion, "Policy", cluster},
		{"P2 so is all of the group that ends in Policy", "policy.open-cluster-management.io/v1beta1", "OperatorPolicy", cluster},
		{"P2 a set does not end in Policy", "policy.open-cluster-management.io/v1beta1", "PolicySet", "given"},
		{"P2 another group is another matter", "kyverno.io/v1", "Policy", "given"},
		{"P2 the core group is none", "v1", "Policy", "given"},
	} {
		t.Run(test.name, func(t *testing.T) {
			d := dependency.Dependency{APIVersion: test.apiVersion, Kind: test.kind, Namespace: "given", Name: "o"}
			want := dependency.Object{APIVersion: test.apiVersion, Kind: test.kind, Namespace: test.want, Name: "o"}
			if got := d.Object(cluster); got != want {
				t.Errorf("got %#v, want %#v", got, want)
			}
		})
	}
}
