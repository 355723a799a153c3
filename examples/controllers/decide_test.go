// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/tools/clientcmd"
	workv1 "open-cluster-management.io/api/work/v1"
	workv1alpha1 "open-cluster-management.io/api/work/v1alpha1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cohort-ocm/cohort/status"
)

const pluginPage = "../kubectl-cohort/README.md"

// operator is a user with the plugin, at a hub with works.
type operator struct {
	*liveWorks
	guard *gatekeeper
	heard io.Writer // also gets what the plugin asks
}

// operate starts a hub with works and 8 clusters, a gatekeeper in front of it, and a set with a closed gate.
func operate(t *testing.T, flags ...string) *operator {
	t.Helper()
	kubeconfig := filepath.Join(t.TempDir(), "hub.kubeconfig")
	run(t, program(t, "apiserver"), "-kubeconfig", kubeconfig)
	h := &liveWorks{hub: connect(t, kubeconfig), kubeconfig: kubeconfig, agents: map[string]status.RolloutStatus{}}
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	h.must(err)
	config.QPS = -1
	h.objects, err = dynamic.NewForConfig(config)
	h.must(err)
	run(t, program(t, "works"), append(flags, "-kubeconfig", kubeconfig, "-metrics-bind-address", "0")...)
	clusters := names("prod", 8)
	for _, name := range clusters {
		cluster := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "cluster.open-cluster-management.io/v1", "kind": "ManagedCluster", "metadata": map[string]any{"name": name}, "spec": map[string]any{"hubAcceptsClient": true}}}
		_, err := h.objects.Resource(schema.GroupVersionResource{Group: "cluster.open-cluster-management.io", Version: "v1", Resource: "managedclusters"}).Create(t.Context(), cluster, metav1.CreateOptions{})
		h.must(err)
	}
	h.place("prod", clusters...)
	o := &workv1alpha1.ManifestWorkReplicaSet{ObjectMeta: metav1.ObjectMeta{Namespace: set.Namespace, Name: set.Name, Annotations: map[string]string{"cohort.open-cluster-management.io/gates": "0"}}}
	o.Spec.ManifestWorkTemplate = template(`{"text":"one"}`)
	o.Spec.PlacementRefs = []workv1alpha1.LocalPlacementReference{{Name: "prod", RolloutStrategy: strategy(3)}}
	h.must(h.Create(t.Context(), o))
	g := guard(t, kubeconfig)
	g.allow(readRole(t, pluginPage, "kubectl-cohort"), readRole(t, pluginPage, "kubectl-cohort-decide"))
	return &operator{h, g, io.Discard}
}

// asks returns the output of the plugin, which must succeed within a minute.
func (o *operator) asks(args ...string) string {
	o.t.Helper()
	out, said, err := o.tries(nil, args...)
	if err != nil {
		o.t.Fatalf("kubectl cohort %v: %v: %s", args, err, said)
	}
	return out
}

func (o *operator) tries(stdin io.Reader, args ...string) (out, said string, err error) {
	ctx, stop := context.WithTimeout(o.t.Context(), patience)
	defer stop()
	cmd := exec.CommandContext(ctx, program(o.t, "kubectl-cohort"), append(args, "--kubeconfig", o.guard.kubeconfig)...)
	var stdout, stderr bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = stdin, &stdout, io.MultiWriter(&stderr, o.heard)
	cmd.WaitDelay = 10 * time.Second // it may end without reading its input
	err = cmd.Run()
	return stdout.String(), stderr.String(), err
}

// says fails the test if a text lacks something.
func (o *operator) says(text string, wants ...string) {
	o.t.Helper()
	for _, want := range wants {
		if !regexp.MustCompile(want).MatchString(text) {
			o.t.Errorf("no %q in\n%s", want, text)
		}
	}
}

// eventually lets the agents answer until a condition holds.
func (o *operator) eventually(what string, so func() bool) {
	o.t.Helper()
	for end := time.Now().Add(patience); ; time.Sleep(30 * time.Millisecond) {
		var works workv1.ManifestWorkList
		o.must(o.List(o.t.Context(), &works))
		o.works = works.Items
		for i := range o.works {
			o.say(&o.works[i])
		}
		if so() {
			return
		}
		if time.Now().After(end) {
			o.t.Fatalf("not within %v: %s\n%s", patience, what, o.asks("status"))
		}
	}
}

// have counts the works with a text.
func (o *operator) have(text string) (n int) {
	for i := range o.works {
		if manifests := o.works[i].Spec.Workload.Manifests; len(manifests) == 1 && strings.Contains(string(manifests[0].Raw), `"`+text+`"`) {
			n++
		}
	}
	return n
}

// doneWith says whether all clusters have a text, and have answered.
func (o *operator) doneWith(text string) func() bool {
	return func() bool {
		return o.have(text) == 8 && !slices.ContainsFunc(o.works, func(w workv1.ManifestWork) bool { return !answered(&w) })
	}
}

// stays checks that a number of clusters have a text, and that no more get it for a second.
func (o *operator) stays(text string, n int) {
	o.t.Helper()
	for end := time.Now().Add(time.Second); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		var works workv1.ManifestWorkList
		o.must(o.List(o.t.Context(), &works))
		if o.works = works.Items; o.have(text) != n {
			o.t.Fatalf("%d have %q, want %d", o.have(text), text, n)
		}
	}
}

// An operator opens a gate, pauses, resumes, retries, ignores a cluster and reverts a version. The plugin prints the
// consequences in advance, and the program works does that.
func TestAPersonDecidesWithThePlugin(t *testing.T) {
	t.Parallel()
	o := operate(t)
	o.stays("one", 0)
	o.says(o.asks("status", set.Name), "the gate before group 0 is closed", "to do: open the gate")
	o.says(o.asks("open-gate", set.Name, "--dry-run"), "3 clusters start at once: prod-00 prod-01 prod-02")
	o.stays("one", 0)
	o.says(o.asks("open-gate", set.Name, "0", "--yes"), "3 clusters start at once", "forecast: Complete",
		`(?m)^manifestworkreplicaset.work.open-cluster-management.io/web annotated$`)
	o.eventually("all have the first version", o.doneWith("one"))

	o.says(o.asks("pause", set.Name, "-y"), "no cluster starts at once")
	o.must(o.patch(`{"metadata":{"annotations":{"cohort.open-cluster-management.io/gates":null}}}`))
	first := clustersOf(o)[0]
	o.silence()
	o.change(`{"text":"two"}`)
	o.stays("two", 0)
	o.says(o.asks("resume", set.Name, "-y"), "3 clusters start at once", "can get to 3 of 8 clusters at most")
	o.firstFails("two")

	delete(o.agents, first)
	o.says(o.asks("retry", set.Name, "-y"), "attempt 1 at version .*, where it failed: "+first, "3 clusters start at once: "+first)
	o.eventually("all have the second version", o.doneWith("two"))
	if _, said, err := o.tries(nil, "retry", set.Name, "-y"); err == nil || !strings.Contains(said, "no cluster failed or timed out") {
		t.Errorf("tried again for nothing: %v %s", err, said)
	}

	o.silence()
	o.change(`{"text":"three"}`)
	o.firstFails("three")
	o.says(o.asks("abort", set.Name, "-y"), "to the template of 5 clusters that wait", "3 clusters start at once", `web patched`)
	delete(o.agents, first)
	o.eventually("all are back", o.doneWith("two"))

	o.silence()
	o.change(`{"text":"four"}`)
	o.firstFails("four")
	o.says(o.asks("ignore", set.Name, first, "-y"), "ignore "+first, "3 clusters start at once")
	o.eventually("all others have it", o.doneWith("four"))
	if _, said, err := o.tries(nil, "abort", set.Name, "-y"); err == nil || !strings.Contains(said, "no cluster waits with another template") {
		t.Errorf("rolled back to nothing: %v %s", err, said)
	}
}

// silence makes the first three clusters silent, so that they keep a version until one is made to fail.
func (o *operator) silence() {
	for _, name := range clustersOf(o)[:3] {
		o.agents[name] = ""
	}
}

// firstFails waits until the three have a text, and makes the first of them fail. The others then succeed.
func (o *operator) firstFails(text string) {
	o.t.Helper()
	o.eventually("three have "+text, func() bool { return o.have(text) == 3 })
	three := clustersOf(o)[:3]
	o.agents[three[0]] = status.Failed
	o.eventually("one has failed with "+text, func() bool { return strings.Contains(o.asks("status"), "Failed") })
	delete(o.agents, three[1])
	delete(o.agents, three[2])
	o.eventually("the others are done with "+text, func() bool { return strings.Contains(o.asks("status"), "2 of 8 clusters done") })
}

// With revisions, the controller rolls one back, on all its clusters at once.
func TestAPersonTakesARevisionBackWithThePlugin(t *testing.T) {
	t.Parallel()
	o := operate(t, "-rollback")
	o.asks("open-gate", set.Name, "-y")
	o.eventually("all have the first revision, and the set says so", func() bool {
		var stored unstructured.Unstructured // only the current revision of the set is one to roll back to
		stored.SetAPIVersion("work.open-cluster-management.io/v1alpha1")
		stored.SetKind("ManifestWorkReplicaSet")
		o.must(o.Get(t.Context(), client.ObjectKey(set), &stored))
		current, _, _ := unstructured.NestedString(stored.Object, "status", "currentRevision")
		return current != "" && o.doneWith("one")() && strings.Contains(o.asks("status"), "Succeeded")
	})
	o.agents["prod-00"], o.agents["prod-01"], o.agents["prod-02"] = "", "", ""
	o.must(o.patch(`{"metadata":{"annotations":{"cohort.open-cluster-management.io/gates":null}}}`))
	o.change(`{"text":"two"}`)
	o.eventually("three have the second, and the set names both revisions", func() bool {
		_, _, err := o.tries(nil, "abort", set.Name, "--dry-run")
		return err == nil && o.have("two") == 3
	})
	o.says(o.asks("abort", set.Name, "--yes"), `roll revision \S+ back to revision \S+\n`, "3 clusters that have the version roll back at once: prod-00 prod-01 prod-02")
	clear(o.agents)
	o.eventually("all are back", o.doneWith("one"))
	o.says(o.asks("status", set.Name), "note: revision .* is rolled back since ")
}

func (o *operator) patch(patch string) error {
	owner := &workv1alpha1.ManifestWorkReplicaSet{ObjectMeta: metav1.ObjectMeta{Namespace: set.Namespace, Name: set.Name}}
	return o.Patch(o.t.Context(), owner, client.RawPatch(types.MergePatchType, []byte(patch)))
}

func clustersOf(o *operator) (names []string) {
	for i := range o.works {
		names = append(names, o.works[i].Namespace)
	}
	slices.Sort(names)
	return names
}

// If objects changed while the plugin waited for the operator's answer, it writes nothing.
func TestADecisionIsAboutWhatWasRead(t *testing.T) {
	t.Parallel()
	o := operate(t)
	stdin, answer := io.Pipe()
	asked, heard := io.Pipe()
	o.heard = heard
	go func() {
		defer io.Copy(io.Discard, asked)
		_, _ = bufio.NewReader(asked).ReadString('?') // it asks once it has read everything
		_ = o.patch(`{"metadata":{"annotations":{"cohort.open-cluster-management.io/pause":"true"}}}`)
		_, _ = answer.Write([]byte("yes\n"))
		answer.Close()
	}()
	_, said, err := o.tries(stdin, "open-gate", set.Name)
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != 2 || !strings.Contains(said, "it changed after it was read, nothing is written") {
		t.Errorf("%v: %s", err, said)
	}
	if now, err := o.set(); err != nil || now.Annotations["cohort.open-cluster-management.io/open-gates"] != "" {
		t.Errorf("%v: the gate is open: %v", err, now.Annotations)
	}
}

func sorted(g *gatekeeper) []string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.Sorted(slices.Values(g.asked.UnsortedList()))
}

// The permissions on the page suffice, and each is needed: commands that read use all permissions to read and no others,
// and without the permission to patch nothing is written.
func TestThePluginNeedsTheseRightsAlone(t *testing.T) {
	t.Parallel()
	o := operate(t)
	reads, decides := readRole(t, pluginPage, "kubectl-cohort"), readRole(t, pluginPage, "kubectl-cohort-decide")
	for namespace, metadata := range map[string]map[string]any{
		"policies": {"name": "etcd"},
		"prod-03":  {"name": "policies.etcd", "labels": map[string]any{"policy.open-cluster-management.io/root-policy": "policies.etcd"}},
	} {
		_, err := o.objects.Resource(resource("policies")).Namespace(namespace).Create(t.Context(), &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "policy.open-cluster-management.io/v1", "kind": "Policy", "metadata": metadata,
			"spec": map[string]any{"disabled": false, "policy-templates": []any{map[string]any{"objectDefinition": map[string]any{
				"apiVersion": "policy.open-cluster-management.io/v1", "kind": "ConfigurationPolicy", "metadata": map[string]any{"name": "it"}}}}}}}, metav1.CreateOptions{})
		o.must(err)
	}
	o.guard.allow(reads)
	for _, command := range [][]string{{"status"}, {"explain"}, {"explain", "prod-03"}, {"plan"}, {"exposure"}, {"compare", "--rollout", set.Name}, {"history", "prod-03"}, {"dependencies"},
		{"pause", set.Name, "--dry-run"}, {"status", "-o", "wide"}} {
		o.asks(command...)
	}
	before, err := o.set()
	o.must(err)
	for _, command := range [][]string{{"open-gate", set.Name}, {"pause", set.Name}, {"ignore", set.Name, "prod-03"}, {"freeze", set.Name, "prod-03"}, {"allow", set.Name}, {"start-first", set.Name, "prod-03"}} {
		_, said, err := o.tries(nil, append(command, "--yes")...)
		var exit *exec.ExitError
		if !errors.As(err, &exit) || exit.ExitCode() != 2 || !strings.Contains(said, "nothing is written: ") || !strings.Contains(said, "is forbidden") {
			t.Errorf("%v without the right to patch: %v: %s", command, err, said)
		}
	}
	if after, err := o.set(); err != nil || after.Generation != before.Generation || len(after.Annotations) != len(before.Annotations) {
		t.Errorf("%v: it was written: %v", err, after.Annotations)
	}
	// The add-ons of a hub are read if one of them rolls out; this API server has none.
	missing := slices.DeleteFunc(slices.Clone(reads), func(r string) bool {
		return o.guard.asked.Has(r) || strings.Contains(r, " managedclusteraddons.")
	})
	if len(missing) > 0 {
		t.Errorf("the page asks for permissions that no command uses: %v", missing)
	}

	for i, right := range reads { // each is needed, unless the output says what is unknown without it
		if strings.Contains(right, " managedclusteraddons.") {
			continue
		}
		o.guard.allow(slices.Delete(slices.Clone(reads), i, i+1))
		commands := []string{"status", "dependencies", "history"}
		noticed := slices.ContainsFunc(commands, func(command string) bool {
			args := []string{command}
			if command == "history" {
				args = append(args, "prod-03")
			}
			out, said, err := o.tries(nil, args...)
			resource := strings.Fields(right)[1]
			note := regexp.MustCompile(`(?m)^\s*note: (left out: each \w+: .*|)` + regexp.QuoteMeta(resource) + `\b.*(may not be listed|forbidden)`)
			return strings.Contains(said, resource) && err != nil || note.MatchString(out+said)
		})
		if !noticed {
			t.Errorf("without %s no command of %v says so", right, commands)
		}
	}

	o.guard.allow(reads, decides)
	o.asks("open-gate", set.Name, "--yes")
	if now, err := o.set(); err != nil || now.Annotations["cohort.open-cluster-management.io/open-gates"] == "" {
		t.Errorf("%v: with the right to patch: %v", err, now.Annotations)
	}
	text, _ := json.Marshal(sorted(o.guard))
	t.Logf("used: %s", text)
}
