// SPDX-License-Identifier: Apache-2.0

package trial

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
)

// scheduler writes a placement's decisions as OCM's does: each PlacementDecision is created without its status and
// then gets it, those that aren't needed go, and the placement's status comes last.
type scheduler struct {
	client    clients
	namespace string
	name      string // of the placement
	writers   int    // how many PlacementDecisions are written at a time
	slice     int    // how many clusters a PlacementDecision has at most
	pause     time.Duration
	foreign   bool                        // it is another one than OCM's: scheduling is disabled, and the placement's status is not written
	named     []string                    // groups by name, in their order; what isn't in one of them comes last
	groupOf   func(cluster string) string // a cluster's name of group
	rng       *rand.Rand
	stored    map[string]*placementDecision
	placement *placement
}

// group is a decision group that the scheduler wants.
type group struct {
	name     string
	clusters []string
}

// divide divides the selected clusters into groups, each of at most size clusters; 0 is no limit.
func (s *scheduler) divide(selected []string, size int) []group {
	var groups []group
	for _, name := range append(slices.Clone(s.named), "") {
		var members []string
		for _, c := range selected {
			if s.groupOf(c) == name {
				members = append(members, c)
			}
		}
		slices.Sort(members)
		limit := size
		if limit <= 0 {
			limit = max(1, len(members))
		}
		for part := range slices.Chunk(members, limit) {
			groups = append(groups, group{name, part})
		}
	}
	if len(groups) == 0 {
		groups = []group{{}}
	}
	return groups
}

// schedule writes the decisions for the selected clusters.
func (s *scheduler) schedule(ctx context.Context, selected []string, size int) error {
	var wanted []*placementDecision
	var inStatus []clusterv1beta1.DecisionGroupStatus
	for index, g := range s.divide(selected, size) {
		about := clusterv1beta1.DecisionGroupStatus{
			DecisionGroupIndex: int32(index), DecisionGroupName: g.name, ClustersCount: int32(len(g.clusters)),
		}
		slices := slices.Collect(slices.Chunk(g.clusters, s.slice))
		if len(slices) == 0 {
			slices = [][]string{nil}
		}
		for _, clusters := range slices {
			pd := s.decision(len(wanted)+1, index, g.name, clusters)
			wanted, about.Decisions = append(wanted, pd), append(about.Decisions, pd.Name)
		}
		inStatus = append(inStatus, about)
	}
	if err := s.placeSpec(ctx, size); err != nil {
		return err
	}
	if err := s.write(ctx, wanted); err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(s.stored)) {
		if !slices.ContainsFunc(wanted, func(pd *placementDecision) bool { return pd.Name == name }) {
			s.rest()
			if err := s.decisions().Delete(ctx, name, metav1.DeleteOptions{}); err != nil {
				return err
			}
			delete(s.stored, name)
		}
	}
	s.rest()
	if s.foreign {
		return nil
	}
	s.placement.Status.NumberOfSelectedClusters = int32(len(selected))
	s.placement.Status.DecisionGroups = inStatus
	if s.placement.Status.Conditions == nil {
		s.placement.Status.Conditions = []metav1.Condition{}
	}
	updated, err := s.client.cluster.ClusterV1beta1().Placements(s.namespace).UpdateStatus(ctx, s.placement, metav1.UpdateOptions{})
	if err == nil {
		s.placement = updated
	}
	return err
}

// placeSpec creates the placement, or changes the size of its groups.
func (s *scheduler) placeSpec(ctx context.Context, size int) (err error) {
	api := s.client.cluster.ClusterV1beta1().Placements(s.namespace)
	want := intstr.FromString("100%")
	if size > 0 {
		want = intstr.FromInt32(int32(size))
	}
	if s.placement == nil {
		p := &placement{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: s.name}}
		if s.foreign {
			p.Annotations = map[string]string{clusterv1beta1.PlacementDisableAnnotation: "true"}
		}
		p.Spec.DecisionStrategy.GroupStrategy.ClustersPerDecisionGroup = want
		for _, name := range s.named {
			p.Spec.DecisionStrategy.GroupStrategy.DecisionGroups = append(p.Spec.DecisionStrategy.GroupStrategy.DecisionGroups,
				clusterv1beta1.DecisionGroup{GroupName: name, ClusterSelector: clusterv1beta1.GroupClusterSelector{
					LabelSelector: metav1.LabelSelector{MatchLabels: map[string]string{"group": name}}}})
		}
		s.placement, err = api.Create(ctx, p, metav1.CreateOptions{})
		s.rest()
		return err
	}
	strategy := &s.placement.Spec.DecisionStrategy.GroupStrategy
	if strategy.ClustersPerDecisionGroup == want {
		return nil
	}
	strategy.ClustersPerDecisionGroup = want
	updated, err := api.Update(ctx, s.placement, metav1.UpdateOptions{})
	if err == nil {
		s.placement = updated
		s.rest()
	}
	return err
}

func (s *scheduler) decision(n, index int, name string, clusters []string) *placementDecision {
	pd := &placementDecision{ObjectMeta: metav1.ObjectMeta{
		Namespace: s.namespace, Name: fmt.Sprintf("%s-decision-%d", s.name, n),
		Labels: map[string]string{
			clusterv1beta1.PlacementLabel:          s.name,
			clusterv1beta1.DecisionGroupIndexLabel: strconv.Itoa(index),
			clusterv1beta1.DecisionGroupNameLabel:  name,
		},
	}}
	pd.Status.Decisions = []clusterv1beta1.ClusterDecision{}
	for _, c := range clusters {
		pd.Status.Decisions = append(pd.Status.Decisions, clusterv1beta1.ClusterDecision{ClusterName: c})
	}
	return pd
}

// write writes all PlacementDecisions, as many at a time as there are writers.
func (s *scheduler) write(ctx context.Context, wanted []*placementDecision) error {
	var mu sync.Mutex
	var errs []error
	var running sync.WaitGroup
	next := make(chan *placementDecision, len(wanted))
	for _, pd := range wanted {
		next <- pd
	}
	close(next)
	for range s.writers {
		running.Go(func() {
			for pd := range next {
				mu.Lock()
				old := s.stored[pd.Name]
				mu.Unlock()
				stored, err := s.put(ctx, old, pd)
				mu.Lock()
				s.stored[pd.Name], errs = stored, append(errs, err)
				s.mustRest(&mu)
				mu.Unlock()
			}
		})
	}
	running.Wait()
	return errors.Join(errs...)
}

// put creates or updates one: its labels, then its status.
func (s *scheduler) put(ctx context.Context, old, pd *placementDecision) (_ *placementDecision, err error) {
	api := s.decisions()
	stored := old
	if stored == nil {
		if stored, err = api.Create(ctx, pd, metav1.CreateOptions{}); err != nil {
			return nil, err
		}
	} else if !equalLabels(stored, pd) {
		change := stored.DeepCopy()
		change.Labels = pd.Labels
		if stored, err = api.Update(ctx, change, metav1.UpdateOptions{}); err != nil {
			return nil, err
		}
	}
	if old != nil && slices.Equal(old.Status.Decisions, pd.Status.Decisions) {
		return stored, nil
	}
	if s.pause > 0 {
		time.Sleep(s.pause / 4)
	}
	change := stored.DeepCopy()
	change.Status = pd.Status
	return api.UpdateStatus(ctx, change, metav1.UpdateOptions{})
}

func equalLabels(a, b *placementDecision) bool {
	for key, value := range b.Labels {
		if a.Labels[key] != value {
			return false
		}
	}
	return true
}

// rest lets the world see a state that is partially observed.
func (s *scheduler) rest() {
	if s.pause > 0 {
		time.Sleep(time.Duration(s.rng.Int64N(int64(s.pause))))
	}
}

// mustRest rests without the lock that guards rng.
func (s *scheduler) mustRest(mu *sync.Mutex) {
	if s.pause > 0 {
		d := time.Duration(s.rng.Int64N(int64(s.pause)))
		mu.Unlock()
		time.Sleep(d)
		mu.Lock()
	}
}

func (s *scheduler) decisions() interface {
	Create(context.Context, *placementDecision, metav1.CreateOptions) (*placementDecision, error)
	Update(context.Context, *placementDecision, metav1.UpdateOptions) (*placementDecision, error)
	UpdateStatus(context.Context, *placementDecision, metav1.UpdateOptions) (*placementDecision, error)
	Delete(context.Context, string, metav1.DeleteOptions) error
} {
	return s.client.cluster.ClusterV1beta1().PlacementDecisions(s.namespace)
}
