// SPDX-License-Identifier: Apache-2.0

package judge

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
)

// Moment is the truth just before a write: what a planner needs to say what should have happened.
type Moment struct {
	At       time.Time
	Cluster  string
	Strategy clusterv1alpha1.RolloutStrategy
	// Placement is nil where there is none. It has the status alone.
	Placement *clusterv1beta1.Placement
	Decisions []*clusterv1beta1.PlacementDecision
	// Standings are the clusters that have an object, by name.
	Standings []Standing
}

// Standing is what a cluster's object says.
type Standing struct {
	Cluster string
	Has     bool   // the version that is wanted
	Answer  string // "", "Progressing", "Succeeded" or "Failed"
	// Applied is when the object got its version, and Since when its answer changed. Zero is unknown.
	Applied, Since time.Time
}

// moment is how an owner stands, at the placement that selects a cluster.
func (o *owner) moment(cluster string) Moment {
	m := Moment{At: at(o.judge.now), Cluster: cluster}
	s := o.states.now()
	if s == nil || len(s.spec.refs) == 0 {
		return m
	}
	r := &s.spec.refs[0]
	for i := range s.spec.refs {
		if o.judge.placing(s.spec.refs[i].placement).places[cluster] > 0 {
			r = &s.spec.refs[i]
			break
		}
	}
	m.Strategy = r.raw
	p := o.judge.placing(r.placement)
	namespace, name, _ := strings.Cut(r.placement, "/")
	if now := p.placement.now(); now != nil {
		m.Placement = &clusterv1beta1.Placement{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
		m.Placement.Status.NumberOfSelectedClusters = int32(now.selected)
		if now.foreign {
			m.Placement.Annotations = map[string]string{clusterv1beta1.PlacementDisableAnnotation: "true"}
		}
		if now.size > 0 {
			m.Placement.Spec.DecisionStrategy.GroupStrategy.ClustersPerDecisionGroup.IntVal = int32(now.size)
		}
		for _, g := range now.groups {
			m.Placement.Status.DecisionGroups = append(m.Placement.Status.DecisionGroups, clusterv1beta1.DecisionGroupStatus{
				DecisionGroupIndex: int32(g.index), DecisionGroupName: g.name, ClustersCount: int32(g.count), Decisions: g.decisions})
		}
	}
	for _, key := range slices.Sorted(maps.Keys(p.decisions)) {
		d := p.decisions[key].now()
		if d == nil {
			continue
		}
		of := &clusterv1beta1.PlacementDecision{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: key, Labels: map[string]string{
			clusterv1beta1.PlacementLabel: name, clusterv1beta1.DecisionGroupIndexLabel: strconv.Itoa(d.index), clusterv1beta1.DecisionGroupNameLabel: d.name}}}
		for _, c := range d.clusters {
			of.Status.Decisions = append(of.Status.Decisions, clusterv1beta1.ClusterDecision{ClusterName: c})
		}
		m.Decisions = append(m.Decisions, of)
	}
	for _, cluster := range sortedKeys(o.members) {
		for _, id := range sortedKeys(o.members[cluster].holders) {
			h := o.members[cluster].holders[id].now()
			if h == nil || h.deleting && p.places[cluster] > 0 {
				continue
			}
			st := Standing{Cluster: cluster, Has: carries(h.version, r.version) && !h.inform, Answer: [...]string{"", "Progressing", "Succeeded", "Failed"}[h.answer], Applied: at(h.applied)}
			if h.since > 0 {
				st.Since = at(h.since)
			}
			m.Standings = append(m.Standings, st)
			break
		}
	}
	return m
}

// String names the moment.
func (m Moment) String() string {
	return fmt.Sprintf("%s at %s", m.Cluster, m.At.Format(time.RFC3339Nano))
}
