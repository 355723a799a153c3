// SPDX-License-Identifier: Apache-2.0

package rollout_test

import (
	"fmt"
	"slices"
	"time"

	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/status"
)

// inTwoGroups gives the groups of a placement, which says that one more is selected where they are incomplete.
func inTwoGroups(t fataler, incomplete bool, names [2][]string) *grouping.Groups {
	t.Helper()
	f := newFleet(t).group("", names[0]...).group("", names[1]...)
	p := &clusterv1beta1.Placement{}
	p.Name, p.Namespace = "p", "ns"
	for i, d := range f.decisions {
		n := int32(len(names[i]))
		p.Status.NumberOfSelectedClusters += n
		p.Status.DecisionGroups = append(p.Status.DecisionGroups, clusterv1beta1.DecisionGroupStatus{DecisionGroupIndex: int32(i), ClustersCount: n, Decisions: []string{d.Name}})
	}
	if incomplete {
		p.Status.NumberOfSelectedClusters++
	}
	g, err := grouping.Read(p, f.decisions)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// frozenBy says whether a freeze of the cluster lasts now, and whether others wait for it: by the objects and the approvals alone.
func (h *peopled) frozenBy(name string) (frozen, allowed, blocks bool) {
	for _, freeze := range h.freezes {
		if freeze.Cluster == name {
			frozen = frozen || freeze.Until.IsZero() || h.now.Before(freeze.Until)
			blocks = blocks || freeze.Blocks
		}
	}
	allowed = h.allowlist == nil || slices.Contains(h.allowlist, name)
	return frozen, allowed, frozen && blocks
}

// stands says whether a cluster waits or is in flight in its part, by its object and the verdicts alone.
func (h *peopled) stands(p *aPart, name string) (waits, flies bool) {
	o := h.objects[name]
	if o == nil || o.version != p.version {
		return true, false
	}
	r := h.report(name, o, p.version)
	since := latest(r.Applied, r.LastTransitionTime)
	late := !h.now.Before(since.Add(30 * time.Minute))
	switch {
	case r.Status == status.Succeeded:
		soaks := h.now.Before(since.Add(p.soak()))
		return r.Deleting && !soaks, soaks
	case (r.Status == status.Failed || late) && r.Attempt < h.attempt:
		return true, false
	default:
		return false, !late
	}
}

// remembers says whether the record has the cluster, which had left.
func (p *aPart) remembers(name string) bool {
	return slices.ContainsFunc(p.record.Deselected, func(l status.DeselectedCluster) bool { return l.Cluster == name })
}

func (p *aPart) soak() time.Duration {
	if p.strategy.All != nil {
		return 0
	}
	return configOf(p.strategy).MinSuccessTime.Duration
}

func latest(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// fault says which law one part breaks.
func (h *peopled) fault(i int, r *rollout.Result) string {
	p := h.parts[i]
	in := map[string]rollout.Disposition{}
	add := func(as rollout.Disposition, clusters []rollout.Cluster) (twice string) {
		for _, c := range clusters {
			if in[c.Name] != "" {
				twice = fmt.Sprintf("%s is in %s and in %s", c.Name, in[c.Name], as)
			}
			in[c.Name] = as
		}
		return twice
	}
	var blocked []rollout.Cluster
	for c, reason := range r.Blocked() {
		blocked = append(blocked, c)
		if reason.String() == "" || r.Explain(c.Name).String() == "" {
			return c.Name + " waits without a sentence"
		}
	}
	for as, clusters := range map[rollout.Disposition][]rollout.Cluster{
		rollout.DispositionStarting: r.Start, rollout.DispositionInFlight: r.InFlight, rollout.DispositionTimedOut: r.TimedOut,
		rollout.DispositionSettled: slices.Collect(r.Settled()), rollout.DispositionBlocked: blocked, rollout.DispositionDeselected: r.Deselected,
	} {
		if twice := add(as, clusters); twice != "" {
			return twice
		}
	}
	for _, name := range h.names {
		_, selects := p.selects[name]
		if fault := h.faultOf(i, r, name, in[name]); fault != "" {
			return fault
		}
		if selects && h.partOf(name) != i {
			h.seen.twice++
		}
	}
	if h.seen.starts += len(r.Start); len(r.Start) > 0 {
		return h.faultOfStarts(i, r)
	}
	return ""
}

// faultOf says which law a part breaks for a cluster that is there in its result; "" where it is not.
func (h *peopled) faultOf(i int, r *rollout.Result, name string, there rollout.Disposition) string {
	if is := there != "" && there != rollout.DispositionDeselected; is != (h.partOf(name) == i) {
		return fmt.Sprintf("%s is %q here, and its part is %d", name, there, h.partOf(name))
	}
	if there == rollout.DispositionDeselected {
		h.seen.left++
	}
	if there == "" || there == rollout.DispositionDeselected {
		return ""
	}
	found, reason, known := r.Find(name)
	if !known || found != there {
		return fmt.Sprintf("%s is %s, and Find says %s", name, there, found)
	}
	waits, flies := h.stands(h.parts[i], name)
	if h.parts[i].remembers(name) {
		return "" // it came back: the record says how it stands
	}
	if flies != (there == rollout.DispositionInFlight) || waits != (there == rollout.DispositionStarting || there == rollout.DispositionBlocked) {
		return fmt.Sprintf("%s is %s: waits %v, in flight %v", name, there, waits, flies)
	}
	if flies && h.validates && h.objects[name].status == status.Succeeded {
		h.seen.validating++
	}
	frozen, allowed, _ := h.frozenBy(name)
	switch {
	case !waits:
	case frozen && reason.Type != rollout.BlockFrozen, !frozen && reason.Type == rollout.BlockFrozen:
		return fmt.Sprintf("%s is frozen %v, and is %s: %v", name, frozen, there, reason)
	case frozen:
		h.seen.frozen++
	case !allowed && reason.Type != rollout.BlockNotAllowed:
		return fmt.Sprintf("%s is not allowed, and is %s: %v", name, there, reason)
	case !allowed:
		h.seen.notAllowed++
	}
	return ""
}

// faultOfStarts says which law a part breaks in which clusters start.
func (h *peopled) faultOfStarts(i int, r *rollout.Result) string {
	p := h.parts[i]
	inFlight, inGroup := 0, map[grouping.Key]int{}
	for _, c := range slices.Concat(r.InFlight, r.Start, r.Deselected) {
		if c.Status != status.TimeOut && !slices.Contains(h.ignored, c.Name) {
			inFlight++
			inGroup[c.Group]++
		}
	}
	for _, c := range r.Start {
		frozen, allowed, _ := h.frozenBy(c.Name)
		switch {
		case h.anyIncomplete(i):
			return c.Name + " starts while groups are incomplete"
		case frozen || !allowed:
			return fmt.Sprintf("%s starts: frozen %v, allowed %v", c.Name, frozen, allowed)
		case p.limit > 0 && inFlight > p.limit:
			return fmt.Sprintf("%d in flight or starting, and at most %d may be", inFlight, p.limit)
		case p.options.MaxConcurrencyPerGroup.IntValue() == 1 && inGroup[c.Group] > 1:
			return fmt.Sprintf("%d of %v in flight or starting, and at most 1 may be", inGroup[c.Group], c.Group)
		}
		for other, index := range p.selects {
			if p.strategy.ProgressivePerGroup == nil || index >= int(c.Group.Index) || h.partOf(other) != i || p.remembers(other) {
				continue
			}
			waits, flies := h.stands(p, other)
			frozen, allowed, blocks := h.frozenBy(other)
			if flies = flies && h.report(other, h.objects[other], p.version).Status != status.Failed; flies || waits && (blocks || !frozen && allowed) {
				return fmt.Sprintf("%s starts, and %s of an earlier group is not done: waits %v, in flight %v, frozen %v (%v), allowed %v", c.Name, other, waits, flies, frozen, blocks, allowed)
			}
		}
	}
	return ""
}

// anyIncomplete says whether a part cannot know all of its clusters: its placement or one before it is incomplete.
func (h *peopled) anyIncomplete(i int) bool {
	return slices.ContainsFunc(h.parts[:i+1], func(p *aPart) bool { return p.incomplete })
}

// faultOfAll says which law the parts break together.
func (h *peopled) faultOfAll() string {
	clusters, counted, selected, removed := 0, 0, 0, map[string]int{}
	for _, r := range h.results {
		for _, s := range r.Schedule.Stages {
			clusters += s.Clusters - s.Deselected
		}
		c := r.Counts
		counted += c.ToApply + c.Progressing + c.Succeeded + c.Failed + c.TimeOut + c.Skip + c.Ignored - c.Deselected
		for _, name := range r.Removed {
			removed[name]++
		}
	}
	for _, name := range h.names {
		if h.partOf(name) >= 0 {
			selected++
		}
		if removed[name] > 0 && (h.partOf(name) >= 0 || removed[name] > 1 || h.anyIncomplete(len(h.parts)-1)) {
			return fmt.Sprintf("%s is removed by %d parts, and part %d selects it", name, removed[name], h.partOf(name))
		}
	}
	if clusters != selected || counted != selected {
		return fmt.Sprintf("%d clusters are selected, %d are in the stages and %d count", selected, clusters, counted)
	}
	return ""
}
