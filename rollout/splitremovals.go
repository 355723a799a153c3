// SPDX-License-Identifier: Apache-2.0

package rollout

import (
	"time"

	"github.com/cohort-ocm/cohort/rollout/internal/fleet"
)

// splitRemovals splits the clusters that were reported and are not selected, and whose objects are not being deleted. It puts those
// to remove into observed.due, and returns the others with the time until the first is due. It notes in the choice when each
// was first found unselected.
//
// For example, with a grace of a minute, a gone since 12:00 and b since 12:00:50, at 12:01 a is due, b is leaving, and
// the time is 50 seconds.
func (s *schedule) splitRemovals(observed *observed, choice *choice, now time.Time) (pending []string, remaining time.Duration) {
	grace := s.options.grace
	switch {
	case grace <= 0:
		observed.due = observed.there
		return nil, 0
	case s.missing != "" || len(observed.there) == 0:
		return nil, 0
	}
	choice.unselected = make(map[string]time.Time, len(observed.there))
	for _, name := range observed.there {
		since, known := observed.unselected[name]
		if !known || now.Before(since) { // now is before since where the clock was set back
			since = now
		}
		choice.unselected[name] = since
		if stays := grace - now.Sub(since); stays > 0 {
			pending = append(pending, name)
			remaining = fleet.Sooner(remaining, stays)
		} else {
			observed.due = append(observed.due, name)
		}
	}
	return pending, remaining
}
