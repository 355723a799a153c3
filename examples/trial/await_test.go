// SPDX-License-Identifier: Apache-2.0

package trial

import (
	"testing"
	"time"

	"k8s.io/client-go/tools/leaderelection/resourcelock"
)

// A world is at rest when nothing has happened for a time in which something could have happened.
func TestBusyTimeIsNoRest(t *testing.T) {
	var s stillness
	at := func(seconds float64) time.Time { return dawn.Add(time.Duration(seconds * float64(time.Second))) }
	for _, look := range []struct {
		last, now float64
		busy      bool
		want      time.Duration
		why       string
	}{
		{0, 0.25, false, 250 * time.Millisecond, "nothing happens"},
		{0, 0.5, false, 500 * time.Millisecond, "nor does it now"},
		{0, 10.5, true, 500 * time.Millisecond, "a reconcile runs"},
		{0, 10.75, false, 750 * time.Millisecond, "it has ended, and nothing came of it"},
		{0, 20.75, false, 10750 * time.Millisecond, "no process looked for ten seconds, and nothing happened"},
		{20.8, 21, false, 200 * time.Millisecond, "something happens"},
		{20.8, 21.2, false, 400 * time.Millisecond, "and nothing more"},
		{21.1, 21.4, true, 100 * time.Millisecond, "what happened before the last look shows now, and a reconcile has run since that look"},
	} {
		if got := s.since(at(look.last), at(look.now), look.busy); got.Round(time.Millisecond) != look.want {
			t.Errorf("at %vs, as %s: still for %v, want %v", look.now, look.why, got, look.want)
		}
	}
}

// Nothing can happen while no process may act: all have crashed, or none that runs has the lease.
func TestNoneLeads(t *testing.T) {
	held := func(by string) *lock {
		return &lock{identity: "a", lease: &lease{record: &resourcelock.LeaderElectionRecord{HolderIdentity: by}}}
	}
	for name, tt := range map[string]struct {
		replicas []*replica
		want     bool
	}{
		"one runs, and no leader is elected": {[]*replica{{running: true}}, true},
		"it has crashed":                     {[]*replica{{}}, false},
		"one of two has":                     {[]*replica{{}, {running: true}}, true},
		"the leader runs":                    {[]*replica{{running: true, lock: held("a")}}, true},
		"the leader has crashed":             {[]*replica{{lock: held("a")}, {running: true, lock: held("b")}}, false},
		"no process has taken the lease yet": {[]*replica{{running: true, lock: &lock{identity: "a", lease: &lease{}}}}, false},
	} {
		for _, r := range tt.replicas {
			r.caches = newLag(0, 0, 0, 0)
		}
		p := &player{replicas: tt.replicas, events: []event{{at: dawn}}, reconciles: []*reconcile{{}}}
		if last, busy, idle := p.activity(dawn.Add(time.Minute)); last != dawn || busy == tt.want || !idle {
			t.Errorf("%s: last %v, busy %v, idle %v", name, last, busy, idle)
		}
		p.reconciles = nil
		if _, busy, _ := p.activity(dawn.Add(time.Minute)); busy {
			t.Errorf("%s: of a subject that never reconciled something is awaited", name)
		}
	}
}

// A trial does not end while no process runs, or the machine serves no process: what is left to do has to wait for it.
func TestATrialAwaitsTheProcess(t *testing.T) {
	for name, tt := range map[string]struct {
		running bool
		step    time.Duration // from one look to the next
		after   time.Duration // how long it takes until it ends; 0 for longer than a minute
	}{
		"it runs, and nothing happens":    {true, 200 * time.Millisecond, 10200 * time.Millisecond},
		"it has crashed":                  {false, 200 * time.Millisecond, 0},
		"it is looked at every 5 seconds": {true, 5 * time.Second, 15 * time.Second},
	} {
		one := &replica{running: tt.running, caches: newLag(0, 0, 0, 0)}
		p := &player{world: &world{}, subject: &Subject{Delivery: OfAddOns()}, replicas: []*replica{one}, events: []event{{at: dawn}}, reconciles: []*reconcile{{}}}
		r := &runner{player: p, trial: &trial{world: p.world}}
		var still stillness
		var ended time.Duration
		for after := time.Duration(0); after < time.Minute && ended == 0; after += tt.step {
			if r.atRest(&still, dawn, dawn.Add(after), 10*time.Second) {
				ended = after
			}
		}
		if ended != tt.after {
			t.Errorf("%s: it ends after %v, want %v", name, ended, tt.after)
		}
	}
}
