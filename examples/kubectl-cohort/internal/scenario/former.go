// SPDX-License-Identifier: Apache-2.0

package scenario

import (
	"time"

	clusterv1 "open-cluster-management.io/api/cluster/v1"

	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/rollout"
)

// remembering are the options with what a controller remembers that saw clusters leave: the group of each.
func (s *Scenario) remembering(opts rollout.Options, at time.Time) (rollout.Options, error) {
	former := s.formerGroups()
	if opts.Previous != nil || len(former) == 0 {
		return opts, nil
	}
	previous, err := rollout.Plan(s.Strategy, s.Groups.With(former), s.Observed, at, opts)
	opts.Previous = previous
	return opts, err
}

// formerGroups are the groups of clusters that left with the version, and of which the record says nothing: each is in the only group of
// the name that the Placement gives it by its labels. Where several groups have that name, or none has any more, its group is unknown.
func (s *Scenario) formerGroups() map[string]grouping.Key {
	former := make(map[string]grouping.Key)
	for i := range s.Observed {
		r := &s.Observed[i]
		managed := s.managed[r.Cluster]
		if managed == nil || s.Spec == nil || !hasVersion(r) || s.selected(r.Cluster) || s.deselected(r.Cluster) != nil {
			continue
		}
		alone, err := grouping.Divide(s.Spec, []*clusterv1.ManagedCluster{managed}, grouping.Options{})
		if err != nil {
			return nil // the Placement is at fault, as its check says
		}
		named, _, _ := alone.Find(r.Cluster)
		if key, found := s.onlyGroup(named.Name); found {
			former[r.Cluster] = key
		}
	}
	return former
}

func (s *Scenario) onlyGroup(name string) (key grouping.Key, found bool) {
	for i := range s.Groups.Len() {
		if s.Groups.Key(i).Name != name {
			continue
		}
		if found {
			return grouping.Key{}, false
		}
		key, found = s.Groups.Key(i), true
	}
	return key, found
}
