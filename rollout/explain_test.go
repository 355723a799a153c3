package rollout_test

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"

	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/internal/exhaustive"
	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/status"
)

// advised is all that a plan is made of, so that a test can do what an explanation says and plan again.
type advised struct {
	strategy clusterv1alpha1.RolloutStrategy
	groups   *grouping.Groups
	reports  map[string]status.Report
	now      time.Time
	paused   bool
	gate     *grouping.Key
	opens    time.Time
	others   []rollout.Option
	back     bool // the rollout is taken back
}

func (h *advised) plan() (*rollout.Result, error) {
	opts := slices.Clone(h.others)
	if h.paused {
		opts = append(opts, rollout.Paused())
	}
	if h.gate != nil {
		opts = append(opts, rollout.Closed(*h.gate, rollout.Gate{Name: "approval", Opens: h.opens}))
	}
	var reports []status.Report
	for _, r := range h.reports {
		reports = append(reports, r)
	}
	if h.back {
		return rollout.Revert(clusterv1alpha1.RolloutStrategy{}, h.groups, rollout.Abort{Time: h.now, Failed: reports}, h.now, opts...)
	}
	return rollout.Plan(h.strategy, h.groups, reports, h.now, opts...)
}

func (h *advised) clone() *advised {
	c := *h
	c.reports = make(map[string]status.Report, len(h.reports))
	for name, r := range h.reports {
		c.reports[name] = r
	}
	c.strategy = *h.strategy.DeepCopy()
	return &c
}

// succeed has a cluster succeed long ago, so that it soaked.
func (h *advised) succeed(cluster string) {
	h.reports[cluster] = status.Report{Cluster: cluster, Status: status.Succeeded, LastTransitionTime: h.now.Add(-1000 * time.Hour)}
}

// config is the part that both progressive types have.
func (h *advised) config() *clusterv1alpha1.RolloutConfig {
	if h.strategy.Progressive != nil {
		return &h.strategy.Progressive.RolloutConfig
	}
	return &h.strategy.ProgressivePerGroup.RolloutConfig
}

// follow does what a remedy says.
func (h *advised) follow(l rollout.Link, r rollout.Remedy) {
	switch r.Type {
	case rollout.RemedyWait:
		if l.Hold.Type == rollout.HoldStarts { // what starts does so meanwhile
			result, _ := h.plan()
			for _, c := range result.Start {
				h.reports[c.Name] = status.Report{Cluster: c.Name, Status: status.Progressing, Applied: h.now}
			}
		}
		h.now = r.At
	case rollout.RemedyAnswer, rollout.RemedyMend:
		for _, name := range strings.Split(r.Clusters, ", ")[:r.Count] {
			h.succeed(name)
		}
	case rollout.RemedyReportTime:
		for _, name := range strings.Split(r.Clusters, ", ")[:r.Count] {
			report := h.reports[name]
			report.LastTransitionTime = h.now
			h.reports[name] = report
		}
	case rollout.RemedyTryAgain:
		h.others = append(slices.Clone(h.others), rollout.Attempt(r.Count))
	case rollout.RemedyRevert:
		h.back = true
	case rollout.RemedyResume:
		h.paused = false
	case rollout.RemedyOpenGate:
		h.gate = nil
	case rollout.RemedyRaiseMaxFailures:
		h.config().MaxFailures = intstr.FromInt(r.Count)
	case rollout.RemedySetProgressDeadline:
		h.config().ProgressDeadline = "1s"
	}
}

// answered names a cluster that is waited for by a remedy although no more is to come from it: it has succeeded, and no report says when.
func (h *advised) answered(r rollout.Remedy) string {
	for name := range strings.SplitSeq(r.Clusters, ", ") {
		if report := h.reports[name]; r.Type == rollout.RemedyAnswer && report.Status == status.Succeeded && report.LastTransitionTime.IsZero() {
			return name
		}
	}
	return ""
}

var atTen = time.Date(2026, 1, 2, 10, 0, 0, 0, time.UTC)

// kindsOfReports are the kinds of reports that a cluster may have; nil is none.
var kindsOfReports = []func(cluster string) *status.Report{
	func(string) *status.Report { return nil },
	reported(status.ToApply, 0, 0),
	reported(status.ToApply, 0, 5*time.Minute), // has not answered
	reported(status.Progressing, 5*time.Minute, 0),
	reported(status.Progressing, 0, 0), // since nobody knows when
	reported(status.Progressing, time.Hour, 0),
	reported(status.Failed, 4*time.Minute, 0),
	reported(status.Succeeded, 3*time.Minute, 0),
	reported(status.Succeeded, time.Hour, 0),
	reported(status.TimeOut, 2*time.Hour, 0),
}

func reported(s status.RolloutStatus, since, applied time.Duration) func(string) *status.Report {
	return func(cluster string) *status.Report {
		r := &status.Report{Cluster: cluster, Status: s}
		if since > 0 {
			r.LastTransitionTime = atTen.Add(-since)
		}
		if applied > 0 {
			r.Applied = atTen.Add(-applied)
		}
		return r
	}
}

// strategies with and without a deadline and a soak.
func explainedStrategies() (all []clusterv1alpha1.RolloutStrategy) {
	for _, deadline := range []string{"", "30m"} {
		for _, failures := range []int{0, 1} {
			config := clusterv1alpha1.RolloutConfig{
				ProgressDeadline: deadline, MaxFailures: intstr.FromInt(failures), MinSuccessTime: metav1.Duration{Duration: 10 * time.Minute},
			}
			for _, mandatory := range []clusterv1alpha1.MandatoryDecisionGroups{
				{}, {MandatoryDecisionGroups: []clusterv1alpha1.MandatoryDecisionGroup{{GroupName: "canary"}}},
			} {
				all = append(all, clusterv1alpha1.RolloutStrategy{
					Type:                clusterv1alpha1.ProgressivePerGroup,
					ProgressivePerGroup: &clusterv1alpha1.RolloutProgressivePerGroup{RolloutConfig: config, MandatoryDecisionGroups: mandatory},
				})
				for _, concurrency := range []int{1, 2} {
					all = append(all, clusterv1alpha1.RolloutStrategy{
						Type: clusterv1alpha1.Progressive,
						Progressive: &clusterv1alpha1.RolloutProgressive{
							RolloutConfig: config, MandatoryDecisionGroups: mandatory, MaxConcurrency: intstr.FromInt(concurrency),
						},
					})
				}
			}
		}
	}
	return all
}

// advisedFleets yields every fleet of n clusters in up to n groups, of which the first is "canary", under the strategies, with and
// without what people do.
func advisedFleets(t *testing.T, n int, do func(h *advised)) {
	kindsOf := slices.Clone(kindsOfReports)
	kindsOf[1] = reported(status.Succeeded, 0, 0) // nobody knows when, in place of ToApply, which waits as one without a report
	for cut := range 1 << (n - 1) {
		names := map[grouping.Key][]string{}
		key := grouping.Key{Name: "canary"}
		for i := range n {
			if i > 0 && cut&(1<<(i-1)) != 0 {
				key = grouping.Key{Index: key.Index + 1}
			}
			names[key] = append(names[key], string(rune('a'+i)))
		}
		groups, err := grouping.FromNames(names)
		if err != nil {
			t.Fatal(err)
		}
		kinds := 1
		for range n {
			kinds *= len(kindsOf)
		}
		for kind := range kinds {
			reports := map[string]status.Report{}
			for i, k := 0, kind; i < n; i, k = i+1, k/len(kindsOf) {
				if r := kindsOf[k%len(kindsOf)](string(rune('a' + i))); r != nil {
					reports[r.Cluster] = *r
				}
			}
			for i, strategy := range explainedStrategies() {
				h := &advised{strategy: strategy, groups: groups, reports: reports, now: atTen}
				do(h)
				switch (kind + i) % 17 { // what people do, in turn
				case 0:
					h.paused = true
				case 1:
					h.gate = &grouping.Key{Name: "canary"}
				case 2:
					h.gate, h.opens = &grouping.Key{Index: key.Index}, atTen.Add(time.Hour)
				case 3:
					h.others = []rollout.Option{rollout.MaxConcurrencyPerGroup(intstr.FromInt(1))}
				case 4:
					h.others = []rollout.Option{rollout.FailedFreesSlot()}
				case 5:
					h.others = []rollout.Option{rollout.Attempt(1)}
				case 6:
					h.others = []rollout.Option{rollout.Uncounted(of("a", "c"))}
				case 7:
					h.others = []rollout.Option{rollout.FailedBefore(of("b"))}
				case 8:
					h.others = []rollout.Option{rollout.GroupOrder(nil)} // the groups without a name are still a chain
				case 9:
					h.others = []rollout.Option{rollout.GroupOrder(map[string][]string{"canary": {""}}), rollout.MaxConcurrencyPerGroup(intstr.FromInt(1))}
				case 10:
					h.others = []rollout.Option{rollout.Ramp(1)}
				case 11:
					h.others = []rollout.Option{rollout.MaxStarts(1, 5*time.Hour)}
				case 13:
					h.others = []rollout.Option{rollout.WaitBetweenGroups(2 * time.Hour)}
				case 14:
					h.others = []rollout.Option{rollout.WaitBetweenGroups(20 * time.Minute), rollout.GroupOrder(map[string][]string{"canary": {""}}), rollout.Ramp(1)}
				case 15:
					h.others = []rollout.Option{rollout.WaitBetweenGroups(time.Hour)}
					h = h.clone()
					h.config().MinSuccessTime.Duration = 0
					if r := h.reports["a"]; r.Status == status.Succeeded {
						h.reports["a"] = status.Report{Cluster: "a", Status: r.Status} // nobody knows since when
					}
				case 12:
					h.others = []rollout.Option{rollout.GroupOrder(nil), rollout.Ramp(1), rollout.MaxStarts(2, time.Hour)}
				case 16:
					h.others = []rollout.Option{rollout.Attempt(1)}
					h = h.clone()
					for i, name := range []string{"a", "b"} { // which are in later attempts than is wanted
						if r, ok := h.reports[name]; ok {
							r.Attempt = 1 + i
							h.reports[name] = r
						}
					}
				}
				do(h)
			}
		}
	}
}

// R29: an explanation is empty exactly where a cluster is not held; its blockers are among all of them; whatever it says
// ends the wait, whether it is waited for or done.
func TestFollowingTheAdviceWorks(t *testing.T) {
	t.Parallel()
	worlds, remedies := 0, map[rollout.RemedyType]int{}
	advisedFleets(t, exhaustive.Of(2, 3), func(h *advised) {
		worlds++
		r, err := h.plan()
		if err != nil {
			t.Fatal(err)
		}
		all := map[string]rollout.Blocker{}
		for _, b := range r.Blockers() {
			all[b.Name] = b
		}
		for position := range h.groups.NumClusters() {
			cluster := h.groups.Cluster(position)
			disposition, hold, _ := r.Find(cluster)
			e := r.Explain(cluster)
			if (disposition == rollout.DispositionHeld) != (len(e) > 0) {
				t.Fatalf("%v\n%v: %s is %s and its explanation is %q", h, r, cluster, disposition, e)
			}
			if len(e) == 0 {
				continue
			}
			if first := e[0].Hold; withoutDetail(first) != withoutDetail(hold) {
				t.Fatalf("%v\n%v: %s is held by %v and explained by %v", h, r, cluster, hold, first)
			}
			if twice := saidTwice(e); twice != "" {
				t.Fatalf("%v\n%v: %s is told twice that %q:\n%v", h, r, cluster, twice, e)
			}
			told := 0
			for _, l := range e {
				if len(l.String()) > 1024 {
					t.Errorf("%d bytes: %v", len(l.String()), l)
				}
				for _, b := range l.Blockers {
					if all[b.Name].Holds < 1 {
						t.Fatalf("%v\n%v: %s waits for %v, which is not among the blockers %v", h, r, cluster, b, all)
					}
				}
				for _, remedy := range l.Remedies {
					if told++; remedy.Type == rollout.RemedyCompleteGroups {
						continue
					}
					remedies[remedy.Type]++
					if name := h.answered(remedy); name != "" {
						t.Fatalf("%v\n%v: %s is told to %v, and %s has answered", h, r, cluster, remedy, name)
					}
					after := h.clone()
					after.follow(l, remedy)
					next, err := after.plan()
					if err != nil {
						t.Fatal(err)
					}
					if !ended(l.Hold, r, next, cluster) && !(remedy.Type == rollout.RemedyReportTime && isKnown(l, next.Explain(cluster))) {
						t.Fatalf("%v\n%v\n%s: %v\nafter %v:\n%v\n%v", h, r, cluster, e, remedy, next, next.Explain(cluster))
					}
				}
			}
			if told == 0 {
				t.Fatalf("%v\n%v: nothing ends the wait of %s: %v", h, r, cluster, e)
			}
		}
	})
	t.Logf("%d worlds, remedies followed: %v", worlds, remedies)
	if len(remedies) != 10 {
		t.Errorf("there are ten ways in which a wait ends without the groups, and %d were followed", len(remedies))
	}
}

// ended says whether a wait is over: for a slot, one that was held starts, failures stop the rollout, or another limit holds
// the cluster; else the cluster no longer waits for it. A wait of which nobody knew when it ends is over where that is known,
// as another wait, until then, has taken its place.
func ended(hold rollout.Hold, before, after *rollout.Result, cluster string) bool {
	dated := func(now rollout.Hold) bool { return hold.Until.IsZero() && !now.Until.IsZero() }
	switch hold.Type {
	case rollout.HoldConcurrency, rollout.HoldRamp, rollout.HoldStarts:
		_, next, _ := after.Find(cluster)
		return after.Breach != nil || next.Type != hold.Type || dated(next) || slices.ContainsFunc(after.Start, func(c rollout.Cluster) bool {
			return !slices.Contains(before.Start, c)
		})
	}
	for _, l := range after.Explain(cluster) {
		if l.Hold.Type == hold.Type && l.Hold.Group == hold.Group && l.Hold.AllGroups == hold.AllGroups && !dated(l.Hold) {
			return false
		}
	}
	return true
}

// withoutDetail is a hold without whom it waits for, of which an explanation tells a part in later links.
func withoutDetail(h rollout.Hold) rollout.Hold {
	h.Detail = ""
	return h
}

// isKnown says whether of a wait whose end nobody knew for want of a time the end is known now. It may go on for others where it is one
// for groups, or took more than those whose time was not known.
func isKnown(before rollout.Link, now rollout.Explanation) bool {
	of := func(l rollout.Link, t rollout.RemedyType) bool {
		return slices.ContainsFunc(l.Remedies, func(r rollout.Remedy) bool { return r.Type == t })
	}
	for _, l := range now {
		if l.Hold.Type == before.Hold.Type && l.Hold.Group == before.Hold.Group && l.Ends().IsZero() {
			forGroups := l.Hold.Type == rollout.HoldEarlierGroup || l.Hold.Type == rollout.HoldMandatoryGroup
			return !of(l, rollout.RemedyReportTime) && (forGroups || !of(before, rollout.RemedyAnswer))
		}
	}
	return true
}

// saidTwice gives a part of a sentence, beside how much is done, that two links of an explanation say.
func saidTwice(e rollout.Explanation) string {
	by := map[string]int{}
	for i, l := range e {
		for part := range strings.SplitSeq(l.Hold.String(), "; ") {
			if j, said := by[part]; said && i != j && !strings.HasSuffix(part, " done") {
				return part
			}
			by[part] = i
		}
	}
	return ""
}

// R29: whoever does what the explanation says, again and again, and lets what starts succeed, sees the cluster start.
func TestFollowingTheAdviceToTheEndStartsTheCluster(t *testing.T) {
	t.Parallel()
	choice := 0
	advisedFleets(t, exhaustive.Of(2, 3), func(h *advised) {
		for position := range h.groups.NumClusters() {
			cluster := h.groups.Cluster(position)
			world, story := h.clone(), []string(nil)
			choice++
			for step := 0; ; step++ {
				r, err := world.plan()
				if err != nil {
					t.Fatal(err)
				}
				e := r.Explain(cluster)
				story = append(story, fmt.Sprintf("%v\n  %v", r, e))
				if len(e) == 0 {
					break
				}
				if step == 30 {
					t.Fatalf("%v: %s does not start:\n%s", h, cluster, strings.Join(story, "\n"))
				}
				for _, c := range r.Start {
					world.succeed(c.Name)
				}
				root := e[len(e)-1]
				world.follow(root, root.Remedies[choice%len(root.Remedies)])
			}
		}
	})
}

// String shows it in a failure.
func (h *advised) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%v %+v %+v paused %v gate %v", h.groups, h.strategy.Progressive, h.strategy.ProgressivePerGroup, h.paused, h.gate)
	for position := range h.groups.NumClusters() {
		c := h.groups.Cluster(position)
		fmt.Fprintf(&b, "\n  %s: %+v", c, h.reports[c])
	}
	return b.String()
}

// groupsIn finds what the sentence of an explanation says of groups beside the first: those whose turn it is, how many more there
// are, and those whose turn comes then.
var groupsIn = regexp.MustCompile(`; and for (group \d+[^:;]*):|; and for (\d+) more groups?|; then for (.*)$`)

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
		r, err := rollout.Plan(w.strategy, groups, reports, now, opts...)
		if err != nil {
			t.Fatal(err)
		}
		done := map[grouping.Key]bool{}
		for _, g := range r.Summary().Groups {
			done[g.Group] = g.Counts.Done() == g.Counts.Total()
		}
		for c, hold := range r.Held() {
			if hold.Type != rollout.HoldEarlierGroup && hold.Type != rollout.HoldMandatoryGroup {
				continue
			}
			active, later := awaited(r.Schedule, c.Group, done)
			several += min(1, len(active)-1)
			own := r.Explain(c.Name)[0].Hold
			named, more, then := []string{own.Group.String()}, 0, ""
			for _, m := range groupsIn.FindAllStringSubmatch(own.String(), -1) {
				if m[1] != "" {
					named = append(named, m[1])
				}
				if m[2] != "" {
					more, _ = strconv.Atoi(m[2])
				}
				then += m[3]
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

// R29: behind the first link stand the waits of clusters that are held in the groups that are waited for, three of them at most.
func TestExplanationHasThreeLinksOfOtherGroupsAtMost(t *testing.T) {
	for count, want := range []int{1: 2, 2: 3, 3: 4, 4: 4, 5: 4} {
		f, names, reports := newFleet(t), []string(nil), []status.Report(nil)
		for _, name := range []string{"a", "b", "c", "d", "e"}[:count] {
			f, names = f.group(name, name+"1", name+"2"), append(names, name)
			reports = append(reports, status.Report{Cluster: name + "1", Status: status.Progressing, LastTransitionTime: now})
		}
		r, err := rollout.Plan(perGroup(config("0", "10m", 0)), f.group("z", "waits").read(), reports, now,
			rollout.GroupOrder(map[string][]string{"z": names}), rollout.MaxConcurrencyPerGroup(intstr.FromInt32(1)))
		if err != nil {
			t.Fatal(err)
		}
		if links := r.Explain("waits"); count > 0 && len(links) != want {
			t.Errorf("%d groups: %d links, want %d:\n%v", count, len(links), want, links)
		}
	}
}
