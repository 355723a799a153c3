package decisionupdate_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
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
	for range exhaustive.Of(3, 200) {
		rapid.Check(t, law)
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
				list[i] = state(fmt.Sprintf("%s %s edited:", pd.Name, groupOf(pd)))[0]
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
func drawRolling(t *rapid.T) []decisionupdate.Option {
	if rapid.Bool().Draw(t, "surge and finalize") {
		return []decisionupdate.Option{decisionupdate.SurgeAndFinalize()}
	}
	return []decisionupdate.Option{decisionupdate.MaxSteps(rapid.SampledFrom([]int{0, 2, 3, 5}).Draw(t, "steps"))}
}

func mustDiff(t interface {
	Helper()
	Fatalf(string, ...any)
}, stored, desired []*clusterv1beta1.PlacementDecision, strategy decisionupdate.UpdateStrategy, opts ...decisionupdate.Option) decisionupdate.Update {
	t.Helper()
	update, err := decisionupdate.Diff(stored, desired, strategy, opts...)
	if err != nil {
		t.Fatalf("Diff: %v", err)
	}
	return update
}

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

const allRequests = 1 << 30

// lawRolling: D5, D6 and D8: whatever the order of the requests in a step, wherever the writer stops, and
// whatever it updates towards then, no cluster that stays is ever absent and none is seen where it doesn't
// belong.
func lawRolling(t *rapid.T) {
	kind := drawNames(t)
	s := newServer(drawState(t, "stored", kind)...)
	whole := []world{s.world()}
	var misplaced []decisionupdate.Misplaced
	var targets []world
	for updates := rapid.IntRange(1, 4).Draw(t, "updates"); updates > 0; updates-- {
		desired := drawState(t, "desired", kind)
		update := mustDiff(t, s.list(), desired, rolling, drawRolling(t)...)
		for _, m := range update.Misplaced {
			if kind == steady && slices.ContainsFunc(s.history[0].all(), func(s sight) bool { return s.object == m.Object && s.labelled }) {
				t.Fatalf("D7: objects keep their groups, yet: %v", update.Misplaced)
			}
		}
		misplaced = append(misplaced, update.Misplaced...)
		targets = append(targets, worldOf(desired))

		stop := rapid.SampledFrom([]int{allRequests, 0, 1, 2, 3, 5, 8}).Draw(t, "stop after")
		s.history = []world{s.world()}
		made := s.run(update, stop, picker(t))
		if err := neverAbsent(s.history, targets[len(targets)-1]); err != nil {
			t.Fatalf("D5: %v\nplan:\n%s", err, update)
		}
		if err := neverWrong(s.history, targets[len(targets)-1], misplaced); err != nil {
			t.Fatalf("D6: %v\nplan:\n%s", err, update)
		}
		whole = append(whole, s.history[1:]...)
		if made < stop {
			wantStored(t, s, desired)
		}
	}
	neverForeign(t, whole, targets, misplaced)
}

// neverForeign is D8 for groups: from the first state to the last, each sight is one of the first state or of
// some desired one, or Misplaced has told of it. A writer that stops in a moment that Misplaced tells of leaves
// that group as the stored one, so that other objects may show it, too.
func neverForeign(t *rapid.T, history, targets []world, misplaced []decisionupdate.Misplaced) {
	for _, w := range history {
		for cluster, sights := range w {
			for _, s := range sights {
				right := slices.Contains(history[0].groups(cluster), s.group)
				for _, w := range misplaced {
					right = right || w.Seen == s.group && slices.Contains(w.Clusters, cluster)
				}
				for _, target := range targets {
					right = right || slices.Contains(target.groups(cluster), s.group)
				}
				if !right && s.labelled {
					t.Fatalf("D8: %s is seen in group %s by %s", cluster, s.group, s.object)
				}
			}
		}
	}
}

// wantStored fails unless the server stores just what is desired, and a new update has nothing to do (D1).
func wantStored(t rapid.TB, s *server, desired []*clusterv1beta1.PlacementDecision) {
	t.Helper()
	want := map[string]string{}
	for _, pd := range desired {
		want[pd.Name] = fmt.Sprint(pd.Labels, pd.Status.Decisions)
	}
	got := map[string]string{}
	for _, pd := range s.list() {
		if pd.DeletionTimestamp.IsZero() { // D13: others are there until their finalizers end
			got[pd.Name] = fmt.Sprint(pd.Labels, pd.Status.Decisions)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatalf("stored at the end (-want +got):\n%s", diff)
	}
	for _, strategy := range []decisionupdate.UpdateStrategy{{}, rolling} {
		if again := mustDiff(t, s.list(), desired, strategy); len(again.Steps)+len(again.Misplaced) > 0 {
			t.Fatalf("D1: nothing to do, yet:\n%s%v", again, again.Misplaced)
		}
	}
}

// D5, D6 and D8, by lawRolling.
func TestRollingNeverLosesOrMisplacesAClusterWhereverItStops(t *testing.T) {
	check(t, lawRolling)
}

func FuzzRolling(f *testing.F) {
	f.Fuzz(rapid.MakeFuzz(lawRolling))
}

// D2: All reaches the desired state, too, with deletes last, and warns of labels as RollingUpdate does (D7).
func TestAllReachesTheDesiredState(t *testing.T) {
	check(t, func(t *rapid.T) {
		kind := drawNames(t)
		s := newServer(drawState(t, "stored", kind)...)
		desired := drawState(t, "desired", kind)
		update := mustDiff(t, s.list(), desired, decisionupdate.UpdateStrategy{})
		for i, step := range update.Steps {
			if grows(s.list(), desired) { // D12
				break
			}
			for _, w := range step {
				if last := i == len(update.Steps)-1; w.Verb == decisionupdate.VerbDelete && !last || len(update.Steps) > 2 {
					t.Fatalf("D2: want one step, then the deletes:\n%s", update)
				}
			}
			if len(update.Steps) == 2 && i == 1 && slices.ContainsFunc(step, func(w decisionupdate.Write) bool { return w.Verb != decisionupdate.VerbDelete }) {
				t.Fatalf("D2: want only deletes in the second step:\n%s", update)
			}
		}
		s.run(update, allRequests, picker(t))
		neverForeign(t, s.history, []world{worldOf(desired)}, update.Misplaced)
		wantStored(t, s, desired)
	})
}

// D7: each Misplaced comes true, with every strategy and in every order: what it says is seen. And a cluster that
// is seen in a wrong group is seen there late, never early: that group has no lower index than the one it is
// stored or desired in.
func TestMisplacedComesTrueAndNeverShowsAClusterEarly(t *testing.T) {
	check(t, func(t *rapid.T) {
		s := newServer(drawState(t, "stored", sequential)...)
		desired := drawState(t, "desired", sequential)
		strategy, opts := decisionupdate.UpdateStrategy{}, []decisionupdate.Option(nil)
		if rapid.Bool().Draw(t, "rolling") {
			strategy, opts = rolling, drawRolling(t)
		}
		update := mustDiff(t, s.list(), desired, strategy, opts...)
		s.run(update, allRequests, picker(t))
		for _, w := range update.Misplaced {
			for _, c := range w.Clusters {
				if slices.Contains(append(s.history[0].groups(c), worldOf(desired).groups(c)...), w.Seen) {
					t.Fatalf("%v\nbut there %s is right\n%s", w, c, update)
				}
				if !slices.ContainsFunc(s.history, func(seen world) bool {
					return slices.ContainsFunc(seen[c], func(s sight) bool { return s.object == w.Object && s.group == w.Seen })
				}) {
					t.Fatalf("%v\nbut %s never was\n%s", w, c, update)
				}
			}
		}
		wantNeverEarly(t, s.history, desired, update)
	})
}

// wantNeverEarly is D7, straight from its words. A sight in a wrong group is never under the name of an object that
// has a name in only one of its two groups. Where names don't decide, it is never in a group with a lower index than
// those that the cluster is stored and desired in. An object without its placement's label is told of by Misplaced alone: it
// gets the label as early as somebody needs it (D14).
func wantNeverEarly(t *rapid.T, history []world, desired []*clusterv1beta1.PlacementDecision, update decisionupdate.Update) {
	from, to := map[string]decisionupdate.Group{}, map[string]decisionupdate.Group{}
	for _, s := range history[0].all() {
		from[s.object] = s.group
	}
	for _, pd := range desired {
		to[pd.Name] = groupOf(pd)
	}
	last := worldOf(desired)
	for _, seen := range history {
		for c, sights := range seen {
			right := append(history[0].groups(c), last.groups(c)...)
			for _, s := range sights {
				if slices.Contains(right, s.group) || !s.labelled {
					continue
				}
				if slices.ContainsFunc(history[0].all(), func(first sight) bool { return first.object == s.object && !first.labelled }) {
					continue
				}
				was, is := from[s.object], to[s.object]
				if oneNamed := (was.Name == "") != (is.Name == ""); oneNamed {
					if s.group.Name != "" {
						t.Fatalf("%s is seen in group %s, which has a name, by %s: %s to %s\n%s", c, s.group, s.object, was, is, update)
					}
				} else if !slices.ContainsFunc(right, func(g decisionupdate.Group) bool { return index(g) <= index(s.group) }) {
					t.Fatalf("%s is seen in group %s, earlier than in any of %v\n%s", c, s.group, right, update)
				}
			}
		}
	}
}

func index(g decisionupdate.Group) int {
	i, err := strconv.Atoi(g.Index)
	if err != nil {
		return -1 // of an object without labels
	}
	return i
}

// D1: the order of the lists doesn't matter, and the update of the same lists is the same to the byte.
func TestUpdateIsTheSameForEveryOrderOfTheInput(t *testing.T) {
	check(t, func(t *rapid.T) {
		kind := drawNames(t)
		stored, desired := drawState(t, "stored", kind), drawState(t, "desired", kind)
		opts := drawRolling(t)
		first := mustDiff(t, stored, desired, rolling, opts...)
		second := mustDiff(t, rapid.Permutation(stored).Draw(t, "stored"), rapid.Permutation(desired).Draw(t, "desired"), rolling, opts...)
		if diff := cmp.Diff(first, second); diff != "" {
			t.Fatalf("(-first +second):\n%s", diff)
		}
	})
}

func TestInputIsNeverModified(t *testing.T) {
	check(t, func(t *rapid.T) {
		kind := drawNames(t)
		stored, desired := drawState(t, "stored", kind), drawState(t, "desired", kind)
		before := fmt.Sprint(deref(stored), deref(desired))
		s := newServer(stored...)
		s.run(mustDiff(t, stored, desired, rolling, drawRolling(t)...), allRequests, picker(t))
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
func TestUpdateWritesWhatDiffersAndNothingElse(t *testing.T) {
	check(t, func(t *rapid.T) {
		kind := drawNames(t)
		stored, desired := drawState(t, "stored", kind), drawState(t, "desired", kind)
		update := mustDiff(t, stored, desired, rolling, drawRolling(t)...)
		written := map[string]int{}
		for _, step := range update.Steps {
			for _, w := range step {
				if written[w.Name()]++; written[w.Name()] > 2 || w.Surge != (written[w.Name()] == 1 && writesOf(update, w.Name()) == 2) {
					t.Fatalf("%s is written %d times:\n%s", w.Name(), written[w.Name()], update)
				}
				if w.From != nil && !w.From.DeletionTimestamp.IsZero() {
					t.Fatalf("D13: %s is being deleted:\n%s", w.Name(), update)
				}
				if w.Verb != decisionupdate.VerbUpdate {
					continue
				}
				labels := !cmp.Equal(w.From.Labels, w.To.Labels)
				status := !slices.Equal(w.From.Status.Decisions, w.To.Status.Decisions)
				if labels != slices.Contains(w.Parts, decisionupdate.PartLabels) || status != slices.Contains(w.Parts, decisionupdate.PartStatus) || !labels && !status {
					t.Fatalf("%s: labels differ: %v, status differs: %v", w, labels, status)
				}
			}
		}
	})
}

func writesOf(update decisionupdate.Update, name string) int {
	n := 0
	for _, step := range update.Steps {
		for _, w := range step {
			if w.Name() == name {
				n++
			}
		}
	}
	return n
}

// grows reports whether there are clusters to add, and each stored one stays in its object (D12).
func grows(stored, desired []*pd) bool {
	was, is := worldOf(stored), worldOf(desired)
	in := func(w world, cluster, object string) bool {
		return slices.ContainsFunc(w[cluster], func(s sight) bool { return s.object == object })
	}
	for cluster, sights := range was {
		for _, s := range sights {
			if !in(is, cluster, s.object) {
				return false
			}
		}
	}
	for cluster, sights := range is {
		if !in(was, cluster, sights[0].object) {
			return true
		}
	}
	return false
}

// D12: where nothing is stored, nobody ever sees a cluster while a named group with a lower index lacks one of its
// own, and a cluster of a group without a name while any named group does; whatever the strategy, the order of a
// step's requests, and wherever the writer crashes on the way.
func TestNamedGroupsAreFilledFirst(t *testing.T) {
	check(t, func(t *rapid.T) {
		desired := drawState(t, "desired", sequential)
		var stored []*pd
		if rapid.Bool().Draw(t, "an empty selection is stored") {
			stored = state("w " + group("w", sequential, t) + ":")
		}
		s := newServer(stored...)
		s.history = []world{s.world()}
		strategy := rapid.SampledFrom([]decisionupdate.UpdateStrategy{{}, rolling}).Draw(t, "strategy")
		for _, stop := range []int{rapid.IntRange(0, 12).Draw(t, "stop after"), rapid.IntRange(0, 12).Draw(t, "then after"), allRequests} {
			s.run(mustDiff(t, s.list(), desired, strategy, drawRolling(t)...), stop, picker(t))
		}
		wantStored(t, s, desired)
		last := worldOf(desired)
		for i, w := range s.history {
			for cluster := range w {
				for other := range last {
					mine, first := last.groups(cluster)[0], last.groups(other)[0]
					if first.Name != "" && (mine.Name == "" || index(first) < index(mine)) && len(w[other]) == 0 {
						t.Fatalf("after %d requests %s of group %s is there and %s of group %s is not", i, cluster, mine, other, first)
					}
				}
			}
		}
	})
}

// D13: a cluster that only objects have that are being deleted is in another one after the first step.
func TestClusterOfATerminatingObjectDoesNotWait(t *testing.T) {
	check(t, func(t *rapid.T) {
		stored, desired := drawState(t, "stored", steady), drawState(t, "desired", steady)
		update := mustDiff(t, stored, desired, rolling, drawRolling(t)...)
		s := newServer(stored...)
		if len(update.Steps) > 0 {
			s.run(decisionupdate.Update{Steps: update.Steps[:1]}, allRequests, picker(t))
		}
		lives := func(s sight) bool { return !s.dying }
		for cluster, sights := range worldOf(stored) {
			if len(worldOf(desired)[cluster]) > 0 && !slices.ContainsFunc(sights, lives) && !slices.ContainsFunc(s.world()[cluster], lives) {
				t.Fatalf("%s is only in an object that is being deleted:\n%s", cluster, update)
			}
		}
	})
}

// D13: T is being deleted and has c; L lives and has c and x; desired are x in L and c in N. Whenever the finalizer of T
// ends, and wherever the writer is by then, c is in an object.
func TestClusterIsNotInNoObjectWhenTheFinalizerEnds(t *testing.T) {
	stored, desired := state("T dying: c", "L: c x"), state("L: x", "N: c")
	for _, opts := range [][]decisionupdate.Option{nil, {decisionupdate.MaxSteps(2)}, {decisionupdate.SurgeAndFinalize()}} {
		update := mustDiff(t, stored, desired, rolling, opts...)
		for stop := range 5 {
			s := newServer(stored...)
			s.run(update, stop, func(int) int { return 0 })
			s.end("T")
			again := mustDiff(t, s.list(), desired, rolling, opts...)
			s.run(again, allRequests, func(n int) int { return n - 1 })
			if err := neverAbsent(s.history, worldOf(desired)); err != nil {
				t.Errorf("the finalizer ends after %d requests: %v\n%s", stop, err, update)
			}
		}
	}
}

// D13: an object that somebody begins to delete after it was listed is not written, nor deleted again.
func TestObjectThatIsBeingDeletedMeanwhile(t *testing.T) {
	for _, desired := range [][]*pd{state("w1: b"), nil} {
		s := newServer(state("w1: a")...)
		update := mustDiff(t, s.list(), desired, rolling)
		s.touch(t, "w1", func(o *pd) { o.DeletionTimestamp = &noon })
		outcome, err := decisionupdate.Applier{Client: s}.Apply(t.Context(), update)
		var stale *decisionupdate.StaleError
		if !errors.As(err, &stale) || stale.Found != "it is being deleted" || len(outcome.Writes) > 0 {
			t.Errorf("%v, %s", err, brief(outcome))
		}
	}
}

// D2, D13: All writes a desired object that was being deleted already when it was listed, also after a conflict.
func TestAllWritesObjectsThatAreBeingDeleted(t *testing.T) {
	s := newServer(state("w1 dying: a")...)
	update := mustDiff(t, s.list(), state("w1: b"), decisionupdate.UpdateStrategy{})
	s.touch(t, "w1", func(*pd) {})
	if outcome, err := (decisionupdate.Applier{Client: s}).Apply(t.Context(), update); err != nil || outcome.Retried != 1 {
		t.Errorf("%s, %v", outcome, err)
	}
}

// D4: the default is never worse than the document's two phases, in writes or in how full an object gets, and
// keeps within the bound.
func TestFewestWritesIsNeverWorseThanSurgeAndFinalize(t *testing.T) {
	check(t, func(t *rapid.T) {
		kind := drawNames(t)
		stored, desired := drawState(t, "stored", kind), drawState(t, "desired", kind)
		two := mustDiff(t, stored, desired, rolling, decisionupdate.SurgeAndFinalize())
		growing := grows(stored, desired) // D12
		if len(two.Steps) > 2 && !growing {
			t.Fatalf("D3: two phases, yet:\n%s", two)
		}
		for _, steps := range []int{0, 2, 3, 4} {
			few := mustDiff(t, stored, desired, rolling, decisionupdate.MaxSteps(steps))
			if steps > 0 && len(few.Steps) > steps && !growing {
				t.Errorf("more than %d steps:\n%s", steps, few)
			}
			if few.Writes() > two.Writes() || fullest(few) > fullest(two) {
				t.Errorf("within %d steps:\n%ssurge and finalize:\n%s", steps, few, two)
			}
		}
	})
}

func fullest(update decisionupdate.Update) int {
	most := 0
	for _, step := range update.Steps {
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
	n := exhaustive.Of(320, 1200)
	clusters := numbers(1, n)
	stored := divided(4, clusters)
	rng.Shuffle(len(clusters), func(i, j int) { clusters[i], clusters[j] = clusters[j], clusters[i] })
	for o := range stored { // some stay
		copy(clusters[4*o:4*o+3], numbers(4*o+1, 4*o+3))
	}
	seen := map[int]bool{}
	clusters = slices.DeleteFunc(clusters, func(c int) bool { twice := seen[c]; seen[c] = true; return twice })
	desired := divided(4, clusters)
	for _, steps := range []int{0, 2, 3, 6} {
		update := mustDiff(t, stored, desired, rolling, decisionupdate.MaxSteps(steps))
		s := newServer(stored...)
		s.run(update, allRequests, rng.IntN)
		if err := neverAbsent(s.history, worldOf(desired)); err != nil {
			t.Errorf("D5: %v", err)
		}
		if err := neverWrong(s.history, worldOf(desired), update.Misplaced); err != nil {
			t.Errorf("D6: %v", err)
		}
		wantStored(t, s, desired)
		t.Logf("within %d steps: %d writes of %d objects in %d steps", steps, update.Writes(), update.Writes()-surges(update), len(update.Steps))
	}
}
