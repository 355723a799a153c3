// SPDX-License-Identifier: Apache-2.0

package dependency_test

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/cohort-ocm/cohort/dependency"
	"github.com/cohort-ocm/cohort/status/policyv1"
)

func TestSetRefusesPoliciesThatAreNotOfTheCluster(t *testing.T) {
	named := func(namespace, name string) *policyv1.Policy {
		return &policyv1.Policy{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
	}
	e := dependency.NewEvaluator(cluster, nil)
	_, err := e.Set(named(cluster, "ok"), named("", ""), named("", "ok"), named("default", "x"), nil)
	want := `policies[1].metadata.name: Required value: must be given: a policy is known by its name
policies[ok].metadata.name: Duplicate value: "ok"
policies[x].metadata.namespace: Invalid value: "default": must be the cluster's namespace "managed", or empty
policies[4]: Required value: must not be nil`
	if err == nil || err.Error() != want {
		t.Errorf("got\n%v\nwant\n%s", err, want)
	}
	if results := e.All(); len(results) > 0 {
		t.Errorf("refused, but set: %v", results)
	}
	if _, err := dependency.Evaluate(cluster, []*policyv1.Policy{named("", "")}, nil, nil); err == nil {
		t.Error("Evaluate takes a policy without a name")
	}
}

// The zero values that doc comments promise something of.
func TestZeroValues(t *testing.T) {
	var e dependency.Evaluator
	if e.Observe(object("y"), dependency.Observation{}) != nil || len(e.All()) > 0 || e.Order().String() != "" ||
		len(e.Delete("x").Templates) > 0 {
		t.Error("an evaluator without policies has something")
	}
	if _, found := e.Policy("x"); found {
		t.Error("a policy was found")
	}
	if _, err := e.Set(&policyv1.Policy{ObjectMeta: metav1.ObjectMeta{Name: "x"}}); err != nil {
		t.Error(err)
	}
	if s := (dependency.TemplateEvaluation{State: dependency.StateInvalid}).Message(); s != "" {
		t.Errorf("invalid without an error says %q", s)
	}
	if err := dependency.Validate(nil, nil).ToAggregate(); err == nil {
		t.Error("nil is a valid policy")
	}
	p := &policyv1.Policy{Spec: policyv1.PolicySpec{PolicyTemplates: make([]policyv1.PolicyTemplate, 1)}}
	if err := dependency.Validate(p, nil).ToAggregate(); err == nil {
		t.Error("a template without a definition creates something")
	}
}

// P2: an observation counts for the object that is found, whichever namespace it was given with. One under the
// object's own name counts more.
func TestObservationsOfOneObjectUnderSeveralNames(t *testing.T) {
	own, other := object("y"), object("y")
	other.Namespace = "elsewhere"
	compliant, not := dependency.Observation{Compliance: policyv1.Compliant}, dependency.Observation{Compliance: policyv1.NonCompliant}
	for _, test := range []struct {
		observations known
		want         dependency.State
	}{
		{known{other: compliant}, dependency.StateReady},
		{known{own: compliant, other: not}, dependency.StateReady},
		{known{own: not, other: compliant}, dependency.StatePending},
	} {
		if got := evaluate(world("x: a(y)"), test.observations)[0].Templates[0]; got.State != test.want {
			t.Errorf("with %v: %s, want %s", test.observations, got, test.want)
		}
	}
	e := dependency.NewEvaluator(cluster, nil)
	if _, err := e.Set(world("x: a(y)")...); err != nil {
		t.Fatal(err)
	}
	if got := e.Observe(other, compliant); len(got) != 1 {
		t.Errorf("observed under another name: evaluate %v, want one template", got)
	}
}
