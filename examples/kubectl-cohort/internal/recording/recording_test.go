// SPDX-License-Identifier: Apache-2.0

package recording_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/cohort-ocm/cohort/examples/internal/manifest"
	"github.com/cohort-ocm/cohort/examples/kubectl-cohort/internal/recording"
)

func object(name string, value int) manifest.Object {
	return manifest.Object{Unstructured: unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "Thing", "metadata": map[string]any{"name": name}, "value": int64(value)}}}
}

// Each gives at each reading what At gives for its time. What did not change keeps its content by identity, and what did has
// another.
func TestEachGivesWhatAtGives(t *testing.T) {
	luck := rand.New(rand.NewPCG(1, 2))
	begin := time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC)
	var file bytes.Buffer
	w := recording.NewWriter(&file)
	values := make(map[string]int)
	for minute := range 60 {
		for range luck.IntN(3) {
			if name := fmt.Sprintf("thing-%d", luck.IntN(6)); luck.IntN(3) == 0 {
				delete(values, name)
			} else {
				values[name]++
			}
		}
		var all []manifest.Object
		for name, value := range values {
			all = append(all, object(name, value))
		}
		if _, err := w.Add(begin.Add(time.Duration(minute)*time.Minute), all); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	r, err := recording.Read("a", &file)
	if err != nil {
		t.Fatal(err)
	}
	contents := func(all []manifest.Object) map[string]any {
		of := make(map[string]any)
		for _, o := range all {
			of[o.GetName()] = o.Object
		}
		return of
	}
	var now []manifest.Object
	kept, replaced, unchanged := 0, 0, 0
	err = r.Each(manifest.Reader{}, func(at time.Time, changed bool, objects []manifest.Object) error {
		before := contents(now)
		if changed {
			now = objects
		} else if unchanged++; objects != nil {
			t.Errorf("%v: objects though none changed", at)
		}
		want, err := r.At(at, manifest.Reader{})
		if err != nil {
			return err
		}
		if diff := cmp.Diff(contents(want), contents(now)); diff != "" {
			t.Errorf("%v (-at +each):\n%s", at, diff)
		}
		for name, content := range contents(now) {
			was, found := before[name]
			same := found && reflect.ValueOf(was).Pointer() == reflect.ValueOf(content).Pointer()
			if equal := found && reflect.DeepEqual(was, content); same != equal {
				t.Errorf("%v: %s: the same content %v, by identity %v", at, name, equal, same)
			}
			if same {
				kept++
			} else if found {
				replaced++
			}
		}
		return nil
	})
	if err != nil || kept == 0 || replaced == 0 || unchanged == 0 {
		t.Errorf("%v: %d kept, %d replaced, %d readings without a change: want some of each", err, kept, replaced, unchanged)
	}
}
