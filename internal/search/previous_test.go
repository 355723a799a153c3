package search

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/status"
)

// previous makes a result that remembers when clusters went, and in which groups it had them, out of plans at the
// times when they went. Who is gone and was in a group counts: it is in flight.
func (k *controller) previous(s *state) (r *rollout.Result) {
	key, blank := uint64(0), uint64(0)
	for i := range s.clusters {
		key = key<<5 | uint64(s.clusters[i].gone)<<2 | uint64(s.clusters[i].former)
		blank = blank<<5 | none
	}
	if key == blank {
		return nil
	}
	if r := k.before[key]; r != nil {
		return r
	}
	for age := k.config.grace + 1; age < 8; age-- {
		selected := map[grouping.Key][]string{}
		var reports []status.Report
		at := now.Add(-time.Duration(age) * tick)
		for i := range s.clusters {
			switch c := &s.clusters[i]; {
			case c.former != none && c.gone <= age:
				key := k.keyOf(c.former)
				selected[key] = append(selected[key], names[i])
			case c.former != none:
				reports = append(reports, status.Report{Cluster: names[i], Status: status.Progressing, Applied: at})
			case c.gone > age:
				reports = append(reports, status.Report{Cluster: names[i], Status: status.Skip})
			}
		}
		groups, err := grouping.FromNames(selected)
		if err != nil {
			panic(err)
		}
		r, err = rollout.Plan(k.config.rollout(), groups, reports, at, rollout.Options{RemoveAfter: metav1.Duration{Duration: time.Duration(k.config.grace) * tick}, Previous: r})
		if err != nil {
			panic(err)
		}
	}
	k.before[key] = r
	return r
}

// remember counts how long the controller's results have not found clusters selected (R32), and notes in which groups the
// last one had them (R47).
func (k *controller) remember(s *state, d *decision) (changed bool) {
	for i := range s.clusters {
		c := &s.clusters[i]
		was, before := c.gone, c.former
		switch lost := c.shown == none && c.view().version != absent && !c.view().deleting; {
		case !lost || k.config.grace == 0 || s.torn == partial || s.torn == empty:
			c.gone = 0
		case c.gone == 0:
			c.gone = 1
		}
		switch incomplete := s.torn == partial || s.torn == empty; {
		case incomplete && (c.shown != none || c.former != none): // nothing is known that was not known before
		case c.shown != none:
			c.former = d.in[i]
		case !d.left.has(i):
			c.former = none
		case c.told.as != unrecorded && s.recorded == 0:
			c.former = c.told.group
		}
		changed = changed || c.gone != was || c.former != before
	}
	return changed
}
