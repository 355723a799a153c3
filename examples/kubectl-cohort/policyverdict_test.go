// SPDX-License-Identifier: Apache-2.0

package main

import (
	"strings"
	"testing"
)

// validatedPolicy is a hub on which the clusters of a policy are validated, two at a time: a and b comply, and c and d wait. A has the
// verdict; none if it is empty.
func validatedPolicy(t *testing.T, validate, verdict string) string {
	t.Helper()
	root := unstructuredOf(t, livePolicy("v2"))
	if validate != "" {
		root.SetAnnotations(map[string]string{annotationPrefix + "validate": validate})
	}
	dump := []string{asYAML(t, root.Object), aBinding, decisionOf("a", "b", "c", "d")}
	for _, cluster := range []string{"a", "b", "c", "d"} {
		r := liveReplica{cluster, []policyWrite{{"v2", "inform", -30, ""}, {"v2", "enforce", -20, "NonCompliant -29"}}, "Compliant -10"}
		if cluster > "b" {
			r = liveReplica{cluster, []policyWrite{{"v2", "inform", -30, ""}}, "NonCompliant -29"}
		}
		object := unstructuredOf(t, r.yaml(t, true))
		if annotations := object.GetAnnotations(); verdict != "" && cluster == "a" {
			annotations[annotationPrefix+"verdict"] = strings.ReplaceAll(verdict, "VERSION", policyVersion(t, livePolicy("v2")))
			object.SetAnnotations(annotations)
		}
		dump = append(dump, asYAML(t, object.Object))
	}
	return documents(dump...)
}

// Where clusters of a policy are validated, one that complies is in flight until it is found good, in every answer.
func TestClustersOfAPolicyAreValidated(t *testing.T) {
	at := at(0).Format("2006-01-02T15:04:05Z")
	yes, no := `{"result": "SUCCEEDED", "version": "VERSION"}`, `{"result": "FAILED", "version": "VERSION", "message": "no route"}`
	for _, test := range []struct {
		why, validate, verdict string
		args                   []string
		want                   []string
	}{
		{"there is no verdict", "true", "", []string{"status"}, []string{"0 of 4 clusters done, 2 in flight (of these 2 waiting for validation), 2 not started\n", "a b: waits for validation and times out at 01:20", "kubectl cohort validate ns/pol a yes\n", "validated, as the annotation"}},
		{"a was found good", "true", yes, []string{"status"}, []string{"1 of 4 clusters done, 1 in flight (of these 1 waiting for validation), 2 not started\n", "may start now (1): c\n"}},
		{"a was not found good", "true", no, []string{"status"}, []string{"stopped: a failed", `"no route"`}},
		{"of another version it counts for nothing", "true", strings.Replace(yes, "VERSION", "other", 1), []string{"status"}, []string{"2 waiting for validation"}},
		{"the value is invalid", "true", "yes", []string{"status"}, []string{"no cluster starts as long as that stands there", "2 waiting for validation", "the rollout is paused"}},
		{"the annotation is invalid", "yes", "", []string{"status"}, []string{`"yes" must be true or false: no cluster starts`, "the rollout is paused"}},
		{"they are not validated", "false", no, []string{"status"}, []string{"2 of 4 clusters done, 2 not started\n"}},
		{"a forecast finds them good", "true", "", []string{"plan"}, []string{"Complete", "a forecast finds each good at once"}},
		{"also where a cluster was deselected", "true", "", []string{"plan", "--fail", "c"}, []string{"Breached"}},
	} {
		got := simulateText(t, validatedPolicy(t, test.validate, test.verdict), append(test.args, "-f", "-", "--start", at)...)
		for _, want := range test.want {
			if !strings.Contains(got, want) {
				t.Errorf("%s: no %q in\n%s", test.why, want, got)
			}
		}
	}
}

// What a person says of a cluster of a policy stands in its replicated policy.
func TestAPersonValidatesAClusterOfAPolicy(t *testing.T) {
	h := newHub(t, recent(validatedPolicy(t, "true", "")))
	version := policyVersion(t, livePolicy("v2"))
	got := simulateText(t, "", "validate", "pol", "a", "yes", "--dry-run", "--server", h.URL)
	for _, want := range []string{"a is good with version " + version + "\n", "2 waiting for validation", "1 cluster starts at once: c\n"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
	for _, test := range []struct {
		validate string
		args     []string
		want     string
	}{
		{"true", []string{"c", "yes"}, "c: must have succeeded with version " + version},
		{"true", []string{"a", "no"}, "no: must have a --reason"},
		{"", []string{"a", "yes"}, `its clusters are not validated: it has no annotation cohort.open-cluster-management.io/validate: "true"`},
	} {
		h := newHub(t, recent(validatedPolicy(t, test.validate, "")))
		if got := refused(t, "", append([]string{"validate", "pol", "--server", h.URL, "-y"}, test.args...)...); !strings.Contains(got, test.want) {
			t.Errorf("%v: no %q in %s", test.args, test.want, got)
		}
	}
}
