// SPDX-License-Identifier: Apache-2.0

package hubs

import (
	"cmp"
	"encoding/json"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	workv1 "open-cluster-management.io/api/work/v1"
)

// show takes an event of a work: it tells the judge, and has the agent begin with what is new.
func (p *player) show(hub int, work *workv1.ManifestWork, at time.Time) {
	version := versionOf(work)
	p.judge.has(work.Namespace, version, at, p.deadline())
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.pieces[work.Namespace] >= work.Generation || p.ctx.Err() != nil {
		return
	}
	p.pieces[work.Namespace] = work.Generation
	p.agents.Go(func() { p.agent(hub, work, version) })
}

// agent is the life of an agent with one generation of a work.
func (p *player) agent(hub int, work *workv1.ManifestWork, version string) {
	t, rng := p.temperOf(work.Namespace, version)
	ms := func(from, to int) <-chan time.Time {
		return time.After(time.Duration(from+rng.IntN(to-from)) * time.Millisecond)
	}
	var after <-chan time.Time
	if p.scene != nil {
		if t = slow; p.scene.fails || p.scene.bad == version {
			t = failing
		}
	}
	switch t {
	case quick:
		after = ms(20, 200)
	case slow:
		after = ms(300, 2000)
	case failing, recovering:
		if !p.waits(ms(50, 500)) {
			return
		}
		p.patch(hub, work, version, false)
		if t == recovering {
			after = ms(500, 3000)
		}
	}
	if p.scene != nil && t == slow {
		after = time.After(cmp.Or(p.scene.takes, 10*time.Second))
	}
	select {
	case <-p.ctx.Done():
	case <-p.healed:
		if p.waits(ms(10, 300)) {
			p.patch(hub, work, version, true)
		}
	case <-after:
		p.patch(hub, work, version, true)
	}
}

func (p *player) waits(c <-chan time.Time) bool {
	select {
	case <-p.ctx.Done():
		return false
	case <-c:
		return true
	}
}

// patch writes what an agent says. An agent has one mouth: what it says of a generation does not come after what it says of a later one.
func (p *player) patch(hub int, work *workv1.ManifestWork, version string, succeeded bool) {
	mouth := p.mouth(work.Namespace)
	mouth <- struct{}{}
	defer func() { <-mouth }()
	for said := false; p.takesNow(work); {
		now := time.Now()
		if !said {
			p.judge.says(work.Namespace, version, succeeded, now, p.strategy.MinSuccessTime.Duration)
			said = true
		}
		body, err := json.Marshal(map[string]any{"status": map[string]any{"conditions": conditions(work.Generation, succeeded, !succeeded, now)}})
		if err != nil {
			panic(err)
		}
		_, err = p.clients[hub].work.WorkV1().ManifestWorks(work.Namespace).Patch(p.ctx, work.Name, types.MergePatchType, body, metav1.PatchOptions{}, "status")
		if err == nil || !p.waits(time.After(50*time.Millisecond)) {
			return
		}
	}
}

// takesNow says whether the agent of a work takes this generation of it, and no later one.
func (p *player) takesNow(work *workv1.ManifestWork) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.pieces[work.Namespace] == work.Generation
}

func (p *player) mouth(cluster string) chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.mouths[cluster] == nil {
		p.mouths[cluster] = make(chan struct{}, 1)
	}
	return p.mouths[cluster]
}
