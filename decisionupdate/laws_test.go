package decisionupdate_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	"pgregory.net/rapid"

	"github.com/cohort-ocm/cohort/decisionupdate"
)

// names says whether objects keep their groups (steady) or are labelled afresh in each state (sequential).
type names string

const (
	steady     names = "steady"
	sequential names = "sequential"
)

func group(object string, kind names, t *rapid.T) string {
	if kind == steady {
		return strconv.Itoa(len(object) % 3)
	}
	return rapid.SampledFrom([]string{"0", "1", "2", "1/canary", "10"}).Draw(t, "group")
}

var objectNames = []string{"w", "w1", "w22", "w333", "w4444"}

// drawState draws a state of up to five objects and twelve clusters. A stored one may hold clusters twice, as
// after a crash.
func drawState(t *rapid.T, what string, kind names) []*clusterv1beta1.PlacementDecision {
	objects := map[string]*clusterv1beta1.PlacementDecision{}
	var list []*clusterv1beta1.PlacementDecision
	for _, name := range rapid.SliceOfNDistinct(rapid.SampledFrom(objectNames), 0, 5, rapid.ID[string]).Draw(t, what) {
		pd := state(fmt.Sprintf("%s %s:", name, group(name, kind, t)))[0]
		objects[name] = pd
		list = append(list, pd)
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
func drawRolling(t *rapid.T) []decisionupdate.Option {
	if rapid.Bool().Draw(t, "surge and finalize") {
		return []decisionupdate.Option{decisionupdate.SurgeAndFinalize()}
	}
	return []decisionupdate.Option{decisionupdate.MaxSteps(rapid.SampledFrom([]int{0, 2, 3, 5}).Draw(t, "steps"))}
}

func mustPlan(t interface {
	Helper()
	Fatalf(string, ...any)
}, stored, desired []*clusterv1beta1.PlacementDecision, strategy decisionupdate.UpdateStrategy, opts ...decisionupdate.Option) decisionupdate.Plan {
	t.Helper()
	plan, err := decisionupdate.New(stored, desired, strategy, opts...)
	if err != nil {
		t.Fatalf("New: %v", err)
	}
	return plan
}

// run carries out the first n requests of a plan, or all if there are fewer, in an order of the steps that pick
// chooses. It returns the number of requests that were made.
func (s *server) run(plan decisionupdate.Plan, n int, pick func(n int) int) int {
	made := 0
	for _, step := range plan.Steps {
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

const allRequests = 1 << 30

// lawRolling: D5, D6 and D8: whatever the order of the requests in a step, wherever the writer stops, and
// whatever it plans towards then, no cluster that stays is ever absent and none is seen where it doesn't
// belong.
func lawRolling(t *rapid.T) {
	kind := drawNames(t)
	s := newServer(drawState(t, "stored", kind)...)
	whole := []world{s.world()}
	var warnings []decisionupdate.Warning
	var targets []world
	for plans := rapid.IntRange(1, 4).Draw(t, "plans"); plans > 0; plans-- {
		desired := drawState(t, "desired", kind)
		plan := mustPlan(t, s.list(), desired, rolling, drawRolling(t)...)
		if kind == steady && len(plan.Warnings) > 0 {
			t.Fatalf("D7: objects keep their groups, yet: %v", plan.Warnings)
		}
		warnings = append(warnings, plan.Warnings...)
		targets = append(targets, worldOf(desired))

		stop := rapid.SampledFrom([]int{allRequests, 0, 1, 2, 3, 5, 8}).Draw(t, "stop after")
		s.history = []world{s.world()}
		made := s.run(plan, stop, picker(t))
		if err := neverAbsent(s.history, targets[len(targets)-1]); err != nil {
			t.Fatalf("D5: %v\nplan:\n%s", err, plan)
		}
		if err := neverWrong(s.history, targets[len(targets)-1], warnings); err != nil {
			t.Fatalf("D6: %v\nplan:\n%s", err, plan)
		}
		whole = append(whole, s.history[1:]...)
		if made < stop {
			wantStored(t, s, desired)
		}
	}
	neverForeign(t, whole, targets, warnings)
}

// neverForeign is D8 for groups: from the first state to the last, each sight is one of the first state or of
// some desired one, or a warning has told of it. A writer that stops in a moment that a warning tells of leaves
// that group as the stored one, so that other objects may show it, too.
func neverForeign(t *rapid.T, history, targets []world, warnings []decisionupdate.Warning) {
	for _, w := range history {
		for cluster, sights := range w {
			for _, s := range sights {
				right := slices.Contains(history[0].groups(cluster), s.group)
				for _, w := range warnings {
					right = right || w.Seen == s.group && slices.Contains(w.Clusters, cluster)
				}
				for _, target := range targets {
					right = right || slices.Contains(target.groups(cluster), s.group)
				}
				if !right {
					t.Fatalf("D8: %s is seen in group %s by %s", cluster, s.group, s.object)
				}
			}
		}
	}
}

// wantStored fails unless the server stores just what is desired, and a new plan has nothing to do (D1).
func wantStored(t rapid.TB, s *server, desired []*clusterv1beta1.PlacementDecision) {
	t.Helper()
	want := map[string]string{}
	for _, pd := range desired {
		want[pd.Name] = fmt.Sprint(pd.Labels, pd.Status.Decisions)
	}
	got := map[string]string{}
	for _, pd := range s.list() {
		got[pd.Name] = fmt.Sprint(pd.Labels, pd.Status.Decisions)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatalf("stored at the end (-want +got):\n%s", diff)
	}
	for _, strategy := range []decisionupdate.UpdateStrategy{{}, rolling} {
		if again := mustPlan(t, s.list(), desired, strategy); len(again.Steps)+len(again.Warnings) > 0 {
			t.Fatalf("D1: nothing to do, yet:\n%s%v", again, again.Warnings)
		}
	}
}

// D5, D6 and D8, by lawRolling.
func TestRollingNeverLosesOrMisplacesAClusterWhereverItStops(t *testing.T) {
	rapid.Check(t, lawRolling)
}

func FuzzRolling(f *testing.F) {
	f.Fuzz(rapid.MakeFuzz(lawRolling))
}

// D2: All reaches the desired state, too, with deletes last, and warns of labels as RollingUpdate does (D7).
func TestAllReachesTheDesiredState(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		kind := drawNames(t)
		s := newServer(drawState(t, "stored", kind)...)
		desired := drawState(t, "desired", kind)
		plan := mustPlan(t, s.list(), desired, decisionupdate.UpdateStrategy{})
		for i, step := range plan.Steps {
			for _, w := range step {
				if last := i == len(plan.Steps)-1; w.Verb == decisionupdate.Delete && !last || len(plan.Steps) > 2 {
					t.Fatalf("D2: want one step, then the deletes:\n%s", plan)
				}
			}
			if len(plan.Steps) == 2 && i == 1 && slices.ContainsFunc(step, func(w decisionupdate.Write) bool { return w.Verb != decisionupdate.Delete }) {
				t.Fatalf("D2: want only deletes in the second step:\n%s", plan)
			}
		}
		s.run(plan, allRequests, picker(t))
		neverForeign(t, s.history, []world{worldOf(desired)}, plan.Warnings)
		wantStored(t, s, desired)
	})
}

// D7: each warning comes true, with every strategy and in every order: what it says is seen. And a cluster that
// is seen in a wrong group is seen there late, never early: that group has no lower index than the one it is
// stored or desired in.
func TestWarningsComeTrueAndNeverShowAClusterEarly(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := newServer(drawState(t, "stored", sequential)...)
		desired := drawState(t, "desired", sequential)
		strategy, opts := decisionupdate.UpdateStrategy{}, []decisionupdate.Option(nil)
		if rapid.Bool().Draw(t, "rolling") {
			strategy, opts = rolling, drawRolling(t)
		}
		plan := mustPlan(t, s.list(), desired, strategy, opts...)
		s.run(plan, allRequests, picker(t))
		for _, w := range plan.Warnings {
			for _, c := range w.Clusters {
				if slices.Contains(append(s.history[0].groups(c), worldOf(desired).groups(c)...), w.Seen) {
					t.Fatalf("%v\nbut there %s is right\n%s", w, c, plan)
				}
				if !slices.ContainsFunc(s.history, func(seen world) bool { return slices.Contains(seen[c], sight{w.Object, w.Seen}) }) {
					t.Fatalf("%v\nbut %s never was\n%s", w, c, plan)
				}
			}
		}
		stored, last := s.history[0], worldOf(desired)
		for _, seen := range s.history {
			for c, sights := range seen {
				for _, sight := range sights {
					right := append(stored.groups(c), last.groups(c)...)
					if !slices.ContainsFunc(right, func(g decisionupdate.Group) bool { return index(g) <= index(sight.group) }) {
						t.Fatalf("%s is seen in group %s, earlier than in any of %v\n%s", c, sight.group, right, plan)
					}
				}
			}
		}
	})
}

func index(g decisionupdate.Group) int {
	i, err := strconv.Atoi(g.Index)
	if err != nil {
		panic(err)
	}
	return i
}

// D1: the order of the lists doesn't matter, and the plan of the same lists is the same to the byte.
func TestPlanIsTheSameForEveryOrderOfTheInput(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		kind := drawNames(t)
		stored, desired := drawState(t, "stored", kind), drawState(t, "desired", kind)
		opts := drawRolling(t)
		first := mustPlan(t, stored, desired, rolling, opts...)
		second := mustPlan(t, rapid.Permutation(stored).Draw(t, "stored"), rapid.Permutation(desired).Draw(t, "desired"), rolling, opts...)
		if diff := cmp.Diff(first, second); diff != "" {
			t.Fatalf("(-first +second):\n%s", diff)
		}
	})
}

func TestInputIsNeverModified(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		kind := drawNames(t)
		stored, desired := drawState(t, "stored", kind), drawState(t, "desired", kind)
		before := fmt.Sprint(deref(stored), deref(desired))
		s := newServer(stored...)
		s.run(mustPlan(t, stored, desired, rolling, drawRolling(t)...), allRequests, picker(t))
		if after := fmt.Sprint(deref(stored), deref(desired)); after != before {
			t.Fatalf("was %s\nis  %s", before, after)
		}
	})
}

func deref(objects []*clusterv1beta1.PlacementDecision) []clusterv1beta1.PlacementDecision {
	var values []clusterv1beta1.PlacementDecision
	for _, pd := range objects {
		values = append(values, *pd)
	}
	return values
}

// D1: an update names just the parts that change, each object is written at most twice, and only a surge comes
// before another write.
func TestPlanWritesWhatDiffersAndNothingElse(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		kind := drawNames(t)
		stored, desired := drawState(t, "stored", kind), drawState(t, "desired", kind)
		plan := mustPlan(t, stored, desired, rolling, drawRolling(t)...)
		written := map[string]int{}
		for _, step := range plan.Steps {
			for _, w := range step {
				if written[w.Name()]++; written[w.Name()] > 2 || w.Surge != (written[w.Name()] == 1 && writesOf(plan, w.Name()) == 2) {
					t.Fatalf("%s is written %d times:\n%s", w.Name(), written[w.Name()], plan)
				}
				if w.Verb != decisionupdate.Update {
					continue
				}
				labels := !cmp.Equal(w.From.Labels, w.To.Labels)
				status := !slices.Equal(w.From.Status.Decisions, w.To.Status.Decisions)
				if labels != slices.Contains(w.Parts, decisionupdate.Labels) || status != slices.Contains(w.Parts, decisionupdate.Status) || !labels && !status {
					t.Fatalf("%s: labels differ: %v, status differs: %v", w, labels, status)
				}
			}
		}
	})
}

func writesOf(plan decisionupdate.Plan, name string) int {
	n := 0
	for _, step := range plan.Steps {
		for _, w := range step {
			if w.Name() == name {
				n++
			}
		}
	}
	return n
}

// D4: the default is never worse than the document's two phases, in writes or in how full an object gets, and
// keeps within the bound.
func TestFewestWritesIsNeverWorseThanSurgeAndFinalize(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		kind := drawNames(t)
		stored, desired := drawState(t, "stored", kind), drawState(t, "desired", kind)
		two := mustPlan(t, stored, desired, rolling, decisionupdate.SurgeAndFinalize())
		if len(two.Steps) > 2 {
			t.Fatalf("D3: two phases, yet:\n%s", two)
		}
		for _, steps := range []int{0, 2, 3, 4} {
			few := mustPlan(t, stored, desired, rolling, decisionupdate.MaxSteps(steps))
			if steps > 0 && len(few.Steps) > steps {
				t.Errorf("more than %d steps:\n%s", steps, few)
			}
			if few.Writes() > two.Writes() || fullest(few) > fullest(two) {
				t.Errorf("within %d steps:\n%ssurge and finalize:\n%s", steps, few, two)
			}
		}
	})
}

func fullest(plan decisionupdate.Plan) int {
	most := 0
	for _, step := range plan.Steps {
		for _, w := range step {
			if w.To != nil {
				most = max(most, len(w.To.Status.Decisions))
			}
		}
	}
	return most
}

// D4, D5 and D6 where the surges are chosen by the heuristic: many objects between which clusters move at random.
func TestShuffleOfManyObjects(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 300))
	clusters := numbers(1, 1200)
	stored := divided(4, clusters)
	rng.Shuffle(len(clusters), func(i, j int) { clusters[i], clusters[j] = clusters[j], clusters[i] })
	for o := range stored { // some stay
		copy(clusters[4*o:4*o+3], numbers(4*o+1, 4*o+3))
	}
	seen := map[int]bool{}
	clusters = slices.DeleteFunc(clusters, func(c int) bool { twice := seen[c]; seen[c] = true; return twice })
	desired := divided(4, clusters)
	for _, steps := range []int{0, 2, 3, 6} {
		plan := mustPlan(t, stored, desired, rolling, decisionupdate.MaxSteps(steps))
		s := newServer(stored...)
		s.run(plan, allRequests, rng.IntN)
		if err := neverAbsent(s.history, worldOf(desired)); err != nil {
			t.Errorf("D5: %v", err)
		}
		if err := neverWrong(s.history, worldOf(desired), plan.Warnings); err != nil {
			t.Errorf("D6: %v", err)
		}
		wantStored(t, s, desired)
		t.Logf("within %d steps: %d writes of %d objects in %d steps", steps, plan.Writes(), plan.Writes()-surges(plan), len(plan.Steps))
	}
}
