// SPDX-License-Identifier: Apache-2.0

package trial

import (
	"context"
	"fmt"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"
	workv1 "open-cluster-management.io/api/work/v1"
	workv1alpha1 "open-cluster-management.io/api/work/v1alpha1"
)

// follow plays the script, lets the agents heal, and waits for the end.
func (p *player) follow(ctx context.Context) error {
	if err := p.template(ctx); err != nil {
		return err
	}
	for _, f := range p.placed {
		if err := p.schedule(ctx, f); err != nil {
			return err
		}
	}
	for _, c := range p.script {
		time.Sleep(c.after)
		f := p.placed[p.rng.IntN(len(p.placed))]
		if c.what == nothing {
			continue
		}
		if err := p.change(ctx, c.what, f); err != nil {
			return err
		}
	}
	time.Sleep(time.Duration(500+p.rng.IntN(2000)) * time.Millisecond)
	if p.people != nil {
		if err := p.release(ctx); err != nil {
			return err
		}
	}
	if p.heals {
		close(p.agents.healed)
	}
	return p.await(ctx)
}

func (p *player) change(ctx context.Context, what string, f *placed) error {
	switch what {
	case newTemplate:
		return p.template(ctx)
	case newReplicas:
		return p.wantReplicas(ctx, f)
	case completes, fails, aborts, kills:
		return p.takeBack(ctx, what)
	case freezesOne, freezesUntil, releasesOne, allowsSome:
		return p.person(ctx, what, f)
	case crashes:
		p.crash()
		return nil
	case cuts:
		p.cutLeader(ctx)
		return nil
	case serverAway, suspended:
		return p.goAway(what)
	case awaitsCut, mends, ignores, deletes, swaps, regroups:
		return p.cutOff(ctx, what, f)
	case moves:
		return p.move(ctx)
	case replaces, loses:
		p.leader().net.await(ctx, what)
		return p.change(ctx, joins, f)
	case joins, comes:
		var out []string
		for _, c := range p.clusters(p.pool) {
			if !slices.Contains(f.selected, c) && !p.isDeleted(c) {
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
			f.selected = append(f.selected, out[i])
		}
	case leaves, exchange:
		if n := len(f.selected); n > 1 {
			i := p.rng.IntN(n)
			if p.backwards {
				slices.Sort(f.selected)
				i = n - 1
			}
			f.left = f.selected[i]
			f.selected = slices.Delete(f.selected, i, i+1)
		}
		if what == exchange {
			return p.change(ctx, comes, f)
		}
	case returns: // the one that left last, and with it another
		if f.left != "" && !slices.Contains(f.selected, f.left) && !p.isDeleted(f.left) {
			f.selected = append(f.selected, f.left)
			return p.change(ctx, joins, f)
		}
		return nil
	case resize:
		f.size = pick(p.rng, 0, 2, 3, 4, 5)
	}
	return p.schedule(ctx, f)
}

// schedule has the scheduler write what a placement selects now.
func (p *player) schedule(ctx context.Context, f *placed) error {
	p.placing.Lock()
	defer p.placing.Unlock()
	f.asked, f.askedSize = slices.Clone(f.selected), f.size
	return p.place(ctx, f)
}

// place has the scheduler write what was asked for, without the clusters that are unreachable. The player is placing.
func (p *player) place(ctx context.Context, f *placed) error {
	there := slices.DeleteFunc(slices.Clone(f.asked), func(c string) bool { return slices.Contains(p.unreachable, c) })
	return f.scheduler.schedule(ctx, there, f.askedSize)
}

// move moves a cluster from one placement to the other. For a while it is in both, or in none.
func (p *player) move(ctx context.Context) error {
	i := p.rng.IntN(2)
	from, to := p.placed[i], p.placed[1-i]
	if len(from.selected) < 2 {
		from, to = to, from
	}
	if len(from.selected) < 2 {
		return nil
	}
	k := p.rng.IntN(len(from.selected))
	cluster := from.selected[k]
	from.selected = slices.Delete(from.selected, k, k+1)
	if !slices.Contains(to.selected, cluster) {
		to.selected = append(to.selected, cluster)
	}
	order := []*placed{from, to}
	if p.rng.IntN(2) == 0 {
		slices.Reverse(order)
	}
	for _, f := range order {
		if err := p.schedule(ctx, f); err != nil {
			return err
		}
	}
	return nil
}

// leader is the replica that has the lease, or the only one.
func (p *player) leader() *replica {
	for _, r := range p.replicas {
		if r.lock == nil || r.lock.leads() {
			return r
		}
	}
	return p.replicas[0]
}

// crash has the leader crash as soon as it writes.
func (p *player) crash() {
	p.mu.Lock()
	defer p.mu.Unlock()
	r := p.leader()
	r.crash = true
	r.caches.poke()
}

// cutLeader cuts the leader from its lease until another one leads, and has the network hold back its next write until
// then.
func (p *player) cutLeader(ctx context.Context) {
	r := p.leader()
	if r.lock == nil {
		return // none leads where all act
	}
	r.net.holdNext(RenewDeadline + LeaseDuration + time.Duration(p.rng.Int64N(int64(2*time.Second))))
	r.lock.cut.Store(true)
	select {
	case <-ctx.Done():
	case <-time.After(LeaseDuration + 4*RetryPeriod):
	}
	r.lock.cut.Store(false)
}

// template writes the next version of the replica set's template.
func (p *player) template(ctx context.Context) error {
	p.version++
	p.lines.mend(p.withNext()...)
	if p.version == 1 {
		return p.create(ctx)
	}
	spec := p.templateSpec()
	return p.write(ctx, "", func(set *replicaSet) { set.Spec.ManifestWorkTemplate = spec })
}

// templateUnder writes the next version, and has the first placement roll it out by a strategy.
func (p *player) templateUnder(ctx context.Context, strategy clusterv1alpha1.RolloutStrategy) error {
	p.version++
	spec := p.templateSpec()
	return p.write(ctx, "", func(set *replicaSet) {
		set.Spec.ManifestWorkTemplate, set.Spec.PlacementRefs[0].RolloutStrategy = spec, strategy
	})
}

// templateSpec is the template of the present version.
func (p *player) templateSpec() workv1.ManifestWorkSpec {
	manifest := fmt.Sprintf(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"namespace":"default","name":"web"},"data":{"version":"v%d"}}`, p.version)
	return workv1.ManifestWorkSpec{Workload: workv1.ManifestsTemplate{Manifests: []workv1.Manifest{{RawExtension: runtime.RawExtension{Raw: []byte(manifest)}}}}}
}

// create creates the set, with the strategies of its placements, or with others for the first of them.
func (p *player) create(ctx context.Context, strategies ...clusterv1alpha1.RolloutStrategy) error {
	set := &replicaSet{ObjectMeta: metav1.ObjectMeta{Namespace: p.name, Name: setName}}
	if p.people != nil {
		set.Annotations = p.subject.People.Annotations
	}
	set.Spec = workv1alpha1.ManifestWorkReplicaSetSpec{ManifestWorkTemplate: p.templateSpec(), CascadeDeletionPolicy: workv1alpha1.Background}
	for i, f := range p.placed {
		ref := workv1alpha1.LocalPlacementReference{Name: f.name, RolloutStrategy: f.strategy}
		if i < len(strategies) {
			ref.RolloutStrategy = strategies[i]
		}
		set.Spec.PlacementRefs = append(set.Spec.PlacementRefs, ref)
	}
	_, err := p.user.work.WorkV1alpha1().ManifestWorkReplicaSets(p.name).Create(ctx, set, metav1.CreateOptions{})
	return err
}

// write changes the set, or its status.
func (p *player) write(ctx context.Context, subresource string, change func(*replicaSet)) error {
	api := p.user.work.WorkV1alpha1().ManifestWorkReplicaSets(p.name)
	send := api.Update
	if subresource == "status" {
		send = api.UpdateStatus
	}
	for {
		set, err := api.Get(ctx, setName, metav1.GetOptions{})
		if err != nil {
			return err
		}
		change(set)
		if _, err = send(ctx, set, metav1.UpdateOptions{}); !apierrors.IsConflict(err) {
			return err
		}
	}
}
