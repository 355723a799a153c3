// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/cohort-ocm/cohort/dependency"
	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/override"
	"github.com/cohort-ocm/cohort/override/passes"
	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/rollout/writes"
	"github.com/cohort-ocm/cohort/status"
	"github.com/cohort-ocm/cohort/status/policyv1"
)

// livePolicy is the Policy ns/pol in a version, with strategies that a hub of policies keeps.
func livePolicy(version string) string {
	return strings.NewReplacer("policy-templates: []", "policy-templates: [{objectDefinition: {apiVersion: v1, kind: ConfigMap, metadata: {name: x}, data: {a: "+version+"}}}]",
		"maxConcurrency: 1", "maxConcurrency: 2, progressDeadline: 30m").Replace(aPolicy)
}

// failsAtOnce is a policy without a deadline.
func failsAtOnce(_ *testing.T, root string) string {
	return strings.Replace(root, "name: pol, namespace: ns", `name: pol, namespace: ns, annotations: {cohort.open-cluster-management.io/fail-at-once: "true"}`, 1)
}

// policyVersion names a version as the controller in examples/controllers does.
func policyVersion(t *testing.T, root string) string {
	t.Helper()
	template, err := dependency.Replicate(unstructuredOf(t, root), "ns", nil)
	if err != nil {
		t.Fatal(err)
	}
	spec := template.Object["spec"].(map[string]any)
	delete(spec, "rolloutStrategy")
	delete(spec, "remediationAction")
	return writes.VersionOf(spec)
}

func unstructuredOf(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	var object map[string]any
	if err := yaml.Unmarshal([]byte(text), &object); err != nil {
		t.Fatal(err)
	}
	return &unstructured.Unstructured{Object: object}
}

// liveReplica is the replicated policy of a cluster, after the versions that it had.
type liveReplica struct {
	cluster  string
	writes   []policyWrite // in order; the last one is of the spec that is there
	reported string        // the compliance after them; the same as before, by the same message, if it is empty
}

// policyWrite is a version with an action that a controller wrote in a minute, and what the cluster had reported by then.
type policyWrite struct {
	version, action string
	minute          int
	reported        string
}

// yaml is the replica as the hub has it: stamped by package passes at each write.
func (r liveReplica) yaml(t *testing.T, stamps bool) string {
	t.Helper()
	var object *unstructured.Unstructured
	var annotations map[string]string
	var reported string
	for _, w := range r.writes {
		var err error
		if object, err = dependency.Replicate(unstructuredOf(t, livePolicy(w.version)), r.cluster, nil); err != nil {
			t.Fatal(err)
		}
		object.SetAnnotations(annotations)
		object.SetGeneration(int64(len(r.writes)))
		object.Object["spec"].(map[string]any)["remediationAction"] = w.action
		if w.reported != "" {
			reported = w.reported
		}
		if stamps {
			r.stamp(t, object, w, reported)
		}
		annotations = object.GetAnnotations()
	}
	if r.reported != "" {
		reported = r.reported
	}
	object.Object["status"] = statusOf(reported)
	return asYAML(t, object.Object)
}

// statusOf is a status whose message is told from others by its compliance and minute, such as "NonCompliant -7".
func statusOf(reported string) map[string]any {
	compliance, minute, _ := strings.Cut(reported, " ")
	var minutes int
	if _, err := fmt.Sscan(minute, &minutes); err != nil {
		return map[string]any{}
	}
	message := map[string]any{"lastTimestamp": at(minutes).Format("2006-01-02T15:04:05Z"), "message": compliance, "eventName": "it." + minute}
	return map[string]any{"compliant": compliance, "details": []any{map[string]any{"compliant": compliance, "templateMeta": map[string]any{"name": "x"}, "history": []any{message}}}}
}

// stamp has package passes write the stamp of a replica that has the version, in its first or its second pass.
func (r liveReplica) stamp(t *testing.T, object *unstructured.Unstructured, w policyWrite, reported string) {
	t.Helper()
	var stored policyv1.Policy
	stored.Namespace, stored.Annotations = r.cluster, object.GetAnnotations()
	st := unstructuredOf(t, asYAML(t, map[string]any{"status": statusOf(reported)}))
	var typed policyv1.PolicyStatus
	text, _ := yaml.Marshal(st.Object["status"])
	if err := yaml.Unmarshal(text, &typed); err != nil {
		t.Fatal(err)
	}
	groups, err := grouping.FromNames(map[grouping.Key][]string{{}: {r.cluster}})
	if err != nil {
		t.Fatal(err)
	}
	root := &policyv1.Policy{Spec: policyv1.PolicySpec{RemediationAction: policyv1.RemediationAction(w.action)}}
	root.Namespace, root.Name = "ns", "pol"
	resolution, err := override.Resolve(root, []override.Binding{{Name: "bind", Direct: true, Groups: groups, PlacementRef: policyv1.PlacementRef{APIGroup: "cluster.open-cluster-management.io", Kind: "Placement", Name: "p"}}})
	if err != nil {
		t.Fatal(err)
	}
	p, err := passes.Propagate(resolution, policyVersion(t, livePolicy(w.version)), status.Record{}, []passes.Replica{passes.ReplicaOf(&stored, &typed)}, at(w.minute), rollout.Options{})
	if err != nil || len(p.Writes()) != 1 || p.Writes()[0].Action != root.Spec.RemediationAction {
		t.Fatalf("%v, %v", p, err)
	}
	p.Stamp(object, p.Writes()[0], at(w.minute))
}

// A replica's stamp says which version it has with which action, when it got it, and which report was there before.
func TestPoliciesAreReadByTheirStamps(t *testing.T) {
	v := func(version, action string, minute int, reported ...string) policyWrite {
		return policyWrite{version, action, minute, strings.Join(reported, "")}
	}
	for _, test := range []struct {
		why       string
		unstamped bool
		owner     func(t *testing.T, root string) string
		replicas  []liveReplica
		want      now
	}{
		{why: "two are enforced and have said nothing yet: what they say is about inform, or the version before",
			replicas: []liveReplica{
				{"a", []policyWrite{v("v1", "inform", -100), v("v1", "enforce", -99, "NonCompliant -99"), v("v2", "inform", -10, "Compliant -98"), v("v2", "enforce", -5, "NonCompliant -9")}, ""},
				{"b", []policyWrite{v("v2", "inform", -10, "NonCompliant -98"), v("v2", "enforce", -5)}, ""},
				{"c", []policyWrite{v("v2", "inform", -10)}, "NonCompliant -8"}, {"d", []policyWrite{v("v2", "inform", -10)}, ""}},
			want: now{Counts: status.Counts{Progressing: 2, ToApply: 2, Blocked: 2}, Outcome: "Complete"}},
		{why: "one has answered, one does not comply",
			replicas: []liveReplica{
				{"a", []policyWrite{v("v2", "inform", -10), v("v2", "enforce", -5, "NonCompliant -9")}, "Compliant -4"},
				{"b", []policyWrite{v("v2", "inform", -10), v("v2", "enforce", -5, "NonCompliant -9")}, "NonCompliant -3"},
				{"c", []policyWrite{v("v2", "inform", -10)}, "NonCompliant -8"}, {"d", []policyWrite{v("v2", "inform", -10)}, "Compliant -8"}},
			want: now{Counts: status.Counts{Succeeded: 1, Progressing: 2, ToApply: 1, Blocked: 1}, Outcome: "Complete"}},
		{why: "one has answered, one has failed at once", owner: failsAtOnce,
			replicas: []liveReplica{
				{"a", []policyWrite{v("v2", "inform", -10), v("v2", "enforce", -5, "NonCompliant -9")}, "Compliant -4"},
				{"b", []policyWrite{v("v2", "inform", -10), v("v2", "enforce", -5, "NonCompliant -9")}, "NonCompliant -3"},
				{"c", []policyWrite{v("v2", "inform", -10)}, "NonCompliant -8"}, {"d", []policyWrite{v("v2", "inform", -10)}, "Compliant -8"}},
			want: now{Counts: status.Counts{Succeeded: 1, Failed: 1, ToApply: 2, Blocked: 2}, Outcome: "Breached"}},
		{why: "the deadline runs since the second pass",
			replicas: []liveReplica{
				{"a", []policyWrite{v("v2", "inform", -90), v("v2", "enforce", -31, "NonCompliant -80")}, ""},
				{"b", []policyWrite{v("v2", "inform", -90), v("v2", "enforce", -29, "NonCompliant -80")}, ""},
				{"c", []policyWrite{v("v2", "inform", -90)}, "NonCompliant -80"}, {"d", []policyWrite{v("v2", "inform", -90)}, "NonCompliant -80"}},
			want: now{Counts: status.Counts{Progressing: 1, TimeOut: 1, ToApply: 2, Blocked: 2}, Outcome: "Breached"}},
		{why: "a third version is done",
			replicas: []liveReplica{
				{"a", []policyWrite{v("v1", "enforce", -90), v("v3", "inform", -60, "Compliant -80"), v("v2", "inform", -31, "Compliant -50"), v("v2", "enforce", -30, "Compliant -30")}, "Compliant -29"},
				{"b", []policyWrite{v("v2", "enforce", -30)}, "Compliant -29"}, {"c", []policyWrite{v("v2", "enforce", -20)}, "Compliant -19"}, {"d", []policyWrite{v("v2", "enforce", -20)}, "Compliant -19"}},
			want: now{Counts: status.Counts{Succeeded: 4}, Outcome: "Complete"}},
		{why: "one is enforced with the version before, which is rolled back in the first pass",
			replicas: []liveReplica{
				{"a", []policyWrite{v("v1", "enforce", -30)}, "NonCompliant -29"}, {"b", []policyWrite{v("v1", "enforce", -30)}, "Compliant -29"},
				{"c", []policyWrite{v("v1", "enforce", -20)}, "Compliant -19"}, {"d", []policyWrite{v("v1", "enforce", -20)}, "Compliant -19"}},
			want: now{Counts: status.Counts{Progressing: 2, ToApply: 2, Blocked: 2}, Outcome: "Complete"}},
		{why: "one failed and is not bound any more, and the root policy remembers", owner: policyGone,
			replicas: []liveReplica{
				{"a", []policyWrite{v("v2", "enforce", -30)}, "Compliant -29"}, {"b", []policyWrite{v("v2", "inform", -30)}, "NonCompliant -29"},
				{"c", []policyWrite{v("v2", "inform", -30)}, "NonCompliant -29"}, {"d", []policyWrite{v("v2", "inform", -30)}, "NonCompliant -29"}},
			want: now{Counts: status.Counts{Succeeded: 1, TimeOut: 1, ToApply: 3, Blocked: 3, Deselected: 1}, Outcome: "Breached"}},
		{why: "one is at it and not bound any more: it takes a slot, and times out unheard",
			replicas: []liveReplica{
				{"a", []policyWrite{v("v2", "enforce", -30)}, "Compliant -29"}, {"b", []policyWrite{v("v2", "inform", -30), v("v2", "enforce", -5, "NonCompliant -29")}, ""},
				{"c", []policyWrite{v("v2", "inform", -30)}, "NonCompliant -29"}, {"d", []policyWrite{v("v2", "inform", -30)}, "NonCompliant -29"},
				{"e", []policyWrite{v("v2", "inform", -30), v("v2", "enforce", -5, "NonCompliant -29")}, ""}},
			want: now{Counts: status.Counts{Succeeded: 1, Progressing: 2, ToApply: 2, Blocked: 2, Deselected: 1}, Outcome: "Breached"}},
		{why: "OCM's propagator makes no stamps: what is reported counts", unstamped: true,
			replicas: []liveReplica{
				{"a", []policyWrite{v("v2", "enforce", -30)}, "Compliant -29"}, {"b", []policyWrite{v("v2", "enforce", -30)}, ""},
				{"c", []policyWrite{v("v2", "inform", -30)}, "NonCompliant -29"}, {"d", []policyWrite{v("v1", "enforce", -30)}, "NonCompliant -29"}},
			want: now{Counts: status.Counts{Succeeded: 1, Progressing: 2, ToApply: 1, Blocked: 1}, Outcome: "Complete"}},
	} {
		t.Run(test.why, func(t *testing.T) {
			root := livePolicy("v2")
			if test.owner != nil {
				root = test.owner(t, root)
			}
			dump := []string{root, aBinding, decisionOf("a", "b", "c", "d")}
			for _, replica := range test.replicas {
				dump = append(dump, replica.yaml(t, !test.unstamped))
			}
			got, notes := readNow(t, documents(dump...))
			if diff := cmp.Diff([]now{test.want}, got); diff != "" {
				t.Errorf("(-want +got):\n%s\n%s", diff, notes)
			}
		})
	}
}

// policyGone has the root policy remember of its version that the cluster gone was deselected with a failure.
func policyGone(t *testing.T, root string) string {
	t.Helper()
	object := unstructuredOf(t, root)
	left := status.DeselectedCluster{Report: status.Report{Cluster: "gone", Status: status.TimeOut, LastTransitionTime: at(-10), Applied: at(-45)}}
	if _, err := (status.Records{"": {Version: policyVersion(t, root), Deselected: []status.DeselectedCluster{left}}}).Note(object); err != nil {
		t.Fatal(err)
	}
	return asYAML(t, object.Object)
}

// What a template said before counts five minutes after the write, where it may have nothing new to say: the cluster succeeds then. What explain and status say of that is
// the same, also where the files do not say when they were read.
func TestExplainCountsALateAnswer(t *testing.T) {
	dump := []string{livePolicy("v2"), aBinding, decisionOf("a", "b", "c")}
	for _, r := range []liveReplica{
		{"a", []policyWrite{{"v2", "inform", -60, "Compliant -98"}, {"v2", "enforce", -8, "Compliant -50"}}, ""},
		{"b", []policyWrite{{"v2", "inform", -60, "Compliant -98"}, {"v2", "enforce", -3, "Compliant -50"}}, ""},
		{"c", []policyWrite{{"v2", "inform", -60, "Compliant -98"}}, ""},
	} {
		dump = append(dump, r.yaml(t, true))
	}
	says := func(args ...string) string {
		return simulateText(t, documents(dump...), append(args, "-f", "-", "--start", atOne.Format(time.RFC3339))...)
	}
	if got := says("status"); !strings.Contains(got, "1 of 3 clusters done, 1 in flight, 1 not started") || !strings.Contains(got, "may start now (1): c") {
		t.Errorf("status: %s", got)
	}
	for cluster, want := range map[string]string{
		"a": "00:57   succeeds and is done", "b": `is progressing and times out at 01:27: "no answer to this version from template x"`,
	} {
		if got := says("explain", cluster); !strings.Contains(got, want) {
			t.Errorf("explain %s: %s, want %q", cluster, got, want)
		}
	}
}

// A start whose time no annotation has says so in its own line: "before" alone reads as a part of the sentence.
func TestExplainSaysThatTheTimeOfAStartIsNotRecorded(t *testing.T) {
	replica := liveReplica{"a", []policyWrite{{"v2", "inform", -60, ""}, {"v2", "enforce", -8, ""}}, ""}.yaml(t, true)
	object := unstructuredOf(t, replica)
	annotations := object.GetAnnotations()
	delete(annotations, "cohort.open-cluster-management.io/applied")
	object.SetAnnotations(annotations)
	dump := []string{livePolicy("v2"), aBinding, decisionOf("a", "b"), asYAML(t, object.Object)}
	got := simulateText(t, documents(dump...), "explain", "a", "-f", "-", "--start", atOne.Format(time.RFC3339))
	if want := "\nearlier started (time not recorded)\nnow     is progressing: \"no answer to this version from template x\""; !strings.Contains(got, want) {
		t.Errorf("no %q in\n%s", want, got)
	}
}
