package dependency

import (
	"fmt"
	"strings"
)

// State is whether a template may be processed.
type State string

const (
	// StateReady: all that the template waits for is as it should be (P4).
	StateReady State = "Ready"
	// StatePending: some of it is not.
	StatePending State = "Pending"
	// StateInvalid: what the policy says of the template contradicts itself or can't be read (P1).
	StateInvalid State = "Invalid"
	// StateDisabled: the policy is disabled.
	StateDisabled State = "Disabled"
)

// TemplateRef names a template: the name its policy has on the cluster and its place in
// spec.policy-templates, from 0.
type TemplateRef struct {
	Policy string `json:"policy"`
	Index  int    `json:"index"`
}

// String is like "default.foo[1]".
func (r TemplateRef) String() string { return fmt.Sprintf("%s[%d]", r.Policy, r.Index) }

// Compare orders templates by policy and place. It returns a negative number, zero or a positive one.
func (r TemplateRef) Compare(other TemplateRef) int {
	if c := strings.Compare(r.Policy, other.Policy); c != 0 {
		return c
	}
	return r.Index - other.Index
}

// PolicyResult is where the templates of one policy stand. The zero value is that of a policy that is not
// there: its compliance is unknown, and everything it has on the cluster is to be deleted.
type PolicyResult struct {
	// Policy is the policy's name on the cluster.
	Policy string
	// Templates has one result for each template, in their order.
	Templates []TemplateResult
}

// String has a line for the policy and one for each template.
func (r PolicyResult) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s", policyKind, r.Policy)
	for i, template := range r.Templates {
		fmt.Fprintf(&b, "\n  [%d] %s", i, template)
	}
	return b.String()
}

// Compliance returns the compliance of the policy over its templates (P7); observations are those of the
// objects that the templates create.
func (r PolicyResult) Compliance(observations Observations) Compliance {
	parts := make([]Compliance, len(r.Templates))
	for i, template := range r.Templates {
		parts[i] = template.Compliance(observations[template.Object])
	}
	return Aggregate(parts...)
}

// TemplateResult is where one template stands.
type TemplateResult struct {
	// Object is what the template creates; the zero Object if the definition doesn't say.
	Object Object
	State  State
	// Unmet is what a pending template waits for, sorted by [Object.Compare]. It is empty in other states.
	Unmet []Unmet
	// Cycle is the way on which the template waits for itself (P8), and empty if there is none. Results share
	// it; it is not to be changed.
	Cycle Cycle
	// IgnorePending is the template's field (P5).
	IgnorePending bool
	// Err is why the template is invalid: it holds a *field.Error for each fault, with its path from the policy
	// on. It is nil in other states.
	Err error
}

// Compliance returns what the template counts as for its policy: Pending while it waits, or Compliant with
// IgnorePending (P5); NonCompliant if it is invalid; if it is ready, what was observed at its own object, and
// unknown where that is no compliance.
func (r TemplateResult) Compliance(own Observation) Compliance {
	switch {
	case r.State == StateInvalid:
		return NonCompliant
	case r.State == StatePending && r.IgnorePending:
		return Compliant
	case r.State == StatePending:
		return Pending
	case r.State == StateReady && own.reason(own.Compliance) == "":
		return own.Compliance
	default:
		return ""
	}
}

// String is the object, the state and the message.
func (r TemplateResult) String() string {
	s := fmt.Sprintf("%s: %s", r.Object, r.State)
	if message := r.Message(); message != "" {
		s += ": " + message
	}
	return s
}

// Message is one line for the policy's status, empty if the template is ready (P4). A template that waits says
//
//	Dependencies were not satisfied: 1 is still pending (FooPolicy foo)
//
// for objects that are missing or in another compliance. For each one that has another reason, for a cycle and
// for IgnorePending (P5) a clause follows after a semicolon.
func (r TemplateResult) Message() string {
	switch {
	case r.State == StatePending:
		return r.pendingMessage()
	case r.State == StateInvalid && r.Err != nil:
		return oneLine(strings.ReplaceAll(r.Err.Error(), "\n", "; "))
	case r.State == StateDisabled:
		return "the policy is disabled"
	default:
		return ""
	}
}

func (r TemplateResult) pendingMessage() string {
	names := make([]string, len(r.Unmet))
	for i, unmet := range r.Unmet {
		names[i] = unmet.Object.String()
	}
	verb := "are"
	if len(names) == 1 {
		verb = "is"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "Dependencies were not satisfied: %d %s still pending (%s)", len(names), verb, strings.Join(names, ", "))
	for _, unmet := range r.Unmet {
		// What comes about by waiting is said by the list alone.
		if unmet.Reason != OtherCompliance && unmet.Reason != NotFound && unmet.Reason != OnCycle {
			b.WriteString("; " + unmet.String())
		}
	}
	if len(r.Cycle) > 0 {
		b.WriteString("; it waits for itself: " + r.Cycle.String())
	}
	if r.IgnorePending {
		b.WriteString("; it counts as compliant because of ignorePending")
	}
	return oneLine(b.String())
}
