package trial

import (
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/util/intstr"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"

	"github.com/cohort-ocm/cohort/examples/trial/internal/limits"
)

// exposed lists the other clusters of a ref that have a version and are not done with it, wherever they went. Where
// stages go one after the other it leaves out those that joined, moved or came again, for which there is no bound.
func (s *scene) exposed(ref *seenRef, cluster, version string, staged bool, now time.Time, l leniency) (clusters []string) {
	for c, works := range s.works {
		if _, selected := ref.groupOf[c]; !selected && s.left[c].ref != ref.name || c == cluster || s.givenUp[c] || s.deleted[c] || staged && (s.moved[c] || s.came[c]) {
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

// bound is how many clusters may have a version and not be done with it at a time, for the groups as they were first.
func (s *scene) bound(ref *seenRef) (most int, staged bool) {
	config, perGroup, mandatory, limit := parts(&ref.strategy)
	stages, first := (&seenRef{groups: s.first[ref.name]}).stages(perGroup, *mandatory)
	tolerated := 0
	for i, stage := range stages {
		n := len(members(stage))
		budget := 0
		if i >= first {
			budget = limits.Count(config.MaxFailures, n)
		}
		if !perGroup && i == first {
			n = limits.Slots(*limit, n, ref.size())
			if config.ProgressDeadline != "None" {
				n += budget
			}
		}
		most = max(most, tolerated+n)
		tolerated += min(budget, n)
	}
	return most, perGroup || len(*mandatory) > 0
}

// meansAll says whether MaxConcurrency means all.
func (s *seenRef) meansAll(limit intstr.IntOrString) bool {
	return limit == intstr.FromInt32(0) && s.size() <= 0 || limit == intstr.FromString("100%")
}

// exposes says whether a start would expose too many.
func (s *scene) exposes(ref *seenRef, cluster, version string, now time.Time, l leniency) *violation {
	if !s.bounded || l.noLeft || ref.strategy.Type == clusterv1alpha1.All {
		return nil
	}
	most, staged := s.bound(ref)
	if staged && (s.moved[cluster] || s.came[cluster]) {
		return nil
	}
	others := s.exposed(ref, cluster, version, staged, now, l)
	if len(others) < most {
		return nil
	}
	return &violation{
		invariant: invExposed, inFlight: len(others) + 1, allowed: most,
		text: fmt.Sprintf("%v have %s and are not done, the strategy exposes %d at most", others, version, most),
	}
}
