// SPDX-License-Identifier: Apache-2.0

package hubs

import (
	"cmp"
	"fmt"
	"slices"
	"sync"
	"time"
)

// judge judges the limits over all hubs, from what clusters have and what their agents said. It knows nothing of shares.
//
// It is sure of what it says. A cluster counts from when it has a version. It counts until the last moment
// before which no process can have known that it is done: until its agent sent its success, and the soak from the beginning of that second
// has passed; and it is in flight at most until its deadline, less the longest time that a write takes.
type judge struct {
	mu     sync.Mutex
	stands map[string]*stand // by cluster
	spans  []*span
}

// stand is how a cluster stands.
type stand struct {
	version string
	span    *span
	done    bool // it said that it succeeded with this version
	failed  bool
	since   time.Time
}

// span is how long a cluster counted with a version.
type span struct {
	cluster, version    string
	from, inFlight, end time.Time // end and inFlight are zero as long as it does
}

// has notes that a cluster has a version, and says whether that is new.
func (j *judge) has(cluster, version string, at time.Time, deadline time.Duration) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	s := j.stands[cluster]
	if s != nil && s.version == version {
		return false
	}
	if s != nil && s.span.end.IsZero() { // another version: of the one before nothing counts any more
		s.span.end = at.Add(-SlowestWrite)
	}
	span := &span{cluster: cluster, version: version, from: at}
	if deadline > 0 {
		span.inFlight = at.Add(deadline - SlowestWrite)
	}
	j.spans = append(j.spans, span)
	j.stands[cluster] = &stand{version: version, span: span, since: at}
	return true
}

// says notes what an agent is about to say of a version.
func (j *judge) says(cluster, version string, succeeded bool, at time.Time, soak time.Duration) {
	j.mu.Lock()
	defer j.mu.Unlock()
	s := j.stands[cluster]
	if s == nil || s.version != version || s.done {
		return
	}
	if s.failed = !succeeded; succeeded {
		if s.done, s.since = true, at; soak > 0 {
			at = at.Truncate(time.Second).Add(soak)
		}
		s.span.end = at
	}
}

// count is what a user sees: how many are in flight, and how many failed. In doubt it is more.
func (j *judge) count(clusters []string, now time.Time, soak, deadline time.Duration) (inFlight, failed int) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, cluster := range clusters {
		s := j.stands[cluster]
		if s == nil || s.done && now.Sub(s.since) > soak+2*time.Second {
			continue
		}
		late := now.Sub(s.since) - deadline
		if deadline == 0 || late < 2*time.Second {
			inFlight++
		}
		if s.failed || deadline > 0 && late > -2*time.Second {
			failed++
		}
	}
	return inFlight, failed
}

// isDone says whether all clusters have a version and succeeded with it, and names one that does not.
func (j *judge) isDone(clusters []string, version string) (waits string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, cluster := range clusters {
		if s := j.stands[cluster]; s == nil || s.version != version || !s.done {
			return cluster
		}
	}
	return ""
}

// working is how many of these clusters have a version and did not say that they succeeded.
func (j *judge) working(clusters []string) (n int) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, cluster := range clusters {
		if s := j.stands[cluster]; s != nil && !s.done {
			n++
		}
	}
	return n
}

// happened is how often a cluster got a version or was done with it.
func (j *judge) happened() (n int) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, s := range j.spans {
		if n++; !s.end.IsZero() {
			n++
		}
	}
	return n
}

// starts is how many clusters got a version.
func (j *judge) starts() int {
	j.mu.Lock()
	defer j.mu.Unlock()
	return len(j.spans)
}

// violations says when more clusters were in flight or exposed with a version than may be.
func (j *judge) violations(inFlight, exposed int) (all []string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	type change struct {
		at          time.Time
		by, flights int
		cluster     string
	}
	byVersion := map[string][]change{}
	for _, s := range j.spans {
		changes := byVersion[s.version]
		changes = append(changes, change{s.from, 1, 1, s.cluster})
		landed := s.inFlight
		if landed.IsZero() || !s.end.IsZero() && s.end.Before(landed) {
			landed = s.end
		}
		if !s.end.IsZero() {
			changes = append(changes, change{s.end, -1, 0, ""})
		}
		if !landed.IsZero() {
			changes = append(changes, change{landed, 0, -1, ""})
		}
		byVersion[s.version] = changes
	}
	for version, changes := range byVersion {
		slices.SortStableFunc(changes, func(a, b change) int {
			return cmp.Or(a.at.Compare(b.at), cmp.Compare(a.by+a.flights, b.by+b.flights)) // what ends, ends first
		})
		flying, counting := 0, 0
		for _, c := range changes {
			flying, counting = flying+c.flights, counting+c.by
			switch {
			case c.cluster == "":
			case flying > inFlight:
				all = append(all, fmt.Sprintf("%s: %s starts with version %s, and %d are in flight over all hubs, of at most %d",
					c.at.Format("05.000"), c.cluster, version, flying, inFlight))
			case counting > exposed:
				all = append(all, fmt.Sprintf("%s: %s starts with version %s, and %d are exposed over all hubs, of at most %d",
					c.at.Format("05.000"), c.cluster, version, counting, exposed))
			}
		}
	}
	return all
}
