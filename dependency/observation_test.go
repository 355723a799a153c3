// SPDX-License-Identifier: Apache-2.0

package dependency_test

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/yaml"

	"github.com/cohort-ocm/cohort/dependency"
	"github.com/cohort-ocm/cohort/status/policyv1"
)

// read returns the objects of a file in testdata.
func read(t testing.TB, file string) []*unstructured.Unstructured {
	t.Helper()
	f, err := os.Open(filepath.Join("testdata", file))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var objects []*unstructured.Unstructured
	for decoder := yaml.NewYAMLOrJSONDecoder(f, 4096); ; {
		u := &unstructured.Unstructured{}
		if err := decoder.Decode(u); errors.Is(err, io.EOF) {
			return objects
		} else if err != nil {
			t.Fatal(err)
		}
		objects = append(objects, u)
	}
}

// say gives an observation as a short text.
func say(o dependency.Observation) string {
	switch {
	case o.Problem == "":
		return string(o.Compliance)
	case o.Detail == "":
		return string(o.Problem)
	default:
		return string(o.Problem) + ": " + o.Detail
	}
}

// P9: objects as a cluster returns them.
func TestObservationOfRealObjects(t *testing.T) {
	want := []string{
		"Policy default.namespace-foo-setup-policy: Compliant",
		"ConfigurationPolicy bar: NonCompliant",
		"OperatorPolicy quay: FieldMissing: status.compliant is missing",
		"PolicySet base: Pending",
		"WidgetPolicy of-the-design-document: Compliant",
		"ConstraintTemplate k8srequiredlabels: Compliant",
		"K8sRequiredLabels owner: Compliant",
		"K8sRequiredLabels team: NonCompliant",
		"K8sRequiredLabels not-audited: FieldMissing: status.totalViolations is missing",
	}
	objects := read(t, "observed.yaml")
	if len(objects) != len(want) {
		t.Fatalf("%d objects, want %d", len(objects), len(want))
	}
	for i, u := range objects {
		before := u.DeepCopy()
		if got := objectOf(u).String() + ": " + say(dependency.ObservationOf(u, nil)); got != want[i] {
			t.Errorf("got %q, want %q", got, want[i])
		}
		if u.GetResourceVersion() != before.GetResourceVersion() {
			t.Error("the object was changed")
		}
	}
}

func TestObservationOfFields(t *testing.T) {
	type fields = map[string]any
	policy, template, constraint := "policy.open-cluster-management.io/v1", "templates.gatekeeper.sh/v1beta1", "constraints.gatekeeper.sh/v1beta1"
	for _, test := range []struct {
		name       string
		apiVersion string
		kind       string
		status     any
		want       string
	}{
		{"P3 status.compliant goes first", policy, "Policy", fields{"compliant": "Pending", "complianceState": "Compliant"}, "Pending"},
		{"P3 even with another value", policy, "Policy", fields{"compliant": "Weird", "complianceState": "Compliant"}, `UnknownValue: status.compliant is "Weird"`},
		{"P3 null is absent", policy, "Policy", fields{"compliant": nil, "complianceState": "NonCompliant"}, "NonCompliant"},
		{"P3 empty is a value", policy, "Policy", fields{"compliant": ""}, `UnknownValue: status.compliant is ""`},
		{"P3 case matters", policy, "Policy", fields{"complianceState": "compliant"}, `UnknownValue: status.complianceState is "compliant"`},
		{"P3 a value of another type", policy, "Policy", fields{"compliant": true}, "UnknownValue: status.compliant is a boolean"},
		{"P3 no status", policy, "Policy", nil, "FieldMissing: status.compliant is missing"},
		{"P3 a status of another type has no fields", policy, "Policy", "Compliant", "FieldMissing: status.compliant is missing"},
		{"P3 P9 a ConstraintTemplate that was created", template, "ConstraintTemplate", fields{"created": true}, "Compliant"},
		{"P3 P9 one that Gatekeeper could not create", template, "ConstraintTemplate", fields{"created": false}, "NonCompliant"},
		{"P3 P9 Gatekeeper leaves false out, and has errors then", template, "ConstraintTemplate",
			fields{"byPod": []any{fields{"id": "a"}, fields{"errors": []any{fields{"code": "rego_parse_error"}}}}}, "NonCompliant"},
		{"P3 P9 created is not said yet", template, "ConstraintTemplate", fields{"byPod": []any{fields{"id": "a"}}}, "FieldMissing: status.created is missing"},
		{"P3 P9 no status of a ConstraintTemplate", template, "ConstraintTemplate", nil, "FieldMissing: status.created is missing"},
		{"P3 P9 created is no boolean", template, "ConstraintTemplate", fields{"created": "true"}, "UnknownValue: status.created is a string"},
		{"P3 P9 another kind of its group has a compliance", template, "Other", nil, "FieldMissing: status.compliant is missing"},
		{"P3 P9 no violations", constraint, "K", fields{"totalViolations": int64(0)}, "Compliant"},
		{"P3 P9 some violations", constraint, "K", fields{"totalViolations": int64(1)}, "NonCompliant"},
		{"P3 P9 as encoding/json reads numbers", constraint, "K", fields{"totalViolations": 2.0}, "NonCompliant"},
		{"P3 P9 absent is not 0", constraint, "K", fields{"compliant": "Compliant"}, "FieldMissing: status.totalViolations is missing"},
		{"P3 P9 fewer than none", constraint, "K", fields{"totalViolations": int64(-1)}, "UnknownValue: status.totalViolations is -1"},
		{"P3 P9 half a violation", constraint, "K", fields{"totalViolations": 0.5}, "UnknownValue: status.totalViolations is 0.5"},
		{"P3 P9 a string is no number", constraint, "K", fields{"totalViolations": "0"}, "UnknownValue: status.totalViolations is a string"},
	} {
		t.Run(test.name, func(t *testing.T) {
			u := &unstructured.Unstructured{Object: fields{"apiVersion": test.apiVersion, "kind": test.kind,
				"metadata": fields{"name": "o"}, "status": test.status}}
			if got := say(dependency.ObservationOf(u, nil)); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

func TestObservationOfErrors(t *testing.T) {
	policies := schema.GroupResource{Group: "policy.open-cluster-management.io", Resource: "policies"}
	kind := schema.GroupKind{Group: "policy.open-cluster-management.io", Kind: "FooPolicy"}
	for _, test := range []struct {
		name string
		u    *unstructured.Unstructured
		err  error
		want dependency.Reason
	}{
		{"P3 a lister without the object", nil, nil, dependency.ReasonNotFound},
		{"P6 an empty object, into which nothing was read", &unstructured.Unstructured{}, nil, ""},
		{"P6 an object of which only the kind is known", &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "templates.gatekeeper.sh/v1", "kind": "ConstraintTemplate"}}, nil, ""},
		{"P3 the server has no such object", nil, apierrors.NewNotFound(policies, "foo"), dependency.ReasonNotFound},
		{"P3 the RESTMapper has no such kind", nil, &meta.NoKindMatchError{GroupKind: kind}, dependency.ReasonNoAPI},
		{"P3 the server has no such resource", nil, apierrors.NewGenericServerResponse(404, "GET", policies, "foo", "404 page not found", 0, true), dependency.ReasonNoAPI},
		{"P3 the server is busy", nil, apierrors.NewTooManyRequests("wait", 1), dependency.ReasonReadFailed},
		{"P3 not allowed to read", nil, apierrors.NewForbidden(policies, "foo", errors.New("no")), dependency.ReasonReadFailed},
		{"P3 any other error, whatever came with it", &unstructured.Unstructured{Object: map[string]any{}}, errors.New("timeout"), dependency.ReasonReadFailed},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := dependency.ObservationOf(test.u, test.err)
			if got.Problem != test.want || got.Compliance != "" {
				t.Errorf("got %v, want %s", got, test.want)
			}
			if test.want == dependency.ReasonReadFailed && got.Detail != test.err.Error() {
				t.Errorf("detail %q, want that of the error", got.Detail)
			}
		})
	}
}

// P3: a ConstraintTemplate that is wanted NonCompliant must not exist, and one that is wanted Compliant must. Whatever
// else is known of it meets neither.
func TestAConstraintTemplateIsThereOrNot(t *testing.T) {
	for _, test := range []struct {
		why         string
		observation dependency.Observation
		absent      string
		there       string
	}{
		{"it exists", dependency.Observation{Compliance: "Compliant"}, "ConstraintTemplate g exists, must not exist", ""},
		{"it was deleted", dependency.Observation{Problem: dependency.ReasonNotFound}, "", "ConstraintTemplate g is not found, must be Compliant"},
		{"Gatekeeper could not create it, but it is there", dependency.Observation{Compliance: "NonCompliant"},
			"ConstraintTemplate g exists, must not exist", "ConstraintTemplate g is NonCompliant, must be Compliant"},
		{"nothing is known of it, but that it is there", dependency.Observation{Problem: dependency.ReasonFieldMissing},
			"ConstraintTemplate g exists, must not exist", "ConstraintTemplate g has no compliance, must be Compliant"},
		{"without Gatekeeper it is unknown, as in OCM", dependency.Observation{Problem: dependency.ReasonNoAPI},
			"ConstraintTemplate g cannot be read: the cluster has no API for templates.gatekeeper.sh/v1 ConstraintTemplate",
			"ConstraintTemplate g cannot be read: the cluster has no API for templates.gatekeeper.sh/v1 ConstraintTemplate"},
		{"a failed read says nothing", dependency.Observation{Problem: dependency.ReasonReadFailed},
			"ConstraintTemplate g cannot be read", "ConstraintTemplate g cannot be read"},
		{"nor does no read", dependency.Observation{}, "ConstraintTemplate g has not been read yet", "ConstraintTemplate g has not been read yet"},
	} {
		templates := evaluate(world("x: a(+g!) b(+g)"), known{object("+g"): test.observation})[0].Templates
		for i, want := range []string{test.absent, test.there} {
			got := ""
			for _, unmet := range templates[i].Unmet {
				got += unmet.String()
			}
			if got != want {
				t.Errorf("%s: %q, want %q", test.why, got, want)
			}
		}
	}
	// It is only so of ConstraintTemplates.
	constraint := world("x: a(#b!)")
	constraint[0].Spec.PolicyTemplates[0].ExtraDependencies[0].APIVersion = "constraints.gatekeeper.sh/v1"
	gone := known{}
	for _, o := range append(watches(constraint), object("#b")) {
		gone[o] = dependency.Observation{Problem: dependency.ReasonNotFound}
	}
	for _, policies := range [][]*policyv1.Policy{constraint, world("x: a(#b!)")} {
		if state := evaluate(policies, gone)[0].Templates[0].State; state != dependency.StatePending {
			t.Errorf("a missing %s makes a template %s", policies[0].Spec.PolicyTemplates[0].ExtraDependencies[0].APIVersion, state)
		}
	}
}
