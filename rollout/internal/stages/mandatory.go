// SPDX-License-Identifier: Apache-2.0

package stages

import (
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"

	"github.com/cohort-ocm/cohort/grouping"
)

// Mandatory are the groups that a strategy's entries name: by a name, or by an index where the entry has no name. The zero value names none.
type Mandatory struct {
	names   map[string]bool
	indexes map[int32]bool
}

// NewMandatory gives the groups that the entries name.
func NewMandatory(entries []clusterv1alpha1.MandatoryDecisionGroup) (mandatory Mandatory) {
	if len(entries) == 0 {
		return mandatory
	}
	mandatory.names, mandatory.indexes = make(map[string]bool), make(map[int32]bool)
	for _, entry := range entries {
		if entry.GroupName != "" {
			mandatory.names[entry.GroupName] = true
		} else {
			mandatory.indexes[entry.GroupIndex] = true
		}
	}
	return mandatory
}

// Has says whether an entry names a group.
func (m *Mandatory) Has(group grouping.Key) bool {
	return m.names[group.Name] || m.indexes[group.Index]
}

func (m *Mandatory) isNone() bool { return m.names == nil }
