// SPDX-License-Identifier: Apache-2.0

package decisionupdate_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apimachinery/pkg/util/yaml"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	"github.com/cohort-ocm/cohort/decisionupdate"
)

// D9: bad input is an error that says where and what, the same for every order of the lists, and there is no
// update.
func TestBadInput(t *testing.T) {
	full := divided(101, numbers(1, 101))[0]
	in := func(namespace string, objects []*pd) []*pd {
		for _, o := range objects {
			o.Namespace = namespace
		}
		return objects
	}
	of := func(placement string, objects []*pd) []*pd {
		for _, o := range objects {
			o.Labels["cluster.open-cluster-management.io/placement"] = placement
		}
		return objects
	}
	const label = "metadata.labels[cluster.open-cluster-management.io/placement]"
	taken := []string{`desired[w1].metadata.name: Invalid value: "w1": must be another name: the stored object of that name is not of the Placement web`}
	for _, test := range []struct {
		name            string
		stored, desired []*pd
		strategy        decisionupdate.UpdateStrategy
		want            []string
	}{
		{name: "D9 101 desired clusters in an object", desired: []*pd{full},
			want: []string{`desired[web-decision-1].status.decisions: Too many: 101: must have at most 100 items`}},
		{name: "D9 100 are no fault, beside one", desired: append(divided(100, numbers(1, 100)), state("z: cluster-0000001")...),
			want: []string{`desired[z].status.decisions[0].clusterName: Duplicate value: "cluster-0000001": must be in one object, and is in web-decision-1 already`}},
		{name: "D9 desired in two namespaces", desired: append(state("w1: a"), in("other", state("w2: b"))...),
			want: []string{`desired[w2].metadata.namespace: Invalid value: "other": must be in the namespace default, as the others are`}},
		{name: "D9 desired of two placements", desired: append(state("w1: a"), of("db", state("w2: b"))...),
			want: []string{`desired[w2].` + label + `: Invalid value: "db": must be of the Placement web, as the others are`}},
		{name: "D9 only stored, and not of one placement", stored: append(state("w1: a"), of("db", state("w2: a"))...),
			want: []string{`stored[w2].` + label + `: Invalid value: "db": must be of the Placement web, as the others are`}},
		{name: "D9 desired under a name that another placement's object has", stored: of("db", state("w1: a")), desired: state("w1: a"), want: taken},
		{name: "D9 that is controlled by another placement", stored: owned("w1", "db", "p2", "Placement"), desired: state("w1: a"), want: taken},
		{name: "D9 that is labelled with it, too", stored: ownedBy(state("w1: a"), "db", "p2", "Placement"), desired: state("w1: a"), want: taken},
		{name: "D9 labelled with another placement, and owned by an earlier one of that name", stored: ownedBy(of("db", state("w1: a")), "web", "p0", "Placement"), desired: ownedBy(state("w1: a"), "web", "p1", "Placement"), want: taken},
		{name: "D9 owned by an earlier placement of that name, without a label", stored: owned("w1", "web", "p0", "Placement"), desired: ownedBy(state("w1: a"), "web", "p1", "Placement"), want: taken},
		{name: "D9 owned by something else", stored: owned("w1", "web", "p1", "Deployment"), desired: state("w1: a"), want: taken},
		{name: "D9 owned by a Placement of another API", stored: owned("w1", "web", "p1", "apps/Placement"), desired: state("w1: a"), want: taken},
		{name: "D14 only what is stored is taken over", desired: owned("w1", "web", "p1", "Placement"),
			want: []string{`desired[w1].` + label + `: Required value: must be the name of its Placement`}},
		{name: "D14 owned by two placements", stored: append(owned("w1", "web", "p1", "Placement"), owned("w2", "db", "p2", "Placement")...),
			want: []string{`stored[w2].` + label + `: Invalid value: "db": must be of the Placement web, as the others are`}},
		{name: "no placement label", stored: of("", state("w2:")), desired: of("", state("w1:")),
			want: []string{`desired[w1].` + label + `: Required value: must be the name of its Placement`}},
		{name: "a cluster desired twice", desired: state("w1: a b", "w2: b"),
			want: []string{`desired[w2].status.decisions[0].clusterName: Duplicate value: "b": must be in one object, and is in w1 already`}},
		{name: "a cluster desired twice and stored so", stored: state("w1: b", "w2: b"), desired: state("w1: b", "w2: b"),
			want: []string{`desired[w2].status.decisions[0].clusterName: Duplicate value: "b": must be in one object, and is in w1 already`}},
		{name: "an empty cluster name", desired: append(state("w1: a"), emptyCluster()),
			want: []string{`desired[w3].status.decisions[0].clusterName: Required value: must be the name of a cluster`}},
		{name: "an object twice", stored: state("w1: a", "w1: b"), desired: state("w2:", "w2:"),
			want: []string{`stored[w1].metadata.name: Duplicate value: "w1"`, `desired[w2].metadata.name: Duplicate value: "w2"`}},
		{name: "nil and nameless", stored: []*pd{nil}, desired: state(":"),
			want: []string{`stored: Required value: must not be nil`, `desired.metadata.name: Required value: must be the name of a PlacementDecision`}},
		{name: "an unknown strategy", strategy: decisionupdate.UpdateStrategy{Type: "Recreate"},
			want: []string{`spec.decisionStrategy.updateStrategy.type: Unsupported value: "Recreate": supported values: "All", "RollingUpdate"`}},
		{name: "one step", strategy: within(1),
			want: []string{`spec.decisionStrategy.updateStrategy.maxSteps: Invalid value: 1: must be 0, for no bound, or at least 2: a cluster is written where it goes before it is removed where it was`}},
		{name: "steps below zero", strategy: decisionupdate.UpdateStrategy{MaxSteps: -1},
			want: []string{`spec.decisionStrategy.updateStrategy.maxSteps: Invalid value: -1: must be 0, for no bound, or at least 2: a cluster is written where it goes before it is removed where it was`}},
	} {
		t.Run(test.name, func(t *testing.T) {
			for _, reverse := range []bool{false, true} {
				if reverse && len(test.desired) == 2 {
					test.desired[0], test.desired[1] = test.desired[1], test.desired[0]
				}
				update, err := decisionupdate.Diff(test.stored, test.desired, test.strategy)
				if err == nil {
					t.Fatalf("no error, and the update\n%s", update)
				}
				if diff := cmp.Diff(test.want, strings.Split(err.Error(), "\n")); diff != "" {
					t.Errorf("(-want +got):\n%s", diff)
				}
				var fieldError *field.Error
				if !errors.As(err, &fieldError) {
					t.Errorf("%T holds no *field.Error", err)
				}
				if len(update.Steps) > 0 {
					t.Errorf("a update in spite of the error:\n%s", update)
				}
			}
		})
	}
}

// owned returns an object without labels that something controls.
func owned(name, owner, uid, kind string) []*pd {
	return ownedBy(state(name+" owned: a"), owner, uid, kind)
}

func ownedBy(objects []*pd, owner, uid, kind string) []*pd {
	group := clusterv1beta1.GroupVersion.String()
	if kind, found := strings.CutPrefix(kind, "apps/"); found {
		return ownedByGroup(objects, owner, uid, kind, "apps/v1")
	}
	return ownedByGroup(objects, owner, uid, kind, group)
}

func ownedByGroup(objects []*pd, owner, uid, kind, group string) []*pd {
	yes := true
	for _, o := range objects {
		o.OwnerReferences = []metav1.OwnerReference{{APIVersion: group, Kind: kind, Name: owner, UID: types.UID(uid), Controller: &yes}}
	}
	return objects
}

// D9, D14: which objects are the placement's is for grouping.Owns to say. Others are neither written nor deleted, whatever they hold.
func TestObjectsOfOthersArePassedOver(t *testing.T) {
	desired := ownedBy(state("w1: a"), "web", "p1", "Placement")
	elsewhere := state("w1: a b")
	elsewhere[0].Namespace = "other"
	foreign := state("w2: a")
	foreign[0].Labels = nil
	for why, other := range map[string][]*pd{
		"another namespace":                       elsewhere,
		"another placement":                       ownedBy(state("w2 edited: a"), "db", "p2", "Placement"),
		"another placement, labelled by hand":     ownedBy(state("w2: a"), "db", "p2", "Placement"),
		"another owner's":                         foreign,
		"an earlier placement's, without a label": owned("w2", "web", "p0", "Placement"),
	} {
		if update := mustDiff(t, append(other, desired...), desired, rolling); update.Writes() > 0 {
			t.Errorf("%s: update\n%s", why, update)
		}
	}
	left := ownedBy(state("w2: a"), "web", "p0", "Placement") // of an earlier one, and seen under its label
	if got, want := mustDiff(t, append(left, desired...), desired, rolling).String(), "step 1: delete PlacementDecision w2: remove a\n"; got != want {
		t.Errorf("an earlier placement's: update\n%s\nwant\n%s", got, want)
	}
}

// G7: an object with the right labels and no controller gets one, with or without another change.
func TestObjectsWithoutAnOwnerAreAdopted(t *testing.T) {
	desired := ownedBy(state("w1 0: a b"), "web", "p1", "Placement")
	for want, stored := range map[string][]*pd{
		"step 1: update PlacementDecision w1 (labels)\n":                          state("w1 0: a b"),
		"step 1: update PlacementDecision w1 (labels, status): add b\n":           state("w1 0: a"),
		"step 1: update PlacementDecision w1 (labels, status): add b; remove c\n": state("w1 0: a c"),
		"step 1: update PlacementDecision w1 (status, labels): remove c, d\n":     state("w1 0: a b c d"),
	} {
		s := newServer(stored...)
		update := mustDiff(t, s.list(), desired, rolling)
		if update.String() != want {
			t.Errorf("update\n%s\nwant\n%s", update, want)
		}
		if _, err := (decisionupdate.Applier{Client: s}).Apply(t.Context(), update); err != nil {
			t.Fatal(err)
		}
		if ref := metav1.GetControllerOf(s.objects["w1"]); ref == nil || ref.UID != "p1" {
			t.Errorf("%s: controller %v", want, ref)
		}
		wantStored(t, s, desired)
	}
	halfway := state("w1 0: a b")
	halfway[0].OwnerReferences = []metav1.OwnerReference{{APIVersion: clusterv1beta1.GroupVersion.String(), Kind: "Placement", Name: "web", UID: "p1"}, {Kind: "ConfigMap", Name: "x", UID: "x"}}
	to := mustDiff(t, halfway, desired, rolling).Steps[0][0].To.OwnerReferences
	if len(to) != 2 || to[0].Controller == nil || to[1].UID != "x" {
		t.Errorf("owners %v, want the placement as controller, and once", to)
	}
}

// D14: what the same placement owns is taken over, whether or not UIDs are known, and whatever its label says.
func TestOwnedObjectsAreTakenOver(t *testing.T) {
	for _, desired := range [][]*pd{state("w1: a"), ownedBy(state("w1: a"), "web", "p1", "Placement"), nil} {
		for _, stored := range [][]*pd{owned("w1", "web", "p1", "Placement"), state("w1 edited: a")} {
			s := newServer(stored...)
			if _, err := (decisionupdate.Applier{Client: s}).Apply(t.Context(), mustDiff(t, s.list(), desired, rolling)); err != nil {
				t.Fatal(err)
			}
			wantStored(t, s, desired)
		}
	}
}

// D14: an object that shows its clusters to another placement's readers gains none before it has its own label, whether the
// clusters come early or in the end.
func TestNothingIsSeenUnderAnotherPlacement(t *testing.T) {
	for _, test := range []struct {
		stored, desired []*pd
		want            string
	}{
		{state("w1 0 edited: a"), state("w1 0: a b"), "step 1: update PlacementDecision w1 (labels, status): add b\n"},
		{state("w1 0 edited: a"), state("w1 0: b"), "step 1: update PlacementDecision w1 (labels, status): add b; remove a\n"},
		{state("w1 0 edited: a b"), state("w1 0: a"), "step 1: update PlacementDecision w1 (status, labels): remove b\n"},
		{state("w1 0 edited: a", "w2 0: b"), state("w1 0: b", "w2 0: a"), ""},
	} {
		update := mustDiff(t, test.stored, test.desired, rolling)
		if test.want != "" && update.String() != test.want {
			t.Errorf("update\n%s\nwant\n%s", update, test.want)
		}
		s := newServer(test.stored...)
		was := map[string]bool{}
		for _, d := range test.stored[0].Status.Decisions {
			was[d.ClusterName] = true
		}
		for _, step := range update.Steps {
			for _, r := range interleave(step, func(int) int { return 0 }) {
				s.do(r)
				for _, pd := range s.list() {
					for _, d := range pd.Status.Decisions {
						if pd.Labels[clusterv1beta1.PlacementLabel] != "web" && !was[d.ClusterName] {
							t.Errorf("%s is seen under another placement: %s", d.ClusterName, update)
						}
					}
				}
			}
		}
		wantStored(t, s, test.desired)
	}
}

// What a webhook checks is checked alone, too.
func TestValidate(t *testing.T) {
	for strategy, want := range map[decisionupdate.UpdateStrategyType]string{
		"": "", "All": "", "RollingUpdate": "",
		"Rolling": `[strategy.type: Unsupported value: "Rolling": supported values: "All", "RollingUpdate"]`,
	} {
		errs := decisionupdate.Validate(decisionupdate.UpdateStrategy{Type: strategy}, field.NewPath("strategy"))
		if got := fmt.Sprint([]*field.Error(errs)); got != want && (want != "" || len(errs) > 0) {
			t.Errorf("%q: got %s, want %s", strategy, got, want)
		}
	}
}

func emptyCluster() *pd {
	w3 := state("w3: x")[0]
	w3.Status.Decisions[0].ClusterName = ""
	return w3
}

// D9: what is stored may be over the limit: a surge that was interrupted leaves it so.
func TestStoredObjectsMayBeOverTheLimit(t *testing.T) {
	update := mustDiff(t, divided(150, numbers(1, 150)), divided(75, numbers(1, 150)), rolling)
	if update.Writes() != 2 || fullest(update) > 100 {
		t.Errorf("%d clusters in an object:\n%s", fullest(update), update)
	}
}

// The strategy has the JSON of the design document.
func TestUpdateStrategyJSON(t *testing.T) {
	var fromYAML struct {
		UpdateStrategy decisionupdate.UpdateStrategy `json:"updateStrategy"`
	}
	if err := yaml.Unmarshal([]byte("updateStrategy:\n  type: RollingUpdate\n"), &fromYAML); err != nil || fromYAML.UpdateStrategy != rolling {
		t.Errorf("from YAML: %v, %v", fromYAML.UpdateStrategy, err)
	}
	var fromUnstructured decisionupdate.UpdateStrategy
	err := runtime.DefaultUnstructuredConverter.FromUnstructured(map[string]any{"type": "RollingUpdate"}, &fromUnstructured)
	if err != nil || fromUnstructured != rolling {
		t.Errorf("from unstructured: %v, %v", fromUnstructured, err)
	}
	for strategy, want := range map[decisionupdate.UpdateStrategy]string{{}: `{}`, rolling: `{"type":"RollingUpdate"}`} {
		if got, err := json.Marshal(strategy); err != nil || string(got) != want {
			t.Errorf("got %s, %v, want %s", got, err, want)
		}
	}
}

// D5: an object that is being deleted takes its clusters with it, so an update must not count on it. Nothing is
// wrong with one that is not desired, and All promises nothing.
func TestDesiredObjectIsBeingDeleted(t *testing.T) {
	stored := state("w1: a", "w2: b")
	stored[0].DeletionTimestamp = &metav1.Time{Time: time.Date(2026, time.November, 21, 12, 0, 0, 0, time.UTC)}
	for _, test := range []struct {
		why      string
		desired  []*pd
		strategy decisionupdate.UpdateStrategyType
		want     string
	}{
		{"D5 it would gain a cluster", state("w1: a b", "w2:"), decisionupdate.UpdateStrategyTypeRollingUpdate,
			"stored[w1].metadata.deletionTimestamp: Forbidden: must not be desired while it is being deleted: desire its clusters under another name, or wait until it is gone"},
		{"D5 it is to go", state("w2: a b"), decisionupdate.UpdateStrategyTypeRollingUpdate, ""},
		{"D2 as today", state("w1: a b", "w2:"), decisionupdate.UpdateStrategyTypeAll, ""},
	} {
		_, err := decisionupdate.Diff(stored, test.desired, decisionupdate.UpdateStrategy{Type: test.strategy})
		got := ""
		if err != nil {
			got = err.Error()
		}
		if got != test.want {
			t.Errorf("%s: got %q, want %q", test.why, got, test.want)
		}
	}
}
