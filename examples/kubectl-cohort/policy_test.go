// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

// A mistyped strategy must never be taken for none: without one, a policy is enforced everywhere at once.
func TestWrongPoliciesAreRefusedWithFileObjectAndField(t *testing.T) {
	whole := documents(aCluster, aPlacement, aPolicy, aBinding, aPolicySet, aRule)
	for _, test := range []struct{ why, old, new, want string }{
		{"a mistyped strategy", "rolloutStrategy:", "rolloutStategy:", "stdin:12: Policy ns/pol: spec.rolloutStategy: unknown field"},
		{"a mistyped field of the strategy", "maxConcurrency: 1", "maxConcurency: 1",
			"stdin:12: Policy ns/pol: spec.rolloutStrategy.progressive.maxConcurency: unknown field"},
		{"a strategy that the library refuses", "maxConcurrency: 1", "maxConcurrency: 0%",
			`Policy ns/pol: spec.rolloutStrategy.progressive.maxConcurrency: Invalid value: "0%"`},
		{"an unknown type of strategy", "type: Progressive", "type: Canary", `Policy ns/pol: spec.rolloutStrategy.type: Unsupported value: "Canary"`},
		{"an unknown action", "remediationAction: enforce", "remediationAction: force",
			`stdin:12: Policy ns/pol: spec.remediationAction: Unsupported value: "force"`},
		{"mistyped dependencies", "policy-templates:", "dependancies: []\n  policy-templates:", "Policy ns/pol: spec.dependancies: unknown field"},
		{"a mistyped field of a dependency", "policy-templates:", "dependencies: [{kind: Policy, nmae: x}]\n  policy-templates:", "Policy ns/pol: spec.dependencies[0].nmae: unknown field"},
		{"a field that no Policy has", "policy-templates", "policyTemplates", "Policy ns/pol: spec.policyTemplates: unknown field"},
		{"a mistyped field of a binding", "subjects", "subject", "stdin:21: PlacementBinding ns/bind: subject: unknown field"},
		{"an override that is none", "subjects", "bindingOverrides: {remediationAction: inform}\nsubjects",
			`stdin:21: PlacementBinding ns/bind: bindingOverrides.remediationAction: Unsupported value: "inform"`},
		{"a sub filter that is none", "subjects", "subFilter: yes please\nsubjects",
			`PlacementBinding ns/bind: subFilter: Unsupported value: "yes please"`},
		{"a binding to a placement that is not there", "kind: Placement, name: p}", "kind: Placement, name: q}",
			"stdin:21: PlacementBinding ns/bind: placementRef: the files have neither a Placement ns/q nor PlacementDecisions of it"},
		{"a binding to a rule that is not there", "{apiGroup: cluster.open-cluster-management.io, kind: Placement, name: p}",
			"{apiGroup: apps.open-cluster-management.io, kind: PlacementRule, name: p}",
			"stdin:21: PlacementBinding ns/bind: placementRef: the files have no PlacementRule ns/p"},
		{"a fault of the Placement, which is not the binding's", "spec: {}", "spec: {numberOfClusters: -1}",
			"stdin:7: Placement ns/p: spec.numberOfClusters: Invalid value: -1"},
		{"a mistyped field of a set", "exclusions", "exclusion", "PolicySet ns/set: spec.exclusion: unknown field"},
		{"an exclusion of no policy", "policyName: pol, ", "", "PolicySet ns/set: spec.exclusions[0].policyName: Required value"},
		{"an old version", "policy.open-cluster-management.io/v1beta1", "policy.open-cluster-management.io/v1",
			`PolicySet ns/set: apiVersion: Unsupported value: "policy.open-cluster-management.io/v1"`},
		{"a mistyped decision", "clusterName: a,", "cluster: a,", "PlacementRule ns/rule: status.decisions[0].cluster: unknown field"},
		{"a decision for no cluster", "clusterName: a,", `clusterName: "",`, "PlacementRule ns/rule: status.decisions[0].clusterName: Required value"},
	} {
		t.Run(test.why, func(t *testing.T) {
			if got := refused(t, replaced(t, whole, test.old, test.new), "-f", "-"); !strings.Contains(got, test.want) {
				t.Errorf("got:  %s\nwant: %s", got, test.want)
			}
		})
	}
}

// What the policy API has today is no mistake, whether it matters for a rollout or not.
func TestTheFieldsOfTodayAreRead(t *testing.T) {
	whole := documents(aCluster, aPlacement, aPolicy, aBinding, aPolicySet)
	for _, test := range []struct{ why, old, new string }{
		{"what the replicas have", "policy-templates:", "copyPolicyMetadata: false\n  hubTemplateOptions: {serviceAccountName: reader}\n  policy-templates:"},
		{"why a cluster is excluded", "policyName: pol, ", "policyName: pol, reason: incident in the night shift, "},
		{"a sub filter that is a boolean", "subjects", "subFilter: false\nsubjects"},
	} {
		var out, errs strings.Builder
		if status := run([]string{"plan", "-f", "-"}, strings.NewReader(replaced(t, whole, test.old, test.new)), &out, &errs); status != 0 {
			t.Errorf("%s: status %d, %s", test.why, status, errs.String())
		}
	}
}

func TestWrongCombinationsWithAPolicyAreRefused(t *testing.T) {
	for _, test := range []struct {
		why, in string
		args    []string
		want    string
	}{
		{"a policy goes to all its placements", documents(aCluster, aPlacement, aPolicy, aBinding), []string{"--placement", "p"},
			"Policy ns/pol: --placement p: must not be given for a Policy, which goes to the placements of all its PlacementBindings"},
		{"bindings alone", documents(aCluster, aPlacement, aBinding), nil, "no rollout strategy in the files"},
		{"two placements of the name", documents(aCluster, aPlacement, strings.Replace(aPlacement, "namespace: ns", "namespace: other", 1),
			strings.Replace(aPolicy, ", namespace: ns", "", 1), aBinding), nil,
			"PlacementBinding ns/bind: placementRef: 2 placements in the files (ns/p, other/p): must be one"},
		{"an option that the library refuses", documents(aCluster, aPlacement, strings.Replace(aPolicy, "Progressive, progressive: {maxConcurrency: 1}", "ProgressivePerGroup", 1), aBinding),
			[]string{"--max-concurrency-per-group", "0%"}, "--max-concurrency-per-group 0%: must be above 0%"},
	} {
		t.Run(test.why, func(t *testing.T) {
			if got := refused(t, test.in, append(test.args, "-f", "-")...); !strings.Contains(got, test.want) {
				t.Errorf("got:  %s\nwant: %s", got, test.want)
			}
		})
	}
}

// bound is a cluster in JSON.
type bound struct {
	Name, Action       string
	BoundBy, DecidedBy []string
}

// boundTo plays the input through and gives the clusters that the policy is bound to, and the notes.
func boundTo(t *testing.T, in string) (clusters []bound, notes []string) {
	t.Helper()
	var report struct {
		Notes  []string
		Policy struct{ Clusters []bound }
	}
	if err := json.Unmarshal([]byte(simulateText(t, in, "-f", "-", "-o", "json")), &report); err != nil {
		t.Fatal(err)
	}
	return report.Policy.Clusters, report.Notes
}

func TestAPolicyIsBoundAsItsObjectsSay(t *testing.T) {
	inform := strings.Replace(aPolicy, "enforce", "inform", 1)
	inform = strings.Replace(inform, "type: Progressive, progressive: {maxConcurrency: 1}", "", 1)
	byRule := strings.NewReplacer("name: bind", "name: by-rule", "kind: Placement, name: p", "kind: PlacementRule, name: rule",
		"apiGroup: cluster.", "apiGroup: apps.").Replace(aBinding)
	enforcing := strings.Replace(byRule, "subjects", "bindingOverrides: {remediationAction: Enforce}\nsubFilter: restricted\nsubjects", 1)
	both := documents(aCluster, strings.Replace(aCluster, "name: a", "name: b", 1), aPlacement)
	throughSet := strings.Replace(aBinding, "kind: Policy, name: pol", "kind: PolicySet, name: set", 1)
	plain := func(name, action string, by ...string) bound { return bound{Name: name, Action: action, BoundBy: by} }
	for _, test := range []struct {
		why, in string
		want    []bound
		notes   string
	}{
		{"by a Placement", documents(both, aPolicy, aBinding), []bound{plain("a", "enforce", "bind"), plain("b", "enforce", "bind")}, "[]"},
		{"by a PlacementRule's decisions", documents(both, aPolicy, byRule, aRule), []bound{plain("a", "enforce", "by-rule")}, "[]"},
		{"by both", documents(both, aPolicy, aBinding, byRule, aRule),
			[]bound{plain("a", "enforce", "bind", "by-rule"), plain("b", "enforce", "bind")},
			"[]"},
		{"O2, O3 a sub filter by a PlacementRule enforces where the Placement binds", documents(both, inform, aBinding, enforcing, aRule),
			[]bound{{Name: "a", Action: "enforce", BoundBy: []string{"bind"}, DecidedBy: []string{"by-rule"}}, plain("b", "inform", "bind")}, "[]"},
		{"O6 through a set that excludes b", documents(both, aPolicy, throughSet, aPolicySet), []bound{plain("a", "enforce", "bind")}, "[]"},
		{"files without namespaces", strings.ReplaceAll(documents(both, aPolicy, throughSet, aPolicySet), ", namespace: ns", ""),
			[]bound{plain("a", "enforce", "bind")}, "[]"},
		{"a binding without the namespace that the policy has", documents(both, aPolicy, strings.Replace(aBinding, ", namespace: ns", "", 1)),
			[]bound{plain("a", "enforce", "bind"), plain("b", "enforce", "bind")}, "[]"},
		{"a binding of another namespace", documents(both, aPolicy, strings.Replace(aBinding, "namespace: ns", "namespace: other", 1)), []bound{},
			"[no PlacementBinding in the files has the policy as its subject: it is bound nowhere PlacementBinding: not used (1)]"},
		{"O6 disabled", documents(both, strings.Replace(aPolicy, "disabled: false", "disabled: true", 1), aBinding), []bound{},
			"[spec.disabled: the policy is bound nowhere PlacementBinding: not used (1)]"},
		{"the policy as it was replicated to a cluster is no root policy", documents(both, aPolicy, aBinding, strings.Replace(aPolicy, "name: pol, namespace: ns",
			"name: ns.pol, namespace: a, labels: {policy.open-cluster-management.io/root-policy: ns.pol}", 1)),
			[]bound{plain("a", "enforce", "bind"), plain("b", "enforce", "bind")}, "[from here on: 1 object in the files says where the rollout stands --takes: a guess, 10m, as no cluster that is done says how long it took]"},
	} {
		t.Run(test.why, func(t *testing.T) {
			clusters, notes := boundTo(t, test.in)
			if diff := cmp.Diff(test.want, clusters); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if got := fmt.Sprint(notes); got != test.notes {
				t.Errorf("notes: %s, want %s", got, test.notes)
			}
		})
	}
}

// The objects of another rollout's files are counted, not lost.
func TestObjectsOfPoliciesAreNotedBesideAnotherRollout(t *testing.T) {
	got := simulateText(t, documents(aCluster, aPlacement, aReplicaSet, aBinding, aPolicySet, aRule), "-f", "-")
	for _, kind := range []string{"PlacementBinding", "PolicySet", "PlacementRule"} {
		if want := "note: " + kind + ": not used by a simulation (1)\n"; !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
}

// A large fleet stays readable: no line names more clusters than mostNamed.
func TestPolicyOverThreeHundredClustersStaysReadable(t *testing.T) {
	fleet := []string{strings.Replace(aPolicy, "maxConcurrency: 1", "maxConcurrency: 50%", 1), aBinding, aPlacement}
	for i := range 300 {
		fleet = append(fleet, strings.Replace(aCluster, "name: a", fmt.Sprintf("name: c%03d", i), 1))
	}
	got := simulateText(t, documents(fleet...), "-f", "-")
	for line := range strings.Lines(got) {
		if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > 150 && !strings.Contains(line, " blocked: ") { // the reason is a sentence
			t.Errorf("%d characters: %s", n, line)
		}
	}
	if want := "enforce/Progressing: c000 c001 c002 c003 c004 c005 c006 c007 c008 c009 and 140 more\n"; !strings.Contains(got, want) {
		t.Errorf("no %q in\n%s", want, got)
	}
}

// R14: the one placement that binds has the default, whatever sub filters and bindings without clusters have.
func TestMaxConcurrencyOfAPolicyIsThatOfItsPlacement(t *testing.T) {
	const limit = "Progressive, progressive: {maxConcurrency: 1}"
	fleet := documents(aCluster, strings.Replace(aCluster, "name: a", "name: b", 1), strings.Replace(aPolicy, limit, "Progressive", 1), aBinding,
		strings.Replace(aPlacement, "spec: {}", "spec: {decisionStrategy: {groupStrategy: {clustersPerDecisionGroup: 1}}}", 1))
	sub := strings.NewReplacer("name: bind", "name: sub", "name: p}", "name: q}", "subjects", "subFilter: restricted\nsubjects").Replace(aBinding)
	empty := strings.NewReplacer("name: bind", "name: empty", "kind: Placement, name: p", "kind: PlacementRule, name: rule", "cluster.open", "apps.open").Replace(aBinding)
	second := strings.NewReplacer("name: bind", "name: second", "name: p}", "name: q}").Replace(aBinding)
	other := strings.Replace(aPlacement, "name: p", "name: q", 1)
	for _, test := range []struct {
		why, in string
		started int
	}{
		{"alone", fleet, 1},
		{"beside a sub filter by another", documents(fleet, sub, other), 1},
		{"beside a PlacementRule that selects no cluster", documents(fleet, empty, strings.Replace(aRule, "{clusterName: a, clusterNamespace: a}", "", 1)), 1},
		{"beside another that binds the same", documents(fleet, second, other), 1},
	} {
		got := simulateText(t, test.in, "-f", "-")
		if first := fmt.Sprintf("\n0s    %d ", test.started); !strings.Contains(got, first) {
			t.Errorf("%s: want %d started at 0s:\n%s", test.why, test.started, got)
		}
	}
}

func TestStoredDecisionsOfAPolicyNeedNoPlacement(t *testing.T) {
	other := strings.NewReplacer("name: p-decision-1", "name: q-decision-1", "placement: p", "placement: q").Replace(aDecision)
	_, notes := boundTo(t, documents(aPolicy, aBinding, aDecision, other))
	want := []string{
		"PlacementDecision: of other placements, not used (1)",
	}
	if diff := cmp.Diff(want, notes); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestAGateIsBeforeTheGroupOfEachPlacement(t *testing.T) {
	second := strings.NewReplacer("name: bind", "name: second", "name: p}", "name: q}").Replace(aBinding)
	inQ := strings.NewReplacer("name: p-decision-1", "name: q-decision-1", "placement: p", "placement: q", "clusterName: a", "clusterName: b").Replace(aDecision)
	in := documents(aPolicy, aBinding, second, aDecision, inQ)
	got := simulateText(t, in, "-f", "-", "--gate", "0")
	if want := "after 0s: AtGate: the gate before group 0 of placement bind is closed; to do: open the gate before group 0 of placement bind\n  also 1 cluster blocked: the gate before group 0 of placement second is closed\n"; !strings.Contains(got, want) {
		t.Errorf("no %q in\n%s", want, got)
	}
	const note = "note: --gate: no effect, the policy goes to all clusters at once\n"
	if strings.Contains(got, note) {
		t.Errorf("%q of a policy that is enforced step by step", note)
	}
	if got := simulateText(t, strings.Replace(in, "enforce", "inform", 1), "-f", "-", "--gate", "0"); !strings.Contains(got, note) {
		t.Errorf("no %q in\n%s", note, got)
	}
}

// Under All, too, a gate keeps clusters at inform that would be enforced, so that no note may say that it has no effect.
func TestAGateHoldsAPolicyUnderAll(t *testing.T) {
	in := documents(aCluster, aPlacement, aBinding, strings.Replace(aPolicy, "type: Progressive, progressive: {maxConcurrency: 1}", "type: All", 1))
	got := simulateText(t, in, "-f", "-", "--gate", "0")
	if !strings.Contains(got, "after 0s: AtGate: ") || !strings.Contains(got, "inform/ToApply: a\n") || strings.Contains(got, "no effect") {
		t.Errorf("got\n%s", got)
	}
}

func TestClustersAreListedByActionAndByTheirDecider(t *testing.T) {
	inform := strings.NewReplacer("enforce", "inform", "rolloutStrategy: {type: Progressive, progressive: {maxConcurrency: 1}}", "").Replace(aPolicy)
	in := []string{inform, aBinding, aPlacement}
	for _, name := range []string{"a", "b", "c", "d"} {
		in = append(in, strings.Replace(aCluster, "name: a", "name: "+name, 1))
	}
	for i, clusters := range []string{"{clusterName: b}", "{clusterName: a}, {clusterName: c}"} {
		name := fmt.Sprint("sub-", i)
		in = append(in, strings.NewReplacer("name: bind", "name: "+name, "kind: Placement, name: p", "kind: PlacementRule, name: "+name, "cluster.open", "apps.open",
			"subjects", "subFilter: restricted\nbindingOverrides: {remediationAction: enforce}\nsubjects").Replace(aBinding),
			strings.NewReplacer("name: rule", "name: "+name, "{clusterName: a, clusterNamespace: a}", clusters).Replace(aRule))
	}
	want := `
ACTION   BOUND BY  DECIDED BY  CLUSTERS
enforce  bind      sub-0       b
enforce  bind      sub-1       a c
inform   bind      the policy  d
`
	if got := simulateText(t, documents(in...), "-f", "-"); !strings.Contains(got, want) {
		t.Errorf("no %s in\n%s", want, got)
	}
}
