// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"encoding/json"
	"fmt"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	workv1 "open-cluster-management.io/api/work/v1"
	workv1alpha1 "open-cluster-management.io/api/work/v1alpha1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cohort-ocm/cohort/examples/controllers/rollback"
)

// TestWorksRollback runs the program works with -rollback, and the commands of the page of package rollback: a rollback on
// two placements while the program is killed, and an undo.
func TestWorksRollback(t *testing.T) {
	t.Parallel()
	kubeconfig := filepath.Join(t.TempDir(), "hub.kubeconfig")
	run(t, program(t, "apiserver"), "-kubeconfig", kubeconfig)
	h := connect(t, kubeconfig)
	h.must(appsv1.AddToScheme(h.Scheme()))
	start := func() *exec.Cmd {
		return run(t, program(t, "works"), "-rollback", "-kubeconfig", kubeconfig, "-metrics-bind-address", "0")
	}
	works := start()
	h.limits = map[string]int{"prod": 4, "test": 1}
	h.place("prod", names("prod", 12)...)
	h.place("test", names("test", 5)...)
	h.create(`{"text":"one"}`)
	h.until("the first revision is the current one", func() bool { r := h.revisions(); return h.done(17) && r.CurrentRevision == r.UpdateRevision })
	first := h.revisions().CurrentRevision

	h.change(`{"text":"two"}`)
	h.until("some have the second revision", func() bool { return h.updated() >= 6 })
	second := h.revisions().UpdateRevision
	h.limits = map[string]int{"prod": 12, "test": 5} // a rollback is done at once
	h.patch(map[string]any{"metadata": map[string]any{"annotations": map[string]string{rollback.AbortAnnotation: h.generation()}}})
	h.until("it is rolled back", func() bool { return h.revisions().AbortedTime != nil })
	works.Process.Kill()
	works.Wait()
	start()
	h.until("all went back", func() bool { return h.says(rollback.ReasonRolloutAborted, rollback.ReasonRolloutDegraded) })
	if r := h.revisions(); r.CurrentRevision != first || r.UpdateRevision != second {
		t.Errorf("the revisions are %v, want %s and %s", r, first, second)
	}
	for i := range h.works {
		if work := &h.works[i]; string(work.Spec.Workload.Manifests[0].Raw) != string(h.revision(first).Workload.Manifests[0].Raw) || work.Labels[rollback.HashLabel] != first {
			t.Errorf("%s has %s, and the label %s", work.Namespace, work.Spec.Workload.Manifests[0].Raw, work.Labels[rollback.HashLabel])
		}
	}

	h.change(`{"text":"three"}`)
	h.until("the third revision is the current one", func() bool { return h.says(rollback.ReasonNewManifestWorkAvailable, "Complete") && h.done(17) })
	undo, err := json.Marshal(h.revision(second))
	h.must(err)
	h.patch(map[string]any{"spec": map[string]any{"manifestWorkTemplate": json.RawMessage(undo)}})
	h.until("the second one is found, and rolled out", func() bool { return h.revisions().CurrentRevision == second && h.done(17) })
}

// generation is the set's.
func (h *hub) generation() string {
	o, err := h.set()
	h.must(err)
	return strconv.FormatInt(o.Generation, 10)
}

// patch patches the set, as kubectl does.
func (h *hub) patch(content any) {
	h.t.Helper()
	text, err := json.Marshal(content)
	h.must(err)
	o := &workv1alpha1.ManifestWorkReplicaSet{ObjectMeta: metav1.ObjectMeta{Namespace: set.Namespace, Name: set.Name}}
	h.must(h.Patch(h.t.Context(), o, client.RawPatch(types.MergePatchType, text)))
}

// revisions reads the fields of the set's status that the API's Go type lacks.
func (h *hub) revisions() rollback.ManifestWorkReplicaSetStatus {
	h.t.Helper()
	o := &unstructured.Unstructured{}
	o.SetAPIVersion(workv1alpha1.GroupVersion.String())
	o.SetKind("ManifestWorkReplicaSet")
	h.must(h.Get(h.t.Context(), set, o))
	text, err := o.MarshalJSON()
	h.must(err)
	var read rollback.ManifestWorkReplicaSet
	h.must(json.Unmarshal(text, &read))
	return read.Status
}

func (h *hub) says(progressing, rolledOut string) bool {
	status := h.revisions()
	p := meta.FindStatusCondition(status.Conditions, rollback.ConditionProgressing)
	r := meta.FindStatusCondition(status.Conditions, workv1alpha1.ManifestWorkReplicaSetConditionPlacementRolledOut)
	return p != nil && r != nil && p.Reason == progressing && r.Reason == rolledOut
}

// revision is the template in a ControllerRevision.
func (h *hub) revision(hash string) (template workv1.ManifestWorkSpec) {
	h.t.Helper()
	var r appsv1.ControllerRevision
	h.must(h.Get(h.t.Context(), client.ObjectKey{Namespace: set.Namespace, Name: fmt.Sprintf("%s-%s", set.Name, hash)}, &r))
	var data struct {
		Spec struct {
			ManifestWorkTemplate workv1.ManifestWorkSpec `json:"manifestWorkTemplate"`
		} `json:"spec"`
	}
	h.must(json.Unmarshal(r.Data.Raw, &data))
	return data.Spec.ManifestWorkTemplate
}
