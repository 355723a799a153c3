package rollout_test

import (
	"fmt"
	"slices"
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
		n := r.Count
		for _, b := range l.Blockers {
			if n > 0 && (r.Type == rollout.RemedyAnswer || b.Status == status.Failed || b.Status == status.TimeOut) {
				h.succeed(b.Name)
				n--
			}
		}
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
			kinds *= len(kindsOfReports)
		}
		for kind := range kinds {
			reports := map[string]status.Report{}
			for i, k := 0, kind; i < n; i, k = i+1, k/len(kindsOfReports) {
				if r := kindsOfReports[k%len(kindsOfReports)](string(rune('a' + i))); r != nil {
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
	worlds, remedies := 0, 0
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
			if e[0].Hold != hold {
				t.Fatalf("%v\n%v: %s is held by %v and explained by %v", h, r, cluster, hold, e[0].Hold)
			}
			for _, l := range e {
				if len(l.String()) > 1024 {
					t.Errorf("%d bytes: %v", len(l.String()), l)
				}
				for _, b := range l.Blockers {
					if all[b.Name].Holds < 1 {
						t.Fatalf("%v\n%v: %s waits for %v, which is not among the blockers %v", h, r, cluster, b, all)
					}
				}
			}
			root := e[len(e)-1]
			if len(root.Remedies) == 0 {
				t.Fatalf("%v\n%v: nothing ends the wait of %s: %v", h, r, cluster, e)
			}
			for _, remedy := range root.Remedies {
				if remedy.Type == rollout.RemedyCompleteGroups {
					continue
				}
				remedies++
				after := h.clone()
				after.follow(root, remedy)
				next, err := after.plan()
				if err != nil {
					t.Fatal(err)
				}
				if !ended(root.Hold, r, next, cluster) {
					t.Fatalf("%v\n%v\n%s: %v\nafter %v:\n%v\n%v", h, r, cluster, e, remedy, next, next.Explain(cluster))
				}
			}
		}
	})
	t.Logf("%d worlds, %d remedies followed", worlds, remedies)
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

// R29: whoever does what the explanation says, again and again, and lets what starts succeed, sees the cluster start.
func TestFollowingTheAdviceToTheEndStartsTheCluster(t *testing.T) {
	t.Parallel()
	advisedFleets(t, exhaustive.Of(2, 3), func(h *advised) {
		for position := range h.groups.NumClusters() {
			cluster := h.groups.Cluster(position)
			world, story := h.clone(), []string(nil)
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
				world.follow(root, root.Remedies[0])
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
