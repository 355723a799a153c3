package override_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/cohort-ocm/cohort/override"
)

// placementBinding returns a binding in the tests' namespace whose subjects are written as kind and name.
func placementBinding(name string, subjects ...string) *override.PlacementBinding {
	b := &override.PlacementBinding{
		ObjectMeta:   metav1.ObjectMeta{Name: name, Namespace: "policies"},
		PlacementRef: placement(name),
	}
	for i := 0; i < len(subjects); i += 2 {
		b.Subjects = append(b.Subjects, override.Subject{
			APIGroup: "policy.open-cluster-management.io", Kind: subjects[i], Name: subjects[i+1],
		})
	}
	return b
}

func policySet(name string, policies ...string) *override.PolicySet {
	return &override.PolicySet{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "policies"},
		Spec:       override.PolicySetSpec{Policies: policies},
	}
}

// O1: an override is read in either spelling, its action in any letter case.
func TestBindingsSpellings(t *testing.T) {
	type outcome struct{ enforce, subFilter bool }
	for _, test := range []struct {
		reason    string
		shipped   override.RemediationAction
		subFilter override.SubFilter
		design    override.RemediationActionOverride
		want      outcome
	}{
		{"O1 nothing", "", "", override.RemediationActionOverride{}, outcome{}},
		{"O1 shipped action", "enforce", "", override.RemediationActionOverride{}, outcome{enforce: true}},
		{"O1 shipped action, capital as the API also admits", "Enforce", "", override.RemediationActionOverride{}, outcome{enforce: true}},
		{"O1 any letter case", "eNFORCe", "", override.RemediationActionOverride{}, outcome{enforce: true}},
		{"O1 shipped sub filter", "", "restricted", override.RemediationActionOverride{}, outcome{subFilter: true}},
		{"O1 shipped, both", "enforce", "restricted", override.RemediationActionOverride{}, outcome{true, true}},
		{"O1 design action", "", "", override.RemediationActionOverride{RemediationAction: "ENFORCE"}, outcome{enforce: true}},
		{"O1 design sub filter", "", "", override.RemediationActionOverride{SubFilter: true}, outcome{subFilter: true}},
		{"O1 design, both", "", "", override.RemediationActionOverride{RemediationAction: "enforce", SubFilter: true}, outcome{true, true}},
		{"O1 half in each spelling", "enforce", "", override.RemediationActionOverride{SubFilter: true}, outcome{true, true}},
		{"O1 the other halves", "", "restricted", override.RemediationActionOverride{RemediationAction: "enforce"}, outcome{true, true}},
		{"O1 the same in both", "enforce", "restricted", override.RemediationActionOverride{RemediationAction: "enforce", SubFilter: true}, outcome{true, true}},
	} {
		t.Run(test.reason, func(t *testing.T) {
			b := placementBinding("b", "Policy", "policy")
			b.BindingOverrides.RemediationAction, b.SubFilter, b.RemediationActionOverride = test.shipped, test.subFilter, test.design
			got, err := override.Bindings(policy("", ""), []*override.PlacementBinding{b}, nil)
			if err != nil {
				t.Fatal(err)
			}
			want := []override.Binding{{Name: "b", PlacementRef: placement("b"), Enforce: test.want.enforce, SubFilter: test.want.subFilter}}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("bindings (-want +got):\n%s", diff)
			}
		})
	}
}

// O6: whose subjects the policy is, and which clusters a binding leaves out.
func TestBindingsSubjects(t *testing.T) {
	excluding := func(name string, clusters ...string) *override.PolicySet {
		set := policySet(name, "other", "policy")
		set.Spec.Exclusions = []override.Exclusion{
			{PolicyName: "other", ClusterNames: []string{"z"}},
			{PolicyName: "policy", ClusterNames: clusters},
		}
		return set
	}
	foreign := excluding("foreign-set", "a")
	foreign.Namespace = "elsewhere"
	twice := excluding("twice", "c", "a")
	twice.Spec.Exclusions = append(twice.Spec.Exclusions, override.Exclusion{PolicyName: "policy", ClusterNames: []string{"b", "a"}})
	sets := []*override.PolicySet{
		policySet("with", "other", "policy"), policySet("without", "other"), excluding("ab", "b", "a"), excluding("bc", "b", "c"), twice, foreign, nil,
	}
	wrongGroup := placementBinding("b", "Policy", "policy")
	wrongGroup.Subjects[0].APIGroup = "apps.open-cluster-management.io"
	wrongNamespace := placementBinding("b", "Policy", "policy")
	wrongNamespace.Namespace = "elsewhere"

	for _, test := range []struct {
		reason  string
		binding *override.PlacementBinding
		want    string
	}{
		{"O6 no subject", placementBinding("b"), "none"},
		{"O6 the policy", placementBinding("b", "Policy", "policy"), "all clusters"},
		{"O6 another policy", placementBinding("b", "Policy", "other"), "none"},
		{"O6 the policy among others", placementBinding("b", "Policy", "other", "Policy", "policy"), "all clusters"},
		{"O6 the policy's name, another kind", placementBinding("b", "ConfigurationPolicy", "policy"), "none"},
		{"O6 the policy's name, another API group", wrongGroup, "none"},
		{"O6 a binding in another namespace", wrongNamespace, "none"},
		{"O6 a missing binding", nil, "none"},
		{"O6 a set that contains it", placementBinding("b", "PolicySet", "with"), "all clusters"},
		{"O6 a set that does not", placementBinding("b", "PolicySet", "without"), "none"},
		{"O6 a set that does not exist", placementBinding("b", "PolicySet", "missing"), "none"},
		{"O6 a set of another namespace", placementBinding("b", "PolicySet", "foreign-set"), "none"},
		{"O6 a policy of a set's name", placementBinding("b", "Policy", "with"), "none"},
		{"O6 a set of the policy's name", placementBinding("b", "PolicySet", "policy"), "none"},
		{"O6 a set excludes clusters from it", placementBinding("b", "PolicySet", "ab"), "without [a b]"},
		{"O6 exclusions add up", placementBinding("b", "PolicySet", "twice"), "without [a b c]"},
		{"O6 two sets exclude what both exclude", placementBinding("b", "PolicySet", "ab", "PolicySet", "bc"), "without [b]"},
		{"O6 a set without exclusions lets all through", placementBinding("b", "PolicySet", "ab", "PolicySet", "with"), "all clusters"},
		{"O6 the policy itself lets all through", placementBinding("b", "PolicySet", "ab", "Policy", "policy"), "all clusters"},
		{"O6 also the other way around", placementBinding("b", "Policy", "policy", "PolicySet", "ab"), "all clusters"},
		{"O6 a set that is not the policy's changes nothing", placementBinding("b", "PolicySet", "without", "PolicySet", "ab"), "without [a b]"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			bindings, err := override.Bindings(policy("", ""), []*override.PlacementBinding{test.binding}, sets)
			if err != nil {
				t.Fatal(err)
			}
			got := "none"
			if len(bindings) > 0 {
				got = "all clusters"
				if excluded := bindings[0].Excluded; len(excluded) > 0 {
					got = fmt.Sprintf("without %v", excluded)
				}
			}
			if got != test.want {
				t.Errorf("got %s, want %s", got, test.want)
			}
		})
	}
}

// O6: a disabled policy has no bindings, however wrong they are.
func TestBindingsOfDisabledPolicy(t *testing.T) {
	p := policy("", "")
	p.Spec.Disabled = true
	b := placementBinding("", "Policy", "policy")
	b.SubFilter = "wide"
	if got, err := override.Bindings(p, []*override.PlacementBinding{b}, nil); err != nil || got != nil {
		t.Errorf("got %v, %v, want none", got, err)
	}
}

// O1: bad fields are said with the binding or set and the field, in an order of their own.
func TestBindingsErrors(t *testing.T) {
	shipped := placementBinding("shipped", "Policy", "policy")
	shipped.BindingOverrides.RemediationAction = "inform"
	design := placementBinding("design", "Policy", "policy")
	design.RemediationActionOverride.RemediationAction = "off"
	wide := placementBinding("wide", "Policy", "policy")
	wide.SubFilter = "Restricted"
	nameless := placementBinding("", "PolicySet", "set")
	others := placementBinding("others", "Policy", "other")
	others.SubFilter = "wide"

	set := policySet("set", "policy")
	set.Spec.Exclusions = []override.Exclusion{{ClusterNames: []string{"a"}}, {PolicyName: "policy", ClusterNames: []string{"a", ""}}}
	unrelated := policySet("unrelated", "other")
	unrelated.Spec.Exclusions = set.Spec.Exclusions

	for _, test := range []struct {
		name     string
		policy   *override.Policy
		bindings []*override.PlacementBinding
		sets     []*override.PolicySet
		want     string
	}{
		{"no policy", nil, nil, nil, "policy.metadata.name: Required value: expected the name of the root policy"},
		{"a nameless policy", &override.Policy{}, nil, nil, "policy.metadata.name: Required value: expected the name of the root policy"},
		{
			"O1 an override to inform", policy("", ""), []*override.PlacementBinding{shipped}, nil,
			`placementBindings[shipped].bindingOverrides.remediationAction: Unsupported value: "inform": supported values: "enforce"`,
		}, {
			"O1 the design document's spelling", policy("", ""), []*override.PlacementBinding{design}, nil,
			`placementBindings[design].remediationActionOverride.remediationAction: Unsupported value: "off": supported values: "enforce"`,
		}, {
			"O1 a sub filter that is none", policy("", ""), []*override.PlacementBinding{wide}, nil,
			`placementBindings[wide].subFilter: Unsupported value: "Restricted": supported values: "restricted"`,
		}, {
			"O1 a binding without a name", policy("", ""), []*override.PlacementBinding{nameless}, []*override.PolicySet{policySet("set", "policy")},
			"placementBindings[].metadata.name: Required value: a binding of Placement.cluster.open-cluster-management.io/ has none",
		}, {
			"O6 exclusions without names", policy("", ""), nil, []*override.PolicySet{unrelated, set},
			"policySets[set].spec.exclusions[0].policyName: Required value: expected the name of a policy in the set\n" +
				"policySets[set].spec.exclusions[1].clusterNames[1]: Required value: expected the name of a cluster",
		}, {
			"O6 two sets of one name", policy("", ""), nil, []*override.PolicySet{policySet("set", "policy"), policySet("set", "policy")},
			`policySets[set]: Duplicate value: "set"`,
		}, {
			"O1 several, but not of another policy's bindings", policy("", ""), []*override.PlacementBinding{wide, others, shipped}, nil,
			`placementBindings[shipped].bindingOverrides.remediationAction: Unsupported value: "inform": supported values: "enforce"` + "\n" +
				`placementBindings[wide].subFilter: Unsupported value: "Restricted": supported values: "restricted"`,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := override.Bindings(test.policy, test.bindings, test.sets)
			checkError(t, err, test.want)
			if got != nil {
				t.Errorf("bindings besides the error: %v", got)
			}
		})
	}
}
