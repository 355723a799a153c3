// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/clientcmd"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	sig "sigs.k8s.io/cluster-inventory-api/apis/v1alpha1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cohort-ocm/cohort/decisionupdate"
	"github.com/cohort-ocm/cohort/decisionupdate/mirror"
	"github.com/cohort-ocm/cohort/examples/inventory"
	"github.com/cohort-ocm/cohort/grouping"
)

var built string // the directory of the built programs

// programs builds the API server of examples/controllers, which is another module, and the mirror of this one.
var programs = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "conformance")
	if err != nil {
		return "", err
	}
	built = dir
	for _, build := range [][2]string{{"../../controllers", "./apiserver"}, {"..", "./mirror"}} {
		cmd := exec.Command("go", "build", "-o", dir+"/", build[1])
		cmd.Dir = build[0]
		if out, err := cmd.CombinedOutput(); err != nil {
			return dir, fmt.Errorf("%w: %s", err, out)
		}
	}
	return dir, nil
})

func TestMain(m *testing.M) {
	code := m.Run()
	if built != "" {
		os.RemoveAll(built)
	}
	os.Exit(code)
}

// server starts an API server with the definitions of OCM and of SIG Multicluster, from their modules, and returns a
// kubeconfig. A lax one accepts slices of more than 100.
func server(t *testing.T, lax bool) string {
	t.Helper()
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "sigs.k8s.io/cluster-inventory-api").Output()
	if err != nil {
		t.Fatal(err)
	}
	definitions := filepath.Join(strings.TrimSpace(string(out)), "config/crd/bases")
	if lax {
		definitions = relaxed(t, definitions)
	}
	kubeconfig := filepath.Join(t.TempDir(), "hub.kubeconfig")
	start(t, "../../controllers", "apiserver", "-kubeconfig", kubeconfig, "-definitions", definitions)
	for end := time.Now().Add(3 * time.Minute); ; time.Sleep(50 * time.Millisecond) {
		if _, err := os.Stat(kubeconfig); err == nil {
			return kubeconfig
		} else if time.Now().After(end) {
			t.Fatal(err)
		}
	}
}

// relaxed returns a directory with definitions that have no maximum.
func relaxed(t *testing.T, definitions string) string {
	t.Helper()
	dir := t.TempDir()
	files, err := filepath.Glob(filepath.Join(definitions, "*.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, filepath.Base(file)), bytes.ReplaceAll(text, []byte("maxItems: 100"), []byte("maxItems: 1000")), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// commands returns the flags -stop and -start for two functions.
func commands(t *testing.T, stop, start func()) []string {
	t.Helper()
	dir := t.TempDir()
	asked := func(name string, do func()) {
		path := filepath.Join(dir, name)
		if _, err := os.Stat(path); err == nil {
			do()
			_ = os.Remove(path)
		}
	}
	go func() {
		for ; t.Context().Err() == nil; time.Sleep(10 * time.Millisecond) {
			asked("stop", stop)
			asked("start", start)
		}
	}()
	const command = "touch %[1]s/%[2]s; while [ -e %[1]s/%[2]s ]; do sleep 0.01; done"
	return []string{"-stop", fmt.Sprintf(command, dir, "stop"), "-start", fmt.Sprintf(command, dir, "start")}
}

// start runs a program until the test ends, or until the returned function is called.
func start(t *testing.T, dir, name string, args ...string) (stop func()) {
	t.Helper()
	built, err := programs()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(filepath.Join(built, name), args...)
	cmd.Dir = dir
	var said strings.Builder
	cmd.Stdout, cmd.Stderr = io.Discard, &said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	stop = sync.OnceFunc(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		if t.Failed() {
			t.Logf("%s said: %.2000s", name, said.String())
		}
	})
	t.Cleanup(stop)
	return stop
}

// judge runs the suite against the running mirror, and returns its output by requirement.
func judge(t *testing.T, kubeconfig string, args ...string) (failed bool, lines map[string]string) {
	t.Helper()
	var out strings.Builder
	failed, err := run(t.Context(), append(args, "-kubeconfig", kubeconfig, "-namespace", "apps"), &out)
	if err != nil {
		t.Fatal(err)
	}
	lines = map[string]string{}
	for line := range strings.Lines(out.String()) {
		t.Log(strings.TrimSpace(line))
		lines[strings.Fields(line[11:])[0]] = strings.TrimSpace(line)
	}
	return failed, lines
}

// The mirror of this module passes on a real API server. It is killed and restarted during a shuffle.
func TestOurMirrorPasses(t *testing.T) {
	t.Parallel()
	kubeconfig := server(t, false)
	begin := func() func() {
		return start(t, ".", "mirror", "-kubeconfig", kubeconfig, "-profile-namespace", "fleet", "-metrics-bind-address", "0")
	}
	stop := begin()
	commands := commands(t, func() { stop() }, func() { stop = begin() })
	var watched sync.WaitGroup
	defer watched.Wait()
	watched.Go(func() { // meanwhile its slices are judged as a scheduler's
		var out strings.Builder
		args := []string{"-kubeconfig", kubeconfig, "-namespace", "apps", "-selector", sig.DecisionKeyLabel + "=" + placement, "-watch", "20s"}
		if failed, err := run(t.Context(), args, &out); failed || err != nil || !strings.Contains(out.String(), "pass       never-absent") {
			t.Errorf("watched: %v\n%s", err, out.String())
		}
	})
	failed, lines := judge(t, kubeconfig, append(commands, "-profile-namespace", "fleet")...)
	for _, name := range strings.Fields("slice-size slicing decision-key index-value decision-index order references one-to-one selected never-absent restart delete ownership") {
		if failed || !strings.HasPrefix(lines[name], "pass") {
			t.Errorf("%s: %s", name, lines[name])
		}
	}
}

// A mirror with one fault fails exactly what the fault breaks, with the smallest case.
func TestBrokenMirrorsAreCaught(t *testing.T) {
	t.Parallel()
	const passed = "slice-size slicing decision-key index-value decision-index order names references one-to-one selected never-absent restart delete ownership"
	for _, test := range []struct {
		fault fault
		lax   bool // the hub accepts slices of more than 100
		fails map[string]string
	}{
		{groupIndex, false, map[string]string{
			"decision-index": "create: conformance-0-1 and conformance-0-2 both have the index 0"}},
		{anyOrder, false, map[string]string{
			"never-absent": "swap while the mirror is down: apps/cluster-0001 is in no slice: conformance-0-1 loses it in event",
			"restart":      "swap while the mirror is down: apps/cluster-0001 is in no slice: conformance-0-1 loses it in event"}},
		{over100, false, map[string]string{
			"slicing":  "an object of 101: 101 clusters are selected, and 3 slices have 100 of them",
			"selected": "an object of 101: apps/cluster-"}},
		{over100, true, map[string]string{
			"slice-size": "an object of 101: conformance-0-1 has 101 clusters"}},
	} {
		t.Run(fmt.Sprintf("%s lax=%v", test.fault, test.lax), func(t *testing.T) {
			t.Parallel()
			kubeconfig := server(t, test.lax)
			b := newBroken(t, kubeconfig, test.fault)
			go b.copy(t.Context())
			_, lines := judge(t, kubeconfig, append(commands(t, b.mu.Lock, b.mu.Unlock), "-settle", "10s")...)
			for _, name := range strings.Fields(passed) {
				want := "pass"
				if test.fails[name] != "" {
					want = "fail"
				}
				if !strings.HasPrefix(lines[name], want) || !strings.Contains(lines[name], test.fails[name]) {
					t.Errorf("%s: %q, want %s %s", name, lines[name], want, test.fails[name])
				}
			}
		})
	}
}

// The mirror that copies object by object passes all with a source that waits for it, and so does a mirror that always
// lags.
func TestSourceThatWaitsProtectsAnyMirror(t *testing.T) {
	t.Parallel()
	kubeconfig := server(t, false)
	b := newBroken(t, kubeconfig, anyOrder)
	b.lag = 100 * time.Millisecond
	go b.copy(t.Context())
	if failed, lines := judge(t, kubeconfig, "-gate", "20s"); failed || !strings.HasPrefix(lines["never-absent"], "pass") {
		t.Error("it fails")
	}
}

// A case that cannot be judged is an error, not a verdict.
func TestBadInput(t *testing.T) {
	for want, args := range map[string][]string{
		"-namespace must be given, and no arguments": {"-watch", "1s"},
		`arguments ["web"]`:                          {"-namespace", "apps", "web"},
		"no such file":                               {"-namespace", "apps", "-kubeconfig", "none"},
		"flag provided but not defined":              {"-namespaces", "apps"},
		"-stop and -start must be given together":    {"-namespace", "apps", "-stop", "true"},
	} {
		if _, err := run(t.Context(), args, io.Discard); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", args, err, want)
		}
	}
}

// fault is the fault of a broken mirror.
type fault string

const (
	groupIndex fault = "the index of the group instead of the slice"
	anyOrder   fault = "objects are copied one after the other, whoever moves between them"
	over100    fault = "objects over 100 are copied as they are"
)

var convention = inventory.Convention{Scheduler: "broken"}

// broken is the mirror of this module with one fault. It reconciles when a watch shows a change, and keeps no state.
type broken struct {
	mu    sync.Mutex // locked while the mirror is stopped
	hub   client.WithWatch
	fault fault
	lag   time.Duration // before each reconcile
}

func newBroken(t *testing.T, kubeconfig string, f fault) *broken {
	t.Helper()
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	config.QPS = -1
	scheme := runtime.NewScheme()
	if err := errors.Join(clusterv1beta1.Install(scheme), sig.AddToScheme(scheme)); err != nil {
		t.Fatal(err)
	}
	hub, err := client.NewWithWatch(config, client.Options{Scheme: scheme})
	if err != nil {
		t.Fatal(err)
	}
	return &broken{hub: hub, fault: f}
}

// copy copies until the context ends. A reconcile that failed is due again, since it may have changed nothing that a watch shows.
func (b *broken) copy(ctx context.Context) {
	due := make(chan struct{}, 1)
	go b.watch(ctx, &clusterv1beta1.PlacementDecisionList{}, due)
	go b.watch(ctx, &sig.PlacementDecisionList{}, due)
	for wake(due); ; {
		select {
		case <-ctx.Done():
			return
		case <-due:
		}
		time.Sleep(5*time.Millisecond + b.lag)
		b.mu.Lock()
		if err := b.once(ctx); err != nil {
			wake(due)
		}
		b.mu.Unlock()
	}
}

// watch makes a reconcile due with each event. A watch that begins shows all objects as events, so that none is missed between two.
func (b *broken) watch(ctx context.Context, kind client.ObjectList, due chan struct{}) {
	for ; ctx.Err() == nil; time.Sleep(5 * time.Millisecond) {
		events, err := b.hub.Watch(ctx, kind, client.InNamespace("apps"))
		if err != nil {
			continue // such as while the server starts
		}
		for range events.ResultChan() {
			wake(due)
		}
		events.Stop()
	}
}

func wake(due chan struct{}) {
	select {
	case due <- struct{}{}:
	default:
	}
}

func (b *broken) once(ctx context.Context) error {
	var source clusterv1beta1.PlacementDecisionList
	var stored sig.PlacementDecisionList
	if err := errors.Join(b.hub.List(ctx, &source, client.InNamespace("apps")), b.hub.List(ctx, &stored, client.InNamespace("apps"))); err != nil {
		return err
	}
	before := map[string]*sig.PlacementDecision{}
	for i := range stored.Items {
		if s := &stored.Items[i]; s.Name != stranger {
			before[s.Name] = s
		}
	}
	var objects []*clusterv1beta1.PlacementDecision
	over := 0
	for i := range source.Items {
		o := &source.Items[i]
		if b.fault == over100 && len(o.Status.Decisions) > grouping.MaxDecisions {
			over++
			o.Labels[sig.DecisionKeyLabel], o.Labels[sig.DecisionIndexLabel] = placement, "0"
			_ = b.write(ctx, o, before[o.Name]) // the hub may reject it
			delete(before, o.Name)
			continue
		}
		objects = append(objects, o)
	}
	objects = inventory.Label(objects)
	for i, o := range objects {
		o.Labels[sig.DecisionIndexLabel] = strconv.Itoa(over + i)
		if b.fault == groupIndex {
			o.Labels[sig.DecisionIndexLabel] = o.Labels[clusterv1beta1.DecisionGroupIndexLabel]
		}
	}
	if b.fault == anyOrder {
		return b.oneByOne(ctx, objects, before)
	}
	rolling := decisionupdate.UpdateStrategy{Type: decisionupdate.UpdateStrategyTypeRollingUpdate}
	update, err := mirror.Diff(inventory.ToOCM(convention, slices.Collect(maps.Values(before))...), objects, rolling)
	if err != nil {
		return err
	}
	_, err = decisionupdate.Applier{Client: inventory.Client{Client: b.hub, Live: b.hub, Namespace: "apps", Convention: convention}}.Apply(ctx, update)
	return err
}

// oneByOne copies each object separately, without the labels of its group, as OCM's mirror does.
func (b *broken) oneByOne(ctx context.Context, objects []*clusterv1beta1.PlacementDecision, before map[string]*sig.PlacementDecision) error {
	var errs []error
	for _, o := range objects {
		delete(o.Labels, clusterv1beta1.DecisionGroupIndexLabel)
		errs = append(errs, b.write(ctx, o, before[o.Name]))
		delete(before, o.Name)
	}
	for _, s := range before {
		errs = append(errs, b.hub.Delete(ctx, s))
	}
	return errors.Join(errs...)
}

// write writes an object as one slice of any size.
func (b *broken) write(ctx context.Context, o *clusterv1beta1.PlacementDecision, before *sig.PlacementDecision) error {
	s := inventory.FromOCM(convention, o)
	s.ObjectMeta = metav1.ObjectMeta{Namespace: o.Namespace, Name: o.Name, Labels: o.Labels}
	if before == nil {
		return b.hub.Create(ctx, s)
	}
	if slices.Equal(s.Decisions, before.Decisions) && maps.Equal(s.Labels, before.Labels) {
		return nil
	}
	s.ResourceVersion = before.ResourceVersion
	return b.hub.Update(ctx, s)
}
