package scenario

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
)

// chosen is the placement that is rolled out to.
type chosen struct {
	Ref
	target    target
	rollout   applier
	placement *source[clusterv1beta1.Placement] // nil where only its decisions are there
	decisions []source[clusterv1beta1.PlacementDecision]
}

// choose finds the placement: the one that the rollout or the user names, or else the only one there.
func (o *objects) choose(wanted Ref) (chosen, error) {
	if len(o.rollouts) == 0 {
		return chosen{}, errors.New("no rollout strategy in the files: must be a ManifestWorkReplicaSet, a ClusterManagementAddOn, " +
			"a Policy or a RolloutStrategy (apiVersion cluster.open-cluster-management.io/v1alpha1)")
	}
	c := chosen{rollout: o.rollouts[0]}
	target, err := c.rollout.target(wanted)
	if err != nil {
		return c, err
	}
	if c.target = target; wanted.Name == "" || wanted.Namespace == "" && target.Placement.Name != "" {
		wanted = target.Placement
	}
	there := o.refs()
	if wanted.Name != "" {
		there = slices.DeleteFunc(there, func(r Ref) bool { return !r.matches(wanted) })
	}
	switch {
	case len(there) == 1:
		c.Ref = there[0]
	case len(there) > 1:
		return c, fmt.Errorf("%d placements in the files (%s), choose one with -placement", len(there), join(there))
	case wanted.Name != "":
		return c, c.rollout.Fault(fmt.Errorf("placement %v: the files hold neither a Placement of this name nor PlacementDecisions of it", wanted))
	default:
		return c, errors.New("no Placement and no PlacementDecisions in the files")
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

// target is the rollout's placement that is wanted; any if wanted is zero.
func (r applier) target(wanted Ref) (target, error) {
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
		return target{}, r.Fault(fmt.Errorf("%v: must name a placement to roll out to", r.Path))
	case len(matching) == 0:
		return target{}, r.Fault(fmt.Errorf("-placement %v: must be one of %s, which %v names", wanted, join(all), r.Path))
	case len(matching) > 1:
		return target{}, r.Fault(fmt.Errorf("%v: %d placements (%s), choose one with -placement", r.Path, len(all), join(all)))
	}
	return matching[0], nil
}

// refs names all placements in the files, once each.
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
