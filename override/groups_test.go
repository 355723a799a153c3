package override_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	"pgregory.net/rapid"

	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/override"
)

// show lists groups with their clusters: `group 0 "canary": a b | group 1:`.
func show(groups *grouping.Groups) string {
	var out []string
	for i := range groups.Len() {
		text := groups.Key(i).String() + ":"
		for d := range groups.Clusters(i) {
			text += " " + d.ClusterName
		}
		out = append(out, text)
	}
	return strings.Join(out, " | ")
}

// R26: the groups of several placements, one reason a row.
func TestGroupsOfSeveralPlacements(t *testing.T) {
	const none = "-"
	for _, test := range []struct {
		why      string
		groups   map[string]string // by binding, as world.place takes them; none: a PlacementRule of a and b
		excluded string            // from binding 1
		want     string
	}{
		{"R26 one placement keeps its groups", map[string]string{"1": "canary: b | : a c"}, "", `group 0 "canary": b | group 1: a c`},
		{"R26 in the order of the bindings' names", map[string]string{"2": ": a | : b", "1": "canary: d"}, "", `group 0 "canary" of placement 1: d | group 0 of placement 2: a | group 1 of placement 2: b`},
		{"R26 a cluster selected twice belongs to the first", map[string]string{"1": ": a b", "2": ": c b"}, "", `group 0 of placement 1: a b | group 0 of placement 2: c`},
		{"R26 a group that others emptied stays, so that indexes do", map[string]string{"1": ": a", "2": "x: a | y: c"}, "", `group 0 of placement 1: a | group 0 "x" of placement 2: | group 1 "y" of placement 2: c`},
		{"R26 a placement that selects nothing stays", map[string]string{"1": "canary:", "2": ": a"}, "", `group 0 "canary" of placement 1: | group 0 of placement 2: a`},
		{"O6 an excluded cluster is in no group", map[string]string{"1": "canary: a b | : c"}, "a c", `group 0 "canary": b | group 1:`},
		{"O6 an excluded cluster belongs to the next that binds it", map[string]string{"1": ": a b", "2": ": c b"}, "b", `group 0 of placement 1: a | group 0 of placement 2: b c`},
		{"a rule's clusters are one group", map[string]string{"1": none, "2": ": c"}, "", `group 0 of placement 1: a b | group 0 of placement 2: c`},
		{"a rule after a placement has what is left", map[string]string{"1": "canary: a", "2": none}, "", `group 0 "canary" of placement 1: a | group 0 of placement 2: b`},
		{"bound nowhere", map[string]string{"1": ":"}, "", `group 0:`},
	} {
		t.Run(test.why, func(t *testing.T) {
			w := newWorld(t, override.Enforce, oneByOne)
			for name, groups := range test.groups {
				if groups != none {
					w.bind(name, groups)
				} else {
					w.bindings = append(w.bindings, override.Binding{Name: name, PlacementRef: placement(name), Clusters: []string{"b", "a"}})
				}
			}
			for i := range w.bindings {
				if w.bindings[i].Name == "1" {
					w.bindings[i].Excluded = strings.Fields(test.excluded)
				}
			}
			if got := show(w.joined()); got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
		})
	}
}

// joined is what Result.Groups makes of the world's.
func (w *world) joined() *grouping.Groups {
	w.t.Helper()
	bound, err := override.Resolve(w.policy, w.bound())
	if err != nil {
		w.t.Fatal(err)
	}
	placements := map[string]*grouping.Groups{}
	for _, b := range w.bindings {
		placements[b.Name] = nil
	}
	for name, groups := range w.groups {
		placements[name] = readGroups(w.t, groups)
	}
	groups, err := bound.Groups(placements)
	if err != nil {
		w.t.Fatal(err)
	}
	return groups
}

// O5, R26: a sub filter that is ignored binds nothing, so its placement adds no groups either, nor does
// one of an unsupported kind; a binding whose override alone is ignored does.
func TestIgnoredBindingsAddNoGroups(t *testing.T) {
	w := newWorld(t, override.Enforce, oneByOne)
	w.bind("1", ": a")
	w.bind("2", ": a b")
	w.bind("3", ": c")
	w.bind("4", ": d")
	w.bindings[0].SubFilter = true
	w.bindings[1].PlacementRef.Kind = "Cluster"
	w.bindings[2].Enforce = true
	w.bind("5", ": c")
	w.bindings[4].Enforce = true
	if got, want := show(w.joined()), "group 0 of placement 3: c | group 0 of placement 4: d | group 0 of placement 5:"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// R26: scores and reasons stay with their clusters, gaps in the indexes stay, too, and a cluster that
// nobody grouped comes behind.
func TestGroupsKeepDecisionsAndIndexes(t *testing.T) {
	decision := func(index string, c clusterv1beta1.ClusterDecision) *clusterv1beta1.PlacementDecision {
		return &clusterv1beta1.PlacementDecision{
			ObjectMeta: metav1.ObjectMeta{Name: "d" + index, Labels: map[string]string{clusterv1beta1.DecisionGroupIndexLabel: index}},
			Status:     clusterv1beta1.PlacementDecisionStatus{Decisions: []clusterv1beta1.ClusterDecision{c}},
		}
	}
	placed, err := grouping.Read(nil, []*clusterv1beta1.PlacementDecision{
		decision("3", clusterv1beta1.ClusterDecision{ClusterName: "a", Reason: "why", Score: 7}),
		decision("5", clusterv1beta1.ClusterDecision{ClusterName: "b"}),
	})
	if err != nil {
		t.Fatal(err)
	}
	bound := override.Result{Clusters: []override.Cluster{{Name: "a", BoundBy: []string{"1"}}, {Name: "late", BoundBy: []string{"1"}}}}
	groups, err := bound.Groups(map[string]*grouping.Groups{"1": placed})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := show(groups), "group 3: a | group 5: | group 6: late"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if _, d, _ := groups.Find("a"); d.Reason != "why" || d.Score != 7 {
		t.Errorf("the decision became %+v", d)
	}
}

// A group of clusters that nobody grouped whose index would not fit, and a cluster that no binding bound beside
// others, are errors.
func TestGroupsErrors(t *testing.T) {
	last, err := grouping.Read(nil, []*clusterv1beta1.PlacementDecision{{ObjectMeta: metav1.ObjectMeta{
		Labels: map[string]string{clusterv1beta1.DecisionGroupIndexLabel: "2147483647"},
	}}})
	if err != nil {
		t.Fatal(err)
	}
	for why, bound := range map[string]override.Result{
		"2147483648": {Clusters: []override.Cluster{{Name: "a", BoundBy: []string{"1"}}}},
		"placements": {Clusters: []override.Cluster{{Name: "a"}}},
	} {
		_, err = bound.Groups(map[string]*grouping.Groups{"1": last})
		var invalid *field.Error
		if !errors.As(err, &invalid) || !strings.Contains(err.Error(), why) {
			t.Errorf("got %v, want a *field.Error about %s", err, why)
		}
	}
}

// R26, R12: groups under another name than the binding's, such as the Placement's, are not taken for none: all
// clusters would be in one group and start past the canaries.
func TestGroupsRequiresThoseOfEachBinding(t *testing.T) {
	canaries := readGroups(t, []naiveGroup{{name: "canary", clusters: []string{"a"}}, {clusters: []string{"b", "c"}}})
	rule := override.PlacementRef{APIGroup: "apps.open-cluster-management.io", Kind: "PlacementRule", Name: "rule"}
	bound, err := override.Resolve(policy(override.Enforce, perGroup), []override.Binding{
		{Name: "binding", PlacementRef: placement("placement"), Clusters: []string{"a", "b", "c"}},
		{Name: "by-rule", PlacementRef: rule, Clusters: []string{"d"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		why        string
		placements map[string]*grouping.Groups
		want       string
	}{
		{"by the placement's name", map[string]*grouping.Groups{"placement": canaries, "by-rule": nil}, `placements[binding]: Required value`},
		{"none at all, but a map", map[string]*grouping.Groups{}, `placements[binding]: Required value`},
		{"no entry for the rule", map[string]*grouping.Groups{"binding": canaries}, `placements[by-rule]: Required value`},
		{"a nil entry for the rule", map[string]*grouping.Groups{"binding": canaries, "by-rule": nil},
			`group 0 "canary" of placement binding: a | group 1 of placement binding: b c | group 0 of placement by-rule: d`},
		{"nobody has groups", nil, `group 0 of placement binding: a b c | group 0 of placement by-rule: d`},
	} {
		t.Run(test.why, func(t *testing.T) {
			groups, err := bound.Groups(test.placements)
			if err != nil {
				var required *field.Error
				if !errors.As(err, &required) || !strings.HasPrefix(err.Error(), test.want) {
					t.Errorf("got %v, want %s", err, test.want)
				}
			} else if got := show(groups); got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
		})
	}
}

// R26: the joined groups are those of the naive rules, and their clusters are the bound ones.
func TestGroupsAgreeWithNaive(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := newWorld(t, override.Enforce, oneByOne)
		for i := range rapid.IntRange(1, 4).Draw(t, "placements") {
			w.bind(fmt.Sprint(i), drawGroups(t))
			w.bindings[i].Excluded = rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "c"}), 0, 2).Draw(t, "excluded")
		}
		var want []string
		for _, g := range naiveGroups(w.bound(), w.groups) {
			key := grouping.Key{Index: int32(g.index), Name: g.name}
			if len(w.bindings) > 1 {
				key.Placement = g.binding
			}
			want = append(want, strings.TrimSpace(fmt.Sprintf("%v: %s", key, strings.Join(g.clusters, " "))))
		}
		if got, want := show(w.joined()), strings.Join(want, " | "); got != want {
			t.Fatalf("got  %s\nwant %s", got, want)
		}
	})
}
