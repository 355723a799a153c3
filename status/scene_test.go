// SPDX-License-Identifier: Apache-2.0

package status_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	addonv1beta1 "open-cluster-management.io/api/addon/v1beta1"
	workv1 "open-cluster-management.io/api/work/v1"
	workv1alpha1 "open-cluster-management.io/api/work/v1alpha1"

	"github.com/cohort-ocm/cohort/internal/scene"
	"github.com/cohort-ocm/cohort/status"
)

// S1 to S8: every sentence and reason that this package can print, and the tables of the design document. The commands stand in
// testdata/scenes/README.md.
func TestScenes(t *testing.T) {
	scene.Run(t, "testdata/scenes/*.txt", func(t *testing.T) func(scene.Command) string {
		s := &stage{t: t}
		return func(c scene.Command) string {
			switch c.Name {
			case "summary":
				return s.summary(c)
			case "conditions":
				return s.setConditions(c)
			case "replicaset":
				return s.replicaSet(c)
			case "addon":
				return s.addOn(c)
			case "work":
				return s.work(c)
			case "merge":
				return s.merge(c)
			case "judge":
				return s.judge(c)
			}
			t.Fatalf("%s:%d: no command %s", c.File, c.Line, c.Name)
			return ""
		}
	})
}

// stage is what a scene has from its commands before.
type stage struct {
	t          *testing.T
	conditions []metav1.Condition
	object     workv1.ManifestWork
	available  bool // whether Available counts as success
}

// clock reads "12:05", empty for the zero time.
func (s *stage) clock(text string) time.Time {
	if text == "" {
		return time.Time{}
	}
	at, err := time.Parse("15:04", text)
	if err != nil {
		s.t.Fatal(err)
	}
	return time.Date(2026, time.November, 21, at.Hour(), at.Minute(), 0, 0, time.UTC)
}

func shown(at time.Time) string {
	if at.IsZero() {
		return "-"
	}
	return at.Format("15:04")
}

// summaryOf reads lines: counts like "5 progressing", and sentences like "breach: stopped".
func (s *stage) summaryOf(lines []string) (sum status.Summary) {
	for _, line := range lines {
		if what, sentence, ok := strings.Cut(line, ": "); ok {
			switch what {
			case "incomplete":
				sum.Incomplete, sum.Partial = sentence, true
			case "breach":
				sum.Breach = sentence
			case "paused":
				sum.Paused = sentence
			case "gate":
				sum.Gates = append(sum.Gates, sentence)
			case "waiting":
				sum.Waiting = append(sum.Waiting, sentence)
			default:
				s.t.Fatalf("no sentence %q", what)
			}
			continue
		}
		for part := range strings.SplitSeq(line, ", ") {
			number, what, _ := strings.Cut(part, " ")
			n, err := strconv.Atoi(number)
			field := map[string]*int{
				"toApply": &sum.ToApply, "progressing": &sum.Progressing, "succeeded": &sum.Succeeded, "failed": &sum.Failed,
				"timeOut": &sum.TimeOut, "skip": &sum.Skip, "soaking": &sum.Soaking, "blocked": &sum.Blocked, "removed": &sum.Removed,
				"ignored": &sum.Ignored, "ignoredToApply": &sum.IgnoredToApply,
			}[what]
			if err != nil || field == nil {
				s.t.Fatalf("no count %q", part)
			}
			*field = n
		}
	}
	return sum
}

func lines(input string) []string {
	return slices.DeleteFunc(strings.Split(input, "\n"), func(l string) bool { return l == "" })
}

// summary prints what the condition that is True says.
func (s *stage) summary(c scene.Command) string {
	sum := s.summaryOf(lines(c.Input))
	var conditions []metav1.Condition
	status.SetConditions(&conditions, sum, 1, noon)
	for _, c := range conditions {
		if c.Status == metav1.ConditionTrue {
			return fmt.Sprintf("%s, %d%%, %s\n%s", c.Type, sum.Percent(), c.Reason, c.Message)
		}
	}
	return "no condition is True"
}

// setConditions sets the conditions of the scene's object: "conditions 12:05".
func (s *stage) setConditions(c scene.Command) string {
	if !status.SetConditions(&s.conditions, s.summaryOf(lines(c.Input)), 1, s.clock(c.Args[0])) {
		return "nothing changed"
	}
	return describe(s.conditions)
}

func describe(conditions []metav1.Condition) string {
	var b strings.Builder
	for _, c := range conditions {
		fmt.Fprintf(&b, "%s %s since %s, %s: %s\n", c.Type, c.Status, shown(c.LastTransitionTime.UTC()), c.Reason, c.Message)
	}
	return b.String()
}

// replicaSet prints the conditions of a ManifestWorkReplicaSet; a line "placement a" begins each placement.
func (s *stage) replicaSet(c scene.Command) string {
	var names []string
	of := map[string][]string{}
	for _, line := range lines(c.Input) {
		if name, ok := strings.CutPrefix(line, "placement "); ok {
			names = append(names, name)
			continue
		}
		name := names[len(names)-1]
		of[name] = append(of[name], line)
	}
	var placements []status.PlacementProgress
	for _, name := range names {
		placements = append(placements, status.PlacementProgress{Name: name, Summary: s.summaryOf(of[name])})
	}
	var st workv1alpha1.ManifestWorkReplicaSetStatus
	status.SetReplicaSetStatus(&st, placements, 1, noon)
	return describe(st.Conditions)
}

// addOn prints what an entry of installProgressions says, whose configuration goes from old to new.
func (s *stage) addOn(c scene.Command) string {
	hash := func(h string) *addonv1beta1.ConfigSpecHash { return &addonv1beta1.ConfigSpecHash{SpecHash: h} }
	entry := &addonv1beta1.InstallProgression{ConfigReferences: []addonv1beta1.InstallConfigReference{
		{DesiredConfig: hash("new"), LastAppliedConfig: hash("old"), LastKnownGoodConfig: hash("old")},
	}}
	status.SetInstallProgression(entry, s.summaryOf(lines(c.Input)), 1, noon)
	r := entry.ConfigReferences[0]
	return describe(entry.Conditions) + fmt.Sprintf("last applied %s, last known good %s", r.LastAppliedConfig.SpecHash, r.LastKnownGoodConfig.SpecHash)
}

// words reads "a=b c d=e": what stands alone is true.
func words(args []string) map[string]string {
	values := map[string]string{}
	for _, arg := range args {
		key, value, found := strings.Cut(arg, "=")
		if !found {
			value = "true"
		}
		values[key] = value
	}
	return values
}

// work is an event of the scene's ManifestWork and prints its report.
func (s *stage) work(c scene.Command) string {
	w := &s.object
	w.Namespace = "cluster1"
	version := status.StampOf(w).Version
	switch c.Args[0] {
	case "apply":
		version = c.Args[1]
		attempt := 0
		if len(c.Args) > 3 {
			attempt, _ = strconv.Atoi(c.Args[3])
		}
		status.StampOf(w).NoteOn(w, version, attempt, s.clock(c.Args[2]))
		w.Generation++
	case "want":
		version = c.Args[1]
	case "count":
		s.available = c.Args[1] == "Available"
	case "delete":
		w.DeletionTimestamp = &metav1.Time{Time: noon}
		w.Generation++ // as the API server does
	case "says":
		for _, line := range lines(c.Input) {
			f := strings.Fields(line)
			next := metav1.Condition{Type: f[0], Status: metav1.ConditionStatus(f[1]), Reason: "Said", ObservedGeneration: w.Generation}
			if len(f) > 2 {
				next.ObservedGeneration--
			}
			setAt(&w.Status.Conditions, next, s.clock(c.Args[1]))
		}
	}
	r, ok := status.FromManifestWork(status.WorkState{Work: w, Version: version, AvailableSucceeds: s.available})
	if !ok {
		return "nothing to report"
	}
	text := report(r)
	if r.Reason != "" {
		text += " " + string(r.Reason)
	}
	if r.Message != "" {
		text += fmt.Sprintf(": %q", r.Message)
	}
	return text
}

// setAt sets a condition as an agent does: its time moves with its status only.
func setAt(conditions *[]metav1.Condition, c metav1.Condition, now time.Time) {
	c.LastTransitionTime = metav1.NewTime(now)
	for i, old := range *conditions {
		if old.Type == c.Type {
			if old.Status == c.Status {
				c.LastTransitionTime = old.LastTransitionTime
			}
			(*conditions)[i] = c
			return
		}
	}
	*conditions = append(*conditions, c)
}

func (s *stage) merge(c scene.Command) string {
	var reports []status.Report
	for _, line := range lines(c.Input) {
		name, rest, _ := strings.Cut(line, " ")
		w := words(strings.Fields(rest))
		attempt, _ := strconv.Atoi(w["attempt"])
		reports = append(reports, status.Report{
			Cluster: "cluster1", Status: status.RolloutStatus(name), Applied: s.clock(w["applied"]), LastTransitionTime: s.clock(w["since"]),
			Attempt: attempt,
		})
	}
	return report(status.Merge(reports...))
}

func report(r status.Report) string {
	text := fmt.Sprintf("%s applied=%s since=%s", r.Status, shown(r.Applied), shown(r.LastTransitionTime))
	if r.Attempt > 0 {
		text += fmt.Sprintf(" attempt=%d", r.Attempt)
	}
	return text
}
