// SPDX-License-Identifier: Apache-2.0

package passes_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/intstr"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"

	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/internal/scene"
	"github.com/cohort-ocm/cohort/override/passes"
	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/status"
	"github.com/cohort-ocm/cohort/status/policyv1"
)

// O8, O9, O10, O11, O14, O15, O22: the scenes. Their commands are in testdata/scenes/README.md. Where they have no overrides and no
// options, each call is checked against the naive rules, too.
func TestScenes(t *testing.T) {
	scene.Run(t, "testdata/scenes/*.txt", func(t *testing.T) func(scene.Command) string {
		s := &stage{world: newWorld(t, policyv1.Enforce, naiveLimits{typ: clusterv1alpha1.All})}
		return s.do
	})
}

// stage is the world of a scene.
type stage struct{ *world }

func (s *stage) do(c scene.Command) string {
	switch c.Name {
	case "policy":
		s.setPolicy(c.Args)
	case "bind":
		s.bindings = nil
		clear(s.groups)
		for line := range strings.Lines(c.Input) {
			s.addBinding(line)
		}
	case "disable", "enable":
		s.policy.Spec.Disabled = c.Name == "disable"
	case "edit":
		s.version++
	case "lose", "regain":
		for _, name := range c.Args {
			s.lost[name] = true
			if c.Name == "regain" {
				delete(s.lost, name)
			}
		}
	case "replica":
		for line := range strings.Lines(c.Input) {
			s.setReplica(strings.Fields(line))
		}
	case "report":
		for line := range strings.Lines(c.Input) {
			s.report(strings.Fields(line))
		}
	case "validates":
		s.validates = true
	case "verdict":
		for line := range strings.Lines(c.Input) {
			words := strings.Fields(line)
			result := map[string]status.ValidationResult{"yes": status.ValidationSucceeded, "no": status.ValidationFailed, "pending": status.ValidationInProgress}[words[1]]
			s.judge(words[0], status.Verdict{Version: words[2], Result: result, Message: strings.Join(words[3:], " "), Time: s.now})
		}
	case "wait":
		s.now = s.now.Add(duration(c.Args[0]))
	case "ask":
		return s.show(s.call(s.options(c.Args)))
	case "pass":
		p := s.call(s.options(c.Args))
		s.write(p)
		return s.show(p)
	case "explain":
		var out []string
		for _, name := range c.Args {
			out = append(out, fmt.Sprintf("%s: %s", name, strings.ReplaceAll(s.last.Explain(name).String(), "\n", "\n   ")))
		}
		return strings.Join(out, "\n")
	case "blockers":
		var out []string
		for _, b := range s.last.Blockers() {
			out = append(out, fmt.Sprintf("%d wait for %v", b.Waiting, b))
		}
		return strings.Join(out, "\n")
	case "changes":
		return s.last.Changes(s.previous).String()
	case "restart":
		s.restart()
	case "ignore":
		for _, name := range c.Args {
			s.ignored[name] = true
		}
	case "settle":
		s.settle()
		return strings.ReplaceAll(strings.ReplaceAll(s.wave(), ", ", "\n"), ": ", "\nroot: ")
	default:
		s.t.Fatalf("%s:%d: no command %s", c.File, c.Line, c.Name)
	}
	return ""
}

func duration(text string) time.Duration {
	d, err := time.ParseDuration(text)
	if err != nil {
		panic(err)
	}
	return d
}

func (s *stage) setPolicy(words []string) {
	action := policyv1.RemediationAction(strings.TrimPrefix(words[0], "unset"))
	limits := naiveLimits{typ: clusterv1alpha1.RolloutType(words[1])}
	for _, word := range words[2:] {
		name, value, _ := strings.Cut(word, "=")
		switch name {
		case "concurrency":
			limits.maxConcurrency, _ = strconv.Atoi(value)
		case "failures":
			limits.maxFailures, _ = strconv.Atoi(value)
		case "mandatory":
			limits.mandatory = value
		case "deadline":
			limits.deadline = duration(value)
		case "soak":
			limits.soak = duration(value)
		case "failAtOnce":
			limits.failAtOnce = true
		default:
			s.t.Fatalf("no limit %s", name)
		}
	}
	s.limits, s.policy = limits, policy(action, limits)
}

func (s *stage) addBinding(line string) {
	head, groups, _ := strings.Cut(line, ":")
	words := strings.Fields(head)
	if !strings.Contains(groups, ":") {
		groups = ":" + groups
	}
	s.bind(words[0], groups)
	b := &s.bindings[len(s.bindings)-1]
	for i, word := range words {
		switch word {
		case "enforce":
			b.Enforce, s.unchecked = true, true
		case "restricted":
			b.SubFilter, s.unchecked = true, true
		case "excluding":
			b.Excluded = strings.Split(words[i+1], ",")
		case "by":
			b.PlacementRef.Kind, b.PlacementRef.APIGroup = words[i+1], "apps.open-cluster-management.io"
		}
	}
}

func (s *stage) setReplica(words []string) {
	r := &passes.Replica{Cluster: words[0], Generation: 1, LastEvaluatedGeneration: 1}
	for _, word := range words[1:] {
		name, value, _ := strings.Cut(word, "=")
		switch name {
		case "inform", "enforce", "Enforce":
			r.Action = policyv1.RemediationAction(word)
		case "Compliant", "NonCompliant", "Pending":
			r.Compliance = policyv1.ComplianceState(word)
		case "written":
			r.Applied = s.now.Add(-duration(value))
		case "reported":
			r.ComplianceTime = s.now.Add(-duration(value))
		case "stale":
			r.Generation++
		case "unset":
		case "v1", "v2", "v3":
			r.Version = word
		default:
			r.RolloutStatus = status.RolloutStatus(word)
		}
	}
	s.replicas[r.Cluster], s.owedOf = r, ""
}

func (s *stage) report(words []string) {
	r := s.replicas[words[0]]
	if compliance := policyv1.ComplianceState(words[1]); r.Compliance != compliance {
		r.Compliance, r.ComplianceTime = compliance, s.now
	}
	r.LastEvaluatedGeneration = r.Generation
}

func (s *stage) options(words []string) (opts rollout.Options) {
	for _, word := range words {
		s.unchecked = true
		name, value, _ := strings.Cut(word, "=")
		switch name {
		case "paused":
			opts.Paused = true
		case "closed":
			opts.Gates = append(opts.Gates, rollout.ClosedGate{Group: grouping.Key{Name: value}, Gate: rollout.Gate{Name: "approval"}})
		case "maxRemoved":
			opts.MaxRemoved = ptr(intstr.Parse(value))
		default:
			s.t.Fatalf("no option %s", word)
		}
	}
	return opts
}

// show is what a Propagation asks for and says, and what the root's status becomes.
func (s *stage) show(p *passes.Propagation) string {
	var out []string
	say := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	if text := p.String(); text != "" {
		say("%s", strings.ReplaceAll(text, "; ", "\n"))
	}
	if len(p.Start) > 0 {
		say("start %s", strings.Join(p.Start, " "))
	}
	if len(p.TimedOut) > 0 {
		say("timed out %s", strings.Join(p.TimedOut, " "))
	}
	for cluster, reason := range p.Blocked() {
		say("%s is blocked: %s", cluster.Name, reason)
	}
	if p.Breach != nil {
		say("breach: %v", p.Breach)
	}
	for _, warning := range p.Warnings {
		say("warning: %s", warning)
	}
	if p.RecheckAfter > 0 {
		say("recheck after %v", p.RecheckAfter)
	}
	for _, left := range p.Record.Deselected {
		say("record: %s %s in %v", left.Cluster, left.Status, left.Group)
	}
	unchanged := ""
	if !s.rootChanges {
		unchanged = " (unchanged)"
	}
	say("root: %s%s", strings.TrimSpace(fmt.Sprint(s.rootAfter.RolloutStatus, " ", s.rootAfter.ComplianceState)), unchanged)
	for _, row := range s.rootAfter.Status {
		if _, bound := p.Find(row.ClusterName); !bound {
			say("root: %s stays %s", row.ClusterName, strings.TrimSpace(fmt.Sprint(row.RolloutStatus, " ", row.ComplianceState)))
		}
	}
	return strings.Join(out, "\n")
}
