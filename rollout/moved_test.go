// SPDX-License-Identifier: Apache-2.0

package rollout_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"

	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/status"
)

// moving is a hub on which the version changes a label of each cluster that gets it, which moves it to the last group.
type moving struct {
	in      map[string]grouping.Key
	last    grouping.Key
	reports []status.Report
	record  status.Record
}

func (h *moving) groups(t *testing.T) *grouping.Groups {
	t.Helper()
	names := map[grouping.Key][]string{}
	for cluster, key := range h.in {
		names[key] = append(names[key], cluster)
	}
	groups, err := grouping.FromNames(names) // a group without a cluster is gone
	if err != nil {
		t.Fatal(err)
	}
	return groups
}

// apply gives the version to the clusters that start. No agent ever answers.
func (h *moving) apply(r *rollout.Result, at time.Time) {
	for _, c := range r.Start {
		h.reports = append(h.reports, status.Report{Cluster: c.Name, Status: status.ToApply, Applied: at})
		h.in[c.Name] = h.last
	}
}

// R52: a version that moves its clusters to another group gets no further than one that does not.
func TestAVersionThatMovesItsClustersStops(t *testing.T) {
	canary := progressive("5", config("", "10m", 0), "canary")
	for _, tt := range []struct {
		why      string
		strategy clusterv1alpha1.RolloutStrategy
		in       map[string]grouping.Key
		last     grouping.Key
		opts     rollout.Options
		restarts bool
	}{
		{
			"group after group", perGroup(config("", "10m", 0)),
			map[string]grouping.Key{"a": {Index: 0, Name: "one"}, "b": {Index: 1, Name: "two"}, "c": {Index: 2, Name: "three"}, "d": {Index: 3, Name: "four"}},
			grouping.Key{Index: 4, Name: "last"}, rollout.Options{}, false,
		},
		{
			"after a canary", canary,
			map[string]grouping.Key{"a": {Index: 0, Name: "canary"}, "b": {Index: 1}, "c": {Index: 1}, "d": {Index: 1}},
			grouping.Key{Index: 1}, rollout.Options{}, false,
		},
		{
			"in a graph, to a group that nothing comes before", perGroup(config("", "10m", 0)),
			map[string]grouping.Key{"a": {Index: 0, Name: "one"}, "b": {Index: 1, Name: "two"}, "c": {Index: 2, Name: "side"}},
			grouping.Key{Index: 2, Name: "side"}, rollout.Options{GroupOrder: rollout.GroupOrder{"two": {"one"}}}, false,
		},
		{
			"restarted each time, with a record", canary,
			map[string]grouping.Key{"a": {Index: 0, Name: "canary"}, "b": {Index: 1}, "c": {Index: 1}, "d": {Index: 1}},
			grouping.Key{Index: 1}, rollout.Options{}, true,
		},
	} {
		for _, incremental := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/incremental %t", tt.why, incremental), func(t *testing.T) {
				h := &moving{in: map[string]grouping.Key{}, last: tt.last}
				for cluster, key := range tt.in {
					h.in[cluster] = key
				}
				first, err := rollout.Plan(tt.strategy, h.groups(t), nil, now, tt.opts)
				if err != nil {
					t.Fatal(err)
				}
				want := len(first.Start)
				var previous *rollout.Result
				planner := &rollout.Planner{}
				at := now
				for range 30 {
					opts := tt.opts
					opts.Previous, opts.StoredRecord = previous, &rollout.StoredRecord{Version: "v2", Record: h.record}
					if tt.restarts && at.Sub(now) > time.Minute { // once what happened is stored
						opts.Previous, planner = nil, &rollout.Planner{}
					}
					r, err := rollout.Plan(tt.strategy, h.groups(t), h.reports, at, opts)
					if incremental {
						planner.SetGroups(h.groups(t))
						if err = planner.SetStrategy(tt.strategy, opts); err == nil {
							err = planner.Report(h.reports...)
						}
						if err == nil {
							r = planner.Result(at)
						}
					}
					if err != nil {
						t.Fatal(err)
					}
					previous, h.record = r, r.Record
					h.apply(r, at)
					at = at.Add(time.Minute)
				}
				if got := len(h.reports); got != want {
					t.Errorf("%d clusters have the version, want %d", got, want)
				}
			})
		}
	}
}

// R52: a moved cluster counts in the new group once it is done.
func TestAMovedClusterCountsInTheNewGroupOnceItIsDone(t *testing.T) {
	one, two := grouping.Key{Index: 0, Name: "one"}, grouping.Key{Index: 1, Name: "two"}
	strategy := perGroup(config("", "10m", 5*time.Minute))
	h := &moving{in: map[string]grouping.Key{"a": one, "b": one, "c": two}, last: two}
	before, err := rollout.Plan(strategy, h.groups(t), nil, now, rollout.Options{})
	if err != nil {
		t.Fatal(err)
	}
	h.apply(before, now)
	h.in["b"] = one
	for _, tt := range []struct {
		why    string
		a      status.RolloutStatus
		after  time.Duration
		group  grouping.Key
		starts []string
	}{
		{"in flight", status.Progressing, time.Minute, one, nil},
		{"it soaks", status.Succeeded, 2 * time.Minute, one, nil},
		{"it soaked", status.Succeeded, 6 * time.Minute, two, []string{"c"}},
		{"it failed", status.Failed, 30 * time.Minute, one, nil},
	} {
		reports := []status.Report{
			{Cluster: "a", Status: tt.a, LastTransitionTime: now.Add(time.Second), Applied: now},
			{Cluster: "b", Status: status.Succeeded, LastTransitionTime: now.Add(-time.Hour)},
		}
		r, err := rollout.Plan(strategy, h.groups(t), reports, now.Add(tt.after), rollout.Options{Previous: before})
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range slices.Concat(r.InFlight, r.TimedOut, slices.Collect(r.Settled())) {
			if c.Name == "a" && c.Group != tt.group {
				t.Errorf("%s: a is in %v, want %v", tt.why, c.Group, tt.group)
			}
		}
		var starts []string
		for _, c := range r.Start {
			starts = append(starts, c.Name)
		}
		if !slices.Equal(starts, tt.starts) {
			t.Errorf("%s: %v start, want %v", tt.why, starts, tt.starts)
		}
	}
}

// R47, R52: after a restart groups are partially observed, and the record tells where a cluster was that moved. The next plan knows it from the
// result, also without the record.
func TestAClusterThatMovedInPartiallyObservedDecisionsStaysWhereItCounts(t *testing.T) {
	canary, prod := grouping.Key{Index: 0, Name: "canary"}, grouping.Key{Index: 1, Name: "prod"}
	groups := world{groups: []grouping.Key{canary, prod}, members: []member{{"a", canary}, {"b", prod}}, incomplete: true}.read(t)
	reports := []status.Report{{Cluster: "b", Status: status.Progressing, Applied: now, LastTransitionTime: now}}
	entry := status.DeselectedCluster{Report: reports[0], Group: canary}
	opts := rollout.Options{StoredRecord: &rollout.StoredRecord{Version: "v", Record: status.Record{Version: "v", Deselected: []status.DeselectedCluster{entry}}}}
	for i := range 3 {
		r, err := rollout.Plan(perGroup(config("", "10m", 0)), groups, reports, now, opts)
		if err != nil {
			t.Fatal(err)
		}
		if len(r.InFlight) != 1 || r.InFlight[0].Group != canary {
			t.Errorf("plan %d has %v in flight, want b in %v", i, r.InFlight, canary)
		}
		opts = rollout.Options{Previous: r}
	}
}

// R52: a cluster that moved to a group that comes earlier counts there, and otherwise in the group before. In a graph, a group with a lower index
// need not come earlier.
func TestAMovedClusterCountsInTheEarlierGroup(t *testing.T) {
	side, one, two := grouping.Key{Index: 0, Name: "side"}, grouping.Key{Index: 1, Name: "one"}, grouping.Key{Index: 2, Name: "two"}
	for _, tt := range []struct {
		order          rollout.GroupOrder
		from, to, want grouping.Key
	}{
		{nil, one, two, one},
		{nil, two, one, one},
		{nil, one, side, side},
		{rollout.GroupOrder{"two": {"one"}}, one, two, one},
		{rollout.GroupOrder{"two": {"one"}}, two, one, one},
		{rollout.GroupOrder{"two": {"one"}}, one, side, one},
		{rollout.GroupOrder{"two": {"one"}}, side, one, side},
	} {
		h := &moving{in: map[string]grouping.Key{"a": tt.from, "x": side, "y": one, "z": two}}
		h.reports = []status.Report{{Cluster: "a", Status: status.Progressing, LastTransitionTime: now}}
		opts := rollout.Options{GroupOrder: tt.order}
		for _, key := range []grouping.Key{tt.from, tt.to} {
			h.in["a"] = key
			r, err := rollout.Plan(perGroup(config("", "10m", 0)), h.groups(t), h.reports, now, opts)
			if err != nil {
				t.Fatal(err)
			}
			opts.Previous = r
		}
		if in := opts.Previous.InFlight; len(in) != 1 || in[0].Group != tt.want {
			t.Errorf("from %v to %v, in the order %v: %v; want %v", tt.from, tt.to, tt.order, in, tt.want)
		}
	}
}

// R52: a mandatory group comes before any other, also one that is gone. Nothing else starts before a cluster that moved into the mandatory
// group while it was in flight, whose group is gone.
func TestAMandatoryGroupIsNotDoneWithAClusterThatMovedIntoIt(t *testing.T) {
	whole, canary, rest := grouping.Key{Index: 0}, grouping.Key{Index: 0, Name: "canary"}, grouping.Key{Index: 1}
	limits := config("", "10m", 0)
	for _, tt := range []struct {
		why      string
		strategy clusterv1alpha1.RolloutStrategy
		from, to grouping.Key
		want     grouping.Key
	}{
		{"from the pool into the canary", progressive("2", limits, "canary"), whole, canary, canary},
		{"from a group into the canary", perGroup(limits, "canary"), whole, canary, canary},
		{"from the canary into the pool", progressive("2", limits, "canary"), canary, rest, canary},
		{"from a group into another one", perGroup(limits, "canary"), whole, rest, whole},
	} {
		before := world{groups: []grouping.Key{tt.from}, members: []member{{"a", tt.from}, {"b", tt.from}}}
		after := world{groups: []grouping.Key{tt.to, rest}, members: []member{{"a", tt.to}, {"b", rest}}}
		if tt.to == rest {
			after.groups = after.groups[1:]
		}
		reports := []status.Report{{Cluster: "a", Status: status.Progressing, LastTransitionTime: now}}
		r, err := rollout.Plan(tt.strategy, before.read(t), reports, now, rollout.Options{})
		if err != nil {
			t.Fatal(err)
		}
		r, err = rollout.Plan(tt.strategy, after.read(t), reports, now, rollout.Options{Previous: r})
		if err != nil {
			t.Fatal(err)
		}
		if len(r.InFlight) != 1 || r.InFlight[0].Group != tt.want {
			t.Errorf("%s: in flight are %v, want a in %v", tt.why, r.InFlight, tt.want)
		}
		if len(r.Start) > 0 {
			t.Errorf("%s: %v starts beside a", tt.why, r.Start)
		}
	}
}

// R52: a failure counts in the group of now where the group before is gone, and in the group before once the cluster is in flight again,
// also where a Planner hears that before its next answer.
func TestAPlannerSeesThatAMovedClusterIsInFlightAgain(t *testing.T) {
	canary, prod := grouping.Key{Index: 0, Name: "canary"}, grouping.Key{Index: 1, Name: "prod"}
	p, err := rollout.NewPlanner(perGroup(config("", "10m", 0)), world{groups: []grouping.Key{canary, prod}, members: []member{{"a", prod}, {"b", canary}}}.read(t), rollout.Options{})
	if err != nil {
		t.Fatal(err)
	}
	say := func(is status.RolloutStatus) {
		if err := p.Report(status.Report{Cluster: "b", Status: is, LastTransitionTime: now}); err != nil {
			t.Fatal(err)
		}
	}
	say(status.TimeOut)
	p.Next(now)
	p.SetGroups(world{groups: []grouping.Key{prod}, members: []member{{"a", prod}, {"b", prod}}}.read(t))
	say(status.Progressing)
	if in := p.InFlight(now); len(in) != 1 || in[0].Group != canary {
		t.Errorf("in flight are %v, want b in %v", in, canary)
	}
}
