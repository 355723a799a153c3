// SPDX-License-Identifier: Apache-2.0

package dependency_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apimachinery/pkg/util/yaml"

	"github.com/cohort-ocm/cohort/dependency"
	"github.com/cohort-ocm/cohort/status/policyv1"
)

// addFixtures seeds a fuzz target with the files of testdata.
func addFixtures(f *testing.F) {
	f.Helper()
	files, err := filepath.Glob("testdata/*.yaml")
	if err != nil || len(files) == 0 {
		f.Fatal(files, err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		for document := range strings.SplitSeq(string(data), "\n---\n") {
			f.Add([]byte(document))
		}
	}
}

// decode returns nil for what is no YAML or no object.
func decode(data []byte) *unstructured.Unstructured {
	u := &unstructured.Unstructured{}
	if yaml.Unmarshal(data, &u.Object) != nil {
		return nil
	}
	return u
}

// Whatever a policy has, it is read or refused with the fields that are wrong, and each template is
// evaluated or says with fields why not.
func FuzzPolicy(f *testing.F) {
	addFixtures(f)
	f.Add([]byte(`{"apiVersion":"policy.open-cluster-management.io/v1","kind":"Policy","metadata":{"name":"x"},
		"spec":{"dependencies":[{"kind":"Policy"}],"policy-templates":[null,{"objectDefinition":[1]},{"objectDefinition":{"metadata":5}}]}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		u := decode(data)
		if u == nil {
			return
		}
		u, err := dependency.Replicate(u, cluster, nil)
		if err != nil {
			return
		}
		p, err := dependency.PolicyOf(u)
		if err != nil {
			t.Fatalf("replicated it cannot be read: %v", err)
		}
		results, err := dependency.Evaluate(cluster, []*policyv1.Policy{p}, nil, nil)
		var fault *field.Error
		if err != nil {
			if !errors.As(err, &fault) {
				t.Fatalf("no field in %v", err)
			}
			return
		}
		if got, want := len(results[0].Templates), len(p.Spec.PolicyTemplates); got != want {
			t.Fatalf("%d results of %d templates", got, want)
		}
		for _, r := range results[0].Templates {
			named := r.Object != dependency.Object{}
			switch {
			case r.State == dependency.StateInvalid && !errors.As(r.Err, &fault):
				t.Fatalf("invalid without a field: %v", r)
			case r.State != dependency.StateInvalid && r.State != dependency.StateDisabled && !named:
				t.Fatalf("%v creates %v", r, r.Object)
			case (r.State == dependency.StatePending) != (len(r.Unmet) > 0):
				t.Fatalf("%s with %d unmet", r.State, len(r.Unmet))
			case strings.Contains(r.Message(), "\n") || len(r.Message()) > 1024:
				t.Fatalf("more than a line, or than 1 kB: %q", r.Message())
			}
		}
		faults := dependency.Validate(p, nil)
		for _, r := range results[0].Templates {
			if r.State == dependency.StateInvalid && len(faults) == 0 {
				t.Fatalf("%v, and the policy is valid", r)
			}
		}
		results[0].Actions(having(results[0].Policy, dependency.Object{Kind: "A", Name: "a"}))
	})
}

// Whatever an object has, its observation has a compliance or a problem, and not both. Without a name it was not read.
func FuzzObservationOf(f *testing.F) {
	addFixtures(f)
	f.Add([]byte(`{"apiVersion":"constraints.gatekeeper.sh/v1","kind":"K","metadata":{"name":"o"},"status":{"totalViolations":1e300}}`))
	f.Add([]byte(`{"apiVersion":5,"metadata":{"name":"o"},"status":{"compliant":["Compliant"]}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		u := decode(data)
		if u == nil {
			return
		}
		got := dependency.ObservationOf(u, nil)
		if u.GetName() == "" {
			if got != (dependency.Observation{}) {
				t.Fatalf("%#v of an object without a name", got)
			}
			return
		}
		if (got.Compliance == "") == (got.Problem == "") {
			t.Fatalf("%#v", got)
		}
		switch got.Compliance {
		case "", policyv1.Compliant, policyv1.NonCompliant, policyv1.Pending:
		default:
			t.Fatalf("%q is no compliance", got.Compliance)
		}
	})
}
