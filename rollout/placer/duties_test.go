// SPDX-License-Identifier: Apache-2.0

package placer

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"
	workv1 "open-cluster-management.io/api/work/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/rollout/writes"
	"github.com/cohort-ocm/cohort/status"
)

// rolling is a hub with an owner that rolls out to one cluster at a time, and has started the first.
func rolling(t *testing.T, clusters ...string) (*hub, *process) {
	h := newHub(t)
	h.selects(clusters...)
	h.make(newThing(oneAtATime()))
	p := newProcess(h, things)
	p.settle()
	if h.having() != clusters[0] {
		t.Fatalf("%q have ManifestWorks, and %s must", h.having(), clusters[0])
	}
	return h, p
}

func conditionOf(h *hub, kind string) metav1.Condition {
	h.t.Helper()
	if c := meta.FindStatusCondition(h.thing().Status.Conditions, kind); c != nil {
		return *c
	}
	h.t.Fatalf("there is no condition %s", kind)
	return metav1.Condition{}
}

// told are the events since the last call.
func told(h *hub) []string {
	var all []string
	for len(h.events.Events) > 0 {
		all = append(all, <-h.events.Events)
	}
	return all
}

func contain(all []string, part string) bool {
	return slices.ContainsFunc(all, func(s string) bool { return strings.Contains(s, part) })
}

func TestARolloutGoesThroughToItsEnd(t *testing.T) {
	h, p := rolling(t, "a", "b", "c")
	if first := told(h); !contain(first, "a started") {
		t.Errorf("the first start of a new owner is no event: %q", first)
	}
	for _, having := range []string{"a b", "a b c", "a b c"} {
		h.answerAll()
		p.settle()
		if h.having() != having {
			t.Fatalf("%q have ManifestWorks, and %q must", h.having(), having)
		}
	}
	owner := h.thing()
	if c := conditionOf(h, ConditionReady); c.Status != metav1.ConditionTrue || c.Reason != status.ReasonRolloutSucceeded {
		t.Errorf("Ready is %v", c)
	}
	if want := writes.VersionOf(workOf("v1")); owner.Status.Version != want || !strings.Contains(conditionOf(h, ConditionReady).Message, "version "+want) {
		t.Errorf("the version is %s, and must be %s in status and message: %s", owner.Status.Version, want, conditionOf(h, ConditionReady).Message)
	}
	if owner.Status.Done != 3 || owner.Status.ObservedGeneration != owner.Generation {
		t.Errorf("the status is %v", owner.Status)
	}
}

// With kstatus, exactly one of Ready, Reconciling and Stalled is True.
func TestTheConditionsSayOneThing(t *testing.T) {
	h, p := rolling(t, "a", "b")
	check := func(is string) {
		t.Helper()
		for _, kind := range []string{ConditionReady, ConditionReconciling, ConditionStalled} {
			if c := conditionOf(h, kind); (c.Status == metav1.ConditionTrue) != (kind == is) || c.ObservedGeneration != h.thing().Generation {
				t.Errorf("%s is %v, and %s must be True alone", kind, c, is)
			}
		}
	}
	check(ConditionReconciling)
	h.answer(h.work("a"), false)
	p.settle()
	check(ConditionStalled) // no failure is tolerated
	h.change(func(owner *thing) { owner.Spec.Text = "error" })
	p.settle()
	check(ConditionStalled)
	if c := conditionOf(h, ConditionStalled); c.Reason != ReasonInvalid || c.Message != errNoText.Error() {
		t.Errorf("Stalled is %v", c)
	}
	h.change(func(owner *thing) { owner.Spec.Text = "v2" })
	for range 3 {
		p.settle()
		h.answerAll()
	}
	p.settle()
	check(ConditionReady)
}

// An invalid owner is told once, in the status, in an event and by the validator. Meanwhile nothing starts.
func TestInvalidOwnersStall(t *testing.T) {
	for name, test := range map[string]struct {
		spoil func(*thing)
		says  string
	}{
		"Rollout returns an error": {func(o *thing) { o.Spec.Text = "error" }, "spec.text"},
		"no placement":             {func(o *thing) { o.Spec.Placement = "" }, "must name a Placement"},
		"a strategy that is wrong": {func(o *thing) { o.Spec.Strategy.Progressive.ProgressDeadline = "soon" }, "spec.rolloutStrategy.progressive.progressDeadline"},
		"options that are wrong":   {func(o *thing) { o.Spec.Options.Attempt = -1 }, "spec.attempt"},
		"an approval that is wrong": {func(o *thing) {
			o.Annotations = map[string]string{"cohort.open-cluster-management.io/pause": "perhaps"}
		}, "cohort.open-cluster-management.io/pause"},
		"a manifest that is no JSON": {func(o *thing) { o.Spec.Text = `"` }, "not valid JSON"},
		"an unreadable record":       {func(o *thing) { o.Annotations = map[string]string{"cohort.open-cluster-management.io/left": "?"} }, "cohort.open-cluster-management.io/left"},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHub(t)
			h.selects("a")
			owner := newThing(oneAtATime())
			test.spoil(owner)
			h.make(owner)
			p := newProcess(h, things)
			p.settle()
			if h.having() != "" {
				t.Errorf("%s has started", h.having())
			}
			if c := conditionOf(h, ConditionStalled); c.Status != metav1.ConditionTrue || !strings.Contains(c.Message, test.says) {
				t.Errorf("Stalled is %v, and must say %q", c, test.says)
			}
			all := told(h)
			if !contain(all, test.says) || len(all) != 1 {
				t.Errorf("the events are %q, and one must say %q", all, test.says)
			}
			p.settle()
			if all := told(h); len(all) > 0 {
				t.Errorf("it is told again: %q", all)
			}
			_, err := things.Validator().ValidateCreate(t.Context(), owner)
			if name != "an unreadable record" && (err == nil || !strings.Contains(err.Error(), test.says)) {
				t.Errorf("the validator says %v, and must say %q", err, test.says)
			}
			if _, err := things.Validator().ValidateUpdate(t.Context(), owner, owner); err != nil {
				t.Errorf("an update that changes nothing is refused: %v", err)
			}
		})
	}
}

// A write that the API server rejects is shown in the conditions and in an event. Other clusters go on.
func TestRefusedWritesAreShown(t *testing.T) {
	h := newHub(t)
	h.selects("a", "b")
	h.make(newThing(clusterv1alpha1.RolloutStrategy{Type: clusterv1alpha1.All}))
	h.faults = func(w write) fault {
		if w.key.Namespace == "a" {
			return refused
		}
		return none
	}
	p := newProcess(h, things)
	for range 4 {
		p.cache.show()
		if after := p.look(); after == 0 || after > time.Minute {
			t.Errorf("it comes back after %v", after)
		}
	}
	if h.having() != "b" {
		t.Errorf("%q have ManifestWorks, and b must", h.having())
	}
	if c := conditionOf(h, ConditionWritesRefused); c.Status != metav1.ConditionTrue || !strings.Contains(c.Message, "a: ") || !strings.Contains(c.Message, "quota") {
		t.Errorf("WritesRefused is %v", c)
	}
	message := conditionOf(h, ConditionReady).Message
	if !strings.Contains(message, "a starts once the API server accepts the write of its object, which it refused: ") || strings.Count(message, "quota") != 1 || !contain(told(h), "quota") {
		t.Errorf("the condition Ready says %q, and the events are %q: both must tell of the quota once", message, told(h))
	}
	h.faults = nil
	h.answerAll()
	p.settle()
	if c := conditionOf(h, ConditionWritesRefused); c.Status != metav1.ConditionFalse || h.having() != "a b" {
		t.Errorf("WritesRefused is %v, and %q have ManifestWorks", c, h.having())
	}
}

// A missing Placement is shown. Nothing starts, and nothing is deleted.
func TestAMissingPlacementIsShown(t *testing.T) {
	h, p := rolling(t, "a", "b")
	h.change(func(owner *thing) { owner.Spec.Placement = "typo" })
	h.answerAll()
	p.settle()
	if c := conditionOf(h, ConditionReconciling); !strings.Contains(c.Message, "there is no Placement apps/typo") || h.having() != "a" {
		t.Errorf("Reconciling is %v, and %q have ManifestWorks", c, h.having())
	}
}

// An object of another owner is not touched, and told once. The cluster gets another object. That holds if the cache shows
// the object, and if only the API server has it.
func TestObjectsOfOthersAreLeftAlone(t *testing.T) {
	for what, test := range map[string]struct{ seen, labelled bool }{
		"the cache shows it":            {seen: true},
		"it has the owner's label, too": {seen: true, labelled: true},
		"the cache never shows it":      {},
		"nor that it has the label":     {labelled: true},
	} {
		t.Run(what, func(t *testing.T) {
			h := newHub(t)
			h.selects("a")
			owner := newThing(oneAtATime())
			h.make(owner)
			p := newProcess(h, things)
			foreign := &workv1.ManifestWork{ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: writes.NameOf[*workv1.ManifestWork](p.ownerOf(owner))}, Spec: workOf("theirs")}
			writes.Owner{Kind: schema.GroupKind{Group: "fleet.example.com", Kind: "Fleet"}, Object: owner}.NoteOn(foreign)
			if test.labelled {
				foreign.Labels = p.ownerOf(owner).Labels
			}
			h.make(foreign)
			attempts := 0
			h.faults = func(w write) fault {
				if w.key == client.ObjectKeyFromObject(foreign) {
					attempts++
				}
				return none
			}
			for range 8 {
				p.cache.show()
				if !test.seen {
					delete(p.cache.objects, cacheKey{"ManifestWork", client.ObjectKeyFromObject(foreign)})
				}
				p.look()
			}
			if test.seen && attempts > 0 {
				t.Errorf("it was written to %d times", attempts)
			}
			h.checkForeign(foreign, 2)
			if all := told(h); !contain(all, "belongs to Fleet.fleet.example.com/apps/web") {
				t.Errorf("the events are %q", all)
			}
			p.look()
			if all := told(h); contain(all, "belongs to") {
				t.Errorf("it is told again: %q", all)
			}
			must(t, h.store.Delete(t.Context(), h.thing()))
			p.settle()
			h.answer(h.works()[1], true)
			h.answer(h.works()[0], true)
			p.settle()
			h.checkForeign(foreign, 1)
		})
	}
}

// checkForeign checks that an object of another owner changed only by its agent, and how many objects there are.
func (h *hub) checkForeign(foreign *workv1.ManifestWork, objects int) {
	h.t.Helper()
	works := h.works()
	if len(works) != objects {
		h.t.Errorf("there are %d objects, and must be %d: %v", len(works), objects, works)
	}
	for _, work := range works {
		if work.Name == foreign.Name && (work.DeletionTimestamp != nil || !maps.Equal(work.Annotations, foreign.Annotations) || work.Generation != 1) {
			h.t.Errorf("the other owner's object is %v", work.ObjectMeta)
		}
	}
}

func TestTwoKindsMayHaveOneName(t *testing.T) {
	h, p := rolling(t, "a")
	second := (*other)(newThing(oneAtATime()))
	second.Spec.Text = "v9"
	h.make(second)
	q := newProcess(h, others)
	q.settle()
	p.settle()
	texts := map[string]bool{}
	for _, work := range h.works() {
		texts[string(work.Spec.Workload.Manifests[0].Raw)] = true
	}
	if len(texts) != 2 || len(h.works()) != 2 {
		t.Errorf("the ManifestWorks are %v", texts)
	}
	must(t, h.store.Delete(t.Context(), second))
	q.settle()
	p.settle()
	h.answerAll()
	q.settle()
	if work := h.work("a"); work == nil || !strings.Contains(string(work.Spec.Workload.Manifests[0].Raw), "v1") {
		t.Errorf("with the second owner, %v is left", work)
	}
}

// Operators open gates, freeze, pause and retry with annotations, for the version that the status shows.
func TestApprovalsAreHeard(t *testing.T) {
	const prefix = "cohort.open-cluster-management.io/"
	h := newHub(t)
	h.selects("a", "b")
	owner := newThing(clusterv1alpha1.RolloutStrategy{Type: clusterv1alpha1.ProgressivePerGroup, ProgressivePerGroup: &clusterv1alpha1.RolloutProgressivePerGroup{}})
	owner.Annotations = map[string]string{prefix + "gates": "0", prefix + "freeze": "b"}
	h.make(owner)
	p := newProcess(h, things)
	p.settle()
	if h.having() != "" {
		t.Fatalf("%q have started before the gate was opened", h.having())
	}
	command := "to open the gate, run kubectl annotate --overwrite -n apps thing.example.com/web " + prefix + "open-gates='0 of " + h.thing().Status.Version + "'"
	if c := conditionOf(h, ConditionReconciling); !strings.HasSuffix(c.Message, command) {
		t.Errorf("Reconciling says %q, and must end with %q", c.Message, command)
	}
	h.annotate(prefix+"open-gates", "0 of another")
	p.settle()
	if c := conditionOf(h, ConditionReconciling); h.having() != "" || !strings.Contains(c.Message, "open-gates names version another, but version "+h.thing().Status.Version+" is wanted") {
		t.Errorf("Reconciling is %v, and %q have started", c, h.having())
	}
	if all := told(h); !contain(all, "ApprovalOutdated") {
		t.Errorf("the events are %q", all)
	}
	h.annotate(prefix+"open-gates", "0 of "+h.thing().Status.Version)
	p.settle()
	if h.having() != "a" {
		t.Errorf("%q have started, and a must, as b is held", h.having())
	}
	h.annotate(prefix+"freeze", "")
	h.annotate(prefix+"pause", "true")
	p.settle()
	if h.having() != "a" {
		t.Errorf("%q have started while it was paused", h.having())
	}
	h.annotate(prefix+"pause", "false")
	p.settle()
	if h.having() != "a b" {
		t.Errorf("%q have started, and both must", h.having())
	}
}

// Operators ignore clusters, retry, and allow clusters, for the version that the status shows.
func TestApprovalsResolveFailures(t *testing.T) {
	const prefix = "cohort.open-cluster-management.io/"
	for name, test := range map[string]struct{ key, value, having string }{
		"ignored":              {"ignore", "a", "a b"},
		"tried again":          {"retry", "1 of VERSION", "a"},
		"tried again, in vain": {"retry", "1 of another", "a"},
	} {
		t.Run(name, func(t *testing.T) {
			h, p := rolling(t, "a", "b")
			h.answer(h.work("a"), false)
			p.settle()
			stamp := status.StampOf(h.work("a"))
			h.annotate(prefix+test.key, strings.Replace(test.value, "VERSION", h.thing().Status.Version, 1))
			p.settle()
			if h.having() != test.having {
				t.Errorf("%q have ManifestWorks, and %q must", h.having(), test.having)
			}
			again := status.StampOf(h.work("a")).Attempt > stamp.Attempt
			if wanted := name == "tried again"; again != wanted {
				t.Errorf("a is tried again: %v", again)
			}
		})
	}
}

// A cluster outside the version's allowlist waits.
func TestTheAllowlistIsHeard(t *testing.T) {
	h := newHub(t)
	h.selects("a", "b")
	owner := newThing(clusterv1alpha1.RolloutStrategy{Type: clusterv1alpha1.All})
	owner.Annotations = map[string]string{"cohort.open-cluster-management.io/allowlist": "b of " + writes.VersionOf(workOf("v1"))}
	h.make(owner)
	newProcess(h, things).settle()
	if h.having() != "b" {
		t.Errorf("%q have ManifestWorks, and b must", h.having())
	}
}

// Fields of the owner's API and annotations add up: a cluster waits if either says so.
func TestOptionsAndApprovalsAddUp(t *testing.T) {
	h := newHub(t)
	h.selects("a", "b", "c")
	owner := newThing(clusterv1alpha1.RolloutStrategy{Type: clusterv1alpha1.All})
	owner.Spec.Options.Freezes = []rollout.ClusterFreeze{{Cluster: "a", Reason: "by the API"}}
	owner.Annotations = map[string]string{"cohort.open-cluster-management.io/freeze": "b by a person"}
	h.make(owner)
	newProcess(h, things).settle()
	if message := conditionOf(h, ConditionReconciling).Message; h.having() != "c" || !strings.Contains(message, "by the API") || !strings.Contains(message, "by a person") {
		t.Errorf("%q have ManifestWorks, and it says %q", h.having(), message)
	}
}

// The changes of a new owner's first reconcile are told.
func TestTheFirstReconcileIsTold(t *testing.T) {
	h := newHub(t)
	h.make(newThing(oneAtATime()))
	newProcess(h, things).settle()
	if all := told(h); !contain(all, "there is no Placement apps/fleet") {
		t.Errorf("the events are %q", all)
	}
}

// A deselected cluster still counts if For fails for it: its failure stops the others.
func TestADeselectedClusterWithoutAValueCounts(t *testing.T) {
	h := newHub(t)
	h.selects("a", "b")
	owner := newThing(oneAtATime())
	owner.Spec.Texts = map[string]string{"a": "-a"}
	h.make(owner)
	p := newProcess(h, things)
	p.settle()
	h.selects("b")
	h.change(func(owner *thing) { owner.Spec.Texts["a"] = "error" })
	p.settle()
	if h.having() != "a" {
		t.Errorf("%q have ManifestWorks: a is in flight, and one may be", h.having())
	}
}

// A decision of an operator that arrives during the writes of a plan ends these writes.
func TestADecisionEndsTheWrites(t *testing.T) {
	for name, decide := range map[string]func(*hub){
		"another text": func(h *hub) { h.change(func(owner *thing) { owner.Spec.Text = "v2" }) },
		"a pause":      func(h *hub) { h.annotate("cohort.open-cluster-management.io/pause", "true") },
		"a label": func(h *hub) {
			owner := h.thing()
			owner.Labels = map[string]string{"tier": "gold"}
			must(h.t, h.store.Update(h.t.Context(), owner))
		},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHub(t)
			h.selects("a", "b", "c")
			h.make(newThing(clusterv1alpha1.RolloutStrategy{Type: clusterv1alpha1.All}))
			p := newProcess(h, things)
			decided := false
			h.wrote = func() {
				if last := h.writes[len(h.writes)-1]; last.verb == "create" && !decided {
					decided = true
					decide(h)
					p.cache.showOne(cacheKey{"Thing", ownerKey})
				}
			}
			for range 4 {
				p.cache.show()
				if p.look(); decided {
					break
				}
			}
			if h.having() != "a" {
				t.Errorf("%q have started, and a must, before it was decided otherwise", h.having())
			}
		})
	}
}

// A failed cluster that is deselected counts, until its ManagedCluster is deleted.
func TestAFailedDeselectedClusterCounts(t *testing.T) {
	h, p := rolling(t, "a", "b")
	h.answer(h.work("a"), false)
	p.settle()
	h.selects("b")
	p.settle()
	h.now = h.now.Add(2 * grace)
	p.settle()
	if h.work("a").DeletionTimestamp == nil {
		t.Error("a is deselected, and keeps its ManifestWork")
	}
	h.answer(h.work("a"), true) // the agent removes its finalizer
	p.settle()
	if after := p.look(); after == 0 || after > clusterRecheck {
		t.Errorf("it asks for the ManagedCluster of a after %v", after)
	}
	if h.having() != "" || conditionOf(h, ConditionStalled).Status != metav1.ConditionTrue {
		t.Errorf("%q have ManifestWorks, and Stalled is %v", h.having(), conditionOf(h, ConditionStalled))
	}
	restarted := newProcess(h, things)
	restarted.settle()
	if h.having() != "" {
		t.Errorf("%q have started after a restart", h.having())
	}
	must(t, h.store.Delete(t.Context(), &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: "a"}}))
	if owners := restarted.ownersOfDeselected(&clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: "a"}}); !slices.Contains(owners, ownerKey) {
		t.Errorf("the deletion of the ManagedCluster concerns %v", owners)
	}
	restarted.settle()
	if h.having() != "b" {
		t.Errorf("%q have ManifestWorks, and b must, as a was deleted", h.having())
	}
}

// One reconcile stores the record before it deletes, deletes before it updates and creates, and writes the status last.
func TestTheOrderOfWrites(t *testing.T) {
	h := newHub(t)
	h.selects("a", "b", "c")
	h.make(newThing(clusterv1alpha1.RolloutStrategy{Type: clusterv1alpha1.All}))
	p := newProcess(h, things)
	p.settle()
	h.answerAll()
	p.settle()
	h.selects("b", "c")
	p.settle()
	h.now = h.now.Add(2 * grace)
	h.selects("b", "c", "d")
	h.change(func(owner *thing) { owner.Spec.Text = "v2" })
	p.cache.show()
	h.writes = nil
	p.look()
	var order []string
	for _, w := range h.writes {
		order = append(order, w.verb+" "+w.key.Namespace)
	}
	want := "delete a, update b, update c, create d, update status apps"
	if got := strings.Join(order, ", "); got != want {
		t.Errorf("the writes are %q, and must be %q", got, want)
	}
}

// The record of a failed cluster is stored and read back before its ManifestWork is deleted.
func TestTheRecordIsStoredFirst(t *testing.T) {
	h, p := rolling(t, "a", "b")
	h.answer(h.work("a"), false)
	p.settle()
	h.selects("b")
	p.settle()
	h.now = h.now.Add(2 * grace)
	h.writes = nil
	h.faults = func(w write) fault {
		if w.verb == "patch" {
			return broken
		}
		return none
	}
	owner := h.thing()
	delete(owner.Annotations, "cohort.open-cluster-management.io/left")
	must(t, h.store.Update(t.Context(), owner))
	for range 5 {
		p.cache.show()
		p.look()
	}
	if h.work("a").DeletionTimestamp != nil {
		t.Error("the ManifestWork of a went without a record")
	}
}

// A restart loses nothing, even if the new process's caches lack the writes of the one before: b is in flight, so a must
// not start.
func TestANewProcessKnowsWhatTheOneBeforeWrote(t *testing.T) {
	h, _ := rolling(t, "b", "c")
	h.selects("a", "b", "c")
	late := newProcess(h, things)
	late.cache.show()
	late.cache.hide("ManifestWork")
	for range 5 {
		late.look()
	}
	if h.having() != "b" {
		t.Errorf("%q have ManifestWorks, and b must", h.having())
	}
}

// A new process with a stale owner in its cache does not roll back to that version.
func TestANewProcessTakesNoVersionBack(t *testing.T) {
	h, p := rolling(t, "a", "b")
	h.answerAll()
	old := h.thing()
	h.change(func(owner *thing) { owner.Spec.Text = "v2" })
	p.settle()
	late := newProcess(h, things)
	late.cache.show()
	late.cache.objects[cacheKey{"Thing", ownerKey}] = old
	for range 5 {
		late.look()
	}
	if text := string(h.work("a").Spec.Workload.Manifests[0].Raw); !strings.Contains(text, "v2") {
		t.Errorf("a has %s again", text)
	}
}

// A process plans nothing until the cache shows its own writes: b is in flight, so a must not start.
func TestAProcessKnowsItsOwnWrites(t *testing.T) {
	h, p := rolling(t, "b", "c")
	h.selects("a", "b", "c")
	p.cache.show()
	p.cache.hide("ManifestWork")
	p.states.get(ownerKey, "").written = writes.Own[*workv1.ManifestWork]{}
	must(t, p.states.get(ownerKey, "").written.Wrote(h.work("b"), nil, h.now))
	for range 5 {
		p.look()
	}
	if h.having() != "b" {
		t.Errorf("%q have ManifestWorks, and b must", h.having())
	}
}

// After a lost answer the object is read from the API server before the next plan.
func TestLostAnswersAreReadLive(t *testing.T) {
	h := newHub(t)
	h.selects("a", "b", "c")
	h.make(newThing(oneAtATime()))
	p := newProcess(h, things)
	h.faults = func(w write) fault {
		if w.verb == "create" {
			return lost
		}
		return none
	}
	for range 6 {
		p.cache.showOne(cacheKey{"Thing", ownerKey})
		for _, key := range p.cache.behind() {
			if key.kind != "ManifestWork" {
				p.cache.showOne(key)
			}
		}
		p.look()
	}
	if h.having() != "a" {
		t.Errorf("%q have ManifestWorks, and a must", h.having())
	}
	h.faults = nil
	p.settle()
	if c := meta.FindStatusCondition(h.thing().Status.Conditions, ConditionWritesRefused); c != nil {
		t.Errorf("an answer that was lost is no refusal: %v", c)
	}
}

// The ManifestWorks are deleted with their owner, and no state of it is kept.
func TestAnOwnerThatIsDeletedGoesLast(t *testing.T) {
	h, p := rolling(t, "a", "b")
	h.answerAll()
	p.settle()
	must(t, h.store.Delete(t.Context(), h.thing()))
	p.settle()
	for _, work := range h.works() {
		if work.DeletionTimestamp == nil {
			t.Errorf("the ManifestWork of %s is not being deleted", work.Namespace)
		}
	}
	h.thing() // is still there
	h.answerAll()
	p.settle()
	if err := h.store.Get(t.Context(), ownerKey, &thing{}); client.IgnoreNotFound(err) != nil || err == nil {
		t.Errorf("the owner is still there: %v", err)
	}
	p.settle()
	if len(p.states.of) != 0 {
		t.Errorf("%d owners are kept", len(p.states.of))
	}
}

// If an owner was deleted without its finalizer, its ManifestWorks are deleted once a live read shows that it is gone.
func TestAnOwnerWithoutItsFinalizer(t *testing.T) {
	h, p := rolling(t, "a")
	delete(p.cache.objects, cacheKey{"Thing", ownerKey}) // the cache is empty, but the owner exists
	p.look()
	if h.work("a").DeletionTimestamp != nil {
		t.Fatal("the ManifestWork went while the API server had its owner")
	}
	owner := h.thing()
	owner.Finalizers = nil
	must(t, h.store.Update(t.Context(), owner))
	must(t, h.store.Delete(t.Context(), owner))
	p.settle()
	h.answerAll()
	p.settle()
	if h.having() != "" {
		t.Errorf("%q are left", h.having())
	}
}

// A new owner of the same name takes over the ManifestWorks of the one before.
func TestALaterOwnerOfTheSameName(t *testing.T) {
	h, p := rolling(t, "a")
	h.answerAll()
	p.settle()
	before := h.work("a")
	owner := h.thing()
	owner.Finalizers = nil
	must(t, h.store.Update(t.Context(), owner))
	must(t, h.store.Delete(t.Context(), owner))
	later := newThing(oneAtATime())
	later.Spec.Text = "v2"
	h.make(later)
	newProcess(h, things).settle()
	work := h.work("a")
	if work.UID != before.UID || !strings.HasSuffix(work.Annotations[ownerAnnotation], string(later.UID)) || work.Generation != 2 {
		t.Errorf("the ManifestWork is %v", work.ObjectMeta)
	}
}

// Clusters may have values of their own. A new value goes to its cluster alone. A cluster without a value waits.
func TestClustersWithValuesOfTheirOwn(t *testing.T) {
	h := newHub(t)
	h.selects("a", "b", "c")
	owner := newThing(clusterv1alpha1.RolloutStrategy{Type: clusterv1alpha1.All})
	owner.Spec.Texts = map[string]string{"b": "-b", "c": "error"}
	h.make(owner)
	p := newProcess(h, things)
	p.settle()
	h.answerAll()
	p.settle()
	if h.having() != "a b" || !strings.Contains(conditionOf(h, ConditionReconciling).Message, errNoText.Error()) {
		t.Errorf("%q have ManifestWorks, and Reconciling is %v", h.having(), conditionOf(h, ConditionReconciling))
	}
	h.change(func(owner *thing) { owner.Spec.Texts = map[string]string{"b": "-B", "c": "-c"} })
	p.settle()
	h.answerAll()
	p.settle()
	if text := string(h.work("b").Spec.Workload.Manifests[0].Raw); !strings.Contains(text, "v1-B") || h.having() != "a b c" {
		t.Errorf("b has %s, and %q have ManifestWorks", text, h.having())
	}
	if h.work("a").Generation != 1 || conditionOf(h, ConditionReady).Status != metav1.ConditionTrue {
		t.Errorf("a has generation %d, and Ready is %v", h.work("a").Generation, conditionOf(h, ConditionReady))
	}
	h.change(func(owner *thing) { owner.Spec.Texts["a"] = "error" })
	p.settle()
	if c := conditionOf(h, ConditionReady); c.Status == metav1.ConditionTrue || h.having() != "a b c" {
		t.Errorf("For fails for a, and Ready is %v", c)
	}
}

// The time of a first answer is recorded if a soak or a wait runs from it, and otherwise not.
func TestAnswersAreNotedWhereSomethingRunsFromThem(t *testing.T) {
	for _, soak := range []time.Duration{0, 10 * time.Minute} {
		h := newHub(t)
		h.selects("a", "b")
		strategy := oneAtATime()
		strategy.Progressive.MinSuccessTime.Duration = soak
		h.make(newThing(strategy))
		p := newProcess(h, things)
		p.settle()
		h.now = h.now.Add(time.Hour)
		h.writes = nil
		h.answer(h.work("a"), true)
		p.settle()
		noted := !status.StampOf(h.work("a")).Answered.IsZero()
		if noted != (soak > 0) {
			t.Errorf("with a soak of %v the answer is noted: %v, after %v", soak, noted, h.writes)
		}
		if started := h.having() == "a b"; started != (soak == 0) {
			t.Errorf("with a soak of %v, %q have ManifestWorks", soak, h.having())
		}
		h.now = h.now.Add(soak)
		p.settle()
		if h.having() != "a b" {
			t.Errorf("after a soak of %v, %q have ManifestWorks", soak, h.having())
		}
	}
}

// The longest names make labels and names that the API server accepts.
func TestLongNames(t *testing.T) {
	h := newHub(t)
	p := newProcess(h, things)
	key := types.NamespacedName{Namespace: strings.Repeat("n", 63), Name: strings.Repeat("o", 253)}
	if hash := p.hashOf(key); len(hash) > 63 {
		t.Errorf("the label has %d characters", len(hash))
	}
	if name := writes.NameOf[*workv1.ManifestWork](p.named(key)); len(name) > 253 {
		t.Errorf("the name has %d characters", len(name))
	}
}

// A reconcile reads only the owner's own objects: it reads nothing live that the caches have.
func TestAReconcileReadsNothingLive(t *testing.T) {
	h, p := rolling(t, "a", "b")
	h.answerAll()
	p.settle()
	h.reads = nil
	p.settle()
	if len(h.reads) > 0 {
		t.Errorf("it asks the API server: %v", h.reads)
	}
}

// An event enqueues the owners that it concerns, and no others.
func TestWhichOwnersAnEventConcerns(t *testing.T) {
	h, p := rolling(t, "a")
	work := h.work("a")
	for what, concerned := range map[string][]types.NamespacedName{
		"its ManifestWork":      p.ownersOfWork(work),
		"one without the note":  p.ownersOfWork(&workv1.ManifestWork{ObjectMeta: metav1.ObjectMeta{Labels: work.Labels}}),
		"one without the label": p.ownersOfWork(&workv1.ManifestWork{ObjectMeta: metav1.ObjectMeta{Annotations: work.Annotations}}),
		"its Placement":         p.states.following(types.NamespacedName{Namespace: "apps", Name: "fleet"}),
	} {
		if !slices.Contains(concerned, ownerKey) {
			t.Errorf("%s concerns %v", what, concerned)
		}
	}
	for what, concerned := range map[string][]types.NamespacedName{
		"another's ManifestWork":     newProcess(h, others).ownersOfWork(work),
		"a Placement of that name":   p.states.following(types.NamespacedName{Namespace: "other", Name: "fleet"}),
		"a cluster that is selected": p.states.waitingFor("a"),
	} {
		if len(concerned) > 0 {
			t.Errorf("%s concerns %v", what, concerned)
		}
	}
}
