// SPDX-License-Identifier: Apache-2.0

package rollout

import (
	"fmt"
	"slices"
	"strings"

	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/rollout/internal/fleet"
)

// Breach is a budget that too many failures exceed, so that nothing starts anywhere.
type Breach struct {
	// Group is the group whose budget is breached, unless AllGroups.
	Group grouping.Key `json:"group"`
	// AllGroups says that the budget is the one over all clusters.
	AllGroups bool `json:"allGroups,omitempty"`
	// Mandatory says that the group is a mandatory one, which tolerates no failure.
	Mandatory bool `json:"mandatory,omitempty"`
	// Lasting says that the groups have changed since: these clusters were too many failures of a group, or of a percentage of all, as
	// those were then.
	Lasting bool `json:"lasting,omitempty"`
	// Failures is how many were counted, and MaxFailures how many are tolerated.
	Failures    int `json:"failures"`
	MaxFailures int `json:"maxFailures"`
	// Clusters names the first three that failed, in the order of their names, and Deselected the ones among them that are not
	// selected any more.
	Clusters   []string `json:"clusters,omitempty"`
	Deselected []string `json:"deselected,omitempty"`
	// Lost is how many of them cannot recover: nothing that has the version is there any more, and only the record tells of them.
	Lost int `json:"lost,omitempty"`
}

// String is a sentence without its full stop: `the rollout is stopped: a, b and 3 more failed in group 1 "canary", maxFailures is 0;
// the rollout continues once none of these is failed or timed out`.
func (b Breach) String() string { return theRolloutStopped + ": " + b.detail() }

const theRolloutStopped = "the rollout is stopped"

func (b *Breach) detail() string {
	var s strings.Builder
	if len(b.Clusters) == 0 {
		fmt.Fprintf(&s, "%s failed", clusters(b.Failures))
	} else {
		names := slices.Clone(b.Clusters)
		for i := range names {
			if slices.Contains(b.Deselected, names[i]) {
				names[i] += deselectedMark
			}
		}
		s.WriteString(listed(names, b.Failures) + " failed")
	}
	switch mandatory := b.Mandatory && b.Group != fleet.UnknownGroup(); {
	case b.AllGroups:
	case mandatory && b.Lasting:
		fmt.Fprintf(&s, " in %v, which was mandatory (tolerates no failure)", b.Group)
	case mandatory:
		fmt.Fprintf(&s, " in mandatory %v (which tolerates no failure)", b.Group)
	case b.Lasting:
		fmt.Fprintf(&s, " in what was %v", b.Group)
	default:
		fmt.Fprintf(&s, " in %v", b.Group)
	}
	if b.Lasting {
		s.WriteString(" before the decision groups changed")
	}
	if !b.Mandatory {
		fmt.Fprintf(&s, ", maxFailures is %d", b.MaxFailures)
	}
	s.WriteString("; the rollout continues once " + b.tolerated() + " failed or timed out")
	if b.Lost > b.MaxFailures {
		lost := fmt.Sprintf("%d of these", b.Lost)
		if b.Lost == b.Failures && len(b.Clusters) == b.Failures {
			lost = strings.Join(b.Clusters, ", ")
		}
		fmt.Fprintf(&s, "; %s cannot recover without help: retry %s or add %[2]s to the ignored clusters", lost, plural(b.Lost > 1, "it", "them"))
	}
	return s.String()
}

// tolerated says how many of the failed clusters may stay so.
func (b *Breach) tolerated() string {
	switch {
	case b.Failures == 1 && len(b.Clusters) == 1:
		return b.Clusters[0] + " is no longer"
	case b.Mandatory || b.MaxFailures == 0:
		return "none of these is"
	default:
		return fmt.Sprintf("at most %d of these %s", b.MaxFailures, plural(b.MaxFailures > 1, "is", "are"))
	}
}

// counts says whether failures in a group count in the breach.
func (b *Breach) counts(group grouping.Key) bool { return b.AllGroups || b.Group == group }

// clone gives a copy that the caller may change.
func (b *Breach) clone() *Breach {
	if b == nil {
		return nil
	}
	copied := *b
	copied.Clusters, copied.Deselected = slices.Clone(b.Clusters), slices.Clone(b.Deselected)
	return &copied
}
