// SPDX-License-Identifier: Apache-2.0

package hubs

import (
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	workv1 "open-cluster-management.io/api/work/v1"
	workv1alpha1 "open-cluster-management.io/api/work/v1alpha1"

	"github.com/cohort-ocm/cohort/grouping"
)

// begin makes the objects.
func (p *player) begin() error {
	for i := range p.clusters {
		if err := p.place(i); err != nil {
			return err
		}
	}
	for i := range servers {
		set := &workv1alpha1.ManifestWorkReplicaSet{ObjectMeta: metav1.ObjectMeta{
			Namespace: p.name, Name: setName, Annotations: map[string]string{p.subject.Annotation: p.hub(eu) + "," + p.hub(us)},
		}}
		set.Spec.PlacementRefs = []workv1alpha1.LocalPlacementReference{{Name: placementName, RolloutStrategy: p.rolloutStrategy()}}
		set.Spec.ManifestWorkTemplate = template(p.version)
		if _, err := p.clients[i].work.WorkV1alpha1().ManifestWorkReplicaSets(p.name).Create(p.ctx, set, metav1.CreateOptions{}); err != nil {
			return err
		}
	}
	return nil
}

func (p *player) rolloutStrategy() clusterv1alpha1.RolloutStrategy {
	return clusterv1alpha1.RolloutStrategy{Type: clusterv1alpha1.Progressive, Progressive: p.strategy.DeepCopy()}
}

func template(version string) workv1.ManifestWorkSpec {
	raw := fmt.Sprintf(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"it","namespace":"default"},"data":{"version":%q}}`, version)
	return workv1.ManifestWorkSpec{Workload: workv1.ManifestsTemplate{Manifests: []workv1.Manifest{{RawExtension: runtime.RawExtension{Raw: []byte(raw)}}}}}
}

// place has the placement of a hub select its clusters.
func (p *player) place(hub int) error {
	ctx, api := p.ctx, p.clients[hub].cluster.ClusterV1beta1()
	placements, decisions := api.Placements(p.name), api.PlacementDecisions(p.name)
	placement, err := placements.Get(ctx, placementName, metav1.GetOptions{})
	if err != nil {
		placement = &clusterv1beta1.Placement{ObjectMeta: metav1.ObjectMeta{Namespace: p.name, Name: placementName}}
		if placement, err = placements.Create(ctx, placement, metav1.CreateOptions{}); err != nil {
			return err
		}
	}
	var selected []*clusterv1.ManagedCluster
	for _, cluster := range p.clusters[hub] {
		selected = append(selected, &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: cluster}})
	}
	groups, err := grouping.Divide(placement, selected, grouping.Options{})
	if err != nil {
		return err
	}
	wanted, err := groups.Decisions(placement)
	if err != nil {
		return err
	}
	for _, decision := range wanted {
		stored, err := decisions.Get(ctx, decision.Name, metav1.GetOptions{})
		if err != nil {
			if stored, err = decisions.Create(ctx, decision, metav1.CreateOptions{}); err != nil {
				return err
			}
		}
		stored.Status = decision.Status
		if _, err := decisions.UpdateStatus(ctx, stored, metav1.UpdateOptions{}); err != nil {
			return err
		}
	}
	if placement.Status, err = grouping.Status(wanted); err != nil {
		return err
	}
	_, err = placements.UpdateStatus(ctx, placement, metav1.UpdateOptions{})
	return err
}

// change changes the set everywhere, on one hub after the other.
func (p *player) change(do func(*workv1alpha1.ManifestWorkReplicaSet)) error {
	for i := range servers {
		sets := p.clients[i].work.WorkV1alpha1().ManifestWorkReplicaSets(p.name)
		for tries := 0; ; tries++ {
			set, err := sets.Get(p.ctx, setName, metav1.GetOptions{})
			if err == nil {
				do(set)
				_, err = sets.Update(p.ctx, set, metav1.UpdateOptions{})
			}
			if err == nil {
				break
			}
			if tries == 20 {
				return err
			}
			time.Sleep(20 * time.Millisecond)
		}
	}
	return nil
}
