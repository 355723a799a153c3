// SPDX-License-Identifier: Apache-2.0

package kit

import (
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	workv1 "open-cluster-management.io/api/work/v1"
	workv1alpha1 "open-cluster-management.io/api/work/v1alpha1"
)

func setNamed(namespace, name string) *workv1alpha1.ManifestWorkReplicaSet {
	return &workv1alpha1.ManifestWorkReplicaSet{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, Generation: 3}}
}

// A label has at most 63 characters. A set whose label fits is found by it, and another one is refused with a helpful
// message.
func TestOwnersWithLongNames(t *testing.T) {
	x := func(n int) string { return strings.Repeat("x", n) }
	for _, test := range []struct {
		why, namespace, name string
		fits                 bool
	}{
		{"short", "apps", "web", true},
		{"exactly 63 with the dot", x(31), x(31), true},
		{"64 with the dot", x(31), x(32), false},
		{"a namespace of 63, which is the most", x(63), "w", false},
		{"a namespace of 61 leaves room for one", x(61), "w", true},
		{"a name of 253, which is the most", "a", x(253), false},
		{"a name with dots", "apps", "web.v1.example", true},
		{"a long name with dots", "apps", x(30) + "." + x(30), false},
	} {
		set := setNamed(test.namespace, test.name)
		value := test.namespace + "." + test.name
		err := ValidateOwner(set)
		if fits := err == nil; fits != test.fits || OwnerValue(set) != value {
			t.Errorf("%s: fits is %v (%v), the value %q", test.why, fits, err, OwnerValue(set))
		}
		selectors := OwnerSelectors(set)
		for _, text := range selectors {
			if _, err := labels.Parse(text); err != nil {
				t.Errorf("%s: cannot select by %q: %v", test.why, text, err)
			}
		}
		if test.fits {
			work := &workv1.ManifestWork{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{OwnerLabel: value}}}
			owner, ok := OwnerOf(work)
			if !ok || owner.Namespace != test.namespace || owner.Name != test.name {
				t.Errorf("%s: its work is %v's, %v", test.why, owner, ok)
			}
			continue
		}
		if len(selectors) != 1 || !strings.Contains(err.Error(), "no more than 63") || !strings.Contains(err.Error(), value) {
			t.Errorf("%s: %v; it is looked for by %q", test.why, err, selectors)
		}
		now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
		if !SetInvalidOwner(set, err, now) || SetInvalidOwner(set, err, now.Add(time.Hour)) {
			t.Errorf("%s: the condition is not new once", test.why)
		}
		c := meta.FindStatusCondition(set.Status.Conditions, "ManifestworkApplied")
		if c == nil || c.Status != metav1.ConditionFalse || c.Reason != "InvalidManifestWorkName" || c.Message != err.Error() ||
			c.ObservedGeneration != 3 || !c.LastTransitionTime.Time.Equal(now) {
			t.Errorf("%s: the condition is %+v", test.why, c)
		}
	}
}

// A work is found by the label that OCM writes today, and by the two that ocm#1684 writes, and is selected once.
func TestOwnerOf(t *testing.T) {
	const other = "vendor.example.com/label"
	hash := "0123456789abcdef0123456789abcdef"
	long := strings.Repeat("x", 60)
	for _, test := range []struct {
		why         string
		labels      map[string]string
		annotations map[string]string
		want        string // namespace/name
	}{
		{"today", map[string]string{OwnerLabel: "apps.web"}, nil, "apps/web"},
		{"with all three", map[string]string{OwnerLabel: "apps.web", ownerHashLabel: hash}, map[string]string{ownerAnnotation: "apps/web"}, "apps/web"},
		{"too long for the label", map[string]string{ownerHashLabel: hash}, map[string]string{ownerAnnotation: "apps/" + long}, "apps/" + long},
		{"a name with a dot", map[string]string{OwnerLabel: "apps.web.v1"}, nil, "apps/web.v1"},
		{"the same in the annotation", map[string]string{ownerHashLabel: hash}, map[string]string{ownerAnnotation: "apps/web.v1"}, "apps/web.v1"},
		{"only the annotation, by which no selector selects", nil, map[string]string{ownerAnnotation: "apps/web"}, ""},
		{"the hash alone", map[string]string{ownerHashLabel: hash}, nil, ""},
		{"half a label", map[string]string{OwnerLabel: "web"}, nil, ""},
		{"half a label beside the others", map[string]string{OwnerLabel: "web", ownerHashLabel: hash}, map[string]string{ownerAnnotation: "apps/web"}, ""},
		{"an empty label", map[string]string{OwnerLabel: ""}, nil, ""},
		{"no name", map[string]string{OwnerLabel: "apps."}, nil, ""},
		{"another owner's", map[string]string{other: "apps.web"}, nil, ""},
	} {
		work := &workv1.ManifestWork{ObjectMeta: metav1.ObjectMeta{Labels: test.labels, Annotations: test.annotations}}
		owner, ok := OwnerOf(work)
		if ok != (test.want != "") || ok && owner.String() != test.want {
			t.Errorf("%s: it is %v's, %v", test.why, owner, ok)
		}
		if !ok {
			continue
		}
		for _, of := range []*workv1alpha1.ManifestWorkReplicaSet{nil, setNamed(owner.Namespace, owner.Name)} {
			selected := slices.DeleteFunc(OwnerSelectors(of), func(text string) bool {
				selector, err := labels.Parse(text)
				return err != nil || !selector.Matches(labels.Set(test.labels))
			})
			if len(selected) != 1 {
				t.Errorf("%s: it is selected by %q of %v", test.why, selected, of)
			}
		}
	}
}
