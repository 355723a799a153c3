package rollout

import (
	"strings"
	"time"
)

// String is the result in a line: `start c d; in flight a b; 3 held: waiting for group 1; recheck after 5m0s`.
func (r *Result) String() string {
	parts := changes(r.Start, r.InFlight, r.TimedOut, r.Removed)
	stopped := r.Breach != nil
	for _, w := range r.Waiting() {
		parts = append(parts, w.String())
		stopped = stopped && w.Reason != *r.Breach
	}
	if stopped { // and nobody waits, or for another reason
		parts = append(parts, r.Breach.String())
	}
	if parts = appendRecheck(parts, r.RecheckAfter); len(parts) == 0 {
		return "nothing to do"
	}
	return strings.Join(parts, "; ")
}

// changes is what a controller has to act upon, in words.
func changes(start, inFlight, timedOut []Cluster, removed []string) (parts []string) {
	for _, list := range []struct {
		what     string
		clusters []Cluster
	}{{"start", start}, {"in flight", inFlight}, {"timed out", timedOut}} {
		if len(list.clusters) > 0 {
			parts = append(parts, list.what+names(list.clusters))
		}
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
