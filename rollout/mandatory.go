package rollout

import (
	"slices"

	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"

	"github.com/cohort-ocm/cohort/grouping"
)

// split puts the groups into the order: the mandatory ones (R12), of which it gives the number, and then the others, both by their
// index.
func (s *schedule) split() (mandatory int) {
	s.order = s.order[:0]
	if len(s.rules.mandatory) == 0 && len(s.deselected) == 0 {
		for i := range s.groups.Len() {
			s.order = append(s.order, int32(i))
		}
		return 0
	}
	var others []int32
	names, indexes := s.rules.mandatoryKeys()
	for i := range s.groups.Len() {
		if key := s.groups.Key(i); isIn(names, key.Name) || isIn(indexes, key.Index) || key.Index < 0 && !s.isPooled() {
			s.order = append(s.order, int32(i))
		} else {
			others = append(others, int32(i))
		}
	}
	mandatory = len(s.order)
	s.order = append(s.order, others...)
	return mandatory
}

// isPooled says whether all groups are one stage.
func (s *schedule) isPooled() bool {
	return s.rules.typ == clusterv1alpha1.All || s.rules.typ == clusterv1alpha1.Progressive && (len(s.rules.mandatory) == 0 || s.options.rollback != nil)
}

// mandatoryKeys gives the names of the mandatory groups, and the indexes of those without a name, each mapped to 0.
func (r *rules) mandatoryKeys() (names map[string]int, indexes map[int32]int) {
	names, indexes = make(map[string]int), make(map[int32]int)
	for _, m := range r.mandatory {
		if m.GroupName != "" {
			names[m.GroupName] = 0
		} else {
			indexes[m.GroupIndex] = 0
		}
	}
	return names, indexes
}

// isMandatory says whether an entry names a group.
func (r *rules) isMandatory(group grouping.Key) bool {
	return slices.ContainsFunc(r.mandatory, func(m clusterv1alpha1.MandatoryDecisionGroup) bool {
		return m.GroupName != "" && m.GroupName == group.Name || m.GroupName == "" && m.GroupIndex == group.Index
	})
}

func isIn[K comparable](set map[K]int, key K) bool {
	_, ok := set[key]
	return ok
}

// checkMandatory warns, once each, of the strategy's entries that select no cluster (R12) or none that counts (R37).
func (s *schedule) checkMandatory() {
	if len(s.rules.mandatory) == 0 {
		return
	}
	names, indexes := s.rules.mandatoryKeys() // mapped to the number of clusters
	thereByName, thereByIndex := make(map[string]bool), make(map[int32]bool)
	for i := range s.groups.Len() {
		key := s.groups.Key(i)
		thereByName[key.Name], thereByIndex[key.Index] = true, true
		if n, ok := names[key.Name]; ok {
			names[key.Name] = n + s.groups.Size(i)
		}
		if n, ok := indexes[key.Index]; ok {
			indexes[key.Index] = n + s.groups.Size(i)
		}
	}
	warned := make(map[clusterv1alpha1.MandatoryDecisionGroup]bool)
	for _, m := range s.rules.mandatory {
		clusters := indexes[m.GroupIndex]
		if m.GroupName != "" {
			clusters = names[m.GroupName]
		}
		if warned[m] {
			continue
		}
		warned[m] = true
		if clusters == 0 {
			w := Warning{Type: WarningMandatoryGroupEmpty, Mandatory: m}
			if m.GroupName != "" && !thereByName[m.GroupName] || m.GroupName == "" && !thereByIndex[m.GroupIndex] {
				w.Known = s.known()
			}
			s.warn(w)
		} else if clusters == s.ignoredOf(m) {
			s.warn(Warning{Type: WarningMandatoryGroupIgnored, Mandatory: m, Clusters: clusters})
		}
	}
}
