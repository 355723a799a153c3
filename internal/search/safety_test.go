package search

import (
	"fmt"

	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"
)

// standing is where a cluster stands by the rules, which are written down here once more, from RULES.md and not from the
// code, over the objects of the model and not over reports.
type standing uint8

const (
	waiting  standing = iota // R27: has another version, or none
	running                  // R3: has the version, and neither succeeded nor failed
	failing                  // R3: failed, within its deadline
	soaking                  // R5
	done                     // R6
	timedOut                 // R4
)

func (x standing) String() string {
	return [...]string{"waiting", "in flight", "failed", "soaking", "done", "timed out"}[x]
}

func (x standing) fails() bool    { return x == failing || x == timedOut }
func (x standing) settled() bool  { return x == done || x.fails() }
func (x standing) inFlight() bool { return x == running || x == failing || x == soaking }

// stand reads an object.
func (c *config) stand(o object) standing {
	if o.version != 0 {
		return waiting
	}
	since := o.applied
	if o.observed {
		since = min(o.applied, o.changed)
	}
	late := c.deadline > 0 && since >= c.deadline
	switch {
	case o.observed && o.condition == succeeded && c.soak > 0 && c.strategy != clusterv1alpha1.All && since < c.soak:
		return soaking
	case o.observed && o.condition == succeeded:
		return done
	case late:
		return timedOut
	case o.observed && o.condition == failed:
		return failing
	default:
		return running
	}
}

// stage is groups that go together.
type stage struct {
	name      string
	groups    set
	limit     string
	budget    int
	clusters  set
	mandatory bool
	sequence  bool // it is one group, and its gate a barrier
}

// judge is what the rules say of a state as the controller sees it.
type judge struct {
	config  *config
	s       *state
	stands  [most]standing
	all     set // the clusters that are shown
	stages  [2 * none]stage
	n       int // of the stages
	active  int
	stopped string // why nothing starts anywhere
}

func (c *config) judge(s *state) *judge {
	j := &judge{config: c, s: s}
	for i := range s.clusters {
		j.stands[i] = c.stand(s.clusters[i].view())
		if s.clusters[i].shown != none {
			j.all.add(i)
		}
	}
	j.divide()
	j.active = j.n
	for i := j.n - 1; i >= 0; i-- {
		if j.unsettled(j.stages[i].clusters) != 0 || j.failures(j.stages[i].clusters) > j.stages[i].budget {
			j.active = i
		}
	}
	j.stopped = j.stop()
	return j
}

// divide makes the stages (R9 to R12).
func (j *judge) divide() {
	c := j.config
	var taken set
	add := func(x stage) {
		for i := range most {
			if g := j.s.clusters[i].shown; g != none && x.groups.has(int(g)) {
				x.clusters.add(i)
			}
		}
		if x.mandatory && x.clusters == 0 {
			return // skipped
		}
		taken |= x.groups
		j.stages[j.n] = x
		j.n++
	}
	perGroup := ""
	if c.groupLimit > 0 && c.strategy == clusterv1alpha1.ProgressivePerGroup {
		perGroup = fmt.Sprint(c.groupLimit)
	}
	for g := range none {
		for _, m := range c.mandatory {
			if m == g {
				add(stage{name: fmt.Sprint("mandatory group ", g), groups: 1 << g, limit: perGroup, mandatory: true, sequence: true})
			}
		}
	}
	switch rest := set(1<<none-1) &^ taken; c.strategy {
	case clusterv1alpha1.ProgressivePerGroup:
		for g := range none {
			if rest.has(g) {
				add(stage{name: fmt.Sprint("group ", g), groups: 1 << g, limit: perGroup, sequence: true})
				x := &j.stages[j.n-1]
				x.budget = share(c.budget, x.clusters.len(), 0)
			}
		}
	case clusterv1alpha1.Progressive:
		add(stage{name: "all groups", groups: rest, limit: c.concurrency})
		j.stages[j.n-1].budget = most // the budget over all clusters holds instead
	default:
		add(stage{name: "all groups", groups: rest, budget: most})
	}
}

// of counts the clusters of a set that stand as asked.
func (j *judge) of(clusters set, is func(standing) bool) (found set) {
	for i := range most {
		if clusters.has(i) && is(j.stands[i]) {
			found.add(i)
		}
	}
	return found
}

func (j *judge) waiting(clusters set) set {
	return j.of(clusters, func(x standing) bool { return x == waiting })
}
func (j *judge) unsettled(clusters set) set {
	return j.of(clusters, func(x standing) bool { return !x.settled() })
}
func (j *judge) failures(clusters set) int { return j.of(clusters, standing.fails).len() }

// breach says which budget is breached (R10 to R12); empty if none is.
func (j *judge) breach() string {
	for i := range j.n {
		if x := &j.stages[i]; j.failures(x.clusters) > x.budget {
			return fmt.Sprintf("%d failed in %s, %d may", j.failures(x.clusters), x.name, x.budget)
		}
	}
	if budget := share(j.config.budget, j.all.len(), 0); j.config.strategy == clusterv1alpha1.Progressive && j.failures(j.all) > budget {
		return fmt.Sprintf("%d failed, %d may", j.failures(j.all), budget)
	}
	return ""
}

// stop says why nothing starts (R10, R22, R23, R28).
func (j *judge) stop() string {
	switch breach := j.breach(); {
	case j.s.torn == partial || j.s.torn == empty:
		return "while the groups are incomplete"
	case j.s.paused:
		return "while the rollout is paused"
	case breach != "":
		return "past a breach: " + breach
	}
	for i := 0; i <= j.active && i < j.n; i++ {
		if x := &j.stages[i]; x.sequence && x.groups&set(j.s.closed) != 0 {
			return "behind the closed gate of " + x.name
		}
	}
	return ""
}

// slots says how many clusters of the active stage may start, for what the controller sees and for what is so. It
// must not have forgotten what it wrote.
func (j *judge) slots() (free int, taken set) {
	x := &j.stages[j.active]
	for i := range most {
		c := &j.s.clusters[i]
		if !x.clusters.has(i) || j.stands[i] == failing && j.config.free {
			continue
		}
		if j.stands[i].inFlight() || c.truth.version == 0 && j.stands[i] == waiting {
			taken.add(i)
		}
	}
	outside := x.clusters.len()
	return share(x.limit, outside, most) - taken.len(), taken
}

func (j *judge) checkStart(start set) string {
	if start == 0 {
		return ""
	}
	for i := range most {
		switch c := &j.s.clusters[i]; {
		case !start.has(i):
		case !j.all.has(i):
			return fmt.Sprintf("selection: @%d starts, which is not selected", i)
		case c.truth.version == 0:
			return fmt.Sprintf("twice: @%d starts, which has the version (%v by the rules)", i, j.stands[i])
		}
	}
	if j.stopped != "" {
		return "stop: " + starts(start) + " " + j.stopped
	}
	if j.active == j.n {
		return "start: " + starts(start) + " where nobody waits"
	}
	x := &j.stages[j.active]
	for i := range most {
		g := int(j.s.clusters[i].shown)
		if start.has(i) && !x.clusters.has(i) {
			return fmt.Sprintf("order: @%d of group %d starts before %s is complete, where %s", i, g, x.name, j.tell(j.unsettled(x.clusters)))
		}
		if start.has(i) && j.s.closed>>g&1 == 1 {
			return fmt.Sprintf("gate: @%d starts behind the closed gate of group %d", i, g)
		}
	}
	if free, taken := j.slots(); start.len() > max(0, free) {
		return fmt.Sprintf("concurrency: %s where %s, %s at a time in %s", starts(start), j.tell(taken), x.limit, x.name)
	}
	return ""
}

// tell says of clusters how they stand.
func (j *judge) tell(clusters set) string {
	s := ""
	for i := range most {
		if clusters.has(i) {
			stands := j.stands[i].String()
			if j.stands[i] == waiting && j.s.clusters[i].truth.version == 0 {
				stands = "in flight unseen"
			}
			if s != "" {
				s += ", "
			}
			s += fmt.Sprintf("@%d is %s", i, stands)
		}
	}
	if s == "" {
		return "nobody is in flight"
	}
	return s
}

// checkRemoved is R7, R30 and R32: nobody is removed who is selected, whatever the stored decisions show.
func (j *judge) checkRemoved(d *decision) string {
	for i := range most {
		switch c := &j.s.clusters[i]; {
		case !d.removed.has(i):
		case c.group != none:
			return fmt.Sprintf("removal: @%d is removed, which is selected", i)
		case j.s.torn == partial || j.s.torn == empty:
			return fmt.Sprintf("removal: @%d is removed while the groups are incomplete", i)
		case j.config.grace > 0 && c.gone < j.config.grace+1:
			return fmt.Sprintf("grace: @%d is removed before its time of grace is over", i)
		}
	}
	if most := j.config.maxRemoved; most > 0 && d.removed.len() > most {
		return fmt.Sprintf("removal: %d are removed at once, %d may be", d.removed.len(), most)
	}
	return ""
}

// checkLists is R3, R4 and R19: who is in flight is listed, and who timed out.
func (j *judge) checkLists(d *decision) string {
	flying := j.of(j.all, standing.inFlight)
	late := j.of(j.all, func(x standing) bool { return x == timedOut })
	switch {
	case d.inFlight != flying:
		return fmt.Sprintf("in flight: the plan lists [%s], and in flight are [%s]", d.inFlight.in(marks), flying.in(marks))
	case d.timedOut != late:
		return fmt.Sprintf("deadline: the plan lists [%s], and past their deadline are [%s]", d.timedOut.in(marks), late.in(marks))
	case d.breach != (j.breach() != ""):
		return fmt.Sprintf("breach: the plan says %v, the rules say %q", d.breach, j.breach())
	}
	return ""
}

// starts is "a starts" or "a, b start".
func starts(clusters set) string {
	if clusters.len() == 1 {
		return clusters.in(marks) + " starts"
	}
	return clusters.in(marks) + " start"
}

// marks stand for the clusters in messages until the story gives them their names.
var marks = [most]string{"@0", "@1", "@2", "@3"}

// checkHeld finds clusters that wait for nothing.
func (j *judge) checkHeld(start set) string {
	if j.stopped != "" || j.active == j.n {
		return ""
	}
	x := &j.stages[j.active]
	open := j.waiting(x.clusters)
	for i := range most {
		if open.has(i) && j.s.closed>>j.s.clusters[i].shown&1 == 1 {
			open &^= 1 << i
		}
	}
	if free, _ := j.slots(); start.len() < min(open.len(), max(0, free)) {
		return fmt.Sprintf("held: [%s] wait in %s for nothing", (open &^ start).in(marks), x.name)
	}
	return ""
}
