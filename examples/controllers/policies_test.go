// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"encoding/json"
	"fmt"
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
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/tools/clientcmd"
	clusterclient "open-cluster-management.io/api/client/cluster/clientset/versioned"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	"sigs.k8s.io/yaml"

	"github.com/cohort-ocm/cohort/examples/trial/apiserver"
	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/status"
	"github.com/cohort-ocm/cohort/status/policyv1"
)

// TestPolicies runs the program policies against a real API server, plays the scheduler and the agents, and looks at the
// replicated policies by a watch: its events come in the order in which the API server has stored the objects. It kills the
// program while it enforces.
func TestPolicies(t *testing.T) {
	t.Parallel()
	f := newPolicies(t)
	f.apply("placementbindings", `{placementRef: {apiGroup: cluster.open-cluster-management.io, kind: Placement, name: all}, subjects: [{apiGroup: policy.open-cluster-management.io, kind: PolicySet, name: base}]}`)
	f.apply("policysets", `{spec: {policies: [etcd]}}`)
	f.place()
	f.fail("canary-1", true)
	f.apply("policies", `metadata: {annotations: {cohort.open-cluster-management.io/fail-at-once: "true"}}`+policyYAML("one"))
	f.until("all clusters have the policy, and the canaries enforce it", func() bool {
		return len(f.version("one")) == 20 && f.count("one", "inform") == 18
	})
	f.until("a canary fails, and the root policy says so", func() bool { return f.root().RolloutStatus == string(status.Failed) })
	if n := f.count("one", "enforce"); n != 2 {
		t.Errorf("%d clusters are enforced while a canary fails", n)
	}
	f.fail("canary-1", false)
	f.until("some clusters after the canaries are enforced", func() bool { return f.count("one", "enforce") >= 5 })
	f.program.Process.Kill()
	f.program.Wait()
	f.program = f.start()
	f.until("all are compliant", func() bool { return f.done("one") })

	f.apply("policies", policyYAML("two"))
	f.until("all are compliant with the second template", func() bool { return f.done("two") })

	f.mu.Lock()
	f.going = true
	f.mu.Unlock()
	f.must(f.policies.Namespace("policies").Delete(t.Context(), "etcd", metav1.DeleteOptions{}))
	f.until("all replicas are deleted", func() bool { return len(f.version("two")) == 0 })
	t.Logf("%d events", f.events)
}

// TestPoliciesAsPublished runs the program under the policy API as OCM publishes it, to which no field is added: a policy
// is replicated to its clusters, its status has their status, and an invalid one is refused with an event.
func TestPoliciesAsPublished(t *testing.T) {
	t.Parallel()
	f := newPolicies(t, "-as-published")
	f.apply("placementbindings", `{placementRef: {apiGroup: cluster.open-cluster-management.io, kind: Placement, name: all}, subjects: [{apiGroup: policy.open-cluster-management.io, kind: PolicySet, name: base}]}`)
	f.apply("policysets", `{spec: {policies: [etcd, `+longName+`]}}`)
	f.place()
	const inform = `{spec: {disabled: false, remediationAction: inform, policy-templates: [{objectDefinition: {apiVersion: policy.open-cluster-management.io/v1, kind: ConfigurationPolicy, metadata: {name: one}}}]}}`
	f.apply("policies", inform)
	f.until("the root policy says that all clusters have reported", func() bool {
		st := f.root()
		return len(st.Status) == 20 && st.ComplianceState == policyv1.NonCompliant && f.count("one", "inform") == 20 &&
			!slices.ContainsFunc(st.Status, func(c policyv1.PolicyClusterStatus) bool { return c.ComplianceState != policyv1.NonCompliant }) &&
			len(st.Placement) == 1 && st.Placement[0].PolicySet == "base" && st.Placement[0].Placement == "all"
	})
	f.until("the set says so, too", func() bool {
		set, err := f.client.Resource(resource("policysets")).Namespace("policies").Get(t.Context(), "base", metav1.GetOptions{})
		f.must(err)
		of, _, _ := unstructured.NestedString(set.Object, "status", "compliant")
		message, _, _ := unstructured.NestedString(set.Object, "status", "statusMessage")
		return of == "NonCompliant" && message == "Deleted policies: "+longName
	})
	f.limit = 20 // the strategy is dropped
	f.apply("policies", policyOf("one", "{type: Progressive, progressive: {maxConcurrency: 1}}"))
	f.until("an event says that the strategy is dropped", func() bool { return f.told("RolloutStrategyDropped", "etcd") })
	f.applyAs(longName, "policies", inform)
	f.until("an event says why a policy is refused", func() bool { return f.told("Invalid", longName) })
}

// longName is too long for a policy: its replicas need it as a label, together with the namespace.
var longName = strings.Repeat("n", 60)

// told says whether an event has a reason and is about an object.
func (f *policies) told(reason, name string) bool {
	f.t.Helper()
	events, err := f.client.Resource(schema.GroupVersionResource{Group: "events.k8s.io", Version: "v1", Resource: "events"}).List(f.t.Context(), metav1.ListOptions{})
	f.must(err)
	return slices.ContainsFunc(events.Items, func(e unstructured.Unstructured) bool {
		about, _, _ := unstructured.NestedString(e.Object, "regarding", "name")
		return e.Object["reason"] == reason && about == name
	})
}

// TestPoliciesExclusions has a set exclude a cluster. Its replica is deleted, and the root's status has the exclusion in the form of
// OCM's API, which the API server checks. A cluster that another binding still binds keeps its replica.
func TestPoliciesExclusions(t *testing.T) {
	t.Parallel()
	f := newPolicies(t)
	f.apply("placementbindings", `{placementRef: {apiGroup: cluster.open-cluster-management.io, kind: Placement, name: all}, subjects: [{apiGroup: policy.open-cluster-management.io, kind: PolicySet, name: base}]}`)
	f.applyAs("set", "policysets", `{spec: {policies: [etcd], exclusions: [{policyName: etcd, clusterNames: [canary-0]}]}}`)
	f.apply("policysets", `{spec: {policies: [etcd], exclusions: [{policyName: etcd, clusterNames: [canary-0, canary-1]}]}}`)
	f.applyAs("direct", "placementbindings", `{placementRef: {apiGroup: cluster.open-cluster-management.io, kind: Placement, name: all}, subjects: [{apiGroup: policy.open-cluster-management.io, kind: PolicySet, name: set}]}`)
	f.place()
	f.apply("policies", `{spec: {disabled: false, remediationAction: inform, policy-templates: [{objectDefinition: {apiVersion: policy.open-cluster-management.io/v1, kind: ConfigurationPolicy, metadata: {name: one}}}]}}`)
	f.until("the root policy says which cluster is excluded, and which one is still bound", func() bool {
		st := f.root()
		if len(st.Status) != 19 || len(st.Placement) != 2 || f.count("one", "inform") != 19 {
			return false
		}
		of := st.Status[0]
		return of.ClusterName == "canary-1" && len(of.RemainingBindings) == 1 && of.RemainingBindings[0].PlacementBinding == "direct" &&
			slices.Equal(st.Placement[0].Exclusions, []policyv1.PolicyDecision{{ClusterName: "canary-0"}, {ClusterName: "canary-1"}})
	})
}

func policyYAML(text string) string {
	return policyOf(text, "{type: ProgressivePerGroup, progressivePerGroup: {}}")
}

func policyOf(text, strategy string) string {
	return fmt.Sprintf(`
spec:
  disabled: false
  remediationAction: enforce
  rolloutStrategy: %s
  dependencies: [{apiVersion: policy.open-cluster-management.io/v1, kind: Policy, name: namespaces, compliance: Compliant}]
  policy-templates: [{objectDefinition: {apiVersion: policy.open-cluster-management.io/v1, kind: ConfigurationPolicy, metadata: {name: %s}}}]
`, strategy, text)
}

// policies plays all others: the user, the scheduler, and the agents of the clusters.
type policies struct {
	t          *testing.T
	kubeconfig string
	client     dynamic.Interface
	policies   dynamic.NamespaceableResourceInterface
	clusters   clusterclient.Interface
	start      func() *exec.Cmd
	program    *exec.Cmd
	groups     *grouping.Groups
	limit      int // how many clusters are enforced at a time, all groups together; 0 is one group after the other

	mu       sync.Mutex
	replicas map[string]*unstructured.Unstructured // by cluster, as the watch has shown them
	informed map[string]bool                       // by cluster and template: it was seen with inform
	failing  map[string]bool                       // by cluster
	answered map[string]int64                      // by cluster: the generation that the agent has reported on
	made     map[string]bool                       // by cluster: it has had a replicated policy
	going    bool                                  // the policy is deleted
	events   int
	faults   []string
}

// newPolicies starts the API server with arguments, and the program. The policy API has what the enhancement adds, unless the
// arguments say otherwise.
func newPolicies(t *testing.T, hub ...string) *policies {
	t.Helper()
	if _, err := apiserver.PolicyDefinitions(t.TempDir()); err != nil && os.Getenv("CI") == "" {
		t.Skip("the policy API is not at hand: ", err)
	} else if err != nil {
		t.Fatal("the policy API is not at hand: ", err)
	}
	kubeconfig := filepath.Join(t.TempDir(), "hub.kubeconfig")
	run(t, program(t, "apiserver"), append(hub, "-kubeconfig", kubeconfig)...)
	f := &policies{
		t: t, replicas: map[string]*unstructured.Unstructured{}, informed: map[string]bool{},
		failing: map[string]bool{}, answered: map[string]int64{}, made: map[string]bool{},
	}
	f.start = func() *exec.Cmd {
		return run(t, program(t, "policies"), "-kubeconfig", kubeconfig, "-metrics-bind-address", "0")
	}
	f.kubeconfig = kubeconfig
	waitFor(t, kubeconfig)
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	f.must(err)
	config.QPS = -1
	f.client, err = dynamic.NewForConfig(config)
	f.must(err)
	f.clusters, err = clusterclient.NewForConfig(config)
	f.must(err)
	f.policies = f.client.Resource(resource("policies"))
	w, err := f.policies.Watch(t.Context(), metav1.ListOptions{})
	f.must(err)
	var done sync.WaitGroup
	done.Go(func() {
		for event := range w.ResultChan() {
			if object, ok := event.Object.(*unstructured.Unstructured); ok && object.GetNamespace() != "policies" {
				f.saw(event.Type, object)
			}
		}
	})
	t.Cleanup(func() {
		w.Stop()
		done.Wait()
		for _, fault := range f.faults {
			t.Error(fault)
		}
	})
	f.program = f.start()
	return f
}

func resource(name string) schema.GroupVersionResource {
	version := map[string]string{"policysets": "v1beta1"}[name]
	if version == "" {
		version = "v1"
	}
	return schema.GroupVersionResource{Group: "policy.open-cluster-management.io", Version: version, Resource: name}
}

func (f *policies) must(err error) {
	if err != nil {
		f.t.Helper()
		f.t.Fatal(err)
	}
}

// apply creates an object of the policy API, given as YAML, or replaces what is there.
func (f *policies) apply(of, text string) {
	f.t.Helper()
	f.applyAs(map[string]string{"policies": "etcd", "policysets": "base", "placementbindings": "all"}[of], of, text)
}

func (f *policies) applyAs(name, of, text string) {
	f.t.Helper()
	kind := map[string]string{"policies": "Policy", "policysets": "PolicySet", "placementbindings": "PlacementBinding"}[of]
	content := map[string]any{}
	f.must(yaml.Unmarshal([]byte(text), &content))
	object := &unstructured.Unstructured{Object: content}
	object.SetAPIVersion(resource(of).GroupVersion().String())
	object.SetKind(kind)
	object.SetNamespace("policies")
	object.SetName(name)
	api := f.client.Resource(resource(of)).Namespace("policies")
	_, err := api.Create(f.t.Context(), object, metav1.CreateOptions{})
	if apierrors.IsAlreadyExists(err) {
		var patch []byte
		patch, err = json.Marshal(map[string]any{"spec": content["spec"]})
		f.must(err)
		_, err = api.Patch(f.t.Context(), name, types.MergePatchType, patch, metav1.PatchOptions{})
	}
	f.must(err)
}

// place plays the scheduler: two canaries, and 18 others in groups of six.
func (f *policies) place() {
	f.t.Helper()
	ctx := f.t.Context()
	var selected []*clusterv1.ManagedCluster
	for i := range 20 {
		cluster := &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("cluster-%02d", i)}}
		if i < 2 {
			cluster.Name, cluster.Labels = fmt.Sprintf("canary-%d", i), map[string]string{"stage": "canary"}
		}
		selected = append(selected, cluster)
	}
	placement := &clusterv1beta1.Placement{ObjectMeta: metav1.ObjectMeta{Namespace: "policies", Name: "all"}}
	f.must(yaml.Unmarshal([]byte(`{clustersPerDecisionGroup: 6, decisionGroups: [{groupName: canary, groupClusterSelector: {labelSelector: {matchLabels: {stage: canary}}}}]}`),
		&placement.Spec.DecisionStrategy.GroupStrategy))
	api := f.clusters.ClusterV1beta1()
	placement, err := api.Placements("policies").Create(ctx, placement, metav1.CreateOptions{})
	f.must(err)
	f.groups, err = grouping.Divide(placement, selected, grouping.Options{})
	f.must(err)
	decisions, err := f.groups.Decisions(placement)
	f.must(err)
	for _, decision := range decisions {
		created, err := api.PlacementDecisions("policies").Create(ctx, decision, metav1.CreateOptions{})
		f.must(err)
		created.Status = decision.Status
		_, err = api.PlacementDecisions("policies").UpdateStatus(ctx, created, metav1.UpdateOptions{})
		f.must(err)
	}
	of, err := grouping.Status(decisions)
	f.must(err)
	placement.Status.DecisionGroups, placement.Status.NumberOfSelectedClusters = of.DecisionGroups, of.NumberOfSelectedClusters
	placement.Status.Conditions = []metav1.Condition{}
	_, err = api.Placements("policies").UpdateStatus(ctx, placement, metav1.UpdateOptions{})
	f.must(err)
}

func templateOf(replica *unstructured.Unstructured) string {
	templates, _, _ := unstructured.NestedSlice(replica.Object, "spec", "policy-templates")
	name, _, _ := unstructured.NestedString(templates[0].(map[string]any), "objectDefinition", "metadata", "name")
	return name
}

func actionOf(replica *unstructured.Unstructured) string {
	action, _, _ := unstructured.NestedString(replica.Object, "spec", "remediationAction")
	return action
}

// saw looks at one event: a cluster gets each template with inform first, and is enforced only when all clusters of the
// groups before it are enforced with the template and compliant.
func (f *policies) saw(event watch.EventType, replica *unstructured.Unstructured) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.events++
	cluster := replica.GetNamespace()
	before := f.replicas[cluster]
	f.replicas[cluster] = replica
	if event == watch.Deleted {
		delete(f.replicas, cluster)
		if !f.going {
			f.faults = append(f.faults, cluster+" lost its replicated policy")
		}
		return
	}
	if event == watch.Added && f.made[cluster] {
		f.faults = append(f.faults, cluster+" got its replicated policy anew")
	}
	f.made[cluster] = true
	template, action := templateOf(replica), actionOf(replica)
	if action == "inform" {
		f.informed[cluster+" "+template] = true
		return
	}
	if !f.informed[cluster+" "+template] {
		f.faults = append(f.faults, fmt.Sprintf("%s is to enforce %q without a first pass", cluster, template))
	}
	if before != nil && templateOf(before) == template && actionOf(before) == action {
		return
	}
	if f.limit > 0 {
		f.countInFlight(template)
		return
	}
	key, _, _ := f.groups.Find(cluster)
	for i := range f.groups.Len() {
		if f.groups.Key(i).Index >= key.Index {
			continue
		}
		for decision := range f.groups.Clusters(i) {
			r := f.replicas[decision.ClusterName]
			compliance := ""
			if r != nil {
				compliance, _, _ = unstructured.NestedString(r.Object, "status", "compliant")
			}
			if r == nil || templateOf(r) != template || actionOf(r) != "enforce" || compliance != "Compliant" {
				f.faults = append(f.faults, fmt.Sprintf("%s of %v enforces %q before %s of %v complies", cluster, key, template, decision.ClusterName, f.groups.Key(i)))
			}
		}
	}
}

// countInFlight counts the clusters that enforce a template and have not said since that they comply.
func (f *policies) countInFlight(template string) {
	var inFlight []string
	for cluster, r := range f.replicas {
		compliance, _, _ := unstructured.NestedString(r.Object, "status", "compliant")
		if templateOf(r) == template && actionOf(r) == "enforce" && !(compliance == "Compliant" && reportedOn(r) == r.GetGeneration()) {
			inFlight = append(inFlight, cluster)
		}
	}
	if len(inFlight) > f.limit {
		f.faults = append(f.faults, fmt.Sprintf("%v enforce %q at a time", inFlight, template))
	}
}

// reportedOn is the generation that a cluster reported on last.
func reportedOn(replica *unstructured.Unstructured) (generation int64) {
	details, _, _ := unstructured.NestedSlice(replica.Object, "status", "details")
	for _, d := range details {
		generation = reportedIn(replica, d.(map[string]any))
	}
	return generation
}

// reportedIn is the generation that a template's details are about.
func reportedIn(replica *unstructured.Unstructured, details map[string]any) (generation int64) {
	history, _, _ := unstructured.NestedSlice(details, "history")
	for _, h := range history {
		name, _, _ := unstructured.NestedString(h.(map[string]any), "eventName")
		fmt.Sscanf(strings.TrimPrefix(name, replica.GetNamespace()+"."), "%d.", &generation)
	}
	return generation
}

// until plays the agents until something is so.
func (f *policies) until(what string, so func() bool) {
	f.t.Helper()
	for end := time.Now().Add(patience); ; time.Sleep(20 * time.Millisecond) {
		f.report()
		if so() {
			return
		}
		if time.Now().After(end) {
			text, _ := json.MarshalIndent(f.root(), "", "  ")
			f.t.Fatalf("not within %v: %s\n%s", patience, what, text)
		}
	}
}

// report has the agents report on what they have: what informs does not comply, what enforces does, unless it fails.
func (f *policies) report() {
	f.t.Helper()
	f.mu.Lock()
	var due []*unstructured.Unstructured
	for cluster, replica := range f.replicas {
		if f.answered[cluster] != replica.GetGeneration() {
			due = append(due, replica)
		}
	}
	f.mu.Unlock()
	for _, replica := range due {
		cluster := replica.GetNamespace()
		compliance := policyv1.NonCompliant
		if actionOf(replica) == "enforce" && !f.failing[cluster] {
			compliance = policyv1.Compliant
		}
		object := replica.DeepCopy()
		st := policyv1.PolicyStatus{ComplianceState: compliance, RolloutStatus: string(rolloutStatus(replica)), Details: []policyv1.PolicyDetails{{
			TemplateMeta: metav1.ObjectMeta{Name: templateOf(replica)}, ComplianceState: compliance,
			History: []policyv1.PolicyHistory{{
				LastTimestamp: metav1.Now(), Message: string(compliance) + "; it is so", EventName: fmt.Sprintf("%s.%d.%s", cluster, replica.GetGeneration(), replica.GetResourceVersion()),
			}},
		}}}
		content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&st)
		f.must(err)
		object.Object["status"] = content
		_, err = f.policies.Namespace(cluster).UpdateStatus(f.t.Context(), object, metav1.UpdateOptions{})
		if err == nil {
			f.answered[cluster] = replica.GetGeneration()
		} else if !apierrors.IsConflict(err) && !apierrors.IsNotFound(err) { // otherwise at the next look
			f.must(err)
		}
	}
}

func rolloutStatus(replica *unstructured.Unstructured) status.RolloutStatus {
	s, _, _ := unstructured.NestedString(replica.Object, "status", "rolloutStatus")
	return status.RolloutStatus(s)
}

// fail has a cluster fail, or recover, and report so.
func (f *policies) fail(cluster string, fails bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.failing[cluster] = fails
	delete(f.answered, cluster)
}

// version lists the clusters that have a template.
func (f *policies) version(template string) (clusters []string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for cluster, replica := range f.replicas {
		if templateOf(replica) == template {
			clusters = append(clusters, cluster)
		}
	}
	slices.Sort(clusters)
	return clusters
}

// count counts the clusters that have a template with an action.
func (f *policies) count(template, action string) (n int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, replica := range f.replicas {
		if templateOf(replica) == template && actionOf(replica) == action {
			n++
		}
	}
	return n
}

// root is the root policy's status.
func (f *policies) root() (st policyv1.PolicyStatus) {
	f.t.Helper()
	object, err := f.policies.Namespace("policies").Get(f.t.Context(), "etcd", metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return st
	}
	f.must(err)
	if content, ok := object.Object["status"].(map[string]any); ok {
		f.must(runtime.DefaultUnstructuredConverter.FromUnstructured(content, &st))
	}
	return st
}

// done says whether the root policy's status says that a template is rolled out to all clusters, and it is.
func (f *policies) done(template string) bool {
	st := f.root()
	for _, c := range st.Status {
		if c.ComplianceState != policyv1.Compliant || c.RolloutStatus != string(status.Succeeded) {
			return false
		}
	}
	return len(st.Status) == 20 && st.RolloutStatus == string(status.Succeeded) && st.ComplianceState == policyv1.Compliant &&
		len(st.Placement) == 1 && st.Placement[0].PolicySet == "base" && f.count(template, "enforce") == 20
}
