// SPDX-License-Identifier: Apache-2.0

package decisionupdate_test

import (
	"fmt"
	"strconv"
	"testing"

	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	"pgregory.net/rapid"

	"github.com/cohort-ocm/cohort/decisionupdate"
	"github.com/cohort-ocm/cohort/internal/exhaustive"
)

// names says whether objects keep their groups (steady) or are labelled afresh in each state (sequential).
type names string

const (
	steady     names = "steady"
	sequential names = "sequential"
)

// check checks a law more often with the build tag exhaustive.
func check(t *testing.T, law func(*rapid.T)) {
	for round := range exhaustive.Of(3, 30, 200) {
		exhaustive.Check(t, round, law)
	}
}

func group(object string, kind names, t *rapid.T) string {
	if kind == steady {
		return strconv.Itoa(len(object) % 3)
	}
	return rapid.SampledFrom([]string{"0", "1", "2", "1/canary", "10"}).Draw(t, "group")
}

var objectNames = []string{"w", "w1", "w22", "w333", "w4444"}

// dyingNames are names of objects that are stored and being deleted. None is ever desired: that would be an error.
var dyingNames = []string{"t1", "t2"}

// drawState draws a state of up to five objects and twelve clusters. A stored one may hold clusters twice, as
// after a crash.
func drawState(t *rapid.T, what string, kind names) []*clusterv1beta1.PlacementDecision {
	var list []*clusterv1beta1.PlacementDecision
	for _, name := range rapid.SliceOfNDistinct(rapid.SampledFrom(objectNames), 0, 5, rapid.ID[string]).Draw(t, what) {
		pd := state(fmt.Sprintf("%s %s:", name, group(name, kind, t)))[0]
		list = append(list, pd)
	}
	if what == "stored" {
		for i, pd := range list {
			switch rapid.IntRange(0, 7).Draw(t, "owned") {
			case 0: // an older scheduler's
				list[i] = state(pd.Name + " owned:")[0]
			case 1: // as after an edit by hand
				list[i] = state(fmt.Sprintf("%s %s %s:", pd.Name, groupOf(pd), rapid.SampledFrom([]string{"edited", "bare"}).Draw(t, "how")))[0]
			}
		}
		for _, name := range rapid.SliceOfNDistinct(rapid.SampledFrom(dyingNames), 0, 2, rapid.ID[string]).Draw(t, "dying") {
			list = append(list, state(fmt.Sprintf("%s %s dying:", name, group(name, kind, t)))...)
		}
	}
	if len(list) == 0 {
		return nil
	}
	for c := range rapid.IntRange(0, 12).Draw(t, what+" clusters") {
		copies := 1
		if what == "stored" {
			copies = rapid.SampledFrom([]int{1, 1, 1, 0, 2}).Draw(t, "copies")
		}
		for _, pd := range rapid.SliceOfNDistinct(rapid.SampledFrom(list), 0, copies, func(pd *clusterv1beta1.PlacementDecision) string { return pd.Name }).Draw(t, "objects") {
			pd.Status.Decisions = append(pd.Status.Decisions, clusterv1beta1.ClusterDecision{
				ClusterName: fmt.Sprintf("c%d", c), Score: int64(rapid.IntRange(0, 1).Draw(t, "score")),
			})
		}
	}
	return list
}

func drawNames(t *rapid.T) names {
	return rapid.SampledFrom([]names{steady, sequential}).Draw(t, "names")
}

// drawRolling draws one of the ways to carry out RollingUpdate.
func drawRolling(t *rapid.T) decisionupdate.UpdateStrategy {
	if rapid.Bool().Draw(t, "surge and finalize") {
		return twoPhases
	}
	return within(rapid.SampledFrom([]int{0, 2, 3, 5}).Draw(t, "steps"))
}

func mustDiff(t interface {
	Helper()
	Fatalf(string, ...any)
}, stored, desired []*clusterv1beta1.PlacementDecision, strategy decisionupdate.UpdateStrategy) decisionupdate.Update {
	t.Helper()
	update, err := decisionupdate.Diff(stored, desired, strategy)
	if err != nil {
		t.Fatalf("Diff: %v", err)
	}
	return update
}

// allRequests is more than any update has.
const allRequests = 1 << 30

// run carries out the first n requests of an update, or all if there are fewer, in an order of the steps that pick
// chooses. It returns the number of requests that were made.
func (s *server) run(update decisionupdate.Update, n int, pick func(n int) int) int {
	made := 0
	for _, step := range update.Steps {
		for _, r := range interleave(step, pick) {
			if made == n {
				return made
			}
			s.do(r)
			made++
		}
	}
	return made
}

func picker(t *rapid.T) func(int) int {
	return func(n int) int { return rapid.IntRange(0, n-1).Draw(t, "next") }
}
