// SPDX-License-Identifier: Apache-2.0

package passes_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/cohort-ocm/cohort/status"
	"github.com/cohort-ocm/cohort/status/policyv1"
)

// countUnheard notes the clusters that were cut off, count as done, and whose status the hub has not got since. O17 allows it where
// each template that reports on each content was evaluated before or was Pending, as far as the hub knows: they look like clusters with
// nothing new to say.
func (f *fleet) countUnheard() {
	for cluster, s := range f.hub {
		a := f.agents[cluster]
		mustAnswer := slices.ContainsFunc(f.parts, func(p part) bool {
			return kinds[p.kind].repeats && !s.waits(p) && a.told[p.name] != p.evaluated(f.root.Spec.RemediationAction)
		})
		if a.cut == f.version && !mustAnswer && s.status.RolloutStatus == string(status.Succeeded) {
			a.unheard = f.version
		}
	}
}

// countIgnored notes the clusters that count as done while a template of the version waits for what the version does not bring, and ignores
// that it is Pending, as far as the hub knows. Its author wants such a cluster to count as done.
func (f *fleet) countIgnored() {
	for cluster, s := range f.hub {
		isIgnored := slices.ContainsFunc(f.parts, func(p part) bool { return f.isIgnoring(p) && s.waits(p) })
		if s.status.RolloutStatus == string(status.Succeeded) && isIgnored {
			f.agents[cluster].ignored = f.version
		}
	}
}

// waits says whether a template waits for its dependency, as far as the hub knows.
func (r *replicated) waits(p part) bool {
	return slices.ContainsFunc(r.status.Details, func(d policyv1.PolicyDetails) bool {
		return d.TemplateMeta.Name == p.name && len(d.History) > 0 && strings.Contains(d.History[0].Message, unsatisfied)
	})
}

// isIgnoring says whether a template ignores that it is Pending while it waits for what the version does not bring.
func (f *fleet) isIgnoring(p part) bool {
	return p.waitsFor != "" && p.ignores && !slices.ContainsFunc(f.parts, func(other part) bool {
		return other.name == p.waitsFor && !other.bad && other.fitsUnder(f.root.Spec.RemediationAction)
	})
}

// isDone says whether a cluster is truly done with the version: each template that enforces was evaluated and complies, and no other is left.
// What says something of a template that only informs may be about the first pass, and the version does nothing there.
func (f *fleet) isDone(cluster string) bool {
	a, action := f.agents[cluster], f.root.Spec.RemediationAction
	gone := slices.ContainsFunc(a.has, func(p part) bool {
		return !slices.ContainsFunc(f.parts, func(other part) bool { return other.name == p.name })
	})
	return !gone && !slices.ContainsFunc(f.parts, func(p part) bool {
		complies := a.complies[p.name] == p.evaluated("") && !p.bad // with inform, so that there is nothing to enforce
		return p.enforces(action) && !complies && !(f.isIgnoring(p) && !a.meets(p)) && (a.objects[p.name] != p.evaluated(action) || !a.done[p.name] || p.bad)
	})
}

// exposed are the clusters with replicas that have the version with the root's action, and that are not truly done with it, without those
// that a person edited, and those that count as done unheard or with an ignored template. A version of which no template enforces anything exposes none.
func (f *fleet) exposed() (all []string) {
	if !slices.ContainsFunc(f.parts, func(p part) bool { return p.enforces(f.root.Spec.RemediationAction) }) {
		return nil
	}
	for _, cluster := range slices.Sorted(maps.Keys(f.hub)) {
		s := f.hub[cluster]
		stamp := status.StampOf(s).Version
		if stamp == fmt.Sprintf("v%d %s", f.version, f.root.Spec.RemediationAction) && !f.isDone(cluster) && !f.isExcused(cluster) {
			all = append(all, cluster)
		}
	}
	return all
}

func (f *fleet) isExcused(cluster string) bool {
	a := f.agents[cluster]
	return a.unheard == f.version || a.ignored == f.version || a.edited == f.version
}
