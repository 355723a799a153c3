// SPDX-License-Identifier: Apache-2.0

package trial

import (
	"encoding/json"
	"testing"
	"time"
)

// A verdict counts once the controller noted its time, and only about the version that the replica has.
func TestVerdictsOfPolicies(t *testing.T) {
	o := policyObject("c1", "Policy", "t1.web")
	if approvePolicy(o) != nil {
		t.Error("a replica without a stamp is found good")
	}
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	o.SetAnnotations(map[string]string{versionAnnotation: "abc enforce"})
	text := approvePolicy(o)["metadata"].(map[string]any)["annotations"].(map[string]any)[verdictAnnotation].(string)
	note := func(change func(v *policyVerdict)) {
		var v policyVerdict
		if err := json.Unmarshal([]byte(text), &v); err != nil {
			t.Fatal(err)
		}
		change(&v)
		made, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		o.SetAnnotations(map[string]string{versionAnnotation: "abc enforce", verdictAnnotation: string(made)})
	}
	for _, c := range []struct {
		what   string
		change func(v *policyVerdict)
		good   bool
	}{
		{"without a time", func(*policyVerdict) {}, false},
		{"noted", func(v *policyVerdict) { v.Time = &at }, true},
		{"about another version", func(v *policyVerdict) { v.Time, v.Version = &at, "def" }, false},
		{"bad", func(v *policyVerdict) { v.Time, v.Result = &at, "FAILED" }, false},
	} {
		note(c.change)
		if good, when := verdictOnPolicy(o); good != c.good || good && !when.Equal(at) {
			t.Errorf("%s: %v at %v", c.what, good, when)
		}
	}
}

// Each duty that a trial bends its world towards has invariants, and the world is not that of another duty.
func TestTrialsBendTowardsEachDuty(t *testing.T) {
	for duty, invariants := range TrialDuties {
		if len(invariants) == 0 {
			t.Errorf("%s breaks nothing", duty)
		}
	}
	for _, duty := range []Duty{DutyReadYourWrites, DutyOneWrite} {
		if trial := drawTrial(1, duty); trial.acts[0].what != dropsAtOnce && trial.acts[0].what != stopsAtOnce {
			t.Errorf("%s: %s", duty, trial)
		}
	}
	if !isValidated(&trial{world: &world{ignored: DutyVerdict}}) || isValidated(&trial{world: &world{ignored: DutyRecord}}) {
		t.Error("clusters are validated where that matters, and in no world that is bent towards something else")
	}
}
