// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	workv1alpha1 "open-cluster-management.io/api/work/v1alpha1"

	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/status"
)

// In each wave: time, started, in flight, being validated, done; or soaking, where clusters do that. Two of four clusters go at a time, and two may fail.
func TestFlagsOfValidation(t *testing.T) {
	plain := strings.Replace(fleet(), "{after: 1h}", "{names: [none]}", 1)
	deadline := strings.Replace(plain, "maxFailures: 2", "maxFailures: 2, progressDeadline: 20m, minSuccessTime: 3m", 1)
	for _, test := range []struct {
		why, in string
		args    []string
		want    string
	}{
		{"each is validated for as long as that", plain, []string{"--validates", "15m"}, "0s 2 2 0 0, 10m 0 2 2 0, 25m 2 2 0 2, 35m 0 2 2 2, 50m 0 0 0 4"},
		{"for 5 minutes by default", plain, []string{"--not-good", "d"}, "0s 2 2 0 0, 10m 0 2 2 0, 15m 2 2 0 2, 25m 0 2 2 2, 30m 0 1 0 3"},
		{"the deadline begins anew with the success, and the soak with the yes", deadline, []string{"--takes", "15m", "--validates", "15m"},
			"0s 2 2 0 0, 15m 0 2 2 0, 30m 0 2 0 2, 33m 2 2 0 0, 48m 0 2 2 0, 1h3m 0 2 0 2, 1h6m 0 0 0 0"},
		{"a no that becomes a yes", plain, []string{"--not-good", "[ab]", "--recover", "7m"}, "0s 2 2 0 0, 10m 0 2 2 0, 15m 0 2 0 0, 22m 2 2 0 2, 32m 0 2 2 2, 37m 0 0 0 4"},
		{"two get no verdict until an hour after their success", plain, []string{"--never-validated", "a", "--never-validated", "b", "--recover", "1h"},
			"0s 2 2 0 0, 10m 0 2 2 0, 1h10m 2 2 0 2, 1h20m 0 2 2 2, 1h25m 0 0 0 4"},
		{"a share, drawn", plain, []string{"--not-good", "100%", "--seed", "3"}, "0s 2 2 0 0, 10m 0 2 2 0, 15m 0 2 0 0"},
		{"a chance", plain, []string{"--not-good-rate", "1"}, "0s 2 2 0 0, 10m 0 2 2 0, 15m 0 2 0 0"},
		{"the Behavior says so", strings.Replace(plain, "{names: [none]}", "{names: [a], outcome: NotGood, validatedAfter: 30m}", 1), nil, "0s 2 2 0 0, 10m 0 2 2 0, 15m 1 2 1 1, 25m 0 2 2 1, 30m 1 2 1 2, 40m 0 2 1 2, 45m 0 1 0 3"},
		{"a cluster that failed is validated when it succeeds", plain, []string{"--fail", "a=1m", "--recover", "30m", "--validates", "2m"},
			"0s 2 2 0 0, 1m 0 2 0 0, 10m 0 2 1 0, 12m 1 2 0 1, 22m 0 2 1 1, 24m 1 2 0 2, 31m 0 2 1 2, 33m 0 1 0 3, 34m 0 1 1 3, 36m 0 0 0 4"},
		{"what was not found good is tried again", plain, []string{"--not-good", "[ab]", "--retry", "1/30m", "--fail-attempts", "1"},
			"0s 2 2 0 0, 10m 0 2 2 0, 15m 0 2 0 0, 45m 2 2 0 0, attempt 1 begins: retry a, 55m 0 2 2 0, 1h 2 2 0 2, 1h10m 0 2 2 2, 1h15m 0 0 0 4"},
	} {
		t.Run(test.why, func(t *testing.T) {
			if got := waves(t, test.in, test.args...); got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
		})
	}
}

// A flag of validation that changes nothing says so, and one that does, does not. Wrong ones are refused.
func TestFlagsOfValidationSayWhatTheyDo(t *testing.T) {
	judged := strings.Replace(fleet(), "after: 1h}", "after: 1h, validatedAfter: 1m}", 1)
	policy := documents(aCluster, aPlacement, aBinding, aPolicy)
	for _, test := range []struct {
		in   string
		args []string
		want string // of the notes; none if it is empty
	}{
		{policy, []string{"--validates", "1m"}, "note: --validates: no effect, a forecast of a policy finds each cluster good at once\n"},
		{policy, []string{"--not-good-rate", "5%"}, "note: --not-good-rate: no effect, a forecast of a policy finds each cluster good at once\n"},
		{judged, []string{"--validates", "1m"}, "note: --validates: no effect, other flags or the Behavior say of every cluster when its verdict comes, or that none does\n"},
		{fleet(), []string{"--never-validated", "*", "--validates", "1m"}, "note: --validates: no effect, "},
		{fleet(), []string{"--never-validated", "*", "--recover", "2h", "--validates", "1m"}, "note: --validates: no effect, "},
		{fleet(), []string{"--validates", "1m", "--seed", "2"}, "note: --seed: no effect, nothing is drawn at random\n"},
		{judged, []string{"--validates", "1m-2m", "--seed", "2"}, "note: --seed: no effect, nothing is drawn at random\n"},
		{fleet(), []string{"--not-good", "a", "--not-good", "[ab]"}, ""},
		{fleet(), []string{"--not-good", "*", "--not-good", "b"}, "note: --not-good b: no effect, other flags say how its clusters behave\n"},
		{fleet(), []string{"--validates", "1m-2m", "--seed", "2"}, ""},
		{judged, []string{"--not-good", "1", "--seed", "2"}, ""},
		{strings.Replace(judged, "validatedAfter: 1m", "validatedAfter: 1m-2m", 1), []string{"--seed", "2"}, ""},
		{fleet(), []string{"--not-good-rate", "50%", "--seed", "2", "--recover", "1h"}, ""},
	} {
		got := simulateText(t, test.in, append(test.args, "-f", "-")...)
		if test.want != "" && !strings.Contains(got, test.want) || test.want == "" && strings.Contains(got, "no effect") {
			t.Errorf("%v: want %q in\n%s", test.args, test.want, got)
		}
	}
	for _, test := range []struct {
		args []string
		want string
	}{
		{[]string{"--validates", "soon"}, "must be a time such as 30s or 30m"},
		{[]string{"--validates", "1h-9000h"}, "--validates 1h-9000h: must be from 0s to 8760h"},
		{[]string{"--not-good", "120%"}, "--not-good 120%: must be a count, or a percentage from 0% to 100%"},
		{[]string{"--not-good", "edge"}, "--not-good edge: must name a cluster that is selected, or be a pattern for some"},
		{[]string{"--never-validated", "["}, "--never-validated [: must be a name or a pattern"},
		{[]string{"--fail", "a", "--not-good", "a"}, "--not-good a: must not be given with --fail a, which says something else of the same clusters"},
		{[]string{"--recover", "1h"}, "--not-good, --not-good-rate or --never-validated"},
	} {
		if got := refused(t, fleet(), append(test.args, "-f", "-")...); !strings.Contains(got, test.want) {
			t.Errorf("%v: %s, want %s", test.args, got, test.want)
		}
	}
}

// A forecast of a policy validates no cluster, whatever flags say of that.
func TestAPolicyIsPlayedWithoutValidation(t *testing.T) {
	policy := documents(aCluster, aPlacement, aBinding, aPolicy)
	note := regexp.MustCompile(`(?m)^note: .*\n`)
	want := note.ReplaceAllString(simulateText(t, policy, "-f", "-"), "")
	if got := note.ReplaceAllString(simulateText(t, policy, "-f", "-", "--validates", "1h", "--not-good", "a"), ""); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// A cluster that is being validated has succeeded, so it has no chance to fail any more; a further validated cluster ends no wait.
func TestExplainWithValidation(t *testing.T) {
	slow := strings.Replace(fleet(), "{after: 1h}", "{names: [b], after: 15m}, {names: [none]}", 1)
	for _, test := range []struct {
		in   string
		args []string
		want string
	}{
		{validatedSet(t, ""), []string{"explain", "b", "--fail-rate", "1", "--start", "2025-01-01T01:00:00Z", "--validates", "15m"}, "\n01:05   succeeds and is done: it is found good\n"},
		{validatedSet(t, ""), []string{"explain", "c", "--fail-rate", "1", "--start", "2025-01-01T01:00:00Z", "--validates", "15m", "--takes", "4m"}, "\n01:05:30 fails; to do, one of: (1) fix the workload on c;"},
		{slow, []string{"explain", "c", "--validates", "5m"}, "\n15m     starts: a is done\n"},
		{slow, []string{"explain", "b", "--not-good", "b"}, "\n10m     succeeds, and waits for validation\n15m     fails: it is not found good; to do, one of: (1) fix the workload on b; (2) retry the failed clusters: raise the rollout's attempt number to 1\n"},
		{strings.Replace(slow, "maxFailures: 2", "maxFailures: 2, progressDeadline: 20m", 1), []string{"explain", "b", "--never-validated", "b"},
			"\n30m     times out: it got no verdict; to do, one of: (1) validate the version on b, and record the verdict; (2) fix the workload on b; (3) retry the failed clusters: raise the rollout's attempt number to 1\n"},
		{slow, []string{"exposure", "--takes", "10m", "--validates", "5m-7m"}, "Done after 30m to 34m if all goes well."},
		{validatedSet(t, ""), []string{"exposure", "--takes", "10m", "--validates", "2m"}, "Done after 24m if all goes well."},
		{slow, []string{"plan", "--chart", "--validates", "5m"}, "wait for validation"},
	} {
		if got := simulateText(t, test.in, append(test.args, "-f", "-")...); !strings.Contains(got, test.want) {
			t.Errorf("%v: no %q in\n%s", test.args, test.want, got)
		}
	}
}

// A cluster that is validated when stands in JSON.
func TestTheWavesNameValidatedClusters(t *testing.T) {
	var got struct {
		Waves []struct{ Validating, Succeeded []string }
	}
	if err := json.Unmarshal([]byte(simulateText(t, fleet(), "-f", "-", "-o", "json", "--validates", "5m")), &got); err != nil {
		t.Fatal(err)
	}
	if text := fmt.Sprint(got.Waves); text != "[{[] []} {[a b] []} {[] [a b]} {[c d] []} {[] [c d]}]" {
		t.Error(text)
	}
}

// lived is a rollout over a, b, c and d, two at a time, that began at a minute of the day and where all take as long, with its past until
// a minute as a dump of its hub.
type lived struct {
	soak, takes, validates int
	notGood                string // the cluster that is not found good
	starts                 map[string]int
}

// report is what the hub says of a cluster at a minute, before it is judged, and the verdict on it.
func (l lived) report(cluster string, minute int) (r status.Report, said status.Verdict) {
	start, started := l.starts[cluster]
	if !started {
		return status.Report{Cluster: cluster, Status: status.ToApply}, said
	}
	r = status.Report{Cluster: cluster, Status: status.Progressing, LastTransitionTime: at(start), Applied: at(start)}
	if minute >= start+l.takes {
		r.Status, r.LastTransitionTime = status.Succeeded, at(start+l.takes)
	}
	if minute >= start+l.takes+l.validates {
		said = status.Verdict{Cluster: cluster, Version: versionOf("v3"), Result: status.ValidationSucceeded, Time: at(start + l.takes + l.validates)}
		if cluster == l.notGood {
			said.Result, said.Message = status.ValidationFailed, "no route"
		}
	}
	return r, said
}

// dump is the hub at a minute.
func (l lived) dump(t *testing.T, minute int) string {
	t.Helper()
	texts := []string{thirdVersion(t, time.Duration(l.soak)*time.Minute, func(set *workv1alpha1.ManifestWorkReplicaSet) {
		set.Annotations = map[string]string{"cohort.open-cluster-management.io/plugin": "mesh"}
	}, "p"), decisionOf("a", "b", "c", "d")}
	for _, cluster := range []string{"a", "b", "c", "d"} {
		w := liveWork{cluster: cluster, spec: "v2", stamp: versionOf("v2"), stamped: -990, status: status.Succeeded, since: -980}
		if start, started := l.starts[cluster]; started {
			r, said := l.report(cluster, minute)
			w = liveWork{cluster: cluster, spec: "v3", stamp: versionOf("v3"), stamped: start, status: r.Status, since: int(r.LastTransitionTime.Sub(atOne).Minutes())}
			if said.Result != "" {
				w.verdict = verdictOn(string(said.Result), said.Message, said.Version, said.Time.Format(time.RFC3339))
			}
		}
		texts = append(texts, w.yaml(t))
	}
	return documents(texts...)
}

// live plays the rollout minute by minute, as its controller does, and calls do after each. It gives the minute after which nothing
// changes any more, of clusters that start and end.
func (l lived) live(t *testing.T, minutes int, do func(minute int)) (end int, counts status.Counts) {
	t.Helper()
	groups, err := grouping.FromNames(map[grouping.Key][]string{{}: {"a", "b", "c", "d"}})
	if err != nil {
		t.Fatal(err)
	}
	strategy := strategyOf(t, fmt.Sprintf(`{type: Progressive, progressive: {maxConcurrency: 2, progressDeadline: 30m, minSuccessTime: %dm}}`, l.soak))
	for minute := range minutes {
		for planned := false; !planned; {
			var reports []status.Report
			var verdicts []status.Verdict
			for _, cluster := range []string{"a", "b", "c", "d"} {
				r, said := l.report(cluster, minute)
				reports, verdicts = append(reports, r), append(verdicts, said)
			}
			result, err := rollout.Plan(strategy, groups, status.Judge(reports, versionOf("v3"), verdicts), at(minute), rollout.Options{})
			if err != nil {
				t.Fatal(err)
			}
			for _, c := range result.Start {
				l.starts[c.Name] = minute
			}
			if planned = len(result.Start) == 0; planned && result.Next.Counts != counts {
				end, counts = minute, result.Next.Counts
			}
		}
		do(minute)
	}
	return end, counts
}

// At each minute of a rollout the forecast is what comes: by flags, and once there is a verdict by what the hub says, too. What takes
// 7 minutes to succeed and 23 to be found good would time out if that were one time.
func TestTheForecastIsWhatComes(t *testing.T) {
	for _, l := range []lived{
		{soak: 4, takes: 7, validates: 23}, {takes: 1, validates: 29}, {takes: 12, validates: 5}, {takes: 20, validates: 29, soak: 9}, {takes: 7, validates: 3, notGood: "c"},
	} {
		l.starts = make(map[string]int)
		forecasts := make(map[string][]int) // the minutes, by what was forecast
		flags := []string{"--takes", fmt.Sprintf("%dm", l.takes), "--validates", fmt.Sprintf("%dm", l.validates), "--fail-rate", "0%"}
		if l.notGood != "" {
			flags = append(flags, "--not-good", l.notGood)
		}
		learned := l.takes + l.validates
		end, counts := l.live(t, 200, func(minute int) {
			var got struct {
				Waves []struct {
					After  string
					Counts status.Counts
				}
			}
			for from, args := range map[int][]string{0: flags, learned: nil} {
				if minute < from || args == nil && l.notGood != "" || minute%3 > 0 {
					continue
				}
				text := simulateText(t, l.dump(t, minute), append([]string{"-f", "-", "-o", "json", "--start", at(minute).Format(time.RFC3339)}, args...)...)
				if err := json.Unmarshal([]byte(text), &got); err != nil {
					t.Fatal(err)
				}
				last := len(got.Waves) - 1
				for last > 0 && got.Waves[last-1].Counts == got.Waves[last].Counts {
					last--
				}
				after, err := time.ParseDuration(got.Waves[last].After)
				if err != nil {
					t.Fatal(err)
				}
				key := fmt.Sprintf("%v at minute %d", got.Waves[last].Counts, minute+int(after.Minutes()))
				if last == 0 {
					key = fmt.Sprintf("%v", got.Waves[last].Counts)
				}
				forecasts[key] = append(forecasts[key], minute)
			}
		})
		for minute := 0; l.notGood == "" && minute < end; minute += 30 { // with other luck, too
			l.starts = make(map[string]int)
			l.live(t, minute+1, func(int) {})
			got := simulateText(t, l.dump(t, minute), append([]string{"status", "-f", "-", "--start", at(minute).Format(time.RFC3339)}, flags[:4]...)...)
			if want := fmt.Sprintf("forecast: Complete at %s, in 20 of 20 plays", at(end).Format("15:04")); !strings.Contains(got, want) {
				t.Errorf("%d and %d minutes, at %d: no %q in\n%s", l.takes, l.validates, minute, want, got)
			}
		}
		for forecast, minutes := range forecasts {
			if forecast != fmt.Sprintf("%v at minute %d", counts, end) && (forecast != counts.String() || minutes[0] < end) {
				t.Errorf("%d and %d minutes, soak %d: forecast at minutes %v: %s; it was %v at minute %d", l.takes, l.validates, l.soak, minutes, forecast, counts, end)
			}
		}
		if len(forecasts) != 2 {
			t.Errorf("%d and %d minutes: %d forecasts, want one before the end and one after it", l.takes, l.validates, len(forecasts))
		}
	}
}
