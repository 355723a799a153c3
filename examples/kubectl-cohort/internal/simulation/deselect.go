// SPDX-License-Identifier: Apache-2.0

package simulation

import (
	"slices"

	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/status"
)

// hasDeselected says whether a cluster was deselected with the workload before the simulation began, or was about to be.
func (p *play) hasDeselected(observed status.Report) bool {
	_, selected := p.groups.Position(observed.Cluster)
	return !selected || observed.Deleting
}

// remember has the owner keep a record from now on.
func (p *play) remember() error {
	p.record = new(status.Record)
	return p.setOptions()
}

// leave has the scheduler drop clusters with agents that are unreachable for too long. The others stay in their groups.
func (p *play) leave(w *Wave) error {
	if len(p.leaving) == 0 {
		return nil
	}
	slices.Sort(p.leaving)
	leaving := p.leaving
	for _, i := range leaving {
		p.members[i].deselected = true
		w.Deselected = append(w.Deselected, p.members[i].name)
	}
	p.leaving = nil
	p.trace.replay.dropped = append(p.trace.replay.dropped, w.Deselected...)
	p.groups = without(p.groups, w.Deselected)
	for _, planner := range []*rollout.Planner{p.planner, p.witness} {
		planner.Next(p.now) // which shows it each cluster's group
		planner.SetGroups(p.groups)
	}
	switch {
	case p.rollout.Forgets:
		return p.forget(leaving)
	case p.record == nil:
		return p.remember()
	}
	return nil
}

// forget has deselected members count no more.
func (p *play) forget(members []int) error {
	for _, i := range members {
		p.members[i].gone = true
		if err := p.tellGone(p.members[i].name); err != nil {
			return err
		}
	}
	return nil
}

// tellGone says that a cluster has no object any more.
func (p *play) tellGone(cluster string) error {
	gone := word{report: status.Report{Cluster: cluster}, gone: true}
	p.trace.replay.words = append(p.trace.replay.words, gone)
	for _, planner := range []*rollout.Planner{p.planner, p.witness} {
		if err := gone.tell(planner); err != nil {
			return err
		}
	}
	return nil
}

// without gives the groups without some clusters. The others stay in their groups.
func without(groups *grouping.Groups, clusters []string) *grouping.Groups {
	drops := make(map[string]bool, len(clusters))
	for _, cluster := range clusters {
		drops[cluster] = true
	}
	return groups.Only(func(_ grouping.Key, cluster string) bool { return !drops[cluster] })
}

// keep does what a controller does before a cluster starts. It stores the record in the owner if that is new, and reads it back.
// Or else it deletes the objects of deselected clusters. It says whether to plan anew.
func (p *play) keep(w *Wave) (anew bool, err error) {
	if p.record == nil {
		return false, nil
	}
	if changed, err := (status.Records{"": p.last.Record}).Note(&p.owner); changed || err != nil {
		if err != nil {
			return false, err
		}
		stored, err := status.RecordsOf(&p.owner)
		if err != nil {
			return false, err
		}
		record := stored[""]
		p.record = &record
		return true, p.setOptions()
	}
	removed := p.run.remove(p.last.Removed, w)
	for _, i := range removed {
		if p.members[i].deleting {
			p.news = append(p.news, i)
			continue
		}
		if err := p.tellGone(p.members[i].name); err != nil {
			return false, err
		}
	}
	return len(removed) > 0, nil
}
