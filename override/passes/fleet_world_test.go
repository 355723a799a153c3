// SPDX-License-Identifier: Apache-2.0

package passes_test

import (
	"container/heap"
	"fmt"
	"maps"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"pgregory.net/rapid"

	"github.com/cohort-ocm/cohort/override"
	"github.com/cohort-ocm/cohort/override/passes"
	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/status"
	"github.com/cohort-ocm/cohort/status/policyv1"
)

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
	parts    []part // its templates
	change   int    // how often it was written: its resourceVersion
	isEdited bool   // a person edited the templates
}

// agent is a managed cluster.
type agent struct {
	cluster  string
	lag      time.Duration         // between hub and cluster, each way
	clock    time.Duration         // how far its clock is ahead
	away     bool                  // it is cut off
	cut      int                   // the version that was written while it was cut off, until the hub gets a status
	unheard  int                   // the version that it counts as done with although the hub has got no status
	ignored  int                   // the version that it counts as done with while a template that ignores Pending waits
	edited   int                   // the version in which a person edited its replica
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
	isMet    bool // the policy that templates may wait for complies on it
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
		s := f.hub[cluster]
		replica := passes.ReplicaOf(&s.Policy, &s.status)
		replica.Edited = replica.Edited || s.isEdited
		replicas = append(replicas, replica)
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
			s.parts, s.isEdited = slices.Clone(f.parts), false
			s.ManagedFields = f.managedFields(s.ManagedFields, "", `{"f:spec":{}}`)
		}
		s.status.RolloutStatus = string(c.RolloutStatus)
		f.written(f.agents[c.Name])
	}
	f.countUnheard()
	f.countIgnored()
	p.SetStatus(&f.status)
	if len(p.Writes()) > 0 {
		f.soon()
	} else if p.RecheckAfter > 0 {
		f.after(p.RecheckAfter, f.soon)
	}
	f.check()
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

// managedFields are those of a replica after a write. The API server's times have whole seconds.
func (f *fleet) managedFields(before []metav1.ManagedFieldsEntry, subresource, fields string) []metav1.ManagedFieldsEntry {
	if f.strips {
		return nil
	}
	at := metav1.NewTime(f.now.Truncate(time.Second))
	others := slices.DeleteFunc(slices.Clone(before), func(entry metav1.ManagedFieldsEntry) bool { return entry.Subresource == subresource })
	return append(others, metav1.ManagedFieldsEntry{Manager: "a", Operation: metav1.ManagedFieldsOperationUpdate, Subresource: subresource, Time: &at,
		FieldsV1: &metav1.FieldsV1{Raw: []byte(fields)}})
}

// byHand has a person edit a replica: its templates, or else its action. The cluster may get that, or only what is written next.
func (f *fleet) byHand(cluster string, parts []part, sees bool) {
	s := f.hub[cluster]
	switch {
	case parts != nil:
		s.Spec.PolicyTemplates, s.parts, s.isEdited = templatesOf(parts), parts, true
	case s.Spec.RemediationAction == policyv1.Inform:
		s.Spec.RemediationAction = policyv1.Enforce
	default:
		s.Spec.RemediationAction = policyv1.Inform
	}
	s.ManagedFields = f.managedFields(s.ManagedFields, "", `{"f:spec":{}}`)
	if s.change++; sees {
		s.change--
		f.written(f.agents[cluster])
	}
	f.soon()
}
