// SPDX-License-Identifier: Apache-2.0

package trial

import (
	"fmt"
	"math/rand/v2"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"
)

// trial is a rollout of versions that may cut clusters off, with a scheduler that drops those that are unreachable. The
// seed decides it.
type trial struct {
	*world
	effects []effect      // of the versions, from the first
	first   bool          // the first version is waited for
	atOnce  bool          // objects are gone as soon as they are deleted
	drops   bool          // the scheduler drops clusters with a dead agent
	lease   time.Duration // until it knows
	gives   bool          // in the end an operator ignores all that are dead
	acts    []act

	told bool                // the hub says of clusters that got a version that they are under way, as OCM's add-on manager does
	on   map[string][]string // by cluster: what the versions do there, from the first, in place of effects
}

// effect is what a version does to clusters.
type effect struct {
	what  string
	share float64 // of the clusters
}

// What a version does to a cluster on which it does something else than work.
const (
	cutsOff      = "cut"      // the agent dies without a word
	failsAndCuts = "failcut"  // it reports a failure, and dies
	worksAndCuts = "workcut"  // it reports a success, and dies a while later
	failsOn      = "fail"     // it reports a failure
	silences     = "silence"  // it says nothing, and lives
	recoversFrom = "recovers" // it reports a failure, and then a success
)

// act is something that happens in the middle of a trial.
type act struct {
	after time.Duration
	what  string
}

const (
	nextVersion = "version"
	dropsOne    = "drop"   // a person deselects a cluster
	dropsAtWork = "busy"   // one that has the version and is not done
	selectsOne  = "select" // one that was deselected, or another one
	blinks      = "blink"  // a cluster is missing in the decisions for a moment
	revivesOne  = "revive" // a dead agent
	deletesOne  = "delete" // a cluster, with its namespace
	ignoresOne  = "ignore"
	restarts    = "restart" // the process dies at a write
	stops       = "stop"    // it dies at once
	waits       = "wait"    // nothing

	dropsAtOnce = "drop at once" // a person deselects a cluster as soon as it got the version
	stopsAtOnce = "stop at once" // the process dies as soon as a cluster got the version
)

func (t *trial) String() string {
	var acts []string
	for _, a := range t.acts {
		acts = append(acts, fmt.Sprintf("%s+%v", a.what, a.after.Round(time.Millisecond)))
	}
	return fmt.Sprintf("seed %d: %d clusters, groups %q, %s; versions %v, the first waited for %v; drops %v after %v, at once %v; %v; ignores %v, heals %v; late %.0f%% up to %v, breaks %.0f%%, slow %v, stale %v",
		t.seed, len(t.initial), t.named, strategyText(&t.strategy), t.effects, t.first, t.drops, t.lease, t.atOnce, acts, t.gives, t.heals, 100*t.often, t.worst, 100*t.breaks, t.slow, t.stale)
}

// drawTrial makes a trial of a seed, where a duty is ignored one in which that may matter.
func drawTrial(seed uint64, ignored Duty) *trial {
	rng := rand.New(rand.NewPCG(seed, 11))
	chance := func(p float64) bool { return rng.Float64() < p }
	ms := func(from, to int) time.Duration { return time.Duration(from+rng.IntN(to-from)) * time.Millisecond }
	t := &trial{
		world: &world{
			seed: seed, ignored: ignored, heals: chance(0.7), dying: pick(rng, ms(100, 101), ms(800, 801), ms(2000, 2001)),
			writers: pick(rng, 1, 1, 2), slice: pick(rng, 3, 100), pause: pick(rng, 0, 0, ms(50, 51)), often: pick(rng, 0.1, 0.3, 0.7),
			worst: pick(rng, ms(50, 51), ms(200, 201), ms(600, 601)), breaks: pick(rng, 0, 0.02, 0.06), slow: pick(rng, ms(1, 2), ms(30, 31), ms(150, 151)),
			replicas: 1, stale: chance(0.5), down: pick(rng, ms(1, 2), ms(500, 501)),
		},
		atOnce: chance(0.4), first: chance(0.5), drops: chance(0.85), lease: ms(200, 2000), gives: chance(0.6),
	}
	n := 5 + rng.IntN(5)
	for i := range n + 2 {
		c := fmt.Sprintf("c%02d", i)
		t.pool = append(t.pool, c)
	}
	t.fleet = fleet{name: placementName, initial: t.pool[:n], groupOf: map[string]string{}}
	if chance(0.5) {
		t.named = pick(rng, []string{"canary"}, []string{"canary", "eu"})
		for _, c := range t.pool {
			if chance(0.4) {
				t.groupOf[c] = pick(rng, t.named...)
			}
		}
	}
	t.strategy = drawTrialStrategy(rng, len(t.named) > 0)
	for range 4 {
		t.effects = append(t.effects, effect{pick(rng, cutsOff, cutsOff, failsAndCuts, failsAndCuts, worksAndCuts, failsOn, silences, recoversFrom), pick(rng, 0, 0.3, 0.6, 1, 1)})
	}
	if t.first {
		t.effects[0] = effect{}
	}
	for range 2 + rng.IntN(5) {
		t.acts = append(t.acts, act{ms(200, 2500), pick(rng, nextVersion, dropsOne, dropsAtWork, selectsOne, blinks, blinks, revivesOne, deletesOne, ignoresOne, restarts, restarts, stops)})
	}
	t.focusTrial(rng)
	return t
}

func drawTrialStrategy(rng *rand.Rand, grouped bool) (s clusterv1alpha1.RolloutStrategy) {
	config := clusterv1alpha1.RolloutConfig{
		MinSuccessTime:   metav1.Duration{Duration: pick[time.Duration](rng, 0, 0, 1, 2) * time.Second},
		ProgressDeadline: pick(rng, "None", "2s", "3s", "4s"),
		MaxFailures:      pick(rng, intstr.FromInt32(0), intstr.FromInt32(0), intstr.FromInt32(1), intstr.FromInt32(2)),
	}
	var mandatory clusterv1alpha1.MandatoryDecisionGroups
	if grouped && rng.IntN(10) < 6 {
		mandatory.MandatoryDecisionGroups = []clusterv1alpha1.MandatoryDecisionGroup{{GroupName: "canary"}}
	}
	// Under All nothing is limited, and so nothing is recorded: a failure counts only as long as its object is there.
	switch k := rng.IntN(100); {
	case k < 70 || !grouped:
		s.Type, s.Progressive = clusterv1alpha1.Progressive, &clusterv1alpha1.RolloutProgressive{
			RolloutConfig: config, MandatoryDecisionGroups: mandatory, MaxConcurrency: intstr.FromInt32(1 + rng.Int32N(3))}
	default:
		s.Type, s.ProgressivePerGroup = clusterv1alpha1.ProgressivePerGroup, &clusterv1alpha1.RolloutProgressivePerGroup{RolloutConfig: config, MandatoryDecisionGroups: mandatory}
	}
	return s
}

// effectOn is what a version does to a cluster; empty if it works.
func (t *trial) effectOn(cluster, version string) string {
	n := numberOf(version)
	if n == 0 {
		return ""
	}
	if on := t.on[cluster]; len(on) > 0 {
		return on[min(n, len(on))-1]
	}
	e := t.effects[min(n, len(t.effects))-1]
	if rand.New(rand.NewPCG(t.seed+uint64(n), hashOf(cluster))).Float64() < e.share {
		return e.what
	}
	return ""
}

// The duties of a controller that keeps a record, and of one in two passes, besides those of any with deselected clusters.
const (
	DutyReadBack   Duty = "read the record back before you delete"
	DutyPassRecord Duty = "plan with the record"
	DutyTakeBack   Duty = "take clusters back before another one starts"
	DutyAdopt      Duty = "take over what another controller wrote"
	DutyEdited     Duty = "write back what was changed by hand"
	DutyTemplates  Duty = "read each object with its templates"

	DutyVerdict      Duty = "count a success once it was found good"
	DutyUnregistered Duty = "ignore deselected clusters without a ManagedCluster"
	DutyOwnerGone    Duty = "delete the workload of an owner that is gone"
)

// TrialDuties are those that matter in trials, with the invariants that a controller breaks which ignores one.
var TrialDuties = map[Duty][]Invariant{
	DutyLeft:       {invLeavers, invExposed},
	DutyDeleting:   {invLeavers, invExposed},
	DutyRecord:     {invLeavers, invExposed, invDone},
	DutyReadBack:   {invLeavers, invExposed, invDone},
	DutyPassRecord: {invLeavers, invExposed, invDone},
	DutyIgnored:    {invLeft, invLate},
	DutyComplete:   {invDone},
	DutyPromptly:   {invRemoved},
	DutyTakeBack:   {invTakeBack},
	DutyAdopt:      {invKnown},
	DutyEdited:     {invEdited},
	DutyTemplates:  {invFailed, invExposed},

	DutyReadYourWrites: {invLeavers, invExposed, invConcurrency},
	DutyOneWrite:       {invLeavers, invExposed, invConcurrency},
	DutyTimeOfWrite:    {invOrder, invMandatory, invDeadline},
	DutyVerdict:        {invConcurrency},
	DutyUnregistered:   {invLeft, invLate},
	DutyOwnerGone:      {invRemoved},
}

// outlast has processes live long enough to remove deselected clusters, after which what a process has not stored is lost with it. The acts are
// for a controller that removes after two seconds. Writes that break take as long again.
func (t *trial) outlast(removeAfter time.Duration) {
	for i := range t.acts {
		if t.acts[i].what == restarts || t.acts[i].what == stops {
			t.acts[i].after += 2 * max(0, removeAfter-2*time.Second)
		}
	}
}

// focusTrial bends a trial towards where an ignored duty matters.
func (t *trial) focusTrial(rng *rand.Rand) {
	config := clusterv1alpha1.RolloutConfig{MaxFailures: intstr.FromInt32(0), ProgressDeadline: "3s"}
	progressive := func(limit int32) {
		t.named, t.groupOf = nil, map[string]string{}
		t.strategy = clusterv1alpha1.RolloutStrategy{Type: clusterv1alpha1.Progressive, Progressive: &clusterv1alpha1.RolloutProgressive{
			RolloutConfig: config, MaxConcurrency: intstr.FromInt32(limit)}}
	}
	everywhere := func(what string, share float64) {
		t.first = false
		for i := range t.effects {
			t.effects[i] = effect{what, share}
		}
	}
	if t.ignored == "" {
		return
	}
	t.drops, t.lease, t.gives, t.heals = true, 500*time.Millisecond, false, false
	progressive(1)
	t.acts = []act{{3 * time.Second, restarts}}
	switch t.ignored {
	case DutyLeft:
		everywhere(failsAndCuts, 1)
	case DutyDeleting:
		config.ProgressDeadline = "9s"
		progressive(1)
		everywhere(cutsOff, 1)
		t.atOnce = false
	case DutyRecord, DutyPassRecord:
		everywhere(failsAndCuts, 1)
		t.atOnce = true
	case DutyReadBack:
		// What it believes to have stored is lost with the process.
		everywhere(failsAndCuts, 1)
		t.atOnce, t.breaks, t.unheard = true, 0, 3 // the fourth process is heard, so that a process that reads it back comes to the end
		t.acts = []act{{5 * time.Second, stops}, {3 * time.Second, stops}, {3 * time.Second, stops}}
	case DutyIgnored:
		everywhere(failsAndCuts, 0.5)
		t.gives, t.heals = true, true
	case DutyComplete:
		everywhere(failsAndCuts, 0.4)
		t.atOnce = false
		// The others soak until long after the decisions changed, so that no late view has them partially observed.
		config.MaxFailures, config.MinSuccessTime = intstr.FromInt32(100), metav1.Duration{Duration: 4 * time.Second}
		progressive(20)
	case DutyPromptly, DutyRemoveLate, DutyRecheck:
		everywhere(silences, 1)
		t.acts = []act{{time.Second, dropsAtWork}, {time.Second, dropsAtWork}}
	case DutyAdopt:
		everywhere("", 0)
		t.first, t.acts = true, nil
	case DutyReadYourWrites:
		// It goes on from caches that show that a cluster left, and not yet that it has the version.
		everywhere(silences, 1)
		t.often, t.worst, t.pause, t.breaks, t.slow, t.slice = 0.8, 1500*time.Millisecond, 0, 0, time.Millisecond, 100
		config.ProgressDeadline = "20s"
		progressive(1)
		t.acts = []act{{0, dropsAtOnce}, {3 * time.Second, nextVersion}, {0, dropsAtOnce}, {3 * time.Second, nextVersion}, {0, dropsAtOnce}}
	case DutyOneWrite:
		// It dies between the two writes, and its cluster is dropped before the next process begins.
		everywhere(cutsOff, 1)
		t.lease, t.down, t.breaks, t.slow = 200*time.Millisecond, 4*time.Second, 0, 100*time.Millisecond
		config.ProgressDeadline = "20s"
		progressive(1)
		t.acts = []act{{0, stopsAtOnce}, {5 * time.Second, waits}}
	case DutyTimeOfWrite:
		// A group is written for seconds. The last of it times out with the first, and the next group starts.
		everywhere(silences, 1)
		t.slow, t.breaks, t.drops, t.acts = 1500*time.Millisecond, 0, false, nil
		config.MaxFailures, config.ProgressDeadline = intstr.FromInt32(100), "8s"
		t.named, t.groupOf = []string{"canary"}, map[string]string{}
		for _, c := range t.initial[:4] {
			t.groupOf[c] = "canary"
		}
		t.strategy = clusterv1alpha1.RolloutStrategy{Type: clusterv1alpha1.ProgressivePerGroup,
			ProgressivePerGroup: &clusterv1alpha1.RolloutProgressivePerGroup{RolloutConfig: config}}
	case DutyVerdict:
		everywhere("", 0)
		config.ProgressDeadline = "9s"
		progressive(1)
		t.acts = nil
	case DutyUnregistered:
		everywhere(failsAndCuts, 0.5)
		t.gives, t.heals = true, true
	case DutyOwnerGone:
		everywhere("", 0)
		t.acts = nil
	case DutyEdited:
		everywhere("", 0)
		t.acts = []act{{2 * time.Second, waits}, {time.Second, waits}}
	case DutyTemplates:
		everywhere("", 0)
		t.acts = []act{{2 * time.Second, nextVersion}}
	case DutyTakeBack:
		everywhere("", 0)
		t.breaks, t.slow = 0.1, 100*time.Millisecond
		t.acts = nil
		for range 6 {
			t.acts = append(t.acts, act{time.Duration(300+rng.IntN(900)) * time.Millisecond, nextVersion})
		}
	}
}
