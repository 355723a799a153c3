// SPDX-License-Identifier: Apache-2.0

package trial

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	workv1 "open-cluster-management.io/api/work/v1"
)

// longestReport is how many lines a story has at most.
const longestReport = 30

// reportOf tells how a world broke an invariant: the world, how it began, and what happened last.
func reportOf(o outcome, invariant Invariant) string {
	world, _, _ := o.told()
	v := brokeIn(o, invariant)
	if v == nil {
		return world.String()
	}
	until := v.rv
	if until == 0 {
		until = math.MaxInt64
	}
	lines := linesOf(o, until)
	const begin, end = 8, longestReport - 2 - 8 - 1
	if n := len(lines); n > begin+1+end {
		lines = slices.Concat(lines[:begin], []string{fmt.Sprintf("           … %d lines more", n-begin-end)}, lines[n-end:])
	}
	return strings.Join(slices.Concat([]string{world.String()}, lines, []string{v.String()}), "\n")
}

// historyOf is all that happened, and when the controller looked.
func historyOf(o outcome) string {
	lines, h := linesOf(o, math.MaxInt64), o.happened()
	for i, r := range h.reconciles {
		lines = append(lines, fmt.Sprintf("reconcile %d of process %d from %s to %s, again after %v, error %v", i, r.life, h.since(r.began), h.since(r.ended), r.after, r.err))
	}
	return strings.Join(lines, "\n")
}

// since is a time from the beginning.
func (h *history) since(at time.Time) string {
	return fmt.Sprintf("%.3fs", at.Sub(h.events[0].at).Seconds())
}

// linesOf tells what events changed, up to a resourceVersion.
func linesOf(o outcome, until int64) (lines []string) {
	h := o.happened()
	if h == nil {
		return nil
	}
	for _, e := range h.events {
		said := o.tell(e)
		if said == "" || e.rv > until {
			continue
		}
		line := fmt.Sprintf("%10s %d: %s", h.since(e.at), e.rv, said)
		if w := h.written[e.rv]; w != nil {
			line += fmt.Sprintf(" [process %d, reconcile %d, sent at %s]", w.life, w.reconcile, h.since(w.sent))
			if w.delayed {
				line += " held back"
			}
		}
		lines = append(lines, line)
	}
	return lines
}

func (o *observation) happened() *history { return o.history }
func (o *tried) happened() *history       { return o.checker.history }

func (o *observation) tell(e event) string { return o.history.tell(e) }

// tell says what an event changes: of the set, of the selected clusters, and of the works.
func (h *history) tell(e event) string {
	before := h.at(e.id, e.rv-1)
	switch now := e.object.(type) {
	case *placement:
		was, _ := before.(*placement)
		return changed("the placement", placementSays(now), placementSays(was))
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

// placementSays is how many clusters the status speaks of, in which groups.
func placementSays(p *placement) string {
	if p == nil {
		return ""
	}
	says := fmt.Sprintf("divides by %s, and counts %d in", p.Spec.DecisionStrategy.GroupStrategy.ClustersPerDecisionGroup.String(), p.Status.NumberOfSelectedClusters)
	for _, g := range p.Status.DecisionGroups {
		says += fmt.Sprintf(" %d:%s%v", g.DecisionGroupIndex, g.DecisionGroupName, g.Decisions)
	}
	return says
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
			return "no cluster"
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
	return changed(fmt.Sprintf("%s of group %s %q has", strings.TrimPrefix(e.id.key, e.object.GetNamespace()+"/"), e.object.GetLabels()[clusterv1beta1.DecisionGroupIndexLabel], e.object.GetLabels()[clusterv1beta1.DecisionGroupNameLabel]), clusters(now), clusters(before))
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

// tell says what an event changes: of the owner, of the selected clusters, and of the objects on clusters.
func (o *tried) tell(e event) string {
	j := o.checker
	before := j.at(e.id, e.rv-1)
	switch {
	case e.id.kind == Decisions:
		return tellDecision(e, before)
	case e.id.kind == j.delivery.owner && j.delivery.isOwner(e.object):
		return tellOwner("the owner", j.ownerSays(e.object), j.ownerSays(before))
	case e.id.kind == j.delivery.object:
		now := e.object
		if e.gone {
			now = nil
		}
		return changed(e.object.GetNamespace(), j.objectSays(now), j.objectSays(before))
	}
	return ""
}

func (j *checker) ownerSays(o object) (s words) {
	if o == nil {
		return s
	}
	s.wants, _ = j.delivery.wanted(o)
	s.wants = "wants " + s.wants
	if given := o.GetAnnotations()[j.ignoreAnnotation]; given != "" {
		s.wants += ", ignores " + given
	}
	if j.delivery.claims != nil {
		if c := j.delivery.claims(o); c != nil {
			s.says = fmt.Sprintf("says %+v", *c)
		}
	}
	return s
}

func (j *checker) objectSays(o object) string {
	if o == nil {
		return "has nothing"
	}
	h := j.read(o)
	return fmt.Sprintf("has version %s, started %v, answers %d, is being deleted %v", h.version, h.started, h.answer, h.dying)
}
