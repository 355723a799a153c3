// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/dynamic"
	"k8s.io/klog/v2"
	clusterclient "open-cluster-management.io/api/client/cluster/clientset/versioned"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	"sigs.k8s.io/yaml"

	"github.com/cohort-ocm/cohort/examples/trial/apiserver"
	"github.com/cohort-ocm/cohort/examples/trial/sim"
	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/status"
	"github.com/cohort-ocm/cohort/status/policyv1"
)

// atATime is how many clusters of the tests may be enforced and not compliant at a time.
const atATime = 2

// TestLeaders has two processes, of which one leads, in virtual time, with the lease that the program has. The leader crashes while it
// enforces, or it is cut off, and what it has sent arrives when the other one leads. Never are more clusters in flight than may be, and no
// replicated policy is created anew or deleted.
func TestLeaders(t *testing.T) {
	for seed := range uint64(2) {
		h := playLeaders(t, seed, true)
		for _, fault := range h.faults {
			t.Errorf("seed %d: %s", seed, fault)
		}
		if h.most > atATime {
			t.Errorf("seed %d: %d clusters were in flight, and %d may be", seed, h.most, atATime)
		}
		if h.led < 5 {
			t.Errorf("seed %d: %d processes led one after the other, expected at least 5", seed, h.led)
		}
		t.Logf("seed %d: %d writes of policies, %d processes led one after the other, at most %d clusters in flight", seed, h.writes, h.led, h.most)
	}
}

// TestTwoAct has two processes that both act all the time, each unaware of the other. The limit holds for each of them alone. No replicated
// policy is created anew or deleted, none is enforced that was not informed before, and in the end all clusters have each version.
func TestTwoAct(t *testing.T) {
	h := playLeaders(t, 0, false)
	for _, fault := range h.faults {
		t.Error(fault)
	}
	if h.most > 2*atATime {
		t.Errorf("%d clusters were in flight, and %d may be for each process", h.most, atATime)
	}
	t.Logf("%d writes of policies, at most %d clusters in flight", h.writes, h.most)
}

// simulated is a hub in virtual time: the users, the scheduler, the agents of the clusters, and what was seen of the replicated policies.
type simulated struct {
	world     *sim.World
	server    *sim.Server
	client    dynamic.Interface
	elects    bool
	processes map[string]*sim.Process
	leader    string // the last actor whose process began to act
	led       int    // how many processes began to act

	replicas map[string]*unstructured.Unstructured // by cluster
	informed map[string]bool                       // by cluster and version
	answered map[string]int64                      // by cluster: the generation that its agent has reported on
	made     map[string]bool                       // by cluster
	most     int                                   // how many were in flight at a time
	writes   int
	faults   []string
}

func playLeaders(t *testing.T, seed uint64, elects bool) *simulated {
	t.Helper()
	klog.SetLogger(logr.Discard())
	files, err := apiserver.OCMDefinitions(
		"cluster/v1/0000_00_clusters.open-cluster-management.io_managedclusters.crd.yaml",
		"cluster/v1beta1/0000_02_clusters.open-cluster-management.io_placements.crd.yaml",
		"cluster/v1beta1/0000_03_clusters.open-cluster-management.io_placementdecisions.crd.yaml",
	)
	if err != nil {
		t.Fatal(err)
	}
	api, err := apiserver.PolicyDefinitions(t.TempDir(), apiserver.RolloutStrategy, apiserver.RolloutStatus)
	if err != nil {
		t.Fatal("the policy API is not at hand: ", err)
	}
	definitions, err := sim.ReadDefinitions(append(files, api...)...)
	if err != nil {
		t.Fatal(err)
	}
	h := &simulated{
		elects: elects, processes: map[string]*sim.Process{}, replicas: map[string]*unstructured.Unstructured{}, informed: map[string]bool{},
		answered: map[string]int64{}, made: map[string]bool{},
	}
	sim.Play(t, sim.Options{Seed: seed, Network: sim.Network{WatchSpread: time.Second}}, func(w *sim.World) {
		h.world, h.server = w, w.NewServer("hub", definitions.And(sim.Core()))
		h.server.Store().Observe(h.saw)
		h.client, err = dynamic.NewForConfig(h.server.Config("users"))
		h.must(err)
		h.place()
		h.start("first")
		h.start("second")
		w.Go("agents", h.report)
		for i, disturb := range []func(){h.crash, h.cut, h.crash, h.cut} {
			version := fmt.Sprint("version-", i)
			h.apply(version)
			h.until("some clusters are enforced", func() bool { return h.enforced(version) >= 3+2*i })
			disturb()
			h.until("all comply with "+version, func() bool { return h.done(version) })
		}
	})
	return h
}

// start starts a process, and another one whenever it ends, as a Deployment does. A process that has lost its lease is at an end at once.
func (h *simulated) start(actor string) {
	h.processes[actor] = h.world.Go(actor, func(ctx context.Context) {
		for ctx.Err() == nil {
			life, end := context.WithCancel(ctx)
			config := h.server.Config(actor)
			lease := ""
			if h.elects {
				lease = thePolicy.Namespace
			}
			_ = lead(life, config, lease, end, func(ctx context.Context) error {
				h.leader = actor
				h.led++
				return run(ctx, config, 4, prometheus.NewRegistry())
			})
			end()
			if ctx.Err() == nil {
				time.Sleep(time.Second)
			}
		}
	})
}

func (h *simulated) must(err error) {
	if err != nil {
		h.world.T.Helper()
		h.world.T.Fatal(err)
	}
}

// place binds the policy to twenty clusters, as users and the scheduler do.
func (h *simulated) place() {
	ctx := h.world.Context()
	var selected []*clusterv1.ManagedCluster
	for i := range 20 {
		selected = append(selected, &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("cluster-%02d", i)}})
	}
	clients, err := clusterclient.NewForConfig(h.server.Config("scheduler"))
	h.must(err)
	api := clients.ClusterV1beta1()
	placement := &clusterv1beta1.Placement{ObjectMeta: metav1.ObjectMeta{Namespace: thePolicy.Namespace, Name: "all"}}
	placement, err = api.Placements(thePolicy.Namespace).Create(ctx, placement, metav1.CreateOptions{})
	h.must(err)
	groups, err := grouping.Divide(placement, selected, grouping.Options{})
	h.must(err)
	decisions, err := groups.Decisions(placement)
	h.must(err)
	for _, decision := range decisions {
		created, err := api.PlacementDecisions(thePolicy.Namespace).Create(ctx, decision, metav1.CreateOptions{})
		h.must(err)
		created.Status = decision.Status
		_, err = api.PlacementDecisions(thePolicy.Namespace).UpdateStatus(ctx, created, metav1.UpdateOptions{})
		h.must(err)
	}
	of, err := grouping.Status(decisions)
	h.must(err)
	placement.Status.DecisionGroups, placement.Status.NumberOfSelectedClusters = of.DecisionGroups, of.NumberOfSelectedClusters
	placement.Status.Conditions = []metav1.Condition{}
	_, err = api.Placements(thePolicy.Namespace).UpdateStatus(ctx, placement, metav1.UpdateOptions{})
	h.must(err)
	binding := &unstructured.Unstructured{}
	h.must(yaml.Unmarshal([]byte(`
apiVersion: policy.open-cluster-management.io/v1
kind: PlacementBinding
metadata: {name: all}
placementRef: {apiGroup: cluster.open-cluster-management.io, kind: Placement, name: all}
subjects: [{apiGroup: policy.open-cluster-management.io, kind: Policy, name: etcd}]
`), &binding.Object))
	_, err = h.client.Resource(bindings).Namespace(thePolicy.Namespace).Create(ctx, binding, metav1.CreateOptions{})
	h.must(err)
}

// apply creates the root policy, or gives it another version.
func (h *simulated) apply(version string) {
	spec := map[string]any{"disabled": false}
	h.must(yaml.Unmarshal(fmt.Appendf(nil, `
remediationAction: enforce
rolloutStrategy: {type: Progressive, progressive: {maxConcurrency: %d, maxFailures: 100%%}}
policy-templates: [{objectDefinition: {apiVersion: policy.open-cluster-management.io/v1, kind: ConfigurationPolicy, metadata: {name: %s}}}]
`, atATime, version), &spec))
	root := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "policy.open-cluster-management.io/v1", "kind": "Policy",
		"metadata": map[string]any{"namespace": thePolicy.Namespace, "name": thePolicy.Name}, "spec": spec,
	}}
	api, ctx := h.client.Resource(policies).Namespace(thePolicy.Namespace), h.world.Context()
	_, err := api.Create(ctx, root, metav1.CreateOptions{})
	for apierrors.IsAlreadyExists(err) || apierrors.IsConflict(err) {
		var stored *unstructured.Unstructured
		stored, err = api.Get(ctx, thePolicy.Name, metav1.GetOptions{})
		h.must(err)
		stored.Object["spec"] = runtime.DeepCopyJSON(spec)
		_, err = api.Update(ctx, stored, metav1.UpdateOptions{})
	}
	h.must(err)
}

func versionIn(replica *unstructured.Unstructured) string {
	templates, _, _ := unstructured.NestedSlice(replica.Object, "spec", "policy-templates")
	name, _, _ := unstructured.NestedString(templates[0].(map[string]any), "objectDefinition", "metadata", "name")
	return name
}

func actionIn(replica *unstructured.Unstructured) string {
	action, _, _ := unstructured.NestedString(replica.Object, "spec", "remediationAction")
	return action
}

// saw looks at each write of a replicated policy when it is stored.
func (h *simulated) saw(c sim.Commit) {
	if c.Resource != "policies.policy.open-cluster-management.io" || c.Namespace == thePolicy.Namespace {
		return
	}
	h.writes++
	cluster, replica := c.Namespace, &unstructured.Unstructured{}
	if err := c.Into(replica); err != nil {
		panic(err) // the server has stored it
	}
	switch {
	case c.Deleted:
		delete(h.replicas, cluster)
		h.faults = append(h.faults, cluster+" lost its replicated policy")
		return
	case c.Before == nil && h.made[cluster]:
		h.faults = append(h.faults, cluster+" got its replicated policy anew")
	}
	h.made[cluster], h.replicas[cluster] = true, replica
	version := versionIn(replica)
	if actionIn(replica) == "inform" {
		h.informed[cluster+" "+version] = true
		return
	}
	if !h.informed[cluster+" "+version] {
		h.faults = append(h.faults, fmt.Sprintf("%s is to enforce %q without a first pass", cluster, version))
	}
	inFlight := 0
	for of, r := range h.replicas {
		if versionIn(r) == version && actionIn(r) == "enforce" && h.answered[of] != r.GetGeneration() {
			inFlight++
		}
	}
	h.most = max(h.most, inFlight)
}

// report has the agents report on what they have: what informs does not comply, what enforces does.
func (h *simulated) report(ctx context.Context) {
	client, err := dynamic.NewForConfig(h.server.Config("agents"))
	h.must(err)
	for ; ctx.Err() == nil; time.Sleep(200 * time.Millisecond) {
		for _, cluster := range slices.Sorted(maps.Keys(h.replicas)) {
			replica := h.replicas[cluster]
			if h.answered[cluster] == replica.GetGeneration() || ctx.Err() != nil {
				continue
			}
			object, err := client.Resource(policies).Namespace(cluster).Get(ctx, replica.GetName(), metav1.GetOptions{})
			if err != nil {
				continue
			}
			compliance := policyv1.NonCompliant
			if actionIn(object) == "enforce" {
				compliance = policyv1.Compliant
			}
			st, _ := object.Object["status"].(map[string]any)
			if st == nil {
				st = map[string]any{}
			}
			st["compliant"] = string(compliance)
			st["details"] = []any{map[string]any{
				"templateMeta": map[string]any{"name": versionIn(object)}, "compliant": string(compliance),
				"history": []any{map[string]any{
					"lastTimestamp": time.Now().UTC().Format(time.RFC3339), "message": string(compliance) + "; it is so",
					"eventName": fmt.Sprintf("%s.%d.%s", cluster, object.GetGeneration(), object.GetResourceVersion()),
				}},
			}}
			object.Object["status"] = st
			if _, err := client.Resource(policies).Namespace(cluster).UpdateStatus(ctx, object, metav1.UpdateOptions{}); err == nil {
				h.answered[cluster] = object.GetGeneration()
			}
		}
	}
}

// enforced is how many clusters are to enforce a version.
func (h *simulated) enforced(version string) (n int) {
	for _, replica := range h.replicas {
		if versionIn(replica) == version && actionIn(replica) == "enforce" {
			n++
		}
	}
	return n
}

// done says whether the root policy says that a version is on all clusters, and it is.
func (h *simulated) done(version string) bool {
	object, err := h.client.Resource(policies).Namespace(thePolicy.Namespace).Get(h.world.Context(), thePolicy.Name, metav1.GetOptions{})
	h.must(err)
	rolled, _, _ := unstructured.NestedString(object.Object, "status", "rolloutStatus")
	compliant, _, _ := unstructured.NestedString(object.Object, "status", "compliant")
	return h.enforced(version) == 20 && rolled == string(status.Succeeded) && compliant == string(policyv1.Compliant)
}

// until waits until something is so.
func (h *simulated) until(what string, so func() bool) {
	h.world.T.Helper()
	for end := time.Now().Add(30 * time.Minute); !so(); time.Sleep(100 * time.Millisecond) {
		if time.Now().After(end) {
			root, err := h.client.Resource(policies).Namespace(thePolicy.Namespace).Get(h.world.Context(), thePolicy.Name, metav1.GetOptions{})
			h.must(err)
			h.world.T.Fatalf("seed %d: not within half an hour: %s: %s; the root policy says %v", h.world.Seed, what, strings.Join(h.faults, "; "), root.Object["status"])
		}
	}
}

// crash crashes the leader. Another process takes over when the lease expires.
func (h *simulated) crash() {
	crashed := h.leader
	h.processes[crashed].Crash()
	h.start(crashed)
}

// cut cuts the leader off until another process leads. What it had sent arrives a second later.
func (h *simulated) cut() {
	leader, led := h.leader, h.led
	h.world.Cut(leader)
	for end := time.Now().Add(time.Minute); h.led == led && time.Now().Before(end); {
		time.Sleep(100 * time.Millisecond)
	}
	time.Sleep(time.Second)
	h.world.Mend(leader)
}
