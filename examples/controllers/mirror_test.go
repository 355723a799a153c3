// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"maps"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// sigDefinitions is the directory of SIG Multicluster's definitions: in the module that examples/inventory requires.
func sigDefinitions(t *testing.T) string {
	t.Helper()
	out, err := exec.Command("go", "list", "-C", "../inventory", "-m", "-f", "{{.Dir}}", "sigs.k8s.io/cluster-inventory-api").Output()
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Join(strings.TrimSpace(string(out)), "config/crd/bases")
}

// copied starts the mirror, and watches its slices like the PlacementDecisions.
func (f *fleet) copied() {
	list := &unstructured.UnstructuredList{}
	list.SetAPIVersion("multicluster.x-k8s.io/v1alpha1")
	list.SetKind("PlacementDecisionList")
	w, err := f.Watch(f.t.Context(), list)
	f.must(err)
	var done sync.WaitGroup
	f.t.Cleanup(func() { w.Stop(); done.Wait() })
	done.Go(func() {
		for event := range w.ResultChan() {
			slice, ok := event.Object.(*unstructured.Unstructured)
			if !ok {
				continue
			}
			var clusters []string
			decisions, _, _ := unstructured.NestedSlice(slice.Object, "decisions")
			for _, d := range decisions {
				name, _, _ := unstructured.NestedString(d.(map[string]any), "clusterProfileRef", "name")
				clusters = append(clusters, name)
			}
			f.saw(&f.slices, event.Type, slice.GetName(), clusters)
		}
	})
	f.mirror = func() *exec.Cmd {
		return run(f.t, program(f.t, "mirror"), "-kubeconfig", f.kubeconfig, "-metrics-bind-address", "0")
	}
	f.copier = f.mirror()
}

// mirrored waits until the slices have the clusters of the fleet, and reports clusters that were absent.
func (f *fleet) mirrored() {
	f.t.Helper()
	for end := time.Now().Add(patience); ; time.Sleep(50 * time.Millisecond) {
		f.mu.Lock()
		shown, wanted := len(f.slices.selected()), len(f.wanted)
		absent := slices.Sorted(maps.Keys(f.slices.absent))
		f.mu.Unlock()
		if len(absent) > 0 {
			f.t.Fatalf("clusters that stay were in no slice: %v", absent)
		}
		if shown == wanted {
			return
		}
		if time.Now().After(end) {
			f.t.Fatalf("not within %v: the slices have %d clusters, want %d", patience, shown, wanted)
		}
	}
}
