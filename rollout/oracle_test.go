// SPDX-License-Identifier: Apache-2.0

package rollout_test

import (
	"time"

	"k8s.io/apimachinery/pkg/util/intstr"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"

	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/status"
)

// The oracle is RULES.md once more, written from its text alone: a list of clusters, a function a rule,
// and loops over everything. It knows no stages; each waiting cluster asks rule by rule whether it has to
// wait. Where the rules leave room it follows the readings at the functions below.

// world is all that Plan is given.
type world struct {
	strategy clusterv1alpha1.RolloutStrategy
	groups   []grouping.Key // in the order of their index, then name
	members  []member       // in the order of their names
	reports  []status.Report
	now      time.Time

	// What the groups know of their Placement (G13).
	incomplete bool                // a cluster of it is in no PlacementDecision yet
	missing    string              // what the groups say that they lack
	size       *intstr.IntOrString // its clustersPerDecisionGroup; nil where the groups don't know it

	back *taken // what Revert is given beside; nil for Plan

	// The options.
	paused       bool
	gates        []closedGate // in the order in which they are given
	order        func(a, b string) int
	perGroup     *intstr.IntOrString
	failedFrees  bool
	maxRemoved   *intstr.IntOrString
	ordered      map[string][]string // by GroupOrder; nil without it
	ramp         int                 // by Ramp; 0 without it
	starts       *startLimit         // by MaxStarts
	shares       *rollout.Shares     // nil without them
	wait         time.Duration       // by WaitBetweenGroups
	attempt      int
	ignored      func(cluster string) bool
	freezes      []rollout.ClusterFreeze
	allowlist    []string                  // nil without one
	before       func(cluster string) bool // whether a cluster failed before the rollout
	former       *formerly                 // by RemoveAfter, with the grace; nil without it
	grace        time.Duration
	storedRecord *rollout.StoredRecord // nil without it
	parts        *parts                // of which the groups are one; nil where they are alone
}

type member struct {
	name  string
	group grouping.Key
}

type closedGate struct {
	group grouping.Key
	gate  rollout.Gate
}

// answer is all that a Result says, by whatever method.
type answer struct {
	InFlight, Start, TimedOut, Settled []rollout.Cluster
	Left                               []rollout.Cluster
	Blocked                            []blockedCluster
	Removed, Leaving                   []string
	Record                             status.Record
	Breach                             *rollout.Breach
	Warnings                           []rollout.Warning
	RecheckAfter                       time.Duration
	Counts                             status.Counts
	Schedule                           rollout.Schedule
	Summary                            status.Summary
	Aggregate                          status.RolloutStatus
	BlockCounts                        []rollout.BlockCount
}

type blockedCluster struct {
	Cluster rollout.Cluster
	Reason  rollout.BlockReason
}

// subject is a selected cluster under scrutiny.
type subject struct {
	name     string
	group    grouping.Key
	reported bool
	since    time.Time
	status   status.RolloutStatus // after R1, R27 and R4
	newly    bool                 // timed out by R4
	blocked  bool
	reason   rollout.BlockReason
	ignored  bool // R37: not counted
	before   bool // R38: failed before
	left     bool // R46: not selected
	moved    bool // R52
	counts   status.Report
	recorded bool // R49: the record's report counts
	unseen   bool // R29: nothing of the version was seen
	deleting bool
	attempt  int // R39: that it is in
}

type oracle struct {
	world
	kind        clusterv1alpha1.RolloutType
	soak        time.Duration
	deadline    *time.Duration
	maxFailures intstr.IntOrString
	concurrency intstr.IntOrString
	mandatory   []clusterv1alpha1.MandatoryDecisionGroup
	given       []status.Report // before takeBack
	all         []subject
	pasts       []past
	inOrder     []grouping.Key // what sequence gives, once the groups and the strategy are read; nil before and after
	out         answer
}

// answer answers for a strategy, options and reports without fault.
func (o *oracle) answer(w world) *answer {
	o.world, o.given = w, w.reports
	o.readStrategy()
	o.takeBack()
	o.readReports()
	o.forget()
	o.r48()
	o.inOrder = o.sequence()
	o.out.Breach = o.breach()
	o.chooseStarts()
	o.r19()
	o.r7()
	o.out.RecheckAfter = o.r19Recheck()
	o.r31()
	o.r21()
	o.s5()
	o.out.Counts = o.out.Summary.Counts
	o.out.Aggregate = o.s6()
	o.listBlocks()
	o.inOrder = nil
	return &o.out
}

// forget empties the answer and keeps its memory, since there are millions of them.
func (o *oracle) forget() {
	a := &o.out
	a.InFlight, a.Start, a.TimedOut, a.Settled = a.InFlight[:0], a.Start[:0], a.TimedOut[:0], a.Settled[:0]
	a.Blocked, a.Removed, a.BlockCounts, a.Warnings = a.Blocked[:0], a.Removed[:0], a.BlockCounts[:0], a.Warnings[:0]
	a.Left, a.Leaving = a.Left[:0], a.Leaving[:0]
	a.Schedule.Stages, a.Summary.Groups = a.Schedule.Stages[:0], a.Summary.Groups[:0]
}

// readStrategy follows R18: an empty type is All, and only the fields of the type count. R5: All ignores
// MinSuccessTime and MaxFailures.
func (o *oracle) readStrategy() {
	s := o.strategy
	config := clusterv1alpha1.RolloutConfig{}
	o.kind, o.mandatory, o.concurrency = s.Type, nil, intstr.IntOrString{}
	switch {
	case s.Type == "" || s.Type == clusterv1alpha1.All:
		o.kind = clusterv1alpha1.All
		if s.All != nil {
			config.ProgressDeadline = s.All.ProgressDeadline
		}
	case s.Type == clusterv1alpha1.Progressive && s.Progressive != nil:
		config = s.Progressive.RolloutConfig
		o.mandatory = s.Progressive.MandatoryDecisionGroups.MandatoryDecisionGroups
		o.concurrency = s.Progressive.MaxConcurrency
	case s.Type == clusterv1alpha1.ProgressivePerGroup && s.ProgressivePerGroup != nil:
		config = s.ProgressivePerGroup.RolloutConfig
		o.mandatory = s.ProgressivePerGroup.MandatoryDecisionGroups.MandatoryDecisionGroups
	}
	o.soak = config.MinSuccessTime.Duration
	o.maxFailures = config.MaxFailures
	o.deadline, _ = r17(config.ProgressDeadline)
}

// readReports gives each selected cluster the status that counts, and adds the deselected ones.
func (o *oracle) readReports() {
	o.all, o.pasts = o.all[:0], o.pasts[:0]
	for _, m := range o.members {
		s := subject{name: m.name, group: m.group}
		s.ignored = o.ignored != nil && o.ignored(m.name)
		s.before = o.before != nil && o.before(m.name)
		o.r49(&s)
		o.all = append(o.all, s)
	}
	if len(o.groups) == 0 && !o.incomplete {
		o.size = nil // no object tells it
	}
	for i := range o.all {
		o.all[i].group = o.r52(&o.all[i])
	}
	o.r46()
}
