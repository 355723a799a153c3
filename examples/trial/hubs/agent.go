package hubs

import (
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
	if p.ignored != "" {
		t = slow
	}
	ms := func(from, to int) <-chan time.Time {
		return time.After(time.Duration(from+rng.IntN(to-from)) * time.Millisecond)
	}
	var after <-chan time.Time
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

// patch writes what an agent says.
func (p *player) patch(hub int, work *workv1.ManifestWork, version string, succeeded bool) {
	now := time.Now()
	body, err := json.Marshal(map[string]any{"status": map[string]any{"conditions": conditions(work.Generation, succeeded, !succeeded, now)}})
	if err != nil {
		panic(err)
	}
	p.judge.says(work.Namespace, version, succeeded, now, p.strategy.MinSuccessTime.Duration)
	for range 5 { // it may be gone
		_, err = p.clients[hub].work.WorkV1().ManifestWorks(work.Namespace).Patch(p.ctx, work.Name, types.MergePatchType, body, metav1.PatchOptions{}, "status")
		if err == nil || !p.waits(time.After(50*time.Millisecond)) {
			return
		}
	}
}
