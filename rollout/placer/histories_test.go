// SPDX-License-Identifier: Apache-2.0

package placer

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	workv1 "open-cluster-management.io/api/work/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/rollout/writes"
	"github.com/cohort-ocm/cohort/status"
)

// selectsGroups writes decisions with one cluster in each group, such as a, or a/canary in a group with a name.
func (h *hub) selectsGroups(clusters ...string) {
	h.t.Helper()
	names := make([]string, len(clusters))
	for i, cluster := range clusters {
		names[i], _, _ = strings.Cut(cluster, "/")
	}
	h.selects(names...)
	ctx := h.t.Context()
	must(h.t, h.store.DeleteAllOf(ctx, &clusterv1beta1.PlacementDecision{}, client.InNamespace("apps")))
	h.objects = nil
	var decisions []*clusterv1beta1.PlacementDecision
	for i, cluster := range clusters {
		decision := &clusterv1beta1.PlacementDecision{ObjectMeta: metav1.ObjectMeta{
			Namespace: "apps", Name: "fleet-decision-" + strconv.Itoa(i),
			Labels: map[string]string{clusterv1beta1.PlacementLabel: "fleet", clusterv1beta1.DecisionGroupIndexLabel: strconv.Itoa(i)},
		}}
		if _, group, named := strings.Cut(cluster, "/"); named {
			decision.Labels[clusterv1beta1.DecisionGroupNameLabel] = group
		}
		decision.Status.Decisions = []clusterv1beta1.ClusterDecision{{ClusterName: names[i]}}
		h.make(decision)
		decisions = append(decisions, decision)
	}
	placement := &clusterv1beta1.Placement{}
	must(h.t, h.store.Get(ctx, client.ObjectKey{Namespace: "apps", Name: "fleet"}, placement))
	said, err := grouping.Status(decisions)
	must(h.t, err)
	placement.Status = said
	must(h.t, h.store.Update(ctx, placement))
}

// withoutFinalizer removes the finalizer of the owner, as a user would.
func withoutFinalizer(h *hub) {
	owner := h.thing()
	owner.Finalizers = nil
	must(h.t, h.store.Update(h.t.Context(), owner))
}

// A wait between groups runs from the answers, even if clusters are settled before the first reconcile sees them.
func TestAWaitBetweenGroupsEnds(t *testing.T) {
	const pause, wait = "cohort.open-cluster-management.io/pause", 10 * time.Minute
	for name, later := range map[string]bool{"the first answer settles the cluster": false, "the wait was set once the cluster was settled": true} {
		t.Run(name, func(t *testing.T) {
			h := newHub(t)
			h.selectsGroups("a", "b")
			owner := newThing(clusterv1alpha1.RolloutStrategy{Type: clusterv1alpha1.ProgressivePerGroup, ProgressivePerGroup: &clusterv1alpha1.RolloutProgressivePerGroup{}})
			if !later {
				owner.Spec.Options.WaitBetweenGroups.Duration = wait
			}
			h.make(owner)
			p := newProcess(h, things)
			p.settle()
			if later {
				h.annotate(pause, "true")
			}
			h.answer(h.work("a"), true)
			p.settle()
			if later {
				h.change(func(owner *thing) { owner.Spec.Options.WaitBetweenGroups.Duration = wait })
				h.annotate(pause, "")
				p.settle()
			}
			if h.having() != "a" {
				t.Fatalf("%q have ManifestWorks, and a must, during the wait", h.having())
			}
			h.writes = nil
			p.settle()
			if len(h.writes) > 0 {
				t.Errorf("it writes again: %v", h.writes)
			}
			h.now = h.now.Add(wait)
			p.settle()
			if h.having() != "a b" {
				t.Errorf("%q have ManifestWorks, and both must, after the wait", h.having())
			}
		})
	}
}

// A wrong clock recorded an answer in the future. The wait runs from now, and does not begin anew at each reconcile.
func TestAnAnswerFromAWrongClock(t *testing.T) {
	const wait = 10 * time.Minute
	h := newHub(t)
	h.selectsGroups("a", "b")
	owner := newThing(clusterv1alpha1.RolloutStrategy{Type: clusterv1alpha1.ProgressivePerGroup, ProgressivePerGroup: &clusterv1alpha1.RolloutProgressivePerGroup{}})
	owner.Spec.Options.WaitBetweenGroups.Duration = wait
	h.make(owner)
	p := newProcess(h, things)
	p.settle()
	h.answer(h.work("a"), true)
	p.settle()
	work := h.work("a")
	work.Annotations[answeredAnnotation] = h.now.Add(24 * time.Hour).Format(time.RFC3339Nano)
	must(t, h.store.Update(t.Context(), work))
	p.settle()
	h.now = h.now.Add(wait)
	p.settle()
	if h.having() != "a b" {
		t.Errorf("%q have ManifestWorks, and both must, after the wait", h.having())
	}
}

// An object may be deleted before the cache shows that it was created. Then no event comes, so the owner is requeued.
func TestAReconcileThatWroteIsRequeued(t *testing.T) {
	h, p := rolling(t, "a", "b")
	h.answerAll()
	p.cache.show()
	if after := p.look(); h.having() != "a b" || after == 0 || after > writes.Patience {
		t.Errorf("%q have ManifestWorks, and it comes back after %v", h.having(), after)
	}
}

// ManifestWorks that note the owner are deleted with it, even without the label: another program wrote them, or a user
// removed the label.
func TestManifestWorksWithoutTheLabelGo(t *testing.T) {
	for name, before := range map[string]func(*hub){"the owner is deleted": func(*hub) {}, "the owner is gone": withoutFinalizer} {
		t.Run(name, func(t *testing.T) {
			h, p := rolling(t, "a")
			h.answerAll()
			p.settle()
			work := h.work("a")
			work.Labels = nil
			must(t, h.store.Update(t.Context(), work))
			p.settle()
			before(h)
			must(t, h.store.Delete(t.Context(), h.thing()))
			p.settle()
			h.answer(h.work("a"), h.work("a").DeletionTimestamp == nil)
			p.settle()
			if h.having() != "" {
				t.Errorf("the ManifestWork of %s is left", h.having())
			}
		})
	}
}

// Defaults that the API server fills in are no change, whether the API server knows these fields or not.
func TestDefaultsAreNoChange(t *testing.T) {
	h := newHub(t)
	h.selects("a")
	h.make(newThing(oneAtATime()))
	kind := things
	kind.Rollout = func(owner *thing) (Rollout, error) {
		wanted, err := rolloutOfThing(owner)
		wanted.Work.ManifestConfigs = []workv1.ManifestConfigOption{
			{ResourceIdentifier: workv1.ResourceIdentifier{Resource: "configmaps", Name: "text"}},
			{UpdateStrategy: &workv1.UpdateStrategy{}},
			{UpdateStrategy: &workv1.UpdateStrategy{Type: workv1.UpdateStrategyTypeServerSideApply, ServerSideApply: &workv1.ServerSideApplyConfig{}}},
		}
		return wanted, err
	}
	p := newProcess(h, kind)
	p.settle()
	if h.work("a").Spec.ManifestConfigs[0].FeedbackScrapeType == "" {
		t.Fatal("the hub fills in nothing")
	}
	h.writes = nil
	p.settle()
	if len(h.writes) > 0 {
		t.Errorf("it writes again: %v", h.writes)
	}
	work := h.work("a")
	work.Spec.ManifestConfigs[0].FeedbackScrapeType = workv1.FeedbackWatchType // not the default
	must(t, h.store.Update(t.Context(), work))
	p.settle()
	if kind := h.work("a").Spec.ManifestConfigs[0].FeedbackScrapeType; kind != workv1.FeedbackPollType {
		t.Errorf("a user's change stays %s", kind)
	}
}

// While ManifestWorks are being deleted, the cache shows which are left. They are listed live once the cache has none.
func TestADeletionAsksTheCacheFirst(t *testing.T) {
	h, p := rolling(t, "a", "b")
	h.answerAll()
	p.settle()
	must(t, h.store.Delete(t.Context(), h.thing()))
	p.settle()
	h.reads = nil
	h.answer(h.works()[0], true) // one agent removes its finalizer
	p.settle()
	if h.having() != "b" || len(h.reads) > 0 {
		t.Errorf("while %s is there, the API server is asked: %v", h.having(), h.reads)
	}
	h.answer(h.works()[0], true)
	p.settle()
	if !slices.Contains(h.reads, write{verb: "list", kind: "ManifestWorkList"}) {
		t.Errorf("the API server is not asked whether there are more: %v", h.reads)
	}
}

// The state of a deleted owner is kept until its ManifestWorks are gone.
func TestAnOwnerThatIsGoneIsForgottenLast(t *testing.T) {
	h, p := rolling(t, "a")
	withoutFinalizer(h)
	must(t, h.store.Delete(t.Context(), h.thing()))
	p.settle()
	if len(p.states.of) != 1 {
		t.Errorf("%d owners are kept while a ManifestWork is there, and one must", len(p.states.of))
	}
	h.answerAll()
	p.settle()
	if len(p.states.of) != 0 {
		t.Errorf("%d owners are kept in the end", len(p.states.of))
	}
}

// An update of a ManifestWork that was deleted is not told as rejected. The cache will show the deletion.
func TestALateDeletionIsNoRefusal(t *testing.T) {
	h, p := rolling(t, "a")
	h.change(func(owner *thing) { owner.Spec.Text = "v2" })
	p.cache.show()
	work := h.work("a")
	must(t, h.store.Delete(t.Context(), work))
	work = h.work("a")
	work.Finalizers = nil
	must(t, h.store.Update(t.Context(), work))
	p.look()
	if c := meta.FindStatusCondition(h.thing().Status.Conditions, ConditionWritesRefused); c != nil {
		t.Errorf("WritesRefused is %v", c)
	}
	p.settle()
	if h.having() != "a" {
		t.Errorf("%q have ManifestWorks, and a must again", h.having())
	}
}

// For an invalid owner observedGeneration is set, and no condition of the rollout stays True: kstatus, Flux and Argo CD
// would wait for ever.
func TestAnInvalidOwnerIsObserved(t *testing.T) {
	h, p := rolling(t, "a")
	h.answerAll()
	p.settle()
	h.change(func(owner *thing) { owner.Spec.Text = "error" })
	p.settle()
	owner := h.thing()
	if owner.Status.ObservedGeneration != owner.Generation || owner.Status.Done != 1 {
		t.Errorf("the status is %v, and must be of generation %d with one cluster done", owner.Status, owner.Generation)
	}
	for _, kind := range []string{status.ConditionProgressing, status.ConditionSucceeded, status.ConditionFailed} {
		if c := conditionOf(h, kind); c.Status != metav1.ConditionUnknown || c.Reason != ReasonInvalid {
			t.Errorf("%s is %v", kind, c)
		}
	}
}

// The changes of the first plan are told, also if the owner was invalid before.
func TestTheFirstPlanIsToldAfterAStall(t *testing.T) {
	h := newHub(t)
	owner := newThing(oneAtATime())
	owner.Spec.Text = "error"
	h.make(owner)
	p := newProcess(h, things)
	p.settle()
	h.change(func(owner *thing) { owner.Spec.Text = "v1" })
	p.settle()
	if all := told(h); !contain(all, "there is no Placement apps/fleet") {
		t.Errorf("the events are %q", all)
	}
}

// The functions of a Kind get copies, even before the first plan.
func TestFunctionsOfAKindGetCopies(t *testing.T) {
	h := newHub(t)
	kind := things
	kind.Conditions = func(owner *thing) *[]metav1.Condition {
		owner.Status.Done = 99
		return &owner.Status.Conditions
	}
	owner := newThing(oneAtATime())
	newProcess(h, kind).before(owner, &ownerState{}, "all")
	if owner.Status.Done != 0 {
		t.Error("the owner in the cache was changed")
	}
}

// The annotation open-gates also opens gates of the owner's own API, for the version that it names.
func TestOpenGatesOpensGatesOfTheAPI(t *testing.T) {
	for name, key := range map[string]grouping.Key{"by index": {}, "by name": {Name: "first", Index: 3}} {
		t.Run(name, func(t *testing.T) {
			owner := newThing(clusterv1alpha1.RolloutStrategy{Type: clusterv1alpha1.ProgressivePerGroup, ProgressivePerGroup: &clusterv1alpha1.RolloutProgressivePerGroup{}})
			owner.Spec.Options.Gates = []rollout.ClosedGate{{Group: key}, {Group: grouping.Key{Index: 1}}}
			p := newProcess(newHub(t), things)
			group := map[string]string{"by index": "0", "by name": "first"}[name]
			for version, closed := range map[string]int{"another": 2, writes.VersionOf(workOf("v1")): 1} {
				owner.Annotations = map[string]string{"cohort.open-cluster-management.io/open-gates": group + " of " + version}
				wanted, err := p.rolloutOf(owner)
				must(t, err)
				if gates := wanted.options(wanted.Placements[0]).Gates; len(gates) != closed {
					t.Errorf("with open-gates of version %s, closed are %v, and %d must be", version, gates, closed)
				}
			}
			if owner.Spec.Options.Gates[0].Group != key {
				t.Errorf("the owner was changed: %v", owner.Spec.Options.Gates)
			}
		})
	}
}

// ManifestWorks of an earlier controller that have the owner's label count as they are. One with the wanted spec is not written.
// Another one is updated in its turn, under its name.
func TestManifestWorksAreTakenOver(t *testing.T) {
	h := newHub(t)
	h.selects("a", "b", "c")
	sum := sha256.Sum256([]byte("Thing.example.com/apps/web"))
	label := map[string]string{OwnerLabel: hex.EncodeToString(sum[:])[:32]}
	for cluster, text := range map[string]string{"a": "v1", "b": "v0"} {
		work := &workv1.ManifestWork{ObjectMeta: metav1.ObjectMeta{Namespace: cluster, Name: "earlier", Labels: label}, Spec: workOf(text)}
		h.make(work)
		h.answer(work, true)
	}
	before := h.works()
	h.make(newThing(oneAtATime()))
	p := newProcess(h, things)
	p.settle()
	var done []string
	for _, work := range h.works() {
		if work.Name != "earlier" {
			t.Errorf("%s/%s was created", work.Namespace, work.Name)
		}
		if has := status.StampOf(work).Version; work.Namespace == "b" && has != writes.VersionOf(workOf("v1")) {
			t.Errorf("b has version %s", has)
		}
		if slices.ContainsFunc(before, func(was *workv1.ManifestWork) bool {
			return was.Namespace == work.Namespace && was.ResourceVersion == work.ResourceVersion
		}) {
			done = append(done, work.Namespace)
		}
	}
	if h.having() != "a b" || !slices.Equal(done, []string{"a"}) || h.thing().Status.Done != 1 {
		t.Errorf("%q have ManifestWorks, %q were not written, and %d are done; a is done, and b must have been updated", h.having(), done, h.thing().Status.Done)
	}
}

// The command that opens a gate names the gate as it was closed, keeps the gates that are open for the version, and leaves out
// those of another version. It is quoted for a shell.
func TestTheCommandOpensTheGate(t *testing.T) {
	version := writes.VersionOf(workOf("v1"))
	gates := func(keys ...grouping.Key) (all []rollout.ClosedGate) {
		for _, key := range keys {
			all = append(all, rollout.ClosedGate{Group: key})
		}
		return all
	}
	for name, c := range map[string]struct {
		annotations map[string]string
		gates       []rollout.ClosedGate
		want        string
	}{
		"by index, as it was closed":          {map[string]string{"gates": "0"}, nil, "'0 of " + version + "'"},
		"by name, of the API":                 {nil, gates(grouping.Key{Name: "first", Index: 3}), "'first of " + version + "'"},
		"of a Placement":                      {map[string]string{"gates": "fleet/0"}, nil, "'fleet/0 of " + version + "'"},
		"two gates of a group":                {map[string]string{"gates": "0, fleet/first"}, nil, "'0,fleet/first of " + version + "'"},
		"another one is open":                 {map[string]string{"gates": "0, second", "open-gates": "second of " + version}, nil, "'second,0 of " + version + "'"},
		"another one is open for another one": {map[string]string{"gates": "0, second", "open-gates": "second of other"}, nil, "'0 of " + version + "'"},
		"of another Placement":                {map[string]string{"gates": "edge/0"}, nil, ""},
		"none":                                {nil, nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHub(t)
			h.selectsGroups("a/first", "b/second")
			owner := newThing(clusterv1alpha1.RolloutStrategy{Type: clusterv1alpha1.ProgressivePerGroup, ProgressivePerGroup: &clusterv1alpha1.RolloutProgressivePerGroup{}})
			owner.Spec.Options.Gates = c.gates
			for key, value := range c.annotations {
				metav1.SetMetaDataAnnotation(&owner.ObjectMeta, "cohort.open-cluster-management.io/"+key, value)
			}
			h.make(owner)
			p := newProcess(h, things)
			p.settle()
			message := conditionOf(h, ConditionReconciling).Message
			_, after, said := strings.Cut(message, "open-gates=")
			command, _, _ := strings.Cut(after, "; ")
			if command != c.want || said != (c.want != "") {
				t.Fatalf("it says %q, and the command must set %s", message, c.want)
			}
			if !said {
				return
			}
			h.annotate("cohort.open-cluster-management.io/open-gates", strings.Trim(command, "'"))
			p.settle()
			if h.having() != "a" {
				t.Errorf("%q have started, and a must", h.having())
			}
		})
	}
	if got := shellQuoted("it's"); got != `'it'\''s'` {
		t.Errorf("it is quoted as %s", got)
	}
}

// A cluster-scoped kind is refused. If it is reconciled anyway, the status says why nothing starts.
func TestClusterScopedKindsAreRefused(t *testing.T) {
	gvk := example.WithKind("Thing")
	mapper := meta.NewDefaultRESTMapper(nil)
	if err := checkScope(gvk, mapper); err != nil {
		t.Errorf("of a kind that is not there yet it says %v", err)
	}
	mapper.Add(gvk, meta.RESTScopeRoot)
	if err := checkScope(gvk, mapper); err == nil || !strings.Contains(err.Error(), "Thing.example.com is cluster-scoped") {
		t.Errorf("of a cluster-scoped kind it says %v", err)
	}
	mapper = meta.NewDefaultRESTMapper(nil)
	mapper.Add(gvk, meta.RESTScopeNamespace)
	if err := checkScope(gvk, mapper); err != nil {
		t.Errorf("of a namespaced kind it says %v", err)
	}

	h := newHub(t)
	owner := newThing(oneAtATime())
	owner.Namespace = ""
	h.make(owner)
	p := newProcess(h, things)
	for range 4 {
		p.cache.show()
		_, err := p.Reconcile(t.Context(), reconcile.Request{NamespacedName: client.ObjectKey{Name: owner.Name}})
		must(t, err)
	}
	must(t, h.store.Get(t.Context(), client.ObjectKey{Name: owner.Name}, owner))
	if c := meta.FindStatusCondition(owner.Status.Conditions, ConditionStalled); c == nil || !strings.Contains(c.Message, "metadata.namespace") {
		t.Errorf("Stalled is %v", c)
	}
}

// A rejection is told once.
func TestARefusalIsToldOnce(t *testing.T) {
	h := newHub(t)
	h.selects("a")
	h.make(newThing(oneAtATime()))
	h.faults = func(w write) fault {
		if w.kind == "ManifestWork" {
			return refused
		}
		return none
	}
	p := newProcess(h, things)
	for range 6 {
		p.cache.show()
		p.look()
	}
	all := told(h)
	refusals := slices.DeleteFunc(all, func(event string) bool { return !strings.Contains(event, "Warning Refused") })
	if len(refusals) != 1 {
		t.Errorf("the refusals are %q, and there must be one", refusals)
	}
}

// The options of a controller must not let it run without leader election. The queue is client-go's, unless the options say
// otherwise.
func TestOptions(t *testing.T) {
	yes, no := true, false
	for what, test := range map[string]struct {
		options controller.Options
		manager config.Controller
		refused bool
		queue   bool
	}{
		"none":                                {},
		"elected":                             {options: controller.Options{NeedLeaderElection: &yes}},
		"not elected":                         {options: controller.Options{NeedLeaderElection: &no}, refused: true},
		"not elected, says the manager":       {manager: config.Controller{NeedLeaderElection: &no}, refused: true},
		"elected, whatever the manager says":  {options: controller.Options{NeedLeaderElection: &yes}, manager: config.Controller{NeedLeaderElection: &no}},
		"another queue":                       {options: controller.Options{UsePriorityQueue: &yes}, queue: true},
		"another queue, the manager's choice": {manager: config.Controller{UsePriorityQueue: &yes}, queue: true},
	} {
		t.Run(what, func(t *testing.T) {
			options, err := optionsOf(test.options, test.manager)
			if (err != nil) != test.refused {
				t.Errorf("it says %v", err)
			}
			queue := options.UsePriorityQueue
			if queue == nil {
				queue = test.manager.UsePriorityQueue
			}
			if !test.refused && *queue != test.queue {
				t.Errorf("UsePriorityQueue is %v", *queue)
			}
		})
	}
}

// Kinds of two groups may have the same name. Their controllers have different names.
func TestNamesOfControllers(t *testing.T) {
	if name := nameOf(example.WithKind("Thing")); name != "placer-thing.example.com" {
		t.Errorf("the name is %s", name)
	}
}

// A new owner of the same name starts without state: what is wrong with it is told again.
func TestANewOwnerOfTheSameNameIsTold(t *testing.T) {
	h := newHub(t)
	h.selects("a")
	p := newProcess(h, things)
	for range 2 {
		owner := newThing(oneAtATime())
		owner.Spec.Text = "error"
		h.make(owner)
		p.settle()
		if all := told(h); !contain(all, errNoText.Error()) {
			t.Errorf("the events are %q", all)
		}
		withoutFinalizer(h)
		must(t, h.store.Delete(t.Context(), h.thing()))
	}
}

// Rejected requests other than the write of a ManifestWork are shown, and told once: the finalizer, the record, and
// deletions.
func TestOtherRefusalsAreShown(t *testing.T) {
	for name, test := range map[string]struct {
		refuses string
		begin   func(*hub, *process)
	}{
		"the finalizer": {"patch Thing", func(h *hub, _ *process) {}},
		"the record": {"patch Thing", func(h *hub, p *process) {
			h.answer(h.work("a"), false)
			h.selects()
		}},
		"a deletion": {"delete ManifestWork", func(h *hub, _ *process) { must(h.t, h.store.Delete(h.t.Context(), h.thing())) }},
		"to let the owner go": {"patch Thing", func(h *hub, _ *process) {
			must(h.t, h.store.Delete(h.t.Context(), h.thing()))
			work := h.work("a")
			work.Finalizers = nil
			must(h.t, h.store.Update(h.t.Context(), work))
			must(h.t, h.store.Delete(h.t.Context(), work))
		}},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHub(t)
			h.selects("a")
			h.make(newThing(oneAtATime()))
			p := newProcess(h, things)
			if name != "the finalizer" {
				p.settle()
			}
			test.begin(h, p)
			told(h)
			h.faults = func(w write) fault {
				if w.verb+" "+w.kind == test.refuses {
					return refused
				}
				return none
			}
			for range 8 {
				p.cache.show()
				if after := p.look(); after == 0 || after > time.Minute {
					t.Errorf("it comes back after %v", after)
				}
			}
			if c := conditionOf(h, ConditionWritesRefused); c.Status != metav1.ConditionTrue || !strings.Contains(c.Message, "quota") {
				t.Errorf("WritesRefused is %v", c)
			}
			if c := conditionOf(h, ConditionReconciling); c.Status != metav1.ConditionTrue || !strings.Contains(c.Message, "quota") {
				t.Errorf("Reconciling is %v", c)
			}
			refusals := slices.DeleteFunc(told(h), func(event string) bool { return !strings.Contains(event, "quota") })
			if len(refusals) != 1 {
				t.Errorf("it is told %d times: %q", len(refusals), refusals)
			}
			h.faults = nil
			p.settle()
			if name == "the finalizer" && (h.having() != "a" || conditionOf(h, ConditionWritesRefused).Status != metav1.ConditionFalse) {
				t.Errorf("once nothing is refused, %q have ManifestWorks, and WritesRefused is %v", h.having(), conditionOf(h, ConditionWritesRefused))
			}
		})
	}
}

// The ManagedCluster of a deselected cluster is read live once, until the cache shows it.
func TestAnAbsentManagedClusterIsAskedForOnce(t *testing.T) {
	h, p := rolling(t, "a", "b")
	h.answer(h.work("a"), false)
	p.settle()
	h.selects("b")
	managed := &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: "a"}}
	must(t, h.store.Delete(t.Context(), managed))
	h.reads = nil
	for range 3 {
		p.settle()
	}
	if h.having() != "a b" || len(h.reads) != 1 {
		t.Errorf("%q have ManifestWorks, and the API server is asked %v", h.having(), h.reads)
	}
	h.make(managed)
	h.answer(h.work("b"), true)
	p.settle()
	if c := conditionOf(h, ConditionStalled); c.Status != metav1.ConditionTrue {
		t.Errorf("a has a ManagedCluster again and counts, and Stalled is %v", c)
	}
	if p.states.get(ownerKey, "").absent["a"] {
		t.Error("it is not asked again once the ManagedCluster is gone again")
	}
	must(t, h.store.Delete(t.Context(), managed))
	p.settle()
	if c := conditionOf(h, ConditionReady); c.Status != metav1.ConditionTrue {
		t.Errorf("a has no ManagedCluster again, and Ready is %v", c)
	}
}

// One live read for each earlier owner of the name shows that it is gone.
func TestEarlierOwnersAreAskedForOnce(t *testing.T) {
	h, p := rolling(t, "a")
	h.answerAll()
	p.settle()
	withoutFinalizer(h)
	must(t, h.store.Delete(t.Context(), h.thing()))
	h.make(newThing(oneAtATime()))
	p.settle()
	h.reads = nil
	for range 3 {
		p.settle()
	}
	if len(h.reads) > 0 || !strings.Contains(h.work("a").Annotations[ownerAnnotation], "uid") {
		t.Errorf("the API server is asked %v, and the ManifestWork is %v", h.reads, h.work("a").ObjectMeta)
	}
	if c := conditionOf(h, ConditionReady); c.Status != metav1.ConditionTrue {
		t.Errorf("Ready is %v", c)
	}
	work := h.work("a").DeepCopy() // an earlier owner that was not looked up yet
	metav1.SetMetaDataAnnotation(&work.ObjectMeta, ownerAnnotation, "Thing.example.com/apps/web/another")
	must(t, h.store.Update(t.Context(), work))
	p.settle()
	if len(h.reads) != 1 {
		t.Errorf("the API server is asked %v, and must be once", h.reads)
	}
}

// An owner's labels and annotations may be copied to its ManifestWorks, but not its approvals and its record.
func TestApprovalsAreNotCopied(t *testing.T) {
	h := newHub(t)
	h.selects("a")
	owner := newThing(oneAtATime())
	owner.Annotations = map[string]string{"cohort.open-cluster-management.io/ignore": "b", "team": "blue"}
	h.make(owner)
	kind := things
	kind.Rollout = func(owner *thing) (Rollout, error) {
		wanted, err := rolloutOfThing(owner)
		wanted.Labels, wanted.Annotations = map[string]string{OwnerLabel: "theirs", "team": "blue"}, owner.Annotations
		return wanted, err
	}
	p := newProcess(h, kind)
	p.settle()
	work := h.work("a")
	if _, copied := work.Annotations["cohort.open-cluster-management.io/ignore"]; copied || work.Annotations["team"] != "blue" || work.Labels["team"] != "blue" {
		t.Errorf("the ManifestWork is %v", work.ObjectMeta)
	}
	if work.Labels[OwnerLabel] != p.hashOf(ownerKey) {
		t.Errorf("the label is %s", work.Labels[OwnerLabel])
	}
}

// A forbidden read is shown, too.
func TestDeniedReadsAreShown(t *testing.T) {
	for kind, begin := range map[string]func(*hub, *process){
		"ManifestWorkList": func(*hub, *process) {},
		"ManagedCluster": func(h *hub, p *process) {
			p.settle()
			h.selects()
			must(h.t, h.store.Delete(h.t.Context(), &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: "a"}}))
		},
	} {
		t.Run(kind, func(t *testing.T) {
			h := newHub(t)
			h.selects("a")
			h.make(newThing(oneAtATime()))
			p := newProcess(h, things)
			begin(h, p)
			h.denied = kind
			for range 4 {
				p.cache.show()
				p.look()
			}
			if c := conditionOf(h, ConditionReconciling); c.Status != metav1.ConditionTrue || !strings.Contains(c.Message, "RBAC") {
				t.Errorf("Reconciling is %v", c)
			}
			h.denied = ""
			p.settle()
			if strings.Contains(conditionOf(h, ConditionReady).Message, "RBAC") {
				t.Errorf("Ready is %v", conditionOf(h, ConditionReady))
			}
		})
	}
}

// The first answer of a cluster in flight is recorded by a single write. A second one would conflict.
func TestAnAnswerIsNotedByOneWrite(t *testing.T) {
	h := newHub(t)
	h.selects("a")
	owner := newThing(oneAtATime())
	owner.Spec.Strategy.Progressive.MinSuccessTime.Duration = time.Hour
	h.make(owner)
	p := newProcess(h, things)
	p.settle()
	h.answerAll()
	updates := 0
	h.faults = func(w write) fault {
		if w.verb == "update" && w.kind == "ManifestWork" {
			updates++
		}
		return none
	}
	p.settle()
	if updates != 1 {
		t.Errorf("the ManifestWork is updated %d times, and must be once", updates)
	}
}
