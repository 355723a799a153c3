// SPDX-License-Identifier: Apache-2.0

package grouping

import (
	"cmp"
	"fmt"
	"strings"
)

// Key names a decision group. Neither index nor name is enough: a name has several indexes where its clusters
// exceed the size of a group, and while labels are rewritten an index may carry two names.
type Key struct {
	// Index is the value of the label cluster.open-cluster-management.io/decision-group-index. It is below 0 for deselected
	// clusters with an unknown group.
	Index int32 `json:"index"`
	// Name is the value of the label cluster.open-cluster-management.io/decision-group-name. It is empty for
	// the clusters that no named group selects.
	Name string `json:"name,omitempty"`
	// Placement says which of several placements has the group. Only [Join] sets it.
	Placement string `json:"placement,omitempty"`
}

// String is `group 1 "canary"`, or `group 2` without a name, followed by ` of placement web` where it is set.
func (k Key) String() string {
	if k.Index < 0 {
		return "an unknown group"
	}
	text := fmt.Sprintf("group %d", k.Index)
	if k.Name != "" {
		text += fmt.Sprintf(" %q", k.Name)
	}
	if k.Placement != "" {
		text += " of placement " + k.Placement
	}
	return text
}

// Compare orders keys by index, then by name, then by placement: negative where k comes before other.
func (k Key) Compare(other Key) int {
	return cmp.Or(
		cmp.Compare(k.Index, other.Index),
		strings.Compare(k.Name, other.Name),
		strings.Compare(k.Placement, other.Placement),
	)
}
