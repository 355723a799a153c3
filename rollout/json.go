package rollout

import (
	"encoding/json"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/cohort-ocm/cohort/grouping"
)

// MarshalJSON writes the group wherever the reason has one, also the nameless one with index 0, which is
// the zero Key.
func (r Reason) MarshalJSON() ([]byte, error) {
	type plain Reason
	out := struct {
		plain
		Group *grouping.Key `json:"group,omitempty"`
	}{plain: plain(r)}
	if r.Type != Pause && !r.AllGroups {
		out.Group = &r.Group
	}
	return json.Marshal(out)
}

// MarshalJSON writes what the warning is about, also where that is the mandatory group with index 0 or the
// nameless group with index 0, which are zero values.
func (w Warning) MarshalJSON() ([]byte, error) {
	type mandatory struct {
		GroupName  string `json:"groupName,omitempty"`
		GroupIndex *int32 `json:"groupIndex,omitempty"`
	}
	out := struct {
		Type      WarningType   `json:"type"`
		Mandatory *mandatory    `json:"mandatoryDecisionGroup,omitempty"`
		Group     *grouping.Key `json:"group,omitempty"`
	}{Type: w.Type}
	if w.Type == GateWithoutGroup {
		out.Group = &w.Group
	} else if out.Mandatory = (&mandatory{GroupName: w.Mandatory.GroupName}); w.Mandatory.GroupName == "" {
		out.Mandatory.GroupIndex = &w.Mandatory.GroupIndex // without a name it is what counts
	}
	return json.Marshal(out)
}

// MarshalJSON writes durations as the Kubernetes API does, "1h30m0s".
func (s Schedule) MarshalJSON() ([]byte, error) {
	type plain Schedule
	out := struct {
		plain
		MinSuccessTime   metav1.Duration  `json:"minSuccessTime,omitzero"`
		ProgressDeadline *metav1.Duration `json:"progressDeadline,omitempty"`
	}{plain: plain(s), MinSuccessTime: metav1.Duration{Duration: s.MinSuccessTime}}
	if s.ProgressDeadline != nil {
		out.ProgressDeadline = &metav1.Duration{Duration: *s.ProgressDeadline}
	}
	return json.Marshal(out)
}

// MarshalJSON writes the duration as the Kubernetes API does. What the methods tell is not part of it.
func (r Result) MarshalJSON() ([]byte, error) {
	type plain Result
	return json.Marshal(struct {
		*plain
		RecheckAfter metav1.Duration `json:"recheckAfter,omitzero"`
	}{(*plain)(&r), metav1.Duration{Duration: r.RecheckAfter}})
}

// MarshalJSON writes the duration as the Kubernetes API does.
func (s Step) MarshalJSON() ([]byte, error) {
	type plain Step
	return json.Marshal(struct {
		plain
		RecheckAfter metav1.Duration `json:"recheckAfter,omitzero"`
	}{plain(s), metav1.Duration{Duration: s.RecheckAfter}})
}
