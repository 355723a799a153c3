package rollout_test

import (
	"errors"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/validation/field"

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

	for _, c := range []struct{ name, reports, want string }{
		{"R1 two reports for a cluster", "a=Failed b=Failed a=Succeeded", `reports[a].cluster: Duplicate value: "a"`},
		{"R1 even if they agree", "a=ToApply a=ToApply", `reports[a].cluster: Duplicate value: "a"`},
		{"R1 three of them are one fault", "a=Failed a=Failed a=Failed", `reports[a].cluster: Duplicate value: "a"`},
		{"R1 two for a cluster that is not selected", "x=Failed b=Failed x=Failed", `reports[x].cluster: Duplicate value: "x"`},
		{"R1 a report without a name", "a=Failed =Failed", "reports[1].cluster: Required value: must be the name of a ManagedCluster"},
		{
			"R1 all faults at once, clusters in order", "x=Skip b=Skip =Skip b=Skip a=Skip x=Skip =Skip a=Skip",
			"reports[2].cluster: Required value: must be the name of a ManagedCluster\n" +
				"reports[6].cluster: Required value: must be the name of a ManagedCluster\n" +
				`reports[a].cluster: Duplicate value: "a"` + "\n" +
				`reports[b].cluster: Duplicate value: "b"` + "\n" +
				`reports[x].cluster: Duplicate value: "x"`,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			result, err := rollout.Plan(oneByOne, fleetOf(t, "a b").read(), reportsOf(t, c.reports), now)
			if result != nil || err == nil || err.Error() != c.want {
				t.Errorf("Plan = %v\n%v\nwant\n%v", result, err, c.want)
			}
			var fieldErr *field.Error
			if !errors.As(err, &fieldErr) {
				t.Error("no *field.Error in it")
			}
		})
	}
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
			name:     "R4 without a transition time never, and looked at again after a deadline",
			strategy: all("10m"), groups: []string{"a b"}, reports: "a=Progressing b=Failed",
			want: "in flight a b; recheck after 10m0s",
		}, {
			name:     "R4 an unknown status times out as well",
			strategy: all("10m"), groups: []string{"a"}, reports: "a=Pending/1h",
			want: "timed out a",
		}, {
			name:     "R4 a deadline of 0 leaves no time",
			strategy: all("0s"), groups: []string{"a b"}, reports: "a=Progressing/0s b=Progressing",
			want: "in flight b; timed out a",
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
			name:     "R5 without a transition time soaking, and looked at again",
			strategy: perGroup(soak), groups: []string{"a", "b"}, reports: "a=Succeeded",
			want: "in flight a; 1 held: waiting for group 0; recheck after 5m0s",
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
	t.Run("R7 without any group all are removed", func(t *testing.T) {
		result, err := rollout.Plan(all("10m"), nil, reportsOf(t, "b=Progressing/1m a=Failed"), now)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := result.String(), "removed a b"; got != want {
			t.Errorf("got %s, want %s", got, want)
		}
		if got := result.Summary().Aggregate(); got != status.Succeeded {
			t.Errorf("aggregate %v, want Succeeded", got)
		}
	})
}
