// SPDX-License-Identifier: Apache-2.0

package scenario

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	"github.com/cohort-ocm/cohort/examples/internal/spelling"
)

// chosen is the placement that is rolled out to.
type chosen struct {
	Ref
	target    target
	rollout   applier
	placement *source[clusterv1beta1.Placement] // nil where only its decisions are there
	decisions []source[clusterv1beta1.PlacementDecision]
}

// chooseRollouts gives the rollouts that the user wants, in the order of kinds and names.
func (o *objects) chooseRollouts(wanted Wanted) ([]applier, error) {
	if wanted.Hub && len(o.rollouts) == 0 {
		return nil, errors.New("nothing rolls out on the hub: there is no ManifestWorkReplicaSet, no Policy and no ClusterManagementAddOn with placements" + inNamespace(wanted.Namespace))
	}
	if len(o.rollouts) == 0 {
		if len(o.manual) > 0 {
			return nil, o.manual[0]
		}
		return nil, errors.New("no rollout strategy in the files: must be a ManifestWorkReplicaSet, a ClusterManagementAddOn, " +
			"a Policy or a RolloutStrategy (apiVersion cluster.open-cluster-management.io/v1alpha1)" + o.useless())
	}
	slices.SortStableFunc(o.rollouts, func(a, b applier) int { return strings.Compare(a.String(), b.String()) })
	if wanted.Rollout == "" && wanted.Namespace == "" && len(o.rollouts) == 1 {
		return o.rollouts, nil
	}
	var chosen []applier
	var names []string
	for _, r := range o.rollouts {
		names = append(names, r.String())
		if !wanted.Has(r.Object) {
			continue
		}
		if _, err := r.targets(wanted.Placement); err != nil && wanted.Rollout == "" && wanted.Placement.Name != "" {
			continue // another one has the placement
		}
		chosen = append(chosen, r)
	}
	switch {
	case len(chosen) > 0:
		return chosen, nil
	case wanted.Rollout != "":
		var meant []string
		for _, r := range o.rollouts {
			meant = append(meant, r.GetName(), Ref{r.GetNamespace(), r.GetName()}.String())
		}
		return nil, fmt.Errorf("--rollout %s: must be one of %s%s", wanted.Rollout, listed(names), spelling.Hint(wanted.Rollout, meant))
	case wanted.Namespace != "":
		return nil, fmt.Errorf("--namespace %s: none of %s is in it", wanted.Namespace, listed(names))
	default:
		return nil, fmt.Errorf("--placement %v: must be a placement that one of %s names", wanted.Placement, listed(names))
	}
}

func inNamespace(namespace string) string {
	if namespace == "" {
		return ""
	}
	return " in namespace " + namespace
}

// listed are the first of many names.
func listed(names []string) string {
	const most = 10
	if more := len(names) - most; more > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), more)
	}
	return strings.Join(names, ", ")
}

// useless lists the kinds of the files that have no part in a rollout.
func (o *objects) useless() string {
	var kinds []string
	if n := len(o.replicated); n > 0 {
		kinds = append(kinds, fmt.Sprintf("replicated Policy (%d, such as %s by its label %s: the policy that it was made of is not in the files)", n, o.replicated[0].GetName(), rootLabel))
	}
	for _, kind := range slices.Sorted(maps.Keys(o.ignored)) {
		kinds = append(kinds, fmt.Sprintf("%s (%d)", kind, o.ignored[kind]))
	}
	if len(kinds) == 0 {
		return ""
	}
	return "; of no use here: " + strings.Join(kinds, ", ")
}

// names are what --rollout may call the object, in small letters.
func (r applier) names() []string {
	kind, name := r.GetKind(), r.GetName()
	full := Ref{r.GetNamespace(), name}.String()
	all := []string{kind, name, full, kind + "/" + name, kind + "/" + full, kind + " " + full}
	for i := range all {
		all[i] = strings.ToLower(all[i])
	}
	return all
}

// choose finds the placements: those that the rollout names, or the one that the user does, or else the only one there.
func (o *objects) choose(r applier, wanted Ref) (all []chosen, err error) {
	targets, err := r.targets(wanted)
	if err != nil {
		return nil, err
	}
	for _, t := range targets {
		c, err := o.chooseTarget(chosen{rollout: r, target: t}, wanted)
		if err != nil {
			return nil, err
		}
		all = append(all, c)
	}
	return all, nil
}

func (o *objects) chooseTarget(c chosen, wanted Ref) (chosen, error) {
	if wanted.Name == "" || wanted.Namespace == "" && c.target.Placement.Name != "" {
		wanted = cmp.Or(c.target.Placement, wanted)
	}
	there := o.refs()
	if wanted.Name != "" {
		there = slices.DeleteFunc(there, func(r Ref) bool { return !r.matches(wanted) })
	}
	switch {
	case len(there) == 1:
		c.Ref = there[0]
	case len(there) > 1:
		return c, fmt.Errorf("%d placements %s (%s), choose one with --placement", len(there), o.where(), join(there))
	case wanted.Name != "":
		return c, c.rollout.Fault(fmt.Errorf("placement %v: %s neither a Placement of this name nor PlacementDecisions of it", wanted, o.source()))
	default:
		return c, errors.New("no Placement and no PlacementDecisions " + o.where())
	}
	placed := o.placed(c.Ref)
	c.placement, c.decisions = placed.placement, placed.decisions
	return c, nil
}

// placed is the placement of this name with its objects.
func (o *objects) placed(r Ref) chosen {
	c := chosen{Ref: r}
	for i := range o.placements {
		if ref(o.placements[i]).matches(r) {
			c.placement = &o.placements[i]
		}
	}
	for _, d := range o.decisions {
		if ofPlacement(d).matches(r) {
			c.decisions = append(c.decisions, d)
		}
	}
	return c
}

// targets are the rollout's placements that are wanted; all if wanted is zero.
func (r applier) targets(wanted Ref) ([]target, error) {
	if r.policy != nil && wanted.Name != "" {
		return nil, r.Fault(fmt.Errorf("--placement %v: must not be given for a Policy, which goes to the placements of all its PlacementBindings", wanted))
	}
	var all []Ref
	var matching []target
	for _, t := range r.Targets {
		all = append(all, t.Placement)
		if wanted.Name == "" || t.Placement.Name == "" || t.Placement.matches(wanted) {
			matching = append(matching, t)
		}
	}
	switch {
	case len(all) == 0:
		return nil, r.Fault(fmt.Errorf("%v: must name a placement to roll out to", r.Path))
	case len(matching) == 0:
		return nil, r.Fault(fmt.Errorf("--placement %v: must be one of %s, which %v names", wanted, join(all), r.Path))
	}
	return matching, nil
}

// refs names all placements, once each.
func (o *objects) refs() (all []Ref) {
	for _, p := range o.placements {
		all = append(all, ref(p))
	}
	for _, d := range o.decisions {
		if of := ofPlacement(d); of.Name != "" && !slices.ContainsFunc(all, of.matches) {
			all = append(all, of)
		}
	}
	return all
}

func ref(p source[clusterv1beta1.Placement]) Ref { return Ref{p.GetNamespace(), p.GetName()} }

// ofPlacement names the placement that a PlacementDecision is of.
func ofPlacement(d source[clusterv1beta1.PlacementDecision]) Ref {
	return Ref{d.GetNamespace(), d.GetLabels()[clusterv1beta1.PlacementLabel]}
}

func join(refs []Ref) string {
	var names []string
	for _, r := range refs {
		names = append(names, r.String())
	}
	return strings.Join(names, ", ")
}
