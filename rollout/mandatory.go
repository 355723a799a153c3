// SPDX-License-Identifier: Apache-2.0

package rollout

import clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"

// mandatoryClusters counts the clusters in the groups that an entry names.
type mandatoryClusters struct {
	clusters, ignored int
	exists            bool // a group that it names
}

// checkMandatory warns, once each, of the strategy's entries that select no cluster (R12) or none that counts (R37).
func (s *schedule) checkMandatory() {
	if len(s.rules.mandatory) == 0 {
		return
	}
	byName, byIndex := make(map[string]*mandatoryClusters), make(map[int32]*mandatoryClusters)
	of := func(entry clusterv1alpha1.MandatoryDecisionGroup) *mandatoryClusters {
		if entry.GroupName != "" {
			return byName[entry.GroupName]
		}
		return byIndex[entry.GroupIndex]
	}
	for _, entry := range s.rules.mandatory {
		if entry.GroupName != "" {
			byName[entry.GroupName] = &mandatoryClusters{}
		} else {
			byIndex[entry.GroupIndex] = &mandatoryClusters{}
		}
	}
	for group := range s.Graph.NumGroups() {
		key := s.KeyOf(group)
		for _, named := range [...]*mandatoryClusters{byName[key.Name], byIndex[key.Index]} {
			if named != nil {
				named.clusters, named.ignored, named.exists = named.clusters+s.SizeOf(group), named.ignored+s.IgnoredIn(group), true
			}
		}
	}
	warned := make(map[clusterv1alpha1.MandatoryDecisionGroup]bool)
	for _, entry := range s.rules.mandatory {
		selects := entry
		if selects.GroupName != "" {
			selects.GroupIndex = 0 // the name goes before it
		}
		if warned[selects] {
			continue
		}
		warned[selects] = true
		switch named := of(entry); {
		case !named.exists:
			s.warn(Warning{Type: WarningMandatoryGroupEmpty, Mandatory: entry, Known: s.known()})
		case named.clusters == 0:
			s.warn(Warning{Type: WarningMandatoryGroupEmpty, Mandatory: entry})
		case named.clusters == named.ignored:
			s.warn(Warning{Type: WarningMandatoryGroupIgnored, Mandatory: entry, Clusters: named.clusters})
		}
	}
}
