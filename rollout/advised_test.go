// SPDX-License-Identifier: Apache-2.0

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
	others   rollout.Options
	attempt  int  // in which clusters start
	back     bool // the rollout is taken back
	ignored  string
}

func (h *advised) plan() (*rollout.Result, error) {
	opts := h.others
	if h.paused {
		opts.Paused = true
	}
	if h.gate != nil {
		opts.Gates = append(opts.Gates, rollout.ClosedGate{Group: *h.gate, Gate: rollout.Gate{Name: "approval", Opens: h.opens}})
	}
	var reports []status.Report
	for _, r := range h.reports {
		reports = append(reports, r)
	}
	if h.ignored != "" {
		opts.Ignored = slices.Concat(opts.Ignored, strings.Fields(h.ignored))
	}
	if h.back {
		return rollout.Revert(clusterv1alpha1.RolloutStrategy{}, h.groups, rollout.Abort{Time: h.now, Failed: reports}, h.now, opts)
	}
	return rollout.Plan(h.strategy, h.groups, reports, h.now, opts)
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

// config is the part that all types have.
func (h *advised) config() *clusterv1alpha1.RolloutConfig {
	switch h.strategy.Type {
	case clusterv1alpha1.Progressive:
		return &h.strategy.Progressive.RolloutConfig
	case clusterv1alpha1.ProgressivePerGroup:
		return &h.strategy.ProgressivePerGroup.RolloutConfig
	}
	if h.strategy.All == nil {
		h.strategy.All = &clusterv1alpha1.RolloutAll{}
	}
	return &h.strategy.All.RolloutConfig
}

// follow does what a remedy says, with the clusters that it is about.
func (h *advised) follow(l rollout.Link, r rollout.Remedy, names []string) {
	switch r.Type {
	case rollout.RemedyWait:
		if l.Reason.Type == rollout.BlockStarts { // what starts does so meanwhile
			result, _ := h.plan()
			for _, c := range result.Start {
				h.reports[c.Name] = status.Report{Cluster: c.Name, Status: status.Progressing, Applied: h.now, Attempt: h.attempt}
			}
		}
		h.now = r.At
	case rollout.RemedyAnswer, rollout.RemedyFix, rollout.RemedyValidate, rollout.RemedyAddConditionRules:
		for _, name := range names {
			h.succeed(name)
		}
	case rollout.RemedyReportTime:
		for _, name := range names {
			report := h.reports[name]
			report.LastTransitionTime = h.now
			h.reports[name] = report
		}
	case rollout.RemedyTryAgain:
		h.others.Attempt = r.Count
	case rollout.RemedyRevert:
		h.back = true
	case rollout.RemedyIgnore:
		h.ignored = strings.NewReplacer(",", " ", " and ", " ").Replace(r.Clusters)
	case rollout.RemedyUnfreeze:
		all := slices.Clone(h.others.Freezes)
		h.others.Freezes = slices.DeleteFunc(all, func(frozen rollout.ClusterFreeze) bool {
			names, others, many := strings.Cut(r.Clusters, " and ") // more: all that are frozen so
			return slices.Contains(named(names), frozen.Cluster) || many && others != "" && frozen.Reason == l.Reason.Reason
		})
	case rollout.RemedyAllow:
		h.others.Allowlist = slices.Concat(h.others.Allowlist, named(r.Clusters))
	case rollout.RemedyResume:
		h.paused = false
	case rollout.RemedyOpenGate:
		h.gate = nil
	case rollout.RemedyRaiseShares:
		shares := *h.others.Shares
		if shares.Failures = max(shares.Failures, r.Count); r.Count == 0 {
			shares.Concurrency += len(h.reports) + 1 // more than are in flight
		}
		h.others.Shares = &shares
	case rollout.RemedyRaiseMaxFailures:
		h.config().MaxFailures = intstr.FromInt(r.Count)
	case rollout.RemedySetProgressDeadline:
		h.config().ProgressDeadline = "1s"
		before := h.now
		h.now = h.now.Add(2 * time.Minute) // it passes, by all clocks
		h.others.Freezes = slices.Clone(h.others.Freezes)
		for i := range h.others.Freezes { // and no freeze ends meanwhile, whose cluster would be waited for then
			if freeze := &h.others.Freezes[i]; freeze.Until.After(before) && !freeze.Until.After(h.now) {
				freeze.Until = h.now.Add(time.Hour)
			}
		}
	}
}

// named are the clusters of a list such as "a, b and c".
func named(list string) []string {
	return strings.Fields(strings.NewReplacer(",", " ", " and ", " ").Replace(list))
}

// answered names a cluster that is waited for by a remedy although no more is to come from it: it has succeeded, and no report says when;
// or nothing says when it is done. A cluster that starts anew has a work of which nothing is
// known yet, and one that timed out is to be fixed.
func (h *advised) answered(result *rollout.Result, r rollout.Remedy) string {
	for name := range strings.SplitSeq(strings.Split(strings.ReplaceAll(r.Clusters, " (deselected)", ""), " and ")[0], ", ") {
		report := h.reports[name]
		disposition, _, _ := result.Find(name)
		if r.Type == rollout.RemedyAnswer && report.Status == status.Progressing && report.Reason == status.ReportUntracked &&
			disposition == rollout.DispositionInFlight {
			return name
		}
		if r.Type == rollout.RemedyAnswer && report.Status == status.Succeeded && report.LastTransitionTime.IsZero() && report.Applied.IsZero() {
			return name
		}
	}
	return ""
}

// lost names a cluster that is waited for by a remedy although nothing of it is there to succeed: only the record tells that it failed.
func (h *advised) lost(r rollout.Remedy) string {
	if r.Type != rollout.RemedyFix && r.Type != rollout.RemedyAnswer || h.others.StoredRecord == nil || h.others.StoredRecord.Record.Version != h.others.StoredRecord.Version {
		return ""
	}
	entries := map[string]status.Report{}
	for _, left := range h.others.StoredRecord.Record.Deselected {
		if before, again := entries[left.Cluster]; again {
			left.Report = status.Merge(before, left.Report)
		}
		entries[left.Cluster] = left.Report
	}
	for name := range strings.SplitSeq(strings.Split(strings.ReplaceAll(r.Clusters, " (deselected)", ""), " and ")[0], ", ") {
		e, report := entries[name], h.reports[name]
		about := report.Status != "" && (report.Status != status.ToApply || !report.Applied.IsZero())
		if (e.Status == status.Failed || e.Status == status.TimeOut) && e.Attempt >= h.others.Attempt && !about {
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
	reported(status.Progressing, 0, 0), // since an unknown time
	reported(status.Progressing, time.Hour, 0),
	reported(status.Failed, 4*time.Minute, 0),
	reported(status.Succeeded, 3*time.Minute, 0),
	reported(status.Succeeded, time.Hour, 0),
	reported(status.TimeOut, 2*time.Hour, 0),
	reported(status.Validating, 6*time.Minute, 0),
	untrackedSince(5*time.Minute, 0),
	untrackedSince(0, 0), // since an unknown time
}

// untrackedSince gives a report of a cluster of which nothing will say when it is done (R27).
func untrackedSince(since, applied time.Duration) func(cluster string) *status.Report {
	return func(cluster string) *status.Report {
		r := reported(status.Progressing, since, applied)(cluster)
		r.Reason = status.ReportUntracked
		return r
	}
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

// advisedFleets yields every fleet of n clusters in up to n groups, the first of them "canary", under the strategies, with
// and without what people do.
func advisedFleets(t *testing.T, n int, do func(h *advised)) {
	kindsOf := slices.Clone(kindsOfReports)
	kindsOf[1] = reported(status.Succeeded, 0, 0) // at an unknown time, in place of ToApply, which waits as one without a report
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
				switch (kind + i) % 23 { // what people do, in turn
				case 0:
					h.paused = true
				case 1:
					h.gate = &grouping.Key{Name: "canary"}
				case 2:
					h.gate, h.opens = &grouping.Key{Index: key.Index}, atTen.Add(time.Hour)
				case 3:
					h.others = rollout.Options{MaxConcurrencyPerGroup: intstr.FromInt(1)}
				case 4:
					h.others = rollout.Options{FailedFreesSlot: true}
				case 5:
					h.others = rollout.Options{Attempt: 1}
				case 6:
					h.others = rollout.Options{Ignored: []string{"a", "c"}}
				case 7:
					h.others = rollout.Options{FailedBefore: []string{"b"}}
				case 8:
					h.others = rollout.Options{GroupOrder: rollout.GroupOrder{}} // the groups without a name are still a chain
				case 9:
					h.others = rollout.Options{GroupOrder: rollout.GroupOrder{"canary": {""}}, MaxConcurrencyPerGroup: intstr.FromInt(1)}
				case 10:
					h.others = rollout.Options{Ramp: ptr(1)}
				case 11:
					h.others = rollout.Options{MaxStarts: &rollout.StartLimit{Count: 1, Per: metav1.Duration{Duration: 5 * time.Hour}}}
				case 13:
					h.others = rollout.Options{WaitBetweenGroups: metav1.Duration{Duration: 2 * time.Hour}}
				case 14:
					h.others = rollout.Options{WaitBetweenGroups: metav1.Duration{Duration: 20 * time.Minute}, GroupOrder: rollout.GroupOrder{"canary": {""}}, Ramp: ptr(1)}
				case 15:
					h.others = rollout.Options{WaitBetweenGroups: metav1.Duration{Duration: time.Hour}}
					h = h.clone()
					h.config().MinSuccessTime.Duration = 0
					if r := h.reports["a"]; r.Status == status.Succeeded {
						h.reports["a"] = status.Report{Cluster: "a", Status: r.Status} // since an unknown time
					}
				case 12:
					h.others = rollout.Options{GroupOrder: rollout.GroupOrder{}, Ramp: ptr(1), MaxStarts: &rollout.StartLimit{Count: 2, Per: metav1.Duration{Duration: time.Hour}}}
				case 20:
					h.others = rollout.Options{Freezes: []rollout.ClusterFreeze{{Cluster: "a", Reason: "its site", Until: atTen.Add(time.Hour), Blocks: true}, {Cluster: "b"}}}
				case 21:
					h.others = rollout.Options{Allowlist: []string{"b"}, Freezes: []rollout.ClusterFreeze{{Cluster: "b", Reason: "a"}, {Cluster: "b", Reason: "its site", Blocks: true}}}
				case 22:
					h.others = rollout.Options{Freezes: []rollout.ClusterFreeze{{Cluster: "a", Blocks: true}, {Cluster: "c", Until: atTen.Add(time.Minute)}}, GroupOrder: rollout.GroupOrder{}, Ignored: []string{"c"}, Ramp: ptr(1)}
				case 17:
					h.others = rollout.Options{Shares: &rollout.Shares{Concurrency: 1}, Ignored: []string{"c"}}
				case 18:
					h.others = rollout.Options{Shares: &rollout.Shares{Concurrency: 2, Failures: 1}, FailedFreesSlot: true, GroupOrder: rollout.GroupOrder{}}
				case 19:
					h.others = rollout.Options{Shares: &rollout.Shares{Failures: 1}}
				case 16:
					h.others = rollout.Options{Attempt: 1}
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

// String shows it in a failure.
func (h *advised) String() string {
	var text strings.Builder
	fmt.Fprintf(&text, "%v %+v %+v paused %v gate %v", h.groups, h.strategy.Progressive, h.strategy.ProgressivePerGroup, h.paused, h.gate)
	for position := range h.groups.NumClusters() {
		c := h.groups.Cluster(position)
		fmt.Fprintf(&text, "\n  %s: %+v", c, h.reports[c])
	}
	return text.String()
}
