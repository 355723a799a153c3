// SPDX-License-Identifier: Apache-2.0

package scenario_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cohort-ocm/cohort/examples/internal/manifest"
	"github.com/cohort-ocm/cohort/examples/kubectl-cohort/internal/scenario"
)

// A Loader gives what Load gives: for the same objects again, and for those of which one has another content under its name.
func TestALoaderGivesWhatLoadGives(t *testing.T) {
	read := func(text string) []manifest.Object {
		objects, err := scenario.Reader().Read(strings.NewReader(text), "-")
		if err != nil {
			t.Fatal(err)
		}
		return objects
	}
	const placement = `
apiVersion: cluster.open-cluster-management.io/v1beta1
kind: Placement
metadata: {name: p, namespace: ns}
spec: {}
---
apiVersion: work.open-cluster-management.io/v1alpha1
kind: ManifestWorkReplicaSet
metadata: {name: set, namespace: ns}
spec: {placementRefs: [{name: p, rolloutStrategy: {type: All}}], manifestWorkTemplate: {}}
---
apiVersion: cluster.open-cluster-management.io/v1beta1
kind: PlacementDecision
metadata: {name: d, namespace: ns, labels: {cluster.open-cluster-management.io/placement: p}}
status: {decisions: [{clusterName: a, reason: ""}]}
`
	first, second := read(placement), read(strings.Replace(placement, "clusterName: a", "clusterName: b", 1))
	changed := append(first[:2:2], second[2]) // the decision alone
	var loader scenario.Loader
	for i, objects := range [][]manifest.Object{first, first, changed, first, changed, changed} {
		got, err := loader.Load(objects, scenario.Wanted{})
		if err != nil {
			t.Fatal(err)
		}
		want, err := scenario.Load(objects, scenario.Wanted{})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want[0].Groups.Cluster(0), got[0].Groups.Cluster(0)); diff != "" {
			t.Errorf("load %d (-Load +Loader): %s", i, diff)
		}
	}
	if same, _ := loader.Load(changed, scenario.Wanted{}); same[0].Decisions[0] != must(t, &loader, changed)[0].Decisions[0] {
		t.Error("an object is decoded twice, though it did not change")
	}
}

func must(t *testing.T, l *scenario.Loader, objects []manifest.Object) []*scenario.Scenario {
	t.Helper()
	all, err := l.Load(objects, scenario.Wanted{})
	if err != nil {
		t.Fatal(err)
	}
	return all
}
