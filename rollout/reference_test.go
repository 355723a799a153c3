package rollout_test

import (
	"fmt"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/cohort-ocm/cohort/rollout"
)

// TestWhereTheReferenceDiffers has the right-hand answer of each row in the last table of rollout.md, by the
// row's name. R11, R15, R10, R12, R16 and R1 say why.
func TestWhereTheReferenceDiffers(t *testing.T) {
	play(t, []scene{
		{
			name:     "R11 over concurrency",
			strategy: progressive("1", config("", "", 0)), groups: []string{"a b"}, reports: "a=ToApply b=Progressing",
			want: "in flight b; 1 held: no free slot: 1 in flight, 1 at a time",
		}, {
			name:     "R11 breach unseen",
			strategy: progressive("1", config("", "", 0)), groups: []string{"a z"}, reports: "a=ToApply z=Failed",
			want: "in flight z; 1 held: stopped: 1 failed, 0 tolerated",
		}, {
			name:     "R15 generous budget read as none",
			strategy: progressive("4", config("10", "", 0)), groups: []string{"a b c d"}, reports: "a=TimeOut",
			want: "start b c d",
		}, {
			name:     "R15 generous budget read as none, per group",
			strategy: perGroup(config("10", "", 0)), groups: []string{"a b", "c d"}, reports: "a=TimeOut",
			want: "start b; 2 held: waiting for group 0",
		}, {
			name:     "R10 next group too early, b Progressing",
			strategy: perGroup(config("1", "", 0)), groups: []string{"a b", "c d"}, reports: "a=TimeOut b=Progressing",
			want: "in flight b; 2 held: waiting for group 0",
		}, {
			name:     "R10 next group too early, b soaking",
			strategy: perGroup(config("1", "", 60e9)), groups: []string{"a b", "c d"}, reports: "a=TimeOut b=Succeeded/10s",
			want: "in flight b; 2 held: waiting for group 0; recheck after 50s",
		}, {
			name:     "R10 next group too early, b new",
			strategy: perGroup(config("1", "", 0)), groups: []string{"a b", "c d"}, reports: "a=TimeOut",
			want: "start b; 2 held: waiting for group 0",
		}, {
			name:     "R10 group half started",
			strategy: perGroup(config("", "", 0)), groups: []string{"a b", "c d"}, reports: "a=Succeeded b=Succeeded c=Progressing",
			want: "start d; in flight c",
		}, {
			name:     "R12 mandatory overtaken, Progressive",
			strategy: progressive("2", config("1", "", 0), "0"), groups: []string{"a b", "c d"}, reports: "a=TimeOut b=Succeeded",
			want: "2 held: stopped: 1 failed in group 0, 0 tolerated",
		}, {
			name:     "R12 mandatory overtaken, ProgressivePerGroup",
			strategy: perGroup(config("1", "", 0), "0"), groups: []string{"a b", "c d"}, reports: "a=TimeOut b=Succeeded",
			want: "2 held: stopped: 1 failed in group 0, 0 tolerated",
		}, {
			name:     "R10 clusters lost",
			strategy: all(""), groups: []string{"0: a", "2: b", "3: c d"}, reports: "c=Progressing d=Failed",
			want: "start a b; in flight c d",
		}, {
			name:     "R1 counted twice",
			strategy: progressive("1", config("1", "", 0)), groups: []string{"a b"}, reports: "a=Failed a=Failed a=Failed",
			opts: []rollout.Option{rollout.FailedFreesSlot()},
			want: "start b; in flight a",
		},
	})
	for _, nonsense := range []string{"NaN%", "Inf%", "-5%", "1e3%"} {
		t.Run("R16 nonsense accepted: "+nonsense, func(t *testing.T) {
			s := progressive("1", config("", "", 0))
			s.Progressive.MaxConcurrency = intstr.FromString(nonsense)
			result, err := rollout.Plan(s, fleetOf(t, "a b").read(), nil, now)
			if want := "progressive.maxConcurrency: Invalid value: " + fmt.Sprintf("%q", nonsense); result != nil || err == nil || !strings.HasPrefix(err.Error(), want) {
				t.Errorf("Plan = %v, %v, want %s", result, err, want)
			}
		})
	}
	t.Run("R16 percentage off by one", func(t *testing.T) {
		var names []string
		for i := range 100 {
			names = append(names, fmt.Sprintf("c%02d", i))
		}
		result := plan(t, scene{strategy: progressive("7%", config("7%", "", 0)), groups: []string{strings.Join(names, " ")}})
		if len(result.Start) != 7 || result.Schedule.MaxFailures != 7 {
			t.Errorf("%d start, %d may fail, want 7 and 7", len(result.Start), result.Schedule.MaxFailures)
		}
	})
}
