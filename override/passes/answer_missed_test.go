// SPDX-License-Identifier: Apache-2.0

package passes_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/cohort-ocm/cohort/override/passes"
	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/status"
	"github.com/cohort-ocm/cohort/status/policyv1"
)

// chain has the writes of one replica, one version after the other, with what the cluster says after each.
type chain struct {
	t        *testing.T
	s        *stored
	versions int
}

// write writes the next version with inform, an hour after the one before.
func (c *chain) write(parts ...part) {
	c.t.Helper()
	resolution := resolve(c.t, policy(policyv1.Inform, naiveLimits{}), to("a"))
	var replicas []passes.Replica
	if c.versions > 0 {
		replicas = append(replicas, passes.ReplicaOf(&c.s.Policy, &c.s.status))
	}
	p, err := passes.Propagate(resolution, fmt.Sprint("v", c.versions), status.Record{}, replicas, c.now(), rollout.Options{})
	if err != nil {
		c.t.Fatal(err)
	}
	p.Stamp(c.s, p.Clusters[0], c.now())
	c.s.Spec.PolicyTemplates, c.s.Spec.RemediationAction = templatesOf(parts), policyv1.Inform
	c.versions++
}

func (c *chain) now() time.Time { return noon.Add(time.Duration(c.versions) * time.Hour) }

// say has the cluster report now, after the last write.
func (c *chain) say(names ...string) {
	c.s.status.Details = slices.DeleteFunc(c.s.status.Details, func(d policyv1.PolicyDetails) bool { return slices.Contains(names, d.TemplateMeta.Name) })
	for _, name := range names {
		c.s.status.Details = append(c.s.status.Details, detail(name, "Compliant", c.now().Add(-time.Minute)))
	}
}

// answered says whether the cluster has answered the last version, and whether it will have half an hour later.
func (c *chain) answered() string {
	replica := passes.ReplicaOf(&c.s.Policy, &c.s.status)
	return fmt.Sprintf("%q, later %q", replica.Compliance, replica.At(c.now().Add(30*time.Minute)).Compliance)
}

// O17: a cluster that misses a version, or answers it slowly, may have the next one already. Its message is waited for where it is known
// that it does not.
func TestWhatAClusterMissed(t *testing.T) {
	a1, a2, a3, b1, b2, b3 := config("a", 1, 0), config("a", 2, 0), config("a", 3, 0), config("b", 1, 0), config("b", 2, 0), config("b", 3, 0)
	noted, notedBefore := a2, a1
	noted.note, notedBefore.note = "n", "n"
	const waits, done = `"", later ""`, `"Compliant", later "Compliant"`
	for _, test := range []struct {
		why   string
		first []part
		run   func(c *chain)
		want  string
	}{
		{"it missed one, and the next is new, too", []part{a1}, func(c *chain) { c.write(a2); c.write(a3) }, waits},
		{"it missed one, and has the one before again", []part{a1}, func(c *chain) { c.write(a2); c.write(a1) }, done},
		{"it missed one, and has the one before again but for an annotation, about which it need not report", []part{a1}, func(c *chain) {
			c.write(a2)
			c.write(notedBefore)
		}, `"", later "Compliant"`},
		{"it missed one, and has the one before again with the annotation that it had", []part{notedBefore}, func(c *chain) {
			c.write(a2)
			c.write(notedBefore)
		}, done},
		{"it missed two", []part{a1}, func(c *chain) { c.write(a2); c.write(a3); c.write(a2) }, waits},
		{"it missed one, and only an annotation is new then: it must still report", []part{a1}, func(c *chain) { c.write(a2); c.write(noted) }, waits},
		{"it answered one by a slow clock before an annotation is new", []part{a1}, func(c *chain) {
			c.write(a2)
			c.s.status.Details = []policyv1.PolicyDetails{detail("a", "Compliant", noon.Add(time.Minute))}
			status.Stamp{}.NoteOn(c.s, "v1 inform", 0, noon.Add(118*time.Minute)) // so it does not count before the next write
			c.write(noted)
		}, `"", later "Compliant"`},
		{"it missed one, and it is not known whether it has the one before", []part{a1, b1}, func(c *chain) {
			c.s.status.Details = []policyv1.PolicyDetails{detail("a", "Compliant", noon.Add(57*time.Minute)), detail("b", "Compliant", noon.Add(57*time.Minute))}
			status.Stamp{}.NoteOn(c.s, "v0 inform", 0, noon.Add(58*time.Minute))
			delete(c.s.Annotations, annotationReported)
			c.write(a2, b2)
			c.write(a1, b1)
			c.say("b")
		}, `"", later "Compliant"`},
		{"it had got one, answered it in part, and missed another", []part{a1, b1}, func(c *chain) {
			c.write(a2, b2)
			c.say("b")
			c.write(a1, b3)
			c.write(a3, b1)
			c.say("b")
		}, waits},
	} {
		c := &chain{t: t, s: &stored{Policy: policyv1.Policy{}}}
		c.s.Namespace = "a"
		c.write(test.first...)
		c.say(names(test.first)...)
		test.run(c)
		if got := c.answered(); got != test.want {
			t.Errorf("%s: %s, want %s", test.why, got, test.want)
		}
	}
}
