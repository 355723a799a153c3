package dependency

import "fmt"

// Observation is what is known of an object's compliance (P3). The zero value says that it was not read.
type Observation struct {
	// Compliance is the value the object has, even if it is none of the constants. It matters only if there
	// is no problem.
	Compliance Compliance

	// Problem is why there is no compliance: ReadFailed, NoAPI, NotFound, FieldMissing or UnknownValue.
	Problem Reason

	// Detail says more for people: the text of an error, the field that is missing, the value found.
	Detail string
}

// Observations are what is known of each object, under the names that [Dependency.Object] returns. An object
// without an entry was not read; one that is missing needs an entry with the problem NotFound.
type Observations map[Object]Observation

// String is the compliance, or the problem with its detail.
func (o Observation) String() string {
	switch reason := o.reason(o.Compliance); {
	case reason == "":
		return string(o.Compliance)
	case reason == UnknownValue && o.Problem == "":
		return fmt.Sprintf("%s: %q", reason, o.Compliance)
	case o.Detail != "":
		return string(reason) + ": " + o.Detail
	default:
		return string(reason)
	}
}

// Reason is why a dependency is unmet (P3, P8).
type Reason string

const (
	// OtherCompliance: the object has a compliance, but not the one to wait for.
	OtherCompliance Reason = "OtherCompliance"
	// NotFound: there is no such object.
	NotFound Reason = "NotFound"
	// NoAPI: the cluster doesn't serve the kind, in this version.
	NoAPI Reason = "NoAPI"
	// FieldMissing: the object has no field with a compliance (yet).
	FieldMissing Reason = "FieldMissing"
	// UnknownValue: the field has a value that is no compliance.
	UnknownValue Reason = "UnknownValue"
	// ReadFailed: the object could not be read.
	ReadFailed Reason = "ReadFailed"
	// NotRead: nobody tried to read the object so far.
	NotRead Reason = "NotRead"
	// OnCycle: the object has the compliance, but it waits for the template that waits for it.
	OnCycle Reason = "OnCycle"
)

// unknown says whether the object may have the compliance for all that was read: nothing is deleted for such
// a reason (P6).
func (r Reason) unknown() bool { return r == ReadFailed || r == NotRead }

// reason returns why the object is not as wanted, and nothing if it is.
func (o Observation) reason(want Compliance) Reason {
	switch {
	case o.Problem != "":
		return o.Problem
	case o.Compliance == "":
		return NotRead
	case !o.Compliance.valid():
		return UnknownValue
	case o.Compliance != want:
		return OtherCompliance
	default:
		return ""
	}
}
