// SPDX-License-Identifier: Apache-2.0

package rollout_test

import (
	"cmp"
	"fmt"
	"iter"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"

	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/internal/exhaustive"
	"github.com/cohort-ocm/cohort/internal/seeded"
	"github.com/cohort-ocm/cohort/status"
)

// kind is a kind of report that the rules tell apart: what was observed of one cluster, in none, one or several
// reports.
type kind struct {
	name    string
	reports []observed
}

// observed is a report by how long ago things happened; 0 is a time that is not known.
type observed struct {
	status     status.RolloutStatus
	transition time.Duration
	applied    time.Duration
}

func (o observed) report(cluster string) status.Report {
	r := status.Report{Cluster: cluster, Status: o.status}
	if o.transition != 0 {
		r.LastTransitionTime = now.Add(-o.transition)
	}
	if o.applied != 0 {
		r.Applied = now.Add(-o.applied)
	}
	switch o.status {
	case answered:
		r.Status, r.Answered = status.Succeeded, now.Add(-young)
	case refused:
		r.Status, r.Reason = status.ToApply, status.ReportRefused
	case untracked:
		r.Status, r.Reason = status.Progressing, status.ReportUntracked
	case validated:
		r.Status, r.Answered = status.Validating, now.Add(-young)
	}
	return r
}

// answered stands for Succeeded with an answer that was noted a minute ago (R5).
const answered status.RolloutStatus = "Succeeded, answered"

// validated stands for Validating with such an answer (R58).
const validated status.RolloutStatus = "Validating, answered"

// refused and untracked stand for ToApply and Progressing with a reason (R27).
const (
	refused   status.RolloutStatus = "ToApply, refused"
	untracked status.RolloutStatus = "Progressing, untracked"
)

// The deadline of the strategies below is 10 minutes and their soak 5. What is at the edge is exactly on it.
const (
	young = time.Minute
	soaks = 5*time.Minute - 1
	soon  = 10*time.Minute - 1
	old   = time.Hour
)

// nineKinds are what reports mostly have.
var nineKinds = []kind{
	{"-", nil},
	{"a", []observed{{status.ToApply, old, 0}}},
	{"p", []observed{{status.Progressing, young, 0}}},
	{"P", []observed{{status.Progressing, soon + 1, 0}}},
	{"s", []observed{{status.Succeeded, soaks, 0}}},
	{"S", []observed{{status.Succeeded, soaks + 1, 0}}},
	{"f", []observed{{status.Failed, soon, 0}}},
	{"T", []observed{{status.TimeOut, old, 0}}},
	{"x", []observed{{status.Skip, old, 0}}},
}

// fewKinds are those without which no rollout is worth a look.
var fewKinds = []kind{nineKinds[0], nineKinds[2], nineKinds[5], nineKinds[6], nineKinds[7]}

// versionKinds are what is observed of a cluster whose version of the workload has a time (R27).
var versionKinds = []kind{
	{"a applied", []observed{{status.ToApply, old, young}}},
	{"a applied long ago", []observed{{status.ToApply, 0, soon + 1}}},
	{"a applied, transition after", []observed{{status.ToApply, young, old}}},
	{"a refused", []observed{{refused, old, young}}},
	{"a refused for long", []observed{{refused, 0, soon + 1}}},
	{"a refused, not applied", []observed{{refused, old, 0}}},
	{"u applied", []observed{{untracked, old, soon}}},
	{"p of the version before", []observed{{status.Progressing, old, soon}}},
	{"P without a transition", []observed{{status.Progressing, 0, soon + 1}}},
	{"s of the version before", []observed{{status.Succeeded, old, soaks}}},
	{"S after its write", []observed{{status.Succeeded, soaks + 1, old}}},
	{"s answered late", []observed{{answered, old, old}}},
	{"S answered, but applied at an unknown time", []observed{{answered, old, 0}}},
	{"f after its write", []observed{{status.Failed, soon, old}}},
	{"F of the version before", []observed{{status.Failed, 24 * old, soon + 1}}},
	{"T applied anew", []observed{{status.TimeOut, old, young}}},
	{"v after its write", []observed{{status.Validating, soon, old}}},
	{"V at its deadline", []observed{{status.Validating, old, soon + 1}}},
	{"v answered late", []observed{{validated, old, old}}},
}

// rareKinds have what reports rarely have: a status from a newer API, no time at all, and one that lies ahead of
// a clock that is slow.
var rareKinds = []kind{
	{"?", []observed{{"Pending", 2 * young, 0}}},
	{"F", []observed{{status.Failed, old, 0}}},
	{"p no time", []observed{{status.Progressing, 0, 0}}},
	{"f no time", []observed{{status.Failed, 0, 0}}},
	{"s no time", []observed{{status.Succeeded, 0, 0}}},
	{"s ahead", []observed{{status.Succeeded, -young, 0}}},
	{"p ahead", []observed{{status.Progressing, old, -young}}},
	{"v", []observed{{status.Validating, soon, 0}}},
	{"v no time", []observed{{status.Validating, 0, 0}}},
	{"u", []observed{{untracked, soon, 0}}},
	{"U at its deadline", []observed{{untracked, soon + 1, 0}}},
	{"u no time", []observed{{untracked, 0, 0}}},
}

// mergedKinds are several reports of one cluster (R1), the one that counts in each place.
var mergedKinds = []kind{
	{"S+p", []observed{{status.Succeeded, old, 0}, {status.Progressing, young, 0}}},
	{"F+T", []observed{{status.Failed, soon, 0}, {status.TimeOut, young, 0}}},
	{"T+P", []observed{{status.TimeOut, old, 0}, {status.Progressing, young, 0}}},
	{"a+S", []observed{{status.ToApply, old, 0}, {status.Succeeded, old, 0}}},
	{"x+S", []observed{{status.Skip, young, 0}, {status.Succeeded, soaks, 0}}},
	{"a+a applied", []observed{{status.ToApply, young, 0}, {status.ToApply, 0, young}}},
	{"P+p", []observed{{status.Progressing, old, 0}, {status.Progressing, young, 0}}},
	{"p applied+P", []observed{{status.Progressing, old, young}, {status.Progressing, soon + 1, 0}}},
	{"s no time+S", []observed{{status.Succeeded, 0, 0}, {status.Succeeded, soaks + 1, 0}}},
	{"p+u", []observed{{status.Progressing, young, 0}, {untracked, young, 0}}},
	{"u+p later", []observed{{untracked, soon, 0}, {status.Progressing, young, 0}}},
	{"p+v", []observed{{status.Progressing, soon, 0}, {status.Validating, young, 0}}},
	{"v+a+S", []observed{{status.Validating, soon, 0}, {status.ToApply, young, 0}, {status.Succeeded, young, 0}}},
	{"S+S+f+?", []observed{{status.Succeeded, old, 0}, {status.Skip, 0, 0}, {status.Failed, old, young}, {"Pending", young, 0}}},
}

var allKinds = slices.Concat(nineKinds, versionKinds, rareKinds, mergedKinds)

// config is a RolloutConfig with limits as in YAML; empty is unset.
func config(maxFailures, deadline string, soak time.Duration) clusterv1alpha1.RolloutConfig {
	c := clusterv1alpha1.RolloutConfig{ProgressDeadline: deadline, MinSuccessTime: metav1.Duration{Duration: soak}}
	if maxFailures != "" {
		c.MaxFailures = intstr.Parse(maxFailures)
	}
	return c
}

// mandatoryGroups reads numbers as indexes and everything else as names.
func mandatoryGroups(groups ...string) clusterv1alpha1.MandatoryDecisionGroups {
	var m clusterv1alpha1.MandatoryDecisionGroups
	for _, g := range groups {
		entry := clusterv1alpha1.MandatoryDecisionGroup{GroupName: g}
		if v := intstr.Parse(g); v.Type == intstr.Int {
			entry = clusterv1alpha1.MandatoryDecisionGroup{GroupIndex: v.IntVal}
		}
		m.MandatoryDecisionGroups = append(m.MandatoryDecisionGroups, entry)
	}
	return m
}

func all(deadline string) clusterv1alpha1.RolloutStrategy {
	return clusterv1alpha1.RolloutStrategy{Type: clusterv1alpha1.All, All: &clusterv1alpha1.RolloutAll{RolloutConfig: config("", deadline, 0)}}
}

func progressive(maxConcurrency string, c clusterv1alpha1.RolloutConfig, mandatory ...string) clusterv1alpha1.RolloutStrategy {
	p := &clusterv1alpha1.RolloutProgressive{RolloutConfig: c, MandatoryDecisionGroups: mandatoryGroups(mandatory...)}
	if maxConcurrency != "" {
		p.MaxConcurrency = intstr.Parse(maxConcurrency)
	}
	return clusterv1alpha1.RolloutStrategy{Type: clusterv1alpha1.Progressive, Progressive: p}
}

func perGroup(c clusterv1alpha1.RolloutConfig, mandatory ...string) clusterv1alpha1.RolloutStrategy {
	return clusterv1alpha1.RolloutStrategy{
		Type: clusterv1alpha1.ProgressivePerGroup,
		ProgressivePerGroup: &clusterv1alpha1.RolloutProgressivePerGroup{
			RolloutConfig: c, MandatoryDecisionGroups: mandatoryGroups(mandatory...),
		},
	}
}

// manyStrategies meet every small fleet.
var manyStrategies = []clusterv1alpha1.RolloutStrategy{
	{}, // the API's default
	all("10m"),
	{Type: clusterv1alpha1.All, All: &clusterv1alpha1.RolloutAll{RolloutConfig: config("1", "None", 5*time.Minute)}},

	{Type: clusterv1alpha1.Progressive},
	progressive("1", config("", "", 0)),
	progressive("2", config("", "10m", 0)),
	progressive("1", config("1", "10m", 5*time.Minute)),
	progressive("2", config("1", "10m", 5*time.Minute)),
	progressive("3", config("50%", "10m", 0)),
	progressive("25%", config("26%", "10m", 5*time.Minute)),
	progressive("34%", config("100%", "", 5*time.Minute)),
	progressive("10", config("10", "10m", 0)),
	progressive("1", config("2", "None", 0)),
	progressive("1", config("1", "10m", 5*time.Minute), "canary"),
	progressive("50%", config("1", "10m", 0), "1"),
	progressive("1", config("", "10m", 0), "prod"),
	progressive("1", config("4", "10m", 5*time.Minute), "2", "canary", "0"),
	progressive("1", config("1", "10m", 0), "ghost", "7"),
	progressive("", config("25%", "10m", 5*time.Minute), "0", "1", "2", "3"),

	{Type: clusterv1alpha1.ProgressivePerGroup},
	perGroup(config("", "10m", 0)),
	perGroup(config("1", "10m", 5*time.Minute)),
	perGroup(config("34%", "10m", 0)),
	perGroup(config("50%", "None", 5*time.Minute)),
	perGroup(config("10", "10m", 0)),
	perGroup(config("1", "10m", 5*time.Minute), "canary"),
	perGroup(config("", "10m", 0), "prod"),
	perGroup(config("2", "10m", 0), "1"),
	perGroup(config("100%", "", 0), "3", "canary"),
	perGroup(config("1", "10m", 5*time.Minute), "ghost", "9"),
}

// How the groups of a small fleet are called, in their order. A name stands at two indexes, indexes have
// gaps, and an index has two names.
var (
	plainKeys = []grouping.Key{{Index: 0, Name: "canary"}, {Index: 1}, {Index: 2, Name: "prod"}, {Index: 3, Name: "prod"}}
	gapKeys   = []grouping.Key{{Index: 1, Name: "prod"}, {Index: 2, Name: "prod"}, {Index: 7}, {Index: 9, Name: "canary"}}
	twoNames  = []grouping.Key{{Index: 0}, {Index: 0, Name: "canary"}, {Index: 3, Name: "a"}, {Index: 3, Name: "prod"}}
)

// cuts are the ways to put n clusters into groups: for each cluster the number of its group, with no
// group left out.
func cuts(n int) [][]int {
	if n == 0 {
		return [][]int{{}}
	}
	var out [][]int
	var extend func(cut []int, groups int)
	extend = func(cut []int, groups int) {
		if len(cut) < n {
			for g := range n {
				extend(append(cut[:len(cut):len(cut)], g), max(groups, g+1))
			}
			return
		}
		used := make([]bool, groups)
		for _, g := range cut {
			used[g] = true
		}
		for _, u := range used {
			if !u {
				return
			}
		}
		out = append(out, cut)
	}
	extend(nil, 0)
	return out
}

// ascending are the cuts in which no cluster is in an earlier group than one before it: the compositions.
func ascending(cuts [][]int) (out [][]int) {
	for _, cut := range cuts {
		ok := true
		for i := 1; i < len(cut); i++ {
			ok = ok && cut[i-1] <= cut[i]
		}
		if ok {
			out = append(out, cut)
		}
	}
	return out
}

// everywhere are all ways to put n clusters into four groups, empty ones included.
func everywhere(n int) [][]int {
	out := [][]int{{}}
	for range n {
		var longer [][]int
		for _, cut := range out {
			for g := range 4 {
				longer = append(longer, append(cut[:len(cut):len(cut)], g))
			}
		}
		out = longer
	}
	return out
}

// cutFleet is the clusters a, b, … in the groups of a cut, and at least the given number of groups.
func cutFleet(cut []int, keys []grouping.Key, groups int) world {
	w := world{now: now, groups: keys[:groups:groups]}
	for i, g := range cut {
		w.members = append(w.members, member{string(rune('a' + i)), keys[g]})
		if g >= len(w.groups) {
			w.groups = keys[: g+1 : g+1]
		}
	}
	return w
}

// space is a part of the small worlds: all combinations of fleets, kinds of report for each cluster, strategies and
// what else a world may have.
type space struct {
	name       string
	fleets     []world
	kinds      []kind
	strategies []clusterv1alpha1.RolloutStrategy
	extras     []func(*world) // nil: none
	short      int            // how many of the worlds the short run tests
	long       int            // how many of them the run with the tag "exhaustive" tests; 0: manyWorlds
	whole      int            // how many of them the weekly run tests; 0: all
}

// fleets yields the fleets of several cuts.
func fleets(cuts [][]int, keys []grouping.Key, groups int) (fleets []world) {
	for _, cut := range cuts {
		fleets = append(fleets, cutFleet(cut, keys, groups))
	}
	return fleets
}

// worlds is the number of worlds with this fleet.
func (s space) worlds(fleet world) int {
	n := len(s.strategies) * max(1, len(s.extras))
	for range fleet.members {
		n *= len(s.kinds)
	}
	return n
}

// set makes the i-th world with this fleet out of it. The reports are in reverse order of the names, and in w's own
// slice. The strategy changes fastest, then the extras.
func (s space) set(w *world, i int) {
	digit := func(n int) int {
		d := i % n
		i /= n
		return d
	}
	w.strategy = s.strategies[digit(len(s.strategies))]
	extra := digit(max(1, len(s.extras)))
	w.reports = w.reports[:0]
	for m := len(w.members) - 1; m >= 0; m-- {
		for _, o := range s.kinds[digit(len(s.kinds))].reports {
			w.reports = append(w.reports, o.report(w.members[m].name))
		}
	}
	if s.extras != nil {
		s.extras[extra](w)
	}
}

// each calls f with the worlds of the space that this run tests, and their groups. It gives up on a fleet where f is not ok.
func (s space) each(t *testing.T, f func(t *testing.T) func(w world, groups *grouping.Groups) (ok bool)) {
	total := 0
	for _, fleet := range s.fleets {
		total += s.worlds(fleet)
	}
	var tested atomic.Int64
	t.Run(s.name, func(t *testing.T) {
		for _, fleet := range s.fleets {
			t.Run(fleet.cut(), func(t *testing.T) {
				t.Parallel()
				var read reader
				test := f(t)
				for i := range tests(s.worlds(fleet), total, s.short, cmp.Or(s.long, manyWorlds), s.whole) {
					w := fleet
					s.set(&w, i)
					tested.Add(1)
					if !test(w, read.groups(t, w)) {
						return
					}
					fleet.reports = w.reports
				}
			})
		}
	})
	t.Logf("%s: %d of %d worlds", s.name, tested.Load(), total)
}

// The run with the tag "exhaustive" tests so many worlds of each space, and at least so many of each fleet: those of one cluster are
// tested whole.
const (
	manyWorlds = 20_000
	someWorlds = 400
)

// tests are the numbers of the n worlds with one fleet that this run tests. The space has more fleets, and worlds in total. The short
// run has the same ones each time. With the tag "exhaustive" they are followed by as many that another seed changes.
func tests(n, total, short, long, whole int) iter.Seq[int] {
	share := func(most int) int { return min(n, 1+most*n/total) }
	fixed, moving := share(short), 0
	switch {
	case exhaustive.Raced: // what is shared is shared in each world
		fixed = share(short / 10)
	case exhaustive.Whole:
		fixed = n
		if whole > 0 {
			fixed, moving = share(whole)/2, share(whole)-share(whole)/2
		}
	case exhaustive.On:
		if most := max(share(long), min(n, someWorlds)); most < n {
			fixed, moving = most/2, most-most/2
		} else {
			fixed = n
		}
	}
	return func(yield func(int) bool) {
		for _, part := range []struct {
			worlds int
			seed   uint64
		}{{fixed, 9}, {moving, seeded.Seed()}} {
			random := rand.New(rand.NewPCG(part.seed, uint64(n)))
			for i := range part.worlds {
				if part.worlds < n {
					i = random.IntN(n)
				}
				if !yield(i) {
					return
				}
			}
		}
	}
}

// cut is for each cluster the place of its group.
func (w world) cut() string {
	var text strings.Builder
	fmt.Fprintf(&text, "%d groups ", len(w.groups))
	for _, m := range w.members {
		fmt.Fprint(&text, slices.Index(w.groups, m.group))
	}
	return text.String()
}

// smallWorlds are the fleets of up to four clusters in up to four groups. Kinds of report that are the same state to every rule
// but R1 and R31 (rareKinds, mergedKinds) meet each other in fleets of up to two; indexes with two names meet four clusters in the
// order of the groups alone.
func smallWorlds() []space {
	spaces := []space{
		{name: "none and one", fleets: slices.Concat(fleets(cuts(0), plainKeys, 0), fleets(everywhere(1), plainKeys, 4)), kinds: allKinds, strategies: manyStrategies, short: 1000},
		{name: "two", fleets: slices.Concat(fleets(cuts(2), plainKeys, 0), fleets(everywhere(2), twoNames, 4)), kinds: allKinds, strategies: manyStrategies, short: 2500},
		{name: "three", fleets: fleets(ascending(cuts(3)), plainKeys, 0), kinds: slices.Concat(nineKinds, versionKinds), strategies: manyStrategies, short: 2500},
		{name: "three/all cuts", fleets: slices.Concat(fleets(cuts(3), plainKeys, 0), fleets(everywhere(3), gapKeys, 4)), kinds: nineKinds, strategies: manyStrategies, short: 2000},
		{name: "four", fleets: fleets(ascending(cuts(4)), plainKeys, 0), kinds: nineKinds, strategies: manyStrategies, short: 2500},
		{name: "four/all cuts", fleets: slices.Concat(fleets(cuts(4), plainKeys, 0), fleets(ascending(cuts(4)), twoNames, 0)), kinds: fewKinds, strategies: manyStrategies, short: 2000},
	}
	return spaces
}

// TestPlanAgreesWithTheRulesOnEveryFleetOfUpToFourClusters is every fleet of up to four clusters in up to four groups,
// with all kinds of report under all of manyStrategies: all that a result says is what the rules say.
func TestPlanAgreesWithTheRulesOnEveryFleetOfUpToFourClusters(t *testing.T) {
	for _, s := range smallWorlds() {
		s.each(t, agrees)
	}
}

func agrees(t *testing.T) func(w world, groups *grouping.Groups) bool {
	var j judge
	return func(w world, groups *grouping.Groups) bool {
		if fault := j.fault(w, groups); fault != "" {
			t.Errorf("%v\n%s", w, fault)
			return false
		}
		return true
	}
}
