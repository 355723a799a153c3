// SPDX-License-Identifier: Apache-2.0

package compare

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"

	"github.com/cohort-ocm/cohort/status"
)

const (
	soak     = 5 * time.Minute
	deadline = 10 * time.Minute
)

// nineKinds are the reports that the rules tell apart, with none at all as the first. A cluster with a
// deadline that has passed is the same failure whether it was Progressing or Failed before.
func nineKinds() []status.Report {
	kind := func(s status.RolloutStatus, ago time.Duration) status.Report {
		return status.Report{Status: s, LastTransitionTime: now.Add(-ago)}
	}
	return []status.Report{
		{},
		kind(status.ToApply, time.Minute),
		kind(status.Progressing, time.Minute),
		kind(status.Progressing, time.Hour),
		kind(status.Succeeded, time.Minute),
		kind(status.Succeeded, time.Hour),
		kind(status.Failed, time.Minute),
		kind(status.TimeOut, time.Hour),
		kind(status.Skip, time.Hour),
	}
}

// everyReport yields the reports of a, b, c and d in every combination of the nine kinds.
func everyReport(yield func([]status.Report)) {
	kinds := nineKinds()
	reports := make([]status.Report, 0, 4)
	for code := range 9 * 9 * 9 * 9 {
		reports = reports[:0]
		for _, cluster := range []string{"a", "b", "c", "d"} {
			if kind := kinds[code%9]; kind.Status != "" {
				kind.Cluster = cluster
				reports = append(reports, kind)
			}
			code /= 9
		}
		yield(reports)
	}
}

// twentyFive are the strategies of the exhaustive comparison: All, and every combination of three budgets
// (none, one, and one above the size of the fleet), a mandatory group or none, and for Progressive three
// concurrencies.
func twentyFive() []clusterv1alpha1.RolloutStrategy {
	all := []clusterv1alpha1.RolloutStrategy{{Type: clusterv1alpha1.All, All: &clusterv1alpha1.RolloutAll{RolloutConfig: configured(intstr.IntOrString{})}}}
	for _, maxFailures := range []int32{0, 1, 10} {
		for _, mandatory := range [][]clusterv1alpha1.MandatoryDecisionGroup{nil, {{GroupIndex: 0}}} {
			rules := configured(intstr.FromInt32(maxFailures))
			for _, maxConcurrency := range []int32{0, 1, 2} {
				all = append(all, progressive(rules, intstr.FromInt32(maxConcurrency), mandatory...))
			}
			all = append(all, perGroup(rules, mandatory...))
		}
	}
	return all
}

func configured(maxFailures intstr.IntOrString) clusterv1alpha1.RolloutConfig {
	return clusterv1alpha1.RolloutConfig{
		MinSuccessTime:   metav1.Duration{Duration: soak},
		ProgressDeadline: deadline.String(),
		MaxFailures:      maxFailures,
	}
}

func progressive(c clusterv1alpha1.RolloutConfig, maxConcurrency intstr.IntOrString, mandatory ...clusterv1alpha1.MandatoryDecisionGroup) clusterv1alpha1.RolloutStrategy {
	return clusterv1alpha1.RolloutStrategy{Type: clusterv1alpha1.Progressive, Progressive: &clusterv1alpha1.RolloutProgressive{
		RolloutConfig:           c,
		MaxConcurrency:          maxConcurrency,
		MandatoryDecisionGroups: clusterv1alpha1.MandatoryDecisionGroups{MandatoryDecisionGroups: mandatory},
	}}
}

func perGroup(c clusterv1alpha1.RolloutConfig, mandatory ...clusterv1alpha1.MandatoryDecisionGroup) clusterv1alpha1.RolloutStrategy {
	return clusterv1alpha1.RolloutStrategy{Type: clusterv1alpha1.ProgressivePerGroup, ProgressivePerGroup: &clusterv1alpha1.RolloutProgressivePerGroup{
		RolloutConfig:           c,
		MandatoryDecisionGroups: clusterv1alpha1.MandatoryDecisionGroups{MandatoryDecisionGroups: mandatory},
	}}
}

// describe is a strategy in a line.
func describe(s clusterv1alpha1.RolloutStrategy) string {
	c := configOf(s)
	d := fmt.Sprintf("%q", s.Type)
	if c.maxConcurrency != (intstr.IntOrString{}) {
		d += " maxConcurrency " + c.maxConcurrency.String()
	}
	if c.MaxFailures != (intstr.IntOrString{}) {
		d += " maxFailures " + c.MaxFailures.String()
	}
	for _, m := range c.mandatory {
		d += fmt.Sprintf(" mandatory %d%s", m.GroupIndex, m.GroupName)
	}
	return fmt.Sprintf("%s minSuccessTime %v progressDeadline %q", d, c.MinSuccessTime.Duration, c.ProgressDeadline)
}

// tally counts the worlds of a comparison, in all and per class.
type tally struct {
	mu        sync.Mutex
	worlds    int
	different int
	classless int // in no class
	tooMuch   int // the reference starts a cluster that the rules block
	tooLittle int // it holds one that may start
	in        map[string]int
	agreeing  map[string]int // of those in a class: on these both agree
	unknown   []string       // worlds that differ and are in no class
}

func newTally() *tally { return &tally{in: make(map[string]int), agreeing: make(map[string]int)} }

// compare asks both sides.
func (t *tally) compare(w world) {
	ours, theirs := w.cohort(), w.reference()
	classes := classesOf(w)
	differ := !ours.equal(theirs)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.worlds++
	if len(classes) == 0 {
		t.classless++
	}
	for _, class := range classes {
		t.in[class]++
		if !differ {
			t.agreeing[class]++
		}
	}
	if !differ {
		return
	}
	t.different++
	if !subset(theirs.start, ours.start) {
		t.tooMuch++
	}
	if !subset(ours.start, theirs.start) {
		t.tooLittle++
	}
	if len(classes) == 0 {
		t.unknown = append(t.unknown, fmt.Sprintf("%v\ncohort: %v\nsdk-go: %v\n", w, ours, theirs))
	}
}

// report logs the counts, and fails for worlds that differ and are in no class.
func (t *tally) report(tb testing.TB) {
	tb.Helper()
	var b strings.Builder
	fmt.Fprintf(&b, "%d worlds, %d in no class, %d different; the reference starts what the rules block in %d and blocks what may start in %d\n",
		t.worlds, t.classless, t.different, t.tooMuch, t.tooLittle)
	for _, c := range append(classes(), inputClasses()...) {
		if t.in[c.name] > 0 {
			fmt.Fprintf(&b, "%-28s in %7d, of which the answers are the same in %d\n", c.name, t.in[c.name], t.agreeing[c.name])
		}
	}
	tb.Log(b.String())
	for i, w := range t.unknown {
		if i == 5 {
			tb.Errorf("and %d more", len(t.unknown)-i)
			break
		}
		tb.Errorf("differs and is in no class:\n%s", w)
	}
}

func subset(a, b []string) bool {
	in := make(map[string]bool, len(b))
	for _, name := range b {
		in[name] = true
	}
	for _, name := range a {
		if !in[name] {
			return false
		}
	}
	return true
}

// Both sides on every fleet of four clusters in one, two, three and four groups, under 25 strategies.
func TestEveryFleetOfFour(t *testing.T) {
	counts := newTally()
	t.Run("strategies", func(t *testing.T) {
		for _, strategy := range twentyFive() {
			t.Run(describe(strategy), func(t *testing.T) {
				t.Parallel()
				for _, f := range []*fleet{
					inGroups(t, "a b c d"),
					inGroups(t, "a b", "c d"),
					inGroups(t, "a", "b", "c d"),
					inGroups(t, "a", "b", "c", "d"),
				} {
					everyReport(func(reports []status.Report) { counts.compare(world{f, strategy, reports}) })
				}
			})
		}
	})
	counts.report(t)
	counts.documented(t)

	// A class that took in worlds on which both agree would excuse too much.
	loose := map[string]bool{"generous budget read as none": true, "mandatory overtaken": true}
	for _, c := range classes() {
		if counts.in[c.name] == 0 {
			t.Errorf("no world is in the class %q", c.name)
		}
		if same := counts.agreeing[c.name]; same > 0 && !loose[c.name] {
			t.Errorf("%d worlds in the class %q have the same answer", same, c.name)
		}
	}
}
