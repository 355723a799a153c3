// SPDX-License-Identifier: Apache-2.0

package compare

import (
	"slices"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/intstr"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"

	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/status"
)

func at(s status.RolloutStatus, ago time.Duration, clusters ...string) (reports []status.Report) {
	for _, cluster := range clusters {
		reports = append(reports, status.Report{Cluster: cluster, Status: s, LastTransitionTime: now.Add(-ago)})
	}
	return reports
}

func all(reports ...[]status.Report) []status.Report { return slices.Concat(reports...) }

// Each class of differences in a small case, with both answers.
func TestDifferences(t *testing.T) {
	const m = time.Minute
	type strategy = clusterv1alpha1.RolloutStrategy
	rules := func(maxFailures int32) clusterv1alpha1.RolloutConfig {
		return configured(intstr.FromInt32(maxFailures))
	}
	percent := func(maxFailures string) clusterv1alpha1.RolloutConfig {
		return configured(intstr.FromString(maxFailures))
	}
	until := func(c clusterv1alpha1.RolloutConfig, deadline string) clusterv1alpha1.RolloutConfig {
		c.ProgressDeadline = deadline
		return c
	}
	soaking := func(c clusterv1alpha1.RolloutConfig, soak time.Duration) clusterv1alpha1.RolloutConfig {
		c.MinSuccessTime.Duration = soak
		return c
	}
	g0 := clusterv1alpha1.MandatoryDecisionGroup{GroupIndex: 0}
	one, unset := intstr.FromInt32(1), intstr.IntOrString{}
	hundred := make([]string, 100)
	for i := range hundred {
		hundred[i] = string([]byte{'c', byte('0' + i/10), byte('0' + i%10)})
	}

	shown := make(map[string]bool)
	for _, tt := range []struct {
		class    string
		why      string
		strategy strategy
		fleet    *fleet
		reports  []status.Report
		ours     string
		theirs   string
	}{
		{
			class:    "over concurrency",
			why:      "R11: b has the only slot",
			strategy: progressive(rules(0), one),
			fleet:    inGroups(t, "a b"),
			reports:  all(at(status.ToApply, m, "a"), at(status.Progressing, m, "b")),
			ours:     "in flight b; recheck after 9m0s",
			theirs:   "start a",
		}, {
			class:    "in flight left out",
			why:      "R3: b has the workload, and changes to it must reach b",
			strategy: progressive(rules(0), one),
			fleet:    inGroups(t, "a b"),
			reports:  all(at(status.Progressing, m, "a"), at(status.Progressing, 3*m, "b")),
			ours:     "in flight a b; recheck after 7m0s",
			theirs:   "in flight a; recheck after 9m0s",
		}, {
			class:    "time-out left out",
			why:      "R19: whoever writes the status has to hear of b",
			strategy: progressive(rules(1), one),
			fleet:    inGroups(t, "a b"),
			reports:  all(at(status.Progressing, m, "a"), at(status.Progressing, 30*m, "b")),
			ours:     "in flight a; timed out b; recheck after 9m0s",
			theirs:   "in flight a; recheck after 9m0s",
		}, {
			class:    "breach unseen",
			why:      "R11: one failure is more than none, whatever its name",
			strategy: progressive(rules(0), one),
			fleet:    inGroups(t, "a z"),
			reports:  all(at(status.ToApply, m, "a"), at(status.Failed, m, "z")),
			ours:     "in flight z; breach; recheck after 9m0s",
			theirs:   "start a",
		}, {
			class:    "breach unseen",
			why:      "R11: on breach nothing starts; here the reference sees it, too late for a",
			strategy: progressive(rules(0), unset),
			fleet:    inGroups(t, "a z"),
			reports:  all(at(status.ToApply, m, "a"), at(status.TimeOut, m, "z")),
			ours:     "breach",
			theirs:   "start a; breach",
		}, {
			class:    "breach unseen",
			why:      "R11: the budget is one of all clusters, though the mandatory group comes first",
			strategy: progressive(rules(0), unset, g0),
			fleet:    inGroups(t, "a", "b"),
			reports:  at(status.TimeOut, m, "b"),
			ours:     "breach",
			theirs:   "start a",
		}, {
			class:    "breach unseen",
			why:      "R10: it is the turn of the second group, whose b has failed",
			strategy: perGroup(rules(0)),
			fleet:    inGroups(t, "a", "b"),
			reports:  all(at(status.Succeeded, time.Hour, "a"), at(status.Failed, m, "b")),
			ours:     "in flight b; breach; recheck after 9m0s",
			theirs:   "in flight b; recheck after 9m0s",
		}, {
			class:    "breach behind",
			why:      "R10: a breach stops the rollout everywhere; a cluster that joins group 0 must not make it forgotten",
			strategy: perGroup(rules(0)),
			fleet:    inGroups(t, "a new", "c"),
			reports:  all(at(status.Succeeded, time.Hour, "a"), at(status.TimeOut, m, "c")),
			ours:     "breach",
			theirs:   "start new",
		}, {
			class:    "breached group started",
			why:      "R10: a breach stops the rollout in that group too",
			strategy: perGroup(rules(0)),
			fleet:    inGroups(t, "a b"),
			reports:  at(status.TimeOut, m, "a"),
			ours:     "breach",
			theirs:   "start b; breach",
		}, {
			class:    "generous budget read as none",
			why:      "R15: ten failures of four clusters may be, so one may",
			strategy: progressive(rules(10), unset),
			fleet:    inGroups(t, "a b c d"),
			reports:  at(status.TimeOut, m, "a"),
			ours:     "start b c d",
			theirs:   "breach",
		}, {
			class:    "generous budget read as none",
			why:      "R15: two are more than this group has, though not more than the fleet",
			strategy: perGroup(rules(2)),
			fleet:    inGroups(t, "a", "b c d"),
			reports:  at(status.TimeOut, m, "a"),
			ours:     "start b c d",
			theirs:   "breach",
		}, {
			class:    "next group too early",
			why:      "R10: b is still progressing",
			strategy: perGroup(rules(1)),
			fleet:    inGroups(t, "a b", "c d"),
			reports:  all(at(status.TimeOut, m, "a"), at(status.Progressing, m, "b")),
			ours:     "in flight b; recheck after 9m0s",
			theirs:   "start c d; in flight b; recheck after 9m0s",
		}, {
			class:    "next group too early",
			why:      "R10: b is still soaking",
			strategy: perGroup(rules(1)),
			fleet:    inGroups(t, "a b", "c d"),
			reports:  all(at(status.TimeOut, m, "a"), at(status.Succeeded, m, "b")),
			ours:     "in flight b; recheck after 4m0s",
			theirs:   "start c d; in flight b; recheck after 4m0s",
		}, {
			class:    "next group too early",
			why:      "R10: b has not even begun",
			strategy: perGroup(rules(1)),
			fleet:    inGroups(t, "a b", "c d"),
			reports:  at(status.TimeOut, m, "a"),
			ours:     "start b",
			theirs:   "start b c d",
		}, {
			class:    "group half started",
			why:      "R10: all of a group starts at once, and c has begun",
			strategy: perGroup(rules(0)),
			fleet:    inGroups(t, "a b", "c d"),
			reports:  all(at(status.Succeeded, time.Hour, "a", "b"), at(status.Progressing, m, "c")),
			ours:     "start d; in flight c; recheck after 9m0s",
			theirs:   "in flight c; recheck after 9m0s",
		}, {
			class:    "group half started",
			why:      "R11: one of two slots is free, and the mandatory group is complete",
			strategy: progressive(rules(0), intstr.FromInt32(2), g0),
			fleet:    inGroups(t, "a", "b c"),
			reports:  all(at(status.Succeeded, time.Hour, "a"), at(status.Progressing, m, "b")),
			ours:     "start c; in flight b; recheck after 9m0s",
			theirs:   "in flight b; recheck after 9m0s",
		}, {
			class:    "time-out holds the rest",
			why:      "R10, R12: the failure is within the budget, and b stays Progressing for ever",
			strategy: perGroup(rules(1), g0),
			fleet:    inGroups(t, "a", "b c"),
			reports:  all(at(status.Succeeded, time.Hour, "a"), at(status.Progressing, time.Hour, "b")),
			ours:     "start c; timed out b",
			theirs:   "timed out b",
		}, {
			class:    "mandatory overtaken",
			why:      "R12: a mandatory group tolerates no failure",
			strategy: progressive(rules(1), unset, g0),
			fleet:    inGroups(t, "a b", "c d"),
			reports:  all(at(status.TimeOut, m, "a"), at(status.Succeeded, time.Hour, "b")),
			ours:     "breach",
			theirs:   "start c d",
		}, {
			class:    "mandatory overtaken",
			why:      "R12: with a budget of none as well, since the next groups have their own",
			strategy: perGroup(rules(0), g0),
			fleet:    inGroups(t, "a", "b"),
			reports:  at(status.TimeOut, m, "a"),
			ours:     "breach",
			theirs:   "start b",
		}, {
			class:    "clusters lost",
			why:      "G10: indexes may have gaps",
			strategy: strategy{Type: clusterv1alpha1.All},
			fleet: newFleet(t, group{grouping.Key{Index: 0}, []string{"a"}},
				group{grouping.Key{Index: 2}, []string{"b"}}, group{grouping.Key{Index: 3}, []string{"c"}}),
			reports: at(status.Progressing, m, "c"),
			ours:    "start a b; in flight c",
			theirs:  "start a b; removed c",
		}, {
			class:    "nonsense accepted",
			why:      "R16: NaN% is no percentage",
			strategy: progressive(rules(0), intstr.FromString("NaN%")),
			fleet:    inGroups(t, "a b"),
			ours:     "error",
			theirs:   "start a b",
		}, {
			class:    "nonsense accepted",
			why:      "R16: neither is Inf%",
			strategy: progressive(rules(0), intstr.FromString("Inf%")),
			fleet:    inGroups(t, "a b"),
			ours:     "error",
			theirs:   "start a b",
		}, {
			class:    "nonsense accepted",
			why:      "R16: less than nothing is not all",
			strategy: progressive(rules(0), intstr.FromString("-5%")),
			fleet:    inGroups(t, "a b"),
			ours:     "error",
			theirs:   "start a b",
		}, {
			class:    "nonsense accepted",
			why:      "R16: ten times as many as there are",
			strategy: progressive(rules(0), intstr.FromString("1e3%")),
			fleet:    inGroups(t, "a b"),
			ours:     "error",
			theirs:   "start a b",
		}, {
			class:    "nonsense accepted",
			why:      "R16: none at a time would never end, and is not all at a time",
			strategy: progressive(rules(0), intstr.FromString("0%")),
			fleet:    inGroups(t, "a b"),
			ours:     "error",
			theirs:   "start a b",
		}, {
			class:    "nonsense accepted",
			why:      "R16: neither are there two hundred in a hundred",
			strategy: progressive(rules(0), intstr.FromString("200%")),
			fleet:    inGroups(t, "a b"),
			ours:     "error",
			theirs:   "start a b",
		}, {
			class:    "nonsense accepted",
			why:      "R16: percentages are whole numbers",
			strategy: progressive(rules(0), intstr.FromString("33.3%")),
			fleet:    inGroups(t, "a b c"),
			ours:     "error",
			theirs:   "start a",
		}, {
			class:    "nonsense accepted",
			why:      "R16: fewer than no failures",
			strategy: progressive(rules(-1), unset),
			fleet:    inGroups(t, "a b c"),
			ours:     "error",
			theirs:   "start a b c",
		}, {
			class:    "nonsense accepted",
			why:      "R5: a soak of less than no time",
			strategy: perGroup(soaking(rules(0), -m)),
			fleet:    inGroups(t, "a"),
			ours:     "error",
			theirs:   "start a",
		}, {
			class:    "percentage off by one",
			why:      "R16: 7% of 100 is 7",
			strategy: progressive(rules(0), intstr.FromString("7%")),
			fleet:    newFleet(t, group{clusters: hundred}),
			ours:     "start c00 c01 c02 c03 c04 c05 c06",
			theirs:   "start c00 c01 c02 c03 c04 c05 c06 c07",
		}, {
			class:    "percentage off by one",
			why:      "R16: 7% of 100 is 7 failures, and these are 8",
			strategy: perGroup(percent("7%")),
			fleet:    newFleet(t, group{clusters: hundred}),
			reports:  all(at(status.TimeOut, m, hundred[:8]...), at(status.Skip, m, hundred[8:]...)),
			ours:     "breach",
			theirs:   "nothing",
		}, {
			class:    "counted twice",
			why:      "R1: several reports of a cluster are one failure, and these are taken for three",
			strategy: progressive(rules(2), unset),
			fleet:    inGroups(t, "a b c"),
			reports:  at(status.TimeOut, m, "a", "a", "a"),
			ours:     "start b c",
			theirs:   "breach",
		}, {
			class:    "counted twice",
			why:      "R1: the report that holds the rollout back most counts, and b has the only slot",
			strategy: progressive(rules(0), one),
			fleet:    inGroups(t, "a b"),
			reports:  all(at(status.Succeeded, time.Hour, "b"), at(status.Progressing, m, "b"), at(status.ToApply, m, "a")),
			ours:     "in flight b; recheck after 9m0s",
			theirs:   "start a",
		}, {
			class:    "counted twice",
			why:      "R1: a report for no cluster is an error",
			strategy: progressive(rules(0), one),
			fleet:    inGroups(t, "a b"),
			reports:  at(status.Succeeded, time.Hour, ""),
			ours:     "error",
			theirs:   "start a; removed ",
		}, {
			class:    "type left out",
			why:      "R18: All is the API's default",
			strategy: strategy{},
			fleet:    inGroups(t, "a b"),
			ours:     "start a b",
			theirs:   "error",
		}, {
			class:    "nonsense accepted",
			why:      "R17: a deadline of 0 would time out whatever is not done; None is no deadline",
			strategy: perGroup(until(rules(0), "0s")),
			fleet:    inGroups(t, "a"),
			reports:  at(status.Progressing, 0, "a"),
			ours:     "error",
			theirs:   "timed out a; breach",
		}, {
			class:    "time unknown",
			why:      "R4: it is unknown when the deadline began, so it never passes; the result warns",
			strategy: perGroup(rules(0)),
			fleet:    inGroups(t, "a"),
			reports:  []status.Report{{Cluster: "a", Status: status.Progressing}},
			ours:     "in flight a",
			theirs:   "in flight a; recheck after 10m0s",
		}, {
			class:    "silent agent",
			why:      "R27: the work was written an hour ago, and the agent has not acknowledged it",
			strategy: progressive(rules(1), one),
			fleet:    inGroups(t, "a b"),
			reports:  []status.Report{{Cluster: "a", Status: status.ToApply, Applied: now.Add(-time.Hour)}},
			ours:     "start b; timed out a",
			theirs:   "start a",
		}, {
			class:    "earlier version",
			why:      "R27: what succeeded an hour ago is not what was written a minute ago",
			strategy: progressive(rules(0), one),
			fleet:    inGroups(t, "a b"),
			reports:  []status.Report{{Cluster: "a", Status: status.Succeeded, LastTransitionTime: now.Add(-time.Hour), Applied: now.Add(-m)}},
			ours:     "in flight a; recheck after 4m0s",
			theirs:   "start b",
		}, {
			class:    "decisions incomplete",
			why:      "R28: b may be in an object that is not written yet",
			strategy: strategy{Type: clusterv1alpha1.All},
			fleet:    selected(t, selection{missing: 1}, group{clusters: []string{"a"}}),
			reports:  at(status.Succeeded, time.Hour, "b"),
			ours:     "nothing",
			theirs:   "start a; removed b",
		}, {
			class:    "deselected not counted",
			why:      "R46: a has the version and failed; it does not fail less for being dropped",
			strategy: progressive(rules(0), one),
			fleet:    inGroups(t, "b"),
			reports:  at(status.TimeOut, time.Minute, "a"),
			ours:     "removed a; breach",
			theirs:   "start b; removed a",
		}, {
			class:    "group size unread",
			why:      "R14: the API documents clustersPerDecisionGroup as the default of maxConcurrency",
			strategy: progressive(rules(0), unset),
			fleet:    selected(t, selection{perGroup: 2}, group{clusters: []string{"a", "b"}}, group{grouping.Key{Index: 1}, []string{"c"}}),
			ours:     "start a b",
			theirs:   "start a b c",
		}, {
			class:    "exposed out of turn",
			why:      "R66: b has the version already, and groups of one expose one cluster at a time",
			strategy: perGroup(rules(1), g0),
			fleet:    inGroups(t, "a", "b"),
			reports:  at(status.TimeOut, m, "b"),
			ours:     "nothing",
			theirs:   "start a",
		}, {
			class:    "success in the future",
			why:      "R5: All has no soak, and the clocks of two machines differ",
			strategy: strategy{Type: clusterv1alpha1.All},
			fleet:    inGroups(t, "a"),
			reports:  at(status.Succeeded, -m, "a"),
			ours:     "nothing",
			theirs:   "in flight a; recheck after 1m0s",
		},
	} {
		shown[tt.class] = true
		t.Run(tt.class+"/"+tt.why, func(t *testing.T) {
			w := world{tt.fleet, tt.strategy, tt.reports}
			if !slices.Contains(classesOf(w), tt.class) {
				t.Errorf("is in the classes %q, not in %q", classesOf(w), tt.class)
			}
			if got := w.cohort().String(); got != tt.ours {
				t.Errorf("cohort says %q, want %q", got, tt.ours)
			}
			if got := w.reference().String(); got != tt.theirs {
				t.Errorf("sdk-go says %q, want %q", got, tt.theirs)
			}
		})
	}
	for _, c := range append(classes(), inputClasses()...) {
		if !shown[c.name] {
			t.Errorf("no case shows the class %q", c.name)
		}
	}
}

// Agreement where it is easy to think of a difference: how the two results are read side by side.
func TestSameAnswers(t *testing.T) {
	for _, tt := range []struct {
		why      string
		strategy clusterv1alpha1.RolloutStrategy
		reports  []status.Report
		want     string
	}{
		{
			why:      "a soaking cluster is in flight, among those to roll out there",
			strategy: perGroup(configured(intstr.FromInt32(0))),
			reports:  at(status.Succeeded, time.Minute, "a", "b"),
			want:     "in flight a b; recheck after 4m0s",
		}, {
			why:      "a cluster that was reported TimeOut is not among the timed out",
			strategy: clusterv1alpha1.RolloutStrategy{Type: clusterv1alpha1.All},
			reports:  at(status.TimeOut, time.Minute, "a"),
			want:     "start b c d",
		}, {
			why:      "a status that neither knows is in flight",
			strategy: clusterv1alpha1.RolloutStrategy{Type: clusterv1alpha1.All},
			reports:  at("Unheard", time.Minute, "a"),
			want:     "start b c d; in flight a",
		}, {
			why:      "a cluster that is not selected and done is removed and has no other effect",
			strategy: progressive(configured(intstr.FromInt32(0)), intstr.FromInt32(1)),
			reports:  at(status.Succeeded, time.Hour, "x"),
			want:     "start a; removed x",
		},
	} {
		t.Run(tt.why, func(t *testing.T) {
			w := world{inGroups(t, "a b", "c d"), tt.strategy, tt.reports}
			if got := w.cohort().String(); got != tt.want {
				t.Errorf("cohort says %q, want %q", got, tt.want)
			}
			if got := w.reference().String(); got != tt.want {
				t.Errorf("sdk-go says %q, want %q", got, tt.want)
			}
		})
	}
}

// Answers are the same only if they are in every part, or the other tests would overlook what differs.
func TestAnswersDifferInEachPart(t *testing.T) {
	for _, other := range []answer{
		{refused: true},
		{start: []string{"a"}},
		{inFlight: []string{"a"}},
		{timedOut: []string{"a"}},
		{removed: []string{"a"}},
		{breach: true},
		{recheck: time.Minute},
	} {
		if other.equal(answer{}) || (answer{}).equal(other) {
			t.Errorf("%q is the same as %q", other, answer{})
		}
	}
}
