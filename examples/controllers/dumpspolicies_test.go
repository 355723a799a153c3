package controllers

import (
	"fmt"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// dumpedPolicies is a Policy with its replicas and their agents.
type dumpedPolicies struct {
	*story
	answered map[string]string // by cluster: which generation of a replica it has reported on
}

func newDumpedPolicies(s *story) objects {
	if s.limits.kind == "all" {
		s.limits.kind = "pool" // a policy under All goes by no plan
	}
	return &dumpedPolicies{s, map[string]string{}}
}

func (p *dumpedPolicies) begin(text string) {
	create := func(kind schema.GroupVersionResource, apiVersion, name string, content map[string]any) {
		content["apiVersion"], content["kind"] = "policy.open-cluster-management.io/"+apiVersion, name
		content["metadata"] = map[string]any{"namespace": p.ns, "name": "pol", "annotations": map[string]any{"cohort.open-cluster-management.io/fail-at-once": "true"}}
		p.create(kind, &unstructured.Unstructured{Object: content})
	}
	if p.version == 1 {
		create(resource("placementbindings"), "v1", "PlacementBinding", map[string]any{
			"placementRef": map[string]any{"apiGroup": clusterGroup.Group, "kind": "Placement", "name": "all"},
			"subjects":     []any{map[string]any{"apiGroup": "policy.open-cluster-management.io", "kind": "Policy", "name": "pol"}},
		})
	}
	p.limits.soak = false
	create(resource("policies"), "v1", "Policy", map[string]any{"spec": map[string]any{
		"disabled": false, "remediationAction": "enforce", "rolloutStrategy": p.limits.strategy(),
		"policy-templates": []any{map[string]any{"objectDefinition": map[string]any{
			"apiVersion": "policy.open-cluster-management.io/v1", "kind": "ConfigurationPolicy", "metadata": map[string]any{"name": text},
			"spec": map[string]any{"severity": "low"}}}},
	}})
}

// answer has agents report on what they have, once: what informs does not comply.
func (p *dumpedPolicies) answer() (due int) {
	root := fmt.Sprintf("text-%d", p.version)
	for _, o := range p.replicas() {
		cluster, enforced := o.GetNamespace(), actionOf(&o) == "enforce"
		says, told := p.agents[cluster]
		if !told {
			says = saysOK
		}
		reported := fmt.Sprint(o.GetUID(), o.GetGeneration())
		if p.answered[cluster] == reported || enforced && templateOf(&o) == root && says != saysOK && says != saysFailed {
			continue
		}
		if due++; p.rng.Float64() > p.answers {
			continue
		}
		compliance := "NonCompliant"
		if enforced && (says == saysOK || templateOf(&o) != root) {
			compliance = "Compliant"
		}
		status, _ := o.Object["status"].(map[string]any)
		if status == nil {
			status = map[string]any{}
		}
		status["compliant"], status["details"] = compliance, []any{map[string]any{
			"compliant": compliance, "templateMeta": map[string]any{"name": templateOf(&o)}, "history": []any{map[string]any{
				"lastTimestamp": metav1.Now().UTC().Format(time.RFC3339), "message": compliance + "; it is so",
				"eventName": fmt.Sprintf("%s.%d.%s", cluster, o.GetGeneration(), o.GetResourceVersion())}}}}
		o.Object["status"] = status
		// It may have been written meanwhile. Then the report is not about what is there.
		if _, err := p.client.Resource(resource("policies")).Namespace(cluster).UpdateStatus(p.t.Context(), &o, metav1.UpdateOptions{}); err == nil {
			p.answered[cluster] = reported
		}
	}
	return due
}

func (p *dumpedPolicies) replicas() []unstructured.Unstructured {
	return p.list(resource("policies"), "", "policy.open-cluster-management.io/root-policy="+p.ns+".pol")
}

// dump without stamps is as if the replicas had been written by hand.
func (p *dumpedPolicies) dump(stamped, clusters bool) []unstructured.Unstructured {
	root, replicas := p.list(resource("policies"), p.ns, ""), p.replicas()
	for i := range replicas {
		if !stamped {
			replicas[i].SetAnnotations(nil)
		}
	}
	return slices.Concat(p.selection(clusters), p.list(resource("placementbindings"), p.ns, ""), root, replicas)
}

// read counts a replica that enforces the root's templates. What it last reported counts if it is about that: the messages have the
// generation that the agent saw. Where there are no stamps, what it last reported counts, and nobody
// knows from when.
func (p *dumpedPolicies) read(d dump) map[string]stand {
	i := slices.IndexFunc(d.objects, func(o unstructured.Unstructured) bool { return o.GetKind() == "Policy" && o.GetNamespace() == p.ns })
	root := &d.objects[i]
	stands := p.remembered(root)
	for i := range d.objects {
		o := &d.objects[i]
		if o.GetKind() != "Policy" || o.GetNamespace() == p.ns || templateOf(o) != templateOf(root) || actionOf(o) != "enforce" {
			continue
		}
		compliance, _, _ := unstructured.NestedString(o.Object, "status", "compliant")
		st := stand{is: "Failed", since: written(o)}
		if !d.stamped {
			st.since = time.Time{}
		}
		switch {
		case compliance == "" || d.stamped && reportedOn(o) != o.GetGeneration():
			st.is = "Progressing"
		case compliance == "Compliant":
			st.is = "Succeeded"
		}
		stands[o.GetNamespace()] = st
	}
	return stands
}

func (p *dumpedPolicies) says() bool {
	root, err := p.client.Resource(resource("policies")).Namespace(p.ns).Get(p.t.Context(), "pol", metav1.GetOptions{})
	p.must(err)
	is, _, _ := unstructured.NestedString(root.Object, "status", "rolloutStatus")
	return is == "Succeeded"
}

func (p *dumpedPolicies) left(cluster string) bool {
	return !slices.ContainsFunc(p.replicas(), func(o unstructured.Unstructured) bool { return strings.HasPrefix(o.GetNamespace(), cluster) })
}
