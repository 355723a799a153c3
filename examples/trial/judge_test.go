// SPDX-License-Identifier: Apache-2.0

package trial

import (
	"fmt"
	"slices"
	"strconv"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
	addonv1beta1 "open-cluster-management.io/api/addon/v1beta1"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	workv1 "open-cluster-management.io/api/work/v1"
	workv1alpha1 "open-cluster-management.io/api/work/v1alpha1"
)

// tale makes a history by hand, of which each event has the next resourceVersion and comes a second after the one before.
type tale struct {
	events     []event
	writes     []write
	reads      []read
	reconciles []*reconcile
}

var dawn = time.Date(2026, 11, 23, 8, 0, 0, 0, time.UTC)

func (s *tale) add(kind Kind, o object) int64 {
	rv := int64(len(s.events) + 1)
	o.SetResourceVersion(strconv.FormatInt(rv, 10))
	s.events = append(s.events, event{rv: rv, id: id{kind, o.GetNamespace() + "/" + o.GetName()}, object: o, at: dawn.Add(time.Duration(rv) * time.Second)})
	return rv
}

// payload carries a version.
func payload(version string) workv1.ManifestWorkSpec {
	text := fmt.Sprintf(`{"data": {"version": %q}}`, version)
	return workv1.ManifestWorkSpec{Workload: workv1.ManifestsTemplate{Manifests: []workv1.Manifest{{RawExtension: runtime.RawExtension{Raw: []byte(text)}}}}}
}

// set wants a version by placements that go group by group.
func (s *tale) set(version string, placements ...string) int64 {
	o := &replicaSet{ObjectMeta: metav1.ObjectMeta{Namespace: "w", Name: setName}, Spec: workv1alpha1.ManifestWorkReplicaSetSpec{ManifestWorkTemplate: payload(version)}}
	for _, name := range placements {
		o.Spec.PlacementRefs = append(o.Spec.PlacementRefs, workv1alpha1.LocalPlacementReference{Name: name, RolloutStrategy: clusterv1alpha1.RolloutStrategy{
			Type: clusterv1alpha1.ProgressivePerGroup, ProgressivePerGroup: &clusterv1alpha1.RolloutProgressivePerGroup{RolloutConfig: clusterv1alpha1.RolloutConfig{ProgressDeadline: "None"}}}})
	}
	return s.add(ReplicaSets, o)
}

// decide writes the decision of a group, and name what a placement's status says of one.
func (s *tale) decide(placement string, index int, group string, clusters ...string) int64 {
	o := &placementDecision{ObjectMeta: metav1.ObjectMeta{Namespace: "w", Name: fmt.Sprintf("%s-%d", placement, index), Labels: map[string]string{
		clusterv1beta1.PlacementLabel: placement, clusterv1beta1.DecisionGroupIndexLabel: strconv.Itoa(index), clusterv1beta1.DecisionGroupNameLabel: group}}}
	for _, c := range clusters {
		o.Status.Decisions = append(o.Status.Decisions, clusterv1beta1.ClusterDecision{ClusterName: c})
	}
	return s.add(Decisions, o)
}

type told struct {
	group string
	count int32
}

// place writes what a placement's status says of its groups, by index.
func (s *tale) place(placement string, groups ...told) int64 {
	o := &clusterv1beta1.Placement{ObjectMeta: metav1.ObjectMeta{Namespace: "w", Name: placement}}
	for i, g := range groups {
		o.Status.NumberOfSelectedClusters += g.count
		o.Status.DecisionGroups = append(o.Status.DecisionGroups, clusterv1beta1.DecisionGroupStatus{
			DecisionGroupIndex: int32(i), DecisionGroupName: g.group, ClustersCount: g.count, Decisions: []string{fmt.Sprintf("%s-%d", placement, i)}})
	}
	return s.add(Placements, o)
}

// work gives a cluster a version.
func (s *tale) work(cluster, version string) int64 {
	return s.add(Works, &manifestWork{ObjectMeta: metav1.ObjectMeta{Namespace: cluster, Name: setName, Generation: 1}, Spec: payload(version)})
}

// look has a process begin a reconcile now, with caches that show all there is, or only what was there at a resourceVersion.
func (s *tale) look(life int, rv int64) *reconcile {
	view := map[id]int64{}
	for _, e := range s.events {
		if e.rv <= rv {
			view[e.id] = e.rv
		}
	}
	at := dawn.Add(time.Duration(len(s.events)) * time.Second)
	r := &reconcile{life: life, view: view, began: at, read: at, ended: at}
	s.reconciles = append(s.reconciles, r)
	return r
}

func (s *tale) now() int64 { return int64(len(s.events)) }

func (s *tale) history() *history {
	h := newHistory(s.events, s.writes, s.reconciles)
	h.reads, h.until = s.reads, dawn.Add(time.Duration(len(s.events))*time.Second)
	h.keepLeavers("ignore", nil)
	return h
}

// G13: decisions are complete only if each is in the group that the status names, by index and name, and each group has as
// many clusters as the status counts.
func TestDecisionsAreCompleteOnlyByNameAndCount(t *testing.T) {
	for name, tt := range map[string]struct {
		decide   func(*tale)
		complete bool
	}{
		"as the status says":                {func(s *tale) { s.decide("p", 0, "eu", "a"); s.decide("p", 1, "", "b", "c") }, true},
		"a group is renamed already":        {func(s *tale) { s.decide("p", 0, "", "a"); s.decide("p", 1, "", "b", "c") }, false},
		"a cluster has gone to another one": {func(s *tale) { s.decide("p", 0, "eu", "a", "b"); s.decide("p", 1, "", "c") }, false},
		"a cluster is in two groups":        {func(s *tale) { s.decide("p", 0, "eu", "a"); s.decide("p", 1, "", "b", "a") }, false},
		"one is missing":                    {func(s *tale) { s.decide("p", 0, "eu", "a") }, false},
	} {
		t.Run(name, func(t *testing.T) {
			s := &tale{}
			s.set("v1", "p")
			tt.decide(s)
			s.place("p", told{"eu", 1}, told{"", 2})
			if why := s.history().truth(s.now()).incomplete(); (why == "") != tt.complete {
				t.Errorf("incomplete: %q", why)
			}
		})
	}
}

// R47, R50: a process knows where a cluster was from its results, and those of the processes before it. What it never saw, it
// need not count.
func TestADeselectedClusterIsWhereTheProcessSawIt(t *testing.T) {
	s := &tale{}
	s.set("v1", "p", "q")
	s.decide("p", 0, "", "a", "b")
	s.place("p", told{"", 2})
	s.decide("q", 0, "", "c")
	s.place("q", told{"", 1})
	s.work("a", "v1")
	s.look(1, s.now())
	s.decide("p", 0, "", "b") // a moves to the other placement for a moment, which the process does not see
	s.place("p", told{"", 1})
	s.decide("q", 0, "", "a", "c")
	s.place("q", told{"", 2})
	s.decide("q", 0, "", "c")
	s.place("q", told{"", 1})
	sees, new := s.look(1, s.now()), s.look(2, s.now())
	h := s.history()
	if got := h.truth(s.now()).left["a"]; got.ref != "q" {
		t.Errorf("in truth it left %+v", got)
	}
	for by, r := range map[string]*reconcile{"the process": sees, "one that comes after it": new} {
		if got := h.known(r, s.now(), r.ended).left["a"]; got.ref != "p" {
			t.Errorf("%s takes it to have left %+v", by, got)
		}
	}
}

// R47, R50: at the end, too, a deselected cluster counts where the process saw it. A placement whose deadline is over has a failure more, and one without a
// deadline waits.
func TestAtTheEndADeselectedClusterIsWhereTheProcessSawIt(t *testing.T) {
	for name, tt := range map[string]struct {
		sees   bool // it in the other placement
		broken []Invariant
	}{
		"the process saw it in the one with a deadline alone": {false, nil},
		"the process saw it in the other one, too":            {true, []Invariant{invDone, invStuck}},
	} {
		s := &tale{}
		set := s.events[s.set("v1", "p", "q")-1].object.(*replicaSet)
		config, _, _, _ := parts(&set.Spec.PlacementRefs[0].RolloutStrategy)
		config.ProgressDeadline, config.MaxFailures = "4s", intstr.FromInt32(1)
		s.decide("p", 0, "", "a")
		s.place("p", told{"", 1})
		s.decide("q", 0, "", "a")
		s.place("q", told{"", 1})
		s.work("a", "v1")
		s.look(1, s.now())
		s.decide("p", 0, "")
		s.place("p", told{"", 0})
		if tt.sees {
			s.look(1, s.now())
		}
		s.decide("q", 0, "")
		s.place("q", told{"", 0})
		hangs := s.events[s.work("a", "v1")-1].object.(*manifestWork)
		hangs.DeletionTimestamp = &metav1.Time{Time: dawn}
		s.look(1, s.now())
		h := s.history()
		broken := h.checkEnd(dawn.Add(time.Minute), func(*replicaSet) Saying {
			return Saying{Message: "complete, 1 not done", Current: true, Over: true, Complete: true}
		})
		var of []Invariant
		for _, v := range broken {
			of = append(of, v.invariant)
		}
		if !slices.Equal(of, tt.broken) {
			t.Errorf("%s: %v", name, broken)
		}
	}
}

// R47: a group that is gone exists again for those that left it, before all others. One that has only its name or its index is
// another.
func TestAGroupThatIsGoneComesBeforeAllOthers(t *testing.T) {
	r := &seenRef{groups: []seenGroup{{index: 0, name: "eu"}, {index: 1}}}
	r.leave("a", place{name: "eu", index: 1})
	r.leave("b", place{name: "", index: 0})
	r.leave("c", place{name: "eu", index: 0})
	r.leave("d", place{name: "", index: 0})
	if got, want := fmt.Sprint(r.groups), "[{0  [] [b d]} {1 eu [] [a]} {0 eu [] [c]} {1  [] []}]"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// A start breaks an invariant only if it breaks the same one in truth and in what was known, by the plan and when it was sent.
func TestOnlyTheSameInvariantIsBroken(t *testing.T) {
	of := func(all ...Invariant) (broken []violation) {
		for _, i := range all {
			broken = append(broken, violation{invariant: i})
		}
		return broken
	}
	for name, tt := range map[string]struct{ known, planned, truth, want []violation }{
		"in all":                                       {of(invBudget), of(invBudget), of(invOrder, invBudget), of(invBudget)},
		"the truth has another":                        {of(invBudget), of(invBudget), of(invOrder), nil},
		"only time broke it after the plan":            {of(invBudget), of(invOrder), of(invBudget), nil},
		"partially observed, and something was broken": {of(invComplete), of(invComplete), of(invOrder), of(invComplete)},
		"partially observed, and all was right":        {of(invComplete), of(invComplete), nil, nil},
	} {
		if got := inAll(tt.known, tt.planned, tt.truth); fmt.Sprint(got) != fmt.Sprint(tt.want) {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// An older version than the caches show is replaced. A later one was read elsewhere.
func TestOnlyAnOlderVersionIsReplaced(t *testing.T) {
	for version, replaced := range map[string]bool{"v1": true, "v2": false, "v3": false} {
		s := &tale{}
		s.set("v1", "p")
		s.decide("p", 0, "", "a")
		s.place("p", told{"", 1})
		shown := s.set("v2", "p")
		s.set("v3", "p")
		s.look(1, s.now())
		rv := s.work("a", version)
		s.writes = []write{{verb: "POST", kind: Works, key: "a/" + setName, done: true, rv: rv, life: 1, setShown: shown, sent: s.events[rv-1].at}}
		broken := s.history().check(0, 0)
		if got := slices.ContainsFunc(broken, func(v violation) bool { return v.invariant == invVersion }); got != replaced {
			t.Errorf("%s: %v", version, broken)
		}
	}
}

// What a process read from the API server it knows from then on, whatever its caches show. A list shows all objects of a kind. One
// object says when it changed last, which is not when it was read.
func TestWhatAProcessReadIsKnown(t *testing.T) {
	s := &tale{}
	s.set("v1", "p")
	s.decide("p", 0, "", "a", "b")
	s.place("p", told{"", 2})
	shown := s.now()
	s.work("a", "v1")
	s.work("b", "v1")
	end := s.now()
	sent := dawn.Add(time.Minute)
	for name, tt := range map[string]struct {
		read read
		want string
	}{
		"nothing":                      {read{}, ""},
		"one work":                     {read{kind: Works, key: "a/" + setName, rv: end, life: 1}, "a"},
		"all works":                    {read{kind: Works, list: true, rv: end, life: 1}, "ab"},
		"all works of a namespace":     {read{kind: Works, key: "b", list: true, rv: end, life: 1}, "b"},
		"all works before they came":   {read{kind: Works, list: true, rv: shown, life: 1}, ""},
		"all works by another process": {read{kind: Works, list: true, rv: end, life: 2}, ""},
		"another kind":                 {read{kind: Decisions, list: true, rv: end, life: 1}, ""},
		"one work when it had planned": {read{kind: Works, key: "a/" + setName, rv: end, life: 1, at: sent.Add(1)}, ""},
	} {
		s.reads = []read{tt.read}
		known, got := s.history().known(s.look(1, shown), end+1, sent), ""
		for _, c := range []string{"a", "b"} {
			if has(known, c) {
				got += c
			}
		}
		if got != tt.want {
			t.Errorf("%s: it knows of %q, not %q", name, got, tt.want)
		}
	}
}

// R32: the time until a work is removed begins anew where the decisions are partially observed, be it for a moment, and where a process
// saw them so.
func TestTheTimeUntilRemovalBeginsAnew(t *testing.T) {
	for name, tt := range map[string]struct {
		between func(*tale)
		late    bool
	}{
		"nothing happens": {func(s *tale) { s.set("v1", "p"); s.set("v1", "p") }, true},
		"they are partially observed for a moment": {func(s *tale) {
			s.decide("p", 0, "", "b", "c")
			s.decide("p", 0, "", "b")
		}, false},
		"a process sees them partially observed": {func(s *tale) {
			s.set("v1", "p")
			view := s.look(1, s.now()).view
			delete(view, id{Placements, "w/p"})
			s.set("v1", "p")
		}, false},
	} {
		s := &tale{}
		s.set("v1", "p")
		s.work("a", "v1")
		s.decide("p", 0, "", "a", "b")
		s.place("p", told{"", 2})
		s.look(1, s.now())
		s.decide("p", 0, "", "b")
		s.place("p", told{"", 1})
		tt.between(s)
		s.set("v1", "p")
		if found := s.history().checkLeft(0, 2*time.Second, func(*replicaSet) Saying { return Saying{} }); (len(found) > 0) != tt.late {
			t.Errorf("%s: %v", name, found)
		}
	}
}

// R25, R49: a failure counts when its object is gone. It keeps its slot as long as it would with the object: without a deadline
// for good.
func TestAFailureThatIsGoneKeepsItsSlot(t *testing.T) {
	s := &scene{failed: map[string]goneFailure{"a": {cluster: "a", version: "v1", surely: true, from: dawn}}}
	for name, tt := range map[string]struct {
		deadline string
		after    time.Duration
		l        leniency
		holds    bool
	}{
		"without a deadline":                                 {"None", time.Hour, leniency{}, true},
		"in time, where a controller may know less":          {"10s", 5 * time.Second, leniency{everywhere: true}, true},
		"in time, and it may have failed before":             {"10s", 5 * time.Second, leniency{}, false},
		"late, also where a controller may know less":        {"10s", 12 * time.Second, leniency{everywhere: true}, false},
		"of a deselected cluster nothing counts in this one": {"None", time.Hour, leniency{noLeft: true}, false},
		"without a deadline, a controller knows less ":       {"None", time.Hour, leniency{everywhere: true}, true},
	} {
		if _, _, holds := s.stands("a", "v1", clusterv1alpha1.RolloutConfig{ProgressDeadline: tt.deadline}, dawn.Add(tt.after), tt.l); holds != tt.holds {
			t.Errorf("%s: it holds a slot: %v", name, holds)
		}
	}
}

// R48: a cluster without an object may have failed by its deadline before. Where the last to look did so about then, nothing can
// know from outside whether it took that for a failure.
func TestAFailureAtTheLastMomentIsDoubtful(t *testing.T) {
	for name, tt := range map[string]struct {
		looked      time.Duration // after the start; the deadline is 4s, the object is gone after 8s
		surely, may bool
	}{
		"long before the deadline": {2 * time.Second, false, false},
		"about the deadline":       {4500 * time.Millisecond, false, true},
		"long after it":            {7 * time.Second, true, true},
	} {
		s := &tale{}
		addOn := &addonv1beta1.ManagedClusterAddOn{ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: "x", Finalizers: []string{finalizerOfAgents}}}
		addOn.Status.ConfigReferences = []addonv1beta1.ConfigReference{referenceTo(configOf("v1"))}
		started := dawn.Add(time.Duration(s.add(OnClusters, addOn)) * time.Second)
		deletes, looks := s.look(1, s.now()), s.look(1, s.now())
		looks.began = started.Add(tt.looked)
		looks.read, looks.ended = looks.began, looks.began
		rv := s.add(OnClusters, addOn.DeepCopy())
		s.events[rv-1].gone, s.events[rv-1].at = true, started.Add(8*time.Second)
		s.writes = []write{{verb: "DELETE", kind: OnClusters, key: "a/x", done: true, sent: deletes.began}}
		j := &checker{history: newHistory(s.events, s.writes, s.reconciles), delivery: OfAddOns()}
		_, cluster, surely, may := j.ghost(s.events[0].id, "v1", clusterv1alpha1.RolloutConfig{ProgressDeadline: "4s"}, rv)
		if surely != tt.surely || may != tt.may || cluster != "a" {
			t.Errorf("%s: of %q a failure lasts: surely %v, maybe %v", name, cluster, surely, may)
		}
	}
}

// R5: the time of a condition stays where only the generation changes, so a soak counts from the write, which is longer ago than
// the first answer. Which starts were too early by that is a figure, not a fault: a status cannot tell it later.
func TestSoaksFromTheFirstAnswerAreAFigure(t *testing.T) {
	for name, tt := range map[string]struct {
		soak time.Duration
		want int
	}{
		"not since the write either": {5 * time.Minute, 0}, // a fault, which the blind count
		"only since the write":       {20 * time.Second, 1},
		"since the answer":           {2 * time.Second, 0},
		"there is none":              {0, 0},
	} {
		s := &tale{}
		s.set("v1", "p")
		strategy := &s.events[0].object.(*replicaSet).Spec.PlacementRefs[0].RolloutStrategy
		strategy.ProgressivePerGroup.MinSuccessTime.Duration = tt.soak
		s.decide("p", 0, "", "a")
		s.decide("p", 1, "", "b")
		s.place("p", told{"", 1}, told{"", 1})
		s.work("a", "v1")
		for range 20 {
			s.set("v1", "p")
			s.events[len(s.events)-1].object.(*replicaSet).Spec.PlacementRefs[0].RolloutStrategy = *strategy
		}
		a := &manifestWork{ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: setName, Generation: 1}, Spec: payload("v1")}
		a.Status.Conditions = observe(nil, ok, 1, dawn) // its times are from before
		s.add(Works, a)
		for range 5 {
			s.set("v1", "p")
			s.events[len(s.events)-1].object.(*replicaSet).Spec.PlacementRefs[0].RolloutStrategy = *strategy
		}
		s.look(1, s.now())
		sent := dawn.Add(time.Duration(s.now()) * time.Second)
		rv := s.work("b", "v1")
		s.writes = []write{{verb: "POST", kind: Works, key: "b/" + setName, done: true, rv: rv, life: 1, setShown: 1, sent: sent}}
		h := s.history()
		if h.check(0, 0); h.earlySoaks != tt.want {
			t.Errorf("%s: %d", name, h.earlySoaks)
		}
	}
}

// R52: a cluster in flight counts in the group that it was in, so one that comes after that group need not start.
func TestAClusterThatMovedMayHoldOthersBack(t *testing.T) {
	for name, groups := range map[string][2][]string{
		"a moved":            {{"a"}, {"b"}},
		"a was always there": {nil, {"a", "b"}},
	} {
		s := &tale{}
		s.set("v1", "p")
		s.decide("p", 0, "eu", groups[0]...)
		s.decide("p", 1, "", groups[1]...)
		s.place("p", told{"eu", int32(len(groups[0]))}, told{"", int32(len(groups[1]))})
		s.work("a", "v1")
		s.decide("p", 0, "eu")
		s.decide("p", 1, "", "a", "b")
		s.place("p", told{"eu", 0}, told{"", 2})
		h := s.history()
		_, could := h.truth(s.now()).waits(h.until.Add(time.Minute), leniency{everywhere: true})
		if want := name != "a moved"; slices.Contains(could, "b") != want {
			t.Errorf("%s: %v could start, want b: %v", name, could, want)
		}
	}
}

// R46: a deselected cluster is a member, too, so a MaxConcurrency that means all means one more.
func TestALimitThatMeansAllMeansAllMembers(t *testing.T) {
	for limit, allowed := range map[intstr.IntOrString]bool{
		intstr.FromInt32(0):       true,
		intstr.FromString("100%"): true,
		intstr.FromInt32(2):       false,
		intstr.FromInt32(3):       true,
	} {
		s := &tale{}
		s.set("v1", "p")
		s.events[0].object.(*replicaSet).Spec.PlacementRefs[0].RolloutStrategy = clusterv1alpha1.RolloutStrategy{Type: clusterv1alpha1.Progressive,
			Progressive: &clusterv1alpha1.RolloutProgressive{MaxConcurrency: limit, RolloutConfig: clusterv1alpha1.RolloutConfig{ProgressDeadline: "None"}}}
		s.decide("p", 0, "", "a", "b")
		s.place("p", told{"", 2})
		s.work("a", "v1")
		s.work("b", "v1")
		s.decide("p", 0, "", "b", "c")
		s.place("p", told{"", 2})
		h := s.history()
		if broken := h.truth(s.now()).forbids("c", "v1", h.until, leniency{}); (len(broken) == 0) != allowed {
			t.Errorf("%v at a time, where a left and b is in flight: %v", &limit, broken)
		}
	}
}

// A write that changes nothing is answered with the resourceVersion of what is there, which another client may have written before.
func TestAWriteThatChangesNothingIsNoEvent(t *testing.T) {
	s := &tale{}
	s.set("v1", "p")
	s.look(1, s.now())
	rv := s.work("a", "v1")
	s.writes = []write{{verb: "PUT", kind: Works, key: "a/" + setName, done: true, rv: rv, life: 1, sent: s.events[rv-1].at.Add(time.Second)}}
	if w := s.history().written[rv]; w != nil {
		t.Errorf("the work comes from %+v", w)
	}
}
