// SPDX-License-Identifier: Apache-2.0

package trial

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	workv1 "open-cluster-management.io/api/work/v1"

	"github.com/cohort-ocm/cohort/status"
)

// S1: what status takes for granted of a work's managed fields, which Kubernetes' own code writes, and what it reads from them. The
// newest entry without a subresource that owns f:spec has the time at which the spec was written. An update that does
// not change the spec does not move it, nor does the agent's status or its finalizer.
func TestManagedFieldsSayWhenTheSpecWasWritten(t *testing.T) {
	theHub.play(t, &world{seed: 1}, managedFieldsSayWhenTheSpecWasWritten)
}

func managedFieldsSayWhenTheSpecWasWritten(t *testing.T, at *site) {
	ctx := t.Context()
	controller, other, agent := at.clients("controller"), at.clients("another"), at.clients("agent")
	const cluster = "managed-fields"
	spec := func(version int) workv1.ManifestWorkSpec {
		text := fmt.Sprintf(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"namespace":"default","name":"web"},"data":{"version":"v%d"}}`, version)
		return workv1.ManifestWorkSpec{Workload: workv1.ManifestsTemplate{Manifests: []workv1.Manifest{{RawExtension: runtime.RawExtension{Raw: []byte(text)}}}}}
	}
	patch := func(c clients, body string, subresource ...string) func() error {
		return func() error {
			_, err := c.work.WorkV1().ManifestWorks(cluster).Patch(ctx, "web", types.MergePatchType, []byte(body), metav1.PatchOptions{}, subresource...)
			return err
		}
	}
	update := func(c clients, change func(*manifestWork)) func() error {
		return func() error {
			work, err := c.work.WorkV1().ManifestWorks(cluster).Get(ctx, "web", metav1.GetOptions{})
			if err != nil {
				return err
			}
			change(work)
			_, err = c.work.WorkV1().ManifestWorks(cluster).Update(ctx, work, metav1.UpdateOptions{})
			return err
		}
	}
	serverSide := func(c clients, manager string, version int) func() error {
		return func() error {
			body, err := json.Marshal(map[string]any{
				"apiVersion": "work.open-cluster-management.io/v1", "kind": "ManifestWork",
				"metadata": map[string]any{"name": "web", "namespace": cluster}, "spec": spec(version),
			})
			if err != nil {
				return err
			}
			force := true
			_, err = c.work.WorkV1().ManifestWorks(cluster).Patch(ctx, "web", types.ApplyPatchType, body, metav1.PatchOptions{FieldManager: manager, Force: &force})
			return err
		}
	}

	var last time.Time
	for _, step := range []struct {
		name  string
		write func() error
		moves bool
	}{
		{"the controller creates it", func() error {
			work := &manifestWork{ObjectMeta: metav1.ObjectMeta{Namespace: cluster, Name: "web"}, Spec: spec(1)}
			_, err := controller.work.WorkV1().ManifestWorks(cluster).Create(ctx, work, metav1.CreateOptions{})
			return err
		}, true},
		{"the agent adds its finalizer", patch(agent, `{"metadata":{"finalizers":["cluster.open-cluster-management.io/manifest-work-cleanup"]}}`), false},
		{"the agent writes the status", patch(agent, `{"status":{"conditions":[{"type":"Applied","status":"True","reason":"R","message":"","lastTransitionTime":"2026-01-01T00:00:00Z"}]}}`, "status"), false},
		{"another labels it", patch(other, `{"metadata":{"labels":{"a":"b"}}}`), false},
		{"the controller updates the spec", update(controller, func(w *manifestWork) { w.Spec = spec(2) }), true},
		{"the agent writes the status again", patch(agent, `{"status":{"conditions":[]}}`, "status"), false},
		{"another updates a label by an update of all", update(other, func(w *manifestWork) { w.Labels["a"] = "c" }), false},
		{"the controller, which owns the spec, labels it", update(controller, func(w *manifestWork) { w.Labels["d"] = "e" }), true},
		{"another updates the spec", update(other, func(w *manifestWork) { w.Spec = spec(3) }), true},
		{"the controller patches the spec", patch(controller, `{"spec":{"deleteOption":{"propagationPolicy":"Orphan"}}}`), true},
		{"the controller applies the spec on the server's side", serverSide(controller, "applier", 4), true},
		{"it applies the same again", serverSide(controller, "applier", 4), false},
	} {
		time.Sleep(1100 * time.Millisecond) // their times have whole seconds
		before := time.Now().Truncate(time.Second)
		if err := step.write(); err != nil {
			t.Fatalf("%s: %v", step.name, err)
		}
		work, err := controller.work.WorkV1().ManifestWorks(cluster).Get(ctx, "web", metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		var newest time.Time
		for _, f := range work.ManagedFields {
			var owns map[string]any
			if f.FieldsV1 != nil {
				if err := json.Unmarshal(f.FieldsV1.Raw, &owns); err != nil {
					t.Fatal(err)
				}
			}
			if _, spec := owns["f:spec"]; spec && f.Subresource == "" && f.Time.After(newest) {
				newest = f.Time.Time
			}
		}
		if moved := !newest.Before(before); moved != step.moves || !moved && !newest.Equal(last) {
			t.Errorf("%s: the newest time of the spec's owners is %v, was %v, now is %v", step.name, newest, last, before)
		}
		last = newest
		report, ok := status.FromManifestWork(status.WorkState{Work: work, Version: "v", Has: "v"})
		want := newest
		if work.Generation == 1 {
			want = work.CreationTimestamp.Time
		}
		if !ok || !report.Applied.Equal(want) {
			t.Errorf("%s: reported as applied %v, want %v", step.name, report.Applied, want)
		}
	}
}
