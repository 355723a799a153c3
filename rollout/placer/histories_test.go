package placer

import (
	"slices"
	"strconv"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	workv1 "open-cluster-management.io/api/work/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/rollout/writes"
)

// selectsGroups writes decisions of one cluster in each group.
func (h *hub) selectsGroups(clusters ...string) {
	h.t.Helper()
	h.selects(clusters...)
	ctx := h.t.Context()
	must(h.t, h.store.DeleteAllOf(ctx, &clusterv1beta1.PlacementDecision{}, client.InNamespace("apps")))
	h.objects = nil
	var decisions []*clusterv1beta1.PlacementDecision
	for i, cluster := range clusters {
		decision := &clusterv1beta1.PlacementDecision{ObjectMeta: metav1.ObjectMeta{
			Namespace: "apps", Name: "fleet-decision-" + strconv.Itoa(i),
			Labels: map[string]string{clusterv1beta1.PlacementLabel: "fleet", clusterv1beta1.DecisionGroupIndexLabel: strconv.Itoa(i)},
		}}
		decision.Status.Decisions = []clusterv1beta1.ClusterDecision{{ClusterName: cluster}}
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

// withoutFinalizer has a person remove the finalizer of the owner.
func withoutFinalizer(h *hub) {
	owner := h.thing()
	owner.Finalizers = nil
	must(h.t, h.store.Update(h.t.Context(), owner))
}

// A wait between groups runs from the answers, also where clusters are settled by the time that anybody looks at them.
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

// Somebody may delete what was just created before the cache shows it: there is no event then.
func TestALookThatWroteComesBack(t *testing.T) {
	h, p := rolling(t, "a", "b")
	h.answerAll()
	p.cache.show()
	if after := p.look(); h.having() != "a b" || after == 0 || after > writes.Patience {
		t.Errorf("%q have ManifestWorks, and it comes back after %v", h.having(), after)
	}
}

// ManifestWorks that note the owner go with it, also where they lack the label: another program wrote them, or a person removed it.
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

// What the API server fills in is no change, for one that knows these fields and for one from before them.
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
	work.Spec.ManifestConfigs[0].FeedbackScrapeType = workv1.FeedbackWatchType // that is no default
	must(t, h.store.Update(t.Context(), work))
	p.settle()
	if kind := h.work("a").Spec.ManifestConfigs[0].FeedbackScrapeType; kind != workv1.FeedbackPollType {
		t.Errorf("what somebody changed stays %s", kind)
	}
}

// While ManifestWorks go, the cache tells which ones are there. The API server is asked once the cache has none.
func TestADeletionAsksTheCacheFirst(t *testing.T) {
	h, p := rolling(t, "a", "b")
	h.answerAll()
	p.settle()
	must(t, h.store.Delete(t.Context(), h.thing()))
	p.settle()
	h.reads = nil
	h.answer(h.works()[0], true) // one lets go
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

// What is known of an owner that is gone is kept until its ManifestWorks are gone.
func TestAnOwnerThatIsGoneIsForgottenLast(t *testing.T) {
	h, p := rolling(t, "a")
	withoutFinalizer(h)
	must(t, h.store.Delete(t.Context(), h.thing()))
	p.settle()
	if len(p.memories.of) != 1 {
		t.Errorf("%d owners are kept while a ManifestWork is there, and one must", len(p.memories.of))
	}
	h.answerAll()
	p.settle()
	if len(p.memories.of) != 0 {
		t.Errorf("%d owners are kept in the end", len(p.memories.of))
	}
}

// A ManifestWork that was deleted before an update came is no refusal. The cache will show it.
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
