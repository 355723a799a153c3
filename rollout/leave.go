package rollout

import (
	"time"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// RemoveAfter keeps a cluster for a while after it stops being selected. The cluster is in Next.Leaving until grace has
// passed, and in Next.Removed from then on.
//
// A scheduler that rewrites its decisions one after the other can leave a cluster out for a moment while all counts are
// right. Without this option the cluster's workload is deleted then, and created again. A minute is longer than any
// rewriting takes.
//
// A cluster in Leaving is not selected, so all limits hold for the others alone. For as long as it is missing, another cluster
// may start in its slot. A breach that it caused ends. A group that waited for it alone is complete, and the next one starts.
// Once it is back it counts again, beside all that started meanwhile, and so limits may be exceeded. A controller for which
// that is too much starts nobody while Leaving has a cluster. Then clusters that really leave hold up the rollout for the time
// of grace.
//
// Previous is the result before this one. Pass nil after a restart; grace then begins anew for all clusters. So a controller
// that restarts more often than grace passes never removes a cluster. Grace also begins anew while the groups are
// incomplete. A negative grace is an error.
//
// A [Planner] remembers by itself, from its first call of Next or Result without the cluster. For a Planner, previous says
// what an earlier planner knew, and may be nil. Grace does not begin anew with [Planner.SetStrategy], even where previous is
// nil. Nor does it with Forget and Report, unless Next or Result is called in between.
func RemoveAfter(grace time.Duration, previous *Result) Option {
	var err *field.Error
	if grace < 0 {
		err = field.Invalid(field.NewPath("removeAfter"), grace.String(), "must not be negative")
	}
	var unselected map[string]time.Time
	if previous != nil {
		unselected = previous.choice.unselected
	}
	return func(o *options) { o.grace, o.graceErr, o.unselected = grace, err, unselected }
}

// leave splits the clusters that were reported and are not selected. It puts those to remove into o.due, and returns
// the others with the time until the first is due. It notes in the choice since when each is unselected.
//
// For example, with a grace of a minute, a gone since 12:00 and b since 12:00:50, at 12:01 a is due, b is leaving, and
// the time is 50 seconds.
func (s *schedule) leave(o *observed, c *choice, now time.Time) (leaving []string, left time.Duration) {
	grace := s.options.grace
	switch {
	case grace <= 0:
		o.due = o.removed
		return nil, 0
	case s.missing != "" || len(o.removed) == 0:
		return nil, 0
	}
	c.unselected = make(map[string]time.Time, len(o.removed))
	for _, name := range o.removed {
		since, known := o.unselected[name]
		if !known || now.Before(since) { // now is before since where the clock was set back
			since = now
		}
		c.unselected[name] = since
		if stays := grace - now.Sub(since); stays > 0 {
			leaving = append(leaving, name)
			left = sooner(left, stays)
		} else {
			o.due = append(o.due, name)
		}
	}
	return leaving, left
}
