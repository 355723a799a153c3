// SPDX-License-Identifier: Apache-2.0

package trial

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"
)

// world is all that a rollout is drawn from. The seed decides it, and what comes of it.
type world struct {
	name    string // its namespace, and the first part of its clusters'
	seed    uint64
	choices uint64 // of selects
	ignored Duty
	bent    Duty   // that matters here, and the subject is not told so
	class   string // of differences, where it is bent towards one

	fleet
	others []fleet // of further placements

	pool      []string               // all clusters
	agentMode map[string][]agentMode // what an agent draws from
	holds     map[string]bool        // clusters with an agent that has a finalizer
	heals     bool                   // in the end all agents are well
	script    []change
	writers   int
	slice     int
	pause     time.Duration
	often     float64
	only      Kind // if set, events of nothing else are late
	worst     time.Duration
	breaks    float64
	slow      time.Duration

	replicas  int           // processes at a time
	elects    bool          // they elect a leader
	unheard   int           // of so many processes what they store in annotations of the owner never comes to the API server
	down      time.Duration // how long it takes at most until a process that has crashed is replaced
	stale     bool          // what a process lists first may be behind
	strips    bool          // the controller's caches leave managed fields out
	backwards bool          // newcomers come before all others by name
	foreign   bool          // scheduling is disabled, and another controller writes the decisions
	dying     time.Duration // how long a work with a finalizer takes to go, at most

	back *rollbackWorld // if versions are rolled back
	cut  *cutOff        // if versions cut clusters off

	long *long // if it lasts for days

	people *people // if some hold clusters, and validate them

	replicasDiffer bool // from cluster to cluster, so that each has a version of its own
}

// alone has no leader elected, so that none is cut off from a lease.
func (w *world) alone(replicas int) {
	w.replicas, w.elects = replicas, false
	w.script = slices.DeleteFunc(w.script, func(c change) bool { return c.what == cuts })
}

// A fleet is the clusters that a placement selects, and how they are rolled out to.
type fleet struct {
	name     string   // of the placement
	initial  []string // those that are selected first
	named    []string // groups
	groupOf  map[string]string
	size     int
	strategy clusterv1alpha1.RolloutStrategy
}

// plain has a fleet be rolled out so many clusters at a time, without groups.
func (f *fleet) plain(config clusterv1alpha1.RolloutConfig, atATime int) {
	f.named, f.groupOf, f.size = nil, map[string]string{}, 0
	f.strategy = clusterv1alpha1.RolloutStrategy{Type: clusterv1alpha1.Progressive, Progressive: &clusterv1alpha1.RolloutProgressive{
		RolloutConfig: config, MaxConcurrency: intstr.FromInt(atATime)}}
}

// A change is something that happens in mid-rollout.
type change struct {
	after time.Duration // after the one before
	what  string
}

const (
	nothing     = "nothing"
	newTemplate = "template"
	joins       = "join"
	leaves      = "leave"
	resize      = "size"
	returns     = "return"
	exchange    = "exchange"
	comes       = "come" // the second half of an exchange
	crashes     = "crash"
	moves       = "move"    // to another placement
	replaces    = "replace" // the process, when it has created a work; a cluster joins before the next one acts
	loses       = "lose"    // the answer to the next creation of a work; then a cluster joins
	cuts        = "cut"     // the leader from its lease, with a write that is held back
)

func (w *world) choose(choices uint64) { w.choices = choices }

func (w *world) String() string {
	var s []string
	for _, c := range w.script {
		if c.what == nothing {
			continue
		}
		s = append(s, fmt.Sprintf("%s+%v", c.what, c.after.Round(time.Millisecond)))
	}
	var fleets []string
	for _, f := range w.fleets() {
		fleets = append(fleets, fmt.Sprintf("%d clusters, groups %q of %d, %s", len(f.initial), f.named, f.size, strategyText(&f.strategy)))
	}
	var habits string
	if w.people != nil {
		habits += fmt.Sprintf("; validators %v", w.people.habits)
	}
	if w.long != nil {
		habits += fmt.Sprintf("; agents take %d times as long, clocks leap %v, away %v", int(w.long.pace), w.long.leaps, w.long.away)
	}
	return fmt.Sprintf("seed %d: %s; script %v, heals %v, %d writers, late %.0f%% up to %v, strips %v, breaks %.0f%%, slow %v, %d replicas, elected %v, stale %v, foreign %v%s%s",
		w.seed, strings.Join(fleets, "; "), s, w.heals, w.writers, 100*w.often, w.worst, w.strips, 100*w.breaks, w.slow, w.replicas, w.elects, w.stale, w.foreign, habits, w.bentTo())
}

// fleets are all of them, in the order of the placementRefs.
func (w *world) fleets() []*fleet {
	all := []*fleet{&w.fleet}
	for i := range w.others {
		all = append(all, &w.others[i])
	}
	return all
}

func strategyText(s *clusterv1alpha1.RolloutStrategy) string {
	config, _, mandatory, limit := parts(s)
	text := fmt.Sprintf("%s soak %v deadline %q failures %s mandatory %v", s.Type, config.MinSuccessTime.Duration, config.ProgressDeadline, config.MaxFailures.String(), *mandatory)
	if limit != nil {
		text += " at a time " + limit.String()
	}
	return text
}

// draw makes a world of a seed, for a subject. Where a duty is ignored the world is one in which that may matter.
func draw(seed uint64, subject *Subject, ignored Duty) *world {
	rng := rand.New(rand.NewPCG(seed, 1))
	chance := func(p float64) bool { return rng.Float64() < p }
	w := &world{
		seed: seed, ignored: ignored, agentMode: map[string][]agentMode{}, holds: map[string]bool{},
		dying: pick[time.Duration](rng, 100, 800, 3000) * time.Millisecond, heals: chance(0.75), writers: pick(rng, 1, 1, 2, 4), slice: pick(rng, 2, 3, 100),
		pause: pick[time.Duration](rng, 0, 50, 150) * time.Millisecond, often: pick(rng, 0.1, 0.3, 0.7),
		worst: pick[time.Duration](rng, 50, 200, 600) * time.Millisecond, breaks: pick(rng, 0, 0.02, 0.06), slow: pick[time.Duration](rng, 1, 30, 300) * time.Millisecond,
		replicas: 1, stale: chance(0.5), strips: chance(0.3), down: pick[time.Duration](rng, 1, 500, 1000) * time.Millisecond,
	}
	n := 4 + rng.IntN(6)
	for i := range n + 5 {
		c := fmt.Sprintf("c%02d", i)
		w.pool = append(w.pool, c)
		w.agentMode[c] = drawTempers(rng)
		w.holds[c] = chance(0.2)
	}
	several := ignored == "" && subject.Placements > 1 && chance(0.5)
	w.fleet = drawFleet(rng, "fleet", w.pool)
	order := rng.Perm(len(w.pool))
	for _, i := range order[:n] {
		w.initial = append(w.initial, w.pool[i])
	}
	happens := []string{newTemplate, newTemplate, joins, leaves, returns, exchange, exchange, resize, crashes, crashes}
	if several {
		other := drawFleet(rng, "edge", w.pool)
		for _, i := range order[n-rng.IntN(2) : n+2+rng.IntN(3)] { // one cluster may be in both
			other.initial = append(other.initial, w.pool[i])
		}
		w.others = []fleet{other}
		happens = append(happens, moves, moves, moves, moves)
	}
	if subject.Replicas > 1 && ignored == "" && chance(0.5) {
		w.replicas, w.elects = 2, true
		happens = append(happens, crashes, cuts, cuts)
	}
	for range 2 + rng.IntN(5) {
		w.script = append(w.script, change{time.Duration(100+rng.IntN(1800)) * time.Millisecond, pick(rng, happens...)})
	}
	w.focus(rng)
	w.rare()
	return w
}

// rare bends some worlds in ways that were thought of later, so that all else of a seed stays what it was.
func (w *world) rare() {
	rng := rand.New(rand.NewPCG(w.seed, 14))
	w.foreign = rng.IntN(6) == 0 && w.ignored == ""
	if rng.IntN(8) == 0 && w.ignored == "" && w.longestDeadline() > 0 {
		for c := range w.agentMode {
			w.agentMode[c] = []agentMode{punctual}
		}
	}
}

// longestDeadline is that of its strategies, 0 if none has one.
func (w *world) longestDeadline() (longest time.Duration) {
	for _, f := range w.fleets() {
		config, _, _, _ := parts(&f.strategy)
		deadline, _ := time.ParseDuration(config.ProgressDeadline)
		longest = max(longest, deadline)
	}
	return longest
}

func drawFleet(rng *rand.Rand, name string, pool []string) fleet {
	f := fleet{name: name, groupOf: map[string]string{}}
	f.named = pick(rng, nil, []string{"canary"}, []string{"canary"}, []string{"eu", "canary"})
	f.size = pick(rng, 0, 0, 2, 3, 4)
	for _, c := range pool {
		if len(f.named) > 0 && rng.Float64() < 0.4 {
			f.groupOf[c] = pick(rng, f.named...)
		}
	}
	f.strategy = drawStrategy(rng, f.named)
	return f
}

// drawn is what one thing in a world is drawn from: the seed decides it, and what the thing is, and not when others are drawn.
func drawn(seed uint64, thing ...any) *rand.Rand {
	return rand.New(rand.NewPCG(seed, hashOf(fmt.Sprintln(thing...))))
}

func pick[T any](rng *rand.Rand, from ...T) T { return from[rng.IntN(len(from))] }

// drawTempers returns what an agent draws from, one for each generation of its work.
func drawTempers(rng *rand.Rand) []agentMode {
	return pick(rng,
		[]agentMode{quick}, []agentMode{quick}, []agentMode{slow}, []agentMode{quick, slow},
		[]agentMode{quick, silent}, []agentMode{tardy, slow}, []agentMode{hanging, quick}, []agentMode{broken, quick, slow},
		[]agentMode{recovering}, []agentMode{flapping}, []agentMode{flapping, recovering, quick},
	)
}

func drawStrategy(rng *rand.Rand, named []string) (s clusterv1alpha1.RolloutStrategy) {
	config := clusterv1alpha1.RolloutConfig{
		MinSuccessTime:   metav1.Duration{Duration: pick[time.Duration](rng, 0, 0, 1, 2, 3) * time.Second},
		ProgressDeadline: pick(rng, "None", "2s", "3s", "4s"),
		MaxFailures:      pick(rng, intstr.FromInt32(0), intstr.FromInt32(1), intstr.FromString("25%"), intstr.FromString("100%")),
	}
	var mandatory clusterv1alpha1.MandatoryDecisionGroups
	if slices.Contains(named, "canary") && rng.IntN(10) < 7 {
		mandatory.MandatoryDecisionGroups = []clusterv1alpha1.MandatoryDecisionGroup{{GroupName: "canary"}}
	} else if rng.IntN(4) == 0 {
		mandatory.MandatoryDecisionGroups = []clusterv1alpha1.MandatoryDecisionGroup{{GroupIndex: 0}}
	}
	switch n := rng.IntN(100); {
	case n < 10:
		s.Type, s.All = clusterv1alpha1.All, &clusterv1alpha1.RolloutAll{RolloutConfig: clusterv1alpha1.RolloutConfig{ProgressDeadline: config.ProgressDeadline}}
	case n < 60:
		limit := pick(rng, intstr.FromInt32(1), intstr.FromInt32(2), intstr.FromInt32(2), intstr.FromInt32(3), intstr.FromString("40%"), intstr.FromInt32(0))
		s.Type, s.Progressive = clusterv1alpha1.Progressive, &clusterv1alpha1.RolloutProgressive{RolloutConfig: config, MandatoryDecisionGroups: mandatory, MaxConcurrency: limit}
	default:
		s.Type, s.ProgressivePerGroup = clusterv1alpha1.ProgressivePerGroup, &clusterv1alpha1.RolloutProgressivePerGroup{RolloutConfig: config, MandatoryDecisionGroups: mandatory}
	}
	return s
}

// focus bends a world towards where an ignored Duty matters.
func (w *world) focus(rng *rand.Rand) {
	config := clusterv1alpha1.RolloutConfig{MaxFailures: intstr.FromString("100%"), ProgressDeadline: "None"}
	progressive := func(limit int32) {
		w.strategy = clusterv1alpha1.RolloutStrategy{Type: clusterv1alpha1.Progressive, Progressive: &clusterv1alpha1.RolloutProgressive{
			RolloutConfig: config, MaxConcurrency: intstr.FromInt32(limit)}}
	}
	all := func(t ...agentMode) {
		for c := range w.agentMode {
			w.agentMode[c] = t
		}
	}
	plan := func(n int, step time.Duration, what ...string) {
		w.script = nil
		for range n {
			w.script = append(w.script, change{time.Duration(rng.Int64N(int64(2*step))) + time.Millisecond, pick(rng, what...)})
		}
	}
	switch w.ignored {
	case DutyPlacement:
		w.named, w.pause = []string{"eu", "canary"}, 300*time.Millisecond
		for i, c := range w.pool {
			w.groupOf[c] = []string{"", "eu", "canary"}[i%3]
		}
		w.strategy = clusterv1alpha1.RolloutStrategy{Type: clusterv1alpha1.ProgressivePerGroup, ProgressivePerGroup: &clusterv1alpha1.RolloutProgressivePerGroup{
			RolloutConfig:           config,
			MandatoryDecisionGroups: clusterv1alpha1.MandatoryDecisionGroups{MandatoryDecisionGroups: []clusterv1alpha1.MandatoryDecisionGroup{{GroupName: "canary"}}}}}
	case DutyReadYourWrites, DutyLostAnswer:
		// A work that the caches don't show yet is planned again, unless another process comes in before it.
		w.named, w.groupOf, w.initial, w.backwards = nil, map[string]string{}, w.pool[len(w.pool)-2:], true
		progressive(1)
		all(slow, tardy)
		w.often, w.worst, w.pause, w.writers, w.breaks, w.only = 0.8, 3*time.Second, 0, 1, 0, Works
		if plan(14, 700*time.Millisecond, joins); w.ignored == DutyLostAnswer {
			plan(6, 500*time.Millisecond, loses)
		}
	case DutySecondLook:
		w.named, w.groupOf = nil, map[string]string{}
		progressive(8)
		w.slow, w.often, w.worst, w.breaks = 400*time.Millisecond, 0.1, 50*time.Millisecond, 0
		plan(8, 600*time.Millisecond, newTemplate)
	case DutyTimeOfWrite:
		// A group is written for longer than the grace and any lag; the last of it times out with the first, and the next one starts.
		// Managed fields would make up for it.
		w.strips = true
		w.named, w.groupOf, w.initial, w.size = nil, map[string]string{}, w.pool, 8
		config.ProgressDeadline = "6s"
		w.strategy = clusterv1alpha1.RolloutStrategy{Type: clusterv1alpha1.ProgressivePerGroup, ProgressivePerGroup: &clusterv1alpha1.RolloutProgressivePerGroup{RolloutConfig: config}}
		all(silent)
		w.slow, w.breaks, w.pause, w.worst, w.heals = time.Second, 0, 0, 50*time.Millisecond, false
		w.script = []change{{8*time.Second + time.Duration(rng.Int64N(int64(2*time.Second))), newTemplate}} // when all of the first group have a work
	case DutyApplied:
		// Of a new work the time of its creation makes up for it, of an older one managed fields would.
		w.strips, w.heals = true, false
		w.named, w.groupOf = nil, map[string]string{}
		config.ProgressDeadline = "3s"
		progressive(2)
		all(silent)
		plan(16, 700*time.Millisecond, crashes)
		w.script[6].what = newTemplate
	case DutyOneName:
		// The answer to a creation is lost, and the caches do not show it yet.
		w.named, w.groupOf, w.initial, w.backwards = nil, map[string]string{}, w.pool[len(w.pool)-2:], true
		progressive(3)
		w.often, w.worst, w.pause, w.writers, w.breaks, w.only = 0.8, 3*time.Second, 0, 1, 0, Works
		plan(6, 500*time.Millisecond, loses)
	case DutyRecheck:
		config.MinSuccessTime.Duration = 2 * time.Second
		progressive(1)
		all(quick)
		plan(1, time.Second, newTemplate)
	case DutyFirstLook:
		// A process that takes over has had its caches all along, and they are behind. A process that comes in before those that were started is
		// started in their place.
		w.named, w.groupOf, w.initial, w.backwards = nil, map[string]string{}, w.pool[len(w.pool)-2:], true
		progressive(1)
		all(slow, tardy)
		w.often, w.worst, w.pause, w.writers, w.breaks, w.stale, w.down = 0.8, 3*time.Second, 0, 1, 0, true, 1500*time.Millisecond
		w.only = Works
		plan(12, 600*time.Millisecond, replaces)
	case DutyRemove:
		w.strategy = clusterv1alpha1.RolloutStrategy{Type: clusterv1alpha1.All, All: &clusterv1alpha1.RolloutAll{}}
		plan(4, 1500*time.Millisecond, leaves)
	case DutyVersion:
		// All are done with the version before, and are taken for done.
		w.named, w.groupOf = nil, map[string]string{}
		progressive(3)
		all(quick)
		plan(2, 4*time.Second, newTemplate)
	case DutyUpdate:
		plan(3, time.Second, newTemplate)
	case DutyStatus:
		plan(2, time.Second, newTemplate)
	case DutyRemoveLate:
		// All move on by one, and the counts of the decisions that are being rewritten stay what they are.
		w.named, w.groupOf, w.size, w.writers, w.initial, w.backwards = nil, map[string]string{}, 2, 1, w.pool[len(w.pool)-6:], true
		w.pause, w.worst, w.slow = 150*time.Millisecond, 50*time.Millisecond, time.Millisecond
		w.strategy = clusterv1alpha1.RolloutStrategy{Type: clusterv1alpha1.All, All: &clusterv1alpha1.RolloutAll{}}
		all(quick)
		plan(6, time.Second, exchange)
	case KeepSoak:
		config.MinSuccessTime.Duration = 4 * time.Second
		progressive(1)
		all(quick)
	case KeepDeadline:
		config.ProgressDeadline = "4s"
		progressive(1)
		all(silent, hanging)
		w.heals = false
	case KeepBudget:
		config.MaxFailures = intstr.FromInt32(0)
		progressive(1)
		all(broken)
		w.strategy.Progressive.ProgressDeadline = "2s"
		w.heals = false
		plan(1, 8*time.Second, newTemplate)
	case KeepConcurrency:
		progressive(2)
		all(slow, tardy)
		w.worst, w.slow = 50*time.Millisecond, 30*time.Millisecond
		plan(2, 2*time.Second, newTemplate)
	case KeepMandatory:
		progressive(3)
		all(slow)
		w.named, w.groupOf, w.size = []string{"canary"}, map[string]string{}, 0
		for _, c := range w.initial[:2] {
			w.groupOf[c] = "canary"
		}
		w.strategy.Progressive.MandatoryDecisionGroups.MandatoryDecisionGroups = []clusterv1alpha1.MandatoryDecisionGroup{{GroupName: "canary"}}
	case KeepOrder:
		all(slow)
		w.size = 2
		w.strategy = clusterv1alpha1.RolloutStrategy{Type: clusterv1alpha1.ProgressivePerGroup, ProgressivePerGroup: &clusterv1alpha1.RolloutProgressivePerGroup{RolloutConfig: config}}
	case DutyOneWrite:
		w.breaks = 0.4
		progressive(3)
		all(quick)
		plan(12, 500*time.Millisecond, newTemplate, crashes)
	}
}
