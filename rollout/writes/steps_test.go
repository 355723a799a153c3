// SPDX-License-Identifier: Apache-2.0

package writes_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"
	workv1alpha1 "open-cluster-management.io/api/work/v1alpha1"

	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/rollout/writes"
	"github.com/cohort-ocm/cohort/status"
)

var owner = &workv1alpha1.ManifestWorkReplicaSet{ObjectMeta: metav1.ObjectMeta{Namespace: "apps", Name: "web", Generation: 3, UID: "u1"}}

var (
	kind = schema.GroupKind{Group: "work.open-cluster-management.io", Kind: "ManifestWorkReplicaSet"}
	mine = writes.Owner{Kind: kind, Object: owner, Labels: map[string]string{"work.open-cluster-management.io/manifestworkreplicaset": "apps.web"}}
)

// named is a work of a cluster: its name ("own" for the one that follows from the owner), and its age.
func named(cluster, name string, age time.Duration, deleting bool) *work {
	if name == "own" {
		name = writes.NameOf[*work](mine)
	}
	w := &work{ObjectMeta: metav1.ObjectMeta{Namespace: cluster, Name: name, CreationTimestamp: metav1.NewTime(noon.Add(-age))}}
	mine.NoteOn(w)
	if deleting {
		w.DeletionTimestamp = &metav1.Time{Time: noon}
	}
	return w
}

// result is a result with these clusters.
func result(removed, inFlight, start string) *rollout.Result {
	clusters := func(names string) (all []rollout.Cluster) {
		for _, name := range strings.Fields(names) {
			all = append(all, rollout.Cluster{Name: name, Attempt: 2})
		}
		return all
	}
	return &rollout.Result{Next: rollout.Next{Removed: strings.Fields(removed), Start: clusters(start)}, InFlight: clusters(inFlight)}
}

func warned(r *rollout.Result) *rollout.Result {
	r.Warnings = []rollout.Warning{{Type: rollout.WarningReportsMerged}}
	return r
}

func said(steps *writes.Steps[*work], generation func() (metav1.Object, error)) string {
	var all []string
	for step := range steps.While(generation) {
		text := fmt.Sprintf("%s %s", step.Verb, step.Cluster.Name)
		if step.Object != nil {
			text += "/" + strings.Replace(step.Object.Name, writes.NameOf[*work](mine), "own", 1)
		}
		if step.Start {
			text += " start"
		}
		if step.Plan > 0 {
			text += fmt.Sprint(" of ", step.Plan)
		}
		all = append(all, text)
	}
	return strings.Join(all, ", ")
}

func present() (metav1.Object, error) { return owner, nil }

func TestStepsOfPlans(t *testing.T) {
	type results = []*rollout.Result
	type works = []*work
	for _, c := range []struct {
		reason  string
		results results
		works   works
		want    string
	}{
		{"W10: nothing to do", results{result("", "", "")}, works{named("a", "own", 0, false)}, ""},
		{"W10: removed, in flight, start", results{result("c", "b", "a d")},
			works{named("d", "own", 0, false), named("b", "own", 0, false), named("c", "own", 0, false)},
			"Delete c/own, Update b/own, Create a start, Update d/own start"},
		{"W10: several plans: each part of all before the next part", results{result("", "b", "a"), result("e", "d", "c")},
			works{named("b", "own", 0, false), named("d", "own", 0, false), named("e", "own", 0, false)},
			"Delete e/own of 1, Update b/own, Update d/own of 1, Create a start, Create c start of 1"},
		{"W10: what is being deleted is not deleted again, and gets nothing", results{result("c", "b", "a")},
			works{named("a", "own", 0, true), named("b", "own", 0, true), named("c", "own", 0, true)}, ""},
		{"W10: removed with all that it has", results{result("c", "", "")},
			works{named("c", "own", 0, false), named("c", "x", 0, false)}, "Delete c/own, Delete c/x"},
		{"W10: in flight without an object that was given: nothing is known to write", results{result("", "b", "")}, nil, ""},
		{"W11: one that isn't being deleted, though it has another name", results{result("", "", "a")},
			works{named("a", "own", 0, true), named("a", "x", 0, false)}, "Update a/x start"},
		{"W11: the name, though it is younger", results{warned(result("", "", "a"))},
			works{named("a", "x", time.Hour, false), named("a", "own", 0, false)}, "Delete a/x, Update a/own start"},
		{"W11: the oldest", results{warned(result("", "", ""))},
			works{named("a", "x", 0, false), named("a", "y", time.Hour, false)}, "Delete a/x"},
		{"W11: the first by name", results{warned(result("", "", ""))},
			works{named("a", "y", 0, false), named("a", "x", 0, false), named("b", "x", 0, false)}, "Delete a/y"},
		{"W11: surplus objects go by cluster, and those of removed clusters go once", results{warned(result("c", "", ""))},
			works{named("c", "x", 0, false), named("b", "x", 0, false), named("a", "x", 0, false),
				named("c", "y", 0, false), named("b", "y", 0, false), named("a", "y", 0, false)},
			"Delete c/x, Delete c/y, Delete a/y, Delete b/y"},
	} {
		if got := said(writes.StepsOf(mine, c.works, c.results...), present); got != c.want {
			t.Errorf("%s: %s, want %s", c.reason, got, c.want)
		}
	}
}

// W10: the first answer of a deselected cluster, or of one whose object is being deleted, is recorded on an object that has
// the version of the plan.
func TestFirstAnswersAreNotedInWhatIsThere(t *testing.T) {
	stamped := func(version string, w *work) *work {
		status.StampOf(w).NoteOn(w, version, 0, noon)
		return w
	}
	deselected := func(r *rollout.Result, names ...string) *rollout.Result {
		r.Record.Version = "v1"
		for _, name := range names {
			r.Deselected = append(r.Deselected, rollout.Cluster{Name: name})
		}
		return r
	}
	unknown := deselected(result("", "", ""), "a")
	unknown.Record.Version = ""
	type results = []*rollout.Result
	for _, c := range []struct {
		reason  string
		results results
		object  *work // of cluster a
		want    string
	}{
		{"deselected", results{deselected(result("", "", "b"), "a")}, stamped("v1", named("a", "own", 0, false)), "Update a/own, Create b start"},
		{"deselected, and all others wait for it", results{deselected(result("", "", ""), "a")}, stamped("v1", named("a", "own", 0, false)), "Update a/own"},
		{"deselected, and its object hangs", results{deselected(result("", "", "b"), "a")}, stamped("v1", named("a", "own", 0, true)), "Update a/own, Create b start"},
		{"deselected, and its object has another version", results{deselected(result("", "", "b"), "a")}, stamped("v0", named("a", "own", 0, false)), "Create b start"},
		{"deselected, and its object has no stamp", results{deselected(result("", "", "b"), "a")}, named("a", "own", 0, false), "Create b start"},
		{"deselected, and no version is known", results{unknown}, stamped("", named("a", "own", 0, false)), ""},
		{"deselected, and removed", results{deselected(result("a", "", ""), "a")}, stamped("v1", named("a", "own", 0, false)), "Delete a/own"},
		{"deselected in one plan, in flight in another", results{deselected(result("", "", ""), "a"), result("", "a", "")}, stamped("v1", named("a", "own", 0, false)), "Update a/own of 1"},
		{"deselected in one plan, starts in another", results{deselected(result("", "", ""), "a"), result("", "", "a")}, stamped("v1", named("a", "own", 0, false)), "Update a/own start of 1"},
		{"selected again while its object hangs", results{deselected(result("", "a", ""))}, stamped("v1", named("a", "own", 0, true)), "Update a/own"},
		{"selected again while an object of another version hangs", results{deselected(result("", "a", ""))}, stamped("v0", named("a", "own", 0, true)), ""},
		{"it waits for the end of its object", results{deselected(result("", "", "a"))}, stamped("v1", named("a", "own", 0, true)), ""},
	} {
		if got := said(writes.StepsOf(mine, []*work{c.object}, c.results...), present); got != c.want {
			t.Errorf("%s: %s, want %s", c.reason, got, c.want)
		}
	}
}

// W10, R49: objects are deleted at once, and clusters a and f were deselected for a while. The one that was in flight goes
// on, and gets its workload again. The one that failed gets nothing.
func TestAClusterThatReturnsInFlightGetsItsWorkloadAgain(t *testing.T) {
	groups, err := grouping.FromNames(map[grouping.Key][]string{{}: {"a", "b", "c", "f"}})
	if err != nil {
		t.Fatal(err)
	}
	for _, is := range []status.RolloutStatus{status.Progressing, status.ToApply} {
		stored := status.Record{Version: "v", Deselected: []status.DeselectedCluster{
			{Report: status.Report{Cluster: "a", Status: is, Applied: noon}},
			{Report: status.Report{Cluster: "f", Status: status.Failed, Applied: noon}},
		}}
		reports := []status.Report{{Cluster: "b", Status: status.Progressing, Applied: noon}, {Cluster: "c", Status: status.Progressing, Applied: noon}}
		strategy := clusterv1alpha1.RolloutStrategy{Type: clusterv1alpha1.Progressive, Progressive: &clusterv1alpha1.RolloutProgressive{}}
		strategy.Progressive.ProgressDeadline = "10m"
		r, err := rollout.Plan(strategy, groups, reports, noon.Add(time.Minute), rollout.Options{StoredRecord: &rollout.StoredRecord{Version: "v", Record: stored, AtOnce: true}})
		if err != nil {
			t.Fatal(err)
		}
		if got, want := said(writes.StepsOf(mine, []*work{named("b", "own", 0, false)}, r), present), "Create a, Update b/own"; got != want {
			t.Errorf("%s: %s, want %s; in flight are %v", is, got, want, r.InFlight)
		}
	}
}

func TestTheStepHasTheClusterOfThePlan(t *testing.T) {
	for step := range writes.StepsOf(mine, []*work(nil), result("", "", "a")).While(present) {
		if step.Cluster.Attempt != 2 {
			t.Errorf("%+v", step.Cluster)
		}
	}
}

// W12: the owner is read just before each write, so that a new generation stops the rest.
func TestAGenerationThatMovedStopsTheSteps(t *testing.T) {
	moved, another := owner.DeepCopy(), owner.DeepCopy()
	moved.Generation, another.UID = 4, "another"
	for _, c := range []struct {
		reason string
		owner  metav1.Object
		err    error
	}{{"its generation moved", moved, nil}, {"another one has its name", another, nil}, {"it is gone", nil, nil}, {"it can't be read", owner, errors.New("gone")}} {
		steps := writes.StepsOf(mine, []*work(nil), result("", "", "a b c"))
		asked := 0
		got := said(steps, func() (metav1.Object, error) {
			if asked++; asked > 2 {
				return c.owner, c.err
			}
			return owner, nil
		})
		if got != "Create a start, Create b start" || !steps.Moved() {
			t.Errorf("%s: %s, moved %v", c.reason, got, steps.Moved())
		}
	}
	steps := writes.StepsOf(mine, []*work(nil), result("", "", "a b c"))
	for range steps.While(present) {
		break
	}
	if steps.Moved() {
		t.Error("it says that the owner moved, where the caller ended the steps")
	}
}

// W16: the soonest time of several plans counts.
func TestTheSoonestPlanSaysWhenToComeBack(t *testing.T) {
	after := func(recheck time.Duration) *rollout.Result {
		return &rollout.Result{Next: rollout.Next{RecheckAfter: recheck}}
	}
	for want, results := range map[time.Duration][]*rollout.Result{
		0: {after(0), after(0)}, time.Minute: {after(0), after(time.Hour), after(time.Minute), after(0)},
	} {
		if got := writes.StepsOf(mine, []*work(nil), results...).RecheckAfter(); got != want {
			t.Errorf("%v, want %v", got, want)
		}
	}
}
