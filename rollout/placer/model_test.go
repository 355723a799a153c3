// SPDX-License-Identifier: Apache-2.0

package placer

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	workv1 "open-cluster-management.io/api/work/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cohort-ocm/cohort/rollout/writes"
)

// world is a hub on which all may happen in any order, and a model of what may be written. Two owners of two kinds have the
// same name.
type world struct {
	*hub
	t       *testing.T
	rng     *rand.Rand
	seed    uint64
	sides   []*side
	limit   int
	chosen  []string // the selected clusters
	two     bool     // whether the owners have two Placements
	pool    []string // all clusters
	deleted map[string]bool
	foreign map[types.NamespacedName]string // objects of other owners, with their resourceVersion
	told    []string                        // what happened
	grown   int                             // the number of texts so far
}

// side is an owner, with the process that reconciles it.
type side struct {
	process *process
	begin   func() *process
	kind    string
	text    string
	failed  map[string]bool // clusters that a reconcile saw fail with the text
	rank    int             // of the last write of this reconcile
}

// ranks are the order of writes in a reconcile.
var ranks = map[string]int{"patch": 0, "delete": 1, "update": 2, "create": 3, "update status": 4}

func newWorld(t *testing.T, seed uint64) *world {
	w := &world{hub: newHub(t), t: t, seed: seed, rng: rand.New(rand.NewPCG(seed, 0)), deleted: map[string]bool{}, foreign: map[types.NamespacedName]string{}}
	for i := range 3 + w.rng.IntN(4) {
		w.pool = append(w.pool, fmt.Sprint("c", i))
	}
	w.chosen = slices.Clone(w.pool)
	w.limit = 1 + w.rng.IntN(2)
	w.two = w.rng.IntN(3) == 0
	w.choose()
	strategy := oneAtATime()
	strategy.Progressive.MaxConcurrency = intstr.FromInt(w.limit)
	first, second := newThing(strategy), (*other)(newThing(strategy))
	if w.two {
		first.Spec.Second, first.Spec.SecondStrategy = "edge", strategy
		second.Spec.Second, second.Spec.SecondStrategy = "edge", strategy
	}
	w.make(first)
	w.make(second)
	w.sides = []*side{
		{kind: "Thing", text: "v1", begin: func() *process { return newProcess(w.hub, things) }},
		{kind: "Other", text: "v1", begin: func() *process { return newProcess(w.hub, others) }},
	}
	for _, s := range w.sides {
		s.failed, s.process = map[string]bool{}, s.begin()
	}
	w.putForeign()
	return w
}

// putForeign creates an object of a third owner under the name that one of the first owner's would get, on one cluster.
func (w *world) putForeign() {
	owner := w.thing()
	work := &workv1.ManifestWork{Spec: workOf("theirs")}
	work.Namespace, work.Name = w.pool[0], writes.NameOf[*workv1.ManifestWork](w.sides[0].process.ownerOf(owner))
	writes.Owner{Kind: schema.GroupKind{Group: "fleet.example.com", Kind: "Fleet"}, Object: owner}.NoteOn(work)
	w.make(work)
	w.foreign[client.ObjectKeyFromObject(work)] = work.ResourceVersion
}

func (w *world) tell(format string, args ...any) {
	w.told = append(w.told, fmt.Sprintf(format, args...))
}

// blame fails the test, with the history that led there.
func (w *world) blame(format string, args ...any) {
	w.t.Errorf("seed %d: %s\n%s", w.seed, fmt.Sprintf(format, args...), strings.Join(w.told[max(0, len(w.told)-60):], "\n"))
}

func (s *side) of(work *workv1.ManifestWork) bool {
	owner, ok := s.process.ownerNotedBy(work)
	return ok && owner == ownerKey
}

// has says whether a ManifestWork has the text that the owner wants.
func (s *side) has(work *workv1.ManifestWork) bool {
	return strings.Contains(string(work.Spec.Workload.Manifests[0].Raw), `"`+s.text+`"`)
}

// how returns whether the agent has reported on the present generation, and whether with success.
func how(work *workv1.ManifestWork) (answered, well bool) {
	c := meta.FindStatusCondition(work.Status.Conditions, workv1.WorkAvailable)
	return c != nil && c.ObservedGeneration == work.Generation, c != nil && c.Status == metav1.ConditionTrue
}

// play takes steps in random order.
func (w *world) play(steps int) {
	w.faults = func(wr write) fault {
		f := none
		switch w.rng.IntN(20) {
		case 0:
			f = lost
		case 1:
			f = broken
		case 2:
			f = refused
		}
		w.tell("  %s (fault %d)", wr, f)
		return f
	}
	for range steps {
		if w.t.Failed() {
			return
		}
		w.act()
	}
}

// act takes one step.
func (w *world) act() {
	s := w.sides[w.rng.IntN(len(w.sides))]
	switch w.rng.IntN(24) {
	case 0:
		w.changeText(s)
	case 1, 2, 3:
		w.reselect()
	case 4, 5:
		w.restart(s)
	case 6:
		w.deleteCluster()
	case 7, 8, 9, 10:
		w.agent()
	case 11, 12, 13, 14, 15:
		for range 1 + w.rng.IntN(4) {
			w.deliver(s)
		}
	default:
		w.lookAt(s)
	}
	w.now = w.now.Add(time.Duration(w.rng.Int64N(int64(grace / 2))))
}

func (w *world) changeText(s *side) {
	w.grown++
	s.text = fmt.Sprint("v", 1+w.grown)
	w.tell("%s wants %s", s.kind, s.text)
	clear(s.failed)
	if s.kind == "Thing" {
		w.change(func(owner *thing) { owner.Spec.Text = s.text })
	} else {
		owner := &other{}
		must(w.t, w.store.Get(w.t.Context(), ownerKey, owner))
		owner.Spec.Text = s.text
		owner.Generation++
		must(w.t, w.store.Update(w.t.Context(), owner))
	}
	s.process.cache.showOne(cacheKey{s.kind, ownerKey}) // writes with an older text are another test's
}

func (w *world) reselect() {
	w.chosen = nil
	for _, cluster := range w.pool {
		if w.rng.IntN(4) > 0 && !w.deleted[cluster] {
			w.chosen = append(w.chosen, cluster)
		}
	}
	w.tell("selected are %v", w.chosen)
	w.choose()
}

// choose writes the decisions. With two Placements each chosen cluster is in one of them or in both, as it falls.
func (w *world) choose() {
	if !w.two {
		w.selects(w.chosen...)
		return
	}
	var fleet, edge []string
	for _, cluster := range w.chosen {
		at := w.rng.IntN(3)
		if at != 1 {
			fleet = append(fleet, cluster)
		}
		if at != 0 {
			edge = append(edge, cluster)
		}
	}
	w.tell("fleet selects %v, edge %v", fleet, edge)
	w.selectsBy("fleet", fleet...)
	w.selectsBy("edge", edge...)
}

// deleteCluster deletes the ManagedCluster of a deselected cluster.
func (w *world) deleteCluster() {
	cluster := w.pool[w.rng.IntN(len(w.pool))]
	if slices.Contains(w.chosen, cluster) || w.deleted[cluster] {
		return
	}
	w.deleted[cluster] = true
	w.tell("the ManagedCluster %s is deleted", cluster)
	must(w.t, w.store.Delete(w.t.Context(), &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: cluster}}))
}

// restart begins another process, with caches as stale as those of the one before, or staler.
func (w *world) restart(s *side) {
	w.tell("%s: another process", s.kind)
	objects := maps.Clone(s.process.cache.objects)
	for _, key := range slices.SortedFunc(maps.Keys(objects), func(a, b cacheKey) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) }) {
		if key.kind == "ManifestWork" && w.rng.IntN(3) == 0 {
			delete(objects, key)
		}
	}
	s.process = s.begin()
	s.process.cache.objects = objects
}

// agent reports on one ManifestWork. Each generation gets one final report.
func (w *world) agent() {
	works := slices.DeleteFunc(w.works(), func(work *workv1.ManifestWork) bool {
		answered, _ := how(work)
		_, foreign := w.foreign[client.ObjectKeyFromObject(work)]
		return foreign || answered && work.DeletionTimestamp == nil
	})
	if len(works) == 0 {
		return
	}
	work := works[w.rng.IntN(len(works))]
	well := w.rng.IntN(5) > 0
	w.tell("the agent of %s/%s answers %v", work.Namespace, work.Name, well)
	w.answer(work, well)
}

// deliver updates one object in the caches.
func (w *world) deliver(s *side) {
	if behind := s.process.cache.behind(); len(behind) > 0 {
		key := behind[w.rng.IntN(len(behind))]
		w.tell("%s: the caches show %v", s.kind, key)
		s.process.cache.showOne(key)
	}
}

// lookAt reconciles, and judges each write.
func (w *world) lookAt(s *side) {
	w.tell("%s: look", s.kind)
	s.rank = 0
	for _, o := range s.process.cache.objects {
		if work, is := o.(*workv1.ManifestWork); is && s.of(work) && s.has(work) {
			if answered, well := how(work); answered && !well {
				s.failed[work.Namespace] = true
			}
		}
	}
	before := w.theirs(s)
	w.wrote = func() { before = w.judge(s, before) }
	s.process.look()
	w.wrote = nil
}

// theirs are the clusters that have an owner's text.
func (w *world) theirs(s *side) map[string]bool {
	having := map[string]bool{}
	for _, work := range w.works() {
		if s.of(work) && s.has(work) {
			having[work.Namespace] = true
		}
	}
	return having
}

func (w *world) judge(s *side, before map[string]bool) map[string]bool {
	last := w.writes[len(w.writes)-1]
	rank := ranks[last.verb]
	if w.two && last.verb == "create" {
		rank = ranks["update"] // the clusters of one Placement start after those of the other
	}
	if rank < s.rank {
		w.blame("%s comes after a write of a later rank", last)
	}
	s.rank = rank
	if last.kind != "ManifestWork" {
		return before
	}
	if last.verb == "delete" && slices.Contains(w.chosen, last.key.Namespace) && s.process.cache.selects(last.key.Namespace) {
		w.blame("%s, and the cluster is selected", last)
	}
	after, flying := w.theirs(s), 0
	names := map[string]string{}
	for _, work := range w.works() {
		if rv, foreign := w.foreign[client.ObjectKeyFromObject(work)]; foreign && rv != work.ResourceVersion {
			w.blame("%s/%s of another owner was written", work.Namespace, work.Name)
		}
		if !s.of(work) {
			continue
		}
		if there, twice := names[work.Namespace]; twice && work.DeletionTimestamp == nil {
			w.blame("%s has %s and %s", work.Namespace, there, work.Name)
		}
		names[work.Namespace] = work.Name
		if answered, well := how(work); s.has(work) && !(answered && well) && !w.deleted[work.Namespace] {
			flying++
		}
	}
	for cluster := range after {
		if !before[cluster] {
			w.judgeStart(s, cluster, flying)
		}
	}
	return after
}

// judgeStart judges a write that gives a cluster the text.
func (w *world) judgeStart(s *side, cluster string, flying int) {
	limit := w.limit
	if w.two {
		limit *= 2 // one for each Placement
	}
	if flying > limit {
		w.blame("%s: %s starts, and %d are in flight, at most %d may", s.kind, cluster, flying, limit)
	}
	if w.two {
		return // a failure stops the Placement of its cluster alone
	}
	for failed := range s.failed {
		if !w.deleted[failed] {
			w.blame("%s: %s starts, and %s has failed", s.kind, cluster, failed)
		}
	}
}

// selects says whether a cluster is in the decisions that the cache shows.
func (c *lateCache) selects(cluster string) bool {
	for _, o := range c.objects {
		decision, is := o.(*clusterv1beta1.PlacementDecision)
		if is && slices.Contains(decision.Status.Decisions, clusterv1beta1.ClusterDecision{ClusterName: cluster}) {
			return true
		}
	}
	return false
}

// end ends all faults. It judges that both owners complete their rollouts, and then are deleted.
func (w *world) end() {
	w.faults = func(wr write) fault { w.tell("  %s", wr); return none }
	for _, s := range w.sides {
		w.changeText(s)
	}
	for range 3 * len(w.pool) {
		for _, s := range w.sides {
			s.process.settle()
		}
		w.answerOwn()
		w.now = w.now.Add(grace)
	}
	for _, s := range w.sides {
		for _, cluster := range w.chosen {
			if !w.theirs(s)[cluster] {
				w.blame("%s: %s does not have %s in the end", s.kind, cluster, s.text)
			}
		}
		if n := len(w.theirs(s)); n != len(w.chosen) {
			w.blame("%s: %d clusters have %s in the end, and %d are selected", s.kind, n, s.text, len(w.chosen))
		}
	}
	if c := meta.FindStatusCondition(w.thing().Status.Conditions, ConditionReady); c == nil || c.Status != metav1.ConditionTrue {
		w.blame("Ready is %v in the end", c)
	}
	must(w.t, w.store.Delete(w.t.Context(), w.thing()))
	for range 3 {
		w.sides[0].process.settle()
		w.answerOwn()
	}
	w.sides[0].process.settle()
	for _, work := range w.works() {
		if w.sides[0].of(work) {
			w.blame("%s/%s is left of an owner that was deleted", work.Namespace, work.Name)
		}
	}
	if len(w.theirs(w.sides[1])) != len(w.chosen) {
		w.blame("another owner of the same name lost ManifestWorks")
	}
}

// answerOwn has all agents answer, except for the foreign object.
func (w *world) answerOwn() {
	for _, work := range w.works() {
		_, foreign := w.foreign[client.ObjectKeyFromObject(work)]
		answered, well := how(work)
		if done := answered && well && work.DeletionTimestamp == nil; !foreign && !done {
			w.answer(work, true)
		}
	}
}

// Caches show events in any order, writes get lost, agents answer, operators decide and processes restart. Throughout,
// limits hold, a known failure stops the rollout, a cluster has one object, objects of other owners are not touched, and
// writes keep their order. In the end every cluster has what is wanted.
func TestAnyOrder(t *testing.T) {
	worlds, steps := uint64(30), 150
	if testing.Short() {
		worlds = 10
	}
	for seed := range worlds {
		w := newWorld(t, seed)
		w.play(steps)
		if !t.Failed() {
			w.end()
		}
		if t.Failed() {
			return
		}
	}
}
