// SPDX-License-Identifier: Apache-2.0

package progressive_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
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
	"github.com/cohort-ocm/cohort/status"
	"github.com/cohort-ocm/cohort/status/policyv1"
)

// textStrategy is a strategy as the document describes it, and what textOracle reads of it.
type textStrategy struct {
	name        string
	kind        string // the type in the policy
	concurrency int    // Progressive
	maxFailures int
	mandatory   string // the name of a mandatory group
	deadline    bool   // textDeadline, or none
	ignores     bool   // clusters with the label naughty are ignored
}

const textDeadline = 10 * time.Minute

func (s textStrategy) json() map[string]any {
	field := map[string]any{}
	if s.deadline {
		field["progressDeadline"] = "10m"
	}
	if s.maxFailures > 0 {
		field["maxFailures"] = int64(s.maxFailures)
	}
	if s.concurrency > 0 {
		field["maxConcurrency"] = int64(s.concurrency)
	}
	if s.mandatory != "" {
		field["mandatoryDecisionGroups"] = []any{map[string]any{"groupName": s.mandatory}}
	}
	names := map[string]string{"All": "all", "Progressive": "progressive", "ProgressivePerGroup": "progressivePerGroup", "manualPerGroup": "manualPerGroup"}
	strategy := map[string]any{"type": s.kind, names[s.kind]: field}
	if s.ignores {
		strategy["ignoreClusterRolloutStatus"] = map[string]any{"matchLabels": map[string]any{"naughty": "true"}}
	}
	return strategy
}

// textHub is a hub as the API server stores it, with a controller that does what the package documentation asks for. Objects are
// replaced and never changed, so that a copy of the maps is a copy of the hub.
type textHub struct {
	strategy   textStrategy
	now        time.Time
	generation int64
	content    string
	disabled   bool
	groups     []string          // the names of the decision groups in their order; "" has the clusters without a named group
	selected   map[string]string // the group of each selected cluster
	naughty    []string
	amiss      func(spec map[string]any) // an edit of the policy that is refused
	hidden     string                    // a cluster that is missing in partially observed decisions; "" while the decisions are complete

	replicas   map[string]*policyv1.Policy
	statuses   map[string]policyv1.PolicyStatus
	rollout    *progressive.Rollout
	rootStatus policyv1.PolicyStatus

	uids     int
	previous *rollout.Result // what the controller remembers until it restarts
	last     *progressive.Propagation
}

func (h *textHub) copy() *textHub {
	c := *h
	c.selected, c.replicas, c.statuses = maps.Clone(h.selected), maps.Clone(h.replicas), maps.Clone(h.statuses)
	c.naughty = slices.Clone(h.naughty)
	return &c
}

func (h *textHub) root() *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "policy.open-cluster-management.io/v1", "kind": "Policy",
		"metadata": map[string]any{"name": "p", "namespace": "ns", "uid": "root", "generation": h.generation},
		"spec": map[string]any{
			"remediationAction": "enforce", "disabled": h.disabled, "rolloutStrategy": h.strategy.json(),
			"policy-templates": []any{map[string]any{"objectDefinition": map[string]any{
				"apiVersion": "policy.open-cluster-management.io/v1", "kind": "ConfigurationPolicy",
				"metadata": map[string]any{"name": "template"}, "spec": map[string]any{"content": h.content},
			}}},
		},
	}}
}

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

func (h *textHub) resolution(root *unstructured.Unstructured) (*override.Resolution, error) {
	names := map[grouping.Key][]string{}
	for i, group := range h.groups {
		key := grouping.Key{Index: int32(i), Name: group}
		names[key] = []string{}
		for _, cluster := range slices.Sorted(maps.Keys(h.selected)) {
			if h.selected[cluster] == group && cluster != h.hidden {
				names[key] = append(names[key], cluster)
			}
		}
	}
	groups := must(grouping.FromNames(names))
	if h.hidden != "" {
		groups = groups.Lacking("a PlacementDecision is missing")
	}
	return override.Resolve(must(progressive.PolicyOf(root)), []override.Binding{{
		Name: "binding", Direct: true, Groups: groups,
		PlacementRef: policyv1.PlacementRef{APIGroup: "cluster.open-cluster-management.io", Kind: "Placement", Name: "placement"},
	}})
}

func (h *textHub) managedClusters() (all []*clusterv1.ManagedCluster) {
	for _, name := range []string{"a", "b", "c", "d"} {
		cluster := &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: name}}
		if slices.Contains(h.naughty, name) {
			cluster.Labels = map[string]string{"naughty": "true"}
		}
		all = append(all, cluster)
	}
	return all
}

// reconcile calls the package once and does at most that many writes of what it asks for. It says how many it did.
func (h *textHub) reconcile(writes int) (done int, err error) {
	root := amend(h.root(), h.amiss)
	var replicas []passes.Replica
	for _, cluster := range slices.Sorted(maps.Keys(h.replicas)) {
		st := h.statuses[cluster]
		replicas = append(replicas, passes.ReplicaOf(h.replicas[cluster], &st))
	}
	h.uids++
	resolution, err := h.resolution(root)
	if err != nil {
		return 0, err
	}
	p, err := progressive.Propagate(progressive.State{
		Policy: root, Resolution: resolution, Rollout: h.rollout, NewUID: fmt.Sprintf("uid-%d", h.uids),
		Replicas: replicas, Clusters: h.managedClusters(),
	}, h.now, rollout.Options{Previous: h.previous})
	if err != nil {
		return 0, err
	}
	h.last, h.previous = p, p.Plan
	object := new(progressive.Rollout)
	if h.rollout != nil {
		object = h.rollout.DeepCopy()
	}
	if changed, err := p.Store(object); err != nil {
		return 0, err
	} else if changed {
		if writes > 0 {
			h.rollout = must(throughJSON(object))
		}
		return min(writes, 1), nil
	}
	write := func(f func()) {
		if done < writes {
			f()
			done++
		}
	}
	for _, cluster := range p.Clusters {
		definition := root
		if cluster.Source == progressive.SourceLastSuccessful {
			definition = p.LastSuccessful()
		}
		switch cluster.Verb {
		case passes.VerbCreate, passes.VerbUpdate:
			write(func() { h.write(p, cluster, definition) })
			write(func() { h.setStatus(cluster) })
		case passes.VerbUpdateStatus:
			write(func() { h.setStatus(cluster) })
		}
	}
	for _, cluster := range p.Removed {
		write(func() {
			delete(h.replicas, cluster)
			delete(h.statuses, cluster)
		})
	}
	st := h.rootStatus
	if p.SetStatus(&st) {
		write(func() { h.rootStatus = st })
	}
	return done, nil
}

func (h *textHub) write(p *progressive.Propagation, cluster progressive.Cluster, definition *unstructured.Unstructured) {
	object := new(policyv1.Policy)
	if old := h.replicas[cluster.Name]; old != nil {
		object.ObjectMeta = *old.ObjectMeta.DeepCopy()
	}
	object.Name, object.Namespace = "ns.p", cluster.Name
	made := must(progressive.PolicyOf(definition))
	object.Spec = policyv1.PolicySpec{RemediationAction: cluster.Action, PolicyTemplates: made.Spec.PolicyTemplates}
	p.Stamp(object, cluster, h.now)
	h.replicas[cluster.Name] = object
}

func (h *textHub) setStatus(cluster progressive.Cluster) {
	st := h.statuses[cluster.Name]
	st.RolloutStatus = string(cluster.RolloutStatus)
	h.statuses[cluster.Name] = st
}

// throughJSON gives the object as the API server gives it back.
func throughJSON(object *progressive.Rollout) (*progressive.Rollout, error) {
	data, err := json.Marshal(object)
	if err != nil {
		return nil, err
	}
	read := new(progressive.Rollout)
	return read, json.Unmarshal(data, read)
}

// settle reconciles until there is nothing more to write.
func (h *textHub) settle() error {
	for range 20 {
		if done, err := h.reconcile(1000); err != nil || done == 0 {
			return err
		}
	}
	return fmt.Errorf("20 calls, and there is still something to write: %s", h.last)
}

// report is the answer of a cluster to the policy that it has.
func (h *textHub) report(cluster string, compliance policyv1.ComplianceState) {
	st := h.statuses[cluster]
	st.ComplianceState = compliance
	st.Details = []policyv1.PolicyDetails{{
		TemplateMeta: metav1.ObjectMeta{Name: "template"}, ComplianceState: compliance,
		History: []policyv1.PolicyHistory{{LastTimestamp: metav1.NewTime(h.now), Message: fmt.Sprintf("%s; at %s", compliance, h.now.Format(time.TimeOnly))}},
	}}
	h.statuses[cluster] = st
}

// contentOf gives the content of a policy: the field that edits change.
func contentOf(templates []policyv1.PolicyTemplate) string {
	var object struct{ Spec struct{ Content string } }
	if err := json.Unmarshal(templates[0].ObjectDefinition.Raw, &object); err != nil {
		panic(err)
	}
	return object.Spec.Content
}

// textView is what a user sees of a policy's rollout.
type textView struct {
	// Clusters has the content and action of the policy on each cluster, and the cluster's rollout status.
	Clusters map[string]string
	Root     status.RolloutStatus
	// Last is the content of the last successful policy.
	Last       string
	Generation int64
}

func (h *textHub) view() textView {
	v := textView{Clusters: map[string]string{}, Root: status.RolloutStatus(h.rootStatus.RolloutStatus)}
	for cluster, replica := range h.replicas {
		v.Clusters[cluster] = fmt.Sprintf("%s %s", contentOf(replica.Spec.PolicyTemplates), replica.Spec.RemediationAction)
	}
	for _, cluster := range h.rootStatus.Status {
		if cluster.ClusterName == h.hidden {
			continue
		}
		v.Clusters[cluster.ClusterName] += " " + cluster.RolloutStatus
	}
	if h.rollout != nil {
		v.Generation = h.rollout.Status.CurrentRolloutGeneration
		if raw := h.rollout.Status.LastSuccessful; raw != nil {
			v.Last = lastContent(raw)
		}
	}
	return v
}

func lastContent(raw *runtime.RawExtension) string {
	object := new(unstructured.Unstructured)
	if err := json.Unmarshal(raw.Raw, &object.Object); err != nil {
		panic(err)
	}
	return contentOf(must(progressive.PolicyOf(object)).Spec.PolicyTemplates)
}
