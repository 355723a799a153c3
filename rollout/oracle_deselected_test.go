// SPDX-License-Identifier: Apache-2.0

package rollout_test

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/intstr"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"

	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/status"
)

// The rules on deselected or moved clusters: R46 to R50 and R52. Reading: where several apply to a cluster, R37 comes first.

// formerly is the result before and where it had the clusters.
type formerly struct {
	result  *rollout.Result
	groups  map[string]grouping.Key
	exposes int               // the most clusters that its groups expose (R66); 0 under All
	half    bool              // its groups were incomplete
	lasting []status.Breached // the breaches that lasted
}

// parts are the groups beside which those of a world were taken apart (G15).
type parts struct {
	others []string // which another part selects
	first  bool     // whether the part of the world comes before the other one
}

// past is a cluster whose start or success counts alone.
type past struct {
	name           string
	group          grouping.Key
	start, success time.Time
	attempt        int
}

// unknown is the group of clusters that were deselected from an unknown group (R47).
var unknown = grouping.Key{Index: -1}

// r46 adds to the clusters those that left and count.
func (o *oracle) r46() {
	names := make(map[string]bool)
	for i := range o.reports {
		names[o.reports[i].Cluster] = true
	}
	if o.storedRecord != nil && o.storedRecord.Record.Version == o.storedRecord.Version {
		for i := range o.storedRecord.Record.Deselected {
			names[o.storedRecord.Record.Deselected[i].Cluster] = true
		}
	}
	var again []grouping.Key // groups that are gone
	for i := range o.all {
		if group := o.all[i].group; !slices.Contains(o.groups, group) && !slices.Contains(again, group) {
			again = append(again, group)
		}
	}
	for name := range names {
		if o.selects(name) || o.ignored != nil && o.ignored(name) {
			continue
		}
		group, here := o.r47(name)
		if !here {
			continue
		}
		s := subject{name: name, group: group, left: true, before: o.before != nil && o.before(name)}
		o.r49(&s)
		if o.r3(&s) || r2(&s) {
			o.all = append(o.all, s)
			if !slices.Contains(o.groups, group) && !slices.Contains(again, group) {
				again = append(again, group)
			}
		} else {
			o.addPast(s.name, s.group, &s.counts, s.recorded)
		}
	}
	slices.SortFunc(o.all, func(a, b subject) int { return cmp.Compare(a.name, b.name) })
	slices.SortFunc(again, grouping.Key.Compare)
	o.groups = append(again, o.groups...)
	slices.SortFunc(o.pasts, func(a, b past) int { return cmp.Compare(a.name, b.name) })
}

func (o *oracle) selects(name string) bool {
	return slices.ContainsFunc(o.members, func(m member) bool { return m.name == name })
}

// R47, R50: the group of a deselected cluster, and whether it is this part's.
func (o *oracle) r47(name string) (group grouping.Key, here bool) {
	if e := o.entry(name); e != nil {
		return e.Group, true
	}
	if o.former != nil {
		if group, known := o.former.groups[name]; known {
			return group, true
		}
	}
	if o.parts != nil && (slices.Contains(o.parts.others, name) || o.former != nil) {
		return group, false
	}
	return unknown, true
}

// R52: the group in which a selected cluster counts.
func (o *oracle) r52(s *subject) grouping.Key {
	var before grouping.Key
	known := false
	if o.former != nil {
		before, known = o.former.groups[s.name]
	}
	if e := o.entry(s.name); e != nil {
		before, known = e.Group, true
	}
	if !known || before == unknown || before == s.group || s.ignored || o.isPooled() || !o.r3(s) && !r2(s) {
		return s.group
	}
	if slices.Contains(o.groups, before) {
		oneStage := o.kind == clusterv1alpha1.Progressive && !o.r12Named(before) && !o.r12Named(s.group)
		if oneStage || o.r33(s.group, before) {
			return s.group
		}
	} else if !o.r3(s) || o.back == nil && o.r12Named(s.group) && !o.r12Named(before) {
		return s.group
	}
	s.moved = true
	return before
}

// isPooled says whether the strategy has all groups in one pool.
func (o *oracle) isPooled() bool {
	return o.kind == clusterv1alpha1.All || o.kind == clusterv1alpha1.Progressive && (len(o.mandatory) == 0 || o.back != nil)
}

// entry gives what the record has of a cluster; nil if nothing.
func (o *oracle) entry(name string) (e *status.DeselectedCluster) {
	if o.storedRecord == nil || o.storedRecord.Record.Version != o.storedRecord.Version || o.ignored != nil && o.ignored(name) {
		return nil
	}
	for i := range o.storedRecord.Record.Deselected {
		if o.storedRecord.Record.Deselected[i].Cluster == name {
			e = &o.storedRecord.Record.Deselected[i]
		}
	}
	return e
}

// R49: what an entry is.
func (o *oracle) isFailure(e *status.DeselectedCluster) bool {
	return (e.Status == status.TimeOut || e.Status == status.Failed) && e.Attempt >= o.attempt
}

func (o *oracle) isFlight(e *status.DeselectedCluster) bool {
	return o.storedRecord.AtOnce && !slices.Contains([]status.RolloutStatus{status.TimeOut, status.Failed, status.Skip}, e.Status)
}

// r49 gives a cluster the report that counts, and its status.
func (o *oracle) r49(s *subject) {
	r, n := r1Merged(o.reports, s.name)
	s.counts, s.reported, s.deleting = r, n > 0, n > 0 && r.Deleting
	if n == 0 {
		s.counts = status.Report{Cluster: s.name, Status: status.ToApply}
		if o.back != nil {
			s.counts.Status = status.Skip // R43
		}
	}
	if e := o.entry(s.name); e != nil {
		saw := s.counts
		about := n > 0 && (saw.Status != status.ToApply || !saw.Applied.IsZero())
		s.unseen = !about
		switch {
		case o.isFailure(e):
			fails := saw.Status == status.Failed || saw.Status == status.TimeOut
			if !about || saw.Status != status.Succeeded && max(saw.Attempt, 0) <= e.Attempt && (s.left || saw.Deleting || saw.Status == status.ToApply) && (!fails || max(saw.Attempt, 0) < e.Attempt) {
				s.counts, s.recorded = e.Report, true
			}
		case about:
		case o.isFlight(e) && (s.left || e.Status != status.Succeeded):
			s.counts, s.recorded = e.Report, true
		case s.left:
			s.counts, s.recorded = e.Report, true
			s.status, s.since = status.ToApply, time.Time{}
			return
		default: // a selected cluster that waits once more
			o.addPast(s.name, e.Group, &e.Report, true)
		}
	}
	s.status, s.since = r27(s.counts)
	s.attempt = max(s.counts.Attempt, 0)
	if o.r4(s) {
		s.status, s.newly = status.TimeOut, true
	}
	if s.status == status.Succeeded && s.deleting && !s.left && !o.r5(s) && o.back == nil { // R6: what succeeded is on its way out
		s.status = status.ToApply
	}
	if max(s.counts.Attempt, 0) < o.attempt && r2(s) { // R39: what failed in an earlier attempt waits as one that is reported ToApply
		s.status, s.newly, s.reported = status.ToApply, false, true
	}
}

// startOf gives when a cluster started by its report, or by an entry of the record; zero if it did not, or that is unknown (R36).
func startOf(r *status.Report, recorded bool) time.Time {
	is, _ := r27(*r)
	if !recorded && (is == status.ToApply || is == status.Skip) {
		return time.Time{}
	}
	if start := r.Applied.Round(0); !start.IsZero() {
		return start
	}
	return r.LastTransitionTime.Round(0)
}

// addPast adds a cluster whose start or success counts alone.
func (o *oracle) addPast(name string, group grouping.Key, r *status.Report, recorded bool) {
	p := past{name: name, group: group, start: startOf(r, recorded), attempt: max(r.Attempt, 0)}
	if r.Status == status.Succeeded {
		_, p.success = r27(*r)
	}
	if o.isRecent(p.start) || o.isAwaited(p.success) {
		o.pasts = append(o.pasts, p)
	}
}

// isRecent: within the span of R36.
func (o *oracle) isRecent(start time.Time) bool {
	return o.starts != nil && !start.IsZero() && o.now.Before(start.Add(o.starts.per))
}

// isAwaited: younger than the wait of R34.
func (o *oracle) isAwaited(success time.Time) bool {
	return o.r34Waits() && !success.IsZero() && o.now.Before(success.Add(o.wait))
}

// R46: a share is of selected clusters, and what means all means all.
func r46Share(v intstr.IntOrString, selected, all int) int {
	if percent, _ := r16(v, 100); v.Type == intstr.String && percent == 100 {
		return all
	}
	n, _ := r16(v, selected)
	return min(n, all)
}

// leftIn counts the clusters of a group that left, those of all groups where nil.
func (o *oracle) leftIn(in func(grouping.Key) bool) (n int) {
	for i := range o.all {
		if o.all[i].left && in(o.all[i].group) {
			n++
		}
	}
	return n
}

// elsewhereIn counts the clusters that count in a group and are selected in another, or in none.
func (o *oracle) elsewhereIn(in func(grouping.Key) bool) (n int) {
	for i := range o.all {
		if s := &o.all[i]; (s.left || s.moved) && in(s.group) {
			n++
		}
	}
	return n
}

// R48: the record.
func (o *oracle) r48() {
	r := &o.out.Record
	*r = status.Record{}
	if o.storedRecord == nil {
		return
	}
	stored := o.storedRecord.Record
	if stored.Version != o.storedRecord.Version {
		stored = status.Record{}
	}
	r.Version, r.Attempt = o.storedRecord.Version, o.attempt
	if stored.Attempt >= o.attempt && (stored.Until.IsZero() || o.now.Before(stored.Until)) {
		r.More, r.Until = stored.More, stored.Until
	}
	if o.incomplete {
		r.Deselected, r.Exposed, r.Breached = stored.Deselected, stored.Exposed, stored.Breached
		return
	}
	for i := range o.all {
		if as := o.r48Wants(&o.all[i]); as != "" {
			s := &o.all[i]
			r.Deselected = append(r.Deselected, status.DeselectedCluster{Report: entryOf(s.name, as, startOf(&s.counts, s.recorded), sinceOf(&s.counts), s.counts.Attempt), Group: s.group})
		}
	}
	for _, p := range o.pasts {
		as, since := status.Skip, p.start
		if o.isAwaited(p.success) {
			as, since = status.Succeeded, p.success
		}
		r.Deselected = append(r.Deselected, status.DeselectedCluster{Report: entryOf(p.name, as, p.start, since, p.attempt), Group: p.group})
	}
	place := func(e *status.DeselectedCluster) int {
		switch e.Status {
		case status.TimeOut, status.Failed:
			return 0
		case status.Skip:
			return 2
		}
		return 1
	}
	slices.SortFunc(r.Deselected, func(a, b status.DeselectedCluster) int {
		return cmp.Or(cmp.Compare(place(&a), place(&b)), strings.Compare(a.Cluster, b.Cluster))
	})
	if len(r.Deselected) > 256 {
		panic("the oracle knows no full records")
	}
	slices.SortFunc(r.Deselected, func(a, b status.DeselectedCluster) int { return strings.Compare(a.Cluster, b.Cluster) })
	r.Exposed = o.r48Exposed()
	r.Breached, _ = o.lasts()
}

func sinceOf(r *status.Report) time.Time {
	_, since := r27(*r)
	return since
}

// entryOf is an entry as R48 has it: the start as applied, and a later time as the transition.
func entryOf(name string, as status.RolloutStatus, start, since time.Time, attempt int) status.Report {
	r := status.Report{Cluster: name, Status: as, Attempt: max(attempt, 0), Applied: start.UTC()}
	if as != status.Skip && since.After(start) {
		r.Applied, r.LastTransitionTime = start.UTC(), since.UTC()
	}
	return r
}

// r48Wants gives the status of a cluster's entry; empty if it needs none.
func (o *oracle) r48Wants(s *subject) status.RolloutStatus {
	e := o.entry(s.name)
	says := e != nil && s.counts.Status == e.Status && sinceOf(&s.counts).Equal(sinceOf(&e.Report)) && max(s.counts.Attempt, 0) == max(e.Attempt, 0) &&
		startOf(&s.counts, true).Equal(startOf(&e.Report, true)) && (o.isFailure(e) || o.isFlight(e))
	if s.ignored || !s.left && !s.moved && !s.deleting && !s.recorded && !says {
		return ""
	}
	if o.back != nil && s.left {
		if _, has := o.back.has(s.name); has {
			return ""
		}
	}
	budgeted := o.kind != clusterv1alpha1.All || o.shares != nil // R57
	limited := budgeted || o.ramp > 0 || o.starts != nil
	elsewhere := s.left && o.parts != nil && (o.parts.first || slices.Contains(o.parts.others, s.name))
	switch {
	case r2(s) && budgeted:
		return s.status
	case o.r3(s) && limited && (o.storedRecord.AtOnce || elsewhere || s.moved):
		if s.counts.Status == status.ToApply || s.status != status.Progressing {
			return s.counts.Status
		}
		return status.Progressing
	case s.counts.Status == status.Succeeded && o.isAwaited(s.since):
		return status.Succeeded
	case o.isRecent(startOf(&s.counts, s.recorded)):
		return status.Skip
	}
	return ""
}

// R48: whether the stored record tells of a cluster what the new one has to.
func (o *oracle) isStored(name string) bool {
	i := slices.IndexFunc(o.out.Record.Deselected, func(e status.DeselectedCluster) bool { return e.Cluster == name })
	if i < 0 {
		return true
	}
	e, wanted := o.entry(name), &o.out.Record.Deselected[i]
	if e == nil || e.Attempt != wanted.Attempt {
		return false
	}
	// What counts for more: a failure, a flight where objects go at once, a success, a start.
	weight := func(s status.RolloutStatus) int {
		switch {
		case s == status.TimeOut || s == status.Failed:
			return 3
		case s == status.Skip:
			return 0
		case s == status.Succeeded:
			return 1
		case o.storedRecord.AtOnce:
			return 2
		}
		return 0
	}
	return weight(e.Status) >= weight(wanted.Status)
}

// r48Withheld gives the clusters whose removal waits for the stored record alone.
func (o *oracle) r48Withheld() (names []string) {
	if o.storedRecord == nil || o.incomplete || o.grace > 0 {
		return nil
	}
	removed, _ := o.reportedClusters()
	return slices.DeleteFunc(removed, o.isStored)
}

// R49: where the record has no room for some, nothing starts.
func (o *oracle) r49Full(*subject) (rollout.BlockReason, bool) {
	return rollout.BlockReason{Type: rollout.BlockRecordFull, Failures: o.out.Record.More, Until: o.out.Record.Until}, o.out.Record.More > 0
}
