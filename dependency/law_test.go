// SPDX-License-Identifier: Apache-2.0

package dependency_test

import (
	"maps"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/cohort-ocm/cohort/dependency"
	"github.com/cohort-ocm/cohort/status/policyv1"
)

// ready returns the templates that are.
func ready(results []dependency.Evaluation) map[dependency.TemplateRef]bool {
	refs := map[dependency.TemplateRef]bool{}
	for _, r := range results {
		for i, template := range r.Templates {
			if template.State == dependency.StateReady {
				refs[dependency.TemplateRef{Policy: r.Policy, Index: i}] = true
			}
		}
	}
	return refs
}

// templatesOf gives the templates of the policies.
func templatesOf(policies []*policyv1.Policy) []*policyv1.PolicyTemplate {
	var templates []*policyv1.PolicyTemplate
	for i := range policies {
		for j := range policies[i].Spec.PolicyTemplates {
			templates = append(templates, &policies[i].Spec.PolicyTemplates[j])
		}
	}
	return templates
}

// drawPoliciesWithTemplates draws policies that have at least one template between them.
func drawPoliciesWithTemplates(t *rapid.T) []*policyv1.Policy {
	return rapid.Custom(func(t *rapid.T) []*policyv1.Policy { return drawPolicies(t, allWants()...) }).
		Filter(func(policies []*policyv1.Policy) bool { return len(templatesOf(policies)) > 0 }).Draw(t, "policies")
}

// drawTemplate draws one of the policies' templates.
func drawTemplate(t *rapid.T, policies []*policyv1.Policy) *policyv1.PolicyTemplate {
	return rapid.SampledFrom(templatesOf(policies)).Draw(t, "template to change")
}

func TestAddingAMetDependencyChangesNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		policies := drawPoliciesWithTemplates(t)
		observations := drawObservations(t, policies)
		before := lines(evaluate(policies, observations))

		more := clone(policies)
		// It is on an object of its own, or a template that waits for itself would be made.
		met := dependencyOf("#met")
		met.Compliance = rapid.SampledFrom(allWants()).Draw(t, "want of the met")
		observations[found(met)] = dependency.Observation{Compliance: met.Compliance}
		if rapid.Bool().Draw(t, "for a policy") {
			spec := &more[rapid.IntRange(0, len(more)-1).Draw(t, "policy to change")].Spec
			spec.Dependencies = append(spec.Dependencies, met)
		} else {
			template := drawTemplate(t, more)
			template.ExtraDependencies = append(template.ExtraDependencies, met)
		}
		if after := lines(evaluate(more, observations)); after != before {
			t.Fatalf("before\n%s\nafter\n%s", before, after)
		}
	})
}

func TestAddingAnUnmetDependencyMakesNothingReady(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		policies := drawPoliciesWithTemplates(t)
		observations := drawObservations(t, policies)
		before := ready(evaluate(policies, observations))

		more := clone(policies)
		template := drawTemplate(t, more)
		unmet := rapid.Custom(func(t *rapid.T) policyv1.PolicyDependency { return drawDependency(t, allWants()...) }).
			Filter(func(d policyv1.PolicyDependency) bool {
				o := observations[found(d)]
				return o.Problem != "" || o.Compliance != d.Compliance
			}).Draw(t, "unmet")
		template.ExtraDependencies = append(template.ExtraDependencies, unmet)
		for ref := range ready(evaluate(more, observations)) {
			if !before[ref] {
				t.Fatalf("%s became ready", ref)
			}
		}
	})
}

// deletions are the objects that are to be deleted when everything is active.
func deletions(results []dependency.Evaluation) map[dependency.TemplateRef]bool {
	refs := map[dependency.TemplateRef]bool{}
	for _, r := range results {
		var active []dependency.Object
		for _, template := range r.Templates {
			active = append(active, template.Object)
		}
		for _, action := range r.Actions(having(r.Policy, active...)) {
			if action.Verb == dependency.VerbDelete {
				refs[dependency.TemplateRef{Policy: r.Policy, Index: action.Template}] = true
			}
		}
	}
	return refs
}

// P6: whatever reads fail, what is deleted then would have been deleted, had they not.
func TestNothingIsDeletedBecauseAReadFailed(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		policies := drawPolicies(t, allWants()...)
		observations := drawObservations(t, policies)
		before := deletions(evaluate(policies, observations))

		for _, o := range watches(policies) {
			switch rapid.IntRange(0, 3).Draw(t, "read") {
			case 0:
				observations[o] = dependency.Observation{Problem: dependency.ReasonReadFailed, Detail: "timeout"}
			case 1:
				delete(observations, o)
			}
		}
		for ref := range deletions(evaluate(policies, observations)) {
			if !before[ref] {
				t.Fatalf("%s is deleted for what could not be read", ref)
			}
		}
	})
}

// P6: with no observation at all nothing is deleted but what is of disabled policies.
func TestNothingIsDeletedBeforeAnythingIsRead(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		policies := drawPolicies(t, allWants()...)
		for ref := range deletions(evaluate(policies, nil)) {
			if !disabled(policies, ref.Policy) {
				t.Fatalf("%s is deleted", ref)
			}
		}
	})
}

// P8: at the turn of a template in the order, with everything before it as the template wants it and nothing after
// it there, it is ready.
func TestFollowingTheOrderEveryTemplateBecomesReady(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		policies := drawPolicies(t, policyv1.Compliant)
		if newOracle(policies, nil).open() {
			t.Skip("which policy has an object does not follow from the policies")
		}
		e := dependency.NewEvaluator(cluster, nil)
		if _, err := e.Set(policies...); err != nil {
			t.Fatal(err)
		}
		w := newCluster(policies)
		for i, turn := range e.Order().Turns {
			now := ready(w.evaluate())
			for _, ref := range turn {
				if !now[ref] {
					t.Fatalf("%s of turn %d is not ready:\n%s", ref, i, lines(w.evaluate()))
				}
			}
			w.process(turn)
		}
	})
}

// P8: a cluster that creates what is ready, with objects that become compliant once they are created, comes to
// rest with all templates ready but those that Order calls blocked.
func TestTemplatesOnACycleAndWhatHangsOnThemStayPending(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		policies := drawPolicies(t, policyv1.Compliant)
		if newOracle(policies, nil).open() {
			t.Skip("which policy has an object does not follow from the policies")
		}
		e := dependency.NewEvaluator(cluster, nil)
		if _, err := e.Set(policies...); err != nil {
			t.Fatal(err)
		}
		order := e.Order()
		want := map[dependency.TemplateRef]bool{}
		for _, turn := range order.Turns {
			for _, ref := range turn {
				want[ref] = true
			}
		}
		w := newCluster(policies)
		w.run()
		if got := ready(w.evaluate()); !maps.Equal(got, want) {
			t.Fatalf("ready are %v, want those in\n%s\nof\n%s", got, order, lines(w.evaluate()))
		}
	})
}

// P6: reads fail for a while, of what templates wait for and of what they create, and statuses are written all the same.
// Nothing that is active is deleted: neither what waits for the objects that cannot be read, nor what waits for its policy.
func TestFailedReadsDeleteNothingFurtherOn(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		policies := drawPolicies(t, policyv1.Compliant)
		w := newCluster(policies)
		w.run()
		_, observations := w.settle()
		fails := map[dependency.Object]bool{}
		for _, o := range append(watches(policies), allCreated(policies)...) {
			fails[o] = rapid.IntRange(0, 2).Draw(t, "fails") == 0
		}
		for range 5 {
			seen := maps.Clone(observations)
			for o, fails := range fails {
				if fails {
					seen[o] = dependency.Observation{Problem: dependency.ReasonReadFailed}
				}
			}
			results := evaluate(policies, seen)
			for ref := range deletions(results) {
				if w.processed[ref] && !disabled(policies, ref.Policy) {
					t.Fatalf("%s is deleted for what could not be read:\n%s", ref, lines(results))
				}
			}
			for _, r := range results {
				observations[object(r.Policy)] = written(r.Compliance(seen, observations[object(r.Policy)].Compliance))
			}
		}
	})
}

// written is the observation of a policy with this compliance in its status.
func written(c policyv1.ComplianceState) dependency.Observation {
	if c == "" {
		return dependency.Observation{Problem: dependency.ReasonFieldMissing}
	}
	return dependency.Observation{Compliance: c}
}

// allCreated are the objects that the policies' templates create.
func allCreated(policies []*policyv1.Policy) (objects []dependency.Object) {
	for _, p := range policies {
		for _, template := range p.Spec.PolicyTemplates {
			objects = append(objects, created(template))
		}
	}
	return objects
}

func disabled(policies []*policyv1.Policy, name string) bool {
	return slices.ContainsFunc(policies, func(p *policyv1.Policy) bool { return p.Name == name && p.Spec.Disabled })
}

// simulated is a cluster on which templates become compliant when they are processed.
type simulated struct {
	policies  []*policyv1.Policy
	processed map[dependency.TemplateRef]bool
	owners    map[dependency.Object]string // The policy that created the object.
}

func newCluster(policies []*policyv1.Policy) *simulated {
	return &simulated{policies, map[dependency.TemplateRef]bool{}, map[dependency.Object]string{}}
}

func (s *simulated) process(refs []dependency.TemplateRef) {
	for _, ref := range slices.SortedFunc(slices.Values(refs), compareRefs) {
		s.processed[ref] = true
		if o := s.object(ref); s.owners[o] == "" {
			s.owners[o] = ref.Policy
		}
	}
}

func (s *simulated) object(ref dependency.TemplateRef) dependency.Object {
	of := func(p *policyv1.Policy) bool { return p.Name == ref.Policy }
	return created(s.policies[slices.IndexFunc(s.policies, of)].Spec.PolicyTemplates[ref.Index])
}

// run creates what is ready and deletes what is to be deleted, until the cluster is at rest. Something is deleted where an
// object of two policies becomes the first one's, or a policy without it was compliant as it ignored what is pending.
func (s *simulated) run() {
	for {
		before, owners, results := maps.Clone(s.processed), maps.Clone(s.owners), s.evaluate()
		s.process(slices.Collect(maps.Keys(ready(results))))
		for ref := range deletions(results) {
			delete(s.processed, ref)
			if o := s.object(ref); s.owners[o] == ref.Policy {
				delete(s.owners, o)
			}
		}
		if maps.Equal(before, s.processed) && maps.Equal(owners, s.owners) {
			return
		}
	}
}

// evaluate computes what is observed from what was processed until it stays the same: a policy's compliance may
// follow from another's with ignorePending.
func (s *simulated) evaluate() []dependency.Evaluation {
	results, _ := s.settle()
	return results
}

// settle is evaluate, with what is observed in the end.
func (s *simulated) settle() ([]dependency.Evaluation, known) {
	observations := known{}
	for _, o := range watches(s.policies) {
		observations[o] = dependency.Observation{Compliance: policyv1.Compliant}
	}
	for _, p := range s.policies {
		observations[object(p.Name)] = dependency.Observation{Problem: dependency.ReasonFieldMissing}
		for _, template := range p.Spec.PolicyTemplates {
			observations[created(template)] = dependency.Observation{Problem: dependency.ReasonNotFound}
		}
	}
	for _, r := range evaluate(s.policies, nil) {
		for i, template := range r.Templates {
			if s.owners[template.Object] == r.Policy && s.processed[dependency.TemplateRef{Policy: r.Policy, Index: i}] {
				observations[template.Object] = dependency.Observation{Compliance: policyv1.Compliant, Policy: r.Policy}
			}
		}
	}
	results := evaluate(s.policies, observations)
	for before := ""; before != lines(results); results = evaluate(s.policies, observations) {
		before = lines(results)
		for _, r := range results {
			if c := r.Compliance(observations, ""); c != "" {
				observations[object(r.Policy)] = dependency.Observation{Compliance: c}
			}
		}
	}
	return results, observations
}
