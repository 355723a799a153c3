// SPDX-License-Identifier: Apache-2.0

package edited_test

import (
	"reflect"
	"testing"
	"time"

	"github.com/cohort-ocm/cohort/internal/edited"
	"github.com/cohort-ocm/cohort/status"
)

func TestKeep(t *testing.T) {
	noon := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	of := func(version string, minute int, is status.RolloutStatus, clusters ...string) status.Record {
		r := status.Record{Version: version}
		for _, c := range clusters {
			r.Deselected = append(r.Deselected, status.DeselectedCluster{Report: status.Report{Cluster: c, Status: is, Applied: noon.Add(time.Duration(minute) * time.Minute)}})
		}
		return r
	}
	for what, test := range map[string]struct {
		stored  status.Record
		minutes []int // of a and b
	}{
		"an edited one keeps its time":              {of("v1", 0, status.Progressing, "a", "b"), []int{0, 5}},
		"nothing is stored of it":                   {of("v1", 0, status.Progressing, "b"), []int{5, 5}},
		"it was something else, which is no flight": {of("v1", 0, status.TimeOut, "a", "b"), []int{5, 5}},
		"another version":                           {of("v0", 0, status.Progressing, "a", "b"), []int{5, 5}},
	} {
		given := of("v1", 5, status.Progressing, "a", "b")
		got := edited.Keep(given, test.stored, func(cluster string) bool { return cluster == "a" })
		for i, minute := range test.minutes {
			if want := noon.Add(time.Duration(minute) * time.Minute); !got.Deselected[i].Applied.Equal(want) {
				t.Errorf("%s: %s is of %v, want %v", what, got.Deselected[i].Cluster, got.Deselected[i].Applied, want)
			}
		}
		if !reflect.DeepEqual(given, of("v1", 5, status.Progressing, "a", "b")) {
			t.Errorf("%s: the record given is %v", what, given)
		}
	}
}
