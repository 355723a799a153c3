// SPDX-License-Identifier: Apache-2.0

package scenario

import (
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/cohort-ocm/cohort/dependency"
	"github.com/cohort-ocm/cohort/examples/internal/manifest"
	"github.com/cohort-ocm/cohort/status/policyv1"
)

// setsByName are the PolicySets, as Replicate asks for them.
func (o *objects) setsByName() map[types.NamespacedName]*policyv1.PolicySet {
	sets := make(map[types.NamespacedName]*policyv1.PolicySet, len(o.policySets))
	for _, set := range o.policySets {
		sets[types.NamespacedName{Namespace: set.typed.Namespace, Name: set.typed.Name}] = set.typed
	}
	return sets
}

// depend notes on which clusters dependencies of the policy are not met, as far as the replicated policies there say: a forecast has no
// such cluster succeed.
func (s *Scenario) depend(r applier, o *objects) {
	extra := func(template policyv1.PolicyTemplate) bool { return len(template.ExtraDependencies) > 0 }
	if len(r.policy.Spec.Dependencies) == 0 && !slices.ContainsFunc(r.policy.Spec.PolicyTemplates, extra) {
		return
	}
	on := make(map[string][]manifest.Object)
	for _, object := range o.replicated {
		on[object.GetNamespace()] = append(on[object.GetNamespace()], object)
	}
	clusters := make(map[string][]string) // by what they wait for
	var all []string
	s.dependent = make(map[string]bool)
	sets := o.setsByName()
	for i := range s.Groups.NumClusters() {
		cluster := s.Groups.Cluster(i)
		if len(on[cluster]) == 0 {
			continue
		}
		for _, unmet := range r.unmet(cluster, on[cluster], sets) {
			s.dependent[cluster] = true
			if clusters[unmet] == nil {
				all = append(all, unmet)
			}
			clusters[unmet] = append(clusters[unmet], cluster)
		}
	}
	slices.Sort(all)
	for _, unmet := range all {
		s.noteClusters("pending until a dependency is met, which a forecast does not assume: "+unmet, clusters[unmet])
	}
}

// unmet are the dependencies of a policy on a cluster that are not met, by the replicated policies there.
func (r applier) unmet(cluster string, there []manifest.Object, sets map[types.NamespacedName]*policyv1.PolicySet) (unmet []string) {
	replica, err := dependency.Replicate(&r.Unstructured, cluster, sets)
	if err != nil {
		return nil
	}
	policy, err := dependency.PolicyOf(replica)
	if err != nil {
		return nil
	}
	evaluator := dependency.NewEvaluator(cluster, nil, dependency.Kinds()...)
	watches, err := evaluator.Set(policy)
	if err != nil {
		return nil
	}
	known := make(map[dependency.Object]bool)
	for _, object := range watches.Add {
		i := slices.IndexFunc(there, func(p manifest.Object) bool {
			return object.Kind == p.GetKind() && object.APIVersion == p.GetAPIVersion() && object.Name == p.GetName()
		})
		switch {
		case i >= 0:
			evaluator.Observe(object, dependency.ObservationOf(&there[i].Unstructured, nil))
			known[object] = true
		case object.Kind == "Policy" && slices.ContainsFunc(there, func(p manifest.Object) bool { return p.GetName() == replica.GetName() }):
			evaluator.Observe(object, dependency.Observation{Problem: dependency.ReasonNotFound})
			known[object] = true
		}
	}
	evaluation, _ := evaluator.Policy(policy.Name)
	for _, template := range evaluation.Templates {
		for _, u := range template.Unmet {
			if text := u.String(); known[u.Object] && !template.IgnorePending && !slices.Contains(unmet, text) {
				unmet = append(unmet, text)
			}
		}
	}
	return unmet
}
