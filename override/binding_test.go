// SPDX-License-Identifier: Apache-2.0

package override_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/cohort-ocm/cohort/override"
	"github.com/cohort-ocm/cohort/status/policyv1"
)

// O1: an override is read in either spelling, its action in any letter case.
func TestBindingsSpellings(t *testing.T) {
	type outcome struct{ enforce, subFilter bool }
	for _, test := range []struct {
		reason    string
		shipped   policyv1.RemediationAction
		subFilter policyv1.SubFilter
		design    policyv1.RemediationActionOverride
		want      outcome
	}{
		{"O1 nothing", "", "", policyv1.RemediationActionOverride{}, outcome{}},
		{"O1 shipped action", "enforce", "", policyv1.RemediationActionOverride{}, outcome{enforce: true}},
		{"O1 shipped action, capital as the API also admits", "Enforce", "", policyv1.RemediationActionOverride{}, outcome{enforce: true}},
		{"O1 any letter case", "eNFORCe", "", policyv1.RemediationActionOverride{}, outcome{enforce: true}},
		{"O1 shipped sub filter", "", "restricted", policyv1.RemediationActionOverride{}, outcome{subFilter: true}},
		{"O1 shipped, both", "enforce", "restricted", policyv1.RemediationActionOverride{}, outcome{true, true}},
		{"O1 design action", "", "", policyv1.RemediationActionOverride{RemediationAction: "ENFORCE"}, outcome{enforce: true}},
		{"O1 design sub filter", "", "", policyv1.RemediationActionOverride{SubFilter: true}, outcome{subFilter: true}},
		{"O1 design, both", "", "", policyv1.RemediationActionOverride{RemediationAction: "enforce", SubFilter: true}, outcome{true, true}},
		{"O1 half in each spelling", "enforce", "", policyv1.RemediationActionOverride{SubFilter: true}, outcome{true, true}},
		{"O1 the other halves", "", "restricted", policyv1.RemediationActionOverride{RemediationAction: "enforce"}, outcome{true, true}},
		{"O1 the same in both", "enforce", "restricted", policyv1.RemediationActionOverride{RemediationAction: "enforce", SubFilter: true}, outcome{true, true}},
	} {
		t.Run(test.reason, func(t *testing.T) {
			b := placementBinding("b", "Policy", "policy")
			b.BindingOverrides.RemediationAction, b.SubFilter, b.RemediationActionOverride = test.shipped, test.subFilter, test.design
			got, err := override.Bindings(policy("", ""), []*policyv1.PlacementBinding{b}, nil)
			if err != nil {
				t.Fatal(err)
			}
			want := []override.Binding{{Name: "b", PlacementRef: placement("b"), Enforce: test.want.enforce, SubFilter: test.want.subFilter, Direct: true}}
			if diff := cmp.Diff(want, got, sameGroups); diff != "" {
				t.Errorf("bindings (-want +got):\n%s", diff)
			}
		})
	}
}

// O6: which bindings have the policy as a subject, and which clusters a binding leaves out.
func TestBindingsSubjects(t *testing.T) {
	excluding := func(name string, clusters ...string) *policyv1.PolicySet {
		set := policySet(name, "other", "policy")
		set.Spec.Exclusions = []policyv1.Exclusion{
			{PolicyName: "other", ClusterNames: []string{"z"}},
			{PolicyName: "policy", ClusterNames: clusters},
		}
		return set
	}
	foreign := excluding("foreign-set", "a")
	foreign.Namespace = "elsewhere"
	twice := excluding("twice", "c", "a")
	twice.Spec.Exclusions = append(twice.Spec.Exclusions, policyv1.Exclusion{PolicyName: "policy", ClusterNames: []string{"b", "a"}})
	sets := []*policyv1.PolicySet{
		policySet("with", "other", "policy"), policySet("without", "other"), excluding("ab", "b", "a"), excluding("bc", "b", "c"), twice, foreign, nil,
	}
	wrongGroup := placementBinding("b", "Policy", "policy")
	wrongGroup.Subjects[0].APIGroup = "apps.open-cluster-management.io"
	wrongNamespace := placementBinding("b", "Policy", "policy")
	wrongNamespace.Namespace = "elsewhere"

	for _, test := range []struct {
		reason  string
		binding *policyv1.PlacementBinding
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
			bindings, err := override.Bindings(policy("", ""), []*policyv1.PlacementBinding{test.binding}, sets)
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

// O6, O20: nothing that is wrong with its bindings keeps a policy from being disabled.
func TestBindingsOfDisabledPolicy(t *testing.T) {
	p := policy("", "")
	p.Spec.Disabled = true
	b := placementBinding("", "Policy", "policy")
	b.SubFilter = "wide"
	got, err := override.Bindings(p, []*policyv1.PlacementBinding{b}, nil)
	if err != nil || len(got) != 1 {
		t.Fatalf("got %v, %v, want the one", got, err)
	}
	if r, err := override.Resolve(p, append(got, got...)); err != nil || !r.Disabled() || r.Groups().NumClusters() != 0 {
		t.Errorf("got %v, %v, want bound nowhere", r, err)
	}
}

// O6: a webhook gets an error for each exclusion for which Bindings refuses the set, whichever policy it is of.
func TestValidateSetFindsWhatBindingsRefuses(t *testing.T) {
	if err := override.ValidateSet(nil, field.NewPath("set")).ToAggregate(); err == nil || err.Error() != "set: Required value: must not be nil" {
		t.Errorf("no set: %v", err)
	}
	for _, test := range []struct {
		why, policyName, cluster string
		want                     string // what ValidateSet says
		refused                  string // the policies of the set, a and b, that are refused
	}{
		{"nothing is wrong", "a", "c", "", ""},
		{"it is not known which policy's it is", "", "c", "spec.exclusions[0].policyName: Required value: must be the name of a policy in the set", "ab"},
		{"only one policy is concerned", "b", "", "spec.exclusions[0].clusterNames[0]: Required value: must be the name of a cluster", "b"},
	} {
		set := policySet("set", "a", "b")
		set.Spec.Exclusions = []policyv1.Exclusion{{PolicyName: test.policyName, ClusterNames: []string{test.cluster}}}
		said, refused := "", ""
		for _, err := range override.ValidateSet(set, nil) {
			said += err.Error()
		}
		for _, name := range []string{"a", "b"} {
			p := policy("", "")
			p.Name = name
			if _, err := override.Bindings(p, nil, []*policyv1.PolicySet{set}); err != nil {
				refused += name
				if err.Error() != "sets[set]."+said {
					t.Errorf("%s: Bindings says %v, and ValidateSet %s", test.why, err, said)
				}
			}
		}
		if said != test.want || refused != test.refused {
			t.Errorf("%s: %q, refused are %q", test.why, said, refused)
		}
	}
}

// O21: the ten cases of OCM's webhook for PolicySets, by kind. Bindings takes all of them, as OCM's propagator does.
func TestValidateSetRefusesWhatOCMRefuses(t *testing.T) {
	excludes := func(policies ...string) (list []policyv1.Exclusion) {
		for i, name := range policies {
			list = append(list, policyv1.Exclusion{PolicyName: name, ClusterNames: []string{fmt.Sprint("c", i)}})
		}
		return list
	}
	const path = "spec.exclusions"
	for _, test := range []struct {
		why        string
		policies   []string
		exclusions []policyv1.Exclusion
		want       string
	}{
		{"no exclusions", []string{"policy", "b"}, nil, ""},
		{"empty exclusions", []string{"policy"}, []policyv1.Exclusion{}, ""},
		{"one", []string{"policy"}, excludes("policy"), ""},
		{"one for each policy", []string{"policy", "b"}, excludes("policy", "b"), ""},
		{"a policy that is not in the set", []string{"policy"}, excludes("b"), path + `[0].policyName: Invalid value: "b": must be the name of a policy in the set`},
		{"two of them", []string{"policy"}, excludes("b", "c"), path + `[0].policyName: Invalid value: "b": must be the name of a policy in the set ` +
			path + `[1].policyName: Invalid value: "c": must be the name of a policy in the set`},
		{"the same one twice", []string{"policy"}, excludes("b", "b"), path + `[0].policyName: Invalid value: "b": must be the name of a policy in the set ` +
			path + `[1].policyName: Duplicate value: "b"`},
		{"a policy of the set twice", []string{"policy"}, excludes("policy", "policy"), path + `[1].policyName: Duplicate value: "policy"`},
		{"an empty set", nil, excludes("policy"), path + `[0].policyName: Invalid value: "policy": must be the name of a policy in the set`},
		{"no cluster, which the definition of the resource refuses", []string{"policy"}, []policyv1.Exclusion{{PolicyName: "policy"}}, path + "[0].clusterNames: Required value: must name at least one cluster"},
	} {
		set := policySet("set", test.policies...)
		set.Spec.Exclusions = test.exclusions
		var said []string
		for _, err := range override.ValidateSet(set, nil) {
			said = append(said, err.Error())
		}
		if got := strings.Join(said, " "); got != test.want {
			t.Errorf("%s:\ngot  %s\nwant %s", test.why, got, test.want)
		}
		if _, err := override.Bindings(policy("", ""), nil, []*policyv1.PolicySet{set}); err != nil {
			t.Errorf("%s: Bindings refuses it: %v", test.why, err)
		}
	}
}

// O21: a name that no replica can have as its label is refused, but not where the policy is disabled.
func TestResolveRefusesALongName(t *testing.T) {
	p := policy("", "")
	for _, test := range []struct {
		length   int // of namespace and name
		disabled bool
		want     bool
	}{{62, false, true}, {63, false, false}, {63, true, true}} {
		p.Name, p.Spec.Disabled = strings.Repeat("n", test.length-len(p.Namespace)), test.disabled
		_, err := override.Resolve(p, nil)
		if (err == nil) != test.want || err != nil && !strings.Contains(err.Error(), "metadata.name: Invalid value") {
			t.Errorf("%d characters, disabled %v: %v", test.length, test.disabled, err)
		}
	}
}

// O1: errors name the binding or set and the field, in a fixed order.
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
	set.Spec.Exclusions = []policyv1.Exclusion{{ClusterNames: []string{"a"}}, {PolicyName: "policy", ClusterNames: []string{"a", ""}}}
	unrelated := policySet("unrelated", "other")
	unrelated.Spec.Exclusions = set.Spec.Exclusions

	for _, test := range []struct {
		name     string
		policy   *policyv1.Policy
		bindings []*policyv1.PlacementBinding
		sets     []*policyv1.PolicySet
		want     string
	}{
		{"no policy", nil, nil, nil, "policy: Required value: must not be nil"},
		{"a nameless policy", &policyv1.Policy{}, nil, nil, "metadata.name: Required value: must be the name of the root policy"},
		{
			"O1 an override to inform", policy("", ""), []*policyv1.PlacementBinding{shipped}, nil,
			`bindings[shipped].bindingOverrides.remediationAction: Unsupported value: "inform": supported values: "enforce"`,
		}, {
			"O1 the design document's spelling", policy("", ""), []*policyv1.PlacementBinding{design}, nil,
			`bindings[design].remediationActionOverride.remediationAction: Unsupported value: "off": supported values: "enforce"`,
		}, {
			"O1 a sub filter that is none", policy("", ""), []*policyv1.PlacementBinding{wide}, nil,
			`bindings[wide].subFilter: Unsupported value: "Restricted": supported values: "restricted"`,
		}, {
			"O1 a binding without a name", policy("", ""), []*policyv1.PlacementBinding{nameless}, []*policyv1.PolicySet{policySet("set", "policy")},
			"bindings[].metadata.name: Required value: must be the name of the binding to Placement.cluster.open-cluster-management.io/",
		}, {
			"O6 exclusions without names", policy("", ""), nil, []*policyv1.PolicySet{unrelated, set},
			"sets[set].spec.exclusions[0].policyName: Required value: must be the name of a policy in the set\n" +
				"sets[set].spec.exclusions[1].clusterNames[1]: Required value: must be the name of a cluster",
		}, {
			"O6 two sets of one name", policy("", ""), nil, []*policyv1.PolicySet{policySet("set", "policy"), policySet("set", "policy")},
			`sets[set]: Duplicate value: "set"`,
		}, {
			"O1 several, but not of another policy's bindings", policy("", ""), []*policyv1.PlacementBinding{wide, others, shipped}, nil,
			`bindings[shipped].bindingOverrides.remediationAction: Unsupported value: "inform": supported values: "enforce"` + "\n" +
				`bindings[wide].subFilter: Unsupported value: "Restricted": supported values: "restricted"`,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := override.Bindings(test.policy, test.bindings, test.sets)
			checkError(t, err, test.want)
			if got != nil {
				t.Errorf("bindings in addition to the error: %v", got)
			}
		})
	}
}
