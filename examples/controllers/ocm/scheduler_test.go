// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"
	clusterfake "open-cluster-management.io/api/client/cluster/clientset/versioned/fake"
	clusterinformers "open-cluster-management.io/api/client/cluster/informers/externalversions"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"
	"open-cluster-management.io/ocm/pkg/placement/controllers/metrics"
	"open-cluster-management.io/ocm/pkg/placement/controllers/scheduling"
	"open-cluster-management.io/sdk-go/pkg/basecontroller/factory"
)

var groupVersion = schema.GroupVersion(clusterv1beta1.GroupVersion)

const (
	namespace  = "apps"
	clusterSet = "fleet"
)

// scheduler is Open Cluster Management's own placement controller, as its module publishes it, over an API server in
// memory. It runs only in schedule.
type scheduler struct {
	t          testing.TB
	server     *clusterfake.Clientset
	caches     clusterinformers.SharedInformerFactory
	controller factory.Controller
	before     func() // before each of its writes
	writes     int
}

func newScheduler(t testing.TB) *scheduler {
	//lint:ignore SA1019 NewClientset is not generated for this API
	s := &scheduler{t: t, server: clusterfake.NewSimpleClientset(), before: func() {}}
	s.caches = clusterinformers.NewSharedInformerFactory(s.server, 0)
	of, silent, measured := s.caches.Cluster(), &events.FakeRecorder{}, metrics.NewScheduleMetrics(clock.RealClock{})
	handle := scheduling.NewSchedulerHandler(s.server, of.V1beta1().PlacementDecisions().Lister(), of.V1alpha1().AddOnPlacementScores().Lister(), of.V1().ManagedClusters().Lister(), silent, measured)
	s.controller = scheduling.NewSchedulingController(t.Context(), s.server, of.V1().ManagedClusters(), of.V1beta2().ManagedClusterSets(), of.V1beta2().ManagedClusterSetBindings(),
		of.V1beta1().Placements(), of.V1beta1().PlacementDecisions(), of.V1alpha1().AddOnPlacementScores(), scheduling.NewPluginScheduler(handle), silent, measured)
	s.server.PrependReactor("*", "*", func(action clienttesting.Action) (bool, runtime.Object, error) {
		if slices.Contains([]string{"create", "update", "patch", "delete"}, action.GetVerb()) {
			s.writes++
			s.before()
		}
		return false, nil, nil
	})
	s.fill(of.V1beta2().ManagedClusterSets().Informer(), &clusterv1beta2.ManagedClusterSet{ObjectMeta: metav1.ObjectMeta{Name: clusterSet},
		Spec: clusterv1beta2.ManagedClusterSetSpec{ClusterSelector: clusterv1beta2.ManagedClusterSelector{SelectorType: clusterv1beta2.ExclusiveClusterSetLabel}}})
	s.fill(of.V1beta2().ManagedClusterSetBindings().Informer(), &clusterv1beta2.ManagedClusterSetBinding{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: clusterSet},
		Spec: clusterv1beta2.ManagedClusterSetBindingSpec{ClusterSet: clusterSet}})
	return s
}

// fill makes a cache show exactly these objects.
func (s *scheduler) fill(informer cache.SharedIndexInformer, objects ...any) {
	if err := informer.GetStore().Replace(objects, ""); err != nil {
		s.t.Fatal(err)
	}
}

// stored are a placement and its decisions, as the API server has them.
func (s *scheduler) stored(name string) (*clusterv1beta1.Placement, []*clusterv1beta1.PlacementDecision) {
	placement, err := s.server.Tracker().Get(groupVersion.WithResource("placements"), namespace, name)
	if err != nil {
		s.t.Fatal(err)
	}
	list, err := s.server.Tracker().List(groupVersion.WithResource("placementdecisions"), groupVersion.WithKind("PlacementDecision"), namespace)
	if err != nil {
		s.t.Fatal(err)
	}
	var decisions []*clusterv1beta1.PlacementDecision
	for i := range list.(*clusterv1beta1.PlacementDecisionList).Items {
		if d := &list.(*clusterv1beta1.PlacementDecisionList).Items[i]; d.Labels[clusterv1beta1.PlacementLabel] == name {
			decisions = append(decisions, d.DeepCopy())
		}
	}
	return placement.(*clusterv1beta1.Placement).DeepCopy(), decisions
}

// schedule reconciles a placement until nothing is written any more. Before each reconcile the caches are updated.
func (s *scheduler) schedule(ctx context.Context, clusters []*clusterv1.ManagedCluster, wanted *clusterv1beta1.Placement) {
	of := s.caches.Cluster()
	all := make([]any, len(clusters))
	for i := range clusters {
		all[i] = clusters[i]
	}
	s.fill(of.V1().ManagedClusters().Informer(), all...)
	s.apply(wanted)
	for range 20 {
		placement, decisions := s.stored(wanted.Name)
		s.fill(of.V1beta1().Placements().Informer(), placement)
		all := make([]any, len(decisions))
		for i := range decisions {
			all[i] = decisions[i]
		}
		s.fill(of.V1beta1().PlacementDecisions().Informer(), all...)
		s.writes = 0
		if err := s.controller.Sync(ctx, s.controller.SyncContext(), namespace+"/"+wanted.Name); err != nil {
			s.t.Fatal(err)
		}
		if s.writes == 0 {
			s.server.ClearActions()
			return
		}
	}
	s.t.Fatal("the scheduler does not come to rest")
}

// apply writes a user's placement to the API server.
func (s *scheduler) apply(wanted *clusterv1beta1.Placement) {
	placements := groupVersion.WithResource("placements")
	stored, err := s.server.Tracker().Get(placements, namespace, wanted.Name)
	if err != nil {
		err = s.server.Tracker().Create(placements, wanted.DeepCopy(), namespace)
	} else {
		changed := stored.(*clusterv1beta1.Placement).DeepCopy()
		changed.Spec = *wanted.Spec.DeepCopy()
		err = s.server.Tracker().Update(placements, changed, namespace)
	}
	if err != nil {
		s.t.Fatal(err)
	}
}
