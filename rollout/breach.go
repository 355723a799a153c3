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
func (breach Breach) String() string { return theRolloutStopped + ": " + breach.detail() }

const theRolloutStopped = "the rollout is stopped"

func (breach *Breach) detail() string {
	var text strings.Builder
	if len(breach.Clusters) == 0 {
		fmt.Fprintf(&text, "%s failed", clusters(breach.Failures))
	} else {
		names := slices.Clone(breach.Clusters)
		for i := range names {
			if slices.Contains(breach.Deselected, names[i]) {
				names[i] += deselectedMark
			}
		}
		text.WriteString(listed(names, breach.Failures) + " failed")
	}
	switch mandatory := breach.Mandatory && breach.Group != fleet.UnknownGroup(); {
	case breach.AllGroups:
	case mandatory && breach.Lasting:
		fmt.Fprintf(&text, " in the former mandatory %v (which tolerated no failure)", breach.Group)
	case mandatory:
		fmt.Fprintf(&text, " in mandatory %v (which tolerates no failure)", breach.Group)
	case breach.Lasting:
		fmt.Fprintf(&text, " in the former %v", breach.Group)
	default:
		fmt.Fprintf(&text, " in %v", breach.Group)
	}
	if !breach.Mandatory {
		fmt.Fprintf(&text, ", maxFailures is %d", breach.MaxFailures)
	}
	if breach.Lasting {
		text.WriteString("; the decision groups changed since, and this counts all the same")
	}
	text.WriteString("; the rollout continues once " + breach.tolerated() + " failed or timed out")
	if breach.Lost > breach.MaxFailures {
		lost := fmt.Sprintf("%d of these", breach.Lost)
		if breach.Lost == breach.Failures && len(breach.Clusters) == breach.Failures {
			lost = strings.Join(breach.Clusters, ", ")
		}
		fmt.Fprintf(&text, "; %s cannot recover without help: retry %s or add %[2]s to the ignored clusters", lost, plural(breach.Lost > 1, "it", "them"))
	}
	return text.String()
}

// tolerated says how many of the failed clusters may stay so.
func (breach *Breach) tolerated() string {
	switch {
	case breach.Failures == 1 && len(breach.Clusters) == 1:
		return breach.Clusters[0] + " is no longer"
	case breach.Mandatory || breach.MaxFailures == 0:
		return "none of these is"
	default:
		return fmt.Sprintf("at most %d of these %s", breach.MaxFailures, plural(breach.MaxFailures > 1, "is", "are"))
	}
}

// counts says whether failures in a group count in the breach.
func (breach *Breach) counts(group grouping.Key) bool {
	return breach.AllGroups || breach.Group == group
}

// clone gives a copy that the caller may change.
func (breach *Breach) clone() *Breach {
	if breach == nil {
		return nil
	}
	copied := *breach
	copied.Clusters, copied.Deselected = slices.Clone(breach.Clusters), slices.Clone(breach.Deselected)
	return &copied
}
