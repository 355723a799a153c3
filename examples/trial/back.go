// SPDX-License-Identifier: Apache-2.0

package trial

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strconv"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"
)

// rollbackWorld is how a world rolls versions back.
type rollbackWorld struct {
	tempers map[string][]agentMode // of agents that get the version before again
	asks    bool                   // a person asks for it; otherwise a breach may do
	kill    int                    // the write after the version that fails at which the process dies; 0 for none
}

// What happens to a version that is taken back.
const (
	completes = "complete" // waits until a version is rolled out
	fails     = "fail"     // the template of a version that fails
	aborts    = "abort"    // waits until it is taken back, or rolled out
	kills     = "kill"     // the process, at once
)

// temperOf draws how an agent takes a work: the first version well, and another one, and one that comes again, as it comes.
func (b *rollbackWorld) temperOf(p *player, work *manifestWork, rng *rand.Rand) agentMode {
	c, version := short(work.Namespace), versionIn(work)
	switch r := p.revising(); {
	case r.aborted() && version == r.Current:
		return pick(rng, b.tempers[c]...)
	case version == "v1":
		return quick
	default:
		return pick(rng, p.world.agentMode[c]...)
	}
}

// revising is what the watch has shown last of the set's revisions.
func (p *player) revising() Revisions {
	p.mu.Lock()
	defer p.mu.Unlock()
	h := newHistory(p.events, nil, nil)
	h.keepRevisions(p.subject)
	if states := h.states[id{ReplicaSets, p.setName().String()}]; len(states) > 0 {
		return h.revisions(states[len(states)-1].object.(*replicaSet))
	}
	return Revisions{}
}

// takeBack plays a word of the script.
func (p *player) takeBack(ctx context.Context, what string) error {
	version := fmt.Sprintf("v%d", p.version)
	until := func(longest time.Duration, so func(Revisions) bool) {
		for start := time.Now(); time.Since(start) < longest && ctx.Err() == nil && !so(p.revising()); time.Sleep(50 * time.Millisecond) {
		}
	}
	switch what {
	case completes:
		until(40*time.Second, func(r Revisions) bool { return r.Current == version })
	case fails:
		if p.back.kill > 0 {
			p.leader().net.dieAt(p.back.kill)
		}
		return p.template(ctx)
	case aborts:
		is := func(r Revisions) bool { return r.Update == version && (r.aborted() || r.Current == version) }
		if !p.back.asks {
			until(8*time.Second, is)
		}
		if !is(p.revising()) {
			if err := p.ask(ctx); err != nil {
				return err
			}
		}
		until(6*time.Second, is)
	case kills:
		p.leader().net.die()
	}
	return ctx.Err()
}

// askAnnotation has the generation that a person asks to be taken back.
const askAnnotation = "hub.test/abort"

// ask has a person ask that the present template be taken back.
func (p *player) ask(ctx context.Context) error {
	api := p.user.work.WorkV1alpha1().ManifestWorkReplicaSets(p.name)
	set, err := api.Get(ctx, setName, metav1.GetOptions{})
	if err != nil {
		return err
	}
	patch := fmt.Sprintf(`{"metadata": {"annotations": {%q: %q}}}`, askAnnotation, strconv.FormatInt(set.Generation, 10))
	_, err = api.Patch(ctx, setName, types.MergePatchType, []byte(patch), metav1.PatchOptions{})
	return err
}

// drawBack makes a world in which a version is taken back.
func drawBack(seed uint64, subject *Subject, ignored Duty) *world {
	w := draw(seed, subject, "")
	w.foreign = false
	rng := rand.New(rand.NewPCG(seed, 7))
	chance := func(p float64) bool { return rng.Float64() < p }
	ms := func(from, to int) time.Duration { return time.Duration(from+rng.IntN(to-from)) * time.Millisecond }
	w.ignored, w.back = ignored, &rollbackWorld{tempers: map[string][]agentMode{}, asks: chance(0.3)}
	for _, c := range w.pool {
		w.agentMode[c] = pick(rng, []agentMode{quick}, []agentMode{slow}, []agentMode{broken}, []agentMode{broken}, []agentMode{recovering}, []agentMode{silent}, []agentMode{hanging}, []agentMode{tardy}, []agentMode{flapping})
		w.back.tempers[c] = drawTempers(rng)
	}
	// Without a deadline the rollback may have no end.
	config, _, _, _ := parts(&w.strategy)
	config.ProgressDeadline = pick(rng, "2s", "3s", "4s")
	config.MaxFailures = pick(rng, intstr.FromInt32(0), intstr.FromInt32(0), intstr.FromInt32(1), intstr.FromString("25%"))
	if config.MinSuccessTime.Duration > time.Second {
		config.MinSuccessTime.Duration = time.Second
	}
	happens := []string{joins, joins, leaves, returns, exchange, resize, crashes, crashes, crashes}
	if w.elects {
		happens = append(happens, cuts, cuts)
	}
	some := func(n, longest int, what ...string) {
		for range n {
			w.script = append(w.script, change{ms(1, longest), pick(rng, what...)})
		}
	}
	w.script = []change{{0, completes}}
	some(rng.IntN(2), 500, happens...)
	w.script = append(w.script, change{ms(1, 500), fails})
	some(rng.IntN(3), 1200, happens...)
	w.script = append(w.script, change{ms(1, 1500), aborts})
	some(2+rng.IntN(4), 900, happens...)
	if chance(0.25) {
		w.script = append(w.script, change{ms(1, 1500), fails})
		some(rng.IntN(2), 900, happens...)
		if chance(0.5) {
			w.script = append(w.script, change{ms(1, 2000), aborts})
			some(rng.IntN(3), 900, happens...)
		}
	}
	if chance(0.7) {
		w.back.kill = 1 + rng.IntN(12)
	}
	w.focusBack(rng)
	return w
}

// The duties of a controller that takes versions back, beside the duties of any controller.
const (
	DutyStoreUpdate  Duty = "store a new update revision before anything is written of it"
	DutyKeepTemplate Duty = "keep the template of the current revision"
	DutyStoreAbort   Duty = "store the aborted time before anything is rolled back"
	DutyAbortOnce    Duty = "leave the aborted time as it was stored"
	DutyNoOther      Duty = "write the version before, and no other"
	DutyMendFirst    Duty = "plan for those that joined only where no cluster waits to go back"
	DutyJoined       Duty = "plan for those that joined"
)

// backDuties are those that matter on the rollback, with the invariants that are broken without them.
var backDuties = map[Duty][]Invariant{
	DutyStoreUpdate:    {invStored},
	DutyKeepTemplate:   {invWentBack},
	DutyStoreAbort:     {invStored},
	DutyAbortOnce:      {invAborted},
	DutyNoOther:        {invTakenBack},
	DutyMendFirst:      {invMending, invConcurrency},
	DutyJoined:         {invLeft, invLate},
	DutyApplied:        {invConcurrency, invStatus},
	DutyReadYourWrites: {invTakenBack},
	DutyFirstLook:      {invTakenBack},
	DutyLeft:           {invLeavers},
	KeepConcurrency:    {invConcurrency},
	KeepOrder:          {invBackOrder},
}

// focusBack bends a world towards where an ignored duty matters.
func (w *world) focusBack(rng *rand.Rand) {
	if w.ignored == "" {
		return
	}
	w.alone(1)
	config := clusterv1alpha1.RolloutConfig{MaxFailures: intstr.FromInt32(0), ProgressDeadline: "4s"}
	progressive := func(limit int32) {
		w.named, w.groupOf, w.size = nil, map[string]string{}, 0
		w.strategy = clusterv1alpha1.RolloutStrategy{Type: clusterv1alpha1.Progressive, Progressive: &clusterv1alpha1.RolloutProgressive{
			RolloutConfig: config, MaxConcurrency: intstr.FromInt32(limit)}}
	}
	agents := func(of map[string][]agentMode, t ...agentMode) {
		for _, c := range w.pool {
			of[c] = t
		}
	}
	// plan is what happens: a person asks for the abort a while after the version that fails, and then there are n changes.
	plan := func(asksAfter time.Duration, n int, what ...string) {
		w.back.kill, w.back.asks = 0, asksAfter > 0
		w.script = []change{{0, completes}, {0, fails}, {asksAfter, aborts}}
		for range n {
			w.script = append(w.script, change{time.Duration(100+rng.IntN(600)) * time.Millisecond, pick(rng, what...)})
		}
	}
	switch w.ignored {
	case DutyKeepTemplate, DutyAbortOnce:
		progressive(1)
		agents(w.agentMode, broken, quick)
		plan(2*time.Second, 4, crashes)
		w.back.kill = 3 + rng.IntN(4)
	case DutyNoOther, DutyJoined:
		progressive(2)
		agents(w.agentMode, quick)
		agents(w.back.tempers, quick)
		plan(500*time.Millisecond, 3, joins)
	case DutyMendFirst:
		progressive(1)
		agents(w.agentMode, quick)
		agents(w.back.tempers, slow)
		plan(1500*time.Millisecond, 4, joins)
	case DutyApplied:
		w.strips, w.heals = true, false
		progressive(1)
		agents(w.agentMode, quick)
		agents(w.back.tempers, slow, tardy)
		plan(1500*time.Millisecond, 5, crashes)
	case DutyReadYourWrites, DutyFirstLook:
		// What failed recovers before the caches show that it was aborted, so that the rollout would go on.
		config.ProgressDeadline = "10s"
		progressive(1)
		agents(w.agentMode, recovering)
		w.only, w.often, w.worst, w.breaks = ReplicaSets, 0.9, 3*time.Second, 0
		plan(0, 0)
		if w.ignored == DutyFirstLook {
			w.stale, w.down = true, 1500*time.Millisecond // when it begins, what failed has recovered
			w.script = append(w.script, change{0, kills})
		}
	case DutyLeft: // some of those on their rollback leave, and the next ones start in their place
		w.initial, config.ProgressDeadline = w.pool, "10s"
		progressive(3)
		agents(w.agentMode, quick)
		agents(w.back.tempers, hanging)
		plan(3*time.Second, 6, leaves)
	case KeepConcurrency:
		progressive(2)
		agents(w.agentMode, quick)
		agents(w.back.tempers, slow)
		plan(1500*time.Millisecond, 0)
	case KeepOrder:
		w.named, w.groupOf, w.size = nil, map[string]string{}, 2
		w.strategy = clusterv1alpha1.RolloutStrategy{Type: clusterv1alpha1.ProgressivePerGroup, ProgressivePerGroup: &clusterv1alpha1.RolloutProgressivePerGroup{RolloutConfig: config}}
		agents(w.agentMode, quick)
		agents(w.back.tempers, slow)
		plan(1500*time.Millisecond, 0)
	}
}
