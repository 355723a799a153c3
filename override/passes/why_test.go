// SPDX-License-Identifier: Apache-2.0

package passes_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"

	"github.com/cohort-ocm/cohort/override/passes"
	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/status"
	"github.com/cohort-ocm/cohort/status/policyv1"
)

// S3: a report says why a cluster does not comply, in the words of the first template that says so, in one line that can be printed. A
// success has no message.
func TestWhyAClusterDoesNotComply(t *testing.T) {
	a, b := config("a", 1, 0), config("b", 1, 0)
	edited := []policyv1.PolicyTemplate(templatesOf([]part{config("a", 2, 0), config("b", 2, 0)}))
	said := func(name string, compliance policyv1.ComplianceState, message string) policyv1.PolicyDetails {
		d := detail(name, compliance, noon.Add(time.Second))
		d.History[0].Message = message
		return d
	}
	for _, test := range []struct {
		why  string
		says []policyv1.PolicyDetails
		want string
	}{
		{"one of two", []policyv1.PolicyDetails{said("a", "Compliant", "Compliant"), said("b", "NonCompliant", "NonCompliant; violation - configmaps [web] not found")},
			"b: NonCompliant; violation - configmaps [web] not found"},
		{"the first of two", []policyv1.PolicyDetails{said("b", "NonCompliant", "late"), said("a", "NonCompliant", "early")}, "a: early"},
		{"what fails comes before what waits", []policyv1.PolicyDetails{said("a", "Pending", "waits"), said("b", "NonCompliant", "fails")}, "b: fails"},
		{"what waits", []policyv1.PolicyDetails{said("a", "Pending", "Dependencies were not satisfied"), said("b", "Compliant", "Compliant")}, "a: Dependencies were not satisfied"},
		{"lines, colours and directions", []policyv1.PolicyDetails{said("a", "NonCompliant", "x\n\x1b[31m\u202ey"), said("b", "Compliant", "")}, "a: x [31m y"},
		{"a text without end", []policyv1.PolicyDetails{said("a", "NonCompliant", strings.Repeat("x", 500)), said("b", "Compliant", "")}, "a: " + strings.Repeat("x", 196) + "…"},
		{"nothing is wrong", []policyv1.PolicyDetails{said("a", "Compliant", "Compliant"), said("b", "Compliant", "Compliant")}, ""},
		{"an answer is awaited, whatever the other says", []policyv1.PolicyDetails{said("a", "NonCompliant", "fails")}, "no answer to this version from template b"},
		{"a template without words", []policyv1.PolicyDetails{said("a", "NonCompliant", ""), said("b", "Compliant", "")}, "NonCompliant: template a"},
	} {
		s := rewritten(t, templatesOf([]part{a, b}), edited)
		s.status.Details = test.says
		replica := passes.ReplicaOf(&s.Policy, &s.status)
		report, ok := replica.Report(resolve(t, policy(policyv1.Enforce, naiveLimits{}), to("a")), "v2", noon.Add(time.Minute))
		if !ok || report.Message != test.want || (report.Status == status.Succeeded) != (test.want == "") {
			t.Errorf("%s: %s %q, want %q", test.why, report.Status, report.Message, test.want)
		}
	}
}

// O15, S3: an enforced cluster does not comply. It is in flight until its deadline, and without one until it complies, and the sentence says
// which. The root's annotation has it fail at once.
func TestWhenAClusterThatDoesNotComplyFails(t *testing.T) {
	for _, test := range []struct {
		why      string
		limits   naiveLimits
		first    string // a minute after the write
		sentence string
		in       string // a week later
	}{
		{"without a deadline", naiveLimits{typ: clusterv1alpha1.Progressive, maxConcurrency: 1}, "Progressing",
			"NonCompliant: template a; waits without a deadline until the cluster complies", "Progressing"},
		{"with a deadline", naiveLimits{typ: clusterv1alpha1.Progressive, maxConcurrency: 1, deadline: 10 * time.Minute}, "Progressing",
			"NonCompliant: template a; fails at 2026-11-21T12:10:00Z unless the cluster complies before", "Failed"},
		{"at once", naiveLimits{typ: clusterv1alpha1.Progressive, maxConcurrency: 1, failAtOnce: true}, "Failed", "", "Failed"},
	} {
		resolution := resolve(t, policy(policyv1.Enforce, test.limits), to("a"))
		s := rewritten(t, templatesOf([]part{config("a", 1, 0)}), templatesOf([]part{config("a", 2, 0)}))
		s.status.Details = []policyv1.PolicyDetails{detail("a", "NonCompliant", noon.Add(time.Second))}
		for after, want := range map[time.Duration]string{time.Minute: test.first, 7 * 24 * time.Hour: test.in} {
			p, err := passes.Propagate(resolution, "v2", status.Record{}, []passes.Replica{passes.ReplicaOf(&s.Policy, &s.status)}, noon.Add(after), rollout.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if got := p.Clusters[0].RolloutStatus; string(got) != want {
				t.Errorf("%s, after %v: %s, want %s", test.why, after, got, want)
			}
			if got := p.Explain("a").String(); after == time.Minute && got != test.sentence {
				t.Errorf("%s: explained by %q, want %q", test.why, got, test.sentence)
			}
		}
	}
}

// O15: clusters that wait for dependencies are told from slow ones, in sentences too, and counted.
func TestClustersThatWaitForDependencies(t *testing.T) {
	edited := []policyv1.PolicyTemplate(templatesOf([]part{config("a", 2, 0), config("b", 2, 0)}))
	var replicas []passes.Replica
	for cluster, says := range map[string][]policyv1.ComplianceState{
		"fit": {"Compliant", "Compliant"}, "slow": {"Compliant"}, "unfit": {"Compliant", "NonCompliant"}, "waits": {"Compliant", "Pending"}, "waits-slowly": {"Pending"},
	} {
		s := rewritten(t, templatesOf([]part{config("a", 1, 0), config("b", 1, 0)}), edited)
		for i, compliance := range says {
			s.status.Details = append(s.status.Details, detail([]string{"a", "b"}[i], compliance, noon.Add(time.Second)))
		}
		replica := passes.ReplicaOf(&s.Policy, &s.status)
		replica.Cluster = cluster
		replicas = append(replicas, replica)
	}
	p := propagate(t, resolve(t, policy(policyv1.Enforce, naiveLimits{}), to("fit", "slow", "unfit", "waits", "waits-slowly", "without")), replicas, rollout.Options{})
	if got := p.Pending(); !slices.Equal(got, []string{"waits", "waits-slowly"}) || p.Summary().Progressing != 4 {
		t.Errorf("%v wait, of %v", got, p.Summary())
	}
	for cluster, want := range map[string]string{
		"fit": "", "slow": "no answer to this version from template b", "waits": "Pending: dependencies are not met for template b",
		"waits-slowly": "no answer to this version from template b; Pending: dependencies are not met for template a",
		"unfit":        "NonCompliant: template b; waits without a deadline until the cluster complies",
	} {
		if got := p.Explain(cluster).String(); got != want {
			t.Errorf("%s: explained by %q, want %q", cluster, got, want)
		}
	}
}
