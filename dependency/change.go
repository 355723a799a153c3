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
	// versions are the targets that were added or removed, and in which version: policies, and what templates create.
	versions []targetVersion
	// broken are the cycles that removed templates were on.
	broken []*component
	// wasVague says that there were unnamed dependencies before.
	wasVague bool
}

// remove takes out the policies with these sorted names, as far as they exist.
func (c *change) remove(names []string) {
	for _, name := range slices.Backward(names) {
		if p, found := c.policies[name]; found {
			c.takeOut(p)
		}
	}
}

func (c *change) takeOut(p *policy) {
	delete(c.policies, p.name)
	p.target.policy = nil
	c.unlinked = append(c.unlinked, p.target)
	c.versions = append(c.versions, targetVersion{p.target, policyVersion})
	c.breakUp(p.target)
	for _, t := range slices.Backward(p.templates) {
		if t.creates != nil {
			t.creates.creators = without(t.creates.creators, t)
			c.unlinked = append(c.unlinked, t.creates)
			c.versions = append(c.versions, targetVersion{t.creates, t.object.APIVersion})
		}
		for _, n := range t.named {
			n.dependents = without(n.dependents, t)
			c.released = append(c.released, n.object)
		}
		if t.unnamed {
			c.unnamed--
		}
		if t.component != nil {
			c.broken = append(c.broken, t.component)
		}
	}
}

// breakUp forgets the cycles of an object that becomes a given policy or is none any more: a cycle shows policies.
func (c *change) breakUp(t *target) {
	if t.component != nil {
		c.broken = append(c.broken, t.component)
	}
}

// add puts in a policy; none of its name may be there.
func (c *change) add(given *policyv1.Policy) {
	p := &policy{name: given.Name, disabled: given.Spec.Disabled, target: c.target(c.policyObject(given.Name))}
	c.policies[p.name] = p
	p.target.policy = p
	c.versions = append(c.versions, targetVersion{p.target, policyVersion})
	c.breakUp(p.target)
	compiled, _ := compiler{cluster: c.cluster, kinds: c.kinds}.compile(&given.Spec)
	p.templates = make([]*template, len(compiled))
	templates := make([]template, len(compiled)) // One allocation: they come and go together.
	for i, from := range compiled {
		t := &templates[i]
		*t = template{policy: p, index: i, object: from.object, ignorePending: from.ignorePending}
		t.node.template = t
		t.err = fielderrs.Join(from.errs)
		p.templates[i] = t
		if t.object != (Object{}) {
			t.creates = c.target(t.object)
			t.creates.creators = with(t.creates.creators, t)
			c.versions = append(c.versions, targetVersion{t.creates, t.object.APIVersion})
		}
		if !p.disabled {
			c.name(t, from.dependencies)
			if t.unnamed = from.unnamed; t.unnamed {
				c.unnamed++
			}
		}
	}
	c.added = append(c.added, p.templates...)
}

func (c *change) name(t *template, dependencies []dependency) {
	t.named = make([]requirement, len(dependencies))
	for i, d := range dependencies {
		o, isNew := c.object(d.object)
		if isNew {
			c.watch = append(c.watch, o.Object)
		}
		o.dependents = with(o.dependents, t)
		t.named[i] = requirement{object: o, want: d.want}
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
	for _, t := range c.unlinked {
		c.forget(t)
	}
	changed := slices.Concat(c.findCycles(), c.findVague(), c.added)
	seen := make(map[targetVersion]bool, len(c.versions))
	for _, v := range c.versions {
		if seen[v] {
			continue
		}
		seen[v] = true
		changed = append(changed, v.target.creators...)
		changed = append(changed, c.namedInOtherVersion(v)...)
	}
	watches.Templates = make([]TemplateRef, len(changed))
	for i, t := range changed {
		watches.Templates[i] = t.ref()
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
		for _, n := range broken.members {
			if n.component != broken {
				continue // Several of its templates were removed: done before.
			}
			n.component = nil
			roots = append(roots, n)
			if n.template != nil && c.has(n.template) {
				changed = append(changed, n.template)
			}
		}
	}
	for _, t := range c.added {
		if len(t.policy.target.objects) > 0 || t.creates != nil && len(t.creates.objects) > 0 {
			roots = append(roots, &t.node)
		}
	}
	c.findComponents(roots, func(members []*node) {
		if !cyclic(members) || !slices.ContainsFunc(members, func(n *node) bool { return n.component == nil }) {
			return
		}
		component := newComponent(members)
		for _, n := range component.members {
			if n.template != nil {
				changed = append(changed, n.template)
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
	for _, p := range c.policies {
		for _, t := range p.templates {
			roots = append(roots, &t.node)
		}
	}
	vague := make(map[*node]bool)
	c.findComponents(roots, func(members []*node) {
		if slices.ContainsFunc(members, func(n *node) bool {
			to = n.next(to[:0])
			return n.template != nil && n.template.unnamed ||
				slices.ContainsFunc(to, func(next *node) bool { return vague[next] })
		}) {
			for _, n := range members {
				vague[n] = true
			}
		}
	})
	for _, root := range roots {
		t := root.template
		if slices.ContainsFunc(t.named, func(r requirement) bool { return r.target.vague != vague[&r.target.node] }) {
			changed = append(changed, t)
		}
	}
	for _, t := range c.targets {
		t.vague = vague[&t.node]
	}
	return changed
}

// has says whether t belongs to one of the policies as they are now.
func (c *change) has(t *template) bool {
	return c.policies[t.policy.name] == t.policy
}
