package rollout

import (
	"strings"
	"time"
)

// String is the result in a line: `start c d; in flight a b; 3 held: waiting for group 1; recheck after 5m0s`.
func (r *Result) String() string {
	parts := changes(r.Start, r.TimedOut, r.Removed)
	if len(r.InFlight) > 0 {
		parts = append(parts, "in flight"+names(r.InFlight))
	}
	for _, w := range r.Waiting() {
		parts = append(parts, w.String())
	}
	if parts = appendRecheck(parts, r.RecheckAfter); len(parts) == 0 {
		return "nothing to do"
	}
	return strings.Join(parts, "; ")
}

// changes is what a controller has to act upon.
func changes(start, timedOut []Cluster, removed []string) (parts []string) {
	if len(start) > 0 {
		parts = append(parts, "start"+names(start))
	}
	if len(timedOut) > 0 {
		parts = append(parts, "timed out"+names(timedOut))
	}
	if len(removed) > 0 {
		parts = append(parts, "removed "+strings.Join(removed, " "))
	}
	return parts
}

func names(clusters []Cluster) string {
	var b strings.Builder
	for _, c := range clusters {
		b.WriteString(" " + c.Name)
	}
	return b.String()
}

func appendRecheck(parts []string, after time.Duration) []string {
	if after > 0 {
		parts = append(parts, "recheck after "+after.String())
	}
	return parts
}
