// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"strings"
	"testing"
)

// groupsOfPlacement are the PlacementDecisions of a placement, a group for each word with a cluster for each letter.
func groupsOfPlacement(placement string, words ...string) string {
	var all []string
	for i, word := range words {
		named := strings.NewReplacer("p-decision-1", fmt.Sprintf("%s-decision-%d", placement, i+1), "placement: p", "placement: "+placement, `index: "0"`, fmt.Sprintf("index: %q", fmt.Sprint(i)))
		all = append(all, named.Replace(decisionOf(strings.Split(word, "")...)))
	}
	return documents(all...)
}

// twoPlacements is a ManifestWorkReplicaSet to the placements q and p. Both select b, which q has. Nothing selects w and z any more; their works
// were written for q and for p.
func twoPlacements() string {
	all := []string{setOfTwo()}
	for _, letters := range []string{"qabw", "pcdz"} {
		for _, cluster := range strings.Split(letters[1:], "") {
			all = append(all, strings.Replace(work(cluster, "00:01", ""), "placementname: p", "placementname: "+letters[:1], 1))
		}
	}
	return documents(all...)
}

// setOfTwo is the same without works.
func setOfTwo() string {
	set := strings.Replace(aReplicaSet, "[{name: p,", "[{name: q, rolloutStrategy: {type: All}}, {name: p,", 1)
	return documents(set, groupsOfPlacement("q", "ab"), groupsOfPlacement("p", "bc", "d"))
}

// anAddOnOf is a ManagedClusterAddOn of the ClusterManagementAddOn addon, in either version of the API.
func anAddOnOf(cluster, version string, deleting bool) string {
	metadata := "{name: addon, namespace: " + cluster
	if deleting {
		metadata += `, deletionTimestamp: "2025-01-01T00:59:00Z"`
	}
	return "\napiVersion: addon.open-cluster-management.io/" + version + "\nkind: ManagedClusterAddOn\nmetadata: " + metadata + "}\nspec: {}\n"
}

// Each placement loses its own clusters, those that several select are of the first, and those that none selects are of the last, whichever
// placement its object was written for. The owner goes once, after the last.
func TestRemovalsOfSeveralPlacements(t *testing.T) {
	const q = "ManifestWorkReplicaSet ns/set to placement ns/q: all of it goes, at most 2 clusters at a time\n"
	const p = "ManifestWorkReplicaSet ns/set to placement ns/p: all of it goes, at most 2 clusters at a time\n"
	const ofQ = "\nto delete now: a b\n\nWAVE  GROUP    CLUSTERS\n1     group 0  a b\n"
	const ofP = "\nto delete now: w z\n\nWAVE  GROUP             CLUSTERS\n1     not in any group  w z\n2     group 1           d\n      group 0           c\n"
	const last = "last  ManifestWorkReplicaSet ns/set itself, once no cluster has anything of it\n"
	for _, test := range []struct {
		why, in string
		args    []string
		want    []string
		lacks   []string
	}{
		{"all", twoPlacements(), nil, []string{q, ofQ + "\n────────\n\n" + p, ofP + last}, nil},
		{"one, and b is of the other", twoPlacements(), []string{"--placement", "p"}, []string{p, ofP}, []string{"itself", "placement ns/q"}},
		{"one, in a namespace", twoPlacements(), []string{"--placement", "ns/q"}, []string{q + "note: ", ofQ}, []string{"itself", "placement ns/p"}},
		{"a group that one placement has", twoPlacements(), []string{"--group", "1"}, []string{"to placement ns/p: group 1 goes", "\nto delete now: d\n"}, []string{"itself", "placement ns/q"}},
		{"a dump of a hub, as a list", list(t, twoPlacements()), nil, []string{ofQ, ofP + last}, nil},
		{"which of them are not waited for", twoPlacements(), []string{"--ignore", "a", "--ignore", "w", "--ignore", "z"},
			[]string{"not waited for: a\n", "\nto delete now: c d w z\nnot waited for: w z\n"}, []string{"a w"}},
		{"files without objects", setOfTwo(), nil, []string{ofQ, "\nto delete now: c d\n\nWAVE  GROUP    CLUSTERS\n1     group 1  d\n      group 0  c\n" + last}, nil},
		{"objects of one placement say that no cluster has it in the other", documents(setOfTwo(), work("c", "00:01", "")), nil,
			[]string{q, "\nto delete now: no cluster has it\n\n────────", "\nto delete now: c\n"}, []string{"no object says"}},
	} {
		got := simulateText(t, test.in, append([]string{"removals", "-f", "-", "--at-a-time", "2"}, test.args...)...)
		for _, want := range test.want {
			if !strings.Contains(got, want) {
				t.Errorf("%s: no\n%s\nin\n%s", test.why, want, got)
			}
		}
		for _, lacks := range test.lacks {
			if strings.Contains(got, lacks) {
				t.Errorf("%s: %q in\n%s", test.why, lacks, got)
			}
		}
	}
	data := simulateText(t, twoPlacements(), "removals", "-f", "-", "--at-a-time", "1", "-o", "json")
	if got := strings.Count(data, `"rollout": "ManifestWorkReplicaSet ns/set"`); got != 2 {
		t.Errorf("named %d times in\n%s", got, data)
	}
}

// An add-on goes everywhere where its owner goes, also where no placement selects the cluster: the objects have an owner reference. Both
// placements select b, which the last one has.
func TestRemovalsOfAnAddOn(t *testing.T) {
	owner := strings.Replace(anAddOn, "placements: [{", "placements: [{name: q, namespace: ns, rolloutStrategy: {type: ProgressivePerGroup}}, {", 1)
	for _, version := range []string{"v1alpha1", "v1beta1"} {
		all := []string{owner, groupsOfPlacement("q", "ab", "c"), groupsOfPlacement("p", "bd")}
		for cluster := range strings.SplitSeq("abcdz", "") {
			all = append(all, anAddOnOf(cluster, version, cluster == "c"))
		}
		got := simulateText(t, documents(all...), "removals", "-f", "-", "--at-a-time", "1")
		for _, want := range []string{
			"ClusterManagementAddOn addon to placement ns/q: all of it goes, at most 1 cluster at a time\n",
			"\non their way out: c\nto delete now: none, before one that is on its way out is gone\n\nWAVE  GROUP             CLUSTERS\n1     not in any group  z\n2     group 0           a\n\n────────",
			"\nto delete now: b\n\nWAVE  GROUP    CLUSTERS\n1     group 0  b\n2     group 0  d\nlast  ClusterManagementAddOn addon itself, once no cluster has anything of it\n",
		} {
			if !strings.Contains(got, want) {
				t.Errorf("%s: no\n%s\nin\n%s", version, want, got)
			}
		}
	}
	// Where only deselected clusters have it, these say that no other has it.
	if got, want := simulateText(t, documents(anAddOn, aDecision, anAddOnOf("z", "v1alpha1", false)), "removals", "-f", "-", "--at-a-time", "1"), "\n1     not in any group  z\nlast  "; !strings.Contains(got, want) {
		t.Errorf("no %q in\n%s", want, got)
	}
}

// list has the documents as kubectl get -o yaml prints several objects.
func list(t *testing.T, all string) string {
	t.Helper()
	var items []any
	for _, text := range strings.Split(all, "---") {
		items = append(items, unstructuredOf(t, text).Object)
	}
	return asYAML(t, map[string]any{"apiVersion": "v1", "kind": "List", "items": items})
}
