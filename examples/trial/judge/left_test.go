// SPDX-License-Identifier: Apache-2.0

package judge

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// ignore has a person name a cluster on the owner of v1.
func (s *fixture) ignore(cluster, strategy string) *fixture {
	annotation := fmt.Sprintf(`"annotations":{"ignore":%q},"resourceVersion"`, cluster)
	s.object("MODIFIED", strings.Replace(setText(s, "v1", strategy), `"resourceVersion"`, annotation, 1))
	return s
}

// A failure lasts when the cluster left and its object is gone, until something else is wanted, the cluster has an object again, or a person gives
// it up. It is no more than suspicious: a user that deletes the cluster leaves the same trace.
func TestAFailureLastsWhenItsObjectIsGone(t *testing.T) {
	suspicious := []string{"suspicious deselected b"}
	strategy := progressive("1", "0", "")
	for why, c := range map[string]struct {
		tell func(s *fixture)
		want []string
	}{
		"it failed and left":                        {func(s *fixture) { s.at(6).works("v1", "failed", "a").at(9).fleet("b").at(15).remove("a", "v1") }, suspicious},
		"no process had to know yet that it failed": {func(s *fixture) { s.at(9).fleet("b").at(14.5).works("v1", "failed", "a").at(15).remove("a", "v1") }, nil},
		"it was under way":                          {func(s *fixture) { s.at(6).works("v1", "busy", "a").at(9).fleet("b").at(15).remove("a", "v1") }, nil},
		"it is done":                                {func(s *fixture) { s.at(6).works("v1", "ok", "a").at(9).fleet("b").at(15).remove("a", "v1") }, nil},
		"it lost its object while it was selected":  {func(s *fixture) { s.at(6).works("v1", "failed", "a").at(9).remove("a", "v1").at(15).fleet("b") }, []string{"broken kept a"}},
		"another version was wanted": {func(s *fixture) {
			s.at(6).works("v1", "failed", "a").at(9).fleet("b").at(15).remove("a", "v1").set("v2", strategy).set("v1", strategy)
		}, nil},
		"it is back, and has been given it again": {func(s *fixture) {
			s.at(6).works("v1", "failed", "a").at(9).fleet("b").at(15).remove("a", "v1").fleet("a", "b").works("v1", "ok", "a")
		}, nil},
		"it is back, was given it again, is done, and left once more": {func(s *fixture) {
			s.at(6).works("v1", "failed", "a").at(7).fleet("b").at(12).remove("a", "v1").fleet("a", "b").works("v1", "ok", "a")
			s.at(14).fleet("b").at(19.5).remove("a", "v1")
		}, nil},
		"it failed, and an operator ignores it": {func(s *fixture) {
			s.at(6).works("v1", "failed", "a").at(9).fleet("b").at(15).remove("a", "v1").at(16).ignore("a", strategy)
		}, nil},
		"it failed, and a user ignores one that is in": {func(s *fixture) {
			s.at(6).works("v1", "failed", "a").at(9).fleet("b").at(15).remove("a", "v1").at(16).ignore("c", strategy)
		}, suspicious},
	} {
		s := begin().set("v1", strategy).fleet("a", "b").at(5).works("v1", "", "a")
		c.tell(s)
		s.at(20).works("v1", "", "b")
		r := Judge(s.read(t), Options{Lag: time.Second, Patience: time.Hour, RemoveAfter: 5 * time.Second, IgnoreAnnotation: "ignore"})
		if got := said(r); !slices.Equal(got, c.want) {
			t.Errorf("%s: got %q, want %q", why, got, c.want)
		}
	}
}

// Without a deadline a failed cluster keeps its slot, also when it left and its object is gone. With one it freed the slot.
func TestAFailureWithoutADeadlineKeepsItsSlotWhenItsObjectIsGone(t *testing.T) {
	for deadline, want := range map[string][]string{"": {"suspicious deselected b"}, `,"progressDeadline":"1s"`: nil} {
		s := begin().set("v1", progressive("1", `"100%"`, deadline)).fleet("a", "b").at(5).works("v1", "", "a")
		s.at(6).works("v1", "failed", "a").at(9).fleet("b").at(15).remove("a", "v1").at(20).works("v1", "", "b")
		r := Judge(s.read(t), Options{Lag: time.Second, Patience: time.Hour, RemoveAfter: 5 * time.Second})
		if got := said(r); !slices.Equal(got, want) {
			t.Errorf("deadline %q: got %q, want %q", deadline, got, want)
		}
	}
}

// With several placements a process that began since may not know from which of them a cluster left.
func TestADeselectedClusterOfOneOfSeveralPlacementsBlocksNoneForCertain(t *testing.T) {
	for want, placements := range map[string][]string{"broken deselected b": {"fleet"}, "suspicious deselected b": {"fleet", "edge"}} {
		s := begin().set("v1", progressive("1", "0", ""), placements...).fleet("a", "b").decideOf("edge", 0, "", "c").placeOf("edge", "=1")
		s.at(5).works("v1", "busy", "a").at(9).fleet("b").at(14).works("v1", "", "b")
		r := Judge(s.read(t), Options{Lag: time.Second, Patience: time.Hour, IgnoreAnnotation: "ignore"})
		if got := said(r); !slices.Equal(got, []string{want}) {
			t.Errorf("%v: got %q, want %q", placements, got, want)
		}
	}
}

// A deselected cluster may block a rollout, so that nothing happens rightly. An ignored one does not, from when a user says so.
func TestAnIgnoredClusterBlocksNone(t *testing.T) {
	strategy := progressive("1", "0", "")
	for why, c := range map[string]struct {
		tell func(s *fixture)
		want []string
	}{
		"none is ignored": {func(s *fixture) { s.until(20).until(40) }, []string{"suspicious stuck b"}},
		"none is ignored, and only the strategy changed": {func(s *fixture) { s.until(12).set("v1", progressive("2", "0", "")).until(20).until(40) }, []string{"suspicious stuck b"}},
		"none is ignored, and another version came": {func(s *fixture) {
			s.until(12).set("v2", strategy).works("v2", "ok", "a").until(20).until(40)
		}, []string{"broken stuck b"}},
		"none is ignored, and another version came and went": {func(s *fixture) {
			s.works("v1", "busy", "c").until(12).set("v2", strategy).set("v1", strategy).until(20).until(40)
		}, []string{"broken not selected c", "suspicious stuck b", "broken left behind c"}},
		"another one moved before, and has what is wanted now": {func(s *fixture) {
			s.decide(1, "", "b").decide(0, "", "a").place("=1", "=1").at(11).decide(1, "", "a", "b").decide(0, "").place("=0", "=2")
			s.at(12).set("v2", strategy).works("v2", "ok", "a").until(20).until(40)
		}, []string{"broken stuck b"}},
		"another one is ignored":        {func(s *fixture) { s.ignore("d", strategy).until(20).until(40) }, []string{"suspicious stuck b"}},
		"the deselected one is ignored": {func(s *fixture) { s.ignore("c", strategy).until(20).until(40) }, []string{"broken stuck b"}},
		"it is ignored too late":        {func(s *fixture) { s.until(15).ignore("c", strategy).until(17).until(22) }, nil},
		"it could long have gone on":    {func(s *fixture) { s.until(20).until(25).ignore("c", strategy).until(30).until(40) }, []string{"suspicious stuck b", "broken stuck b"}},
	} {
		s := begin().set("v1", strategy).fleet("a", "b", "c").at(5).works("v1", "ok", "a").at(6).fleet("a", "b").until(10)
		c.tell(s)
		r := Judge(s.read(t), Options{Lag: time.Second, Patience: 10 * time.Second, RemoveAfter: 5 * time.Second, Began: []time.Time{time.Unix(0, 0)}, IgnoreAnnotation: "ignore"})
		if got := said(r); !slices.Equal(got, c.want) {
			t.Errorf("%s: got %q, want %q", why, got, c.want)
		}
	}
}

// An ignored cluster waits for the end of a breach like all others, so nothing tells that it could have started.
func TestAnIgnoredClusterIsBlockedByABreach(t *testing.T) {
	strategy := progressive("1", "0", "")
	s := begin().ignore("b", strategy).fleet("a", "b", "c").at(5).works("v1", "", "a").at(6).works("v1", "failed", "a").until(20).until(60)
	r := Judge(s.read(t), Options{Lag: time.Second, Patience: 10 * time.Second, IgnoreAnnotation: "ignore"})
	if got := said(r); len(got) > 0 {
		t.Errorf("got %q, want nothing", got)
	}
}

// Each process of a controller counts the time anew until it removes an object. A trace does not tell when a process began.
func TestAnObjectIsLeftBehindFromWhenTheLastProcessBegan(t *testing.T) {
	for why, c := range map[string]struct {
		began       []float64
		removeAfter time.Duration
		until       float64
		want        []string
	}{
		"one process ran all the time":                {[]float64{0}, 5 * time.Second, 26, []string{"broken left behind a"}},
		"another one began after the cluster left":    {[]float64{12, 0}, 5 * time.Second, 26, nil},
		"its time has passed, too":                    {[]float64{12, 0}, 5 * time.Second, 29, []string{"broken left behind a"}},
		"it began so soon that its time has passed":   {[]float64{0, 9.5}, 5 * time.Second, 26, []string{"broken left behind a"}},
		"it began later than the object was missed":   {[]float64{0, 60}, 5 * time.Second, 26, []string{"broken left behind a"}},
		"it is unknown when processes began":          {nil, 5 * time.Second, 26, []string{"suspicious left behind a"}},
		"the controller does not wait, so none count": {[]float64{0, 12}, 0, 26, []string{"broken left behind a"}},
		"it does not wait, and that is unknown":       {nil, 0, 26, []string{"broken left behind a"}},
	} {
		s := begin().set("1", progressive("5", "0", "")).fleet("a", "b").at(5).works("1", "ok", "a", "b").at(9).fleet("b").until(9.2).until(c.until)
		o := Options{Lag: time.Second, Patience: 10 * time.Second, RemoveAfter: c.removeAfter}
		for _, seconds := range c.began {
			o.Began = append(o.Began, s.time(100+seconds))
		}
		if got := said(Judge(s.read(t), o)); !slices.Equal(got, c.want) {
			t.Errorf("%s: got %q, want %q", why, got, c.want)
		}
	}
}
