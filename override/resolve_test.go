package override_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"

	"github.com/cohort-ocm/cohort/override"
)

// explain returns a line for each cluster.
func explain(result override.Result) []string {
	var lines []string
	for _, c := range result.Clusters {
		lines = append(lines, c.String())
	}
	return lines
}

// A binding of these tests is written as a name, what it is, and its clusters, one letter each.
const (
	plain     = ""
	enforces  = "enforce"
	filters   = "sub filter"
	overrides = "sub filter that enforces"
)

func binding(name, kind, clusters string) override.Binding {
	b := override.Binding{
		Name:         name,
		PlacementRef: placement(name),
		Enforce:      kind == enforces || kind == overrides,
		SubFilter:    kind == filters || kind == overrides,
	}
	for _, c := range clusters {
		b.Clusters = append(b.Clusters, string(c))
	}
	return b
}

func policy(action override.RemediationAction, strategy clusterv1alpha1.RolloutType) *override.Policy {
	return &override.Policy{
		ObjectMeta: metav1.ObjectMeta{Name: "policy", Namespace: "policies"},
		Spec: override.PolicySpec{
			RemediationAction: action,
			RolloutStrategy:   clusterv1alpha1.RolloutStrategy{Type: strategy},
		},
	}
}

// What is bound, with which action, and why.
func TestResolve(t *testing.T) {
	elsewhere := binding("elsewhere", enforces, "AB")
	elsewhere.PlacementRef = override.PlacementRef{APIGroup: "", Kind: "ConfigMap", Name: "clusters"}
	disabled := policy(override.Enforce, "")
	disabled.Spec.Disabled = true
	excluding := func(kind, clusters string) override.Binding {
		b := binding("excluding", kind, clusters)
		b.Excluded = []string{"C", "A"}
		return b
	}

	for _, test := range []struct {
		name     string
		policy   *override.Policy
		bindings []override.Binding
		want     string
		why      []string
	}{
		{
			"O2 no binding binds nothing", policy("inform", ""), nil, "", nil,
		}, {
			"O2 bindings add up, and a cluster bound twice is bound once", policy("inform", ""),
			[]override.Binding{binding("one", plain, "AB"), binding("two", plain, "BC")},
			"inform: A B C",
			[]string{"A: inform by the policy, bound by one", "B: inform by the policy, bound by one, two", "C: inform by the policy, bound by two"},
		}, {
			"O2 a cluster named twice by one binding is bound once", policy("inform", ""),
			[]override.Binding{binding("one", plain, "ABA")},
			"inform: A B",
			[]string{"A: inform by the policy, bound by one", "B: inform by the policy, bound by one"},
		}, {
			"O2 a sub filter alone binds nothing", policy("enforce", ""),
			[]override.Binding{binding("sub", overrides, "AB")}, "", nil,
		}, {
			"O2 a sub filter that does not enforce has no effect", policy("inform", ""),
			[]override.Binding{binding("one", plain, "A"), binding("sub", filters, "AB")},
			"inform: A",
			[]string{"A: inform by the policy, bound by one"},
		},
		{
			"O3 one override among several bindings is enough", policy("inform", ""),
			[]override.Binding{binding("one", plain, "AB"), binding("two", enforces, "A"), binding("three", plain, "A")},
			"enforce: A; inform: B",
			[]string{"A: enforce by two, bound by one, three, two", "B: inform by the policy, bound by one"},
		}, {
			"O3 a policy that enforces needs no override", policy("enforce", ""),
			[]override.Binding{binding("one", plain, "A"), binding("two", enforces, "A"), binding("sub", overrides, "A")},
			"enforce: A",
			[]string{"A: enforce by the policy, bound by one, two"},
		}, {
			"O3 without an action the templates decide", policy("", ""),
			[]override.Binding{binding("one", plain, "AB"), binding("sub", overrides, "A")},
			"enforce: A; unset: B",
			[]string{"A: enforce by sub, bound by one", "B: unset by the policy, bound by one"},
		}, {
			"O3 the policy's letter case does not matter", policy("EnForce", ""),
			[]override.Binding{binding("one", plain, "A")},
			"enforce: A",
			[]string{"A: enforce by the policy, bound by one"},
		},
		{
			"O4 clusters and names are in order whatever the order of the input", policy("Inform", "All"),
			[]override.Binding{binding("z", overrides, "CBA"), binding("b", enforces, "CA"), binding("a", plain, "BCA")},
			"enforce: A B C",
			[]string{"A: enforce by b, z, bound by a, b", "B: enforce by z, bound by a", "C: enforce by b, z, bound by a, b"},
		},
		{
			"O5 Progressive ignores overrides", policy("inform", "Progressive"),
			[]override.Binding{binding("one", plain, "AB"), binding("two", enforces, "AC")},
			"inform: A B C; ignored: two (OverrideIgnored)",
			[]string{"A: inform by the policy, bound by one, two", "B: inform by the policy, bound by one", "C: inform by the policy, bound by two"},
		}, {
			"O5 ProgressivePerGroup ignores sub filters, which bind as little as ever", policy("enforce", "ProgressivePerGroup"),
			[]override.Binding{binding("one", plain, "A"), binding("sub", overrides, "AB"), binding("filter", filters, "AC")},
			"enforce: A; ignored: filter (SubFilterIgnored) sub (SubFilterIgnored)",
			[]string{"A: enforce by the policy, bound by one"},
		},
		{
			"O6 a disabled policy is bound nowhere", disabled,
			[]override.Binding{binding("one", plain, "A")}, "", nil,
		}, {
			"O6 a reference to something else binds and overrides nothing", policy("inform", ""),
			[]override.Binding{binding("one", plain, "A"), elsewhere},
			"inform: A; ignored: elsewhere (PlacementRefUnsupported)",
			[]string{"A: inform by the policy, bound by one"},
		}, {
			"O6 an excluded cluster is not bound", policy("inform", ""),
			[]override.Binding{excluding(plain, "ABC")},
			"inform: B",
			[]string{"B: inform by the policy, bound by excluding"},
		}, {
			"O6 another binding may bind an excluded cluster, without the excluding binding's override", policy("inform", ""),
			[]override.Binding{excluding(enforces, "ABC"), binding("one", plain, "A")},
			"enforce: B; inform: A",
			[]string{"A: inform by the policy, bound by one", "B: enforce by excluding, bound by excluding"},
		}, {
			"O6 a sub filter leaves excluded clusters alone, too", policy("inform", ""),
			[]override.Binding{excluding(overrides, "AB"), binding("one", plain, "AB")},
			"enforce: B; inform: A",
			[]string{"A: inform by the policy, bound by one", "B: enforce by excluding, bound by one"},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			result, err := override.Resolve(test.policy, test.bindings)
			if err != nil {
				t.Fatal(err)
			}
			if got := result.String(); got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
			if diff := cmp.Diff(test.why, explain(result)); diff != "" {
				t.Errorf("why (-want +got):\n%s", diff)
			}
		})
	}
}

// O5, O6: what was ignored is said in a sentence.
func TestResolveIgnoredMessages(t *testing.T) {
	elsewhere := binding("elsewhere", plain, "A")
	elsewhere.PlacementRef = override.PlacementRef{APIGroup: "apps.open-cluster-management.io", Kind: "Placement", Name: "dev"}
	result, err := override.Resolve(policy("inform", "Progressive"),
		[]override.Binding{binding("two", enforces, "A"), binding("sub", overrides, "A"), elsewhere})
	if err != nil {
		t.Fatal(err)
	}
	want := []override.Ignored{
		{"elsewhere", override.PlacementRefUnsupported, `binding "elsewhere" binds nothing: it refers to Placement.apps.open-cluster-management.io/dev, ` +
			`expected a named Placement.cluster.open-cluster-management.io or PlacementRule.apps.open-cluster-management.io`},
		{"sub", override.SubFilterIgnored, `binding "sub" has no effect: it is a sub filter, and the policy's rollout strategy is Progressive, not All`},
		{"two", override.OverrideIgnored, `binding "two" does not enforce the policy: its rollout strategy is Progressive, not All`},
	}
	if diff := cmp.Diff(want, result.Ignored); diff != "" {
		t.Errorf("ignored (-want +got):\n%s", diff)
	}
}

// O6: a placementRef is a Placement or a PlacementRule of the right API group, with a name.
func TestResolvePlacementRefs(t *testing.T) {
	const placements, rules = "cluster.open-cluster-management.io", "apps.open-cluster-management.io"
	for ref, binds := range map[override.PlacementRef]bool{
		{APIGroup: placements, Kind: "Placement", Name: "x"}:     true,
		{APIGroup: rules, Kind: "PlacementRule", Name: "x"}:      true,
		{APIGroup: rules, Kind: "Placement", Name: "x"}:          false,
		{APIGroup: placements, Kind: "PlacementRule", Name: "x"}: false,
		{APIGroup: placements, Kind: "placement", Name: "x"}:     false,
		{APIGroup: placements, Kind: "Placement"}:                false,
		{APIGroup: rules, Kind: "PlacementRule"}:                 false,
		{Kind: "Placement", Name: "x"}:                           false,
		{}:                                                       false,
	} {
		b := binding("b", enforces, "A")
		b.PlacementRef = ref
		result, err := override.Resolve(policy("inform", ""), []override.Binding{b})
		if err != nil {
			t.Fatal(err)
		}
		if bound, ignored := len(result.Clusters) == 1, len(result.Ignored) == 1; bound != binds || ignored == binds {
			t.Errorf("%s: bound %t, reported as ignored %t, want it to bind %t", ref, bound, ignored, binds)
		}
	}
}

// O4: a cluster is found by its name.
func TestResultCluster(t *testing.T) {
	result, err := override.Resolve(policy("inform", ""), []override.Binding{binding("one", plain, "ACE"), binding("two", enforces, "C")})
	if err != nil {
		t.Fatal(err)
	}
	want := override.Cluster{Name: "C", Action: override.Enforce, BoundBy: []string{"one", "two"}, DecidedBy: []string{"two"}}
	got, bound := result.Cluster("C")
	if diff := cmp.Diff(want, got); diff != "" || !bound {
		t.Errorf("C bound %t (-want +got):\n%s", bound, diff)
	}
	for _, name := range []string{"", "B", "F"} {
		if got, bound := result.Cluster(name); bound {
			t.Errorf("%q is bound: %s", name, got)
		}
	}
}

// Bad input is said with its place, in an order of its own, and nothing is resolved.
func TestResolveErrors(t *testing.T) {
	for _, test := range []struct {
		name     string
		policy   *override.Policy
		bindings []override.Binding
		want     string
	}{
		{"no policy", nil, nil, "policy: Required value: expected the root policy"},
		{
			"O3 an action that is none", policy("inform-only", ""), nil,
			`policy.spec.remediationAction: Unsupported value: "inform-only": supported values: "inform", "enforce"`,
		}, {
			"O5 a strategy that is none", policy("", "Canary"), nil,
			`policy.spec.rolloutStrategy.type: Unsupported value: "Canary": supported values: "All", "Progressive", "ProgressivePerGroup"`,
		}, {
			"O1 two bindings of one name", policy("", ""),
			[]override.Binding{binding("b", plain, "A"), binding("a", plain, "A"), binding("b", enforces, "B")},
			`bindings[b]: Duplicate value: "b"`,
		}, {
			"O1 no name", policy("", ""), []override.Binding{{PlacementRef: placement("dev")}},
			"bindings[].name: Required value: a binding of Placement.cluster.open-cluster-management.io/dev has none",
		}, {
			"O1 a cluster without a name", policy("", ""),
			[]override.Binding{{Name: "b", PlacementRef: placement("dev"), Clusters: []string{"A", ""}}},
			"bindings[b].clusters[1]: Required value: expected the name of a cluster",
		}, {
			"several at once", policy("off", ""),
			[]override.Binding{{Name: "b", Clusters: []string{""}}, {Name: "a", Clusters: []string{""}}},
			"bindings[a].clusters[0]: Required value: expected the name of a cluster\n" +
				"bindings[b].clusters[0]: Required value: expected the name of a cluster\n" +
				`policy.spec.remediationAction: Unsupported value: "off": supported values: "inform", "enforce"`,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			result, err := override.Resolve(test.policy, test.bindings)
			checkError(t, err, test.want)
			if diff := cmp.Diff(override.Result{}, result); diff != "" {
				t.Errorf("a result besides the error: %s", diff)
			}
		})
	}

	// O6: switching a policy off works however wrong all else is.
	broken := policy("off", "Canary")
	broken.Spec.Disabled = true
	if result, err := override.Resolve(broken, []override.Binding{{}}); err != nil || len(result.Clusters) > 0 {
		t.Errorf("disabled: %v, %v", result, err)
	}
}

func checkError(t *testing.T, err error, want string) {
	t.Helper()
	if err == nil || err.Error() != want {
		t.Fatalf("got  %v\nwant %s", err, want)
	}
	var invalid *field.Error
	if !errors.As(err, &invalid) {
		t.Errorf("%v holds no *field.Error", err)
	}
}
