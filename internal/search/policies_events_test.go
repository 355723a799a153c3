// SPDX-License-Identifier: Apache-2.0

package search

import (
	"fmt"
	"maps"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/override"
	twopasses "github.com/cohort-ocm/cohort/override/passes"
	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/rollout/exposure"
	"github.com/cohort-ocm/cohort/status/policyv1"
)

// policyEvent is what may happen next, and the state after it, before the controller looks.
type policyEvent struct {
	name string
	then *policyState
}

// begin is a hub on which the first version is done on each cluster, or if there is no other, was just created.
func (w *policyWorld) begin() (*policyState, error) {
	s, err := w.settle(&policyState{clusters: make([]policyCluster, w.clusters), due: true})
	if err != nil || len(w.versions) == 1 {
		return s, err
	}
	if s, err = w.run(s, 3); err != nil {
		return nil, err
	}
	s.began = s.tick
	return s, nil
}

// events are all that may happen in a state.
func (w *policyWorld) events(s *policyState) (all []policyEvent) {
	add := func(then *policyState, format string, args ...any) {
		all = append(all, policyEvent{fmt.Sprintf(format, args...), then})
	}
	if s.version+1 < len(w.versions) {
		then := s.clone()
		then.version++
		then.due = true
		add(then, "version %d is wanted", then.version+1)
	}
	for i := range s.clusters {
		c := &s.clusters[i]
		if c.got < c.writes {
			add(w.get(s, i), "%s gets version %d to %s", clusterName(i), c.version+1, c.action)
		}
		for _, template := range c.owed() {
			then := w.evaluate(s, i, template)
			add(then, "%s evaluates %s: %s", clusterName(i), template.name, then.clusters[i].says[template.name].compliance)
		}
		if then := w.sync(s, i); then != nil {
			add(then, "the hub gets the status of %s", clusterName(i))
		}
	}
	if w.mayWait(s) {
		add(s.wait(), "five minutes pass")
	}
	return all
}

// settle has the controller look until it writes nothing more. Nothing is lost by that: what it does not see yet is on the cluster.
func (w *policyWorld) settle(s *policyState) (_ *policyState, err error) {
	for s.due {
		if s, err = w.look(s); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// run lets everything happen but edits, and time pass once nothing else does, so often.
func (w *policyWorld) run(s *policyState, waits int) (_ *policyState, err error) {
	for {
		next := s.wait()
		for _, event := range w.events(s) {
			if event.then.tick == s.tick && event.then.version == s.version {
				next = event.then
				break
			}
		}
		if next.tick > s.tick {
			if waits--; waits < 0 {
				return s, nil
			}
		}
		if s, err = w.settle(next); err != nil {
			return nil, err
		}
	}
}

// owed are the templates that the agent has to evaluate.
func (c *policyCluster) owed() (all []policyTemplate) {
	for _, template := range c.has {
		if c.says[template.name].owes {
			all = append(all, template)
		}
	}
	return all
}

// mayWait says whether five minutes may pass.
func (w *policyWorld) mayWait(s *policyState) bool {
	if s.tick == s.began+w.ticks {
		return false
	}
	return !slices.ContainsFunc(s.clusters, func(c policyCluster) bool {
		slow := c.got < c.writes || len(c.owed()) > 0
		return slow && (w.prompt || c.sinceThen)
	})
}

func (s *policyState) wait() *policyState {
	then := s.clone()
	then.tick++
	then.due = true
	for i := range then.clusters {
		then.clusters[i].second = 0
	}
	return then
}

// get is the spec sync and the template sync of a cluster.
func (w *policyWorld) get(s *policyState, i int) *policyState {
	then := s.clone()
	c := &then.clusters[i]
	c.got, c.gotAction, c.has = c.writes, c.action, w.versions[c.version]
	before := c.says
	c.says = make(map[string]saying, len(c.has))
	for _, template := range c.has {
		said := before[template.name]
		if about := template.evaluated(c.gotAction); said.about != about {
			said.about, said.owes = about, true
		}
		c.says[template.name] = said
	}
	return then
}

// evaluate is what the controller of a template says. What was enforced once stays so.
func (w *policyWorld) evaluate(s *policyState, i int, template policyTemplate) *policyState {
	then := s.clone()
	c := &then.clusters[i]
	c.second++
	said := c.says[template.name]
	said.owes = false
	compliance := policyv1.NonCompliant
	if !template.bad && (c.gotAction == policyv1.Enforce || said.complies == template.content) {
		compliance, said.complies = policyv1.Compliant, template.content
	}
	if !template.isConstraint || said.events == 0 || said.compliance != compliance {
		said.compliance, said.at = compliance, s.time(c)
		said.events++
	}
	c.says = maps.Clone(c.says)
	c.says[template.name] = said
	return then
}

// sync has the hub get what the cluster says now, as OCM's status sync writes it: nil where nothing is new, or the hub refuses it.
func (w *policyWorld) sync(s *policyState, i int) *policyState {
	old := &s.clusters[i]
	if old.got == 0 || old.got < old.writes {
		return nil
	}
	then := s.clone()
	c := &then.clusters[i]
	c.hub.Details = nil
	complies, all := true, c.was
	for _, template := range c.has {
		detail := policyv1.PolicyDetails{TemplateMeta: metav1.ObjectMeta{Name: template.name}}
		if said := c.says[template.name]; said.events > 0 {
			detail.ComplianceState = said.compliance
			detail.History = []policyv1.PolicyHistory{{Message: string(said.compliance) + "; it is so", LastTimestamp: metav1.NewTime(said.at),
				EventName: fmt.Sprintf("policies.policy.%x", said.at.Add(time.Duration(said.events)).UnixNano())}}
		}
		c.hub.Details = append(c.hub.Details, detail)
		complies = complies && detail.ComplianceState == policyv1.Compliant
		if detail.ComplianceState == policyv1.NonCompliant {
			all = policyv1.NonCompliant
		}
	}
	if complies {
		all = policyv1.Compliant
	}
	c.was, c.hub.ComplianceState = all, all
	if details(c.hub) == details(old.hub) {
		return nil
	}
	c.heardAt, c.sinceThen = s.time(c), true
	then.due = true
	return then
}

// look is one call of the propagator, and its writes.
func (w *policyWorld) look(s *policyState) (*policyState, error) {
	resolution, err := override.Resolve(w.root(s.version), []override.Binding{w.binding()})
	if err != nil {
		return nil, err
	}
	var replicas []twopasses.Replica
	for i := range s.clusters {
		if s.clusters[i].writes > 0 {
			replicas = append(replicas, w.replica(s, i))
		}
	}
	p, err := twopasses.Propagate(resolution, fmt.Sprint("v", s.version), s.record, replicas, s.now(), rollout.Options{})
	if err != nil {
		return nil, err
	}
	then := s.clone()
	then.record = p.Record
	p.SetStatus(&then.root)
	writes := p.Writes()
	then.due = len(writes) > 0
	for _, write := range writes {
		c := &then.clusters[slices.Index(clusterNames(w.clusters), write.Name)]
		c.hub.RolloutStatus = string(write.RolloutStatus)
		if write.Verb != twopasses.VerbCreate && write.Verb != twopasses.VerbUpdate {
			continue
		}
		c.second++
		object := metav1.ObjectMeta{Annotations: maps.Clone(c.stamps)}
		at := then.time(c)
		if w.careless == stampsEarlier {
			at = at.Add(-time.Hour)
		}
		p.Stamp(&object, write, at)
		if w.careless == notesNothing {
			delete(object.Annotations, "cohort.open-cluster-management.io/reported")
		}
		c.stamps, c.action, c.version = object.Annotations, write.Action, s.version
		c.writes++
		c.atWrite, c.sinceThen = details(c.hub), false
	}
	return then, nil
}

func clusterNames(clusters int) (all []string) {
	for i := range clusters {
		all = append(all, clusterName(i))
	}
	return all
}

func (w *policyWorld) groups() *grouping.Groups {
	groups, err := grouping.FromNames(map[grouping.Key][]string{{}: clusterNames(w.clusters)})
	if err != nil {
		panic(err)
	}
	return groups
}

func (w *policyWorld) binding() override.Binding {
	return override.Binding{Name: "binding", Groups: w.groups(), PlacementRef: policyv1.PlacementRef{
		APIGroup: "cluster.open-cluster-management.io", Kind: "Placement", Name: "placement",
	}}
}

// exposes is the most clusters that package exposure says have the version at a time and are not done with it.
func (w *policyWorld) exposes() (int, error) {
	said, err := exposure.Of(w.root(0).Spec.RolloutStrategy, w.groups(), exposure.Span{}, policyEpoch(), rollout.Options{})
	return said.Exposed, err
}
