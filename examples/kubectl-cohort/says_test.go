// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode"

	"sigs.k8s.io/yaml"
)

// Of works that nothing calls progressing a command says so from the first look on, and never forecasts that they are done. It says why
// clusters failed, or are not done, in the words of their conditions.
func TestWhatClustersSay(t *testing.T) {
	for _, test := range []struct {
		why, command, at string
		says, never      string // a line each
	}{
		{"works without conditionRules hold their slots", "status web -f noprog.yaml", "09:05",
			"warning: the workload is applied on c1, but no conditionRules tell when it is done\n" +
				"add conditionRules to the template that tell when the workload is done, or have the controller count the workload as done when its condition Available is True (AvailableSucceeds)\nforecast: Stuck",
			"has not reported on this version\nprogressDeadline\nComplete"},
		{"one of them", "explain c1 -f noprog.yaml", "09:05", "now              has applied the workload, but no conditionRules tell when it is done", "has not reported on this version\nis done at"},
		{"a cluster that waits for it", "explain c2 -f noprog.yaml", "09:05", "waits until a user acts\nc1 has applied the workload, but no conditionRules tell when it is done", "has not reported on this version\nstarts"},
		{"with a deadline all of them time out, and it is said why", "status web -f hubup.yaml", "09:05",
			`c1 c2 c3: "its template has no conditionRules that set the condition Progressing, so it is unknown when the workload is done"`, "has not reported on this version\nComplete"},
		{"one that timed out", "explain c2 -f hubup.yaml", "09:05", `times out: "its template has no conditionRules that set the condition Progressing, so it is unknown when the workload is done"`, "has not reported on this version"},
		{"within the deadline, and before any other has started", "plan -f hubup.yaml", "00:05", "", "Complete"},

		{"a stop says why", "status web -f degmsg.yaml", "05:20", `the rollout is stopped: c1 failed, maxFailures is 0; the rollout continues once c1 is no longer failed or timed out; c1: "Deployment web exceeded its progress deadline"` + "\nas reported:", ""},
		{"a cluster that failed says why", "explain c1 -f degmsg.yaml", "05:20", `fails: "Deployment web exceeded its progress deadline"`, ""},
		{"an add-on that failed", "status proxy -f addonfail.yaml", "05:20", `c1: "config.x not found"`, ""},
		{"and its cluster", "explain c1 -f addonfail.yaml", "05:20", `fails: "config.x not found"`, ""},
		{"a policy that does not comply", "status app -f polnc.yaml", "05:20", `c2: "app-cm: NonCompliant; violation - configmaps [web] not found"`, ""},
		{"and its cluster", "explain c2 -f polnc.yaml", "05:20", "configmaps [web] not found", ""},
		{"an add-on that is not done", "status proxy -f addonunsup.yaml", "05:20", "is not supported for this addon", ""},
		{"and its cluster", "explain c1 -f addonunsup.yaml", "05:20", "now     is progressing: \"Configuration with gvr proxy/x is not supported for this addon\"", ""},
	} {
		args := strings.Fields(strings.Replace(test.command, "-f ", "-f testdata/says/", 1))
		day := "2026-11-28T"
		if test.at == "00:05" {
			day = "2026-05-01T"
		}
		got := simulateText(t, "", append(args, "--start", day+test.at+":00Z")...)
		for _, line := range strings.FieldsFunc(test.says, func(r rune) bool { return r == '\n' }) {
			if !strings.Contains(got, line) {
				t.Errorf("%s: %s does not say %q:\n%s", test.why, test.command, line, got)
			}
		}
		for _, line := range strings.FieldsFunc(test.never, func(r rune) bool { return r == '\n' }) {
			if strings.Contains(got, line) {
				t.Errorf("%s: %s says %q:\n%s", test.why, test.command, line, got)
			}
		}
	}
}

// saying gives an object of testdata/says with an annotation on the set, and a message for each condition.
func saying(t testing.TB, file, annotation, message string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", "says", file))
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, text := range strings.Split(string(data), "\n---\n") {
		var object map[string]any
		if err := yaml.Unmarshal([]byte(text), &object); err != nil {
			t.Fatal(err)
		}
		if metadata := object["metadata"].(map[string]any); object["kind"] == "ManifestWorkReplicaSet" && annotation != "" {
			metadata["annotations"] = map[string]any{"cohort.open-cluster-management.io/available-succeeds": annotation}
		}
		if st, ok := object["status"].(map[string]any); ok && message != "" {
			conditions, _ := st["conditions"].([]any)
			for _, c := range conditions {
				c.(map[string]any)["message"] = message
			}
		}
		text, err := json.Marshal(object)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, string(text))
	}
	return strings.Join(all, "\n---\n")
}

// A set says whether Available counts, in an annotation that its controller reads as well.
func TestAvailableSucceeds(t *testing.T) {
	for _, test := range []struct{ value, want string }{
		{"true", "1 of 3 clusters done"},
		{"false", "0 of 3 clusters done"},
		{"yes", `note: metadata.annotations[cohort.open-cluster-management.io/available-succeeds]: "yes" must be true or false: Available does not count`},
	} {
		got := simulateText(t, saying(t, "noprog.yaml", test.value, ""), "status", "web", "-f", "-", "--start", "2026-11-28T09:05:00Z")
		if !strings.Contains(got, test.want) || strings.Contains(got, "forecast: Complete") != (test.value == "true") {
			t.Errorf("%s: want %q:\n%s", test.value, test.want, got)
		}
	}
}

// Before there is any work, the template says whether its works can be done. A forecast of a set whose template has no conditionRules for
// Progressing never ends well, unless Available counts. A template without manifests is a sketch, of which nothing is known.
func TestATemplateSaysBeforeThereAreWorks(t *testing.T) {
	const manifest = "workload:\n      manifests:\n      - apiVersion: v1\n        kind: Namespace\n        metadata:\n          name: web"
	rule := func(condition string) string {
		return manifest + "\n    manifestConfigs: [{resourceIdentifier: {resource: namespaces, name: web}, conditionRules: [{condition: " + condition + `, type: CEL, celExpressions: ["false"]}]}]`
	}
	for _, test := range []struct {
		why, annotation, template string
		done                      bool
	}{
		{"no rules", "", manifest, false},
		{"Available does not count", "false", manifest, false},
		{"Available counts", "true", manifest, true},
		{"a rule for Progressing", "", rule("Progressing"), true},
		{"a rule for another condition", "", rule("Degraded"), false},
		{"a sketch", "", "{}", true},
	} {
		var texts []string
		for _, text := range strings.Split(saying(t, "noprog.yaml", test.annotation, ""), "\n---\n") {
			var object map[string]any
			if err := yaml.Unmarshal([]byte(text), &object); err != nil {
				t.Fatal(err)
			}
			switch object["kind"] {
			case "ManifestWork":
				continue
			case "ManifestWorkReplicaSet":
				var template map[string]any
				if err := yaml.Unmarshal([]byte(strings.ReplaceAll(test.template, "\n    ", "\n")), &template); err != nil {
					t.Fatal(err)
				}
				object["spec"].(map[string]any)["manifestWorkTemplate"] = template
			}
			text, err := json.Marshal(object)
			if err != nil {
				t.Fatal(err)
			}
			texts = append(texts, string(text))
		}
		for _, command := range []string{"plan", "status web"} {
			got := simulateText(t, strings.Join(texts, "\n---\n"), append(strings.Fields(command), "-f", "-", "--start", "2026-11-28T09:05:00Z")...)
			const says = "note: ManifestWork: no conditionRules in the template say when it is done, so no cluster is done: the rules have to set the condition Progressing"
			if strings.Contains(got, "Complete") != test.done || strings.Contains(got, says) == test.done {
				t.Errorf("%s: %s ends well is not %v:\n%s", test.why, command, test.done, got)
			}
			got = simulateText(t, strings.Join(texts, "\n---\n"), append(strings.Fields(command), "-f", "-", "--start", "2026-11-28T09:05:00Z", "--takes", "2m")...)
			const given = "clusters are done all the same, as --takes is given"
			if !strings.Contains(got, "Complete") || strings.Contains(got, given) == test.done {
				t.Errorf("%s: %s --takes 2m does not end well:\n%s", test.why, command, got)
			}
		}
	}
}

// FuzzMessages: whatever the agent of a cluster writes, it does nothing to a terminal, to JSON or to the page: no line, control character or
// markup comes of it.
func FuzzMessages(f *testing.F) {
	for _, seed := range []string{
		"Deployment web exceeded its progress deadline", "a\r\nforecast: Complete", "\x1b]0;title\x07\x1b[2J", "</script><script>alert(1)</script>",
		`"><img src=x onerror=alert(1)>`, "\u202egnp.exe", "{{.Now}}", "2026-11-28T05:30:00Z", "\x00\xff", strings.Repeat("<", 5000),
	} {
		f.Add(seed)
	}
	const start = "2026-11-28T05:20:00Z"
	commands := [][]string{{"status", "web"}, {"status", "web", "-o", "json"}, {"explain", "c1"}, {"explain", "c2", "-o", "json"}, {"report", "-"}}
	write := func(t testing.TB, input string, command []string) string {
		var stdout, stderr bytes.Buffer
		args := append(command[:len(command):len(command)], "-f", "-", "--start", start)
		if code := cohort(args, strings.NewReader(input), &stdout, &stderr); code != 0 {
			t.Fatalf("%q: %d, %s", args, code, stderr.String())
		}
		return stdout.String()
	}
	of := func(text string) (n [4]int) {
		for i, sign := range []string{"\n", "<", ">", "\x1b"} {
			n[i] = strings.Count(text, sign)
		}
		return n
	}
	var plain [][4]int
	said := saying(f, "degmsg.yaml", "", "said")
	for _, command := range commands {
		plain = append(plain, of(write(f, said, command)))
	}
	f.Fuzz(func(t *testing.T, message string) {
		if !strings.ContainsFunc(message, func(r rune) bool { return r != ' ' && unicode.IsPrint(r) }) {
			return // it has nothing to show, as one that is empty
		}
		input := saying(t, "degmsg.yaml", "", message) // takes as long as a command
		for i, command := range commands {
			got := write(t, input, command)
			is, page := of(got), command[0] == "report"
			switch json := json.Valid([]byte(got)); {
			case is[0] != plain[i][0] || is[3] > 0:
				t.Errorf("%s: %d lines, want %d, and %d escapes:\n%q", command, is[0], plain[i][0], is[3], got)
			case page && is != plain[i]:
				t.Errorf("%s: %q makes markup: %v, want %v", command, message, is, plain[i])
			case command[len(command)-1] == "json" && !json:
				t.Errorf("%s: no JSON:\n%s", command, got)
			case strings.ContainsFunc(got, func(r rune) bool {
				return r != '\n' && r != '\t' && unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r)
			}):
				t.Errorf("%s: control characters:\n%q", command, got)
			}
		}
	})
}
