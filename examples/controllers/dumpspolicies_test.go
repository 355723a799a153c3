// SPDX-License-Identifier: Apache-2.0

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
	answered map[string]string // by cluster: which generation of a replica it reports on
	said     map[string]int    // by cluster: how many of its templates have reported on that
	atOnce   bool              // a cluster that does not comply has failed at once; otherwise it is in flight until its deadline
}

func newDumpedPolicies(s *story) objects {
	if s.limits.kind == "all" {
		s.limits.kind = "pool" // a policy under All has no plan
	}
	return &dumpedPolicies{s, map[string]string{}, map[string]int{}, s.rng.IntN(2) == 0}
}

func (p *dumpedPolicies) begin(text string) {
	create := func(kind schema.GroupVersionResource, apiVersion, name string, content map[string]any) {
		content["apiVersion"], content["kind"] = "policy.open-cluster-management.io/"+apiVersion, name
		content["metadata"] = map[string]any{"namespace": p.ns, "name": "pol", "annotations": map[string]any{"cohort.open-cluster-management.io/fail-at-once": fmt.Sprint(p.atOnce)}}
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
		"policy-templates": p.templates(text),
	}})
}

// templates are one to three, by the version. The first one has its name.
func (p *dumpedPolicies) templates(text string) (all []any) {
	for _, name := range []string{text, "second", "third"}[:1+p.version%3] {
		all = append(all, map[string]any{"objectDefinition": map[string]any{
			"apiVersion": "policy.open-cluster-management.io/v1", "kind": "ConfigurationPolicy", "metadata": map[string]any{"name": name},
			"spec": map[string]any{"severity": "low", "text": text}}})
	}
	return all
}

// answer has agents report on what they have, template by template, once each: what informs does not comply. Where a version fails, its last
// template does not comply.
func (p *dumpedPolicies) answer() (due int) {
	root := fmt.Sprintf("text-%d", p.version)
	for _, o := range p.replicas() {
		cluster, enforced := o.GetNamespace(), actionOf(&o) == "enforce"
		says, told := p.agents[cluster]
		if !told {
			says = saysOK
		}
		names := templateNames(&o)
		reports := fmt.Sprint(o.GetUID(), o.GetGeneration())
		if p.answered[cluster] != reports {
			p.answered[cluster], p.said[cluster] = reports, 0
		}
		next := p.said[cluster]
		if next == len(names) || enforced && names[0] == root && says != saysOK && says != saysFailed {
			continue
		}
		if due++; p.rng.Float64() > p.answers {
			continue
		}
		compliance := "NonCompliant"
		if enforced && (says == saysOK || names[0] != root || next < len(names)-1) {
			compliance = "Compliant"
		}
		details := detailsOf(&o)
		details[names[next]] = map[string]any{
			"compliant": compliance, "templateMeta": map[string]any{"name": names[next]}, "history": []any{map[string]any{
				"lastTimestamp": metav1.Now().UTC().Format(time.RFC3339), "message": compliance + "; it is so",
				"eventName": fmt.Sprintf("%s.%d.%s", cluster, o.GetGeneration(), o.GetResourceVersion())}}}
		report(&o, names, details)
		// It may have been written meanwhile. Then the report is not about what is there.
		if _, err := p.client.Resource(resource("policies")).Namespace(cluster).UpdateStatus(p.t.Context(), &o, metav1.UpdateOptions{}); err == nil {
			p.said[cluster]++
		}
	}
	return due
}

// report sets the details of a replica's status as OCM's status sync does: those of removed templates are removed, and compliant stays while one
// has not reported.
func report(o *unstructured.Unstructured, names []string, details map[string]map[string]any) {
	status, _ := o.Object["status"].(map[string]any)
	if status == nil {
		status = map[string]any{}
	}
	var list []any
	complies, unfit := true, false
	for _, name := range names {
		d := details[name]
		if d == nil {
			d = map[string]any{"templateMeta": map[string]any{"name": name}}
		}
		list, complies, unfit = append(list, d), complies && d["compliant"] == "Compliant", unfit || d["compliant"] == "NonCompliant"
	}
	switch status["details"] = list; {
	case unfit:
		status["compliant"] = "NonCompliant"
	case complies:
		status["compliant"] = "Compliant"
	}
	o.Object["status"] = status
}

// templateNames are the names of a policy's templates.
func templateNames(o *unstructured.Unstructured) (names []string) {
	list, _, _ := unstructured.NestedSlice(o.Object, "spec", "policy-templates")
	for _, t := range list {
		name, _, _ := unstructured.NestedString(t.(map[string]any), "objectDefinition", "metadata", "name")
		names = append(names, name)
	}
	return names
}

// detailsOf are those of a replica's status, by the name of the template.
func detailsOf(o *unstructured.Unstructured) map[string]map[string]any {
	all := map[string]map[string]any{}
	list, _, _ := unstructured.NestedSlice(o.Object, "status", "details")
	for _, d := range list {
		d := d.(map[string]any)
		name, _, _ := unstructured.NestedString(d, "templateMeta", "name")
		all[name] = d
	}
	return all
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

// read counts a replica that enforces the root's templates. What it last reported counts if all of it is about that: the messages have the
// generation that the agent saw. Where there are no stamps, what it last reported counts, also of some of the templates, and the
// time is unknown.
func (p *dumpedPolicies) read(d dump) map[string]stand {
	i := slices.IndexFunc(d.objects, func(o unstructured.Unstructured) bool { return o.GetKind() == "Policy" && o.GetNamespace() == p.ns })
	root := &d.objects[i]
	stands := p.remembered(root)
	for i := range d.objects {
		o := &d.objects[i]
		if o.GetKind() != "Policy" || o.GetNamespace() == p.ns || templateOf(o) != templateOf(root) || actionOf(o) != "enforce" {
			continue
		}
		st := stand{is: "Succeeded", since: written(o)}
		if !d.stamped {
			st.since = time.Time{}
		}
		details, unheard := detailsOf(o), false
		for _, name := range templateNames(o) {
			switch said := details[name]; {
			case d.stamped && (said["compliant"] == nil || reportedIn(o, said) != o.GetGeneration()):
				unheard = true
			case said["compliant"] == "NonCompliant":
				st.is = "Failed"
			case said["compliant"] == nil && st.is == "Succeeded":
				st.is = "Progressing"
			}
		}
		if unheard || st.is == "Failed" && !p.atOnce {
			st.is = "Progressing"
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
