// SPDX-License-Identifier: Apache-2.0

package rollout_test

import (
	"fmt"
	"maps"
	"slices"
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

// Several placements, each with a strategy, and people that freeze clusters, allow them and validate them, over a history: R50, R59, R60,
// and status.Judge together. In any history the laws of look hold, and when people let go it comes to its end.
func TestFreezesAndPartsOverAHistory(t *testing.T) {
	seen := histories{}
	for round := range exhaustive.Of(1, 20) {
		exhaustive.Check(t, round, func(t *rapid.T) {
			h := newHistory(t, &seen)
			for range exhaustive.Of(8, 20) {
				h.step()
				h.look()
			}
			h.letGo()
			for round := 0; !h.ended(); round++ {
				if round == 12*len(h.names) {
					t.Fatalf("it does not end after people let go: %v", h.results)
				}
				h.goOn()
				h.look()
			}
		})
	}
	t.Log(seen)
	for what, n := range map[string]int{"frozen": seen.frozen, "not allowed": seen.notAllowed, "validating": seen.validating, "left": seen.left, "selected twice": seen.twice, "starts": seen.starts} {
		if exhaustive.On && n == 0 {
			t.Errorf("no history has what it is about: %s", what)
		}
	}
}

// histories counts what the histories came by.
type histories struct{ starts, frozen, notAllowed, validating, left, twice int }

// onCluster is the workload of a cluster.
type onCluster struct {
	version  string
	applied  time.Time
	status   status.RolloutStatus // ToApply while the agent has not answered
	changed  time.Time
	attempt  int
	deleting bool
}

// aPart is what one placement has of its own. It selects clusters before the placements before it take theirs.
type aPart struct {
	strategy   clusterv1alpha1.RolloutStrategy
	limit      int // in flight in all; 0 for none
	version    string
	selects    map[string]int // by the index of the group
	incomplete bool
	options    rollout.Options
	record     status.Record
	previous   *rollout.Result
}

type peopled struct {
	*rapid.T
	seen      *histories
	names     []string
	now       time.Time
	parts     []*aPart
	objects   map[string]*onCluster
	verdicts  []status.Verdict
	validates bool
	freezes   []rollout.ClusterFreeze
	allowlist []string // nil without one
	attempt   int
	ignored   []string
	groups    []*grouping.Groups
	results   []*rollout.Result
}

func newHistory(t *rapid.T, seen *histories) *peopled {
	h := &peopled{T: t, seen: seen, names: []string{"a", "b", "c", "d", "e", "f"}, now: now, objects: map[string]*onCluster{}}
	h.validates = h.oneIn(2)
	same := !h.oneIn(3)
	for i := range 1 + h.upTo(2) {
		p := &aPart{version: "v", selects: map[string]int{}}
		if !same {
			p.version = fmt.Sprint("v", i)
		}
		switch failures := []string{"", "1", "100%"}[h.upTo(2)]; h.upTo(3) {
		case 0:
			p.strategy = all("30m")
		case 1:
			p.limit = 1 + h.upTo(1)
			p.strategy = progressive(fmt.Sprint(p.limit), config(failures, "30m", 5*time.Minute))
		case 2:
			p.strategy = perGroup(config(failures, "30m", 0), "0")
		case 3:
			p.strategy = perGroup(config(failures, "30m", 5*time.Minute))
			p.options.MaxConcurrencyPerGroup = intstr.FromInt32(1)
		}
		for _, name := range h.names {
			h.selectOrNot(p, name)
		}
		h.parts = append(h.parts, p)
	}
	return h
}

func (h *peopled) upTo(most int) int {
	return int(rapid.Uint64().Draw(h.T, "pick") % uint64(most+1))
}

func (h *peopled) oneIn(n int) bool { return h.upTo(n-1) == n-1 }

func (h *peopled) selectOrNot(p *aPart, name string) {
	if delete(p.selects, name); !h.oneIn(3) {
		p.selects[name] = h.upTo(1)
	}
}

// step lets some time pass, in which something happens.
func (h *peopled) step() {
	h.now = h.now.Add(time.Duration(h.upTo(8)) * 3 * time.Minute)
	p := h.parts[h.upTo(len(h.parts)-1)]
	switch h.upTo(7) {
	case 0:
		h.freezes = nil
		for _, name := range h.names {
			for !h.oneIn(2) {
				freeze := rollout.ClusterFreeze{Cluster: name, Reason: fmt.Sprint("store ", h.upTo(1)), Blocks: h.oneIn(3)}
				if h.oneIn(2) {
					freeze.Until = h.now.Add(time.Duration(h.upTo(5)-1) * 10 * time.Minute)
				}
				h.freezes = append(h.freezes, freeze)
			}
		}
	case 1:
		if h.allowlist = nil; !h.oneIn(2) {
			h.allowlist = slices.DeleteFunc(slices.Clone(h.names), func(string) bool { return h.oneIn(3) })
		}
	case 2:
		h.selectOrNot(p, h.names[h.upTo(len(h.names)-1)])
	case 3:
		for _, p := range h.parts {
			delete(p.selects, h.names[h.upTo(1)])
		}
	case 4:
		p.incomplete = h.oneIn(2)
	case 5:
		p.previous = nil // a restart: what was not stored is gone
	}
	for _, name := range slices.Sorted(maps.Keys(h.objects)) {
		if o := h.objects[name]; o.deleting && h.oneIn(2) {
			delete(h.objects, name)
		} else if h.oneIn(2) {
			o.status, o.changed = []status.RolloutStatus{status.Progressing, status.Succeeded, status.Succeeded, status.Failed}[h.upTo(3)], h.now
		} else if h.oneIn(2) {
			result := []status.ValidationResult{status.ValidationSucceeded, status.ValidationInProgress, status.ValidationFailed}[h.upTo(2)]
			h.verdicts = append(h.verdicts, status.Verdict{Cluster: name, Version: o.version, Attempt: o.attempt, Result: result, Time: h.now})
		}
	}
}

// letGo ends all freezes, and tries again what failed. Clusters that are selected nowhere are ignored.
func (h *peopled) letGo() {
	h.freezes, h.allowlist, h.attempt = nil, nil, 1
	for _, p := range h.parts {
		p.incomplete = false
	}
	h.ignored = slices.DeleteFunc(slices.Clone(h.names), func(name string) bool { return h.partOf(name) >= 0 })
	h.look()
}

// goOn lets everything succeed and be found good.
func (h *peopled) goOn() {
	h.now = h.now.Add(10 * time.Minute)
	for _, name := range slices.Sorted(maps.Keys(h.objects)) {
		o := h.objects[name]
		if o.deleting {
			delete(h.objects, name)
			continue
		}
		if o.status != status.Succeeded {
			o.status, o.changed = status.Succeeded, h.now
		}
		if r := h.report(name, o, o.version); h.validates && r.Status != status.Succeeded {
			h.verdicts = append(h.verdicts, status.Verdict{Cluster: name, Version: o.version, Attempt: o.attempt, Result: status.ValidationSucceeded, Time: h.now})
		}
	}
}

// ended says whether each selected cluster has succeeded, and no other has the workload.
func (h *peopled) ended() bool {
	n := 0
	for _, r := range h.results {
		for c := range r.Settled() {
			if n++; c.Status != status.Succeeded {
				return false
			}
		}
	}
	for name := range h.objects {
		if h.partOf(name) < 0 {
			return false
		}
	}
	return n == len(h.names)-len(h.ignored)
}

// partOf says which part has the cluster: the first that selects it. It is -1 where none does.
func (h *peopled) partOf(name string) int {
	return slices.IndexFunc(h.parts, func(p *aPart) bool { _, is := p.selects[name]; return is })
}

// report is what a cluster says about a version, and what was said of it.
func (h *peopled) report(name string, o *onCluster, version string) status.Report {
	r := status.Report{Cluster: name, Status: status.ToApply, Attempt: o.attempt, Deleting: o.deleting}
	if o.version == version {
		r.Applied, r.Status, r.LastTransitionTime = o.applied, o.status, o.changed
	}
	if h.validates {
		r = status.Judge([]status.Report{r}, version, h.verdicts)[0]
	}
	return r
}

// reports are those of all clusters, about the version that the part wants.
func (h *peopled) reports(p *aPart) (reports []status.Report) {
	for name, o := range h.objects {
		reports = append(reports, h.report(name, o, p.version))
	}
	return reports
}

// look plans, tests the laws and carries out what the results say.
func (h *peopled) look() {
	h.plan()
	for i, r := range h.results {
		if fault := h.fault(i, r); fault != "" {
			h.Fatalf("part %d of %d: %s\nfreezes %v, allowlist %v\n%+v\n%+v\n%v", i, len(h.parts), fault, h.freezes, h.allowlist, h.reports(h.parts[i]), *h.parts[i], h.results)
		}
	}
	if fault := h.faultOfAll(); fault != "" {
		h.Fatalf("%s\n%v", fault, h.results)
	}
	for i, r := range h.results {
		p := h.parts[i]
		p.record, p.previous = r.Record, r
		for _, name := range r.Removed {
			h.objects[name].deleting = true
		}
		for _, c := range r.Start {
			if o := h.objects[c.Name]; o == nil || !o.deleting {
				h.objects[c.Name] = &onCluster{version: p.version, applied: h.now, status: status.ToApply, attempt: c.Attempt}
			}
		}
	}
}

func (h *peopled) plan() {
	placements := make([]grouping.PlacementGroups, len(h.parts))
	for i, p := range h.parts {
		names := [2][]string{}
		for _, name := range slices.Sorted(maps.Keys(p.selects)) {
			names[p.selects[name]] = append(names[p.selects[name]], name)
		}
		placements[i] = grouping.PlacementGroups{Placement: fmt.Sprint("p", i), Groups: inTwoGroups(h.T, p.incomplete, names)}
	}
	var err error
	if h.groups, err = grouping.Apart(placements...); err != nil {
		h.Fatal(err)
	}
	h.results = make([]*rollout.Result, len(h.parts))
	for i, p := range h.parts {
		opts := p.options
		opts.Freezes, opts.Allowlist, opts.Attempt, opts.Ignored, opts.Previous = h.freezes, h.allowlist, h.attempt, h.ignored, p.previous
		opts.StoredRecord = &rollout.StoredRecord{Version: p.version, Record: p.record}
		if h.results[i], err = rollout.Plan(p.strategy, h.groups[i], h.reports(p), h.now, opts); err != nil {
			h.Fatal(err)
		}
	}
}
