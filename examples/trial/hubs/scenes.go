// SPDX-License-Identifier: Apache-2.0

package hubs

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/cohort-ocm/cohort/rollout/shares"
)

// scene is where one duty matters: few clusters, with agents that take as long as it says, and what happens to them. A hub without clusters
// gets some later. An engine that keeps all duties goes through each scene without a violation, and ends.
type scene struct {
	inFlight, failures int32
	clusters           [2]int
	takes              time.Duration // the agents; 0 is ten seconds
	fails              bool          // all agents fail until they are healed
	bad                string        // a version with which they fail; or empty
	paused             bool          // the first hub, until the scene ends that
	fate               func(from int, r *http.Request, body []byte) fate
	play               func()
}

func (p *player) stage(s scene) {
	p.scene = &s
	p.share, p.breaks, p.double, p.slow, p.far = 0, 0, 0, 30*time.Millisecond, 30*time.Millisecond
	p.strategy.MaxConcurrency, p.strategy.MaxFailures = intstr.FromInt32(s.inFlight), intstr.FromInt32(s.failures)
	p.strategy.MinSuccessTime.Duration, p.strategy.ProgressDeadline = 0, "None"
	if s.fails {
		p.strategy.ProgressDeadline = "4s"
	}
	for i, n := range s.clusters {
		p.clusters[i] = nil
		for j := range n {
			p.clusters[i] = append(p.clusters[i], fmt.Sprintf("%s-first-%02d", p.hub(i), j))
		}
	}
}

// fated is what a scene does to the writes of a server's processes.
func (p *player) fated(from int) func(*http.Request, []byte) fate {
	if p.scene == nil || p.scene.fate == nil {
		return nil
	}
	return func(r *http.Request, body []byte) fate {
		select {
		case <-p.healed:
			return fate{}
		default:
			return p.scene.fate(from, r, body)
		}
	}
}

func isStart(r *http.Request) bool {
	return r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/manifestworks")
}

// books reads an account that is being written, as report or as grant.
func books(r *http.Request, body []byte) (report shares.Report, grant shares.Grant) {
	var a struct {
		Spec   struct{ Grant shares.Grant }
		Status shares.Report
	}
	if r.Method != http.MethodPut || !strings.Contains(r.URL.Path, "/accounts/") || json.Unmarshal(body, &a) != nil {
		return report, grant
	}
	if strings.HasSuffix(r.URL.Path, "/status") {
		return a.Status, grant
	}
	return report, a.Spec.Grant
}

// until waits until something is so, for a minute at most, and says whether it is.
func (p *player) until(is func() bool) bool { return p.within(time.Minute, is) }

func (p *player) within(d time.Duration, is func() bool) bool {
	for end := time.Now().Add(d); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if p.ctx.Err() == nil && is() {
			return true
		}
	}
	return false
}

func (p *player) heard(of <-chan struct{}) bool {
	return p.until(func() bool {
		select {
		case <-of:
			return true
		default:
			return false
		}
	})
}

// watch waits for a violation, at most so long.
func (p *player) watch(d time.Duration) {
	p.within(d, func() bool {
		return len(p.judge.violations(int(p.scene.inFlight), int(p.scene.inFlight+p.scene.failures))) > 0
	})
}

// working is how many clusters of a hub have the version and are not done.
func (p *player) working(hub, n int) func() bool {
	return func() bool {
		p.mu.Lock()
		defer p.mu.Unlock()
		return p.judge.working(p.clusters[hub]) == n
	}
}

// come has n clusters join a hub, before all that are there or behind them.
func (p *player) come(hub, n int, where string) {
	p.mu.Lock()
	for j := range n {
		p.clusters[hub] = append(p.clusters[hub], fmt.Sprintf("%s-%s-%02d", p.hub(hub), where, j))
	}
	slices.Sort(p.clusters[hub])
	p.mu.Unlock()
	if err := p.place(hub); err != nil {
		p.fault.Store(err.Error())
	}
}

const before, behind = "before", "later"

// stored is what the account of a hub says.
func (p *player) stored(hub int) (a shares.HubShares) {
	_ = p.accounts(hub, func(_ accountsClient, account *unstructured.Unstructured) error {
		of := func(field string, to any) {
			value, _, _ := unstructured.NestedMap(account.Object, strings.Split(field, ".")...)
			text, _ := json.Marshal(value)
			_ = json.Unmarshal(text, to)
		}
		of("spec.grant", &a.Grant)
		of("status", &a.Report)
		return nil
	})
	return a
}

func (p *player) sceneOf(d Duty) scene {
	switch d {
	case DutyAccount:
		return scene{inFlight: 6, clusters: [2]int{12, 12}, play: func() { p.watch(6 * time.Second) }}
	case DutyShown:
		return p.unheard()
	case DutyExpiry, DutyInTime:
		return p.expired(d)
	case DutyBegin:
		return p.onItsWay()
	case DutyCount: // a hub with all shares in flight has nothing to give
		return scene{inFlight: 2, clusters: [2]int{2, 0}, play: func() {
			p.until(p.working(eu, 2))
			p.come(us, 4, behind)
			p.watch(6 * time.Second)
		}}
	case DutyBurnt: // nor has one with failures
		return scene{inFlight: 1, failures: 1, clusters: [2]int{1, 0}, fails: true, play: func() {
			p.until(p.working(eu, 1))
			time.Sleep(6 * time.Second) // it times out
			p.come(us, 3, behind)
			p.watch(12 * time.Second)
		}}
	case DutyTaken: // half is asked back, and not free
		return scene{inFlight: 6, clusters: [2]int{12, 0}, play: func() {
			p.until(p.working(eu, 6))
			p.come(us, 12, behind)
			p.watch(6 * time.Second)
		}}
	case DutySent, DutyFence:
		return p.granted(d)
	case DutyFinalizer:
		return scene{inFlight: 2, clusters: [2]int{2, 0}, play: func() {
			p.until(func() bool { return p.working(eu, 2)() && p.stored(eu).Report.Taken.Concurrency == 2 })
			p.nets[eu].isCut.Store(true)
			_ = p.accounts(eu, func(api accountsClient, account *unstructured.Unstructured) error {
				return api.Delete(p.ctx, account.GetName(), metav1.DeleteOptions{})
			})
			p.ends[coordinator] <- struct{}{}
			p.come(us, 4, behind)
			p.watch(8 * time.Second)
		}}
	}
	panic("no scene for " + string(d))
}

// unheard has every report lost by which a hub takes shares. What it was granted expires, and the other hub gets it.
func (p *player) unheard() scene {
	return scene{inFlight: 1, clusters: [2]int{3, 1}, takes: 15 * time.Second, play: func() { p.watch(14 * time.Second) },
		fate: func(from int, r *http.Request, body []byte) fate {
			report, _ := books(r, body)
			return fate{lost: from == eu && report.Taken.Concurrency > 0}
		}}
}

// expired has a person pause a hub that has all shares, and cuts it off until they have expired. The person sees that nothing is in flight
// there, and the other hub gets them. Then the person ends the pause. For an old plan it ends shortly before they expire, and each start takes
// most of a second.
func (p *player) expired(d Duty) scene {
	const all = 6
	s := scene{inFlight: all, clusters: [2]int{all, 0}, paused: true}
	s.fate = func(from int, r *http.Request, _ []byte) (f fate) {
		if d == DutyInTime && from == eu && isStart(r) {
			f.hold = 800 * time.Millisecond
		}
		return f
	}
	s.play = func() {
		p.until(func() bool { return p.stored(eu).Report.Taken.Concurrency == all })
		p.nets[eu].isCut.Store(true)
		p.come(us, 2*all, behind)
		if d == DutyInTime {
			early := ClockError + SlowestWrite + 700*time.Millisecond
			p.until(func() bool { return time.Until(p.stored(eu).Grant.Expires.Time) < early })
			p.pause(false)
		}
		if saw, err := p.see(eu); err != nil || !saw {
			return
		}
		if d == DutyExpiry {
			p.until(p.working(us, all))
			p.pause(false)
		}
		p.watch(4 * time.Second)
	}
	return s
}

// pause sets or ends the pause of the first hub.
func (p *player) pause(is bool) {
	patch := fmt.Sprintf(`{"metadata":{"annotations":{"cohort.open-cluster-management.io/pause":"%v"}}}`, is)
	sets := p.clients[eu].work.WorkV1alpha1().ManifestWorkReplicaSets(p.name)
	if _, err := sets.Patch(p.ctx, setName, types.MergePatchType, []byte(patch), metav1.PatchOptions{}); err != nil {
		p.fault.Store(err.Error())
	}
}

// onItsWay ends the process of a hub while a start is on its way. A cluster joins that has its turn before it.
func (p *player) onItsWay() scene {
	var first sync.Once
	sent := make(chan struct{})
	return scene{inFlight: 1, clusters: [2]int{2, 0},
		fate: func(from int, r *http.Request, _ []byte) (f fate) {
			if from == eu && isStart(r) {
				first.Do(func() {
					f.hold = 3 * SlowestWrite / 4
					close(sent)
				})
			}
			return f
		},
		play: func() {
			p.heard(sent)
			p.come(eu, 1, before)
			p.ends[eu] <- struct{}{}
			p.watch(6 * time.Second)
		}}
}

// granted has the first grant of a hub arrive late. Meanwhile the other hub gets more clusters, and its right. The process that sent the
// grant ends, or hears that the connection broke.
func (p *player) granted(d Duty) scene {
	var first sync.Once
	sent, broken, arrives := make(chan struct{}), make(chan struct{}), make(chan struct{})
	return scene{inFlight: 1, clusters: [2]int{1, 0},
		fate: func(from int, r *http.Request, body []byte) (f fate) {
			if _, grant := books(r, body); from == coordinator && grant.Concurrency > 0 {
				first.Do(func() {
					f = fate{until: arrives, breaks: broken}
					close(sent)
				})
			}
			return f
		},
		play: func() {
			arrive := sync.OnceFunc(func() { close(arrives) })
			defer arrive()
			p.heard(sent)
			late := time.Now().Add(Lease - SlowestWrite - 2*ClockError) // later it would have expired
			p.come(us, 6, behind)
			p.within(time.Until(late), func() bool { return p.stored(us).Report.Waiting == 6 })
			if d == DutyFence {
				p.ends[coordinator] <- struct{}{}
			} else {
				close(broken)
			}
			p.within(time.Until(late), func() bool { return p.stored(us).Grant.Concurrency > 0 })
			arrive()
			p.watch(8 * time.Second)
		}}
}
