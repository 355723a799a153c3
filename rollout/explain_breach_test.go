// SPDX-License-Identifier: Apache-2.0

package rollout_test

import (
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/status"
)

// R29: what ends a stop is also said if no cluster waits, and if a pause comes first.
func TestABreachIsExplainedAlsoIfNothingElseSaysIt(t *testing.T) {
	const stopped = "the rollout is stopped: a failed, maxFailures is 0; the rollout continues once a is no longer failed or timed out; to do, one of: (1) fix the workload on a; (2) retry the failed clusters: raise the rollout's attempt number to 1; (3) raise maxFailures to 1; (4) roll back to the previous version"
	failed := status.Report{Cluster: "a", Status: status.Failed, LastTransitionTime: now}
	done := status.Report{Cluster: "b", Status: status.Succeeded, LastTransitionTime: now}
	for _, test := range []struct {
		why     string
		reports []status.Report
		opts    rollout.Options
		want    string
	}{
		{"no cluster waits", []status.Report{failed, done}, rollout.Options{}, stopped},
		{"paused", []status.Report{failed}, rollout.Options{Paused: true}, stopped},
		{"it blocks a cluster", []status.Report{failed}, rollout.Options{}, stopped},
		{"nothing failed", []status.Report{done}, rollout.Options{}, ""},
		{"the failure is tolerated", []status.Report{failed}, rollout.Options{Ignored: []string{"a"}}, ""},
	} {
		r, err := rollout.Plan(progressive("1", config("", "10m", 0)), newFleet(t).group("", "a", "b").read(), test.reports, now, test.opts)
		if err != nil {
			t.Fatal(err)
		}
		if got := r.ExplainBreach().String(); got != test.want {
			t.Errorf("%s: %s\nwant %s", test.why, got, test.want)
		}
	}
	if e := (&rollout.Result{}).ExplainBreach(); e != nil {
		t.Errorf("of no plan: %v", e)
	}
}

// R29: where the breach blocks a cluster, the explanation of that cluster is the same.
func TestABreachIsExplainedAsByTheClustersThatItBlocks(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := drawn(t).world(12)
		r, err := w.plan(w.taken(t, w.read(t)))
		if err != nil {
			t.Fatal(err)
		}
		e := r.ExplainBreach()
		if (len(e) == 1) != (r.Breach != nil) {
			t.Fatalf("breach %v, explained by %q", r.Breach, e)
		}
		if r.Breach != nil && !strings.HasPrefix(e.String(), r.Breach.String()) {
			t.Fatalf("%q of %v", e, r.Breach)
		}
		for c, reason := range r.Blocked() {
			if blocked := r.Explain(c.Name); reason.Type == rollout.BlockBreached && !reflect.DeepEqual(blocked, e) {
				t.Fatalf("%s: %v\nwant %v", c.Name, blocked, e)
			}
		}
	})
}
