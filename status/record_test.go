// SPDX-License-Identifier: Apache-2.0

package status_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"pgregory.net/rapid"

	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/status"
)

const annotationOfRecords = "cohort.open-cluster-management.io/left"

// drawRecord draws a record as package rollout makes it: times are in UTC.
func drawRecord(t *rapid.T) (r status.Record) {
	r.Version = rapid.SampledFrom([]string{"v1", "sha256:ab\"c"}).Draw(t, "version")
	r.Attempt, r.More = rapid.IntRange(0, 2).Draw(t, "attempt"), rapid.SampledFrom([]int{0, 0, 7}).Draw(t, "more")
	if r.More > 0 && rapid.Bool().Draw(t, "ends") {
		r.Until = at(2).UTC()
	}
	for i := range rapid.IntRange(0, 3).Draw(t, "clusters") {
		left := status.DeselectedCluster{Group: grouping.Key{Index: int32(rapid.IntRange(-1, 2).Draw(t, "index")), Name: rapid.SampledFrom([]string{"", "eu"}).Draw(t, "name")}}
		left.Cluster, left.Attempt = fmt.Sprintf("c%d", i), r.Attempt
		left.Status = rapid.SampledFrom([]status.RolloutStatus{status.TimeOut, status.Failed, status.Progressing, status.ToApply, status.Succeeded, status.Skip}).Draw(t, "status")
		if rapid.Bool().Draw(t, "dated") {
			left.Applied = at(1).Add(time.Duration(rapid.IntRange(0, 1e9).Draw(t, "ns"))).UTC()
		}
		r.Deselected = append(r.Deselected, left)
	}
	for range rapid.IntRange(0, 2).Draw(t, "breaches") {
		b := status.Breached{Of: rapid.IntRange(0, 9).Draw(t, "of"), Clusters: []string{"a", "b"}[:rapid.IntRange(1, 2).Draw(t, "failed")]}
		if b.AllGroups = rapid.Bool().Draw(t, "all"); !b.AllGroups {
			b.Group = grouping.Key{Index: int32(rapid.IntRange(0, 2).Draw(t, "index")), Name: rapid.SampledFrom([]string{"", "eu"}).Draw(t, "name")}
		}
		r.Breached = append(r.Breached, b)
	}
	return r
}

// R48: what is noted is read back, and noting it again changes nothing. Records without clusters leave no trace.
func TestRecordsAreReadBackAsTheyWereNoted(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		records, want := status.Records{}, status.Records{}
		for _, placement := range []string{"", "p", "q"} {
			if rapid.Bool().Draw(t, placement) {
				r := drawRecord(t)
				if records[placement] = r; len(r.Deselected) > 0 || len(r.Breached) > 0 || r.More > 0 {
					want[placement] = r
				}
			}
		}
		owner := &metav1.ObjectMeta{Annotations: map[string]string{"other": "stays"}}
		changed, err := records.Note(owner)
		if err != nil || changed != (len(want) > 0) {
			t.Fatalf("changed %v, %v", changed, err)
		}
		if again, err := records.Note(owner); again || err != nil {
			t.Fatalf("noted again: changed %v, %v", again, err)
		}
		got, err := status.RecordsOf(owner)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" && len(want)+len(got) > 0 {
			t.Fatal(diff)
		}
		if changed, err := (status.Records{}).Note(owner); changed != (len(want) > 0) || err != nil {
			t.Fatalf("taken back: changed %v, %v", changed, err)
		}
		if diff := cmp.Diff(map[string]string{"other": "stays"}, owner.Annotations); diff != "" {
			t.Fatal(diff)
		}
	})
}

// R48: a record of before breaches were on record is read as ever, and written the same.
func TestARecordWithoutBreachesIsWrittenAsEver(t *testing.T) {
	const text = `{"":{"version":"v1","left":[{"cluster":"a","status":"TimeOut","group":{"index":1}}],"exposed":2}}`
	owner := &metav1.ObjectMeta{Annotations: map[string]string{annotationOfRecords: text}}
	records, err := status.RecordsOf(owner)
	if err != nil || len(records[""].Deselected) != 1 || records[""].Breached != nil {
		t.Fatalf("%v, %v", records, err)
	}
	if changed, err := records.Note(owner); changed || err != nil {
		t.Errorf("changed %v to %s, %v", changed, owner.Annotations[annotationOfRecords], err)
	}
}

// R48: noting changes no map that others may hold, such as a cache.
func TestNotingRecordsSharesNothing(t *testing.T) {
	shared := map[string]string{"other": "stays"}
	owner := &metav1.ObjectMeta{Annotations: shared}
	if _, err := (status.Records{"": {Version: "v1", More: 1}}).Note(owner); err != nil {
		t.Fatal(err)
	}
	if len(shared) != 1 || len(owner.Annotations) != 2 {
		t.Errorf("shared %v, owner %v", shared, owner.Annotations)
	}
}

// R48: an annotation that is no record is an error with its path, since going on would forget which clusters failed.
func TestRecordsOfRefusesWhatIsNoRecord(t *testing.T) {
	for _, test := range []struct{ why, text, want string }{
		{"it is empty", ``, "must be the JSON of records"},
		{"it is cut off", `{"":{"version":"v1"`, "must be the JSON of records"},
		{"it is something else", `[]`, "must be the JSON of records"},
		{"a time is none", `{"":{"left":[{"cluster":"a","applied":"noon","group":{"index":0}}]}}`, "must be the JSON of records"},
		{"a number of clusters is below 0", `{"p":{"more":-1}}`, "below 0"},
		{"an attempt is below 0", `{"p":{"attempt":-1}}`, "below 0"},
		{"a breach is of less than no clusters", `{"p":{"breached":[{"of":1,"clusters":["a"]},{"of":-1,"clusters":["a"]}]}}`, `[p].breached[1].of: Invalid value: -1`},
		{"a cluster has no name", `{"p":{"left":[{"group":{"index":0}}]}}`, `metadata.annotations[` + annotationOfRecords + `][p].left[0].cluster`},
		{"it is long", `"` + strings.Repeat("é", 10_000), "é…"},
	} {
		records, err := status.RecordsOf(&metav1.ObjectMeta{Annotations: map[string]string{annotationOfRecords: test.text}})
		var invalid *field.Error
		if !errors.As(err, &invalid) || !strings.Contains(err.Error(), test.want) || len(err.Error()) > 400 || records != nil {
			t.Errorf("%s: %v, %v, want an error with %q", test.why, records, err, test.want)
		}
	}
	if records, err := status.RecordsOf(&metav1.ObjectMeta{}); records != nil || err != nil {
		t.Errorf("without an annotation: %v, %v", records, err)
	}
}

// R49: a full record with the longest names fits an annotation, and beside it is room for others.
func TestAFullRecordFitsAnAnnotation(t *testing.T) {
	full := status.Record{Version: strings.Repeat("v", 128), Attempt: 1 << 30, More: 1 << 30}
	when := time.Date(2026, 11, 23, 12, 34, 56, 123456789, time.UTC)
	for i := range 256 {
		full.Deselected = append(full.Deselected, status.DeselectedCluster{
			Report: status.Report{
				Cluster: fmt.Sprintf("%063d", i), Status: status.Progressing, Applied: when, LastTransitionTime: when, Attempt: 1 << 30, Deleting: true,
			},
			Group: grouping.Key{Index: 1 << 30, Name: strings.Repeat("g", 63), Placement: strings.Repeat("p", 253)},
		})
	}
	owner := &metav1.ObjectMeta{}
	if _, err := (status.Records{strings.Repeat("p", 253): full}).Note(owner); err != nil {
		t.Fatal(err)
	}
	if size := len(owner.Annotations[annotationOfRecords]); size >= 200<<10 {
		t.Errorf("%d bytes, want less than 200 KiB", size)
	}
	large := &metav1.ObjectMeta{Annotations: map[string]string{"other": strings.Repeat("x", 120<<10)}}
	var invalid *field.Error
	if changed, err := (status.Records{"": full}).Note(large); changed || !errors.As(err, &invalid) || len(large.Annotations) != 1 || len(err.Error()) > 200 {
		t.Errorf("beside a large annotation: changed %v, %v; want a short *field.Error, and nothing written", changed, err)
	}
	beside := func(more int) error {
		o := &metav1.ObjectMeta{Annotations: map[string]string{"other": ""}}
		if _, err := (status.Records{"": full}).Note(o); err != nil {
			t.Fatal(err)
		}
		size := len("other") + len(annotationOfRecords) + len(o.Annotations[annotationOfRecords])
		o = &metav1.ObjectMeta{Annotations: map[string]string{"other": strings.Repeat("x", 256<<10-size+more)}}
		_, err := (status.Records{"": full}).Note(o)
		return err
	}
	if err := beside(0); err != nil {
		t.Errorf("to the last byte: %v", err)
	}
	if err := beside(1); err == nil {
		t.Error("a byte too many is no error")
	}
	full.Deselected[0].Applied = time.Date(10_000, 1, 1, 0, 0, 0, 0, time.UTC)
	if changed, err := (status.Records{"": full}).Note(owner); err == nil || changed {
		t.Errorf("a time after the year 9999: changed %v, %v", changed, err)
	}
}

// FuzzRecordsOf: no annotation panics, and what is read can be noted and is read again.
func FuzzRecordsOf(f *testing.F) {
	f.Add(`{"":{"version":"v1","attempt":1,"left":[{"cluster":"a","status":"TimeOut","applied":"2026-11-23T12:00:00Z","group":{"index":-1}}],"more":2}}`)
	f.Add(`{"p":{"left":[{"cluster":"a","status":"?","applied":"0001-01-01T00:00:00Z","deleting":true,"group":{"index":0,"name":"x"}}]},"q":{}}`)
	f.Add(`{"":{"version":"v1","breached":[{"group":{"index":1,"name":"eu"},"of":3,"clusters":["a","b"]},{"allGroups":true,"of":9,"clusters":null}]}}`)
	f.Add(`null`)
	f.Fuzz(func(t *testing.T, text string) {
		records, err := status.RecordsOf(&metav1.ObjectMeta{Annotations: map[string]string{annotationOfRecords: text}})
		if err != nil {
			return
		}
		var owner metav1.ObjectMeta
		if _, err := records.Note(&owner); err != nil {
			t.Fatal(err)
		}
		again, err := status.RecordsOf(&owner)
		if err != nil {
			t.Fatal(err)
		}
		for placement, r := range again {
			if diff := cmp.Diff(records[placement], r); diff != "" {
				t.Fatal(diff)
			}
		}
	})
}
