// SPDX-License-Identifier: Apache-2.0

package dependencies

import (
	"github.com/cohort-ocm/cohort/dependency"
	"github.com/cohort-ocm/cohort/status/policyv1"
)

type jsonReport struct {
	// Namespace is there where there are several clusters.
	Namespace string       `json:"namespace,omitempty"`
	Policies  []jsonPolicy `json:"policies"`
}

type jsonPolicy struct {
	Name       string                   `json:"name"`
	Compliance policyv1.ComplianceState `json:"compliance,omitempty"`
	Templates  []jsonTemplate           `json:"templates"`
	// Leftovers are what the policy has on the cluster and no template creates.
	Leftovers []jsonAction `json:"leftovers,omitempty"`
}

type jsonTemplate struct {
	State   dependency.State `json:"state"`
	Message string           `json:"message,omitempty"`
	Unmet   []jsonUnmet      `json:"unmet,omitempty"`
	Cycle   dependency.Cycle `json:"cycle,omitempty"`
	Next    jsonAction       `json:"next"`
}

type jsonUnmet struct {
	Object  dependency.Object        `json:"object"`
	Want    policyv1.ComplianceState `json:"want"`
	Found   policyv1.ComplianceState `json:"found,omitempty"`
	Reason  dependency.Reason        `json:"reason"`
	Message string                   `json:"message"`
}

type jsonAction struct {
	Action  dependency.Verb   `json:"action"`
	Object  dependency.Object `json:"object"`
	Message string            `json:"message,omitempty"`
}

// dataOf gives what writeText writes as data: one object, or a list where there are several clusters.
func dataOf(clusters []cluster) any {
	if len(clusters) == 1 {
		return reportOf(clusters[0].results)
	}
	var all []jsonReport
	for _, c := range clusters {
		report := reportOf(c.results)
		report.Namespace = c.namespace
		all = append(all, report)
	}
	return map[string][]jsonReport{"clusters": all}
}

func reportOf(results []result) jsonReport {
	report := jsonReport{Policies: []jsonPolicy{}}
	for _, r := range results {
		p := jsonPolicy{Name: r.Policy, Compliance: r.compliance, Templates: []jsonTemplate{}}
		for i, template := range r.Templates {
			p.Templates = append(p.Templates, jsonOf(template, r.actions[i]))
		}
		for _, action := range r.actions[len(r.Templates):] {
			p.Leftovers = append(p.Leftovers, jsonAction{action.Verb, action.Object, action.Message})
		}
		report.Policies = append(report.Policies, p)
	}
	return report
}

func jsonOf(template dependency.TemplateEvaluation, action dependency.Action) jsonTemplate {
	t := jsonTemplate{
		State:   template.State,
		Message: template.Message(),
		Cycle:   template.Cycle,
		Next:    jsonAction{action.Verb, action.Object, action.Message},
	}
	for _, unmet := range template.Unmet {
		t.Unmet = append(t.Unmet, jsonUnmet{unmet.Object, unmet.Want, unmet.Observation.Compliance, unmet.Reason, unmet.String()})
	}
	return t
}
