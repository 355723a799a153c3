// SPDX-License-Identifier: Apache-2.0

package rollout_test

import (
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/intstr"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"
	"pgregory.net/rapid"

	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/internal/exhaustive"
	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/status"
)

// aborted is half an hour ago, and not at a whole second.
var aborted = now.Add(-sinceAbort + 400*time.Millisecond)

const sinceAbort = 30 * time.Minute

// rollbackKind is what is observed of one cluster about the version before and about the one that failed.
type rollbackKind struct {
	name           string
	before, failed []observed
}

var lacks = []observed{{status.ToApply, 0, 0}} // has another version

// rollbackKinds are those that R43 and R44 tell apart.
var rollbackKinds = []rollbackKind{
	{"no workload", nil, nil},
	{"never had it", []observed{{status.Succeeded, old, old}}, lacks},
	{"never had it, and fails", []observed{{status.Failed, soon, old}}, lacks},
	{"third version", lacks, lacks},
	{"third version, in one list", nil, lacks},
	{"no time", []observed{{status.Progressing, 0, 0}}, lacks},

	{"has it, progressing", lacks, []observed{{status.Progressing, 0, young}}},
	{"has it, progressing for long", lacks, []observed{{status.Progressing, 0, sinceAbort + young}}},
	{"has it, failed", lacks, []observed{{status.Failed, soon, old}}},
	{"has it, timed out", lacks, []observed{{status.TimeOut, young, 2 * old}}},
	{"has it, succeeded", lacks, []observed{{status.Succeeded, young, old}}},
	{"has it, since an unknown time", lacks, []observed{{status.Succeeded, old, 0}}},
	{"has it, silent", nil, []observed{{status.ToApply, 0, sinceAbort + young}}},
	{"is to be left out", lacks, []observed{{status.Skip, old, old}}},

	{"went back, silent", []observed{{status.ToApply, 0, young}}, lacks},
	{"went back, progressing for long", []observed{{status.Progressing, young, 20 * time.Minute}, {status.Progressing, 0, 20 * time.Minute}}, lacks},
	{"went back in the second of the abort, failed", []observed{{status.Failed, soon, sinceAbort}}, lacks},
	{"went back, soaks", []observed{{status.Succeeded, soaks, 20 * time.Minute}}, nil},
	{"went back, done", []observed{{status.Succeeded, 10 * time.Minute, 20 * time.Minute}}, lacks},
	{"got the version before a second too early", []observed{{status.Failed, soon, sinceAbort + 1}}, lacks},

	{"two objects, one has it", []observed{{status.Failed, old, old}, lacks[0]}, []observed{lacks[0], {status.Progressing, 0, old}}},
	{"two objects, both have it", []observed{lacks[0], lacks[0]}, []observed{{status.Failed, 0, old}, {status.Succeeded, 0, young}}},
	{"two objects, one went back", []observed{{status.Succeeded, young, young}, {status.Failed, old, old}}, []observed{lacks[0], lacks[0]}},
	{"has it, and two objects in one list", []observed{lacks[0], lacks[0]}, []observed{{status.Failed, 0, old}}},
	{"went back, and two objects in the other list", []observed{{status.Progressing, young, young}}, []observed{lacks[0], lacks[0]}},

	{"has it, being validated", lacks, []observed{{status.Validating, young, old}}},
	{"has it, being validated for long", lacks, []observed{{status.Validating, 2 * old, 2 * old}}},
	{"went back, being validated", []observed{{status.Validating, young, 20 * time.Minute}}, lacks},
	{"never had it, being validated", []observed{{status.Validating, old, old}}, lacks},
}

// manyRollbackKinds leave out those that differ from another in one cluster alone, and fewRollbackKinds are one of each of R43 and
// what R44 orders.
var (
	manyRollbackKinds = []rollbackKind{
		rollbackKinds[0], rollbackKinds[1], rollbackKinds[2], rollbackKinds[6], rollbackKinds[7], rollbackKinds[8], rollbackKinds[10], rollbackKinds[11],
		rollbackKinds[14], rollbackKinds[15], rollbackKinds[16], rollbackKinds[18], rollbackKinds[21], rollbackKinds[23], rollbackKinds[24], rollbackKinds[25], rollbackKinds[27],
	}
	fewRollbackKinds = []rollbackKind{rollbackKinds[0], rollbackKinds[7], rollbackKinds[8], rollbackKinds[10], rollbackKinds[11], rollbackKinds[14], rollbackKinds[16]}
)

func (k rollbackKind) set(w *world, cluster string) {
	for _, o := range k.before {
		w.reports = append(w.reports, o.report(cluster))
	}
	for _, o := range k.failed {
		w.back.failed = append(w.back.failed, o.report(cluster))
	}
}

var rollbackStrategies = []clusterv1alpha1.RolloutStrategy{
	{},
	all("10m"),
	progressive("1", config("", "10m", 5*time.Minute)),
	progressive("2", config("1", "", 0), "canary", "1"),
	progressive("50%", config("50%", "10m", 0)),
	perGroup(config("", "10m", 5*time.Minute)),
	perGroup(config("1", "", 0), "canary", "1"),
	perGroup(config("50%", "10m", 0), "3"),
}

// rollbackExtras are options, and clusters that are not selected.
var rollbackExtras = []func(*world){
	func(*world) {},
	func(w *world) { w.back.stopAtBreach = true },
	func(w *world) { w.order = func(a, b string) int { return strings.Compare(b, a) } },
	func(w *world) { w.paused = true },
	func(w *world) { w.incomplete = true },
	func(w *world) {
		one := intstr.FromInt32(1)
		w.perGroup, w.failedFrees, w.back.stopAtBreach = &one, true, true
	},
	func(w *world) { w.gates = []closedGate{{grouping.Key{Index: 1}, rollout.Gate{Name: "window"}}} },
	func(w *world) {
		half := intstr.FromString("50%")
		w.maxRemoved = &half
		rollbackKinds[8].set(w, "y")
		rollbackKinds[12].set(w, "z") // one list has it
	},
	func(w *world) {
		rollbackKinds[1].set(w, "y")
		rollbackKinds[21].set(w, "z")
	},
	func(w *world) { // twice where one list does not have it
		w.back.failed = append(w.back.failed, status.Report{Cluster: "y"}, status.Report{Cluster: "y", Status: status.Failed})
	},
	recordedRollback(true, 3, observed{status.Failed, soon, sinceAbort}, observed{status.TimeOut, soon, sinceAbort + 1}),
	recordedRollback(false, 3, observed{status.TimeOut, soon, 20 * time.Minute}, observed{status.Failed, soon, young}),
	recordedRollback(true, 0, observed{status.Progressing, 0, young}, observed{status.TimeOut, young, 0}),
	recordsBreaches(nil, breachedIn(plainKeys[0], 2, "a", "b")), // of which nothing is said unless a breach stops the rollback
	func(w *world) {
		recordsBreaches(nil, breachedIn(plainKeys[0], 1, "a", "c"), status.Breached{AllGroups: true, Of: 3, Clusters: []string{"b", "a", "c"}})(w)
		w.back.stopAtBreach = true
	},
	withFrozen(rollout.ClusterFreeze{Cluster: "a", Reason: "r"}, rollout.ClusterFreeze{Cluster: "c", Until: now.Add(young), Blocks: true}),
	withFrozen(rollout.ClusterFreeze{Cluster: "b", Blocks: true}, rollout.ClusterFreeze{Cluster: "a", Until: now}),
	func(w *world) { w.allowlist = []string{"b", "ghost"} },
}

// recordedRollback gives a record of a, which may be selected, and y, which is not.
func recordedRollback(atOnce bool, more int, a, y observed) func(*world) {
	left := []status.DeselectedCluster{{Report: a.report("a"), Group: plainKeys[0]}, {Report: y.report("y"), Group: plainKeys[1]}}
	m := &rollout.StoredRecord{Version: "v2", AtOnce: atOnce, Record: status.Record{Version: "v2", Deselected: left, More: more}}
	return func(w *world) {
		w.storedRecord, w.back.stopAtBreach = m, true
		rollbackKinds[8].set(w, "z")
	}
}

// recordKinds are entries of a record from before the abort and since.
var recordKinds = []observed{
	{status.TimeOut, soon, sinceAbort + 1}, {status.Failed, soon, sinceAbort}, {status.TimeOut, soon, 20 * time.Minute}, {status.TimeOut, young, 0},
	{status.Progressing, 0, young}, {status.Succeeded, soaks, 20 * time.Minute}, {status.Skip, 0, young},
}

// rollbackSpace is a part of the small worlds that roll back.
type rollbackSpace struct {
	name   string
	fleets []world
	kinds  []rollbackKind
	short  int // how many of the worlds the short run tests
	whole  int // how many of them the weekly run tests; 0: all
}

func (s rollbackSpace) worlds(fleet world) int {
	n := len(rollbackStrategies) * len(rollbackExtras)
	for range fleet.members {
		n *= len(s.kinds)
	}
	return n
}

// set makes the i-th world of a fleet.
func (s rollbackSpace) set(w *world, i int) {
	digit := func(n int) int {
		d := i % n
		i /= n
		return d
	}
	w.strategy = rollbackStrategies[digit(len(rollbackStrategies))]
	w.back = &taken{aborted: aborted}
	w.reports, w.storedRecord = nil, nil
	rollbackExtras[digit(len(rollbackExtras))](w)
	for _, m := range slices.Backward(w.members) {
		s.kinds[digit(len(s.kinds))].set(w, m.name)
	}
}

// R43 to R45 on every fleet of up to four clusters in up to four groups, with all kinds of report in the smaller ones and a
// third of them in the larger: all that the result of Revert says is what the
// rules say.
func TestRevertAgreesWithTheRulesOnEveryFleetOfUpToFourClusters(t *testing.T) {
	for _, s := range []rollbackSpace{
		{"none to two", slices.Concat(fleets(cuts(0), plainKeys, 0), fleets(everywhere(1), plainKeys, 4), fleets(everywhere(2), twoNames, 4)), rollbackKinds, 3000, 0},
		{"three", fleets(ascending(cuts(3)), plainKeys, 0), manyRollbackKinds, 2500, 400_000},
		{"three/all cuts", fleets(cuts(3), plainKeys, 0), fewRollbackKinds, 1500, 0}, // names in another order than groups
		{"four", fleets(ascending(cuts(4)), plainKeys, 0), fewRollbackKinds, 4000, 400_000},
	} {
		t.Run(s.name, func(t *testing.T) {
			total := 0
			for _, fleet := range s.fleets {
				total += s.worlds(fleet)
			}
			var tested atomic.Int64
			t.Cleanup(func() { t.Logf("%d of %d worlds", tested.Load(), total) })
			for _, fleet := range s.fleets {
				t.Run(fleet.cut(), func(t *testing.T) {
					t.Parallel()
					var read reader
					var j judge
					for i := range tests(s.worlds(fleet), total, s.short, manyWorlds, s.whole) {
						w := fleet
						s.set(&w, i)
						tested.Add(1)
						if fault := j.fault(w, read.groups(t, w)); fault != "" {
							t.Fatalf("world %d: %v\nfailed version: %v\n%s", i, w, w.back, fault)
						}
					}
				})
			}
		})
	}
}

// R43 to R45 on fleets of up to 60 clusters with all strategies and options, and any reports.
func TestRevertAgreesWithTheRulesOnRandomFleets(t *testing.T) {
	for round := range exhaustive.Of(2, 30) {
		t.Run(fmt.Sprint(round), func(t *testing.T) {
			t.Parallel()
			exhaustive.Check(t, round, func(t *rapid.T) {
				pick := drawn(t)
				w := pick.world(5 << (round % 4) * 3 / 2)
				w.back = &taken{aborted: aborted, stopAtBreach: pick.oneIn(4)}
				failed := w
				failed.reports = nil
				pick.reports(&failed)
				w.back.failed = failed.reports
				for _, m := range w.members {
					if pick.oneIn(2) {
						from(pick, rollbackKinds...).set(&w, m.name)
					}
				}
				if pick.oneIn(2) {
					recordedRollback(pick.oneIn(2), pick(2), from(pick, recordKinds...), from(pick, recordKinds...))(&w)
				}
				var j judge
				if fault := j.fault(w, w.read(t)); fault != "" {
					t.Fatalf("%v\nfailed version: %v\n%s", w, w.back, fault)
				}
			})
		})
	}
}
