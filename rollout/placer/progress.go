// SPDX-License-Identifier: Apache-2.0

package placer

import (
	"strings"

	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/status"
)

// Summary is the summary of all Placements. If there are several, the counts are added up, and each text begins with the
// name of its Placement.
func (p Progress) Summary() status.Summary {
	if len(p.Placements) == 1 {
		return p.Placements[0].Summary()
	}
	all := status.Summary{Version: p.Version}
	for _, placed := range p.Placements {
		add(&all, placed.Name, placed.Summary())
	}
	return all
}

// add adds the summary of a Placement.
func add(to *status.Summary, placement string, summary status.Summary) {
	named := func(text string) string {
		if text == "" {
			return ""
		}
		return prefixOf(placement) + text
	}
	to.Counts = to.Counts.Add(summary.WithoutMoved())
	for _, group := range summary.Groups {
		group.Group.Placement = placement
		to.Groups = append(to.Groups, group)
	}
	to.Removed += summary.Removed
	to.Incomplete = joined(to.Incomplete, named(summary.Incomplete))
	to.Breach = joined(to.Breach, named(summary.Breach))
	to.Paused = joined(to.Paused, named(summary.Paused))
	for _, text := range summary.Gates {
		to.Gates = append(to.Gates, named(text))
	}
	for _, text := range summary.Waiting {
		if text == summary.Incomplete || text == summary.Breach || text == summary.Paused {
			continue // it is said above, joined with those of other Placements
		}
		to.Waiting = append(to.Waiting, named(text))
	}
}

// joined are two texts, of which one may be empty.
func joined(a, b string) string {
	return strings.TrimPrefix(strings.TrimSuffix(a+"; "+b, "; "), "; ")
}

// prefixOf begins a sentence about one Placement of several.
func prefixOf(placement string) string { return "placement " + placement + ": " }

// prefix begins sentences about a Placement. It is empty if there is no other.
func (p Progress) prefix(placed PlacementProgress) string {
	if len(p.Placements) == 1 {
		return ""
	}
	return prefixOf(placed.Name)
}

// changed says whether there is anything new.
func (p Progress) changed() string {
	var all []string
	for _, placed := range p.Placements {
		if changes := placed.Changes.String(); changes != "" {
			all = append(all, p.prefix(placed)+changes)
		}
	}
	return strings.Join(all, "; ")
}

// results are those of all Placements.
func (p Progress) results() []*rollout.Result {
	all := make([]*rollout.Result, len(p.Placements))
	for i, placed := range p.Placements {
		all[i] = placed.Result
	}
	return all
}
