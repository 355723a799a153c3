// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/cohort-ocm/cohort/examples/kubectl-cohort/internal/output"
)

var update = flag.Bool("update", false, "write the files in testdata that the tests compare with")

// golden compares with a file, or writes it where the flag -update says so.
func golden(t *testing.T, file, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got, "\n")); diff != "" {
		t.Errorf("%s differs, -update writes it (-want +got):\n%s", file, diff)
	}
}

// cohort is the command, which is plan where the first word is none. Explain and its cluster may come later.
func cohort(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	if at := slices.Index(args, "explain"); at >= 0 && at+1 < len(args) {
		args = slices.Concat(args[at:at+2], args[:at], args[at+2:])
	} else if len(args) == 0 || strings.HasPrefix(args[0], "-") {
		args = append([]string{"plan"}, args...)
	}
	return run(args, stdin, stdout, stderr)
}

// simulateText runs the command, which must succeed and say nothing on standard error.
func simulateText(t *testing.T, stdin string, args ...string) string {
	t.Helper()
	var stdout, stderr bytes.Buffer
	if status := cohort(args, strings.NewReader(stdin), &stdout, &stderr); status != 0 || stderr.Len() > 0 {
		t.Fatalf("%s: exit status %d, %s", strings.Join(args, " "), status, stderr.String())
	}
	return stdout.String()
}

// runs are the command lines with kept output, by the name of its file.
func runs() map[string][]string {
	design := []string{"-f", "testdata/design/clusters.yaml", "-f", "testdata/design/placement.yaml"}
	return map[string][]string{
		"design":                  design,
		"design-random":           append(design[:4:4], "--fail-share", "3", "--seed", "3"),
		"design-chances":          append(design[:4:4], "--takes", "5m-20m", "--fail-rate", "0.4%", "--seed", "4"),
		"design-gate":             append(design[:4:4], "--gate", "2=4h", "--gate", "3"),
		"canary-fails":            {"-f", "testdata/canary-fails/retail.yaml"},
		"recovers":                {"-f", "testdata/recovers/telco.yaml"},
		"addon":                   {"-f", "testdata/addon/list.yaml", "--never", "cluster3"},
		"addon-one-at-a-time":     {"-f", "testdata/addon/list.yaml", "--max-concurrency-per-group", "1"},
		"policy-progressive":      {"-f", "testdata/policy/progressive.yaml"},
		"policy-gate":             {"-f", "testdata/policy/progressive.yaml", "--gate", "1=2h", "--fail", "store-09=1m"},
		"policy-sub-filter":       {"-f", "testdata/policy/sub-filter.yaml"},
		"explain-blocked":         {"-f", "testdata/design/clusters.yaml", "-f", "testdata/design/placement.yaml", "explain", "site-200", "--fail-share", "3", "--seed", "3"},
		"explain-chain":           {"-f", "testdata/addon/list.yaml", "--never", "cluster3", "--max-concurrency-per-group", "1", "explain", "cluster7"},
		"explain-canary":          {"-f", "testdata/canary-fails/retail.yaml", "explain", "shop-03"},
		"explain-policy":          {"-f", "testdata/policy/progressive.yaml", "explain", "store-08", "--gate", "1=2h"},
		"explain-policy-blocked":  {"-f", "testdata/policy/progressive.yaml", "explain", "store-08", "--fail", "store-01"},
		"explain-not-selected":    {"-f", "testdata/design/clusters.yaml", "-f", "testdata/design/placement.yaml", "explain", "lab-1"},
		"retry":                   append(design[:4:4], "--fail-share", "3", "--seed", "3", "--retry", "2/30m", "--fail-attempts", "1"),
		"explain-retry":           append(design[:4:4], "explain", "site-024", "--fail-share", "3", "--seed", "3", "--retry", "2/30m", "--fail-attempts", "1"),
		"back":                    append(design[:4:4], "--fail-share", "3", "--seed", "3", "--abort-on-breach"),
		"back-slowly":             append(design[:4:4], "--abort-at", "35m", "--back-by-strategy", "--never", "canary-west-04", "--recover", "8m"),
		"explain-back":            append(design[:4:4], "explain", "canary-east-01", "--fail-share", "3", "--seed", "3", "--abort-on-breach", "--back-by-strategy"),
		"cut-off":                 {"-f", "testdata/canary-fails/retail.yaml", "--cut-off", "100%", "--lease", "3m"},
		"explain-cut-off":         {"-f", "testdata/addon/list.yaml", "explain", "cluster7", "--cut-off", "cluster3"},
		"explain-cut-off-cluster": {"-f", "testdata/addon/list.yaml", "explain", "cluster3", "--cut-off", "cluster3"},
		"regions": {"-f", "testdata/regions/shops.yaml", "--group-order", "staging-eu,staging-us after canary; prod-eu after staging-eu; prod-us after staging-us",
			"--ignore", "power=off", "--never", "shop-madrid"},
		"policy-without-decisions": {"-f", "testdata/policy/selective-enforcement-policy.yaml",
			"-f", "testdata/policy/selective-enforcement-binding.yaml"},
	}
}

func TestOutputIsThatInTestdata(t *testing.T) {
	for name, args := range runs() {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join("testdata", "output", name)
			golden(t, file+".txt", simulateText(t, "", args...))
			if slices.Contains([]string{"design", "canary-fails", "recovers", "addon", "regions", "cut-off", "policy-progressive", "policy-sub-filter"}, name) { // one for each fixture
				golden(t, file+".json", simulateText(t, "", append(args, "-o", "json")...))
			}
		})
	}
}

// The counts of the example are those that the specification asks for (G1, G7), whatever the files say.
func TestDesignExampleHasItsFourGroupsAndSixDecisions(t *testing.T) {
	var report struct {
		Groups []struct {
			Index, Clusters    int
			Name               string
			PlacementDecisions []struct{ Clusters []string }
		}
		Summary struct{ Aggregate string }
	}
	if err := json.Unmarshal([]byte(simulateText(t, "", append(runs()["design"], "-o", "json")...)), &report); err != nil {
		t.Fatal(err)
	}
	var sizes, decisions []int
	var names []string
	for _, g := range report.Groups {
		sizes, names = append(sizes, g.Clusters), append(names, g.Name)
		for _, d := range g.PlacementDecisions {
			decisions = append(decisions, len(d.Clusters))
		}
	}
	if diff := cmp.Diff([]int{10, 10, 150, 150}, sizes); diff != "" {
		t.Errorf("groups (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"prod-canary-west", "prod-canary-east", "", ""}, names); diff != "" {
		t.Errorf("names (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]int{10, 10, 100, 50, 100, 50}, decisions); diff != "" {
		t.Errorf("PlacementDecisions (-want +got):\n%s", diff)
	}
	if report.Summary.Aggregate != "Succeeded" {
		t.Errorf("aggregate: %s, want Succeeded", report.Summary.Aggregate)
	}
}

// Each sentence costs a whole plan, so that JSON has them of some waves only, where there are many.
func TestJSONSaysOfSomeWavesWhyTheRestWaits(t *testing.T) {
	fleet := []string{aPlacement, aReplicaSet}
	for i := range 1200 {
		fleet = append(fleet, strings.Replace(aCluster, "name: a", fmt.Sprintf("name: c%04d", i), 1))
	}
	in := documents(fleet...)
	for _, test := range []struct {
		args        []string
		least, most int
	}{{nil, 300, output.DefaultReasons}, {[]string{"--rows", "20"}, 8, 20}, {[]string{"--rows", "all"}, 1199, 1199}} {
		var report struct {
			Waves []struct {
				Waiting []struct{ Message string }
				Counts  struct{ ToApply int }
			}
		}
		if err := json.Unmarshal([]byte(simulateText(t, in, append(test.args, "-f", "-", "-o", "json")...)), &report); err != nil {
			t.Fatal(err)
		}
		said := 0
		for _, w := range report.Waves {
			if len(w.Waiting) > 0 {
				said++
			}
		}
		if len(report.Waves) != 1201 || said < test.least || said > test.most || len(report.Waves[0].Waiting) == 0 {
			t.Errorf("%v: %d of %d waves say why, want %d to %d, the first among them", test.args, said, len(report.Waves), test.least, test.most)
		}
	}
}

func TestDesignExampleFitsOneScreen(t *testing.T) {
	if lines := strings.Count(simulateText(t, "", runs()["design"]...), "\n"); lines > 30 {
		t.Errorf("%d lines, want 30 at most", lines)
	}
}

// The same objects give the same output, whatever their order and however they are split into files.
func TestOrderOfTheInputChangesNothing(t *testing.T) {
	for name, args := range runs() {
		if strings.HasPrefix(name, "addon") {
			continue // one List: see the next test
		}
		var documents, flags []string
		for i := 0; i < len(args); i += 2 {
			if args[i] == "--abort-on-breach" || args[i] == "--back-by-strategy" { // these have no value
				flags = append(flags, args[i])
				i--
				continue
			}
			if args[i] != "-f" { // "explain" has a name behind it, as a flag has a value
				flags = append(flags, args[i], args[i+1])
				continue
			}
			data, err := os.ReadFile(args[i+1])
			if err != nil {
				t.Fatal(err)
			}
			for document := range strings.SplitSeq(string(data), "---\n") {
				documents = append([]string{document}, documents...)
			}
		}
		backwards := simulateText(t, strings.Join(documents, "\n---\n"), append(flags, "-f", "-")...)
		if diff := cmp.Diff(simulateText(t, "", args...), backwards); diff != "" {
			t.Errorf("%s backwards on standard input (-files +stdin):\n%s", name, diff)
		}
	}
}

// The rules that order objects hold for items of a list as well.
func TestOrderOfAListChangesNothing(t *testing.T) {
	data, err := os.ReadFile("testdata/addon/list.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var list struct {
		APIVersion string `json:"apiVersion"`
		Kind       string `json:"kind"`
		Items      []any  `json:"items"`
	}
	if err := yaml.Unmarshal(data, &list); err != nil {
		t.Fatal(err)
	}
	slices.Reverse(list.Items)
	backwards, err := json.Marshal(list)
	if err != nil {
		t.Fatal(err)
	}
	got := simulateText(t, string(backwards), "-f", "-", "--never", "cluster3")
	if diff := cmp.Diff(simulateText(t, "", runs()["addon"]...), got); diff != "" {
		t.Errorf("backwards (-file +backwards):\n%s", diff)
	}
}
