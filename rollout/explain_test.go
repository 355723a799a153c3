// SPDX-License-Identifier: Apache-2.0

package rollout_test

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/internal/exhaustive"
	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/status"
)

// groupsIn finds what the sentence of an explanation says of groups beside the first: those whose turn it is, how many more there
// are, and those whose turn comes then.
var groupsIn = regexp.MustCompile(`; also waiting for ([^:;]*), which comes? after (?:that group|these groups)$|; also waiting for (group \d+[^:;]*):|; also waiting for (\d+) more groups?`)

// R29, R33: an explanation names each group that is waited for, the first three of those whose turn it is and of those whose turn comes then,
// and counts the others.
func TestAnExplanationNamesAllGroupsThatAreWaitedFor(t *testing.T) {
	random := rand.New(rand.NewPCG(29, 33))
	several := 0
	for range exhaustive.Of(1000, 20_000) {
		w, opts := ordered(random.IntN)
		groups := w.read(t)
		var reports []status.Report
		for _, m := range w.members {
			if s := []status.RolloutStatus{"", status.Progressing, status.Succeeded, status.Succeeded}[random.IntN(4)]; s != "" {
				reports = append(reports, status.Report{Cluster: m.name, Status: s, LastTransitionTime: now})
			}
		}
		r, err := rollout.Plan(w.strategy, groups, reports, now, opts)
		if err != nil {
			t.Fatal(err)
		}
		done := map[grouping.Key]bool{}
		for _, g := range r.Summary().Groups {
			done[g.Group] = g.Counts.Done() == g.Counts.Total()
		}
		for c, reason := range r.Blocked() {
			if reason.Type != rollout.BlockEarlierGroup && reason.Type != rollout.BlockMandatoryGroup {
				continue
			}
			active, later := awaited(r.Schedule, c.Group, done)
			several += min(1, len(active)-1)
			own := r.Explain(c.Name)[0].Reason
			named, more, then := []string{own.Group.String()}, 0, ""
			for _, m := range groupsIn.FindAllStringSubmatch(own.String(), -1) {
				then += m[1]
				if m[2] != "" {
					named = append(named, m[2])
				}
				if m[3] != "" {
					more, _ = strconv.Atoi(m[3])
				}
			}
			if want := active[:min(3, len(active))]; !slices.Equal(named, want) || more != len(active)-len(want) {
				t.Fatalf("%s waits for %v, and is told %v\n%v", c.Name, active, own, r.Schedule)
			}
			want := strings.Join(later[:min(3, len(later))], ", ")
			if n := len(later) - 3; n > 0 {
				want += fmt.Sprintf(" and %d more", n)
			}
			if then != want {
				t.Fatalf("%s waits then for %v, and is told %v\n%v", c.Name, later, own, r.Schedule)
			}
		}
	}
	if several == 0 {
		t.Error("none waits for several groups at a time")
	}
}

// awaited gives the groups that are not done of all that a group comes after: those that wait for no other, and the others.
func awaited(s rollout.Schedule, group grouping.Key, done map[grouping.Key]bool) (active, later []string) {
	before := beforeOf(s)
	all := make([][]int, len(before)) // of each stage the ones before it that are not done
	for i, stage := range s.Stages {
		for j := range i {
			if !done[s.Stages[j].Groups[0]] && slices.ContainsFunc(before[i], func(b int) bool { return b == j || slices.Contains(all[b], j) }) {
				all[i] = append(all[i], j)
			}
		}
		if stage.Groups[0] != group {
			continue
		}
		for _, j := range all[i] {
			if name := s.Stages[j].Groups[0].String(); len(all[j]) == 0 {
				active = append(active, name)
			} else {
				later = append(later, name)
			}
		}
	}
	return active, later
}

// R29: behind the first link stand the waits of clusters that are blocked in the groups that are waited for, three of them at most, be they
// blocked by a limit or frozen.
func TestExplanationHasThreeLinksOfOtherGroupsAtMost(t *testing.T) {
	for count, want := range []int{1: 2, 2: 3, 3: 4, 4: 4, 5: 4} {
		f, names, reports := newFleet(t), []string(nil), []status.Report(nil)
		var freezes []rollout.ClusterFreeze
		for _, name := range []string{"a", "b", "c", "d", "e"}[:count] {
			f, names = f.group(name, name+"1", name+"2"), append(names, name)
			reports = append(reports, status.Report{Cluster: name + "1", Status: status.Progressing, LastTransitionTime: now})
			freezes = append(freezes, rollout.ClusterFreeze{Cluster: name + "2", Reason: name, Blocks: true})
		}
		groups := f.group("z", "waits").read()
		for _, opts := range []rollout.Options{{MaxConcurrencyPerGroup: intstr.FromInt32(1)}, {Freezes: freezes}} {
			opts.GroupOrder = rollout.GroupOrder{"z": names}
			r, err := rollout.Plan(perGroup(config("0", "10m", 0)), groups, reports, now, opts)
			if err != nil {
				t.Fatal(err)
			}
			if links := r.Explain("waits"); count > 0 && len(links) != want {
				t.Errorf("%d groups: %d links, want %d:\n%v", count, len(links), want, links)
			}
		}
	}
}

// R29: a link repeats what reports say, 200 characters of each, as far as there is room for it in 1024 bytes, and says always what to do.
func TestALinkRepeatsWhatThereIsRoomFor(t *testing.T) {
	for length := range 210 {
		message := strings.Repeat("m", length)
		l := rollout.Link{Reason: rollout.BlockReason{Type: rollout.BlockPaused}, Remedies: []rollout.Remedy{{Type: rollout.RemedyResume}}}
		want, todo := "the rollout is paused", "; to do: resume the rollout"
		for i := range 10 {
			l.Blockers = append(l.Blockers, rollout.Blocker{Cluster: rollout.Cluster{Name: fmt.Sprint("c", i)}, Message: message})
			says := fmt.Sprintf("; c%d: %q", i, message)
			if length > 200 {
				says = fmt.Sprintf("; c%d: %q", i, message[:200]+"…")
			}
			if length > 0 && len(want+says+todo) <= 1024 {
				want += says
			}
		}
		if got := l.String(); got != want+todo {
			t.Fatalf("messages of %d bytes:\ngot  %s\nwant %s", length, got, want+todo)
		}
	}
}
