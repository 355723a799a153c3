// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

var exposeDesign = []string{"exposure", "-f", "testdata/design/clusters.yaml", "-f", "testdata/design/placement.yaml", "--takes", "5m-20m"}

func TestExposureIsThatInTestdata(t *testing.T) {
	golden(t, filepath.Join("testdata", "output", "exposure.txt"), simulateText(t, "", append(slices.Clone(exposeDesign), "--at-most", "12")...))
	golden(t, filepath.Join("testdata", "output", "exposure-policy.txt"), simulateText(t, "", "exposure", "-f", "testdata/policy/progressive.yaml", "--takes", "5m-20m", "--at-most", "3"))
	golden(t, filepath.Join("testdata", "output", "exposure.json"), simulateText(t, "", append(slices.Clone(exposeDesign), "-o", "json")...))
}

func TestExposureSaysWhichBoundIsTooNarrow(t *testing.T) {
	for _, test := range []struct {
		why, stdin string
		args       []string
		want       string
	}{
		{"too few", "", []string{"--at-most", "5"}, "No limits hold: --at-most 5 must be at least 10: even with maxConcurrency 1, maxFailures 0, a bad version can reach 10 clusters"},
		{"too soon", "", []string{"--at-most", "12", "--within", "8h"}, "No limits hold: --within 8h must be at least 9h: --at-most permits at most maxConcurrency 12, maxFailures 0, and with these limits the rollout takes 9h; raise --within or --at-most"},
		{"the time is unknown", "", []string{"--at-most", "12", "--within", "8h", "--gate", "2"}, "No limits hold: --within 8h cannot be kept: it is unknown how long the rollout takes (2h15m or more) while the gate before group 2 is closed"},
	} {
		var stdout, stderr bytes.Buffer
		exit := cohort(append(slices.Clone(exposeDesign), test.args...), strings.NewReader(test.stdin), &stdout, &stderr)
		if got := stdout.String(); !strings.Contains(got, test.want) || exit != exitBounds || stderr.Len() > 0 {
			t.Errorf("%s: exit status %d, %q, no %q in\n%s", test.why, exit, stderr.String(), test.want, got)
		}
	}
}

func TestExposureRefuses(t *testing.T) {
	for _, test := range []struct {
		why  string
		args []string
		want string
	}{
		{"no bound", append(slices.Clone(exposeDesign), "--at-most", "0"), "--at-most 0: must be at least 1"},
		{"a time without a bound", append(slices.Clone(exposeDesign), "--within", "1h"), "--within 1h0m0s: must be above 0 and be given with --at-most"},
		{"a limit that cannot be", append(slices.Clone(exposeDesign), "--max-concurrency-per-group", "0%"), "--max-concurrency-per-group 0%: must be above 0%"},
		{"a word too much", append(slices.Clone(exposeDesign), "x"), `unexpected argument "x"`},
	} {
		var stdout, stderr bytes.Buffer
		status := cohort(test.args, strings.NewReader(""), &stdout, &stderr)
		if status != exitInput || !strings.Contains(stderr.String(), test.want) || stdout.Len() > 0 {
			t.Errorf("%s: exit status %d, %q, want %q", test.why, status, stderr.String(), test.want)
		}
	}
	if help := simulateText(t, "", "exposure", "-h"); !strings.Contains(help, "--at-most") {
		t.Error(help)
	}
}

// What a Policy's passes are, and in which clusters it changes anything.
func TestExposureSaysHowAPolicyGoesToItsClusters(t *testing.T) {
	policy := func(old, new string) string {
		b := strings.Replace(aCluster, "name: a", "name: b", 1)
		return documents(aCluster, b, aPlacement, aBinding, replaced(t, aPolicy, old, new))
	}
	override := strings.NewReplacer("name: bind", "name: override", "placementRef:", "bindingOverrides: {remediationAction: enforce}\nplacementRef:", "name: p}", "name: q}").Replace(aBinding)
	onlyA := strings.NewReplacer("name: p", "name: q", "spec: {}", "spec: {predicates: [{requiredClusterSelector: {claimSelector: {matchExpressions: [{key: x, operator: Exists}]}}}]}").Replace(aPlacement)
	claimed := aCluster + "status: {clusterClaims: [{name: x, value: z1}]}\n"
	all := strings.Replace(strings.Replace(aPolicy, "enforce", "inform", 1), "{type: Progressive, progressive: {maxConcurrency: 1}}", "{type: All}", 1)
	for _, test := range []struct{ why, in, want string }{
		{"one cluster at a time where no number is given", policy("progressive: {maxConcurrency: 1}", "progressive: {}"),
			"passes: two: first all 2 clusters inform at once, which changes nothing there; then they enforce, one stage after the other, as below\n" +
				"note: spec.rolloutStrategy.progressive.maxConcurrency: not set, which for a Policy means one cluster at a time\n\n" +
				"At most 1 of 2 clusters get a version that does not work on them.\n"},
		{"at once", policy("{type: Progressive, progressive: {maxConcurrency: 1}}", "{type: All}"), "passes: one: 2 clusters enforce at once, as below\n\nAt most 2 of 2 clusters"},
		{"nothing is enforced", policy("enforce", "inform"), "passes: one: 2 clusters inform at once, which changes nothing there\n"},
		{"an override enforces on one", documents(claimed, strings.Replace(aCluster, "name: a", "name: b", 1), aPlacement, onlyA, aBinding, override, all),
			"passes: one: 1 cluster enforces at once, as below; 1 cluster informs, which changes nothing there\n\nAt most 1 of 1 clusters"},
		{"bound nowhere", documents(aCluster, aPlacement, aPolicy), "passes: none: the policy is bound to no cluster\n"},
	} {
		if got := simulateText(t, test.in, "exposure", "-f", "-"); !strings.Contains(got, test.want) {
			t.Errorf("%s: no\n%s\nin\n%s", test.why, test.want, got)
		}
	}
	unset := strings.Replace(documents(aCluster, aPlacement, aBinding, aPolicy), "  remediationAction: enforce\n", "", 1)
	if got, want := simulateText(t, unset, "exposure", "-f", "-"), "then they do what the templates say (no remediationAction is set)"; !strings.Contains(got, want) {
		t.Errorf("no %s in\n%s", want, got)
	}
}

// Whichever clusters fail, recover or never answer, a policy is never on more clusters that it fails than exposure says.
func TestNoPolicyExceedsItsExposure(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		file := "testdata/policy/" + rapid.SampledFrom([]string{"progressive.yaml", "sub-filter.yaml"}).Draw(t, "file")
		var options []string
		for _, some := range [][]string{{"--failed-frees-slot"}, {"--gate", "0=1h"}, {"--ramp", "2"}, {"--ignore", "store-0[1-4]"}, {"--failed-before", "store-0[3-6]"}} {
			if rapid.IntRange(0, 2).Draw(t, some[0]) == 0 {
				options = append(options, some...)
			}
		}
		lives := []string{"--fail-share", fmt.Sprint(rapid.IntRange(0, 12).Draw(t, "failures")), "--seed", fmt.Sprint(rapid.IntRange(1, 99).Draw(t, "seed")), "--takes", "1m-30m"}
		if rapid.Bool().Draw(t, "silent") {
			lives = append(lives, "--never", "store-1*")
		}
		decode := func(into any, args ...string) {
			var stdout, stderr strings.Builder
			if status := cohort(append(args, "-f", file, "-o", "json"), strings.NewReader(""), &stdout, &stderr); status != 0 {
				t.Fatalf("exit status %d, %s", status, stderr.String())
			}
			if err := json.Unmarshal([]byte(stdout.String()), into); err != nil {
				t.Fatal(err)
			}
		}
		var exposure struct {
			Exposure struct{ Clusters, Exposed, InFlight int }
		}
		decode(&exposure, append([]string{"exposure"}, options...)...)
		var played struct {
			Waves []struct {
				InFlight int
				Counts   struct{ TimeOut int }
			}
		}
		decode(&played, append(lives, options...)...)
		informing := 0
		if file == "testdata/policy/sub-filter.yaml" {
			informing = 9 // which are in flight in a plan, and not exposed
		}
		for _, w := range played.Waves {
			if got := w.InFlight + w.Counts.TimeOut - informing; got > exposure.Exposure.Exposed || w.InFlight-informing > exposure.Exposure.InFlight {
				t.Fatalf("%d clusters exposed, %d in flight, want at most %+v", got, w.InFlight-informing, exposure.Exposure)
			}
		}
	})
}
