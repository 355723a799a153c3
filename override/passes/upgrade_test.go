// SPDX-License-Identifier: Apache-2.0

package passes_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/cohort-ocm/cohort/override/passes"
	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/status"
	"github.com/cohort-ocm/cohort/status/policyv1"
)

// upgrades makes the first writes, of seven, of a replica on which processes of two versions of this library may work in turn.
func upgrades(t *testing.T, writes int) *chain {
	c := &chain{t: t, s: &stored{}}
	c.s.Namespace = "a"
	a, b := config("a", 1, 0), config("b", 1, 0)
	spelled, spelledAnew, bAnew := a, a, b
	spelled.spelled, spelledAnew.spelled, spelledAnew.content, bAnew.content = true, true, 2, 2
	for i, write := range []func(){
		func() { c.write(spelled, b) },
		func() { c.say("a", "b"); c.write(spelled, bAnew) }, // a owes nothing
		func() { c.say("b"); c.write(a, bAnew) },            // the text of a changes, and nothing on the cluster
		func() { c.say("b"); c.write(spelledAnew, bAnew) },  // the cluster misses this one
		func() { c.write(spelled, bAnew) },                  // and has the one before again
		func() { c.say("a"); c.write(spelledAnew, bAnew) },
		func() { c.say("a"); c.setBack(a, bAnew) },
	} {
		if i < writes {
			write()
		}
	}
	return c
}

// setBack has a person write other templates, and the controller write those before, when the cluster has not got the edit.
func (c *chain) setBack(parts ...part) {
	before := c.s.Spec.PolicyTemplates
	heard, edited := metav1.NewTime(c.now()), metav1.NewTime(c.now().Add(time.Minute))
	c.s.ManagedFields = []metav1.ManagedFieldsEntry{
		{Subresource: "status", Time: &heard, FieldsV1: &metav1.FieldsV1{Raw: []byte(`{"f:status":{"f:details":{}}}`)}},
		{Time: &edited, FieldsV1: &metav1.FieldsV1{Raw: []byte(`{"f:spec":{}}`)}},
	}
	c.s.Spec.PolicyTemplates = templatesOf(parts)
	replica := passes.ReplicaOf(&c.s.Policy, &c.s.status)
	replica.Edited = true
	p, err := passes.Propagate(resolve(c.t, policy(policyv1.Inform, naiveLimits{}), to("a")), fmt.Sprint("v", c.versions-1), status.Record{}, []passes.Replica{replica}, c.now(), rollout.Options{})
	if err != nil {
		c.t.Fatal(err)
	}
	p.Stamp(c.s, p.Clusters[0], c.now())
	c.s.Spec.PolicyTemplates = before
}

// stampsByEarlierProcess are the stamps of [upgrades], as a process of commit 625291f3 wrote them with its own code. It knew texts alone.
var stampsByEarlierProcess = []string{
	``,
	`CJviB7VE8eQ.XaolrPqngXg.La98kKvFRvs.Z3-tA0dqL7c CKYUB7VNm18.A5S6ydrPrQ8.La98kKvFRvs.Z3-tA0dqL7c`,
	`CJviB7VE8eQ.XaolrPqngXg.La98kKvFRvs.Z3-tA0dqL7c CKYUB7VNm18.jg1eozdkolo.La98kKvFRvs.R0U4ITiVItw`,
	`CJviB7VE8eQ.A5S6ydrPrQ8.La98kKvFRvs.Z3-tA0dqL7c.Z3-tA0dqL7c.dn0xykmwjcw0.s CKYUB7VNm18.jg1eozdkolo.La98kKvFRvs.1oXnl5XEFeE`,
	`CJviB7VE8eQ.gWyrs_pyNB8.La98kKvFRvs.Z3-tA0dqL7c.Z3-tA0dqL7c.dn0z8igbl6o0.s.- CKYUB7VNm18.jg1eozdkolo.La98kKvFRvs.1oXnl5XEFeE.jg1eozdkolo/La98kKvFRvs`,
	`CJviB7VE8eQ.XaolrPqngXg.La98kKvFRvs.ppGq8LSyEkg CKYUB7VNm18.jg1eozdkolo.La98kKvFRvs.1oXnl5XEFeE`,
	`CJviB7VE8eQ.A5S6ydrPrQ8.La98kKvFRvs.ewzpcztvB-Q.= CKYUB7VNm18.jg1eozdkolo.La98kKvFRvs.1oXnl5XEFeE.=`,
}

// earlierNote is what a process of that commit reads of a template: content, rest and message; what was owed; and what it had.
type earlierNote struct {
	content, rest, message, owed, had string
}

// earlierProcessReads reads a stamp as a process of that commit does. It looks up the entry of each template by the key, and goes through all
// entries only for those with a message.
func earlierProcessReads(t *testing.T, stamp string, keys ...string) map[string]earlierNote {
	t.Helper()
	all := map[string]earlierNote{}
	for part := range strings.FieldsSeq(stamp) {
		f := strings.Split(part, ".")
		var n earlierNote
		if len(f) == 5 || len(f) == 8 {
			n.had, f = "had "+f[len(f)-1], f[:len(f)-1]
		}
		if len(f) == 4 || len(f) == 7 {
			n.content, n.rest, n.message, n.owed = f[1], f[2], f[3], strings.Join(f[4:], ".")
			all[f[0]] = n
		}
	}
	read := map[string]earlierNote{}
	for key, n := range all {
		if slices.Contains(keys, key) {
			read[key] = n
		} else if n.message != "" {
			t.Errorf("the entry %q has a message, and is of no template", key)
		}
	}
	return read
}

// O17: a controller goes back to an earlier version in mid-rollout. The earlier process reads of each template what it would have written
// itself. It differs where an edit of the text alone owes an answer: here that counts late, so what was answered before it is known.
func TestAnEarlierProcessReadsTheStampsOfThisOne(t *testing.T) {
	const a, b = "CJviB7VE8eQ", "CKYUB7VNm18"
	second := 0
	for i, earlier := range stampsByEarlierProcess {
		stamp := upgrades(t, i+1).s.Annotations[annotationReported]
		got, want := earlierProcessReads(t, stamp, a, b), earlierProcessReads(t, earlier, a, b)
		switch n := want[a]; i {
		case 3:
			n.owed = strings.TrimSuffix(n.owed, "s")
			want[a] = n
		case 4:
			n.had = "had A5S6ydrPrQ8/-"
			want[a] = n
		}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("write %d: the earlier process reads\n%v, want\n%v", i, got, want)
		}
		second += strings.Count(stamp, "~")
	}
	if second != 4 {
		t.Errorf("%d second entries: what has the text of a default has one", second)
	}
}

// O17: a controller is upgraded in mid-rollout. A stamp of the earlier process has the texts alone. The same text is the same content, and
// so is one with defaults where the stamp has the one without.
func TestThisProcessReadsTheStampsOfAnEarlierOne(t *testing.T) {
	a, b, bAnew := config("a", 1, 0), config("b", 1, 0), config("b", 2, 0)
	spelled, noted, bSpelled := a, a, b
	spelled.spelled, noted.spelled, noted.note, bSpelled.spelled = true, true, "n", true
	const waits, late, done = `"", later ""`, `"", later "Compliant"`, `"Compliant", later "Compliant"`
	for _, test := range []struct {
		why    string
		writes int // the last of them by the earlier process
		now    []part
		says   []string
		want   string
	}{
		{"a has the same text", 2, []part{spelled, bAnew}, []string{"b"}, done},
		{"a has the same text with another annotation", 2, []part{noted, bAnew}, []string{"b"}, late},
		{"b has a default that the stamp does not have", 2, []part{spelled, bSpelled}, nil, late},
		{"a lacks a default that the stamp has: that is not known of a text alone", 3, []part{a, bAnew}, []string{"b"}, waits},
		{"a has the same text with another annotation as the cluster had before", 5, []part{noted, bAnew}, []string{"b"}, late},
	} {
		c := upgrades(t, test.writes)
		c.s.Annotations[annotationReported] = strings.Replace(stampsByEarlierProcess[test.writes-1], ".s.-", ".s.XaolrPqngXg/La98kKvFRvs", 1)
		c.s.Spec.PolicyTemplates = templatesOf(test.now)
		if test.says != nil {
			c.say(test.says...)
		}
		if got := c.answered(); got != test.want {
			t.Errorf("%s: %s, want %s", test.why, got, test.want)
		}
	}
}
