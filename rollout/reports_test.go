package rollout_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation/field"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/status"
)

// R1: what a report may say, and that faulty ones are all named.
func TestReports(t *testing.T) {
	oneByOne := progressive("1", config("100%", "", 0))
	play(t, []scene{
		{
			name:     "R1 a status from a newer API is in flight",
			strategy: oneByOne, groups: []string{"a b"}, reports: "a=Degraded",
			want: "in flight a; 1 held: no free slot: 1 in flight, 1 at a time",
		}, {
			name:     "R1 an empty status is one too",
			strategy: oneByOne, groups: []string{"a b"}, reports: "a=",
			want: "in flight a; 1 held: no free slot: 1 in flight, 1 at a time",
		}, {
			name:     "R1 statuses are case sensitive",
			strategy: oneByOne, groups: []string{"a b"}, reports: "a=succeeded",
			want: "in flight a; 1 held: no free slot: 1 in flight, 1 at a time",
		}, {
			name:     "R1 no reports, nothing has begun",
			strategy: oneByOne, groups: []string{"a b"},
			want: "start a; 1 held: no free slot: 0 in flight and 1 starting, 1 at a time",
		},
	})

	play(t, []scene{
		{
			name:     "R1 two reports count as one, by the one that holds back most, in any order",
			strategy: oneByOne, groups: []string{"a b"}, reports: "a=Succeeded a=Failed",
			want: "in flight a; 1 held: no free slot: 1 in flight, 1 at a time; 1 of them failed: a failed cluster keeps its slot until it recovers, " +
				"as there is no progressDeadline",
		}, {
			name:     "R1 and have no other effect: the deadline of the one that doesn't count is none",
			strategy: progressive("1", config("100%", "10m", 0)), groups: []string{"a b"}, reports: "a=Progressing/3m a=TimeOut/9m",
			want: "start b",
		}, {
			name:     "R1 of equals the later counts, whichever of its times it is",
			strategy: all("10m"), groups: []string{"a b"}, reports: "a=Progressing/9m a=Progressing/2m b=Progressing/9m b=ToApply/9m@1m",
			want: "in flight a b; recheck after 8m0s",
		}, {
			name:     "R1 three that failed are one failure",
			strategy: perGroup(config("1", "", 0)), groups: []string{"a b c"}, reports: "a=TimeOut a=TimeOut a=TimeOut",
			want: "start b c",
		}, {
			name:     "R1 a cluster that is not selected is removed once",
			strategy: oneByOne, groups: []string{"a"}, reports: "a=Skip x=Failed y=Skip x=Failed x=ToApply",
			want: "removed x y",
		},
	})
	t.Run("R1 several reports are warned of", func(t *testing.T) {
		for _, c := range []struct{ reports, want string }{
			{"a=Failed b=Failed", ""},
			{"a=Skip a=Skip", "a has several reports: the one that holds the rollout back most counts"},
			{"x=Skip b=Skip x=Skip b=Skip b=Failed", "b and 1 more cluster have several reports: the one that holds the rollout back most counts"},
			{"x=Skip b=Skip x=Skip b=Skip y=Failed y=Failed x=Skip", "b and 2 more clusters have several reports: the one that holds the rollout back most counts"},
		} {
			if got := warningsOf(t, scene{strategy: oneByOne, groups: []string{"a b"}, reports: c.reports}); got != c.want {
				t.Errorf("%s: %s, want %s", c.reports, got, c.want)
			}
		}
	})
	t.Run("R1 reports without a name are errors, all at once", func(t *testing.T) {
		result, err := rollout.Plan(oneByOne, fleetOf(t, "a b").read(), reportsOf(t, "x=Skip b=Skip =Skip b=Skip =Skip"), now)
		want := "reports[2].cluster: Required value: must be the name of a ManagedCluster\n" +
			"reports[4].cluster: Required value: must be the name of a ManagedCluster"
		if result != nil || err == nil || err.Error() != want {
			t.Errorf("Plan = %v\n%v\nwant\n%v", result, err, want)
		}
		var fieldErr *field.Error
		if !errors.As(err, &fieldErr) {
			t.Error("no *field.Error in it")
		}
	})
}

// warningsOf are those of a scene, in words.
func warningsOf(t *testing.T, s scene) string {
	t.Helper()
	var all []string
	for _, w := range plan(t, s).Warnings {
		all = append(all, w.String())
	}
	return strings.Join(all, "; ")
}

// R27: the version that was applied.
func TestApplied(t *testing.T) {
	play(t, []scene{
		{
			name:     "R27 a silent agent is in flight since the workload was applied",
			strategy: progressive("1", config("", "10m", 0)), groups: []string{"a b"}, reports: "a=ToApply@1m",
			want: "in flight a; 1 held: no free slot: 1 in flight, 1 at a time; recheck after 9m0s",
		}, {
			name:     "R27 and times out",
			strategy: progressive("1", config("", "10m", 0)), groups: []string{"a b"}, reports: "a=ToApply/1h@10m",
			want: "timed out a; 1 held: stopped: 1 failed, 0 tolerated",
		}, {
			name:     "R27 a failure of the version before does not time out at once",
			strategy: all("10m"), groups: []string{"a"}, reports: "a=Failed/2h@1m",
			want: "in flight a; recheck after 9m0s",
		}, {
			name:     "R27 a transition after it counts",
			strategy: all("10m"), groups: []string{"a"}, reports: "a=Failed/1m@2h",
			want: "in flight a; recheck after 9m0s",
		}, {
			name:     "R27 the soak is that of the present version",
			strategy: perGroup(config("", "", time.Hour)), groups: []string{"a", "b"}, reports: "a=Succeeded/720h@1m",
			want: "in flight a; 1 held: waiting for group 0; recheck after 59m0s",
		}, {
			name:     "R27 applied is a time, where nobody knows of a transition",
			strategy: all("10m"), groups: []string{"a b"}, reports: "a=Progressing@1m b=Degraded@10m",
			want: "in flight a; timed out b; recheck after 9m0s",
		}, {
			name:     "R27 ToApply without it waits, however old",
			strategy: all("10m"), groups: []string{"a"}, reports: "a=ToApply/2h",
			want: "start a",
		},
	})
}

// R2: what counts as a failure, R3: what is in flight.
func TestFailuresAndInFlight(t *testing.T) {
	play(t, []scene{
		{
			name:     "R2 Failed, TimeOut and what the deadline made of Progressing and Failed",
			strategy: perGroup(config("3", "10m", 0)), groups: []string{"a b c d e"},
			reports: "a=Failed/1m b=TimeOut/1m c=Progressing/10m d=Failed/11m",
			want:    "in flight a; timed out c d; 1 held: stopped: 4 failed in group 0, 3 tolerated; recheck after 9m0s",
		}, {
			name:     "R2 Skip, soaking and Progressing are none",
			strategy: perGroup(config("", "10m", time.Hour)), groups: []string{"a b c d"},
			reports: "a=Skip b=Succeeded/1m c=Progressing/1m",
			want:    "start d; in flight b c; recheck after 9m0s",
		}, {
			name:     "R3 in flight are Progressing, Failed and soaking, over any limit",
			strategy: progressive("1", config("5", "10m", time.Hour)), groups: []string{"a b c d e f"},
			reports: "f=Progressing/1m e=Failed/1m d=Succeeded/1m c=Succeeded/2h b=Skip",
			want: "in flight d e f; 1 held: no free slot: 3 in flight, 1 at a time; 1 of them failed: a failed cluster keeps its slot until its deadline; " +
				"recheck after 9m0s",
		}, {
			name:     "R3 in flight past a breach and in later groups",
			strategy: perGroup(config("", "", 0)), groups: []string{"a b", "c d"},
			reports: "a=TimeOut d=Progressing",
			want:    "in flight d; 2 held: stopped: 1 failed in group 0, 0 tolerated",
		},
	})
}

// R4: deadlines.
func TestProgressDeadline(t *testing.T) {
	both := "a=Progressing/10m b=Failed/10m c=Progressing/599999999999ns d=Failed/599999999999ns"
	play(t, []scene{
		{
			name:     "R4 at the deadline is past it, a nanosecond before is not",
			strategy: all("10m"), groups: []string{"a b c d"}, reports: both,
			want: "in flight c d; timed out a b; recheck after 1ns",
		}, {
			name:     "R4 None is never",
			strategy: all("None"), groups: []string{"a b c d"}, reports: both,
			want: "in flight a b c d",
		}, {
			name:     "R4 empty is never",
			strategy: all(""), groups: []string{"a b c d"}, reports: both,
			want: "in flight a b c d",
		}, {
			name:     "R4 without any time never, and never looked at again",
			strategy: all("10m"), groups: []string{"a b"}, reports: "a=Progressing b=Failed",
			want: "in flight a b",
		}, {
			name:     "R4 nobody knows since when: the reasons say so",
			strategy: progressive("2", config("1", "10m", 0)), groups: []string{"a b c"}, reports: "a=Progressing b=Failed",
			want: "in flight a b; 1 held: no free slot: 2 in flight, 2 at a time; 1 of them failed: a failed cluster keeps its slot until its deadline; " +
				"nobody knows since when 2 of them: they keep their slot until they are reported anew",
		}, {
			name:     "R4 an unknown status times out as well",
			strategy: all("10m"), groups: []string{"a"}, reports: "a=Pending/1h",
			want: "timed out a",
		}, {
			name:     "R4 a transition that lies ahead has all its deadline",
			strategy: all("10m"), groups: []string{"a"}, reports: "a=Progressing/-5m",
			want: "in flight a; recheck after 15m0s",
		}, {
			name:     "R4 only Progressing and Failed, however old the others",
			strategy: all("10m"), groups: []string{"a b c d"}, reports: "a=Succeeded/99h b=Skip/99h c=TimeOut/99h d=ToApply/99h",
			want: "start d",
		},
	})
}

// R5: soaking.
func TestMinSuccessTime(t *testing.T) {
	soak := config("", "", 5*time.Minute)
	play(t, []scene{
		{
			name:     "R5 soaked at the end of MinSuccessTime, not a nanosecond before",
			strategy: perGroup(soak), groups: []string{"a", "b"}, reports: "a=Succeeded/299999999999ns",
			want: "in flight a; 1 held: waiting for group 0; recheck after 1ns",
		}, {
			name:     "R5 and then the next begins",
			strategy: perGroup(soak), groups: []string{"a", "b"}, reports: "a=Succeeded/5m",
			want: "start b",
		}, {
			name:     "R5 without any time soaking, and never looked at again",
			strategy: perGroup(soak), groups: []string{"a", "b"}, reports: "a=Succeeded",
			want: "in flight a; 1 held: waiting for group 0",
		}, {
			name:     "R5 soaking holds a slot",
			strategy: progressive("2", soak), groups: []string{"a b c d"}, reports: "a=Succeeded/2m b=Succeeded/9m",
			want: "start c; in flight a; 1 held: no free slot: 1 in flight and 1 starting, 2 at a time; recheck after 3m0s",
		}, {
			name:     "R5 All does not soak and tolerates every failure",
			strategy: manyStrategies[2], groups: []string{"a b c"}, reports: "a=Succeeded/1m b=TimeOut",
			want: "start c",
		}, {
			name:     "R5 without MinSuccessTime nothing soaks, even if its success lies ahead or nobody knows when",
			strategy: progressive("1", config("", "", 0)), groups: []string{"a b c"}, reports: "a=Succeeded/-1m b=Succeeded",
			want: "start c",
		},
	})
}

// R6: settled and complete, R7: removed.
func TestCompleteAndRemoved(t *testing.T) {
	play(t, []scene{
		{
			name:     "R6 a group of settled clusters is complete, a tolerated failure being one",
			strategy: perGroup(config("2", "10m", time.Minute)), groups: []string{"a b c d", "e"},
			reports: "a=Succeeded/1m b=Skip c=TimeOut d=Failed/1m",
			want:    "start e; in flight d; recheck after 9m0s",
		}, {
			name:     "R6 not with one cluster in flight",
			strategy: perGroup(config("2", "10m", time.Minute)), groups: []string{"a b c d", "e"},
			reports: "a=Succeeded/1m b=Skip c=TimeOut d=Progressing/1m",
			want:    "in flight d; 1 held: waiting for group 0; recheck after 9m0s",
		}, {
			name:     "R6 not with more failures than tolerated",
			strategy: perGroup(config("1", "10m", time.Minute)), groups: []string{"a b c d", "e"},
			reports: "a=Succeeded/1m b=Skip c=TimeOut d=Failed/1m",
			want:    "in flight d; 1 held: stopped: 2 failed in group 0, 1 tolerated; recheck after 9m0s",
		}, {
			name:     "R6 an empty group is complete",
			strategy: perGroup(config("", "", 0)), groups: []string{"", "canary: ", "a"},
			want: "start a",
		}, {
			name:     "R7 a cluster that is not selected is removed and has no other effect",
			strategy: progressive("1", config("", "10m", 0)), groups: []string{"b c"},
			reports: "z=Failed a=Progressing/1m y=TimeOut bb=ToApply",
			want:    "start b; removed a bb y z; 1 held: no free slot: 0 in flight and 1 starting, 1 at a time",
		},
	})
	t.Run("R4 R5 clusters without any time are warned of", func(t *testing.T) {
		strategy := progressive("1", config("9", "10m", time.Minute))
		for _, c := range []struct{ reports, want string }{
			{"a=Progressing/1m b=Succeeded/1m c=Failed@1m d=Skip e=TimeOut", ""},
			{"c=Succeeded", "c is in flight since nobody knows when: neither deadline nor soak ends"},
			{"c=Succeeded b=Failed e=Progressing d=Skip", "b and 2 more clusters are in flight since nobody knows when: neither deadline nor soak ends"},
		} {
			if got := warningsOf(t, scene{strategy: strategy, groups: []string{"a b c d e"}, reports: c.reports}); got != c.want {
				t.Errorf("%s: %s, want %s", c.reports, got, c.want)
			}
		}
		if got := warningsOf(t, scene{strategy: all("None"), groups: []string{"a b"}, reports: "a=Progressing b=Succeeded"}); got != "" {
			t.Errorf("without deadline and soak no time is needed: %s", got)
		}
	})
}

// R28, R7: groups that are incomplete start and remove nobody.
func TestIncompleteGroups(t *testing.T) {
	f := fleetOf(t, "a b")
	placement := &clusterv1beta1.Placement{}
	placement.Namespace, placement.Name, placement.Status.NumberOfSelectedClusters = "ns", "p", 3
	missing, err := grouping.Read(placement, f.decisions)
	if err != nil {
		t.Fatal(err)
	}
	closed := rollout.Closed(grouping.Key{Name: "canary"}, rollout.Gate{})
	result, err := rollout.Plan(progressive("1", config("", "10m", 0), "canary"), missing, reportsOf(t, "x=Failed a=Progressing/1m"), now, closed)
	if err != nil {
		t.Fatal(err)
	}
	const want = "in flight a; 1 held: the groups are incomplete (placement p: 2 of 3 clusters are there); recheck after 9m0s"
	if got := result.String(); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if w := result.Warnings; len(w) != 1 ||
		w[0].String() != "nothing starts and nobody is removed while the groups are incomplete (placement p: 2 of 3 clusters are there)" {
		t.Errorf("warnings %v, want one, and nothing of the missing groups", w)
	}
	t.Run("R7 without any object nobody is removed", func(t *testing.T) {
		result, err := rollout.Plan(all("10m"), nil, reportsOf(t, "b=Progressing/1m a=Failed"), now)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := result.String(), "nothing to do"; got != want {
			t.Errorf("got %s, want %s", got, want)
		}
		if got := result.Summary().Aggregate(); got != status.Progressing {
			t.Errorf("aggregate %v, want Progressing", got)
		}
	})
	t.Run("R7 in a group without clusters all are removed", func(t *testing.T) {
		result := plan(t, scene{groups: []string{""}, reports: "b=Progressing/1m a=Failed"})
		if got, want := result.String(), "removed a b"; got != want {
			t.Errorf("got %s, want %s", got, want)
		}
		if got := result.Summary().Aggregate(); got != status.Succeeded {
			t.Errorf("aggregate %v, want Succeeded", got)
		}
	})
}

// R30: a bound on removals.
func TestMaxRemoved(t *testing.T) {
	most := func(n string) []rollout.Option { return opts(rollout.MaxRemoved(intstr.Parse(n))) }
	s := scene{groups: []string{"a b c"}, reports: "a=Skip b=Skip x=Skip y=Failed x=Skip"} // 4 are reported, c is not
	for _, c := range []struct {
		why  string
		opts []rollout.Option
		want string
	}{
		{"unbounded", nil, "start c; removed x y"},
		{"a count that allows as many", most("2"), "start c; removed x y"},
		{"a count", most("1"), "start c"},
		{"nobody ever", most("0"), "start c"},
		{"a percentage of the reported, rounded up", most("26%"), "start c; removed x y"},
		{"a percentage that allows fewer", most("25%"), "start c"},
	} {
		s.opts = c.opts
		result := plan(t, s)
		if got := result.String(); got != c.want {
			t.Errorf("%s: got %s, want %s", c.why, got, c.want)
		}
		withheld := slices.ContainsFunc(result.Warnings, func(w rollout.Warning) bool { return w.Type == rollout.WarningRemovalsWithheld })
		if withheld == strings.Contains(c.want, "removed") {
			t.Errorf("%s: warnings %v", c.why, result.Warnings)
		}
	}
	s.opts, s.reports = most("25%"), "a=Skip b=Skip x=Skip y=Failed"
	const want = "x and 1 more cluster are not selected any more, of 4 reported; only 1 may be removed at once: nobody is"
	if got := warningsOf(t, s); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
