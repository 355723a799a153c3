// SPDX-License-Identifier: Apache-2.0

package rollout_test

import (
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"k8s.io/apimachinery/pkg/util/intstr"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"

	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/internal/exhaustive"
	"github.com/cohort-ocm/cohort/internal/seeded"
	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/rollout/exposure"
	"github.com/cohort-ocm/cohort/status"
)

// This search plays all histories of a small fleet in which the groups are changed at every step. Clusters join and leave, whatever they
// stand at, and the controller starts over at any step. What counts, and in which group, is all that a history leaves behind (R46, R47,
// R52), so it is the state.

// stand is where a cluster stands in such a history.
type stand uint8

const (
	standsNowhere stand = iota // it has not got the version
	standsInFlight
	standsFailed
	standsGood
	standsSkipped
	numStands
)

// spot is a cluster: where it stands, whether it is selected, and in which group it counts, if it does.
type spot struct {
	stand
	selected bool
	group    grouping.Key
}

func (s spot) counts() bool { return s.stand == standsInFlight || s.stand == standsFailed }

// spots is the state of a fleet: a, b, c and d.
type spots [4]spot

// recut is a search: a strategy, and the cuts that a scheduler may come to.
type recut struct {
	name     string
	strategy clusterv1alpha1.RolloutStrategy
	options  rollout.Options
	cuts     func(selected []string) []map[grouping.Key][]string
	n        int // clusters
	deadline bool

	befores map[spots]*rollout.Result
	known   map[[4]bool][]*cut // by which clusters are selected
	path    map[spots]spots
}

// cut is one way to cut the selected clusters, and what exposure says of it once a cluster starts.
type cut struct {
	names  map[grouping.Key][]string
	groups *grouping.Groups
	bound  *exposure.Exposure
}

// cutsBySize are the ways to cut clusters into groups of a size, in any order: by name, by a score, or shuffled.
func cutsBySize(size func(n int) int) func(selected []string) []map[grouping.Key][]string {
	return func(selected []string) (all []map[grouping.Key][]string) {
		if len(selected) == 0 {
			return []map[grouping.Key][]string{{{}: nil}}
		}
		seen := map[string]bool{}
		permute(selected, func(order []string) {
			cut := bySize(size(len(selected)))(order)
			if text := fmt.Sprint(sortedCut(cut)); !seen[text] {
				seen[text], all = true, append(all, cut)
			}
		})
		return all
	}
}

// cutsByLabel give each cluster the label of the canaries or not, and cut both by size, by name.
func cutsByLabel(size int) func(selected []string) []map[grouping.Key][]string {
	return func(selected []string) (all []map[grouping.Key][]string) {
		for labels := range 1 << len(selected) {
			cut, index := map[grouping.Key][]string{}, int32(0)
			for i, name := range []string{"canary", ""} {
				var of []string
				for j, cluster := range selected {
					if labels>>j&1 == 1 == (i == 0) {
						of = append(of, cluster)
					}
				}
				for some := range slices.Chunk(of, size) {
					cut[grouping.Key{Index: index, Name: name}] = some
					index++
				}
			}
			if index == 0 {
				cut[grouping.Key{}] = nil
			}
			all = append(all, cut)
		}
		return all
	}
}

func sortedCut(cut map[grouping.Key][]string) map[grouping.Key][]string {
	for key := range cut {
		cut[key] = slices.Sorted(slices.Values(cut[key]))
	}
	return cut
}

func permute(names []string, yield func([]string)) {
	var extend func(done, left []string)
	extend = func(done, left []string) {
		if len(left) == 0 {
			yield(done)
		}
		for i := range left {
			extend(append(done[:len(done):len(done)], left[i]), slices.Delete(slices.Clone(left), i, i+1))
		}
	}
	extend(nil, names)
}

func clusterName(i int) string { return string(rune('a' + i)) }

// before gives a result that had those that count in their groups.
func (s *recut) before(t fataler, at spots) *rollout.Result {
	var counting spots
	for i, is := range at[:s.n] {
		if is.counts() {
			counting[i] = spot{stand: standsInFlight, group: is.group}
		}
	}
	if r := s.befores[counting]; r != nil {
		return r
	}
	names := map[grouping.Key][]string{}
	for i, is := range counting[:s.n] {
		if is.counts() {
			names[is.group] = append(names[is.group], clusterName(i))
		}
	}
	groups, err := grouping.FromNames(names)
	if err != nil {
		t.Fatal(err)
	}
	r, err := rollout.Plan(all(""), groups, nil, now, rollout.Options{})
	if err != nil {
		t.Fatal(err)
	}
	s.befores[counting] = r
	return r
}

func (s *recut) reports(at spots) (reports []status.Report) {
	for i, is := range at[:s.n] {
		r := status.Report{Cluster: clusterName(i), LastTransitionTime: now, Applied: now}
		switch is.stand {
		case standsNowhere:
			continue
		case standsInFlight:
			r.Status = status.Progressing
		case standsFailed: // without a deadline no cluster times out (R40)
			if r.Status = status.Failed; s.deadline {
				r.Status = status.TimeOut
			}
		case standsGood:
			r.Status = status.Succeeded
		case standsSkipped:
			r.Status = status.Skip
		}
		reports = append(reports, r)
	}
	return reports
}

// next yields what may come after a state: a report of one cluster, one that joins or leaves, and a plan over any cut.
func (s *recut) next(t fataler, at spots, yield func(spots)) {
	set := func(i int, is spot) {
		if !is.counts() {
			is.group = grouping.Key{}
		}
		to := at
		to[i] = is
		yield(to)
	}
	for i, is := range at[:s.n] {
		other := is
		other.selected = !is.selected
		set(i, other)
		switch is.stand {
		case standsInFlight:
			set(i, spot{standsFailed, is.selected, is.group})
			set(i, spot{standsNowhere, is.selected, is.group}) // its object is gone
			set(i, spot{standsGood, is.selected, is.group})
			set(i, spot{standsSkipped, is.selected, is.group})
		case standsFailed:
			set(i, spot{standsInFlight, is.selected, is.group})
			set(i, spot{standsGood, is.selected, is.group})
		case standsGood, standsSkipped: // another cluster of that name, or a skip that ends
			set(i, spot{standsNowhere, is.selected, is.group})
		}
	}
	remembers, restarts := s.options, s.options
	reports := s.reports(at)
	remembers.Previous, restarts.StoredRecord = s.before(t, at), s.record(at, reports)
	for _, cut := range s.cutsOf(t, at) {
		s.plan(t, at, cut, reports, s.options, yield)
		if slices.ContainsFunc(at[:s.n], spot.counts) { // otherwise there is nothing to know
			s.plan(t, at, cut, reports, remembers, yield)
		}
		if len(restarts.StoredRecord.Record.Deselected) > 0 {
			s.plan(t, at, cut, reports, restarts, yield)
		}
	}
}

// cutsOf are the ways to cut the clusters that are selected in a state. Most states have the same clusters selected as another one.
func (s *recut) cutsOf(t fataler, at spots) []*cut {
	var key [4]bool
	var selected []string
	for i, is := range at[:s.n] {
		if key[i] = is.selected; is.selected {
			selected = append(selected, clusterName(i))
		}
	}
	if cuts, known := s.known[key]; known {
		return cuts
	}
	var cuts []*cut
	for _, names := range s.cuts(selected) {
		groups, err := grouping.FromNames(names)
		if err != nil {
			t.Fatal(err)
		}
		cuts = append(cuts, &cut{names: names, groups: groups})
	}
	s.known[key] = cuts
	return cuts
}

// record is what a controller that starts over finds of deselected clusters. Of those that are selected it may have nothing.
func (s *recut) record(at spots, reports []status.Report) *rollout.StoredRecord {
	m := &rollout.StoredRecord{Version: "v2", Record: status.Record{Version: "v2"}, AtOnce: true}
	for i, is := range at[:s.n] {
		if is.counts() && !is.selected {
			report := reports[slices.IndexFunc(reports, func(r status.Report) bool { return r.Cluster == clusterName(i) })]
			m.Record.Deselected = append(m.Record.Deselected, status.DeselectedCluster{Report: report, Group: is.group})
		}
	}
	return m
}

// plan yields what a plan over a cut may lead to, and checks it.
func (s *recut) plan(t fataler, at spots, cut *cut, reports []status.Report, options rollout.Options, yield func(spots)) {
	r, err := rollout.Plan(s.strategy, cut.groups, reports, now, options)
	if err != nil {
		t.Fatal(err)
	}
	none, unknown := at, false // nothing starts, or nothing yet
	place := func(c rollout.Cluster, is stand) {
		i := c.Name[0] - 'a'
		if none[i].stand = is; none[i].counts() {
			none[i].group = c.Group
			unknown = unknown || c.Group.Index < 0
		}
	}
	for _, list := range [][]rollout.Cluster{r.InFlight, r.Deselected, slices.Collect(r.Settled())} {
		for _, c := range list {
			place(c, at[c.Name[0]-'a'].stand)
		}
	}
	if unknown { // an unknown group is no state, but what starts must be within the bound
		yield = func(spots) {}
	}
	yield(none)
	exposed := 0
	for _, is := range at[:s.n] {
		if is.counts() {
			exposed++
		}
	}
	if len(r.Start) == 0 {
		return
	}
	if cut.bound == nil {
		e, err := exposure.Of(s.strategy, cut.groups, exposure.Span{}, now, s.options)
		if err != nil {
			t.Fatal(err)
		}
		cut.bound = &e
	}
	if most := cut.bound.Exposed; exposed+len(r.Start) > most {
		t.Fatal(fmt.Sprintf("%s: %d start beside %d where %d are exposed at most: %v of %v\n%v",
			s.name, len(r.Start), exposed, most, r, cut.names, s.history(at)))
	}
	for _, c := range r.Start {
		one := none
		one[c.Name[0]-'a'] = spot{standsInFlight, true, c.Group}
		yield(one)
		place(c, standsInFlight)
	}
	yield(none)
}

// history tells how a state came about.
func (s *recut) history(at spots) string {
	var lines []string
	for at != (spots{}) {
		line := ""
		for i, is := range at[:s.n] {
			line += fmt.Sprintf("  %s %d %v %v", clusterName(i), is.stand, is.selected, is.group)
		}
		lines = append(lines, line)
		at = s.path[at]
	}
	slices.Reverse(lines)
	return strings.Join(lines, "\n")
}

// each goes through all states that there are, the nearest first.
func (s *recut) each(t fataler) (states int) {
	s.befores, s.known, s.path = map[spots]*rollout.Result{}, map[[4]bool][]*cut{}, map[spots]spots{{}: {}}
	for todo := []spots{{}}; len(todo) > 0; todo = todo[1:] {
		at := todo[0]
		s.next(t, at, func(to spots) {
			if _, seen := s.path[to]; !seen {
				s.path[to] = at
				todo = append(todo, to)
			}
		})
	}
	return len(s.path)
}

// R65, R66: in every history of a small fleet whose groups are changed at each step, no more clusters are exposed than package
// exposure says of the groups in which the last of them started.
func TestExposureHoldsHoweverGroupsAreCutAnew(t *testing.T) {
	fixed := func(size int) func(int) int { return func(int) int { return size } }
	var searches []recut
	deadline := false
	add := func(name string, strategy clusterv1alpha1.RolloutStrategy, options rollout.Options) {
		for _, cuts := range []struct {
			name string
			cuts func(selected []string) []map[grouping.Key][]string
		}{
			{"by 1", cutsBySize(fixed(1))},
			{"by 2", cutsBySize(fixed(2))},
			{"by half", cutsBySize(func(n int) int { return (n + 1) / 2 })},
			{"by label and 1", cutsByLabel(1)},
			{"by label and 2", cutsByLabel(2)},
		} {
			if options.GroupOrder != nil && !strings.HasPrefix(cuts.name, "by label") { // groups of one name are no graph
				continue
			}
			searches = append(searches, recut{name: name + ", " + cuts.name, strategy: strategy, options: options, cuts: cuts.cuts, deadline: deadline})
		}
	}
	half, first := intstr.FromString("50%"), 1
	for _, failures := range []string{"", "1", "50%", "2"} {
		for _, d := range []string{"", "10m"} {
			c := config(failures, d, 0)
			name := fmt.Sprintf("failures %q, deadline %q", failures, d)
			deadline = d != ""
			add("PerGroup, "+name, perGroup(c), rollout.Options{})
			add("PerGroup with a limit, "+name, perGroup(c), rollout.Options{MaxConcurrencyPerGroup: intstr.FromInt32(1)})
			add("PerGroup with a share, "+name, perGroup(c), rollout.Options{MaxConcurrencyPerGroup: half})
			add("PerGroup side by side, "+name, perGroup(c), rollout.Options{MaxConcurrencyPerGroup: intstr.FromInt32(1), GroupOrder: rollout.GroupOrder{}})
			add("PerGroup with a ramp, "+name, perGroup(c), rollout.Options{Ramp: &first})
			add("PerGroup with a baseline, "+name, perGroup(c), rollout.Options{MaxConcurrencyPerGroup: intstr.FromInt32(1), FailedBefore: []string{"a"}})
			add("PerGroup with a canary, "+name, perGroup(c, "canary"), rollout.Options{})
			add("Progressive, "+name, progressive("1", c), rollout.Options{})
			add("Progressive, a share, "+name, progressive("50%", c, "canary"), rollout.Options{MaxConcurrencyPerGroup: half})
			add("Progressive with a ramp, "+name, progressive("", c, "canary"), rollout.Options{Ramp: &first})
			add("Progressive, a canary by name, "+name, progressive("1", c, "canary"), rollout.Options{})
			add("Progressive, a canary by index, "+name, progressive("2", c, "0"), rollout.Options{})
		}
	}
	var states atomic.Int64
	t.Run("searches", func(t *testing.T) {
		kinds := len(searches) / 8 // of options and cuts; each has eight searches, with other budgets and deadlines
		for i, s := range searches {
			one := exhaustive.On && i/kinds == (i%kinds+int(seeded.Seed()%8))%8
			first := strings.HasPrefix(s.name, `PerGroup, failures "", deadline "10m", by 1`)
			if few := exhaustive.Raced || !exhaustive.On; few && !first && i/kinds%4 != i%kinds%4 { // two of the eight
				continue
			}
			t.Run(s.name, func(t *testing.T) {
				t.Parallel()
				s.n = 2
				if exhaustive.Whole || one || !exhaustive.On && !exhaustive.Raced && first {
					s.n = 3
				}
				states.Add(int64(s.each(t)))
			})
		}
	})
	t.Logf("%d searches, %d states", len(searches), states.Load())
}
