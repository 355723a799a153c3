// SPDX-License-Identifier: Apache-2.0

package requirements

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	sig "sigs.k8s.io/cluster-inventory-api/apis/v1alpha1"
)

// Outcome is whether a writer meets a requirement.
type Outcome string

// The outcomes.
const (
	OutcomePass      Outcome = "pass"
	OutcomeFail      Outcome = "fail"
	OutcomeNotTested Outcome = "not tested"
)

// Requirement is a requirement of KEP-5313, or one that follows from it.
type Requirement struct {
	Name    string
	Section string // of the KEP
	Says    string
}

// Result is the outcome of one requirement.
type Result struct {
	Requirement
	Outcome Outcome

	// Why is the smallest finding (fewest clusters, then shortest), or the reason why the requirement was not tested.
	Why string

	// Findings is the number of findings.
	Findings int

	clusters int // selected or shown at the smallest finding
}

// String returns the line for a report.
func (r Result) String() string {
	line := fmt.Sprintf("%-10s %-17s %s (%s)", r.Outcome, r.Name, r.Says, r.Section)
	if r.Why != "" {
		line += ": " + r.Why
	}
	if r.Findings > 1 {
		line += fmt.Sprintf("; %d findings in all", r.Findings)
	}
	return line
}

// Check judges the history of one decision. It returns one result for each requirement, in the KEP's order. Profiles are
// the existing ClusterProfiles; nil if they are unknown. A requirement is not tested if the history lacks what it needs.
func Check(history []Event, profiles map[Ref]bool) []Result {
	m := newMoment(profiles)
	results := make([]Result, len(rules))
	for i, r := range rules {
		results[i] = Result{Requirement: r.Requirement, Outcome: OutcomeNotTested, Why: r.untested}
	}
	for i, event := range history {
		m.number = i + 1
		m.replay(event)
		for i, r := range rules {
			if r.always != nil {
				results[i].add(m, r.always)
			}
			if r.atRest != nil && event.Rest {
				results[i].add(m, r.atRest)
			}
		}
	}
	return results
}

// Pending says whether there would be a finding at rest now, so that a writer seems to need more time.
func Pending(history []Event) bool {
	m := newMoment(nil)
	for _, event := range history {
		m.replay(event)
	}
	for _, r := range rules {
		if r.atRest != nil {
			if found, _ := r.atRest(m); len(found) > 0 {
				return true
			}
		}
	}
	return false
}

func newMoment(profiles map[Ref]bool) *moment {
	return &moment{slices: map[string]*sig.PlacementDecision{}, in: map[Ref]int{}, seen: map[Ref]bool{}, lost: map[Ref]loss{},
		strange: map[string]int{}, profiles: profiles}
}

// add runs a look, and adds its findings.
func (r *Result) add(m *moment, look look) {
	found, tested := look(m)
	if tested && r.Outcome == OutcomeNotTested {
		r.Outcome, r.Why = OutcomePass, ""
	}
	clusters := max(len(m.selected), len(m.in))
	for _, finding := range found {
		if m.step.Name != "" {
			finding = m.step.Name + ": " + finding
		}
		if r.Outcome != OutcomeFail || cmp.Or(clusters-r.clusters, len(finding)-len(r.Why)) < 0 {
			r.Why, r.clusters = finding, clusters
		}
		r.Outcome = OutcomeFail
		r.Findings++
	}
}

// replay applies one event.
func (m *moment) replay(event Event) {
	m.found, m.changed = nil, nil
	switch {
	case event.Slice != nil:
		m.put(event.Slice.Name, event.Slice)
	case event.Gone != "":
		m.put(event.Gone, nil)
	case event.Stranger != "":
		m.strange[event.Stranger]++
	case event.Step != nil:
		m.begin(*event.Step)
	}
}

func (m *moment) begin(step Step) {
	m.step, m.selected = step, nil
	if step.Selected == nil && !step.Delete {
		return
	}
	m.selected = step.selected()
	for ref := range m.seen {
		if _, stays := m.selected[ref]; !stays {
			delete(m.seen, ref)
		}
	}
	for ref, l := range m.lost {
		if _, stays := m.selected[ref]; !stays || !l.stays {
			delete(m.lost, ref)
		}
	}
}

// put stores or deletes a slice, and tracks which clusters appear and disappear.
func (m *moment) put(name string, s *sig.PlacementDecision) {
	before := m.slices[name]
	if s == nil {
		delete(m.slices, name)
	} else {
		m.slices[name], m.changed = s, s
	}
	for _, ref := range refs(s) {
		m.in[ref]++
		if l, back := m.lost[ref]; back {
			if l.stays || m.selected == nil {
				m.found = append(m.found, fmt.Sprintf("%s is in no slice: %s loses it in event %d, %s gains it in event %d", show(ref), l.slice, l.number, name, m.number))
			}
			delete(m.lost, ref)
		}
		if _, stays := m.selected[ref]; stays {
			m.seen[ref] = true
		}
	}
	for _, ref := range refs(before) {
		if m.in[ref]--; m.in[ref] == 0 {
			delete(m.in, ref)
			m.lost[ref] = loss{name, m.number, m.seen[ref]}
		}
	}
}

func (m *moment) names() []string { return slices.Sorted(maps.Keys(m.slices)) }

func show(ref Ref) string { return ref.Namespace + "/" + ref.Name }

func sorted[V any](all map[Ref]V) []Ref {
	return slices.SortedFunc(maps.Keys(all), func(a, b Ref) int { return strings.Compare(show(a), show(b)) })
}
