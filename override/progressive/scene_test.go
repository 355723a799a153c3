// SPDX-License-Identifier: Apache-2.0

package progressive_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/cohort-ocm/cohort/internal/scene"
	"github.com/cohort-ocm/cohort/override/progressive"
	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/status/policyv1"
)

// O31 to O50: the scenes. Their commands are in testdata/scenes/README.md.
func TestScenes(t *testing.T) {
	scene.Run(t, "testdata/scenes/*.txt", func(t *testing.T) func(scene.Command) string {
		s := &stage{world: newWorld(t)}
		return s.do
	})
}

// stage is the world of a scene.
type stage struct {
	*world
	options rollout.Options
}

func (s *stage) do(c scene.Command) string {
	switch c.Name {
	case "policy":
		s.setStrategy(c.Args)
	case "templates":
		s.names, s.content = c.Args, s.content-1
		s.edit()
	case "bind":
		for line := range strings.Lines(c.Input) {
			placement, groups, _ := strings.Cut(line, ":")
			binding := placement
			if b, p, both := strings.Cut(placement, "="); both {
				binding, placement = b, p
			}
			s.bind(binding, placement, groups)
		}
	case "edit":
		s.edit()
	case "disable", "enable":
		s.set(c.Name == "disable", "spec", "disabled")
	case "lose", "regain":
		s.partial[c.Args[0]] = c.Name == "lose"
	case "action":
		s.set(strings.TrimPrefix(c.Args[0], "unset"), "spec", "remediationAction")
	case "fail-at-once":
		s.root.SetAnnotations(map[string]string{"cohort.open-cluster-management.io/fail-at-once": "true"})
	case "version":
		s.root.SetAnnotations(map[string]string{"policy.open-cluster-management.io/version": c.Args[0]})
	case "approve", "revoke":
		s.approve(c.Args, c.Name == "approve")
	case "approve-for":
		s.user().Spec.ApprovalsForVersion = c.Args[0]
	case "retry":
		uid := s.object.Status.RolloutUID
		if len(c.Args) > 0 {
			uid = c.Args[0]
		}
		s.user().Spec.RetryRollout.RolloutUID = uid
	case "lose-rollout":
		s.object = nil
	case "label":
		for _, name := range c.Args[1:] {
			key, value, _ := strings.Cut(c.Args[0], "=")
			s.labels[name] = map[string]string{key: value}
		}
	case "change":
		for _, name := range c.Args {
			r := s.replicas[name]
			r.policy.Spec.RemediationAction = policyv1.Inform
		}
	case "report":
		for line := range strings.Lines(c.Input) {
			words := strings.Fields(line)
			s.report(words[0], policyv1.ComplianceState(words[1]), words[2:]...)
		}
	case "wait":
		d, err := time.ParseDuration(c.Args[0])
		if err != nil {
			s.t.Fatal(err)
		}
		s.now = s.now.Add(d)
	case "sync":
		s.sync(s.options)
		return s.String()
	case "explain":
		var out []string
		for _, name := range c.Args {
			out = append(out, fmt.Sprintf("%s: %v", name, s.last.Explain(name)))
		}
		return strings.Join(out, "\n")
	case "rollout":
		st := s.object.Status
		var groups []string
		for _, group := range st.DecisionGroups {
			groups = append(groups, group.GroupName)
		}
		return fmt.Sprintf("%s/%s %s: %s, generation %d, groups %s", s.object.Namespace, s.object.Name, st.RolloutUID,
			st.RolloutStatus, st.CurrentRolloutGeneration, strings.Join(groups, " "))
	default:
		s.t.Fatalf("%s:%d: no command %s", c.File, c.Line, c.Name)
	}
	return ""
}

// user gives the Rollout for a user to change.
func (s *stage) user() *progressive.Rollout {
	if s.object == nil { // a user may write it before the controller does
		s.object = new(progressive.Rollout)
		s.object.Name, s.object.Namespace = "policy-sample-policy", "policies"
	}
	s.object = s.object.DeepCopy()
	return s.object
}

func (s *stage) approve(names []string, approved bool) {
	spec := &s.user().Spec
	for _, name := range names {
		if name == "ungrouped" {
			spec.Ungrouped.RolloutApproved = approved
			continue
		}
		found := false
		for i := range spec.DecisionGroups {
			if spec.DecisionGroups[i].GroupName == name {
				spec.DecisionGroups[i].RolloutApproved, found = approved, true
			}
		}
		if !found {
			spec.DecisionGroups = append(spec.DecisionGroups, progressive.DecisionGroup{GroupName: name, RolloutApproved: approved})
		}
	}
}

func (s *stage) setStrategy(words []string) {
	typ, limits := words[0], map[string]any{}
	strategy := map[string]any{"type": typ}
	for _, word := range words[1:] {
		name, value, _ := strings.Cut(word, "=")
		switch name {
		case "deadline":
			limits["progressDeadline"] = value
		case "soak":
			limits["minSuccessTime"] = value
		case "failures":
			limits["maxFailures"] = value
		case "concurrency":
			limits["maxConcurrency"] = value
		case "mandatory":
			limits["mandatoryDecisionGroups"] = []any{map[string]any{"groupName": value}}
		case "ignore":
			strategy["ignoreClusterRolloutStatus"] = map[string]any{"matchLabels": map[string]any{"naughty-or-nice": value}}
		default:
			s.t.Fatalf("no limit %s", name)
		}
	}
	for _, name := range []string{"maxFailures", "maxConcurrency"} {
		var n int64
		if text, is := limits[name].(string); is && !strings.HasSuffix(text, "%") {
			fmt.Sscan(text, &n)
			limits[name] = n
		}
	}
	strategy[strings.ToLower(typ[:1])+typ[1:]] = limits
	s.set(strategy, "spec", "rolloutStrategy")
}
