// SPDX-License-Identifier: Apache-2.0

package decisionupdate_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	"github.com/cohort-ocm/cohort/decisionupdate"
	"github.com/cohort-ocm/cohort/internal/exhaustive"
)

// fullWorlds calls visit with each way to move clusters between objects that have at most the given number each, up to the names of the
// objects: matrix[i][j] clusters are stored in i and desired in j.
func fullWorlds(objects, most int, visit func(matrix [][]int)) {
	matrix := make([][]int, objects)
	for i := range matrix {
		matrix[i] = make([]int, objects)
	}
	var fill func(cell int)
	fill = func(cell int) {
		if cell == objects*objects {
			if smallest(matrix) {
				visit(matrix)
			}
			return
		}
		i, j := cell/objects, cell%objects
		row, column := 0, 0
		for k := range objects {
			row += matrix[i][k]
			column += matrix[k][j]
		}
		for n := 0; row+n <= most && column+n <= most; n++ {
			matrix[i][j] = n
			fill(cell + 1)
		}
		matrix[i][j] = 0
	}
	fill(0)
}

// smallest reports whether no other order of the objects gives a smaller matrix.
func smallest(matrix [][]int) bool {
	n := len(matrix)
	order := make([]int, n)
	used := make([]bool, n)
	var permute func(k int) bool
	permute = func(k int) bool {
		if k == n {
			for i := range n {
				for j := range n {
					if d := matrix[order[i]][order[j]] - matrix[i][j]; d != 0 {
						return d > 0
					}
				}
			}
			return true
		}
		for o := range n {
			if used[o] {
				continue
			}
			order[k], used[o] = o, true
			ok := permute(k + 1)
			used[o] = false
			if !ok {
				return false
			}
		}
		return true
	}
	return permute(0)
}

// groupings are the ways to put four objects into groups, up to their names.
var groupings = [][]int{{0, 0, 0, 0}, {0, 0, 1, 1}, {0, 1, 0, 1}, {0, 0, 0, 1}, {1, 0, 0, 0}, {0, 1, 2, 2}, {0, 1, 2, 3}}

// worldOfMatrix is a matrix as objects and as the oracle's world.
func worldOfMatrix(matrix [][]int, grouping []int, limit int) (c *ceiling, stored, desired []*clusterv1beta1.PlacementDecision) {
	c = &ceiling{limit: limit}
	for o := range matrix {
		name := fmt.Sprintf("o%d", o)
		for _, list := range []*[]*clusterv1beta1.PlacementDecision{&stored, &desired} {
			pd := decision(name)
			pd.Labels[clusterv1beta1.DecisionGroupIndexLabel] = strconv.Itoa(grouping[o])
			*list = append(*list, pd)
		}
		c.group = append(c.group, grouping[o])
	}
	for i := range matrix {
		for j := range matrix[i] {
			for range matrix[i][j] {
				d := clusterv1beta1.ClusterDecision{ClusterName: fmt.Sprintf("c%02d", len(c.stored))}
				c.stored, c.desired = append(c.stored, i), append(c.desired, j)
				stored[i].Status.Decisions = append(stored[i].Status.Decisions, d)
				desired[j].Status.Decisions = append(desired[j].Status.Decisions, d)
			}
		}
	}
	return c, stored, desired
}

// watched gives one update, and watches it: no object twice in a step, none above the limit, no cluster absent or in a wrong group.
func watched(t *testing.T, matrix [][]int, grouping []int, limit, bound int, rng *rand.Rand) (*ceiling, decisionupdate.Update) {
	t.Helper()
	c, stored, desired := worldOfMatrix(matrix, grouping, limit)
	update, err := decisionupdate.DiffUpTo(stored, desired, within(bound), limit)
	if err != nil {
		t.Fatal(err)
	}
	for _, step := range update.Steps {
		for i, w := range step {
			if slices.ContainsFunc(step[:i], func(other decisionupdate.Write) bool { return other.Name() == w.Name() }) {
				t.Fatalf("D1: %v %v: a step writes %s twice:\n%s", matrix, grouping, w.Name(), update)
			}
		}
	}
	s := newServer(stored...)
	s.run(update, allRequests, rng.IntN)
	if err := neverAbsent(s.history, worldOf(desired)); err != nil {
		t.Fatalf("D5: %v %v: %v\n%s", matrix, grouping, err, update)
	}
	if err := neverWrong(s.history, worldOf(desired), nil); err != nil {
		t.Fatalf("D6: %v %v: %v\n%s", matrix, grouping, err, update)
	}
	if fullest(update) > limit {
		t.Fatalf("D9: %v %v: %d clusters in an object:\n%s", matrix, grouping, fullest(update), update)
	}
	return c, update
}

// D4, D5, D6, D9: full objects of at most three clusters, in any groups. An oracle finds the fewest writes of all, so this states how close
// updates come, and they can't get worse unnoticed.
func TestFullObjectsComeCloseToTheFewestWrites(t *testing.T) {
	for i, test := range []struct {
		objects, bound, oneIn int
		most                  float64 // the writes, of the fewest
	}{
		{2, 0, 1, 1}, {3, 0, exhaustive.Of(5, 1), 1.06}, {4, 0, exhaustive.Of(1000, 150, 20), 1.12},
		{2, 3, 1, 1}, {3, 3, exhaustive.Of(20, 8, 2), 1.06},
	} {
		t.Run(fmt.Sprintf("%d objects within %d steps", test.objects, test.bound), func(t *testing.T) {
			t.Parallel()
			rng := rand.New(rand.NewPCG(5313, uint64(i)))
			var got, want, worst, n int
			fullWorlds(test.objects, 3, func(matrix [][]int) {
				if rng.IntN(test.oneIn) > 0 {
					return
				}
				c, update := watched(t, matrix, groupings[rng.IntN(len(groupings))], 3, test.bound, rng)
				if c.objectsToWrite() == 0 {
					return
				}
				c.bound = test.bound
				fewest := c.fewest()
				n, got, want, worst = n+1, got+update.Writes(), want+fewest, max(worst, update.Writes()-fewest)
			})
			t.Logf("%d worlds: %d writes, the fewest are %d (%.1f %% more); at worst %d more", n, got, want, 100*float64(got-want)/float64(want), worst)
			if float64(got) > float64(want)*test.most || worst > 2 {
				t.Errorf("%d writes where %d would do, at worst %d more", got, want, worst)
			}
		})
	}
}

// D10, D15: another writer writes to an object of the surge before each of its writes: it is read again, written and deleted. The
// same object, created again by another writer, is stale.
func TestObjectsOfASurgeMeetConflicts(t *testing.T) {
	exchanged := numbers(1, 200)
	exchanged[0], exchanged[199] = exchanged[199], exchanged[0]
	for _, again := range []bool{false, true} {
		s := newServer(divided(100, numbers(1, 200))...)
		desired := divided(100, exchanged)
		update := mustDiff(t, s.list(), desired, rolling)
		name := update.Steps[0][0].Name()
		s.before = func(verb, object string) error {
			switch {
			case object != name || verb == "get" || verb == "create":
			case again && verb == "delete":
				s.mu.Lock()
				defer s.mu.Unlock()
				s.put(s.objects[name].DeepCopy(), true)
			case s.objects[name].Annotations[verb] == "":
				s.touch(t, name, func(o *pd) { o.Annotations[verb] = "touched" })
			}
			return nil
		}
		outcome, err := decisionupdate.Applier{Client: s}.Apply(t.Context(), update)
		var stale *decisionupdate.StaleError
		if again != errors.As(err, &stale) || !again && (err != nil || outcome.Retried != 2) {
			t.Fatalf("created again: %v, %s, %v", again, outcome, err)
		}
		if !again {
			for _, w := range outcome.Writes {
				if w.Verb == decisionupdate.VerbDelete && w.From.UID == "" {
					t.Errorf("D11: the error does not tell which object is gone: %v", w)
				}
			}
			wantStored(t, s, desired)
		}
	}
}
