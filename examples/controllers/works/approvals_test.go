// SPDX-License-Identifier: Apache-2.0

package main

import (
	"strings"
	"testing"
	"time"

	workv1alpha1 "open-cluster-management.io/api/work/v1alpha1"

	"github.com/cohort-ocm/cohort/rollout/writes"
	"github.com/cohort-ocm/cohort/status"
)

const prefix = "cohort.open-cluster-management.io/"

// version is the one that the set wants.
func (h *hub) version() string { return writes.VersionOf(h.set().Spec.ManifestWorkTemplate) }

// A pause starts no cluster, for any version, until it ends.
func TestAPauseStartsNoCluster(t *testing.T) {
	h := newHub(t)
	h.place("prod", "a", "b", "c")
	h.create(ref("prod", atATime(1)))
	h.wrote("create a")
	h.annotate(prefix+"pause", "true")
	h.answer(status.Succeeded, "a")
	h.wrote("")
	h.change(func(s *workv1alpha1.ManifestWorkReplicaSetSpec) { s.ManifestWorkTemplate = template("two") })
	h.wrote("")
	h.restart()
	h.wrote("")
	h.annotate(prefix+"pause", "false")
	h.wrote("update a")
}

// A pause counts at once, even during the writes of a plan.
func TestAPauseEndsThePlanThatIsCarriedOut(t *testing.T) {
	h := newHub(t)
	h.place("prod", "a", "b", "c", "d")
	h.create(ref("prod", atATime(4)))
	h.catchUp()
	h.fail = func(_, cluster string) (error, bool) {
		if cluster == "b" {
			h.annotate(prefix+"pause", "true")
			h.must(h.caches.sets.Update(h.set()))
		}
		return nil, false
	}
	if wrote, result, err := h.look(); wrote != "create a, create b" || result.RequeueAfter != time.Millisecond || err != nil {
		t.Errorf("wrote %q, %+v, %v", wrote, result, err)
	}
	h.wrote("")
}

// A gate is opened for the version that it names. The next version waits there again, even if it is an older one.
func TestAGateIsOpenedForAVersion(t *testing.T) {
	h := newHub(t)
	h.place("prod", "a")
	h.place("test", "b")
	h.create(ref("prod", atATime(1)), ref("test", atATime(1)))
	h.annotate(prefix+"gates", "prod/0")
	h.wrote("create b") // the placement test has no gate
	h.wrote("")
	h.annotate(prefix+"open-gates", "prod/0 of "+h.version())
	h.wrote("create a")
	h.change(func(s *workv1alpha1.ManifestWorkReplicaSetSpec) { s.ManifestWorkTemplate = template("two") })
	h.answer(status.Succeeded, "a", "b")
	h.wrote("update b")
	h.wrote("")
	h.annotate(prefix+"open-gates", "prod/0 of "+h.version())
	h.wrote("update a")
}

// A failed cluster is retried once for each requested attempt, with any restarts. The first attempt of another version is
// 0.
func TestARetryIsAnAttemptAtAVersion(t *testing.T) {
	h := failing(t)
	h.annotate(prefix+"retry", "1 of yesterday")
	h.wrote("")
	h.annotate(prefix+"retry", "1 of "+h.version())
	h.wrote("update a")
	if got := status.StampOf(h.work("a")).Attempt; got != 1 {
		t.Errorf("attempt %d", got)
	}
	h.wrote("")
	h.restart()
	h.wrote("")
	h.clock = h.clock.Add(time.Hour)
	h.answer(status.Progressing, "a")
	h.answer(status.Failed, "a")
	h.wrote("")
	h.annotate(prefix+"retry", "1 of "+h.version()) // written twice
	h.wrote("")
	h.annotate(prefix+"retry", "2 of "+h.version())
	h.wrote("update a")
	h.change(func(s *workv1alpha1.ManifestWorkReplicaSetSpec) { s.ManifestWorkTemplate = template("two") })
	h.wrote("update a")
	if got := status.StampOf(h.work("a")); got.Attempt != 0 || got.Version != h.version() {
		t.Errorf("stamped %+v", got)
	}
}

// An unreadable approval starts no cluster, and an event has its path.
func TestApprovalsThatCannotBeRead(t *testing.T) {
	h := newHub(t)
	h.place("prod", "a")
	h.create(ref("prod", atATime(1)))
	h.annotate(prefix+"gates", "no group")
	h.catchUp()
	if wrote, _, err := h.look(); wrote != "" || err == nil || !strings.Contains(err.Error(), "metadata.annotations["+prefix+"gates][0]") {
		t.Errorf("wrote %q, %v", wrote, err)
	}
	if told := strings.Join(h.events(), "\n"); !strings.Contains(told, "Warning Invalid metadata.annotations") {
		t.Errorf("told %s", told)
	}
	h.annotate(prefix+"gates", "")
	h.wrote("create a")
}
