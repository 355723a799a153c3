// SPDX-License-Identifier: Apache-2.0

package rollout_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"
	"pgregory.net/rapid"

	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/status"
)

// picker picks a number from 0 to n-1. Worlds are built from nothing else, so that rapid and the bytes of
// a fuzzer build the same ones.
type picker func(n int) int

// drawn lets rapid pick. Its small ranges favour small numbers so much that no rollout would get far; the
// remainders of large ones hardly do, and they still shrink.
func drawn(t *rapid.T) picker {
	return func(n int) int { return int(rapid.Uint64().Draw(t, "pick") % uint64(n)) }
}

// oneIn is true once in n picks.
func (pick picker) oneIn(n int) bool { return pick(n) == n-1 }

func from[T any](pick picker, values ...T) T { return values[pick(len(values))] }

// world is a fleet of up to max clusters with a strategy, reports and options, all without fault.
func (pick picker) world(max int) world {
	w := world{now: now}
	w.groups = pick.keys()
	pick.members(&w, max)
	pick.reports(&w)
	w.strategy = pick.strategy(w.groups)
	pick.options(&w)
	return w
}

// keys are up to seven groups: indexes with gaps, an index twice, names at several indexes.
func (pick picker) keys() []grouping.Key {
	var keys []grouping.Key
	index := int32(0)
	for range pick(8) {
		keys = append(keys, grouping.Key{Index: index, Name: from(pick, "", "canary", "prod", "zone")})
		index += from[int32](pick, 1, 1, 1, 0, 3)
	}
	slices.SortFunc(keys, func(a, b grouping.Key) int {
		return cmp.Or(cmp.Compare(a.Index, b.Index), cmp.Compare(a.Name, b.Name))
	})
	return slices.Compact(keys)
}

func (pick picker) members(w *world, max int) {
	if len(w.groups) == 0 {
		return
	}
	n := pick(max + 1)
	mixed := pick.oneIn(3)
	for i := range n {
		g := i * len(w.groups) / n
		if mixed {
			g = pick(len(w.groups))
		}
		w.members = append(w.members, member{fmt.Sprintf("c%02d", i), w.groups[g]})
	}
}

// reports are for some of the clusters and for some that are not selected, in no order. Half of the time they are those
// of a rollout that has come somewhere: settled, then anything, then waiting.
func (pick picker) reports(w *world) {
	front, rear := 0, len(w.members)
	if pick.oneIn(2) {
		front = pick(len(w.members) + 1)
		rear = min(rear, front+pick(12))
	}
	rare := from(pick, 1000, 16, 3) // a rollout without failures is one that goes on
	for i, m := range w.members {
		r := status.Report{Cluster: m.name}
		switch {
		case pick.oneIn(rare):
			r.Status = from(pick, status.Failed, status.Failed, status.TimeOut)
			pick.since(&r)
		case i < front:
			r.Status = from(pick, status.Succeeded, status.Succeeded, status.Skip)
			r.LastTransitionTime = now.Add(-3 * time.Hour)
		case i >= rear && pick.oneIn(3):
			r.Status = status.ToApply
		case i >= rear || pick.oneIn(3):
			continue
		default:
			r.Status = from(pick, status.Succeeded, status.ToApply, status.Progressing, status.Skip, status.Succeeded, status.Progressing, status.Validating, "Pending", "")
			pick.since(&r)
		}
		if pick.oneIn(3) {
			pick.applied(&r)
		}
		if pick.oneIn(6) {
			r.Answered = pick.time()
		}
		if pick.oneIn(4) {
			r.Reason = from(pick, status.ReportUntracked, status.ReportRefused)
		}
		if pick.oneIn(9) {
			r.Message = "what " + m.name + " says"
		}
		w.reports = append(w.reports, r)
		for pick.oneIn(8) { // R1: two objects for one cluster
			r.Status = from(pick, status.Succeeded, status.ToApply, status.Progressing, status.Skip, status.Failed, status.TimeOut, status.Validating, "Pending", r.Status)
			pick.since(&r)
			pick.applied(&r)
			r.Answered = from(pick, time.Time{}, pick.time())
			w.reports = append(w.reports, r)
		}
	}
	for _, name := range []string{"c01-gone", "a-gone", "z-gone"} {
		for pick.oneIn(4) {
			w.reports = append(w.reports, status.Report{Cluster: name, Status: from(pick, status.Failed, status.Progressing), LastTransitionTime: now})
		}
	}
	for i := range w.reports {
		w.reports[i].Attempt = from(pick, 0, 0, 0, 1, 2)
		j := pick(i + 1)
		w.reports[i], w.reports[j] = w.reports[j], w.reports[i]
	}
}

// since sets a time: on the edges of the deadlines and soaks in use, ahead of now, unknown.
func (pick picker) since(r *status.Report) { r.LastTransitionTime = pick.time() }

// applied sets the time of the write likewise, before or after the transition.
func (pick picker) applied(r *status.Report) { r.Applied = pick.time() }

func (pick picker) time() time.Time {
	switch {
	case pick.oneIn(8):
		return time.Time{}
	case pick.oneIn(20): // further away than a Duration can say
		return pick.farTime()
	}
	ago := from(pick, 0, time.Minute, 2*time.Minute, 5*time.Minute, 10*time.Minute, 90*time.Minute, -time.Minute) + from(pick, 0, -1, 1, time.Second)
	return now.Add(-ago)
}

// farTime gives a time that is 292 years away from now or more.
func (pick picker) farTime() time.Time {
	year := from(pick, 1, 1601, 1733, 2320, 2400, 9999)
	return time.Date(year, time.March, 1, 0, 0, 0, pick(2), time.UTC)
}

func (pick picker) limit() intstr.IntOrString {
	return intstr.Parse(from(pick, "1", "2", "3", "5", "10", "100", "1%", "7%", "25%", "34%", "50%", "99%", "100%", "025%"))
}

func (pick picker) config() clusterv1alpha1.RolloutConfig {
	c := clusterv1alpha1.RolloutConfig{
		ProgressDeadline: from(pick, "10m", "", "None", "600s", "1h30m", "2h", "10m", "1s"),
		MinSuccessTime:   metav1.Duration{Duration: from(pick, 0, 5*time.Minute, 0, time.Hour)},
	}
	if !pick.oneIn(4) {
		c.MaxFailures = from(pick, pick.limit(), intstr.FromString("0%"), intstr.FromString("50%"), intstr.FromInt32(100))
	}
	return c
}

func (pick picker) mandatory(groups []grouping.Key) (m clusterv1alpha1.MandatoryDecisionGroups) {
	for range max(0, pick(6)-3) {
		entry := clusterv1alpha1.MandatoryDecisionGroup{GroupIndex: int32(pick(9) - 1)}
		if len(groups) > 0 {
			key := groups[pick(len(groups))]
			entry = from(pick,
				clusterv1alpha1.MandatoryDecisionGroup{GroupName: key.Name},
				clusterv1alpha1.MandatoryDecisionGroup{GroupIndex: key.Index},
				clusterv1alpha1.MandatoryDecisionGroup{GroupName: "ghost", GroupIndex: key.Index},
			)
		}
		m.MandatoryDecisionGroups = append(m.MandatoryDecisionGroups, entry)
	}
	return m
}

func (pick picker) strategy(groups []grouping.Key) clusterv1alpha1.RolloutStrategy {
	s := clusterv1alpha1.RolloutStrategy{Type: from(pick, clusterv1alpha1.Progressive, clusterv1alpha1.ProgressivePerGroup, clusterv1alpha1.All)}
	switch s.Type {
	case clusterv1alpha1.Progressive:
		s.Progressive = &clusterv1alpha1.RolloutProgressive{RolloutConfig: pick.config(), MandatoryDecisionGroups: pick.mandatory(groups)}
		if !pick.oneIn(4) {
			s.Progressive.MaxConcurrency = pick.limit()
		}
	case clusterv1alpha1.ProgressivePerGroup:
		s.ProgressivePerGroup = &clusterv1alpha1.RolloutProgressivePerGroup{RolloutConfig: pick.config(), MandatoryDecisionGroups: pick.mandatory(groups)}
	case clusterv1alpha1.All:
		s.Type = from(pick, clusterv1alpha1.All, "")
		s.All = &clusterv1alpha1.RolloutAll{RolloutConfig: pick.config()}
	}
	pick.otherBlocks(&s)
	return s
}

// otherBlocks sets now and then what a strategy has for another type (R18), set to something or to nothing.
func (pick picker) otherBlocks(s *clusterv1alpha1.RolloutStrategy) {
	if s.All == nil && pick.oneIn(8) {
		s.All = from(pick, &clusterv1alpha1.RolloutAll{}, &clusterv1alpha1.RolloutAll{RolloutConfig: config("1", "soon", 0)})
	}
	if s.Progressive == nil && pick.oneIn(8) {
		s.Progressive = from(pick, &clusterv1alpha1.RolloutProgressive{}, &clusterv1alpha1.RolloutProgressive{MandatoryDecisionGroups: mandatoryGroups("canary")})
	}
	if s.ProgressivePerGroup == nil && pick.oneIn(8) {
		s.ProgressivePerGroup = from(pick, &clusterv1alpha1.RolloutProgressivePerGroup{}, &clusterv1alpha1.RolloutProgressivePerGroup{RolloutConfig: config("", "", time.Minute)})
	}
}

func (pick picker) options(w *world) {
	w.paused = pick.oneIn(8)
	for range max(0, pick(6)-2) {
		key := grouping.Key{Index: int32(pick(9)), Name: from(pick, "", "canary", "ghost")}
		if len(w.groups) > 0 && !pick.oneIn(6) {
			key = w.groups[pick(len(w.groups))]
			key = from(pick, key, grouping.Key{Index: key.Index}, grouping.Key{Index: key.Index + 1, Name: key.Name})
		}
		gate := rollout.Gate{Name: from(pick, "", "approval", "window")}
		if pick.oneIn(2) {
			gate.Opens = now.Add(from(pick, time.Minute, time.Hour, 1, 0, -time.Minute))
			if pick.oneIn(10) {
				gate.Opens = pick.farTime()
			}
		}
		w.gates = append(w.gates, closedGate{key, gate})
	}
	if pick.oneIn(3) {
		a, b := 1+pick(7), 1+pick(7)
		w.order = func(x, y string) int { return cmp.Compare(score(x, a, b), score(y, a, b)) }
	}
	if pick.oneIn(3) {
		n := pick.limit()
		w.perGroup = &n
	}
	if pick.oneIn(3) {
		w.ordered = pick.groupOrder()
	}
	if pick.oneIn(3) {
		w.wait = from(pick, time.Minute, 2*time.Minute, time.Hour, 90*time.Minute+1, 0)
	}
	if pick.oneIn(4) {
		w.ramp = 1 + pick(5)
	}
	if pick.oneIn(4) {
		w.starts = &startLimit{1 + pick(4), from(pick, time.Minute, 2*time.Minute, 90*time.Minute, 10*time.Minute+1)}
	}
	if pick.oneIn(3) {
		w.shares = &rollout.Shares{Concurrency: from(pick, 0, 1, 2, 3, 5, 10, 100), Failures: from(pick, 0, 1, 2, 5, 100)}
	}
	w.failedFrees = pick.oneIn(3)
	if pick.oneIn(3) {
		n := from(pick, intstr.FromInt32(0), intstr.FromInt32(1), intstr.FromInt32(2), intstr.FromString("0%"), intstr.FromString("34%"), intstr.FromString("7%"))
		w.maxRemoved = &n
	}
	if pick.oneIn(3) {
		n := pick.limit()
		w.size = &n
	}
	w.incomplete = pick.oneIn(10)
	w.attempt = from(pick, 0, 0, 1, 2)
	if pick.oneIn(3) {
		n := pick(4)
		w.ignored = func(name string) bool { return score(name, 3, 5)%4 < n }
	}
	for range max(0, pick(6)-3) {
		h := rollout.ClusterFreeze{Cluster: from(pick, "c00", "c01", "c02", "c03", "c04", "c05", "ghost"), Reason: from(pick, "", "store", "site"), Blocks: pick.oneIn(2)}
		if pick.oneIn(2) {
			h.Until = now.Add(from(pick, time.Minute, time.Hour, 1, 0, -time.Minute))
		}
		w.freezes = append(w.freezes, h)
	}
	if pick.oneIn(6) {
		n := pick(4)
		w.allowlist = []string{}
		for _, m := range w.members {
			if score(m.name, 7, 2)%4 < n {
				w.allowlist = append(w.allowlist, m.name)
			}
		}
	}
	if pick.oneIn(3) {
		n := pick(4)
		w.before = func(name string) bool { return score(name, 5, 3)%4 < n }
	}
}

// groupOrder is a graph of names without a cycle, as later names come after earlier ones of a list that begins anywhere.
func (pick picker) groupOrder() map[string][]string {
	names := []string{"canary", "", "ghost", "prod", "zone"}
	first := pick(len(names))
	after := map[string][]string{}
	for i := range names {
		for j := range i {
			if pick.oneIn(3) {
				name := names[(first+i)%len(names)]
				after[name] = append(after[name], names[(first+j)%len(names)])
			}
		}
	}
	return after
}

// score mixes up the order of names, with ties.
func score(name string, a, b int) int {
	n := a
	for _, c := range []byte(name) {
		n = n*b + int(c)
	}
	return n % 11
}

// named are the members that an option names.
func (w world) named(is func(string) bool) (names []string) {
	if is == nil {
		return nil
	}
	all := []string{"y", "z"}
	for _, m := range w.members {
		all = append(all, m.name)
	}
	for i := range w.reports {
		all = append(all, w.reports[i].Cluster)
	}
	if w.back != nil {
		for i := range w.back.failed {
			all = append(all, w.back.failed[i].Cluster)
		}
	}
	if w.storedRecord != nil {
		for i := range w.storedRecord.Record.Deselected {
			all = append(all, w.storedRecord.Record.Deselected[i].Cluster)
		}
	}
	slices.Sort(all)
	return slices.DeleteFunc(slices.Compact(all), func(name string) bool { return name == "" || !is(name) })
}

// formerly are the groups in the result before.
func (w world) formerly() (groups []string) {
	if w.former == nil {
		return nil
	}
	for cluster, group := range w.former.groups {
		groups = append(groups, cluster+" in "+group.String())
	}
	slices.Sort(groups)
	return groups
}

// String shows what is needed to make a test case of a failure.
func (w world) String() string {
	var clusters []string
	for _, m := range w.members {
		clusters = append(clusters, m.name+" in "+m.group.String())
	}
	var gates []string
	for _, g := range w.gates {
		gates = append(gates, fmt.Sprint(g.group, g.gate))
	}
	text, err := json.MarshalIndent(map[string]any{
		"strategy": w.strategy, "groups": w.groups, "clusters": clusters, "reports": w.reports, "now": w.now,
		"paused": w.paused, "gates": gates, "freezes": w.freezes, "allowlist": w.allowlist, "ordered": w.order != nil, "perGroup": w.perGroup,
		"groupOrder": w.ordered, "waitBetweenGroups": w.wait, "ramp": w.ramp, "maxStarts": fmt.Sprintf("%+v", w.starts), "shares": w.shares,
		"failedFreesSlot": w.failedFrees, "maxRemoved": w.maxRemoved, "clustersPerDecisionGroup": w.size, "incomplete": w.incomplete,
		"attempt": w.attempt, "ignored": w.named(w.ignored), "failedBefore": w.named(w.before),
		"former": w.formerly(), "grace": w.grace, "storedRecord": w.storedRecord, "parts": fmt.Sprintf("%+v", w.parts),
	}, "", " ")
	if err != nil {
		return err.Error()
	}
	return string(text)
}
