package trial

import (
	"cmp"
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

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"
	workv1 "open-cluster-management.io/api/work/v1"
	workv1alpha1 "open-cluster-management.io/api/work/v1alpha1"

	"github.com/cohort-ocm/cohort/examples/trial/judge"
)

var (
	flagForeign = flag.String("foreign", "", "a program that rolls out ManifestWorkReplicaSets, with its arguments; a kubeconfig is added as the last one")
	flagKeep    = flag.String("keep", "", "a directory for the recordings of worlds in which something was broken")
)

// kubeconfig writes a kubeconfig with which a program of another process has all rights on the hub.
func (h *Hub) kubeconfig(file string) error {
	c := h.server.Config
	config := clientcmdapi.NewConfig()
	config.Clusters["hub"] = &clientcmdapi.Cluster{Server: c.Host, CertificateAuthorityData: c.CAData, TLSServerName: c.ServerName}
	config.AuthInfos["all"] = &clientcmdapi.AuthInfo{Token: c.BearerToken}
	config.Contexts["hub"] = &clientcmdapi.Context{Cluster: "hub", AuthInfo: "all"}
	config.CurrentContext = "hub"
	return clientcmd.WriteToFile(*config, file)
}

// run runs a program with a kubeconfig of the hub until the test ends.
func (h *Hub) run(t *testing.T, program string) {
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
		log.Close()
	})
}

// answers waits until the program has done something about a set.
func answers(t *testing.T, hub *Hub) {
	t.Helper()
	api := hub.clients("user").work.WorkV1alpha1().ManifestWorkReplicaSets("probe")
	probe := &replicaSet{ObjectMeta: metav1.ObjectMeta{Namespace: "probe", Name: "probe"}}
	probe.Spec.PlacementRefs = []workv1alpha1.LocalPlacementReference{{Name: "none", RolloutStrategy: clusterv1alpha1.RolloutStrategy{Type: clusterv1alpha1.All}}}
	probe.Spec.ManifestWorkTemplate.Workload.Manifests = []workv1.Manifest{{RawExtension: runtime.RawExtension{Raw: []byte(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"probe"}}`)}}}
	created, err := api.Create(t.Context(), probe, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for start := time.Now(); time.Since(start) < 2*time.Minute; time.Sleep(100 * time.Millisecond) {
		if now, err := api.Get(t.Context(), "probe", metav1.GetOptions{}); err == nil && now.ResourceVersion != created.ResourceVersion {
			return
		}
	}
	t.Fatal("the program has written nothing to a ManifestWorkReplicaSet within two minutes")
}

// TestForeign plays worlds to a program of another process, in any language, and judges it by the traces alone. It plays no crashes of that
// program, and its caches and its network are its own. What is found is logged, since it is the program's.
func TestForeign(t *testing.T) {
	if *flagForeign == "" {
		t.Skip("-foreign names no program")
	}
	theHub.run(t, *flagForeign)
	answers(t, theHub)
	nobody := &Subject{
		Run:         func(ctx context.Context, _ *Process) error { <-ctx.Done(); return nil },
		Says:        func(*replicaSet) Saying { return Saying{} },
		RemoveAfter: 2 * time.Second, Placements: 2, Replicas: 1, GivenUp: givenUpAnnotation,
	}
	const lag, patience = 2 * time.Second, 5 * time.Second
	seed, n := seedOf(), *flagRollouts
	var mu sync.Mutex
	rollouts, starts, removals, marked := 0, 0, 0, 0
	worlds, all := map[string]int{}, map[string]int{}
	byClass := map[string][]string{}
	playAll(t, n, *flagParallel, func(ctx context.Context, i int) *observation {
		return foreignWorld(i, seed+uint64(i), nobody).record(ctx, theHub, nobody, fmt.Sprintf("w%d", numbers.Add(1)))
	}, func(o *observation) bool {
		if o.err != nil {
			t.Errorf("%s\n%v", o.world, o.err)
			return true
		}
		report, err := o.judgedBy(judge.Options{Lag: lag, Patience: patience, GivenUp: givenUpAnnotation})
		if err != nil {
			t.Error(err)
			return false
		}
		mu.Lock()
		defer mu.Unlock()
		rollouts, starts, removals = rollouts+1, starts+report.Starts, removals+report.Removals
		found := map[string]bool{}
		broken := false
		if class := o.world.class; class != "" {
			for i := range report.Findings {
				if f := &report.Findings[i]; f.Kind != judge.Vanished && f.Kind != judge.Unfinished {
					byClass[class] = append(byClass[class], fmt.Sprintf("%s %s", f.Grade, f.Kind))
				}
			}
		}
		for i := range report.Findings {
			f := &report.Findings[i]
			if f.Kind == judge.Vanished || f.Kind == judge.Unfinished { // of the harness's scheduler
				continue
			}
			kind := fmt.Sprintf("%s %s", f.Grade, f.Kind)
			found[kind] = true
			all[kind]++
			broken = broken || f.Grade == judge.Broken
		}
		for kind := range found {
			worlds[kind]++
		}
		if broken {
			marked++
		}
		if *flagKeep != "" && len(found) > 0 {
			text, err := o.history.trace()
			if err == nil {
				err = os.WriteFile(filepath.Join(*flagKeep, fmt.Sprintf("%d%s.jsonl", o.world.seed, strings.ReplaceAll(" "+o.world.class, " ", "-"))), text, 0o644)
			}
			if err != nil {
				t.Error(err)
			}
		}
		return true
	})
	t.Logf("seeds from %d: %d rollouts with %d starts and %d removals; something is broken in %d", seed, rollouts, starts, removals, marked)
	for _, kind := range slices.Sorted(maps.Keys(worlds)) {
		t.Logf("%s: %d, in %d rollouts", kind, all[kind], worlds[kind])
	}
	for _, class := range slices.Sorted(maps.Keys(byClass)) {
		slices.Sort(byClass[class])
		t.Logf("where %s: %v", class, slices.Compact(byClass[class]))
	}
}

// foreignWorld is one of all kinds in turn: any, one in which a duty matters, and one in which versions cut clusters off.
func foreignWorld(i int, seed uint64, subject *Subject) *world {
	matters := slices.Concat(slices.Sorted(maps.Keys(Duties)), slices.Sorted(maps.Keys(StrategyDuties)))
	classes := slices.Sorted(maps.Keys(classes))
	switch i % 4 {
	case 0:
		return draw(seed, subject, "")
	case 1:
		return draw(seed, subject, matters[i/4%len(matters)])
	case 2:
		return drawCut(seed, subject, "")
	default:
		w := draw(seed, subject, "")
		w.others, w.foreign, w.heals, w.named, w.groupOf, w.size = nil, false, false, nil, map[string]string{}, 0
		w.bend(classes[i/4%len(classes)])
		return w
	}
}

// classes are worlds in which a difference matters that the page of migration from sdk-go's helper has, by its test's name: the strategy, a group
// of the first two clusters if it has a name, the size of the groups, and the tempers, in turn. Two clusters join, the first by name, when the others are in flight.
var classes = map[string]struct {
	strategy clusterv1alpha1.RolloutStrategy
	group    string
	size     int
	tempers  []temper
}{
	"over concurrency":               {strategy: atATime(intstr.FromInt32(1), intstr.FromString("100%"), ""), tempers: []temper{silent}},
	"group size unread":              {strategy: atATime(intstr.FromInt32(0), intstr.FromString("100%"), ""), size: 2, tempers: []temper{silent}},
	"generous budget read as none":   {strategy: atATime(intstr.FromInt32(1), intstr.FromInt32(50), "2s"), tempers: []temper{broken}},
	"breach unseen":                  {strategy: atATime(intstr.FromInt32(1), intstr.FromInt32(0), "2s"), tempers: []temper{broken}},
	"group half started":             {strategy: groupByGroup("None", intstr.FromInt32(0)), size: 4, tempers: []temper{silent}},
	"next group too early":           {strategy: groupByGroup("None", intstr.FromString("100%")), size: 2, tempers: []temper{broken, silent}},
	"breached group started":         {strategy: groupByGroup("2s", intstr.FromInt32(0)), size: 3, tempers: []temper{broken, quick, quick}},
	"mandatory overtaken":            {strategy: behind(atATime(intstr.FromInt32(2), intstr.FromString("100%"), "2s")), group: "canary", tempers: []temper{broken, quick}},
	"time-out holds the rest":        {strategy: behind(atATime(intstr.FromInt32(1), intstr.FromString("100%"), "2s")), group: "canary", tempers: []temper{quick, quick, silent}},
	"behind mandatory groups, waves": {strategy: behind(atATime(intstr.FromInt32(2), intstr.FromString("100%"), "None")), group: "canary", tempers: []temper{quick, quick, quick, silent}},
}

func atATime(limit, failures intstr.IntOrString, deadline string) clusterv1alpha1.RolloutStrategy {
	return clusterv1alpha1.RolloutStrategy{Type: clusterv1alpha1.Progressive, Progressive: &clusterv1alpha1.RolloutProgressive{
		MaxConcurrency: limit, RolloutConfig: clusterv1alpha1.RolloutConfig{MaxFailures: failures, ProgressDeadline: cmp.Or(deadline, "None")}}}
}

func groupByGroup(deadline string, failures intstr.IntOrString) clusterv1alpha1.RolloutStrategy {
	return clusterv1alpha1.RolloutStrategy{Type: clusterv1alpha1.ProgressivePerGroup, ProgressivePerGroup: &clusterv1alpha1.RolloutProgressivePerGroup{
		RolloutConfig: clusterv1alpha1.RolloutConfig{MaxFailures: failures, ProgressDeadline: deadline}}}
}

// behind has the canary group go first.
func behind(s clusterv1alpha1.RolloutStrategy) clusterv1alpha1.RolloutStrategy {
	s.Progressive.MandatoryDecisionGroups.MandatoryDecisionGroups = []clusterv1alpha1.MandatoryDecisionGroup{{GroupName: "canary"}}
	return s
}

func (w *world) bend(class string) {
	c := classes[class]
	w.class = class
	w.strategy, w.size, w.backwards, w.worst = c.strategy, c.size, true, 50*time.Millisecond
	w.initial = w.pool[len(w.pool)-7:]
	for i, name := range w.initial {
		if w.temper[name] = []temper{c.tempers[i%len(c.tempers)]}; c.group != "" && i < 2 {
			w.named, w.groupOf[name] = []string{c.group}, c.group
		}
	}
	w.script = []change{{5 * time.Second, joins}, {5 * time.Second, joins}}
}

// record runs a world to its end, with no process whose caches are seen.
func (w *world) record(ctx context.Context, hub *Hub, subject *Subject, name string) *observation {
	w.name = name
	p := w.newPlayer(hub, subject)
	o := &observation{world: w}
	api := hub.clients("user").cluster.ClusterV1().ManagedClusters() // whose cluster is not there may be given up
	for _, c := range w.clusters(w.pool) {
		cluster := &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: c}, Spec: clusterv1.ManagedClusterSpec{HubAcceptsClient: true}}
		if _, o.err = api.Create(ctx, cluster, metav1.CreateOptions{}); o.err != nil {
			return o
		}
	}
	o.err = p.run(ctx)
	p.clear(ctx)
	if o.err == nil {
		p.mu.Lock()
		defer p.mu.Unlock()
		o.history = p.judged()
	}
	return o
}
