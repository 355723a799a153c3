// SPDX-License-Identifier: Apache-2.0

package progressive_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"

	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/status"
)

// naive is the hub as the rules describe it, written from them alone. It knows of versions as numbers, and of a cluster what it has and
// what it said of that. Which clusters may start it asks the engine, which has an oracle of its own.
type naive struct {
	strategy clusterv1alpha1.RolloutStrategy
	manual   bool
	deadline time.Duration // 0: none
	ignored  map[string]bool
	approved map[string]bool // by the names of the groups
	groups   map[grouping.Key][]string

	now        time.Time
	generation int
	// The Rollout: uid 0 is none.
	uid, current, last int
	status             status.RolloutStatus
	retry              int
	drawn              int

	clusters map[string]*naiveCluster
}

// naiveCluster is one bound cluster.
type naiveCluster struct {
	content int // 0: nothing
	uid     int // of the rollout that started it or took it back; 0: none
	isNew   bool
	back    bool
	answer  string // to the content: "", Compliant or NonCompliant
	since   time.Time
	status  status.RolloutStatus
}

func (n *naive) clone() *naive {
	c := *n
	c.approved, c.groups, c.clusters = maps.Clone(n.approved), maps.Clone(n.groups), maps.Clone(n.clusters)
	for name, cluster := range n.clusters {
		copied := *cluster
		c.clusters[name] = &copied
	}
	return &c
}

// started says whether the rollout has started the cluster (O37).
func (n *naive) started(c *naiveCluster) bool {
	return c.uid == n.uid && c.content == n.generation && !c.back
}

// stands gives the state of a started cluster (O37).
func (n *naive) stands(c *naiveCluster) status.RolloutStatus {
	switch {
	case c.answer == "Compliant":
		return status.Succeeded
	case n.deadline == 0 || n.now.Sub(c.since) < n.deadline:
		return status.Progressing
	case c.answer == "":
		return status.TimeOut
	default:
		return status.Failed
	}
}

// mayStart asks the engine which clusters start and whether a budget is breached.
func (n *naive) mayStart() (starts map[string]bool, breached bool) {
	var reports []status.Report
	for name, c := range n.clusters {
		if c.content == 0 {
			continue
		}
		r := status.Report{Cluster: name, Status: status.ToApply}
		if n.started(c) {
			if r.Applied, r.LastTransitionTime = c.since, c.since; c.answer == "Compliant" {
				r.Status = status.Succeeded
			} else {
				r.Status = status.Progressing
			}
		}
		if c.back && c.uid == n.uid {
			r.Status = status.TimeOut
		}
		reports = append(reports, r)
	}
	groups, err := grouping.FromNames(n.groups)
	if err != nil {
		panic(err)
	}
	strategy, opts := n.strategy, rollout.Options{}
	ignored := slices.Sorted(maps.Keys(n.ignored))
	switch {
	case n.status == status.Succeeded: // O39
		strategy = clusterv1alpha1.RolloutStrategy{}
	case n.deadline == 0: // O47
		opts.Ignored = ignored
	default:
		opts.FailedBefore = ignored
	}
	if n.manual && n.status != status.Succeeded {
		opts.GroupOrder = rollout.GroupOrder{}
		before := "" // approved groups one after the other, and then the others
		for _, approved := range []bool{true, false} {
			for _, key := range slices.SortedFunc(maps.Keys(n.groups), grouping.Key.Compare) {
				if n.approved[key.Name] != approved {
					continue
				}
				if before != "" {
					opts.GroupOrder[key.Name] = []string{before}
				}
				if before = key.Name; !approved {
					opts.Gates = append(opts.Gates, rollout.ClosedGate{Group: key})
				}
			}
		}
	}
	result, err := rollout.Plan(strategy, groups, reports, n.now, opts)
	if err != nil {
		panic(err)
	}
	starts = map[string]bool{}
	for _, c := range result.Start {
		starts[c.Name] = true
	}
	return starts, result.Breach != nil
}

// step does what the rules say once; it says whether anything changed.
func (n *naive) step() bool {
	before := n.String()
	if n.uid == 0 || n.current != n.generation || n.retry == n.uid && n.status == status.Failed { // O32, O33
		n.drawn++
		n.uid, n.current, n.status = n.drawn, n.generation, status.ToApply
	}
	starts, breached := n.mayStart()
	for name, c := range n.clusters {
		switch {
		case n.status == status.Failed: // O34
		case starts[name]:
			if c.content != n.generation {
				c.answer = ""
			}
			*c = naiveCluster{content: n.generation, uid: n.uid, isNew: n.status == status.Succeeded, answer: c.answer, since: n.now}
		}
		switch {
		case !n.started(c):
			if c.content == 0 && n.last != 0 { // O38
				c.content = n.last
			}
			if c.back = c.back && c.uid == n.uid; !c.back {
				c.status = status.ToApply
			}
		case c.isNew: // O39
			c.status = "NewCluster"
		case n.status == status.Succeeded && c.status == status.Succeeded: // O39
		default:
			c.status = n.stands(c)
			if n.status == status.Failed && c.status == status.TimeOut && n.last != 0 && n.last != c.content { // O40
				c.content, c.back, c.answer = n.last, true, ""
			}
		}
	}
	if n.status != status.Succeeded && n.status != status.Failed {
		n.status = n.outcome(breached)
	}
	return n.String() != before
}

// outcome gives the state of a rollout in progress (O34, O35).
func (n *naive) outcome(breached bool) status.RolloutStatus {
	began, ended, failed := false, len(n.clusters) > 0, false
	for name, c := range n.clusters {
		switch {
		case !n.started(c):
			ended = false
			continue
		case n.ignored[name]:
			ended = ended && (n.deadline == 0 || c.status != status.Progressing)
		default:
			ended = ended && c.status != status.Progressing
			failed = failed || c.status == status.Failed || c.status == status.TimeOut
		}
		began = true
	}
	switch {
	case breached, ended && failed && n.strategy.Type == clusterv1alpha1.All:
		return status.Failed
	case ended:
		n.last = n.generation
		return status.Succeeded
	case began:
		return status.Progressing
	default:
		return status.ToApply
	}
}

func (n *naive) sync() {
	for range 50 {
		if !n.step() {
			return
		}
	}
	panic("the naive hub does not come to rest: " + n.String())
}

// String is the whole state, with times as ages.
func (n *naive) String() string {
	out := []string{fmt.Sprintf("g%d u%d c%d l%d %s r%v %v %v", n.generation, n.uid, n.current, n.last, n.status, n.retry == n.uid, n.approved, n.groups)}
	for _, name := range slices.Sorted(maps.Keys(n.clusters)) {
		c := n.clusters[name]
		age := time.Duration(0)
		if n.started(c) && c.answer != "Compliant" {
			age = min(n.now.Sub(c.since), n.deadline)
		}
		out = append(out, fmt.Sprintf("%s: v%d u%v new%v back%v %q %v %s", name, c.content, c.uid == n.uid, c.isNew, c.back, c.answer, age, c.status))
	}
	return strings.Join(out, "\n")
}

// shown is what can be compared with the world.
func (n *naive) shown() string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(n.clusters)) {
		c, has := n.clusters[name], "nothing"
		if c.content != 0 {
			has = fmt.Sprintf("v%d", c.content)
		}
		out = append(out, fmt.Sprintf("%s: %s, %s", name, has, c.status))
	}
	last := ""
	if n.last != 0 {
		last = fmt.Sprintf(", last successful v%d", n.last)
	}
	return strings.Join(append(out, fmt.Sprintf("root: %s%s", n.status, last)), "\n")
}
