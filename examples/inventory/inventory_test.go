// SPDX-License-Identifier: Apache-2.0

package inventory_test

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	"pgregory.net/rapid"
	sig "sigs.k8s.io/cluster-inventory-api/apis/v1alpha1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/cohort-ocm/cohort/decisionupdate"
	"github.com/cohort-ocm/cohort/decisionupdate/mirror"
	"github.com/cohort-ocm/cohort/examples/inventory"
	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/status"
)

type ocm = clusterv1beta1.PlacementDecision

var convention = inventory.Convention{Profiles: "fleet", Scheduler: "cohort"}

// object is OCM's object of the placement web, as "name group: clusters".
func object(line string) *ocm {
	head, clusters, _ := strings.Cut(line, ":")
	name, group, _ := strings.Cut(head, " ")
	o := &ocm{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, Labels: map[string]string{
		clusterv1beta1.PlacementLabel: "web", clusterv1beta1.DecisionGroupIndexLabel: group,
	}}}
	for _, c := range strings.Fields(clusters) {
		o.Status.Decisions = append(o.Status.Decisions, clusterv1beta1.ClusterDecision{ClusterName: c, Reason: "for " + c})
	}
	return o
}

func objects(lines ...string) []*ocm {
	var all []*ocm
	for _, line := range lines {
		all = append(all, object(line))
	}
	return all
}

// Everything that OCM's objects and slices have in common survives both ways, in any order.
func TestRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		o := object(fmt.Sprintf("web-decision-%d %d:", rapid.IntRange(1, 9).Draw(t, "n"), rapid.IntRange(0, 9).Draw(t, "group")))
		o.UID, o.ResourceVersion = "u", "7"
		o.Labels[sig.DecisionKeyLabel] = "web"
		o.Annotations = rapid.MapOf(rapid.StringMatching("[a-z]+"), rapid.String()).Draw(t, "annotations")
		if len(o.Annotations) == 0 {
			o.Annotations = nil
		}
		for range rapid.IntRange(0, 5).Draw(t, "clusters") {
			o.Status.Decisions = append(o.Status.Decisions, clusterv1beta1.ClusterDecision{
				ClusterName: rapid.StringMatching("([a-z]+/)?[a-z]{1,5}").Draw(t, "cluster"), Reason: rapid.String().Draw(t, "reason")})
		}
		for i := range o.Status.Decisions { // a cluster in the convention's namespace has no prefix
			name := &o.Status.Decisions[i].ClusterName
			*name = strings.TrimPrefix(*name, "fleet/")
		}
		s := inventory.FromOCM(convention, o)
		if back := inventory.ToOCM(convention, s)[0]; !equality.Semantic.DeepEqual(o, back) {
			t.Fatalf("from OCM and back: %v, was %v", back, o)
		}
		if again := inventory.FromOCM(convention, inventory.ToOCM(convention, s)[0]); !equality.Semantic.DeepEqual(s, again) {
			t.Fatalf("from a slice and back: %v, was %v", again, s)
		}
	})
}

// The index counts slices, not groups.
func TestIndexesCountSlices(t *testing.T) {
	var got []string
	for _, o := range inventory.Label(objects("web-decision-10 0: a", "web-decision-2 0: b", "web-decision-1 1: c")) {
		got = append(got, o.Name+" "+o.Labels[sig.DecisionIndexLabel]+" "+o.Labels[sig.DecisionKeyLabel])
	}
	if want := "[web-decision-2 0 web web-decision-10 1 web web-decision-1 2 web]"; fmt.Sprint(got) != want {
		t.Errorf("got %v, want %s", got, want)
	}
}

// An object of more than 100 clusters becomes several slices with their own indexes, which read as complete.
func TestObjectsOverTheLimitAreCut(t *testing.T) {
	var got []string
	labelled := inventory.Label(objects("w1 0:"+many(201), "w2 1: x"))
	for _, o := range labelled {
		got = append(got, fmt.Sprint(o.Name, " ", o.Labels[sig.DecisionIndexLabel], " ", len(o.Status.Decisions)))
	}
	if want := "[w1 0 100 w1-over-1 1 100 w1-over-2 2 1 w2 3 1]"; fmt.Sprint(got) != want {
		t.Errorf("got %v, want %s", got, want)
	}
	if groups, err := inventory.Read(convention, slicesOf(grouping.Sealed(labelled)), nil); err != nil || groups.Incomplete() != "" {
		t.Errorf("a reader finds %q, %v", groups.Incomplete(), err)
	}
}

func slicesOf(all []*ocm) []*sig.PlacementDecision {
	var decisions []*sig.PlacementDecision
	for _, o := range all {
		decisions = append(decisions, inventory.FromOCM(convention, o))
	}
	return decisions
}

// What a reader makes of good and bad slices. While anything is wrong, a rollout removes no cluster.
func TestRead(t *testing.T) {
	const over = "slices[default/w1].decisions: Too many: 101: must have at most 100 items"
	sealed := func() []*sig.PlacementDecision {
		return slicesOf(grouping.Sealed(inventory.Label(objects("w1 0: a", "w2 1: b"))))
	}
	plain := func() []*sig.PlacementDecision { return slicesOf(inventory.Label(objects("w1 0: a", "w2 1: b"))) }
	bare := func(names ...string) (all []*sig.PlacementDecision) { // without labels
		for i, name := range names {
			s := inventory.FromOCM(convention, object("w 0: "+string(rune('a'+i))))
			s.Name, s.Labels = name, nil
			all = append(all, s)
		}
		return all
	}
	for _, test := range []struct {
		why           string
		decisions     []*sig.PlacementDecision
		change        func(s []*sig.PlacementDecision)
		profiles      string
		missing, errs string
	}{
		{why: "whole", decisions: sealed(), profiles: "a b"},
		{why: "without a seal", decisions: plain()},
		{why: "the last is missing, and there is a seal", decisions: sealed()[:1], missing: "PlacementDecisions: 1 found, the seal says 2"},
		{why: "the first is missing, and there is no seal", decisions: plain()[1:], missing: "no slice has the index 0"},
		{why: "none", missing: "no PlacementDecision is found"},
		{why: "nil", decisions: []*sig.PlacementDecision{nil}, errs: "slices[0]: Required value: must not be nil"},
		{why: "about to go", decisions: plain(), change: func(s []*sig.PlacementDecision) { s[1].DeletionTimestamp = &metav1.Time{} },
			missing: "slice w2 is being deleted"},
		{why: "in the midst of a move", decisions: plain(), change: func(s []*sig.PlacementDecision) {
			s[1].Decisions = append(s[1].Decisions, s[0].Decisions...)
		}, missing: "cluster fleet/a is in w1 and again in w2"},

		{why: "over 100", decisions: slicesOf(objects("w1 0: " + many(101))), errs: over},
		{why: "a reference without a name", decisions: plain(), change: func(s []*sig.PlacementDecision) { s[0].Decisions[0].ClusterProfileRef.Name = "" },
			errs: "slices[default/w1].decisions[0].clusterProfileRef.name: Required value: must be the name of a ClusterProfile"},

		{why: "duplicate indices: that of the group instead of the slice", decisions: plain(), change: func(s []*sig.PlacementDecision) {
			s[1].Labels[sig.DecisionIndexLabel] = "0"
		}, missing: "slices w1 and w2 both have the index 0"},
		{why: "an index that is none", decisions: plain(), change: func(s []*sig.PlacementDecision) {
			s[1].Labels[sig.DecisionIndexLabel] = "last"
		}, missing: `slice w2 has "last" for its index`},

		{why: "a missing label: the index of one", decisions: plain(), change: func(s []*sig.PlacementDecision) { delete(s[1].Labels, sig.DecisionIndexLabel) },
			missing: "slice w2 has no index, and others have one"},
		{why: "a missing label: the key of one", decisions: plain(), change: func(s []*sig.PlacementDecision) { delete(s[1].Labels, sig.DecisionKeyLabel) },
			errs: `slices[default/w2].metadata.labels[multicluster.x-k8s.io/decision-key]: Invalid value: "": must be the decision key of the other slices, "web" as of w1`},
		{why: "missing labels: all of two, whose names say nothing", decisions: bare("web", "db"),
			errs: `slices[default/web].metadata.name: Invalid value: "web": must be <base>-<index> with the base of the other slices, "db" as of db, where no slice has a decision key`},
		{why: "no label, and names by the KEP", decisions: bare("web-1", "web-0")},
		{why: "no label, and a name is missing", decisions: bare("web-2", "web-0"), missing: "no slice has the index 1"},
		{why: "one slice without any label", decisions: bare("app")},

		{why: "two keys in one placement", decisions: plain(), change: func(s []*sig.PlacementDecision) { s[1].Labels[sig.DecisionKeyLabel] = "db" },
			errs: `slices[default/w2].metadata.labels[multicluster.x-k8s.io/decision-key]: Invalid value: "db": must be the decision key of the other slices, "web" as of w1`},
		{why: "another writer", decisions: plain(), change: func(s []*sig.PlacementDecision) { s[1].SchedulerName = "other" },
			errs: `slices[default/w2].schedulerName: Invalid value: "other": must be the scheduler of the other slices, "cohort" as of w1`},
		{why: "a ClusterProfile that does not exist", decisions: plain(), profiles: "a",
			missing: "cluster fleet/b is in w2, and there is no such ClusterProfile"},
		{why: "a ClusterProfile in another namespace", decisions: plain(), profiles: "a b", change: func(s []*sig.PlacementDecision) {
			s[1].Decisions[0].ClusterProfileRef.Namespace = ""
		}, missing: "cluster default/b is in w2, and there is no such ClusterProfile"},
	} {
		if test.change != nil {
			test.change(test.decisions)
		}
		var profiles []*sig.ClusterProfile
		for _, name := range strings.Fields(test.profiles) {
			profiles = append(profiles, &sig.ClusterProfile{ObjectMeta: metav1.ObjectMeta{Namespace: "fleet", Name: name}})
		}
		groups, err := inventory.Read(convention, test.decisions, profiles)
		missing, errs := groups.Incomplete(), ""
		if err != nil {
			missing, errs = "", err.Error()
		}
		if missing != test.missing || errs != test.errs || (groups == nil) != (err != nil) {
			t.Errorf("%s: missing %q, want %q; error %q, want %q", test.why, missing, test.missing, errs, test.errs)
		}
		wantNoRemoval(t, test.why, groups, missing+errs == "")
	}
}

// wantNoRemoval plans a rollout in which z has the workload and is in no slice: it is removed only if the groups are
// complete.
func wantNoRemoval(t *testing.T, why string, groups *grouping.Groups, whole bool) {
	t.Helper()
	now := time.Unix(0, 0)
	reports := []status.Report{{Cluster: "z", Status: status.Succeeded, LastTransitionTime: now}}
	plan, err := rollout.Plan(clusterv1alpha1.RolloutStrategy{Type: clusterv1alpha1.All}, groups, reports, now, rollout.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if removed := len(plan.Removed) > 0; removed != whole || len(plan.Start) > 0 != whole {
		t.Errorf("%s: whole: %v, and the plan is %v", why, whole, plan)
	}
}

func many(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(" c" + strconv.Itoa(i))
	}
	return b.String()
}

// A mirror of OCM's objects, written through the client: it becomes equal to the source, and then has nothing to do.
func TestMirror(t *testing.T) {
	scheme := runtime.NewScheme()
	if err := sig.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	c := fake.NewClientBuilder().WithScheme(scheme).Build()
	writer := inventory.Client{Client: c, Live: c, Namespace: "default", Convention: convention}
	rolling := decisionupdate.UpdateStrategy{Type: decisionupdate.UpdateStrategyTypeRollingUpdate}
	list := func() []*sig.PlacementDecision {
		var all sig.PlacementDecisionList
		if err := c.List(context.Background(), &all, client.InNamespace("default")); err != nil {
			t.Fatal(err)
		}
		var decisions []*sig.PlacementDecision
		for i := range all.Items {
			decisions = append(decisions, &all.Items[i])
		}
		return decisions
	}
	for _, source := range [][]*ocm{
		objects("w1 0: a b", "w2 1: c"),
		objects("w1 0: a c", "w2 1: b", "w3 1: d"),
		objects("w2 1: a"),
		nil,
	} {
		source = grouping.Sealed(inventory.Label(source))
		update, err := mirror.Diff(inventory.ToOCM(convention, list()...), source, rolling)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := (decisionupdate.Applier{Client: writer}).Apply(t.Context(), update); err != nil {
			t.Fatal(err)
		}
		again, err := mirror.Diff(inventory.ToOCM(convention, list()...), source, rolling)
		if err != nil || len(again.Steps) > 0 {
			t.Fatalf("there is something left to do: %v\n%s", err, again)
		}
		groups, err := inventory.Read(convention, list(), nil)
		if err != nil || groups.Incomplete() != "" && len(source) > 0 {
			t.Fatalf("a reader finds %q, %v", groups.Incomplete(), err)
		}
	}
}
