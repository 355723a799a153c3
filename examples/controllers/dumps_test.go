// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/yaml"

	"github.com/cohort-ocm/cohort/status"
)

var (
	rollouts = flag.Int("rollouts", 1, "how many rollouts of each kind TestDumps dumps")
	keep     = flag.String("keep-dumps", "", "a directory for the dumps of TestDumps that the plugin contradicts")
)

// TestDumps runs random rollouts on real hubs: with the programs works and policies, and with OCM's own controller, which
// writes no stamps. Each has up to three versions, with failures, stops and deselected clusters. The plugin's report on
// each dump must equal what dumpsread_test.go reads in the objects without their stamps.
func TestDumps(t *testing.T) {
	t.Parallel()
	var done tally
	t.Run("rollouts", func(t *testing.T) {
		for _, kind := range kinds {
			t.Run(kind.name, func(t *testing.T) {
				t.Parallel()
				on := newDumpHub(t, kind)
				for i := range *rollouts {
					seed := uint64(i)
					t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
						t.Parallel()
						s := newStory(t, on, kind, seed)
						s.tally = &done
						s.tell()
					})
				}
			})
		}
	})
	t.Logf("%d dumps of %d rollouts: %v of versions, stamped %d, with managed fields %d; %d rollouts with a failure, %d of these stopped, %d with a cluster that left",
		done.dumps.Load(), len(kinds)**rollouts, []int64{done.version[0].Load(), done.version[1].Load(), done.version[2].Load()}, done.stamped.Load(), done.managed.Load(),
		done.failed.Load(), done.stopped.Load(), done.left.Load())
}

// tally counts what was dumped.
type tally struct {
	dumps, stamped, managed, failed, stopped, left atomic.Int64
	version                                        [3]atomic.Int64 // the number of dumps of each version
}

// kind is the kind of a rollout, by its controller.
type kind struct {
	name     string
	programs [][]string // with their flags
	stamps   bool
	objects  func(*story) objects
}

var kinds = []kind{
	{"works", [][]string{{"works", "-metrics-bind-address", "0", "-remove-after", "1s"}}, true, newDumpedWorks},
	{"OCM's works", [][]string{{"ocm"}}, false, newDumpedWorks},
	{"policies", [][]string{{"policies", "-metrics-bind-address", "0"}}, true, newDumpedPolicies},
}

// objects are the objects of a rollout, and the agents of the clusters.
type objects interface {
	// begin writes a new wanted version.
	begin(text string)
	// answer lets some agents answer, and returns how many have yet to.
	answer() (due int)
	// dump returns what kubectl prints of the rollout. Unstamped objects are as OCM's controllers would write them.
	dump(stamped, clusters bool) []unstructured.Unstructured
	// read returns the state of each cluster with the version.
	read(d dump) map[string]stand
	// says is what the controller itself says: all are done with the version.
	says() (done bool)
	// left says whether a cluster is lost: its object is gone, or hangs in deletion.
	left(cluster string) bool
}

// dumpHub is an API server with a controller.
type dumpHub struct {
	kubeconfig string
	client     dynamic.Interface
}

func newDumpHub(t *testing.T, k kind) *dumpHub {
	t.Helper()
	h := &dumpHub{kubeconfig: t.TempDir() + "/hub.kubeconfig"}
	run(t, program(t, "apiserver"), "-kubeconfig", h.kubeconfig)
	waitFor(t, h.kubeconfig)
	config, err := clientcmd.BuildConfigFromFlags("", h.kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	config.QPS = -1
	if h.client, err = dynamic.NewForConfig(config); err != nil {
		t.Fatal(err)
	}
	for _, p := range k.programs {
		run(t, program(t, p[0]), append(p[1:], "-kubeconfig", h.kubeconfig)...)
	}
	return h
}

// The answers of an agent about a version.
const (
	saysOK      = "ok"
	saysFailed  = "failed"
	saysLater   = "progressing" // and nothing after that
	saysApplied = "applied"     // and nothing after that
	saysNothing = ""
)

// story is a random rollout.
type story struct {
	*dumpHub
	t      *testing.T
	rng    *rand.Rand
	tally  *tally
	kind   kind
	ns     string // of the owner and the placement, and the prefix of clusters' names
	limits limits
	of     objects

	all      []string          // clusters
	selected map[string]bool   // of these
	agents   map[string]string // each agent's answer about the version; success if it is missing
	version  int               // from 1
	leftWith map[string]int    // by deselected cluster: the version
	trouble  string
	at       int // the version with the trouble
	versions int
	answers  float64 // the probability of an answer in each round
}

func newStory(t *testing.T, on *dumpHub, k kind, seed uint64) *story {
	t.Helper()
	rng := rand.New(rand.NewPCG(seed, uint64(len(k.name))))
	s := &story{dumpHub: on, t: t, rng: rng, kind: k, ns: fmt.Sprintf("s%03d", seed), selected: map[string]bool{}, agents: map[string]string{},
		leftWith: map[string]int{}, versions: 1 + int(seed+seed/3+1)%3, answers: .2 + .4*rng.Float64()}
	for i := range 6 + rng.IntN(6) {
		s.all = append(s.all, fmt.Sprintf("%s-%02d", s.ns, i))
	}
	if seed%3 == 0 { // a third has trouble
		s.trouble = []string{"fails", "stops", "leaves"}[seed/3%3]
		s.at = 1 + rng.IntN(s.versions)
	}
	s.limits = drawLimits(rng, s.trouble, len(s.all))
	s.of = k.objects(s)
	return s
}

// tell plays the versions.
func (s *story) tell() {
	s.t.Helper()
	s.place(s.all)
	for s.version = 1; s.version <= s.versions; s.version++ {
		clear(s.agents)
		s.limits.soak = s.version == s.versions && s.rng.IntN(3) == 0
		if s.version == s.at {
			s.draw()
		}
		s.of.begin(fmt.Sprintf("text-%d", s.version))
		s.goOn()
		if s.version == s.at && s.trouble == "leaves" {
			s.leave()
		}
		s.agree()
	}
}

// draw draws the faults.
func (s *story) draw() {
	order := s.rng.Perm(len(s.all))
	fails := 1
	if s.trouble == "stops" {
		fails = 1 + s.limits.maxFailures
	}
	for i, c := range order[:min(fails, len(order))] {
		s.agents[s.all[c]] = saysFailed
		if s.trouble == "leaves" && i == 0 {
			s.agents[s.all[c]] = []string{saysFailed, saysLater, saysApplied, saysNothing}[s.rng.IntN(4)]
		}
	}
	if s.limits.maxConcurrency > 1 && s.trouble != "stops" && s.rng.IntN(2) == 0 {
		s.agents[s.all[order[len(order)-1]]] = []string{saysLater, saysApplied, saysNothing}[s.rng.IntN(3)]
	}
	s.tally.failed.Add(1)
	if s.trouble == "stops" {
		s.tally.stopped.Add(1)
	}
}

// goOn plays the agents until nothing changes any more, and reads dumps meanwhile.
func (s *story) goOn() {
	s.t.Helper()
	var before sight
	for still, end := 0, time.Now().Add(5*time.Minute); still < 12; time.Sleep(50 * time.Millisecond) {
		due := s.of.answer()
		now := s.reading(s.dump(true, true, 0))
		if still++; !now.same(before) || due > 0 {
			still = 0
		}
		if !now.same(before) && s.rng.IntN(2) == 0 {
			s.compare()
		}
		before = now
		if time.Now().After(end) {
			s.t.Fatalf("version %d does not come to rest; it stands %+v", s.version, now)
		}
	}
	for range 4 {
		s.compare()
	}
}

// leave makes the scheduler deselect the faulty cluster, and goes on.
func (s *story) leave() {
	s.t.Helper()
	for _, cluster := range slices.Sorted(maps.Keys(s.agents)) {
		if _, with := s.of.read(s.dump(true, true, 0))[cluster]; !with {
			continue // it had not started
		}
		s.tally.left.Add(1)
		s.leftWith[cluster] = s.version
		s.place(slices.DeleteFunc(slices.Clone(s.all), func(c string) bool { return s.leftWith[c] > 0 }))
		s.compare()
		for end := time.Now().Add(patience); !s.of.left(cluster); time.Sleep(50 * time.Millisecond) {
			if s.rng.IntN(20) == 0 {
				s.compare()
			}
			if time.Now().After(end) {
				s.t.Fatalf("%s is still there", cluster)
			}
		}
		break
	}
	s.goOn()
}

// agree waits until the controller's own status agrees with what is read: all are done, or not.
func (s *story) agree() {
	s.t.Helper()
	if s.limits.soak {
		return // OCM's controller counts soaking clusters as done
	}
	for end := time.Now().Add(patience); ; time.Sleep(50 * time.Millisecond) {
		now := s.reading(s.dump(true, true, 0))
		done := now.Succeeded == len(s.selected) && (now.Left == 0 || !s.kind.stamps) // OCM's controller forgets deselected clusters
		if s.of.says() == done {
			return
		}
		if time.Now().After(end) {
			s.t.Fatalf("version %d: the controller says that all are done: %v; it stands %+v", s.version, !done, now)
		}
	}
}

// dump is what kubectl prints, and when.
type dump struct {
	objects          []unstructured.Unstructured // with managed fields
	stamped, managed bool
	now              time.Time
}

func (s *story) dump(stamped, managed bool, old time.Duration) dump {
	return dump{s.of.dump(stamped && s.kind.stamps, s.rng.IntN(2) == 0), stamped && s.kind.stamps, managed, time.Now().Add(old)}
}

// text is the dump as kubectl prints it.
func (d dump) text(t *testing.T) []byte {
	t.Helper()
	list := unstructured.UnstructuredList{Object: map[string]any{"apiVersion": "v1", "kind": "List"}}
	for i := range d.objects {
		o := *d.objects[i].DeepCopy()
		if !d.managed {
			o.SetManagedFields(nil)
		}
		list.Items = append(list.Items, o)
	}
	text, err := yaml.Marshal(list.UnstructuredContent())
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// compare reads a dump, now or when it is old.
func (s *story) compare() {
	s.t.Helper()
	d := s.dump(s.rng.IntN(4) > 0, s.rng.IntN(2) == 0, []time.Duration{0, 0, 30 * time.Minute, 2 * time.Hour}[s.rng.IntN(4)])
	want, got := s.reading(d), s.said(d)
	s.tally.dumps.Add(1)
	s.tally.version[s.version-1].Add(1)
	if d.stamped {
		s.tally.stamped.Add(1)
	}
	if d.managed {
		s.tally.managed.Add(1)
	}
	if diff := want.diff(got); diff != "" {
		s.t.Errorf("version %d, %+v, trouble %q, stamped %v, managed fields %v, %v old:\n%s", s.version, s.limits, s.trouble, d.stamped, d.managed, time.Until(d.now).Round(time.Minute), diff)
		if *keep != "" {
			s.must(os.WriteFile(fmt.Sprintf("%s/%s-%d.yaml", *keep, s.ns, s.tally.dumps.Load()), d.text(s.t), 0o600))
		}
	}
}

// said is the plugin's report on a dump.
func (s *story) said(d dump) (r sight) {
	s.t.Helper()
	cmd := exec.Command(program(s.t, "kubectl-cohort"), "status", "-f", "-", "-o", "json", "--start", d.now.UTC().Format(time.RFC3339Nano))
	var said strings.Builder
	cmd.Stdin, cmd.Stderr = strings.NewReader(string(d.text(s.t))), &said
	out, err := cmd.Output()
	if err != nil {
		s.t.Fatalf("%v: %s", err, said.String())
	}
	var stands struct {
		Summary          struct{ status.Counts }
		MayStart, Failed []string
		Waiting          []struct {
			Clusters []string
			Reason   struct{ Type string }
		}
		Notes []string
	}
	if err := json.Unmarshal(out, &stands); err != nil {
		s.t.Fatal(err)
	}
	c := stands.Summary
	r = sight{Counts: Counts{c.ToApply, c.Progressing, c.Succeeded, c.Soaking, c.Failed, c.TimeOut, c.Deselected}, MayStart: len(stands.MayStart),
		Unsuccessful: stands.Failed, Waits: slices.Clone(stands.MayStart),
		AsksForFields: strings.Contains(strings.Join(stands.Notes, "\n"), showManagedFields)}
	for _, w := range stands.Waiting {
		r.Waits = append(r.Waits, w.Clusters...)
		r.Stopped = r.Stopped || w.Reason.Type == "BudgetBreached"
	}
	slices.Sort(r.Waits)
	slices.Sort(r.Unsuccessful) // deselected clusters come last
	return r
}
