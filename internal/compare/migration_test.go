// SPDX-License-Identifier: Apache-2.0

package compare

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os/exec"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"
	workv1 "open-cluster-management.io/api/work/v1"
	sdkv1alpha1 "open-cluster-management.io/sdk-go/pkg/apis/cluster/v1alpha1"
	sdkv1beta1 "open-cluster-management.io/sdk-go/pkg/apis/cluster/v1beta1"

	after "github.com/cohort-ocm/cohort/internal/compare/migration/after"
	before "github.com/cohort-ocm/cohort/internal/compare/migration/before"
	dropin "github.com/cohort-ocm/cohort/internal/compare/migration/dropin"
	gated "github.com/cohort-ocm/cohort/internal/compare/migration/gated"
	ownv1alpha1 "github.com/cohort-ocm/cohort/rollout/sdkgo/v1alpha1"
	ownv1beta1 "github.com/cohort-ocm/cohort/rollout/sdkgo/v1beta1"
	"github.com/cohort-ocm/cohort/status"
)

// work is a ManifestWork of version v1 that was written a while before its conditions changed: "Progressing", "Degraded"
// or "Done", each ago; or "" that its agent has not answered.
func work(cluster, state string, ago time.Duration) *workv1.ManifestWork {
	w := &workv1.ManifestWork{ObjectMeta: metav1.ObjectMeta{Namespace: cluster, Name: "web", Generation: 1}}
	status.StampOf(w).NoteOn(w, "v1", 0, now.Add(-ago-time.Minute))
	if state == "" {
		return w
	}
	condition := func(conditionType string, is bool) {
		c := metav1.Condition{Type: conditionType, Status: metav1.ConditionFalse, ObservedGeneration: 1, LastTransitionTime: metav1.NewTime(now.Add(-ago))}
		if is {
			c.Status = metav1.ConditionTrue
		}
		w.Status.Conditions = append(w.Status.Conditions, c)
	}
	condition(workv1.WorkApplied, true)
	condition(workv1.WorkProgressing, state != "Done")
	condition(workv1.WorkDegraded, state == "Degraded")
	return w
}

// rewritten is a work with a spec that was changed after its conditions, which have observed the change.
func rewritten(w *workv1.ManifestWork, version string, ago time.Duration) *workv1.ManifestWork {
	w.Generation++
	status.StampOf(w).NoteOn(w, version, 0, now.Add(-ago))
	for i := range w.Status.Conditions {
		w.Status.Conditions[i].ObservedGeneration = w.Generation
	}
	return w
}

// hub is what the three controllers see.
type hub struct {
	selection
	groups   []group
	strategy clusterv1alpha1.RolloutStrategy
	works    []*workv1.ManifestWork
	version  string
	template workv1.ManifestWorkSpec
}

// does writes what a controller does as `apply a b; remove x; requeue after 9m0s`.
func does(apply, remove []string, requeueAfter time.Duration, err error) string {
	if err != nil {
		return "error"
	}
	slices.Sort(apply)
	var parts []string
	if len(apply) > 0 {
		parts = append(parts, "apply "+strings.Join(apply, " "))
	}
	if len(remove) > 0 {
		parts = append(parts, "remove "+strings.Join(remove, " "))
	}
	if requeueAfter > 0 {
		parts = append(parts, fmt.Sprintf("requeue after %v", requeueAfter))
	}
	return strings.Join(parts, "; ")
}

func (h hub) before(t *testing.T) string {
	decisions := stored(h.groups)
	return does(before.Reconcile(h.placement(t, decisions), lister(decisions), h.strategy, h.works))
}

func (h hub) dropIn(t *testing.T) string {
	decisions := stored(h.groups)
	return does(dropin.Reconcile(h.placement(t, decisions), lister(decisions), h.strategy, h.works))
}

func (h hub) after(t *testing.T) string { return h.afterFor(t, &metav1.ObjectMeta{}) }

// afterFor plans once more where the owner's record has to be stored first.
func (h hub) afterFor(t *testing.T, owner *metav1.ObjectMeta) string {
	decisions := stored(h.groups)
	before := owner.Annotations
	reconcile := func() string {
		return does(after.Reconcile(owner, h.placement(t, decisions), decisions, h.strategy, h.works, h.template, h.version, now))
	}
	first := reconcile()
	if maps.Equal(before, owner.Annotations) {
		return first
	}
	return reconcile()
}

// R48: a failed and deselected cluster is remembered in the owner after its work is deleted.
func TestTheMigratedControllerRemembersWhoFailed(t *testing.T) {
	var owner metav1.ObjectMeta
	h := hub{groups: oneGroup, strategy: progressive(configured(intstr.FromInt32(0)), intstr.FromInt32(1)), version: "v1"}
	h.works = []*workv1.ManifestWork{work("x", "Degraded", time.Hour)}
	if got := h.afterFor(t, &owner); got != "remove x" {
		t.Fatalf("%s, want x removed", got)
	}
	h.works = nil
	if got := h.afterFor(t, &owner); got != "" {
		t.Errorf("%s, want no cluster to start", got)
	}
}

var oneGroup = []group{{clusters: []string{"a", "b", "c", "d"}}}

// The three controllers of the migration guide do the same.
func TestMigratedControllersDoTheSame(t *testing.T) {
	for _, tt := range []struct {
		why  string
		hub  hub
		want string
	}{
		{"one is done, one under way, one starts, one is not selected any more", hub{
			groups: oneGroup, strategy: progressive(configured(intstr.FromInt32(0)), intstr.FromInt32(2)), version: "v1",
			works: []*workv1.ManifestWork{work("a", "Done", time.Hour), work("b", "Progressing", time.Minute), work("x", "Done", time.Hour)},
		}, "apply b c; remove x; requeue after 9m0s"},
		{"one soaks", hub{
			groups: oneGroup, strategy: progressive(configured(intstr.FromInt32(0)), intstr.FromInt32(1)), version: "v1",
			works: []*workv1.ManifestWork{work("a", "Done", time.Minute)},
		}, "apply a; requeue after 4m0s"},
		{"one has failed", hub{
			groups: oneGroup, strategy: progressive(configured(intstr.FromInt32(0)), intstr.FromInt32(4)), version: "v1",
			works: []*workv1.ManifestWork{work("a", "Degraded", time.Minute)},
		}, "apply a; requeue after 9m0s"},
		{"group after group", hub{
			groups:   []group{{clusters: []string{"a", "b"}}, {clusters: []string{"c"}}},
			strategy: perGroup(configured(intstr.FromInt32(0))), version: "v1",
			works: []*workv1.ManifestWork{work("a", "Done", time.Hour)},
		}, "apply b"},
		{"a strategy that is nonsense", hub{
			groups: oneGroup, strategy: progressive(configured(intstr.FromInt32(0)), intstr.FromString("all")), version: "v1",
		}, "error"},
	} {
		for i := range tt.hub.groups {
			tt.hub.groups[i].key.Index = int32(i)
		}
		for by, got := range map[string]string{"sdk-go": tt.hub.before(t), "the drop-in": tt.hub.dropIn(t), "Cohort": tt.hub.after(t)} {
			if got != tt.want {
				t.Errorf("%s: with %s the controller does %q, want %q", tt.why, by, got, tt.want)
			}
		}
	}
}

// What each step of the migration changes: the drop-in what is decided, Cohort itself what is known.
func TestMigratedControllersDoBetter(t *testing.T) {
	one := progressive(configured(intstr.FromInt32(0)), intstr.FromInt32(1))
	tolerant := progressive(configured(intstr.FromInt32(1)), intstr.FromInt32(1))
	for _, tt := range []struct {
		why                   string
		hub                   hub
		before, dropIn, after string
	}{
		{
			"c has the only slot", hub{groups: oneGroup, strategy: one, version: "v1", template: workv1.ManifestWorkSpec{DeleteOption: &workv1.DeleteOption{}},
				works: []*workv1.ManifestWork{{ObjectMeta: metav1.ObjectMeta{Namespace: "a"}}, work("c", "Progressing", time.Minute)}},
			"apply a", "apply c; requeue after 9m0s", "apply c; requeue after 9m0s",
		}, {
			"d may be in a decision that is not written yet", hub{groups: []group{{clusters: []string{"a", "b", "c"}}}, selection: selection{missing: 1},
				strategy: one, version: "v1", works: []*workv1.ManifestWork{work("d", "Done", time.Hour)}},
			"apply a; remove d", "", "",
		}, {
			"a waits for version v2, and b has an agent that has been silent for an hour: only versions tell", hub{groups: oneGroup, strategy: tolerant, version: "v2",
				works: []*workv1.ManifestWork{work("a", "Done", time.Hour), rewritten(work("b", "", 2*time.Hour), "v2", time.Hour)}},
			"apply b", "apply b", "apply a",
		}, {
			"a was done an hour ago with v1, and has v2 for a minute", hub{groups: oneGroup, strategy: one, version: "v2",
				works: []*workv1.ManifestWork{rewritten(work("a", "Done", time.Hour), "v2", time.Minute)}},
			"apply b", "apply b", "apply a; requeue after 4m0s",
		},
	} {
		if got := tt.hub.before(t); got != tt.before {
			t.Errorf("%s: with sdk-go the controller does %q, want %q", tt.why, got, tt.before)
		}
		if got := tt.hub.dropIn(t); got != tt.dropIn {
			t.Errorf("%s: with the drop-in the controller does %q, want %q", tt.why, got, tt.dropIn)
		}
		if got := tt.hub.after(t); got != tt.after {
			t.Errorf("%s: with Cohort the controller does %q, want %q", tt.why, got, tt.after)
		}
	}
}

// On the day of the switch no work has a stamp. Nothing is started, nothing soaks anew, and a rollout that is under way goes on.
func TestTheDayOfTheSwitch(t *testing.T) {
	text := func(s string) workv1.ManifestWorkSpec {
		return workv1.ManifestWorkSpec{Workload: workv1.ManifestsTemplate{Manifests: []workv1.Manifest{{RawExtension: runtime.RawExtension{Raw: []byte(s)}}}}}
	}
	unstamped := func(cluster, state, manifest string, ago time.Duration) *workv1.ManifestWork {
		w := work(cluster, state, ago)
		w.Annotations, w.Spec, w.CreationTimestamp = nil, text(manifest), metav1.NewTime(now.Add(-ago-time.Minute))
		return w
	}
	settled, rules := hub{template: text(`{"v":2}`), version: "v2"}, configured(intstr.FromInt32(0))
	var clusters []string
	for i := range 100 {
		clusters = append(clusters, fmt.Sprintf("c%03d", i))
		settled.works = append(settled.works, unstamped(clusters[i], "Done", `{"v":2}`, time.Hour))
	}
	settled.groups = []group{{clusters: clusters}}
	under := settled
	under.works = slices.Clone(settled.works)
	under.works[7] = unstamped("c007", "Done", `{"v":2}`, 2*time.Minute)        // soaks: 3 of 5 minutes are left
	under.works[8] = unstamped("c008", "Progressing", `{"v":2}`, 4*time.Minute) // 6 of 10 minutes are left
	for i := 9; i < 100; i++ {
		under.works[i] = unstamped(clusters[i], "Done", `{"v":1}`, time.Hour)
	}
	for _, test := range []struct {
		why      string
		hub      hub
		strategy clusterv1alpha1.RolloutStrategy
		want     string
	}{
		{"all are settled, and All would start them all", settled, clusterv1alpha1.RolloutStrategy{Type: clusterv1alpha1.All}, ""},
		{"all are settled, and ten would start", settled, progressive(rules, intstr.FromInt32(10)), ""},
		{"in mid-rollout two are in flight, and no slot is free", under, progressive(rules, intstr.FromInt32(2)), "apply c007 c008; requeue after 3m0s"},
		{"and the third slot is for the next", under, progressive(rules, intstr.FromInt32(3)), "apply c007 c008 c009; requeue after 3m0s"},
	} {
		test.hub.strategy = test.strategy
		if got := test.hub.after(t); got != test.want {
			t.Errorf("%s: does %q, want %q", test.why, got, test.want)
		}
	}
}

// An outdated work of a cluster that left is deleted only if it is reported.
func TestAnOutdatedWorkOfAClusterThatLeft(t *testing.T) {
	decisions := stored([]group{{clusters: []string{"a"}}})
	tracker := ownv1beta1.NewPlacementDecisionClustersTracker(hub{groups: oneGroup}.placement(t, decisions), lister(decisions), nil)
	if err := tracker.Refresh(); err != nil {
		t.Fatal(err)
	}
	handler, err := ownv1alpha1.NewRolloutHandler[*workv1.ManifestWork](tracker, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		why      string
		statuses []ownv1alpha1.ClusterRolloutStatus
		want     int
	}{
		{"OCM's controller leaves it out, as it differs from the template", nil, 0},
		{"reported as ToApply", []ownv1alpha1.ClusterRolloutStatus{{ClusterName: "left", Status: ownv1alpha1.ToApply}}, 1},
	} {
		_, result, err := handler.GetRolloutCluster(clusterv1alpha1.RolloutStrategy{Type: clusterv1alpha1.All}, test.statuses)
		if err != nil || len(result.ClustersRemoved) != test.want {
			t.Errorf("%s: removes %v, %v", test.why, result.ClustersRemoved, err)
		}
	}
	h := hub{groups: []group{{clusters: []string{"a"}}}, strategy: clusterv1alpha1.RolloutStrategy{Type: clusterv1alpha1.All}, version: "v2",
		works: []*workv1.ManifestWork{work("left", "Done", time.Hour)}}
	if got := h.after(t); got != "apply a; remove left" {
		t.Errorf("Cohort itself does %q", got)
	}
}

// Behind a feature gate a controller does as with sdk-go while the gate is closed, and as with the drop-in while it is open. And the
// handlers say the same, in sdk-go's types.
func TestTheDropInBehindAFeatureGate(t *testing.T) {
	random, differ := rand.New(rand.NewPCG(7, 11)), 0
	states := []string{"", "Progressing", "Degraded", "Done"}
	for range 2000 {
		h := hub{version: "v1", strategy: perGroup(configured(intstr.FromInt(random.IntN(3))))}
		if random.IntN(2) > 0 {
			h.strategy = progressive(configured(intstr.FromInt(random.IntN(3))), intstr.FromInt(1+random.IntN(3)))
		}
		for i, n := 0, random.IntN(6); i < n; i++ {
			if i%3 == 0 {
				h.groups = append(h.groups, group{})
				h.groups[i/3].key.Index = int32(i / 3)
			}
			h.groups[i/3].clusters = append(h.groups[i/3].clusters, string(rune('a'+i)))
		}
		for _, cluster := range []string{"a", "b", "c", "d", "e", "x"} {
			if random.IntN(3) > 0 {
				h.works = append(h.works, work(cluster, states[random.IntN(len(states))], time.Duration(random.IntN(20))*time.Minute))
			}
		}
		decisions := stored(h.groups)
		got := func(gate bool) string {
			return does(gated.Reconcile(gate, h.placement(t, decisions), lister(decisions), h.strategy, h.works))
		}
		if closed, want := got(false), h.before(t); closed != want {
			t.Fatalf("closed: does %q, with sdk-go %q", closed, want)
		}
		if open, want := got(true), h.dropIn(t); open != want {
			t.Fatalf("open: does %q, with the drop-in %q", open, want)
		}
		if h.before(t) != h.dropIn(t) {
			differ++
		}
	}
	t.Logf("%d of 2000 differ", differ)
	if differ == 0 {
		t.Error("the gate makes no difference in any fleet")
	}

	// Each field comes through: of clusters in flight, timed out and removed.
	key, recently, long := sdkv1beta1.GroupKey{GroupName: "given", GroupIndex: 9}, metav1.NewTime(now.Add(-time.Minute)), metav1.NewTime(now.Add(-time.Hour))
	decisions := stored(oneGroup)
	placement := hub{groups: oneGroup}.placement(t, decisions)
	handler, err := gated.NewHandler[*workv1.ManifestWork](true, placement, lister(decisions), nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	given := []sdkv1alpha1.ClusterRolloutStatus{
		{ClusterName: "a", GroupKey: key, Status: sdkv1alpha1.Progressing, LastTransitionTime: &recently},
		{ClusterName: "b", GroupKey: key, Status: sdkv1alpha1.Failed, LastTransitionTime: &long},
		{ClusterName: "x", GroupKey: key, Status: sdkv1alpha1.Succeeded, LastTransitionTime: &long},
	}
	strategy, result, err := handler.GetRolloutCluster(progressive(configured(intstr.FromInt32(0)), intstr.FromInt32(3)), given)
	deadline, over, after := metav1.NewTime(recently.Add(10*time.Minute)), metav1.NewTime(long.Add(10*time.Minute)), 9*time.Minute
	given[0].RecheckTime, given[1].RecheckTime, given[1].Status = &deadline, &over, sdkv1alpha1.TimeOut
	want := sdkv1alpha1.RolloutResult{
		ClustersToRollout: given[:1], ClustersTimeOut: given[1:2], ClustersRemoved: given[2:], MaxFailureBreach: true, RecheckAfter: &after,
	}
	if !reflect.DeepEqual(result, want) || err != nil || strategy.Type != clusterv1alpha1.Progressive {
		t.Errorf("%v, %v: %+v, want %+v", strategy, err, result, want)
	}
}

// The first step changes two import paths and nothing else, and no new requirement comes with it.
func TestTheDropInIsTwoChangedLines(t *testing.T) {
	old := strings.Split(read(t, "migration/before/controller.go"), "\n")
	changed := 0
	for i, line := range strings.Split(read(t, "migration/dropin/controller.go"), "\n") {
		if i >= len(old) || line == old[i] {
			continue
		}
		if changed++; strings.ReplaceAll(old[i], sdkPath, ownPath) != line {
			t.Errorf("line %d is changed to %s", i+1, line)
		}
	}
	if changed != 2 {
		t.Errorf("%d lines are changed, want 2", changed)
	}
	out, err := exec.Command("go", "list", "-deps", ownPath+"v1alpha1").Output()
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(out), "open-cluster-management.io/sdk-go/") {
		t.Error("the drop-in imports sdk-go")
	}
}

// Under Progressive with mandatory groups the rest is rolling: as soon as one is done the next starts.
func TestBehindMandatoryGroupsClustersRoll(t *testing.T) {
	h := hub{
		groups:   []group{{clusters: []string{"m"}}, {clusters: []string{"a", "b", "c"}}},
		strategy: progressive(configured(intstr.FromInt32(0)), intstr.FromInt32(2), clusterv1alpha1.MandatoryDecisionGroup{GroupIndex: 0}),
		works:    []*workv1.ManifestWork{work("m", "Done", time.Hour), work("a", "Done", time.Hour), work("b", "Progressing", time.Minute)},
		version:  "v1",
	}
	h.groups[1].key.Index = 1
	if got, want := h.before(t), "apply b; requeue after 9m0s"; got != want {
		t.Errorf("sdk-go goes in batches: it does %q, want %q", got, want)
	}
	for _, got := range []string{h.dropIn(t), h.after(t)} {
		if want := "apply b c; requeue after 9m0s"; got != want {
			t.Errorf("does %q, want %q", got, want)
		}
	}
}

// A failed cluster of a placement without groups holds back every newly imported cluster until it recovers.
func TestAFailedClusterHoldsBackImportedOnes(t *testing.T) {
	rules := configured(intstr.FromInt32(0))
	rules.ProgressDeadline = "None"
	h := hub{
		groups:   []group{{clusters: []string{"b", "z", "imported"}}},
		strategy: progressive(rules, intstr.FromInt32(1)),
		works:    []*workv1.ManifestWork{work("b", "Done", time.Hour), work("z", "Degraded", 365*24*time.Hour), {ObjectMeta: metav1.ObjectMeta{Namespace: "imported"}}},
		version:  "v1",
		template: workv1.ManifestWorkSpec{DeleteOption: &workv1.DeleteOption{}},
	}
	if got, want := h.before(t), "apply imported"; got != want {
		t.Errorf("sdk-go starts a cluster with a name before the failed one's: it does %q, want %q", got, want)
	}
	for _, got := range []string{h.dropIn(t), h.after(t)} {
		if want := "apply z"; got != want {
			t.Errorf("does %q, want %q", got, want)
		}
	}
	h.works[1] = work("z", "Done", time.Hour)
	for _, got := range []string{h.dropIn(t), h.after(t)} {
		if want := "apply imported"; got != want {
			t.Errorf("after z has recovered, does %q, want %q", got, want)
		}
	}
}

// Without a progressDeadline a progressing cluster keeps its slot for ever.
func TestWithoutADeadlineASlotIsKeptForEver(t *testing.T) {
	rules := configured(intstr.FromInt32(4))
	h := hub{groups: oneGroup, strategy: progressive(rules, intstr.FromInt32(1)), version: "v1",
		works: []*workv1.ManifestWork{work("a", "Progressing", 365*24*time.Hour)}}
	for _, got := range []string{h.dropIn(t), h.after(t)} {
		if want := "apply b"; got != want {
			t.Errorf("with a deadline, does %q, want %q", got, want)
		}
	}
	rules.ProgressDeadline = "None"
	h.strategy = progressive(rules, intstr.FromInt32(1))
	for _, got := range []string{h.dropIn(t), h.after(t)} {
		if want := "apply a"; got != want {
			t.Errorf("without a deadline, does %q, want %q", got, want)
		}
	}
}
