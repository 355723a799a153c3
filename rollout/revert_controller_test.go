// SPDX-License-Identifier: Apache-2.0

package rollout_test

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	"github.com/cohort-ocm/cohort/internal/scene"
	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/rollout/rollback"
	"github.com/cohort-ocm/cohort/status"
)

// The stories, whose commands stand in testdata/histories/README.md.
type story struct {
	*stage
	works      map[string]*work
	template   string
	asked      bool
	revisions  rollback.Revisions
	conditions []metav1.Condition
}

// work is the object of a cluster.
type work struct {
	version string
	applied time.Time
	is      status.RolloutStatus
	since   time.Time
}

// R43 to R45, S10, S11, told.
func TestControllerHistories(t *testing.T) {
	scene.Run(t, "testdata/histories/*.txt", func(t *testing.T) func(scene.Command) string {
		s := &story{}
		return func(c scene.Command) string {
			text, err := s.do(c)
			if err != nil {
				return "error: " + err.Error()
			}
			return text
		}
	})
}

func (s *story) do(c scene.Command) (string, error) {
	if c.Name == "hub" {
		*s = story{stage: newStage(), works: map[string]*work{}, template: "v1"}
	}
	for line := range strings.Lines(c.Input) {
		if err := s.happen(strings.TrimSpace(line)); err != nil {
			return "", err
		}
	}
	switch c.Name {
	case "hub":
		s.revisions = rollback.Revisions{CurrentRevision: "v1", UpdateRevision: "v1"}
		for _, d := range s.decisions["p"] {
			for _, of := range d.Status.Decisions {
				long := s.now.Add(-24 * time.Hour)
				s.works[of.ClusterName] = &work{"v1", long, status.Succeeded, long}
			}
		}
		return fmt.Sprintf("%d clusters have v1", len(s.works)), nil
	case "reconcile":
		crash := -1
		if len(c.Args) > 1 {
			crash, _ = strconv.Atoi(c.Args[1])
		}
		return s.reconcile(crash)
	}
	return "", fmt.Errorf("no such command as %s", c.Name)
}

func (s *story) happen(line string) error {
	words := append(strings.Fields(line), "", "")
	switch {
	case words[0] == "template":
		s.template = words[1]
	case words[0] == "abort":
		s.asked = true
	case words[1] == "succeeds":
		s.works[words[0]].is, s.works[words[0]].since = status.Succeeded, s.now
	case words[1] == "fails":
		s.works[words[0]].is, s.works[words[0]].since = status.Failed, s.now
	case words[1] == "joins" || words[1] == "leaves":
		for _, d := range s.decisions["p"] {
			of := &d.Status.Decisions
			*of = slices.DeleteFunc(*of, func(c clusterv1beta1.ClusterDecision) bool { return c.ClusterName == words[0] })
			if d.Labels[clusterv1beta1.DecisionGroupNameLabel] == words[2] && words[1] == "joins" {
				*of = append(*of, clusterv1beta1.ClusterDecision{ClusterName: words[0]})
			}
		}
	default:
		return s.change(line)
	}
	return nil
}

// reports are those about a version.
func (s *story) reports(version string) (reports []status.Report) {
	for cluster, w := range s.works {
		r := status.Report{Cluster: cluster, Status: status.ToApply}
		if w.version == version {
			r = status.Report{Cluster: cluster, Status: w.is, LastTransitionTime: w.since, Applied: w.applied}
		}
		reports = append(reports, r)
	}
	return reports
}

// reconcile is one pass of a controller whose failureStrategy is AbortAll.
func (s *story) reconcile(crash int) (string, error) {
	var lines []string
	say := func(format string, args ...any) { lines = append(lines, fmt.Sprintf(format, args...)) }
	groups, err := s.groups()
	if err != nil {
		return "", err
	}
	s.revisions.Want(s.template)
	plan := func(version string) *rollout.Result {
		result, e := rollout.Plan(s.strategy, groups, s.reports(version), s.now, s.opts())
		err = errors.Join(err, e)
		return result
	}
	aborted := s.revisions.AbortedTime != nil
	var result *rollout.Result
	if !aborted {
		result = plan(s.template)
		if err == nil && (s.asked || result.Breach != nil) && s.revisions.Abort(s.now) {
			s.asked = false
			say("%v", result)
			say("store abortedTime %s", s.revisions.AbortedTime.UTC().Format("15:04"))
			return strings.Join(lines, "\n"), nil
		}
	} else {
		abort := rollout.Abort{Time: s.revisions.AbortedTime.Time, Failed: s.reports(s.revisions.UpdateRevision), Before: s.reports(s.revisions.CurrentRevision)}
		result, err = rollout.Revert(s.strategy, groups, abort, s.now, s.opts())
	}
	if err != nil {
		return "", err
	}
	summary := result.Summary()
	if aborted && len(result.Start)+len(result.BlockCounts()) == 0 {
		if joined := plan(s.revisions.Target()); len(joined.Start) > 0 {
			result = joined
		}
	}
	say("%s", describe(result))
	for _, c := range result.Removed {
		say("delete %s", c)
		delete(s.works, c)
	}
	for i, c := range result.Start {
		if i == crash {
			say("crash")
			return strings.Join(lines, "\n"), nil
		}
		say("write %s %s", c.Name, s.revisions.Target())
		s.works[c.Name] = &work{s.revisions.Target(), s.now, status.ToApply, time.Time{}}
	}
	s.revisions.Complete(summary)
	if rollback.SetConditions(&s.conditions, s.revisions, summary, 1, s.now) {
		var types []string
		for _, c := range s.conditions {
			if c.Status == metav1.ConditionTrue {
				types = append(types, c.Type)
			}
		}
		say("%s: %s, %s", strings.Join(append(types, "current "+s.revisions.CurrentRevision), ", "), s.conditions[0].Reason, s.conditions[0].Message)
	}
	have := map[string][]string{}
	for _, cluster := range slices.Sorted(maps.Keys(s.works)) {
		have[s.works[cluster].version] = append(have[s.works[cluster].version], cluster)
	}
	for _, version := range slices.Sorted(maps.Keys(have)) {
		say("%s: %s", version, strings.Join(have[version], " "))
	}
	return strings.Join(lines, "\n"), nil
}
