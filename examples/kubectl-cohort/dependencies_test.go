// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func call(t *testing.T, stdin string, args ...string) (status int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	status = run(append([]string{"dependencies"}, args...), strings.NewReader(stdin), &out, &errs)
	return status, out.String(), errs.String()
}

func TestReports(t *testing.T) {
	cluster := []string{"--namespace", "managed", "-f", "testdata/dependencies/policy-multiple-dependencies.yaml",
		"-f", "testdata/dependencies/policy-two-templates.yaml", "-f", "testdata/dependencies/observed.yaml"}
	for _, test := range []struct {
		report string
		args   []string
	}{
		{"cluster.txt", cluster},
		{"cluster.json", append([]string{"-o", "json"}, cluster...)},
		// As a shell expands -f *.yaml, and in another order.
		{"cluster.txt", []string{"-f", "testdata/dependencies/observed.yaml", "testdata/dependencies/policy-two-templates.yaml", "testdata/dependencies/policy-multiple-dependencies.yaml"}},
		{"gatekeeper.txt", []string{"-f", "testdata/dependencies/gatekeeper.yaml"}},
		{"gatekeeper.json", []string{"-f", "testdata/dependencies/gatekeeper.yaml", "-o=json"}},
	} {
		t.Run(test.report, func(t *testing.T) {
			status, got, stderr := call(t, "", test.args...)
			if status != 0 || stderr != "" {
				t.Fatalf("status %d: %s", status, stderr)
			}
			golden(t, filepath.Join("testdata/dependencies", test.report), got)
		})
	}
}

func TestStandardInput(t *testing.T) {
	data, err := os.ReadFile("testdata/dependencies/gatekeeper.yaml")
	if err != nil {
		t.Fatal(err)
	}
	_, want, _ := call(t, "", "-f", "testdata/dependencies/gatekeeper.yaml")
	status, got, stderr := call(t, string(data), "-f", "-")
	if status != 0 || got != want {
		t.Errorf("status %d, %s, got\n%s", status, stderr, got)
	}
}

// What was observed alone says nothing about any template: a user that passes only that has forgotten a file.
func TestFilesWithoutAnyPolicyAreRefused(t *testing.T) {
	for in, want := range map[string]string{
		"# nothing\n": "no Policy with a spec among the 0 objects",
		"apiVersion: v1\nkind: Namespace\nmetadata: {name: a}\n": "no Policy with a spec among the 1 objects",
	} {
		if status, got, stderr := call(t, in, "-f", "-"); status != 2 || got != "" || stderr != "error: "+want+"\n" {
			t.Errorf("status %d, %s and %s, want 2 and %s", status, got, stderr, want)
		}
	}
}

const policy = `apiVersion: policy.open-cluster-management.io/v1
kind: Policy
metadata: {name: x, namespace: managed, labels: {policy.open-cluster-management.io/cluster-name: managed}}
`

func TestBadInputIsOneLineWithFileObjectAndField(t *testing.T) {
	for _, test := range []struct{ name, in, want string }{
		{"no YAML", "kind: [", "stdin:1: not YAML: "},
		{"no kind", "apiVersion: v1\nmetadata: {name: a}\n", "stdin:1: a: kind: Required value"},
		{"no name", "---\napiVersion: v1\nkind: A\n", "stdin:2: A: metadata.name: Required value: must be given"},
		{"an object twice", "apiVersion: v1\nkind: A\nmetadata: {name: a}\n---\napiVersion: v1\nkind: A\nmetadata: {name: a}\n",
			`stdin:5: A a: metadata.name: Duplicate value: "a": must not be given twice: it stands at stdin:1`},
		{"a policy of two types", policy + "spec: {dependencies: {}, policy-templates: [3]}\n",
			`stdin:1: Policy managed/x: spec.dependencies: Invalid value: "an object": must be an array; spec.policy-templates[0]: Invalid value: "a number": must be an object`},
		{"a template without a name", policy + "spec: {policy-templates: [{objectDefinition: {apiVersion: v1, kind: A}}]}\n",
			"stdin:1: Policy managed/x: spec.policy-templates[0].objectDefinition.metadata.name: Required value"},
		{"a field that a Policy does not have, wherever it stands", policy + `spec:
  dependancies: []
  Disabled: true
  policy-templates: [{objectDefinition: {any: thing}}, {extraDependency: [], extraDependencies: [{compliant: Compliant}]}]
stauts: {}
`, `stdin:1: Policy managed/x: spec.Disabled: unknown field; did you mean disabled?; spec.dependancies: unknown field; did you mean dependencies?; spec.policy-templates[1].extraDependencies[0].compliant: unknown field; did you mean compliance?; spec.policy-templates[1].extraDependency: unknown field; did you mean extraDependencies?; stauts: unknown field; did you mean status?` + "\n"},
		{"a mistyped kind", strings.Replace(policy, "kind: Policy", "kind: Polciy", 1), `stdin:1: Polciy managed/x: kind: "Polciy" is none that is known; did you mean Policy?` + "\n"},
		{"a mistyped group", strings.Replace(policy, "policy.open", "policies.open", 1), `stdin:1: Policy managed/x: apiVersion: no group of Policy is "policies.open-cluster-management.io"; did you mean policy.open-cluster-management.io?` + "\n"},
		{"a version that there is not", strings.Replace(policy, "io/v1", "io/v1beta1", 1) + "spec: {}\n",
			`stdin:1: Policy managed/x: apiVersion: Unsupported value: "policy.open-cluster-management.io/v1beta1": supported values: "policy.open-cluster-management.io/v1"` + "\n"},
		{"a tab", policy + "spec:\n\tdisabled: true\n", "stdin:5: tab: YAML must be indented by spaces\n"},
		{"also where it hides the spec", policy + "specs: {}\n", `stdin:1: Policy managed/x: specs: unknown field; did you mean spec?` + "\n"},
		{"a fault that all templates share, once", policy + `spec:
  dependencies: [{apiVersion: v1, kind: A, name: a, compliance: Good}]
  policy-templates:
  - {objectDefinition: {apiVersion: policy.open-cluster-management.io/v1, kind: ConfigurationPolicy, metadata: {name: a}}}
  - {objectDefinition: {apiVersion: policy.open-cluster-management.io/v1, kind: ConfigurationPolicy, metadata: {name: b}}}
`, `stdin:1: Policy managed/x: spec.dependencies[0].compliance: Unsupported value: "Good": supported values: "Compliant", "NonCompliant", "Pending"` + "\n"},
		{"even if one has a fault of its own", policy + `spec:
  dependencies: [{apiVersion: v1, kind: A, name: a, compliance: Good}]
  policy-templates:
  - {objectDefinition: {apiVersion: policy.open-cluster-management.io/v1, kind: ConfigurationPolicy, metadata: {name: a}}}
  - {objectDefinition: {apiVersion: v1, kind: A}}
`, `stdin:1: Policy managed/x: spec.dependencies[0].compliance: Unsupported value: "Good": supported values: "Compliant", "NonCompliant", "Pending"; spec.policy-templates[1].objectDefinition.metadata.name: Required value: must be given: a template names the object that it creates` + "\n"},
	} {
		t.Run(test.name, func(t *testing.T) {
			status, _, stderr := call(t, test.in, "-f", "-")
			if status != 2 || strings.Count(stderr, "\n") != 1 || !strings.HasPrefix(stderr, "error: "+test.want) {
				t.Errorf("status %d and\n%swant 2 and one line that begins with\n%s", status, stderr, test.want)
			}
		})
	}
}

func TestTheOtherTemplatesOfBadInputAreReported(t *testing.T) {
	status, stdout, _ := call(t, policy+`spec:
  policy-templates:
  - {objectDefinition: {apiVersion: v1, kind: A}}
  - {objectDefinition: {apiVersion: policy.open-cluster-management.io/v1, kind: ConfigurationPolicy, metadata: {name: b}}}
`, "-f", "-")
	for _, want := range []string{"[0] unnamed object: Invalid", "[1] ConfigurationPolicy b: Ready\n      next: create"} {
		if !strings.Contains(stdout, want) {
			t.Errorf("no %q in\n%s", want, stdout)
		}
	}
	if status != 2 {
		t.Errorf("status %d, want 2", status)
	}
}

func TestWrongCalls(t *testing.T) {
	for _, test := range []struct {
		args []string
		want string
	}{
		{[]string{"-f", ""}, "empty file name"},
		{[]string{"-f", "testdata/dependencies/missing.yaml"}, "testdata/dependencies/missing.yaml"},
		{[]string{"-x"}, "error: -x: no such flag\n"},
		{[]string{"--namespac", "x"}, "--namespac: no such flag; did you mean --namespace?"},
		{[]string{"-f"}, "-f: must be followed by a value"},
		{[]string{"-o", "xml", "-f", "-"}, "error: -o xml: must be text, json or yaml"},
	} {
		status, stdout, stderr := call(t, "", test.args...)
		if status != 2 || stdout != "" || strings.Count(stderr, "\n") != 1 || !strings.Contains(stderr, test.want) {
			t.Errorf("%q: status %d, %s, want 2 and one line with %q", test.args, status, stderr, test.want)
		}
	}
	if status, stdout, _ := call(t, "", "-h"); status != 0 || !strings.Contains(stdout, "--namespace") {
		t.Errorf("-h: status %d, %s", status, stdout)
	}
}

func TestAReportThatCannotBeWrittenIsAnError(t *testing.T) {
	for _, format := range []string{"text", "json"} {
		var stderr bytes.Buffer
		status := run([]string{"dependencies", "-f", "testdata/dependencies/gatekeeper.yaml", "-o", format}, nil, full{}, &stderr)
		if status == 0 || !strings.Contains(stderr.String(), "no space left") {
			t.Errorf("%s: status %d, %s", format, status, stderr.String())
		}
	}
}

// Each namespace with policies is a cluster of its own: what one has says nothing of the other.
func TestEachNamespaceIsACluster(t *testing.T) {
	template := "spec: {dependencies: [{apiVersion: policy.open-cluster-management.io/v1, kind: Policy, name: setup, compliance: Compliant}], " +
		"policy-templates: [{objectDefinition: {apiVersion: policy.open-cluster-management.io/v1, kind: ConfigurationPolicy, metadata: {name: m}}}]}\n"
	setup := "apiVersion: policy.open-cluster-management.io/v1\nkind: Policy\nmetadata: {name: setup, namespace: managed}\nstatus: {compliant: Compliant}\n"
	in := policy + template + "---\n" + strings.ReplaceAll(policy, "managed", "other") + template + "---\n" + setup
	status, got, stderr := call(t, in, "-f", "-")
	ready, waits, _ := strings.Cut(got, "\n\nCluster other\nPolicy x")
	if status != 0 || stderr != "" || !strings.HasPrefix(ready, "Cluster managed\nPolicy x") || !strings.Contains(ready, ": Ready\n") || !strings.Contains(waits, ": Pending\n") {
		t.Errorf("status %d, %s, want x Ready in managed and Pending in other, got\n%s", status, stderr, got)
	}
	if status, got, _ := call(t, in, "-f", "-", "-o", "json"); status != 0 || !strings.Contains(got, `"namespace": "managed"`) || !strings.Contains(got, `"namespace": "other"`) {
		t.Errorf("status %d, got\n%s", status, got)
	}
	want := `stdin:6: Policy other/x: metadata.namespace: Invalid value: "other": must be the cluster's namespace "managed", or empty`
	if status, _, stderr := call(t, in, "-f", "-", "--namespace", "managed"); status != 2 || !strings.Contains(stderr, want) {
		t.Errorf("status %d, %s, want %s", status, stderr, want)
	}
}

// Templates of other kinds than OCM's are taken where a definition among the files says so, as OCM's template sync does.
func TestKindsOfTemplatesAreReadFromDefinitions(t *testing.T) {
	in := policy + `spec:
  policy-templates:
  - {objectDefinition: {apiVersion: example.com/v1, kind: Widget, metadata: {name: w}}}
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.com, labels: {LABEL: template}}
spec: {group: example.com, names: {kind: Widget}}
`
	status, got, stderr := call(t, strings.Replace(in, "LABEL", "policy.open-cluster-management.io/policy-type", 1), "-f", "-")
	if status != 0 || !strings.Contains(got, "[0] Widget w: Ready") {
		t.Errorf("with the label: status %d, %s\n%s", status, stderr, got)
	}
	status, _, stderr = call(t, strings.Replace(in, "LABEL", "any", 1), "-f", "-")
	if want := `spec.policy-templates[0].objectDefinition.kind: Unsupported value: "Widget.example.com"`; status != 2 || !strings.Contains(stderr, want) {
		t.Errorf("without it: status %d, %s", status, stderr)
	}
}

// What another policy has, and what is no policy's, is named and left alone.
func TestTheObjectOfAnotherPolicyIsNamed(t *testing.T) {
	in := policy + `spec:
  policy-templates:
  - {objectDefinition: {apiVersion: policy.open-cluster-management.io/v1, kind: ConfigurationPolicy, metadata: {name: a}}}
  - {objectDefinition: {apiVersion: policy.open-cluster-management.io/v1, kind: ConfigurationPolicy, metadata: {name: b}}}
---
apiVersion: policy.open-cluster-management.io/v1
kind: ConfigurationPolicy
metadata: {name: a, namespace: managed, labels: {policy.open-cluster-management.io/policy: shops.first}}
---
apiVersion: policy.open-cluster-management.io/v1
kind: ConfigurationPolicy
metadata: {name: b, namespace: managed}
`
	status, got, stderr := call(t, in, "-f", "-")
	for _, want := range []string{
		"Policy x: NonCompliant", "Policy shops.first owns ConfigurationPolicy a already", "ConfigurationPolicy b exists already and belongs to no policy",
	} {
		if status != 0 || !strings.Contains(got, want) {
			t.Errorf("status %d, %s, no %q in\n%s", status, stderr, want, got)
		}
	}
}

// Two policies that create the same object are told apart before anything is created.
func TestTwoPoliciesThatCreateTheSameObject(t *testing.T) {
	template := `spec:
  policy-templates:
  - {objectDefinition: {apiVersion: policy.open-cluster-management.io/v1, kind: ConfigurationPolicy, metadata: {name: a}}}
`
	status, got, stderr := call(t, policy+template+"---\n"+strings.Replace(policy, "name: x", "name: z", 1)+template, "-f", "-")
	for _, want := range []string{"Policy x: unknown\n  [0] ConfigurationPolicy a: Ready\n      next: create", "Policy z: NonCompliant", "comes first by name"} {
		if status != 0 || !strings.Contains(got, want) {
			t.Errorf("status %d, %s, no %q in\n%s", status, stderr, want, got)
		}
	}
}

// rootOf is a root policy that waits for others, with the status that its clusters give it.
func rootOf(name, status string, dependencies ...string) string {
	return "apiVersion: policy.open-cluster-management.io/v1\nkind: Policy\nmetadata: " + name + "\nspec: {dependencies: [" + strings.Join(dependencies, ", ") +
		"], policy-templates: [{objectDefinition: {apiVersion: policy.open-cluster-management.io/v1, kind: ConfigurationPolicy, metadata: {name: of-" + strings.Split(strings.TrimPrefix(name, "{name: "), ",")[0] + "}}}]}\n" + status + "---\n"
}

// on is the status of a root with the compliance on clusters.
func on(clusters ...string) string {
	var all []string
	for _, c := range clusters {
		name, compliant, _ := strings.Cut(c, ":")
		all = append(all, "{clustername: "+name+", clusternamespace: "+name+", compliant: "+compliant+"}")
	}
	return "status: {status: [" + strings.Join(all, ", ") + "]}\n"
}

// Root policies are no replicated ones: they are replicated as OCM's propagator does, names, namespaces, sets and all.
func TestRootPoliciesAreReplicated(t *testing.T) {
	const policy, set = "{apiVersion: policy.open-cluster-management.io/v1, kind: Policy, compliance: Compliant, ", "{apiVersion: policy.open-cluster-management.io/v1beta1, kind: PolicySet, compliance: Compliant, "
	const aSet = "apiVersion: policy.open-cluster-management.io/v1beta1\nkind: PolicySet\nmetadata: {name: all, namespace: shops}\nspec: {policies: [base, idle]}\n---\n"
	const replica = "{name: platform.base, namespace: c1, labels: {policy.open-cluster-management.io/root-policy: platform.base}}"
	base := rootOf("{name: base, namespace: platform}", on("c1:Compliant", "c2:NonCompliant"))
	for _, test := range []struct {
		why, in string
		says    []string
		never   []string
	}{
		{"a dependency in another namespace, cluster by cluster", base + rootOf("{name: app, namespace: shops}", on("c1:Pending", "c2:Pending"), policy+"name: base, namespace: platform}"),
			[]string{"Cluster c1\nPolicy platform.base", "Policy shops.app: unknown\n  [0] ConfigurationPolicy of-app: Ready", "Cluster c2\n", "Policy platform.base is NonCompliant, must be Compliant", "replicated to the clusters of the status"}, []string{"Cluster platform", "Cluster shops"}},
		{"a cluster that one of them is not on", base + rootOf("{name: app, namespace: shops}", on("c1:Pending")), []string{"Cluster c1\nPolicy platform.base", "Cluster c2\nPolicy platform.base"}, []string{"Cluster c2\nPolicy platform.base: unknown\n  [0] ConfigurationPolicy of-base: Ready\n      next: create\nPolicy shops.app"}},
		{"a set, of which a disabled policy is no part", aSet + rootOf("{name: base, namespace: shops}", "") + strings.Replace(rootOf("{name: idle, namespace: shops}", ""), "spec: {", "spec: {disabled: true, ", 1) + rootOf("{name: app, namespace: shops}", "", set+"name: all}"),
			[]string{"Policy shops.base has no compliance", "a cluster that gets all of them"}, []string{"PolicySet", "shops.idle is", "shops.idle has"}},
		{"a name with a dot counts as one on the cluster", rootOf("{name: base-4.17, namespace: shops}", "") + rootOf("{name: app, namespace: shops}", "", policy+"name: base-4.17}"),
			[]string{"Policy base-4.17 is not found", "note: Policy shops/app: the dependency base-4.17 has a dot and no namespace", "add the namespace shops"}, nil},
		{"with the namespace it is the root", rootOf("{name: base-4.17, namespace: shops}", "") + rootOf("{name: app, namespace: shops}", "", policy+"name: shops.base-4.17}"), []string{"Policy shops.base-4.17 has no compliance"}, []string{"is not found", "add the namespace"}},
		{"roots beside replicated policies are not evaluated", base + rootOf(replica, "status: {compliant: Compliant}\n"), []string{"Policy platform.base"}, []string{"Cluster", "note: "}},
		{"policies by hand, as they stand on a cluster", rootOf("{name: platform.base, namespace: c1}", "") + rootOf("{name: shops.app, namespace: c1}", ""), []string{"Policy platform.base: ", "Policy shops.app: "}, []string{"c1.", "note: "}},
	} {
		status, stdout, stderr := call(t, test.in, "-f", "-")
		got := stdout + stderr
		for _, fact := range test.says {
			if status != 0 || !strings.Contains(got, fact) {
				t.Errorf("%s: status %d, no %q in\n%s", test.why, status, fact, got)
			}
		}
		for _, fact := range test.never {
			if strings.Contains(got, fact) {
				t.Errorf("%s: %q in\n%s", test.why, fact, got)
			}
		}
	}
	if status, stdout, stderr := call(t, base, "-f", "-", "--namespace", "c2"); status != 0 || !strings.HasPrefix(stdout, "Policy platform.base") || strings.Contains(stdout, "Cluster") {
		t.Errorf("of one cluster: status %d, %s\n%s", status, stderr, stdout)
	}
	if status, _, stderr := call(t, strings.Replace(base, "dependencies: []", "dependancies: []", 1), "-f", "-"); status != 2 || !strings.Contains(stderr, "Policy platform/base: spec.dependancies: unknown field") {
		t.Errorf("a fault of a root: status %d, %s", status, stderr)
	}
}

// A directory with a collection of policies has other objects beside them: what no policy names may lack a name, or stand twice.
func TestObjectsThatNoPolicyNamesDoNotMatter(t *testing.T) {
	others := "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources: [a.yaml]\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\n---\n"
	if status, stdout, stderr := call(t, others+rootOf("{name: base, namespace: platform}", ""), "-f", "-"); status != 0 || !strings.Contains(stdout, "Policy platform.base") {
		t.Errorf("status %d, %s", status, stderr)
	}
	waits := rootOf("{name: base, namespace: platform}", "", "{apiVersion: v1, kind: ConfigMap, name: c, compliance: Compliant}")
	if status, _, stderr := call(t, others+waits, "-f", "-"); status != 2 || !strings.Contains(stderr, "ConfigMap c: metadata.name: Duplicate value") {
		t.Errorf("one that a policy names: status %d, %s", status, stderr)
	}
}
