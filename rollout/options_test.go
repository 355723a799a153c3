// SPDX-License-Identifier: Apache-2.0

package rollout_test

import (
	"cmp"
	"encoding/json"
	"errors"
	"reflect"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation/field"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"

	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/rollout/exposure"
)

// merged has every field that one of the options sets, of several the last, and the gates of all.
func merged(all ...rollout.Options) (o rollout.Options) {
	to := reflect.ValueOf(&o).Elem()
	var gates []rollout.ClosedGate
	for _, options := range all {
		from := reflect.ValueOf(options)
		for i := range from.NumField() {
			if !from.Field(i).IsZero() {
				to.Field(i).Set(from.Field(i))
			}
		}
		gates = append(gates, options.Gates...)
	}
	o.Gates = gates
	return o
}

// TestInvalidOptions: an option's fault is an error of Plan, together with the strategy's.
func TestInvalidOptions(t *testing.T) {
	const limit = "must be a count of at least 0, as an integer, or a percentage from 0% to 100% in decimal digits"
	const concurrency = "must be a count of at least 0, as an integer, or a percentage from 1% to 100% in decimal digits"
	perGroup := func(n string) rollout.Options { return rollout.Options{MaxConcurrencyPerGroup: intstr.Parse(n)} }
	for _, c := range []struct {
		name string
		opts rollout.Options
		want string
	}{
		{"R16 MaxConcurrencyPerGroup", perGroup("NaN%"), `maxConcurrencyPerGroup: Invalid value: "NaN%": ` + concurrency},
		{"R16 of no cluster", perGroup("0%"), `maxConcurrencyPerGroup: Invalid value: "0%": must be above 0%: no cluster would ever start`},
		{"R30 MaxRemoved", rollout.Options{MaxRemoved: ptr(intstr.FromString("-1%"))}, `maxRemoved: Invalid value: "-1%": ` + limit},
		{"R57 Shares", rollout.Options{Shares: &rollout.Shares{Concurrency: -1, Failures: -2}}, "shares.start: Invalid value: -1: must not be negative\nshares.fail: Invalid value: -2: must not be negative"},
		{"R59 Freezes", rollout.Options{Freezes: []rollout.ClusterFreeze{{Cluster: "a"}, {}}}, `freezes[1].cluster: Required value: must be the name of a ManagedCluster`},
		{"R39 Attempt", rollout.Options{Attempt: -1}, `attempt: Invalid value: -1: must not be negative`},
		{
			"R16 each of them", merged(rollout.Options{MaxRemoved: ptr(intstr.FromInt32(-1))}, perGroup("-2")),
			"maxConcurrencyPerGroup: Invalid value: -2: " + concurrency + "\nmaxRemoved: Invalid value: -1: " + limit,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			result, err := rollout.Plan(all(""), fleetOf(t, "a").read(), nil, now, c.opts)
			var fieldErr *field.Error
			if result != nil || !errors.As(err, &fieldErr) {
				t.Fatalf("Plan = %v, %v, want a *field.Error", result, err)
			}
			if d := gocmp.Diff(c.want, err.Error()); d != "" {
				t.Error(d)
			}
		})
	}
	t.Run("R18 with the strategy's", func(t *testing.T) {
		_, err := rollout.Plan(clusterv1alpha1.RolloutStrategy{Type: "Canary"}, nil, nil, now, perGroup("0%"))
		want := `type: Unsupported value: "Canary": supported values: "All", "Progressive", "ProgressivePerGroup"` + "\n" +
			`maxConcurrencyPerGroup: Invalid value: "0%": must be above 0%: no cluster would ever start`
		if err == nil || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
	})
}

// R17: every function gives each fault as an error of its own, whatever it is a fault of.
func TestErrorsJoinOneForEachFault(t *testing.T) {
	strategy, option := clusterv1alpha1.RolloutStrategy{Type: "Canary"}, rollout.Options{Attempt: -1}
	life := exposure.Span{Shortest: -time.Hour}
	_, planned := rollout.Plan(strategy, nil, nil, now, option)
	_, kept := rollout.NewPlanner(strategy, nil, option)
	_, reverted := rollout.Revert(strategy, nil, rollout.Abort{}, now, option)
	_, exposed := exposure.Of(strategy, nil, life, now, option)
	_, limited := exposure.Limit(strategy, nil, life, now, exposure.Bounds{}, option)
	for name, test := range map[string]struct {
		err  error
		want int
	}{"Plan": {planned, 2}, "NewPlanner": {kept, 2}, "Revert": {reverted, 3}, "Expose": {exposed, 3}, "Limit": {limited, 4}} {
		joined, ok := test.err.(interface{ Unwrap() []error })
		if !ok || len(joined.Unwrap()) != test.want {
			t.Fatalf("%s: %v, want %d joined errors", name, test.err, test.want)
		}
		for _, err := range joined.Unwrap() {
			if _, ok := err.(*field.Error); !ok {
				t.Errorf("%s: %v is a %T", name, err, err)
			}
		}
	}
}

// R20: the JSON of a reason has the group wherever there is one, also the nameless one with index 0, and
// nowhere else.
func TestReasonJSONHasTheGroup(t *testing.T) {
	for _, c := range []struct {
		reason rollout.BlockReason
		want   string
	}{
		{rollout.BlockReason{Type: rollout.BlockEarlierGroup}, `{"type":"EarlierGroupIncomplete","group":{"index":0}}`},
		{rollout.BlockReason{Type: rollout.BlockBreached, AllGroups: true, Failures: 1}, `{"type":"BudgetBreached","allGroups":true,"failures":1}`},
		{rollout.BlockReason{Type: rollout.BlockPaused}, `{"type":"Paused"}`},
	} {
		got, err := json.Marshal(c.reason)
		if err != nil || string(got) != c.want {
			t.Errorf("got %s, %v, want %s", got, err, c.want)
		}
	}
}

// R8: names decide the ties of another order, and no order is the order of the names.
func TestOrder(t *testing.T) {
	for _, c := range []struct {
		opts rollout.Options
		want string
	}{
		{rollout.Options{Order: func(a, b string) int { return 0 }}, "starting a, b, c"},
		{rollout.Options{}, "starting a, b, c"},
		{reverse, "starting c, b, a"},
	} {
		if got := plan(t, planned{strategy: all(""), groups: []string{"b a", "c"}, opts: c.opts}).String(); got != c.want {
			t.Errorf("got %s, want %s", got, c.want)
		}
	}
}

// reverse is the order from z to a.
var reverse = rollout.Options{Order: func(a, b string) int { return cmp.Compare(b, a) }}
