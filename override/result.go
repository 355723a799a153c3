package override

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Result says where a policy goes, what its action is there, and why (O4).
type Result struct {
	// Clusters are the bound clusters, by name.
	Clusters []Cluster

	// Ignored are the bindings that had no effect, or not all of theirs, by name (O5, O6).
	Ignored []Ignored
}

// Cluster is one bound cluster. Clusters that the same bindings select share the two lists; don't
// change them.
type Cluster struct {
	Name string

	// Action is what the policy's remediationAction is on this cluster: enforce by an override,
	// otherwise the policy's own, which may be empty.
	Action RemediationAction

	// BoundBy are the names of the bindings that bound it, in order; never empty.
	BoundBy []string

	// DecidedBy are the names of the bindings whose override turned the action to enforce, sub filters
	// among them, in order. Empty means that the action is the policy's own.
	DecidedBy []string
}

// Ignored is a binding of the policy that had no effect, or whose override had none.
type Ignored struct {
	Binding string
	Reason  IgnoredReason
	// Message is a sentence fit for an event or a condition.
	Message string
}

// IgnoredReason tells why a binding was ignored, fit for the reason of an event.
type IgnoredReason string

const (
	// PlacementRefUnsupported: the binding refers to neither a Placement nor a PlacementRule; it binds
	// nothing and overrides nothing (O6).
	PlacementRefUnsupported IgnoredReason = "PlacementRefUnsupported"
	// SubFilterIgnored: the binding is a sub filter, and the policy's rollout strategy is not All; it
	// has no effect (O5).
	SubFilterIgnored IgnoredReason = "SubFilterIgnored"
	// OverrideIgnored: the binding says enforce, and the policy's rollout strategy is not All; it binds
	// its clusters and does not change their action (O5).
	OverrideIgnored IgnoredReason = "OverrideIgnored"
)

// Cluster returns the bound cluster of that name, in logarithmic time.
func (r Result) Cluster(name string) (Cluster, bool) {
	i, found := slices.BinarySearchFunc(r.Clusters, name, func(c Cluster, name string) int { return cmp.Compare(c.Name, name) })
	if !found {
		return Cluster{}, false
	}
	return r.Clusters[i], true
}

// String lists the clusters by action and then the bindings that were ignored:
// "enforce: a b; inform: c d; ignored: x (SubFilterIgnored)". It is empty for a policy bound nowhere.
func (r Result) String() string {
	var parts []string
	for _, action := range []RemediationAction{Enforce, Inform, ""} {
		var names []string
		for _, c := range r.Clusters {
			if c.Action == action {
				names = append(names, c.Name)
			}
		}
		if len(names) > 0 {
			parts = append(parts, show(action)+": "+strings.Join(names, " "))
		}
	}
	if len(r.Ignored) > 0 {
		var names []string
		for _, ignored := range r.Ignored {
			names = append(names, fmt.Sprintf("%s (%s)", ignored.Binding, ignored.Reason))
		}
		parts = append(parts, "ignored: "+strings.Join(names, " "))
	}
	return strings.Join(parts, "; ")
}

// String says what the action is and why: "a: enforce by sub, bound by initial, sub".
func (c Cluster) String() string {
	by := "the policy"
	if len(c.DecidedBy) > 0 {
		by = strings.Join(c.DecidedBy, ", ")
	}
	return fmt.Sprintf("%s: %s by %s, bound by %s", c.Name, show(c.Action), by, strings.Join(c.BoundBy, ", "))
}

// show returns the action, "unset" where it is empty. It is no String method, lest formatting a Cluster's
// Action write "unset" into an object.
func show(action RemediationAction) string {
	return cmp.Or(string(action), "unset")
}
