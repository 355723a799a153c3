// SPDX-License-Identifier: Apache-2.0

package trial

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
)

// observation is what came of a world.
type observation struct {
	world      *world
	history    *history
	violations []violation
	err        error
	restarts   int

	took   time.Duration
	digest string
	ending ending
}

func (o *observation) told() (world fmt.Stringer, broken []violation, err error) {
	return o.world, o.violations, o.err
}

func (o *observation) hash() string { return o.digest }

func (w *world) newPlayer(at *site, subject *Subject) *player {
	return &player{
		world: w, site: at, subject: subject, rng: rand.New(rand.NewPCG(w.seed, 2)),
		died: map[int]time.Time{}, struck: map[string]bool{}, mendNext: map[string]bool{}, deleted: map[string]time.Time{},
	}
}

// play runs a world and judges it.
func (w *world) play(ctx context.Context, at *site, subject *Subject) *observation {
	w.name = "w1"
	began := time.Now()
	p := w.newPlayer(at, subject)
	p.ages = w.hasAftermath() && subject.Revisions == nil && subject.People == nil
	o := &observation{world: w}
	o.err = p.run(ctx)
	if o.err == nil {
		o.err = p.looked()
	}
	o.took = time.Since(began)
	if o.err != nil {
		return o
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	o.restarts = p.restarts
	if w.ignored == "" && w.long == nil {
		o.violations = append(p.faults, p.checkLooks(time.Now())...)
		o.violations = append(o.violations, p.checkBeside()...)
	}
	o.history = p.judged()
	patience := w.patience()
	o.history.keepFailures(patience)
	o.ending = o.history.end(p.ended, subject.Says)
	o.violations = append(o.violations, o.history.checkPayloads()...)
	o.violations = append(o.violations, o.history.check(w.worst, subject.RemoveAfter)...)
	o.violations = append(o.violations, o.history.checkEnd(p.ended, subject.Says)...)
	o.violations = append(o.violations, o.history.checkWaits(patience)...)
	o.violations = append(o.violations, o.history.checkLeft(patience, subject.RemoveAfter, subject.Says)...)
	if w.people != nil {
		o.violations = append(o.violations, o.history.checkVerdicts(w.people.said, subject.People)...)
		o.violations = append(o.violations, o.history.checkValues()...)
	}
	if w.replicasDiffer {
		o.violations = append(o.violations, o.history.checkUntouched()...)
	}
	if subject.Revisions != nil {
		o.violations = append(o.violations, o.history.checkBack(p.ended, subject.Says)...)
	}
	return o
}

// history is what happened so far. The player is locked.
func (p *player) history(writes []write, reconciles []*reconcile) *history {
	h := newHistory(p.events, writes, reconciles)
	h.reads = p.reads
	if p.cut != nil { // elsewhere none is deleted
		h.managed = p.managed
	}
	h.keepMoves()
	if p.people != nil {
		h.keepPeople(p.subject.People)
	}
	if p.subject.Revisions != nil {
		h.keepRevisions(p.subject)
	}
	h.keepLeavers(p.subject.IgnoreAnnotation, p.deleted)
	h.left.exposes = p.cut != nil
	h.absent = p.absent
	return h
}

// judged is the history up to the end. The player is locked.
func (p *player) judged() *history {
	p.events = p.events[:p.endedWith]
	p.trim()
	h := p.history(p.writes, p.reconciles)
	h.until = p.ended
	return h
}

// trim leaves out what came after the end, but for the events.
func (p *player) trim() {
	after := func(at time.Time) bool { return at.After(p.ended) }
	p.writes = slices.DeleteFunc(p.writes, func(w write) bool { return after(w.sent) })
	p.reads = slices.DeleteFunc(p.reads, func(r read) bool { return after(r.at) })
	p.managed = slices.DeleteFunc(p.managed, func(e event) bool { return after(e.at) })
	p.reconciles = slices.DeleteFunc(p.reconciles, func(r *reconcile) bool { return after(r.began) })
	maps.DeleteFunc(p.deleted, func(_ string, at time.Time) bool { return after(at) })
}

// temperOf draws how an agent takes a work.
func (p *player) temperOf(work *manifestWork, rng *rand.Rand) agentMode {
	if p.back != nil {
		return p.back.temperOf(p, work, rng)
	}
	return pick(rng, p.world.agentMode[short(work.Namespace)]...)
}

// patience is how long a start may take: the caches' delay, retries, a new leader, and a list of writes.
func (w *world) patience() time.Duration {
	patience := 5*time.Second + 2*w.worst + 10*w.slow
	if w.long != nil {
		patience += 20 * time.Minute // after hours of errors a controller tries again each 17 minutes
	}
	if w.elects {
		patience += 4 * LeaseDuration
	}
	return patience
}

// clusters are the full names of clusters, which are their namespaces.
func (w *world) clusters(short []string) []string {
	var all []string
	for _, c := range short {
		all = append(all, w.name+"-"+c)
	}
	return all
}

func (w *world) setName() types.NamespacedName {
	return types.NamespacedName{Namespace: w.name, Name: setName}
}

func short(cluster string) string { _, c, _ := strings.Cut(cluster, "-"); return c }

// player runs the actors of one world.
type player struct {
	*world
	site    *site
	subject *Subject
	rng     *rand.Rand
	version int

	placed       []*placed
	replicas     []*replica
	agents       *agents
	lines        lines
	serverFaults serverFaults
	user         clients

	ages bool // its world has an aftermath

	placing         turn              // while a scheduler writes
	unreachable     []string          // clusters that the schedulers leave out
	ignoredClusters []string          // by a person, in the set
	wantsOf         map[string]string // by cluster: how many replicas people want there

	mu         sync.Mutex
	events     []event
	managed    []event // ManagedClusters, of which no cache tells
	writes     []write
	reads      []read
	reconciles []*reconcile
	restarts   int
	fault      error     // with which a process ended last
	ended      time.Time // when it stood still, and how many events there were by then; what comes later is not judged
	endedWith  int
	lives      int
	absent     []span               // while the API server or the process was away
	calm       bool                 // versions do nothing to clusters any more
	sickens    string               // the version with which the first cluster that gets it fails
	sick       string               // that cluster
	faults     []violation          // what the aftermath found
	told       []event              // Events
	strange    []event              // of works of others
	beside     int64                // when others had written to the set
	died       map[int]time.Time    // by life: when the process ended
	second     *overlap             // a look at the owner that began while another one ran
	struck     map[string]bool      // by cluster and version: what the version does to the cluster was done
	mendNext   map[string]bool      // by cluster: it is mended with the next version
	deleted    map[string]time.Time // by cluster: when a person deleted it
}

// placed is a fleet with what a placement selects of it now.
type placed struct {
	*fleet
	scheduler *scheduler
	selected  []string
	size      int
	left      string   // the cluster that left last
	asked     []string // what the scheduler was asked for last, before it left any out
	askedSize int
}

const setName = "web"

func (p *player) run(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	p.agents = &agents{
		client: p.site.clients("agent"), ctx: ctx, healed: make(chan struct{}), all: map[types.UID]chan event{}, made: map[string]int{},
		agentMode: p.temperOf,
		deadline:  p.longestDeadline(),
		dying:     p.dying,
		withHold:  func(cluster string) bool { return p.holds[short(cluster)] },
		lines:     &p.lines, takes: p.takes, clock: p.clock(), paced: p.paced, sickens: p.isSick,
		rng: func(work string, nth int) *rand.Rand { return drawn(p.seed, "agent", short(work), nth) },
	}
	p.user = p.site.clients("user")
	schedules := p.site.clients("scheduler")
	for i, f := range p.fleets() {
		p.placed = append(p.placed, &placed{fleet: f, selected: p.clusters(f.initial), size: f.size, scheduler: &scheduler{
			client: schedules, namespace: p.name, name: f.name, writers: p.writers, slice: p.slice, pause: p.pause,
			named: f.named, foreign: p.foreign, groupOf: func(c string) string { return f.groupOf[short(c)] },
			rng: rand.New(rand.NewPCG(p.seed, 6+uint64(i)<<8)), stored: map[string]*placementDecision{},
		}})
	}
	leader := &lease{}
	for i := range p.world.replicas {
		p.replicas = append(p.replicas, p.newReplica(i, leader))
	}
	defer p.site.watch(p.name, p.feed)()
	if err := p.register(ctx); err != nil {
		return err
	}

	var running sync.WaitGroup
	for _, r := range p.replicas {
		running.Go(func() { r.keep(ctx) })
	}
	var dropped error
	if p.cut != nil {
		running.Go(func() {
			dropped = p.lines.keepLeases(ctx, p.cut.lease, func(unreachable []string) error { return p.drop(ctx, unreachable) })
		})
	}
	err := p.follow(ctx)
	if err == nil && p.ages {
		err = p.aftermath(ctx)
	}
	cancel()
	running.Wait()
	p.agents.running.Wait()
	for _, r := range p.replicas {
		r.net.sending.Wait()
	}
	return errors.Join(err, dropped)
}

func (p *player) newReplica(number int, leader *lease) *replica {
	r := &replica{player: p, number: number, caches: newLag(p.seed, number, p.often, p.worst)}
	r.caches.strips, r.caches.only = p.strips, p.only
	r.net = &transport{
		seed: p.seed, replica: number, drawn: map[string]int{}, lag: r.caches, set: id{ReplicaSets, p.setName().String()}, breaks: p.breaks, unheard: p.unheard, slow: p.slow, read: p.noteRead,
		serverFaults: &p.serverFaults, fails: func(reconcile int) {
			p.mu.Lock()
			defer p.mu.Unlock()
			p.reconciles[reconcile].failed = true
		},
		note: func(w write) {
			w.unasked = r.lock != nil && !r.lock.asked.Load()
			p.note(w)
		},
		reread: func(reconcile int) { p.reread(r, reconcile) },
	}
	if p.elects {
		r.lock = &lock{lease: leader, identity: fmt.Sprintf("replica %d", number)}
	}
	return r
}

// unhold takes the finalizers from an object.
const unhold = `{"metadata": {"finalizers": null}}`

// register makes the ManagedClusters.
func (p *player) register(ctx context.Context) error {
	for _, c := range p.clusters(p.pool) {
		cluster := &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: c}, Spec: clusterv1.ManagedClusterSpec{HubAcceptsClient: true}}
		if _, err := p.user.cluster.ClusterV1().ManagedClusters().Create(ctx, cluster, metav1.CreateOptions{}); err != nil {
			return err
		}
	}
	return nil
}

func (p *player) unregister(ctx context.Context, cluster string) {
	_ = p.user.cluster.ClusterV1().ManagedClusters().Delete(ctx, cluster, metav1.DeleteOptions{}) // it may be gone
}

func (p *player) feed(e event) {
	p.mu.Lock()
	switch work, _ := e.object.(*manifestWork); {
	case e.id.kind == managedClusters:
		p.managed = append(p.managed, e)
		p.mu.Unlock()
		return
	case e.id.kind == kubeEvents:
		p.told = append(p.told, e)
		p.mu.Unlock()
		return
	case work != nil && isAnothers(work):
		p.strange = append(p.strange, e)
		for _, r := range p.replicas {
			r.caches.feed(e)
		}
		p.mu.Unlock()
		return
	}
	p.events = append(p.events, e)
	for _, r := range p.replicas {
		r.caches.feed(e)
	}
	p.mu.Unlock()
	if e.id.kind == Works {
		p.agents.feed(e)
	}
}

// note takes a write of a controller.
func (p *player) note(w write) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.writes = append(p.writes, w)
}

// noteRead takes an answer of the API server to a controller.
func (p *player) noteRead(r read) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.reads = append(p.reads, r)
}

// reread notes that a reconcile reads only now.
func (p *player) reread(r *replica, reconcile int) {
	view := r.caches.view()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.reconciles[reconcile].view, p.reconciles[reconcile].read = view, time.Now()
}

// looked says what is wrong with a subject that the harness never saw reconcile.
func (p *player) looked() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case len(p.reconciles) > 0:
		return nil
	case p.fault != nil:
		return fmt.Errorf("no process of the subject called Process.Reconcile, and the last one ended with: %w", p.fault)
	default:
		return errors.New("no process of the subject called Process.Reconcile, which must stand around each reconcile")
	}
}

// processes are those that have reconciled.
func (h *history) processes() int { return len(slices.Collect(maps.Keys(h.began))) }
