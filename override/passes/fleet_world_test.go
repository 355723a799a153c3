// SPDX-License-Identifier: Apache-2.0

package passes_test

import (
	"container/heap"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"pgregory.net/rapid"

	"github.com/cohort-ocm/cohort/override"
	"github.com/cohort-ocm/cohort/override/passes"
	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/status"
	"github.com/cohort-ocm/cohort/status/policyv1"
)

// part is a template of a policy, and how its controller takes it.
type part struct {
	name, kind string
	content    int
	own        policyv1.RemediationAction // its own action, such as InformOnly
	note       string                     // an annotation
	delay      time.Duration              // from the template sync's write to the message
	// bad content does not comply, whatever is done.
	bad bool
	// fits says that clusters comply before anything is enforced.
	fits bool
}

func (p part) object() string {
	group := map[string]string{"ConfigurationPolicy": "policy.open-cluster-management.io/v1", "CertificatePolicy": "policy.open-cluster-management.io/v1", "K8sLabels": "constraints.gatekeeper.sh/v1beta1"}[p.kind]
	own := fmt.Sprintf(`"remediationAction": %q`, p.own)
	if p.kind == "K8sLabels" {
		own = fmt.Sprintf(`"enforcementAction": %q`, map[policyv1.RemediationAction]string{"inform": "warn", "InformOnly": "dryrun", "enforce": "deny"}[p.own])
	}
	return fmt.Sprintf(`{"apiVersion": %q, "kind": %q, "metadata": {"name": %q, "annotations": {"note": %q}}, "spec": {%s, "content": %d}}`,
		group, p.kind, p.name, p.note, own, p.content)
}

// evaluated is what the cluster's controller evaluates of it under the action of the policy.
func (p part) evaluated(action policyv1.RemediationAction) string {
	if action == "" || p.informsOnly() {
		action = p.own
	}
	return fmt.Sprint(p.kind, p.content, action)
}

// informsOnly says that no policy makes it enforce. A constraint has no such action.
func (p part) informsOnly() bool { return p.own == "InformOnly" && p.kind != "K8sLabels" }

func (p part) enforces(action policyv1.RemediationAction) bool {
	return !p.informsOnly() && (action == policyv1.Enforce || action == "" && p.own == policyv1.Enforce)
}

// fleet is a hub in virtual time with a policy of several templates, its propagator, and clusters with a status sync that writes as OCM's
// framework-addon does: details template by template from the events, compliant left as it was where a template is new, and with the
// resourceVersion of the replica that the cluster has got. The hub refuses a status of a cluster that has not got the last write.
type fleet struct {
	t       rapid.TB
	now     time.Time
	queue   tasks
	root    *policyv1.Policy
	parts   []part
	version int
	targets []string
	hub     map[string]*replicated
	agents  map[string]*agent
	record  status.Record
	status  policyv1.PolicyStatus
	last    *passes.Propagation
	check   func()
	due     bool // the controller looks soon
	strips  bool // its cache leaves managed fields out
	seq     int
}

// replicated is a replica on the hub.
type replicated struct {
	stored
	parts  []part // its templates
	change int    // how often it was written: its resourceVersion
}

// agent is a managed cluster.
type agent struct {
	cluster  string
	lag      time.Duration         // between hub and cluster, each way
	clock    time.Duration         // how far its clock is ahead
	away     bool                  // it is cut off
	cut      int                   // the version that was written while it was cut off, until the hub gets a status
	unheard  int                   // the version that it counts as done with although the hub has got no status
	told     map[string]string     // what the last status that the hub got is about, by template
	seen     int                   // the resourceVersion of the replica that it has got
	there    policyv1.PolicyStatus // and its status
	has      []part                // the policy's templates, as the spec sync wrote them
	action   policyv1.RemediationAction
	objects  map[string]string                   // what each template's controller evaluates
	events   map[string][]policyv1.PolicyHistory // the newest first
	done     map[string]bool                     // it has evaluated what it has
	complies map[string]string                   // what it complies with
	was      policyv1.ComplianceState
}

type task struct {
	at  time.Time
	seq int
	run func()
}

type tasks []task

func (q tasks) Len() int { return len(q) }
func (q tasks) Less(i, j int) bool {
	return q[i].at.Before(q[j].at) || q[i].at.Equal(q[j].at) && q[i].seq < q[j].seq
}
func (q tasks) Swap(i, j int) { q[i], q[j] = q[j], q[i] }
func (q *tasks) Push(x any)   { *q = append(*q, x.(task)) }
func (q *tasks) Pop() any {
	old := *q
	last := old[len(old)-1]
	*q = old[:len(old)-1]
	return last
}

func newFleet(t rapid.TB, limits naiveLimits, action policyv1.RemediationAction, clusters int) *fleet {
	f := &fleet{
		t: t, now: noon, root: policy(action, limits), hub: map[string]*replicated{}, agents: map[string]*agent{}, check: func() {},
	}
	for i := range clusters {
		name := fmt.Sprintf("c%02d", i)
		f.targets = append(f.targets, name)
		f.agents[name] = &agent{
			cluster: name, lag: 200 * time.Millisecond,
			objects: map[string]string{}, events: map[string][]policyv1.PolicyHistory{}, done: map[string]bool{}, complies: map[string]string{},
		}
	}
	return f
}

func (f *fleet) after(d time.Duration, run func()) {
	f.seq++
	heap.Push(&f.queue, task{f.now.Add(d), f.seq, run})
}

// run lets time pass.
func (f *fleet) run(d time.Duration) {
	until := f.now.Add(d)
	for f.queue.Len() > 0 && !f.queue[0].at.After(until) {
		next := heap.Pop(&f.queue).(task)
		f.now = next.at
		next.run()
	}
	f.now = until
}

// edit wants other templates.
func (f *fleet) edit(parts ...part) {
	f.version++
	for _, a := range f.agents {
		if a.away {
			a.cut = f.version
		}
	}
	f.parts = slices.Clone(parts)
	f.root.Spec.PolicyTemplates = templatesOf(parts)
	f.soon()
}

func templatesOf(parts []part) (all []policyv1.PolicyTemplate) {
	for _, p := range parts {
		all = append(all, policyv1.PolicyTemplate{ObjectDefinition: runtime.RawExtension{Raw: []byte(p.object())}})
	}
	return all
}

// soon has the controller look at the hub.
func (f *fleet) soon() {
	if !f.due {
		f.due = true
		f.after(10*time.Millisecond, func() {
			f.due = false
			f.reconcile()
		})
	}
}

// reconcile is one call of the propagator, and its writes.
func (f *fleet) reconcile() {
	f.t.Helper()
	resolution, err := override.Resolve(f.root, []override.Binding{to(f.targets...)})
	if err != nil {
		f.t.Fatal(err)
	}
	var replicas []passes.Replica
	for _, cluster := range slices.Sorted(maps.Keys(f.hub)) {
		replicas = append(replicas, passes.ReplicaOf(&f.hub[cluster].Policy, &f.hub[cluster].status))
	}
	p, err := passes.Propagate(resolution, fmt.Sprint("v", f.version), f.record, replicas, f.now, rollout.Options{Previous: f.last.Remembered()})
	if err != nil {
		f.t.Fatal(err)
	}
	f.last, f.record = p, p.Record
	for _, c := range p.Writes() {
		s := f.hub[c.Name]
		switch c.Verb {
		case passes.VerbCreate, passes.VerbUpdate:
			if s == nil {
				s = &replicated{stored: stored{Policy: policyv1.Policy{ObjectMeta: metav1.ObjectMeta{Name: "policies.policy", Namespace: c.Name}}}}
				f.hub[c.Name] = s
			}
			p.Stamp(s, c, f.now)
			s.Spec.PolicyTemplates, s.Spec.RemediationAction = f.root.Spec.PolicyTemplates, c.Action
			s.parts = slices.Clone(f.parts)
		}
		s.status.RolloutStatus = string(c.RolloutStatus)
		f.written(f.agents[c.Name])
	}
	f.countUnheard()
	p.SetStatus(&f.status)
	if len(p.Writes()) > 0 {
		f.soon()
	} else if p.RecheckAfter > 0 {
		f.after(p.RecheckAfter, f.soon)
	}
	f.check()
}

// countUnheard notes the clusters that were cut off, count as done, and whose status the hub has not got since. O17 allows it where
// they have evaluated each ConfigurationPolicy before, as far as the hub knows: they look like clusters with nothing new to say.
func (f *fleet) countUnheard() {
	for cluster, s := range f.hub {
		a := f.agents[cluster]
		mustAnswer := slices.ContainsFunc(f.parts, func(p part) bool {
			return p.kind == "ConfigurationPolicy" && a.told[p.name] != p.evaluated(f.root.Spec.RemediationAction)
		})
		if a.cut == f.version && !mustAnswer && s.status.RolloutStatus == string(status.Succeeded) {
			a.unheard = f.version
		}
	}
}

// written has the cluster get the replica as it is on the hub now, unless it has got a later one by then.
func (f *fleet) written(a *agent) {
	s := f.hub[a.cluster]
	s.change++
	change, parts, action, there := s.change, s.parts, s.Spec.RemediationAction, s.status
	f.after(a.lag, func() {
		if change > a.seen && !a.away {
			a.seen, a.there = change, there
			f.get(a, parts, action)
			f.sync(a)
		}
	})
}

// back ends that a cluster is offline: it gets the present replica, and nothing of what was written in between.
func (f *fleet) back(cluster string) {
	a := f.agents[cluster]
	a.away = false
	f.hub[cluster].change-- // the same replica
	f.written(a)
}

// get is the spec sync and the template sync: the cluster has the policy, and the controllers of the templates that changed.
func (f *fleet) get(a *agent, parts []part, action policyv1.RemediationAction) {
	a.has, a.action = parts, action
	there := map[string]bool{}
	for _, p := range parts {
		there[p.name] = true
		if wants := p.evaluated(action); a.objects[p.name] != wants {
			a.objects[p.name], a.done[p.name] = wants, false
			f.after(p.delay, func() {
				if a.objects[p.name] == wants && !a.done[p.name] {
					f.evaluate(a, p)
				}
			})
		}
	}
	maps.DeleteFunc(a.objects, func(name string, _ string) bool { return !there[name] })
}

// evaluate is what a template's controller says.
func (f *fleet) evaluate(a *agent, p part) {
	a.done[p.name], a.complies[p.name] = true, ""
	fits := p.fits || p.enforces(a.action)
	compliance := policyv1.NonCompliant
	if fits && !p.bad {
		compliance, a.complies[p.name] = policyv1.Compliant, p.evaluated("")
	}
	f.say(a, p, compliance)
}

// say makes an event. Controllers other than that of ConfigurationPolicies say only what is new.
func (f *fleet) say(a *agent, p part, compliance policyv1.ComplianceState) {
	message := string(compliance) + "; it is so"
	if before := a.events[p.name]; p.kind != "ConfigurationPolicy" && len(before) > 0 && before[0].Message == message {
		return
	}
	at := f.now.Add(a.clock)
	event := policyv1.PolicyHistory{Message: message, LastTimestamp: metav1.NewTime(at.Truncate(time.Second)), EventName: fmt.Sprintf("policies.policy.%x", at.UnixNano())}
	a.events[p.name] = append([]policyv1.PolicyHistory{event}, a.events[p.name]...)
	f.sync(a)
}

// sync is the status sync: it writes what it knows now, if that is new, and the hub has it later, or refuses it.
func (f *fleet) sync(a *agent) {
	var details []policyv1.PolicyDetails
	complies, all := true, a.was
	for _, p := range a.has {
		d := policyv1.PolicyDetails{TemplateMeta: metav1.ObjectMeta{Name: p.name}}
		if events := a.events[p.name]; len(events) > 0 {
			d.History = slices.Clone(events[:1])
			d.ComplianceState, _, _ = cutState(events[0].Message)
		}
		details = append(details, d)
		complies = complies && d.ComplianceState == policyv1.Compliant
	}
	for _, d := range details {
		if d.ComplianceState == policyv1.NonCompliant {
			all, complies = policyv1.NonCompliant, false
		}
	}
	if complies {
		all = policyv1.Compliant
	}
	a.was = all
	if a.away || all == a.there.ComplianceState && reflect.DeepEqual(details, a.there.Details) {
		return
	}
	change, about := a.seen, map[string]string{}
	for _, p := range a.has {
		if about[p.name] = a.told[p.name]; a.done[p.name] {
			about[p.name] = a.objects[p.name]
		}
	}
	f.after(a.lag, func() {
		if s := f.hub[a.cluster]; s != nil && s.change == change {
			s.status.Details, s.status.ComplianceState = details, all
			s.ManagedFields = f.managedFields()
			a.cut, a.told = 0, about
			f.written(a)
			f.soon()
		}
	})
}

// managedFields are those of a replica after a cluster has written its status. The API server's times have whole seconds.
func (f *fleet) managedFields() []metav1.ManagedFieldsEntry {
	if f.strips {
		return nil
	}
	at := metav1.NewTime(f.now.Truncate(time.Second))
	return []metav1.ManagedFieldsEntry{{Manager: "addon", Operation: metav1.ManagedFieldsOperationUpdate, Subresource: "status", Time: &at,
		FieldsV1: &metav1.FieldsV1{Raw: []byte(`{"f:status":{"f:compliant":{},"f:details":{}}}`)}}}
}

func cutState(message string) (policyv1.ComplianceState, string, bool) {
	state, rest, ok := strings.Cut(message, "; ")
	return policyv1.ComplianceState(state), rest, ok
}

// isDone says whether a cluster is truly done with the version: each template that enforces was evaluated and complies, and no other is left.
// What says something of a template that only informs may be about the first pass, and the version does nothing there.
func (f *fleet) isDone(cluster string) bool {
	a, action := f.agents[cluster], f.root.Spec.RemediationAction
	gone := slices.ContainsFunc(a.has, func(p part) bool {
		return !slices.ContainsFunc(f.parts, func(other part) bool { return other.name == p.name })
	})
	return !gone && !slices.ContainsFunc(f.parts, func(p part) bool {
		complies := a.complies[p.name] == p.evaluated("") && !p.bad // with inform, so that there is nothing to enforce
		return p.enforces(action) && !complies && (a.objects[p.name] != p.evaluated(action) || !a.done[p.name] || p.bad)
	})
}

// exposed are the clusters with replicas that have the version with the root's action, and that are not truly done with it, without those
// that count as done unheard. A version of which no template enforces anything exposes none.
func (f *fleet) exposed() (all []string) {
	if !slices.ContainsFunc(f.parts, func(p part) bool { return p.enforces(f.root.Spec.RemediationAction) }) {
		return nil
	}
	for _, cluster := range slices.Sorted(maps.Keys(f.hub)) {
		s := f.hub[cluster]
		stamp := status.StampOf(s).Version
		if stamp == fmt.Sprintf("v%d %s", f.version, f.root.Spec.RemediationAction) && !f.isDone(cluster) && f.agents[cluster].unheard != f.version {
			all = append(all, cluster)
		}
	}
	return all
}
