// SPDX-License-Identifier: Apache-2.0

package search

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	workv1 "open-cluster-management.io/api/work/v1"

	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/rollout/rollback"
	"github.com/cohort-ocm/cohort/status"
)

// now is the time of every plan: states have ages only.
var now = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)

// input is all that a plan is made from.
type input struct {
	strategy clusterv1alpha1.RolloutStrategy
	groups   *grouping.Groups
	reports  []status.Report
	now      time.Time
	grace    time.Duration
	previous *rollout.Result
	options  rollout.Options
	abort    *rollout.Abort        // the rollout is taken back; nil: it goes on
	memory   *rollout.StoredRecord // nil: the owner has no record
}

// planner makes a plan. The mutants are others than plan.
type planner func(input) (*rollout.Result, error)

// plan asks the library.
func plan(in input) (*rollout.Result, error) {
	opts := in.options
	if in.grace > 0 || in.previous != nil {
		opts.RemoveAfter = metav1.Duration{Duration: in.grace}
		opts.Previous = in.previous
	}
	if in.memory != nil {
		opts.StoredRecord = in.memory
	}
	if in.abort != nil {
		return rollout.Revert(in.strategy, in.groups, *in.abort, in.now, opts)
	}
	return rollout.Plan(in.strategy, in.groups, in.reports, in.now, opts)
}

// decision is a plan, by the places of the clusters.
type decision struct {
	start, inFlight, timedOut, removed, leaving set
	parked, unseen                              set // waiting clusters that are frozen, and that are not on the allowlist
	left, leftLate                              set // deselected clusters that count, and those of them that timed out
	record                                      [most]entry
	memo                                        memo        // of the record
	lasts                                       [most]uint8 // of the record, of each cluster
	in                                          [most]uint8 // the group of each selected cluster
	recheck                                     uint8       // ticks
	breach                                      bool
	ended, succeeded                            bool   // the version is called the current one; all is called done
	fault                                       string // what is wrong with it whatever the rules
}

// String names what is not empty.
func (d *decision) String() string {
	var parts []string
	for _, list := range []struct {
		what string
		of   set
	}{{"start", d.start}, {"keep up to date", d.inFlight}, {"time out", d.timedOut}, {"remove", d.removed}, {"pending removal", d.leaving}, {"count", d.left}} {
		if list.of != 0 {
			parts = append(parts, list.what+" "+list.of.in(marks))
		}
	}
	if len(parts) == 0 {
		return "do nothing"
	}
	return strings.Join(parts, ", ")
}

// controller follows the documented duties with a planner. It remembers its plans, since the same view leads to the
// same plan.
type controller struct {
	config   *config
	planner  planner
	plans    map[[most + 3]uint64]*decision
	groups   map[uint64]*grouping.Groups
	before   map[[2]uint64]*rollout.Result
	memories map[[2]uint64]*rollout.StoredRecord
	works    *[2][most][1 << saidBits]*status.Report // about the wanted version and the one before, of objects without a verdict
	judged   map[[3]uint64]*status.Report            // and of those with one

	neglects string // a duty that it skips
}

func newController(c *config, p planner) *controller {
	return &controller{
		config: c, planner: p, plans: map[[most + 3]uint64]*decision{}, groups: map[uint64]*grouping.Groups{}, before: map[[2]uint64]*rollout.Result{},
		memories: map[[2]uint64]*rollout.StoredRecord{}, works: new([2][most][1 << saidBits]*status.Report), judged: map[[3]uint64]*status.Report{},
	}
}

// viewed is what a plan depends on: for each cluster its present and former group, its object, how long it is deselected, and its
// entry in the record.
func viewed(s *state) (key [most + 3]uint64) {
	for i := range s.clusters {
		c := &s.clusters[i]
		key[i] = uint64(c.shown) | c.view().pack()<<2 | uint64(c.gone)<<(2+objectBits) | uint64(c.former)<<(5+objectBits) |
			bit(c.aside)<<(7+objectBits) | bit(c.past)<<(8+objectBits) | c.told.pack()<<(9+objectBits) | c.decided()<<(9+objectBits+entryBits)
		if s.torn == partial {
			key[i] |= uint64(c.group) << 62
		}
		key[most+1] = key[most+1]<<8 | uint64(c.then) | uint64(c.lasts)<<2 | uint64(c.toldLasts)<<(2+mostLasting)
	}
	key[most] = uint64(s.opens)<<8 | uint64(s.recorded)<<10 | uint64(s.torn) | uint64(s.closed)<<2 | bit(s.paused)<<5 | uint64(s.attempt)<<6 | bit(s.aborted)<<7
	key[most+2] = s.before.pack() | s.told.pack()<<memoBits
	return key
}

// decide gives the plan for a state.
func (k *controller) decide(s *state) *decision {
	key := viewed(s)
	d := k.plans[key]
	if d == nil {
		d = k.ask(s)
		k.plans[key] = d
	}
	return d
}

// ask calls the planner: at the time, and a moment before the next tick, when nothing may have changed.
func (k *controller) ask(s *state) *decision {
	r, err := k.result(s, 0)
	late, lateErr := k.result(s, tick-1)
	if err != nil || lateErr != nil {
		return &decision{fault: fmt.Sprintf("error: %v", err)}
	}
	d, l := decided(r), decided(late)
	d.conclude(r)
	l.conclude(late)
	l.recheck = d.recheck
	switch {
	case r.RecheckAfter%tick != 0:
		d.fault = fmt.Sprintf("time: looks again after %v, when nothing ends", r.RecheckAfter)
	case d != l:
		d.fault = fmt.Sprintf("time: between two ticks the plan to %v becomes %v", &d, &l)
	}
	return &d
}

func decided(r *rollout.Result) decision {
	d := decision{recheck: uint8(r.RecheckAfter / tick), breach: r.Breach != nil}
	for _, list := range []struct {
		of *set
		in []rollout.Cluster
	}{{&d.start, r.Start}, {&d.inFlight, r.InFlight}, {&d.timedOut, r.TimedOut}, {&d.left, r.Deselected}} {
		for _, c := range list.in {
			list.of.add(int(c.Name[0] - 'a'))
		}
	}
	for _, name := range r.Removed {
		d.removed.add(int(name[0] - 'a'))
	}
	for _, name := range r.PendingRemoval {
		d.leaving.add(int(name[0] - 'a'))
	}
	for _, c := range r.Deselected {
		if c.Status == status.TimeOut {
			d.leftLate.add(int(c.Name[0] - 'a'))
		}
	}
	for i := range d.in {
		d.in[i] = none
	}
	take := func(c rollout.Cluster) { d.in[c.Name[0]-'a'] = uint8(c.Group.Index) }
	for _, c := range slices.Concat(r.Start, r.InFlight, r.TimedOut, slices.Collect(r.Settled())) {
		take(c)
	}
	for c, hold := range r.Blocked() {
		switch take(c); hold.Type {
		case rollout.BlockFrozen:
			d.parked.add(int(c.Name[0] - 'a'))
		case rollout.BlockNotAllowed:
			d.unseen.add(int(c.Name[0] - 'a'))
		}
	}
	for i := range r.Record.Deselected {
		d.record[r.Record.Deselected[i].Cluster[0]-'a'] = entryOf(&r.Record.Deselected[i])
	}
	d.memo, d.lasts = memoOf(&r.Record)
	return d
}

// conclude notes what the rollout is called, by its summary and by what becomes of the revisions.
func (d *decision) conclude(r *rollout.Result) {
	revisions := rollback.Revisions{CurrentRevision: "version 1", UpdateRevision: "version 0"}
	summary := r.Summary()
	d.succeeded, d.ended = summary.Aggregate() == status.Succeeded, revisions.Complete(summary)
}

// result is the planner's, some time after the state's.
func (k *controller) result(s *state, after time.Duration) (*rollout.Result, error) {
	in := k.input(s)
	in.now = in.now.Add(after)
	return k.planner(in)
}

// input reads the groups and the objects as a controller does.
func (k *controller) input(s *state) input {
	in := input{
		strategy: k.config.rollout(), groups: k.read(s), now: now, options: k.config.options(),
		grace: time.Duration(k.config.grace) * tick,
	}
	for i := range s.clusters {
		if r := k.report(i, s.clusters[i].view()); r != nil {
			in.reports = append(in.reports, *r)
		}
	}
	if s.aborted {
		// Clusters rolled back in the last two ticks, as far as ages tell, and all others got their version before.
		in.abort = &rollout.Abort{Time: now.Add(-ancient*tick + tick/2), Before: in.reports}
		for i := range s.clusters {
			if r := k.reportOf(i, s.clusters[i].view(), 1); r != nil {
				in.abort.Failed = append(in.abort.Failed, *r)
			}
		}
	}
	in.close(s, now)
	switch {
	case s.paused && k.config.lends:
		in.options.Shares = &rollout.Shares{}
	case s.paused:
		in.options.Paused = true
	}
	if slices.ContainsFunc(s.clusters[:], func(c cluster) bool { return c.aside }) {
		in.options.Ignored = named(s, func(c *cluster) bool { return c.aside && !(c.ended && k.neglects == hearsDeletions) })
	}
	if k.config.past != 0 {
		in.options.FailedBefore = named(s, func(c *cluster) bool { return c.past })
	}
	if s.attempt > 0 {
		in.options.Attempt = int(s.attempt)
	}
	if k.config.reviews {
		in.options.Allowlist = append([]string{}, named(s, func(c *cluster) bool { return c.allowed })...)
	}
	in.previous = k.previous(s)
	if k.config.records {
		in.memory = k.memory(s)
	}
	return in
}

// close adds the gates that are closed at a time, and the freezes.
func (in *input) close(s *state, at time.Time) {
	gate := rollout.Gate{Name: "approval"}
	if s.opens > 0 {
		gate = rollout.Gate{Name: "window", Opens: at.Add(time.Duration(s.opens) * tick)}
	}
	for group := range int32(none) {
		if s.closed>>group&1 == 1 {
			in.options.Gates = append(in.options.Gates, rollout.ClosedGate{Group: grouping.Key{Index: group}, Gate: gate})
		}
	}
	in.options.Freezes = s.holds(at)
}

// named gives the names of the clusters that are meant.
func named(s *state, is func(*cluster) bool) (meant []string) {
	for i := range s.clusters {
		if is(&s.clusters[i]) {
			meant = append(meant, names[i])
		}
	}
	return meant
}

// read gives the groups that the stored decisions show, with the counts of the placement's status.
func (k *controller) read(s *state) *grouping.Groups {
	key := uint64(s.torn)
	for i := range s.clusters {
		key = key<<4 | uint64(s.clusters[i].shown)<<2 | uint64(s.clusters[i].group)
	}
	if g := k.groups[key]; g != nil {
		return g
	}
	placement := &clusterv1beta1.Placement{ObjectMeta: metav1.ObjectMeta{Name: "web", Namespace: "default"}}
	var decisions []*clusterv1beta1.PlacementDecision
	for group := range uint8(none) {
		d := &clusterv1beta1.PlacementDecision{ObjectMeta: metav1.ObjectMeta{
			Name: fmt.Sprint("web-decision-", group), Namespace: "default", Labels: map[string]string{
				clusterv1beta1.PlacementLabel: "web", clusterv1beta1.DecisionGroupIndexLabel: strconv.Itoa(int(group)),
			},
		}}
		name := ""
		if k.config.order != nil {
			name = groupName(int(group))
			d.Labels[clusterv1beta1.DecisionGroupNameLabel] = name
		}
		count := int32(0)
		for i := range s.clusters {
			c := &s.clusters[i]
			if c.shown == group {
				d.Status.Decisions = append(d.Status.Decisions, clusterv1beta1.ClusterDecision{ClusterName: names[i]})
			}
			if s.torn == hidden && c.shown == group || s.torn != hidden && c.group == group {
				count++
			}
		}
		if s.torn != empty {
			decisions = append(decisions, d)
		}
		placement.Status.DecisionGroups = append(placement.Status.DecisionGroups, clusterv1beta1.DecisionGroupStatus{
			DecisionGroupIndex: int32(group), DecisionGroupName: name, Decisions: []string{d.Name}, ClustersCount: count,
		})
		placement.Status.NumberOfSelectedClusters += count
	}
	g, err := grouping.Read(placement, decisions)
	if err != nil {
		panic(err)
	}
	k.groups[key] = g
	return g
}

// report makes a ManifestWork of an object and reads it as a controller does; nil where there is none.
func (k *controller) report(i int, o object) *status.Report { return k.reportOf(i, o, 0) }

// reportOf is report about a version.
func (k *controller) reportOf(i int, o object, version uint8) *status.Report {
	if o.version == absent {
		return nil
	}
	if r := k.known(version, i, o); r != nil {
		return r
	}
	work := &workv1.ManifestWork{ObjectMeta: metav1.ObjectMeta{
		Name: "web", Namespace: names[i], Generation: 2, CreationTimestamp: metav1.NewTime(now.Add(-24 * time.Hour)),
	}}
	status.StampOf(work).NoteOn(work, fmt.Sprint("version ", o.version), int(o.attempt), now.Add(-time.Duration(o.applied)*tick))
	seen := work.Generation
	if o.deleting {
		at := metav1.NewTime(now)
		work.DeletionTimestamp = &at
		work.Generation++
	}
	if !o.observed {
		seen--
	}
	set := func(conditionType string, is metav1.ConditionStatus) {
		meta.SetStatusCondition(&work.Status.Conditions, metav1.Condition{
			Type: conditionType, Status: is, Reason: "AsSeen", ObservedGeneration: seen,
			LastTransitionTime: metav1.NewTime(now.Add(-time.Duration(o.changed) * tick)),
		})
	}
	if o.condition != unknown {
		set(workv1.WorkApplied, metav1.ConditionTrue)
		set(workv1.WorkProgressing, map[bool]metav1.ConditionStatus{true: metav1.ConditionFalse, false: metav1.ConditionTrue}[o.condition == succeeded])
		set(workv1.WorkDegraded, map[bool]metav1.ConditionStatus{true: metav1.ConditionTrue, false: metav1.ConditionFalse}[o.condition == failed])
	}
	r, _ := status.FromManifestWork(status.WorkState{Work: work, Version: fmt.Sprint("version ", version)})
	if k.config.validates {
		r = k.validated(r, work, o, version)
	}
	k.know(version, i, o, &r)
	return &r
}
