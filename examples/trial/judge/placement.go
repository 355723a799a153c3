// SPDX-License-Identifier: Apache-2.0

package judge

import (
	"errors"
	"fmt"
	"strconv"

	"k8s.io/apimachinery/pkg/util/intstr"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
)

func (r *reader) placement(o *object, e *event) error {
	var spec struct {
		DecisionStrategy struct {
			GroupStrategy struct {
				ClustersPerDecisionGroup intstr.IntOrString `json:"clustersPerDecisionGroup"`
			} `json:"groupStrategy"`
		} `json:"decisionStrategy"`
	}
	var status struct {
		NumberOfSelectedClusters int32                                `json:"numberOfSelectedClusters"`
		DecisionGroups           []clusterv1beta1.DecisionGroupStatus `json:"decisionGroups"`
	}
	if err := errors.Join(decode("spec", o.Spec, &spec), decode("status", o.Status, &status)); err != nil {
		return err
	}
	p := &placementState{selected: int(status.NumberOfSelectedClusters), foreign: o.Metadata.Annotations[clusterv1beta1.PlacementDisableAnnotation] == "true"}
	if n := spec.DecisionStrategy.GroupStrategy.ClustersPerDecisionGroup; n.Type == intstr.Int {
		p.size = n.IntValue()
	}
	for _, g := range status.DecisionGroups {
		s := groupStatus{groupKey: groupKey{int(g.DecisionGroupIndex), r.same(g.DecisionGroupName)}, count: int(g.ClustersCount)}
		for _, name := range g.Decisions {
			s.decisions = append(s.decisions, r.same(name))
		}
		p.groups = append(p.groups, s)
	}
	e.class, e.state = isPlacement, p
	return nil
}

func (r *reader) decision(o *object, e *event) error {
	var status clusterv1beta1.PlacementDecisionStatus
	if err := decode("status", o.Status, &status); err != nil {
		return err
	}
	d := &decisionState{
		placement: r.same(keyOf(o.Metadata.Namespace, o.Metadata.Labels[clusterv1beta1.PlacementLabel])),
		groupKey:  groupKey{name: r.same(o.Metadata.Labels[clusterv1beta1.DecisionGroupNameLabel])},
		deleting:  o.Metadata.DeletionTimestamp != nil,
	}
	if index := o.Metadata.Labels[clusterv1beta1.DecisionGroupIndexLabel]; index != "" {
		var err error
		if d.index, err = strconv.Atoi(index); err != nil {
			return fmt.Errorf("the label %s is %q, expected a number", clusterv1beta1.DecisionGroupIndexLabel, index)
		}
	}
	for _, c := range status.Decisions {
		d.clusters = append(d.clusters, r.same(c.ClusterName))
	}
	e.class, e.state = isDecision, d
	return nil
}
