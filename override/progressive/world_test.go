// SPDX-License-Identifier: Apache-2.0

package progressive_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	clusterv1 "open-cluster-management.io/api/cluster/v1"

	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/override"
	"github.com/cohort-ocm/cohort/override/passes"
	"github.com/cohort-ocm/cohort/override/progressive"
	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/rollout/exposure"
	"github.com/cohort-ocm/cohort/status"
	"github.com/cohort-ocm/cohort/status/policyv1"
)

var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

// failer is a testing.TB or a *rapid.T.
type failer interface {
	Fatal(args ...any)
	Fatalf(format string, args ...any)
}

// world is a hub with one policy, its Rollout and its replicated policies, and the clusters behind it.
type world struct {
	t        failer
	root     *unstructured.Unstructured
	status   policyv1.PolicyStatus
	content  int // of the templates
	names    []string
	bindings []override.Binding
	partial  map[string]bool // placements whose groups are incomplete
	object   *progressive.Rollout
	replicas map[string]*replicated
	labels   map[string]map[string]string
	managed  map[string]bool // the ManagedClusters; bind makes them
	uids     int
	events   int
	now      time.Time
	last     *progressive.Propagation
	written  int // writes of replicas since the last sync began
	exposed  int // what exposure.Of says at most; below 0 if nothing is checked
	// rushed are the marks of clusters that had another version before, so that they had to wait for their turn.
	rushed map[string]string
	// ignored are clusters that exposure.Of does not count.
	ignored map[string]bool
	// check is called with each Propagation and the time.
	check func(*progressive.Propagation)
}

// replicated is a replicated policy with its status.
type replicated struct {
	policy *policyv1.Policy
	status policyv1.PolicyStatus
}

func newWorld(t failer) *world {
	w := &world{
		t: t, names: []string{"t0"}, replicas: map[string]*replicated{}, labels: map[string]map[string]string{}, managed: map[string]bool{}, rushed: map[string]string{}, partial: map[string]bool{},
		now: noon, last: new(progressive.Propagation), exposed: -1,
	}
	w.root = &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "policy.open-cluster-management.io/v1", "kind": "Policy",
		"metadata": map[string]any{"name": "sample-policy", "namespace": "policies", "uid": "root-uid", "generation": int64(0)},
		"spec":     map[string]any{"disabled": false, "remediationAction": "enforce"},
	}}
	w.edit()
	return w
}

// edit gives the policy another content.
func (w *world) edit() {
	w.content++
	var templates []any
	for _, name := range w.names {
		templates = append(templates, map[string]any{"objectDefinition": map[string]any{
			"apiVersion": "policy.open-cluster-management.io/v1", "kind": "ConfigurationPolicy",
			"metadata": map[string]any{"name": name}, "spec": map[string]any{"content": int64(w.content)},
		}})
	}
	w.set(templates, "spec", "policy-templates")
}

// set changes the spec of the policy.
func (w *world) set(value any, path ...string) {
	w.root = w.root.DeepCopy()
	if value == nil {
		unstructured.RemoveNestedField(w.root.Object, path...)
	} else if err := unstructured.SetNestedField(w.root.Object, value, path...); err != nil {
		w.t.Fatal(err)
	}
	w.root.SetGeneration(w.root.GetGeneration() + 1)
}

// bind selects clusters for a placement, in groups: "dev: a b | stage: c | : d".
func (w *world) bind(binding, placement, text string) {
	w.bindings = slices.DeleteFunc(w.bindings, func(b override.Binding) bool { return b.Name == binding })
	names := map[grouping.Key][]string{}
	for i, group := range strings.Split(text, "|") {
		name, clusters, _ := strings.Cut(group, ":")
		names[grouping.Key{Index: int32(i), Name: strings.TrimSpace(name)}] = strings.Fields(clusters)
		for _, cluster := range strings.Fields(clusters) {
			w.managed[cluster] = true
		}
	}
	groups, err := grouping.FromNames(names)
	if err != nil {
		w.t.Fatal(err)
	}
	w.bindings = append(w.bindings, override.Binding{
		Name: binding, Direct: true, Groups: groups,
		PlacementRef: policyv1.PlacementRef{APIGroup: "cluster.open-cluster-management.io", Kind: "Placement", Name: placement},
	})
}

func (w *world) state() progressive.State {
	policy, err := progressive.PolicyOf(w.root)
	if err != nil {
		w.t.Fatal(err)
	}
	bindings := slices.Clone(w.bindings)
	for i := range bindings {
		if w.partial[bindings[i].PlacementRef.Name] {
			bindings[i].Groups = bindings[i].Groups.Lacking("a decision")
		}
	}
	resolution, err := override.Resolve(policy, bindings)
	if err != nil {
		w.t.Fatal(err)
	}
	w.uids++
	s := progressive.State{Policy: w.root, Resolution: resolution, Rollout: w.object, NewUID: fmt.Sprintf("uid%d", w.uids)}
	for _, name := range slices.Sorted(maps.Keys(w.replicas)) {
		s.Replicas = append(s.Replicas, passes.ReplicaOf(w.replicas[name].policy, &w.replicas[name].status))
	}
	for _, name := range slices.Sorted(maps.Keys(w.managed)) {
		s.Clusters = append(s.Clusters, &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: w.labels[name]}})
	}
	return s
}

func (w *world) call(opts rollout.Options) *progressive.Propagation {
	opts.Previous = w.last.Plan
	p, err := progressive.Propagate(w.state(), w.now, opts)
	if err != nil {
		w.t.Fatal(err)
	}
	w.last = p
	return p
}

// step makes one call and writes what it asks for: first the Rollout alone, where that changes. It says whether anything was written.
func (w *world) step(opts rollout.Options) bool {
	p := w.call(opts)
	if w.check != nil {
		w.check(p)
	}
	object := new(progressive.Rollout)
	if w.object != nil {
		object = w.object.DeepCopy()
	}
	if changed, err := p.Store(object); err != nil {
		w.t.Fatal(err)
	} else if changed {
		w.object = object
		return true
	}
	wrote := false
	for _, c := range p.Clusters {
		wrote = w.write(p, c) || wrote
	}
	for _, name := range p.Removed {
		delete(w.replicas, name)
		wrote = true
	}
	p.SetStatus(&w.status)
	w.bounded()
	return wrote
}

// write writes one replicated policy.
func (w *world) write(p *progressive.Propagation, c progressive.Cluster) bool {
	if c.Verb == passes.VerbNone {
		return false
	}
	w.written++
	r, before := w.replicas[c.Name], w.has(c.Name)
	if r == nil {
		r = &replicated{policy: new(policyv1.Policy)}
		w.replicas[c.Name] = r
	}
	defer func() {
		if before != "" && before != w.has(c.Name) {
			w.rushed[c.Name] = w.mark(c.Name)
		}
	}()
	if c.Verb != passes.VerbUpdateStatus {
		from := w.root
		if c.Source == progressive.SourceLastSuccessful {
			from = p.LastSuccessful()
		}
		policy := new(policyv1.Policy)
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(from.Object, policy); err != nil {
			w.t.Fatal(err)
		}
		next := &policyv1.Policy{ObjectMeta: metav1.ObjectMeta{Name: "policies.sample-policy", Namespace: c.Name, Annotations: r.policy.Annotations}}
		next.Spec.PolicyTemplates, next.Spec.RemediationAction = policy.Spec.PolicyTemplates, c.Action
		p.Stamp(next, c, w.now)
		r.policy = next
	}
	r.status.RolloutStatus = string(c.RolloutStatus)
	return true
}

// sync makes calls until nothing is asked for.
func (w *world) sync(opts rollout.Options) {
	w.written = 0
	for range 20 {
		if !w.step(opts) {
			return
		}
	}
	w.t.Fatalf("calls go on asking for writes: %v", w.last)
}

// report lets a cluster say of some or all templates that they comply or not.
func (w *world) report(cluster string, compliance policyv1.ComplianceState, templates ...string) {
	r := w.replicas[cluster]
	if r == nil {
		return
	}
	if len(templates) == 0 {
		templates = w.names
	}
	for _, name := range templates {
		w.events++
		details := policyv1.PolicyDetails{TemplateMeta: metav1.ObjectMeta{Name: name}, ComplianceState: compliance, History: []policyv1.PolicyHistory{{
			LastTimestamp: metav1.NewTime(w.now), Message: string(compliance), EventName: fmt.Sprintf("event%d", w.events),
		}}}
		r.status.Details = slices.DeleteFunc(slices.Clone(r.status.Details), func(d policyv1.PolicyDetails) bool { return d.TemplateMeta.Name == name })
		r.status.Details = append(r.status.Details, details)
	}
}

// has is the content of a cluster's replicated policy, such as "v2"; empty where there is none.
func (w *world) has(cluster string) string {
	r := w.replicas[cluster]
	if r == nil {
		return ""
	}
	_, content, _ := strings.Cut(string(r.policy.Spec.PolicyTemplates[0].ObjectDefinition.Raw), `"content":`)
	return "v" + strings.TrimRight(content, "}")
}

// mark gives what the stamp of a cluster's replicated policy says after its content.
func (w *world) mark(cluster string) string {
	if r := w.replicas[cluster]; r != nil {
		version, _, _ := strings.Cut(status.StampOf(r.policy).Version, " ")
		_, mark, _ := strings.Cut(version, "/")
		return mark
	}
	return ""
}

// bounded checks that no more clusters are exposed than exposure.Of says, and that only clusters that join get the version without their
// turn.
func (w *world) bounded() {
	if w.exposed < 0 || w.object == nil {
		return
	}
	var exposed []string
	for name := range w.replicas {
		mark, uid := w.mark(name), w.object.Status.RolloutUID
		if mark == uid+"/NewCluster" && w.rushed[name] == mark {
			w.t.Fatalf("%s had another version, and got %s without its turn, as one that joined", name, w.has(name))
		}
		if mark == uid && !w.complies(name) && !w.ignored[name] {
			exposed = append(exposed, name)
		}
	}
	if len(exposed) > w.exposed {
		w.t.Fatalf("%v are exposed, and exposure.Of says at most %d", exposed, w.exposed)
	}
}

// complies says whether a cluster complies with what it has.
func (w *world) complies(cluster string) bool {
	r := w.replicas[cluster]
	if r == nil {
		return false
	}
	return passes.ReplicaOf(r.policy, &r.status).At(w.now).Compliance == policyv1.Compliant
}

// bound sets what exposure.Of says of the policy as it is bound now.
func (w *world) bound(opts rollout.Options) {
	s := w.state()
	said, err := exposure.Of(s.Resolution.Strategy(), s.Resolution.GroupsByPlacement(), exposure.Span{}, w.now, opts)
	if err != nil {
		w.t.Fatal(err)
	}
	w.exposed = max(w.exposed, said.Exposed)
}

// String lists the clusters with their versions, and the states of the root policy and its Rollout.
func (w *world) String() string {
	var out []string
	for _, c := range w.status.Status {
		r, has := w.replicas[c.ClusterName], "nothing"
		if r != nil {
			has = w.has(c.ClusterName) + " " + string(r.policy.Spec.RemediationAction)
		}
		out = append(out, strings.TrimRight(fmt.Sprintf("%s: %s, %s %s", c.ClusterName, has, c.RolloutStatus, c.ComplianceState), " "))
	}
	out = append(out, "root: "+w.status.RolloutStatus)
	if last := w.last.LastSuccessful(); last != nil {
		templates, _, _ := unstructured.NestedSlice(last.Object, "spec", "policy-templates")
		content, _, _ := unstructured.NestedInt64(templates[0].(map[string]any), "objectDefinition", "spec", "content")
		out[len(out)-1] += fmt.Sprintf(", last successful v%d", content)
	}
	for _, ignored := range w.last.Ignored {
		out = append(out, "ignored: "+ignored.Error())
	}
	for _, warning := range w.last.Plan.Warnings {
		out = append(out, "warning: "+warning.String())
	}
	return strings.Join(out, "\n")
}
