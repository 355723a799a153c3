// SPDX-License-Identifier: Apache-2.0

package rollout

import (
	"encoding/json"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/cohort-ocm/cohort/grouping"
)

// MarshalJSON writes the group wherever the reason has one, even the nameless group with index 0, which is the zero
// Key.
func (reason BlockReason) MarshalJSON() ([]byte, error) {
	type plain BlockReason
	out := struct {
		plain
		Group *grouping.Key   `json:"group,omitempty"`
		Per   metav1.Duration `json:"per,omitzero"`
	}{plain: plain(reason), Per: metav1.Duration{Duration: reason.Per}}
	if reason.Type != BlockFrozen && reason.Type != BlockNotAllowed && reason.Type != BlockPaused && reason.Type != BlockGroupsIncomplete && reason.Type != BlockRecordFull && !reason.AllGroups {
		out.Group = &reason.Group
	}
	return json.Marshal(out)
}

// MarshalJSON writes the group unless the budget is the one over all groups.
func (breach Breach) MarshalJSON() ([]byte, error) {
	type plain Breach
	out := struct {
		Group *grouping.Key `json:"group,omitempty"`
		plain
	}{plain: plain(breach)}
	if !breach.AllGroups {
		out.Group = &breach.Group
	}
	return json.Marshal(out)
}

// MarshalJSON writes what the warning is about, even the mandatory group or the nameless group with index 0, which are
// zero values.
func (w Warning) MarshalJSON() ([]byte, error) {
	type plain Warning
	type mandatory struct {
		GroupName  string `json:"groupName,omitempty"`
		GroupIndex *int32 `json:"groupIndex,omitempty"`
	}
	out := struct {
		plain
		Mandatory *mandatory    `json:"mandatoryDecisionGroup,omitempty"`
		Group     *grouping.Key `json:"group,omitempty"`
	}{plain: plain(w)}
	switch w.Type {
	case WarningGateWithoutGroup, WarningOrderWithoutGroup:
		out.Group = &w.Group
	case WarningMandatoryGroupEmpty, WarningMandatoryGroupIgnored:
		out.Mandatory = &mandatory{GroupName: w.Mandatory.GroupName}
		if w.Mandatory.GroupName == "" {
			out.Mandatory.GroupIndex = &w.Mandatory.GroupIndex // it counts where there is no name
		}
	}
	return json.Marshal(out)
}

// MarshalJSON writes durations as the Kubernetes API does, "1h30m0s".
func (sched Schedule) MarshalJSON() ([]byte, error) {
	type plain Schedule
	out := struct {
		plain
		MinSuccessTime   metav1.Duration  `json:"minSuccessTime,omitzero"`
		ProgressDeadline *metav1.Duration `json:"progressDeadline,omitempty"`
	}{plain: plain(sched), MinSuccessTime: metav1.Duration{Duration: sched.MinSuccessTime}}
	if sched.ProgressDeadline != nil {
		out.ProgressDeadline = &metav1.Duration{Duration: *sched.ProgressDeadline}
	}
	return json.Marshal(out)
}

// MarshalJSON writes the duration as the Kubernetes API does.
func (next Next) MarshalJSON() ([]byte, error) { return json.Marshal(next.readable()) }

// MarshalJSON writes the duration as the Kubernetes API does. What the methods return is not part of it.
func (r Result) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		InFlight []Cluster `json:"inFlight,omitempty"`
		readableNext
		Schedule Schedule `json:"schedule"`
	}{r.InFlight, r.readable(), r.Schedule})
}

// plainNext is Next without its methods.
type plainNext Next

// readableNext is Next as its JSON has it.
type readableNext struct {
	plainNext
	RecheckAfter metav1.Duration `json:"recheckAfter,omitzero"`
}

func (next *Next) readable() readableNext {
	return readableNext{plainNext(*next), metav1.Duration{Duration: next.RecheckAfter}}
}
