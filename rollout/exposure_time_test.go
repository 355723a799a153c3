// SPDX-License-Identifier: Apache-2.0

package rollout_test

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/internal/exhaustive"
	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/rollout/exposure"
	"github.com/cohort-ocm/cohort/status"
)

// played is how long it takes until each stage and all that it comes after are complete, where the clusters take these times and
// a controller acts at once. It asks nothing but Plan, and waits for nothing but what Plan says.
func played(t fataler, w world, groups *grouping.Groups, takes []time.Duration) (done []time.Duration) {
	t.Helper()
	begin, ends := w.now, make([]time.Time, len(w.members))
	for range 1000 {
		w.reports = w.reports[:0]
		for i, m := range w.members {
			switch end := ends[i]; {
			case end.IsZero():
			case end.After(w.now):
				w.reports = append(w.reports, status.Report{Cluster: m.name, Status: status.Progressing, Applied: end.Add(-takes[i])})
			default:
				w.reports = append(w.reports, status.Report{Cluster: m.name, Status: status.Succeeded, LastTransitionTime: end, Applied: end.Add(-takes[i])})
			}
		}
		result, err := rollout.Plan(w.strategy, groups, w.reports, w.now, w.options())
		if err != nil {
			t.Fatal(err)
		}
		settled := make(map[grouping.Key]int)
		for c := range result.Settled() {
			if w.ignored == nil || !w.ignored(c.Name) {
				settled[c.Group]++
			}
		}
		if done == nil {
			for range result.Schedule.Stages {
				done = append(done, -1)
			}
		}
		for i, stage := range result.Schedule.Stages {
			n := stage.Clusters - stage.Ignored
			for _, key := range stage.Groups {
				n -= settled[key]
			}
			for _, before := range beforeOf(result.Schedule)[i] {
				if done[before] < 0 {
					n++
				}
			}
			if n == 0 && done[i] < 0 {
				done[i] = w.now.Sub(begin)
			}
		}
		if !slices.Contains(done, -1) {
			return done
		}
		for _, c := range result.Start {
			i := slices.IndexFunc(w.members, func(m member) bool { return m.name == c.Name })
			ends[i] = w.now.Add(takes[i])
		}
		if len(result.Start) > 0 {
			continue // a cluster may take no time
		}
		next := time.Duration(math.MaxInt64)
		if result.RecheckAfter > 0 {
			next = result.RecheckAfter
		}
		for _, end := range ends {
			if end.After(w.now) {
				next = min(next, end.Sub(w.now))
			}
		}
		if next == math.MaxInt64 {
			t.Fatal("nothing happens any more: ", result)
		}
		w.now = w.now.Add(next)
	}
	t.Fatal("it does not end")
	return nil
}

// timedWorlds are strategies and gates over each fleet. Times are such that no two sums of them are equal by accident.
func timedWorlds(fleets []world) (all []world) {
	gates := func(w world, i int) []closedGate {
		var gates []closedGate
		for _, g := range w.groups {
			opens := []time.Duration{-1, 0, 0, 7 * time.Minute, 16 * time.Minute, time.Hour}[i%6]
			if i /= 6; opens != 0 {
				gates = append(gates, closedGate{g, rollout.Gate{Opens: now.Add(opens)}})
			}
		}
		return gates
	}
	for _, s := range searchedWorlds(fleets) {
		if s.deadline || s.failedFrees {
			continue // neither has a part
		}
		w := s.world
		all = append(all, w)
		w.gates = gates(w, len(all)*7)
		if n := len(all) / 2; n%3 == 0 {
			w.starts = &startLimit{1 + n/3%3, []time.Duration{4 * time.Minute, 11 * time.Minute, 31 * time.Minute}[n/9%3]}
		}
		if n := len(all) / 2; n%4 == 1 {
			w.wait = []time.Duration{3 * time.Minute, 23 * time.Minute}[n/4%2]
		}
		all = append(all, w)
	}
	return all
}

func isGraph(t fataler, w world, groups *grouping.Groups) bool {
	result, err := rollout.Plan(w.strategy, groups, nil, w.now, w.options())
	if err != nil {
		t.Fatal(err)
	}
	return result.Schedule.After != nil
}

// finishFault says where Finish is not the shortest and the longest of all rollouts in which each cluster takes the shortest or the longest
// time, or one in between.
func finishFault(t fataler, w world) string {
	t.Helper()
	life := exposure.Span{Shortest: 5 * time.Minute, Longest: 13 * time.Minute}
	lives := []time.Duration{life.Shortest, 9 * time.Minute, life.Longest}
	groups, isPaced := w.read(t), w.ramp > 0 || w.starts != nil
	e, err := exposure.Of(w.strategy, groups, life, now, w.options())
	if err != nil {
		t.Fatal(err)
	}
	got := make([]exposure.Span, len(e.Stages))
	for i := range got {
		got[i] = exposure.Span{Shortest: math.MaxInt64}
	}
	fleet := exposure.Span{Shortest: math.MaxInt64}
	histories := 1
	for range w.members {
		histories *= len(lives)
	}
	for i := range histories {
		var takes []time.Duration
		for range w.members {
			takes = append(takes, lives[i%len(lives)])
			i /= len(lives)
		}
		done := played(t, w, groups, takes)
		for stage, end := range done {
			got[stage].Shortest = min(got[stage].Shortest, end)
			got[stage].Longest = max(got[stage].Longest, end)
		}
		last := slices.Max(append(done, 0))
		fleet.Shortest, fleet.Longest = min(fleet.Shortest, last), max(fleet.Longest, last)
	}
	for i, stage := range e.Stages {
		if within := stage.Finish.Shortest <= got[i].Shortest && stage.Finish.Longest == math.MaxInt64; within && isPaced && isGraph(t, w, groups) {
			continue // which cluster waits for which there is not looked at
		}
		if stage.Finish != got[i] {
			return fmt.Sprintf("%v\nbut the search finds %v", stage, got[i])
		}
	}
	if within := e.Finish.Shortest <= fleet.Shortest && e.Finish.Longest == math.MaxInt64; within && isPaced && isGraph(t, w, groups) {
		return ""
	}
	if e.Finish != fleet {
		return fmt.Sprintf("%v is not how long the rollout takes, %v", e.Finish, fleet)
	}
	return ""
}

// R41: in every fleet of four clusters, the shortest and the longest of all rollouts are what Exposure says, for each stage.
func TestFinishIsTheShortestAndLongestOfAllRolloutsInEveryFleetOfUpToFourClusters(t *testing.T) {
	t.Parallel()
	all := timedWorlds(exposureFleets(4))
	random := rand.New(rand.NewPCG(4, 41))
	random.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	for _, w := range all[:exhaustive.Of(40, 600, 4000)] {
		if fault := finishFault(t, w); fault != "" {
			t.Fatalf("%v\n%s", w, fault)
		}
	}
}

// R41: rollouts whose length is easily miscounted, each with the reason.
func TestFinishIsTheShortestAndLongestOfAllRolloutsWhereThatIsHard(t *testing.T) {
	opens := func(group int, after time.Duration) closedGate {
		return closedGate{plainKeys[group], rollout.Gate{Opens: now.Add(after)}}
	}
	for _, c := range []struct {
		why  string
		cut  []int
		make func(w *world)
	}{
		{"an ignored cluster needs no slot behind a gate either", []int{0, 1, 1}, func(w *world) {
			w.strategy, w.gates, w.ignored = progressive("", config("", "", 0)), []closedGate{opens(1, 7*minute)}, of("c")
		}},
		{"nothing waits for a gate before ignored clusters alone", []int{0, 1}, func(w *world) {
			w.strategy, w.gates, w.ignored = progressive("", config("", "", 0)), []closedGate{opens(1, time.Hour)}, of("b")
		}},
		{"the wait between groups begins with the success, before the soak", []int{0, 1}, func(w *world) {
			w.strategy, w.wait = perGroup(config("", "", minute)), 3*minute
		}},
		{"one that soaked in the first group lets two of the next start by a ramp of one", []int{0, 0, 1, 1}, func(w *world) {
			w.strategy, w.ramp = perGroup(config("", "", 0)), 1
		}},
		{"one that starts late in the first group puts off the start of the next", []int{0, 1}, func(w *world) {
			w.strategy, w.gates, w.starts = perGroup(config("", "", 0)), []closedGate{opens(0, 7*minute)}, &startLimit{1, 31 * minute}
		}},
	} {
		t.Run(c.why, func(t *testing.T) {
			w := cutFleet(c.cut, plainKeys, 0)
			c.make(&w)
			if fault := finishFault(t, w); fault != "" {
				t.Error(fault)
			}
		})
	}
}

// R36, R41: where groups go side by side, the shortest time has the starts that all of a fleet, or of a way to a group, share.
func TestFinishOfGroupsSideBySideHasTheStartsBetweenThem(t *testing.T) {
	life := exposure.Span{Shortest: 4 * time.Minute, Longest: 4 * time.Minute}
	starts := rollout.Options{MaxStarts: &rollout.StartLimit{Count: 1, Per: metav1.Duration{Duration: time.Hour}}}
	for _, c := range []struct {
		why   string
		opts  rollout.Options
		want  string
		third string // group
	}{
		{"all share the starts", merged(rollout.Options{GroupOrder: rollout.GroupOrder{}}, starts), "4h4m0s or more", "4m0s or more"},
		{"two at a time", rollout.Options{GroupOrder: rollout.GroupOrder{}, MaxStarts: &rollout.StartLimit{Count: 2, Per: metav1.Duration{Duration: time.Hour}}}, "2h4m0s or more", "4m0s or more"},
		{"a way to the third has four", merged(rollout.Options{GroupOrder: rollout.GroupOrder{"g2": {"g0"}}}, starts), "4h4m0s or more", "2h4m0s or more"},
		{"an ignored cluster has no part", merged(rollout.Options{GroupOrder: rollout.GroupOrder{}}, starts, rollout.Options{Ignored: []string{"b"}}), "3h4m0s or more", "4m0s or more"},
	} {
		groups := newFleet(t).group("g0", "a", "b").group("g1", "c", "d").group("g2", "e").read()
		e, err := exposure.Of(perGroup(config("", "", 0)), groups, life, now, c.opts)
		if err != nil {
			t.Fatal(err)
		}
		if e.Finish.String() != c.want || e.Stages[2].Finish.String() != c.third {
			t.Errorf("%s: got %v, the third group %v, want %s and %s", c.why, e.Finish, e.Stages[2].Finish, c.want, c.third)
		}
	}
}

// R41: what is unknown is longer than any bound, also in sums, and its JSON leaves it out.
func TestFinishThatIsUnknown(t *testing.T) {
	life := exposure.Span{Shortest: time.Hour, Longest: 2 * time.Hour}
	closed := rollout.Options{Gates: []rollout.ClosedGate{{Group: grouping.Key{Index: 1}, Gate: rollout.Gate{Name: "approval"}}}}
	year := 365 * 24 * time.Hour
	for _, c := range []struct {
		why  string
		life exposure.Span
		opts rollout.Options
		want string
		json string
	}{
		{"both are known", life, rollout.Options{}, "2h0m0s to 4h0m0s", `{"shortest":"2h0m0s","longest":"4h0m0s"}`},
		{"both are the same", exposure.Span{Shortest: time.Hour, Longest: time.Hour}, rollout.Options{}, "2h0m0s", `{"shortest":"2h0m0s","longest":"2h0m0s"}`},
		{"a gate may open at once or never", life, merged(closed), "2h0m0s or more", `{"shortest":"2h0m0s"}`},
		{"so may a pause end", life, rollout.Options{Paused: true}, "2h0m0s or more", `{"shortest":"2h0m0s"}`},
		{"a sum too long for a Duration", exposure.Span{Longest: 200 * year}, rollout.Options{}, "0s or more", `{"shortest":"0s"}`},
		{"it stands as it is", exposure.Span{Longest: math.MaxInt64}, rollout.Options{}, "0s or more", `{"shortest":"0s"}`},
		{
			"the longest sum of two that a Duration holds", exposure.Span{Longest: math.MaxInt64 / 2}, rollout.Options{MaxConcurrencyPerGroup: intstr.FromInt32(1), Ignored: []string{"c"}},
			"0s to 2562047h47m16.854775806s", `{"shortest":"0s","longest":"2562047h47m16.854775806s"}`,
		},
	} {
		e, err := exposure.Of(perGroup(config("", "", 0)), fleetOf(t, "a b", "c").read(), c.life, now, c.opts)
		if err != nil {
			t.Fatal(err)
		}
		text, err := json.Marshal(e.Finish)
		if got := e.Finish.String(); got != c.want || string(text) != c.json || err != nil {
			t.Errorf("%s: got %s, %s, %v, want %s, %s", c.why, got, text, err, c.want, c.json)
		}
	}
}
