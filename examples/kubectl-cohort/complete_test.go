// SPDX-License-Identifier: Apache-2.0

package main

import (
	"strings"
	"testing"

	"github.com/cohort-ocm/cohort/status"
)

// A shell is offered what the hub has: rollouts, clusters, closed gates and formats.
func TestAShellIsOfferedWhatTheHubHas(t *testing.T) {
	cluster := func(name string) string {
		return "\napiVersion: cluster.open-cluster-management.io/v1\nkind: ManagedCluster\nmetadata: {name: " + name + "}\nspec: {hubAcceptsClient: true}\n"
	}
	h := newHub(t, documents(decidedSet(t, map[string]string{"gates": "0, prod", "freeze": "edge-2;d why"}, status.Succeeded), cluster("edge-1"), cluster("edge-2"), cluster("lab-1")))
	for _, test := range []struct {
		args []string
		want string
	}{
		{[]string{"status", ""}, "set\n"},
		{[]string{"status", "set", ""}, ""},
		{[]string{"pause", "s"}, "set\n"},
		{[]string{"open-gate", "set", ""}, "0\nprod\n"},
		{[]string{"open-gate", "set", "0", ""}, "prod\n"},
		{[]string{"ignore", "set", "edge-1", "e"}, "edge-2\n"},
		{[]string{"freeze", "set", "e"}, "edge-1\nedge-2\n"},
		{[]string{"unfreeze", "set", ""}, "d\nedge-2\n"},
		{[]string{"allow", "set", "edge-1", "e"}, "edge-2\n"},
		{[]string{"validate", "set", "l"}, "lab-1\n"},
		{[]string{"validate", "set", "lab-1", ""}, "no\nyes\n"},
		{[]string{"validate", "set", "lab-1", "yes", ""}, ""},
		{[]string{"explain", "edge-1", "e"}, "edge-2\n"},
		{[]string{"history", "l"}, "lab-1\n"},
		{[]string{"status", "-o", ""}, "wide\njson\nyaml\nname\n"},
		{[]string{"plan", "-o", ""}, "json\nyaml\n"},
	} {
		got, _, _ := strings.Cut(simulateWith(t, append([]string{"__complete", "--server", h.URL}, test.args...)...), ":")
		if got != test.want {
			t.Errorf("%v: offered %q, want %q", test.args, got, test.want)
		}
	}
	if got := simulateWith(t, "completion", "bash"); !strings.Contains(got, "__complete") {
		t.Errorf("no script for a shell:\n%s", got)
	}
}

// simulateWith is what a command prints, whatever it says besides.
func simulateWith(t *testing.T, args ...string) string {
	t.Helper()
	var stdout, stderr strings.Builder
	if code := run(args, strings.NewReader(""), &stdout, &stderr); code != 0 {
		t.Fatalf("%v: exit status %d: %s", args, code, stderr.String())
	}
	return stdout.String()
}

// What only this library's controllers obey is in the help where all is asked for.
func TestHelpHasWhatNotEveryHubObeysIfAsked(t *testing.T) {
	for _, command := range []string{"plan", "status", "compare", "exposure", "report"} {
		short, long := simulateText(t, "", command, "-h"), simulateText(t, "", command, "-h", "--all")
		for _, name := range extraNames() {
			if strings.Contains(short, "--"+name+" ") || !strings.Contains(long, "--"+name+" ") {
				t.Errorf("%s: --%s is in the short help %v, in the long one %v", command, name, strings.Contains(short, "--"+name+" "), strings.Contains(long, "--"+name+" "))
			}
		}
		if !strings.Contains(short, "10 flags, with -h --all\n") {
			t.Errorf("%s: no hint at -h --all in\n%s", command, short)
		}
	}
}
