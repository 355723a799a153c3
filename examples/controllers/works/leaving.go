package main

import "time"

// leaving has the clusters that no placement selects any more, and since when. A scheduler that moves clusters rewrites
// one PlacementDecision after the other, and one placement after the other. In between a cluster may be in none,
// and no count shows it. So a work goes when its cluster has been unselected for a while. If this is lost, by a restart,
// works go later. The zero value is ready to use.
type leaving struct {
	since map[string]time.Time
}

// grace is how long a cluster has to be unselected.
const grace = 5 * time.Second

// due takes the clusters that are not selected now, and returns those that have not been for long enough.
func (l *leaving) due(unselected []string, now time.Time) (due []string) {
	before := l.since
	l.since = make(map[string]time.Time, len(unselected))
	for _, cluster := range unselected {
		since, known := before[cluster]
		if !known {
			since = now
		}
		l.since[cluster] = since
		if now.Sub(since) >= grace {
			due = append(due, cluster)
		}
	}
	return due
}

// recheckAfter says when the next cluster is due; 0 if none will be.
func (l *leaving) recheckAfter(now time.Time) (after time.Duration) {
	for _, since := range l.since {
		if left := grace - now.Sub(since); left > 0 && (after == 0 || left < after) {
			after = left
		}
	}
	return after
}
