// SPDX-License-Identifier: Apache-2.0

package search

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"

	"github.com/cohort-ocm/cohort/rollout"
)

// tick is the length of a step of time.
const tick = time.Minute

// config is a world at its beginning: a strategy, options, clusters and the events that may happen.
type config struct {
	name string
	far  int // how many of its states are looked at with the tag "exhaustive"; 0: 5,000

	strategy    clusterv1alpha1.RolloutType
	concurrency string // a count or a percentage; empty: all
	budget      string // likewise; empty: 0
	mandatory   []int  // indexes of groups
	deadline    uint8  // ticks; 0: none
	soak        uint8

	grace      uint8 // RemoveAfter, in ticks; 0: none
	free       bool  // FailedFreesSlot
	groupLimit int   // MaxConcurrencyPerGroup; 0: none
	maxRemoved int   // 0: none
	ramp       int   // Ramp; 0: none
	starts     int   // MaxStarts, within per ticks; 0: any number
	per        uint8
	shares     int   // the share of concurrency; 0: no such limit
	mayFail    int   // the share of failures
	wait       uint8 // WaitBetweenGroups, in ticks; 0: none
	installed  set   // the clusters that have the version before
	aside      set   // Ignored
	past       set   // FailedBefore
	order      order // GroupOrder; nil: none

	groups []uint8 // of each cluster, at the beginning; none for those that may join
	closed uint8
	opens  uint8 // in how many ticks the gates open; 0: when an operator opens them
	left   left

	validates bool       // a cluster that succeeded is validated
	wavers    bool       // a validator may say that it knows nothing yet
	lates     bool       // a verdict may come late, about the version or attempt before
	holds     []freezing // how an operator may freeze a cluster
	reviews   bool       // a cluster that joins has to be on the allowlist

	answers bool // agents say that they are progressing before they say more
	aborts  bool // an operator may roll back
	retry   bool // an operator may have failed clusters tried again
	pauses  bool // an operator may pause the rollout
	lends   bool // such a pause means that this hub has no share left
	regress bool // what succeeded may fail
	lag     bool // the cache shows writes late
	slow    bool // time passes while a plan is carried out
	back    bool // the version before may be wanted again
	exposes bool // groups stay the same and succeeded clusters keep working, so that the exposure is known
	bounds  bool // the exposure is never more than that, and may be less
	records bool // the owner has a record of deselected clusters
	atOnce  bool // an object disappears once it is deleted
	hangs   bool // an agent has to remove the finalizer of a deleted object
	large   bool // for a search of more than a second
	named   bool // clusters are told apart: symmetric states are not merged
}

// rollout gives the strategy as the API has it.
func (c *config) rollout() clusterv1alpha1.RolloutStrategy {
	rc := clusterv1alpha1.RolloutConfig{MinSuccessTime: metav1.Duration{Duration: time.Duration(c.soak) * tick}}
	if c.deadline > 0 {
		rc.ProgressDeadline = fmt.Sprintf("%dm", c.deadline)
	}
	if c.budget != "" {
		rc.MaxFailures = intstr.Parse(c.budget)
	}
	var mandatory clusterv1alpha1.MandatoryDecisionGroups
	for _, index := range c.mandatory {
		mandatory.MandatoryDecisionGroups = append(mandatory.MandatoryDecisionGroups,
			clusterv1alpha1.MandatoryDecisionGroup{GroupIndex: int32(index)})
	}
	s := clusterv1alpha1.RolloutStrategy{Type: c.strategy}
	switch c.strategy {
	case clusterv1alpha1.All:
		s.All = &clusterv1alpha1.RolloutAll{RolloutConfig: rc}
	case clusterv1alpha1.Progressive:
		s.Progressive = &clusterv1alpha1.RolloutProgressive{RolloutConfig: rc, MandatoryDecisionGroups: mandatory}
		if c.concurrency != "" {
			s.Progressive.MaxConcurrency = intstr.Parse(c.concurrency)
		}
	case clusterv1alpha1.ProgressivePerGroup:
		s.ProgressivePerGroup = &clusterv1alpha1.RolloutProgressivePerGroup{RolloutConfig: rc, MandatoryDecisionGroups: mandatory}
	}
	return s
}

// options gives the options that are the same in each state.
func (c *config) options() (o rollout.Options) {
	if c.free {
		o.FailedFreesSlot = true
	}
	if c.groupLimit > 0 {
		o.MaxConcurrencyPerGroup = intstr.FromInt(c.groupLimit)
	}
	if c.maxRemoved > 0 {
		most := intstr.FromInt(c.maxRemoved)
		o.MaxRemoved = &most
	}
	if c.ramp > 0 {
		o.Ramp = &c.ramp
	}
	if c.wait > 0 {
		o.WaitBetweenGroups = metav1.Duration{Duration: time.Duration(c.wait) * tick}
	}
	if c.starts > 0 {
		o.MaxStarts = &rollout.StartLimit{Count: c.starts, Per: metav1.Duration{Duration: time.Duration(c.per) * tick}}
	}
	if c.shares > 0 {
		o.Shares = &rollout.Shares{Concurrency: c.shares, Failures: c.mayFail}
	}
	if c.order != nil {
		o.GroupOrder = rollout.GroupOrder(c.order)
	}
	return o
}

// order says which names of groups a name comes after. The groups have the names g0, g1 and g2 then.
type order map[string][]string

// comesAfter says whether a group comes after another, directly or through others (R33).
func (o order) comesAfter(group, other int) bool {
	for _, name := range o[groupName(group)] {
		if name == groupName(other) {
			return true
		}
		for between := range none {
			if name == groupName(between) && o.comesAfter(between, other) {
				return true
			}
		}
	}
	return false
}

func groupName(index int) string { return fmt.Sprint("g", index) }

// first is the state in which a world begins: no cluster has the workload.
func (c *config) first() state {
	s := state{closed: c.closed, opens: c.opens, left: c.left}
	for i := range s.clusters {
		group := uint8(none)
		if i < len(c.groups) {
			group = c.groups[i]
		}
		s.clusters[i] = cluster{
			group: group, shown: group, truth: nothing, seen: nothing, own: nothing, aside: c.aside.has(i), past: c.past.has(i),
			home: none, former: none, then: none, allowed: group != none,
		}
		if c.installed.has(i) {
			s.clusters[i].truth = object{version: 1, observed: true, condition: succeeded, applied: ancient, changed: ancient}
			s.clusters[i].seen = s.clusters[i].truth
		}
	}
	return s
}

// oldest is the age from which on nothing changes by time alone.
func (c *config) oldest() uint8 { return max(c.deadline, c.soak, c.per, c.wait) }

// share reads a limit of all clusters, n of which are selected: a count, or a percentage of those that is rounded up.
func share(limit string, n, all, unset int) int {
	percent, isPercent := strings.CutSuffix(limit, "%")
	value, err := strconv.Atoi(percent)
	switch {
	case limit == "":
		return unset
	case err != nil:
		panic(err)
	case isPercent:
		return (value*n + 99) / 100
	default:
		return min(value, all)
	}
}

// isShare says whether the budget is a percentage.
func (c *config) isShare() bool { return strings.HasSuffix(c.budget, "%") }

// String gives the strategy in a line.
func (c *config) String() string {
	parts := []string{string(c.strategy)}
	say := func(is bool, format string, args ...any) {
		if is {
			parts = append(parts, fmt.Sprintf(format, args...))
		}
	}
	say(c.concurrency != "", "maxConcurrency %s", c.concurrency)
	say(c.budget != "", "maxFailures %s", c.budget)
	say(len(c.mandatory) > 0, "mandatory groups %v", c.mandatory)
	say(c.deadline > 0, "progressDeadline %dm", c.deadline)
	say(c.soak > 0, "minSuccessTime %dm", c.soak)
	say(c.grace > 0, "RemoveAfter %dm", c.grace)
	say(c.free, "FailedFreesSlot")
	say(c.ramp > 0, "Ramp %d", c.ramp)
	say(c.wait > 0, "WaitBetweenGroups %dm", c.wait)
	say(c.starts > 0, "MaxStarts %d within %dm", c.starts, c.per)
	say(c.shares > 0, "Shares of %d concurrent and %d failed", c.shares, c.mayFail)
	say(c.order != nil, "GroupOrder %v", map[string][]string(c.order))
	say(c.groupLimit > 0, "MaxConcurrencyPerGroup %d", c.groupLimit)
	say(c.aside != 0, "Ignored %s", c.aside.in(names))
	say(c.past != 0, "FailedBefore %s", c.past.in(names))
	say(c.maxRemoved > 0, "MaxRemoved %d", c.maxRemoved)
	say(c.validates, "validation")
	say(c.reviews, "Allowlist")
	say(c.records, "Remember")
	say(c.atOnce, "objects disappear at once")
	return strings.Join(parts, ", ")
}
