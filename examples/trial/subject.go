// SPDX-License-Identifier: Apache-2.0

package trial

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	workv1alpha1 "open-cluster-management.io/api/work/v1alpha1"
)

// Subject is a controller that is put on trial. Run is needed, Says where it rolls out ManifestWorks, and the others as their comments say.
type Subject struct {
	// Run is one process of it, from its start until the context ends. It returns soon after. An error ends the process, too;
	// another one follows.
	Run func(context.Context, *Process) error
	// Says reads from the conditions of a ManifestWorkReplicaSet how the rollout stands.
	Says func(*workv1alpha1.ManifestWorkReplicaSet) Saying
	// RemoveAfter is for how long a cluster has to be out of the decisions until it loses its work.
	RemoveAfter time.Duration
	// Delivery is what it rolls out in trials. It is nil for ManifestWorks, in other worlds.
	Delivery *Delivery
	// IgnoreAnnotation is the annotation of the owner in which an operator names the ignored clusters, with commas between them.
	// [Hub.CutOff] and [Hub.Trials] need it.
	IgnoreAnnotation string
	// Placements is how many placementRefs a set has at most, and Replicas how many processes there are at a time at most: at
	// most two of each are drawn. Zero is one.
	Placements, Replicas int
	// Events says that it makes Kubernetes Events of what people should know, on the owner or with its words.
	Events bool
	// People is how people are told of and heard. [Hub.People] needs it.
	People *People

	// Revisions reads the revisions from the status of a set, which is also given as it is stored: its JSON has fields that its type lacks.
	// Revision names the revision of its template. Set both for [Hub.Rollback], and neither for a controller that never takes a version back.
	Revisions func(set *workv1alpha1.ManifestWorkReplicaSet, stored []byte) Revisions
	Revision  func(*workv1alpha1.ManifestWorkReplicaSet) string
}

// A need is what a trial needs of its subject.
type need int

const (
	needSays need = 1 << iota
	needIgnoreAnnotation
	needRevisions
	needDelivery
	needPeople
)

// check says what a subject lacks.
func (s *Subject) check(needs need) error {
	if s == nil {
		return errors.New("trial: the subject is nil, and must be a *Subject with Run")
	}
	for _, of := range []struct {
		field   string
		missing bool
	}{
		{"Run", s.Run == nil},
		{"Says", needs&needSays != 0 && s.Says == nil},
		{"IgnoreAnnotation", needs&needIgnoreAnnotation != 0 && s.IgnoreAnnotation == ""},
		{"Revisions", needs&needRevisions != 0 && s.Revisions == nil},
		{"Revision", (needs&needRevisions != 0 || s.Revisions != nil) && s.Revision == nil},
		{"People", needs&needPeople != 0 && (s.People == nil || s.People.Freeze == "" || s.People.Version == nil || s.People.Verdict == nil)},
		{"Delivery", needs&needDelivery != 0 && s.Delivery == nil},
	} {
		if of.missing {
			return fmt.Errorf("trial: Subject.%s is not set, and must be for this trial", of.field)
		}
	}
	if s.RemoveAfter < 0 {
		return fmt.Errorf("trial: Subject.RemoveAfter is %v, and must not be negative", s.RemoveAfter)
	}
	return nil
}

// Saying is what a status says.
type Saying struct {
	Message string
	Current bool // it is about the present generation
	Over    bool // the rollout is at its end, or stopped for good
	// Complete says that the rollout is called complete, and Succeeded that it is called complete and without a failure.
	Complete, Succeeded bool
}

// Process is one process of a controller: its network, its caches, and what it is to do wrong.
type Process struct {
	// Config is for its clients. Its network is slow, breaks, and is gone when the process has crashed. The API server has
	// the objects of other rollouts, too: what is listed there has to be told apart by the label or the owner.
	Config *rest.Config
	// Set is the one that it rolls out. The caches have objects of this one alone.
	Set types.NamespacedName
	// Ignored is the duty that it ignores, if any.
	Ignored Duty
	// Lock is the lock of the leader. It is nil where there is one replica, or where both act.
	Lock resourcelock.Interface

	replica *replica
	life    int
}

// Store is the cache of a kind. Objects in it are shared, and must not be changed.
func (p *Process) Store(k Kind) cache.Indexer { return p.replica.caches.stores[k] }

// Handle has a handler called for what the cache of a kind has, and each time something of it changes. The handler must not block, nor
// call Store's methods that change it.
func (p *Process) Handle(k Kind, handler cache.ResourceEventHandler) {
	p.replica.caches.handle(k, handler)
}

// Reconcile notes that do is one reconcile, which says when it wants to be called again. Whatever the controller reads, plans
// and writes stands in one, or the harness cannot know what the controller knew. The caches stay as they are from one write to the
// next, and the controller is judged by what they showed at the beginning. So read all that you plan from before the first write, or return
// after that, as after adding a finalizer. There is one reconcile at a time.
//
// A world ends only when reconciles end without an error. So do not return one for a cluster that may be away for good.
func (p *Process) Reconcile(do func() (time.Duration, error)) {
	r, player := p.replica, p.replica.player
	player.mu.Lock()
	if r.reconciling && r.acts == p.life && player.second == nil {
		player.second = &overlap{life: p.life, first: player.reconciles[r.net.reconcile].began, at: time.Now()}
	}
	player.mu.Unlock()
	r.busy.Lock()
	defer r.busy.Unlock()
	noted := &reconcile{replica: r.number, life: p.life, view: r.caches.view(), began: time.Now()}
	noted.read = noted.began
	player.mu.Lock()
	number := len(player.reconciles)
	r.net.reconcile, r.reconciling, r.acts = number, true, p.life
	player.reconciles = append(player.reconciles, noted)
	player.mu.Unlock()

	after, err := do()

	player.mu.Lock()
	defer player.mu.Unlock()
	noted.ended, noted.after, noted.err = time.Now(), after, err
	r.reconciling, r.comesBack, r.last = false, after > 0 || err != nil, noted.ended
	if err != nil || slices.ContainsFunc(player.writes, func(w write) bool { return w.reconcile == number }) {
		r.stirred = noted.ended
	}
}

// replica is a place where one process after the other runs.
type replica struct {
	player *player
	number int
	caches *lag
	net    *transport
	busy   turn // while a reconcile runs

	// Guarded by the player's mutex.
	running     bool // a process does
	crash       bool // as soon as it writes
	reconciling bool
	acts        int       // the life of the process that reconciles, or did last
	comesBack   bool      // it wants to be called again
	last        time.Time // when a reconcile ended
	stirred     time.Time // when one ended that wrote something or failed
	lock        *lock
}

// keep runs one process after the other.
func (r *replica) keep(ctx context.Context) {
	for ctx.Err() == nil {
		life, cancel := context.WithCancel(ctx)
		r.player.mu.Lock()
		r.player.lives++
		p := &Process{
			Config: r.player.site.config(r.actor()), Set: r.player.setName(), Ignored: r.player.ignored, replica: r, life: r.player.lives,
		}
		r.running, r.crash, r.comesBack = true, false, false
		r.player.mu.Unlock()
		if r.lock != nil {
			p.Lock = r.lock
			r.lock.asked.Store(false)
		}
		r.net.start(p, cancel)
		r.caches.restart(r.player.stale)
		r.caches.begin(p.life)
		var pump sync.WaitGroup
		pump.Go(func() { r.pump(life) })
		done := make(chan error)
		r.player.site.start(r.actor(), func() {
			var err error
			if life.Err() == nil { // it was not killed before it began
				err = r.player.subject.Run(life, p)
			}
			done <- err
		})
		err := <-done
		cancel()
		pump.Wait()
		r.caches.forget()
		r.player.mu.Lock()
		r.player.died[p.life] = time.Now()
		if r.running = false; ctx.Err() == nil {
			r.player.restarts++
			r.player.fault = cmp.Or(err, r.player.fault)
		}
		r.player.mu.Unlock()
		if ctx.Err() == nil {
			if err != nil {
				time.Sleep(50 * time.Millisecond)
			}
			time.Sleep(r.player.down/2 + r.net.drawTime(r.player.down))
		}
	}
}

// actor is its name on the network, which is also that of its writes in managed fields.
func (r *replica) actor() string {
	if r.number == 0 {
		return "controller"
	}
	return fmt.Sprint("controller", r.number+1)
}

// pump brings the caches up to date while no reconcile runs.
func (r *replica) pump(ctx context.Context) {
	for {
		r.player.mu.Lock()
		if r.crash {
			r.crash = false
			r.net.dieSoon()
		}
		r.player.mu.Unlock()
		r.busy.Lock()
		r.caches.deliver(time.Now())
		r.busy.Unlock()
		var due <-chan time.Time
		if next, late := r.caches.next(time.Now()); late {
			due = time.After(max(0, next))
		}
		select {
		case <-ctx.Done():
			return
		case <-r.caches.wake:
		case <-due:
		}
	}
}

// idle says whether the replica has seen all that happened, and has nothing to come back for. Its player is locked.
func (r *replica) idle(now time.Time) bool {
	const settle = 500 * time.Millisecond // a controller may gather events
	if r.reconciling || r.comesBack || r.crash || now.Sub(r.last) < settle {
		return false
	}
	_, late := r.caches.next(now)
	return !late && now.Sub(r.caches.lastShown()) >= settle
}
