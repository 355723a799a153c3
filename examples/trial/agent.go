// SPDX-License-Identifier: Apache-2.0

package trial

import (
	"context"
	"encoding/json"
	"math/rand/v2"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	workv1 "open-cluster-management.io/api/work/v1"

	"github.com/cohort-ocm/cohort/examples/trial/internal/ready"
)

// A phase is what an agent says of a work.
type phase int

const (
	half    phase = iota // applied, and nothing else of this generation
	acked                // under way
	ok                   // done
	failing              // degraded
)

// A step is a phase that an agent comes to a while after the one before.
type step struct {
	after time.Duration
	phase phase
}

// agentMode is how an agent takes a new generation of a work.
type agentMode string

const (
	quick      agentMode = "quick"
	slow       agentMode = "slow"
	silent     agentMode = "silent"
	tardy      agentMode = "late"
	hanging    agentMode = "hanging"
	broken     agentMode = "failing"
	recovering agentMode = "recovering"
	flapping   agentMode = "flapping"
	punctual   agentMode = "a tenth of a second before the deadline"
)

// steps draws the steps of an agent of a agentMode.
func steps(t agentMode, rng *rand.Rand, deadline time.Duration) []step {
	ms := func(from, to int) time.Duration { return time.Duration(from+rng.IntN(to-from)) * time.Millisecond }
	switch t {
	case quick:
		return []step{{ms(5, 80), ok}}
	case slow:
		return []step{{ms(30, 300), half}, {ms(20, 300), acked}, {ms(300, 2000), ok}}
	case tardy:
		return []step{{ms(1500, 6000), ok}}
	case hanging:
		return []step{{ms(30, 300), acked}}
	case broken:
		return []step{{ms(30, 300), acked}, {ms(50, 500), failing}}
	case recovering:
		return []step{{ms(30, 300), acked}, {ms(50, 500), failing}, {ms(500, 3500), ok}}
	case flapping:
		return []step{{ms(30, 200), ok}, {ms(300, 900), acked}, {ms(200, 600), ok}, {ms(300, 900), failing}, {ms(300, 900), ok}}
	case punctual:
		return []step{{max(0, deadline-100*time.Millisecond), ok}}
	default:
		return nil
	}
}

// agents play the agents of a rollout's clusters, one for each work.
type agents struct {
	client    clients
	agentMode func(work *manifestWork, rng *rand.Rand) agentMode
	deadline  time.Duration // that punctual agents know; 0 if there is none
	rng       func(work string, nth int) *rand.Rand
	ctx       context.Context
	running   sync.WaitGroup
	healed    chan struct{} // closed when all agents become quick and well
	withHold  func(cluster string) bool
	dying     time.Duration
	lines     *lines
	clock     func(cluster string) time.Time
	paced     func(time.Duration) time.Duration
	takes     func(work *manifestWork)      // called when an agent has taken a generation of a work
	sickens   func(work *manifestWork) bool // says whether a generation of a work fails, whatever the agent is like; may be nil

	mu   sync.Mutex
	all  map[types.UID]chan event
	made map[string]int // by namespace/name: how many works there were
}

// feed takes an event of a work from the wire.
func (a *agents) feed(e event) {
	a.mu.Lock()
	defer a.mu.Unlock()
	in := a.all[e.object.GetUID()]
	if in == nil {
		if a.ctx.Err() != nil {
			return
		}
		in = make(chan event, 1000)
		a.all[e.object.GetUID()] = in
		a.made[e.id.key]++
		rng := a.rng(e.id.key, a.made[e.id.key])
		a.running.Go(func() { a.run(in, rng) })
	}
	select {
	case in <- e:
	default: // it has gone, or is hopelessly late
	}
}

// lifetime is one agent's with one work.
type lifetime struct {
	*agents
	rng        *rand.Rand
	work       *manifestWork // as it was seen last
	generation int64         // that it has taken
	conditions []metav1.Condition
	todo       []step
	timer      <-chan time.Time // of the next step
	healed     chan struct{}    // nil once it is well
}

// run is one agent's life with one work.
func (a *agents) run(in chan event, rng *rand.Rand) {
	l := &lifetime{agents: a, rng: rng, healed: a.healed}
	for {
		switch what, _, e, _ := ready.First(a.ctx, l.healed, in, l.timer); what {
		case 0:
			return
		case 1:
			if l.healed = nil; l.work != nil { // its first event may still be under way
				l.plan(steps(quick, rng, 0))
			}
		case 2:
			if !l.sees(e) {
				return
			}
		case 3:
			l.conditions = observe(l.conditions, l.todo[0].phase, l.generation, a.clock(l.work.Namespace))
			a.patch(l.work, map[string]any{"status": map[string]any{"conditions": l.conditions}}, "status")
			l.plan(l.todo[1:])
		}
	}
}

func (l *lifetime) plan(next []step) {
	l.todo, l.timer = next, nil
	if len(next) > 0 {
		l.timer = time.After(l.paced(next[0].after))
	}
}

// sees takes the next state of the work, and says whether life goes on.
func (l *lifetime) sees(e event) bool {
	if e.gone || !l.lines.await(l.ctx, e.object.GetNamespace()) {
		return false
	}
	work := e.object.(*manifestWork)
	l.work = work
	if work.DeletionTimestamp != nil {
		if len(work.Finalizers) > 0 {
			time.Sleep(l.dying/2 + time.Duration(l.rng.Int64N(int64(l.dying/2))))
			l.patch(work, map[string]any{"metadata": map[string]any{"finalizers": nil}}, "")
		}
		return false
	}
	if l.withHold(work.Namespace) && len(work.Finalizers) == 0 {
		l.patch(work, map[string]any{"metadata": map[string]any{"finalizers": []string{workv1.ManifestWorkFinalizer}}}, "")
	}
	if work.Generation == l.generation {
		return true
	}
	l.generation = work.Generation
	t := l.agentMode(work, l.rng)
	if l.healed == nil {
		t = quick
	}
	if l.sickens != nil && l.sickens(work) {
		t = broken
	}
	l.plan(steps(t, l.rng, l.deadline))
	l.takes(work)
	return true
}

// observe sets the conditions as OCM's agent does: those that the phase speaks of get the generation, and a time of
// whole seconds when their status changes, only then.
func observe(conditions []metav1.Condition, p phase, generation int64, now time.Time) []metav1.Condition {
	next := append([]metav1.Condition(nil), conditions...)
	set := func(conditionType string, is bool) {
		c := metav1.Condition{
			Type: conditionType, Status: metav1.ConditionFalse, Reason: "Played", ObservedGeneration: generation,
			LastTransitionTime: metav1.NewTime(now.Truncate(time.Second)),
		}
		if is {
			c.Status = metav1.ConditionTrue
		}
		meta.SetStatusCondition(&next, c)
	}
	set(workv1.WorkApplied, true)
	if p == half {
		return next
	}
	set(workv1.WorkProgressing, p != ok)
	set(workv1.WorkDegraded, p == failing)
	set(workv1.WorkAvailable, p == ok)
	return next
}

// patch writes to a work once the line is whole.
func (a *agents) patch(work *manifestWork, change map[string]any, subresource string) {
	if !a.lines.await(a.ctx, work.Namespace) {
		return
	}
	body, err := json.Marshal(change)
	if err != nil {
		panic(err)
	}
	var sub []string
	if subresource != "" {
		sub = []string{subresource}
	}
	for {
		_, err := a.client.work.WorkV1().ManifestWorks(work.Namespace).Patch(a.ctx, work.Name, types.MergePatchType, body, metav1.PatchOptions{}, sub...)
		if answered := apierrors.ReasonForError(err) != metav1.StatusReasonUnknown; err == nil || answered || !sleep(a.ctx, 10*time.Second) {
			return // it may be gone
		}
	}
}
