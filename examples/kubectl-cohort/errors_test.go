// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cohort-ocm/cohort/examples/kubectl-cohort/internal/scenario"
	"github.com/cohort-ocm/cohort/examples/kubectl-cohort/internal/simulation"
)

// The objects of a small rollout, to be broken in one place each.
const (
	aCluster = `
apiVersion: cluster.open-cluster-management.io/v1
kind: ManagedCluster
metadata: {name: a, labels: {stage: canary}}
spec: {hubAcceptsClient: true}
`
	aPlacement = `
apiVersion: cluster.open-cluster-management.io/v1beta1
kind: Placement
metadata: {name: p, namespace: ns}
spec: {}
`
	aDecision = `
apiVersion: cluster.open-cluster-management.io/v1beta1
kind: PlacementDecision
metadata:
  name: p-decision-1
  namespace: ns
  labels: {cluster.open-cluster-management.io/placement: p, cluster.open-cluster-management.io/decision-group-index: "0"}
status: {decisions: [{clusterName: a, reason: ""}]}
`
	aStrategy = `
apiVersion: cluster.open-cluster-management.io/v1alpha1
kind: RolloutStrategy
type: Progressive
progressive: {maxConcurrency: 1}
`
	aReplicaSet = `
apiVersion: work.open-cluster-management.io/v1alpha1
kind: ManifestWorkReplicaSet
metadata: {name: set, namespace: ns}
spec:
  manifestWorkTemplate: {}
  placementRefs: [{name: p, rolloutStrategy: {type: Progressive, progressive: {maxConcurrency: 1}}}]
status: {conditions: [{type: PlacementRolledOut, status: "False", reason: Progressing, message: of a controller of this library, lastTransitionTime: "2025-01-01T00:00:00Z"}]}
`
	anAddOn = `
apiVersion: addon.open-cluster-management.io/v1alpha1
kind: ClusterManagementAddOn
metadata: {name: addon}
spec:
  installStrategy:
    type: Placements
    placements: [{name: p, namespace: ns, rolloutStrategy: {type: All}}]
`
	aPolicy = `
apiVersion: policy.open-cluster-management.io/v1
kind: Policy
metadata: {name: pol, namespace: ns}
spec:
  disabled: false
  remediationAction: enforce
  policy-templates: []
  rolloutStrategy: {type: Progressive, progressive: {maxConcurrency: 1}}
`
	aBinding = `
apiVersion: policy.open-cluster-management.io/v1
kind: PlacementBinding
metadata: {name: bind, namespace: ns}
placementRef: {apiGroup: cluster.open-cluster-management.io, kind: Placement, name: p}
subjects: [{apiGroup: policy.open-cluster-management.io, kind: Policy, name: pol}]
`
	aPolicySet = `
apiVersion: policy.open-cluster-management.io/v1beta1
kind: PolicySet
metadata: {name: set, namespace: ns}
spec: {description: all, policies: [pol], exclusions: [{policyName: pol, clusterNames: [b]}]}
`
	aRule = `
apiVersion: apps.open-cluster-management.io/v1
kind: PlacementRule
metadata: {name: rule, namespace: ns}
spec: {clusterSelector: {}}
status: {decisions: [{clusterName: a, clusterNamespace: a}]}
`
	aBehavior = `
apiVersion: examples.cohort-ocm.io/v1
kind: Behavior
spec: {seed: 1, clusters: [{after: 1m}]}
`
)

func documents(texts ...string) string { return strings.Join(texts, "---") }

// small is a whole input with something replaced in it.
func small(t *testing.T, old, new string) string {
	t.Helper()
	return replaced(t, documents(aCluster, aPlacement, aReplicaSet, aBehavior), old, new)
}

// replaced is the input with something replaced in it, which must stand there once.
func replaced(t *testing.T, whole, old, new string) string {
	t.Helper()
	if strings.Count(whole, old) != 1 {
		t.Fatalf("%q stands %d times in the input, want once", old, strings.Count(whole, old))
	}
	return strings.Replace(whole, old, new, 1)
}

// refused runs the command on standard input and gives its error, which must be one line with exit status 2.
func refused(t *testing.T, stdin string, args ...string) string {
	t.Helper()
	var stdout, stderr bytes.Buffer
	status := cohort(args, strings.NewReader(stdin), &stdout, &stderr)
	if status != 2 {
		t.Fatalf("exit status %d, want 2\n%s", status, stdout.String())
	}
	if line := stderr.String(); strings.Count(line, "\n") != 1 || !strings.HasSuffix(line, "\n") || stdout.Len() > 0 {
		t.Errorf("found %q on standard error and %q on standard output, want one line and nothing", line, stdout.String())
	}
	return strings.TrimPrefix(strings.TrimSuffix(stderr.String(), "\n"), "error: ")
}

func TestWrongInputIsRefusedWithFileObjectAndField(t *testing.T) {
	for _, test := range []struct{ why, old, new, want string }{
		{"a mistyped field of the strategy", "maxConcurrency: 1", "maxConcurency: 1",
			"stdin:12: ManifestWorkReplicaSet ns/set: spec.placementRefs[0].rolloutStrategy.progressive.maxConcurency: unknown field; did you mean maxConcurrency?"},
		{"a mistyped block", "progressive:", "progresive:", "spec.placementRefs[0].rolloutStrategy.progresive: unknown field; did you mean progressive?"},
		{"a field that begins like another", "spec:\n  manifestWorkTemplate: {}", "spec:\n  manifestWorkTemplates: {}", "spec.manifestWorkTemplates: unknown field; did you mean manifestWorkTemplate?"},
		{"two letters swapped in a name", "name: set,", "nmae: set,", "stdin:12: ManifestWorkReplicaSet ns/: metadata.nmae: unknown field; did you mean name?"},
		{"a field that is like no other", "spec: {}", "spec: {wherever: x}", "stdin:7: Placement ns/p: spec.wherever: unknown field\n"},
		{"a deadline without a unit", "maxConcurrency: 1", "progressDeadline: 30", "progressive.progressDeadline: Invalid value: 30: must be a time such as 30s or 30m"},
		{"a time in days", "maxConcurrency: 1", "minSuccessTime: 1d", `progressive.minSuccessTime: Invalid value: "1d": must be a time such as 30s or 30m`},
		{"a maxConcurrency of words", "maxConcurrency: 1", "maxConcurrency: ten", `progressive.maxConcurrency: Invalid value: "ten": must be a count`},
		{"capitals count", "type: Progressive", "Type: Progressive", "spec.placementRefs[0].rolloutStrategy.Type: unknown field"},
		{"a value that the library refuses", "maxConcurrency: 1", "maxConcurrency: 0%",
			`stdin:12: ManifestWorkReplicaSet ns/set: spec.placementRefs[0].rolloutStrategy.progressive.maxConcurrency: Invalid value: "0%"`},
		{"a value of another type", "maxConcurrency: 1", "maxConcurrency: [1]",
			"stdin:12: ManifestWorkReplicaSet ns/set: spec.placementRefs[0].rolloutStrategy.progressive.maxConcurrency: Invalid value: \"an array\""},
		{"a fraction", "maxConcurrency: 1", "maxConcurrency: 1.5", "spec.placementRefs[0].rolloutStrategy.progressive.maxConcurrency: Invalid value: 1.5"},
		{"a type that decodes itself and does not know its place", "maxConcurrency: 1", "minSuccessTime: 5 minutes",
			`spec.placementRefs[0].rolloutStrategy.progressive.minSuccessTime: Invalid value: "5 minutes"`},
		{"an unknown strategy", "type: Progressive", "type: Canary", `spec.placementRefs[0].rolloutStrategy.type: Unsupported value: "Canary"`},
		{"a mistyped field of the Placement", "spec: {}", "spec: {predicate: []}", "stdin:7: Placement ns/p: spec.predicate: unknown field"},
		{"the design document's spelling, which the API has not", "spec: {}", "spec: {DecisionStrategy: {}}", "Placement ns/p: spec.DecisionStrategy: unknown field"},
		{"a wrong group size", "spec: {}", `spec: {decisionStrategy: {groupStrategy: {clustersPerDecisionGroup: -1}}}`,
			"stdin:7: Placement ns/p: spec.decisionStrategy.groupStrategy.clustersPerDecisionGroup: Invalid value"},
		{"a group without a name", "spec: {}", `spec: {decisionStrategy: {groupStrategy: {decisionGroups: [{}]}}}`,
			"Placement ns/p: spec.decisionStrategy.groupStrategy.decisionGroups[0].groupName: Required value"},
		{"CEL", "spec: {}", `spec: {predicates: [{requiredClusterSelector: {celSelector: {celExpressions: ["true"]}}}]}`,
			"Placement ns/p: spec.predicates[0].requiredClusterSelector.celSelector: Forbidden: CEL is not supported here"},
		{"an operator that does not exist", "spec: {}", `spec: {predicates: [{}, {requiredClusterSelector: {labelSelector: {matchExpressions: [{key: a, operator: Exist}]}}}]}`,
			`Placement ns/p: spec.predicates[1].requiredClusterSelector.labelSelector.matchExpressions[0].operator: Invalid value: "Exist"`},
		{"a claim selector without a value", "spec: {}", `spec: {predicates: [{requiredClusterSelector: {claimSelector: {matchExpressions: [{key: a, operator: In}]}}}]}`,
			"Placement ns/p: spec.predicates[0].requiredClusterSelector.claimSelector.matchExpressions[0].values: Required value"},
		{"fewer than no clusters", "spec: {}", "spec: {numberOfClusters: -1}", "Placement ns/p: spec.numberOfClusters: Invalid value: -1"},
		{"a toleration without a key", "spec: {}", "spec: {tolerations: [{value: x}]}", "Placement ns/p: spec.tolerations[0].key: Required value"},
		{"a toleration with a value for any", "spec: {}", "spec: {tolerations: [{operator: Exists, value: x}]}", "Placement ns/p: spec.tolerations[0].value: Invalid value"},
		{"an unknown operator of a toleration", "spec: {}", "spec: {tolerations: [{key: a, operator: In}]}", "Placement ns/p: spec.tolerations[0].operator: Unsupported value"},
		{"an unknown effect", "spec: {}", "spec: {tolerations: [{key: a, effect: NoSchedule}]}", "Placement ns/p: spec.tolerations[0].effect: Unsupported value"},
		{"a name too long for a label", "name: p, namespace: ns}\nspec: {}", "name: " + strings.Repeat("p", 64) + ", namespace: ns}\nspec: {}",
			"ManifestWorkReplicaSet ns/set: placement ns/p: the files have neither a Placement of this name nor PlacementDecisions of it"},
		{"a mistyped field of a cluster", "hubAcceptsClient", "hubAcceptClient", "stdin:2: ManagedCluster a: spec.hubAcceptClient: unknown field"},
		{"a mistyped field of metadata", "labels: {stage", "lables: {stage", "stdin:2: ManagedCluster a: metadata.lables: unknown field"},
		{"a label with a domain that is no string", "stage: canary", "example.com/stage: 1", `stdin:2: ManagedCluster a: metadata.labels[example.com/stage]: Invalid value: 1: must be a string`},
		{"a key that stands twice", "name: a, labels", "name: a, name: b, labels", `stdin:2: not YAML: line 4: key "name" already set in map`},
		{"a label that is no string", "stage: canary", "stage: true", `stdin:2: ManagedCluster a: metadata.labels.stage: Invalid value: true: must be a string`},
		{"an object without a name", "name: a, ", "", "stdin:2: ManagedCluster: metadata.name: Required value"},
		{"a name that no object can have", "name: a, ", `name: "A b", `, `ManagedCluster A b: metadata.name: Invalid value: "A b"`},
		{"an old version", "cluster.open-cluster-management.io/v1beta1", "cluster.open-cluster-management.io/v1alpha1",
			`stdin:7: Placement ns/p: apiVersion: Unsupported value: "cluster.open-cluster-management.io/v1alpha1": supported values: "cluster.open-cluster-management.io/v1beta1"`},
		{"a mistyped field of the behavior", "after: 1m", "afterwards: 1m", "stdin:20: Behavior: spec.clusters[0].afterwards: unknown field"},
		{"a wrong value in the behavior", "after: 1m", "outcome: Explodes", "stdin:20: Behavior: spec.clusters[0].outcome: Unsupported value"},
		{"a time that is none", "after: 1m", "after: soon", `Behavior: spec.clusters[0].after: Invalid value: "soon": must be a time such as 30s or 30m, or a range`},
		{"a rollout to no placement", "placementRefs: [{name: p, rolloutStrategy: {type: Progressive, progressive: {maxConcurrency: 1}}}]", "placementRefs: []",
			"ManifestWorkReplicaSet ns/set: spec.placementRefs: must name a placement"},
		{"a placement without a name", "[{name: p, rollout", "[{rollout", "ManifestWorkReplicaSet ns/set: spec.placementRefs[0].name: Required value"},
		{"a rollout to another placement", "[{name: p, rollout", "[{name: q, rollout",
			"stdin:12: ManifestWorkReplicaSet ns/set: placement ns/q: the files have neither"},
		{"a rollout from another namespace", "name: set, namespace: ns", "name: set, namespace: other", "placement other/p: the files have neither"},
		{"no cluster to select", aCluster + "---", "", "Placement ns/p: the files have neither PlacementDecisions of it nor ManagedClusters"},
		{"a mistyped kind", "kind: ManifestWorkReplicaSet", "kind: ManifestWorkReplicaset",
			`stdin:12: ManifestWorkReplicaset ns/set: kind: "ManifestWorkReplicaset" is none that is known; did you mean ManifestWorkReplicaSet?`},
		{"a mistyped group", "apiVersion: work.open-cluster-management.io", "apiVersion: works.open-cluster-management.io",
			`ManifestWorkReplicaSet ns/set: apiVersion: no group of ManifestWorkReplicaSet is "works.open-cluster-management.io"; did you mean work.open-cluster-management.io?`},
		{"a tab", "kind: ManagedCluster\nmetadata:", "kind: ManagedCluster\n\tmetadata:", "stdin:4: tab: YAML must be indented by spaces"},
		{"broken YAML", "spec: {}", "spec: {", "stdin:7: not YAML"},
	} {
		t.Run(test.why, func(t *testing.T) {
			if got := refused(t, small(t, test.old, test.new), "-f", "-"); !strings.Contains(got+"\n", test.want) {
				t.Errorf("got:  %s\nwant: %s", got, test.want)
			}
		})
	}
}

func TestWrongCombinationsOfObjectsAreRefused(t *testing.T) {
	other := strings.NewReplacer("name: p", "name: q").Replace(aPlacement)
	for _, test := range []struct{ why, in, want string }{
		{"nothing", "", "stdin is empty"},
		{"a comment", "# nothing\n", "no rollout strategy in the files"},
		{"another kind of the group", documents(aCluster, aPlacement, strings.Replace(aReplicaSet, "kind: ManifestWorkReplicaSet", "kind: ReplicaSet", 1)),
			"v1alpha1); of no use here: ReplicaSet (1)"},
		{"what kubectl says of nothing", "No resources found\n", "stdin:1: must be an object with apiVersion and kind, not a string"},
		{"a policy that was made of another", documents(aCluster, aPlacement, strings.Replace(aPolicy, "metadata: {", "metadata: {labels: {policy.open-cluster-management.io/root-policy: ns.pol}, ", 1)),
			"; of no use here: replicated Policy (1, such as pol by its label policy.open-cluster-management.io/root-policy: the policy that it was made of is not in the files)"},
		{"no strategy", documents(aCluster, aPlacement), "no rollout strategy in the files"},
		{"no placement", documents(aCluster, aStrategy), "no Placement and no PlacementDecisions in the files"},
		{"two behaviors", documents(aBehavior, aCluster, aPlacement, aStrategy, aBehavior), "stdin:21: Behavior: must not be given twice: there is a Behavior at stdin:2, too"},
		{"a cluster twice", documents(aCluster, aCluster), `stdin:7: ManagedCluster a: metadata.name: Duplicate value: "a": it stands at stdin:2, too`},
		{"two placements for any", documents(aCluster, aPlacement, other, aStrategy), "2 placements in the files (ns/p, ns/q), choose one with --placement"},
		{"an add-on that is installed by hand", documents(aCluster, aPlacement, strings.Replace(anAddOn, "type: Placements", "type: Manual", 1)),
			`ClusterManagementAddOn addon: spec.installStrategy.type: Unsupported value: "Manual": supported values: "Placements"`},
		{"a mistyped field of an add-on", documents(aPlacement, strings.Replace(anAddOn, "rolloutStrategy", "rollout", 1)),
			"ClusterManagementAddOn addon: spec.installStrategy.placements[0].rollout: unknown field"},
		{"a mistyped field of a bare strategy", documents(aPlacement, strings.Replace(aStrategy, "progressive:", "progresive:", 1)),
			"RolloutStrategy: progresive: unknown field"},
		{"a wrong value of a bare strategy", documents(aPlacement, strings.Replace(aStrategy, "maxConcurrency: 1", "maxConcurrency: -1", 1)),
			"RolloutStrategy: progressive.maxConcurrency: Invalid value: -1"},
		{"a decision without its placement", documents(aStrategy, strings.Replace(aDecision, "cluster.open-cluster-management.io/placement: p, ", "", 1)),
			"stdin:7: PlacementDecision ns/p-decision-1: metadata.labels[cluster.open-cluster-management.io/placement]: Required value"},
		{"a mistyped field of a decision", documents(aStrategy, strings.Replace(aDecision, "clusterName", "cluster", 1)),
			"PlacementDecision ns/p-decision-1: status.decisions[0].cluster: unknown field"},
		{"a set that cannot tell its members", documents(aCluster, strings.Replace(aPlacement, "spec: {}", "spec: {clusterSets: [s]}", 1), aStrategy,
			"\napiVersion: cluster.open-cluster-management.io/v1beta2\nkind: ManagedClusterSet\nmetadata: {name: s}\nspec: {clusterSelector: {selectorType: Magic}}\n"),
			`ManagedClusterSet s: spec.clusterSelector.selectorType: Unsupported value: "Magic"`},
	} {
		t.Run(test.why, func(t *testing.T) {
			if got := refused(t, test.in, "-f", "-"); !strings.Contains(got, test.want) {
				t.Errorf("got:  %s\nwant: %s", got, test.want)
			}
		})
	}
}

func TestWrongFlagsAreRefused(t *testing.T) {
	t.Setenv("KUBECONFIG", filepath.Join(t.TempDir(), "none"))
	dir, regions := t.TempDir(), "testdata/regions/shops.yaml"
	file, stored := filepath.Join(dir, "objects.yaml"), filepath.Join(dir, "stored.yaml")
	for name, text := range map[string]string{file: documents(aCluster, aPlacement, aReplicaSet), stored: documents(aDecision, aReplicaSet)} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, test := range []struct {
		args []string
		want string
	}{
		{nil, "no file given, and no hub: "},
		{[]string{"-f", "does-not-exist.yaml"}, "does-not-exist.yaml: no such file or directory: the path is taken from /"},
		{[]string{"-f", "two\nlines"}, "two; lines: no such file"},
		{[]string{"-f", t.TempDir()}, "must have files whose names end in .yaml, .yml, .json, .jsonl or .ndjson, perhaps with .gz behind that"},
		{[]string{"-f", "-", "-f", "-"}, "given twice"},
		{[]string{"-f", file, "more"}, `unexpected argument "more"`},
		{[]string{"-f", file, "-o", "xml"}, "must be text, json or yaml"},
		{[]string{"-f", file, "-f", file}, file + " given twice"},
		{[]string{"-f", file, "--exitcode"}, "--exitcode: no such flag; did you mean --exit-code?"},
		{[]string{"-takes", "5m", "-f", file}, "-takes: must have two dashes, as in --takes"},
		{[]string{"-f", file, "--exit-code=maybe"}, "--exit-code maybe: must be true or false"},
		{[]string{"-f", file, "--svg"}, "--svg: must be followed by a value"},
		{[]string{"explian", "a", "-f", file}, `explian: no such command; did you mean explain?`},
		{[]string{"-f", file, "--fail-share", "100.1%"}, "--fail-share 100.1%: must be a count"},
		{[]string{"-f", file, "--rows", "0"}, "--rows 0: must be a whole number of at least 2, or all"},
		{[]string{"-f", file, "--never", "b"}, "--never b: must name a cluster that is selected, or be a pattern for some\n"},
		{[]string{"-f", file, "-x"}, "-x: no such flag"},
		{[]string{"-f", file, "--placement", "/p"}, "must be a name"},
		{[]string{"-f", file, "--rollout", "other"}, "--rollout other: must be one of ManifestWorkReplicaSet ns/set\n"},
		{[]string{"-f", file, "--rollout", "ste"}, "--rollout ste: must be one of ManifestWorkReplicaSet ns/set; did you mean set?"},
		{[]string{"-f", file, "--placement", "other"}, "ManifestWorkReplicaSet ns/set: --placement other: must be one of ns/p, which spec.placementRefs names"},
		{[]string{"-f", file, "--start", "tomorrow"}, "must be a time"},
		{[]string{"-f", file, "--takes", "-1s"}, "must be a time such as 30s or 30m"},
		{[]string{"-f", file, "--takes", "1h-9000h"}, "--takes 1h-9000h: must be from 0s to 8760h"},
		{[]string{"-f", file, "--takes", "20m-5m"}, "must not begin with more than it ends with"},
		{[]string{"-f", file, "--cut-off", "["}, "--cut-off [: must be a name or a pattern such as lab-* or edge-0[1-5]"},
		{[]string{"-f", file, "--cut-off", "101%"}, "--cut-off 101%: must be a count, or a percentage from 0% to 100% such as 5% or 0.3%"},
		{[]string{"-f", file, "--cut-off", "1", "--lease", "0s"}, "--lease 0s: must be above 0s and not above 8760h"},
		{[]string{"-f", file, "--cut-off", "1", "--recover", "1h"}, "--recover: no cluster to recover"},
		{[]string{"-f", file, "--fail-rate", "half"}, "must be a chance such as 0.3%"},
		{[]string{"-f", file, "--recover", "1h"}, "--recover: no cluster to recover"},
		{[]string{"-f", file, "--fail", "a=soon"}, "--fail a=soon: must be a time such as 30s or 30m, or a range of times such as 5m-20m"},
		{[]string{"-f", file, "--fail", "["}, "--fail [: must be a name or a pattern"},
		{[]string{"-f", file, "--never", ""}, "--never : must be a name"},
		{[]string{"-f", file, "--fail-share", "half"}, "--fail-share half: must be a count"},
		{[]string{"-f", file, "--seed", "x"}, "--seed x: must be a whole number from 0 to"},
		{[]string{"-f", file, "--takes", "30"}, "--takes 30: must be a time such as 30s or 30m, or a range of times such as 5m-20m"},
		{[]string{"-f", file, "--fail", "nosuch"}, "--fail nosuch: must name a cluster that is selected, or be a pattern for some"},
		{[]string{"-f", file, "--never", "aa"}, "--never aa: must name a cluster that is selected, or be a pattern for some; did you mean a?"},
		{[]string{"-f", file, "--max-concurrency-per-group", "0%"}, "--max-concurrency-per-group 0%: must be above 0%"},
		{[]string{"-f", file, "--gate", "canary"}, "--gate canary: must be the index or the name of a group: group 0\n"},
		{[]string{"-f", regions, "--gate", "prod-ue=1h"}, `--gate prod-ue: must be the index or the name of a group: group 0 "canary", group 1 "staging-eu", group 2 "prod-eu", `},
		{[]string{"-f", regions, "--gate", "prod-ue=1h"}, "did you mean prod-eu?\n"},
		{[]string{"-f", file, "--gate", "=1h"}, "--gate =1h: must be the index or the name of a group, such as 2, canary or 2=4h"},
		{[]string{"-f", regions, "--group-order", "prod-eu"}, "--group-order prod-eu: must say which groups come after which, such as 'prod after canary,staging', or be any\n"},
		{[]string{"-f", regions, "--group-order", "prod-eu after a b"}, "must say which groups come after which"},
		{[]string{"-f", regions, "--group-order", "prod-eu after canary", "--group-order", "prod-eu after staging-eu"},
			`--group-order "prod-eu after staging-eu": must not be given twice for prod-eu: name all that it comes after at once, as in 'prod-eu after a,b'`},
		{[]string{"-f", regions, "--group-order", "prod-eu after cannary"},
			"--group-order: no group has the name cannary: must be one of canary, prod-eu, prod-us, staging-eu, staging-us; did you mean canary?\n"},
		{[]string{"-f", file, "--group-order", "- after canary"}, "--group-order: no group has the name canary: must be one of - (- is the groups without a name)\n"},
		{[]string{"-f", regions, "--group-order", "prod-eu after prod-us; prod-us after prod-eu"}, `--group-order: must not come after itself: "prod-eu" after "prod-us" after "prod-eu"`},
		{[]string{"-f", regions, "--ignore", "shop-paros"}, "--ignore shop-paros: must name a cluster that is selected, or be a pattern for some, or labels; did you mean shop-paris?\n"},
		{[]string{"-f", regions, "--ignore", "["}, "--ignore [: must be a name, a pattern like edge-*, or labels like power=off"},
		{[]string{"-f", regions, "--ignore", "power in off"}, "must be a name, a pattern like edge-*, or labels like power=off or 'power in (off,saving)'"},
		{[]string{"-f", regions, "--ignore", "pwoer=off"}, "--ignore pwoer=off: must be labels of a cluster that is selected; did you mean power?\n"},
		{[]string{"-f", regions, "--ignore", "power=on"}, "--ignore power=on: must be labels of a cluster that is selected\n"},
		{[]string{"-f", stored, "--ignore", "power=on"}, "--ignore power=on: no cluster has labels, as no ManagedCluster that has some was read\n"},
		{[]string{"exposure", "-f", regions, "--failed-before", "x"}, "--failed-before x: must name a cluster that is selected"},
		{[]string{"compare", "-f", regions, "--group-order", "x after canary"}, "--group-order: no group has the name x"},
		{[]string{"compare", "-f", regions, "--ramp", "-3"}, "--ramp -3: must be at least 1"},
		{[]string{"-f", file, "--gate", "0", "--gate", "0=1h"}, "--gate 0=1h: must not be given twice for a group"},
		{[]string{"-f", file, "--wait-between-groups", "-1h"}, "--wait-between-groups -1h0m0s: must "},
		{[]string{"-f", file, "--ramp", "-1"}, "--ramp -1: must be at least 1"},
		{[]string{"-f", file, "--max-starts", "10"}, "--max-starts 10: must be a number and a time, both above 0, such as 10/1h"},
		{[]string{"-f", file, "--max-starts", "0/1h"}, "--max-starts 0/1h: must be a number and a time"},
		{[]string{"-f", file, "--abort-at", "-1h"}, "--abort-at -1h0m0s: must be above 0"},
		{[]string{"-f", file, "--back-by-strategy"}, "--back-by-strategy: must be given with --abort-at or --abort-on-breach"},
		{[]string{"compare", "-f", file, "--abort-at", "1h"}, "--abort-at: no such flag"},
		{[]string{"-f", file, "--retry", "2"}, "--retry 2: must be a number and a time, both above 0, such as 2/30m"},
		{[]string{"-f", file, "--fail", "a", "--fail-attempts", "1"}, "--fail-attempts 1: must be given with --retry, and with --fail, "},
		{[]string{"-f", file, "--retry", "1/1h", "--fail-attempts", "1"}, "--fail-attempts 1: must be given with --retry, and with --fail, "},
		{[]string{"-f", file, "--fail", "a", "--retry", "1/1h", "--fail-attempts", "-1"}, "--fail-attempts -1: must not be negative"},
		{[]string{"exposure", "-f", file, "--retry", "1/1h"}, "--retry: no such flag"},
		{[]string{"-f", file, "--chart", "-o", "json"}, "--chart: must be given without -o json"},
		{[]string{"exposure", "-f", file, "a"}, `unexpected argument "a": files must be given as -f FILE`},
		{[]string{"-f", file, "--gate", "1=-2h"}, "--gate 1=-2h: must open after a time such as 30m or 4h"},
		{[]string{"-f", file, "--gate", "1"}, "--gate 1: must be the index or the name of a group: group 0"},
	} {
		if got := refused(t, "", test.args...); !strings.Contains(got+"\n", test.want) {
			t.Errorf("%q\ngot:  %s\nwant: %s", test.args, got, test.want)
		}
	}
}

// full is a disk without room.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("no space left") }

func TestOutputThatCannotBeWrittenIsAnError(t *testing.T) {
	for _, format := range []string{"text", "json"} {
		var stderr bytes.Buffer
		args := []string{"-f", "testdata/recovers/telco.yaml", "-o", format}
		if status := cohort(args, strings.NewReader(""), full{}, &stderr); status != 1 || stderr.String() != "error: no space left\n" {
			t.Errorf("%s: exit status %d, %q; want 1 and why", format, status, stderr.String())
		}
	}
}

func TestHelpNamesEveryFlag(t *testing.T) {
	help := simulateText(t, "", "plan", "--all", "-h")
	for _, name := range []string{"-f, --filename file", "-o, --output format", "--placement", "--start", "--takes", "--fail", "--never", "--recover", "--seed", "--gate", "--rollout", "--exit-code"} {
		if !strings.Contains(help, name) {
			t.Errorf("no %q in the help:\n%s", name, help)
		}
	}
}

func TestHelpHasEachKindAndEachExitStatus(t *testing.T) {
	help := simulateText(t, "", "help")
	for full := range scenario.Kinds() {
		if !strings.Contains(help, full) {
			t.Errorf("no %s in the help", full)
		}
	}
	for _, outcome := range []simulation.Outcome{simulation.Complete, simulation.CompleteWithFailures, simulation.AtGate, simulation.Stuck,
		simulation.Breached, simulation.NothingSelected} {
		if want := fmt.Sprintf("%d %s", exitCode(outcome), outcome); !strings.Contains(strings.Join(strings.Fields(help), " "), want) {
			t.Errorf("no %q in the help", want)
		}
	}
}
