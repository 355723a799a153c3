// SPDX-License-Identifier: Apache-2.0

package rollout_test

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"
	"pgregory.net/rapid"

	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/internal/exhaustive"
	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/status"
)

// trial is a plan with what it was made from. Laws look at both, and not at the oracle.
type trial struct {
	world
	groups *grouping.Groups
	result *rollout.Result
}

// try plans a world that has no fault.
func try(t fataler, w world, groups *grouping.Groups) trial {
	result, err := w.plan(groups)
	if err != nil {
		t.Helper()
		t.Fatal(err)
	}
	return trial{w, groups, result}
}

// at plans the same once more at another time.
func (p trial) at(t fataler, now time.Time) trial {
	p.now = now
	return try(t, p.world, p.groups)
}

// law says how a plan breaks it; empty if it holds.
type law func(t fataler, p trial) string

// holds tests a law on random fleets of up to 60 clusters with options, and on every fleet of up to four.
func holds(t *testing.T, l law) {
	sizes := []int{6, 20, 60} // the first finds the smallest cases, the last what needs many clusters
	for _, size := range sizes[:exhaustive.Of(2, 3)] {
		t.Run(fmt.Sprintf("random/n=%d", size), func(t *testing.T) {
			t.Parallel()
			rapid.Check(t, func(t *rapid.T) {
				w := drawn(t).world(size)
				if broken := l(t, try(t, w, w.read(t))); broken != "" {
					t.Fatalf("%s\n%v", broken, w)
				}
			})
		})
	}
	for _, s := range lawWorlds() {
		s.each(t, func(t *testing.T) func(w world, groups *grouping.Groups) bool {
			return func(w world, groups *grouping.Groups) bool {
				if broken := l(t, try(t, w, groups)); broken != "" {
					t.Errorf("%s\n%v", broken, w)
					return false
				}
				return true
			}
		})
	}
}

// lawWorlds are fewer than the oracle's worlds, as there are many laws.
func lawWorlds() []space {
	strategies := []clusterv1alpha1.RolloutStrategy{
		progressive("2", config("1", "10m", 5*time.Minute), "1"),
		perGroup(config("1", "10m", 5*time.Minute), "2"),
	}
	small := slices.Concat(fleets(cuts(0), plainKeys, 0), fleets(cuts(1), plainKeys, 0), fleets(cuts(2), plainKeys, 0))
	return []space{
		{name: "up to two", fleets: small, kinds: allKinds, strategies: strategies, extras: gateChoices, short: 300, long: 4000},
		{name: "three", fleets: fleets(cuts(3), plainKeys, 0), kinds: nineKinds, strategies: strategies, short: 300, long: 4000},
		{name: "four", fleets: fleets(ascending(cuts(4)), plainKeys, 0), kinds: nineKinds, strategies: strategies, short: 300, long: 4000},
	}
}

// countIn is how many of some clusters are in some groups and count, those that failed only where it says so.
func (w *world) countIn(clusters []rollout.Cluster, groups []grouping.Key, failed bool) (n int) {
	for _, c := range clusters {
		if w.ignored != nil && w.ignored(c.Name) {
			continue
		}
		if slices.Contains(groups, c.Group) && (failed || c.Status != status.Failed) {
			n++
		}
	}
	return n
}

// leftInFlight is how many clusters in some groups were deselected and hold a slot (R46).
func (p *trial) leftInFlight(groups []grouping.Key) int {
	holding := slices.DeleteFunc(slices.Clone(p.result.Deselected), func(c rollout.Cluster) bool { return c.Status == status.TimeOut })
	return p.countIn(holding, groups, !p.failedFrees)
}

// excused is how many clusters in some groups failed that count and failed before (R38).
func (p *trial) excused(groups []grouping.Key) (n int) {
	for _, list := range [][]rollout.Cluster{p.result.InFlight, p.result.TimedOut, slices.Collect(p.result.Settled()), p.result.Deselected} {
		for _, c := range list {
			failed := c.Status == status.Failed || c.Status == status.TimeOut
			if failed && slices.Contains(groups, c.Group) && p.before != nil && p.before(c.Name) && (p.ignored == nil || !p.ignored(c.Name)) {
				n++
			}
		}
	}
	return n
}

// TestStartedAndInFlightNeverExceedMaxConcurrency is invariant 1, for each stage that has a limit.
func TestStartedAndInFlightNeverExceedMaxConcurrency(t *testing.T) {
	holds(t, func(_ fataler, p trial) string {
		for _, stage := range p.result.Schedule.Stages {
			inFlight := p.countIn(p.result.InFlight, stage.Groups, !p.failedFrees) + p.leftInFlight(stage.Groups)
			started := p.countIn(p.result.Start, stage.Groups, true)
			if started+inFlight > max(stage.MaxConcurrency, inFlight) {
				return fmt.Sprintf("%v: %d started and %d in flight, %d at a time", stage, started, inFlight, stage.MaxConcurrency)
			}
		}
		return ""
	})
}

// TestNothingStartsPastABreach is the first half of invariant 2, with a count of failures of its own: of any stage, and
// under Progressive of all (R10, R11, R12).
func TestNothingStartsPastABreach(t *testing.T) {
	holds(t, func(_ fataler, p trial) string {
		s := p.result.Summary()
		over := s.Failures()-p.excused(append(slices.Clone(p.world.groups), unknown)) > p.result.Schedule.MaxFailures
		for _, stage := range p.result.Schedule.Stages {
			failures := 0
			for _, g := range s.Groups {
				if slices.Contains(stage.Groups, g.Group) {
					failures += g.Failures()
				}
			}
			over = over || failures-p.excused(stage.Groups) > stage.MaxFailures
		}
		switch {
		case over && len(p.result.Start) > 0:
			return "starts although there are failures over a budget"
		case over && p.result.Breach == nil:
			return "failures over a budget are no breach"
		case !over && p.result.Breach != nil:
			return "breach without failures over a budget"
		case p.result.Breach != nil && s.Aggregate() != status.Failed && !p.incomplete:
			return "a breach is not Failed"
		}
		return ""
	})
}

// passed counts the frozen clusters of a group that nothing waits for (R59, R60).
func (p *trial) passed(group grouping.Key) (n int) {
	o := oracle{world: p.world}
	for c, reason := range p.result.Blocked() {
		if _, blocks := o.r59Of(c.Name); c.Group == group && isOwn(reason) && !(reason.Type == rollout.BlockFrozen && blocks) && (p.ignored == nil || !p.ignored(c.Name)) {
			n++
		}
	}
	return n
}

// TestNothingStartsWhileAnEarlierStageIsIncomplete is the second half of invariant 2.
func TestNothingStartsWhileAnEarlierStageIsIncomplete(t *testing.T) {
	holds(t, func(_ fataler, p trial) string {
		for i, stage := range p.result.Schedule.Stages {
			started := p.countIn(p.result.Start, stage.Groups, true)
			for j, earlier := range p.result.Schedule.Stages[:i] {
				if !comesBefore(p.result.Schedule, j, i) {
					continue
				}
				for _, g := range p.result.Summary().Groups {
					unsettled := g.ToApply + g.Progressing + g.Soaking - p.passed(g.Group)
					if started > 0 && unsettled > 0 && slices.Contains(earlier.Groups, g.Group) {
						return fmt.Sprintf("%v starts %d while %v has %d to go", stage, started, g.Group, unsettled)
					}
				}
			}
		}
		return ""
	})
}

// TestMandatoryGroupsAreNeverOvertaken is invariant 3.
func TestMandatoryGroupsAreNeverOvertaken(t *testing.T) {
	holds(t, func(_ fataler, p trial) string {
		var entries []clusterv1alpha1.MandatoryDecisionGroup
		if s := p.strategy.Progressive; s != nil && p.strategy.Type == clusterv1alpha1.Progressive {
			entries = s.MandatoryDecisionGroups.MandatoryDecisionGroups
		}
		if s := p.strategy.ProgressivePerGroup; s != nil && p.strategy.Type == clusterv1alpha1.ProgressivePerGroup {
			entries = s.MandatoryDecisionGroups.MandatoryDecisionGroups
		}
		mandatory := func(g grouping.Key) bool {
			return slices.ContainsFunc(entries, func(e clusterv1alpha1.MandatoryDecisionGroup) bool { return r12Names(e, g) })
		}
		overtakes := slices.ContainsFunc(p.result.Start, func(c rollout.Cluster) bool { return !mandatory(c.Group) })
		for _, g := range p.result.Summary().Groups {
			if overtakes && mandatory(g.Group) && g.Done()+p.excused([]grouping.Key{g.Group})+p.passed(g.Group) < g.Total() {
				return fmt.Sprintf("clusters outside %v start while %d of its %d are done", g.Group, g.Done(), g.Total())
			}
		}
		return ""
	})
}

// TestOrderOfInputRepeatedCallsAndRemovedClustersChangeNothing is invariant 4, byte for byte.
func TestOrderOfInputRepeatedCallsAndRemovedClustersChangeNothing(t *testing.T) {
	holds(t, func(t fataler, p trial) string {
		var first, second answer
		first.observe(p.result)
		again := p.at(t, p.now)
		if second.observe(again.result); !first.equal(&second) {
			return "the second call differs: " + diff(&first, &second)
		}
		p.reports = slices.Clone(p.reports)
		slices.Reverse(p.reports)
		reversed := try(t, p.world, p.groups)
		if second.observe(reversed.result); !first.equal(&second) {
			return "reports in reverse differ: " + diff(&first, &second)
		}
		if len(p.members) > 4 { // the rest costs more than all small fleets may
			if a, b := mustJSON(p.result), mustJSON(reversed.result); a != b {
				return "not the same bytes:\n" + a + "\n" + b
			}
			placement, decisions := p.stored(t)
			slices.Reverse(decisions)
			groups, err := grouping.Read(placement, decisions)
			if err != nil {
				t.Fatal(err)
			}
			if second.observe(try(t, p.world, groups).result); !first.equal(&second) {
				return "PlacementDecisions in reverse differ: " + diff(&first, &second)
			}
		}
		return unmovedByRemoved(t, p, &first)
	})
}

// unmovedByRemoved adds clusters that are not selected and do not count (R46).
func unmovedByRemoved(t fataler, p trial, first *answer) string {
	if p.maxRemoved != nil { // R30: then they may move something
		return ""
	}
	p.reports = append(p.reports, status.Report{Cluster: "c00-removed", Status: status.Skip, LastTransitionTime: p.now}, status.Report{Cluster: "!", Status: status.ToApply})
	var second answer
	second.observe(try(t, p.world, p.groups).result)
	added := 0
	second.Removed = slices.DeleteFunc(second.Removed, func(name string) bool {
		if name == "c00-removed" || name == "!" {
			added++
			return true
		}
		return false
	})
	second.Summary.Removed -= added
	if !first.equal(&second) {
		return "removed clusters change something: " + diff(first, &second)
	}
	if p.incomplete == (added == 2) {
		return fmt.Sprintf("%d of 2 are removed, groups incomplete %v", added, p.incomplete)
	}
	return ""
}

func mustJSON(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(b)
}

// TestTimeNeverUntimesOutNorUnsettles is the first half of invariant 5.
func TestTimeNeverUntimesOutNorUnsettles(t *testing.T) {
	holds(t, func(t fataler, p trial) string {
		for _, later := range []time.Duration{1, 3 * time.Minute, p.result.RecheckAfter, 100 * time.Hour} {
			after := p.at(t, p.now.Add(later)).result
			for _, c := range p.result.TimedOut {
				if d, _, _ := after.Find(c.Name); d != rollout.DispositionTimedOut {
					return fmt.Sprintf("%s is %v after %v", c.Name, d, later)
				}
			}
			for c := range p.result.Settled() {
				if d, _, _ := after.Find(c.Name); d != rollout.DispositionSettled {
					return fmt.Sprintf("%s is %v after %v", c.Name, d, later)
				}
			}
		}
		return ""
	})
}

// TestRecheckIsTheFirstInstantAtWhichSomethingChanges is invariant 6: at now + recheck something changes,
// one nanosecond earlier nothing, and without a recheck nothing ever does.
func TestRecheckIsTheFirstInstantAtWhichSomethingChanges(t *testing.T) {
	holds(t, func(t fataler, p trial) string {
		recheck := p.result.RecheckAfter
		if recheck < 0 {
			return fmt.Sprintf("recheck after %v", recheck)
		}
		changes := func(after time.Duration) bool {
			var first, later answer
			first.observe(p.result)
			later.observe(p.at(t, p.now.Add(after)).result)
			later.RecheckAfter = first.RecheckAfter
			return !first.equal(&later)
		}
		switch {
		case recheck == 0 && changes(1000*time.Hour):
			return "no recheck, and yet something changes"
		case recheck == math.MaxInt64: // R19: the longest duration
		case recheck > 0 && !changes(recheck):
			return fmt.Sprintf("nothing changes after %v", recheck)
		case recheck > 0 && changes(recheck-1):
			return fmt.Sprintf("something changes before %v", recheck)
		}
		return ""
	})
}

// TestEverySelectedClusterIsInExactlyOnePlace is invariant 7.
func TestEverySelectedClusterIsInExactlyOnePlace(t *testing.T) {
	holds(t, func(_ fataler, p trial) string {
		var names []string
		add := func(list []rollout.Cluster, is rollout.Disposition, sorted bool) string {
			for i, c := range list {
				if d, reason, ok := p.result.Find(c.Name); d != is || !ok || reason != (rollout.BlockReason{}) {
					return fmt.Sprintf("%s is listed as %v and found as %v %v", c.Name, is, d, reason)
				}
				if sorted && i > 0 && list[i-1].Name >= c.Name {
					return "not in the order of the names: " + c.Name
				}
				names = append(names, c.Name)
			}
			return ""
		}
		settled := slices.Collect(p.result.Settled())
		for _, fault := range []string{
			add(p.result.InFlight, rollout.DispositionInFlight, true), add(p.result.Start, rollout.DispositionStarting, false),
			add(p.result.TimedOut, rollout.DispositionTimedOut, true), add(settled, rollout.DispositionSettled, true),
		} {
			if fault != "" {
				return fault
			}
		}
		blocked := 0
		for c, reason := range p.result.Blocked() {
			if d, found, ok := p.result.Find(c.Name); d != rollout.DispositionBlocked || !ok || found != reason || reason.Type == "" {
				return fmt.Sprintf("%s is blocked for %v and found as %v %v", c.Name, reason, d, found)
			}
			names = append(names, c.Name)
			blocked++
		}
		if slices.Sort(names); !slices.EqualFunc(names, p.members, func(name string, m member) bool { return name == m.name }) {
			return fmt.Sprintf("accounts for %v of %v", names, p.members)
		}
		for _, w := range p.result.BlockCounts() {
			blocked -= w.Clusters
		}
		if blocked != 0 {
			return fmt.Sprintf("BlockCounts counts %d clusters too few", blocked)
		}
		return ""
	})
}
