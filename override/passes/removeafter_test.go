// SPDX-License-Identifier: Apache-2.0

package passes_test

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/cohort-ocm/cohort/override/passes"
	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/status"
	"github.com/cohort-ocm/cohort/status/policyv1"
)

// O16: a cluster that is unbound for less than the grace period keeps its replica, and is in the root's status. A cluster that is
// bound again in time loses nothing, its grace period begins again, and no change is reported (S9).
func TestRemoveAfter(t *testing.T) {
	inform := policy(policyv1.Inform, naiveLimits{})
	both, one := resolve(t, inform, to("a", "b")), resolve(t, inform, to("a"))
	replica := func(cluster string) passes.Replica {
		return passes.Replica{Cluster: cluster, Version: "v2", Action: policyv1.Inform, RolloutStatus: status.Succeeded, Compliance: policyv1.Compliant, ComplianceTime: noon}
	}
	replicas := []passes.Replica{replica("a"), replica("b")}
	var last *passes.Propagation
	for _, step := range []struct {
		why     string
		after   time.Duration
		bound   bool
		deleted int
		recheck time.Duration
	}{
		{"b is deselected", 0, false, 0, time.Minute},
		{"it stays so for a while", 40 * time.Second, false, 0, 20 * time.Second},
		{"it comes back", 50 * time.Second, true, 0, 0},
		{"it is deselected again", 70 * time.Second, false, 0, time.Minute},
		{"the grace period has begun again", 100 * time.Second, false, 0, 30 * time.Second},
		{"it is over", 130 * time.Second, false, 1, 0},
	} {
		resolution := one
		if step.bound {
			resolution = both
		}
		p, err := passes.Propagate(resolution, "v2", status.Record{}, replicas, noon.Add(step.after), rollout.Options{RemoveAfter: metav1.Duration{Duration: time.Minute}, Previous: last.Remembered()})
		if err != nil {
			t.Fatal(err)
		}
		var root policyv1.PolicyStatus
		p.SetStatus(&root)
		if len(p.Removed) != step.deleted || p.RecheckAfter != step.recheck || len(root.Status) != 2-step.deleted {
			t.Errorf("%s: deletes %v, recheck after %v, status of %d clusters", step.why, p.Removed, p.RecheckAfter, len(root.Status))
		}
		if changes := p.Changes(last); changes.String() != "" {
			t.Errorf("%s: it is told that b %v", step.why, changes)
		}
		last = p
	}
}

// O16: after a restart, and with a zero Propagation, nothing is known, and the grace period begins again.
func TestRemoveAfterAStart(t *testing.T) {
	one := resolve(t, policy(policyv1.Inform, naiveLimits{}), to("a"))
	for _, previous := range []*passes.Propagation{nil, {}} {
		p := propagate(t, one, []passes.Replica{{Cluster: "b", Version: "v2"}}, rollout.Options{RemoveAfter: metav1.Duration{Duration: time.Minute}, Previous: previous.Remembered()})
		if len(p.Removed) > 0 || p.RecheckAfter != time.Minute {
			t.Errorf("deletes %v, recheck after %v", p.Removed, p.RecheckAfter)
		}
	}
}
