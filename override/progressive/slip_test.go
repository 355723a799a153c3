// SPDX-License-Identifier: Apache-2.0

package progressive_test

import (
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/status"
	"github.com/cohort-ocm/cohort/status/policyv1"
)

// second gives a world in which a first version has succeeded on a, b and c, and the second one is about to begin.
func second(t *testing.T, strategy, groups string) *world {
	w := newWorld(t)
	s := &stage{world: w}
	s.setStrategy(strings.Fields(strategy))
	w.bind("b", "p", groups)
	s.approve([]string{"dev", "stage", "prod"}, true)
	for range 4 {
		w.sync(rollout.Options{})
		for name := range w.managed {
			w.report(name, policyv1.Compliant)
		}
	}
	if w.object.Status.RolloutStatus != status.Succeeded {
		t.Fatalf("the first version has not succeeded:\n%v", w)
	}
	s.approve([]string{"stage", "prod"}, false)
	w.edit()
	w.sync(rollout.Options{})
	return w
}

// O34: clusters that wait and slip out of the placement do not let the rollout end while they have their replicated policy, so they do
// not get the version at once, and without approval, when they are back.
func TestASlipOfThePlacementEndsNoRollout(t *testing.T) {
	for _, strategy := range []string{"ProgressivePerGroup deadline=10m", "ManualPerGroup deadline=10m"} {
		t.Run(strategy, func(t *testing.T) {
			w := second(t, strategy, "dev: a | prod: b c")
			opts := rollout.Options{RemoveAfter: metav1.Duration{Duration: time.Minute}}
			w.report("a", policyv1.Compliant)
			w.bind("b", "p", "dev: a | prod:")
			for range 4 { // the Rollout is stored, too
				w.step(opts)
			}
			if w.object.Status.RolloutStatus != status.Progressing {
				t.Errorf("%v", w)
			}
			w.bind("b", "p", "dev: a | prod: b c")
			if w.step(opts); strings.HasPrefix(strategy, "Manual") && (w.has("b") != "v1" || w.has("c") != "v1") {
				t.Errorf("not approved:\n%v", w)
			}
			if w.mark("b") == w.object.Status.RolloutUID+"/NewCluster" {
				t.Errorf("b did not join:\n%v", w)
			}
			w.bind("b", "p", "dev: a | prod:")
			if w.sync(opts); w.object.Status.RolloutStatus != status.Progressing {
				t.Errorf("%v", w)
			}
			w.now = w.now.Add(time.Minute)
			if w.sync(opts); strings.HasPrefix(strategy, "Manual") && w.object.Status.RolloutStatus != status.Succeeded {
				t.Errorf("their replicas are deleted, and the rollout does not end:\n%v", w)
			}
		})
	}
}

// O47: an ignored cluster with a deleted ManagedCluster stops nothing, although its labels are unknown.
func TestAnIgnoredClusterThatIsDetachedStopsNothing(t *testing.T) {
	for name, strategy := range map[string]string{
		"it would fail at the deadline":   "ProgressivePerGroup deadline=10m ignore=naughty",
		"it would be in flight for good":  "ProgressivePerGroup ignore=naughty",
		"another cluster is ignored, too": "ProgressivePerGroup deadline=10m",
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.labels["b"] = map[string]string{"naughty-or-nice": "naughty"}
			(&stage{world: w}).setStrategy(strings.Fields(strategy))
			w.bind("b", "p", "dev: a b | prod: c")
			w.sync(rollout.Options{})
			w.report("a", policyv1.Compliant)
			w.bind("b", "p", "dev: a | prod: c")
			delete(w.managed, "b")
			w.sync(rollout.Options{})
			w.report("c", policyv1.Compliant)
			w.now = w.now.Add(10 * time.Minute)
			if w.sync(rollout.Options{}); w.object.Status.RolloutStatus != status.Succeeded {
				t.Errorf("%v", w)
			}
		})
	}
}

// O43: a cluster that is bound again in flight is not created while the groups of another placement are incomplete.
func TestNothingGoesOnWhileGroupsAreIncomplete(t *testing.T) {
	w := newWorld(t)
	(&stage{world: w}).setStrategy([]string{"ProgressivePerGroup", "deadline=10m"})
	w.bind("x", "first", "dev: a b")
	w.bind("y", "second", "dev: c")
	w.sync(rollout.Options{})
	w.bind("x", "first", "dev: a")
	if w.sync(rollout.Options{}); w.has("b") != "" {
		t.Fatalf("%v", w)
	}
	w.bind("x", "first", "dev: a b")
	w.partial["second"] = true
	if w.sync(rollout.Options{}); w.has("b") != "" {
		t.Errorf("created:\n%v", w)
	}
	w.partial["second"] = false
	if w.sync(rollout.Options{}); w.has("b") != "v1" {
		t.Errorf("it does not go on:\n%v", w)
	}
}
