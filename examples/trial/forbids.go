// SPDX-License-Identifier: Apache-2.0

package trial

import (
	"fmt"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/intstr"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"

	"github.com/cohort-ocm/cohort/examples/trial/internal/limits"
)

// forbids says which invariants a start of a version on a cluster would break in this scene, and why.
func (s *scene) forbids(cluster, version string, now time.Time, l leniency) []violation {
	if s.set == nil {
		return []violation{{invariant: invSelected, text: "there is no replica set"}}
	}
	ref, incomplete := s.refOf(cluster)
	switch {
	case incomplete != "":
		return []violation{{invariant: invComplete, text: incomplete}}
	case ref == nil:
		return []violation{{invariant: invSelected, text: cluster + " isn't selected"}}
	}
	broken := s.peopleForbid(cluster, version, now)
	if s.revising != nil {
		if v := s.revisionForbids(cluster, version); v != nil {
			return append(broken, *v)
		}
		if s.revising.aborted() && s.holds(cluster) {
			if s.revising.AtOnce {
				return broken
			}
			return s.backForbids(ref, cluster, now, l)
		}
	}
	if s.ignoredClusters[cluster] || s.deleted[cluster] || ref.strategy.Type == clusterv1alpha1.All || ref.strategy.Type == "" {
		return broken
	}
	if v := s.exposes(ref, cluster, version, now, l); v != nil {
		broken = append(broken, *v)
	}
	return append(broken, broke(s.rollout(ref, cluster, version, now, l).Forbids(cluster), ofLimit)...)
}

// ofLimit are the invariants that starts break which break limits.
var ofLimit = map[limits.Kind]Invariant{limits.Budget: invBudget, limits.Mandatory: invMandatory, limits.Order: invOrder, limits.Concurrency: invConcurrency}

func broke(breaches []limits.Breach, of map[limits.Kind]Invariant) (broken []violation) {
	for i := range breaches {
		b := &breaches[i]
		v := violation{invariant: of[b.Kind], text: b.String()}
		if b.Kind == limits.Concurrency {
			v.inFlight, v.allowed = len(b.Clusters)+1, b.Allowed
		}
		broken = append(broken, v)
	}
	return broken
}

// rollout is how the clusters of a ref stand with a version when one of them starts.
func (s *scene) rollout(ref *seenRef, cluster, version string, now time.Time, l leniency) *limits.Rollout {
	config, perGroup, mandatory, limit := parts(&ref.strategy)
	stages, first := ref.stages(perGroup, *mandatory)
	r := &limits.Rollout{PerGroup: perGroup, Failures: config.MaxFailures, Size: len(ref.groupOf)}
	if l.everywhere && (perGroup || len(*mandatory) > 0) {
		r.Stages = []limits.Stage{{Name: "of deselected clusters", Mandatory: true, Seats: s.seatsLeft(nil, version, config, now, l)}}
	}
	for i, stage := range stages {
		all := members(stage)
		of := limits.Stage{Name: nameOf(stage), Mandatory: i < first, Size: len(all), Seats: s.seatsLeft(stage, version, config, now, l)}
		for _, c := range all {
			at, surely, holds := s.stands(c, s.beside(version, c), *config, now, l)
			of.Seats = append(of.Seats, limits.Seat{
				Cluster: c, Done: at == succeeded, Over: at == failed || s.mayHaveFailed(c, s.beside(version, c)), Failed: surely, Holds: holds,
				Astray: c != cluster && !l.everywhere && (perGroup || i < first) && s.changedGroup(c, s.beside(version, c)),
			})
		}
		r.Stages = append(r.Stages, of)
	}
	if limit != nil {
		last := stages[len(stages)-1]
		r.Slots = ref.slots(*limit, len(members(last)), len(s.leavers(last, l)))
	}
	return r
}

// seatsLeft are those of the clusters that left from a stage.
func (s *scene) seatsLeft(stage []seenGroup, version string, config *clusterv1alpha1.RolloutConfig, now time.Time, l leniency) (all []limits.Seat) {
	for _, c := range s.leavers(stage, l) {
		at, surely, holds := s.stands(c, s.beside(version, c), *config, now, l)
		all = append(all, limits.Seat{Cluster: c, Away: true, Done: at == waiting || at == succeeded, Over: at == failed, Failed: surely, Holds: holds})
	}
	return all
}

// slots is MaxConcurrency of a pool of n clusters, beside which others left.
func (s *seenRef) slots(limit intstr.IntOrString, n, left int) int {
	slots := limits.Slots(limit, n, s.size())
	if s.meansAll(limit) {
		slots += left // they are members, too
	}
	return slots
}

func nameOf(stage []seenGroup) string {
	var names []string
	for _, g := range stage {
		names = append(names, strings.TrimSpace(fmt.Sprint(g.index, " ", g.name)))
	}
	return strings.Join(names, ", ")
}
