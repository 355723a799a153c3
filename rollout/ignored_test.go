// SPDX-License-Identifier: Apache-2.0

package rollout_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"k8s.io/apimachinery/pkg/util/intstr"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"

	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/status"
)

// standing is where clusters stand, for laws that compare two plans.
type standing struct {
	InFlight, Start, TimedOut, Settled []string
	Blocked                            []blockedCluster
	Breach                             *rollout.Breach
	Counts                             status.Counts
	Aggregate                          status.RolloutStatus
	Summary                            string
}

// stand gives where the clusters of a plan stand for which keep is true.
func (p *trial) stand(keep func(cluster string) bool) (s standing) {
	names := func(list []rollout.Cluster) (names []string) {
		for _, c := range list {
			if keep(c.Name) {
				names = append(names, c.Name)
			}
		}
		return names
	}
	s.InFlight, s.Start, s.TimedOut = names(p.result.InFlight), names(p.result.Start), names(p.result.TimedOut)
	s.Settled = names(slices.Collect(p.result.Settled()))
	for c, reason := range p.result.Blocked() {
		if isOwn(reason) { // whose detail names all that are blocked so
			reason.Detail, reason.Many = "", false
		}
		if keep(c.Name) {
			s.Blocked = append(s.Blocked, blockedCluster{c, reason})
		}
	}
	sum := p.result.Summary()
	sum.Ignored, sum.IgnoredToApply = 0, 0
	s.Breach, s.Counts, s.Aggregate, s.Summary = p.result.Breach, sum.Counts, sum.Aggregate(), sum.String()
	return s
}

// isOwn says whether a block reason is of the cluster itself (R59, R60).
func isOwn(h rollout.BlockReason) bool {
	return h.Type == rollout.BlockFrozen || h.Type == rollout.BlockNotAllowed
}

func differ(a, b standing) string { return gocmp.Diff(a, b, cmpopts.EquateEmpty()) }

// TestIgnoredClustersDoNotAffectTheOthers is R37: if the ignored clusters were not there, all others would
// stand as they do.
func TestIgnoredClustersDoNotAffectTheOthers(t *testing.T) {
	holds(t, func(t fataler, p trial) string {
		without := p.world
		without.ignored = nil
		ignored := p.ignored
		if ignored == nil {
			ignored = of("a", "c", "c01", "c04") // in the small worlds
			p = try(t, p.with(ignored), p.groups)
		}
		without.members = slices.DeleteFunc(slices.Clone(p.members), func(m member) bool { return ignored(m.name) })
		without.reports = slices.DeleteFunc(slices.Clone(p.reports), func(r status.Report) bool { return ignored(r.Cluster) })
		if p.size != nil || p.maxRemoved != nil || len(without.members) == 0 { // which are of all clusters
			return ""
		}
		groups := without.read(t)
		if without.missing = groups.Incomplete(); without.missing != p.groups.Incomplete() { // which says how many are there
			return ""
		}
		others := try(t, without, groups)
		counted := func(cluster string) bool { return !ignored(cluster) }
		with, alone := p.stand(counted), others.stand(counted)
		if p.result.Schedule.String() != others.result.Schedule.String() {
			return fmt.Sprintf("%v, and without them %v", p.result.Schedule, others.result.Schedule)
		}
		with.Summary, alone.Summary = "", "" // which says what ignored clusters wait for
		return differ(alone, with)
	})
}

// with is the world with ignored clusters.
func (p *trial) with(ignored func(string) bool) world {
	w := p.world
	w.ignored = ignored
	return w
}

// TestIgnoredClustersStartOnceTheirStageIsReached is R37: they start exactly where each stage before theirs is complete,
// and no freeze has all of them.
func TestIgnoredClustersStartOnceTheirStageIsReached(t *testing.T) {
	holds(t, func(t fataler, p trial) string {
		p = try(t, p.with(func(string) bool { return true }), p.groups)
		if len(p.gates)+len(p.freezes) > 0 || p.allowlist != nil || p.paused || p.incomplete || p.shares != nil && p.shares.Concurrency == 0 { // R57
			return ""
		}
		for _, reason := range p.result.Blocked() {
			return "blocked where nothing is waited for: " + reason.String()
		}
		if b := p.result.Blockers(); len(b) > 0 || p.result.Breach != nil {
			return fmt.Sprintf("blocked by %v, %v", b, p.result.Breach)
		}
		if s := p.result.Summary(); s.Total() != 0 || s.Ignored != len(p.members) || s.Percent() != 0 || s.Aggregate() != status.Succeeded {
			return fmt.Sprintf("%+v", s.Counts)
		}
		return ""
	})
}

// TestNothingWaitsForAnIgnoredCluster is R37 and R38 for explanations: no blocker is a cluster that is ignored, and none of a
// breach is one that failed before. Nor does a sentence name them.
func TestNothingWaitsForAnIgnoredCluster(t *testing.T) {
	holds(t, func(t fataler, p trial) string {
		if p.ignored == nil && p.before == nil {
			w := p.with(of("b", "c01", "c04"))
			w.before = of("a", "c00", "c03")
			p = try(t, w, p.groups)
		}
		ignored := func(name string) bool {
			return p.ignored != nil && p.ignored(name) || p.result.Breach != nil && p.before != nil && p.before(name)
		}
		for _, b := range p.result.Blockers() {
			if ignored(b.Name) {
				return fmt.Sprintf("%v blocks %d", b, b.Waiting)
			}
		}
		var said []string
		for _, h := range p.result.BlockCounts() {
			if !isOwn(h.Reason) {
				said = append(said, h.Reason.String())
			}
		}
		for c := range p.result.Blocked() {
			for _, link := range p.result.Explain(c.Name) {
				if isOwn(link.Reason) { // which is the cluster's own
					continue
				}
				said = append(said, link.String())
				for _, b := range link.Blockers {
					if ignored(b.Name) {
						return fmt.Sprintf("%s waits for %v", c.Name, b)
					}
				}
			}
		}
		for _, sentence := range said {
			for word := range strings.FieldsFuncSeq(sentence, func(r rune) bool { return strings.ContainsRune(" ,;:", r) }) {
				if slices.ContainsFunc(p.members, func(m member) bool { return m.name == word && word != "a" && ignored(word) }) {
					return fmt.Sprintf("%q names %s", sentence, word)
				}
			}
		}
		return ""
	})
}

// TestABaselineOfAllIsABudgetOfAll is R38: where every cluster failed before, all is as under a budget that tolerates every failure.
func TestABaselineOfAllIsABudgetOfAll(t *testing.T) {
	holds(t, func(t fataler, p trial) string {
		for _, stage := range p.result.Schedule.Stages {
			if stage.Mandatory { // which has no budget to raise
				return ""
			}
		}
		baseline, tolerant := p.world, p.world
		baseline.before, tolerant.before = func(string) bool { return true }, nil
		tolerant.strategy = *p.strategy.DeepCopy()
		if p.strategy.Type != "" && configured(p.strategy) {
			configOf(tolerant.strategy).MaxFailures = intstr.FromString("100%")
		}
		everyone := func(string) bool { return true }
		with, without := try(t, baseline, p.groups), try(t, tolerant, p.groups)
		return differ(without.stand(everyone), with.stand(everyone))
	})
}

// configured says whether a strategy has the block of its type.
func configured(s clusterv1alpha1.RolloutStrategy) bool {
	return s.Type == clusterv1alpha1.Progressive && s.Progressive != nil ||
		s.Type == clusterv1alpha1.ProgressivePerGroup && s.ProgressivePerGroup != nil || s.Type == clusterv1alpha1.All && s.All != nil
}

// TestAnAttemptIsAWaitForThoseThatFailed is R39: a later attempt is the same as if those that failed in an earlier one were
// reported ToApply.
func TestAnAttemptIsAWaitForThoseThatFailed(t *testing.T) {
	holds(t, func(t fataler, p trial) string {
		p.starts = nil // R36: what was tried before did start
		first := p.world
		first.attempt = 0
		before := try(t, first, p.groups).result
		again, waiting := p.world, first
		again.attempt = 2
		waiting.reports = slices.Clone(p.reports)
		for i := range waiting.reports {
			r := &waiting.reports[i]
			if slices.ContainsFunc(p.reports[:i], func(o status.Report) bool { return o.Cluster == r.Cluster }) {
				return "" // several reports: the worst counts
			}
			_, timedOut := find(before.TimedOut, r.Cluster)
			if r.Attempt < 2 && (timedOut || r.Status == status.Failed || r.Status == status.TimeOut) {
				*r = status.Report{Cluster: r.Cluster, Status: status.ToApply}
			}
		}
		everyone := func(string) bool { return true }
		with, without := try(t, again, p.groups).standInBrief(everyone), try(t, waiting, p.groups).standInBrief(everyone)
		return differ(without, with)
	})
}

// standInBrief is stand without sentences and attempts, which tell those that are tried again apart.
func (p trial) standInBrief(keep func(cluster string) bool) standing {
	s := p.stand(keep)
	s.Summary = ""
	for i := range s.Blocked {
		s.Blocked[i].Reason.Detail, s.Blocked[i].Cluster.Attempt = "", 0
	}
	return s
}

func find(list []rollout.Cluster, name string) (rollout.Cluster, bool) {
	for _, c := range list {
		if c.Name == name {
			return c, true
		}
	}
	return rollout.Cluster{}, false
}

// R37, R38: ignored clusters and clusters that failed before, alone and together.
func TestExceptions(t *testing.T) {
	for _, c := range []struct {
		opts rollout.Options
		want string
	}{
		{rollout.Options{}, "the rollout is stopped: a failed, maxFailures is 0; the rollout continues once a is no longer failed or timed out; 0 of 3 clusters done, 1 in flight (of these 1 failed), 2 not started"},
		{rollout.Options{Ignored: []string{"b"}}, "the rollout is stopped: a failed, maxFailures is 0; the rollout continues once a is no longer failed or timed out; 0 of 2 clusters done, 1 in flight (of these 1 failed), 1 not started, 1 more ignored"},
		{rollout.Options{Ignored: []string{"a"}}, "starting b; before that 0 of 2 clusters done, 2 not started, 1 more ignored"},
		{rollout.Options{FailedBefore: []string{"a"}}, "0 of 3 clusters done, 1 in flight (of these 1 failed), 2 not started"},
		{rollout.Options{FailedBefore: []string{"a"}, FailedFreesSlot: true}, "starting b; before that 0 of 3 clusters done, 1 in flight (of these 1 failed), 2 not started"},
		{rollout.Options{FailedBefore: []string{"a"}, Ignored: []string{"a"}}, "starting b; before that 0 of 2 clusters done, 2 not started, 1 more ignored"},
	} {
		r := plan(t, planned{strategy: progressive("1", config("", "", 0)), groups: []string{"a b c"}, reports: "a=Failed/1m", opts: c.opts})
		if got := r.Next.String(); got != c.want {
			t.Errorf("got  %s\nwant %s", got, c.want)
		}
	}
}

// everyTenth has the clusters whose names end with a 7.
func everyTenth(groups *grouping.Groups) (names []string) {
	for position := range groups.NumClusters() {
		if name := groups.Cluster(position); strings.HasSuffix(name, "7") {
			names = append(names, name)
		}
	}
	return names
}

// R37 to R39: with the options a plan takes as many allocations for many clusters as for few, but for the two steps in which the room
// for what few clusters have grows in a large fleet: the ages and the attempts.
func TestExceptionsTakeFewAllocationsAtAnySize(t *testing.T) {
	few := 0.0
	for _, n := range []int{100, 1_000, 30_000} {
		f, reports := halfway(t, n)
		groups := f.read()
		for i := range reports {
			reports[i].Attempt = i % 2
		}
		tenth := everyTenth(groups)
		allocs := fewestAllocs(t, func() {
			if _, err := rollout.Plan(strategies(n)[1], groups, reports, now.Add(time.Minute),
				rollout.Options{Ignored: tenth, FailedBefore: tenth, Attempt: 1}); err != nil {
				t.Fatal(err)
			}
		})
		if few == 0 {
			few = allocs
		} else if allocs < few || allocs > few+2*2 {
			t.Errorf("%v allocations for %d clusters, %v for 100, wanted at most 4 more", allocs, n, few)
		}
	}
	t.Logf("%v allocations", few)
}

// R12: entries with one name are one mandatory group, whatever index stands beside the name, so that one warning says all.
func TestAMandatoryGroupThatIsNamedTwiceIsWarnedOfOnce(t *testing.T) {
	strategy := perGroup(config("", "", 0))
	strategy.ProgressivePerGroup.MandatoryDecisionGroups.MandatoryDecisionGroups = []clusterv1alpha1.MandatoryDecisionGroup{
		{GroupName: "ghost", GroupIndex: 1}, {GroupName: "ghost", GroupIndex: 2}, {GroupIndex: 7}, {GroupIndex: 7}, {GroupIndex: 8},
	}
	r := plan(t, planned{strategy: strategy, groups: []string{"0: a"}})
	var warned []string
	for _, w := range r.Warnings {
		warned = append(warned, w.Mandatory.GroupName+"/"+fmt.Sprint(w.Mandatory.GroupIndex))
	}
	if want := []string{"ghost/1", "/7", "/8"}; !slices.Equal(warned, want) {
		t.Errorf("warned of %v, want %v", warned, want)
	}
}

// A warning says one of one, and several of several.
func TestWarningsNameOneAndSeveral(t *testing.T) {
	canary := clusterv1alpha1.MandatoryDecisionGroup{GroupName: "canary"}
	for _, test := range []struct {
		warning rollout.Warning
		want    string
	}{
		{rollout.Warning{Type: rollout.WarningMandatoryGroupIgnored, Mandatory: canary, Clusters: 1}, `mandatory group "canary" has no effect: its only cluster is ignored`},
		{rollout.Warning{Type: rollout.WarningMandatoryGroupIgnored, Mandatory: canary, Clusters: 3}, `mandatory group "canary" has no effect: all of its 3 clusters are ignored`},
		{rollout.Warning{Type: rollout.WarningMandatoryGroupEmpty, Mandatory: canary, Known: "0"}, `mandatory group "canary" has no effect: there is no such group; the only group is group 0, without a name`},
		{rollout.Warning{Type: rollout.WarningMandatoryGroupEmpty, Mandatory: canary, Known: `"a"`}, `mandatory group "canary" has no effect: there is no such group; the only group is named "a"`},
		{rollout.Warning{Type: rollout.WarningMandatoryGroupEmpty, Mandatory: canary, Known: `"a", 1`}, `mandatory group "canary" has no effect: there is no such group; the groups are "a", 1`},
	} {
		if got := test.warning.String(); got != test.want {
			t.Errorf("got %s, want %s", got, test.want)
		}
	}
}
