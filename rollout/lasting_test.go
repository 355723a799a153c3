// SPDX-License-Identifier: Apache-2.0

package rollout_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"

	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/status"
)

// In these tests a fleet is its groups, "0: a b, 1: c", and how its clusters stand, "a TimeOut, b Failed".

func groupsOf(t *testing.T, text string) *grouping.Groups {
	t.Helper()
	cut := map[grouping.Key][]string{}
	for i, part := range strings.Split(text, ", ") {
		name, clusters, _ := strings.Cut(part, ":")
		key := grouping.Key{Index: int32(i)}
		if _, err := fmt.Sscan(name, &key.Index); err != nil { // a name stands for a group with the place as its index
			key.Name = name
		}
		cut[key] = strings.Fields(clusters)
	}
	groups, err := grouping.FromNames(cut)
	if err != nil {
		t.Fatal(err)
	}
	return groups
}

func standings(text string) (reports []status.Report) {
	for _, part := range strings.Split(text, ", ") {
		if cluster, is, told := strings.Cut(part, " "); told {
			reports = append(reports, status.Report{Cluster: cluster, Status: status.RolloutStatus(is), LastTransitionTime: now.Add(-time.Minute), Applied: now.Add(-time.Minute)})
		}
	}
	return reports
}

func timedOut(clusters string) []status.Report {
	return standings(strings.ReplaceAll(clusters+" ", " ", " TimeOut, "))
}

// look is what a controller sees at a time, and what it is to do, one of: (1) nothing; (2) to start clusters.
type look struct {
	groups, reports, starts string
	change                  func(*clusterv1alpha1.RolloutStrategy, *rollout.Options)
}

// R10: a breach lasts however the groups are changed, until its clusters recover, are tried again or ignored, or the budget is raised.
func TestABreachLastsHoweverTheGroupsAreCutAnew(t *testing.T) {
	one, failed := perGroup(config("1", "10m", 0)), "a Failed, b TimeOut"
	for _, tt := range []struct {
		why      string
		strategy clusterv1alpha1.RolloutStrategy
		looks    []look
	}{
		{"one of its clusters is in flight and stays in the group that is gone, the other one moves", one, []look{
			{groups: "0: a b, 1: c d e", reports: failed}, {groups: "1: a b c d e", reports: failed},
		}},
		{"its clusters come to two groups that tolerate one each", one, []look{
			{groups: "0: z, 1: a b c, 2: d e", reports: "a TimeOut, b TimeOut, z Succeeded"}, {groups: "0: z a, 1: b c, 2: d e", reports: "a TimeOut, b TimeOut, z Succeeded"},
		}},
		{"one of them leaves", one, []look{
			{groups: "0: a b, 1: c d e", reports: "a TimeOut, b TimeOut"}, {groups: "1: b c d e", reports: "a TimeOut, b TimeOut"}, {groups: "1: b c d e", reports: "b TimeOut"},
		}},
		{"cut after cut", one, []look{
			{groups: "0: a b, 1: c d e", reports: failed}, {groups: "0: a c, 1: b d e", reports: failed}, {groups: "0: b, 1: c d, 2: a e", reports: failed}, {groups: "0: c, 1: d e", reports: failed},
		}},
		{"its clusters come to a group that tolerates them, as a canary is gone", perGroup(config("2", "", 0), "canary"), []look{
			{groups: "canary: a, 1: b c d", reports: "a TimeOut"}, {groups: "1: a b c d", reports: "a TimeOut"},
		}},
		{"the same under Progressive", progressive("5", config("2", "", 0), "canary"), []look{
			{groups: "canary: a, 1: b c d", reports: "a TimeOut"}, {groups: "1: a b c d", reports: "a TimeOut"},
		}},
		{"clusters join, of which a share may fail", perGroup(config("50%", "", 0)), []look{
			{groups: "0: a b", reports: "a TimeOut, b TimeOut"}, {groups: "0: a b c d", reports: "a TimeOut, b TimeOut"},
		}},
		{"the same under Progressive", progressive("9", config("50%", "", 0)), []look{
			{groups: "0: a b", reports: "a TimeOut, b TimeOut"}, {groups: "0: a b, 1: c d", reports: "a TimeOut, b TimeOut"},
		}},
		{"another breach comes and goes", one, []look{
			{groups: "0: a b, 1: c d e", reports: failed}, {groups: "0: a c, 1: b d e", reports: failed + ", d TimeOut"}, {groups: "0: a c, 1: b d e", reports: failed + ", d Succeeded"},
		}},
		{"a cluster recovers", one, []look{
			{groups: "0: a b, 1: c d e", reports: failed}, {groups: "0: z a, 1: b c, 2: d e", reports: failed}, {groups: "0: z a, 1: b c, 2: d e", reports: "a Succeeded, b TimeOut", starts: "z"},
		}},
		{"whoever recovers and fails in another group is none of it", one, []look{
			{groups: "0: a b, 1: c d e", reports: failed}, {groups: "0: a b, 1: c d e", reports: "a Progressing, b TimeOut", starts: "none, and there is no breach"}, {groups: "1: a d, 2: b c e", reports: "a TimeOut, b TimeOut", starts: "d"},
		}},
		{"a failure in another group that tolerates it", one, []look{
			{groups: "0: a b, 1: c d e", reports: failed}, {groups: "0: a c, 1: b d, 2: e", reports: failed + ", e TimeOut"}, {groups: "0: a c, 1: b d, 2: e", reports: "b TimeOut, a Succeeded, e TimeOut", starts: "c"},
		}},
		{"maxFailures is raised", one, []look{
			{groups: "0: a b, 1: c d e", reports: failed}, {groups: "0: a c, 1: b d e", reports: failed},
			{groups: "0: a c, 1: b d e", reports: failed, starts: "c", change: func(s *clusterv1alpha1.RolloutStrategy, _ *rollout.Options) {
				*s = perGroup(config("2", "10m", 0))
			}},
		}},
		{"and not enough, as a share of those of then", perGroup(config("34%", "10m", 0)), []look{
			{groups: "0: a b, 1: c d e", reports: failed}, {groups: "0: a c, 1: b d e", reports: failed},
			{groups: "0: a c, 1: b d e", reports: failed, change: func(s *clusterv1alpha1.RolloutStrategy, _ *rollout.Options) {
				*s = perGroup(config("50%", "10m", 0))
			}},
			{groups: "0: a c, 1: b d e", reports: failed, starts: "c", change: func(s *clusterv1alpha1.RolloutStrategy, _ *rollout.Options) {
				*s = perGroup(config("51%", "10m", 0))
			}},
		}},
		{"a cluster is given up", one, []look{
			{groups: "0: a b, 1: c d e", reports: failed}, {groups: "0: a c, 1: b d e", reports: failed},
			{groups: "0: a c, 1: b d e", reports: failed, starts: "c", change: func(_ *clusterv1alpha1.RolloutStrategy, o *rollout.Options) { o.Ignored = []string{"a"} }},
		}},
		{"it failed before the rollout", one, []look{
			{groups: "0: a b, 1: c d e", reports: failed}, {groups: "0: a c, 1: b d e", reports: failed},
			{groups: "0: a c, 1: b d e", reports: failed, starts: "c", change: func(_ *clusterv1alpha1.RolloutStrategy, o *rollout.Options) { o.FailedBefore = []string{"a"} }},
		}},
		{"what failed is tried again", one, []look{
			{groups: "0: a b, 1: c d e", reports: failed}, {groups: "0: a c, 1: b d e", reports: failed},
			{groups: "0: a c, 1: b d e", reports: failed, starts: "a c", change: func(_ *clusterv1alpha1.RolloutStrategy, o *rollout.Options) { o.Attempt = 1 }},
		}},
		{"all may start at once", one, []look{
			{groups: "0: a b, 1: c d e", reports: failed},
			{groups: "0: a c, 1: b d e", reports: failed, starts: "c d e", change: func(s *clusterv1alpha1.RolloutStrategy, _ *rollout.Options) { *s = all("") }},
		}},
	} {
		for _, remembers := range []string{"the result before", "a record", "a planner", "a planner of its own at each look"} {
			t.Run(tt.why+"/"+remembers, func(t *testing.T) {
				strategy, options, planner := tt.strategy, rollout.Options{StoredRecord: &rollout.StoredRecord{Version: "v2"}}, &rollout.Planner{}
				for i, l := range tt.looks {
					if l.change != nil {
						l.change(&strategy, &options)
					}
					groups, reports := groupsOf(t, l.groups), standings(l.reports)
					r, err := rollout.Plan(strategy, groups, reports, now, options)
					if strings.HasPrefix(remembers, "a planner") {
						if remembers != "a planner" {
							planner = &rollout.Planner{}
						}
						planner.SetGroups(groups)
						if err = planner.SetStrategy(strategy, options); err == nil {
							err = planner.Report(reports...)
						}
						for _, name := range strings.Fields("a b c d e z") {
							if !slices.ContainsFunc(reports, func(r status.Report) bool { return r.Cluster == name }) {
								planner.Forget(name)
							}
						}
						r = planner.Result(now)
					}
					if err != nil {
						t.Fatal(err)
					}
					var starts []string
					for _, c := range r.Start {
						starts = append(starts, c.Name)
					}
					got := strings.Join(starts, " ")
					if got == "" && r.Breach == nil {
						got = "none, and there is no breach"
					}
					if got != l.starts {
						t.Fatalf("look %d starts %q, want %q: %v", i, got, l.starts, r)
					}
					options.StoredRecord = &rollout.StoredRecord{Version: "v2", Record: readBack(t, r.Record)}
					if options.Previous = r; remembers == "a record" {
						options.Previous = nil
					} else {
						options.StoredRecord.Record.Breached = nil // or this alone would do
					}
				}
			})
		}
	}
}

// readBack gives a record as it is after it was stored in an object and read back.
func readBack(t *testing.T, r status.Record) status.Record {
	t.Helper()
	var owner metav1.ObjectMeta
	if _, err := (status.Records{"": r}).Note(&owner); err != nil {
		t.Fatal(err)
	}
	records, err := status.RecordsOf(&owner)
	if err != nil {
		t.Fatal(err)
	}
	return records[""]
}

// lookAgain plans with what a look before left behind: its result, or its record alone.
func lookAgain(t *testing.T, strategy clusterv1alpha1.RolloutStrategy, groups *grouping.Groups, reports []status.Report, before *rollout.Result, restarts bool) *rollout.Result {
	t.Helper()
	options := rollout.Options{StoredRecord: &rollout.StoredRecord{Version: "v2"}}
	if before != nil {
		options.StoredRecord.Record = readBack(t, before.Record)
		if options.Previous = before; restarts {
			options.Previous = nil
		}
	}
	r, err := rollout.Plan(strategy, groups, reports, now, options)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// R10, R29: a breach that lasts is told with its clusters and its budget of then, and with what ends it.
func TestABreachThatLastsSaysWhatEndsIt(t *testing.T) {
	one, failed := perGroup(config("1", "10m", 0)), standings("a TimeOut, b TimeOut, z TimeOut")
	before := lookAgain(t, one, groupsOf(t, "0: a b c, 1: d e, 5: z"), failed, nil, false)
	for _, restarts := range []bool{false, true} {
		r := lookAgain(t, one, groupsOf(t, "1: a d, 2: b c e, 5: z"), failed, before, restarts)
		const want = "the rollout is stopped: a, b failed in the former group 0, maxFailures is 1; the decision groups changed since, and this counts all the same; the rollout continues once at most 1 of these is failed or timed out"
		if got := r.Breach.String(); got != want || r.Summary().Breach != want {
			t.Errorf("%q and %q, want %q", got, r.Summary().Breach, want)
		}
		if got, want := r.Explain("d").String(), want+"; to do, one of: (1) fix the workload on at least 1 of a, b; (2) retry the failed clusters: raise the rollout's attempt number to 1; (3) raise maxFailures to 2; (4) roll back to the previous version"; got != want {
			t.Errorf("explained:\n%s, want\n%s", got, want)
		}
		var blockers []string
		for _, b := range r.Blockers() {
			blockers = append(blockers, b.Name)
		}
		if got := fmt.Sprint(blockers); got != "[a b]" {
			t.Errorf("%s block others, want [a b]", got)
		}
		if starts, otherwise := r.WouldStart(grouping.Key{Index: 1}); len(starts) > 0 || otherwise.Type != rollout.BlockBreached {
			t.Errorf("with an open gate %v would start, or wait for %v", starts, otherwise)
		}
		if c := r.Changes(before); c.Breached != nil || c.Resumed {
			t.Errorf("the breach is no news: %v", c)
		}
	}
	left := lookAgain(t, one, groupsOf(t, "1: b c d e, 5: z"), failed[1:], before, true) // a is gone, and no entry tells of it
	if left.Breach != nil {
		t.Errorf("of a failure that nothing tells of: %v", left.Breach)
	}
	before = lookAgain(t, one, groupsOf(t, "0: b c, 1: d e, 5: z"), failed, before, false)
	r := lookAgain(t, one, groupsOf(t, "1: b c d e, 5: z"), failed[1:], before, false)
	if want := "the rollout is stopped: a (deselected), b failed in the former group 0, maxFailures is 1; the decision groups changed since, and this counts all the same; the rollout continues once at most 1 of these is failed or timed out"; r.Breach.String() != want || r.Breach.Lost != 1 {
		t.Errorf("after one left: %q, %d lost, want %q and 1", r.Breach, r.Breach.Lost, want)
	}
	r = lookAgain(t, progressive("5", config("2", "", 0), "canary"), groupsOf(t, "1: b, 2: c"), standings("a TimeOut, b Succeeded"),
		lookAgain(t, progressive("5", config("2", "", 0), "canary"), groupsOf(t, "canary: a, 1: b"), standings("a TimeOut, b Succeeded"), nil, false), false)
	if r.Breach == nil || !r.Breach.Mandatory || strings.Contains(r.Explain("c").String(), "raise maxFailures") {
		t.Errorf("of a mandatory group: %v, %v", r.Breach, r.Explain("c"))
	}
}

// R10: where the groups are incomplete no breach begins to last, and none of before ends.
func TestABreachOfIncompleteGroupsDoesNotLast(t *testing.T) {
	one, failed := perGroup(config("1", "", 0)), standings("a TimeOut, b TimeOut")
	half := groupsOf(t, "0: a b").Lacking("decisions")
	for _, restarts := range []bool{false, true} {
		r := lookAgain(t, one, half, failed, nil, false)
		if r = lookAgain(t, one, groupsOf(t, "0: a c, 1: b d"), failed, r, restarts); len(r.Start) == 0 {
			t.Errorf("two failures that were in one group only while groups were incomplete: %v", r)
		}
		r = lookAgain(t, one, groupsOf(t, "0: a b, 1: c d"), failed, nil, false)
		r = lookAgain(t, one, groupsOf(t, "0: a, 1: b").Lacking("decisions"), failed, r, restarts)
		if r.Breach == nil {
			t.Errorf("nothing is said of it meanwhile: %v", r)
		}
		if r = lookAgain(t, one, groupsOf(t, "0: a c, 1: b d"), failed, r, restarts); len(r.Start) > 0 {
			t.Errorf("a breach ends by groups that are incomplete for a while: %v", r)
		}
	}
}

// R10, R47: that a cluster of an unknown group failed stops the rollout only as long as the group is unknown.
func TestABreachOfAnUnknownGroupDoesNotLast(t *testing.T) {
	one, failed := perGroup(config("1", "", 0)), standings("a TimeOut")
	r := lookAgain(t, one, groupsOf(t, "0: b c"), failed, nil, false)
	if r.Breach == nil || len(r.Record.Breached) > 0 {
		t.Errorf("%v, on record %v", r.Breach, r.Record.Breached)
	}
	if r = lookAgain(t, one, groupsOf(t, "0: a b c"), failed, r, false); len(r.Start) != 2 {
		t.Errorf("once it is known where it counts: %v", r)
	}
}

// R48, R49: a record has a breach as far as there is room, and only one that a new cut could end.
func TestWhichBreachesARecordHas(t *testing.T) {
	long := func(i int) string { return fmt.Sprintf("%s-%05d", strings.Repeat("c", 57), i) }
	names := make([]string, 4000)
	var failed []status.Report
	for i := range names {
		names[i] = long(i)
		failed = append(failed, status.Report{Cluster: names[i], Status: status.TimeOut, LastTransitionTime: now})
	}
	groups := func(cut map[grouping.Key][]string) *grouping.Groups {
		g, err := grouping.FromNames(cut)
		if err != nil {
			t.Fatal(err)
		}
		return g
	}
	whole, one := groups(map[grouping.Key][]string{{Index: 1}: names, {Index: 2}: {"x"}}), perGroup(config("1", "", 0))
	r := lookAgain(t, one, whole, failed, nil, false)
	text, err := json.Marshal(r.Record)
	if err != nil || len(text) > 25<<10+100 || len(text) < 24<<10 || len(r.Record.Deselected) > 0 {
		t.Errorf("%d bytes, %v, want nearly 25 KiB of names", len(text), err)
	}
	if r = lookAgain(t, perGroup(config("1", "", 0)), groups(map[grouping.Key][]string{{Index: 1}: {names[0], "x"}, {Index: 2}: {names[1]}}), failed[:2], r, true); len(r.Start) > 0 {
		t.Errorf("the first of many: %v", r)
	}
	for _, tt := range []struct {
		why      string
		strategy clusterv1alpha1.RolloutStrategy
		groups   *grouping.Groups
		reports  []status.Report
		want     int
	}{
		{"so many may fail that no names can exceed them", perGroup(config("3000", "", 0)), whole, failed, 0},
		{"a failure is one too many in all groups", perGroup(config("", "", 0)), whole, failed, 0},
		{"a count of all is the same in all groups", progressive("2", config("1", "", 0)), whole, failed, 0},
		{"a share of all is not", progressive("2", config("1%", "", 0)), whole, failed[:50], 1},
		{"nothing is said of failures under All", all(""), whole, failed, 0},
		{"each group of two has one", one, groupsOf(t, "0: a b, 1: c d, 2: e f"), standings("a TimeOut, b Failed, c TimeOut, e Failed, f Failed"), 2},
		{"16 at most", one, groupsOf(t, "0: a A, 1: b B, 2: c C, 3: d D, 4: e E, 5: f F, 6: g G, 7: h H, 8: i I, 9: j J, 10: k K, 11: l L, 12: m M, 13: n N, 14: o O, 15: p P, 16: q Q, 17: r R"),
			timedOut("a A b B c C d D e E f F g G h H i I j J k K l L m M n N o O p P q Q r R"), 16},
	} {
		r := lookAgain(t, tt.strategy, tt.groups, tt.reports, nil, false)
		if got := len(r.Record.Breached); got != tt.want {
			t.Errorf("%s: %d breaches on record, want %d", tt.why, got, tt.want)
		}
	}
}

// R48: the records of all parts together fit an annotation, whatever is breached in them, beside entries.
func TestTheBreachesOfPartsFitAnAnnotation(t *testing.T) {
	var placements []grouping.PlacementGroups
	for p := range 20 {
		cut := map[grouping.Key][]string{}
		for g := range 20 {
			for i := range 20 {
				key := grouping.Key{Index: int32(g), Name: strings.Repeat("n", 63)}
				cut[key] = append(cut[key], fmt.Sprintf("%s-%02d-%02d-%02d", strings.Repeat("c", 54), p, g, i))
			}
		}
		groups, err := grouping.FromNames(cut)
		if err != nil {
			t.Fatal(err)
		}
		placements = append(placements, grouping.PlacementGroups{Placement: fmt.Sprintf("%s-%02d", strings.Repeat("p", 250), p), Groups: groups})
	}
	parts, err := grouping.Apart(placements...)
	if err != nil {
		t.Fatal(err)
	}
	records := status.Records{}
	for i, part := range parts {
		var failed []status.Report
		for g := range part.Len() {
			for c := range part.Clusters(g) {
				failed = append(failed, status.Report{Cluster: c.ClusterName, Status: status.TimeOut, LastTransitionTime: now, Deleting: true})
			}
		}
		r, err := rollout.Plan(perGroup(config("1", "", 0)), part, failed, now, rollout.Options{StoredRecord: &rollout.StoredRecord{Version: "v2"}})
		if err != nil {
			t.Fatal(err)
		}
		if records[placements[i].Placement] = r.Record; len(r.Record.Breached) == 0 || len(r.Record.Deselected) == 0 {
			t.Errorf("part %d has %d breaches and %d entries on record", i, len(r.Record.Breached), len(r.Record.Deselected))
		}
	}
	var owner metav1.ObjectMeta
	if _, err := records.Note(&owner); err != nil {
		t.Error(err)
	}
	for _, text := range owner.Annotations {
		if len(text) > 206<<10 { // with the names of the placements
			t.Errorf("%d bytes", len(text))
		}
	}
}

// R10: what a caller does to a record that it got changes nothing.
func TestTheBreachesOfARecordAreTheCallers(t *testing.T) {
	one, failed := perGroup(config("1", "", 0)), standings("a TimeOut, b TimeOut")
	r := lookAgain(t, one, groupsOf(t, "0: a b, 1: c d"), failed, nil, false)
	stored := readBack(t, r.Record)
	r.Record.Breached[0].Clusters[0] = "mine"
	again, err := rollout.Plan(one, groupsOf(t, "0: a c, 1: b d"), failed, now, rollout.Options{Previous: r})
	if err != nil || again.Breach == nil {
		t.Errorf("%v, %v", again, err)
	}
	half, err := rollout.Plan(one, groupsOf(t, "0: a").Lacking("decisions"), failed, now, rollout.Options{StoredRecord: &rollout.StoredRecord{Version: "v2", Record: stored}})
	if err != nil || len(half.Record.Breached) != 1 {
		t.Fatalf("%v, %v", half, err)
	}
	if half.Record.Breached[0].Clusters[0] = "mine"; stored.Breached[0].Clusters[0] != "a" {
		t.Error("what was given has changed")
	}
}

// R10, R45: a rollback is stopped by no breach of the rollout before it. Where a breach stops it, that lasts as well.
func TestInARollbackABreachLastsOnlyIfABreachStopsIt(t *testing.T) {
	one, had := perGroup(config("1", "", 0)), standings("a TimeOut, b TimeOut, c Succeeded, d Succeeded")
	rolled := lookAgain(t, one, groupsOf(t, "0: a b, 1: c d"), had, nil, false)
	for _, stops := range []bool{false, true} {
		abort := rollout.Abort{Time: now, Failed: had[2:], StopAtBreach: stops}
		for _, r := range standings("a TimeOut, b TimeOut") {
			r.Applied = now
			abort.Before = append(abort.Before, r)
		}
		var starts [2]int
		previous := rolled
		for i, cut := range []string{"0: a b, 1: c d", "0: a c, 1: b d"} {
			r, err := rollout.Revert(one, groupsOf(t, cut), abort, now.Add(time.Minute), rollout.Options{Previous: previous})
			if err != nil {
				t.Fatal(err)
			}
			previous, starts[i] = r, len(r.Start)
		}
		if stopped := starts == [2]int{}; stopped != stops {
			t.Errorf("stop at a breach %t: %v start", stops, starts)
		}
	}
}

// R10: a planner that is told of failures one by one knows the breach when its groups change.
func TestAPlannerKnowsTheBreachThatReportsBegan(t *testing.T) {
	p, err := rollout.NewPlanner(perGroup(config("1", "", 0)), groupsOf(t, "0: a b, 1: c d e"), rollout.Options{})
	if err != nil {
		t.Fatal(err)
	}
	report := func(text string) rollout.Next {
		if err := p.Report(standings(text)...); err != nil {
			t.Fatal(err)
		}
		return p.Next(now)
	}
	for _, n := range []rollout.Next{report("a Progressing, b Progressing"), report("a TimeOut")} {
		if n.Breach != nil {
			t.Fatalf("one may fail: %v", n)
		}
	}
	if n := report("b TimeOut"); n.Breach == nil || n.Breach.Lasting {
		t.Fatalf("by the groups of now: %v", n)
	}
	p.SetGroups(groupsOf(t, "1: a d, 2: b c e"))
	if n := p.Next(now); n.Breach == nil || !n.Breach.Lasting || len(n.Start) > 0 {
		t.Errorf("after a new cut: %v", n)
	}
	if n := report("b Succeeded"); n.Breach != nil || len(n.Start) != 1 {
		t.Errorf("b recovers: %v", n)
	}
	if n := report("b TimeOut"); n.Breach != nil {
		t.Errorf("b fails in another group: %v", n)
	}
}
