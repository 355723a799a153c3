// SPDX-License-Identifier: Apache-2.0

package rollout_test

import (
	"fmt"
	"iter"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cohort-ocm/cohort/internal/exhaustive"
	"github.com/cohort-ocm/cohort/rollout"
)

// R29: an explanation is empty exactly where a cluster is not blocked; its blockers are among all of them; whatever it says
// ends the wait, whether it is waited for or done.
func TestFollowingTheAdviceWorks(t *testing.T) {
	t.Parallel()
	worlds, remedies := 0, map[rollout.RemedyType]int{}
	advisedFleets(t, exhaustive.Of(2, 3), func(h *advised) {
		worlds++
		h.check(t, remedies)
	})
	t.Logf("%d worlds, remedies followed: %v", worlds, remedies)
	if len(remedies) != 15 {
		t.Errorf("there are fifteen ways in which a wait ends without the groups, and %d were followed", len(remedies))
	}
}

// check follows every remedy of the explanations of all clusters, and counts it. Where a remedy takes some of those that it names,
// any of them will do.
func (h *advised) check(t faultTeller, remedies map[rollout.RemedyType]int) {
	r, err := h.plan()
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]rollout.Blocker{}
	for _, b := range r.Blockers() {
		all[b.Name] = b
	}
	for position := range h.groups.NumClusters() {
		cluster := h.groups.Cluster(position)
		disposition, reason, _ := r.Find(cluster)
		e := r.Explain(cluster)
		if (disposition == rollout.DispositionBlocked) != (len(e) > 0) {
			t.Fatalf("%v\n%v: %s is %s and its explanation is %q", h, r, cluster, disposition, e)
		}
		if len(e) == 0 {
			continue
		}
		if first := e[0].Reason; withoutDetail(first) != withoutDetail(reason) {
			t.Fatalf("%v\n%v: %s is blocked by %v and explained by %v", h, r, cluster, reason, first)
		}
		if twice := saidTwice(e); twice != "" {
			t.Fatalf("%v\n%v: %s is told twice that %q:\n%v", h, r, cluster, twice, e)
		}
		told := 0
		for _, l := range e {
			if len(l.String()) > 1024 {
				t.Fatalf("%d bytes: %v", len(l.String()), l)
			}
			for _, b := range l.Blockers {
				if all[b.Name].Waiting < 1 {
					t.Fatalf("%v\n%v: %s waits for %v, which is not among the blockers %v", h, r, cluster, b, all)
				}
			}
			for _, remedy := range l.Remedies {
				if told++; remedy.Type == rollout.RemedyCompleteGroups {
					continue
				}
				remedies[remedy.Type]++
				if name := h.answered(r, remedy); name != "" {
					t.Fatalf("%v\n%v: %s is told to %v, and %s has answered", h, r, cluster, remedy, name)
				}
				if name := h.lost(remedy); name != "" {
					t.Fatalf("%v\n%v: %s is told to %v, and nothing of %s is there to succeed", h, r, cluster, remedy, name)
				}
				if fault := h.checkStop(remedy); remedy.Type == rollout.RemedyWait && fault != "" {
					t.Fatalf("%v\n%v\n%s: %v\n%v: %s", h, r, cluster, e, remedy, fault)
				}
				for names := range choices(remedy) {
					after := h.clone()
					after.follow(l, remedy, names)
					next, err := after.plan()
					if err != nil {
						t.Fatal(err)
					}
					if !ended(l.Reason, r, next, cluster) && !(remedy.Type == rollout.RemedyReportTime && isKnown(l, next.Explain(cluster))) && !(remedy.Type == rollout.RemedyIgnore && isBeyond(next.Explain(cluster), strings.Fields(after.ignored))) &&
						!(remedy.Type == rollout.RemedyAddConditionRules && isBeyond(next.Explain(cluster), names)) {
						t.Fatalf("%v\n%v\n%s: %v\nafter %v of %v:\n%v\n%v", h, r, cluster, e, remedy, names, next, next.Explain(cluster))
					}
				}
			}
		}
		if told == 0 {
			t.Fatalf("%v\n%v: nothing ends the wait of %s: %v", h, r, cluster, e)
		}
	}
}

// isBeyond says whether nothing waits for the named clusters any more. Others may be waited for beside them.
func isBeyond(e rollout.Explanation, names []string) bool {
	for _, l := range e {
		for _, b := range l.Blockers {
			if slices.Contains(names, b.Name) {
				return false
			}
		}
	}
	return true
}

// checkStop finds fault with what a time that ends a wait is said to lead to, if nothing else happens: the rollout stops then, and
// not before; or it does not stop.
func (h *advised) checkStop(r rollout.Remedy) string {
	after := h.clone()
	plan := func(at time.Time) (breached, lacks bool) {
		after.now = at
		result, err := after.plan()
		shares := h.others.Shares
		return err == nil && result.Breach != nil, err == nil && shares != nil && result.Counts.Failures() > shares.Failures
	}
	_, lacked := plan(h.now)
	stopped := func(at time.Time) bool {
		breached, lacks := plan(at)
		return breached || lacks && !lacked
	}
	switch {
	case r.Stops.IsZero() && stopped(r.At):
		return "the rollout stops by then"
	case r.Stops.IsZero():
		return ""
	case r.Stops.After(r.At) || !stopped(r.Stops) || stopped(r.Stops.Add(-1)):
		return "the rollout does not stop when it says"
	}
	return ""
}

// choices yields the clusters that may do what a remedy says, of those that it names: each choice of as many as it takes. There is
// none where it takes more than it names, and one without clusters where it names none.
func choices(r rollout.Remedy) iter.Seq[[]string] {
	var named []string
	if r.Clusters != "" {
		named = strings.Split(strings.Split(strings.ReplaceAll(r.Clusters, " (deselected)", ""), " and ")[0], ", ")
	}
	count := r.Count
	if len(named) == 0 {
		count = 0
	}
	return func(yield func([]string) bool) {
		for set := range 1 << len(named) {
			var some []string
			for i, name := range named {
				if set&(1<<i) != 0 {
					some = append(some, name)
				}
			}
			if len(some) == count && !yield(some) {
				return
			}
		}
	}
}

// ended says whether a wait is over: for a slot, one that was blocked starts, failures stop the rollout, or another limit blocks
// the cluster; else the cluster no longer waits for it. A wait with an unknown end is over where the end is known, as another
// wait, until then, has taken its place. A block reason is over where it is no longer one of the same clusters.
func ended(reason rollout.BlockReason, before, after *rollout.Result, cluster string) bool {
	dated := func(now rollout.BlockReason) bool { return reason.Until.IsZero() && !now.Until.IsZero() }
	switch reason.Type {
	case rollout.BlockShares, rollout.BlockConcurrency, rollout.BlockPlaces, rollout.BlockExposed, rollout.BlockRamp, rollout.BlockStarts:
		_, next, _ := after.Find(cluster)
		return after.Breach != nil || next.Type != reason.Type || (next.Failures > 0) != (reason.Failures > 0) || dated(next) || slices.ContainsFunc(after.Start, func(c rollout.Cluster) bool {
			return !slices.Contains(before.Start, c)
		})
	}
	for _, l := range after.Explain(cluster) {
		if l.Reason.Type == reason.Type && l.Reason.Group == reason.Group && l.Reason.AllGroups == reason.AllGroups && (!isOwn(reason) || l.Reason.Detail == reason.Detail && l.Reason.Reason == reason.Reason && l.Reason.Until.Equal(reason.Until)) && !dated(l.Reason) {
			return false
		}
	}
	return true
}

// withoutDetail is a block reason without the clusters it waits for, since an explanation tells some of them in later links.
func withoutDetail(h rollout.BlockReason) rollout.BlockReason {
	h.Detail = ""
	return h
}

// isKnown says whether of a wait whose end was unknown for want of a time the end is known now. It may go on for others where it is one
// for groups, or took more than those whose time was not known.
func isKnown(before rollout.Link, now rollout.Explanation) bool {
	of := func(l rollout.Link, t rollout.RemedyType) bool {
		return slices.ContainsFunc(l.Remedies, func(r rollout.Remedy) bool { return r.Type == t })
	}
	for _, l := range now {
		if l.Reason.Type == before.Reason.Type && l.Reason.Group == before.Reason.Group && !of(l, rollout.RemedyWait) {
			forGroups := l.Reason.Type == rollout.BlockEarlierGroup || l.Reason.Type == rollout.BlockMandatoryGroup
			return !of(l, rollout.RemedyReportTime) && (forGroups || !of(before, rollout.RemedyAnswer))
		}
	}
	return true
}

// saidTwice gives a part of a sentence, beside how much is done, that two links of an explanation say.
func saidTwice(e rollout.Explanation) string {
	by := map[string]int{}
	for i, l := range e {
		for part := range strings.SplitSeq(l.Reason.String(), "; ") {
			if j, said := by[part]; said && i != j && !strings.HasSuffix(part, " done") {
				return part
			}
			by[part] = i
		}
	}
	return ""
}

// R29: whoever does what the explanation says, again and again, and lets what starts succeed, sees the cluster start.
func TestFollowingTheAdviceToTheEndStartsTheCluster(t *testing.T) {
	t.Parallel()
	choice := 0
	advisedFleets(t, exhaustive.Of(2, 3), func(h *advised) {
		for position := range h.groups.NumClusters() {
			cluster := h.groups.Cluster(position)
			world, story := h.clone(), []string(nil)
			choice++
			for step := 0; ; step++ {
				r, err := world.plan()
				if err != nil {
					t.Fatal(err)
				}
				e := r.Explain(cluster)
				story = append(story, fmt.Sprintf("%v\n  %v", r, e))
				if len(e) == 0 {
					break
				}
				if step == 30 {
					t.Fatalf("%v: %s does not start:\n%s", h, cluster, strings.Join(story, "\n"))
				}
				for _, c := range r.Start {
					world.succeed(c.Name)
				}
				root := e[len(e)-1]
				remedy := root.Remedies[choice%len(root.Remedies)]
				for names := range choices(remedy) {
					world.follow(root, remedy, names)
					break
				}
			}
		}
	})
}
