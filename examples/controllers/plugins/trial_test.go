// SPDX-License-Identifier: Apache-2.0

package plugins_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"
	workv1 "open-cluster-management.io/api/work/v1"

	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/status"

	"github.com/cohort-ocm/cohort/examples/controllers/plugins"
)

// rogue is a faulty plugin: it hangs, dies, lies, answers twice, and answers for an earlier version.
type rogue struct {
	mu     sync.Mutex // calls are parallel
	random *rand.Rand
	trust  int                        // how many of ten answers are right
	truth  map[string]bool            // the right verdict on a cluster
	said   map[string]map[string]bool // by cluster: the verdicts on this version that may count
	asked  map[string]int             // calls since a yes or a no was stored
	began  map[string]bool
}

func (p *rogue) fails(ctx context.Context) error {
	p.mu.Lock()
	how := p.random.IntN(3)
	p.mu.Unlock()
	switch how {
	case 0: // it hangs
		<-ctx.Done()
		return ctx.Err()
	case 1:
		return errors.New("connection refused")
	default:
		return errors.New("500 Internal Server Error: a stack trace")
	}
}

func (p *rogue) behaves() bool { return p.random.IntN(10) < p.trust }

func (p *rogue) Initialize(ctx context.Context) error { return nil }

func (p *rogue) BeginRollout(ctx context.Context, r *plugins.Request) error {
	if !p.behaves() {
		return p.fails(ctx)
	}
	p.began[r.Cluster] = true
	return nil
}

func (p *rogue) ProgressRollout(ctx context.Context, _ *plugins.Request) error {
	if !p.behaves() {
		return p.fails(ctx)
	}
	return nil
}

func (p *rogue) ValidateRolloutCompletion(ctx context.Context, r *plugins.Request) (plugins.Validation, error) {
	if v, answers := p.answer(r); answers {
		return v, nil
	}
	return plugins.Validation{}, p.fails(ctx)
}

// answer is an answer, unless there is none this time.
func (p *rogue) answer(r *plugins.Request) (plugins.Validation, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.asked[r.Cluster]++
	results := []status.ValidationResult{status.ValidationFailed, status.ValidationSucceeded}
	say := func(is status.ValidationResult) (plugins.Validation, bool) {
		p.said[r.Cluster][string(is)] = true
		return plugins.Validation{Result: is, Message: "it says so", Revision: r.Revision}, true
	}
	if p.behaves() {
		if p.random.IntN(2) == 0 {
			return plugins.Validation{Result: status.ValidationInProgress, Message: "3 of 9"}, true
		}
		is := status.ValidationFailed
		if p.truth[r.Cluster] {
			is = status.ValidationSucceeded
		}
		return say(is)
	}
	switch p.random.IntN(4) {
	case 0: // it lies, and may say the opposite the next time
		return say(results[p.random.IntN(2)])
	case 1: // about an earlier version, or another attempt
		attempt := r.Attempt + 1
		return plugins.Validation{Result: results[p.random.IntN(2)], Revision: []string{"yesterday", r.Revision}[p.random.IntN(2)], Attempt: &attempt}, true
	case 2:
		return plugins.Validation{Result: "YES"}, true
	default:
		return plugins.Validation{}, false
	}
}

func (p *rogue) MutateManifestWork(ctx context.Context, r *plugins.Request, work *workv1.ManifestWork) (*workv1.ManifestWork, error) {
	if p.behaves() {
		metav1.SetMetaDataLabel(&work.ObjectMeta, "traffic", fmt.Sprintf("%d-of-%d", r.Position.Index, r.Position.Of))
		return work, nil
	}
	if p.random.IntN(2) == 0 {
		work.Namespace = "elsewhere"
		return work, nil
	}
	return nil, p.fails(ctx)
}

// trial is a rollout: works, agents, a controller that restarts, and an observer.
type trial struct {
	t        *testing.T
	seed     uint64
	plugin   *rogue
	hooks    *plugins.Hooks
	groups   *grouping.Groups
	strategy clusterv1alpha1.RolloutStrategy
	set      *metav1.ObjectMeta
	works    map[string]*workv1.ManifestWork
	answers  map[string]time.Time // when the agent of each cluster will report success
	done     map[string]bool      // Succeeded in some plan
	refused  map[string]error     // the last error of the work of a starting cluster
	says     map[string]string    // the messages of the last reports
	now      time.Time
	last     *rollout.Result
}

const version, most = "today", 2

func newTrial(t *testing.T, seed uint64) *trial {
	random := rand.New(rand.NewPCG(seed, 231))
	clusters := []string{"a", "b", "c", "d", "e"}
	groups, err := grouping.FromNames(map[grouping.Key][]string{{Name: "canary"}: clusters[:2], {Index: 1}: clusters[2:]})
	if err != nil {
		t.Fatal(err)
	}
	p := &rogue{random: random, trust: random.IntN(11), truth: map[string]bool{}, said: map[string]map[string]bool{}, asked: map[string]int{}, began: map[string]bool{}}
	for _, c := range clusters {
		p.truth[c], p.said[c] = random.IntN(8) > 0, map[string]bool{}
	}
	config := clusterv1alpha1.RolloutConfig{ProgressDeadline: "6m", MinSuccessTime: metav1.Duration{Duration: time.Minute}, MaxFailures: intstr.FromInt(random.IntN(3))}
	return &trial{
		t: t, seed: seed, plugin: p, hooks: hooksOf(p), groups: groups, works: map[string]*workv1.ManifestWork{}, answers: map[string]time.Time{}, done: map[string]bool{}, refused: map[string]error{}, says: map[string]string{},
		set: &metav1.ObjectMeta{Namespace: "apps", Name: "web", Annotations: map[string]string{plugins.AnnotationPlugin: "rogue"}},
		now: time.Date(2026, 1, 2, 10, 0, 0, 0, time.UTC),
		strategy: clusterv1alpha1.RolloutStrategy{Type: clusterv1alpha1.Progressive, Progressive: &clusterv1alpha1.RolloutProgressive{
			RolloutConfig: config, MaxConcurrency: intstr.FromInt(most),
		}},
	}
}

func hooksOf(p plugins.Plugin) *plugins.Hooks {
	return &plugins.Hooks{Registered: map[string]plugins.Plugin{"rogue": p}, Longest: time.Millisecond}
}

func (h *trial) fatalf(format string, args ...any) {
	h.t.Helper()
	h.t.Fatalf("rollout %d at %s: %s", h.seed, h.now.Format(time.TimeOnly), fmt.Sprintf(format, args...))
}

func (h *trial) rollout() plugins.Rollout {
	r := plugins.Rollout{Set: h.set, Placement: "p", Groups: h.groups, Version: version, Now: h.now}
	for _, work := range h.works {
		r.Works = append(r.Works, work)
	}
	return r
}

// minute lets agents answer, and reconciles once.
func (h *trial) minute() {
	for cluster, at := range h.answers {
		if work := h.works[cluster]; !h.now.Before(at) && len(work.Status.Conditions) == 0 {
			for kind, is := range map[string]metav1.ConditionStatus{workv1.WorkApplied: "True", workv1.WorkProgressing: "False", workv1.WorkDegraded: "False"} {
				work.Status.Conditions = append(work.Status.Conditions, metav1.Condition{Type: kind, Status: is, ObservedGeneration: work.Generation, LastTransitionTime: metav1.NewTime(at)})
			}
		}
	}
	if h.plugin.random.IntN(5) == 0 { // the controller restarts; its state is in the works
		h.hooks = hooksOf(h.plugin)
	}
	ctx := context.Background()
	var reports []status.Report
	settled := map[string]bool{}
	for _, work := range h.works {
		r, _ := status.FromManifestWork(status.WorkState{Work: work, Version: version})
		reports = append(reports, r)
		if v, err := status.VerdictOf(work, work.Namespace, h.now); err == nil && v.Result != "" {
			settled[work.Namespace] = true
			h.plugin.asked[work.Namespace] = 0
		}
	}
	lost := h.plugin.random.IntN(6) == 0 // a write is refused
	judged, _, err := h.hooks.Judge(ctx, h.rollout(), reports, nil, func(work *workv1.ManifestWork) error {
		if lost {
			return errors.New("conflict")
		}
		h.works[work.Namespace] = work
		return nil
	})
	for cluster := range settled {
		if h.plugin.asked[cluster] > 0 {
			h.fatalf("%s is asked about once more", cluster)
		}
	}
	if err != nil {
		return // and reconcile again
	}
	result, err := rollout.Plan(h.strategy, h.groups, judged, h.now, rollout.Options{})
	if err != nil {
		h.fatalf("%v", err)
	}
	h.last = result
	clear(h.says)
	for i := range judged {
		h.says[judged[i].Cluster] = judged[i].Message
	}
	h.observe(result, judged)
	_ = h.hooks.Progress(ctx, h.rollout(), result) // an error becomes an event, and nothing waits for it
	for _, c := range result.Start {
		wanted := &workv1.ManifestWork{ObjectMeta: metav1.ObjectMeta{Namespace: c.Name, Name: "web", Generation: 1, Labels: map[string]string{"owner": "web"}}}
		work, err := h.hooks.Prepare(ctx, h.rollout(), result, c, wanted)
		if h.refused[c.Name] = err; err != nil {
			continue
		}
		if !h.plugin.began[c.Name] || work.Namespace != c.Name || work.Labels["owner"] != "web" || work.Labels["traffic"] == "" {
			h.fatalf("%s gets %+v", c.Name, work.ObjectMeta)
		}
		status.StampOf(work).NoteOn(work, version, c.Attempt, h.now)
		work.CreationTimestamp = metav1.NewTime(h.now)
		h.works[c.Name], h.answers[c.Name] = work, h.now.Add(time.Duration(1+h.plugin.random.IntN(3))*time.Minute)
	}
}

// observe reports violations.
func (h *trial) observe(r *rollout.Result, judged []status.Report) {
	if n := len(r.InFlight) + len(r.Start); n > most && len(r.Start) > 0 { // a cluster that timed out and fails late is in flight again
		h.fatalf("%d clusters are in flight or start: %v", n, r)
	}
	positions := map[int]bool{}
	for _, report := range judged {
		said := h.plugin.said[report.Cluster]
		switch {
		case report.Status == status.Succeeded && !said["SUCCEEDED"]:
			h.fatalf("%s counts as Succeeded, without such a verdict on this version: %v", report.Cluster, said)
		case report.Status == status.Failed && !said["FAILED"]:
			h.fatalf("%s counts as Failed, without such a verdict on this version: %v", report.Cluster, said)
		case report.Status != status.Succeeded && h.done[report.Cluster]:
			h.fatalf("%s was found good, and is %s", report.Cluster, report.Status)
		}
		h.done[report.Cluster] = h.done[report.Cluster] || report.Status == status.Succeeded
	}
	for _, work := range h.works {
		var index int
		if _, err := fmt.Sscanf(work.Labels["traffic"], "%d-of-", &index); err != nil || positions[index] {
			h.fatalf("%s is %s, as another cluster is", work.Namespace, work.Labels["traffic"])
		}
		positions[index] = true
	}
	for c := range r.Blocked() {
		if len(r.Explain(c.Name)) == 0 {
			h.fatalf("%s waits, and nothing says why: %v", c.Name, r)
		}
	}
	if s := r.Summary(); s.Aggregate() == status.Progressing && len(r.Start) == 0 && len(s.Waiting) == 0 {
		h.fatalf("it goes on, and nothing says what is waited for: %v", r)
	}
}

// reasons returns what each cluster of an unfinished rollout waits for, and reports those that wait for nothing. A starting
// cluster was refused by the plugin. A cluster in validation has the plugin's last message. One that soaks or has not
// answered has a time. All others wait for these.
func (h *trial) reasons() (why map[string]int) {
	why = map[string]int{}
	front := map[string]bool{}
	for _, c := range h.last.Start {
		front[c.Name] = true
		switch err := h.refused[c.Name]; {
		case h.works[c.Name] != nil:
			why["was written just now"]++
		case err == nil || err.Error() == "":
			h.fatalf("%s starts, is not written, and nothing says why: %v", c.Name, h.last)
		default:
			why["the plugin does not prepare it"]++
		}
	}
	for _, c := range h.last.InFlight {
		front[c.Name] = true
		explained := ""
		for _, b := range h.last.Blockers() {
			if b.Name == c.Name {
				explained = b.String()
			}
		}
		switch said := h.says[c.Name]; {
		case c.Status == status.Validating && said == "":
			h.fatalf("%s is validated, and nothing says how that goes: %v", c.Name, h.last)
		case c.Status == status.Validating:
			why["the plugin does not say yes"]++
		default:
			why["its agent, or its soak"]++
		}
		if explained == "" && h.holds() {
			h.fatalf("%s holds others up, and no blocker tells: %v", c.Name, h.last.Blockers())
		}
	}
	for c := range h.last.Blocked() {
		links := h.last.Explain(c.Name)
		for _, b := range links[len(links)-1].Blockers {
			if !front[b.Name] {
				h.fatalf("%s is told to wait for %s, which neither starts nor is in flight: %v", c.Name, b.Name, links)
			}
		}
		why["waits for others"]++
	}
	return why
}

// holds says whether a cluster is blocked.
func (h *trial) holds() bool {
	for range h.last.Blocked() {
		return true
	}
	return false
}

// 200 rollouts with plugins from reliable to useless: no verdict counts that was not given, no limit is exceeded, there
// is no call after a verdict, and in the end each cluster has a reason.
func TestRolloutsWithRoguePlugins(t *testing.T) {
	const rollouts = 200
	ends, open := map[string]int{}, map[string]int{}
	for seed := range rollouts {
		h := newTrial(t, uint64(seed))
		for range 90 {
			h.minute()
			h.now = h.now.Add(time.Minute)
		}
		s := h.last.Summary()
		if ends[string(s.Aggregate())]++; s.Aggregate() == status.Progressing {
			why := h.reasons()
			if len(why) == 0 {
				h.fatalf("it goes on, and no cluster has a reason: %v", h.last)
			}
			for reason, n := range why {
				open[reason] += n
			}
		}
		if s.InFlight() > 0 && !slices.ContainsFunc(h.last.InFlight, func(c rollout.Cluster) bool {
			return h.now.Sub(status.StampOf(h.works[c.Name]).Applied) < 20*time.Minute
		}) {
			h.fatalf("it hangs: %v", h.last)
		}
		if h.plugin.trust == 10 && s.Done()+s.Failures() < 5 && s.Breach == "" {
			h.fatalf("a plugin that behaves, and the rollout comes to no end: %v", h.last)
		}
	}
	t.Logf("%d rollouts: %v; in those that go on: %v", rollouts, ends, open)
	if ends["Succeeded"] == 0 || ends["Failed"] == 0 {
		t.Errorf("the rollouts all end alike: %v", ends)
	}
}
