// SPDX-License-Identifier: Apache-2.0

package progressive_test

import "slices"

// unknownGroup is where a cluster counts if no complete groups tell it.
const unknownGroup = "?"

// moved is a cluster that joins, or is in another group from now on. One that is in flight or failed counts in its group before, unless
// the new one comes first (R52). While groups are incomplete, nothing moves (O43).
func (o *textOracle) moved(name string) {
	if o.hidden != "" {
		return
	}
	c := o.clusters[name]
	order := o.order()
	now, before := slices.Index(order, c.group), slices.Index(order, c.counts)
	if c.counts == unknownGroup || o.end == "Succeeded" || before < 0 || now < before {
		c.counts = c.group
	}
	o.clusters[name] = c
}

// order has all groups in the order of their turns. Those that are not approved come last (O45).
func (o *textOracle) order() []string {
	order := slices.Concat(o.stages()...)
	for _, group := range o.groups {
		if !slices.Contains(order, group) {
			order = append(order, group)
		}
	}
	return order
}

// reordered is another order of the groups: a cluster may be selected in a group that now comes before the one in which it counts.
func (o *textOracle) reordered() {
	for _, name := range o.names() {
		if c := o.clusters[name]; c.selected && c.counts != c.group {
			o.moved(name)
		}
	}
}

// incomplete is that a cluster is missing in the groups. The record keeps the groups of clusters that counted elsewhere until then,
// and of those that are selected again and have not started again (R48, R49).
func (o *textOracle) incomplete() {
	for name, c := range o.clusters {
		c.noted = (c.inFlight() || c.failed()) && (!c.selected || c.counts != c.group || c.refused || c.lost)
		o.clusters[name] = c
	}
}

// complete is that the groups have all clusters again. Those that are elsewhere now move.
func (o *textOracle) complete() {
	for name, c := range o.clusters {
		c.noted = false
		o.clusters[name] = c
	}
	o.reordered()
}

// forget is a restart of the controller: it knows no groups but those of the record, and those that are complete (R47).
func (o *textOracle) forget() {
	for name, c := range o.clusters {
		if o.hidden != "" && !c.noted {
			c.counts = unknownGroup
			o.clusters[name] = c
		}
	}
}
