// SPDX-License-Identifier: Apache-2.0

package shares_test

import (
	"container/heap"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/cohort-ocm/cohort/internal/exhaustive"
	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/rollout/shares"
)

var fleet = flag.Int("clusters", exhaustive.Of(1_500, 5_000), "how many clusters the simulated fleet has")

// fleetOf is a fleet of hubs, each with the times that its clusters take, in the order in which they start.
type fleetOf struct {
	hubs [][]time.Duration
	all  []time.Duration // in the order in which one planner starts them
}

// newFleet draws times from a lognormal distribution with a median of five minutes. A hundredth of the clusters is slow, and takes ten
// times as long. Where skewed, half of these are on the first hub.
func newFleet(clusters, hubs int, skewed bool) fleetOf {
	lot := rand.New(rand.NewPCG(1, 2))
	f := fleetOf{hubs: make([][]time.Duration, hubs), all: make([]time.Duration, 0, clusters)}
	slow := clusters / 100
	each := clusters / hubs
	for i := range hubs {
		here := slow / hubs
		if skewed && i == 0 {
			here = min(slow/2, each)
		} else if skewed {
			here = (slow - min(slow/2, each)) / (hubs - 1)
		}
		for j := range each {
			took := time.Duration(300 * math.Exp(0.5*lot.NormFloat64()) * float64(time.Second))
			if j < here {
				took *= 10
			}
			f.hubs[i] = append(f.hubs[i], took)
		}
		lot.Shuffle(each, func(a, b int) { f.hubs[i][a], f.hubs[i][b] = f.hubs[i][b], f.hubs[i][a] })
	}
	for j := range each { // so that a slow cluster has its turn as early as on its hub
		for i := range f.hubs {
			f.all = append(f.all, f.hubs[i][j])
		}
	}
	return f
}

// undivided is how long one planner takes.
func (f fleetOf) undivided(slots int) time.Duration {
	var ends times
	for _, took := range f.all {
		if len(ends) < slots {
			heap.Push(&ends, took)
			continue
		}
		ends[0] += took
		heap.Fix(&ends, 0)
	}
	last := time.Duration(0)
	for _, end := range ends {
		last = max(last, end)
	}
	return last
}

type times []time.Duration

func (t times) Len() int           { return len(t) }
func (t times) Less(i, j int) bool { return t[i] < t[j] }
func (t times) Swap(i, j int)      { t[i], t[j] = t[j], t[i] }
func (t *times) Push(x any)        { *t = append(*t, x.(time.Duration)) }
func (t *times) Pop() any          { old := *t; x := old[len(old)-1]; *t = old[:len(old)-1]; return x }

// happening is something that happens in a simulation.
type happening struct {
	at   time.Duration
	hub  int
	what int
	// The report that arrives, on top of which version of the HubShares; or the HubShares that arrives.
	report  shares.Report
	account *shares.HubShares
	version int
}

const (
	done    = iota // a cluster soaked
	wakes          // a hub looks again
	arrives        // a report arrives at the coordinator hub
	shows          // a HubShares arrives at the hub
	divides        // the coordinator hub looks
	cut            // a hub is cut off
	heals          // and no longer
)

type queue []happening

func (q queue) Len() int           { return len(q) }
func (q queue) Less(i, j int) bool { return q[i].at < q[j].at }
func (q queue) Swap(i, j int)      { q[i], q[j] = q[j], q[i] }
func (q *queue) Push(x any)        { *q = append(*q, x.(happening)) }
func (q *queue) Pop() any          { old := *q; x := old[len(old)-1]; *q = old[:len(old)-1]; return x }

// simulation runs a fleet by shares. Messages take a second each way.
type simulation struct {
	timing   shares.Timing
	total    rollout.Shares
	queue    queue
	now      time.Duration
	hubs     []simulated
	accounts []shares.HubShares
	versions []int
	sent     map[string]shares.Grant
	planned  time.Duration // when the coordinator hub looks next; 0 if it need not
	last     time.Duration // when it looked last
	off      int           // the hub that is cut off; -1 if none is

	inFlight, most, rounds, grants, reports int
	inRound, mostInRound                    int // messages since the look before

	cutAt     time.Duration
	held      int           // what the hub that is cut off may hold, while it is
	idle      time.Duration // while it is: slots that it does not hold and no hub uses, times how long
	lastTaken time.Duration // when that was counted last
}

type simulated struct {
	took     []time.Duration // of the clusters that wait
	inFlight int
	copy     shares.HubShares
	version  int
	sent     shares.Report
	wakes    bool
}

const delay = time.Second

func newSimulation(slots int, lease time.Duration) *simulation {
	return &simulation{
		total:  rollout.Shares{Concurrency: slots},
		timing: shares.Timing{Lease: lease, ClockError: 5 * time.Second, SlowestWrite: 30 * time.Second, Every: 10 * time.Second},
	}
}

func (s *simulation) push(h happening) { heap.Push(&s.queue, h) }

func (s *simulation) clock() time.Time { return epoch.Add(s.now) }

func (s *simulation) run(f fleetOf, cutAt time.Duration) time.Duration {
	s.sent, s.off = map[string]shares.Grant{}, -1
	for i := range f.hubs {
		s.hubs = append(s.hubs, simulated{took: f.hubs[i], copy: shares.HubShares{Hub: fmt.Sprintf("hub%03d", i)}})
		s.accounts = append(s.accounts, s.hubs[i].copy)
	}
	s.versions = make([]int, len(s.hubs))
	s.push(happening{what: divides})
	if cutAt > 0 {
		s.push(happening{at: cutAt, what: cut})
		s.push(happening{at: cutAt + time.Hour, what: heals})
	}
	finished := time.Duration(0)
	left := len(f.all)
	for left > 0 && len(s.queue) > 0 {
		h := heap.Pop(&s.queue).(happening)
		if s.off >= 0 {
			free := s.total.Concurrency - s.held - (s.inFlight - s.hubs[s.off].inFlight)
			s.idle += time.Duration(max(0, free)) * (h.at - max(s.lastTaken, s.cutAt))
		}
		s.now, s.lastTaken = h.at, h.at
		switch h.what {
		case done:
			s.hubs[h.hub].inFlight--
			s.inFlight, left, finished = s.inFlight-1, left-1, s.now
			s.reconcile(h.hub, len(s.hubs[h.hub].took) == 0)
		case wakes:
			s.hubs[h.hub].wakes = false
			s.reconcile(h.hub, true)
		case shows:
			if hub := &s.hubs[h.hub]; h.version > hub.version && s.off != h.hub {
				hub.copy, hub.version = *h.account, h.version
				s.reconcile(h.hub, true)
			}
		case arrives:
			if s.versions[h.hub] == h.version && s.off != h.hub {
				s.accounts[h.hub].Report = h.report
				s.reports, s.inRound = s.reports+1, s.inRound+1
				s.changed(h.hub)
				s.plan(max(s.now, s.last+s.timing.Every))
			}
		case divides:
			if s.planned == s.now {
				s.divide()
			}
		case cut:
			s.cutOff()
		case heals:
			s.changed(s.off)
			s.off = -1
		}
	}
	if left > 0 {
		return -1
	}
	return finished
}

// cutOff cuts off the hub that holds most shares.
func (s *simulation) cutOff() {
	s.off, s.cutAt = 0, s.now
	for i := range s.accounts {
		if n := max(s.accounts[i].Grant.Concurrency, s.accounts[i].Report.Taken.Concurrency); n > s.held {
			s.off, s.held = i, n
		}
	}
}

// changed tells a hub of its HubShares.
func (s *simulation) changed(i int) {
	s.versions[i]++
	account := s.accounts[i]
	s.push(happening{at: s.now + delay, what: shows, hub: i, account: &account, version: s.versions[i]})
}

func (s *simulation) plan(at time.Duration) {
	if s.planned <= s.now || at < s.planned {
		s.planned = at
		s.push(happening{at: at, what: divides})
	}
}

func (s *simulation) divide() {
	s.last = s.now
	wrote := false
	for {
		d, err := shares.Divide(s.total, s.accounts, s.sent, s.clock(), s.timing)
		if err != nil {
			panic(err)
		}
		for i := range s.accounts {
			if g, ok := d.Grants[s.accounts[i].Hub]; ok {
				s.accounts[i].Grant, s.sent[s.accounts[i].Hub] = g, g
				s.grants, s.inRound, wrote = s.grants+1, s.inRound+1, true
				s.changed(i)
			}
		}
		if len(d.Grants) == 0 { // what was asked back is read back, and given
			if s.planned = 0; d.RecheckAfter > 0 {
				s.plan(s.now + d.RecheckAfter)
			}
			break
		}
	}
	if wrote {
		s.rounds, s.mostInRound = s.rounds+1, max(s.mostInRound, s.inRound)
	}
	s.inRound = 0
}

// reconcile is what a hub does: it starts clusters and, where that may be due, reports.
func (s *simulation) reconcile(i int, report bool) {
	h := &s.hubs[i]
	may := h.copy.May(h.sent, s.clock(), s.timing)
	for h.inFlight < may.Concurrency && len(h.took) > 0 {
		s.push(happening{at: s.now + h.took[0], what: done, hub: i})
		h.took = h.took[1:]
		h.inFlight++
		s.inFlight++
	}
	s.most = max(s.most, s.inFlight)
	if !report {
		return
	}
	use := shares.Use{Clusters: len(h.took) + h.inFlight, Waiting: len(h.took), InFlight: h.inFlight}
	use.Clusters = 0 // what is done does not matter here
	if r, must := h.copy.Next(h.sent, use, s.clock(), s.timing); must {
		h.sent = r
		s.push(happening{at: s.now + delay, what: arrives, hub: i, report: r, version: h.version})
	} else if len(h.took) == 0 && h.inFlight > 0 && !h.wakes {
		h.wakes = true
		s.push(happening{at: s.now + s.timing.Every, what: wakes, hub: i})
	}
}

// One rollout over a hundred hubs takes hardly longer than under one planner, and messages grow with the hubs. The whole:
//
//	go test ./rollout/shares -run TestScale -v -clusters 1000000 -timeout 0
func TestScale(t *testing.T) {
	for _, slots := range []int{10, 100, 10_000} {
		if slots > *fleet/20 {
			continue
		}
		for _, tt := range []struct {
			name   string
			skewed bool
			cut    bool
			most   float64 // times the makespan of one planner
		}{
			{"hubs alike", false, false, 1.1},
			{"half of the slow clusters on one hub", true, false, 1.3},
			{"one hub cut off for an hour", false, true, 1.3},
		} {
			t.Run(fmt.Sprintf("%d slots, %s", slots, tt.name), func(t *testing.T) {
				f := newFleet(*fleet, 100, tt.skewed)
				lease := 10 * time.Minute
				if slots < 100 {
					lease = time.Hour
				}
				s := newSimulation(slots, lease)
				undivided, cutAt := f.undivided(slots), time.Duration(0)
				if tt.cut {
					cutAt = undivided / 4
				}
				divided := s.run(f, cutAt)
				ratio := float64(divided) / float64(undivided)
				messages := s.grants + s.reports
				t.Logf("%v instead of %v: %.3f times; %d rounds, %d messages, %.1f in a round, %.2f for each cluster", divided.Round(time.Second), undivided.Round(time.Second),
					ratio, s.rounds, messages, float64(messages)/float64(max(1, s.rounds)), float64(messages)/float64(len(f.all)))
				if divided < 0 || ratio > tt.most {
					t.Errorf("%.3f times, want at most %v", ratio, tt.most)
				}
				if s.most > slots {
					t.Errorf("%d in flight", s.most)
				}
				if tt.cut {
					lost := float64(s.idle) / float64(time.Duration(slots-s.held)*time.Hour)
					t.Logf("the hub that is cut off holds %d units; of the others %.4f are idle meanwhile", s.held, lost)
					if lost > 0.02 {
						t.Errorf("of the shares of other hubs %.4f are idle while one is cut off", lost)
					}
				}
				if messages > 3*len(s.hubs)*s.rounds {
					t.Errorf("%d messages in %d rounds of %d hubs", messages, s.rounds, len(s.hubs))
				}
			})
		}
	}
}

// Rule H12: in a round of reallocation messages grow with the hubs, and not with the clusters: at most two grants and two reports for each. Half of the slow clusters are on one hub, so
// that shares are moved all the time. The table:
//
//	go test ./rollout/shares -run TestMessagesGrowWithTheHubs -v -tags exhaustive
func TestMessagesGrowWithTheHubs(t *testing.T) {
	for _, clusters := range []int{exhaustive.Of(500, 10_000), exhaustive.Of(2_000, 100_000)} {
		for _, hubs := range []int{5, 10, 20, 50, 100, 200} {
			f := newFleet(clusters, hubs, true)
			s := newSimulation(200, 10*time.Minute)
			if s.run(f, 0) < 0 {
				t.Fatal("it does not end")
			}
			messages := s.grants + s.reports
			t.Logf("%6d clusters on %3d hubs: %4d rounds, %5d messages, in a round %5.1f and at most %3d, which is %.2f for each hub", clusters, hubs, s.rounds, messages,
				float64(messages)/float64(s.rounds), s.mostInRound, float64(s.mostInRound)/float64(hubs))
			if s.mostInRound > 4*hubs {
				t.Errorf("%d messages in a round of %d hubs", s.mostInRound, hubs)
			}
		}
	}
}
