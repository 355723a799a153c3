// SPDX-License-Identifier: Apache-2.0

package search

import (
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/status"
)

// previous makes a result with the memory of the last one: since when clusters are deselected, their groups and where they counted, how
// many may be exposed, and which breaches last. It is made of plans at the times when clusters were deselected.
func (k *controller) previous(s *state) (r *rollout.Result) {
	key, blank := [2]uint64{0, s.before.pack()}, uint64(0)
	for i := range s.clusters {
		c := &s.clusters[i]
		key[0] = key[0]<<10 | uint64(c.lasts)<<7 | uint64(c.then)<<5 | uint64(c.gone)<<2 | uint64(c.former)
		blank = blank<<10 | none<<5 | none
	}
	if key[0] == blank {
		return nil
	}
	if r := k.before[key]; r != nil {
		return r
	}
	for age := k.config.grace + 1; age > 0; age-- {
		r = k.planBefore(s, age, r)
	}
	r = k.planBefore(s, 0, r)
	k.before[key] = r
	return r
}

// planBefore makes the plan of so many ticks ago. Only the last one has more than the clusters that were deselected by then.
func (k *controller) planBefore(s *state, age uint8, before *rollout.Result) *rollout.Result {
	at := now.Add(-time.Duration(age) * tick)
	opts := k.config.options()
	opts.RemoveAfter, opts.Previous = metav1.Duration{Duration: time.Duration(k.config.grace) * tick}, before
	var then state
	var reports []status.Report
	for i := range s.clusters {
		c, was := &s.clusters[i], &then.clusters[i]
		if was.group, was.shown = none, none; age == 0 {
			was.group, was.shown = c.then, c.then
		}
		if c.gone > age {
			reports = append(reports, status.Report{Cluster: names[i], Status: status.Skip})
		}
	}
	if age == 0 {
		reports = k.recall(s, reports, &opts)
	}
	r, err := rollout.Plan(k.config.rollout(), k.read(&then), reports, at, opts)
	if err != nil {
		panic(err)
	}
	return r
}

// recall gives the last plan the clusters that counted in another group than their own, those that failed in a breach that lasts, and the
// memory of the results before it.
func (k *controller) recall(s *state, reports []status.Report, opts *rollout.Options) []status.Report {
	// A cluster with an unknown group counts, so that the plan has the number that may be exposed.
	unknown := status.DeselectedCluster{Report: status.Report{Cluster: "e", Status: status.Progressing, Applied: now}, Group: grouping.Key{Index: -1}}
	record := status.Record{Version: version(0), Exposed: int(s.before.exposes), Deselected: []status.DeselectedCluster{unknown}}
	record.Breached = k.breached(s.before, func(i int) uint8 { return s.clusters[i].lasts })
	for i := range s.clusters {
		c, r := &s.clusters[i], status.Report{Cluster: names[i], Status: status.Progressing, Applied: now}
		if c.lasts != 0 {
			r.Status = status.TimeOut
		}
		if c.then != c.former || c.lasts != 0 {
			reports = slices.DeleteFunc(reports, func(r status.Report) bool { return r.Cluster == names[i] })
			reports = append(reports, r)
			record.Deselected = append(record.Deselected, status.DeselectedCluster{Report: r, Group: k.keyOf(c.former)})
		}
		if c.past {
			opts.FailedBefore = append(opts.FailedBefore, names[i])
		}
		if c.aside && c.then != none {
			opts.Ignored = append(opts.Ignored, names[i])
		}
	}
	opts.StoredRecord = &rollout.StoredRecord{Version: version(0), Record: record, AtOnce: true}
	return reports
}

// remember counts how long the controller's results have not found clusters selected (R32), and notes what the last one knew: in which
// groups it had clusters (R47), and what it said of those groups.
func (k *controller) remember(s *state, d *decision, m *memos) {
	incomplete := s.torn == partial || s.torn == empty
	s.before = m.result
	for i := range s.clusters {
		c := &s.clusters[i]
		c.lasts = m.inResult[i]
		switch lost := c.shown == none && c.view().version != absent && !c.view().deleting; {
		case !lost || k.config.grace == 0 || incomplete:
			c.gone = 0
		case c.gone == 0:
			c.gone = 1
		}
		switch {
		case incomplete && (c.shown != none || c.former != none): // nothing is known that was not known before
		case c.shown != none:
			c.former = d.in[i]
		case !d.left.has(i):
			c.former = none
		case c.told.as != unrecorded && s.recorded == 0:
			c.former = c.told.group
		}
		if !incomplete {
			c.then = c.shown
		}
	}
}
