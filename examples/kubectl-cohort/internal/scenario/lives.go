// SPDX-License-Identifier: Apache-2.0

package scenario

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/util/validation/field"
	clusterv1 "open-cluster-management.io/api/cluster/v1"

	"github.com/cohort-ocm/cohort/examples/kubectl-cohort/internal/behavior"
	"github.com/cohort-ocm/cohort/examples/kubectl-cohort/internal/simulation"
	"github.com/cohort-ocm/cohort/status"
)

// behave takes the one Behavior that there may be.
func (s *Scenario) behave(all []source[behavior.Behavior]) error {
	for i, b := range all {
		if i > 0 {
			return b.Fault(fmt.Errorf("must not be given twice: there is a Behavior at %v, too", all[0].At))
		}
		s.Behavior = b.typed.Spec
		if err := aggregate(s.Behavior.Validate(field.NewPath("spec"))); err != nil {
			return b.Fault(err)
		}
	}
	return nil
}

// Clusters are the selected clusters, in the order of their names, as rules of behavior see them.
func (s *Scenario) Clusters() []behavior.Cluster {
	validating := make(map[string]bool)
	for i := range s.Observed {
		if r := &s.Observed[i]; r.Status == status.Validating {
			validating[r.Cluster] = true
		}
	}
	all := make([]behavior.Cluster, s.Groups.NumClusters())
	for i := range all {
		name := s.Groups.Cluster(i)
		var labels map[string]string
		if managed, there := s.managed[name]; there {
			labels = managed.Labels
		}
		all[i] = behavior.Cluster{Name: name, Labels: labels, Group: s.Groups.Key(s.Groups.GroupAt(i)).Name, Validating: validating[name]}
	}
	return all
}

// Known are the selected clusters, and then those that have something of the rollout and are not selected, both in the order of their
// names.
func (s *Scenario) Known() []behavior.Cluster {
	left := make(map[string]bool)
	for _, report := range slices.Concat(s.Observed, s.Unselected) {
		left[report.Cluster] = true
	}
	if s.Policy != nil {
		for i := range s.Policy.Replicas {
			left[s.Policy.Replicas[i].Cluster] = true
		}
	}
	all := s.Clusters()
	for _, name := range slices.Sorted(maps.Keys(left)) {
		if managed := s.managed[name]; s.selected(name) {
			continue
		} else if managed != nil {
			all = append(all, behavior.Cluster{Name: name, Labels: managed.Labels})
		} else {
			all = append(all, behavior.Cluster{Name: name})
		}
	}
	return all
}

// Lives says how each cluster behaves: by the given rules first, then by the Behavior's rules; otherwise it does
// what is usual. Seed replaces the Behavior's seed unless it is 0. Rules of the Behavior that match no
// cluster are noted.
//
// One that the hub does not accept, or that is out of reach, never answers, whatever the rules say.
//
// It gives, besides, for how many clusters the usual times count, and which of the given rules match no cluster.
func (s *Scenario) Lives(rules []behavior.Rule, seed uint64, usual behavior.Usual) (of func(cluster string) simulation.Life, uses behavior.Uses, idle []int) {
	spec := behavior.Spec{Seed: cmp.Or(seed, s.Behavior.Seed), Lease: s.Behavior.Lease, Clusters: slices.Concat(rules, s.Behavior.Clusters)}
	lives, unused, uses := spec.Lives(s.Clusters(), usual)
	for _, i := range unused {
		if i < len(rules) {
			idle = append(idle, i)
			continue
		}
		s.Notes = append(s.Notes, fmt.Sprintf("behavior: no cluster for %q", spec.Clusters[i]))
	}
	var unreached, outOfReach []string
	for cluster := range lives {
		switch _, out := s.outOfReach(cluster); {
		case s.Unreached(cluster):
			unreached = append(unreached, cluster)
		case out:
			outOfReach = append(outOfReach, cluster)
		}
		if s.silent(cluster) {
			lives[cluster] = nil
		}
	}
	s.noteOutOfReach(outOfReach)
	s.stay(lives, true)
	switch {
	case s.untrack(lives, usual):
		s.note("ManifestWork: no conditionRules in the template say when it is done, so no cluster is done: %s", untrackedHint)
	case s.untold:
		s.note("ManifestWork: no conditionRules in the template say when it is done; clusters are done all the same, as --takes is given: %s", untrackedHint)
	}
	s.noteClusters("ManagedCluster: selected and not accepted by the hub (spec.hubAcceptsClient), which has no namespace for it: it never answers", unreached)
	return func(cluster string) simulation.Life { return lives[cluster] }, uses, idle
}

// Again says as Lives does how each cluster behaves, in a later attempt at the version.
func (s *Scenario) Again(rules []behavior.Rule, seed uint64, usual behavior.Usual) func(cluster string, attempt int) simulation.Life {
	spec := behavior.Spec{Seed: cmp.Or(seed, s.Behavior.Seed), Lease: s.Behavior.Lease, Clusters: slices.Concat(rules, s.Behavior.Clusters)}
	attempts := make(map[int]map[string]simulation.Life)
	return func(cluster string, attempt int) simulation.Life {
		if attempts[attempt] == nil {
			spec.Attempt = attempt
			attempts[attempt], _, _ = spec.Lives(s.Clusters(), usual)
			s.stay(attempts[attempt], false)
			s.untrack(attempts[attempt], usual)
		}
		if s.silent(cluster) {
			return nil
		}
		return attempts[attempt][cluster]
	}
}

// untrackedHint says what a person can do.
const untrackedHint = "the rules have to set the condition Progressing, or the annotation " + annotationAvailable + ` has to be "true"`

// untrack lets no cluster be done where nothing says when it is. They may be cut off nevertheless. A cluster in flight goes on as it was
// observed. Where a user says how long clusters take, and no work shows the contrary, they are done.
func (s *Scenario) untrack(lives map[string]simulation.Life, usual behavior.Usual) bool {
	shown := slices.ContainsFunc(s.Observed, func(r status.Report) bool { return r.Reason == status.ReportUntracked })
	if !s.untold || usual.Given && !shown {
		return false
	}
	inFlight := make(map[string]bool)
	for i := range s.Observed {
		r := &s.Observed[i]
		inFlight[r.Cluster] = r.Status == status.Progressing || r.Status == status.ToApply && !r.Applied.IsZero()
	}
	for cluster, life := range lives {
		if s.silent(cluster) { // it applies nothing
			continue
		}
		life = slices.DeleteFunc(slices.Clone(life), func(step simulation.Step) bool { return !step.Drops })
		if !inFlight[cluster] {
			life = slices.Insert(life, 0, simulation.Step{Status: status.Progressing, Reason: status.ReportUntracked})
		}
		lives[cluster] = life
	}
	return true
}

// stay keeps clusters selected that are cut off, where the scheduler does not drop them.
func (s *Scenario) stay(lives map[string]simulation.Life, note bool) {
	if s.Policy == nil && (s.Spec == nil || repelled([]clusterv1.Taint{unreachable()}, s.Spec.Spec.Tolerations)) {
		return
	}
	var stay []string
	for cluster, life := range lives {
		if slices.ContainsFunc(life, func(step simulation.Step) bool { return step.Drops }) {
			stay = append(stay, cluster)
			lives[cluster] = nil
		}
	}
	switch {
	case !note:
	case s.Policy != nil:
		s.noteClusters("behavior: cut off; these never answer, and stay selected, since for a Policy it is not played how the scheduler drops them", stay)
	default:
		s.noteClusters("Placement: it tolerates the taint "+clusterv1.ManagedClusterTaintUnreachable+", so these stay selected when they are cut off", stay)
	}
}

// silent says whether a cluster answers nothing in a forecast: no workload reaches it, or it waits for a dependency.
func (s *Scenario) silent(cluster string) bool {
	_, out := s.outOfReach(cluster)
	return out || s.dependent[cluster] || s.Unreached(cluster)
}

// Unreached says whether no workload can reach the cluster, as the hub does not accept it.
func (s *Scenario) Unreached(cluster string) bool {
	managed, there := s.managed[cluster]
	return there && !accepted(managed)
}

// Draws says whether the Behavior leaves anything to luck.
func (s *Scenario) Draws() bool { return slices.ContainsFunc(s.Behavior.Clusters, behavior.Rule.Draws) }
