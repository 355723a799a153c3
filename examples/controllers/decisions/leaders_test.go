// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/events"
	"k8s.io/klog/v2"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	sigsmanager "sigs.k8s.io/controller-runtime/pkg/manager"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/cohort-ocm/cohort/decisionupdate"
	"github.com/cohort-ocm/cohort/examples/controllers/kit/manager"
	"github.com/cohort-ocm/cohort/examples/trial/apiserver"
	"github.com/cohort-ocm/cohort/examples/trial/sim"
	"github.com/cohort-ocm/cohort/grouping"
)

// TestLeaders has two processes, of which one leads, in virtual time. Between its writes the leader crashes, or it is cut off, and what it
// has sent arrives when another one leads. At no time may a cluster that stays be in no PlacementDecision.
func TestLeaders(t *testing.T) {
	for seed := range uint64(2) {
		f := playLeaders(t, seed, true, decisionupdate.UpdateStrategyTypeRollingUpdate)
		if len(f.absent) > 0 {
			t.Errorf("seed %d: clusters that stay were in no PlacementDecision: %v", seed, slices.Sorted(maps.Keys(f.absent)))
		}
		if f.led < 7 {
			t.Errorf("seed %d: %d processes led one after the other, expected at least 7", seed, f.led)
		}
		t.Logf("seed %d: %d writes, %d processes led one after the other", seed, f.writes, f.led)
	}
}

// TestTwoAct has two processes that both act all the time, each unaware of the other. For a moment a cluster may be in no PlacementDecision
// then, since a write is only safe as long as no other process moves the same cluster. After each change the decisions become what they
// should be, and both processes come to rest.
func TestTwoAct(t *testing.T) {
	f := playLeaders(t, 0, false, decisionupdate.UpdateStrategyTypeRollingUpdate)
	t.Logf("%d writes; %d clusters that stay were in no PlacementDecision for a moment", f.writes, len(f.absent))
}

// TestAllLosesClusters shows that these tests can fail: if all PlacementDecisions are written at once, some clusters are in none for a moment.
func TestAllLosesClusters(t *testing.T) {
	if f := playLeaders(t, 0, true, decisionupdate.UpdateStrategyTypeAll); len(f.absent) == 0 {
		t.Error("no cluster was in no PlacementDecision")
	}
}

// fleet plays the users of a hub, and knows the wanted decisions.
type fleet struct {
	client.Client
	world     *sim.World
	server    *sim.Server
	strategy  decisionupdate.UpdateStrategy
	elects    bool
	processes map[string]*sim.Process
	leader    string // the last actor whose process began to act
	led       int    // how many processes began to act

	rng    *rand.Rand
	wanted map[string]string // by cluster: its stage
	next   int

	decisions map[string][]string // by PlacementDecision: its clusters
	stay      map[string]bool     // clusters that were seen, and must not be absent
	absent    map[string]bool
	writes    int
}

func playLeaders(t *testing.T, seed uint64, elects bool, strategy decisionupdate.UpdateStrategyType) *fleet {
	t.Helper()
	ctrl.SetLogger(logr.Discard())
	klog.SetLogger(logr.Discard())
	files, err := apiserver.OCMDefinitions(
		"cluster/v1/0000_00_clusters.open-cluster-management.io_managedclusters.crd.yaml",
		"cluster/v1beta2/0000_00_clusters.open-cluster-management.io_managedclustersets.crd.yaml",
		"cluster/v1beta2/0000_01_clusters.open-cluster-management.io_managedclustersetbindings.crd.yaml",
		"cluster/v1beta1/0000_02_clusters.open-cluster-management.io_placements.crd.yaml",
		"cluster/v1beta1/0000_03_clusters.open-cluster-management.io_placementdecisions.crd.yaml",
	)
	if err != nil {
		t.Fatal(err)
	}
	definitions, err := sim.ReadDefinitions(files...)
	if err != nil {
		t.Fatal(err)
	}
	f := &fleet{
		strategy: decisionupdate.UpdateStrategy{Type: strategy, MaxSteps: 10}, elects: elects, processes: map[string]*sim.Process{},
		wanted: map[string]string{}, decisions: map[string][]string{}, stay: map[string]bool{}, absent: map[string]bool{},
	}
	sim.Play(t, sim.Options{Seed: seed, Network: sim.Network{WatchSpread: 2 * time.Second}}, func(w *sim.World) {
		f.world, f.server, f.rng = w, w.NewServer("hub", definitions.And(sim.Core())), w.Rand("users")
		f.server.Store().Observe(f.saw)
		f.Client, err = client.New(f.server.Config("users"), client.Options{Scheme: scheme})
		f.must(err)
		f.start("first")
		f.start("second")
		f.change(9)
	})
	return f
}

// start starts a process, and another one whenever it ends, as a Deployment does.
func (f *fleet) start(actor string) {
	again, priorities := true, false
	c := f.server.Config(actor)
	f.processes[actor] = f.world.Go(actor, func(ctx context.Context) {
		for ctx.Err() == nil {
			_ = f.run(ctx, ctrl.Options{
				Scheme: scheme, Logger: logr.Discard(), Metrics: metricsserver.Options{BindAddress: "0"},
				Controller:     config.Controller{SkipNameValidation: &again, UsePriorityQueue: &priorities}, // as package sim requires
				LeaderElection: f.elects, LeaderElectionID: "decisions", LeaderElectionNamespace: thePlacement.Namespace,
			}, actor, c)
			time.Sleep(time.Second)
		}
	})
}

// run is a process of the program, as in its main function.
func (f *fleet) run(ctx context.Context, options ctrl.Options, actor string, c *rest.Config) error {
	m, err := ctrl.NewManager(c, options)
	if err != nil {
		return err
	}
	if err := setUp(ctx, m, newTeller(&events.FakeRecorder{}, prometheus.NewRegistry()), f.strategy, 4, 4); err != nil {
		return err
	}
	leads := sigsmanager.RunnableFunc(func(ctx context.Context) error {
		f.leader = actor
		f.led++
		<-ctx.Done()
		return nil
	})
	if err := m.Add(leads); err != nil {
		return err
	}
	return manager.Start(ctx, m)
}

func (f *fleet) must(err error) {
	if err != nil {
		f.world.T.Helper()
		f.world.T.Fatal(err)
	}
}

// saw looks at each write when it is stored.
func (f *fleet) saw(c sim.Commit) {
	if c.Resource != "placementdecisions.cluster.open-cluster-management.io" {
		return
	}
	f.writes++
	var pd clusterv1beta1.PlacementDecision
	if err := c.Into(&pd); err != nil {
		panic(err) // the server has stored it
	}
	delete(f.decisions, c.Name)
	if !c.Deleted {
		f.decisions[c.Name] = []string{}
		for _, d := range pd.Status.Decisions {
			f.decisions[c.Name] = append(f.decisions[c.Name], d.ClusterName)
		}
	}
	there := map[string]bool{}
	for _, clusters := range f.decisions {
		for _, cluster := range clusters {
			there[cluster] = true
		}
	}
	for cluster := range there {
		if _, is := f.wanted[cluster]; is {
			f.stay[cluster] = true
		}
	}
	for cluster := range f.stay {
		if !there[cluster] {
			f.absent[cluster] = true
		}
	}
}

// change makes changes, one after the other. At two of three it disturbs the leader between its writes. Then the decisions follow.
func (f *fleet) change(changes int) {
	ctx := f.world.Context()
	set := &clusterv1beta2.ManagedClusterSet{ObjectMeta: metav1.ObjectMeta{Name: "all"}}
	f.must(f.Create(ctx, set))
	binding := &clusterv1beta2.ManagedClusterSetBinding{ObjectMeta: metav1.ObjectMeta{Namespace: thePlacement.Namespace, Name: "all"}}
	binding.Spec.ClusterSet = "all"
	f.must(f.Create(ctx, binding))
	f.join(40, "")
	f.join(5, "canary")
	f.group(20, "canary")
	f.settled("45 clusters are placed")
	for i := range changes {
		f.group([]int{20, 8, 5, 12, 4, 6}[i%6], []string{"canary", "early", "edge"}[:1+i%3]...)
		f.leave(3)
		f.join(3, []string{"", "edge", "early"}[i%3])
		f.move(6, []string{"early", "canary", "edge", ""}[i%4])
		f.edit([]string{`null`, `"other"`, `""`}[i%3])
		switch i % 3 {
		case 1:
			f.writing()
			f.crash()
		case 2:
			f.writing()
			f.cut()
		}
		f.settled(fmt.Sprintf("change %d is carried out", i))
	}
}

// writing waits until the leader has made some writes. It may have made all.
func (f *fleet) writing() {
	before := f.writes
	for end := time.Now().Add(10 * time.Second); f.writes < before+3 && time.Now().Before(end); {
		time.Sleep(time.Millisecond)
	}
}

// crash crashes the leader. The other process takes over when the lease expires.
func (f *fleet) crash() {
	crashed := f.leader
	f.processes[crashed].Crash()
	f.start(crashed)
}

// cut cuts the leader off until the other process leads. What it had sent arrives a second later.
func (f *fleet) cut() {
	leader := f.leader
	f.world.Cut(leader)
	for end := time.Now().Add(time.Minute); f.leader == leader && time.Now().Before(end); {
		time.Sleep(100 * time.Millisecond)
	}
	time.Sleep(time.Second)
	f.world.Mend(leader)
}

// settled waits until nothing is written any more, and fails unless the decisions are what the fleet wants then.
func (f *fleet) settled(what string) {
	f.world.T.Helper()
	if ending := f.world.Settle(90*time.Second, time.Hour); ending != sim.AllIdle {
		f.world.T.Fatalf("seed %d: %s: %s", f.world.Seed, what, ending)
	}
	if why := f.unsettled(); why != "" {
		f.world.T.Fatalf("seed %d: %s: %s", f.world.Seed, what, why)
	}
}

// unsettled says what is wrong with the decisions: each cluster of the fleet must be in one group, of its stage if the Placement names it, and
// no group may be too large.
func (f *fleet) unsettled() string {
	var placement clusterv1beta1.Placement
	var list clusterv1beta1.PlacementDecisionList
	f.must(f.List(f.world.Context(), &list))
	f.must(f.Get(f.world.Context(), thePlacement, &placement))
	var stored []*clusterv1beta1.PlacementDecision
	for i := range list.Items {
		stored = append(stored, &list.Items[i])
	}
	groups, err := grouping.Read(&placement, stored)
	if err != nil {
		return err.Error()
	}
	if why := groups.Incomplete(); why != "" {
		return why
	}
	strategy := placement.Spec.DecisionStrategy.GroupStrategy
	if groups.NumClusters() != len(f.wanted) {
		return fmt.Sprintf("%d clusters are selected, of %d", groups.NumClusters(), len(f.wanted))
	}
	for i := range groups.Len() {
		if n := groups.Size(i); n > strategy.ClustersPerDecisionGroup.IntValue() {
			return fmt.Sprintf("group %d has %d clusters", i, n)
		}
	}
	for cluster, stage := range f.wanted {
		if !slices.ContainsFunc(strategy.DecisionGroups, func(g clusterv1beta1.DecisionGroup) bool { return g.GroupName == stage }) {
			stage = ""
		}
		if key, _, ok := groups.Find(cluster); !ok || key.Name != stage {
			return fmt.Sprintf("%s is in group %v, its stage is %q", cluster, key, stage)
		}
	}
	return ""
}

// group creates the Placement, or changes its groups.
func (f *fleet) group(size int, named ...string) {
	var placement clusterv1beta1.Placement
	err := f.Get(f.world.Context(), thePlacement, &placement)
	f.must(client.IgnoreNotFound(err))
	placement.Namespace, placement.Name = thePlacement.Namespace, thePlacement.Name
	patch := client.MergeFrom(placement.DeepCopy())
	groupsOf(size, named...)(&placement.Spec)
	if err != nil {
		f.must(f.Create(f.world.Context(), &placement))
		return
	}
	f.must(f.Patch(f.world.Context(), &placement, patch))
}

// join adds n new clusters.
func (f *fleet) join(n int, stage string) {
	for range n {
		name := fmt.Sprintf("cluster-%04d", (f.next*617)%10_000) // sorted anywhere among the others
		f.next++
		f.wanted[name] = stage
		f.must(f.Create(f.world.Context(), &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{
			Name: name, Labels: map[string]string{clusterv1beta2.ClusterSetLabel: "all", "stage": stage},
		}}))
	}
}

// some are n clusters of the fleet.
func (f *fleet) some(n int) []string {
	all := slices.Sorted(maps.Keys(f.wanted))
	f.rng.Shuffle(len(all), func(i, k int) { all[i], all[k] = all[k], all[i] })
	return all[:n]
}

// leave deletes n clusters.
func (f *fleet) leave(n int) {
	for _, name := range f.some(n) {
		delete(f.wanted, name) // from now on it may be absent
		delete(f.stay, name)
		f.must(f.Delete(f.world.Context(), &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: name}}))
	}
}

// move gives n clusters another stage.
func (f *fleet) move(n int, stage string) {
	for _, name := range f.some(n) {
		f.wanted[name] = stage
		patch := fmt.Sprintf(`{"metadata":{"labels":{"stage":%q}}}`, stage)
		cluster := &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: name}}
		f.must(f.Patch(f.world.Context(), cluster, client.RawPatch("application/merge-patch+json", []byte(patch))))
	}
}

// edit changes or removes the placement label of a PlacementDecision, as a user may by mistake.
func (f *fleet) edit(label string) {
	var list clusterv1beta1.PlacementDecisionList
	f.must(f.List(f.world.Context(), &list, client.InNamespace(thePlacement.Namespace)))
	pd := &list.Items[f.rng.IntN(len(list.Items))]
	patch := fmt.Sprintf(`{"metadata":{"labels":{%q:%s}}}`, clusterv1beta1.PlacementLabel, label)
	f.must(client.IgnoreNotFound(f.Patch(f.world.Context(), pd, client.RawPatch("application/merge-patch+json", []byte(patch)))))
}
