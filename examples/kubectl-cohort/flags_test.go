// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/pflag"
)

// fleet is four clusters, where two may be in flight at a time and two may fail, with a Behavior in which all succeed
// after an hour.
func fleet() string {
	var texts []string
	for _, name := range []string{"a", "b", "c", "d"} {
		texts = append(texts, strings.Replace(aCluster, "name: a", "name: "+name, 1))
	}
	strategy := strings.Replace(aStrategy, "maxConcurrency: 1", "maxConcurrency: 2, maxFailures: 2", 1)
	return documents(append(texts, aPlacement, strategy, strings.Replace(aBehavior, "after: 1m", "after: 1h", 1))...)
}

func readFile(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// waves are the lines of the table, without the reasons.
func waves(t *testing.T, in string, args ...string) string {
	t.Helper()
	_, rest, _ := strings.Cut(simulateText(t, in, append([]string{"-f", "-"}, args...)...), "WHY THE REST WAITS\n")
	table, _, _ := strings.Cut(rest, "\n\n")
	var lines []string
	for line := range strings.SplitSeq(table, "\n") {
		if strings.HasPrefix(line, "(in flight are also ") {
			continue
		}
		lines = append(lines, strings.Join(strings.Fields(line)[:5], " "))
	}
	return strings.Join(lines, ", ")
}

// In each wave: time, started, in flight, done, failed.
func TestFlagsChangeTheRollout(t *testing.T) {
	perGroup := strings.Replace(fleet(), "type: Progressive\nprogressive: {maxConcurrency: 2, maxFailures: 2}", "type: ProgressivePerGroup", 1)
	twoGroups := documents(strings.Replace(aStrategy, "type: Progressive\nprogressive: {maxConcurrency: 1}", "type: ProgressivePerGroup", 1), decisionOf("a"),
		strings.NewReplacer("p-decision-1", "p-decision-2", `index: "0"`, `index: "1"`).Replace(decisionOf("b")))
	regions := readFile(t, "testdata/regions/shops.yaml")
	for _, test := range []struct {
		why, in string
		args    []string
		want    string
	}{
		{"without flags the Behavior decides", fleet(), nil, "0s 2 2 0 0, 1h 2 2 2 0, 2h 0 0 4 0"},
		{"--takes is for those that no rule matches", strings.Replace(fleet(), "{after: 1h}", "{names: [a], after: 1h}", 1), []string{"--takes", "30m"},
			"0s 2 2 0 0, 30m 1 2 1 0, 1h 1 1 3 0, 1h30m 0 0 4 0"},
		{"rules of flags come before those of the Behavior", fleet(), []string{"--fail", "a=5m"}, "0s 2 2 0 0, 5m 0 2 0 1, 1h 1 2 1 1, 2h 1 2 2 1, 3h 0 1 3 1"},
		{"a failure without a time of its own takes --takes", fleet(), []string{"--fail", "a", "--takes", "7m"}, "0s 2 2 0 0, 7m 0 2 0 1, 1h 1 2 1 1, 2h 1 2 2 1, 3h 0 1 3 1"},
		{"R25 a failed cluster may free its slot", fleet(), []string{"--fail", "a=5m", "--failed-frees-slot"}, "0s 2 2 0 0, 5m 1 3 0 1, 1h 1 3 1 1, 1h5m 0 2 2 1, 2h 0 1 3 1"},
		{"--never and --recover", fleet(), []string{"--never", "[ab]", "--recover", "3h"}, "0s 2 2 0 0, 3h 2 2 2 0, 4h 0 0 4 0"},
		{"--fail and --recover", fleet(), []string{"--fail", "a=5m", "--recover", "10m"}, "0s 2 2 0 0, 5m 0 2 0 1, 15m 1 2 1 0, 1h 1 2 2 0, 1h15m 0 1 3 0, 2h 0 0 4 0"},
		{"--fail-share of all is all", fleet(), []string{"--fail-share", "100%", "--takes", "5m"}, "0s 2 2 0 0, 5m 0 2 0 2"},
		{"R24 --max-concurrency-per-group", perGroup, []string{"--max-concurrency-per-group", "75%"}, "0s 3 3 0 0, 1h 1 1 3 0, 2h 0 0 4 0"},
		{"R35 --ramp starts as many as have soaked", fleet(), []string{"--ramp", "1"}, "0s 1 1 0 0, 1h 1 1 1 0, 2h 2 2 2 0, 3h 0 0 4 0"},
		{"R36 --max-starts leaves time between starts", fleet(), []string{"--max-starts", "1/90m"}, "0s 1 1 0 0, 1h 0 0 1 0, 1h30m 1 1 1 0, 2h30m 0 0 2 0, 3h 1 1 2 0, 4h 0 0 3 0, 4h30m 1 1 3 0, 5h30m 0 0 4 0"},
		{"R34 --wait-between-groups leaves time to look", twoGroups, []string{"--wait-between-groups", "30m"}, "0s 1 1 0 0, 10m 0 0 1 0, 40m 1 1 1 0, 50m 0 0 2 0"},
		{"R33 --group-order lets groups go side by side", regions, []string{"--takes", "10m", "--group-order", "staging-eu,staging-us after canary; prod-eu after staging-eu; prod-us after staging-us"},
			"0s 2 2 0 0, 10m 2 2 2 0, 20m 5 5 4 0, 30m 0 0 9 0"},
		{"R33 in no order", regions, []string{"--group-order", "any"}, "0s 9 9 0 0, 10m 0 0 9 0"},
		{"R37 --ignore by label", regions, []string{"--never", "shop-madrid", "--ignore", "power=off"},
			"0s 2 2 0 0, 10m 1 1 2 0, 20m 3 2 3 0, 30m 1 1 5 0, 40m 2 2 6 0, 50m 0 0 8 0, 1h20m 0 0 8 0"},
		{"R37 --ignore by name, as by label", regions, []string{"--never", "shop-madrid", "--ignore", "*-madrid"},
			"0s 2 2 0 0, 10m 1 1 2 0, 20m 3 2 3 0, 30m 1 1 5 0, 40m 2 2 6 0, 50m 0 0 8 0, 1h20m 0 0 8 0"},
		{"R38 without --failed-before a failure stops it", regions, []string{"--fail", "canary-2"}, "0s 2 2 0 0, 10m 0 1 1 1, 1h10m 0 0 1 0"},
		{"R38 --failed-before", regions, []string{"--fail", "canary-2", "--failed-before", "canary-2"},
			"0s 2 2 0 0, 10m 1 2 1 1, 20m 3 4 2 1, 30m 1 2 5 1, 40m 2 3 6 1, 50m 0 1 8 1, 1h10m 0 0 8 0"},
		{"R39 --retry", fleet(), []string{"--fail", "a=5m", "--fail", "b=5m", "--fail", "c=5m", "--retry", "1/2h", "--fail-attempts", "1"},
			"0s 2 2 0 0, 5m 0 2 0 2, 2h5m 2 2 0 0, attempt 1 begins: retry a, 2h10m 2 2 2 0, 2h15m 0 2 2 1, 3h10m 0 1 3 1"},
		{"R23 a gate that opens", perGroup, []string{"--gate", "0=90m"}, "0s 0 0 0 0, 1h30m 4 4 0 0, 2h30m 0 0 4 0"},
		{"R23 a gate that stays closed", perGroup, []string{"--gate", "0"}, "0s 0 0 0 0"},
	} {
		t.Run(test.why, func(t *testing.T) {
			if got := waves(t, test.in, test.args...); got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
		})
	}
}

func TestSeedOfTheFlagCountsBeforeThatOfTheBehavior(t *testing.T) {
	in := strings.Replace(fleet(), "seed: 1,", "seed: 2,", 1)
	failed := func(in string, args ...string) string {
		_, end, _ := strings.Cut(simulateText(t, in, append(args, "-f", "-", "--fail-share", "1")...), "\nafter ")
		return end
	}
	if failed(in, "--seed", "1") != failed(fleet()) {
		t.Error("--seed 1 gives another share than a Behavior with seed 1")
	}
	ends := make(map[string]bool)
	for _, seed := range []string{"1", "2", "3", "4", "5", "6", "7", "8"} {
		ends[failed(in, "--seed", seed)] = true
	}
	if len(ends) < 2 {
		t.Error("eight seeds gave one share")
	}
}

func TestStartIsTheTimeThatReasonsShow(t *testing.T) {
	out := simulateText(t, fleet(), "-f", "-", "--gate", "0=2h", "--start", "2030-05-06T07:00:00+02:00")
	if want := "the gate before group 0 is closed until 07:00\n"; !strings.Contains(out, want) {
		t.Errorf("no %q in\n%s", want, out)
	}
}

func TestARuleForNoClusterIsNoted(t *testing.T) {
	out := simulateText(t, fleet(), "-f", "-", "--fail", "a*", "--never", "a")
	if want := "note: --never a: no effect, other flags say how its clusters behave\n"; !strings.Contains(out, want) {
		t.Errorf("no %q in\n%s", want, out)
	}
}

// What is written and has no effect is said, whether it stands in a file or on the command line.
func TestWhatHasNoEffectIsNoted(t *testing.T) {
	perGroup := strings.Replace(fleet(), "type: Progressive\n", "type: ProgressivePerGroup\n", 1)
	inform := documents(aCluster, aPlacement, aBinding, strings.Replace(aPolicy, "enforce", "inform", 1))
	for _, test := range []struct {
		why, in string
		args    []string
		want    string
	}{
		{"a block of another type", perGroup, nil, "warning: progressive.maxConcurrency has no effect: only a rollout strategy of type Progressive uses it\n"},
		{"a maxConcurrency that Go clients write for none", strings.Replace(fleet(), "maxConcurrency: 2", "maxConcurrency: 0", 1), nil,
			"note: progressive.maxConcurrency: 0 counts as not set\n"},
		{"the same of a placementRef", small(t, "maxConcurrency: 1", "maxConcurrency: 0"), nil,
			"note: spec.placementRefs[0].rolloutStrategy.progressive.maxConcurrency: 0 counts as not set\n"},
		{"the strategy of a policy that informs", inform, nil, "note: spec.rolloutStrategy: no effect, as a policy that informs goes to all clusters at once\n"},
		{"an option for another type", fleet(), []string{"--max-concurrency-per-group", "1"},
			"note: --max-concurrency-per-group: no effect, the strategy's type is Progressive and not ProgressivePerGroup\n"},
		{"nothing to roll back", fleet(), []string{"--abort-at", "9h"}, "note: --abort-at: no effect, the rollout was complete before\n"},
		{"no breach", fleet(), []string{"--abort-on-breach", "--fail", "a"}, "note: --abort-on-breach: no effect, maxFailures is not exceeded\n"},
		{"a policy to roll back", documents(aCluster, aPlacement, aBinding, aPolicy), []string{"--fail", "a", "--abort-on-breach"},
			"note: --abort-on-breach: no effect, a Policy is rolled back by rolling out the one before, which is a rollout of its own\n"},
		{"nothing to try again", fleet(), []string{"--retry", "1/1h"}, "note: --retry: no effect, there is nothing to retry\n"},
		{"a policy that fails", documents(aCluster, aPlacement, aBinding, aPolicy), []string{"--fail", "a", "--retry", "1/1h"}, "note: --retry: no effect, a replicated policy does not say which attempt it is\n"},
		{"an order for another type", fleet(), []string{"--group-order", "any"}, "note: --group-order: no effect, the strategy's type is Progressive and not ProgressivePerGroup\n"},
		{"a wait where no group comes after another", fleet(), []string{"--wait-between-groups", "1h"}, "note: --wait-between-groups: no effect, no group comes after another\n"},
		{"a baseline that does not fail", fleet(), []string{"--failed-before", "a"}, "note: --failed-before: no effect, none of these clusters fails here: --fail says which do\n"},
		{"an order for a policy that informs", inform, []string{"--ignore", "a"}, "note: --ignore: no effect, the policy goes to all clusters at once\n"},
		{"a limit that no group reaches", perGroup, []string{"--max-concurrency-per-group", "4"}, "note: --max-concurrency-per-group: no effect, no group has more clusters than that\n"},
		{"slots where there is no limit", strings.Replace(fleet(), "type: Progressive\n", "type: All\n", 1), []string{"--failed-frees-slot"},
			"note: --failed-frees-slot: no effect, all clusters of a stage may be in flight at a time\n"},
		{"a seed for nothing", fleet(), []string{"--seed", "3"}, "note: --seed: no effect, nothing is drawn at random\n"},
		{"a time for no cluster", fleet(), []string{"--takes", "1m"}, "note: --takes: no effect, other flags or the Behavior say of every cluster how long it takes\n"},
	} {
		t.Run(test.why, func(t *testing.T) {
			got := simulateText(t, test.in, append(test.args, "-f", "-")...)
			if !strings.Contains(got, test.want) || len(test.args) > 0 && strings.Contains(got, "warning: ") && !strings.Contains(got, "warning: progressive.") {
				t.Errorf("no %q, or a warning of it, in\n%s", test.want, got)
			}
		})
	}
	for _, args := range [][]string{{"--takes", "1m", "--fail", "a"}, {"--seed", "3", "--fail-share", "1"}, {"--seed", "3", "--fail-rate", "1%"}, {"--seed", "3", "--fail", "a=1m-2m"}, {"--failed-frees-slot"}} {
		if got := simulateText(t, fleet(), append(args, "-f", "-")...); strings.Contains(got, "no effect") {
			t.Errorf("%v has an effect, and is said to have none:\n%s", args, got)
		}
	}
}

// Each flag of each command stands in its help, once.
func TestHelpHasEachFlagOnce(t *testing.T) {
	for _, command := range rootCommand().Commands() {
		help := simulateText(t, "", command.Name(), "-h", "--all")
		command.LocalFlags().VisitAll(func(f *pflag.Flag) {
			if n := len(regexp.MustCompile(`(?m)^ +(-\w, )?--`+f.Name+`( |$)`).FindAllString(help, -1)); n != 1 {
				t.Errorf("%s --%s stands %d times in the help, want once", command.Name(), f.Name, n)
			}
		})
	}
}

// An ignored cluster is ignored in a rollback, too.
func TestTheRollbackHasTheClustersThatDoNotCount(t *testing.T) {
	got := simulateText(t, "", "-f", "testdata/regions/shops.yaml", "--ignore", "canary-2", "--never", "canary-2", "--abort-at", "15m")
	if want := "after 25m: Complete: 2 of 2 clusters rolled back, 6 never had the version\n  canary-2 in group 0 \"canary\": TimeOut, ignored\n"; !strings.Contains(got, want) {
		t.Errorf("no %s in\n%s", want, got)
	}
}

// Of one cluster two flags cannot say different things.
func TestFlagsDoNotContradictEachOther(t *testing.T) {
	for _, test := range []struct {
		args []string
		want string
	}{
		{[]string{"--fail", "a", "--never", "a"}, "--never a: must not be given with --fail a, which says something else of the same clusters"},
		{[]string{"--never", "b*", "--cut-off", "b*"}, "--cut-off b*: must not be given with --never b*, which says something else of the same clusters"},
	} {
		if got := refused(t, fleet(), append(test.args, "-f", "-")...); got != test.want {
			t.Errorf("got %s, want %s", got, test.want)
		}
	}
	simulateText(t, fleet(), "-f", "-", "--fail", "a", "--fail", "a", "--never", "b")
}

// The name of a strategy by itself is that of no object: it may be like the names that compare takes.
func TestAStrategyHasAnyName(t *testing.T) {
	in := strings.Replace(fleet(), "kind: RolloutStrategy\n", "kind: RolloutStrategy\nmetadata: {name: A-fast one}\n", 1)
	if got := simulateText(t, in, "-f", "-"); !strings.Contains(got, "\nRolloutStrategy A-fast one: Progressive") {
		t.Error(got)
	}
}
