// SPDX-License-Identifier: Apache-2.0

package plugins_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"
	workv1 "open-cluster-management.io/api/work/v1"

	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/status"

	"github.com/cohort-ocm/cohort/examples/controllers/plugins"
)

var now = time.Date(2026, 1, 2, 10, 0, 0, 0, time.UTC)

// answering is a plugin over HTTP with one fixed answer, and the calls that it got.
func answering(t *testing.T, answer string, code int) (*plugins.Hooks, *[]string) {
	var calls []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var request map[string]any
		if err := json.NewDecoder(r.Body).Decode(&request); err != nil {
			t.Errorf("%s: %v", r.URL.Path, err)
		}
		calls = append(calls, r.URL.Path)
		if request["currentClusterName"] == "hangs" {
			<-r.Context().Done()
			return
		}
		w.WriteHeader(code)
		_, _ = w.Write([]byte(answer))
	}))
	t.Cleanup(server.Close)
	return &plugins.Hooks{Registered: map[string]plugins.Plugin{"web": plugins.HTTP{Endpoint: server.URL + "/"}}, Longest: time.Second}, &calls
}

func workOf(cluster string, conditions ...metav1.Condition) *workv1.ManifestWork {
	work := &workv1.ManifestWork{ObjectMeta: metav1.ObjectMeta{Namespace: cluster, Name: "web", Generation: 1, CreationTimestamp: metav1.NewTime(now.Add(-time.Hour))}}
	status.StampOf(work).NoteOn(work, version, 0, now.Add(-time.Hour))
	for _, c := range conditions {
		c.ObservedGeneration, c.LastTransitionTime = 1, metav1.NewTime(now.Add(-time.Minute))
		work.Status.Conditions = append(work.Status.Conditions, c)
	}
	return work
}

func is(kind string, s metav1.ConditionStatus) metav1.Condition {
	return metav1.Condition{Type: kind, Status: s}
}

func rolloutOf(t *testing.T, plugin string, works ...*workv1.ManifestWork) plugins.Rollout {
	var names []string
	for _, work := range works {
		names = append(names, work.Namespace)
	}
	groups, err := grouping.FromNames(map[grouping.Key][]string{{}: names})
	if err != nil {
		t.Fatal(err)
	}
	set := &metav1.ObjectMeta{Namespace: "apps", Name: "web", Annotations: map[string]string{plugins.AnnotationPlugin: plugin}}
	return plugins.Rollout{Set: set, Placement: "p", Groups: groups, Works: works, Version: version, Now: now}
}

// The enhancement's table, row by row, with a plugin over HTTP; and invalid answers.
func TestTheTableOfStates(t *testing.T) {
	applied := is(workv1.WorkApplied, "True")
	const yes, no, notYet = `{"result":"SUCCEEDED"}`, `{"result":"FAILED","message":"500"}`, `{"result":"INPROGRESS","message":"3 of 9"}`
	for _, row := range []struct {
		progressing, degraded metav1.ConditionStatus
		answer                string
		code                  int
		want                  status.RolloutStatus
		message               string
		asked                 bool
	}{
		{"True", "True", yes, 200, status.Failed, "", false},
		{"True", "False", yes, 200, status.Progressing, "", false},
		{"True", "", no, 200, status.Progressing, "", false},
		{"False", "False", notYet, 200, status.Validating, "3 of 9", true},
		{"False", "", notYet, 200, status.Validating, "3 of 9", true},
		{"False", "False", no, 200, status.Failed, "500", true},
		{"False", "", yes, 200, status.Succeeded, "", true},
		{"Unknown", "False", yes, 200, status.Progressing, "", false},
		{"", "", yes, 200, status.ToApply, "", false}, // in flight since it was applied
		// An invalid answer leaves the cluster as it is, with the error.
		{"False", "", "oops", 500, status.Validating, "ValidateRolloutCompletion: 500 Internal Server Error: oops", true},
		{"False", "", "oops", 200, status.Validating, "ValidateRolloutCompletion: the answer must be JSON: invalid character 'o' looking for beginning of value", true},
		{"False", "", `{"result":"YES"}`, 200, status.Validating, `ValidateRolloutCompletion: "YES" must be SUCCEEDED, FAILED or INPROGRESS`, true},
		{"False", "", `{"result":"SUCCEEDED","manifestRevisionName":"yesterday"}`, 200, status.Validating, `ValidateRolloutCompletion: an answer about "yesterday" was given, and "today" was asked about`, true},
		{"False", "", `{"result":"SUCCEEDED","manifestRevisionName":"today","attempt":0}`, 200, status.Succeeded, "", true},
		{"False", "", `{"result":"SUCCEEDED","attempt":1}`, 200, status.Validating, `ValidateRolloutCompletion: an answer about "" was given, and "today" was asked about`, true},
	} {
		conditions := []metav1.Condition{applied}
		if row.progressing != "" {
			conditions = append(conditions, is(workv1.WorkProgressing, row.progressing))
		}
		if row.degraded != "" {
			conditions = append(conditions, is(workv1.WorkDegraded, row.degraded))
		}
		hooks, calls := answering(t, row.answer, row.code)
		work := workOf("a", conditions...)
		report, _ := status.FromManifestWork(status.WorkState{Work: work, Version: version})
		var saved []*workv1.ManifestWork
		save := func(w *workv1.ManifestWork) error { saved = append(saved, w); return nil }
		judged, _, err := hooks.Judge(context.Background(), rolloutOf(t, "web", work), []status.Report{report}, nil, save)
		if err != nil {
			t.Fatal(err)
		}
		if got := judged[0]; got.Status != row.want || got.Message != row.message || (len(*calls) > 0) != row.asked {
			t.Errorf("%s, %s, %s: %s %q, calls %v", row.progressing, row.degraded, row.answer, got.Status, got.Message, *calls)
		}
		final := row.asked && (row.want == status.Failed || row.want == status.Succeeded)
		if (len(saved) > 0) != final {
			t.Errorf("%s, %s, %s: saved %d", row.progressing, row.degraded, row.answer, len(saved))
		}
		if !final {
			continue
		}
		// The verdict survives a restart, and there is no further call.
		report, _ = status.FromManifestWork(status.WorkState{Work: saved[0], Version: version})
		again, _, err := hooks.Judge(context.Background(), rolloutOf(t, "web", saved[0]), []status.Report{report}, nil, save)
		if err != nil || again[0].Status != row.want || len(*calls) != 1 || len(saved) != 1 {
			t.Errorf("%s: again %v, %v, calls %v, saved %d", row.answer, again, err, *calls, len(saved))
		}
	}
}

// The other calls: a cluster's work is prepared and mutated, and keeps what belongs to the controller.
func TestAClusterIsPrepared(t *testing.T) {
	hooks, calls := answering(t, `{"manifestWork":{"metadata":{"namespace":"a","name":"web","labels":{"owner":"mallory","traffic":"10"},`+
		`"annotations":{"cohort.open-cluster-management.io/version":"forged","note":"n"}},"spec":{"deleteOption":{"propagationPolicy":"Orphan"}}}}`, 200)
	r := rolloutOf(t, "web", workOf("a"))
	r.Works = nil
	result, err := rollout.Plan(clusterv1alpha1.RolloutStrategy{}, r.Groups, nil, now, rollout.Options{})
	if err != nil {
		t.Fatal(err)
	}
	wanted := &workv1.ManifestWork{ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: "web", Labels: map[string]string{"owner": "web"}}}
	got, err := hooks.Prepare(context.Background(), r, result, result.Start[0], wanted)
	if err != nil {
		t.Fatal(err)
	}
	if got.Labels["owner"] != "web" || got.Labels["traffic"] != "10" || got.Annotations["note"] != "n" || got.Annotations["cohort.open-cluster-management.io/version"] != "" ||
		got.Spec.DeleteOption == nil || got.Annotations["cohort.open-cluster-management.io/position"] != `{"index":1,"of":1,"inGroup":1,"ofGroup":1}` {
		t.Errorf("%+v", got)
	}
	if wanted.Labels["traffic"] != "" || wanted.Annotations != nil {
		t.Errorf("the work that was given has changed: %+v", wanted)
	}
	if err := hooks.Progress(context.Background(), r, result); err != nil {
		t.Error(err)
	}
	if want := []string{"/BeginRollout", "/MutateManifestWork", "/ProgressRollout"}; !slices.Equal(*calls, want) {
		t.Errorf("called %v, want %v", *calls, want)
	}

	wanted.Name = "other"
	if _, err := hooks.Prepare(context.Background(), r, result, result.Start[0], wanted); err == nil || err.Error() != "MutateManifestWork: the work is a/web, and must be a/other" {
		t.Errorf("another name: %v", err)
	}
	r.Set.SetAnnotations(map[string]string{plugins.AnnotationPlugin: "ghost"})
	if _, err := hooks.Prepare(context.Background(), r, result, result.Start[0], wanted); err == nil || err.Error() != "ghost plugin is not registered; there are [web]" {
		t.Errorf("a plugin that is not there: %v", err)
	}
	r.Set.SetAnnotations(nil)
	if same, err := hooks.Prepare(context.Background(), r, result, result.Start[0], wanted); same != wanted || err != nil || len(*calls) != 5 {
		t.Errorf("without a plugin: %v, %v, calls %v", same, err, *calls)
	}
}

// Requests have the enhancement's names: for each cluster its status and its revision, even for a removed one.
func TestWhatAPluginIsTold(t *testing.T) {
	done := []metav1.Condition{is(workv1.WorkApplied, "True"), is(workv1.WorkProgressing, "False")}
	old := workOf("old", done...)
	old.Annotations = nil
	status.StampOf(old).NoteOn(old, "yesterday", 0, now.Add(-time.Hour))
	r := rolloutOf(t, "web", workOf("a", done...), workOf("b", is(workv1.WorkApplied, "True"), is(workv1.WorkProgressing, "True")), workOf("c", is(workv1.WorkApplied, "True"), is(workv1.WorkProgressing, "True"), is(workv1.WorkDegraded, "True")))
	r.Works = append(r.Works, old)
	var reports []status.Report
	for _, work := range r.Works {
		report, _ := status.FromManifestWork(status.WorkState{Work: work, Version: version, Now: now})
		reports = append(reports, report)
	}
	strategy := clusterv1alpha1.RolloutStrategy{Type: clusterv1alpha1.All, All: &clusterv1alpha1.RolloutAll{RolloutConfig: clusterv1alpha1.RolloutConfig{ProgressDeadline: "90s"}}}
	reports[2].LastTransitionTime, reports[2].Applied = now.Add(-time.Hour), now.Add(-time.Hour)
	reports[1].LastTransitionTime, reports[1].Applied = now, now
	result, err := rollout.Plan(strategy, r.Groups, reports, now, rollout.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var told map[string]any
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if err := json.NewDecoder(r.Body).Decode(&told); err != nil {
			t.Error(err)
		}
	}))
	t.Cleanup(server.Close)
	hooks := &plugins.Hooks{Registered: map[string]plugins.Plugin{"web": plugins.HTTP{Endpoint: server.URL}}}
	if err := hooks.Progress(context.Background(), r, result); err != nil {
		t.Fatal(err)
	}
	of := func(cluster string, is status.RolloutStatus, revision string) []any {
		return []any{map[string]any{"clusterName": cluster, "rolloutStatus": string(is), "manifestRevisionName": revision}}
	}
	want := map[string]any{
		"mwrsName": "web", "mwrsNamespace": "apps", "placementName": "p", "totalClusterCount": 3.0, "manifestRevisionName": "today",
		"rolloutStatus": map[string]any{
			"completedClusters": of("a", status.Succeeded, "today"), "progressingClusters": of("b", status.Progressing, "today"),
			"timedOutClusters": of("c", status.TimeOut, "today"), "removedClusters": of("old", status.Succeeded, "yesterday"),
		},
	}
	if diff := cmp.Diff(want, told); diff != "" {
		t.Errorf("(-want +told)\n%s", diff)
	}
}

// A plugin that hangs costs one bound in a reconcile, not one for each cluster.
func TestAPluginThatHangsIsAskedOnce(t *testing.T) {
	hooks, calls := answering(t, "", 200)
	hooks.Longest = 20 * time.Millisecond
	r := rolloutOf(t, "web", workOf("hangs"), workOf("b"))
	r.Works = nil
	result, err := rollout.Plan(clusterv1alpha1.RolloutStrategy{}, r.Groups, nil, now, rollout.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"context deadline exceeded", "did not answer in time for another cluster"} {
		c := rollout.Cluster{Name: []string{"hangs", "b"}[i]}
		if _, err := hooks.Prepare(context.Background(), r, result, c, workOf(c.Name)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", c.Name, err)
		}
	}
	if len(*calls) != 1 {
		t.Errorf("calls %v", *calls)
	}
}

// The conditions of the enhancement.
func TestPluginLoaded(t *testing.T) {
	var conditions []metav1.Condition
	for _, step := range []struct {
		plugin string
		code   int
		want   string
	}{
		{"web", 200, "True Available web plugin is available."},
		{"ghost", 200, "False Failed Initialize fails: ghost plugin is not registered; there are [web]"},
		{"web", 503, "False Failed Initialize fails: Initialize: 503 Service Unavailable: "},
		{"", 200, ""},
	} {
		hooks, _ := answering(t, "", step.code)
		r := rolloutOf(t, step.plugin, workOf("a"))
		if !hooks.SetLoaded(context.Background(), r.Set, &conditions, now) {
			t.Errorf("%s: nothing changed", step.plugin)
		}
		got := ""
		for _, c := range conditions {
			got = string(c.Status) + " " + c.Reason + " " + c.Message
		}
		if got != step.want {
			t.Errorf("%s: %q, want %q", step.plugin, got, step.want)
		}
		if hooks.SetLoaded(context.Background(), r.Set, &conditions, now.Add(time.Hour)) {
			t.Errorf("%s: set again, and changed: %v", step.plugin, conditions)
		}
	}
}
