package trial

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	workv1 "open-cluster-management.io/api/work/v1"
)

// longestStory is how many lines a story has at most.
const longestStory = 30

// storyOf tells how a world broke an invariant: the world, how it began, and what happened last.
func storyOf(o outcome, invariant Invariant) string {
	world, _, _, _ := o.told()
	v, h := brokeIn(o, invariant), o.happened()
	if v == nil {
		return world.String()
	}
	var lines []string
	for _, e := range h.events {
		if said := o.tell(e); said != "" && (v.rv == 0 || e.rv <= v.rv) {
			line := fmt.Sprintf("%9.3fs %s", e.at.Sub(h.events[0].at).Seconds(), said)
			if w := h.written[e.rv]; w != nil {
				line += fmt.Sprintf(" [process %d, reconcile %d, sent at %.3fs]", w.life, w.reconcile, w.sent.Sub(h.events[0].at).Seconds())
			}
			lines = append(lines, line)
		}
	}
	const begin, end = 8, longestStory - 2 - 8 - 1
	if n := len(lines); n > begin+1+end {
		lines = slices.Concat(lines[:begin], []string{fmt.Sprintf("           … %d lines more", n-begin-end)}, lines[n-end:])
	}
	return strings.Join(slices.Concat([]string{world.String()}, lines, []string{v.String()}), "\n")
}

func (o *observation) happened() *history { return o.history }
func (o *tried) happened() *history       { return o.jury.history }

func (o *observation) tell(e event) string { return o.history.tell(e) }

// tell says what an event changes: of the set, of who is selected, and of the works.
func (h *history) tell(e event) string {
	before := h.at(e.id, e.rv-1)
	switch now := e.object.(type) {
	case *placementDecision:
		return tellDecision(e, before)
	case *replicaSet:
		was, _ := before.(*replicaSet)
		return tellOwner("the set", h.setSays(now), h.setSays(was))
	case *manifestWork:
		was, _ := before.(*manifestWork)
		return changed(now.Namespace, workSays(now, e.gone), workSays(was, was == nil))
	}
	return ""
}

// changed tells the words of something that are new; nothing if none are.
func changed(what, now, before string) string {
	if now == before {
		return ""
	}
	return what + " " + now
}

func tellDecision(e event, before object) string {
	clusters := func(o object) string {
		d, _ := o.(*placementDecision)
		if d == nil {
			return "nobody"
		}
		var names []string
		for _, c := range d.Status.Decisions {
			names = append(names, c.ClusterName)
		}
		return strings.Join(names, " ")
	}
	now := e.object
	if e.gone {
		now = nil
	}
	return changed(fmt.Sprintf("%s has", strings.TrimPrefix(e.id.key, e.object.GetNamespace()+"/")), clusters(now), clusters(before))
}

// words are what an owner wants, and what it says.
type words struct{ wants, says string }

func (h *history) setSays(set *replicaSet) (s words) {
	if set == nil {
		return s
	}
	s.wants = "wants " + wantedBy(set)
	for _, key := range slices.Sorted(maps.Keys(set.Annotations)) {
		s.wants += fmt.Sprintf(", %s: %s", key, set.Annotations[key])
	}
	for _, c := range set.Status.Conditions {
		if c.Status == "True" {
			s.says += fmt.Sprintf("says of generation %d: %s %s; ", c.ObservedGeneration, c.Type, c.Message)
		}
	}
	return s
}

func tellOwner(what string, now, before words) string {
	switch {
	case now.wants != before.wants:
		return what + " " + now.wants
	case now.says != before.says:
		return what + " " + strings.TrimSuffix(now.says, "; ")
	}
	return ""
}

// workSays is the version of a work, and what its agent says of it.
func workSays(work *manifestWork, gone bool) string {
	if work == nil || gone {
		return "has no work"
	}
	says := "has version " + versionIn(work)
	if work.DeletionTimestamp != nil {
		return says + ", which is being deleted"
	}
	for _, kind := range []string{workv1.WorkProgressing, workv1.WorkDegraded} {
		c := meta.FindStatusCondition(work.Status.Conditions, kind)
		if c != nil && c.ObservedGeneration == work.Generation {
			says += fmt.Sprintf(", %s is %s since %s", kind, c.Status, c.LastTransitionTime.UTC().Format("15:04:05"))
		}
	}
	return says
}

// tell says what an event changes: of the owner, of who is selected, and of the objects on clusters.
func (o *tried) tell(e event) string {
	j := o.jury
	before := j.at(e.id, e.rv-1)
	switch {
	case e.id.kind == Decisions:
		return tellDecision(e, before)
	case e.id.kind == j.trade.owner && j.trade.isOwner(e.object):
		return tellOwner("the owner", j.ownerSays(e.object), j.ownerSays(before))
	case e.id.kind == j.trade.object:
		now := e.object
		if e.gone {
			now = nil
		}
		return changed(e.object.GetNamespace(), j.objectSays(now), j.objectSays(before))
	}
	return ""
}

func (j *jury) ownerSays(o object) (s words) {
	if o == nil {
		return s
	}
	s.wants, _ = j.trade.wanted(o)
	s.wants = "wants " + s.wants
	if given := o.GetAnnotations()[j.givenUp]; given != "" {
		s.wants += ", gives up " + given
	}
	if j.trade.claims != nil {
		if c := j.trade.claims(o); c != nil {
			s.says = fmt.Sprintf("says %+v", *c)
		}
	}
	return s
}

func (j *jury) objectSays(o object) string {
	if o == nil {
		return "has nothing"
	}
	h := j.trade.read(o)
	return fmt.Sprintf("has version %s, started %v, answers %d, is being deleted %v", h.version, h.started, h.answer, h.dying)
}
