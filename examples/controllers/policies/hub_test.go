// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"

	"github.com/prometheus/client_golang/prometheus"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic/fake"
	kubetesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/events"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	"sigs.k8s.io/yaml"

	"github.com/cohort-ocm/cohort/examples/controllers/kit"
	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/status"
	"github.com/cohort-ocm/cohort/status/policyv1"
)

// ignoreAnnotation names the ignored clusters.
const ignoreAnnotation = "cohort.open-cluster-management.io/ignore"

// hub is a controller with a fake API server for Policies, and caches that show what is on it when they are told to.
type hub struct {
	*controller
	t        testing.TB
	policies map[string]*unstructured.Unstructured // by namespace/name: what is on the server
	version  int
	writes   []string // the controller's, of replicated policies: "a: create inform"
	inOrder  []string // those of the last look, as they came
	clock    time.Time
	reports  int
	patches  int             // the controller's, of the status
	lists    int             // the controller's, of Policies
	asked    int             // for ManagedClusters
	missing  map[string]bool // the ManagedClusters that were deleted
	drops    bool            // the schema has no field of the rollout
	stored   cache.Indexer   // the Placements on the server
	// unreachable, if set, is what the server says where it is asked for a Placement.
	unreachable error

	// fail, if set, is asked before a write of a replicated policy is made. With lost, the write is made all the same.
	fail func(write string) (err error, lost bool)
}

var thePolicy = types.NamespacedName{Namespace: "policies", Name: "etcd"}

func newHub(t testing.TB) *hub {
	h := &hub{t: t, policies: map[string]*unstructured.Unstructured{}, clock: time.Date(2026, 1, 2, 10, 0, 0, 0, time.UTC)}
	client := fake.NewSimpleDynamicClientWithCustomListKinds(runtime.NewScheme(), map[schema.GroupVersionResource]string{policies: "PolicyList"})
	client.PrependReactor("*", "policies", h.serve)
	client.PrependReactor("get", "managedclusters", func(action kubetesting.Action) (bool, runtime.Object, error) {
		h.asked++
		name := action.(kubetesting.GetAction).GetName()
		if h.missing[name] {
			return true, nil, apierrors.NewNotFound(managedClusters.GroupResource(), name)
		}
		return true, &unstructured.Unstructured{Object: map[string]any{}}, nil
	})
	client.PrependReactor("get", "placements", func(action kubetesting.Action) (bool, runtime.Object, error) {
		a := action.(kubetesting.GetAction)
		if h.unreachable != nil {
			return true, nil, h.unreachable
		}
		if kit.Get[clusterv1beta1.Placement](h.stored, a.GetNamespace(), a.GetName()) == nil {
			return true, nil, apierrors.NewNotFound(placements.GroupResource(), a.GetName())
		}
		return true, &unstructured.Unstructured{Object: map[string]any{}}, nil
	})
	h.controller = &controller{client: client, now: func() time.Time { return h.clock }}
	store := func(indexers cache.Indexers) cache.Indexer {
		s := cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc})
		h.must(s.AddIndexers(indexers))
		return s
	}
	h.caches = caches{
		policies: store(policyIndexers), sets: store(nil), bindings: store(bindingIndexers),
		placements: store(nil), decisions: store(kit.DecisionIndexers),
	}
	h.stored = store(nil)
	h.restart()
	return h
}

// restart has the controller forget all.
func (h *hub) restart() {
	h.memories, h.begun = kit.Memories[memory]{}, kit.Once{}
	h.teller = newTeller(events.NewFakeRecorder(1000), prometheus.NewRegistry())
}

// serve plays the API server.
func (h *hub) serve(action kubetesting.Action) (bool, runtime.Object, error) {
	switch a := action.(type) {
	case kubetesting.GetActionImpl:
		stored := h.policies[a.Namespace+"/"+a.Name]
		if stored == nil {
			return true, nil, apierrors.NewNotFound(policies.GroupResource(), a.Name)
		}
		return true, stored.DeepCopy(), nil
	case kubetesting.ListActionImpl:
		h.lists++
		list := &unstructured.UnstructuredList{Object: map[string]any{"apiVersion": "policy.open-cluster-management.io/v1", "kind": "PolicyList"}}
		for _, stored := range h.policies {
			list.Items = append(list.Items, *stored.DeepCopy())
		}
		return true, list, nil
	case kubetesting.CreateActionImpl:
		object := a.Object.(*unstructured.Unstructured)
		return h.write(a.Namespace, "create", object, func() (*unstructured.Unstructured, error) {
			if h.policies[a.Namespace+"/"+object.GetName()] != nil {
				return nil, apierrors.NewAlreadyExists(policies.GroupResource(), object.GetName())
			}
			return h.store(object), nil
		})
	case kubetesting.UpdateActionImpl:
		object := a.Object.(*unstructured.Unstructured)
		return h.write(a.Namespace, "update", object, func() (*unstructured.Unstructured, error) {
			stored := h.policies[a.Namespace+"/"+object.GetName()]
			if stored == nil || stored.GetResourceVersion() != object.GetResourceVersion() {
				return nil, apierrors.NewConflict(policies.GroupResource(), object.GetName(), errors.New("it has changed"))
			}
			return h.store(object), nil
		})
	case kubetesting.PatchActionImpl:
		stored := h.policies[a.Namespace+"/"+a.Name]
		if stored == nil {
			return true, nil, apierrors.NewNotFound(policies.GroupResource(), a.Name)
		}
		if len(a.PatchOptions.DryRun) > 0 {
			answer := stored.DeepCopy()
			if !h.drops {
				h.must(unstructured.SetNestedField(answer.Object, "All", "spec", "rolloutStrategy", "type"))
			}
			return true, answer, nil
		}
		if a.Subresource != "status" && strings.Contains(string(a.Patch), "resourceVersion") {
			return h.note(stored, a)
		}
		if a.Subresource != "status" {
			return h.write(a.Namespace, "label", nil, func() (*unstructured.Unstructured, error) { return h.store(patched(h.t, stored, a.Patch)), nil })
		}
		next := patched(h.t, stored, a.Patch)
		h.patches++
		if h.drops {
			unstructured.RemoveNestedField(next.Object, "status", "rolloutStatus")
		}
		return true, h.store(next), nil
	case kubetesting.DeleteActionImpl:
		return h.write(a.Namespace, "delete", nil, func() (*unstructured.Unstructured, error) {
			delete(h.policies, a.Namespace+"/"+a.Name)
			return nil, nil
		})
	}
	return false, nil, nil
}

// note plays the API server where the controller notes something on the root policy.
func (h *hub) note(stored *unstructured.Unstructured, a kubetesting.PatchActionImpl) (bool, runtime.Object, error) {
	var asks struct{ Metadata metav1.ObjectMeta }
	h.must(json.Unmarshal(a.Patch, &asks))
	if asks.Metadata.ResourceVersion != stored.GetResourceVersion() || asks.Metadata.UID != stored.GetUID() {
		return true, nil, apierrors.NewConflict(policies.GroupResource(), a.Name, errors.New("it has changed"))
	}
	return h.write(a.Name, "note", nil, func() (*unstructured.Unstructured, error) {
		return h.store(patched(h.t, stored, a.Patch)), nil
	})
}

// patched is an object with a merge patch.
func patched(t testing.TB, object *unstructured.Unstructured, patch []byte) *unstructured.Unstructured {
	t.Helper()
	text, err := object.MarshalJSON()
	if err == nil {
		text, err = jsonpatch.MergePatch(text, patch)
	}
	next := &unstructured.Unstructured{}
	if err == nil {
		err = next.UnmarshalJSON(text)
	}
	if err != nil {
		t.Fatal(err)
	}
	return next
}

// recorded is the record of deselected clusters in the root policy: "a TimeOut".
func (h *hub) recorded() string {
	h.t.Helper()
	records, err := status.RecordsOf(h.policies[thePolicy.String()])
	h.must(err)
	var all []string
	for _, deselected := range records[""].Deselected {
		all = append(all, deselected.Cluster+" "+string(deselected.Status))
	}
	return strings.Join(all, ", ")
}

func (h *hub) write(cluster, verb string, object *unstructured.Unstructured, do func() (*unstructured.Unstructured, error)) (bool, runtime.Object, error) {
	text := cluster + ": " + verb
	if object != nil {
		action, _, _ := unstructured.NestedString(object.Object, "spec", "remediationAction")
		text += " " + action
	}
	var err error
	lost := true
	if h.fail != nil {
		err, lost = h.fail(text)
	}
	var answer *unstructured.Unstructured
	if err == nil || lost {
		h.writes = append(h.writes, text)
		var done error
		if answer, done = do(); done != nil {
			return true, nil, done
		}
	}
	if answer == nil {
		return true, nil, err
	}
	return true, answer.DeepCopy(), err
}

// store stores an object as an API server does. The status is that which is stored, unless the object has one.
func (h *hub) store(object *unstructured.Unstructured) *unstructured.Unstructured {
	key := object.GetNamespace() + "/" + object.GetName()
	object = object.DeepCopy()
	before := h.policies[key]
	h.version++
	object.SetResourceVersion(fmt.Sprint(h.version))
	object.SetUID(types.UID(key))
	object.SetGeneration(1)
	if before != nil {
		object.SetGeneration(before.GetGeneration())
		if !equalJSON(before.Object["spec"], object.Object["spec"]) {
			object.SetGeneration(before.GetGeneration() + 1)
		}
		if _, has := object.Object["status"]; !has && before.Object["status"] != nil {
			object.Object["status"] = before.Object["status"]
		}
	}
	h.policies[key] = object
	return object
}

func equalJSON(a, b any) bool {
	x, _ := json.Marshal(a)
	y, _ := json.Marshal(b)
	return string(x) == string(y)
}

func (h *hub) must(err error) {
	if err != nil {
		h.t.Helper()
		h.t.Fatal(err)
	}
}

// arrive has each cluster get the replicated policy that it has with inform: its status gets an entry of each template, as OCM's
// agents write it before anything is evaluated.
func (h *hub) arrive() {
	for key, object := range h.policies {
		action, _, _ := unstructured.NestedString(object.Object, "spec", "remediationAction")
		if key == thePolicy.String() || action != "inform" {
			continue
		}
		details, _, _ := unstructured.NestedSlice(object.Object, "status", "details")
		before := len(details)
		templates, _, _ := unstructured.NestedSlice(object.Object, "spec", "policy-templates")
		for _, template := range templates {
			name, _, _ := unstructured.NestedString(template.(map[string]any), "objectDefinition", "metadata", "name")
			if !slices.ContainsFunc(details, func(d any) bool {
				had, _, _ := unstructured.NestedString(d.(map[string]any), "templateMeta", "name")
				return had == name
			}) {
				details = append(details, map[string]any{"templateMeta": map[string]any{"name": name}})
			}
		}
		if len(details) > before {
			object = object.DeepCopy()
			h.must(unstructured.SetNestedSlice(object.Object, details, "status", "details"))
			h.store(object)
		}
	}
}

// catchUp has the cache of Policies show what is on the server, after clusters got what they have. As in an informer, an object that did
// not change stays the same one.
func (h *hub) catchUp() {
	h.arrive()
	var all []any
	for key, object := range h.policies {
		had, ok, _ := h.caches.policies.GetByKey(key)
		if ok && had.(*policy).ResourceVersion == object.GetResourceVersion() {
			all = append(all, had)
			continue
		}
		kept, err := keep(object.DeepCopy())
		h.must(err)
		all = append(all, kept)
	}
	h.must(h.caches.policies.Replace(all, ""))
}

// look has the controller look at the caches as they are.
func (h *hub) look() (wrote string, recheck time.Duration, err error) {
	h.writes = nil
	recheck, err = h.reconcile(h.t.Context(), thePolicy)
	h.inOrder = slices.Clone(h.writes)
	slices.Sort(h.writes)
	return strings.Join(h.writes, ", "), recheck, err
}

// wrote fails unless a reconcile with caches that caught up writes what it should.
func (h *hub) wrote(want string) {
	h.t.Helper()
	h.catchUp()
	got, _, err := h.look()
	h.must(err)
	if got != want {
		h.t.Fatalf("wrote %q, want %q", got, want)
	}
}

// events returns what was told since the last call.
func (h *hub) events() (told []string) {
	recorder := h.teller.Events.(*events.FakeRecorder)
	for len(recorder.Events) > 0 {
		told = append(told, <-recorder.Events)
	}
	return told
}

// policy stores the root policy: its spec, as YAML.
func (h *hub) policy(spec string) {
	h.t.Helper()
	content := map[string]any{"disabled": false}
	h.must(yaml.Unmarshal([]byte(spec), &content))
	object := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "policy.open-cluster-management.io/v1", "kind": "Policy", "spec": content,
	}}
	object.SetNamespace(thePolicy.Namespace)
	object.SetName(thePolicy.Name)
	object.SetLabels(map[string]string{"team": "platform"})
	if before := h.policies[thePolicy.String()]; before != nil {
		object.SetAnnotations(before.GetAnnotations()) // as with kubectl apply
	}
	h.store(object)
}

const templates = `
policy-templates:
- objectDefinition: {apiVersion: policy.open-cluster-management.io/v1, kind: ConfigurationPolicy, metadata: {name: etcd-encryption}, spec: {remediationAction: inform}}
`

// progressive is a policy that is enforced on n clusters at a time.
func progressive(n int) string {
	return fmt.Sprintf("remediationAction: enforce\nrolloutStrategy: {type: Progressive, progressive: {maxConcurrency: %d}}\n", n) + templates
}

// bind stores a binding to a placement, with the fields of the YAML besides placementRef and subjects.
func (h *hub) bind(name, placement string, subject policyv1.Subject, more string) {
	h.t.Helper()
	binding := &placementBinding{}
	h.must(yaml.Unmarshal([]byte(more), &binding.PlacementBinding))
	binding.Namespace, binding.Name = thePolicy.Namespace, name
	binding.PlacementRef = policyv1.PlacementRef{APIGroup: clusterv1beta1.GroupName, Kind: "Placement", Name: placement}
	subject.APIGroup = policies.Group
	binding.Subjects = []policyv1.Subject{subject}
	h.must(h.caches.bindings.Add(binding))
}

// get gives an object of a store.
func get[T any](store cache.Indexer, key types.NamespacedName) *T {
	return kit.Get[T](store, key.Namespace, key.Name)
}

func itself() policyv1.Subject { return policyv1.Subject{Kind: "Policy", Name: thePolicy.Name} }

// set stores a set in a namespace.
func (h *hub) set(namespace, name string, policies ...string) {
	set := &policySet{}
	set.Namespace, set.Name, set.Spec.Policies = namespace, name, policies
	h.must(h.caches.sets.Add(set))
}

// place has a placement select clusters, in one decision group.
func (h *hub) place(name string, clusters ...string) {
	h.t.Helper()
	placement := &clusterv1beta1.Placement{ObjectMeta: metav1.ObjectMeta{Namespace: thePolicy.Namespace, Name: name}}
	var selected []*clusterv1.ManagedCluster
	for _, cluster := range clusters {
		selected = append(selected, &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: cluster}})
	}
	groups, err := grouping.Divide(placement, selected, grouping.Options{})
	h.must(err)
	decisions, err := groups.Decisions(placement)
	h.must(err)
	placement.Status, err = grouping.Status(decisions)
	h.must(err)
	h.must(h.stored.Add(placement))
	h.must(h.caches.placements.Add(placement))
	for _, decision := range decisions {
		h.must(h.caches.decisions.Add(decision))
	}
}

// replica is the replicated policy of a cluster.
func (h *hub) replica(cluster string) *unstructured.Unstructured {
	h.t.Helper()
	object := h.policies[cluster+"/policies.etcd"]
	if object == nil {
		h.t.Fatalf("cluster %s has no replicated policy", cluster)
	}
	return object
}

// report has clusters report on the replicated policies that they have, as OCM's agents do.
func (h *hub) report(compliance policyv1.ComplianceState, clusters ...string) {
	h.t.Helper()
	for _, cluster := range clusters {
		h.reports++
		object := h.replica(cluster).DeepCopy()
		st, _ := object.Object["status"].(map[string]any)
		if st == nil {
			st = map[string]any{}
		}
		st["compliant"] = string(compliance)
		st["details"] = []any{map[string]any{
			"templateMeta": map[string]any{"name": "etcd-encryption"}, "compliant": string(compliance),
			"history": []any{map[string]any{
				"lastTimestamp": h.clock.Format(time.RFC3339), "message": string(compliance) + "; it is so", "eventName": fmt.Sprintf("policies.etcd.%d", h.reports),
			}},
		}}
		object.Object["status"] = st
		h.store(object)
	}
}

// status is what the root's status shows, in words: "Succeeded: a Compliant Succeeded, b ...".
func (h *hub) status() string {
	h.t.Helper()
	kept, err := keep(h.policies[thePolicy.String()].DeepCopy())
	h.must(err)
	st := kept.(*policy).status
	var parts []string
	for _, c := range st.Status {
		parts = append(parts, strings.TrimSpace(c.ClusterName+" "+string(c.ComplianceState))+" "+string(c.RolloutStatus))
	}
	return strings.TrimSpace(string(st.ComplianceState)+" "+string(st.RolloutStatus)) + ": " + strings.Join(parts, ", ")
}
