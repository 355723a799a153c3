// SPDX-License-Identifier: Apache-2.0

package output

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/cohort-ocm/cohort/examples/kubectl-cohort/internal/policy"
	"github.com/cohort-ocm/cohort/examples/kubectl-cohort/internal/scenario"
	"github.com/cohort-ocm/cohort/override"
	"github.com/cohort-ocm/cohort/override/passes"
	"github.com/cohort-ocm/cohort/status"
	"github.com/cohort-ocm/cohort/status/policyv1"
)

// Policy is where a root policy goes and what its status comes to.
type Policy struct {
	// Action is the policy's own; empty where its templates decide.
	Action   string    `json:"remediationAction"`
	Bindings []Binding `json:"bindings"`
	// Clusters are the bound ones, by name, with the action that each has in the end.
	Clusters []Bound   `json:"clusters"`
	Ignored  []Ignored `json:"ignored,omitempty"`
	// Status is the root policy's at the end.
	Status policyv1.PolicyStatus `json:"status"`
}

// Binding is a PlacementBinding and what it does.
type Binding struct {
	Name         string                `json:"name"`
	PlacementRef policyv1.PlacementRef `json:"placementRef"`
	Enforce      bool                  `json:"enforce,omitempty"`
	SubFilter    bool                  `json:"subFilter,omitempty"`
	// Excluded are the clusters that a PolicySet keeps the policy off.
	Excluded []string `json:"excluded,omitempty"`
	// Selects is how many clusters the placement selects, Binds how many of them this binding binds, and Enforces how
	// many are enforced because of it.
	Selects  int `json:"selects"`
	Binds    int `json:"binds"`
	Enforces int `json:"enforces"`
}

// Bound is a cluster that the policy is bound to, its action there, and the bindings that made it so. Nothing decided
// where the action is the policy's own.
type Bound struct {
	Name      string   `json:"name"`
	Action    string   `json:"action"`
	BoundBy   []string `json:"boundBy"`
	DecidedBy []string `json:"decidedBy,omitempty"`
}

// Ignored is a binding that had no effect, or not all of its.
type Ignored struct {
	Binding string               `json:"binding"`
	Type    override.IgnoredType `json:"type"`
	Message string               `json:"message"`
}

// Pass is what was written to replicated policies at once, and the root policy's status after it.
type Pass struct {
	Changes         []Change             `json:"changes,omitempty"`
	ComplianceState string               `json:"compliant,omitempty"`
	RolloutStatus   status.RolloutStatus `json:"rolloutStatus"`
}

// Change is the clusters with a replicated policy that got an action and a rollout status.
type Change struct {
	Action        string               `json:"action"`
	RolloutStatus status.RolloutStatus `json:"rolloutStatus"`
	Clusters      []string             `json:"clusters"`
}

// newPolicy says where the policy goes, and what its status is in the end.
func newPolicy(p *scenario.Policy, status policyv1.PolicyStatus) *Policy {
	shown := &Policy{Action: string(p.Resolution.Action()), Bindings: []Binding{}, Clusters: []Bound{}, Status: status}
	binds, enforces := make(map[string]int), make(map[string]int)
	for c := range p.Resolution.Clusters() {
		shown.Clusters = append(shown.Clusters, Bound{c.Name, string(c.Action), c.BoundBy, c.DecidedBy})
		for _, by := range c.BoundBy {
			binds[by]++
		}
		for _, by := range c.DecidedBy {
			enforces[by]++
		}
	}
	for _, b := range p.Bindings {
		shown.Bindings = append(shown.Bindings, Binding{
			Name: b.Name, PlacementRef: b.PlacementRef, Enforce: b.Enforce, SubFilter: b.SubFilter, Excluded: b.Excluded,
			Selects: b.Groups.NumClusters(), Binds: binds[b.Name], Enforces: enforces[b.Name],
		})
	}
	for _, ignored := range p.Resolution.Ignored() {
		shown.Ignored = append(shown.Ignored, Ignored(ignored))
	}
	return shown
}

// passesUntil are those until then, and the rest.
func passesUntil(all []policy.Pass, then time.Time) (shown []Pass, rest []policy.Pass) {
	for i, pass := range all {
		if pass.Time.After(then) {
			return shown, all[i:]
		}
		shown = append(shown, Pass{changes(pass.Changes), string(pass.ComplianceState), pass.RolloutStatus})
	}
	return shown, nil
}

// changes puts clusters together that got the same, which are by name then. What came to its end is before what starts.
func changes(all []passes.Cluster) (shown []Change) {
	type got struct {
		action policyv1.RemediationAction
		status status.RolloutStatus
	}
	clusters := make(map[got][]string)
	for _, c := range all {
		key := got{c.Action, c.RolloutStatus}
		clusters[key] = append(clusters[key], c.Name)
	}
	for _, key := range slices.SortedFunc(maps.Keys(clusters), func(a, b got) int {
		return cmp.Or(cmp.Compare(rank(a.status), rank(b.status)), cmp.Compare(a.action, b.action))
	}) {
		shown = append(shown, Change{string(key.action), key.status, clusters[key]})
	}
	return shown
}

// rank is where a rollout status stands among others of a pass.
func rank(s status.RolloutStatus) int {
	return slices.Index([]status.RolloutStatus{
		status.ToApply, status.Succeeded, status.Failed, status.TimeOut, status.Progressing,
	}, s)
}
