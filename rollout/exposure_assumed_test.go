// SPDX-License-Identifier: Apache-2.0

package rollout_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"

	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/internal/exhaustive"
	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/rollout/exposure"
	"github.com/cohort-ocm/cohort/status"
)

// R40 assumes that some things do not happen. Here they do.

// told is a rollout over groups such as "a b", of which some clusters may leave. Each step is what is reported: "a=Skip" of a
// skipped cluster, "a=Failed" of one that has the version. One that is left out and has the version is reported Progressing, and
// with "a:lost" or "a:left" not at all, though it has the version. With "a:frozen" it is frozen and nothing waits for it, with "a:blocks" its
// group does. With "a:unlisted" it alone is not on the allowlist.
type told struct {
	strategy clusterv1alpha1.RolloutStrategy
	groups   []string
	opts     rollout.Options
}

// exposes gives how many clusters are exposed after the steps, by what Plan started in each.
func (s told) exposes(t *testing.T, steps []string) int {
	t.Helper()
	is := map[string]status.RolloutStatus{} // of those that have the version
	for _, step := range steps {
		fields := strings.Fields(step)
		names := map[grouping.Key][]string{}
		for i, group := range s.groups {
			for _, cluster := range strings.Fields(group) {
				if !slices.Contains(fields, cluster+":left") {
					key := grouping.Key{Index: int32(i)}
					names[key] = append(names[key], cluster)
				}
			}
		}
		groups, err := grouping.FromNames(names)
		if err != nil {
			t.Fatal(err)
		}
		seen := map[string]status.RolloutStatus{}
		for cluster := range is {
			seen[cluster] = status.Progressing
		}
		for _, field := range fields {
			cluster, says, reported := strings.Cut(field, "=")
			cluster, _, _ = strings.Cut(cluster, ":")
			if _, has := is[cluster]; has && reported {
				is[cluster] = status.RolloutStatus(says)
			}
			if seen[cluster] = status.RolloutStatus(says); !reported {
				delete(seen, cluster)
			}
		}
		opts := s.opts
		for _, field := range fields {
			if cluster, how, is := strings.Cut(field, ":"); is && (how == "frozen" || how == "blocks") {
				opts.Freezes = append(slices.Clone(opts.Freezes), rollout.ClusterFreeze{Cluster: cluster, Reason: "its site", Blocks: how == "blocks"})
			} else if is && how == "unlisted" {
				opts.Allowlist = slices.DeleteFunc(strings.Fields(strings.Join(s.groups, " ")), func(name string) bool { return name == cluster })
			}
		}
		var reports []status.Report
		for cluster, says := range seen {
			reports = append(reports, status.Report{Cluster: cluster, Status: says, LastTransitionTime: now})
		}
		result, err := rollout.Plan(s.strategy, groups, reports, now, opts)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range result.Start {
			is[c.Name] = status.Progressing
		}
	}
	n := 0
	for _, says := range is {
		if says != status.Succeeded && says != status.Skip {
			n++
		}
	}
	return n
}

// R40: each history beats the number because of what is assumed not to happen. The same history without that does not.
func TestExposureIsBeatenOnlyWhereItsAssumptionsAre(t *testing.T) {
	one := []string{"a b c d e"}
	for _, c := range []struct {
		why        string
		told       told
		broken     []string // the history
		kept       []string // the same with the assumption kept
		says, gets int
	}{
		{
			"without a deadline no report is TimeOut", told{progressive("1", config("3", "", 0)), one, rollout.Options{}},
			[]string{"", "a=TimeOut", "a=TimeOut b=TimeOut", "a=TimeOut b=TimeOut c=TimeOut", "a=TimeOut b=TimeOut c=TimeOut d=TimeOut"},
			[]string{"", "a=Failed", "a=Failed b=Failed", "a=Failed b=Failed c=Failed", "a=Failed b=Failed c=Failed d=Failed"}, 1, 4,
		},
		{
			"a cluster that soaked goes on working", told{progressive("1", config("", "", 0)), one, rollout.Options{}},
			[]string{"", "a=Succeeded", "a=Failed b=Failed"}, []string{"", "a=Succeeded", "a=Succeeded b=Failed"}, 1, 2,
		},
		{
			"a cluster that has the version and is skipped is done with it", told{progressive("1", config("", "", 0)), one, rollout.Options{}},
			[]string{"", "a=Skip", "a=Progressing b=Progressing"}, []string{"", "a=Skip", "a=Skip b=Progressing"}, 1, 2,
		},
		{
			"reports tell of those that left", told{progressive("1", config("", "", 0)), one, rollout.Options{}},
			[]string{"", "a:left", "a=Failed b=Failed"}, []string{"", "", "a=Failed"}, 1, 2,
		},
		{
			"reports tell which clusters have the version", told{progressive("1", config("", "", 0)), one, rollout.Options{}},
			[]string{"b=ToApply", "a=ToApply b:lost", "a=Failed b=Failed"}, []string{"b=ToApply", "a=ToApply b=Progressing", "b=Failed"}, 1, 2,
		},
		{
			"no failure is of an earlier attempt", told{progressive("1", config("", "", 0)), one, rollout.Options{Attempt: 1}},
			[]string{"b=ToApply", "a=ToApply b=Failed", "a=Progressing b=Failed"}, []string{"b=ToApply", "a=ToApply b=Progressing", "a=ToApply b=Progressing"}, 1, 2,
		},
	} {
		t.Run(c.why, func(t *testing.T) {
			names := map[grouping.Key][]string{}
			for i, group := range c.told.groups {
				names[grouping.Key{Index: int32(i)}] = strings.Fields(group)
			}
			groups, err := grouping.FromNames(names)
			if err != nil {
				t.Fatal(err)
			}
			e, err := exposure.Of(c.told.strategy, groups, exposure.Span{}, now, c.told.opts)
			if err != nil {
				t.Fatal(err)
			}
			if got := c.told.exposes(t, c.broken); e.Exposed != c.says || got != c.gets {
				t.Errorf("%d exposed, and Exposed is %d; want %d and %d", got, e.Exposed, c.gets, c.says)
			}
			if got := c.told.exposes(t, c.kept); got > c.says {
				t.Errorf("%d exposed where it is kept", got)
			}
		})
	}
}

// R66: these histories let the next group begin too early, and the clusters of the one before wait. No more are exposed for that.
func TestExposureHoldsWhereGroupsBeginTooEarly(t *testing.T) {
	s := told{perGroup(config("", "", 0)), []string{"a b", "c d", "e f"}, rollout.Options{}}
	for why, steps := range map[string][]string{
		"skips end":                            {"a=Skip b=Skip c=Skip d=Skip", "a=Skip b=Skip", ""},
		"a frozen cluster is unfrozen":         {"a:frozen", "a:frozen b=Succeeded", "b=Succeeded"},
		"a cluster is allowed later":           {"a:unlisted", "a:unlisted b=Succeeded", "b=Succeeded"},
		"a waiting cluster is missing for now": {"a:left", "a:left b=Succeeded", "b=Succeeded"},
	} {
		if got := s.exposes(t, steps); got != 2 {
			t.Errorf("%s: %d exposed, want 2", why, got)
		}
	}
}

// R40: in small fleets, histories in which skips end expose no more, and those in which TimeOut is reported without a deadline expose as
// many as with a deadline. Where clusters are skipped, a version that fails all gets further than it says.
func TestExposureIsBeatenByAnyAssumptionThatIsBroken(t *testing.T) {
	var all []*searched
	for _, s := range searchedWorlds(exposureFleets(3)) {
		if s.exceptions == [2]string{} && s.ramp == 0 { // with which the numbers may be bounds
			all = append(all, s)
		}
	}
	random := rand.New(rand.NewPCG(20, 40))
	random.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	beaten, known := map[string]int{}, searches{}
	for _, s := range all[:exhaustive.Of(40, 600, 4000)] {
		e, _, _ := known.look(t, s)
		s.breaks = course{skipsEnd: true}
		if _, f, _ := known.look(t, s); f.exposed.all != e.Exposed || f.inFlight.all < e.InFlight || f.allFail.all != e.ExposedIfAllFail {
			t.Fatalf("%v\n%v, and %+v where skips end", s.world, e, f)
		}
		s.breaks = course{skips: true}
		if _, f, _ := known.look(t, s); f.exposed.all != e.Exposed || f.inFlight.all != e.InFlight || f.allFail.all < e.ExposedIfAllFail {
			t.Fatalf("%v\n%v, and %+v where a cluster is skipped", s.world, e, f)
		} else if f.allFail.all > e.ExposedIfAllFail {
			beaten["skipped, and all others fail"]++
		}
		s.breaks = course{saysTimeOut: true}
		_, f, _ := known.look(t, s)
		with, err := exposure.Of(withDeadline(s.strategy), s.groups, exposure.Span{}, now, s.opts)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := fmt.Sprint(f.exposed.all, f.allFail.all, f.inFlight.all), fmt.Sprint(with.Exposed, with.ExposedIfAllFail, e.InFlight); got != want {
			t.Fatalf("%v\n%v, and %s where TimeOut is reported, want %s", s.world, e, got, want)
		}
		if f.exposed.all > e.Exposed {
			beaten["reported TimeOut"]++
		}
		if f.allFail.all > e.ExposedIfAllFail {
			beaten["reported TimeOut, and all fail"]++
		}
	}
	if t.Log(beaten); len(beaten) != 3 {
		t.Errorf("only these are beaten: %v", beaten)
	}
}

// withDeadline gives the strategy with a deadline.
func withDeadline(s clusterv1alpha1.RolloutStrategy) clusterv1alpha1.RolloutStrategy {
	s = *s.DeepCopy()
	switch {
	case s.Progressive != nil:
		s.Progressive.ProgressDeadline = "2m"
	case s.ProgressivePerGroup != nil:
		s.ProgressivePerGroup.ProgressDeadline = "2m"
	case s.All != nil:
		s.All.ProgressDeadline = "2m"
	}
	return s
}
