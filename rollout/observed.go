// SPDX-License-Identifier: Apache-2.0

package rollout

import (
	"time"

	"github.com/cohort-ocm/cohort/rollout/internal/fleet"
	"github.com/cohort-ocm/cohort/rollout/internal/limits"
	"github.com/cohort-ocm/cohort/rollout/internal/stages"
	"github.com/cohort-ocm/cohort/status"
)

// observed has what a decision needs beside the view: the counts, and what was reported of clusters that are not
// selected.
type observed struct {
	fleet.Totals
	active   stages.Stage  // the first stage that is not complete; for a chain
	breached stages.Stage  // the first stage that is breached
	recheck  time.Duration // until the next deadline or soak ends; 0 if none does
	recent   limits.Recent // what started within the span of MaxStarts
	removed  []string      // the names of the clusters that were reported and are not selected, in order
	there    []string      // the ones among them whose objects are not being deleted
	merged   fleet.Names   // the clusters with several reports

	deleting map[fleet.Position]bool // the clusters whose objects are being deleted
	departed []fleet.Departure       // clusters of which only the start or the success counts
	before   []status.Breached       // the breaches that the result before and the record had

	unselected map[string]time.Time // when clusters were first found unselected, as far as earlier results know
	due        []string             // the ones to remove now, in order
}
