// SPDX-License-Identifier: Apache-2.0

package writes_test

import (
	"maps"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	addonv1beta1 "open-cluster-management.io/api/addon/v1beta1"
	workv1 "open-cluster-management.io/api/work/v1"

	"github.com/cohort-ocm/cohort/rollout/writes"
	"github.com/cohort-ocm/cohort/status"
)

func content(raw string) workv1.ManifestWorkSpec {
	return workv1.ManifestWorkSpec{Workload: workv1.ManifestsTemplate{Manifests: []workv1.Manifest{{RawExtension: runtime.RawExtension{Raw: []byte(raw)}}}}}
}

func wanted(raw string) *work {
	w := &work{ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: "web", Labels: map[string]string{"of": "web"}}}
	w.Spec = content(raw)
	return w
}

func TestAWorkIsMadeWithAStamp(t *testing.T) {
	made, changed := writes.Work(nil, wanted(`{"a":1}`), "v1", 2, noon)
	stamp := status.StampOf(made)
	if !changed || stamp.Version != "v1" || stamp.Attempt != 2 || !stamp.Applied.Equal(noon) || made.Name != "web" || made.Labels["of"] != "web" || len(made.Spec.Workload.Manifests) != 1 {
		t.Errorf("%v, %+v", changed, made)
	}
}

// W13, W14: what a write changes, and what it leaves to others.
func TestAWorkIsWrittenWhereSomethingChanges(t *testing.T) {
	later := noon.Add(time.Hour)
	for _, c := range []struct {
		reason  string
		change  func(stored, wanted *work)
		version string
		attempt int
		changed bool
		applied time.Time
	}{
		{"nothing", func(*work, *work) {}, "v1", 0, false, noon},
		{"the same JSON with its keys in another order", func(_, w *work) { w.Spec = content(`{ "b":2, "a":1 }`) }, "v1", 0, false, noon},
		{"labels and finalizers of others", func(s, _ *work) { s.Labels["x"], s.Annotations["x"], s.Finalizers = "y", "y", []string{"x"} }, "v1", 0, false, noon},
		{"the version", func(*work, *work) {}, "v2", 0, true, later},
		{"the attempt", func(*work, *work) {}, "v1", 1, true, later},
		{"content that was edited by hand keeps its time", func(s, _ *work) { s.Spec = content(`{"a":2}`) }, "v1", 0, true, noon},
		{"a label", func(s, _ *work) { s.Labels["of"] = "db" }, "v1", 0, true, noon},
		{"a label that is missing", func(s, _ *work) { s.Labels = nil }, "v1", 0, true, noon},
		{"an annotation", func(_, w *work) { w.Annotations = map[string]string{"x": "y"} }, "v1", 0, true, noon},
		{"an answer that is not noted", func(s, _ *work) {
			s.Generation = 1
			for t, is := range map[string]metav1.ConditionStatus{workv1.WorkApplied: "True", workv1.WorkAvailable: "True", workv1.WorkProgressing: "False"} {
				s.Status.Conditions = append(s.Status.Conditions, metav1.Condition{Type: t, Status: is, ObservedGeneration: 1})
			}
		}, "v1", 0, true, noon},
	} {
		stored, _ := writes.Work(nil, wanted(`{"a":1,"b":2}`), "v1", 0, noon)
		stored.ResourceVersion = "7"
		want := wanted(`{"a":1,"b":2}`)
		c.change(stored, want)
		storedBefore, wantBefore := stored.DeepCopy(), want.DeepCopy()
		next, changed := writes.Work(stored, want, c.version, c.attempt, later)
		if changed != c.changed || (next == stored) == c.changed {
			t.Errorf("%s: changed is %v", c.reason, changed)
		}
		stamp := status.StampOf(next)
		if stamp.Version != c.version || stamp.Attempt != c.attempt || !stamp.Applied.Equal(c.applied) {
			t.Errorf("%s: the stamp is %+v", c.reason, stamp)
		}
		if next.Labels["of"] != "web" || next.Labels["x"] != stored.Labels["x"] || next.ResourceVersion != "7" || len(next.Finalizers) != len(stored.Finalizers) {
			t.Errorf("%s: %+v", c.reason, next.ObjectMeta)
		}
		if changed && cmp.Diff(next.Spec, want.Spec) != "" && !strings.Contains(c.reason, "order") {
			t.Errorf("%s: the content is %v", c.reason, next.Spec)
		}
		if !cmp.Equal(stored, storedBefore) || !cmp.Equal(want, wantBefore) {
			t.Errorf("%s: an argument was changed", c.reason)
		}
	}
}

// W13: the content of an add-on is what the function points at.
func TestAnAddOnIsWrittenLikewise(t *testing.T) {
	type addOn = addonv1beta1.ManagedClusterAddOn
	spec := func(a *addOn) *addonv1beta1.ManagedClusterAddOnSpec { return &a.Spec }
	want := &addOn{ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: "logs"}}
	want.Spec.Configs = []addonv1beta1.AddOnConfig{{ConfigReferent: addonv1beta1.ConfigReferent{Name: "new"}}}
	stored := &addOn{ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: "logs", Annotations: map[string]string{"by": "hand"}}}
	next, changed := writes.Object(stored, want, spec, "v1", 0, noon)
	if !changed || next.Spec.Configs[0].Name != "new" || next.Annotations["by"] != "hand" || status.StampOf(next).Version != "v1" {
		t.Errorf("%v, %+v", changed, next)
	}
	answered, changed := writes.Object(next, want, spec, "v1", 0, noon)
	if _, again := writes.Object(answered, want, spec, "v1", 0, noon); !changed || again {
		t.Errorf("the answer is noted: %v, and once more: %v", changed, again)
	}
}

// W14: if the stored content is not valid JSON, the wanted content is written.
func TestContentThatIsNoJSONIsWritten(t *testing.T) {
	type object = addonv1beta1.ManagedClusterAddOn
	numbers := map[*object]*float64{}
	value := func(o *object) *float64 {
		if numbers[o] == nil {
			numbers[o] = new(float64)
		}
		return numbers[o]
	}
	stored, want := &object{}, &object{}
	*value(stored), *value(want) = math.NaN(), 1
	if _, changed := writes.Object(stored, want, value, "v1", 0, noon); !changed {
		t.Error("not written")
	}
}

func TestAnUnchangedWorkIsNotCopied(t *testing.T) {
	stored, _ := writes.Work(nil, wanted(`{"a":1}`), "v1", 0, noon)
	annotations := maps.Clone(stored.Annotations)
	for range 3 {
		if next, _ := writes.Work(stored, wanted(`{"a":1}`), "v1", 0, noon); next != stored || !maps.Equal(next.Annotations, annotations) {
			t.Error("copied")
		}
	}
}

// W15: a version is a text that changes with the content.
func TestAVersionNamesAContent(t *testing.T) {
	first, second := writes.VersionOf(content(`{"a":1}`)), writes.VersionOf(content(`{"a":2}`))
	if first == second || first != writes.VersionOf(content(`{"a":1}`)) || len(first) != 16 {
		t.Error(first, second)
	}
	if got := writes.VersionOf(math.NaN()); got != "" {
		t.Error(got)
	}
}
