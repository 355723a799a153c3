// SPDX-License-Identifier: Apache-2.0

package trial

import (
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/util/intstr"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"

	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/rollout/exposure"
)

// exposes is the most clusters that may have a version and not be done with it at a time, as the library's package exposure promises. What the
// library promises is held against what happens; no verdict uses anything else of it. Size is the clustersPerDecisionGroup.
func exposes(strategy clusterv1alpha1.RolloutStrategy, groups []seenGroup, size int) int {
	if p := strategy.Progressive; p != nil && p.MaxConcurrency == intstr.FromInt32(0) && size > 0 {
		limited := *p
		limited.MaxConcurrency = intstr.FromInt(size)
		strategy.Progressive = &limited
	}
	names := map[grouping.Key][]string{}
	for _, g := range groups {
		names[grouping.Key{Index: int32(g.index), Name: g.name}] = g.clusters
	}
	all, err := grouping.FromNames(names)
	if err != nil {
		panic(fmt.Sprintf("trial: the groups %v: %v", names, err))
	}
	e, err := exposure.Of(strategy, all, exposure.Span{}, time.Time{}, rollout.Options{})
	if err != nil {
		panic(fmt.Sprintf("trial: the strategy %+v: %v", strategy, err))
	}
	return e.Exposed
}

// exposed lists the other clusters of a ref that have a version and are not done with it, wherever they went.
func (s *scene) exposed(ref *seenRef, cluster, version string, now time.Time, l leniency) (clusters []string) {
	for c, works := range s.works {
		if _, selected := ref.groupOf[c]; !selected && s.left[c].ref != ref.name || c == cluster || s.ignoredClusters[c] || s.deleted[c] {
			continue
		}
		if slices.ContainsFunc(works, func(w seenWork) bool {
			if w.version != version {
				return false
			}
			at, _, _ := stands(w, ref.config(), now, l)
			return at != succeeded
		}) {
			clusters = append(clusters, c)
		}
	}
	slices.Sort(clusters)
	return clusters
}

// exposes says whether a start would expose too many.
func (s *scene) exposes(ref *seenRef, cluster, version string, now time.Time, l leniency) *violation {
	if !s.bounded || l.noLeft || ref.strategy.Type == clusterv1alpha1.All {
		return nil
	}
	most := max(exposes(ref.strategy, s.first[ref.name], ref.size()), exposes(ref.strategy, ref.groups, ref.size()))
	others := s.exposed(ref, cluster, version, now, l)
	if len(others) < most {
		return nil
	}
	return &violation{
		invariant: invExposed, inFlight: len(others) + 1, allowed: most,
		text: fmt.Sprintf("%v have %s and are not done, the strategy exposes %d at most", others, version, most),
	}
}

func (s *seenRef) meansAll(limit intstr.IntOrString) bool {
	return limit == intstr.FromInt32(0) && s.size() <= 0 || limit == intstr.FromString("100%")
}

// checkExposed judges a start by the clusters that have its version and are not done with it, in truth and as the process knew, wherever they
// are. Those that a user edited manually, deleted or ignored don't count. The groups are the greatest that there were.
func (j *checker) checkExposed(e event, known, truth *snapshot) []violation {
	cluster := e.object.GetNamespace()
	if known.strategy.Type == clusterv1alpha1.All || known.ignoredClusters[cluster] || j.ofOthers()[known.version] {
		return nil
	}
	most := max(truth.exposes(), known.exposes())
	for _, d := range j.decisions() {
		if d.at.Before(e.at) {
			most = max(most, d.exposes)
		}
	}
	others := truth.exposed(known.version, e.at)
	others = slices.DeleteFunc(others, func(c string) bool {
		return c == cluster || j.byHand(c, e.rv) || !slices.Contains(known.exposed(known.version, e.at), c)
	})
	if len(others) < most {
		return nil
	}
	return []violation{{
		invariant: invExposed, rv: e.rv, inFlight: len(others) + 1, allowed: most,
		text: fmt.Sprintf("%s gets %s while %v have it and are not done, the strategy exposes %d at most", cluster, known.version, others, most),
	}}
}

// exposes is what the strategy exposes of the groups of a snapshot, nothing where these are partially observed.
func (s *snapshot) exposes() int {
	if s.ref.incomplete != "" {
		return 0
	}
	return exposes(s.strategy, s.ref.groups, s.ref.size())
}

// exposed lists the clusters that have a version and are not done with it, or had one of which something lasts.
func (s *snapshot) exposed(version string, now time.Time) (clusters []string) {
	for _, all := range []map[string]observed{s.observed, s.ghosts} {
		for c, h := range all {
			if h.version == version && h.started && !s.ignoredClusters[c] && s.j.deleted[c].IsZero() && seatOf(h, s.ref.config(), now, leniency{}).at != succeeded {
				clusters = append(clusters, c)
			}
		}
	}
	slices.Sort(clusters)
	return slices.Compact(clusters)
}

// byHand says whether a user changed the content of a cluster's object by a resourceVersion: a cluster that was done has to answer again then.
func (j *checker) byHand(cluster string, rv int64) bool {
	for i, states := range j.states {
		if i.kind != j.delivery.object {
			continue
		}
		for n, e := range states {
			if n > 0 && e.rv <= rv && e.object.GetNamespace() == cluster && !j.delivery.isOwner(e.object) && !e.gone && j.written[e.rv] == nil &&
				e.object.GetGeneration() != states[n-1].object.GetGeneration() && !j.isSwitch(e.at) {
				return true
			}
		}
	}
	return false
}
