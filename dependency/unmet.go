// SPDX-License-Identifier: Apache-2.0

package dependency

import (
	"fmt"
	"strings"

	"github.com/cohort-ocm/cohort/internal/clauses"
	"github.com/cohort-ocm/cohort/status/policyv1"
)

// Unmet is a dependency that is not as it must be.
type Unmet struct {
	// Object is what the template waits for, where it is found on the cluster.
	Object Object
	// Want is the compliance to wait for.
	Want policyv1.ComplianceState
	// Reason says why the dependency is unmet.
	Reason Reason
	// Observation is what was observed.
	Observation Observation
	// Elsewhere is the object of a policy or a template that the dependency would name with another apiVersion, or with its kind
	// in other letter case, while there is none as it says: the dependency may be mistaken. A Policy has its name on the
	// cluster. It is the zero Object if there is none.
	Elsewhere Object
}

// String says in one line what the object is and what it must be: "Policy default.b is NonCompliant, must be
// Compliant".
func (u Unmet) String() string { return oneLine(u.sentence(u.Object.String())) }

// isPending says whether this dependency is pending, which upstream prints for every unmet one.
func (u Unmet) isPending() bool {
	return u.Reason == ReasonOtherCompliance && u.Observation.Compliance == policyv1.Pending
}

// sentence is String with a name for the object.
func (u Unmet) sentence(name string) string {
	detail := clauses.Shorten(u.Observation.Detail, 300)
	because := ""
	if detail != "" {
		because = ": " + detail
	}
	reason := u.Reason
	// Clusters have no sets: a dependency on one is replaced on the hub by its policies, unless there is no such set, or it is empty.
	if u.Object.isPolicySet() && reason == ReasonNoAPI {
		reason = ReasonNotFound
	}
	switch reason {
	case ReasonOtherCompliance:
		if u.Object.isConstraintTemplate() && u.Want == policyv1.NonCompliant {
			return name + " exists, must not exist"
		}
		return fmt.Sprintf("%s is %s, must be %s", name, u.Observation.Compliance, u.Want)
	case ReasonNotFound:
		return fmt.Sprintf("%s is not found%s, must be %s", name, u.elsewhere(" in "+u.Object.APIVersion), u.Want)
	case ReasonNoAPI:
		return fmt.Sprintf("%s cannot be read: the cluster has no API for %s %s%s%s", name, u.Object.APIVersion, u.Object.Kind, u.elsewhere(""), because)
	case ReasonFieldMissing:
		if detail == "" {
			return fmt.Sprintf("%s has no compliance, must be %s", name, u.Want)
		}
		return fmt.Sprintf("%s has no compliance (%s), must be %s", name, detail, u.Want)
	case ReasonUnknownValue:
		if u.Observation.Problem == "" {
			return fmt.Sprintf("%s is %s, must be %s", name, clauses.Shorten(fmt.Sprintf("%q", u.Observation.Compliance), 300), u.Want)
		}
		return fmt.Sprintf("%s: %s, must be the string %q", name, detail, u.Want)
	case ReasonReadFailed:
		return name + " cannot be read" + because
	case ReasonNotRead:
		return name + " has not been read yet"
	case ReasonOnCycle:
		return name + " waits for this template"
	case ReasonUnnamed:
		return name + " depends, directly or indirectly, on a dependency without a name"
	default:
		return name + " is unmet: " + string(u.Reason) + because
	}
}

// elsewhere names what the dependency may mean after these words, if there is anything.
func (u Unmet) elsewhere(words string) string {
	switch other := u.Elsewhere; {
	case u.Object.isPolicySet():
		return " on the hub, or has no policies"
	case strings.EqualFold(u.Object.Kind, policySetKind):
		return words + ", but sets of policies are " + policySetKind + "s in " + policySetVersion
	case other == (Object{}):
		return ""
	case other.Kind == u.Object.Kind && other.Name == u.Object.Name:
		return words + ", but there is one in " + other.APIVersion
	default:
		return fmt.Sprintf("%s, but there is %s in %s", words, other, other.APIVersion)
	}
}

// Reason says in one word why a dependency is unmet.
type Reason string

const (
	// ReasonOtherCompliance says that the object has a compliance, but not the wanted one.
	ReasonOtherCompliance Reason = "OtherCompliance"
	// ReasonNotFound says that there is no such object.
	ReasonNotFound Reason = "NotFound"
	// ReasonNoAPI says that the cluster does not serve the kind in this version.
	ReasonNoAPI Reason = "NoAPI"
	// ReasonFieldMissing says that the object has no field with a compliance, or none yet.
	ReasonFieldMissing Reason = "FieldMissing"
	// ReasonUnknownValue says that the field has a value that is no compliance.
	ReasonUnknownValue Reason = "UnknownValue"
	// ReasonReadFailed says that the object could not be read.
	ReasonReadFailed Reason = "ReadFailed"
	// ReasonNotRead says that the object has not been read yet.
	ReasonNotRead Reason = "NotRead"
	// ReasonOnCycle says that the object waits for the template that waits for it. Its compliance is the wanted one, or
	// Pending, as for policies that wait for each other.
	ReasonOnCycle Reason = "OnCycle"
	// ReasonUnnamed says that the object leads, directly or through others, to an invalid template with a dependency
	// that names no object. The object may therefore wait for the template that waits for it. Its compliance is the wanted
	// one, or Pending.
	ReasonUnnamed Reason = "Unnamed"
)

// keeps says whether the template's object stays although the dependency is unmet for this reason (P6).
func (r Reason) keeps() bool {
	return r == ReasonReadFailed || r == ReasonNotRead || r == ReasonOnCycle || r == ReasonUnnamed
}
