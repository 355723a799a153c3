// SPDX-License-Identifier: Apache-2.0

package requirements

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	sig "sigs.k8s.io/cluster-inventory-api/apis/v1alpha1"
)

const maxClusters = 100

// revisionLabel is in the KEP's text, but neither in its API definition nor among the constants of the API.
const revisionLabel = "multicluster.x-k8s.io/decision-revision"

// look returns the findings at a moment, and whether there was something to test.
type look func(*moment) (found []string, tested bool)

// rule is a requirement with a look at each event, or at each rest.
type rule struct {
	Requirement
	always, atRest look
	untested       string
}

var rules = []rule{
	{Requirement{"slice-size", "Slicing", "a slice has at most 100 clusters"}, size, nil, "no slice was written"},
	{Requirement{"slicing", "Slicing, Lifecycle", "more than 100 clusters are in several slices"}, nil, slicing, "at most 100 clusters were selected"},
	{Requirement{"decision-key", "Slicing", "several slices have the same decision-key"}, key, nil, "there were never two slices"},
	{Requirement{"placement-key", "Terminology", "all slices have one placement-key, or none"}, nil, onLabel(sig.PlacementKeyLabel), "no slice has one; it is optional"},
	{Requirement{"index-value", "API Specification", "a decision-index is a number from 0"}, indexValue, nil, "no slice has a decision-index; it is optional"},
	{Requirement{"decision-index", "Slicing", "indexes count slices: 0, 1, 2 and so on"}, nil, indexes, "no slice has a decision-index; it is optional"},
	{Requirement{"order", "Lifecycle", "indexes follow the order of the selection"}, nil, order, "the order is unknown"},
	{Requirement{"revision", "Consumer Discovery", "all slices have one decision-revision, or none"}, nil, onLabel(revisionLabel), "no slice has one; the KEP asks no producer for it, and the API has no such label"},
	{Requirement{"names", "Consumer Discovery", "slices are found by their key, or are named BASE-INDEX"}, nil, names, "there was at most one slice"},
	{Requirement{"references", "Summary, Relationship", "each reference is to a ClusterProfile that exists"}, references, nil, "the existing ClusterProfiles are unknown"},
	{Requirement{"one-to-one", "Summary", "at rest, a cluster is in one slice"}, nil, once, "the writer was never at rest"},
	{Requirement{"selected", "Lifecycle", "at rest, the slices have the selected clusters"}, nil, whole, "the selection is unknown"},
	{Requirement{"never-absent", "Lifecycle", "a cluster that stays selected is always in some slice, since consumers remove workloads"}, absent, nil, "no cluster was selected"},
	{Requirement{"restart", "Lifecycle", "the same across a restart of the writer"}, restarted, nil, "there was no restart; see -stop and -start"},
	{Requirement{"delete", "Lifecycle", "no slice remains of a decision that is no longer required"}, nil, deleted, "no decision was deleted"},
	{Requirement{"ownership", "Ownership", "slices of other writers are not touched"}, ownership, nil, "there was no slice of another writer"},

	{Requirement: Requirement{"read-only", "Ownership", "consumers and their rights only read"}, untested: "it is a duty of consumers and of the hub's RBAC"},
	{Requirement: Requirement{"consumers", "Lifecycle", "consumers add and remove workloads"}, untested: "it is a duty of consumers"},
	{Requirement: Requirement{"webhook", "API Specification", "admission checks references and indexes"}, untested: "it is optional, and the hub's"},
	{Requirement: Requirement{"no-change", "Lifecycle", "an equal set is written equally, so that consumers get no event"}, untested: "it is optional, and an equal write is not seen from outside"},
	{Requirement: Requirement{"reasons", "API Definition", "reason and schedulerName"}, untested: "they are optional free text"},
}

func size(m *moment) (found []string, tested bool) {
	if m.changed == nil {
		return nil, false
	}
	if n := len(m.changed.Decisions); n > maxClusters {
		found = []string{fmt.Sprintf("%s has %d clusters", m.changed.Name, n)}
	}
	return found, true
}

func slicing(m *moment) (found []string, tested bool) {
	if len(m.selected) <= maxClusters {
		return nil, false
	}
	shown := 0
	for ref := range m.selected {
		if m.in[ref] > 0 {
			shown++
		}
	}
	if shown < len(m.selected) {
		found = []string{fmt.Sprintf("%d clusters are selected, and %d slices have %d of them", len(m.selected), len(m.slices), shown)}
	}
	return found, true
}

func key(m *moment) (found []string, tested bool) {
	if m.changed == nil {
		return nil, false
	}
	return shared(m)
}

func shared(m *moment) (found []string, tested bool) {
	all := m.names()
	if len(all) < 2 {
		return nil, false
	}
	first := m.slices[all[0]].Labels[sig.DecisionKeyLabel]
	for _, name := range all[1:] {
		if key := m.slices[name].Labels[sig.DecisionKeyLabel]; first == "" || key != first {
			return []string{fmt.Sprintf("%s has the key %q, and %s has %q", all[0], first, name, key)}, true
		}
	}
	return nil, true
}

// onLabel checks an optional label that all slices share.
func onLabel(label string) look {
	return func(m *moment) (found []string, tested bool) {
		byValue := map[string]string{}
		for _, name := range m.names() {
			value, has := m.slices[name].Labels[label]
			tested = tested || has
			byValue[value] = cmp.Or(byValue[value], name)
		}
		if values := slices.Sorted(maps.Keys(byValue)); tested && len(values) > 1 {
			found = []string{fmt.Sprintf("%s has %q, and %s has %q", byValue[values[0]], values[0], byValue[values[1]], values[1])}
		}
		return found, tested
	}
}

// index returns the number in the label of a slice, and whether there is such a label.
func index(s *sig.PlacementDecision) (number int, err error, has bool) {
	label, has := s.Labels[sig.DecisionIndexLabel]
	if !has {
		return 0, nil, false
	}
	n, err := strconv.ParseUint(label, 10, 31)
	return int(n), err, true
}

func indexValue(m *moment) (found []string, tested bool) {
	if m.changed == nil {
		return nil, false
	}
	_, err, has := index(m.changed)
	if err != nil {
		found = []string{fmt.Sprintf("%s has the index %q", m.changed.Name, m.changed.Labels[sig.DecisionIndexLabel])}
	}
	return found, has
}

func indexes(m *moment) (found []string, tested bool) {
	owner, without := map[int]string{}, ""
	for _, name := range m.names() {
		i, _, has := index(m.slices[name])
		switch other, twice := owner[i]; {
		case !has:
			without = name
			continue
		case twice:
			found = append(found, fmt.Sprintf("%s and %s both have the index %d", other, name, i))
		}
		owner[i] = name
	}
	if len(owner) > 0 && without != "" {
		found = append(found, without+" has no index, and others have one")
	}
	for i := range len(m.slices) {
		if _, has := owner[i]; !has && len(owner) > 0 && len(found) == 0 {
			found = append(found, fmt.Sprintf("%d slices, and none has the index %d", len(m.slices), i))
		}
	}
	return found, len(owner) > 0
}

// order checks that slices sorted by index have the groups in order.
func order(m *moment) (found []string, tested bool) {
	all := m.names()
	for _, name := range all {
		if _, _, has := index(m.slices[name]); !has {
			return nil, false
		}
	}
	slices.SortStableFunc(all, func(a, b string) int {
		i, _, _ := index(m.slices[a])
		j, _, _ := index(m.slices[b])
		return i - j
	})
	last, where := 0, ""
	for _, name := range all {
		for _, ref := range refs(m.slices[name]) {
			group, known := m.selected[ref]
			if known && group < last {
				return []string{fmt.Sprintf("%s of group %d is in %s, which comes after %s with group %d", show(ref), group, name, where, last)}, true
			}
			if known && group > last {
				last, where = group, name
			}
		}
	}
	return nil, len(m.step.Selected) > 1
}

func names(m *moment) (found []string, tested bool) {
	all := m.names()
	if len(all) < 2 {
		return nil, false
	}
	if found, _ := shared(m); found == nil {
		return nil, true
	}
	for _, name := range all {
		cut := strings.LastIndexByte(name, '-') + 1
		if n, err := strconv.ParseUint(name[cut:], 10, 31); err != nil || int(n) >= len(all) || name[:cut] != all[0][:strings.LastIndexByte(all[0], '-')+1] {
			return []string{fmt.Sprintf("%s and %s have no key in common, and %s is not BASE-INDEX", all[0], all[len(all)-1], name)}, true
		}
	}
	return nil, true
}

func references(m *moment) (found []string, tested bool) {
	for _, ref := range refs(m.changed) {
		switch {
		case ref.Name == "":
			found = append(found, m.changed.Name+" has a reference without a name")
		case m.profiles != nil && !m.profiles[ref]:
			found = append(found, fmt.Sprintf("%s has %s, and there is no such ClusterProfile", m.changed.Name, show(ref)))
		}
	}
	return found, m.profiles != nil && len(refs(m.changed)) > 0
}

func once(m *moment) (found []string, tested bool) {
	for _, ref := range sorted(m.in) {
		if m.in[ref] > 1 {
			found = append(found, fmt.Sprintf("%s is in %d slices", show(ref), m.in[ref]))
		}
	}
	return found, true
}

func whole(m *moment) (found []string, tested bool) {
	if m.selected == nil {
		return nil, false
	}
	for _, ref := range sorted(m.selected) {
		if m.in[ref] == 0 {
			found = append(found, show(ref)+" is selected and in no slice")
		}
	}
	for _, ref := range sorted(m.in) {
		if _, selected := m.selected[ref]; !selected {
			found = append(found, show(ref)+" is in a slice and not selected")
		}
	}
	return found, true
}

func absent(m *moment) (found []string, tested bool) { return m.found, len(m.in) > 0 }

func restarted(m *moment) (found []string, tested bool) {
	if !m.step.Restart {
		return nil, false
	}
	return m.found, true
}

func deleted(m *moment) (found []string, tested bool) {
	if !m.step.Delete {
		return nil, false
	}
	for _, name := range m.names() {
		found = append(found, name+" is left")
	}
	return found, true
}

func ownership(m *moment) (found []string, tested bool) {
	for name, writes := range m.strange {
		if writes > 1 {
			found = append(found, name+" was written by another writer")
		}
	}
	return found, len(m.strange) > 0
}
