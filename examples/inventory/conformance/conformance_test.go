package main

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"
	ocmclient "open-cluster-management.io/api/client/cluster/clientset/versioned"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	sig "sigs.k8s.io/cluster-inventory-api/apis/v1alpha1"
	sigclient "sigs.k8s.io/cluster-inventory-api/client/clientset/versioned"
	sigs "sigs.k8s.io/cluster-inventory-api/client/clientset/versioned/typed/apis/v1alpha1"

	"github.com/cohort-ocm/cohort/examples/inventory"
)

var built string // where the programs are, once they are

// programs builds the API server of examples/controllers, which is in a module of its own, and the mirror of this one.
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

// server starts an API server with the definitions of OCM and of SIG Multicluster, which come from their modules, and returns a kubeconfig.
func server(t *testing.T) string {
	t.Helper()
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "sigs.k8s.io/cluster-inventory-api").Output()
	if err != nil {
		t.Fatal(err)
	}
	kubeconfig := filepath.Join(t.TempDir(), "hub.kubeconfig")
	start(t, "../../controllers", "apiserver", "-kubeconfig", kubeconfig, "-definitions", filepath.Join(strings.TrimSpace(string(out)), "config/crd/bases"))
	for end := time.Now().Add(time.Minute); ; time.Sleep(50 * time.Millisecond) {
		if _, err := os.Stat(kubeconfig); err == nil {
			return kubeconfig
		} else if time.Now().After(end) {
			t.Fatal(err)
		}
	}
}

// start runs a program until the test ends, or somebody calls what it returns.
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

// judge runs the suite against whatever mirror is at work, and returns its lines by requirement.
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
		if outcome, rest := strings.TrimSpace(line[:10]), line[11:]; rest != "" {
			lines[strings.Fields(rest)[0]] = outcome
		}
	}
	return failed, lines
}

// The mirror of this module passes on a real API server, killed and started anew in the midst of a shuffle.
func TestOurMirrorPasses(t *testing.T) {
	t.Parallel()
	kubeconfig := server(t)
	dir := t.TempDir()
	restart := func() func() {
		return start(t, ".", "mirror", "-kubeconfig", kubeconfig, "-profile-namespace", "fleet", "-metrics-bind-address", "0")
	}
	stop := restart()
	go func() { // the command of -restart only asks for it, as kubectl rollout restart does
		for t.Context().Err() == nil {
			if os.Remove(filepath.Join(dir, "restart")) == nil {
				stop()
				stop = restart()
			}
			time.Sleep(10 * time.Millisecond)
		}
	}()
	var watched sync.WaitGroup
	defer watched.Wait()
	watched.Go(func() { // as a scheduler is judged, meanwhile
		var out strings.Builder
		args := []string{"-kubeconfig", kubeconfig, "-namespace", "apps", "-selector", sig.DecisionKeyLabel + "=" + placement, "-watch", "15s"}
		if failed, err := run(t.Context(), args, &out); failed || err != nil || !strings.Contains(out.String(), "pass       never-absent") {
			t.Errorf("watched: %v\n%s", err, out.String())
		}
	})
	failed, lines := judge(t, kubeconfig, "-profile-namespace", "fleet", "-restart", "touch "+filepath.Join(dir, "restart"))
	for _, name := range strings.Fields("slice-size slicing decision-key index-value decision-index order references one-to-one selected never-absent restart delete ownership") {
		if failed || lines[name] != "pass" {
			t.Errorf("%s: %s", name, lines[name])
		}
	}
}

// A mirror that copies object by object is caught, whether in any order or in the order in which objects became dirty, as OCM's does (its pull
// request 1552): absences, the index of the group instead of the slice, and an object of 101. The rest it does well.
func TestNaiveMirrorsAreCaught(t *testing.T) {
	t.Parallel()
	for name, anyOrder := range map[string]bool{"any order": true, "as they became dirty": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			kubeconfig := server(t)
			config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
			if err != nil {
				t.Fatal(err)
			}
			config.QPS = -1
			n := naive{ocm: ocmclient.NewForConfigOrDie(config), sigs: sigclient.NewForConfigOrDie(config), anyOrder: anyOrder}
			go n.copy(t.Context())
			_, lines := judge(t, kubeconfig, "-settle", "3s")
			for name, want := range map[string]string{
				"never-absent": "fail", "decision-index": "fail", "slicing": "fail", "selected": "fail",
				"slice-size": "pass", "decision-key": "pass", "index-value": "pass", "order": "pass", "references": "pass", "delete": "pass", "ownership": "pass",
				"restart": "not tested", "webhook": "not tested",
			} {
				if lines[name] != want {
					t.Errorf("%s: %q, want %s", name, lines[name], want)
				}
			}
		})
	}
}

// What cannot be judged is an error, and no verdict.
func TestBadInput(t *testing.T) {
	for want, args := range map[string][]string{
		"-namespace must be given, and no arguments": {"-watch", "1s"},
		`arguments ["web"]`:                          {"-namespace", "apps", "web"},
		"no such file":                               {"-namespace", "apps", "-kubeconfig", "none"},
		"flag provided but not defined":              {"-namespaces", "apps"},
	} {
		if _, err := run(t.Context(), args, io.Discard); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", args, err, want)
		}
	}
}

// naive is a mirror that copies object by object: a double for tests.
type naive struct {
	ocm      ocmclient.Interface
	sigs     sigclient.Interface
	anyOrder bool
}

// copy copies until the context ends. What is gone is deleted at once, as a garbage collector does with what it owned.
func (n naive) copy(ctx context.Context) {
	rng := rand.New(rand.NewPCG(1552, 0))
	slicesOf := n.sigs.ApisV1alpha1().PlacementDecisions("apps")
	seen, dirty := map[string]string{}, []string{}
	for ; ctx.Err() == nil; time.Sleep(5 * time.Millisecond) {
		list, err := n.ocm.ClusterV1beta1().PlacementDecisions("apps").List(ctx, metav1.ListOptions{})
		if err != nil {
			continue
		}
		objects := map[string]*clusterv1beta1.PlacementDecision{}
		for i := range list.Items {
			o := &list.Items[i]
			objects[o.Name] = o
			if seen[o.Name] != o.ResourceVersion && !slices.Contains(dirty, o.Name) {
				dirty = append(dirty, o.Name)
			}
			seen[o.Name] = o.ResourceVersion
		}
		for name := range seen {
			if objects[name] == nil {
				delete(seen, name)
				_ = slicesOf.Delete(ctx, name, metav1.DeleteOptions{})
			}
		}
		if len(dirty) == 0 {
			continue
		}
		i := 0
		if n.anyOrder {
			i = rng.IntN(len(dirty))
		}
		name := dirty[i]
		dirty = slices.Delete(dirty, i, i+1)
		if o := objects[name]; o != nil && write(ctx, slicesOf, o) != nil {
			dirty = append(dirty, name) // later
		}
	}
}

func write(ctx context.Context, slicesOf sigs.PlacementDecisionInterface, o *clusterv1beta1.PlacementDecision) error {
	s := inventory.FromOCM(inventory.Convention{Scheduler: "naive"}, o)
	s.ObjectMeta = metav1.ObjectMeta{Name: o.Name, Labels: map[string]string{
		sig.DecisionKeyLabel: placement, sig.PlacementKeyLabel: placement, sig.DecisionIndexLabel: o.Labels[clusterv1beta1.DecisionGroupIndexLabel]}}
	_, err := slicesOf.Create(ctx, s, metav1.CreateOptions{})
	if !apierrors.IsAlreadyExists(err) {
		return err
	}
	stored, err := slicesOf.Get(ctx, o.Name, metav1.GetOptions{})
	if err != nil {
		return err
	}
	s.ResourceVersion = stored.ResourceVersion
	_, err = slicesOf.Update(ctx, s, metav1.UpdateOptions{})
	return err
}
