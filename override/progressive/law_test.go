// SPDX-License-Identifier: Apache-2.0

package progressive_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"
	"pgregory.net/rapid"

	"github.com/cohort-ocm/cohort/internal/exhaustive"
	"github.com/cohort-ocm/cohort/override/progressive"
	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/status"
	"github.com/cohort-ocm/cohort/status/policyv1"
)

// history draws what happens on a hub.
type history struct {
	*stage
	rapid  *rapid.T
	groups map[string][]string // of the first placement
	second []string            // of the second one
	uid    string              // of the rollout for which the bound is known
	opts   rollout.Options
}

var groupNames = []string{"dev", "stage", ""}

func newHistory(r *rapid.T) *history {
	h := &history{stage: &stage{world: newWorld(r)}, rapid: r, groups: map[string][]string{}, opts: rollout.Options{RemoveAfter: metav1.Duration{Duration: time.Minute}}}
	h.ignored = map[string]bool{}
	if rapid.Bool().Draw(r, "five templates") {
		h.names = []string{"t0", "t1", "t2", "t3", "t4"}
		h.edit()
	}
	for i := range 8 {
		name := string(rune('a' + i))
		h.groups[groupNames[i%3]] = append(h.groups[groupNames[i%3]], name)
	}
	h.second = []string{"p", "q"}
	h.bindAll()
	h.draw()
	return h
}

// draw draws another strategy.
func (h *history) draw() {
	typ := rapid.SampledFrom([]string{"All", "Progressive", "ProgressivePerGroup", "ManualPerGroup"}).Draw(h.rapid, "type")
	words := []string{typ}
	if typ == "Progressive" {
		words = append(words, fmt.Sprintf("concurrency=%d", rapid.IntRange(1, 3).Draw(h.rapid, "concurrency")))
	}
	if typ != "ManualPerGroup" && rapid.Bool().Draw(h.rapid, "tolerates") { // approvals change the order, which exposure.Of does not know
		words = append(words, "failures=1")
	}
	if rapid.Bool().Draw(h.rapid, "deadline") {
		words = append(words, "deadline=10m")
	}
	if rapid.Bool().Draw(h.rapid, "ignores") {
		words = append(words, "ignore=naughty")
	}
	h.setStrategy(words)
}

func (h *history) bindAll() {
	var groups []string
	for _, name := range groupNames {
		groups = append(groups, name+": "+strings.Join(h.groups[name], " "))
	}
	h.bind("x", "first", strings.Join(groups, " | "))
	h.bind("b", "second", "prod: "+strings.Join(h.second, " "))
}

func (h *history) clusters() (all []string) {
	for _, name := range groupNames {
		all = append(all, h.groups[name]...)
	}
	return append(all, h.second...)
}

// act lets one thing happen.
func (h *history) act() string {
	one := func(names []string) string {
		return rapid.SampledFrom(append(slices.Clone(names), "none")).Draw(h.rapid, "name")
	}
	switch what := rapid.IntRange(0, 15).Draw(h.rapid, "what"); what {
	case 0:
		h.edit()
		return "edit"
	case 1:
		h.draw()
		return "strategy"
	case 2, 3, 4, 5:
		name, says := one(h.clusters()), rapid.SampledFrom([]policyv1.ComplianceState{policyv1.Compliant, policyv1.Compliant, policyv1.NonCompliant, policyv1.Pending}).Draw(h.rapid, "says")
		templates := h.names[:rapid.IntRange(1, len(h.names)).Draw(h.rapid, "templates")]
		if h.complies(name) { // exposure.Of assumes that it keeps doing so
			says = policyv1.Compliant
		}
		h.report(name, says, templates...)
		return fmt.Sprint(name, " ", says, templates)
	case 6:
		for _, name := range h.clusters() {
			h.report(name, policyv1.Compliant)
		}
		return "all comply"
	case 7:
		d := rapid.SampledFrom([]time.Duration{time.Second, 5 * time.Minute, 10 * time.Minute}).Draw(h.rapid, "wait")
		h.now = h.now.Add(d)
		return d.String()
	case 8:
		if h.object != nil {
			h.user().Spec.RetryRollout.RolloutUID = h.object.Status.RolloutUID
		}
		return "retry"
	case 9:
		if rapid.IntRange(0, 3).Draw(h.rapid, "loses") == 0 {
			h.object = nil
		}
		return "perhaps lose the Rollout"
	case 10:
		name := rapid.SampledFrom([]string{"dev", "stage", "prod", "ungrouped"}).Draw(h.rapid, "group")
		h.approve([]string{name}, rapid.Bool().Draw(h.rapid, "approved"))
		return "approve " + name
	case 11:
		group := rapid.SampledFrom(groupNames).Draw(h.rapid, "group")
		name := fmt.Sprintf("n%d", h.events)
		h.events++
		h.groups[group] = append(h.groups[group], name)
		h.bindAll()
		return name + " joins " + group
	case 12:
		group := rapid.SampledFrom(groupNames).Draw(h.rapid, "group")
		if len(h.groups[group]) > 1 {
			h.groups[group] = h.groups[group][1:]
		}
		h.bindAll()
		return "one is deselected in " + group
	case 13:
		placement := rapid.SampledFrom([]string{"first", "second"}).Draw(h.rapid, "placement")
		h.partial[placement] = !h.partial[placement]
		return "lose or regain " + placement
	case 14:
		return h.slip()
	default:
		name := one(h.clusters())
		if r := h.replicas[name]; r != nil && !h.complies(name) { // likewise
			copied := *r.policy
			copied.Spec.RemediationAction = policyv1.Inform
			r.policy = &copied
		}
		return "change " + name
	}
}

// first lets a first version succeed in some histories, so that clusters that wait have something to lose.
func (h *history) first() string {
	if rapid.IntRange(0, 2).Draw(h.rapid, "the first version") > 0 {
		return "the first version"
	}
	h.approve([]string{"dev", "stage", "prod", "ungrouped"}, true)
	for range 20 {
		if h.sync(h.opts); h.object.Status.RolloutStatus == status.Succeeded {
			break
		}
		for _, name := range h.clusters() {
			h.report(name, policyv1.Compliant)
		}
	}
	if h.object.Status.RolloutStatus != status.Succeeded {
		h.t.Fatalf("the first version has not succeeded: %v", h)
	}
	h.edit()
	return "a first version"
}

// slip takes some groups out of a placement for some calls, as an edit that is taken back does.
func (h *history) slip() string {
	groups, second, slipped := maps.Clone(h.groups), h.second, "slip of"
	waiting := rapid.Bool().Draw(h.rapid, "those that wait") // what is left is done
	if waiting {
		for _, name := range h.clusters() {
			h.report(name, policyv1.Compliant)
		}
	}
	slips := func(clusters []string) bool {
		if waiting {
			return slices.ContainsFunc(clusters, func(name string) bool { return h.has(name) != fmt.Sprintf("v%d", h.content) })
		}
		return rapid.Bool().Draw(h.rapid, "slips")
	}
	for _, name := range groupNames {
		if slips(h.groups[name]) {
			h.groups[name] = nil
			slipped += " " + cmp.Or(name, "ungrouped")
		}
	}
	if slips(h.second) {
		h.second = nil
		slipped += " second"
	}
	h.bindAll()
	for range rapid.IntRange(1, 3).Draw(h.rapid, "calls") {
		h.step(h.opts)
	}
	h.groups, h.second = groups, second
	h.bindAll()
	return slipped
}

// label draws which clusters are ignored.
func (h *history) label() {
	for _, name := range h.clusters() {
		if rapid.IntRange(0, 4).Draw(h.rapid, "naughty") == 0 {
			h.labels[name] = map[string]string{"naughty-or-nice": "naughty"}
		}
	}
}

// limit knows what exposure.Of says of this rollout, over all groups that there were.
func (h *history) limit() {
	s := h.state()
	if h.object == nil || h.object.Status.RolloutUID != h.uid || h.exposed < 0 {
		h.exposed = 0
		if h.object != nil {
			h.uid = h.object.Status.RolloutUID
		}
	}
	var opts rollout.Options
	clear(h.ignored)
	strategy := s.Policy.Object["spec"].(map[string]any)["rolloutStrategy"].(map[string]any)
	for name := range h.labels {
		if text := fmt.Sprint(strategy); strings.Contains(text, "progressDeadline") && strings.Contains(text, "naughty") {
			opts.FailedBefore = append(opts.FailedBefore, name)
		} else if strings.Contains(text, "naughty") {
			opts.Ignored = append(opts.Ignored, name)
			h.ignored[name] = true
		}
	}
	if h.bound(opts); s.Resolution.Strategy().Type == clusterv1alpha1.All {
		h.exposed = len(h.names) << 20 // it bounds nothing, since deselected clusters come on top
	}
}

// O34, O36, O38, O39, O50: whatever happens, with a controller that may die between two writes: no more clusters have the new version than
// exposure.Of says, no bound cluster loses its replicated policy or its enforcement, and a cluster gets only the wanted version or the
// last successful one.
func TestHistories(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		h := newHistory(r)
		h.label()
		path := []string{h.first()}
		h.fail(r, &path, func() {
			h.limit()
			h.calls(r)
		})
		for range rapid.IntRange(1, exhaustive.Of(12, 25)).Draw(r, "steps") {
			path = append(path, h.act())
			h.fail(r, &path, func() {
				h.limit()
				h.calls(r)
			})
		}
	})
}

// fail prints the path where a check fails.
func (h *history) fail(r *rapid.T, path *[]string, do func()) {
	h.t = failing{r, path}
	do()
}

type failing struct {
	failer
	path *[]string
}

func (f failing) Fatalf(format string, args ...any) {
	f.failer.Fatalf("after %s: %s", strings.Join(*f.path, ", "), fmt.Sprintf(format, args...))
}

func (f failing) Fatal(args ...any) { f.Fatalf("%s", fmt.Sprint(args...)) }

// calls makes some calls, some of them interrupted, or all until nothing is asked for.
func (h *history) calls(r *rapid.T) {
	rest := rapid.Bool().Draw(r, "to rest")
	for range 30 {
		before := make(map[string]string, len(h.replicas))
		for name := range h.replicas {
			before[name] = h.has(name)
		}
		object, last := h.object, h.last
		p := h.call(h.opts)
		h.sameInAnyOrder(p, last)
		if !rest && rapid.Bool().Draw(r, "dies") {
			h.partly(r, p)
			h.last = new(progressive.Propagation) // the process forgets
		} else if h.last = last; !h.step(h.opts) {
			break
		}
		h.keptRight(before, object, p)
		if !rest && rapid.Bool().Draw(r, "enough") {
			break
		}
		h.limit()
	}
}

// partly carries out some of what is asked for: the Rollout alone, or some of the writes.
func (h *history) partly(r *rapid.T, p *progressive.Propagation) {
	object := new(progressive.Rollout)
	if h.object != nil {
		object = h.object.DeepCopy()
	}
	if changed, err := p.Store(object); err != nil {
		h.t.Fatal(err)
	} else if changed {
		if rapid.Bool().Draw(r, "stored") {
			h.object = object
		}
		return
	}
	for _, c := range p.Clusters {
		if rapid.Bool().Draw(r, "written") {
			h.write(p, c)
		}
	}
	h.bounded()
}

// keptRight checks what writes may do.
func (h *history) keptRight(before map[string]string, object *progressive.Rollout, p *progressive.Propagation) {
	wanted, last := fmt.Sprintf("v%d", h.content), ""
	if policy := p.LastSuccessful(); policy != nil {
		text, _ := json.Marshal(policy.Object)
		_, last, _ = strings.Cut(string(text), `"content":`)
		last, _, _ = strings.Cut(last, "}")
		last = "v" + last
	}
	if object != h.object && !maps.Equal(before, h.contents()) {
		h.t.Fatalf("the Rollout was stored, and something else was written")
	}
	for _, name := range h.clusters() {
		had, has := before[name], h.has(name)
		if had != "" && has == "" {
			h.t.Fatalf("%s had %s and has nothing", name, had)
		}
		if had != has && has != wanted && has != last {
			h.t.Fatalf("%s had %s and has %s; wanted is %s, the last successful version %s", name, had, has, wanted, last)
		}
	}
	for _, c := range p.Clusters {
		if c.Source != progressive.SourceKept && c.Action != policyv1.Enforce {
			h.t.Fatalf("%s is written with %s", c.Name, c.Action)
		}
	}
}

func (h *history) contents() map[string]string {
	all := make(map[string]string, len(h.replicas))
	for name := range h.replicas {
		all[name] = h.has(name)
	}
	return all
}

// sameInAnyOrder checks that the order of the input decides nothing, and that a call changes nothing of its input.
func (h *history) sameInAnyOrder(p, last *progressive.Propagation) {
	s := h.state()
	s.NewUID = fmt.Sprintf("uid%d", h.uids-1)
	random := rand.New(rand.NewPCG(uint64(h.uids), 1))
	random.Shuffle(len(s.Replicas), func(i, j int) { s.Replicas[i], s.Replicas[j] = s.Replicas[j], s.Replicas[i] })
	random.Shuffle(len(s.Clusters), func(i, j int) { s.Clusters[i], s.Clusters[j] = s.Clusters[j], s.Clusters[i] })
	opts := h.opts
	opts.Previous = last.Plan
	text := func() string {
		text, err := json.Marshal([]any{s.Policy, s.Rollout, s.Clusters})
		if err != nil {
			h.t.Fatal(err)
		}
		return string(text)
	}
	before := text()
	again, err := progressive.Propagate(s, h.now, opts)
	if err != nil {
		h.t.Fatal(err)
	}
	if text() != before {
		h.t.Fatalf("the input was changed")
	}
	if again.String() != p.String() || again.Status() != p.Status() || again.RecheckAfter != p.RecheckAfter {
		h.t.Fatalf("%v\nin another order %v", p, again)
	}
}

// O37: a recheck comes where time alone changes something, and not before.
func TestRecheck(t *testing.T) {
	w := newWorld(t)
	(&stage{world: w}).setStrategy([]string{"ProgressivePerGroup", "deadline=10m"})
	w.bind("b", "p", "dev: a | prod: b")
	w.sync(rollout.Options{})
	if w.last.RecheckAfter != 10*time.Minute {
		t.Fatalf("recheck after %v", w.last.RecheckAfter)
	}
	w.now = w.now.Add(10*time.Minute - 1)
	if p := w.call(rollout.Options{}); p.Status() != status.Progressing || p.RecheckAfter != 1 {
		t.Errorf("%s, recheck after %v", p.Status(), p.RecheckAfter)
	}
	w.now = w.now.Add(1)
	if p := w.call(rollout.Options{}); p.Status() != status.Failed {
		t.Errorf("%s", p.Status())
	}
}

// O37: an old message counts later, and the recheck comes when the first of them does.
func TestAMessageThatCountsLateIsRechecked(t *testing.T) {
	w := newWorld(t)
	w.bind("b", "p", "dev: a b c")
	late := func(cluster string) {
		behind := *w
		behind.now = w.now.Add(-time.Minute) // the clock of the cluster is behind
		behind.report(cluster, policyv1.Compliant)
		w.events = behind.events
	}
	w.sync(rollout.Options{})
	late("b")
	w.sync(rollout.Options{})
	w.now = w.now.Add(time.Minute)
	w.bind("b", "p", "dev: a b c d")
	w.sync(rollout.Options{})
	late("d") // counts a minute after that of b
	late("a") // counts as that of b
	w.report("c", policyv1.Compliant)
	for _, want := range []time.Duration{4 * time.Minute, time.Minute, 0} {
		if w.sync(rollout.Options{}); w.last.RecheckAfter != want {
			t.Fatalf("recheck after %v, want %v\n%v", w.last.RecheckAfter, want, w)
		}
		w.now = w.now.Add(want)
	}
	if w.status.RolloutStatus != "Succeeded" {
		t.Errorf("%v", w)
	}
}
