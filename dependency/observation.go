// SPDX-License-Identifier: Apache-2.0

package dependency

import (
	"fmt"
	"math"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/cohort-ocm/cohort/status/policyv1"
)

// Observation is what is known about an object's compliance. The zero value says that the object was not read.
type Observation struct {
	// Compliance is the object's value, even if it is none of the constants. It matters only where Problem is empty.
	Compliance policyv1.ComplianceState

	// Problem says why there is no compliance: ReasonReadFailed, ReasonNoAPI, ReasonNotFound,
	// ReasonFieldMissing or ReasonUnknownValue.
	Problem Reason

	// Detail explains Compliance or Problem for operators: the text of an error, the missing field, the value that was found,
	// or why Gatekeeper's object is not compliant.
	Detail string

	// Policy is the policy on the cluster that owns the object, since one of its templates created it. It is empty where
	// the object belongs to no policy. It matters for the objects of templates alone.
	Policy string

	// Event is the newest message of the object about its compliance, for the policy's status, if it has any.
	Event policyv1.PolicyHistory
}

// exists says whether the object is known to be there.
func (o Observation) exists() bool {
	reason := o.reason(o.Compliance)
	return o.Policy != "" || reason == "" || reason == ReasonFieldMissing || reason == ReasonUnknownValue
}

// known says whether c is one of the constants.
func known(compliance policyv1.ComplianceState) bool {
	return compliance == policyv1.Compliant || compliance == policyv1.NonCompliant || compliance == policyv1.Pending
}

// reason says why the object is not as wanted. It is empty if it is.
func (o Observation) reason(want policyv1.ComplianceState) Reason {
	switch {
	case o.Problem != "":
		return o.Problem
	case o.Compliance == "":
		return ReasonNotRead
	case !known(o.Compliance):
		return ReasonUnknownValue
	case o.Compliance != want:
		return ReasonOtherCompliance
	default:
		return ""
	}
}

// ObservationOf gives the observation from reading an object. Pass u and err as clients and listers return them; u is
// nil if there is no object. The object is not changed. An object without a name counts as not read: it is what a
// caller has before reading.
//
// Compliance is at status.compliant or, where that is absent, at status.complianceState. Gatekeeper's objects have
// neither. A ConstraintTemplate is compliant if Gatekeeper has created its kind of constraints (status.created), and
// non-compliant if it could not. If it is not found, a dependency on it that must be NonCompliant is met. A
// constraint is compliant if status.totalViolations is 0, and non-compliant if it is more. A kind that the RESTMapper or
// the server does not know is ReasonNoAPI. Every other error but "not found" is ReasonReadFailed.
//
// An object belongs to the policy that is its owner, or that its label policy.open-cluster-management.io/policy names. Its
// newest message is in status.history, where it has one. A controller may send Events instead: put the newest into Event.
func ObservationOf(object *unstructured.Unstructured, err error) Observation {
	switch {
	case err != nil:
		return observationOfError(err)
	case object == nil:
		return Observation{Problem: ReasonNotFound}
	case object.GetName() == "":
		return Observation{}
	}
	observation := observationOfObject(object)
	observation.Policy, observation.Event = policyOf(object), newestEvent(object)
	return observation
}

func observationOfObject(content *unstructured.Unstructured) Observation {
	status, _ := content.Object["status"].(map[string]any)
	switch object := nameOf(content); {
	case object.isConstraintTemplate():
		return observationOfCreated(status)
	case object.group() == constraintGroup:
		return observationOfViolations(status["totalViolations"])
	case status["compliant"] != nil:
		return observationOfValue("status.compliant", status["compliant"])
	case status["complianceState"] != nil:
		return observationOfValue("status.complianceState", status["complianceState"])
	default:
		return Observation{Problem: ReasonFieldMissing, Detail: "status.compliant is missing"}
	}
}

// nameOf names an object that was read.
func nameOf(object *unstructured.Unstructured) Object {
	return Object{APIVersion: object.GetAPIVersion(), Kind: object.GetKind(), Namespace: object.GetNamespace(), Name: object.GetName()}
}

func observationOfError(err error) Observation {
	switch {
	// For a kind that it does not serve, the server also says "not found", but not about an object.
	case meta.IsNoMatchError(err),
		apierrors.IsNotFound(err) && apierrors.HasStatusCause(err, metav1.CauseTypeUnexpectedServerResponse):
		return Observation{Problem: ReasonNoAPI, Detail: err.Error()}
	case apierrors.IsNotFound(err):
		return Observation{Problem: ReasonNotFound}
	default:
		return Observation{Problem: ReasonReadFailed, Detail: err.Error()}
	}
}

func observationOfValue(path string, value any) Observation {
	text, ok := value.(string)
	switch {
	case !ok:
		return unknownValue(path, describe(value))
	case !known(policyv1.ComplianceState(text)):
		return unknownValue(path, fmt.Sprintf("%q", text))
	default:
		return Observation{Compliance: policyv1.ComplianceState(text)}
	}
}

// observationOfCreated reads the status of a ConstraintTemplate. Gatekeeper omits created where it is false, so a
// ConstraintTemplate with errors was not created.
func observationOfCreated(status map[string]any) Observation {
	const path = "status.created"
	byPod, _ := status["byPod"].([]any)
	failed := slices.ContainsFunc(byPod, func(pod any) bool {
		fields, _ := pod.(map[string]any)
		errors, _ := fields["errors"].([]any)
		return len(errors) > 0
	})
	switch created, ok := status["created"].(bool); {
	case created:
		return Observation{Compliance: policyv1.Compliant}
	case ok:
		return Observation{Compliance: policyv1.NonCompliant, Detail: path + " is false"}
	case status["created"] != nil:
		return unknownValue(path, describe(status["created"]))
	case failed:
		return Observation{Compliance: policyv1.NonCompliant, Detail: path + " is missing, and status.byPod has errors"}
	default:
		return Observation{Problem: ReasonFieldMissing, Detail: path + " is missing"}
	}
}

func observationOfViolations(value any) Observation {
	const path = "status.totalViolations"
	var count float64
	switch value := value.(type) {
	case nil:
		return Observation{Problem: ReasonFieldMissing, Detail: path + " is missing"}
	case int64:
		count = float64(value)
	case float64:
		count = value
	default:
		return unknownValue(path, describe(value))
	}
	switch {
	case count == 0:
		return Observation{Compliance: policyv1.Compliant}
	case count > 0 && count == math.Trunc(count):
		return Observation{Compliance: policyv1.NonCompliant, Detail: fmt.Sprintf("%s is %v", path, count)}
	default:
		return unknownValue(path, fmt.Sprint(value))
	}
}

func unknownValue(path, found string) Observation {
	return Observation{Problem: ReasonUnknownValue, Detail: path + " is " + found}
}
