// SPDX-License-Identifier: Apache-2.0

package exposure_test

import (
	"reflect"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/intstr"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"

	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/rollout/exposure"
)

var oneByOne = clusterv1alpha1.RolloutStrategy{
	Type:        clusterv1alpha1.Progressive,
	Progressive: &clusterv1alpha1.RolloutProgressive{MaxConcurrency: intstr.FromInt32(1)},
}

func of(t *testing.T, opts rollout.Options) exposure.Exposure {
	t.Helper()
	e, err := exposure.Of(oneByOne, shops(), exposure.Span{Shortest: time.Hour, Longest: time.Hour}, noon(), opts)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// R40, R51: a name that occurs twice counts once, and an ignored cluster is in no baseline.
func TestNamesThatStandTwiceCountOnce(t *testing.T) {
	// Behind the gate are three that count: the number that a name would change.
	gates := []rollout.ClosedGate{{Group: grouping.Key{Index: 1}, Gate: rollout.Gate{Opens: noon().Add(48 * time.Hour)}}}
	want := of(t, rollout.Options{Gates: gates, Ignored: []string{"lima"}, FailedBefore: []string{"rome"}})
	got := of(t, rollout.Options{Gates: gates, Ignored: []string{"lima", "nowhere", "lima"}, FailedBefore: []string{"rome", "lima", "rome", ""}})
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// R23, R41: of several gates before a group, by name or by index, the one that opens last counts.
func TestGateThatOpensLastHoldsTheGroup(t *testing.T) {
	gate := func(key grouping.Key, hours int) rollout.ClosedGate {
		return rollout.ClosedGate{Group: key, Gate: rollout.Gate{Opens: noon().Add(time.Duration(hours) * time.Hour)}}
	}
	byName, byIndex := grouping.Key{Name: "canary", Index: 7}, grouping.Key{Index: 0}
	for _, gates := range [][]rollout.ClosedGate{
		{gate(byName, 9), gate(byIndex, 20)}, {gate(byName, 20), gate(byIndex, 9)}, {gate(byIndex, 20), gate(byIndex, 9)}, {gate(byName, 9), gate(byName, 20), gate(byName, -1)},
	} {
		// Berlin and Oslo start one after the other once the gate is open.
		if e := of(t, rollout.Options{Gates: gates}); e.Finish.Shortest != 22*time.Hour {
			t.Errorf("%v: done after %v, want 22h", gates, e.Finish)
		}
	}
	if e := of(t, rollout.Options{Gates: []rollout.ClosedGate{gate(byName, 20), {Group: byIndex}}}); e.Finish.String() != "6h0m0s or more" {
		t.Errorf("one that opens at an unknown time: done after %v", e.Finish)
	}
}
