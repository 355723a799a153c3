package dependency

import (
	"fmt"
	"math"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

const (
	constraintTemplateGroup = "templates.gatekeeper.sh"
	constraintTemplateKind  = "ConstraintTemplate"
	constraintGroup         = "constraints.gatekeeper.sh"
)

// ObjectOf returns what an object that was read is called.
func ObjectOf(u *unstructured.Unstructured) Object {
	return Object{APIVersion: u.GetAPIVersion(), Kind: u.GetKind(), Namespace: u.GetNamespace(), Name: u.GetName()}
}

// ObservationOf returns what reading an object gave (P3, P9): u and err are what clients and listers return, and
// u may be nil if there is no object. An object without a name is what a caller has before it reads: it says
// that nothing was read, not that nothing is there, since that could delete what waits for it (P6). The object is
// not changed.
//
// Compliance is at status.compliant, or where that is absent at status.complianceState. Gatekeeper's objects
// have neither: a ConstraintTemplate is compliant if it exists, a constraint if status.totalViolations is 0 and
// not if it is more. A kind that the RESTMapper or the server does not know is NoAPI; every error but this and
// a missing object is ReadFailed.
func ObservationOf(u *unstructured.Unstructured, err error) Observation {
	switch {
	case err != nil:
		return observationOfError(err)
	case u == nil:
		return Observation{Problem: NotFound}
	case u.GetName() == "":
		return Observation{}
	}
	status, _ := u.Object["status"].(map[string]any)
	switch object := ObjectOf(u); {
	case object.group() == constraintTemplateGroup && object.Kind == constraintTemplateKind:
		return Observation{Compliance: Compliant}
	case object.group() == constraintGroup:
		return observationOfViolations(status["totalViolations"])
	case status["compliant"] != nil:
		return observationOfValue("status.compliant", status["compliant"])
	case status["complianceState"] != nil:
		return observationOfValue("status.complianceState", status["complianceState"])
	default:
		return Observation{Problem: FieldMissing, Detail: "status.compliant is missing"}
	}
}

func observationOfError(err error) Observation {
	switch {
	// For a kind that it doesn't serve the server says "not found", too, but not of an object.
	case meta.IsNoMatchError(err),
		apierrors.IsNotFound(err) && apierrors.HasStatusCause(err, metav1.CauseTypeUnexpectedServerResponse):
		return Observation{Problem: NoAPI, Detail: err.Error()}
	case apierrors.IsNotFound(err):
		return Observation{Problem: NotFound}
	default:
		return Observation{Problem: ReadFailed, Detail: err.Error()}
	}
}

func observationOfValue(path string, value any) Observation {
	s, ok := value.(string)
	switch {
	case !ok:
		return unknownValue(path, describe(value))
	case !Compliance(s).valid():
		return unknownValue(path, fmt.Sprintf("%q", s))
	default:
		return Observation{Compliance: Compliance(s)}
	}
}

func observationOfViolations(value any) Observation {
	const path = "status.totalViolations"
	var count float64
	switch value := value.(type) {
	case nil:
		return Observation{Problem: FieldMissing, Detail: path + " is missing"}
	case int64:
		count = float64(value)
	case float64:
		count = value
	default:
		return unknownValue(path, describe(value))
	}
	switch {
	case count == 0:
		return Observation{Compliance: Compliant}
	case count > 0 && count == math.Trunc(count):
		return Observation{Compliance: NonCompliant}
	default:
		return unknownValue(path, fmt.Sprint(value))
	}
}

func unknownValue(path, found string) Observation {
	return Observation{Problem: UnknownValue, Detail: found + " at " + path}
}
