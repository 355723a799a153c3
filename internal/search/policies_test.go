// SPDX-License-Identifier: Apache-2.0

package search

import (
	"fmt"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"

	twopasses "github.com/cohort-ocm/cohort/override/passes"
	"github.com/cohort-ocm/cohort/status"
	"github.com/cohort-ocm/cohort/status/policyv1"
)

// policyTemplate is a template of a policy, as the controllers of clusters take it.
type policyTemplate struct {
	name    string
	content int
	// isConstraint says that it is a constraint of Gatekeeper, which says only what is new.
	isConstraint bool
	// bad content never complies, whatever is done.
	bad bool
}

// evaluated is what a cluster's controller evaluates of it under an action.
func (p policyTemplate) evaluated(action policyv1.RemediationAction) string {
	return fmt.Sprint(p.content, action)
}

func (p policyTemplate) object() string {
	if p.isConstraint {
		return fmt.Sprintf(`{"apiVersion": "constraints.gatekeeper.sh/v1beta1", "kind": "K8sLabels", "metadata": {"name": %q}, "spec": {"content": %d}}`, p.name, p.content)
	}
	return fmt.Sprintf(`{"apiVersion": "policy.open-cluster-management.io/v1", "kind": "ConfigurationPolicy", "metadata": {"name": %q}, "spec": {"content": %d}}`, p.name, p.content)
}

// policyWorld is a policy of some versions, and a fleet in which its templates answer with any delays.
type policyWorld struct {
	name     string
	clusters int
	// versions are what the user wants, one after the other.
	versions [][]policyTemplate
	// deadline is the progressDeadline; without one no cluster ever fails.
	deadline string
	// ticks is how often five minutes pass, which is how long the library waits for a controller that says only what is new.
	ticks int
	// prompt says that each agent has got the write and evaluated it when five minutes pass. Otherwise it may never get it; but an
	// agent that wrote a status since then does evaluate in that time.
	prompt bool
	// careless breaks a duty, or how reports are read: the search has to find it.
	careless careless
}

// careless is what a propagator may do wrong with templates.
type careless string

const (
	readsCompliant careless = "takes status.compliant for the answer once the status has anything new"
	notesNothing   careless = "notes no reports of before with the write"
	stampsEarlier  careless = "stamps a write with an earlier time"
)

// good says whether no template of the version is bad.
func (w *policyWorld) good(version int) bool {
	return !slices.ContainsFunc(w.versions[version], func(p policyTemplate) bool { return p.bad })
}

// templates is how many templates the largest version has.
func (w *policyWorld) templates() (most int) {
	for _, version := range w.versions {
		most = max(most, len(version))
	}
	return most
}

// root is the policy on the hub, as it wants this version. It starts one cluster at a time.
func (w *policyWorld) root(version int) *policyv1.Policy {
	root := &policyv1.Policy{ObjectMeta: metav1.ObjectMeta{Namespace: "policies", Name: "policy"}}
	root.Spec.RemediationAction = policyv1.Enforce
	root.Spec.PolicyTemplates = objectsOf(w.versions[version])
	root.Spec.RolloutStrategy = clusterv1alpha1.RolloutStrategy{Type: clusterv1alpha1.Progressive, Progressive: &clusterv1alpha1.RolloutProgressive{
		RolloutConfig:  clusterv1alpha1.RolloutConfig{ProgressDeadline: w.deadline, MaxFailures: intstr.FromInt32(0)},
		MaxConcurrency: intstr.FromInt32(1),
	}}
	return root
}

func objectsOf(templates []policyTemplate) (all []policyv1.PolicyTemplate) {
	for _, template := range templates {
		all = append(all, policyv1.PolicyTemplate{ObjectDefinition: runtime.RawExtension{Raw: []byte(template.object())}})
	}
	return all
}

// policyState is a hub with replicas of a policy, and its clusters. Times are a tick and the seconds of a cluster's own events in it.
type policyState struct {
	tick, began int // now, and in the first state of the search
	version     int
	clusters    []policyCluster
	record      status.Record
	root        policyv1.PolicyStatus
	// due says that something happened since the controller looked.
	due bool
}

// policyCluster is a cluster with its replica on the hub, and its agent.
type policyCluster struct {
	second int // of its last event in this tick
	writes int // of the replica; 0 where there is none
	// The replica: what was written, and the status that the hub has.
	stamps    map[string]string
	action    policyv1.RemediationAction
	version   int
	hub       policyv1.PolicyStatus
	heardAt   time.Time // when the cluster wrote it
	atWrite   string    // what it said at the write
	sinceThen bool      // the cluster wrote it since the replica was written
	// The agent: the last write that it has got, and what its controllers say.
	got       int
	gotAction policyv1.RemediationAction
	has       []policyTemplate
	says      map[string]saying
	was       policyv1.ComplianceState
}

// saying is what the controller of a template said last.
type saying struct {
	about      string // what it has to evaluate: the content and the action
	owes       bool   // and has not, since that was written
	complies   int    // the content that it complies with
	compliance policyv1.ComplianceState
	at         time.Time
	events     int
}

func policyEpoch() time.Time { return time.Date(2026, time.November, 29, 12, 0, 0, 0, time.UTC) }

// time is that of the cluster's last event.
func (s *policyState) time(c *policyCluster) time.Time {
	return policyEpoch().Add(time.Duration(s.tick)*5*time.Minute + time.Duration(c.second)*time.Second)
}

func (s *policyState) now() (now time.Time) {
	for i := range s.clusters {
		if at := s.time(&s.clusters[i]); at.After(now) {
			now = at
		}
	}
	return now
}

func clusterName(i int) string { return fmt.Sprint("c", i) }

// clone copies what events change. Maps and slices of a cluster are replaced, never changed.
func (s *policyState) clone() *policyState {
	next := *s
	next.clusters = slices.Clone(s.clusters)
	return &next
}

// key tells states apart.
func (s *policyState) key() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d %d %v %s %s", s.tick, s.version, s.record, s.root.RolloutStatus, s.root.ComplianceState)
	for i := range s.clusters {
		c := &s.clusters[i]
		fmt.Fprintf(&b, "|%d %d %d %s %v %t %v", c.second, c.writes, c.version, c.action, c.stamps, c.sinceThen, c.heardAt.Sub(policyEpoch()))
		fmt.Fprintf(&b, " %s%s", c.hub.RolloutStatus, details(c.hub))
		fmt.Fprintf(&b, " %d %s %v %s", c.got, c.gotAction, c.has, c.was)
		for _, template := range c.has {
			said := c.says[template.name]
			fmt.Fprintf(&b, " %s%t%d%d%v", said.about, said.owes, said.complies, said.events, said.at.Sub(policyEpoch()))
		}
	}
	return b.String()
}

// details is what a status says of each template.
func details(st policyv1.PolicyStatus) string {
	var b strings.Builder
	b.WriteString(string(st.ComplianceState))
	for _, detail := range st.Details {
		fmt.Fprintf(&b, ",%s=%s", detail.TemplateMeta.Name, detail.ComplianceState)
		for _, event := range detail.History {
			b.WriteString(event.EventName)
		}
	}
	return b.String()
}

// replica is what the propagator reads of a cluster.
func (w *policyWorld) replica(s *policyState, i int) twopasses.Replica {
	c := &s.clusters[i]
	policy := &policyv1.Policy{ObjectMeta: metav1.ObjectMeta{Namespace: clusterName(i), Name: "policies.policy", Annotations: c.stamps}}
	policy.Spec.RemediationAction = c.action
	policy.Spec.PolicyTemplates = objectsOf(w.versions[c.version])
	if !c.heardAt.IsZero() {
		at := metav1.NewTime(c.heardAt)
		policy.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: "addon", Operation: metav1.ManagedFieldsOperationUpdate, Subresource: "status", Time: &at,
			FieldsV1: &metav1.FieldsV1{Raw: []byte(`{"f:status":{"f:compliant":{},"f:details":{}}}`)}}}
	}
	read := twopasses.ReplicaOf(policy, &c.hub)
	if w.careless != readsCompliant {
		return read
	}
	naive := twopasses.Replica{Cluster: read.Cluster, Version: read.Version, Action: read.Action, Applied: read.Applied, RolloutStatus: read.RolloutStatus}
	if details(c.hub) != c.atWrite {
		naive.Compliance, naive.ComplianceTime = c.hub.ComplianceState, c.heardAt
	}
	return naive
}

// isDone says whether a cluster is truly done with the wanted version: it has its templates alone, and complies with each.
func (w *policyWorld) isDone(s *policyState, i int) bool {
	return sameTemplates(s.clusters[i].has, w.versions[s.version]) && w.complies(s, i)
}

// complies says whether a cluster complies with each template of the wanted version.
func (w *policyWorld) complies(s *policyState, i int) bool {
	return !slices.ContainsFunc(w.versions[s.version], func(p policyTemplate) bool {
		return p.bad || s.clusters[i].says[p.name].complies != p.content
	})
}

// sameTemplates says whether both have the same, in any order.
func sameTemplates(one, other []policyTemplate) bool {
	return len(one) == len(other) && !slices.ContainsFunc(one, func(p policyTemplate) bool { return !slices.Contains(other, p) })
}

// enforced are the clusters with a replica that enforces the wanted version.
func (w *policyWorld) enforced(s *policyState) (all []int) {
	for i := range s.clusters {
		if c := &s.clusters[i]; c.writes > 0 && c.version == s.version && c.action == policyv1.Enforce {
			all = append(all, i)
		}
	}
	return all
}
