// SPDX-License-Identifier: Apache-2.0

package dependency_test

import (
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	"github.com/cohort-ocm/cohort/dependency"
	"github.com/cohort-ocm/cohort/status/policyv1"
)

// agents is a cluster in virtual time: its objects, the controllers that evaluate them, and a template sync that is written
// as doc.go says.
type agents struct {
	now       time.Time
	policies  map[string]*policyv1.Policy
	statuses  map[string]policyv1.PolicyStatus
	objects   map[dependency.Object]*unstructured.Unstructured
	evaluator *dependency.Evaluator
	writes    int
}

// read observes all objects on the cluster, and what the evaluated policy creates and is missing.
func (a *agents) read(e dependency.Evaluation) known {
	observations := known{}
	for _, template := range e.Templates {
		observations[template.Object] = dependency.Observation{Problem: dependency.ReasonNotFound}
	}
	for o, u := range a.objects {
		observations[o] = dependency.ObservationOf(u, nil)
	}
	return observations
}

// sync is the core of a template sync, for one policy.
func (a *agents) sync(name string) error {
	e, found := a.evaluator.Policy(name)
	observations := a.read(e)
	for _, action := range e.Actions(observations) {
		object, err := dependency.Render(a.policies[name], action)
		if err != nil {
			return err
		}
		a.apply(action.Verb, object)
	}
	if !found {
		return nil
	}
	next := e.Status(a.read(e), a.statuses[name], a.now)
	if details(next) != details(a.statuses[name]) {
		a.statuses[name] = next
		a.writes++
	}
	return nil
}

func (a *agents) apply(verb dependency.Verb, object *unstructured.Unstructured) {
	name := objectOf(object)
	switch verb {
	case dependency.VerbDelete:
		delete(a.objects, name)
		a.writes++
	case dependency.VerbCreate, dependency.VerbUpdate:
		before, found := a.objects[name]
		if found && lineOf(&unstructured.Unstructured{Object: without(before.Object, "status")}) == lineOf(object) {
			return
		}
		if found && before.Object["status"] != nil {
			object.Object["status"] = before.Object["status"]
		}
		a.objects[name] = object
		a.writes++
	}
}

func without(object map[string]any, field string) map[string]any {
	object = maps.Clone(object)
	delete(object, field)
	return object
}

// evaluateObjects has the controllers say of each object what is drawn, once.
func (a *agents) evaluateObjects(t *rapid.T) {
	for _, o := range slices.SortedFunc(maps.Keys(a.objects), compareObjects) {
		u := a.objects[o]
		if u.Object["status"] != nil {
			continue
		}
		c := rapid.SampledFrom([]string{"Compliant", "Compliant", "NonCompliant"}).Draw(t, "compliance")
		status := map[string]any{"compliant": c, "created": c == "Compliant", "totalViolations": map[string]int64{"NonCompliant": 1}[c]}
		status["history"] = []any{map[string]any{"lastTimestamp": a.now.Format(time.RFC3339Nano), "message": c + "; evaluated"}}
		u = u.DeepCopy()
		u.Object["status"] = status
		a.objects[o] = u
	}
}

// settle lets watches, controllers and the sync take turns until nothing is written any more.
func (a *agents) settle(t *rapid.T) {
	for range 200 {
		a.now = a.now.Add(time.Second)
		before := a.writes
		a.evaluateObjects(t)
		for _, o := range watches(slices.Collect(maps.Values(a.policies))) {
			observation := dependency.Observation{Problem: dependency.ReasonNotFound}
			if u, found := a.objects[o]; found {
				observation = dependency.ObservationOf(u, nil)
			} else if st, found := a.statuses[o.Name]; found && o == object(o.Name) {
				observation = written(st.ComplianceState)
			}
			a.evaluator.Observe(o, observation)
		}
		for _, name := range []string{"p", "q", "r"} {
			if err := a.sync(name); err != nil {
				t.Fatal(err)
			}
		}
		if a.writes == before {
			return
		}
	}
	t.Fatalf("the cluster does not come to rest:\n%s", a)
}

// P6, P10, P11, P12: whatever authors do with policies of up to thirty templates, the cluster comes to rest. Then there is
// exactly what ready templates ask for, of the policy that asks, and each status says of its templates what there is.
func TestTemplateSyncComesToRest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		foreign := &unstructured.Unstructured{Object: map[string]any{"apiVersion": policyVersion, "kind": "ConfigurationPolicy"}}
		foreign.SetNamespace(cluster)
		foreign.SetName("e")
		a := &agents{
			now: noon, policies: map[string]*policyv1.Policy{}, statuses: map[string]policyv1.PolicyStatus{},
			objects: map[dependency.Object]*unstructured.Unstructured{object("#e"): foreign}, evaluator: dependency.NewEvaluator(cluster, nil),
		}
		for range rapid.IntRange(1, 4).Draw(t, "steps") {
			a.edit(t)
			a.settle(t)
			a.check(t)
		}
	})
}

// edit sets, edits or deletes a policy.
func (a *agents) edit(t *rapid.T) {
	name := rapid.SampledFrom([]string{"p", "q", "r"}).Draw(t, "policy")
	p := a.policies[name]
	switch {
	case p == nil:
		p = drawPolicy(t, name, policyv1.Compliant)
	case rapid.IntRange(0, 4).Draw(t, "delete") == 0:
		delete(a.policies, name)
		delete(a.statuses, name)
		a.evaluator.Delete(name)
		return
	default:
		p = drawEdit(t, p, policyv1.Compliant)
	}
	p.UID = types.UID("uid-of-" + name)
	p.Spec.RemediationAction = rapid.SampledFrom([]policyv1.RemediationAction{"", "inform", "enforce"}).Draw(t, "action")
	a.policies[name] = p
	if _, err := a.evaluator.Set(p); err != nil {
		t.Fatal(err)
	}
}

func (a *agents) check(t *rapid.T) {
	wanted := map[dependency.Object]bool{object("#e"): true}
	for name := range a.policies {
		e, _ := a.evaluator.Policy(name)
		st := a.statuses[name]
		if len(st.Details) != len(e.Templates) {
			t.Fatalf("%s has %d details of %d templates", name, len(st.Details), len(e.Templates))
		}
		var states []policyv1.ComplianceState
		for i, template := range e.Templates {
			states = append(states, st.Details[i].ComplianceState)
			u, found := a.objects[template.Object]
			mine := found && metav1.GetControllerOf(u) != nil && metav1.GetControllerOf(u).Name == name || found && u.GetNamespace() == "" && u.GetLabels()["policy.open-cluster-management.io/policy"] == name
			if mine {
				wanted[template.Object] = true
			}
			if c := st.Details[i].ComplianceState; template.State == dependency.StateReady && !mine && c != policyv1.NonCompliant {
				t.Fatalf("%s[%d] is ready, has no object, and is %q:\n%s", name, i, c, a)
			}
			if template.State == dependency.StateDisabled && mine {
				t.Fatalf("%s[%d] is disabled, and has its object:\n%s", name, i, a)
			}
		}
		if got, want := st.ComplianceState, policyv1.Aggregate(states...); got != want {
			t.Fatalf("%s is %q, and its templates together %q:\n%s", name, got, want, a)
		}
	}
	for o := range a.objects {
		if !wanted[o] {
			t.Fatalf("%s is no template's:\n%s", o, a)
		}
	}
	if u := a.objects[object("#e")]; u == nil || len(u.GetLabels()) > 0 {
		t.Fatalf("an object of no policy was touched:\n%s", a)
	}
}

func (a *agents) String() string {
	text := lines(a.evaluator.All())
	for _, name := range slices.Sorted(maps.Keys(a.statuses)) {
		text += fmt.Sprintf("\n%s %s", name, details(a.statuses[name]))
	}
	return text
}
