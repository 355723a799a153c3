// SPDX-License-Identifier: Apache-2.0

package apiserver_test

import (
	"fmt"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/rest"
	workclient "open-cluster-management.io/api/client/work/clientset/versioned"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"
	workv1 "open-cluster-management.io/api/work/v1"

	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/status"
)

// S1: the works are those that an API server has after a controller without stamps rolled them out halfway: it wrote them with
// one template and some with another, labelled them, and the agents reported. The controller with stamps that takes over
// starts no cluster that has the template, writes none that is settled, and lets soaks go on.
func TestTheDayOfTheSwitch(t *testing.T) {
	const total, updated = 20, 8
	spec := func(text string) workv1.ManifestWorkSpec {
		raw := fmt.Sprintf(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"x","namespace":"default"},"data":{"text":%q}}`, text)
		return workv1.ManifestWorkSpec{Workload: workv1.ManifestsTemplate{Manifests: []workv1.Manifest{{RawExtension: runtime.RawExtension{Raw: []byte(raw)}}}}}
	}
	as := func(manager string) workclient.Interface {
		config := rest.CopyConfig(server.Config)
		config.UserAgent = manager
		return workclient.NewForConfigOrDie(config)
	}
	old, agent := as("old").WorkV1(), as("agent").WorkV1()
	must := func(work *workv1.ManifestWork, err error) *workv1.ManifestWork {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return work
	}
	var works []*workv1.ManifestWork
	var names []string
	for i := range total {
		names = append(names, fmt.Sprintf("switch-%02d", i))
		api := old.ManifestWorks(names[i])
		work := must(api.Create(t.Context(), &workv1.ManifestWork{ObjectMeta: metav1.ObjectMeta{Name: "web"}, Spec: spec("one")}, metav1.CreateOptions{}))
		if i < updated {
			work.Spec = spec("two")
			work = must(api.Update(t.Context(), work, metav1.UpdateOptions{}))
		}
		for conditionType, is := range map[string]metav1.ConditionStatus{workv1.WorkApplied: metav1.ConditionTrue, workv1.WorkProgressing: metav1.ConditionFalse} {
			work.Status.Conditions = append(work.Status.Conditions, metav1.Condition{Type: conditionType, Status: is, Reason: "It", ObservedGeneration: work.Generation, LastTransitionTime: metav1.Now()})
		}
		works = append(works, must(agent.ManifestWorks(names[i]).UpdateStatus(t.Context(), work, metav1.UpdateOptions{})))
	}
	groups, err := grouping.FromNames(map[grouping.Key][]string{{}: names})
	if err != nil {
		t.Fatal(err)
	}
	strategy := clusterv1alpha1.RolloutStrategy{Type: clusterv1alpha1.Progressive, Progressive: &clusterv1alpha1.RolloutProgressive{
		RolloutConfig: clusterv1alpha1.RolloutConfig{MinSuccessTime: metav1.Duration{Duration: time.Minute}}, MaxConcurrency: intstr.FromInt32(updated + 2),
	}}
	plan := func(works []*workv1.ManifestWork, now time.Time) *rollout.Result {
		t.Helper()
		var reports []status.Report
		for _, work := range works {
			report, _ := status.FromManifestWork(status.WorkState{Work: status.Adopt(work, spec("two"), "v2"), Version: "v2"})
			reports = append(reports, report)
		}
		result, err := rollout.Plan(strategy, groups, reports, now, rollout.Options{})
		if err != nil {
			t.Fatal(err)
		}
		return result
	}
	now := time.Now()
	if result := plan(works, now); len(result.InFlight) != updated || len(result.Start) != 2 || result.Start[0].Name != names[updated] {
		t.Fatalf("while those soak that have the template, in flight are %v, and %v start", result.InFlight, result.Start)
	}

	// Those that soak are written, as the snippet does, and their soak does not begin anew.
	for i, work := range works[:updated] {
		work = status.Adopt(work, spec("two"), "v2").DeepCopy()
		status.StampOf(work).NoteOn(work, "v2", 0, now.Add(50*time.Second))
		works[i] = must(as("new").WorkV1().ManifestWorks(work.Namespace).Update(t.Context(), work, metav1.UpdateOptions{}))
	}
	if result := plan(works, now.Add(61*time.Second)); len(result.InFlight) != 0 || len(result.Start) != updated+2 {
		t.Errorf("after their soak, in flight are %v, and %v start", result.InFlight, result.Start)
	}
	if result := plan(works[:updated], now.Add(time.Hour)); result.Summary().Counts.Succeeded != updated {
		t.Errorf("an hour later: %v", result.Summary())
	}
}
