// SPDX-License-Identifier: Apache-2.0

package rollout_test

import (
	"slices"
	"testing"
	"time"

	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"

	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/internal/exhaustive"
	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/status"
)

// A life is a small hub at a moment: its clusters with their objects, the owner, and what the controller is about to write.
// The fleet has version A; B is rolled out, fails or not, and is aborted. The search below goes through every life.
type life struct {
	clusters [4]resident
	asked    bool // a user wants B taken back
	aborted  bool // the owner's status has abortedTime
	pending  [4]int8
	todo     int8 // how many of pending are left; each is a cluster, or one of the numbers below
	bWritten int8 // how often B was written
	stirs    int8 // how many more clusters may join, leave and move
}

// What a controller is about to write beside a cluster's object: the owner's status. A deletion is ^cluster.
const storeAbort = 100

// resident is a cluster as it is, beside what the controller sees of it.
type resident struct {
	group   int8 // 0 and 1; -1 where it is not selected
	version byte // of its object: 0, 'A', 'B'
	turn    int8 // when that was written: 0 before B, n for the n-th write of B, -1 since the abort
	answer  byte // of its agent about that version: 0 silent, 's' succeeded, 'f' failed
	hadB    bool // its object had B since the abort was stored, or then
	backs   int8 // how often A was written since to replace B
}

// The versions were written long before, one minute after the other, and long after the abort.
func (c *resident) applied() time.Time {
	switch {
	case c.turn < 0:
		return aborted.Add(time.Minute)
	case c.turn == 0:
		return aborted.Add(-2 * time.Hour)
	default:
		return aborted.Add(-time.Hour + time.Duration(c.turn)*time.Minute)
	}
}

func (l *life) name(i int) string { return string(rune('a' + i)) }

// reports are those that a controller makes for a version (S1).
func (l *life) reports(version byte) (reports []status.Report) {
	for i := range l.clusters {
		c := &l.clusters[i]
		r := status.Report{Cluster: l.name(i), Status: status.ToApply}
		switch {
		case c.version == 0:
			continue
		case c.version == version:
			r.Applied = c.applied()
			switch c.answer {
			case 's':
				r.Status, r.LastTransitionTime = status.Succeeded, r.Applied
			case 'f':
				r.Status, r.LastTransitionTime = status.Failed, r.Applied
			}
		}
		reports = append(reports, r)
	}
	return reports
}

// lives is a search through all lives under a strategy for both ways.
type lives struct {
	t        *testing.T
	strategy clusterv1alpha1.RolloutStrategy
	most     int // how many may be rolling back at a time
	groups   map[[4]int8]*grouping.Groups
	seen     map[life]bool
	queue    []life
}

func (s *lives) read(l *life) *grouping.Groups {
	var key [4]int8
	for i := range l.clusters {
		key[i] = l.clusters[i].group
	}
	if s.groups[key] == nil {
		var members [2][]string
		for i, group := range key {
			if group >= 0 {
				members[group] = append(members[group], l.name(i))
			}
		}
		s.groups[key] = newFleet(s.t).group("", members[0]...).group("", members[1]...).read()
	}
	return s.groups[key]
}

// revert asks for the rollback, and checks which clusters are touched.
func (s *lives) revert(l *life) *rollout.Result {
	r, err := rollout.Revert(s.strategy, s.read(l), rollout.Abort{Time: aborted, Failed: l.reports('B'), Before: l.reports('A')}, now, rollout.Options{})
	if err != nil {
		s.t.Fatal(err)
	}
	onTheirWay := len(r.Start)
	for _, c := range r.Start {
		if of := &l.clusters[c.Name[0]-'a']; of.version != 'B' {
			s.t.Fatalf("%+v: %s starts, and does not have the failed version", *l, c.Name)
		}
	}
	for _, c := range r.InFlight {
		of := &l.clusters[c.Name[0]-'a']
		if of.version != 'A' || of.turn >= 0 {
			s.t.Fatalf("%+v: %s is touched, and neither went back nor joined since", *l, c.Name)
		}
		onTheirWay += one(of.answer == 0)
	}
	if onTheirWay > s.most && len(r.Start) > 0 {
		s.t.Fatalf("%+v: %d are on their way at a time", *l, onTheirWay)
	}
	return r
}

func one(is bool) int {
	if is {
		return 1
	}
	return 0
}

// plan is what the controller makes of what it sees: the abort is stored before anything else is written.
func (s *lives) plan(l life) life {
	add := func(what int8) { l.pending[l.todo], l.todo = what, l.todo+1 }
	var r *rollout.Result
	if l.aborted {
		if r = s.revert(&l); len(r.Start)+len(r.BlockCounts()) == 0 { // no cluster has to roll back: a cluster that joined gets what all others have
			r = s.forward(&l, 'A')
		}
	} else if r = s.forward(&l, 'B'); l.asked || r.Breach != nil {
		add(storeAbort)
		return l
	}
	for _, c := range r.Start {
		add(int8(c.Name[0] - 'a'))
	}
	for _, name := range r.Removed {
		add(^int8(name[0] - 'a'))
	}
	return l
}

func (s *lives) forward(l *life, version byte) *rollout.Result {
	r, err := rollout.Plan(s.strategy, s.read(l), l.reports(version), now, rollout.Options{})
	if err != nil {
		s.t.Fatal(err)
	}
	return r
}

// land carries out what is first to do.
func (s *lives) land(l life) life {
	what := l.pending[0]
	copy(l.pending[:], l.pending[1:])
	l.pending[3] = 0
	l.todo--
	switch {
	case what == storeAbort:
		l.aborted = true
		for i := range l.clusters {
			l.clusters[i].hadB = l.clusters[i].version == 'B'
		}
	case what < 0:
		c := &l.clusters[^what]
		*c = resident{group: c.group}
	default:
		c := &l.clusters[what]
		if l.aborted {
			c.backs += int8(one(c.version == 'B'))
			if c.version == 0 && s.waitingToRollBack(&l) {
				s.t.Fatalf("%+v: %s begins while others go back", l, l.name(int(what)))
			}
			if c.version == 'A' {
				s.t.Fatalf("%+v: %s is written again", l, l.name(int(what)))
			}
			c.version, c.turn, c.answer = 'A', -1, 0
		} else {
			l.bWritten++
			c.version, c.turn, c.answer = 'B', l.bWritten, 0
		}
	}
	return l
}

// waitingToRollBack says whether a cluster that was selected all the time has the failed version.
func (s *lives) waitingToRollBack(l *life) bool {
	return slices.ContainsFunc(l.clusters[:], func(c resident) bool { return c.group >= 0 && c.version == 'B' }) && l.stirs == stirs
}

// stirs is how often clusters join, leave or move.
const stirs = 2

// crashed is the life in which the controller has forgotten all.
func crashed(l life) life {
	l.todo, l.pending = 0, [4]int8{}
	return l
}

func (s *lives) visit(l life) {
	if !s.seen[l] {
		s.seen[l] = true
		s.queue = append(s.queue, l)
	}
}

// follow visits all that may come next.
func (s *lives) follow(l life) {
	if l.todo == 0 {
		s.visit(s.plan(l))
	} else {
		s.visit(s.land(l))          // and goes on
		s.visit(crashed(s.land(l))) // the answer is lost, or the controller crashes after the write
		s.visit(crashed(l))         // it crashes before
	}
	if !l.aborted && !l.asked {
		asked := l
		asked.asked = true
		s.visit(asked)
	}
	for i := range l.clusters {
		is := l.clusters[i]
		change := func(c resident, stir int8) {
			next := l
			next.clusters[i], next.stirs = c, l.stirs-stir
			s.visit(next)
		}
		if is.version != 0 && is.answer == 0 {
			good, bad := is, is
			good.answer, bad.answer = 's', 'f'
			change(good, 0)
			change(bad, 0)
		}
		if l.stirs > 0 {
			for _, group := range []int8{-1, 0, 1} {
				if moved := is; group != is.group {
					moved.group = group
					change(moved, 1)
				}
			}
		}
	}
}

// settle lets the controller run to the end: first while all agents that answer say that A failed, and then while all
// say that it succeeded. A cluster with B rolls back exactly once in the first part, and every cluster has A after the second.
func (s *lives) settle(l life) {
	from := l
	l = s.run(l, 'f')
	for i, c := range l.clusters {
		if c.group >= 0 && from.clusters[i].version != 0 && (c.version != 'A' || c.hadB && c.backs != 1 || !c.hadB && c.backs != 0) {
			s.t.Fatalf("%+v: where A fails, %s ends as %+v: %+v", from, l.name(i), c, l)
		}
	}
	l = s.run(l, 's')
	for i, c := range l.clusters {
		if c.group >= 0 && c.version != 'A' || c.group < 0 && c.version != 0 || c.backs > 1 {
			s.t.Fatalf("%+v: %s ends as %+v: %+v", from, l.name(i), c, l)
		}
	}
}

// run alternates between the controller and the agents until nothing changes. Agents that have not answered about A do so,
// and where the answer is success, those that failed recover; about B they stay silent.
func (s *lives) run(l life, answer byte) life {
	for range 40 {
		before := l
		l = s.plan(l)
		for l.todo > 0 {
			l = s.land(l)
		}
		for i := range l.clusters {
			if c := &l.clusters[i]; c.version == 'A' && (c.answer == 0 || answer == 's') {
				c.answer = answer
			}
		}
		if l == before {
			return l
		}
	}
	s.t.Fatalf("%+v: never ends", l)
	return l
}

// R43: over all histories of three clusters that have A and one that may join, from the first write of B on, whenever the
// controller crashes, whichever answer is lost, whoever is silent, joins, leaves or moves: each holder rolls back exactly
// once, also where A fails; a cluster which never had B is not touched; in the end every cluster has A.
func TestEachClusterRollsBackExactlyOnceInEveryHistory(t *testing.T) {
	for _, test := range []struct {
		name     string
		strategy clusterv1alpha1.RolloutStrategy
		most     int
	}{
		{"all", clusterv1alpha1.RolloutStrategy{}, 4},
		{"one at a time", progressive("1", config("", "", 0)), 1},
		{"two at a time, canary", progressive("2", config("1", "", 0), "0"), 2},
		{"group by group", perGroup(config("", "", 0)), 4},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			s := &lives{t: t, strategy: test.strategy, most: test.most, groups: make(map[[4]int8]*grouping.Groups), seen: make(map[life]bool)}
			has := resident{version: 'A', answer: 's'}
			second := has
			second.group = 1
			s.visit(life{clusters: [4]resident{has, second, second, {group: -1}}, stirs: stirs})
			limit := exhaustive.Of(2_500, 50_000, 1<<30)
			aborted := 0
			for i := 0; i < len(s.queue) && i < limit; i++ {
				l := s.queue[i]
				s.follow(l)
				if l.aborted {
					aborted++
					s.settle(crashed(l))
				}
			}
			t.Logf("%d lives, %d followed, %d of them aborted", len(s.seen), min(limit, len(s.queue)), aborted)
		})
	}
}
