package trial

import (
	"context"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/cohort-ocm/cohort/examples/trial/apiserver"
	"github.com/cohort-ocm/cohort/examples/trial/judge"
)

var (
	flagForeign  = flag.String("foreign", "", "a program that rolls out what -kind says, with its arguments, to which a kubeconfig is added as the last one; or own, for the one of this package")
	flagParallel = flag.Int("at-once", 20, "how many worlds of -foreign run at a time")
	flagKind     = flag.String("kind", string(ReplicaSets), "what the program of -foreign is responsible for: ManifestWorkReplicaSet, ClusterManagementAddOn, Placement or Policy")
	flagClass    = flag.String("class", "", "play only worlds of ManifestWorkReplicaSets or add-ons in which this difference matters")
	flagKeep     = flag.String("keep", "", "a directory for the recordings of worlds in which something was found")
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

// foreignOutcome is what came of a world.
type foreignOutcome struct {
	world   fmt.Stringer
	class   string // of differences, where it was bent towards one
	seed    uint64
	history *history
	err     error
}

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
	f := &foreignFigures{kind: &kind, worlds: map[string]int{}, all: map[string]int{}, byClass: map[string][]string{}}
	seed := max(1, *flagSeed)
	atOnce(t, *flagRollouts, *flagParallel, func(ctx context.Context, i int) { f.add(t, kind.play(ctx, hub, subject, i, seed+uint64(i))) })
	t.Logf("seeds from %d: %s", seed, f)
}

// foreignFigures are of the worlds of one program.
type foreignFigures struct {
	kind *foreignKind

	mu                                 sync.Mutex
	rollouts, starts, removals, marked int
	worlds, all                        map[string]int
	byClass                            map[string][]string
}

// add judges a world, and keeps its recording.
func (f *foreignFigures) add(t *testing.T, o *foreignOutcome) {
	if o.err != nil {
		t.Errorf("%s\n%v", o.world, o.err)
		return
	}
	report, err := o.history.judgedBy(judge.Options{Lag: 2 * time.Second, Patience: max(5*time.Second, f.kind.patience), RemoveAfter: f.kind.removeAfter,
		IgnoreAnnotation: ignoreAnnotation})
	if err != nil {
		t.Error(err)
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.rollouts, f.starts, f.removals = f.rollouts+1, f.starts+report.Starts, f.removals+report.Removals
	found := map[string]bool{}
	broken := false
	for i := range report.Findings {
		x := &report.Findings[i]
		if x.Kind.OfDecisions() != f.kind.schedules {
			continue // the harness's own
		}
		kind := fmt.Sprintf("%s %s", x.Grade, x.Kind)
		found[kind] = true
		f.all[kind]++
		broken = broken || x.Grade == judge.Broken
		if o.class != "" {
			f.byClass[o.class] = append(f.byClass[o.class], kind)
		}
	}
	for kind := range found {
		f.worlds[kind]++
	}
	if broken {
		f.marked++
	}
	if *flagKeep == "" || len(found) == 0 {
		return
	}
	text, err := o.history.trace()
	if err == nil {
		err = os.WriteFile(filepath.Join(*flagKeep, fmt.Sprintf("%d%s.jsonl", o.seed, strings.ReplaceAll(" "+o.class, " ", "-"))), text, 0o644)
	}
	if err != nil {
		t.Error(err)
	}
}

func (f *foreignFigures) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d worlds with %d starts and %d removals; something is broken in %d", f.rollouts, f.starts, f.removals, f.marked)
	for _, kind := range slices.Sorted(maps.Keys(f.worlds)) {
		fmt.Fprintf(&b, "\n%s: %d, in %d worlds", kind, f.all[kind], f.worlds[kind])
	}
	for _, class := range slices.Sorted(maps.Keys(f.byClass)) {
		slices.Sort(f.byClass[class])
		fmt.Fprintf(&b, "\nwhere %s: %v", class, slices.Compact(f.byClass[class]))
	}
	return b.String()
}
