package dependency

import (
	"fmt"
	"strings"
)

// Unmet is a dependency that is not as it should be.
type Unmet struct {
	// Object is what the template waits for, as it is looked up.
	Object Object
	// Want is the compliance to wait for.
	Want Compliance
	// Reason is why it is unmet.
	Reason Reason
	// Observation is what was observed.
	Observation Observation
}

// String says in one line what was found and what was expected (P3).
func (u Unmet) String() string {
	detail := u.Observation.Detail
	if detail != "" {
		detail = ": " + detail
	}
	var found string
	switch u.Reason {
	case OtherCompliance:
		found = fmt.Sprintf("is %s, want %s", u.Observation.Compliance, u.Want)
	case NotFound:
		found = fmt.Sprintf("is not found, want %s", u.Want)
	case NoAPI:
		found = fmt.Sprintf("can't be read: the cluster has no API for %s %s%s", u.Object.APIVersion, u.Object.Kind, detail)
	case FieldMissing:
		found = "has no compliance" + detail
	case UnknownValue:
		if u.Observation.Problem == "" {
			detail = fmt.Sprintf(": %q", u.Observation.Compliance)
		}
		found = fmt.Sprintf("has a compliance that is none of %s, %s and %s%s", Compliant, NonCompliant, Pending, detail)
	case ReadFailed:
		found = "can't be read" + detail
	case NotRead:
		found = "was not read so far"
	case OnCycle:
		found = "waits for this template"
	default:
		found = string(u.Reason) + detail
	}
	return oneLine(u.Object.String() + " " + found)
}

// oneLine joins the lines that names and errors of others may have.
func oneLine(s string) string {
	return strings.Join(strings.FieldsFunc(s, func(r rune) bool { return r == '\n' || r == '\r' }), " ")
}
