// SPDX-License-Identifier: Apache-2.0

package rollout

import (
	"fmt"
	"time"

	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/rollout/internal/limits"
)

// Gate blocks a group until an operator opens it: an approval, a maintenance window.
type Gate struct {
	// Name is what the reason of a blocked cluster calls it.
	Name string `json:"name,omitempty"`
	// Opens is when it opens by itself; zero where that is unknown.
	Opens time.Time `json:"opens,omitzero"`
}

// String is `gate`, or `gate "approval"`.
func (gate Gate) String() string {
	if gate.Name == "" {
		return "gate"
	}
	return fmt.Sprintf("gate %q", gate.Name)
}

// ClosedGate is a gate before a group: the group's waiting clusters are blocked. Where groups go one after the other (mandatory
// groups, and all groups under ProgressivePerGroup), nothing starts in the later groups either, even while the group
// itself is empty or complete. The gate is open from Opens on.
//
// Where a group has several gates, it is blocked until all of them are open. The reason of a blocked cluster is the gate that
// opens last; one that opens at an unknown time is the last of all. An approval and a maintenance window for one group
// both block it.
type ClosedGate struct {
	// Group is the group behind the gate. A group with a name means every group of that name, whatever its index. A group
	// without a name means the group with that index. A group with a placement means that placement alone. A gate before a
	// group that does not exist blocks nothing, and the result warns of it.
	Group grouping.Key `json:"group"`
	Gate
}

// newGates gives the gates in a list; nil where there are none.
func newGates(closed []ClosedGate) limits.Gates {
	all := make([]limits.GroupGate, len(closed))
	for i, gate := range closed {
		all[i] = limits.GroupGate{Group: gate.Group, Gate: limits.Gate(gate.Gate)}
	}
	return limits.NewGates(all)
}
