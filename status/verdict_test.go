// SPDX-License-Identifier: Apache-2.0

package status_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	workv1 "open-cluster-management.io/api/work/v1"
	"pgregory.net/rapid"

	"github.com/cohort-ocm/cohort/status"
)

const annotationVerdict = "cohort.open-cluster-management.io/verdict"

// A person found cluster1 good. The verdict stands in the work, with the time at which it was first read.
func ExampleJudge() {
	work := &workv1.ManifestWork{ObjectMeta: metav1.ObjectMeta{Namespace: "cluster1", Annotations: map[string]string{
		"cohort.open-cluster-management.io/verdict": `{"result": "SUCCEEDED", "version": "5c0ffee"}`,
	}}}
	verdict, err := status.VerdictOf(work, work.Namespace, noon)
	if err != nil {
		fmt.Println(err) // no verdict; tell it
	}
	verdict.NoteOn(work) // and store the work
	reports := []status.Report{
		{Cluster: "cluster1", Status: status.Succeeded, Applied: noon.Add(-time.Hour), LastTransitionTime: noon.Add(-time.Minute)},
		{Cluster: "cluster2", Status: status.Succeeded, Applied: noon.Add(-time.Hour), LastTransitionTime: noon.Add(-time.Minute)},
	}
	for _, r := range status.Judge(reports, "5c0ffee", []status.Verdict{verdict}) {
		fmt.Println(r.Cluster, r.Status, r.LastTransitionTime.Format(time.TimeOnly))
	}
	// Output:
	// cluster1 Succeeded 12:00:00
	// cluster2 Validating 11:59:00
}

// S12: a restart knows a verdict, and what is said again keeps its time.
func TestAVerdictIsKept(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := status.Verdict{
			Cluster: "a", Version: rapid.StringN(1, 8, -1).Draw(t, "version"), Attempt: rapid.IntRange(0, 3).Draw(t, "attempt"),
			Result:  rapid.SampledFrom([]status.ValidationResult{status.ValidationSucceeded, status.ValidationFailed, status.ValidationInProgress}).Draw(t, "result"),
			Message: rapid.String().Draw(t, "message"), Time: noon.Add(time.Duration(rapid.Int64Range(-1e15, 1e15).Draw(t, "time"))),
		}
		shared := map[string]string{"other": "stays"}
		o := &metav1.ObjectMeta{Annotations: shared}
		if !v.NoteOn(o) {
			t.Fatal("the first verdict is no change")
		}
		if len(shared) != 1 || o.Annotations["other"] != "stays" {
			t.Fatalf("%v, and the map before is %v", o.Annotations, shared)
		}
		later := v.Time.Add(time.Hour)
		read, err := status.VerdictOf(o, "a", later)
		if diff := cmp.Diff(v, read); diff != "" || err != nil {
			t.Fatalf("%v (-noted +read)\n%s", err, diff)
		}
		again := v
		again.Time = later
		if again.NoteOn(o) {
			t.Fatalf("said again: %v", o.Annotations)
		}
		again.Attempt++
		if !again.NoteOn(o) {
			t.Fatal("said of the next attempt, and no change")
		}
		if read, _ := status.VerdictOf(o, "a", later); !read.Time.Equal(later) {
			t.Fatalf("noted %v", read)
		}
	})
}

// S12: a version that comes back is validated anew, and the same verdict again counts.
func TestAVerdictFromBeforeTheWriteIsNotedAnew(t *testing.T) {
	said := func(at time.Time) status.Verdict {
		return status.Verdict{Cluster: "a", Version: "v1", Result: status.ValidationSucceeded, Message: "all pods answer", Time: at}
	}
	work := &workv1.ManifestWork{ObjectMeta: metav1.ObjectMeta{Namespace: "a"}}
	write := func(version string, at time.Time) {
		status.StampOf(work).NoteOn(work, version, 0, at)
	}
	write("v1", noon)
	said(noon.Add(time.Minute)).NoteOn(work)
	write("v2", noon.Add(2*time.Minute)) // which fails before anybody validates it
	write("v1", noon.Add(3*time.Minute))
	old, err := status.VerdictOf(work, "a", noon.Add(4*time.Minute))
	if err != nil || old.NoteOn(work) {
		t.Errorf("%v; what is read and noted as it is was called a change", err)
	}
	if again := said(noon.Add(5 * time.Minute)); !again.NoteOn(work) {
		t.Error("said again of the version that came back, and not noted")
	}
	v, err := status.VerdictOf(work, "a", noon.Add(6*time.Minute))
	reports := []status.Report{{Cluster: "a", Status: status.Succeeded, Applied: noon.Add(3 * time.Minute), LastTransitionTime: noon.Add(3 * time.Minute)}}
	if got := status.Judge(reports, "v1", []status.Verdict{v})[0]; err != nil || got.Status != status.Succeeded || !got.LastTransitionTime.Equal(noon.Add(5*time.Minute)) {
		t.Errorf("%v; judged %+v by %+v", err, got, v)
	}
	if again := said(noon.Add(7 * time.Minute)); again.NoteOn(work) {
		t.Error("said a third time, and it begins anew")
	}
}

// S12: an object that was created anew from a backup has its version since then, whatever its stamp says.
func TestAVerdictOnARestoredObjectIsNotedAnew(t *testing.T) {
	work := &workv1.ManifestWork{ObjectMeta: metav1.ObjectMeta{Namespace: "a"}}
	status.StampOf(work).NoteOn(work, "v1", 0, noon)
	yes := status.Verdict{Cluster: "a", Version: "v1", Result: status.ValidationSucceeded, Time: noon.Add(time.Minute)}
	yes.NoteOn(work)
	work.CreationTimestamp = metav1.NewTime(noon.Add(time.Hour))
	if yes.Time = noon.Add(2 * time.Hour); !yes.NoteOn(work) {
		t.Error("said again of a restored object, and not noted")
	}
	v, err := status.VerdictOf(work, "a", noon.Add(3*time.Hour))
	reports := []status.Report{{Cluster: "a", Status: status.Succeeded, Applied: noon.Add(time.Hour), LastTransitionTime: noon.Add(time.Hour)}}
	if got := status.Judge(reports, "v1", []status.Verdict{v})[0]; err != nil || got.Status != status.Succeeded {
		t.Errorf("%v; judged %+v by %+v", err, got, v)
	}
}

// S12: no writer can date a verdict ahead, or leave out its time, for longer than until it is noted.
func TestAVerdictWithoutATimeIsOfTheTimeOfReading(t *testing.T) {
	for why, text := range map[string]string{
		"no time":   `{"result": "SUCCEEDED", "version": "v"}`,
		"to come":   `{"result": "SUCCEEDED", "version": "v", "time": "2099-01-01T00:00:00Z"}`,
		"of a year": `{"cluster": "mallory", "result": "SUCCEEDED", "version": "v", "time": "9999-01-01T00:00:00Z"}`,
	} {
		o := &metav1.ObjectMeta{Annotations: map[string]string{annotationVerdict: text}}
		v, err := status.VerdictOf(o, "a", noon)
		if want := (status.Verdict{Cluster: "a", Version: "v", Result: status.ValidationSucceeded, Time: noon}); v != want || err != nil {
			t.Errorf("%s: %v, %v", why, v, err)
		}
		if !v.NoteOn(o) {
			t.Errorf("%s: noted, and no change", why)
		}
		if again, err := status.VerdictOf(o, "a", noon.Add(time.Hour)); again != v || err != nil {
			t.Errorf("%s: read again %v, %v", why, again, err)
		}
	}
	if v, err := status.VerdictOf(&metav1.ObjectMeta{}, "a", noon); v != (status.Verdict{}) || err != nil {
		t.Errorf("without the annotation: %v, %v", v, err)
	}
}

// S12: what cannot be read is an error that says what was expected.
func TestAVerdictThatIsUnreadable(t *testing.T) {
	for why, test := range map[string]struct{ text, path string }{
		"no JSON":          {"yes", ""},
		"another result":   {`{"result": "OK", "version": "v"}`, ".result"},
		"no result":        {`{"version": "v"}`, ".result"},
		"no version":       {`{"result": "FAILED"}`, ".version"},
		"a wrong attempt":  {`{"result": "FAILED", "version": "v", "attempt": -1}`, ".attempt"},
		"a time of no day": {`{"result": "FAILED", "version": "v", "time": "noon"}`, ""},
	} {
		o := &metav1.ObjectMeta{Annotations: map[string]string{annotationVerdict: test.text}}
		v, err := status.VerdictOf(o, "a", noon)
		var fault *field.Error
		if !errors.As(err, &fault) || fault.Field != "metadata.annotations["+annotationVerdict+"]"+test.path || v != (status.Verdict{}) {
			t.Errorf("%s: %v, %v", why, v, err)
		}
	}
}

// FuzzVerdictOf: whatever the annotation says, it is refused, or is read back as it is noted.
func FuzzVerdictOf(f *testing.F) {
	f.Add(`{"result": "SUCCEEDED", "version": "v", "attempt": 1, "message": "\u0000", "time": "2026-01-01T00:00:00.5+01:00"}`)
	f.Add(`{"result": "FAILED", "version": "v", "time": "0001-01-01T00:00:00Z"}`)
	f.Add(`[]`)
	f.Fuzz(func(t *testing.T, text string) {
		o := &metav1.ObjectMeta{Annotations: map[string]string{annotationVerdict: text}}
		v, err := status.VerdictOf(o, "a", noon)
		if err != nil {
			return
		}
		var noted metav1.ObjectMeta
		v.NoteOn(&noted)
		if again, err := status.VerdictOf(&noted, "a", noon); again != v || err != nil {
			t.Fatalf("%q is %v, and then %v (%v)", text, v, again, err)
		}
	})
}

// drawVerdict gives a verdict on a cluster, about this or another version and attempt.
func drawVerdict(t *rapid.T) status.Verdict {
	return status.Verdict{
		Cluster: rapid.SampledFrom([]string{"a", "b"}).Draw(t, "cluster"), Version: rapid.SampledFrom([]string{"v", "v", "w", ""}).Draw(t, "version"),
		Attempt: rapid.IntRange(0, 1).Draw(t, "attempt"),
		Result:  rapid.SampledFrom([]status.ValidationResult{status.ValidationSucceeded, status.ValidationFailed, status.ValidationInProgress, "?"}).Draw(t, "result"),
		Time:    noon.Add(time.Duration(rapid.IntRange(-6, 6).Draw(t, "time")) * 10 * time.Minute),
	}
}

// S12: the message of the verdict that counts becomes that of the report, whatever its result.
func TestTheMessageOfAVerdictBecomesThatOfTheReport(t *testing.T) {
	for _, test := range []struct {
		why     string
		verdict status.Verdict
		want    string
	}{
		{"a no", status.Verdict{Result: status.ValidationFailed, Message: "too slow"}, "Failed: too slow"},
		{"not yet", status.Verdict{Result: status.ValidationInProgress, Message: "3 of 12 tests"}, "Validating: 3 of 12 tests"},
		{"a yes, which is about what comes after the success", status.Verdict{Result: status.ValidationSucceeded, Message: "12 tests passed"}, "Succeeded: 12 tests passed"},
		{"a yes without a message", status.Verdict{Result: status.ValidationSucceeded}, "Succeeded: "},
		{"a verdict about another version is none", status.Verdict{Version: "v0", Result: status.ValidationFailed, Message: "too slow"}, "Validating: "},
		{"lines", status.Verdict{Result: status.ValidationFailed, Message: "a\nb"}, "Failed: a b"},
	} {
		v := test.verdict
		v.Cluster, v.Time = "a", noon.Add(time.Minute)
		if v.Version == "" {
			v.Version = "v"
		}
		r := status.Judge([]status.Report{{Cluster: "a", Status: status.Succeeded, LastTransitionTime: noon, Message: "of before"}}, "v", []status.Verdict{v})[0]
		if got := fmt.Sprintf("%s: %s", r.Status, r.Message); got != test.want {
			t.Errorf("%s: %q, want %q", test.why, got, test.want)
		}
	}
}

// S12: of two failures at the same time the same message counts, in whatever order they come.
func TestOfVerdictsAtOneTimeTheMessageDecides(t *testing.T) {
	reports := []status.Report{{Cluster: "a", Status: status.Succeeded, Applied: noon, LastTransitionTime: noon}}
	verdicts := []status.Verdict{
		{Cluster: "a", Version: "v", Result: status.ValidationFailed, Message: "too slow", Time: noon.Add(time.Minute)},
		{Cluster: "a", Version: "v", Result: status.ValidationFailed, Message: "no answer", Time: noon.Add(time.Minute)},
	}
	for range verdicts {
		if got := status.Judge(reports, "v", verdicts)[0].Message; got != "too slow" {
			t.Errorf("%v says %q", verdicts, got)
		}
		slices.Reverse(verdicts)
	}
}

// S12: the laws. Only a success is judged, from no earlier than it was; stale verdicts and the order of verdicts never matter.
func TestJudge(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := status.Report{
			Cluster: "a", Attempt: rapid.IntRange(0, 1).Draw(t, "attempt"), Applied: noon.Add(-30 * time.Minute),
			Status: rapid.SampledFrom([]status.RolloutStatus{status.Succeeded, status.Succeeded, status.Succeeded, status.Progressing, status.Failed, status.ToApply, status.Skip, "?"}).Draw(t, "status"),
		}
		r.LastTransitionTime = noon.Add(-time.Duration(rapid.IntRange(0, 40).Draw(t, "since")) * time.Minute)
		if rapid.Bool().Draw(t, "answered") {
			r.Answered = noon.Add(-5 * time.Minute)
		}
		verdicts := rapid.SliceOfN(rapid.Custom(drawVerdict), 0, 5).Draw(t, "verdicts")
		given := []status.Report{r}
		got := status.Judge(given, "v", verdicts)[0]
		if given[0] != r {
			t.Fatal("the reports were changed")
		}
		if r.Status != status.Succeeded {
			if got != r {
				t.Fatalf("%v became %v", r, got)
			}
			return
		}
		// The last one that counts, by a loop of its own.
		var last *status.Verdict
		for _, at := range []status.ValidationResult{status.ValidationSucceeded, "?", status.ValidationInProgress, status.ValidationFailed} {
			for i := range verdicts {
				v := &verdicts[i]
				stale := v.Cluster != "a" || v.Version != "v" || v.Attempt != r.Attempt || v.Time.Before(r.Applied)
				if v.Result == at && !stale && (last == nil || !v.Time.Before(last.Time)) {
					last = v
				}
			}
		}
		want := status.Validating
		success := slices.MaxFunc([]time.Time{r.LastTransitionTime, r.Applied, r.Answered}, time.Time.Compare)
		since := success
		if last != nil && (last.Result == status.ValidationSucceeded || last.Result == status.ValidationFailed) {
			want = map[status.ValidationResult]status.RolloutStatus{status.ValidationSucceeded: status.Succeeded, status.ValidationFailed: status.Failed}[last.Result]
			if last.Time.After(since) {
				since = last.Time
			}
		}
		from := slices.MaxFunc([]time.Time{got.LastTransitionTime, got.Applied}, time.Time.Compare)
		if want != status.Failed && got.Answered.After(from) {
			from = got.Answered
		}
		if got.Status != want || !from.Equal(since) {
			t.Fatalf("%v by %v is %v since %v, want %v since %v", r, verdicts, got.Status, from, want, since)
		}
		slices.Reverse(verdicts)
		if other := status.Judge(given, "v", verdicts)[0]; other != got {
			t.Fatalf("in another order: %v and %v", got, other)
		}
	})
}
