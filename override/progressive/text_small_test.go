// SPDX-License-Identifier: Apache-2.0

package progressive_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cohort-ocm/cohort/internal/exhaustive"
	"github.com/cohort-ocm/cohort/override/progressive"
	"github.com/cohort-ocm/cohort/status"
	"github.com/cohort-ocm/cohort/status/policyv1"
)

// textPair is a hub and what the document says about it.
type textPair struct {
	hub    *textHub
	oracle *textOracle
}

func newTextPair(s textStrategy, groups ...string) textPair {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	hub := &textHub{
		strategy: s, now: now, generation: 1, content: "v1", groups: groups, selected: map[string]string{},
		replicas: map[string]*policyv1.Policy{}, statuses: map[string]policyv1.PolicyStatus{},
	}
	oracle := &textOracle{
		textStrategy: s, now: now, generation: 1, content: "v1", groups: groups, approved: map[string]bool{},
		clusters: map[string]textCluster{},
	}
	return textPair{hub, oracle}
}

func (p textPair) copy() textPair { return textPair{p.hub.copy(), p.oracle.copy()} }

// do lets something happen, a minute after what happened before, and lets the controller come to rest. It says how the hub differs
// from the document. It gives false if the step cannot happen.
func (p textPair) do(step string) (bool, error) {
	minutes := time.Minute
	if step == "wait" {
		minutes = textDeadline
	}
	p.hub.now = p.hub.now.Add(minutes)
	p.oracle.now = p.hub.now
	if !p.happens(strings.Fields(step)) {
		return false, nil
	}
	if err := p.hub.settle(); err != nil {
		return true, err
	}
	p.oracle.settle(func(cluster string) bool {
		return p.hub.statuses[cluster].RolloutStatus != string(status.Progressing) && p.hub.waits(cluster)
	})
	if diff := cmp.Diff(p.oracle.view(), p.hub.view()); diff != "" && !p.oracle.disabled {
		return true, fmt.Errorf("the document (-) and the hub (+):\n%s", diff)
	}
	return true, p.alsoDisabled()
}

func (p textPair) alsoDisabled() error {
	if p.oracle.disabled && len(p.hub.replicas) > 0 {
		return fmt.Errorf("the policy is disabled, and there is %v", p.hub.view().Clusters)
	}
	return nil
}

func (h *textHub) waits(cluster string) bool {
	for _, c := range h.rootStatus.Status {
		if c.ClusterName == cluster {
			return c.RolloutStatus == string(status.ToApply)
		}
	}
	return false
}

func (p textPair) happens(step []string) bool {
	hub, oracle := p.hub, p.oracle
	var name string
	if len(step) > 1 {
		name = step[1]
	}
	c := oracle.clusters[name]
	edit := func() {
		hub.generation++
		oracle.generation++
	}
	switch step[0] {
	case "edit":
		if hub.content == name {
			return false
		}
		hub.content, oracle.content = name, name
		edit()
	case "strategy": // another generation with the same templates
		edit()
	case "disable", "enable":
		if hub.disabled == (step[0] == "disable") {
			return false
		}
		hub.disabled = !hub.disabled
		oracle.disabled = hub.disabled
		edit()
	case "select": // joins, or moves to another group
		step[2] = strings.TrimPrefix(step[2], "-")
		if hub.selected[name] == step[2] && c.selected || hub.hidden == name {
			return false
		}
		hub.selected[name] = step[2]
		c.selected, c.group = true, step[2]
		oracle.clusters[name] = c
		oracle.moved(name)
	case "deselect":
		if !c.selected || hub.hidden != "" {
			return false
		}
		delete(hub.selected, name)
		c.selected = false
		oracle.clusters[name] = c
	case "complies", "fails":
		if hub.replicas[name] == nil {
			return false
		}
		hub.report(name, map[string]policyv1.ComplianceState{"complies": policyv1.Compliant, "fails": policyv1.NonCompliant}[step[0]])
		c.answer, c.comply, c.heard = c.content, step[0] == "complies", true
		oracle.clusters[name] = c
	case "naughty":
		if c.naughty || !oracle.ignores {
			return false
		}
		hub.naughty = append(hub.naughty, name)
		c.naughty = true
		oracle.clusters[name] = c
	case "hide":
		if !c.selected || hub.hidden != "" {
			return false
		}
		hub.hidden, oracle.hidden = name, name
		oracle.incomplete()
	case "show":
		if hub.hidden == "" {
			return false
		}
		hub.hidden, oracle.hidden = "", ""
		oracle.complete()
	case "inform": // an edit of the replicated policy by hand
		if hub.replicas[name] == nil || c.inform {
			return false
		}
		replica := *hub.replicas[name]
		replica.Spec.RemediationAction = policyv1.Inform
		hub.replicas[name] = &replica
		c.inform = true
		oracle.clusters[name] = c
	case "wait":
	case "restart":
		hub.previous = nil
		oracle.forget()
	case "crash":
		if _, err := hub.reconcile(len(name)); err != nil {
			panic(err)
		}
		hub.previous = nil
		oracle.forget()
	default:
		return p.rolloutEdited(step, name)
	}
	return true
}

// rolloutEdited is what users do to the Rollout.
func (p textPair) rolloutEdited(step []string, name string) bool {
	hub, oracle := p.hub, p.oracle
	if hub.rollout == nil {
		return false
	}
	if step[0] == "delete" {
		hub.rollout = nil
		clear(oracle.approved)
		oracle.reordered()
		oracle.uid, oracle.last, oracle.retry, oracle.end = 0, "", 0, ""
		return true
	}
	object := hub.rollout.DeepCopy()
	switch step[0] {
	case "approve", "withdraw":
		if name == "-" {
			name = ""
		}
		approved := step[0] == "approve"
		if oracle.approved[name] == approved || oracle.kind != "manualPerGroup" {
			return false
		}
		oracle.approved[name] = approved
		oracle.reordered()
		object.Spec.DecisionGroups = nil
		for _, group := range hub.groups {
			if group == "" {
				object.Spec.Ungrouped.RolloutApproved = oracle.approved[group]
			} else {
				object.Spec.DecisionGroups = append(object.Spec.DecisionGroups, progressive.DecisionGroup{GroupName: group, RolloutApproved: oracle.approved[group]})
			}
		}
	case "retry":
		object.Spec.RetryRollout.RolloutUID = object.Status.RolloutUID
		oracle.retry = oracle.uid
	case "retry-another":
		object.Spec.RetryRollout.RolloutUID = "another"
		oracle.retry = -1
	case "status":
		if hub.hidden != "" { // what the root's status then says is decided by what is seen
			return false
		}
		object.Status.RolloutStatus = status.RolloutStatus(name)
		oracle.end, oracle.got = "", false
		if name == "Succeeded" || name == "Failed" {
			oracle.end = name
		}
	case "uid":
		object.Status.RolloutUID = ""
		oracle.uid = 0
	case "last":
		if hub.hidden != "" {
			return false
		}
		object.Status.LastSuccessful = nil
		oracle.last = ""
	default:
		panic(step[0])
	}
	hub.rollout = object
	return true
}

var textStrategies = []textStrategy{
	{name: "all", kind: "All", deadline: true},
	{name: "one at a time", kind: "Progressive", concurrency: 1, deadline: true},
	{name: "two at a time, one may fail", kind: "Progressive", concurrency: 2, maxFailures: 1, deadline: true},
	{name: "per group", kind: "ProgressivePerGroup", deadline: true},
	{name: "per group, one may fail", kind: "ProgressivePerGroup", maxFailures: 1, deadline: true},
	{name: "per group, g2 first", kind: "ProgressivePerGroup", mandatory: "g2", maxFailures: 1, deadline: true},
	{name: "manual", kind: "manualPerGroup", deadline: true},
	{name: "manual, g1 approved", kind: "manualPerGroup", mandatory: "g1", deadline: true},
	{name: "per group with ignored clusters", kind: "ProgressivePerGroup", ignores: true},
	{name: "per group with ignored clusters and a deadline", kind: "ProgressivePerGroup", ignores: true, deadline: true},
}

// textSteps are what can happen to two clusters in two groups.
var textSteps = strings.Split("edit v1,edit v2,strategy,disable,enable,select a g1,select a g2,select b g2,deselect a,deselect b,complies a,complies b,fails a,"+
	"fails b,naughty a,hide a,show,inform a,wait,restart,crash x,crash xx,approve g1,approve g2,withdraw g1,retry,retry-another,delete,"+
	"status Succeeded,status Failed,status ToApply,uid,last", ",")

// textBegin is how the histories begin: with a first rollout, and after one that succeeded.
func textBegin() map[string][]string {
	first := []string{"select a g1", "select b g2"}
	succeeded := slices.Concat(first, []string{"approve g1", "approve g2", "complies a", "complies b", "complies a", "complies b", "withdraw g1", "withdraw g2"})
	return map[string][]string{"first": first, "second": append(succeeded, "edit v2")}
}

// O31 to O47: whatever happens, in whatever order, what is enforced and what the statuses say is what the document says.
func TestSmallHistoriesAreAsTheDocumentSays(t *testing.T) {
	for i, s := range textStrategies {
		if !exhaustive.On && i%5 != 1 {
			continue
		}
		for begin, steps := range textBegin() {
			t.Run(s.name+", "+begin, func(t *testing.T) {
				p := newTextPair(s, "g1", "g2")
				for i, step := range steps {
					if _, err := p.do(step); err != nil {
						t.Fatalf("%q: %v", steps[:i+1], err)
					}
				}
				t.Logf("%d histories", textSearch(t, p, steps, exhaustive.Of(2, 2, 3)))
			})
		}
	}
}

// textSearch lets everything happen, that many steps after each other, from each state once.
func textSearch(t *testing.T, begin textPair, steps []string, depth int) (histories int) {
	type at struct {
		textPair
		history []string
	}
	front, seen := []at{{begin, steps}}, map[string]bool{}
	for range depth {
		var next []at
		for _, from := range front {
			for _, step := range textSteps {
				to := at{from.copy(), append(slices.Clip(from.history), step)}
				happened, err := to.do(step)
				if err != nil {
					t.Fatalf("%q: %v", to.history, err)
				}
				if !happened {
					continue
				}
				histories++
				if state := fmt.Sprintf("%+v %t", *to.oracle, to.hub.previous == nil); !seen[state] {
					seen[state] = true
					next = append(next, to)
				}
			}
		}
		front = next
	}
	return histories
}
