// SPDX-License-Identifier: Apache-2.0

package trial

import (
	"context"
	"flag"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/cohort-ocm/cohort/examples/trial/apiserver"
	"github.com/cohort-ocm/cohort/examples/trial/judge"
)

var (
	flagForeign  = flag.String("foreign", "", "a program that rolls out what -kind says, with its arguments, to which a kubeconfig is added as the last one; or own, for the one of this package")
	flagClass    = flag.String("class", "", "play only worlds of ManifestWorkReplicaSets or add-ons in which this difference matters")
	flagKeep     = flag.String("keep", "", "a directory for the recordings of worlds in which something was found")
	flagParallel = flag.Int("at-once", 20, "how many worlds of -foreign run at a time")
	flagKind     = flag.String("kind", string(ReplicaSets), "what the program of -foreign is responsible for: ManifestWorkReplicaSet, ClusterManagementAddOn, Placement or Policy")
)

// foreignKind is what a foreign program may be responsible for.
type foreignKind struct {
	// probe writes an object that the program has to do something about, and gives it as it was written, and as it is.
	probe func(ctx context.Context, hub *realHub) (written object, now func() (object, error), err error)
	// play plays one world, to a subject of this process.
	play func(ctx context.Context, hub *realHub, subject *Subject, i int, seed uint64) *foreignOutcome
	// idle makes a subject that does nothing, since the program does, and own is one to compare it with. It may be nil.
	idle, own *Subject
	// schedules says that the program writes the decisions, and nothing but decisions is judged. Otherwise the harness writes them.
	schedules bool
	// definitions are those that the program needs beside the hub's. It may be nil.
	definitions func(dir string) ([]string, error)
	// watches are the kinds of these that take part.
	watches []Kind
	// removeAfter is for how long the program may keep what a deselected cluster has, and patience for how long it may do nothing; zero are
	// those of any program.
	removeAfter, patience time.Duration
}

var foreignKinds = map[Kind]foreignKind{ReplicaSets: ofSets, AddOns: ofTheAddOns, Placements: ofPlacements, Policies: ofThePolicies}

// idle is a subject that does nothing, since the program does.
func idle(delivery *Delivery) *Subject {
	return &Subject{
		Run:  func(ctx context.Context, _ *Process) error { <-ctx.Done(); return nil },
		Says: func(*replicaSet) Saying { return Saying{} }, Delivery: delivery,
		RemoveAfter: 2 * time.Second, Placements: 2, Replicas: 1, IgnoreAnnotation: ignoreAnnotation,
	}
}

// kubeconfig writes a kubeconfig with which a program of another process has all rights on the hub.
func (h *realHub) kubeconfig(file string) error {
	c := h.server.Config
	config := clientcmdapi.NewConfig()
	config.Clusters["hub"] = &clientcmdapi.Cluster{Server: c.Host, CertificateAuthorityData: c.CAData, TLSServerName: c.ServerName}
	config.AuthInfos["all"] = &clientcmdapi.AuthInfo{Token: c.BearerToken}
	config.Contexts["hub"] = &clientcmdapi.Context{Cluster: "hub", AuthInfo: "all"}
	config.CurrentContext = "hub"
	return clientcmd.WriteToFile(*config, file)
}

// run runs a program with a kubeconfig of the hub until the test ends.
func (h *realHub) run(t *testing.T, program string) {
	t.Helper()
	dir := t.TempDir()
	file := filepath.Join(dir, "kubeconfig")
	if err := h.kubeconfig(file); err != nil {
		t.Fatal(err)
	}
	args := append(strings.Fields(program), file)
	command := exec.Command(args[0], args[1:]...)
	log, err := os.Create(filepath.Join(dir, "log"))
	if err != nil {
		t.Fatal(err)
	}
	command.Stdout, command.Stderr = log, log
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- command.Wait() }()
	t.Cleanup(func() {
		select {
		case err := <-ended:
			said, _ := os.ReadFile(log.Name())
			t.Errorf("%s ended: %v\n%s", program, err, said)
		default:
			_ = command.Process.Kill()
			<-ended
		}
		if t.Failed() {
			said, _ := os.ReadFile(log.Name())
			t.Logf("%s said: %s", program, said[:min(len(said), 4000)])
		}
		log.Close()
	})
}

// answers waits until the program has done something about an object.
func (k *foreignKind) answers(t *testing.T, hub *realHub) {
	t.Helper()
	written, now, err := k.probe(t.Context(), hub)
	if err != nil {
		t.Fatal(err)
	}
	for start := time.Now(); time.Since(start) < 2*time.Minute; time.Sleep(100 * time.Millisecond) {
		if o, err := now(); err == nil && versionOf(o) != versionOf(written) {
			return
		}
	}
	t.Fatalf("the program has written nothing to a %s within two minutes", *flagKind)
}

// TestForeign plays worlds to a program of another process, in any language, and judges it by the traces alone. It plays no crashes of that
// program, and its caches and its network are its own. What is found is logged, since it is the program's.
func TestForeign(t *testing.T) {
	if *flagForeign == "" {
		t.Skip("-foreign names no program")
	}
	kind, ok := foreignKinds[Kind(*flagKind)]
	if !ok {
		t.Fatalf("-kind is %q, expected one of %v", *flagKind, slices.Sorted(maps.Keys(foreignKinds)))
	}
	var definitions []string
	if kind.definitions != nil {
		var err error
		if definitions, err = kind.definitions(t.TempDir()); err != nil {
			t.Fatal(err)
		}
	}
	hub, subject := startReal(t, apiserver.Audit{}, definitions, kind.watches...), kind.idle
	if *flagForeign != "own" {
		hub.run(t, *flagForeign)
		kind.answers(t, hub)
	} else if subject = kind.own; subject == nil {
		t.Fatalf("this package has no %s controller of its own", *flagKind)
	}
	f := newForeignFigures(kind.schedules, judge.Options{Patience: max(5*time.Second, kind.patience), RemoveAfter: kind.removeAfter, IgnoreAnnotation: ignoreAnnotation})
	f.keep = *flagKeep
	seed := max(1, *flagSeed)
	atOnce(t, *flagRollouts, *flagParallel, func(ctx context.Context, i int) { f.add(t, kind.play(ctx, hub, subject, i, seed+uint64(i))) })
	t.Logf("seeds from %d: %s", seed, f)
}
