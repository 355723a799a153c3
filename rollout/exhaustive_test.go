package rollout_test

import (
	"flag"
	"fmt"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"

	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/status"
)

// kind is a kind of report that the rules tell apart.
type kind struct {
	letter byte
	none   bool
	status status.RolloutStatus
	ago    time.Duration // 0: the time is not known
}

// nineKinds are seen with a deadline of 10 minutes and a soak of 5. Those at the edge are exactly on it.
var nineKinds = []kind{
	{letter: '-', none: true},
	{letter: 'a', status: status.ToApply, ago: time.Hour},
	{letter: 'p', status: status.Progressing, ago: time.Minute},
	{letter: 'P', status: status.Progressing, ago: 10 * time.Minute},
	{letter: 's', status: status.Succeeded, ago: 5*time.Minute - 1},
	{letter: 'S', status: status.Succeeded, ago: 5 * time.Minute},
	{letter: 'f', status: status.Failed, ago: 10*time.Minute - 1},
	{letter: 'T', status: status.TimeOut, ago: time.Hour},
	{letter: 'x', status: status.Skip, ago: time.Hour},
}

// moreKinds have what reports rarely have: a status from a newer API, no transition time, and one that
// lies ahead of a clock that is slow.
var moreKinds = append([]kind{
	{letter: '?', status: "Pending", ago: 2 * time.Minute},
	{letter: 'F', status: status.Failed, ago: time.Hour},
	{letter: 'q', status: status.Progressing},
	{letter: 'g', status: status.Failed},
	{letter: 't', status: status.Succeeded},
	{letter: 'u', status: status.Succeeded, ago: -time.Minute},
}, nineKinds...)

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

// cutFleet is the clusters a, b, … in the groups of a cut.
func cutFleet(cut []int, keys []grouping.Key) world {
	w := world{now: now}
	for i, g := range cut {
		w.members = append(w.members, member{string(rune('a' + i)), keys[g]})
		for len(w.groups) <= g {
			w.groups = append(w.groups, keys[len(w.groups)])
		}
	}
	return w
}

// eachReports calls f with every combination of kinds of report for the first n clusters, in reverse order of their
// names. The slice is used again.
func eachReports(n int, kinds []kind, f func(letters []byte, reports []status.Report) (proceed bool)) {
	letters, reports := make([]byte, n), make([]status.Report, 0, n)
	digits := make([]int, n)
	for {
		reports = reports[:0]
		for i := n - 1; i >= 0; i-- {
			k := kinds[digits[i]]
			letters[i] = k.letter
			if k.none {
				continue
			}
			r := status.Report{Cluster: string(rune('a' + i)), Status: k.status}
			if k.ago != 0 {
				r.LastTransitionTime = now.Add(-k.ago)
			}
			reports = append(reports, r)
		}
		if !f(letters, reports) {
			return
		}
		i := 0
		for ; i < n; i++ {
			if digits[i]++; digits[i] < len(kinds) {
				break
			}
			digits[i] = 0
		}
		if i == n {
			return
		}
	}
}

// full runs the combinations that take minutes.
var full = flag.Bool("full", false, "every way to cut four clusters into groups, under every naming")

// TestPlanAgreesWithTheRulesOnEveryFleetOfUpToFourClusters is every fleet of up to four clusters, nine
// kinds of report, all ways to cut them into groups, under all of manyStrategies: all that a result says is
// what the rules say.
func TestPlanAgreesWithTheRulesOnEveryFleetOfUpToFourClusters(t *testing.T) {
	type part struct {
		name  string
		cuts  [][]int
		keys  []grouping.Key
		kinds []kind
	}
	var parts []part
	for n := range 4 {
		parts = append(parts,
			part{fmt.Sprintf("n=%d", n), cuts(n), plainKeys, nineKinds},
			part{fmt.Sprintf("n=%d/gaps", n), cuts(n), gapKeys, nineKinds},
			part{fmt.Sprintf("n=%d/two names at an index", n), ascending(cuts(n)), twoNames, nineKinds},
		)
		if n < 3 {
			parts = append(parts, part{fmt.Sprintf("n=%d/rare reports", n), cuts(n), plainKeys, moreKinds})
		}
	}
	parts = append(parts, part{"n=3/rare reports", ascending(cuts(3)), plainKeys, moreKinds})
	if !testing.Short() {
		parts = append(parts, part{"n=4", ascending(cuts(4)), plainKeys, nineKinds})
	}
	if *full {
		parts = append(parts,
			part{"n=4/all cuts", cuts(4), plainKeys, nineKinds},
			part{"n=4/gaps", cuts(4), gapKeys, nineKinds},
			part{"n=4/rare reports", ascending(cuts(4)), plainKeys, moreKinds},
		)
	}
	for _, p := range parts {
		for _, cut := range p.cuts {
			t.Run(p.name+"/"+cutName(cut), func(t *testing.T) {
				t.Parallel()
				w := cutFleet(cut, p.keys)
				groups := w.fleet(t).read()
				var j judge
				eachReports(len(cut), p.kinds, func(letters []byte, reports []status.Report) bool {
					w.reports = reports
					for i := range manyStrategies {
						w.strategy = manyStrategies[i]
						if fault := j.fault(w, groups, nil); fault != "" {
							t.Errorf("reports %s, strategy %d %v: %s", letters, i, w.strategy, fault)
							return false
						}
					}
					return true
				})
			})
		}
	}
}

func cutName(cut []int) string {
	var s strings.Builder
	s.WriteString("cut ")
	for _, g := range cut {
		fmt.Fprint(&s, g)
	}
	return s.String()
}
