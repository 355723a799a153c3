// SPDX-License-Identifier: Apache-2.0

package rollout

import (
	"cmp"
	"encoding/json"
	"slices"
	"time"

	"github.com/cohort-ocm/cohort/status"
)

const (
	// mostRecorded is how many clusters a record has room for.
	mostRecorded = 256
	// roomOfRecords is how many bytes the entries of an owner's records may take together. An object's annotations may take
	// 256 KiB in all.
	roomOfRecords = 200 << 10
	// largestEntry is what an entry takes at most, with names as Kubernetes allows them.
	largestEntry = 800
)

// overflow says that a record has no room for some clusters (R49).
type overflow struct {
	n     int
	until time.Time // when they count no longer; zero: time alone does not end it
}

// exceeds says whether clusters came to those of another time.
func (f overflow) exceeds(other overflow) bool {
	return f.n > other.n || !f.endsBy(other.until)
}

// endsBy says whether nothing counts any more at a time; zero is never.
func (f overflow) endsBy(t time.Time) bool {
	return t.IsZero() || !f.until.IsZero() && !f.until.After(t)
}

// with adds the clusters for which there is no room now to those of before.
func (f overflow) with(now overflow) overflow {
	sum := overflow{max(f.n, now.n), f.until}
	if f.n == 0 || now.n > 0 && !now.endsBy(f.until) {
		sum.until = now.until
	}
	return sum
}

// overflow gives the clusters that the stored record counts, for the wanted attempt.
func (m *recordIndex) overflow(attempt int, now time.Time) overflow {
	r := &m.Record
	if r.Attempt < attempt || r.More == 0 || !r.Until.IsZero() && !now.Before(r.Until) {
		return overflow{}
	}
	return overflow{r.More, r.Until}
}

// roomOfRecord is how many bytes the record of a part may take.
func (s *schedule) roomOfRecord() int {
	parts, _ := s.Parts()
	return roomOfRecords / max(1, len(parts))
}

// fit counts the entries for which a record has no room in so many bytes, instead of keeping them. The entries are in order before and after.
func (s *schedule) fit(entries []status.DeselectedCluster, bytes int) ([]status.DeselectedCluster, overflow) {
	if len(entries) <= min(mostRecorded, bytes/largestEntry) {
		return entries, overflow{}
	}
	byName := func(a, b status.DeselectedCluster) int { return cmp.Compare(a.Cluster, b.Cluster) }
	slices.SortStableFunc(entries, func(a, b status.DeselectedCluster) int { return cmp.Compare(rankOf(&a), rankOf(&b)) })
	room := 0
	for room < min(mostRecorded, len(entries)) {
		text, _ := json.Marshal(&entries[room]) // an entry that cannot be written is an error of Note
		if bytes -= len(text) + len(","); bytes < 0 {
			break
		}
		room++
	}
	kept, dropped := entries[:room:room], entries[room:]
	slices.SortFunc(kept, byName)
	if len(dropped) == 0 {
		return kept, overflow{}
	}
	return kept, overflow{len(dropped), s.lastEnd(dropped)}
}

// lastEnd says when the last of some entries would not be wanted any more; zero if time alone does not end one.
func (s *schedule) lastEnd(entries []status.DeselectedCluster) (last time.Time) {
	for i := range entries {
		l := &entries[i]
		ends := time.Time{}
		if starts := s.options.starts; starts.IsSet() && !l.Applied.IsZero() {
			ends = l.Applied.Add(starts.Per)
		}
		switch since := latest(l.Applied, l.LastTransitionTime); {
		case l.Status != status.Skip && l.Status != status.Succeeded:
			return time.Time{}
		case l.Status == status.Skip:
		case since.IsZero():
			return time.Time{}
		default:
			ends = latest(ends, since.Add(max(s.Wait, s.rules.minSuccessTime)))
		}
		last = latest(last, ends)
	}
	return last
}

// retry gives the attempt that makes room in a record that has none: one after the last that failed; 0 where none in it failed.
func (s *schedule) retry(r *status.Record) (attempt int) {
	if r.More == 0 {
		return 0
	}
	for i := range r.Deselected {
		if l := &r.Deselected[i]; rankOf(l) == 0 {
			attempt = max(attempt, l.Attempt+1, s.options.attempt+1)
		}
	}
	return attempt
}
