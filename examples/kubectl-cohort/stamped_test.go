// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"
	workv1 "open-cluster-management.io/api/work/v1"
	workv1alpha1 "open-cluster-management.io/api/work/v1alpha1"
	"sigs.k8s.io/yaml"

	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/rollout/writes"
	"github.com/cohort-ocm/cohort/status"
)

// atOne is when the dumps are made, and at(-10) ten minutes before.
var atOne = time.Date(2025, 1, 1, 1, 0, 0, 0, time.UTC)

func at(minutes int) time.Time { return atOne.Add(time.Duration(minutes) * time.Minute) }

// versionSpec is the spec of a work in one of its versions.
func versionSpec(text string) (spec workv1.ManifestWorkSpec) {
	raw := fmt.Sprintf(`{"apiVersion":"v1","data":{"text":%q},"kind":"ConfigMap","metadata":{"name":"it","namespace":"default"}}`, text)
	spec.Workload.Manifests = []workv1.Manifest{{RawExtension: runtime.RawExtension{Raw: []byte(raw)}}}
	return spec
}

// thirdVersion is the ManifestWorkReplicaSet ns/set that wants version v3, two clusters of a placement at a time.
func thirdVersion(t *testing.T, minSuccess time.Duration, change func(*workv1alpha1.ManifestWorkReplicaSet), placements ...string) string {
	t.Helper()
	set := workv1alpha1.ManifestWorkReplicaSet{TypeMeta: metav1.TypeMeta{APIVersion: "work.open-cluster-management.io/v1alpha1", Kind: "ManifestWorkReplicaSet"}}
	set.Namespace, set.Name, set.Generation = "ns", "set", 3
	set.Spec.ManifestWorkTemplate = versionSpec("v3")
	for _, placement := range placements {
		set.Spec.PlacementRefs = append(set.Spec.PlacementRefs, workv1alpha1.LocalPlacementReference{Name: placement, RolloutStrategy: strategyOf(t, fmt.Sprintf(
			`{type: Progressive, progressive: {maxConcurrency: 2, progressDeadline: 30m, minSuccessTime: %s}}`, minSuccess))})
	}
	if change != nil {
		change(&set)
	}
	return asYAML(t, set)
}

func strategyOf(t *testing.T, text string) (strategy clusterv1alpha1.RolloutStrategy) {
	t.Helper()
	if err := yaml.Unmarshal([]byte(text), &strategy); err != nil {
		t.Fatal(err)
	}
	return strategy
}

// asYAML is an object as kubectl prints it.
func asYAML(t *testing.T, object any) string {
	t.Helper()
	text, err := yaml.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	return "\n" + string(text)
}

// liveWork is a work in its third generation, two versions after the first.
type liveWork struct {
	cluster, spec string // the version of its spec
	stamp         string // the version of its stamp; none if it is empty
	stamped       int    // the minute of the stamp
	placement     string // p if it is empty
	status        status.RolloutStatus
	since         int  // the minute of the condition
	unobserved    bool // the conditions are about the generation before
	managed       bool // the managed fields say that the spec is of the minute stamped
	verdict       string
}

func (w liveWork) yaml(t *testing.T) string {
	t.Helper()
	work := workv1.ManifestWork{TypeMeta: metav1.TypeMeta{APIVersion: "work.open-cluster-management.io/v1", Kind: "ManifestWork"}}
	work.Namespace, work.Name, work.Generation = w.cluster, "set", 3
	work.CreationTimestamp = metav1.NewTime(at(-600))
	placement := w.placement
	if placement == "" {
		placement = "p"
	}
	work.Labels = map[string]string{workv1alpha1.ManifestWorkReplicaSetControllerNameLabelKey: "ns.set", workv1alpha1.ManifestWorkReplicaSetPlacementNameLabelKey: placement}
	work.Spec = versionSpec(w.spec)
	if w.stamp != "" {
		status.StampOf(&work).NoteOn(&work, w.stamp, 0, at(w.stamped))
	}
	if w.managed {
		since := metav1.NewTime(at(w.stamped))
		work.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: "work", Operation: metav1.ManagedFieldsOperationUpdate, APIVersion: "work.open-cluster-management.io/v1",
			Time: &since, FieldsType: "FieldsV1", FieldsV1: &metav1.FieldsV1{Raw: []byte(`{"f:spec":{"f:workload":{}}}`)}}}
	}
	if w.verdict != "" {
		metav1.SetMetaDataAnnotation(&work.ObjectMeta, "cohort.open-cluster-management.io/verdict", w.verdict)
	}
	condition := func(name string, is bool) {
		c := metav1.Condition{Type: name, Status: metav1.ConditionFalse, Reason: "Known", ObservedGeneration: 3, LastTransitionTime: metav1.NewTime(at(w.since))}
		if is {
			c.Status = metav1.ConditionTrue
		}
		if w.unobserved {
			c.ObservedGeneration = 2
		}
		work.Status.Conditions = append(work.Status.Conditions, c)
	}
	condition(workv1.WorkApplied, true)
	condition(workv1.WorkProgressing, w.status != status.Succeeded)
	condition(workv1.WorkDegraded, w.status == status.Failed)
	return asYAML(t, work)
}

// now is how a dump stands when it is read: the first wave, in which nothing was played yet but the first starts.
type now struct {
	Counts  status.Counts
	Outcome string
}

// readNow reads a dump, by plan. What status says has to agree.
func readNow(t *testing.T, dump string, args ...string) (all []now, notes string) {
	t.Helper()
	type report struct {
		Notes []string
		Waves []struct{ Counts status.Counts }
		End   struct{ Outcome string }
	}
	var several struct{ Rollouts []report }
	text := simulateText(t, dump, append(args, "-f", "-", "-o", "json", "--start", atOne.Format(time.RFC3339))...)
	if err := json.Unmarshal([]byte(text), &several); err != nil {
		t.Fatal(err)
	}
	if several.Rollouts == nil {
		several.Rollouts = make([]report, 1)
		if err := json.Unmarshal([]byte(text), &several.Rollouts[0]); err != nil {
			t.Fatal(err)
		}
	}
	agrees := func(i int, counts status.Counts, started int) {
		counts.ToApply, counts.Progressing = counts.ToApply-started, counts.Progressing+started
		if want := several.Rollouts[i].Waves[0].Counts; counts != want {
			t.Errorf("status of rollout %d: with those that may start %+v, and the plan begins with %+v", i, counts, want)
		}
	}
	type standing struct {
		Summary  struct{ status.Counts }
		MayStart []string
	}
	var stand struct {
		standing
		Rollouts []standing
	}
	if err := json.Unmarshal([]byte(simulateText(t, dump, append([]string{"status"}, append(args, "-f", "-", "-o", "json", "--start", atOne.Format(time.RFC3339))...)...)), &stand); err != nil {
		t.Fatal(err)
	}
	if stand.Rollouts == nil {
		stand.Rollouts = []standing{stand.standing}
	}
	for i, s := range stand.Rollouts {
		agrees(i, s.Summary.Counts, len(s.MayStart))
	}
	for _, r := range several.Rollouts {
		all = append(all, now{r.Waves[0].Counts, r.End.Outcome})
		notes += strings.Join(r.Notes, "\n") + "\n"
	}
	return all, notes
}

// A work's stamp says which version it has, and when it got it. What has no stamp is read by its spec and conditions.
func TestWorksAreReadByTheirStamps(t *testing.T) {
	v1, v2, v3 := writes.VersionOf(versionSpec("v1")), writes.VersionOf(versionSpec("v2")), writes.VersionOf(versionSpec("v3"))
	const flag = "--show-managed-fields"
	done := func(cluster string) liveWork {
		return liveWork{cluster: cluster, spec: "v3", stamp: v3, stamped: -20, status: status.Succeeded, since: -500}
	}
	for _, test := range []struct {
		why   string
		soak  time.Duration
		owner func(*workv1alpha1.ManifestWorkReplicaSet)
		works []liveWork
		want  now
		note  string // that there is; no other mentions the flag
	}{
		{why: "all have the third version, and succeeded with the first: the time of the condition does not move",
			works: []liveWork{done("a"), done("b"), done("c"), done("d")},
			want:  now{Counts: status.Counts{Succeeded: 4}, Outcome: "Complete"}},
		{why: "two are at it, and the others have earlier versions",
			works: []liveWork{{cluster: "a", spec: "v3", stamp: v3, stamped: -5, status: status.Succeeded, since: -500, unobserved: true},
				{cluster: "b", spec: "v3", stamp: v3, stamped: -6, status: status.Progressing, since: -4},
				{cluster: "c", spec: "v2", stamp: v2, stamped: -90, status: status.Succeeded, since: -80}, {cluster: "d", spec: "v1", stamp: v1, stamped: -500, status: status.Succeeded, since: -490}},
			want: now{Counts: status.Counts{Progressing: 2, ToApply: 2, Blocked: 2}, Outcome: "Complete"}},
		{why: "one that succeeded long ago soaks since the stamp", soak: 30 * time.Minute,
			works: []liveWork{done("a"), done("b"), {cluster: "c", spec: "v2", stamp: v2, status: status.Succeeded}, {cluster: "d", spec: "v2", stamp: v2, status: status.Succeeded}},
			want:  now{Counts: status.Counts{Succeeded: 2, Soaking: 2, ToApply: 2, Blocked: 2}, Outcome: "Complete"}},
		{why: "one has failed, and the deadline of another has passed since the stamp",
			works: []liveWork{{cluster: "a", spec: "v3", stamp: v3, stamped: -5, status: status.Failed, since: -4}, {cluster: "b", spec: "v3", stamp: v3, stamped: -31, status: status.Progressing, since: -500},
				{cluster: "c", spec: "v2", stamp: v2, status: status.Succeeded}, {cluster: "d", spec: "v2", stamp: v2, status: status.Failed}},
			want: now{Counts: status.Counts{Failed: 1, TimeOut: 1, ToApply: 2, Blocked: 2}, Outcome: "Breached"}},
		{why: "a controller that names its versions otherwise stamped them: the newest stamp on the wanted spec counts",
			works: []liveWork{{cluster: "a", spec: "v3", stamp: "3", stamped: -50, status: status.Succeeded}, {cluster: "b", spec: "v3", stamp: "5", stamped: -4, status: status.Progressing, since: -3},
				{cluster: "c", spec: "v2", stamp: "4", status: status.Succeeded}, {cluster: "d", spec: "v3", stamp: "5", stamped: -6, status: status.Succeeded, since: -5}},
			want: now{Counts: status.Counts{Succeeded: 1, Progressing: 2, ToApply: 1, Blocked: 1}, Outcome: "Complete"}},
		{why: "a stamp is believed, whatever was done to the spec by hand",
			works: []liveWork{{cluster: "a", spec: "by hand", stamp: v3, stamped: -20, status: status.Succeeded, since: -500}, done("b"), done("c"), done("d")},
			want:  now{Counts: status.Counts{Succeeded: 4}, Outcome: "Complete"}},
		{why: "a mixture, as on the day on which a controller begins to use stamps",
			works: []liveWork{{cluster: "a", spec: "v3", status: status.Succeeded, since: -10, managed: true}, done("b"), {cluster: "c", spec: "v2", status: status.Succeeded, since: -10, managed: true}, done("d")},
			want:  now{Counts: status.Counts{Succeeded: 3, Progressing: 1}, Outcome: "Complete"}},
		{why: "OCM's own controller makes no stamps, and the managed fields are there: they soak since the write", soak: 30 * time.Minute,
			works: []liveWork{{cluster: "a", spec: "v3", stamped: -20, status: status.Succeeded, since: -500, managed: true}, {cluster: "b", spec: "v3", stamped: -40, status: status.Succeeded, since: -500, managed: true},
				{cluster: "c", spec: "v3", stamped: -5, status: status.Progressing, since: -500, managed: true}, {cluster: "d", spec: "v2", status: status.Succeeded, managed: true}},
			want: now{Counts: status.Counts{Succeeded: 2, Soaking: 1, Progressing: 1, ToApply: 1, Blocked: 1}, Outcome: "Complete"}},
		{why: "and kubectl left the managed fields out: the conditions count, and a note says how to get them", soak: 30 * time.Minute,
			works: []liveWork{{cluster: "a", spec: "v3", status: status.Succeeded, since: -500}, {cluster: "b", spec: "v3", status: status.Succeeded, since: -20},
				{cluster: "c", spec: "v3", status: status.Succeeded, since: -500, unobserved: true}, {cluster: "d", spec: "v2", status: status.Succeeded, since: -500}},
			want: now{Counts: status.Counts{Succeeded: 2, Soaking: 1, Progressing: 1, ToApply: 1, Blocked: 1}, Outcome: "Complete"},
			note: "neither a stamp nor managed fields say when these got the version, so the time of the last condition counts; kubectl get --show-managed-fields prints them (3): a, b, c\n"},
		{why: "all of OCM's works are done, without the managed fields",
			works: []liveWork{{cluster: "a", spec: "v3", status: status.Succeeded}, {cluster: "b", spec: "v3", status: status.Succeeded}, {cluster: "c", spec: "v3", status: status.Succeeded}, {cluster: "d", spec: "v3", status: status.Succeeded}},
			want:  now{Counts: status.Counts{Succeeded: 4}, Outcome: "Complete"}, note: flag},
		{why: "one was deselected with the version and is still at it: it takes a slot",
			works: []liveWork{done("a"), done("b"), {cluster: "gone", spec: "v3", stamp: v3, stamped: -5, status: status.Progressing, since: -4}, {cluster: "c", spec: "v3", stamp: v3, stamped: -5, status: status.Progressing, since: -4},
				{cluster: "d", spec: "v2", stamp: v2, status: status.Succeeded}},
			want: now{Counts: status.Counts{Succeeded: 2, Progressing: 2, ToApply: 1, Blocked: 1, Deselected: 1}, Outcome: "Complete"}, note: "not selected, so that the workload is removed there (1): gone\n"},
		{why: "one failed and was deselected, and its work is gone: its owner remembers", owner: gone(v3),
			works: []liveWork{done("a"), done("b"), {cluster: "c", spec: "v2", stamp: v2, status: status.Succeeded}},
			want:  now{Counts: status.Counts{Succeeded: 2, TimeOut: 1, ToApply: 2, Blocked: 2, Deselected: 1}, Outcome: "Breached"}},
		{why: "of a version before there is nothing to remember", owner: gone(v2),
			works: []liveWork{done("a"), done("b"), done("c"), done("d")},
			want:  now{Counts: status.Counts{Succeeded: 4}, Outcome: "Complete"}},
		{why: "a user ignores it", owner: func(set *workv1alpha1.ManifestWorkReplicaSet) {
			gone(v3)(set)
			set.Annotations["cohort.open-cluster-management.io/ignore"] = "gone, other"
		},
			works: []liveWork{done("a"), done("b"), done("c"), done("d")},
			want:  now{Counts: status.Counts{Succeeded: 4}, Outcome: "Complete"}, note: "ignored by the annotation cohort.open-cluster-management.io/ignore (2): gone, other\n"},
	} {
		t.Run(test.why, func(t *testing.T) {
			dump := []string{thirdVersion(t, test.soak, test.owner, "p"), decisionOf("a", "b", "c", "d")}
			for _, work := range test.works {
				dump = append(dump, work.yaml(t))
			}
			got, notes := readNow(t, documents(dump...))
			if diff := cmp.Diff([]now{test.want}, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if !strings.Contains(notes, test.note) || !strings.Contains(test.note, flag) && strings.Contains(notes, flag) {
				t.Errorf("want %q in the notes:\n%s", test.note, notes)
			}
		})
	}
}

// gone has a set remember of a version that the cluster gone was deselected with a failure.
func gone(version string) func(*workv1alpha1.ManifestWorkReplicaSet) {
	return func(set *workv1alpha1.ManifestWorkReplicaSet) {
		left := status.DeselectedCluster{Report: status.Report{Cluster: "gone", Status: status.TimeOut, LastTransitionTime: at(-10), Applied: at(-45)}, Group: grouping.Key{}}
		if _, err := (status.Records{"p": {Version: version, Deselected: []status.DeselectedCluster{left}}}).Note(set); err != nil {
			panic(err)
		}
	}
}

// A cluster of two placements belongs to the first, and one that moved keeps its work, whatever its label says.
func TestWorksOfSeveralPlacements(t *testing.T) {
	v3 := writes.VersionOf(versionSpec("v3"))
	second := strings.NewReplacer("p-decision-1", "q-decision-1", "placement: p", "placement: q").Replace(decisionOf("b", "c"))
	dump := documents(thirdVersion(t, 0, nil, "p", "q"), decisionOf("a", "b"), second,
		liveWork{cluster: "a", spec: "v3", stamp: v3, stamped: -5, status: status.Progressing, since: -4}.yaml(t),
		liveWork{cluster: "b", spec: "v3", stamp: v3, stamped: -5, status: status.Succeeded, since: -4, placement: "q"}.yaml(t),
		liveWork{cluster: "c", spec: "v3", stamp: v3, stamped: -5, status: status.Succeeded, since: -4}.yaml(t),
		liveWork{cluster: "gone", spec: "v3", stamp: v3, stamped: -5, status: status.Progressing, since: -4, placement: "q"}.yaml(t))
	got, _ := readNow(t, dump)
	want := []now{
		{Counts: status.Counts{Succeeded: 1, Progressing: 1}, Outcome: "Complete"},
		{Counts: status.Counts{Succeeded: 1, Progressing: 1, Deselected: 1}, Outcome: "Complete"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got, _ := readNow(t, dump, "--placement", "ns/q"); len(got) != 1 {
		t.Errorf("%d rollouts of one placement", len(got))
	}
}
