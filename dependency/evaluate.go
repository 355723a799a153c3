// SPDX-License-Identifier: Apache-2.0

package dependency

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/cohort-ocm/cohort/status/policyv1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Evaluate gives the evaluation of each policy on the cluster with this namespace, sorted by name. It gives the same as
// an [Evaluator] with these policies and observations, and the errors of [Evaluator.Set]. An object without an
// observation counts as not read. A missing object needs an observation with ReasonNotFound. Scope and kinds are as for
// [NewEvaluator].
func Evaluate(
	clusterNamespace string, policies []*policyv1.Policy, observations map[Object]Observation,
	scope func(schema.GroupKind) meta.RESTScopeName, kinds ...schema.GroupKind,
) ([]Evaluation, error) {
	evaluator := NewEvaluator(clusterNamespace, scope, kinds...)
	if _, err := evaluator.Set(policies...); err != nil {
		return nil, err
	}
	elsewhere := func(object Object) bool { return evaluator.cluster.find(object) != object }
	for _, object := range slices.SortedFunc(maps.Keys(observations), Object.compare) {
		if elsewhere(object) {
			evaluator.Observe(object, observations[object])
		}
	}
	// An observation under the name where the object is found counts more than one under another name.
	for object, observation := range observations {
		if !elsewhere(object) {
			evaluator.Observe(object, observation)
		}
	}
	return evaluator.all(), nil
}

// Evaluation has the state of each template of one policy. Without templates its compliance is unknown, and all objects of the
// policy on the cluster are to be deleted.
type Evaluation struct {
	// Policy is the policy's name on the cluster.
	Policy string
	// Templates has an element for each template, in their order.
	Templates []TemplateEvaluation
}

// String has a line for the policy and one for each template.
func (e Evaluation) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s", policyKind, e.Policy)
	for i, template := range e.Templates {
		fmt.Fprintf(&b, "\n  [%d] %s", i, template)
	}
	return b.String()
}

// Compliance gives the compliance of the policy over its templates. Observations are of the objects that these templates
// create, under the names in [TemplateEvaluation]; others are ignored. A missing object needs an observation with
// ReasonNotFound.
//
//   - A ready template counts as the observed compliance of its object, or as unknown (empty) where there is none. It counts
//     as NonCompliant if the object is not this policy's, or cannot be created: another policy comes first, or the cluster
//     has no API for it.
//   - A pending template counts as Pending, or as Compliant with ignorePending. But while its object stays (see
//     [Evaluation.Actions]), it counts as the object's observed compliance, if there is one. Otherwise the templates
//     that wait for its policy would be deleted, or started.
//   - An invalid template counts as NonCompliant, a template of a disabled policy as unknown.
//
// For one template alone, call it on an Evaluation with only this template and the policy's name.
//
// Previous is the compliance in the policy's status now. It stays while an object that counts could not be read, or was
// not read, unless the other templates rule it out. Otherwise a failed read would delete what waits for the policy.
func (e Evaluation) Compliance(observations map[Object]Observation, previous policyv1.ComplianceState) policyv1.ComplianceState {
	parts := make([]policyv1.ComplianceState, len(e.Templates))
	others := []policyv1.ComplianceState{previous} // and what was read
	for i, template := range e.Templates {
		own := observations[template.Object]
		parts[i] = template.compliance(e.Policy, own)
		if !template.counts() || !own.reason(own.Compliance).keeps() {
			others = append(others, parts[i])
		}
	}
	if len(others) <= len(parts) && known(previous) && policyv1.Aggregate(others...) == previous {
		return previous
	}
	return policyv1.Aggregate(parts...)
}

// counts says whether the template counts as what is observed at its object.
func (t TemplateEvaluation) counts() bool {
	return t.State == StateReady || t.keeps()
}

// TemplateEvaluation has the state of one template.
type TemplateEvaluation struct {
	// Object is what the template creates, as it is found on the cluster. It is the zero Object if the definition does
	// not say.
	Object Object
	// State says whether the template may be processed.
	State State
	// Unmet is what a pending template waits for, sorted by object. It is empty in other states.
	Unmet []Unmet
	// Cycle is the path on which a pending template waits for itself, from this template on, if any.
	Cycle Cycle
	// IgnorePending is the template's field.
	IgnorePending bool
	// AlsoIn are the other policies on the cluster that have a template for the same object, in order. Disabled policies and
	// invalid templates are left out. Only one of the policies can own the object.
	AlsoIn []string
	// Behind is the first of them by name that comes before this policy and has its template ready: while the object does not
	// exist, that policy creates it. It is empty if there is none, and for a template that is not ready.
	Behind string
	// Err says why the template is invalid: it has a *field.Error for each fault, with its path in the policy.
	// It is nil in other states.
	Err error
}

// State says whether a template may be processed.
type State string

const (
	// StateReady says that everything that the template waits for is as it must be.
	StateReady State = "Ready"
	// StatePending says that some of it is not.
	StatePending State = "Pending"
	// StateInvalid says that the policy contradicts itself about the template, or cannot be read there.
	StateInvalid State = "Invalid"
	// StateDisabled says that the policy is disabled.
	StateDisabled State = "Disabled"
)

// compliance gives what the template counts as for its policy of this name, given what was observed at its own object.
func (t TemplateEvaluation) compliance(policy string, own Observation) policyv1.ComplianceState {
	observed := own.reason(own.Compliance) == "" && own.Policy == policy
	switch {
	case t.State == StateReady && t.obstacle(policy, own) != "":
		return policyv1.NonCompliant
	case t.State == StateInvalid:
		return policyv1.NonCompliant
	case t.State == StatePending && t.IgnorePending && !(t.keeps() && observed):
		return policyv1.Compliant
	case t.State == StatePending && !(t.keeps() && observed):
		return policyv1.Pending
	case t.State != StateDisabled && observed:
		return own.Compliance
	default:
		return ""
	}
}

// keeps says whether the active object of a pending template stays (P6).
func (t TemplateEvaluation) keeps() bool {
	deletes := func(unmet Unmet) bool { return !unmet.Reason.keeps() }
	return t.State == StatePending && !slices.ContainsFunc(t.Unmet, deletes)
}

// String has the object, the state and the message.
func (t TemplateEvaluation) String() string {
	text := fmt.Sprintf("%s: %s", t.Object, t.State)
	if message := t.Message(); message != "" {
		and := ": "
		if t.State == StateReady {
			and = ", but "
		}
		text += and + message
	}
	return text
}

// TemplateRef names a template: by the name of its policy on the cluster and by its place in spec.policy-templates,
// from 0. Lists of templates are sorted by policy and place.
type TemplateRef struct {
	Policy string `json:"policy"`
	Index  int    `json:"index"`
}

// String is like "default.foo[1]".
func (r TemplateRef) String() string { return fmt.Sprintf("%s[%d]", r.Policy, r.Index) }

func (r TemplateRef) compare(other TemplateRef) int {
	return cmp.Or(strings.Compare(r.Policy, other.Policy), cmp.Compare(r.Index, other.Index))
}

func (e *Evaluator) evaluate(policy *policy) Evaluation {
	evaluation := Evaluation{Policy: policy.name, Templates: make([]TemplateEvaluation, len(policy.templates))}
	for i, template := range policy.templates {
		evaluation.Templates[i] = template.evaluate(e)
	}
	return evaluation
}

func (t *template) evaluate(in *Evaluator) TemplateEvaluation {
	evaluation := TemplateEvaluation{Object: t.object, State: StateReady, IgnorePending: t.ignorePending, AlsoIn: t.alsoIn()}
	switch {
	case t.policy.disabled:
		evaluation.State = StateDisabled
		return evaluation
	case t.err != nil:
		evaluation.State = StateInvalid
		evaluation.Err = t.err
		return evaluation
	}
	for _, requirement := range t.named {
		if reason := t.reason(requirement); reason != "" {
			unmet := Unmet{Object: requirement.Object, Want: requirement.want, Reason: reason, Observation: requirement.observation}
			if reason == ReasonNotFound || reason == ReasonNoAPI {
				if other, exact := in.elsewhere(t.policy.name, requirement.Object); !exact {
					unmet.Elsewhere = other
				}
			}
			evaluation.Unmet = append(evaluation.Unmet, unmet)
		}
	}
	if len(evaluation.Unmet) > 0 {
		evaluation.State = StatePending
		evaluation.Cycle = t.cycle()
		return evaluation
	}
	evaluation.Behind = t.behind()
	return evaluation
}

// reason says why a requirement of the template is unmet; it is empty if it is met. An object on the template's cycle
// is unmet even if it is as wanted; if it is Pending, this is because of the cycle. The same goes for an object that
// leads to an unnamed dependency, since the template may be on a cycle with it (P1).
func (t *template) reason(requirement requirement) Reason {
	reason := requirement.reason()
	pending := reason == ReasonOtherCompliance && requirement.observation.Compliance == policyv1.Pending
	switch {
	case reason != "" && !pending:
		return reason
	case t.component != nil && requirement.target.component == t.component:
		return ReasonOnCycle
	case requirement.target.vague:
		return ReasonUnnamed
	default:
		return reason
	}
}
