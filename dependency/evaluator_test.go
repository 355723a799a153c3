package dependency_test

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/cohort-ocm/cohort/dependency"
)

func TestSetRefusesPoliciesThatAreNotOfTheCluster(t *testing.T) {
	named := func(namespace, name string) dependency.Policy {
		return dependency.Policy{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
	}
	e := dependency.NewEvaluator(cluster)
	_, err := e.Set(named(cluster, "ok"), named("", ""), named("", "ok"), named("default", "x"))
	want := `metadata.name: Required value: a policy is known by its name
metadata.name: Duplicate value: "ok"
metadata.namespace: Invalid value: "default": policy x is evaluated on the cluster: want its namespace "managed", or none`
	if err == nil || err.Error() != want {
		t.Errorf("got\n%v\nwant\n%s", err, want)
	}
	if results := e.Policies(); len(results) > 0 {
		t.Errorf("refused, but set: %v", results)
	}
	if _, err := dependency.Evaluate(cluster, []dependency.Policy{named("", "")}, nil); err == nil {
		t.Error("Evaluate takes a policy without a name")
	}
}

// The zero values that doc comments promise something of.
func TestZeroValues(t *testing.T) {
	var e dependency.Evaluator
	if e.Observe(object("y"), dependency.Observation{}) != nil || e.Dependents(object("y")) != nil || len(e.Watches()) > 0 ||
		len(e.Cycles()) > 0 || len(e.Policies()) > 0 || e.Order().String() != "" || len(e.Delete("x").Templates) > 0 {
		t.Error("an evaluator without policies has something")
	}
	if _, found := e.Policy("x"); found {
		t.Error("a policy was found")
	}
	if _, err := e.Set(dependency.Policy{ObjectMeta: metav1.ObjectMeta{Name: "x"}}); err != nil {
		t.Error(err)
	}
	for _, ref := range []dependency.TemplateRef{{}, {Policy: "x"}, {Policy: "x", Index: -1}} {
		if _, found := e.Template(ref); found {
			t.Errorf("%s was found", ref)
		}
	}
	if s := (dependency.TemplateResult{State: dependency.StateInvalid}).Message(); s != "" {
		t.Errorf("invalid without an error says %q", s)
	}
	if _, err := (dependency.PolicyTemplate{}).Object(); err == nil {
		t.Error("a template without a definition creates something")
	}
	var none dependency.PolicyTemplate
	none.ObjectDefinition = runtime.RawExtension{Raw: []byte("null")}
	if _, err := none.Object(); err == nil {
		t.Error("a template whose definition is null creates something")
	}
}
