// SPDX-License-Identifier: Apache-2.0

package override

import (
	"cmp"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"

	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"

	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/status/policyv1"
)

// Resolution says which clusters a policy is bound to, its action on each, in which groups it is rolled out, and why. It has
// the policy's action and strategy and the groups of its placements, so the caller keeps nothing else.
//
// It comes from Resolve and never changes. Keep it until the policy, a binding, a set or a placement changes. It is safe
// for concurrent use. The zero value and nil are those of a policy that is bound nowhere, and are incomplete.
type Resolution struct {
	resolved, disabled bool
	action             policyv1.RemediationAction
	strategy           clusterv1alpha1.RolloutStrategy
	failsAtOnce        bool
	// bindings are all bindings of the policy, parts are those that take part in the resolution; both are sorted by
	// name.
	bindings []Binding
	parts    []part
	clusters []Cluster
	ignored  []Ignored

	// incomplete says which groups are incomplete, and undecided that an override is among them.
	incomplete string
	undecided  bool

	once   sync.Once
	groups *grouping.Groups
}

// Cluster is one bound cluster. Clusters that the same bindings select share the lists; don't change them.
type Cluster struct {
	Name string

	// Action is the policy's remediationAction on this cluster: enforce by an override, otherwise the policy's own, which
	// may be empty.
	Action policyv1.RemediationAction

	// BoundBy are the names of the bindings that bind it, in order; never empty.
	BoundBy []string

	// DecidedBy are the names of the bindings with an override that turned the action to enforce, sub filters among them,
	// in order. Empty means that the action is the policy's own.
	DecidedBy []string

	// IgnoredBy are the names of the bindings that select it and have an override or a sub filter that is ignored, because
	// the policy's rollout strategy is not All, in order.
	IgnoredBy []string
}

// Action gives the policy's own action, in the spelling of the constants. Empty means that its templates decide.
func (r *Resolution) Action() policyv1.RemediationAction {
	if r == nil {
		return ""
	}
	return r.action
}

// Strategy gives the policy's rollout strategy, with the type All if it has none. Don't change what it points to.
func (r *Resolution) Strategy() clusterv1alpha1.RolloutStrategy {
	if r == nil || !r.resolved {
		return clusterv1alpha1.RolloutStrategy{Type: clusterv1alpha1.All}
	}
	return r.strategy
}

// FailsAtOnce says whether an enforced cluster that does not comply fails at once: the policy's annotation
// cohort.open-cluster-management.io/fail-at-once is "true". Otherwise the cluster fails at its progress deadline.
func (r *Resolution) FailsAtOnce() bool { return r != nil && r.failsAtOnce }

// Disabled says whether the policy is disabled, and therefore bound nowhere.
func (r *Resolution) Disabled() bool { return r != nil && r.disabled }

// Clusters yields the bound clusters, sorted by name.
func (r *Resolution) Clusters() iter.Seq[Cluster] {
	return func(yield func(Cluster) bool) {
		if r == nil {
			return
		}
		for i := range r.clusters {
			if !yield(r.clusters[i]) {
				return
			}
		}
	}
}

// Find gives the bound cluster of that name, in logarithmic time.
func (r *Resolution) Find(name string) (Cluster, bool) {
	if r == nil {
		return Cluster{}, false
	}
	i, found := slices.BinarySearchFunc(r.clusters, name, func(cluster Cluster, name string) int { return cmp.Compare(cluster.Name, name) })
	if !found {
		return Cluster{}, false
	}
	return r.clusters[i], true
}

// Ignored gives the bindings without effect, or without some of their effects, sorted by name.
func (r *Resolution) Ignored() []Ignored {
	if r == nil {
		return nil
	}
	return slices.Clone(r.ignored)
}

// String lists the clusters by action, the ignored bindings, and what is incomplete: "clusters with enforce: a b; clusters with
// inform: c d; ignored bindings: x (SubFilterIgnored)". It is empty for a policy that is bound nowhere.
func (r *Resolution) String() string {
	var parts []string
	for _, action := range []policyv1.RemediationAction{policyv1.Enforce, policyv1.Inform, ""} {
		var names []string
		for cluster := range r.Clusters() {
			if cluster.Action == action {
				names = append(names, cluster.Name)
			}
		}
		if len(names) > 0 {
			parts = append(parts, "clusters with "+show(action)+": "+strings.Join(names, " "))
		}
	}
	if ignored := r.Ignored(); len(ignored) > 0 {
		var names []string
		for _, ignored := range ignored {
			names = append(names, fmt.Sprintf("%s (%s)", ignored.Binding, ignored.Type))
		}
		parts = append(parts, "ignored bindings: "+strings.Join(names, " "))
	}
	if incomplete := r.Incomplete(); incomplete != "" {
		parts = append(parts, "the PlacementDecisions are only partially observed ("+incomplete+")")
	}
	return strings.Join(parts, "; ")
}

// String says what the action is and why: "a: enforce by sub, bound by initial, sub".
func (c Cluster) String() string {
	by := "the policy"
	if len(c.DecidedBy) > 0 {
		by = strings.Join(c.DecidedBy, ", ")
	}
	text := fmt.Sprintf("%s: %s by %s, bound by %s", c.Name, show(c.Action), by, strings.Join(c.BoundBy, ", "))
	if len(c.IgnoredBy) > 0 {
		text += ", ignoring " + strings.Join(c.IgnoredBy, ", ")
	}
	return text
}

// show gives the action, or "unset" if it is empty. It is no String method, so that formatting a Cluster's Action never
// writes "unset" into an object.
func show(action policyv1.RemediationAction) string {
	return cmp.Or(string(action), "unset")
}
