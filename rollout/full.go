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
func (over overflow) exceeds(other overflow) bool {
	return over.n > other.n || !over.endsBy(other.until)
}

// endsBy says whether nothing counts any more at a time; zero is never.
func (over overflow) endsBy(at time.Time) bool {
	return at.IsZero() || !over.until.IsZero() && !over.until.After(at)
}

// with adds the clusters for which there is no room now to those of before.
func (over overflow) with(now overflow) overflow {
	sum := overflow{max(over.n, now.n), over.until}
	if over.n == 0 || now.n > 0 && !now.endsBy(over.until) {
		sum.until = now.until
	}
	return sum
}

// overflow gives the clusters that the stored record counts, for the wanted attempt.
func (index *recordIndex) overflow(attempt int, now time.Time) overflow {
	record := &index.Record
	if record.Attempt < attempt || record.More == 0 || !record.Until.IsZero() && !now.Before(record.Until) {
		return overflow{}
	}
	return overflow{record.More, record.Until}
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
		entry := &entries[i]
		ends := time.Time{}
		if starts := s.options.starts; starts.IsSet() && !entry.Applied.IsZero() {
			ends = entry.Applied.Add(starts.Per)
		}
		switch since := latest(entry.Applied, entry.LastTransitionTime); {
		case entry.Status != status.Skip && entry.Status != status.Succeeded:
			return time.Time{}
		case entry.Status == status.Skip:
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
func (s *schedule) retry(record *status.Record) (attempt int) {
	if record.More == 0 {
		return 0
	}
	for i := range record.Deselected {
		if entry := &record.Deselected[i]; rankOf(entry) == 0 {
			attempt = max(attempt, entry.Attempt+1, s.options.attempt+1)
		}
	}
	return attempt
}
