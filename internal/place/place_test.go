// SPDX-License-Identifier: Apache-2.0

package place_test

import (
	"testing"

	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	"github.com/cohort-ocm/cohort/internal/place"
)

// G6: a place counts beside the labels that it was written with.
func TestRead(t *testing.T) {
	for _, test := range []struct {
		index, name, annotation string
		want                    int // -1 for none
	}{
		{"5", "canary", "2 of 5/canary", 2},
		{"5", "", "0 of 5/", 0},
		{"x", "canary", "2 of 5/canary", 2}, // a label that is no index is repaired
		{"", "canary", "2 of 5/canary", 2},  // one that is gone, too
		{"", "", "0 of /", 0},               // there was none
		{"", "", "1 of /", -1},
		{"5", "canary", "5 of 5/canary", 5},
		{"5", "canary", "6 of 5/canary", -1}, // five groups are before it, at most
		{"5", "canary", "2000000000 of 5/canary", -1},
		{"6", "canary", "2 of 5/canary", -1}, // another index
		{"5", "eu", "2 of 5/canary", -1},     // another name
		{"x", "eu", "2 of 5/canary", -1},
		{"5", "canary", "-1 of 5/canary", -1},
		{"5", "canary", "99999999999 of 5/canary", -1},
		{"5", "canary", "5/canary", -1},
		{"5", "canary", "", -1},
	} {
		labels := map[string]string{clusterv1beta1.DecisionGroupIndexLabel: test.index, clusterv1beta1.DecisionGroupNameLabel: test.name}
		got, ok := place.Read(labels, map[string]string{place.Annotation: test.annotation})
		if ok != (test.want >= 0) || ok && got != test.want {
			t.Errorf("%q beside %s/%s: %d, %v, want %d", test.annotation, test.index, test.name, got, ok, test.want)
		}
		if number, ok := place.Read(labels, map[string]string{place.Annotation: place.Of(0, labels)}); !ok || number != 0 {
			t.Errorf("0 beside %s/%s is read as %d, %v", test.index, test.name, number, ok)
		}
	}
	if _, ok := place.Read(nil, nil); ok {
		t.Error("a place where there is no annotation")
	}
}
