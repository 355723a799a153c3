// SPDX-License-Identifier: Apache-2.0

package scenario_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cohort-ocm/cohort/examples/internal/manifest"
	"github.com/cohort-ocm/cohort/examples/kubectl-cohort/internal/scenario"
)

const strategy = `
apiVersion: cluster.open-cluster-management.io/v1alpha1
kind: RolloutStrategy
type: All
`

// placementOf has the spec that is given, in one line.
func placementOf(spec string) string {
	return fmt.Sprintf(`
apiVersion: cluster.open-cluster-management.io/v1beta1
kind: Placement
metadata: {name: p, namespace: ns}
spec: {%s}
`, spec)
}

// clusterOf has the metadata, spec and status that are given, in one line each.
func clusterOf(metadata, spec, status string) string {
	return fmt.Sprintf(`
apiVersion: cluster.open-cluster-management.io/v1
kind: ManagedCluster
metadata: {%s}
spec: {%s}
status: {%s}
`, metadata, spec, status)
}

// plain is a cluster with labels that a placement may select.
func plain(name, labels string) string {
	return clusterOf("name: "+name+", labels: {"+labels+"}", "hubAcceptsClient: true", "")
}

func load(t *testing.T, wanted scenario.Ref, texts ...string) (*scenario.Scenario, error) {
	t.Helper()
	objects, err := manifest.Decode("f", strings.NewReader(strings.Join(texts, "---")))
	if err != nil {
		t.Fatal(err)
	}
	scenarios, err := scenario.Load(objects, scenario.Wanted{Placement: wanted})
	if err != nil {
		return nil, err
	}
	return scenarios[0], nil
}

// names gives the names of the selected clusters, with blanks between them.
func names(s *scenario.Scenario) string {
	var all []string
	for _, c := range s.Clusters() {
		all = append(all, c.Name)
	}
	return strings.Join(all, " ")
}

func TestPlacementSelectsAsOCMDoes(t *testing.T) {
	const required = "predicates: [{requiredClusterSelector: %s}]"
	labelled := []string{plain("a", "env: prod, size: big"), plain("b", "env: prod"), plain("c", "env: test")}
	claim := func(name, value string) string {
		return clusterOf("name: "+name+", labels: {env: prod}", "hubAcceptsClient: true", "clusterClaims: [{name: region, value: "+value+"}]")
	}
	taint := func(name, key, value, effect string) string {
		return clusterOf("name: "+name, fmt.Sprintf("hubAcceptsClient: true, taints: [{key: %s, value: %q, effect: %s}]", key, value, effect), "")
	}
	tainted := []string{taint("a", "gpu", "", "NoSelect"), taint("b", "gpu", "x", "NoSelectIfNew"), taint("c", "gpu", "", "PreferNoSelect"), taint("d", "tpu", "", "NoSelect")}
	repelled := func(taints ...string) (notes []string) {
		for _, taint := range taints {
			notes = append(notes, fmt.Sprintf("ManagedCluster: not selected, the taint %s is not tolerated (spec.taints, spec.tolerations) (1)", taint))
		}
		return notes
	}
	const (
		unbound = "ManagedClusterSetBinding: none in the files, so all cluster sets are taken as bound to the Placement's namespace; on a hub without one, no cluster is selected"
	)
	set := func(name string) string { return "cluster.open-cluster-management.io/clusterset: " + name }
	bind := func(namespace, set, condition string) string {
		return fmt.Sprintf("\napiVersion: cluster.open-cluster-management.io/v1beta2\nkind: ManagedClusterSetBinding\nmetadata: {name: %[2]s, namespace: %[1]s}\nspec: {clusterSet: %[2]s}\n%[3]s\n", namespace, set, condition)
	}
	const notBound = `status: {conditions: [{type: Bound, status: "False", reason: ClusterSetNotFound, message: "", lastTransitionTime: "2025-01-01T00:00:00Z"}]}`
	inSets := []string{plain("a", set("one")), plain("b", set("two")), plain("c", set("three")), plain("d", "")}
	for _, test := range []struct {
		why, spec string
		objects   []string
		want      string
		notes     []string
	}{
		{"no predicates select all", "", labelled, "a b c", nil},
		{"predicates are ORed", "predicates: [{requiredClusterSelector: {labelSelector: {matchLabels: {size: big}}}}, {requiredClusterSelector: {labelSelector: {matchLabels: {env: test}}}}]",
			labelled, "a c", nil},
		{"an empty predicate fits all", "predicates: [{}]", labelled, "a b c", nil},
		{"the requirements of a selector are ANDed", fmt.Sprintf(required, "{labelSelector: {matchLabels: {env: prod}, matchExpressions: [{key: size, operator: DoesNotExist}]}}"),
			labelled, "b", nil},
		{"claims are not labels", fmt.Sprintf(required, "{claimSelector: {matchExpressions: [{key: env, operator: Exists}]}}"), labelled, "", nil},
		{"labels and claims are ANDed", fmt.Sprintf(required, "{labelSelector: {matchLabels: {env: prod}}, claimSelector: {matchExpressions: [{key: region, operator: In, values: [eu, us]}]}}"),
			[]string{claim("a", "eu"), claim("b", "asia"), plain("c", "env: prod"), clusterOf("name: d", "hubAcceptsClient: true", "clusterClaims: [{name: region, value: eu}]")}, "a", nil},
		{"sets go by their label and are ORed", "clusterSets: [one, two]", []string{plain("a", set("one")), plain("b", set("two")), plain("c", set("three")), plain("d", "")}, "a b", []string{unbound}},
		{"only bound sets count", "", append(inSets, bind("ns", "one", ""), bind("ns", "three", "")), "a c", nil},
		{"of those that the Placement names only the bound ones do", "clusterSets: [one, two]", append(inSets, bind("ns", "one", ""), bind("ns", "three", "")), "a",
			[]string{"spec.clusterSets: two has no ManagedClusterSetBinding in the Placement's namespace and does not count"}},
		{"a binding of another namespace binds nothing here", "", append(inSets, bind("other", "one", "")), "", nil},
		{"a binding to a set that is not there binds nothing", "", append(inSets, bind("ns", "one", notBound), bind("ns", "two", "")), "b", nil},
		{"a bound set without clusters is noted where it is named", "clusterSets: [four]", append(inSets, bind("ns", "four", "")), "",
			[]string{"spec.clusterSets: no ManagedCluster in the files is in four"}},
		{"the global set has all", "clusterSets: [global]", labelled, "a b c", []string{unbound}},
		{"a set may have a selector of its own", "clusterSets: [big]", append(labelled,
			"\napiVersion: cluster.open-cluster-management.io/v1beta2\nkind: ManagedClusterSet\nmetadata: {name: big}\nspec: {clusterSelector: {selectorType: LabelSelector, labelSelector: {matchLabels: {size: big}}}}\n"), "a", []string{unbound}},
		{"a set with the selector of labels but without labels has none", "clusterSets: [big]", append(labelled,
			"\napiVersion: cluster.open-cluster-management.io/v1beta2\nkind: ManagedClusterSet\nmetadata: {name: big}\nspec: {clusterSelector: {selectorType: LabelSelector}}\n"), "",
			[]string{unbound, "spec.clusterSets: no ManagedCluster in the files is in big"}},
		{"a set in the files may go by its label", "clusterSets: [one]", []string{plain("a", set("one")), plain("b", ""),
			"\napiVersion: cluster.open-cluster-management.io/v1beta2\nkind: ManagedClusterSet\nmetadata: {name: one}\nspec: {clusterSelector: {selectorType: ExclusiveClusterSetLabel}}\n"}, "a", []string{unbound}},
		{"a cluster that is leaving is not selected, nor is one that is not accepted", fmt.Sprintf(required, "{labelSelector: {matchLabels: {env: prod}}}"),
			[]string{plain("a", "env: prod"), clusterOf(`name: b, labels: {env: prod}, deletionTimestamp: "2025-01-01T00:00:00Z"`, "hubAcceptsClient: true", ""),
				clusterOf("name: c, labels: {env: prod}", "hubAcceptsClient: false", ""), clusterOf("name: d", "hubAcceptsClient: false", "")}, "a", []string{
				"ManagedCluster: not selected, being deleted (metadata.deletionTimestamp) (1)",
				"ManagedCluster: not selected, not accepted by the hub, which taints it as unreachable (spec.hubAcceptsClient) (1)"}},
		{"a cluster that is not accepted is where the taint is tolerated", "tolerations: [{key: cluster.open-cluster-management.io/unreachable, operator: Exists}]",
			[]string{clusterOf("name: a", "hubAcceptsClient: false", "")}, "a", nil},
		{"of a hub's cluster the taints are all there", "", []string{clusterOf("name: a, uid: u1", "hubAcceptsClient: false", ""), clusterOf("name: b, uid: u2",
			"hubAcceptsClient: false, taints: [{key: cluster.open-cluster-management.io/unreachable, effect: NoSelect}]", "")}, "a", repelled("cluster.open-cluster-management.io/unreachable:NoSelect")},
		{"taints repel, but PreferNoSelect", "", tainted, "c", repelled("gpu:NoSelect", "gpu:NoSelectIfNew", "tpu:NoSelect")},
		{"Equal is the default and looks at the value", "tolerations: [{key: gpu}]", tainted, "a c", repelled("gpu:NoSelectIfNew", "tpu:NoSelect")},
		{"Exists takes any value", "tolerations: [{key: gpu, operator: Exists}]", tainted, "a b c", repelled("tpu:NoSelect")},
		{"Exists without a key takes all", "tolerations: [{operator: Exists}]", tainted, "a b c d", nil},
		{"a toleration may be for one effect", "tolerations: [{operator: Exists, effect: NoSelectIfNew}]", tainted, "b c", repelled("gpu:NoSelect", "tpu:NoSelect")},
		{"tolerationSeconds is not followed, and said so", "tolerations: [{operator: Exists, tolerationSeconds: 60}]", tainted, "a b c d",
			[]string{"spec.tolerations[0].tolerationSeconds: taken as tolerated all the time"}},
		{"numberOfClusters takes the first by name", "numberOfClusters: 2", []string{labelled[2], labelled[1], labelled[0]}, "a b",
			[]string{"spec.numberOfClusters: the first 2 of 3 clusters by name; OCM would choose them by score"}},
		{"numberOfClusters may be all", "numberOfClusters: 3", labelled, "a b c", nil},
		{"numberOfClusters may be more than fit", "numberOfClusters: 4", labelled, "a b c", []string{"spec.numberOfClusters: only 3 of 4 clusters fit the Placement"}},
		{"no cluster at all is wanted", "numberOfClusters: 0", labelled, "", []string{"spec.numberOfClusters: the first 0 of 3 clusters by name; OCM would choose them by score"}},
		{"what is not followed is said", "sortBy: Score, spreadPolicy: {spreadConstraints: [{topologyKey: zone, topologyKeyType: Label}]}, prioritizerPolicy: {configurations: [{scoreCoordinate: {builtIn: Steady}}]}",
			labelled, "a b c", []string{"spec.prioritizerPolicy: not followed, no cluster has a score here", "spec.sortBy: Score sorts by name here, no cluster has a score", "spec.spreadPolicy: not followed"}},
		{"the defaults that a server writes need no note", "sortBy: ClusterName, scoreRateLimit: 1m, prioritizerPolicy: {mode: Additive}, spreadPolicy: {}", labelled, "a b c", nil},
		{"other kinds are counted", "", append(labelled, "\napiVersion: v1\nkind: Namespace\nmetadata: {name: ns}\n", "\napiVersion: v1\nkind: Namespace\nmetadata: {name: b}\n",
			"\napiVersion: other/v1\nkind: Placement\nmetadata: {name: other}\n"), "a b c",
			[]string{"Namespace: not used by a simulation (2)", "Placement: not used by a simulation (1)"}},
		{"a status may be newer than our types", "", []string{clusterOf("name: a", "hubAcceptsClient: true", "mood: fine, clusterClaim: []"), clusterOf("name: b", "hubAcceptsClient: true", "mood: bad")}, "a b",
			[]string{"ManagedCluster: status.clusterClaim: unknown field, not read (1)", "ManagedCluster: status.mood: unknown field, not read (2)"}},
	} {
		t.Run(test.why, func(t *testing.T) {
			s, err := load(t, scenario.Ref{}, append(test.objects, placementOf(test.spec), strategy)...)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, names(s)); diff != "" {
				t.Errorf("clusters (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(test.notes, s.Notes); diff != "" {
				t.Errorf("notes (-want +got):\n%s", diff)
			}
			dropped := s.Groups.NumClusters()
			for _, drop := range s.Dropped {
				dropped += drop.Clusters
			}
			if dropped != s.Fleet {
				t.Errorf("%d of %d clusters are selected or dropped by %v, want all", dropped, s.Fleet, s.Dropped)
			}
		})
	}
}

// decision is a PlacementDecision of one cluster in group 0.
func decision(namespace, placement, cluster string) string {
	return fmt.Sprintf(`
apiVersion: cluster.open-cluster-management.io/v1beta1
kind: PlacementDecision
metadata:
  name: %[2]s-decision-1
  namespace: %[1]q
  labels: {cluster.open-cluster-management.io/placement: %[2]s, cluster.open-cluster-management.io/decision-group-index: "0"}
status: {decisions: [{clusterName: %[3]s, reason: ""}]}
`, namespace, placement, cluster)
}

// replicaSet rolls out to the placements, one at a time to the first, two to the second and so on.
func replicaSet(namespace string, placements ...string) string {
	text := fmt.Sprintf("\napiVersion: work.open-cluster-management.io/v1alpha1\nkind: ManifestWorkReplicaSet\nmetadata: {name: set, namespace: %q}\nspec:\n  manifestWorkTemplate: {}\n  placementRefs:\n", namespace)
	for i, p := range placements {
		text += fmt.Sprintf("  - {name: %s, rolloutStrategy: {type: Progressive, progressive: {maxConcurrency: %d}}}\n", p, i+1)
	}
	return text
}

func TestTheRolloutOrTheUserChoosesThePlacement(t *testing.T) {
	for _, test := range []struct {
		why     string
		wanted  scenario.Ref
		objects []string
		want    string // placement, clusters, maxConcurrency
	}{
		{"the only one there is", scenario.Ref{}, []string{strategy, placementOf(""), plain("a", "")}, "ns/p: a, unset"},
		{"stored decisions win over predicates", scenario.Ref{}, []string{strategy, placementOf(""), plain("a", ""), decision("ns", "p", "b")}, "ns/p: b, unset"},
		{"decisions need no Placement", scenario.Ref{}, []string{replicaSet("ns", "p"), decision("ns", "p", "b")}, "ns/p: b, 1"},
		{"the rollout names it", scenario.Ref{}, []string{replicaSet("ns", "q"), decision("ns", "p", "b"), decision("ns", "q", "c")}, "ns/q: c, 1"},
		{"in its namespace", scenario.Ref{}, []string{replicaSet("ns", "p"), decision("ns", "p", "b"), decision("other", "p", "c")}, "ns/p: b, 1"},
		{"the user chooses for a bare strategy", scenario.Ref{Name: "q"}, []string{strategy, decision("ns", "p", "b"), decision("ns", "q", "c")}, "ns/q: c, unset"},
		{"the user may name the namespace", scenario.Ref{Namespace: "other", Name: "p"}, []string{strategy, decision("ns", "p", "b"), decision("other", "p", "c")}, "other/p: c, unset"},
		{"the user chooses from several of the rollout, each with its strategy", scenario.Ref{Name: "q"},
			[]string{replicaSet("ns", "p", "q"), decision("ns", "p", "b"), decision("ns", "q", "c")}, "ns/q: c, 2"},
		{"the user's name is one of the rollout's, in its namespace", scenario.Ref{Name: "q"},
			[]string{replicaSet("ns", "p", "q"), decision("other", "q", "b"), decision("ns", "q", "c")}, "ns/q: c, 2"},
		{"the namespace may be left out in the placement", scenario.Ref{}, []string{replicaSet("ns", "p"), decision("", "p", "b")}, "p: b, 1"},
		{"or in the rollout", scenario.Ref{}, []string{replicaSet("", "p"), decision("ns", "p", "b")}, "ns/p: b, 1"},
	} {
		t.Run(test.why, func(t *testing.T) {
			s, err := load(t, test.wanted, test.objects...)
			if err != nil {
				t.Fatal(err)
			}
			concurrency := "unset"
			if p := s.Strategy.Progressive; p != nil {
				concurrency = p.MaxConcurrency.String()
			}
			if got := fmt.Sprintf("%v: %s, %s", s.Placement, names(s), concurrency); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

// G11: the groups are read as the library reads them, two objects with one cluster included.
func TestStoredDecisionsMayHoldAClusterTwice(t *testing.T) {
	second := strings.NewReplacer("p-decision-1", "p-decision-2", `index: "0"`, `index: "1"`).Replace(decision("ns", "p", "a"))
	s, err := load(t, scenario.Ref{}, strategy, second, decision("ns", "p", "a"))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := s.Groups.String(), "group 0: 1, group 1: 0"; got != want {
		t.Errorf("groups: %s, want %s", got, want)
	}
}

func TestBothVersionsOfTheAddOnAreRead(t *testing.T) {
	for _, version := range []string{"v1alpha1", "v1beta1"} {
		addOn := "\napiVersion: addon.open-cluster-management.io/" + version + `
kind: ClusterManagementAddOn
metadata: {name: addon}
spec:
  installStrategy:
    type: Placements
    placements:
    - {name: other, namespace: ns}
    - {name: p, namespace: ns, rolloutStrategy: {type: Progressive, progressive: {maxConcurrency: 7}}}
`
		s, err := load(t, scenario.Ref{Name: "p"}, addOn, decision("ns", "p", "a"))
		if err != nil {
			t.Fatal(err)
		}
		if s.Rollout != "ClusterManagementAddOn addon" || s.Strategy.Progressive.MaxConcurrency.IntValue() != 7 {
			t.Errorf("%s: got %s with %+v, want maxConcurrency 7", version, s.Rollout, s.Strategy.Progressive)
		}
	}
}

// What is odd about stored decisions is said, whatever becomes of it.
func TestStaleDecisionsAreNoted(t *testing.T) {
	second := strings.NewReplacer("p-decision-1", "p-decision-2", `index: "0"`, `index: "1"`).Replace(decision("ns", "p", "a"))
	third := strings.ReplaceAll(decision("ns", "p", "gone"), "p-decision-1", "p-decision-3")
	placement := placementOf("predicates: [{requiredClusterSelector: {labelSelector: {matchLabels: {env: prod}}}}]")
	s, err := load(t, scenario.Ref{}, strategy, placement, decision("ns", "p", "a"), second, third, plain("a", ""), plain("b", "env: prod"))
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"PlacementDecision: not all are there, so nothing starts: placement p: the PlacementDecisions of group 1 list 1 cluster, but the status of the Placement says 0",
		"PlacementDecision: a stands in p-decision-1 and p-decision-2 and counts in group 0",
		"PlacementDecision: no ManagedCluster in the files has this name (1): gone",
		"PlacementDecision: the Placement's rules do not select it now (1): a",
		"ManagedCluster: the Placement's rules select it and no PlacementDecision has it (1): b",
	}
	if diff := cmp.Diff(want, s.Notes); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// A decision group without a selector takes the whole fleet. The YAML tells one that is not there from one that is empty, as one that was misspelled
// and pruned is; a misspelled one that was not pruned is an error.
func TestAGroupWithoutASelectorIsNoted(t *testing.T) {
	const at = "spec.decisionStrategy.groupStrategy.decisionGroups[0].groupClusterSelector: "
	for group, want := range map[string]struct{ note, err string }{
		"{groupName: canary, groupClusterSelector: {labelSelector: {matchLabels: {env: prod}}}}": {},
		"{groupName: canary}":                           {note: at + `not set, so group "canary" takes every cluster`},
		"{groupName: canary, groupClusterSelector: {}}": {note: at + `has no label and no claim to select by, so group "canary" takes every cluster that no group before it has; a misspelled selector looks like this`},
		"{groupName: canary, groupClusterSelector: {labelSelctor: {matchLabels: {env: prod}}}}": {err: at[:len(at)-2] + ".labelSelctor: unknown field"},
	} {
		placement := placementOf("decisionStrategy: {groupStrategy: {decisionGroups: [" + group + "]}}")
		s, err := load(t, scenario.Ref{}, strategy, placement, plain("a", ""))
		if want.err != "" {
			if err == nil || !strings.Contains(err.Error(), want.err) {
				t.Errorf("%s: %v", group, err)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		notes := strings.Join(s.Notes, "\n")
		if want.note == "" && strings.Contains(notes, "groupClusterSelector") || !strings.Contains(notes, want.note) {
			t.Errorf("%s: notes %q, want %q", group, s.Notes, want.note)
		}
	}
}
