// SPDX-License-Identifier: Apache-2.0

package compare

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/intstr"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"

	"github.com/cohort-ocm/cohort/status"
)

// standing is what a cluster's report says by R2 to R6.
type standing int

const (
	fresh   standing = iota // never reported
	toApply                 // reported as waiting
	flying                  // in flight and no failure: progressing or soaking
	failed                  // in flight and a failure
	settled                 // succeeded and soaked, or skipped
	timeOut                 // reported TimeOut
	expired                 // its deadline has passed since the report
	numStandings
)

func (s standing) waiting() bool  { return s == fresh || s == toApply }
func (s standing) inFlight() bool { return s == flying || s == failed }
func (s standing) failure() bool  { return s == failed || s == timeOut || s == expired }

// reported is a selected cluster with a report.
type reported struct {
	name string
	standing
}

// stage is groups that are rolled out together, as the rules have it.
type stage struct {
	mandatory bool
	size      int
	budget    int
	count     [numStandings]int
}

func (s *stage) sum(is func(standing) bool) (n int) {
	for i, count := range s.count {
		if is(standing(i)) {
			n += count
		}
	}
	return n
}

func (s *stage) waiting() int  { return s.sum(standing.waiting) }
func (s *stage) inFlight() int { return s.sum(standing.inFlight) }
func (s *stage) exposed() int {
	return s.sum(func(s standing) bool { return s.inFlight() || s.failure() })
}
func (s *stage) failures() int  { return s.sum(standing.failure) }
func (s *stage) breached() bool { return s.failures() > s.budget }
func (s *stage) generous() bool { return s.budget > s.size }
func (s *stage) complete() bool { return s.waiting()+s.count[flying] == 0 && !s.breached() }

// view is the facts about a world that the classes ask for. It is read from the world alone, by the rules,
// slowly, and with nothing of the code under test.
type view struct {
	world
	config  config
	stages  []stage    // mandatory groups first; under Progressive and All the others are one stage
	all     stage      // of all selected clusters; its budget is the budget of the whole rollout
	active  int        // the first stage that is not complete, or len(stages)
	over    int        // the first stage with more failures than it may have, or len(stages)
	left    int        // how many clusters that are not selected are in flight or failed (R46)
	ordered []reported // the reports of selected clusters, in the order of their names
}

// config is the fields of either progressive type.
type config struct {
	clusterv1alpha1.RolloutConfig
	maxConcurrency intstr.IntOrString
	mandatory      []clusterv1alpha1.MandatoryDecisionGroup
}

func configOf(s clusterv1alpha1.RolloutStrategy) (c config) {
	switch {
	case s.Type == clusterv1alpha1.Progressive && s.Progressive != nil:
		c = config{s.Progressive.RolloutConfig, s.Progressive.MaxConcurrency, s.Progressive.MandatoryDecisionGroups.MandatoryDecisionGroups}
	case s.Type == clusterv1alpha1.ProgressivePerGroup && s.ProgressivePerGroup != nil:
		c = config{s.ProgressivePerGroup.RolloutConfig, intstr.IntOrString{}, s.ProgressivePerGroup.MandatoryDecisionGroups.MandatoryDecisionGroups}
	case s.All != nil && s.Type != clusterv1alpha1.Progressive && s.Type != clusterv1alpha1.ProgressivePerGroup:
		c.ProgressDeadline = s.All.ProgressDeadline
	}
	return c
}

func look(w world) *view {
	v := &view{world: w, config: configOf(w.strategy)}
	standings := make(map[string]standing)
	for cluster, r := range merged(w.reports) {
		standings[cluster] = v.config.standing(r)
	}
	groups := slices.Clone(w.stored)
	slices.SortStableFunc(groups, func(a, b group) int {
		return cmp.Or(-cmp.Compare(b2i(v.isMandatory(a)), b2i(v.isMandatory(b))), cmp.Compare(a.key.Index, b.key.Index))
	})
	for i, g := range groups {
		m := v.isMandatory(g)
		if pooled := v.strategy.Type != clusterv1alpha1.ProgressivePerGroup && !m; !pooled || i == 0 || v.isMandatory(groups[i-1]) {
			v.stages = append(v.stages, stage{mandatory: m})
		}
		s := &v.stages[len(v.stages)-1]
		s.size += len(g.clusters)
		for _, name := range g.clusters {
			at, ok := standings[name]
			s.count[at]++
			v.all.count[at]++
			if ok {
				v.ordered = append(v.ordered, reported{name, at})
			}
		}
	}
	for _, s := range standings {
		if s.inFlight() || s.failure() {
			v.left++
		}
	}
	v.left -= v.all.inFlight() + v.all.sum(func(s standing) bool { return s.failure() && !s.inFlight() })
	slices.SortFunc(v.ordered, func(a, b reported) int { return strings.Compare(a.name, b.name) })
	v.setBudgets()
	for v.active < len(v.stages) && v.stages[v.active].complete() {
		v.active++
	}
	for v.over < len(v.stages) && !v.stages[v.over].breached() {
		v.over++
	}
	return v
}

// merged is the report of each cluster that counts (R1).
func merged(reports []status.Report) map[string]status.Report {
	rank := func(r status.Report) int {
		if r.Status == status.ToApply && !r.Applied.IsZero() {
			r.Status = status.Progressing
		}
		i := slices.Index([]status.RolloutStatus{status.Failed, status.TimeOut, status.Progressing, status.ToApply, status.Succeeded, status.Skip}, r.Status)
		if i < 0 {
			i = 2 // as Progressing
		}
		return i
	}
	counts := make(map[string]status.Report)
	for _, r := range reports {
		if other, again := counts[r.Cluster]; !again || rank(r) < rank(other) || rank(r) == rank(other) && since(r).After(since(other)) {
			counts[r.Cluster] = r
		}
	}
	return counts
}

// since is when the status begins to count (R27).
func since(r status.Report) time.Time {
	if r.Applied.After(r.LastTransitionTime) {
		return r.Applied
	}
	return r.LastTransitionTime
}

// setBudgets fills in R10 to R12 and R15.
func (v *view) setBudgets() {
	for i := range v.stages {
		v.all.size += v.stages[i].size
	}
	v.all.budget = v.all.size
	for i := range v.stages {
		s := &v.stages[i]
		switch {
		case s.mandatory:
			s.budget = 0
		case v.strategy.Type == clusterv1alpha1.ProgressivePerGroup:
			s.budget = count(v.config.MaxFailures, s.size)
		default:
			s.budget = s.size
		}
	}
	if v.strategy.Type == clusterv1alpha1.Progressive {
		v.all.budget = count(v.config.MaxFailures, v.all.size)
	}
}

func (v *view) isMandatory(g group) bool {
	return slices.ContainsFunc(v.config.mandatory, func(m clusterv1alpha1.MandatoryDecisionGroup) bool {
		return m.GroupName != "" && m.GroupName == g.key.Name || m.GroupName == "" && m.GroupIndex == g.key.Index
	})
}

// standing reads a report by R1 to R5 and R27.
func (c config) standing(r status.Report) standing {
	after := func(d time.Duration) bool {
		return !since(r).IsZero() && !now.Before(since(r).Add(d))
	}
	switch r.Status {
	case status.ToApply:
		if r.Applied.IsZero() {
			return toApply
		}
	case status.Skip:
		return settled
	case status.TimeOut:
		return timeOut
	case status.Succeeded:
		if c.MinSuccessTime.Duration == 0 || after(c.MinSuccessTime.Duration) {
			return settled
		}
		return flying
	}
	if deadline, err := time.ParseDuration(c.ProgressDeadline); err == nil && after(deadline) {
		return expired
	}
	if r.Status == status.Failed {
		return failed
	}
	return flying
}

// count resolves a valid limit (R15, R16).
func count(limit intstr.IntOrString, total int) int {
	if limit.Type == intstr.Int {
		return int(limit.IntVal)
	}
	percent, _ := strconv.Atoi(strings.TrimSuffix(limit.StrVal, "%"))
	n := percent * total / 100
	if n*100 < percent*total {
		n++
	}
	return n
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}
