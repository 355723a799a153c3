// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cohort-ocm/cohort/status"
)

// kubeconfigAt is a kubeconfig for a hub, with a context that is at a namespace and one that is at none.
func kubeconfigAt(t *testing.T, server, namespace string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "kubeconfig")
	text := fmt.Sprintf(`{apiVersion: v1, kind: Config, current-context: here,
clusters: [{name: hub, cluster: {server: %q}}], users: [{name: me, user: {}}],
contexts: [{name: here, context: {cluster: hub, user: me, namespace: %q}}, {name: nowhere, context: {cluster: hub, user: me}}]}`, server, namespace)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// A command that writes takes a name without a namespace for one of the context's namespace, as kubectl does.
func TestADecisionIsInTheContextsNamespace(t *testing.T) {
	alone := decidedSet(t, nil, status.Succeeded)
	both := documents(alone, strings.NewReplacer("namespace: ns\n", "namespace: other\n", "namespace: ns,", "namespace: other,").Replace(alone))
	const missing = "nothing of this name rolls out in namespace other, which the context of the kubeconfig has: must be given as NAMESPACE/set, or with -n"
	for _, test := range []struct {
		why, text, context string
		args               []string
		want               string // of the refusal, or of what follows
		refused            bool
	}{
		{"the only one of the name is elsewhere", alone, "other", []string{"set", "--yes"}, missing, true},
		{"the context is there", alone, "ns", []string{"set", "--dry-run"}, "ManifestWorkReplicaSet ns/set: pause\n", false},
		{"the context decides between two", both, "other", []string{"set", "--dry-run"}, "ManifestWorkReplicaSet other/set: pause\n", false},
		{"the name has a namespace", alone, "other", []string{"ns/set", "--dry-run"}, "ManifestWorkReplicaSet ns/set: pause\n", false},
		{"the name has a kind and a namespace", alone, "other", []string{"manifestworkreplicaset/ns/set", "--dry-run"}, "ManifestWorkReplicaSet ns/set: pause\n", false},
		{"the name has a kind alone", alone, "other", []string{"manifestworkreplicaset/set", "--yes"}, "in namespace other, which the context", true},
		{"-n says more than the context", alone, "other", []string{"set", "-n", "ns", "--dry-run"}, "ManifestWorkReplicaSet ns/set: pause\n", false},
		{"--context chooses another context", alone, "other", []string{"set", "--context", "nowhere", "--dry-run"}, "ManifestWorkReplicaSet ns/set: pause\n", false},
	} {
		t.Run(test.why, func(t *testing.T) {
			h := newHub(t, test.text)
			args := append([]string{"pause", "--kubeconfig", kubeconfigAt(t, h.URL, test.context)}, test.args...)
			if test.refused {
				if got := refused(t, "", args...); !strings.Contains(got, test.want) {
					t.Errorf("%s, want %s", got, test.want)
				}
			} else if got := simulateText(t, "", args...); !strings.HasPrefix(got, test.want) {
				t.Errorf("does not begin with %q:\n%s", test.want, got)
			}
		})
	}
}

// A cluster whose object is gone counts by the record, and can be ignored as its explanation says.
func TestAClusterOfTheRecordAloneCanBeIgnored(t *testing.T) {
	record := fmt.Sprintf(`{"p":{"version":%q,"left":[{"cluster":"gone","status":"TimeOut","group":{"index":0}}]}}`, versionOf("v3"))
	h := newHub(t, decidedSet(t, map[string]string{"left": record}, status.Succeeded))
	if got := simulateText(t, "", "ignore", "set", "gone", "--dry-run", "--server", h.URL); !strings.Contains(got, "ignore gone\n") || !strings.Contains(got, "1 cluster starts at once: c\n") {
		t.Error(got)
	}
	if got := refused(t, "", "ignore", "set", "never", "--dry-run", "--server", h.URL); !strings.Contains(got, "never: must be a cluster of the rollout") {
		t.Error(got)
	}
}
