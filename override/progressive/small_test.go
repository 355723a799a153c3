// SPDX-License-Identifier: Apache-2.0

package progressive_test

import (
	"fmt"
	"maps"
	"regexp"
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
	"github.com/cohort-ocm/cohort/status/policyv1"
)

// both is a world together with the naive hub of the rules.
type both struct {
	world *world
	naive *naive
	path  string
}

// setting is a kind of small worlds.
type setting struct {
	name     string
	strategy string // as in a scene
	naive    clusterv1alpha1.RolloutStrategy
	manual   bool
	deadline time.Duration
	ignored  []string
}

func settings() []setting {
	perGroup := func(failures int, deadline string) clusterv1alpha1.RolloutStrategy {
		s := clusterv1alpha1.RolloutStrategy{Type: clusterv1alpha1.ProgressivePerGroup, ProgressivePerGroup: new(clusterv1alpha1.RolloutProgressivePerGroup)}
		s.ProgressivePerGroup.MaxFailures, s.ProgressivePerGroup.ProgressDeadline = intstr.FromInt(failures), deadline
		return s
	}
	progressive := clusterv1alpha1.RolloutStrategy{Type: clusterv1alpha1.Progressive, Progressive: new(clusterv1alpha1.RolloutProgressive)}
	progressive.Progressive.MaxConcurrency, progressive.Progressive.ProgressDeadline = intstr.FromInt(1), "10m"
	all := clusterv1alpha1.RolloutStrategy{Type: clusterv1alpha1.All, All: new(clusterv1alpha1.RolloutAll)}
	all.All.ProgressDeadline = "10m"
	ten := 10 * time.Minute
	return []setting{
		{name: "per group", strategy: "ProgressivePerGroup deadline=10m", naive: perGroup(0, "10m"), deadline: ten},
		{name: "tolerated", strategy: "ProgressivePerGroup deadline=10m failures=1", naive: perGroup(1, "10m"), deadline: ten},
		{name: "no deadline", strategy: "ProgressivePerGroup", naive: perGroup(0, "")},
		{name: "manual", strategy: "ManualPerGroup deadline=10m", naive: perGroup(0, "10m"), manual: true, deadline: ten},
		{name: "ignored", strategy: "ProgressivePerGroup ignore=naughty", naive: perGroup(0, ""), ignored: []string{"a"}},
		{name: "ignored with a deadline", strategy: "ProgressivePerGroup deadline=10m ignore=naughty", naive: perGroup(0, "10m"), deadline: ten, ignored: []string{"a"}},
		{name: "progressive", strategy: "Progressive deadline=10m concurrency=1", naive: progressive, deadline: ten},
		{name: "all", strategy: "All deadline=10m", naive: all, deadline: ten},
	}
}

// begin gives the world of a setting: a and b in a first group, c in a second one.
func (s setting) begin(t failer) *both {
	w := newWorld(t)
	stage := &stage{world: w}
	w.content = 0 // the generation of the policy is the number of its version
	w.root.SetGeneration(0)
	stage.setStrategy(strings.Fields(s.strategy))
	w.root.SetGeneration(0)
	w.edit()
	n := &naive{
		strategy: s.naive, manual: s.manual, deadline: s.deadline, approved: map[string]bool{}, now: w.now, generation: 1,
		groups:   map[grouping.Key][]string{{Name: "dev"}: {"a", "b"}, {Index: 1, Name: "prod"}: {"c"}},
		clusters: map[string]*naiveCluster{"a": {}, "b": {}, "c": {}}, ignored: map[string]bool{},
	}
	for _, name := range s.ignored {
		n.ignored[name] = true
		w.labels[name] = map[string]string{"naughty-or-nice": "naughty"}
	}
	b := &both{world: w, naive: n}
	b.bind()
	return b
}

func (b *both) bind() {
	var groups []string
	for _, key := range slices.SortedFunc(maps.Keys(b.naive.groups), grouping.Key.Compare) {
		groups = append(groups, key.Name+": "+strings.Join(b.naive.groups[key], " "))
	}
	b.world.bind("binding", "placement", strings.Join(groups, " | "))
}

func (b *both) clone() *both {
	w := *b.world
	w.status.Status = slices.Clone(w.status.Status)
	w.bindings, w.labels = slices.Clone(w.bindings), maps.Clone(w.labels)
	w.managed, w.rushed = maps.Clone(w.managed), maps.Clone(w.rushed)
	w.replicas = make(map[string]*replicated, len(b.world.replicas))
	for name, r := range b.world.replicas {
		copied := *r
		w.replicas[name] = &copied
	}
	return &both{world: &w, naive: b.naive.clone(), path: b.path}
}

// actions are what may happen in a small world.
func (s setting) actions() map[string]func(b *both) {
	all := map[string]func(b *both){
		"edit": func(b *both) {
			b.world.edit()
			b.naive.generation++
		},
		"wait": func(b *both) {
			b.world.now = b.world.now.Add(10 * time.Minute)
			b.naive.now = b.world.now
		},
		"retry": func(b *both) {
			if b.world.object != nil {
				(&stage{world: b.world}).user().Spec.RetryRollout.RolloutUID = b.world.object.Status.RolloutUID
				b.naive.retry = b.naive.uid
			}
		},
		"lose the Rollout": func(b *both) {
			b.world.object = nil
			b.naive.uid, b.naive.current, b.naive.last, b.naive.status, b.naive.retry = 0, 0, 0, "", 0
			b.naive.approved = map[string]bool{}
		},
		"slip of dev":  func(b *both) { b.slip(grouping.Key{Name: "dev"}) },
		"slip of prod": func(b *both) { b.slip(grouping.Key{Index: 1, Name: "prod"}) },
		"join dev":     func(b *both) { b.join(grouping.Key{Name: "dev"}, "d") },
		"join prod":    func(b *both) { b.join(grouping.Key{Index: 1, Name: "prod"}, "e") },
	}
	for _, name := range []string{"a", "b", "c"} {
		for _, compliance := range []policyv1.ComplianceState{policyv1.Compliant, policyv1.NonCompliant} {
			all[fmt.Sprintf("%s %s", name, compliance)] = func(b *both) {
				b.world.report(name, compliance)
				if c := b.naive.clusters[name]; c.content != 0 {
					c.answer = string(compliance)
				}
			}
		}
	}
	if s.manual {
		for _, name := range []string{"dev", "prod"} {
			for _, approved := range []bool{true, false} {
				all[fmt.Sprintf("approve %s %v", name, approved)] = func(b *both) {
					(&stage{world: b.world}).approve([]string{name}, approved)
					b.naive.approved[name] = approved
				}
			}
		}
	}
	return all
}

func (b *both) join(group grouping.Key, name string) {
	if b.naive.clusters[name] != nil {
		return
	}
	b.naive.clusters[name] = new(naiveCluster)
	b.naive.groups[group] = append(slices.Clone(b.naive.groups[group]), name)
	b.bind()
}

// slip takes a group out of the placement, and back. Clusters with a replicated policy keep their turn (O34, O41), so the rules know only of
// those without one: they are deselected, and join.
func (b *both) slip(group grouping.Key) {
	all, clusters := b.naive.groups[group], maps.Clone(b.naive.clusters)
	b.naive.groups[group] = nil
	b.bind()
	b.world.sync(rollout.Options{RemoveAfter: metav1.Duration{Duration: time.Minute}})
	for _, name := range all {
		if b.naive.clusters[name].content == 0 {
			delete(b.naive.clusters, name)
		} else {
			b.naive.groups[group] = append(b.naive.groups[group], name)
		}
	}
	b.naive.sync()
	maps.Copy(clusters, b.naive.clusters)
	b.naive.groups[group], b.naive.clusters = all, clusters
	b.bind()
}

// compliance takes out what the naive hub does not know.
var compliance = regexp.MustCompile(`( enforce)|( (Compliant|NonCompliant))|(?m:^(warning|ignored).*\n?)`)

// sync brings both to rest and compares them.
func (b *both) sync(t failer) {
	b.world.t = t
	b.world.sync(rollout.Options{})
	b.naive.sync()
	if got, want := strings.TrimSpace(compliance.ReplaceAllString(b.world.String(), "")), b.naive.shown(); got != want {
		t.Fatalf("after%s:\n%s\nthe rules say:\n%s\n%s", b.path, got, want, b.naive)
	}
}

// succeeded gives the world in which a first version has succeeded, and a second one begins.
func (b *both) succeeded(t failer, actions map[string]func(*both)) *both {
	after := b.clone()
	for _, name := range []string{"approve dev true", "approve prod true", "a Compliant", "b Compliant", "c Compliant", "c Compliant", "approve dev false", "edit"} {
		if do := actions[name]; do != nil {
			after.path += ", " + name
			do(after)
			after.sync(t)
		}
	}
	if after.naive.last != 1 {
		t.Fatalf("after%s:\n%s\nthe first version has not succeeded", after.path, after.naive)
	}
	return after
}

// O31 to O47: in every small world, whatever happens in whatever order, the clusters have what the rules say.
func TestSmallWorlds(t *testing.T) {
	for _, s := range settings() {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			actions := s.actions()
			seen := map[string]bool{}
			begin := s.begin(t)
			begin.sync(t)
			front, checked := []*both{begin, begin.succeeded(t, actions)}, 0
			for range exhaustive.Of(2, 3, 4) {
				var next []*both
				for _, b := range front {
					for _, name := range slices.Sorted(maps.Keys(actions)) {
						after := b.clone()
						after.path += ", " + name
						actions[name](after)
						after.world.keeps(t, after.path, func() { after.sync(t) })
						checked++
						if key := after.naive.String(); !seen[key] {
							seen[key] = true
							next = append(next, after)
						}
					}
				}
				front = next
			}
			t.Logf("%d worlds checked", checked)
		})
	}
}

// keeps checks that no cluster loses its replicated policy meanwhile (O50).
func (w *world) keeps(t failer, path string, do func()) {
	before := maps.Clone(w.replicas)
	do()
	for name := range before {
		if w.replicas[name] == nil {
			t.Fatalf("after%s: %s has no replicated policy any more", path, name)
		}
	}
}
