package hub_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"
	workv1 "open-cluster-management.io/api/work/v1"
	workv1alpha1 "open-cluster-management.io/api/work/v1alpha1"
)

// world is all that a rollout is drawn from. The seed decides it; what comes of it also depends on the clock.
type world struct {
	name    string // its namespace, and the first part of its clusters'
	seed    uint64
	ignored duty

	pool     []string // all clusters
	initial  []string // those that are selected first
	named    []string // groups
	groupOf  map[string]string
	size     int
	strategy clusterv1alpha1.RolloutStrategy
	temper   map[string][]temper // what an agent draws from
	holds    map[string]bool     // clusters whose agent has a finalizer
	heals    bool                // in the end all agents are well
	script   []change
	writers  int
	slice    int
	pause    time.Duration
	often    float64
	worst    time.Duration
	breaks   float64
	slow     time.Duration

	strips    bool          // the controller's caches leave managed fields out
	backwards bool          // newcomers come before all others by name
	dying     time.Duration // how long a work with a finalizer takes to go, at most
}

// A change is something that happens in mid-rollout.
type change struct {
	after time.Duration // after the one before
	what  string
}

const (
	newTemplate = "template"
	joins       = "join"
	leaves      = "leave"
	resize      = "size"
	returns     = "return"
	exchange    = "exchange"
	comes       = "come" // the second half of an exchange
	crashes     = "crash"
)

func (w *world) String() string {
	var s []string
	for _, c := range w.script {
		s = append(s, fmt.Sprintf("%s+%v", c.what, c.after.Round(time.Millisecond)))
	}
	return fmt.Sprintf("seed %d: %d clusters, groups %q of %d, %s, script %v, heals %v, %d writers, late %.0f%% up to %v, strips %v, breaks %.0f%%, slow %v",
		w.seed, len(w.initial), w.named, w.size, strategyText(&w.strategy), s, w.heals, w.writers, 100*w.often, w.worst, w.strips, 100*w.breaks, w.slow)
}

func strategyText(s *clusterv1alpha1.RolloutStrategy) string {
	config, _, mandatory, limit := parts(s)
	text := fmt.Sprintf("%s soak %v deadline %q failures %s mandatory %v", s.Type, config.MinSuccessTime.Duration, config.ProgressDeadline, config.MaxFailures.String(), *mandatory)
	if limit != nil {
		text += " at a time " + limit.String()
	}
	return text
}

// draw makes a world of a seed. Where a duty is ignored the world is one in which that may matter.
func draw(seed uint64, ignored duty) *world {
	rng := rand.New(rand.NewPCG(seed, 1))
	chance := func(p float64) bool { return rng.Float64() < p }
	w := &world{
		seed: seed, ignored: ignored,
		groupOf: map[string]string{}, temper: map[string][]temper{}, holds: map[string]bool{},
		dying: pick[time.Duration](rng, 100, 800, 3000) * time.Millisecond, heals: chance(0.75), writers: pick(rng, 1, 1, 2, 4), slice: pick(rng, 2, 3, 100),
		pause: pick[time.Duration](rng, 0, 50, 150) * time.Millisecond, often: pick(rng, 0.1, 0.3, 0.7),
		worst: pick[time.Duration](rng, 50, 200, 600) * time.Millisecond, breaks: pick(rng, 0, 0.02, 0.06), slow: pick[time.Duration](rng, 1, 30, 300) * time.Millisecond,
	}
	w.named = pick(rng, nil, []string{"canary"}, []string{"canary"}, []string{"eu", "canary"})
	w.size = pick(rng, 0, 0, 2, 3, 4)
	n := 4 + rng.IntN(6)
	for i := range n + 5 {
		c := fmt.Sprintf("c%02d", i)
		w.pool = append(w.pool, c)
		if len(w.named) > 0 && chance(0.4) {
			w.groupOf[c] = pick(rng, w.named...)
		}
		w.temper[c] = drawTempers(rng)
		w.holds[c] = chance(0.2)
	}
	for _, i := range rng.Perm(len(w.pool))[:n] {
		w.initial = append(w.initial, w.pool[i])
	}
	w.strategy = drawStrategy(rng, w.named)
	for range 2 + rng.IntN(5) {
		w.script = append(w.script, change{
			time.Duration(100+rng.IntN(1800)) * time.Millisecond,
			pick(rng, newTemplate, newTemplate, joins, leaves, returns, exchange, exchange, resize, crashes, crashes),
		})
	}
	w.strips = chance(0.3)
	w.focus(rng)
	return w
}

func pick[T any](rng *rand.Rand, from ...T) T { return from[rng.IntN(len(from))] }

// drawTempers returns what an agent draws from, one for each generation of its work.
func drawTempers(rng *rand.Rand) []temper {
	return pick(rng,
		[]temper{quick}, []temper{quick}, []temper{slow}, []temper{quick, slow},
		[]temper{quick, silent}, []temper{tardy, slow}, []temper{hanging, quick}, []temper{broken, quick, slow},
		[]temper{recovering}, []temper{flapping}, []temper{flapping, recovering, quick},
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

// focus bends a world towards where an ignored duty matters.
func (w *world) focus(rng *rand.Rand) {
	config := clusterv1alpha1.RolloutConfig{MaxFailures: intstr.FromString("100%"), ProgressDeadline: "None"}
	progressive := func(limit int32) {
		w.strategy = clusterv1alpha1.RolloutStrategy{Type: clusterv1alpha1.Progressive, Progressive: &clusterv1alpha1.RolloutProgressive{
			RolloutConfig: config, MaxConcurrency: intstr.FromInt32(limit)}}
	}
	everyone := func(t ...temper) {
		for c := range w.temper {
			w.temper[c] = t
		}
	}
	plan := func(n int, step time.Duration, what ...string) {
		w.script = nil
		for range n {
			w.script = append(w.script, change{time.Duration(rng.Int64N(int64(2*step))) + time.Millisecond, pick(rng, what...)})
		}
	}
	switch w.ignored {
	case dutyPlacement:
		w.named, w.pause = []string{"eu", "canary"}, 150*time.Millisecond
		for i, c := range w.pool {
			w.groupOf[c] = []string{"", "eu", "canary"}[i%3]
		}
		w.strategy = clusterv1alpha1.RolloutStrategy{Type: clusterv1alpha1.ProgressivePerGroup, ProgressivePerGroup: &clusterv1alpha1.RolloutProgressivePerGroup{
			RolloutConfig:           config,
			MandatoryDecisionGroups: clusterv1alpha1.MandatoryDecisionGroups{MandatoryDecisionGroups: []clusterv1alpha1.MandatoryDecisionGroup{{GroupName: "canary"}}}}}
	case dutyReadYourWrites, dutyLostAnswer:
		// A work that the caches don't show yet is planned again, unless somebody comes in before it.
		w.named, w.groupOf, w.initial, w.backwards = nil, map[string]string{}, w.pool[len(w.pool)-2:], true
		progressive(1)
		everyone(slow)
		w.often, w.worst, w.pause, w.writers, w.breaks = 0.5, 1500*time.Millisecond, 0, 1, 0
		plan(7, 700*time.Millisecond, joins)
		if w.ignored == dutyLostAnswer {
			w.breaks, w.often, w.worst = 0.4, 0.8, 3*time.Second
		}
	case dutySecondLook:
		w.named, w.groupOf = nil, map[string]string{}
		progressive(8)
		w.slow, w.often, w.worst, w.breaks = 400*time.Millisecond, 0.1, 50*time.Millisecond, 0
		plan(8, 600*time.Millisecond, newTemplate)
	case dutyTimeOfWrite:
		// A group is written for longer than the grace; the last of it times out with the first, and the next one starts.
		// Managed fields would make up for it.
		w.strips = true
		w.named, w.groupOf, w.initial, w.size = nil, map[string]string{}, w.pool, 5
		config.ProgressDeadline = "3s"
		w.strategy = clusterv1alpha1.RolloutStrategy{Type: clusterv1alpha1.ProgressivePerGroup, ProgressivePerGroup: &clusterv1alpha1.RolloutProgressivePerGroup{RolloutConfig: config}}
		everyone(silent)
		w.slow, w.breaks, w.pause, w.worst, w.heals = 1500*time.Millisecond, 0, 0, 50*time.Millisecond, false
		plan(1, time.Second, newTemplate)
	case dutyApplied:
		w.named, w.groupOf = nil, map[string]string{}
		config.ProgressDeadline = "3s"
		progressive(2)
		everyone(silent)
		w.heals = false
		plan(16, 700*time.Millisecond, crashes)
	case dutyOneName:
		progressive(3)
		w.often, w.worst, w.breaks = 0.7, 600*time.Millisecond, 0.2
	case dutyRecheck:
		config.MinSuccessTime.Duration = 2 * time.Second
		progressive(1)
		everyone(quick)
		plan(1, time.Second, newTemplate)
	case dutyRemove:
		plan(4, time.Second, leaves)
	case dutyVersion, dutyUpdate:
		plan(3, time.Second, newTemplate)
	case dutyStatus:
		plan(2, time.Second, newTemplate)
	case dutyRemoveLate:
		// All move on by one, and the counts of the decisions that are being rewritten stay what they are.
		w.named, w.groupOf, w.size, w.writers, w.initial, w.backwards = nil, map[string]string{}, 2, 1, w.pool[len(w.pool)-6:], true
		w.pause, w.worst, w.slow = 150*time.Millisecond, 50*time.Millisecond, time.Millisecond
		w.strategy = clusterv1alpha1.RolloutStrategy{Type: clusterv1alpha1.All, All: &clusterv1alpha1.RolloutAll{}}
		everyone(quick)
		plan(6, time.Second, exchange)
	case keepSoak:
		config.MinSuccessTime.Duration = 4 * time.Second
		progressive(1)
		everyone(quick)
	case keepDeadline:
		config.ProgressDeadline = "4s"
		progressive(1)
		everyone(silent, hanging)
		w.heals = false
	case keepBudget:
		config.MaxFailures = intstr.FromInt32(0)
		progressive(1)
		everyone(broken, quick)
		w.strategy.Progressive.ProgressDeadline = "2s"
	case keepConcurrency:
		progressive(2)
		everyone(slow)
	case keepMandatory:
		progressive(3)
		everyone(slow)
		w.named = []string{"canary"}
		for _, c := range w.initial[:2] {
			w.groupOf[c] = "canary"
		}
		w.strategy.Progressive.MandatoryDecisionGroups.MandatoryDecisionGroups = []clusterv1alpha1.MandatoryDecisionGroup{{GroupName: "canary"}}
	case keepOrder:
		everyone(slow)
		w.size = 2
		w.strategy = clusterv1alpha1.RolloutStrategy{Type: clusterv1alpha1.ProgressivePerGroup, ProgressivePerGroup: &clusterv1alpha1.RolloutProgressivePerGroup{RolloutConfig: config}}
	case dutyOneWrite:
		w.breaks = 0.1
		progressive(3)
		everyone(quick)
		plan(8, 500*time.Millisecond, newTemplate, crashes)
	}
}

// observation is what came of a world.
type observation struct {
	world      *world
	history    *history
	violations []violation
	err        error
	restarts   int
	took       time.Duration
	ending     ending
}

// play runs a world on the server and judges it.
func (w *world) play(ctx context.Context, name string) *observation {
	w.name = name
	began := time.Now()
	p := &player{world: w, rng: rand.New(rand.NewPCG(w.seed, 2)), selected: w.clusters(w.initial), size: w.size}
	o := &observation{world: w}
	o.err = p.run(ctx)
	o.took, o.restarts = time.Since(began), p.restarts
	if o.err != nil {
		return o
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	o.history = newHistory(p.events, p.net.writes, p.reconciles)
	o.ending = o.history.end(time.Now())
	o.violations = append(o.history.check(w.worst), o.history.checkEnd(time.Now())...)
	o.violations = append(o.violations, o.history.checkWaits(w.patience(o.history))...)
	return o
}

// patience is how long a start may take: the caches' delay, retries, and a list of writes as slow as they were.
func (w *world) patience(h *history) time.Duration {
	var slowest time.Duration
	for _, e := range h.events {
		if w := h.written[e.rv]; w != nil {
			slowest = max(slowest, e.at.Sub(w.sent))
		}
	}
	return 5*time.Second + 2*w.worst + 10*(w.slow+slowest)
}

// clusters are the full names of clusters, which are their namespaces.
func (w *world) clusters(short []string) []string {
	var all []string
	for _, c := range short {
		all = append(all, w.name+"-"+c)
	}
	return all
}

func short(cluster string) string { _, c, _ := strings.Cut(cluster, "-"); return c }

// player runs the actors of one world.
type player struct {
	*world
	rng      *rand.Rand
	selected []string
	size     int
	version  int
	left     string // the cluster that left last

	caches    *lag
	net       *transport
	agents    *agents
	scheduler *scheduler
	user      clients

	mu         sync.Mutex
	events     []event
	reconciles []reconcile
	restarts   int
	crashNow   bool

	reconciling bool
	idle        bool // the controller has seen all that happened and has nothing to come back for
}

const setName = "web"

func (p *player) run(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	p.caches = newLag(rand.New(rand.NewPCG(p.seed, 3)), p.often, p.worst)
	p.caches.strips = p.strips
	p.net = &transport{rng: rand.New(rand.NewPCG(p.seed, 4)), lag: p.caches, set: id{replicaSets, p.name + "/" + setName}, breaks: p.breaks, slow: p.slow, newest: map[kind]int64{}}
	seeds := p.seed << 8
	p.agents = &agents{
		client: clientsOf("agent", nil), ctx: ctx, healed: make(chan struct{}), all: map[types.UID]chan event{},
		temper:   func(cluster string, rng *rand.Rand) temper { return pick(rng, p.world.temper[short(cluster)]...) },
		dying:    p.dying,
		withHold: func(cluster string) bool { return p.holds[short(cluster)] },
		rng:      func() *rand.Rand { seeds++; return rand.New(rand.NewPCG(seeds, 5)) },
	}
	p.user = clientsOf("user", nil)
	p.scheduler = &scheduler{
		client: clientsOf("scheduler", nil), namespace: p.name, name: "fleet", writers: p.writers, slice: p.slice, pause: p.pause,
		named: p.named, groupOf: func(c string) string { return p.groupOf[short(c)] },
		rng: rand.New(rand.NewPCG(p.seed, 6)), stored: map[string]*placementDecision{},
	}
	wires.join(p.name, p.feed)
	defer wires.leave(p.name)

	var running sync.WaitGroup
	running.Go(func() { p.control(ctx) })
	err := p.follow(ctx)
	cancel()
	running.Wait()
	p.agents.running.Wait()
	return err
}

func (p *player) feed(e event) {
	p.mu.Lock()
	p.events = append(p.events, e)
	p.idle = false
	p.caches.feed(e)
	p.mu.Unlock()
	if e.id.kind == works {
		p.agents.feed(e)
	}
}

// follow plays the script, lets the agents heal, and waits for the end.
func (p *player) follow(ctx context.Context) error {
	if err := p.template(ctx); err != nil {
		return err
	}
	if err := p.scheduler.schedule(ctx, p.selected, p.size); err != nil {
		return err
	}
	for _, c := range p.script {
		time.Sleep(c.after)
		if err := p.change(ctx, c.what); err != nil {
			return err
		}
	}
	time.Sleep(time.Duration(500+p.rng.IntN(2000)) * time.Millisecond)
	if p.heals {
		close(p.agents.healed)
	}
	return p.await(ctx)
}

func (p *player) change(ctx context.Context, what string) error {
	switch what {
	case newTemplate:
		return p.template(ctx)
	case crashes:
		p.mu.Lock()
		p.crashNow, p.idle = true, false
		p.mu.Unlock()
		p.caches.poke()
		return nil
	case joins, comes:
		var out []string
		for _, c := range p.clusters(p.pool) {
			if !slices.Contains(p.selected, c) {
				out = append(out, c)
			}
		}
		if len(out) > 0 {
			i := p.rng.IntN(len(out))
			if p.backwards && what == joins {
				i = len(out) - 1
			} else if p.backwards {
				i = 0
			}
			p.selected = append(p.selected, out[i])
		}
	case leaves, exchange:
		if n := len(p.selected); n > 1 {
			i := p.rng.IntN(n)
			if p.backwards {
				slices.Sort(p.selected)
				i = n - 1
			}
			p.left = p.selected[i]
			p.selected = slices.Delete(p.selected, i, i+1)
		}
		if what == exchange {
			return p.change(ctx, comes)
		}
	case returns: // who left last, and with it someone else
		if p.left != "" && !slices.Contains(p.selected, p.left) {
			p.selected = append(p.selected, p.left)
			return p.change(ctx, joins)
		}
		return nil
	case resize:
		p.size = pick(p.rng, 0, 2, 3, 4, 5)
	}
	return p.scheduler.schedule(ctx, p.selected, p.size)
}

// template writes the next version of the replica set's template.
func (p *player) template(ctx context.Context) error {
	p.version++
	manifest := fmt.Sprintf(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"namespace":"default","name":"web"},"data":{"version":"v%d"}}`, p.version)
	spec := workv1.ManifestWorkSpec{Workload: workv1.ManifestsTemplate{Manifests: []workv1.Manifest{{RawExtension: runtime.RawExtension{Raw: []byte(manifest)}}}}}
	api := p.user.work.WorkV1alpha1().ManifestWorkReplicaSets(p.name)
	if p.version == 1 {
		set := &replicaSet{ObjectMeta: metav1.ObjectMeta{Namespace: p.name, Name: setName}}
		set.Spec = workv1alpha1.ManifestWorkReplicaSetSpec{
			ManifestWorkTemplate: spec, CascadeDeletionPolicy: workv1alpha1.Background,
			PlacementRefs: []workv1alpha1.LocalPlacementReference{{Name: "fleet", RolloutStrategy: p.strategy}},
		}
		_, err := api.Create(ctx, set, metav1.CreateOptions{})
		return err
	}
	for {
		set, err := api.Get(ctx, setName, metav1.GetOptions{})
		if err != nil {
			return err
		}
		set.Spec.ManifestWorkTemplate = spec
		if _, err = api.Update(ctx, set, metav1.UpdateOptions{}); !apierrors.IsConflict(err) {
			return err
		}
	}
}

// await waits until the rollout is complete, or nothing has happened for so long that nothing will. It is not complete
// before the controller is idle: a status that says that it has failed may be one that a write on its way replaces.
func (p *player) await(ctx context.Context) error {
	config, _, _, _ := parts(&p.strategy)
	deadline, _ := time.ParseDuration(config.ProgressDeadline)
	quiet := deadline + config.MinSuccessTime.Duration + p.worst + 7*time.Second // the slowest agent takes six
	for start := time.Now(); time.Since(start) < 3*time.Minute; time.Sleep(250 * time.Millisecond) {
		p.mu.Lock()
		last := p.events[len(p.events)-1].at
		if p.reconciling {
			last = time.Now()
		} else if n := len(p.reconciles); n > 0 && p.reconciles[n-1].ended.After(last) {
			last = p.reconciles[n-1].ended
		}
		h, idle := newHistory(p.events, nil, nil), p.idle
		p.mu.Unlock()
		if time.Since(last) > quiet || p.heals && idle && h.end(time.Now()).complete {
			return nil
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return nil // the observer says what is wrong
}

// control runs the controller, as controller-runtime's queue would: when an event has come or the time to come back
// has passed, and again after an error.
func (p *player) control(ctx context.Context) {
	api := clientsOf("controller", p.net.wrap)
	var c *controller
	var again <-chan time.Time
	for ctx.Err() == nil {
		p.mu.Lock()
		crash := p.crashNow
		p.crashNow = false
		p.mu.Unlock()
		if crash && !p.net.crashed && p.net.crash == 0 {
			p.net.crash = 1 + p.net.rng.IntN(4)
		}
		if c == nil || p.net.crashed {
			if c != nil {
				p.restarts++
			}
			p.net.crashed = false
			c = &controller{namespace: p.name, name: setName, client: api.work, written: map[string]int64{}, unheard: map[string]bool{}, memory: map[string]time.Time{}, ignored: p.ignored}
			c.sets, c.works, c.placements, c.decisions = p.caches.listers()
			p.caches.relist(p.net.newest)
			again = time.After(0)
		}
		p.mu.Lock()
		next, late := p.caches.next(time.Now())
		p.idle = again == nil && !late && !p.caches.news && !p.crashNow && p.caches.has(p.net.newest)
		p.mu.Unlock()
		var due <-chan time.Time
		if late {
			due = time.After(max(0, next))
		}
		work := false
		select {
		case <-ctx.Done():
			return
		case <-p.caches.wake:
		case <-due:
		case <-again:
			work, again = true, nil
		}
		p.caches.deliver(time.Now())
		if !p.caches.news && !work {
			continue
		}
		p.caches.news = false
		r := reconcile{view: p.caches.view(), began: time.Now()}
		p.mu.Lock()
		p.net.reconcile, p.reconciling = len(p.reconciles), true
		p.mu.Unlock()
		after, err := c.reconcile(ctx)
		r.ended, r.err = time.Now(), err
		p.mu.Lock()
		p.reconciles, p.reconciling = append(p.reconciles, r), false
		p.mu.Unlock()
		switch {
		case err != nil:
			again = time.After(time.Duration(20+p.net.rng.IntN(100)) * time.Millisecond)
		case after > 0:
			again = time.After(after)
		default:
			again = nil
		}
	}
}
