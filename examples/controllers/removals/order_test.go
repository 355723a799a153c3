// SPDX-License-Identifier: Apache-2.0

package removals

import (
	"fmt"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	workv1alpha1 "open-cluster-management.io/api/work/v1alpha1"
)

// The annotation overrides the flag. Without an Order the annotation has no effect.
func TestHowManyMayGo(t *testing.T) {
	for _, test := range []struct {
		why, flag, annotation string // no annotation where it is "-"
		none                  bool   // a controller without the flag
		want                  int
		err                   string
	}{
		{why: "the default", flag: "0", annotation: "-"},
		{why: "the flag", flag: "5", annotation: "-", want: 5},
		{why: "the set says more", flag: "5", annotation: "7", want: 7},
		{why: "the set says all at once", flag: "5", annotation: "0"},
		{why: "the set alone says", flag: "0", annotation: "2", want: 2},
		{why: "unreadable", flag: "5", annotation: "few", err: `"few": must be how many`},
		{why: "less than none", flag: "5", annotation: "-2", err: `"-2": must be how many`},
		{why: "an empty one", flag: "5", annotation: "", err: `"": must be how many`},
		{why: "a controller that has no order", none: true, annotation: "few"},
	} {
		var o *Order
		if !test.none {
			if o = new(Order); o.set(test.flag) != nil {
				t.Fatalf("%s: the flag is refused", test.why)
			}
		}
		set := &workv1alpha1.ManifestWorkReplicaSet{}
		if test.annotation != "-" {
			set.ObjectMeta = metav1.ObjectMeta{Annotations: map[string]string{Annotation: test.annotation}}
		}
		got, err := o.of(set)
		if got != test.want || (err != nil) != (test.err != "") || err != nil && !strings.Contains(err.Error(), test.err) {
			t.Errorf("%s: %d, %v, want %d, %q", test.why, got, err, test.want, test.err)
		}
		if in := o.InOrder(set); in != (test.want > 0 || test.err != "") {
			t.Errorf("%s: in order: %v", test.why, in)
		}
	}
	for _, wrong := range []string{"", "-1", "all", "10%", "1.5"} {
		if err := new(Order).set(wrong); err == nil || !strings.Contains(err.Error(), "0 for all at once") {
			t.Errorf("the flag %q: %v", wrong, err)
		}
	}
}

// A message names some clusters of a wave, and counts the others.
func TestListed(t *testing.T) {
	var clusters []string
	for i := range 23 {
		clusters = append(clusters, fmt.Sprintf("c%02d", 22-i))
	}
	if got := listed(clusters); !strings.HasPrefix(got, "c00, c01, ") || !strings.HasSuffix(got, ", c19 and 3 more") {
		t.Error(got)
	}
	if got := listed(clusters[:20]); strings.Contains(got, "more") {
		t.Error(got)
	}
}
