// SPDX-License-Identifier: Apache-2.0

package rollout_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/status"
)

// R51: the JSON of options, field by field, is decoded as it was encoded. What is not set is not there, and a zero that has a
// meaning is.
func TestOptionsJSON(t *testing.T) {
	for _, c := range []struct {
		why  string
		opts rollout.Options
		want string
	}{
		{"nothing", rollout.Options{}, `{}`},
		{"what only a program has", rollout.Options{Order: func(a, b string) int { return 0 }, Previous: &rollout.Result{}}, `{}`},
		{"a pause", rollout.Options{Paused: true}, `{"paused":true}`},
		{
			"gates", rollout.Options{Gates: []rollout.ClosedGate{{Group: grouping.Key{Index: 2}}, {Group: grouping.Key{Name: "prod"}, Gate: rollout.Gate{Name: "approval", Opens: now}}}},
			`{"gates":[{"group":{"index":2}},{"group":{"index":0,"name":"prod"},"name":"approval","opens":"2026-11-21T12:00:00Z"}]}`,
		},
		{
			"holds", rollout.Options{Freezes: []rollout.ClusterFreeze{{Cluster: "a"}, {Cluster: "b", Reason: "its site", Until: now, Blocks: true}}},
			`{"freezes":[{"cluster":"a"},{"cluster":"b","reason":"its site","until":"2026-11-21T12:00:00Z","blocks":true}]}`,
		},
		{"an empty allowlist is not no allowlist", rollout.Options{Allowlist: []string{}}, `{"allowlist":[]}`},
		{"all groups side by side is not by index", rollout.Options{GroupOrder: rollout.GroupOrder{}}, `{"groupOrder":{}}`},
		{"an order of groups", rollout.Options{GroupOrder: rollout.GroupOrder{"prod": {"canary"}}}, `{"groupOrder":{"prod":["canary"]}}`},
		{"a count in groups", rollout.Options{MaxConcurrencyPerGroup: intstr.FromInt32(2)}, `{"maxConcurrencyPerGroup":2}`},
		{"a percentage in groups", rollout.Options{MaxConcurrencyPerGroup: intstr.FromString("5%"), FailedFreesSlot: true}, `{"maxConcurrencyPerGroup":"5%","failedFreesSlot":true}`},
		{
			"a pace", rollout.Options{Ramp: ptr(1), MaxStarts: &rollout.StartLimit{Count: 20, Per: metav1.Duration{Duration: time.Hour}}, WaitBetweenGroups: metav1.Duration{Duration: time.Minute}},
			`{"ramp":1,"maxStarts":{"count":20,"per":"1h0m0s"},"waitBetweenGroups":"1m0s"}`,
		},
		{"a ramp of no cluster is not no ramp", rollout.Options{Ramp: ptr(0)}, `{"ramp":0}`},
		{"no share is not no limit", rollout.Options{Shares: &rollout.Shares{}}, `{"shares":{"start":0,"fail":0}}`},
		{"shares", rollout.Options{Shares: &rollout.Shares{Concurrency: 3, Failures: 1}}, `{"shares":{"start":3,"fail":1}}`},
		{"exceptions", rollout.Options{Ignored: []string{"a"}, FailedBefore: []string{"b", "c"}, Attempt: 3}, `{"ignored":["a"],"failedBefore":["b","c"],"attempt":3}`},
		{"to remove no cluster is a bound", rollout.Options{MaxRemoved: ptr(intstr.FromInt32(0)), RemoveAfter: metav1.Duration{Duration: time.Minute}}, `{"maxRemoved":0,"removeAfter":"1m0s"}`},
		{
			"a memory", rollout.Options{StoredRecord: &rollout.StoredRecord{Version: "v", Record: status.Record{Version: "v", More: 1}, AtOnce: true}},
			`{"storedRecord":{"version":"v","record":{"version":"v","more":1},"atOnce":true}}`,
		},
	} {
		text, err := json.Marshal(c.opts)
		if err != nil || string(text) != c.want {
			t.Errorf("%s: got %s, %v, want %s", c.why, text, err, c.want)
		}
		var decoded rollout.Options
		if err := json.Unmarshal(text, &decoded); err != nil {
			t.Fatal(err)
		}
		c.opts.Order, c.opts.Previous = nil, nil
		if d := gocmp.Diff(c.opts, decoded, gocmp.Comparer(func(a, b *rollout.Result) bool { return a == b })); d != "" {
			t.Errorf("%s: %s", c.why, d)
		}
	}
}

// R51: whatever JSON is decoded and valid stays the same through encoding and decoding, and Plan takes it.
func FuzzOptionsJSON(f *testing.F) {
	f.Add([]byte(`{"paused":true,"gates":[{"group":{"name":"prod"},"opens":"2026-01-02T03:04:05.000000006+01:00"}],"groupOrder":{"":["a"]}}`))
	f.Add([]byte(`{"maxConcurrencyPerGroup":"050%","ramp":2,"maxStarts":{"count":1,"per":"90m"},"waitBetweenGroups":"1h","maxRemoved":0}`))
	f.Add([]byte(`{"ignored":["a","a"],"failedBefore":[""],"attempt":1,"storedRecord":{"version":"v","record":{"version":"v","left":[{"cluster":"b","status":"Failed"}]}}}`))
	f.Add([]byte(`{"groupOrder":{},"gates":[],"ignored":[],"storedRecord":null,"ramp":null,"maxStarts":{"count":0}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		var opts rollout.Options
		if json.Unmarshal(text, &opts) != nil {
			t.Skip()
		}
		errs := opts.Validate(nil)
		if _, err := rollout.Plan(all(""), fleetOf(t, "a b").read(), nil, now, opts); (err == nil) != (len(errs) == 0) {
			t.Fatalf("Plan: %v, Validate: %v", err, errs)
		}
		if len(errs) > 0 {
			return
		}
		once, err := json.Marshal(opts)
		if err != nil {
			t.Fatal(err)
		}
		var again rollout.Options
		if err := json.Unmarshal(once, &again); err != nil {
			t.Fatal(err)
		}
		if twice, err := json.Marshal(again); err != nil || string(twice) != string(once) {
			t.Fatalf("%s is encoded as %s, %v", once, twice, err)
		}
	})
}

// R51: each field that is zero adds nothing. Where a pointer, a list or a map is empty, it is as the rule says.
func TestZeroOptionsAddNothing(t *testing.T) {
	strategy := perGroup(config("1", "10m", 0))
	groups := fleetOf(t, "canary: a b", "prod: c").read()
	reports := reportsOf(t, "a=Failed/1m b=Succeeded/1m x=Succeeded/1m")
	want, err := rollout.Plan(strategy, groups, reports, now, rollout.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for why, opts := range map[string]rollout.Options{
		"empty lists":                {Gates: []rollout.ClosedGate{}, Ignored: []string{}, FailedBefore: []string{}},
		"names that no cluster has":  {Ignored: []string{"", "ghost"}, FailedBefore: []string{""}},
		"a result of nothing":        {Previous: &rollout.Result{}},
		"a bound that lets all go":   {MaxRemoved: ptr(intstr.FromString("100%"))},
		"a count of 0, as the API's": {MaxConcurrencyPerGroup: intstr.FromInt32(0)},
	} {
		got, err := rollout.Plan(strategy, groups, reports, now, opts)
		if err != nil || !reflect.DeepEqual(got.Next, want.Next) || !reflect.DeepEqual(got.Warnings, want.Warnings) || !reflect.DeepEqual(got.Schedule, want.Schedule) {
			t.Errorf("%s: %v, %v, want %v", why, got, err, want)
		}
	}
}

// A webhook for users who write options, too, checks them under the path of the field that has them.
func ExampleOptions_Validate() {
	var opts rollout.Options
	if err := json.Unmarshal([]byte(`{"groupOrder": {"prod": ["prod"]}, "maxStarts": {"count": 0, "per": "1h"}}`), &opts); err != nil {
		fmt.Println(err)
		return
	}
	for _, err := range opts.Validate(field.NewPath("spec", "options")) {
		fmt.Println(err)
	}
	// Output:
	// spec.options.groupOrder[prod]: Invalid value: "prod": must not come after itself: "prod" after "prod"
	// spec.options.maxStarts.count: Invalid value: 0: must be at least 1
}
