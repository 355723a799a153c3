// SPDX-License-Identifier: Apache-2.0

package rollout_test

import (
	"encoding/json"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/status"
)

// R29: that the API server refused to write the object of a waiting cluster changes sentences alone, in Plan and in Planner.
// Once the write is made, nothing of it is left.
func TestARefusedStartChangesSentencesAlone(t *testing.T) {
	groups := newFleet(t).group("", "a", "b", "c", "d").read()
	strategy := progressive("2", config("1", "10m", 0))
	rapid.Check(t, func(t *rapid.T) {
		var reports, plain []status.Report
		for _, cluster := range []string{"a", "b", "c", "d"} {
			r := status.Report{Cluster: cluster, Status: rapid.SampledFrom([]status.RolloutStatus{status.ToApply, status.ToApply, status.Progressing, status.Succeeded}).Draw(t, cluster)}
			plain = append(plain, r)
			if r.Reason = status.ReportRefused; r.Status == status.ToApply {
				r.Message = "denied for " + cluster
			}
			reports = append(reports, r)
		}
		with, err := rollout.Plan(strategy, groups, reports, now, rollout.Options{})
		if err != nil {
			t.Fatal(err)
		}
		without, err := rollout.Plan(strategy, groups, plain, now, rollout.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if a, b := inJSON(t, with), inJSON(t, without); a != b {
			t.Fatalf("a refusal decides something:\n%s\n%s", a, b)
		}
		planner, err := rollout.NewPlanner(strategy, groups, rollout.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if err := planner.Report(reports...); err != nil {
			t.Fatal(err)
		}
		said := planner.Result(now).Summary().String()
		if want := with.Summary().String(); said != want {
			t.Fatalf("Plan says %q, and Planner %q", want, said)
		}
		if refused := strings.Contains(said, "which it refused"); refused != (len(with.Start) > 0) {
			t.Fatalf("%d clusters start, all of them refused, and it says %q", len(with.Start), said)
		}
		for _, cluster := range with.Start {
			planner.Applied(cluster.Name, now)
		}
		for _, b := range planner.Result(now).Blockers() {
			if b.Reason == status.ReportRefused && !b.Starting || b.Starting && b.Silent {
				t.Fatalf("the object of %s is written, and it says %v", b.Name, b)
			}
		}
	})
}

func inJSON(t *rapid.T, r *rollout.Result) string {
	text, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
