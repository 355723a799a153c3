// SPDX-License-Identifier: Apache-2.0

package dependency

import (
	"slices"

	"github.com/cohort-ocm/cohort/internal/fielderrs"
	"github.com/cohort-ocm/cohort/status/policyv1"
)

// change takes policies out of an evaluator and puts others in, then updates what depends on them. All removals come
// before all additions.
type change struct {
	*Evaluator
	added []*template
	// watch are the objects that are new. released are the objects that lost a dependent.
	watch    []Object
	released []*object
	// unlinked are the targets that may have lost their last connection.
	unlinked []*target
	// given are the objects that were added or removed: policies, and what templates create.
	given []Object
	// broken are the cycles that removed templates were on.
	broken []*component
	// wasVague says that there were unnamed dependencies before.
	wasVague bool
}

// remove takes out the policies with these sorted names, as far as they exist.
func (c *change) remove(names []string) {
	for _, name := range slices.Backward(names) {
		if policy, found := c.policies[name]; found {
			c.takeOut(policy)
		}
	}
}

func (c *change) takeOut(policy *policy) {
	delete(c.policies, policy.name)
	policy.target.policy = nil
	c.unlinked = append(c.unlinked, policy.target)
	c.given = append(c.given, c.policyObject(policy.name))
	c.breakUp(policy.target)
	for _, template := range slices.Backward(policy.templates) {
		if template.creates != nil {
			template.creates.creators = without(template.creates.creators, template)
			c.unlinked = append(c.unlinked, template.creates)
			c.given = append(c.given, template.object)
		}
		for _, requirement := range template.named {
			requirement.dependents = without(requirement.dependents, template)
			c.released = append(c.released, requirement.object)
		}
		if template.unnamed {
			c.unnamed--
		}
		if template.component != nil {
			c.broken = append(c.broken, template.component)
		}
	}
}

// breakUp forgets the cycles of an object that becomes a given policy or is none any more: a cycle shows policies.
func (c *change) breakUp(target *target) {
	if target.component != nil {
		c.broken = append(c.broken, target.component)
	}
}

// add puts in a policy; none of its name may be there.
func (c *change) add(given *policyv1.Policy) {
	policy := &policy{name: given.Name, disabled: given.Spec.Disabled, target: c.target(c.policyObject(given.Name))}
	c.policies[policy.name] = policy
	policy.target.policy = policy
	c.given = append(c.given, c.policyObject(policy.name))
	c.breakUp(policy.target)
	compiled, _ := compiler{cluster: c.cluster, kinds: c.kinds}.compile(&given.Spec)
	policy.templates = make([]*template, len(compiled))
	templates := make([]template, len(compiled)) // One allocation: they come and go together.
	for i, from := range compiled {
		t := &templates[i]
		*t = template{policy: policy, index: i, object: from.object, ignorePending: from.ignorePending}
		t.node.template = t
		t.err = fielderrs.Join(from.errs)
		policy.templates[i] = t
		if t.object != (Object{}) {
			t.creates = c.target(t.object)
			t.creates.creators = with(t.creates.creators, t)
			c.given = append(c.given, t.object)
		}
		if !policy.disabled {
			c.name(t, from.dependencies)
			if t.unnamed = from.unnamed; t.unnamed {
				c.unnamed++
			}
		}
	}
	c.added = append(c.added, policy.templates...)
}

func (c *change) name(template *template, dependencies []dependency) {
	template.named = make([]requirement, len(dependencies))
	for i, dependency := range dependencies {
		object, isNew := c.object(dependency.object)
		if isNew {
			c.watch = append(c.watch, object.Object)
		}
		object.dependents = with(object.dependents, template)
		template.named[i] = requirement{object: object, want: dependency.want}
	}
}

// finish forgets what is no longer named, finds the cycles again, and gives what the caller has to do.
func (c *change) finish() Watches {
	var watches Watches
	for _, o := range c.released {
		if _, found := c.objects[o.Object]; found && len(o.dependents) == 0 {
			delete(c.objects, o.Object)
			o.target.objects = slices.DeleteFunc(o.target.objects, func(other *object) bool { return other == o })
			c.unlinked = append(c.unlinked, o.target)
			watches.Remove = append(watches.Remove, o.Object)
		}
	}
	for _, target := range c.unlinked {
		c.forget(target)
	}
	changed := andLater(slices.Concat(c.findCycles(), c.findVague(), c.added))
	seen := make(map[Object]bool, len(c.given))
	for _, object := range c.given {
		if seen[object] {
			continue
		}
		seen[object] = true
		if target, found := c.targets[object.unversioned()]; found {
			changed = append(changed, target.creators...)
		}
		changed = append(changed, c.told(object)...)
	}
	watches.Templates = make([]TemplateRef, len(changed))
	for i, template := range changed {
		watches.Templates[i] = template.ref()
	}
	slices.SortFunc(watches.Templates, TemplateRef.compare)
	watches.Templates = slices.Compact(watches.Templates)
	watches.Add = c.watch
	slices.SortFunc(watches.Add, Object.compare)
	slices.SortFunc(watches.Remove, Object.compare)
	return watches
}

// findCycles updates the components of all nodes, and gives the templates with a changed component.
//
// Every edge that appeared or disappeared begins or ends at a template that was added or removed. A cycle that appeared or
// disappeared therefore leads through such a template. It is enough to search from the templates that were added, and from
// those that were in a component with a removed template.
func (c *change) findCycles() []*template {
	var changed []*template
	var roots []*node
	for _, broken := range c.broken {
		for _, node := range broken.members {
			if node.component != broken {
				continue // Several of its templates were removed: done before.
			}
			node.component = nil
			roots = append(roots, node)
			if node.template != nil && c.has(node.template) {
				changed = append(changed, node.template)
			}
		}
	}
	for _, template := range c.added {
		if len(template.policy.target.objects) > 0 || template.creates != nil && len(template.creates.objects) > 0 {
			roots = append(roots, &template.node)
		}
	}
	c.findComponents(roots, func(members []*node) {
		if !cyclic(members) || !slices.ContainsFunc(members, func(node *node) bool { return node.component == nil }) {
			return
		}
		component := newComponent(members)
		for _, node := range component.members {
			if node.template != nil {
				changed = append(changed, node.template)
			}
		}
	})
	return changed
}

// findVague updates which targets lead to a template with an unnamed dependency, and gives the templates that name a
// target for which this changed. It looks at all templates, but only where there are unnamed dependencies, or were.
func (c *change) findVague() (changed []*template) {
	if c.unnamed == 0 && !c.wasVague {
		return nil
	}
	var roots, to []*node
	for _, policy := range c.policies {
		for _, template := range policy.templates {
			roots = append(roots, &template.node)
		}
	}
	vague := make(map[*node]bool)
	c.findComponents(roots, func(members []*node) {
		if slices.ContainsFunc(members, func(n *node) bool {
			to = n.next(to[:0])
			return n.template != nil && n.template.unnamed ||
				slices.ContainsFunc(to, func(next *node) bool { return vague[next] })
		}) {
			for _, node := range members {
				vague[node] = true
			}
		}
	})
	for _, root := range roots {
		template := root.template
		if slices.ContainsFunc(template.named, func(requirement requirement) bool { return requirement.target.vague != vague[&requirement.target.node] }) {
			changed = append(changed, template)
		}
	}
	for _, target := range c.targets {
		target.vague = vague[&target.node]
	}
	return changed
}

// has says whether t belongs to one of the policies as they are now.
func (c *change) has(template *template) bool {
	return c.policies[template.policy.name] == template.policy
}
