// SPDX-License-Identifier: Apache-2.0

package search

import (
	"fmt"
	"slices"
	"strings"
)

// step is one event of a history, in the state in which it happens, with the names that the clusters have at their places.
type step struct {
	state state
	event event
	names [most]string
	ticks int // since the beginning
}

// history gives the steps to a state.
func (x *search) history(to uint32) (steps []step) {
	var path []event
	for at := to; at != 0; at = x.from[at] {
		path = append(path, x.by[at])
	}
	slices.Reverse(path)
	p, named, ticks := x.states[0], x.firstNames(), 0
	for _, e := range path {
		s := p.unpack()
		steps = append(steps, step{s, e, named, ticks})
		if e.kind == passes {
			ticks++
		}
		x.move(&s, e)
		p = s.pack()
		named = x.rename(&p, named)
	}
	return append(steps, step{p.unpack(), event{}, named, ticks})
}

// rename puts the clusters in the order of a stored state, and their names with them.
func (x *search) rename(p *packed, named [most]string) (renamed [most]string) {
	if x.config.named {
		return named
	}
	for i, from := range p.sorted() {
		renamed[i] = named[from]
	}
	return renamed
}

func (x *search) firstNames() [most]string {
	s := x.config.first()
	p := s.pack()
	return x.rename(&p, names)
}

// describe gives a violation: the world, the history, and what is broken at its end.
func (x *search) describe() string {
	broken := x.broken.what
	if x.broken.by.kind == begins {
		broken = x.retell(x.broken)
	}
	return x.tell(x.broken.at, x.broken.by, broken)
}

// tell gives the history to a state, one more event, and what is broken.
func (x *search) tell(at uint32, by event, broken string) string {
	steps := x.history(at)
	last := len(steps) - 1
	steps[last].event = by
	var b strings.Builder
	b.WriteString(x.config.describe())
	for i := range steps {
		if s := &steps[i]; s.event.kind != passes && s.event.kind != begins {
			fmt.Fprintf(&b, "%s %s\n", clock(s.ticks), s.tell())
		}
	}
	for i, mark := range marks {
		broken = strings.ReplaceAll(broken, mark, steps[last].names[i])
	}
	fmt.Fprintf(&b, "broken: %s\n", broken)
	return b.String()
}

// retell looks for the same end once more, with the names of the history, which the sentences of the result then have.
func (x *search) retell(broken *violation) string {
	steps := x.history(broken.at)
	last := &steps[len(steps)-1]
	s := last.state
	for i, name := range last.names {
		s.clusters[slices.Index(names[:], name)] = last.state.clusters[i]
	}
	named := *x.config
	named.named = true
	ends := newEnds(newController(&named, x.planner))
	kind, _, _ := strings.Cut(broken.what, ":")
	told := ""
	x.config.eachEnd(&s, func(next state, how string) {
		if what := ends.of(next); told == "" && strings.HasPrefix(what, kind+":") {
			told = what + ", where " + how
		}
	})
	if told == "" {
		return broken.what
	}
	for i, mark := range marks {
		told = strings.ReplaceAll(told, mark, names[i])
	}
	return told
}

// describe gives the world at its beginning.
func (c *config) describe() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%v\n", c)
	for group := range uint8(none + 1) {
		var in set
		for i, g := range c.groups {
			if g == group {
				in.add(i)
			}
		}
		switch {
		case in == 0:
		case c.aborts && group != none:
			fmt.Fprintf(&b, "group %d: %s, with the version before: %s\n", group, in.in(names), (in & c.installed).in(names))
		case group == none:
			fmt.Fprintf(&b, "not selected: %s\n", in.in(names))
		case c.closed>>group&1 == 1:
			fmt.Fprintf(&b, "group %d, its gate closed: %s\n", group, in.in(names))
		default:
			fmt.Fprintf(&b, "group %d: %s\n", group, in.in(names))
		}
	}
	return b.String()
}

func clock(ticks int) string { return fmt.Sprintf("12:%02d", ticks) }

// tell says what happens in a step.
func (s *step) tell() string {
	name, e := s.names[s.event.cluster], s.event
	switch e.kind {
	case answers:
		return fmt.Sprintf("the agent of %s says: %v", name, condition(e.arg))
	case delivers:
		return fmt.Sprintf("the cache shows %s as it is", name)
	case joins:
		return fmt.Sprintf("%s joins group %d", name, e.arg)
	case moves:
		return fmt.Sprintf("%s moves to group %d", name, e.arg)
	case leaves:
		return fmt.Sprintf("%s is deselected", name)
	case tears:
		return [...]string{
			partial: fmt.Sprintf("the decisions are rewritten: %s is in none of them, and the counts show it", name),
			hidden:  fmt.Sprintf("the decisions are rewritten: %s is in none of them, and the counts do not show it", name),
			empty:   "the decisions are rewritten: none is there",
		}[e.arg]
	case mends:
		return "the decisions are written"
	case renews:
		return "another version is wanted"
	case renewsLate:
		return fmt.Sprintf("another version is wanted, just after the one before is written for %s", name)
	case returns:
		return "the version before is wanted again"
	case opens:
		return fmt.Sprintf("the gate of group %d opens", e.arg)
	case closes:
		return fmt.Sprintf("the gate of group %d closes", e.arg)
	case pauses:
		return "the rollout is paused, or this hub has no share left"
	case resumes:
		return "the rollout is resumed"
	case aborts:
		return "the rollout is aborted: clusters with its version roll back to the one before"
	case retries:
		return "failed clusters are to be tried again"
	case dies:
		return fmt.Sprintf("the agent of %s is cut off", name)
	case lives:
		return fmt.Sprintf("the agent of %s is connected again", name)
	case drops:
		return fmt.Sprintf("%s is unreachable, and not selected any more", name)
	case takesBack:
		return fmt.Sprintf("%s is selected again", name)
	case goes:
		return fmt.Sprintf("the agent of %s removes the finalizer of the object", name)
	case ignores:
		return fmt.Sprintf("an operator ignores %s", name)
	case deletes:
		return fmt.Sprintf("the ManagedCluster of %s is deleted", name)
	case judges, holds, releases, reviews:
		return e.tellDecree(name)
	case shows:
		return "the cache shows the record"
	case plans, conflicts:
		told := "the controller plans: no cluster starts"
		if e.arg != 0 {
			told = fmt.Sprintf("the controller plans: %s to start", set(e.arg).in(s.names))
		}
		if e.kind == conflicts {
			told += ", and its record is refused"
		}
		return told
	case writes:
		return fmt.Sprintf("it writes %s", name)
	case loses:
		return fmt.Sprintf("it writes %s, and the answer is lost", name)
	case refuses:
		return fmt.Sprintf("its write of %s is refused", name)
	case removes:
		return fmt.Sprintf("it deletes the object of %s", name)
	case crashes:
		return "the controller restarts"
	default:
		return "it begins"
	}
}
