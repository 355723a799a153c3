// SPDX-License-Identifier: Apache-2.0

package search

import (
	"fmt"
	"slices"
	"time"

	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/status"
)

// planned is what the plan of one placement says, and where it has the clusters.
type planned struct {
	decision
	former [most]place
	memos  memos // what it has to remember by the rules
	result *rollout.Result
}

// situation is what the plans depend on.
type situation struct {
	clusters [most]struct {
		at     uint8
		truth  object
		aside  bool
		noted  [2]entry
		former [2]place
	}
	known             bool
	exposes, recorded [2]uint8
}

// decide gives the plans for a state.
func (x *follow) decide(s *both) (*[2]planned, string) {
	key := situation{known: s.known, exposes: s.exposes, recorded: s.recorded}
	for i := range s.clusters {
		c, k := &s.clusters[i], &key.clusters[i]
		k.at, k.truth, k.aside, k.noted, k.former = c.at, c.truth, c.aside, c.noted, c.former
	}
	if plans := x.plans[key]; plans != nil {
		return plans, ""
	}
	plans, fault := x.decideBoth(s)
	x.plans[key] = &plans
	return &plans, fault
}

// decideBoth plans for both placements, with the reports of all clusters, and a record for each.
func (x *follow) decideBoth(s *both) (plans [2]planned, fault string) {
	for part := range plans {
		in := x.inputOf(s, part)
		r, err := x.planner(in)
		in.now = now.Add(tick - 1)
		late, lateErr := x.planner(in)
		if err != nil || lateErr != nil {
			return plans, fmt.Sprintf("error: %v", err)
		}
		p := planned{decision: decided(r), memos: x.judgeOf(s, part).memos(), result: r}
		p.conclude(r)
		for i := range s.clusters {
			if s.clusters[i].at == uint8(part) {
				p.former[i] = inGroup
			}
		}
		for _, c := range r.Deselected {
			p.former[c.Name[0]-'a'] = map[bool]place{true: inUnknown, false: inGroup}[c.Group.Index < 0]
		}
		if before := (formers{part, p.former, p.memos.result.exposes}); x.results[before] == nil {
			x.results[before] = r // of a result that comes next, nothing else matters
		}
		if l := decided(late); l.start != p.start || l.removed != p.removed || l.left != p.left || l.timedOut != p.timedOut || r.RecheckAfter%tick != 0 {
			return plans, "time: the plan changes between two ticks"
		}
		plans[part] = p
	}
	return plans, ""
}

// inputOf reads what a controller has for the plan of a placement.
func (x *follow) inputOf(s *both, part int) input {
	in := input{strategy: x.parts[part].rollout(), groups: x.apart(s)[part], now: now, options: x.parts[part].options()}
	before := formers{part: part, exposes: s.exposes[part]}
	record := status.Record{Version: version(0), Exposed: int(s.recorded[part])}
	for i := range s.clusters {
		c := &s.clusters[i]
		if r := x.report(i, c.truth); r != nil {
			in.reports = append(in.reports, *r)
		}
		if c.aside {
			in.options.Ignored = append(in.options.Ignored, names[i])
		}
		if left, recorded := c.noted[part].left(names[i]); recorded {
			record.Deselected = append(record.Deselected, left)
		}
		before.was[i] = c.former[part]
	}
	in.memory = &rollout.StoredRecord{Version: version(0), Record: record, AtOnce: x.parts[0].atOnce}
	if s.known {
		in.previous = x.results[before]
	}
	return in
}

// left gives an entry as the library has it.
func (e entry) left(cluster string) (l status.DeselectedCluster, recorded bool) {
	if e.as == unrecorded {
		return l, false
	}
	l = status.DeselectedCluster{Report: status.Report{Cluster: cluster, Status: statuses[e.as], Applied: now.Add(-time.Duration(e.applied) * tick), Attempt: int(e.attempt)}}
	if e.as != asSilent && e.as != asStarted {
		l.LastTransitionTime = now.Add(-time.Duration(e.changed) * tick)
	}
	if e.group == none {
		l.Group.Index = -1
	}
	return l, true
}

// apart gives the groups of the placements, each without those that one before it selects.
func (x *follow) apart(s *both) []*grouping.Groups {
	var at [most]uint8
	for i := range s.clusters {
		at[i] = s.clusters[i].at
	}
	if x.groups[at] != nil {
		return x.groups[at]
	}
	var placements []grouping.PlacementGroups
	for part, name := range []string{"first", "second"} {
		var selected []string
		for i := range at {
			if at[i] <= uint8(part) { // the second selects those of the first, too
				selected = append(selected, names[i])
			}
		}
		g, err := grouping.FromNames(map[grouping.Key][]string{{}: selected})
		if err != nil {
			panic(err)
		}
		placements = append(placements, grouping.PlacementGroups{Placement: name, Groups: g})
	}
	parts, err := grouping.Apart(placements...)
	if err != nil {
		panic(err)
	}
	x.groups[at] = parts
	return parts
}

// seenBy is what the rules for one placement see (R50): a cluster that it deselected counts here if the record or the result before
// has it here, and without a result before, in each placement unless another one selects it.
func (x *follow) seenBy(s *both, part int) (view state, elsewhere set) {
	view.before.exposes, view.told.exposes = s.exposes[part], s.recorded[part]
	for i := range s.clusters {
		c := &s.clusters[i]
		v := cluster{group: none, shown: none, home: none, former: none, truth: c.truth, own: nothing, aside: c.aside}
		v.entry, v.told, v.noted = c.noted[part], c.noted[part], c.noted[part]
		if c.former[part] == inGroup {
			v.former = 0
		}
		mine, known := c.at == uint8(part), c.noted[part].as != unrecorded || c.former[part] != notThere
		switch {
		case mine:
			v.group, v.shown = 0, 0
		case !known && (c.at != nowhere || s.known):
			v.truth = nothing
		}
		if v.seen = v.truth; !mine && (c.at != nowhere || part == 0) {
			elsewhere.add(i)
		}
		view.clusters[i] = v
	}
	return view, elsewhere
}

// judgeOf is what the rules say of a state as the controller sees it for a placement.
func (x *follow) judgeOf(s *both, part int) *judge {
	view, elsewhere := x.seenBy(s, part)
	j := x.parts[part].judge(&view)
	j.elsewhere = elsewhere
	return j
}

// check is what the rules say of the plan of a placement.
func (x *follow) check(s *both, part int, p *planned) string {
	j := x.judgeOf(s, part)
	for _, what := range []string{j.checkStart(p.start), x.checkRemovedBy(s, part, p), j.checkLists(&p.decision), j.checkRecord(&p.decision), j.checkHeld(p.start)} {
		if what != "" {
			return what + fmt.Sprintf(", by the plan of the %s placement", [...]string{"first", "second"}[part])
		}
	}
	return ""
}

// checkRemovedBy is R50: the last part, and no other, removes clusters that no placement selects, at once if the records have them.
func (x *follow) checkRemovedBy(s *both, part int, p *planned) string {
	for i := range s.clusters {
		c := &s.clusters[i]
		view, _ := x.seenBy(s, 1)
		j := x.parts[1].judge(&view)
		wants := j.wanted(i)
		recorded := wants.as == unrecorded || c.aside || j.isRecorded(i, wants)
		switch due := part == 1 && c.at == nowhere && c.truth.version != absent && !c.truth.deleting; {
		case p.removed.has(i) && c.at != nowhere:
			return fmt.Sprintf("removal: @%d is removed, which is selected", i)
		case p.removed.has(i) && !due:
			return fmt.Sprintf("removal: @%d is removed by another placement than the last", i)
		case p.removed.has(i) && !recorded:
			return fmt.Sprintf("record: @%d is removed before the record has what it has to", i)
		case due && recorded && !p.removed.has(i):
			return fmt.Sprintf("kept: @%d is not selected, and not removed", i)
		}
	}
	return ""
}

// checkExposed checks the true state of the clusters: of those that got the version under a placement, never more have it and are not
// done than its strategy exposes, wherever they went. It leaves out clusters that are ignored, that went to another placement while
// neither result nor record had them, and that were done before.
func (x *follow) checkExposed(s *both) string {
	for part, c := range x.parts {
		n, most := 0, share(c.concurrency, most, most, most)+share(c.budget, most, most, 0)
		for i := range s.clusters {
			f := &s.clusters[i]
			fails := f.noted[part].as == asTimeOut
			has := f.keeps || f.truth.version == 0 && c.stand(f.truth, 0) != done || fails
			if has && f.under == uint8(part) && !f.aside && !f.proven && !f.lost {
				n++
			}
		}
		if n > most {
			return fmt.Sprintf("exposure: %d clusters got the version under the %s placement and are not done, and %d may be", n, [...]string{"first", "second"}[part], most)
		}
	}
	return ""
}

// checkEnd looks for the end: if nothing more happens and every connected agent answers, all selected clusters are done, or the
// explanations of waiting clusters say that deselected clusters can be ignored. Once they are, all are done.
func (x *follow) checkEnd(s both) string {
	s.left = left{}
	for i := range s.clusters {
		if c := &s.clusters[i]; c.home != nowhere {
			c.at = nowhere
		}
	}
	if x.ends[s] {
		return ""
	}
	start := s
	for _, gaveUp := range []bool{false, true} {
		for steps := 0; x.step2(&s); steps++ {
			if steps > 200 {
				return "circle: the controller looks again and again, and nothing comes of it"
			}
		}
		var open set
		for i := range s.clusters {
			switch c := &s.clusters[i]; {
			case c.at == nowhere && c.truth.version != absent && !c.truth.deleting:
				return fmt.Sprintf("stays: @%d is not selected, and its object stays for ever", i)
			case c.at != nowhere && !c.dead && !(c.truth.version == 0 && x.parts[0].stand(c.truth, 0) == done):
				open.add(i)
			}
		}
		if open == 0 {
			break
		}
		if gaveUp {
			return fmt.Sprintf("stuck: [%s] are not done, although the deselected clusters are ignored", open.in(marks))
		}
		if what := x.proposesIgnoring(&s, open); what != "" {
			return what
		}
		for i := range s.clusters {
			c := &s.clusters[i]
			c.aside = c.aside || c.at == nowhere || c.dead || c.noted[0].as != unrecorded || c.noted[1].as != unrecorded
		}
	}
	x.ends[start] = true
	return ""
}

// proposesIgnoring says whether the explanations of waiting clusters say so.
func (x *follow) proposesIgnoring(s *both, open set) string {
	plans, _ := x.decide(s)
	for i := range s.clusters {
		if !open.has(i) || s.clusters[i].truth.version == 0 {
			continue
		}
		p := &plans[s.clusters[i].at]
		if d, _, _ := p.result.Find(names[i]); d != rollout.DispositionBlocked {
			continue // it is on record as failed
		}
		links := p.result.Explain(names[i])
		if len(links) == 0 {
			return fmt.Sprintf("silence: @%d waits for ever, and nothing says why", i)
		}
		last := links[len(links)-1]
		if !slices.ContainsFunc(last.Remedies, func(r rollout.Remedy) bool {
			return r.Type == rollout.RemedyIgnore || r.Type == rollout.RemedyFix || r.Type == rollout.RemedyAnswer
		}) {
			return fmt.Sprintf("sentence: @%d waits for ever, and is told %q", i, last)
		}
	}
	return ""
}

// step2 goes on by one event: writes, a plan, answers, time.
func (x *follow) step2(s *both) bool {
	for i := range s.clusters {
		switch c := &s.clusters[i]; c.todo {
		case write:
			x.write2(c)
			return true
		case remove:
			x.remove2(c)
			return true
		}
	}
	before := *s
	plans, _ := x.decide(s)
	if x.carryOut(s, plans); *s != before {
		return true
	}
	for i := range s.clusters {
		switch c := &s.clusters[i]; {
		case c.dead:
		case c.truth.deleting:
			x.let(c)
			return true
		case c.truth.version == 0 && !(c.truth.observed && c.truth.condition == succeeded):
			c.truth.answer(succeeded)
			return true
		}
	}
	if plans[0].recheck == 0 && plans[1].recheck == 0 {
		return false
	}
	x.pass2(s)
	return true
}
